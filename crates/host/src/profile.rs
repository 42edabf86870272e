//! Answers about one experiment.

use parallax_base::Control;
use parallax_service::analysis::balance::{Bins, histogram};
use parallax_service::analysis::idleness::SourceChoice;
use parallax_service::{
    Answer, BalanceBy, BalanceRequest, CallersRequest, CostScope, DistributionRequest, FlatBy,
    FlatRequest, Opened, QueryRequest, SourceRequest, Table, TraceRequest, TreeTableRequest,
};
use parallax_wire::protocol::{
    BalanceAsk, BalanceReply, CallersAsk, DistributionAsk, DistributionReply, ErrorReply, FlatAsk,
    FlatReply, HistogramReply, IdlenessAsk, InfoAsk, MetricsAsk, MetricsReply, QueryAsk, ReportAsk,
    SourceAsk, SourceFileReply, SourceFilesAsk, SourceFilesReply, SourceReply, StatisticsReply,
    TableOnlyReply, TraceAsk, TreeReply, TreeTableAsk, TreeTableReply,
};
use parallax_wire::{Cells, InfoReply, ReportReply, WireError};

use crate::errors::{service_error, wire_error};
use crate::response::{Response, plain, with_tables};

type Answered = Result<Response, ErrorReply>;

pub(crate) fn info(opened: &Opened, ask: &InfoAsk, control: &Control) -> Answered {
    let info = opened.info(control).map_err(|error| service_error(&error))?;
    plain(ask, &InfoReply::from(&info))
}

pub(crate) fn metrics(opened: &Opened, ask: &MetricsAsk, control: &Control) -> Answered {
    let info = opened.info(control).map_err(|error| service_error(&error))?;
    let session = opened.session();
    // An experiment without values has no default; its metrics are listed all the same.
    let default = session.default_metric(control).ok();
    let name = |metric| session.experiment().metrics.get(metric).name.to_string();
    plain(
        ask,
        &MetricsReply {
            metrics: info.metrics.iter().map(Into::into).collect(),
            default: default.as_ref().map(|default| name(default.metric)),
            reason: default.map(|default| default.reason),
            has_traces: info.samples > 0,
        },
    )
}

pub(crate) fn tree_table(opened: &Opened, ask: &TreeTableAsk, control: &Control) -> Answered {
    let request =
        TreeTableRequest { costs: ask.costs.clone().into(), prune: ask.prune.clone().into() };
    let answer = opened.tree_table(&request, control).map_err(|error| service_error(&error))?;
    let costs = answer.headers.into_iter().map(Into::into).collect();
    with_tables(ask, &TreeTableReply { costs }, &[("rows", &answer.table)])
}

pub(crate) fn callers(opened: &Opened, ask: &CallersAsk, control: &Control) -> Answered {
    let request = CallersRequest {
        cost: ask.cost.clone().into(),
        prune: ask.prune.clone().into(),
        from: ask.from.clone(),
        function: ask.function.clone(),
        is_exact: true,
        max_depth: ask.max_depth,
        max_rows: ask.max_rows.map(|rows| rows as usize),
    };
    let answer = opened.callers(&request, control).map_err(|error| service_error(&error))?;
    let table = answer.table();
    with_tables(ask, &TreeReply { cost: answer.header.into() }, &[("rows", &table)])
}

pub(crate) fn flat(opened: &Opened, ask: &FlatAsk, control: &Control) -> Answered {
    let by = match ask.by.as_deref() {
        None | Some("function") => FlatBy::Function,
        Some("file") => FlatBy::File,
        Some("module") => FlatBy::Module,
        Some("loop") => FlatBy::Loop,
        Some("line") => FlatBy::Line,
        Some(word) => return Err(unknown("by", word, "function, file, module, loop, line")),
    };
    let request = FlatRequest {
        cost: ask.cost.clone().into(),
        prune: ask.prune.clone().into(),
        from: ask.from.clone(),
        by,
    };
    let answer = opened.flat(&request, control).map_err(|error| service_error(&error))?;
    let table = answer.table();
    with_tables(ask, &FlatReply { cost: answer.header.into() }, &[("rows", &table)])
}

pub(crate) fn distribution(opened: &Opened, ask: &DistributionAsk, control: &Control) -> Answered {
    let request = DistributionRequest {
        context_id: ask.context_id,
        metric: ask.metric.clone(),
        scope: if ask.is_exclusive { CostScope::Exclusive } else { CostScope::Inclusive },
        profiles: ask.profiles.clone(),
        by: members(ask.by.as_deref())?,
    };
    let Answer { value: answer, notes } =
        opened.distribution(&request, control).map_err(|error| service_error(&error))?;
    let bins = ask.bins.map_or(Bins::Natural, |bins| Bins::Count(bins as usize));
    let statistics = answer.statistics.as_ref().map(|d| {
        let [_, _, median, _, p95] = d.percentiles;
        StatisticsReply {
            members: d.num_members as u64,
            values: d.num_values as u64,
            sum: d.sum,
            min: d.min,
            mean: d.mean,
            median,
            p95,
            max: d.max,
            std_dev: d.std_dev,
            variation: d.variation,
            balance_ratio: d.balance_ratio,
            saving: d.saving,
        }
    });
    let values = numbers(&answer.table, "value").map_err(|error| wire_error(&error))?;
    let histogram = histogram(&values, bins).map(|found| HistogramReply {
        start: found.start,
        width: found.width,
        counts: found.counts,
    });
    let reply = DistributionReply {
        context: answer.context,
        metric: answer.metric,
        unit: answer.unit.to_string(),
        reason: answer.reason,
        member: answer.member.to_owned(),
        statistics,
        histogram,
        notes,
    };
    with_tables(ask, &reply, &[("rows", &answer.table)])
}

