//! The fits of a constant and one term to all points but one, for every point at once.
//!
//! Leave-one-out residuals of a linear fit have the closed form `e_i / (1 - h_i)` with the
//! leverages `h_i` (PRESS: D. M. Allen, "The relationship between variable selection and data
//! augmentation and a method for prediction", 1974). A point far out has a leverage near 1, where
//! `1 - h_i` is mostly rounding; and the constant of each fit is needed as well, because a small
//! one is taken as 0. So the same numbers are taken from the moments of the points before and of
//! those after the one left out, merged (T. F. Chan, G. H. Golub and R. J. LeVeque, "Algorithms for
//! computing the sample variance", 1983): nothing is subtracted, and the cost is linear.

#[cfg(test)]
use crate::math::numeric::work;
use crate::math::numeric::{Cutoff, count};

/// Moments of some points `(x, y)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moments {
    len: usize,
    mean_x: f64,
    pub(super) mean_y: f64,
    /// `sum (x - mean)^2`.
    spread: f64,
    /// `sum (x - mean) (y - mean)`.
    product: f64,
    /// `sum x^2`.
    squares: f64,
    /// `sum x y`.
    mixed: f64,
    pub(super) smallest_y: f64,
}

impl Moments {
    const NONE: Self = Self {
        len: 0,
        mean_x: 0.0,
        mean_y: 0.0,
        spread: 0.0,
        product: 0.0,
        squares: 0.0,
        mixed: 0.0,
        smallest_y: f64::INFINITY,
    };

    fn of(x: f64, y: f64) -> Self {
        Self {
            len: 1,
            mean_x: x,
            mean_y: y,
            squares: x * x,
            mixed: x * y,
            smallest_y: y,
            ..Self::NONE
        }
    }

    fn merge(self, other: Self) -> Self {
        #[cfg(test)]
        work::add(1);
        if self.len == 0 {
            return other;
        }
        if other.len == 0 {
            return self;
        }
        let (n, m) = (count(self.len), count(other.len));
        let (part, weight) = (m / (n + m), n * m / (n + m));
        let (dx, dy) = (other.mean_x - self.mean_x, other.mean_y - self.mean_y);
        Self {
            len: self.len + other.len,
            mean_x: self.mean_x + dx * part,
            mean_y: self.mean_y + dy * part,
            spread: self.spread + other.spread + dx * dx * weight,
            product: self.product + other.product + dx * dy * weight,
            squares: self.squares + other.squares,
            mixed: self.mixed + other.mixed,
            smallest_y: self.smallest_y.min(other.smallest_y),
        }
    }

    /// Constant and coefficient of the least-squares fit of minimum norm, as
    /// [`least_squares`](crate::math::numeric::least_squares) has them with
    /// [`Cutoff::Dimension`]. `None` of nothing and where a number is not finite.
    pub(super) fn fit(&self) -> Option<(f64, f64)> {
        if self.len == 0 {
            return None;
        }
        let n = count(self.len);
        let sum_x = n * self.mean_x;
        // The larger eigenvalue of the matrix of sums (n, sum x; sum x, sum x^2) is the square of
        // the larger singular value; their product is the root of its determinant.
        let half = 0.5 * (self.squares - n);
        let size = half.abs().max(sum_x.abs());
        let root = if size > 0.0 {
            let (a, b) = (half / size, sum_x / size);
            size * (a * a + b * b).sqrt()
        } else {
            0.0
        };
        let eigenvalue = 0.5 * self.squares + 0.5 * n + root;
        let largest = eigenvalue.sqrt();
        if !largest.is_finite() {
            return None;
        }
        let smaller = n.sqrt() * self.spread.sqrt() / largest;
        let (constant, coefficient) = if smaller > Cutoff::Dimension.relative(self.len, 2) * largest
        {
            let slope = self.product / self.spread;
            (self.mean_y - slope * self.mean_x, slope)
        } else {
            // One direction is left: that of the larger singular value.
            let (a, b) = if half <= 0.0 { (root - half, sum_x) } else { (sum_x, root + half) };
            let norm = a.abs().max(b.abs());
            let (a, b) = (a / norm, b / norm);
            let weight =
                (a * n * self.mean_y + b * self.mixed) / (a * a + b * b) / largest / largest;
            (a * weight, b * weight)
        };
        (constant.is_finite() && coefficient.is_finite()).then_some((constant, coefficient))
    }
}

