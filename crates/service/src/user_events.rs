//! User events: how often, and which values, by event, context and location.

use parallax_analysis::user_events::{EventValues, user_event_by_location, user_events};
use parallax_base::{ContextIdx, Control, LocationIdx, Remedy, Unit};
use parallax_engine::query::{MAX_LENGTH, NameMatch, QueryError, near_names};
use parallax_engine::{EngineError, LocationChoice};
use parallax_model::UserEvent;
use parallax_protocol::{
    Answer, NotesReply, UserEventContextRow, UserEventContextTable, UserEventLocationTable,
    UserEventLocationsRequest, UserEventLocationsTables, UserEventRow, UserEventTable,
    UserEventsRequest, UserEventsTables,
};

use crate::options::{identities, locations};
use crate::{Answers, OpenExperiment, ServiceError};

impl OpenExperiment {
    /// Whether the experiment has user events.
    #[must_use]
    pub fn has_user_events(&self) -> bool {
        !self.session.experiment().metrics.user_events().is_empty()
    }

    /// Positions of the events that a name or a glob means.
    fn chosen_events(&self, name: Option<&str>) -> Result<Vec<usize>, ServiceError> {
        let events = self.session.experiment().metrics.user_events();
        if events.is_empty() {
            return Err(EngineError::Missing {
                what: "this experiment has no user events".into(),
                hint: format!("profiles of TAU have them; {}", Remedy::SeeMetrics),
            }
            .into());
        }
        let Some(name) = name else { return Ok((0..events.len()).collect()) };
        // Names may have stars of their own.
        if let Some(at) = events.iter().position(|event| &*event.name == name) {
            return Ok(vec![at]);
        }
        if name.len() > MAX_LENGTH {
            return Err(QueryError::unknown_name(name, name, "the name is too long").into());
        }
        let pattern = NameMatch::from_bare(name);
        let found: Vec<usize> =
            (0..).zip(events).filter(|(_, e)| pattern.matches(&e.name)).map(|(at, _)| at).collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let near = near_names(name, events.iter().map(|event| &*event.name), 3);
        let error = QueryError::unknown_name(name, name, format!("no user event is called {name}"));
        Err(match near.as_slice() {
            [] => error.with_hint(Remedy::SeeUserEvents.words()),
            near => error.with_hint(format!("did you mean {}?", near.join(", "))),
        }
        .into())
    }

    /// The locations that an expression names, ascending, without the summary.
    fn event_locations(
        &self,
        profiles: Option<&str>,
        notes: &mut Vec<String>,
    ) -> Result<Vec<LocationIdx>, ServiceError> {
        let catalog = &self.session.experiment().locations;
        let mut rows: Vec<LocationIdx> = match locations(&self.session, profiles, notes)? {
            LocationChoice::All => catalog.iter().collect(),
            LocationChoice::Some(list) => list,
        };
        rows.retain(|&location| Some(location) != catalog.summary());
        rows.sort_unstable();
        rows.dedup();
        Ok(rows)
    }

    fn known_context(&self, id: u32) -> Result<ContextIdx, ServiceError> {
        let found = self.session.tree().by_source_id(id);
        found.ok_or_else(|| {
            let name = format!("context({id})");
            let message = format!("this experiment has no context {id}");
            QueryError::unknown_name(&name, &name, message)
                .with_hint("the table of contexts has their ids")
                .into()
        })
    }

    fn event_unit(&self, event: &UserEvent) -> Unit {
        self.session.experiment().metrics.get(event.mean).unit.clone()
    }
}

