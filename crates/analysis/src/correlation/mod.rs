//! Correlation over locations: which costs correlate, with each other and with where a location is.
//!
//! A column has one number for each location: the own cost of a function in a metric, the whole
//! cost, or a number of the location's identity. Pairs of columns are compared by Pearson's and by
//! Spearman's coefficient; probabilities are adjusted for all pairs that were examined (Benjamini
//! and Hochberg). A correlation is no cause.

use parallax_base::Control;
use parallax_engine::EngineError;

use crate::math::{Correlation, CorrelationTests, Sample, benjamini_hochberg};

/// What a column is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ColumnKind {
    /// The cost of the whole program in a metric.
    Whole {
        /// The metric.
        metric: String,
    },
    /// The own cost of a context or function in a metric.
    Cost {
        /// The metric.
        metric: String,
        /// What it is called.
        context: String,
    },
    /// A number of the identity of a location, such as its rank.
    Identity {
        /// Which.
        field: String,
    },
}

/// One number for each location.
#[derive(Debug, Clone, PartialEq)]
pub struct LocationColumn {
    /// What it is about.
    pub kind: ColumnKind,
    /// The numbers, in the order of the locations; NaN where a location has none.
    pub values: Vec<f64>,
}

impl LocationColumn {
    /// The display name: `solve (REALTIME)`, `REALTIME`, `rank`.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.kind {
            ColumnKind::Whole { metric } => metric.clone(),
            ColumnKind::Cost { metric, context } => format!("{context} ({metric})"),
            ColumnKind::Identity { field } => field.clone(),
        }
    }
}

/// Two columns, and how they belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct CorrelatedPair {
    /// Position of the first column.
    pub a: usize,
    /// Position of the second one.
    pub b: usize,
    /// Pearson's coefficient: how near to a line.
    pub pearson: Correlation,
    /// Spearman's coefficient: how near to one order.
    pub spearman: Correlation,
    /// The probability of Pearson's coefficient, adjusted for all pairs.
    pub pearson_adjusted: f64,
    /// The probability of Spearman's coefficient, adjusted for all pairs.
    pub spearman_adjusted: f64,
}

/// By what pairs are ranked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CorrelationOrder {
    /// The least likely to be chance first, by the smaller of both probabilities.
    #[default]
    Significance,
    /// The largest coefficient of Pearson, whatever its sign.
    Pearson,
    /// The largest coefficient of Spearman, whatever its sign.
    Spearman,
}

/// Pairs of columns that were examined, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Correlations {
    /// The columns.
    pub columns: Vec<LocationColumn>,
    /// The pairs, the strongest first; as many as were requested.
    pub pairs: Vec<CorrelatedPair>,
    /// Number of pairs that were examined.
    pub num_tested: usize,
}

/// Correlates every pair of columns of which `is_wanted` says yes to one, and gives the `top`
/// strongest. Two numbers of identity are no pair, nor are columns that do not vary; locations
/// where either column has no number do not count for a pair.
///
/// # Errors
/// When the question is withdrawn.
pub fn correlate(
    columns: Vec<LocationColumn>,
    is_wanted: impl Fn(&LocationColumn) -> bool,
    order: CorrelationOrder,
    top: usize,
    control: &Control,
) -> Result<Correlations, EngineError> {
    let wanted: Vec<bool> = columns.iter().map(is_wanted).collect();
    // What every pair needs of a whole column is made once; pairs with gaps make their own.
    let samples: Vec<Option<Sample>> =
        columns.iter().map(|column| Sample::of(&column.values)).collect();
    let has_gaps: Vec<bool> =
        columns.iter().map(|column| column.values.iter().any(|value| !value.is_finite())).collect();
    let mut tests = CorrelationTests::default();
    let mut pairs = Vec::new();
    for (a, first) in columns.iter().enumerate() {
        for (b, second) in columns.iter().enumerate().skip(a + 1) {
            control.check()?;
            let is_identity =
                |column: &LocationColumn| matches!(column.kind, ColumnKind::Identity { .. });
            let is_asked = wanted.get(a) == Some(&true) || wanted.get(b) == Some(&true);
            if !is_asked || is_identity(first) && is_identity(second) {
                continue;
            }
            let both = if has_gaps.get(a) == Some(&true) || has_gaps.get(b) == Some(&true) {
                let (x, y): (Vec<f64>, Vec<f64>) = first
                    .values
                    .iter()
                    .zip(&second.values)
                    .filter(|(x, y)| x.is_finite() && y.is_finite())
                    .unzip();
                Sample::of(&x).zip(Sample::of(&y)).and_then(|(x, y)| tests.both(&x, &y))
            } else {
                match (samples.get(a), samples.get(b)) {
                    (Some(Some(x)), Some(Some(y))) => tests.both(x, y),
                    _ => None,
                }
            };
            let Some((pearson, spearman)) = both else { continue };
            pairs.push(CorrelatedPair {
                a,
                b,
                pearson,
                spearman,
                pearson_adjusted: pearson.p,
                spearman_adjusted: spearman.p,
            });
        }
    }
    let num_tested = pairs.len();
    let mut adjusted: Vec<f64> = pairs.iter().map(|pair| pair.pearson.p).collect();
    benjamini_hochberg(&mut adjusted);
    pairs.iter_mut().zip(adjusted).for_each(|(pair, p)| pair.pearson_adjusted = p);
    let mut adjusted: Vec<f64> = pairs.iter().map(|pair| pair.spearman.p).collect();
    benjamini_hochberg(&mut adjusted);
    pairs.iter_mut().zip(adjusted).for_each(|(pair, p)| pair.spearman_adjusted = p);
    let key = |pair: &CorrelatedPair| {
        let (r, rho) = (pair.pearson.coefficient.abs(), pair.spearman.coefficient.abs());
        match order {
            CorrelationOrder::Significance => -pair.pearson.p.min(pair.spearman.p),
            CorrelationOrder::Pearson => r,
            CorrelationOrder::Spearman => rho,
        }
    };
    let strength =
        |pair: &CorrelatedPair| pair.pearson.coefficient.abs().max(pair.spearman.coefficient.abs());
    pairs.sort_by(|x, y| {
        key(y)
            .total_cmp(&key(x))
            .then(strength(y).total_cmp(&strength(x)))
            .then((x.a, x.b).cmp(&(y.a, y.b)))
    });
    pairs.truncate(top);
    Ok(Correlations { columns, pairs, num_tested })
}
