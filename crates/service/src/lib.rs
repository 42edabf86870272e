//! The facade: open an experiment, ask it questions, get plain answers in the words of an analyst.
//!
//! Requests hold expressions as people type them; answers hold numbers, names and notes, and turn
//! into a [`Table`] for every other use. Who asks (a terminal, a browser, a notebook) is not known
//! here, so all of them get the same numbers.

mod analyses;
mod discover;
mod distribution;
mod error;
mod info;
mod options;
mod query;
mod source;
mod timeline;
mod tree_table;
mod views;

pub mod scaling;

use std::sync::Arc;

use parallax_base::{Folder, Limits, Source};
use parallax_engine::Session;

pub use analyses::{BalanceAnswer, BalanceBy, BalanceRequest};
pub use discover::{Found, discover};
pub use distribution::{CostScope, DistributionAnswer, DistributionRequest};
pub use error::ServiceError;
pub use info::{Info, MetricInfo};
pub use options::{CostChoice, CostsChoice, PruneChoice};
pub use parallax_analysis as analysis;
pub use parallax_base::{Control, Issue, Issues, Limits as OpenLimits, Severity, Unit};
pub use parallax_engine::{Column, FlatBy, Table};
pub use parallax_import::convert::{
    ConvertOptions, TraceInput, convert, recognise as recognise_trace,
};
pub use parallax_import::events::ConversionError;
pub use parallax_import::{holds_experiment, is_experiment_file};
pub use query::{Answer, QueryRequest, TraceRequest};
pub use source::{SourceAnswer, SourceFileInfo, SourceRequest};
pub use timeline::{MessagesBy, MessagesRequest, StatsBy, StatsRequest};
pub use tree_table::{NO_PARENT, TreeTableAnswer, TreeTableRequest};
pub use views::{
    CallersRequest, CostHeader, FlatAnswer, FlatRequest, TreeAnswer, TreeRequest, TreeRow,
};

/// Opens the experiment in a file that is one on its own, such as a packed profile of TAU.
///
/// # Errors
/// When the file is of no known format, or broken.
pub fn open_file(source: &Source, name: &str, limits: &Limits) -> Result<Opened, ServiceError> {
    let experiment = parallax_import::open_file(source, name, limits)?;
    Ok(Opened { session: Session::new(experiment), limits: *limits })
}

/// An open experiment that answers questions.
pub struct Opened {
    session: Session,
    limits: Limits,
}

/// Opens the experiment in `folder`, at the cost of its metadata.
///
/// # Errors
/// When the folder holds nothing that can be opened.
pub fn open(folder: &Arc<dyn Folder>, limits: &Limits) -> Result<Opened, ServiceError> {
    Ok(Opened { session: Session::new(parallax_import::open(folder, limits)?), limits: *limits })
}

impl Opened {
    /// The session below, for questions that this facade does not have yet.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// All issues so far.
    #[must_use]
    pub fn issues(&self) -> Issues {
        self.session.issues()
    }
}