pub(crate) fn source_files(opened: &Opened, ask: &SourceFilesAsk) -> Answered {
    let files = opened.source_files().into_iter();
    let files = files.map(|file| SourceFileReply { path: file.path, bytes: file.len_bytes });
    plain(ask, &SourceFilesReply { files: files.collect() })
}

pub(crate) fn source(opened: &Opened, ask: &SourceAsk, control: &Control) -> Answered {
    let request = SourceRequest {
        file: ask.path.clone(),
        costs: ask.costs.clone().into(),
        contexts_per_line: None,
    };
    let Answer { value: answer, notes } =
        opened.source(&request, control).map_err(|error| service_error(&error))?;
    let reply = SourceReply {
        path: answer.path,
        text: answer.text,
        text_path: answer.text_path,
        costs: answer.headers.into_iter().map(Into::into).collect(),
        notes,
    };
    with_tables(ask, &reply, &[("lines", &answer.lines), ("contexts", &answer.contexts)])
}

pub(crate) fn report(opened: &Opened, ask: &ReportAsk, control: &Control) -> Answered {
    let Answer { value: report, notes } =
        opened.diagnose(ask.metric.as_deref(), control).map_err(|error| service_error(&error))?;
    let origin = &opened.session().experiment().metadata.origin;
    let reply = ReportReply::of(&report, &notes, opened, origin);
    plain(ask, &reply.map_err(|error| wire_error(&error))?)
}

pub(crate) fn balance(opened: &Opened, ask: &BalanceAsk, control: &Control) -> Answered {
    let request = BalanceRequest {
        metric: ask.metric.clone(),
        profiles: ask.profiles.clone(),
        contexts: ask.contexts.clone(),
        is_exclusive: ask.is_exclusive,
        by: members(ask.by.as_deref())?,
        num_slowest: 3,
        ..BalanceRequest::default()
    };
    let answer = opened.balance(&request, control).map_err(|error| service_error(&error))?;
    let table = answer.value.balance.to_table(opened.session());
    let reply = BalanceReply {
        reason: answer.value.reason,
        total: answer.value.total,
        notes: answer.notes,
    };
    with_tables(ask, &reply, &[("rows", &table)])
}

pub(crate) fn idleness(opened: &Opened, ask: &IdlenessAsk, control: &Control) -> Answered {
    if ask.blame {
        let answer = opened.gpu_blame(control).map_err(|error| service_error(&error))?;
        let table =
            answer.value.calls_table(opened.session().tree(), |context| opened.call_path(context));
        return with_tables(ask, &TableOnlyReply { notes: answer.notes }, &[("rows", &table)]);
    }
    let answer = opened
        .idleness(ask.metric.as_deref(), SourceChoice::Best, control)
        .map_err(|error| service_error(&error))?;
    let table = match &answer.cpu {
        Some(cpu) => cpu.to_table(),
        None => answer.gpu_table(),
    };
    with_tables(ask, &TableOnlyReply { notes: answer.notes }, &[("rows", &table)])
}

pub(crate) fn query(opened: &Opened, ask: &QueryAsk, control: &Control) -> Answered {
    let request = QueryRequest {
        profiles: ask.profiles.clone(),
        contexts: ask.contexts.clone(),
        metrics: ask.metrics.clone(),
        prune: ask.prune.clone().into(),
        is_raw: ask.is_raw,
        with_elided: false,
    };
    let answer = opened.query(&request, control).map_err(|error| service_error(&error))?;
    with_tables(ask, &TableOnlyReply { notes: answer.notes }, &[("rows", &answer.value)])
}

pub(crate) fn trace(opened: &Opened, ask: &TraceAsk, control: &Control) -> Answered {
    let request = TraceRequest {
        profiles: ask.profiles.clone(),
        window: ask.window.clone(),
        is_raw: ask.is_raw,
    };
    let answer = opened.trace(&request, control).map_err(|error| service_error(&error))?;
    with_tables(ask, &TableOnlyReply { notes: answer.notes }, &[("rows", &answer.value)])
}

/// The defined values of a column.
fn numbers(table: &Table, name: &str) -> Result<Vec<f64>, WireError> {
    let Some(column) = table.columns.iter().find(|column| column.name == name) else {
        return Ok(Vec::new());
    };
    let cells = Cells::of(column)?;
    Ok((0..cells.len()).filter_map(|row| cells.get(row).as_f64()).collect())
}

/// What is compared, by its word.
fn members(word: Option<&str>) -> Result<BalanceBy, ErrorReply> {
    match word {
        None | Some("profile") => Ok(BalanceBy::Profile),
        Some("rank") => Ok(BalanceBy::Rank),
        Some("node") => Ok(BalanceBy::Node),
        Some(word) => Err(unknown("by", word, "profile, rank, node")),
    }
}

pub(crate) fn unknown(field: &str, word: &str, known: &str) -> ErrorReply {
    ErrorReply::new("misuse", format!("{field} `{word}` is none of {known}"))
}
