//! What is known of the values of a group.

/// Count, sums and extremes of values, exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moments {
    /// Number of values.
    pub count: u64,
    /// Sum of the values.
    pub sum: u128,
    /// Sum of the squares of the values.
    pub squares: Squares,
    /// The least value; `u64::MAX` of no values.
    pub min: u64,
    /// The greatest value; 0 of no values.
    pub max: u64,
}

/// A sum of squares of up to 2^32 values: 160 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Squares {
    /// The lower 128 bits.
    pub low: u128,
    /// The bits above.
    pub high: u64,
}

impl Squares {
    fn add(&mut self, other: Self) {
        let (low, carry) = self.low.overflowing_add(other.low);
        self.low = low;
        self.high += other.high + u64::from(carry);
    }
}

impl Default for Moments {
    fn default() -> Self {
        Self::NONE
    }
}

impl Moments {
    /// Of no values.
    pub const NONE: Self =
        Self { count: 0, sum: 0, squares: Squares { low: 0, high: 0 }, min: u64::MAX, max: 0 };

    /// Takes in one more value.
    pub fn push(&mut self, value: u64) {
        self.count += 1;
        self.sum += u128::from(value);
        self.squares.add(Squares { low: u128::from(value) * u128::from(value), high: 0 });
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Takes in the values of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares.add(other.squares);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The mean; not a number of no values.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count as f64
    }

    /// The variance of the values as a population: Σv²/n − (Σv/n)². The difference is taken of whole
    /// numbers, n·Σv² − (Σv)², and so loses nothing where values are close to each other.
    #[must_use]
    pub fn variance(&self) -> f64 {
        let scaled = product(
            [low64(self.squares.low), high64(self.squares.low), self.squares.high],
            self.count,
        );
        let square = square(self.sum);
        let n = self.count as f64;
        difference(scaled, square) / n / n
    }

    /// The standard deviation of the values as a population.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        self.variance().sqrt()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
const fn low64(value: u128) -> u64 {
    value as u64
}

const fn high64(value: u128) -> u64 {
    (value >> 64) as u64
}

/// A number of up to 256 bits, times a number.
fn product(words: [u64; 3], factor: u64) -> [u64; 4] {
    let mut out = [0; 4];
    let mut carry = 0_u128;
    for (out, word) in out.iter_mut().zip(words) {
        carry += u128::from(word) * u128::from(factor);
        *out = low64(carry);
        carry >>= 64;
    }
    out[3] = low64(carry);
    out
}

fn square(value: u128) -> [u64; 4] {
    let (low, high) = (low64(value), high64(value));
    let mut out = [0_u64; 4];
    for (at, a, b) in [(0, low, low), (1, low, high), (1, high, low), (2, high, high)] {
        let mut carry = u128::from(a) * u128::from(b);
        for word in &mut out[at..] {
            carry += u128::from(*word);
            *word = low64(carry);
            carry >>= 64;
        }
    }
    out
}

/// `a` less `b`, which is not greater.
fn difference(a: [u64; 4], b: [u64; 4]) -> f64 {
    let mut borrow = false;
    let mut sum = 0.0;
    let mut scale = 1.0;
    for (a, b) in a.into_iter().zip(b) {
        let (word, first) = a.overflowing_sub(b);
        let (word, second) = word.overflowing_sub(u64::from(borrow));
        borrow = first || second;
        sum += word as f64 * scale;
        scale *= 2.0_f64.powi(64);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Moments {
        let mut moments = Moments::NONE;
        values.iter().for_each(|&value| moments.push(value));
        moments
    }

    #[test]
    fn variance_of_close_large_values_is_exact() {
        let base = u64::MAX - 10;
        let moments = of(&[base, base + 2, base + 4]);
        assert_eq!(moments.variance(), 8.0 / 3.0);
        assert_eq!((moments.min, moments.max, moments.count), (base, base + 4, 3));
    }

    #[test]
    fn merged_parts_are_the_whole() {
        let values: Vec<u64> = (0..1000).map(|i| u64::MAX / (i + 1)).collect();
        let (a, b) = values.split_at(300);
        let mut merged = of(a);
        merged.merge(&of(b));
        assert_eq!(merged, of(&values));
        assert_eq!(Moments::NONE.merge_with(&merged), merged);
    }

    impl Moments {
        fn merge_with(mut self, other: &Self) -> Self {
            self.merge(other);
            self
        }
    }

    #[test]
    fn equal_values_do_not_vary() {
        assert_eq!(of(&[u64::MAX; 7]).variance(), 0.0);
    }
}
