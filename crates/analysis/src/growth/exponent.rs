//! Exponents as exact fractions.

use std::fmt;
use std::str::FromStr;

/// A fraction in lowest terms with a positive denominator, used as an exponent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Exponent {
    numerator: i32,
    denominator: i32,
}

/// Why a text or a pair of numbers is no exponent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExponentError {
    /// The denominator is 0 or the fraction does not fit.
    #[error("{numerator}/{denominator} is no usable fraction")]
    Fraction {
        /// Numerator given.
        numerator: i64,
        /// Denominator given.
        denominator: i64,
    },
    /// Not a fraction like `3/4`, an integer, or a decimal number of up to six places.
    #[error("`{text}` is no exponent: write 3/4, 2 or 0.75")]
    Text {
        /// The text given.
        text: String,
    },
}

impl Exponent {
    /// Exponent 0: the factor is absent.
    pub const ZERO: Self = Self { numerator: 0, denominator: 1 };

    /// The fraction `numerator / denominator` in lowest terms.
    ///
    /// # Errors
    /// When the denominator is 0 or a part does not fit into 32 bits.
    pub fn new(numerator: i64, denominator: i64) -> Result<Self, ExponentError> {
        let error = ExponentError::Fraction { numerator, denominator };
        let divisor = gcd(numerator.unsigned_abs(), denominator.unsigned_abs());
        let reduced = |part: i64| i128::from(part).checked_div(i128::from(divisor));
        let sign = if denominator < 0 { -1 } else { 1 };
        let part = |part: i64| reduced(part).and_then(|part| i32::try_from(sign * part).ok());
        match (part(numerator), part(denominator)) {
            (Some(numerator), Some(denominator)) if denominator > 0 => {
                Ok(Self { numerator, denominator })
            }
            _ => Err(error),
        }
    }

    /// A whole exponent.
    #[must_use]
    pub const fn whole(value: i32) -> Self {
        Self { numerator: value, denominator: 1 }
    }

    /// A fraction already in lowest terms, for tables.
    pub(super) const fn reduced(numerator: i32, denominator: i32) -> Self {
        Self { numerator, denominator }
    }

    /// Numerator; negative for a negative exponent.
    #[must_use]
    pub fn numerator(self) -> i32 {
        self.numerator
    }

    /// Denominator, positive.
    #[must_use]
    pub fn denominator(self) -> i32 {
        self.denominator
    }

    /// Whether the exponent is 0.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self.numerator == 0
    }

    /// The exponent as a number.
    #[must_use]
    pub fn value(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }

    /// The mediant `(a + c) / (b + d)`, which lies between both: the next fraction between two
    /// neighbours of a Farey sequence. `None` when it does not fit.
    pub(super) fn mediant(self, other: Self) -> Option<Self> {
        let numerator = i64::from(self.numerator) + i64::from(other.numerator);
        let denominator = i64::from(self.denominator) + i64::from(other.denominator);
        Self::new(numerator, denominator).ok()
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl fmt::Display for Exponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.denominator == 1 {
            write!(f, "{}", self.numerator)
        } else {
            write!(f, "{}/{}", self.numerator, self.denominator)
        }
    }
}

impl FromStr for Exponent {
    type Err = ExponentError;

    fn from_str(text: &str) -> Result<Self, ExponentError> {
        let error = || ExponentError::Text { text: text.to_owned() };
        let trimmed = text.trim();
        let number = |part: &str| part.trim().parse::<i64>().map_err(|_| error());
        if let Some((numerator, denominator)) = trimmed.split_once('/') {
            return Self::new(number(numerator)?, number(denominator)?);
        }
        let Some((whole, places)) = trimmed.split_once('.') else {
            return Self::new(number(trimmed)?, 1);
        };
        if places.len() > 6 || !places.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(error());
        }
        let scale = (0..places.len()).fold(1_i64, |scale, _| scale * 10);
        let digits = if places.is_empty() { 0 } else { number(places)? };
        let magnitude = match whole.trim_start_matches(['+', '-']) {
            "" if places.is_empty() => return Err(error()),
            "" => 0,
            whole => number(whole)?,
        };
        let scaled = magnitude
            .checked_mul(scale)
            .and_then(|scaled| scaled.checked_add(digits))
            .ok_or_else(error)?;
        Self::new(if whole.starts_with('-') { -scaled } else { scaled }, scale)
    }
}
