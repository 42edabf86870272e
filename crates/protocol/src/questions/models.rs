//! Growth models of the regions of an ensemble.

use serde::{Deserialize, Serialize};

use super::RepetitionStatistic;
use crate::Ensemble;
use crate::macros::{choice, question, table};

choice! {
    /// How models are searched.
    pub enum ModelSearch {
        /// The full search space.
        Basic = "basic",
        /// Exponents refined iteratively.
        Refining = "refining",
        /// A change point with one model on each side.
        Segmented = "segmented",
    }
}

question! {
    /// Growth models of the regions of an ensemble: how a metric grows with the parameters.
    "models" of Ensemble,
    request ModelsRequest {
        /// Parameters of the models; null for all whose values are numbers. The others tell models
        /// apart.
        parameters: Option<Vec<String>>,
        /// Numbers inside labels: `NAME=REGEX`, the first group of the expression in the values of
        /// the parameter.
        numbers: Vec<String>,
        /// The metric; null for all that were measured.
        metric: Option<String>,
        /// Regions by id, path or name; all when empty.
        regions: Vec<String>,
        /// Statistic over repetitions that is modelled.
        statistic: RepetitionStatistic = RepetitionStatistic::Mean,
        /// How models are searched.
        search: ModelSearch,
        /// Whether terms may have negative exponents.
        negative: bool,
        /// Model the value times this parameter: resources, for strong scaling; null for the value.
        resources: Option<String>,
        /// Values of parameters at which to predict; those that are not named stand at their largest
        /// measured value.
        at: Vec<(String, f64)>,
        /// Values of the models along a parameter; null for none.
        curve: Option<CurveChoice>,
    }
    reply ModelsReply,
    tables ModelsTables {
        /// The models, in the order of the tree.
        rows: ModelTable,
        /// Values along the parameter that was asked for.
        curves: CurveTable,
    }
}

/// Along which parameter values of models are wanted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct CurveChoice {
    /// The parameter.
    pub parameter: String,
    /// Its values.
    pub values: Vec<f64>,
}

/// The reply to `models`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ModelsReply {
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// Notes and warnings.
    pub notes: Vec<String>,
}

table! {
    /// The model of each region, metric and group.
    pub struct ModelRow => ModelTable {
        /// Region; 0 is the whole program.
        region: String,
        /// What a sentence calls it.
        name: String,
        /// Call path.
        path: String,
        /// Metric.
        metric: String,
        /// Unit of the model.
        unit: String,
        /// Values of parameters that tell models apart.
        group: String,
        /// The function.
        model: String,
        /// Symmetric mean absolute percentage error.
        smape: f64 ["%"] => "SMAPE",
        /// Residual sum of squares.
        rss: f64 => "RSS",
        /// Relative residual sum of squares.
        rrss: f64 => "RRSS",
        /// Mean relative error.
        re: f64 => "RE",
        /// Adjusted coefficient of determination.
        ar2: Option<f64> => "Adjusted R²",
        /// Points measured.
        points: u32,
        /// Value of the model where it was asked for.
        prediction: Option<f64> [of unit],
    }
}

table! {
    /// Values of the models along the parameter that was asked for; no rows where none was.
    pub struct CurveRow => CurveTable {
        /// Row of the model among `rows`.
        model: u32,
        /// Value of the parameter.
        x: f64,
        /// Value of the model, in its unit; null where it is undefined.
        y: Option<f64>,
    }
}
