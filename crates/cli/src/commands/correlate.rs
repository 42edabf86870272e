//! `correlate`: which metrics correlate over locations.

use clap::Args;
use parallax_protocol::{CorrelationBy, CorrelationOrder, CorrelationsRequest, TypedTable as _};
use parallax_service::Answers as _;

use super::Context;
use crate::args::Database;
use crate::choice::names;
use crate::text::TextTable;

const EXAMPLES: &str = "\
Examples:
  parallax correlate db                                 the 20 strongest pairs
  parallax correlate db --with rank                     correlations with rank
  parallax correlate db --with 'MPI_*' --top 5          pairs with MPI functions
  parallax correlate db -m cycles -m l2-misses          several metrics
  parallax correlate db -m '=$cycles / $instructions'   a formula

Correlation does not imply causation.";

/// Pairs that are shown unless told otherwise.
const PAIRS: u32 = 20;

/// What `correlate` looks at.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CorrelateArgs {
    #[command(flatten)]
    database: Database,
    /// Show only pairs that include this name or glob: a metric (its total), rank, thread, node,
    /// ..., or a function; can be repeated.
    #[arg(long, value_name = "NAME")]
    with: Vec<String>,
    /// Metric, or formula after '=' (default: the most suitable time metric of the database); can
    /// be repeated.
    #[arg(long, short, value_name = "METRIC")]
    metric: Vec<String>,
    /// Locations to include, such as 'rank(0-9).thread(0)'; ranges include their end.
    #[arg(long, short, value_name = "PROFILES")]
    profiles: Option<String>,
    /// Correlate contexts by call path instead of functions.
    #[arg(long)]
    by_context: bool,
    /// Include helper threads, which MPI, network libraries, drivers or the measurement tool start
    /// for their own use.
    #[arg(long)]
    helpers: bool,
    /// Exclude contexts whose exclusive value is below this share of the total.
    #[arg(long, value_name = "PERCENT", default_value_t = CorrelationsRequest::default().min_percent)]
    min_share: f64,
    /// Order of the pairs.
    #[arg(long, value_parser = names::<CorrelationOrder>(), default_value_t)]
    sort: CorrelationOrder,
}

pub(super) fn correlate(context: &Context, arguments: CorrelateArgs) -> anyhow::Result<()> {
    let opened = context.open(&arguments.database)?;
    let request = CorrelationsRequest {
        metrics: arguments.metric,
        profiles: arguments.profiles,
        with: arguments.with,
        by: if arguments.by_context { CorrelationBy::Context } else { CorrelationBy::Function },
        min_percent: arguments.min_share,
        helpers: arguments.helpers,
        order: arguments.sort,
        // Rows that are ordered otherwise are chosen from all pairs.
        top: match (&context.output.top.by, context.output.top.most) {
            (Some(_), _) => u32::MAX,
            (None, most) => most.map_or(PAIRS, |most| u32::try_from(most).unwrap_or(u32::MAX)),
        },
    };
    let answer = opened.answer(&request, &context.control)?;
    let table = answer.tables.pairs.into_table();
    context.output.emit_with(&table, |style, out| {
        if table.num_rows() == 0 {
            return writeln!(out, "No correlations found.");
        }
        TextTable::new(&table)
            .title("Correlations over locations")
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
    context.finish(&opened, &answer.reply.notes);
    Ok(())
}
