//! `correlate`: which costs rise and fall together over locations.

use clap::{Args, ValueEnum};
use parallax_service::analysis::correlation::CorrelationOrder;
use parallax_service::{Answer, CorrelationRequest};

use super::Context;
use crate::args::Database;
use crate::text::TextTable;

const EXAMPLES: &str = "\
Examples:
  parallax correlate db                                 the 20 strongest pairs
  parallax correlate db --with rank                     what grows with the rank
  parallax correlate db --with 'MPI_*' --top 5          what waits when others compute
  parallax correlate db -m cycles -m l2-misses          several metrics
  parallax correlate db -m '=$cycles / $instructions'   a formula

A correlation is no cause: it says where to look.";

/// Pairs that are shown unless told otherwise.
const PAIRS: usize = 20;

/// What `correlate` looks at.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CorrelateArgs {
    #[command(flatten)]
    database: Database,
    /// One of each pair has this name: a metric (its whole cost), rank, thread, node, ..., or a
    /// function; globs, repeatable.
    #[arg(long, value_name = "NAME")]
    with: Vec<String>,
    /// Metrics, or formulas after '='; repeatable. Without it the metric that says most about time.
    #[arg(long, short, value_name = "METRIC")]
    metric: Vec<String>,
    /// Which locations, such as 'rank(0-9).thread(0)'. Ranges include their end.
    #[arg(long, short, value_name = "PROFILES")]
    profiles: Option<String>,
    /// Costs of contexts by call path instead of functions.
    #[arg(long)]
    by_context: bool,
    /// Leave out contexts whose own cost is below this share of the whole.
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    min_share: f64,
    /// By what pairs are ranked.
    #[arg(long, value_enum, default_value = "significance")]
    sort: Order,
}

/// Order of pairs.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Order {
    /// The least likely to be chance first.
    Significance,
    /// The nearest to a line first.
    Pearson,
    /// The nearest to one order first.
    Spearman,
}

pub(super) fn correlate(context: &Context, arguments: CorrelateArgs) -> anyhow::Result<()> {
    let opened = context.open(&arguments.database)?;
    let request = CorrelationRequest {
        metrics: arguments.metric,
        profiles: arguments.profiles,
        with: arguments.with,
        by_context: arguments.by_context,
        min_percent: arguments.min_share,
        order: match arguments.sort {
            Order::Significance => CorrelationOrder::Significance,
            Order::Pearson => CorrelationOrder::Pearson,
            Order::Spearman => CorrelationOrder::Spearman,
        },
        // Rows that are ordered otherwise are chosen from all pairs.
        top: match (&context.output.top.by, context.output.top.most) {
            (Some(_), _) => usize::MAX,
            (None, most) => most.unwrap_or(PAIRS),
        },
        ..CorrelationRequest::default()
    };
    let Answer { value: found, notes } = opened.correlate(&request, &context.control)?;
    let table = found.table();
    context.output.emit_with(&table, |style, out| {
        if table.num_rows() == 0 {
            return writeln!(out, "Nothing varies together over locations.");
        }
        TextTable::new(&table)
            .title("What rises and falls together over locations")
            .columns(&[
                "pearson",
                "pearson_p",
                "spearman",
                "spearman_p",
                "locations",
                "first",
                "second",
            ])
            .head("pearson_p", "p")
            .head("spearman_p", "p")
            .write(style, out)
    })?;
    context.finish(&opened, &notes);
    Ok(())
}
