//! Answers about single calls, executions of loops, iterations, and what they read and write.

use parallax_base::Control;
use parallax_service::{EntitiesRequest, LanesRequest, Opened, RelatedRequest, SharedRequest};
use parallax_wire::protocol::{
    EntitiesAsk, EntitiesReply, ErrorReply, LanesAsk, LanesReply, LinesAsk, LinesReply, RelatedAsk,
    SharedAsk,
};

use crate::errors::service_error;
use crate::response::{Response, with_tables};

type Answered = Result<Response, ErrorReply>;

/// Rows of one answer at most, whatever a request asks for.
const MOST: u32 = 1 << 20;

fn limit(asked: Option<u32>) -> usize {
    asked.unwrap_or(MOST).min(MOST) as usize
}

pub(crate) fn entities(opened: &Opened, ask: &EntitiesAsk) -> Answered {
    let request =
        EntitiesRequest { kind: ask.kind.into(), ids: ask.ids.clone(), limit: limit(ask.limit) };
    let answer = opened.entities(&request).map_err(|error| service_error(&error))?;
    let reply = EntitiesReply { left_out: answer.left_out, notes: Vec::new() };
    with_tables(ask, &reply, &[("rows", &answer.table)])
}

pub(crate) fn related(opened: &Opened, ask: &RelatedAsk, control: &Control) -> Answered {
    let request = RelatedRequest {
        kind: ask.kind.into(),
        ids: ask.ids.clone(),
        relation: ask.relation.into(),
        longer_than_nanos: ask.longer_than_ns,
        limit: limit(ask.limit),
    };
    let answer = opened.related(&request, control).map_err(|error| service_error(&error))?;
    let reply = EntitiesReply { left_out: answer.left_out, notes: Vec::new() };
    with_tables(ask, &reply, &[("rows", &answer.table)])
}

pub(crate) fn shared(opened: &Opened, ask: &SharedAsk) -> Answered {
    let request = SharedRequest {
        activations: ask.activations.clone(),
        groups: ask.groups.clone(),
        is_inclusive: ask.is_inclusive,
    };
    let answer = opened.shared(&request).map_err(|error| service_error(&error))?;
    let reply = EntitiesReply { left_out: answer.value.left_out, notes: answer.notes };
    with_tables(ask, &reply, &[("rows", &answer.value.table)])
}

pub(crate) fn lanes(opened: &Opened, ask: &LanesAsk, control: &Control) -> Answered {
    let request = LanesRequest {
        tops: ask.tops.clone(),
        is_merged: ask.is_merged,
        below_percent: ask.below_percent,
        has_loops: ask.loops,
    };
    let answer = opened.lanes(&request, control).map_err(|error| service_error(&error))?;
    let reply = LanesReply { left_out: answer.left_out, notes: answer.notes };
    with_tables(ask, &reply, &[("rows", &answer.table)])
}

pub(crate) fn lines(opened: &Opened, ask: &LinesAsk, control: &Control) -> Answered {
    let answer = opened.lines(&ask.path, control).map_err(|error| service_error(&error))?;
    with_tables(ask, &LinesReply { notes: answer.notes }, &[("rows", &answer.value)])
}