impl Answers<UserEventsRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &UserEventsRequest,
        control: &Control,
    ) -> Result<Answer<UserEventsRequest>, ServiceError> {
        let session = &self.session;
        let mut notes = Vec::new();
        let known = session.experiment().metrics.user_events();
        let chosen = self.chosen_events(request.event.as_deref())?;
        let locations = self.event_locations(request.profiles.as_deref(), &mut notes)?;
        let totals = user_events(session, &locations, control)?;
        let mut order = chosen;
        order.retain(|&at| totals.get(at).is_some_and(|total| total.num_locations > 0));
        // Stable, so that equal ones stay in the order of the source.
        let count = |at: &usize| totals.get(*at).map_or(0.0, |total| total.values.count);
        order.sort_by(|a, b| count(b).total_cmp(&count(a)));
        let asked = if request.event.is_some() { "of this name " } else { "" };
        if order.is_empty() {
            notes.push(format!("No user event {asked}occurred at these locations."));
        } else if request.event.is_none() && order.len() < known.len() {
            let never = known.len() - order.len();
            notes.push(format!("{never} of {} user events did not occur here.", known.len()));
        }
        let (mut events, mut contexts) =
            (UserEventTable::default(), UserEventContextTable::default());
        for at in order {
            let (Some(event), Some(total)) = (known.get(at), totals.get(at)) else { continue };
            let unit = self.event_unit(event).to_string();
            let in_known = total.contexts.iter().filter(|found| found.context.is_some()).count();
            let Shown { count, sum, mean, min, max, std_dev } = Shown::of(&total.values);
            events.extend([UserEventRow {
                event: event.name.to_string(),
                unit: unit.clone(),
                count,
                sum,
                mean,
                min,
                max,
                std_dev,
                locations: total.num_locations,
                contexts: in_known as u64,
            }]);
            let mut here: Vec<_> = total.contexts.iter().collect();
            here.sort_by(|a, b| {
                let unknown_last = a.context.is_none().cmp(&b.context.is_none());
                unknown_last.then(b.values.count.total_cmp(&a.values.count))
            });
            let tree = session.tree();
            contexts.extend(here.into_iter().map(|found| {
                let Shown { count, sum, mean, min, max, std_dev } = Shown::of(&found.values);
                UserEventContextRow {
                    event: event.name.to_string(),
                    context_id: found.context.map(|context| u64::from(tree.source_id(context))),
                    name: found.context.map_or(ELSEWHERE.to_owned(), |c| tree.label(c)),
                    path: found.context.map_or(ELSEWHERE.to_owned(), |c| self.call_path(c)),
                    unit: unit.clone(),
                    count,
                    sum,
                    mean,
                    min,
                    max,
                    std_dev,
                    locations: found.num_locations,
                }
            }));
        }
        Ok(Answer::new(NotesReply { notes }, UserEventsTables { events, contexts }))
    }
}

impl Answers<UserEventLocationsRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &UserEventLocationsRequest,
        control: &Control,
    ) -> Result<Answer<UserEventLocationsRequest>, ServiceError> {
        let session = &self.session;
        let x = session.experiment();
        let mut notes = Vec::new();
        let chosen = self.chosen_events(request.event.as_deref())?;
        let context = request.context_id.map(|id| self.known_context(id)).transpose()?;
        let locations = self.event_locations(request.profiles.as_deref(), &mut notes)?;
        let mut table = UserEventLocationTable::default();
        let mut rows = Vec::new();
        for event in chosen.iter().filter_map(|&at| x.metrics.user_events().get(at)) {
            let found = user_event_by_location(session, event, context, &locations, control)?;
            let unit = self.event_unit(event).to_string();
            for (&location, values) in locations.iter().zip(&found) {
                let Shown { count, sum, mean, min, max, std_dev } = Shown::of(values);
                rows.push(location);
                table.event.push(event.name.to_string());
                table.location.push(location.get());
                table.label.push(x.locations.label(location));
                table.unit.push(unit.clone());
                table.count.push(count);
                table.sum.push(sum);
                table.mean.push(mean);
                table.min.push(min);
                table.max.push(max);
                table.std_dev.push(std_dev);
            }
        }
        table.identities = identities(&x.locations, &rows);
        if table.count.iter().all(|&count| count == 0) {
            notes.push("It did not occur at these locations.".into());
        }
        Ok(Answer::new(NotesReply { notes }, UserEventLocationsTables { locations: table }))
    }
}

/// What the place of values is called that happened in no known context.
const ELSEWHERE: &str = "(no known context)";

/// The values of an event as tables show them.
struct Shown {
    count: u64,
    sum: Option<f64>,
    mean: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    std_dev: Option<f64>,
}

impl Shown {
    fn of(values: &EventValues) -> Self {
        Self {
            // A cast of a float saturates.
            count: values.count.round() as u64,
            sum: (!values.is_empty()).then_some(values.sum),
            mean: values.mean(),
            min: values.extremes.map(|extremes| extremes.0),
            max: values.extremes.map(|extremes| extremes.1),
            std_dev: values.std_dev(),
        }
    }
}
