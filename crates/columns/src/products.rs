//! Sums of products of rows, from which their correlations follow.

use parallax_base::threads;

/// The sums and the sums of products of some rows of numbers, such as the times of iterations by
/// context. Exact, so that no order of additions matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Products {
    /// Numbers in a row.
    pub dims: usize,
    /// The sum of each row.
    pub sums: Vec<u64>,
    /// Of each row: the sums of its products with itself and with those after it.
    pub products: Vec<Vec<u128>>,
}

impl Products {
    /// The correlation of two rows (Pearson); none where one of them is constant.
    ///
    /// The differences that could cancel are of whole numbers; only their quotient is rounded.
    #[must_use]
    pub fn correlation(&self, a: usize, b: usize) -> Option<f64> {
        let n = u128::try_from(self.dims).ok()?;
        let product = |a: usize, b: usize| self.products.get(a.min(b))?.get(a.abs_diff(b)).copied();
        let sum = |of: usize| self.sums.get(of).copied().map(u128::from);
        let spread = |a: usize, b: usize| -> Option<f64> {
            let (whole, part) = (n * product(a, b)?, sum(a)? * sum(b)?);
            let size = whole.abs_diff(part) as f64;
            Some(if whole < part { -size } else { size })
        };
        let scale = (spread(a, a)? * spread(b, b)?).sqrt();
        (scale > 0.0).then_some(spread(a, b)? / scale)
    }
}

/// The sums of products of rows of `dims` numbers each, one after the other.
///
/// ```
/// let products = parallax_columns::products(&[1, 2, 3, 30, 20, 10], 3);
/// assert_eq!(products.products, [vec![14, 100], vec![1400]]);
/// assert_eq!(products.correlation(0, 1), Some(-1.0));
/// ```
///
/// # Panics
/// When rows have no numbers or more than 2^31, or the last one lacks some.
#[must_use]
pub fn products(values: &[u32], dims: usize) -> Products {
    assert!(
        dims > 0 && dims <= 1 << 31 && values.len().is_multiple_of(dims),
        "rows have the same number of numbers"
    );
    let rows: Vec<&[u32]> = values.chunks_exact(dims).collect();
    let of = |a: &[u32], b: &[u32]| -> u128 {
        a.iter().zip(b).map(|(&a, &b)| u128::from(u64::from(a) * u64::from(b))).sum()
    };
    let products = threads::map((0..rows.len()).collect(), |a: usize| {
        rows[a..].iter().map(|b| of(rows[a], b)).collect()
    });
    let sums = rows.iter().map(|row| row.iter().copied().map(u64::from).sum()).collect();
    Products { dims, sums, products }
}
