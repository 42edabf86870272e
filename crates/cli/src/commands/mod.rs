//! One function per subcommand.

mod activations;
mod advise;
mod analyses;
mod anomalies;
mod clusters;
mod compare;
mod completions;
mod convert;
mod convert_tables;
mod correlate;
mod devices;
mod distribution;
mod events;
mod export;
mod gpu_stalls;
mod info;
mod instrument;
mod iterations;
mod list;
mod live;
mod locations;
mod mark;
mod measure;
pub(crate) mod measure_plan;
mod measure_progress;
mod query;
mod record;
mod recorded;
mod report;
mod report_html;
mod scaling;
mod serve;
mod source;
mod sql;
mod sql_cluster;
mod timeline;
mod user_events;
mod views;
mod workflow;

pub(crate) use compare::ConditionsHold;
pub(crate) use list::Command;
pub(crate) use measure::opens_database;
pub(crate) use record::Ended;
pub(crate) use sql::is_wrong_statement;

use parallax_base::Issue;
use parallax_service::{Control, OpenExperiment, Severity};

use parallax_wire::TopRows;

use crate::args::{Cli, Common, Database};
use crate::device::{Chosen as _, DeviceChoice};
use crate::open;
use crate::output::{Format, Output};
use crate::text::{Level, Notice, Rows, Style};

/// What every command needs apart from its own arguments.
struct Context {
    output: Output,
    stderr: Style,
    control: Control,
    is_quiet: bool,
    /// The format that was typed; that of `output` may come from the name of its file.
    typed_format: Option<Format>,
    /// Where operations on many rows run.
    device: DeviceChoice,
}

impl Context {
    fn new(common: Common) -> Self {
        let rows = match common.rows {
            _ if common.all => Rows::All,
            Some(rows) => Rows::AtMost(rows),
            None => Rows::Fitted,
        };
        let mut style = Style::of_stdout(common.color, rows);
        if let Some(width) = common.width {
            style.width = width.clamp(20, 1000);
        }
        let format = if common.json { Some(Format::Json) } else { common.format };
        let mut output = Output::new(format, common.output, style);
        if let Some(width) = common.width {
            output.style.width = width.clamp(20, 1000);
        }
        output.top = TopRows { by: common.order_by, most: common.top };
        Self {
            output,
            stderr: Style::of_stderr(common.color),
            control: open::control(common.quiet),
            is_quiet: common.quiet,
            typed_format: format,
            device: common.device,
        }
    }

    fn open(&self, database: &Database) -> anyhow::Result<OpenExperiment> {
        open::database(&database.path, &self.control)
    }

    fn note(&self, message: impl Into<String>) {
        Notice::new(Level::Note, message).print(&self.stderr);
    }

    /// Remarks of an answer, one line about the issues that `info` lists, and the issues that only
    /// reading the values of this answer showed, on the error stream.
    fn finish(&self, opened: &OpenExperiment, notes: &[String]) {
        for note in notes {
            self.note(note);
        }
        const MOST_SHOWN: usize = 5;
        let issues = opened.issues();
        let at_opening = &opened.session().experiment().issues;
        let is_listed = |issue: &Issue| {
            at_opening.list().iter().any(|i| (i.kind, &i.place) == (issue.kind, &issue.place))
        };
        let serious = issues.list().iter().filter(|i| i.severity > Severity::Note);
        let (listed, late): (Vec<&Issue>, Vec<&Issue>) = serious.partition(|i| is_listed(i));
        for issue in late.iter().take(MOST_SHOWN) {
            let message = format!("{}: {}", issue.place, issue.message);
            Notice::new(Level::Warning, message).print(&self.stderr);
        }
        if let Some(more) = late.len().checked_sub(MOST_SHOWN).filter(|&more| more > 0) {
            let message = format!("{more} more issues in the values that were read");
            Notice::new(Level::Warning, message).print(&self.stderr);
        }
        let serious = listed.len();
        if serious > 0 {
            let (plural, them) = if serious == 1 { ("issue", "it") } else { ("issues", "them") };
            Notice::new(
                Level::Warning,
                format!("{serious} {plural} in this data; `parallax info` lists {them}"),
            )
            .print(&self.stderr);
        }
    }
}

/// Runs what was typed.
pub(crate) fn run(cli: Cli) -> anyhow::Result<()> {
    let context = Context::new(cli.common);
    if cli.is_device_typed
        && let DeviceChoice::Gpu(number) = context.device
        && !cli.command.uses_device()
    {
        // Whoever asks for a device that is not there learns it from every command.
        context.device.compute()?;
        context.note(format!("this command computes on cpu: it has no work for gpu:{number}"));
    }
    cli.command.run(&context)
}
