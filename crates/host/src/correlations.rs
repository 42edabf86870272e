//! Answers about what rises and falls together over locations.

use parallax_base::Control;
use parallax_service::analysis::correlation::CorrelationOrder;
use parallax_service::{CorrelationRequest, Opened};
use parallax_wire::protocol::{
    CorrelationPointsAsk, CorrelationPointsReply, CorrelationsAsk, CorrelationsReply, ErrorReply,
};

use crate::errors::service_error;
use crate::profile::unknown;
use crate::response::{Response, with_tables};

/// Pairs unless told otherwise.
const PAIRS: u32 = 200;

fn request(ask: &CorrelationsAsk) -> Result<CorrelationRequest, ErrorReply> {
    Ok(CorrelationRequest {
        metrics: ask.metrics.clone(),
        profiles: ask.profiles.clone(),
        with: ask.with.clone(),
        by_context: match ask.by.as_deref() {
            None | Some("function") => false,
            Some("context") => true,
            Some(word) => return Err(unknown("by", word, "function, context")),
        },
        order: match ask.order.as_deref() {
            None | Some("significance") => CorrelationOrder::Significance,
            Some("pearson") => CorrelationOrder::Pearson,
            Some("spearman") => CorrelationOrder::Spearman,
            Some(word) => return Err(unknown("order", word, "significance, pearson, spearman")),
        },
        top: ask.top.unwrap_or(PAIRS) as usize,
        ..CorrelationRequest::default()
    })
}

pub(crate) fn correlations(
    opened: &Opened,
    ask: &CorrelationsAsk,
    control: &Control,
) -> Result<Response, ErrorReply> {
    let answer =
        opened.correlate(&request(ask)?, control).map_err(|error| service_error(&error))?;
    let reply = CorrelationsReply { tested: answer.value.num_tested as u64, notes: answer.notes };
    with_tables(ask, &reply, &[("pairs", &answer.value.table())])
}

pub(crate) fn points(
    opened: &Opened,
    ask: &CorrelationPointsAsk,
    control: &Control,
) -> Result<Response, ErrorReply> {
    let found = opened
        .correlation_points(&request(&ask.of)?, [&ask.first, &ask.second], control)
        .map_err(|error| service_error(&error))?;
    let reply =
        CorrelationPointsReply { first_unit: found.first_unit, second_unit: found.second_unit };
    with_tables(ask, &reply, &[("points", &found.points)])
}
