//! Files of TAU: profiles as text and packed, traces, and workflow profiles.
//!
//! - [`read_folder`]: `profile.N.C.T` files, one folder for each metric (see `FORMAT.md`);
//! - [`read_packed`]: `.ppk`, the packed profile of ParaProf, versions 1 and 2;
//! - [`Trace`] and [`Definitions`]: `.trc` and `.edf`;
//! - [`Workflow`]: the profile of a coupled workflow as JSON, and how it is made of its parts.
//!
//! Profiles of either kind become [`Profiles`]; names are cut into call paths by [`call_path`].

mod edf;
mod folder;
mod metadata;
mod names;
mod packed;
mod records;
mod text;
mod trace;
mod workflow;
mod workflow_build;
mod workflow_write;

pub use edf::{Definition, DefinitionKind, Definitions};
pub use folder::{METRIC_FOLDER, ProfileFile, find_profiles, read_folder, thread_of_name};
pub use names::{Element, ElementKind, THROTTLED, call_path, cut_event, element};
pub use packed::{is_packed, read_packed};
pub use records::{EventRow, Facts, Profiles, Thread, ThreadId, Timer, TimerRow, fact};
pub use text::{is_profile_text, read_profile};
pub use trace::{Message, Record, Trace, TraceEvent, TraceLayout};
pub use workflow::{Component, CounterRow, Workflow, WorkflowTimerRow, is_workflow};
pub use workflow_build::{ComponentProfiles, build_workflow};
