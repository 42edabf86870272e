//! Scaling: one program under several core counts, inputs and versions.
//!
//! [`open_ensemble`] makes one [`Ensemble`](parallax_model::ensemble::Ensemble) of files of
//! measurements (PaScal, SPERF, Extra-P, TALP, tables) or of databases; [`scaling`] answers with
//! maps, losses and a verdict for every region. Numbers come from `parallax_analysis`; here they
//! are only put together and said.

mod answer;
mod axes;
mod causes;
mod contexts;
mod error;
mod open;
mod parameters;

pub use answer::{ScalingAnswer, ScalingRegion, ScalingRequest, scaling};
pub use axes::{AxisChoice, RunChoice};
pub use causes::Cause;
pub use contexts::{ContextDetail, ContextOptions, LibraryFrames, LocationStatistic};
pub use error::ScalingError;
pub use open::{EnsembleOptions, ScalingContent, ScalingSource, open_ensemble};
pub use parallax_import::scaling::{RegionTime, holds_measurements};
pub use parallax_model::ensemble::{Ensemble, Region, RegionKind};
pub use parameters::{ParameterRule, ParameterSource, ParameterTable};
