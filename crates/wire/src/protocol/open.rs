//! Opening and closing.

use parallax_service::scaling::{ContextDetail, ContextOptions, LibraryFrames, LocationStatistic};
use serde::{Deserialize, Serialize};

use super::ErrorReply;
use crate::IssueReply;

/// Who is there?
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HelloAsk {}

/// An engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HelloReply {
    /// Version of Parallax.
    pub version: String,
    /// Version of the protocol.
    pub protocol: u32,
    /// What can be opened.
    pub roots: Vec<RootReply>,
}

/// A file or folder that can be opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RootReply {
    /// How `open` names it.
    pub key: String,
    /// What a person calls it.
    pub name: String,
    /// Number of files; 0 where that is not known before it is opened.
    pub files: u64,
    /// Length of all of them together, in bytes.
    pub bytes: u64,
}

/// Open everything in a root.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OpenAsk {
    /// Key of the root.
    pub root: String,
    /// How files or databases become one ensemble, where there are several.
    #[serde(default)]
    pub ensemble: EnsembleAsk,
}

/// How sources become one ensemble. Words and defaults are those of the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct EnsembleAsk {
    /// Where parameters come from: `cores=ranks`, `input=path:n(\d+)`.
    pub parameters: Vec<String>,
    /// What counts as time; null for wall time where it was measured.
    pub metric: Option<String>,
    /// Which locations count; null for the first thread of each rank.
    pub profiles: Option<String>,
    /// How locations become one number: `max` (default), `mean`, `sum`.
    pub over: Option<String>,
    /// Which contexts become regions: `functions`, `loops` (default), `lines`.
    pub detail: Option<String>,
    /// Regions for what system and MPI libraries call inside, too.
    pub library_frames: bool,
    /// How the entries of a region become one time: `union` (default), `sum`, `span`, `thread-max`.
    pub region_time: Option<String>,
}

impl EnsembleAsk {
    /// How databases are read.
    ///
    /// # Errors
    /// When a word is none of those that a field knows.
    pub fn contexts(&self) -> Result<ContextOptions, ErrorReply> {
        let unknown = |field: &str, word: &str, known: &str| {
            ErrorReply::new("misuse", format!("{field} `{word}` is none of {known}"))
        };
        Ok(ContextOptions {
            metric: self.metric.clone(),
            profiles: self.profiles.clone(),
            statistic: match self.over.as_deref() {
                None | Some("max") => LocationStatistic::Max,
                Some("mean") => LocationStatistic::Mean,
                Some("sum") => LocationStatistic::Sum,
                Some(word) => return Err(unknown("over", word, "max, mean, sum")),
            },
            detail: match self.detail.as_deref() {
                None | Some("loops") => ContextDetail::Loops,
                Some("functions") => ContextDetail::Functions,
                Some("lines") => ContextDetail::Lines,
                Some(word) => return Err(unknown("detail", word, "functions, loops, lines")),
            },
            libraries: if self.library_frames {
                LibraryFrames::Kept
            } else {
                LibraryFrames::Folded
            },
        })
    }
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// One execution.
    Experiment,
    /// Several executions under different parameters.
    Ensemble,
}

/// Something that is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ItemReply {
    /// How other requests name it.
    pub item: String,
    /// What it is.
    pub kind: ItemKind,
    /// Name of the program.
    pub title: String,
    /// Where it is from: the path as a person knows it.
    pub name: String,
    /// The format it was read from.
    pub format: String,
    /// Length of its files together, in bytes.
    pub size_bytes: u64,
    /// Kinds of issue met while opening.
    pub issues: u64,
    /// Items that an ensemble was made of.
    pub members: Vec<String>,
    /// Whether it has a trace, so that there is a timeline.
    pub has_trace: bool,
    /// Whether it has every single call, with what it reads and writes.
    pub has_activations: bool,
    /// Whether it has user events.
    pub has_user_events: bool,
}

/// What was opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OpenReply {
    /// The items, those that say most first: an ensemble before its members.
    pub items: Vec<ItemReply>,
    /// What a person should know.
    pub notes: Vec<String>,
    /// What could not be opened, one each.
    pub errors: Vec<ErrorReply>,
    /// Files and experiments that are excluded, and why.
    #[serde(default)]
    pub excluded: Vec<ExcludedReply>,
}

/// A file or experiment that is excluded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ExcludedReply {
    /// Its path.
    pub path: String,
    /// Why, as a clause that goes on from the path.
    pub reason: String,
}

/// Make one ensemble.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CombineAsk {
    /// Items: experiments, or ensembles that are files of measurements.
    pub items: Vec<String>,
    /// How.
    #[serde(default)]
    pub ensemble: EnsembleAsk,
}

/// Forget an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CloseAsk {
    /// The item.
    pub item: String,
}

/// It is forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CloseReply {}

/// What is an experiment?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InfoAsk {
    /// An experiment.
    pub item: String,
}

/// What was repaired, dropped or guessed?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct IssuesAsk {
    /// Any item.
    pub item: String,
}

/// What was repaired, dropped or guessed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct IssuesReply {
    /// One for each kind and place.
    pub issues: Vec<IssueReply>,
}
