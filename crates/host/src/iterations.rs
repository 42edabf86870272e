//! Answers about iterations.

use parallax_base::Control;
use parallax_service::{
    FoundIterations, GroupEvidence, IterationsRequest, Opened, RepetitionEvidence,
};
use parallax_wire::protocol::{
    ErrorReply, IterationsAsk, IterationsFoundReply, IterationsGroupReply, IterationsReply,
    RepetitionReply,
};

use crate::errors::service_error;
use crate::response::{Response, with_tables};
use crate::timeline::{expression, origin};

pub(crate) fn iterations(
    opened: &Opened,
    ask: &IterationsAsk,
    control: &Control,
) -> Result<Response, ErrorReply> {
    let request = IterationsRequest {
        profiles: ask.profiles.clone(),
        window: expression(origin(opened)?, ask.window)?,
        marker: ask.marker.clone(),
        ..IterationsRequest::default()
    };
    let answer = opened
        .iterations_view(&request, ask.context, control)
        .map_err(|error| service_error(&error))?;
    let view = answer.value;
    let reply = IterationsReply {
        found: view.found.map(found),
        groups: view.groups.into_iter().map(group).collect(),
        notes: answer.notes,
    };
    let tables = [
        ("contexts", &view.contexts),
        ("locations", &view.locations),
        ("iterations", &view.iterations),
        ("cells", &view.cells),
    ];
    with_tables(ask, &reply, &tables)
}

fn found(found: FoundIterations) -> IterationsFoundReply {
    IterationsFoundReply {
        group: found.group,
        marker: found.marker,
        is_named: found.is_named,
        locations: found.locations,
        tracks: found.tracks,
        left_out: found.num_left_out as u64,
        count: found.count as u64,
        whole: found.num_whole as u64,
        warm_up: found.num_warm_up as u64,
        partial: found.num_partial as u64,
        period_s: found.period_seconds,
        from_s: found.from_seconds,
        to_s: found.to_seconds,
        span_percent: found.span_percent,
        window_s: found.window_seconds,
        is_aligned: found.is_aligned,
        guessed_percent: found.guessed_percent,
        interval_s: found.interval_seconds,
        similarity_percent: found.similarity_percent,
        saving_s: found.saving_seconds,
        joint_saving_s: found.joint_saving_seconds,
        lasting_saving_s: found.lasting_saving_seconds,
        unresolved: found.num_unresolved as u64,
    }
}

fn group(group: GroupEvidence) -> IterationsGroupReply {
    IterationsGroupReply {
        group: group.group,
        locations: group.num_locations as u64,
        best: group.best.map(repetition),
        others: group.others.into_iter().map(repetition).collect(),
        why_not: group.why_not,
    }
}

fn repetition(found: RepetitionEvidence) -> RepetitionReply {
    RepetitionReply {
        marker: found.marker,
        path: found.path,
        context_id: found.context_id,
        count: found.count as u64,
        period_s: found.period_seconds,
        regular_percent: found.regular_percent,
        coverage_percent: found.coverage_percent,
        agreement_percent: found.agreement_percent,
        is_pooled: found.is_pooled,
        explained_percent: found.explained_percent,
        contexts: found.num_contexts as u64,
    }
}