/// For each point the moments of all others, in the order of the points.
pub(super) fn of_others(xs: &[f64], ys: &[f64]) -> Vec<Moments> {
    let point = |(&x, &y): (&f64, &f64)| Moments::of(x, y);
    // From the end: of the points from each one on.
    let mut out = vec![Moments::NONE; xs.len().min(ys.len())];
    let mut after = Moments::NONE;
    for (slot, pair) in out.iter_mut().zip(xs.iter().zip(ys)).rev() {
        *slot = after;
        after = point(pair).merge(after);
    }
    let mut before = Moments::NONE;
    for (slot, pair) in out.iter_mut().zip(xs.iter().zip(ys)) {
        *slot = before.merge(*slot);
        before = before.merge(point(pair));
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::math::numeric::least_squares;

    /// What a fit of all points but one says at that point, by fitting again.
    fn fitted_again(xs: &[f64], ys: &[f64], left_out: usize) -> Option<(f64, f64)> {
        let without = |values: &[f64]| {
            let mut kept = values.to_vec();
            kept.remove(left_out);
            kept
        };
        let columns = vec![vec![1.0; xs.len() - 1], without(xs)];
        let solution = least_squares(columns, &without(ys), Cutoff::Dimension)?;
        Some((solution.coefficients[0], solution.coefficients[1]))
    }

    fn assert_same(xs: &[f64], ys: &[f64]) {
        let size = ys.iter().fold(0.0_f64, |size, y| size.max(y.abs()));
        for (at, moments) in of_others(xs, ys).iter().enumerate() {
            let (closed, again) = (moments.fit(), fitted_again(xs, ys, at));
            assert_eq!(closed.is_some(), again.is_some(), "{xs:?} {ys:?}");
            let (Some((c, k)), Some((c2, k2))) = (closed, again) else { continue };
            // What is told of a fit is what it says at the point that was left out.
            let (here, there) = (c + k * xs[at], c2 + k2 * xs[at]);
            let scale = size + here.abs() + (k2 * xs[at]).abs() + c2.abs();
            assert!((here - there).abs() <= 1e-10 * scale, "{at}: {here} {there} {xs:?} {ys:?}");
            assert!((c - c2).abs() <= 1e-9 * scale, "{at}: constants {c} {c2} {xs:?} {ys:?}");
        }
    }

    #[test]
    fn one_direction_is_left_where_points_do_not_tell_two_apart() {
        // One point without the other; equal coordinates; values so large that a constant is lost.
        assert_same(&[1.0, 2.0], &[5.0, 7.0]);
        assert_same(&[0.0, 0.0], &[5.0, 7.0]);
        assert_same(&[3.0; 5], &[1.0, 2.0, 3.0, 4.0, 9.0]);
        assert_same(&[1e17, 2e17, 3e17, 4e17], &[1.0, 2.0, 2.5, 4.0]);
        assert_same(&[0.1; 3], &[1.0, 2.0, 4.0]);
        assert!(of_others(&[2.0], &[1.0])[0].fit().is_none());
        assert!(of_others(&[f64::MAX, 2.0, 3.0], &[1.0; 3])[1].fit().is_none());
    }

    proptest! {
        #[test]
        fn leaving_out_in_closed_form_equals_fitting_again(
            points in prop::collection::vec((0.0_f64..100.0, -10.0_f64..1000.0), 2..12),
            power in 0.25_f64..3.0,
            scale in -6_i32..6,
        ) {
            let xs: Vec<f64> =
                points.iter().map(|point| point.0.powf(power) * 10.0_f64.powi(scale)).collect();
            let ys: Vec<f64> = points.iter().map(|point| point.1).collect();
            // Points that are nearly the same coordinate leave both ways with few digits.
            let moments = xs.iter().zip(&ys).fold(Moments::NONE, |sum, (&x, &y)| {
                sum.merge(Moments::of(x, y))
            });
            let far = of_others(&xs, &ys).iter().all(|others| {
                others.len < 2 || others.spread > 1e-6 * moments.squares
            });
            prop_assume!(far);
            assert_same(&xs, &ys);
        }
    }
}
