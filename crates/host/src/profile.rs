//! Answers about one experiment.

use parallax_base::Control;
use parallax_service::{Answer, Opened};
use parallax_wire::protocol::{ErrorReply, InfoAsk, MetricsAsk, MetricsReply, ReportAsk};
use parallax_wire::{InfoReply, ReportReply};

use crate::errors::{service_error, wire_error};
use crate::response::{Response, plain};

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
            reason: default.and_then(|default| default.reason),
            has_traces: info.samples > 0,
        },
    )
}

pub(crate) fn report(opened: &Opened, ask: &ReportAsk, control: &Control) -> Answered {
    let Answer { value: report, notes } =
        opened.diagnose(ask.metric.as_deref(), control).map_err(|error| service_error(&error))?;
    let origin = &opened.session().experiment().metadata.origin;
    let reply = ReportReply::of(&report, &notes, opened, origin);
    plain(ask, &reply.map_err(|error| wire_error(&error))?)
}

pub(crate) fn unknown(field: &str, word: &str, known: &str) -> ErrorReply {
    ErrorReply::new("misuse", format!("{field} `{word}` is none of {known}"))
}
