//! Runs a program over cores, inputs and repetitions, and keeps what was measured.
//!
//! A [`Plan`] says what is run; [`sweep`] runs it and writes one file in the format of PaScal
//! Analyzer (`crates/formats/src/pascal/FORMAT.md`), whole after every run, so that a sweep that was
//! killed goes on where it was. `docs/sweep.md` says how to use it, ADR 0036 why it is built so.
//!
//! Between the tool and the measured program stands a process of the tool's own, the supervisor
//! ([`supervise`]): it binds itself to processors, starts the program, takes its times, and ends it
//! when its time is up or the tool is gone.
//!
//! With [`Slurm`] the runs are jobs, and the supervisors run on the nodes.
//!
//! Regions inside the program come from marks, or from a library that the program loads first
//! (ADR 0086).

mod automatic;
mod batch;
mod command_line;
mod energy;
mod error;
mod files;
mod frequency;
mod ipmi;
mod iterations;
mod job;
mod launch;
mod lock;
mod machine;
mod marking;
mod plan;
mod record;
mod regions;
mod schedule;
mod series;
mod slurm;
#[cfg(target_os = "linux")]
mod supervisor;
mod sweeping;
mod tools;
mod topology;
#[cfg(target_os = "linux")]
mod watch;

pub use command_line::{line, quoted, split};
pub use error::SweepError;
pub use frequency::frequencies;
pub use ipmi::Controller;
pub use iterations::{Estimate, FirstIterations, IterationRegion};
pub use job::{Ended, Outcome, Usage};
pub use launch::{Job, Opens, SUPERVISOR, launch, supervise};
pub use marking::{MarkError, MarkedRegion, MarkedSource, mark_parallel_regions};
pub use plan::{
    Configuration, Key, Order, Plan, ProgramOutput, Repetitions, Stop, THREAD_VARIABLES,
    core_counts,
};
pub use record::Run;
pub use schedule::Skip;
pub use series::{SAMPLE_PERIOD, Series};
pub use slurm::{ELEMENT, Slurm, run_element};
pub use sweeping::{Automatic, Choices, Event, Iterated, Summary, TEMPORARY, dry_run, sweep};
pub use tools::{PRESETS, Preset, Tool};
pub use topology::Binding;
