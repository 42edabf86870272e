//! Answers about what could run in parallel.

use parallax_base::Control;
use parallax_service::{AdviseBy, AdviseRequest, Opened};
use parallax_wire::protocol::{AdviseAsk, AdviseReply, ErrorReply, TasksReply};

use crate::errors::service_error;
use crate::profile::unknown;
use crate::response::{Response, with_tables};

pub(crate) fn advise(
    opened: &Opened,
    ask: &AdviseAsk,
    control: &Control,
) -> Result<Response, ErrorReply> {
    let request = AdviseRequest {
        contexts: ask.contexts.clone(),
        workers: ask.workers.unwrap_or(AdviseRequest::WORKERS).max(1),
        by: match ask.by.as_deref() {
            None | Some("loop") => AdviseBy::Loop,
            Some("reference") => AdviseBy::Reference,
            Some("pair") => AdviseBy::Pair,
            Some("context") => AdviseBy::Context,
            Some("task") => AdviseBy::Task,
            Some("race") => AdviseBy::Race,
            Some(word) => {
                return Err(unknown("by", word, "loop, reference, pair, context, task, race"));
            }
        },
    };
    let answer = opened.advise(&request, control).map_err(|error| service_error(&error))?;
    let found = answer.value;
    let reply = AdviseReply {
        work_s: found.work_seconds,
        span_s: found.span_seconds,
        parallelism: found.parallelism,
        tasks: found.tasks.map(|tasks| TasksReply {
            parent: tasks.parent,
            serial_s: tasks.serial_seconds,
            parallel_s: tasks.parallel_seconds,
            bound_s: tasks.bound_seconds,
            speedup: tasks.speedup,
            workers: tasks.workers,
        }),
        notes: answer.notes,
    };
    with_tables(ask, &reply, &[("rows", &found.table)])
}
