//! Scaling: one program under several core counts, inputs and versions.
//!
//! [`open_ensemble`] makes one [`Ensemble`] of files of measurements (PaScal, SPERF, Extra-P, TALP,
//! tables) or of databases; [`scaling`] answers with maps, losses and a verdict for every region,
//! [`models`] with growth models, [`compare_versions`] with what changed between two versions.
//! Numbers come from `parallax_analysis`; here they are only combined and worded.

mod answer;
mod axes;
mod causes;
mod cells;
mod clock;
mod contexts;
mod dispersion;
mod energy;
mod error;
mod evidence;
mod laws;
mod merge;
mod model;
mod open;
mod overlap;
mod parameters;
mod pop;
mod relations;
mod remarks;
mod replies;
mod runs;
mod tables;
mod versions;

pub use answer::{ScalingAnswer, ScalingOptions, ScalingRegion, scaling};
pub use axes::{AxisChoice, RunChoice};
pub use causes::Cause;
pub use contexts::{ContextDetail, ContextOptions, LibraryFrames};
pub use energy::energy_table;
pub use error::ScalingError;
pub use merge::{MergeError, Merged, merge_pascal};
pub use model::{ModelAnswer, RegionModel, models};
pub use open::{
    EnsembleOptions, Ensembles, ScalingContent, ScalingSource, assemble_measurements,
    measurement_part_end, open_ensemble, open_ensembles, read_measurement_part,
};
pub use parallax_base::Remedy;
pub use parallax_import::scaling::{RegionTime, holds_measurements};
pub use parallax_model::ensemble::{Ensemble, Region, RegionKind};
pub use parameters::{ParameterRule, ParameterSource, ParameterTable};
pub use pop::pop_table;
pub use relations::{
    ensemble_issue_relation, ensemble_metric_relation, parameter_relation, region_relation,
    run_relation, run_statistic_relation,
};
pub use runs::measure_one_program;
pub use versions::{
    ComparedRegion, ComparisonAnswer, EnsemblePair, change_limits, compare_versions,
};
