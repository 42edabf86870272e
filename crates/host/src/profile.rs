//! Answers about one experiment.

use parallax_base::Control;
use parallax_service::{Answer, Opened};
use parallax_wire::ReportReply;
use parallax_wire::protocol::{ErrorReply, ReportAsk};

use crate::errors::{service_error, wire_error};
use crate::response::{Response, plain};

type Answered = Result<Response, ErrorReply>;

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
