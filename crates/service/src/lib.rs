//! The facade: open an experiment, ask it questions, get plain answers in the words of an analyst.
//!
//! Requests hold expressions as people type them; answers hold numbers, names and notes, and turn
//! into a [`Table`] for every other use. Who asks (a terminal, a browser, a notebook) is not known
//! here, so all of them get the same numbers.

mod activations;
mod advise;
mod analyses;
mod anomalies;
mod answers;
mod clusters;
mod comparison;
mod correlation;
mod critical_path;
mod diagnosis;
mod distribution;
mod entities;
mod error;
mod gate;
mod gpu_stalls;
mod holds;
mod info;
mod issues;
mod iterations;
mod lanes;
mod lines;
mod locations;
mod options;
mod over_time;
mod query;
mod recorded;
mod relations;
mod report;
mod source;
mod source_lookup;
mod stacks;
mod timeline;
mod topology;
mod tree_table;
mod user_events;
mod views;
mod waits;
mod workflow;
mod workflow_graph;
mod workflow_profile;

pub mod scaling;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use parallax_analysis::taxonomy::{HelperThreads, Roles};
use parallax_base::{Folder, Limits, Source};
use parallax_columns::{Compute, Processor};
use parallax_engine::Session;

use source_lookup::SourceLookup;

pub use analyses::{BalanceAnswer, gpu_table, thread_table};
pub use answers::Answers;
pub use clusters::ClusterAnswer;
pub use comparison::{
    ComparedVersion, ComparisonOrder, ComparisonOutcome, ComparisonRequest, GateOutcome, OpenPair,
    compare_experiments,
};
pub use diagnosis::regression;
pub use distribution::Spread;
pub use error::ServiceError;
pub use gate::Gate;
pub use holds::Holds;
pub use issues::issue_replies;
pub use over_time::OverTimeShapes;
pub use parallax_analysis as analysis;
pub use parallax_base::{Control, Issue, Issues, Limits as OpenLimits, Severity, TimeWindow, Unit};
pub use parallax_engine::{TrackRange, display_name_with_templates};
pub use parallax_formats::archive::VERSION as ARCHIVE_VERSION;
pub use parallax_import::convert::{
    Alignment, ConvertOptions, TraceInput, WorkflowInput, convert, convert_workflow,
    recognise as recognise_trace,
};
pub use parallax_import::events::{ComponentPlan, ConversionError};
pub use parallax_import::{
    DataContent, DataSet, FORMATS, Format, FoundData, ImportError, Kind, NotUsed, Reader, Reason,
    families, find as discover, is_experiment_file, recognise_file, summary as formats_summary,
};
pub use parallax_model::TraceKind;
pub use parallax_protocol::{BalanceBy, Column, Table};
pub use query::Answer;
pub use timeline::{TimelineKey, TimelineNames, TracksChoice};
pub use topology::{TopologyAnswer, TopologyNode, UnitRow, node_names};
pub use tree_table::NO_PARENT;
pub use views::{FlatAnswer, MOST_CALLERS, TreeAnswer, TreeRequest, TreeRow};
pub use workflow::WorkflowRequest;
pub use workflow_profile::ProfileInput;

/// Opens the experiment in a file that is one on its own, such as a packed profile of TAU.
///
/// # Errors
/// When the file is of no known format, or broken.
pub fn open_file(
    source: &Source,
    name: &str,
    limits: &Limits,
) -> Result<OpenExperiment, ServiceError> {
    Ok(OpenExperiment::new(parallax_import::open_file(source, name, limits)?, limits))
}

/// Opens the experiment in a file that lies in `folder`, where its source files may lie, too.
///
/// # Errors
/// When the file is of no known format, or broken.
pub fn open_file_in(
    folder: &Arc<dyn Folder>,
    source: &Source,
    name: &str,
    limits: &Limits,
) -> Result<OpenExperiment, ServiceError> {
    let mut experiment = parallax_import::open_file(source, name, limits)?;
    if let Some(own) = experiment.sources.take() {
        let around = Arc::clone(folder);
        experiment.sources = Some(Arc::new(SourceLookup { own, around }));
    }
    Ok(OpenExperiment::new(experiment, limits))
}

/// The one experiment in `folder`: the folder itself, or the only one in and below it.
///
/// # Errors
/// When there is none, there are several, or the folder cannot be listed.
pub fn experiment_at(folder: &Arc<dyn Folder>) -> Result<DataSet, ServiceError> {
    Ok(parallax_import::experiment_at(folder)?)
}

/// Opens what was found.
///
/// # Errors
/// When it is broken, a trace that must be converted first, or measurements.
pub fn open_data(data: &DataSet, limits: &Limits) -> Result<OpenExperiment, ServiceError> {
    Ok(OpenExperiment::new(data.open(limits)?, limits))
}

/// An open experiment that answers questions.
pub struct OpenExperiment {
    session: Session,
    limits: Limits,
    /// What runs on helper threads, once requested.
    helpers: OnceLock<HelperThreads>,
    /// Which locations are helper threads, once requested.
    roles: Mutex<Option<Arc<Roles>>>,
    /// Functions and groups of the trace, once requested.
    names: Mutex<Option<Arc<TimelineNames>>>,
    /// The iterations that were found last, and where.
    found: Mutex<iterations::Last>,
    /// What could run in parallel, once requested.
    advice: Mutex<advise::Last>,
    /// Where operations on many rows run.
    compute: Arc<dyn Compute>,
}

/// Opens the experiment in `folder`, at the cost of its metadata.
///
/// # Errors
/// When the folder holds nothing that can be opened.
pub fn open(folder: &Arc<dyn Folder>, limits: &Limits) -> Result<OpenExperiment, ServiceError> {
    Ok(OpenExperiment::new(parallax_import::open(folder, limits)?, limits))
}

impl OpenExperiment {
    fn new(experiment: parallax_model::Experiment, limits: &Limits) -> Self {
        Self {
            session: Session::new(experiment),
            limits: *limits,
            helpers: OnceLock::new(),
            roles: Mutex::default(),
            names: Mutex::new(None),
            found: Mutex::default(),
            advice: Mutex::default(),
            compute: Arc::new(Processor::default()),
        }
    }

    /// The same, with operations on many rows where `compute` does them. Answers do not depend on it.
    #[must_use]
    pub fn with_compute(self, compute: Arc<dyn Compute>) -> Self {
        Self { compute, ..self }
    }

    /// The same, whose values and traces are read by other stores of the same content, such as those
    /// that have other machines read. Answers do not depend on it.
    #[must_use]
    pub fn with_stores(self, stores: impl FnOnce(&mut parallax_model::Experiment)) -> Self {
        Self { session: self.session.with_stores(stores), ..self }
    }

    /// The session below, for questions that this facade does not have yet.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// What runs on helper threads. Looks at every context, once.
    pub(crate) fn helpers(&self) -> &HelperThreads {
        self.helpers.get_or_init(|| HelperThreads::of(self.session.tree()))
    }

    /// Which locations are helper threads. Reads values where threads begin, once.
    pub(crate) fn roles(&self, control: &Control) -> Result<Arc<Roles>, ServiceError> {
        let mut known = self.roles.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(roles) = &*known {
            return Ok(Arc::clone(roles));
        }
        let roles = Arc::new(Roles::with(&self.session, self.helpers(), control)?);
        *known = Some(Arc::clone(&roles));
        Ok(roles)
    }

    /// All issues so far.
    #[must_use]
    pub fn issues(&self) -> Issues {
        self.session.issues()
    }
}
