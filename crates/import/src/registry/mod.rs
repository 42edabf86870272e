//! The table of formats, and everything that is done by it: recognising files, saying which files
//! belong together, opening them, and naming the formats in texts.
//!
//! A format is one row of [`FORMATS`]. Nothing else in the project lists formats.

mod data_set;
mod document;
mod find;
mod probe;
mod table;

use parallax_base::{Folder, Limits, Source};
use parallax_model::Experiment;

use std::sync::Arc;

use crate::ImportError;
use crate::convert::TraceReader;

pub use data_set::{DataContent, DataSet, open_file};
pub use document::{families, markdown, summary, traces_markdown, typescript};
pub use find::{FoundData, NotUsed, Reason, experiment_at, find, open, recognise_file};
pub use probe::Probe;
pub use table::FORMATS;

/// A format: one row of [`FORMATS`].
pub struct Format {
    /// Display name.
    pub name: &'static str,
    /// The tool or tools, as short lists name them; several rows may have the same.
    pub family: &'static str,
    /// Which versions and variants there are.
    pub versions: &'static str,
    /// What the data are.
    pub kind: Kind,
    /// Which files one data set consists of, as Markdown.
    pub files: &'static str,
    /// How it is read, as Markdown.
    pub state: &'static str,
    /// Limits and peculiarities of traces, as Markdown; empty where there are none.
    pub notes: &'static str,
    /// The folder of the data set that a file at a path is of, by the names that writers use. A hint:
    /// such files are looked at first, and their bytes decide.
    pub usual_place: fn(&str) -> Option<&str>,
    /// The files of a folder behind an address, which cannot be listed.
    pub served_names: &'static [&'static str],
    /// Ends of names of files that belong to another file, by which the data set is found. They are
    /// not looked at, because there may be two for each of 100,000 locations.
    pub part_endings: &'static [&'static str],
    /// Files of a data set that have traces only, which reports may leave out.
    pub trace_files: &'static [&'static str],
    /// Whether a file is of the format, by its bytes, and which other files belong to it.
    pub recognise: fn(&Probe<'_>) -> Option<Extent>,
    /// How a data set is read.
    pub reader: Reader,
}

/// What the data of a format are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Values by context and location of one execution, with or without a trace.
    Profile,
    /// Events of one execution over time.
    Trace,
    /// Every call, iteration and access of one execution.
    Recording,
    /// Measurements of one program in several configurations.
    Measurements,
}

impl Kind {
    /// In one word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Profile => "profile",
            Self::Trace => "trace",
            Self::Recording => "recording",
            Self::Measurements => "measurements",
        }
    }
}

/// Which files belong to the data set of a file that was recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extent {
    /// The file alone.
    File,
    /// The file with others that the reader of the trace names.
    Trace,
    /// Everything in and below a folder; its path, empty for the outermost one.
    Folder(String),
    /// The files with the usual names of a folder; its path.
    Usual(String),
    /// The profiles of one execution in a folder: the path of the folder, and what tells the
    /// profiles of one execution from those of another.
    Run(String, String),
    /// The file is of a format that is not read; what it is.
    NotRead(&'static str),
}

/// How a data set is read.
#[derive(Clone, Copy)]
pub enum Reader {
    /// A folder as an experiment.
    Folder(FolderReader),
    /// A file as an experiment.
    File(FileReader),
    /// A file, or several of one execution in a folder, as an experiment.
    Files(FileReader, FolderReader),
    /// Converted into an archive first.
    Trace(&'static TraceReader),
    /// As an ensemble, by the readers of measurements.
    Measurements,
    /// Not at all; what to do instead.
    None(&'static str),
}

/// Reads an experiment from a folder.
pub type FolderReader = fn(&Arc<dyn Folder>, &Limits) -> Result<Experiment, ImportError>;

/// Reads an experiment from a file of this name.
pub type FileReader = fn(&Source, &str, &Limits) -> Result<Experiment, ImportError>;

/// Whether a file is an experiment on its own. Looks at its first bytes.
#[must_use]
pub fn is_experiment_file(source: &Source) -> bool {
    let format = data_set::format_of(source, "");
    format.is_some_and(|format| matches!(format.reader, Reader::File(_) | Reader::Files(..)))
}
