//! Answers about user events.

use parallax_base::Control;
use parallax_service::{Opened, UserEventLocationsRequest, UserEventsRequest};
use parallax_wire::protocol::{ErrorReply, TableOnlyReply, UserEventLocationsAsk, UserEventsAsk};

use crate::errors::service_error;
use crate::response::{Response, with_tables};

pub(crate) fn user_events(
    opened: &Opened,
    ask: &UserEventsAsk,
    control: &Control,
) -> Result<Response, ErrorReply> {
    let request = UserEventsRequest { event: ask.event.clone(), profiles: ask.profiles.clone() };
    let answer = opened.user_events(&request, control).map_err(|error| service_error(&error))?;
    let tables = [("events", &answer.value.events), ("contexts", &answer.value.contexts)];
    with_tables(ask, &TableOnlyReply { notes: answer.notes }, &tables)
}

pub(crate) fn locations(
    opened: &Opened,
    ask: &UserEventLocationsAsk,
    control: &Control,
) -> Result<Response, ErrorReply> {
    let request = UserEventLocationsRequest {
        event: ask.event.clone(),
        context_id: ask.context_id,
        profiles: ask.profiles.clone(),
    };
    let answer =
        opened.user_event_locations(&request, control).map_err(|error| service_error(&error))?;
    let reply = TableOnlyReply { notes: answer.notes };
    with_tables(ask, &reply, &[("locations", &answer.value)])
}
