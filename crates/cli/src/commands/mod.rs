//! One function per subcommand.

mod activations;
mod advise;
mod analyses;
mod clusters;
mod compare;
mod convert;
mod correlate;
mod distribution;
mod events;
mod export;
mod info;
mod iterations;
mod measure;
mod query;
mod report;
mod report_html;
mod serve;
mod source;
mod timeline;
mod user_events;
mod views;

pub(crate) use activations::ReferencesArgs;
pub(crate) use advise::AdviseArgs;
pub(crate) use clusters::{ClusterArgs, TopologyArgs};
pub(crate) use compare::ConditionsHold;
pub(crate) use convert::ConvertArgs;
pub(crate) use correlate::CorrelateArgs;

use clap::CommandFactory as _;
pub(crate) use events::{CriticalPathArgs, OverTimeArgs, WaitsArgs};
pub(crate) use iterations::IterationsArgs;
pub(crate) use measure::MeasureArgs;
use parallax_base::Issue;
use parallax_protocol::{FindOrder, FindRequest, MessagesRequest, StatsRequest};
use parallax_service::{Control, Opened, Severity};
pub(crate) use report::ReportArgs;
pub(crate) use user_events::UserEventsArgs;

use parallax_wire::TopRows;

use crate::args::{Cli, Command, Common, Database, PartArgs};
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
        }
    }

    fn open(&self, database: &Database) -> anyhow::Result<Opened> {
        open::database(&database.path, &self.control)
    }

    fn note(&self, message: impl Into<String>) {
        Notice::new(Level::Note, message).print(&self.stderr);
    }

    /// Remarks of an answer, one line about the issues that `info` lists, and the issues that only
    /// reading the values of this answer showed, on the error stream.
    fn finish(&self, opened: &Opened, notes: &[String]) {
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
            let plural = if serious == 1 { "issue" } else { "issues" };
            Notice::new(
                Level::Warning,
                format!("{serious} {plural} in this data; `parallax info` lists them"),
            )
            .print(&self.stderr);
        }
    }
}

/// Runs what was typed.
pub(crate) fn run(cli: Cli) -> anyhow::Result<()> {
    let context = Context::new(cli.common);
    match cli.command {
        Command::Info { database } => info::info(&context, &database),
        Command::Tree { database, from, depth, hot, cost, prune } => {
            views::tree(&context, &database, from, depth, hot, cost, prune)
        }
        Command::Callers { database, from, function, depth, cost, prune } => {
            views::callers(&context, &database, from, function, depth, cost, prune)
        }
        Command::Flat { database, from, by, cost, prune } => {
            views::flat(&context, &database, from, by, cost, prune)
        }
        Command::Query { database, profiles, contexts, metrics, raw, with_elided, prune } => {
            let request = parallax_protocol::QueryRequest {
                profiles,
                contexts,
                metrics,
                prune: prune.choice(),
                is_raw: raw,
                with_elided,
            };
            query::query(&context, &database, &request)
        }
        Command::Trace { part: PartArgs { database, profiles, window }, raw } => {
            let request = parallax_protocol::TraceRequest { profiles, window, is_raw: raw };
            query::trace(&context, &database, &request)
        }
        Command::Stats { part, by } => {
            let (database, part) = part.parted();
            timeline::stats(
                &context,
                &database,
                &StatsRequest { part, by, ..StatsRequest::default() },
            )
        }
        Command::Find { part, name, longer_than, shorter_than, first, histogram, limit } => {
            let order = if first { FindOrder::First } else { FindOrder::Longest };
            let (database, part) = part.parted();
            let request = FindRequest {
                part,
                name,
                min_ns: longer_than,
                max_ns: shorter_than,
                order,
                max_rows: limit,
                ..FindRequest::default()
            };
            timeline::find(&context, &database, &request, histogram)
        }
        Command::Messages { part, by, flows } => {
            let (database, part) = part.parted();
            let request = MessagesRequest { part, by, flows, ..MessagesRequest::default() };
            timeline::messages(&context, &database, &request)
        }
        Command::References(arguments) => activations::references(&context, arguments),
        Command::Loops { database } => activations::loops(&context, &database),
        Command::Advise(arguments) => advise::advise(&context, arguments),
        Command::Waits(arguments) => events::waits(&context, arguments),
        Command::CriticalPath(arguments) => events::critical_path(&context, arguments),
        Command::OverTime(arguments) => events::over_time(&context, arguments),
        Command::Iterations(arguments) => iterations::iterations(&context, arguments),
        Command::Convert(arguments) => convert::convert(&context, &arguments),
        Command::Cluster(arguments) => clusters::cluster(&context, &arguments),
        Command::Topology(arguments) => clusters::topology(&context, &arguments),
        Command::Balance(arguments) => analyses::balance(&context, arguments),
        Command::Distribution(arguments) => distribution::distribution(&context, arguments),
        Command::UserEvents(arguments) => user_events::user_events(&context, arguments),
        Command::Source { database, file, cost } => source::source(&context, &database, file, cost),
        Command::Report(arguments) => report::report(&context, arguments),
        Command::Idleness { database, blame: true, .. } => analyses::blame(&context, &database),
        Command::Idleness { database, source, metric, .. } => {
            analyses::idleness(&context, &database, source, metric.as_deref())
        }
        Command::Scaling(arguments) => {
            crate::scaling::run(&arguments, &context.output, &context.stderr, &context.control)
        }
        Command::Model(arguments) => {
            crate::scaling::model(&arguments, &context.output, &context.stderr, &context.control)
        }
        Command::Compare(arguments) => compare::compare(&context, &arguments),
        Command::Correlate(arguments) => correlate::correlate(&context, arguments),
        Command::Merge(arguments) => {
            crate::scaling::merge(&arguments, &context.output, &context.stderr)
        }
        Command::Measure(arguments) => measure::measure(&context, *arguments),
        Command::Open(arguments) => serve::serve(&context, &arguments),
        Command::Export(arguments) => export::export(&context, &arguments),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "parallax", &mut script);
            std::io::Write::write_all(&mut std::io::stdout(), &script)?;
            Ok(())
        }
    }
}
