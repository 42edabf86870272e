//! User events: how often, and which values, by event, context and location.

use parallax_analysis::user_events::{EventValues, user_event_by_location, user_events};
use parallax_base::{ContextIdx, Control, LocationIdx, Unit};
use parallax_engine::query::{MAX_LENGTH, NameMatch, QueryError, near_names};
use parallax_engine::{EngineError, LocationChoice};
use parallax_model::UserEvent;

use crate::options::locations;
use crate::tree_table::defined;
use crate::{Answer, Column, Opened, ServiceError, Table};

/// User events over locations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserEventsRequest {
    /// Name of an event, or a glob such as `Message size*`; `None` for all.
    pub event: Option<String>,
    /// A profile expression; `None` for all locations.
    pub profiles: Option<String>,
}

/// User events over locations.
///
/// Both tables have the columns `count`, `sum`, `mean`, `min`, `max`, `std_dev`, in the unit that
/// the column `unit` names, and `locations`. How they are made is said in
/// [`parallax_analysis::user_events`].
#[derive(Debug, Clone)]
pub struct UserEventsAnswer {
    /// One row for each event that happened, the most frequent first: `event`, `unit`, the columns
    /// above, and `contexts`, the number of contexts it is known to have happened in.
    pub events: Table,
    /// One row for each event and context where it happened, in the order of `events`, then the
    /// most frequent first: `event`, `context_id`, `name`, `path`, `unit`, the columns above. What
    /// happened in no known context has no `context_id`, extremes and locations.
    pub contexts: Table,
}

/// User events at each location.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserEventLocationsRequest {
    /// Name of an event, or a glob; `None` for all.
    pub event: Option<String>,
    /// Only what happened in this context, by its id in the database; `None` for everywhere.
    pub context_id: Option<u32>,
    /// A profile expression; `None` for all locations.
    pub profiles: Option<String>,
}

impl Opened {
    /// Whether the experiment has user events.
    #[must_use]
    pub fn has_user_events(&self) -> bool {
        !self.session.experiment().metrics.user_events().is_empty()
    }

    /// User events over locations, as a whole and by context.
    ///
    /// # Errors
    /// When there are no user events or none is called so, an expression is wrong, or the values
    /// cannot be read.
    pub fn user_events(
        &self,
        request: &UserEventsRequest,
        control: &Control,
    ) -> Result<Answer<UserEventsAnswer>, ServiceError> {
        let session = &self.session;
        let mut notes = Vec::new();
        let known = session.experiment().metrics.user_events();
        let chosen = self.chosen_events(request.event.as_deref())?;
        let rows = self.event_locations(request.profiles.as_deref(), &mut notes)?;
        let totals = user_events(session, &rows, control)?;
        let mut order = chosen;
        order.retain(|&at| totals.get(at).is_some_and(|total| total.num_locations > 0));
        // Stable, so that equal ones stay in the order of the source.
        let count = |at: &usize| totals.get(*at).map_or(0.0, |total| total.values.count);
        order.sort_by(|a, b| count(b).total_cmp(&count(a)));
        let asked = if request.event.is_some() { "of this name " } else { "" };
        if order.is_empty() {
            notes.push(format!("no user event {asked}happened at these locations"));
        } else if request.event.is_none() && order.len() < known.len() {
            let never = known.len() - order.len();
            notes.push(format!("{never} of {} user events did not happen here", known.len()));
        }
        let (mut events, mut contexts) = (Rows::default(), Rows::default());
        let (mut num_contexts, mut ids) = (Vec::new(), Vec::new());
        let (mut names, mut paths) = (Vec::new(), Vec::new());
        for at in order {
            let (Some(event), Some(total)) = (known.get(at), totals.get(at)) else { continue };
            let unit = self.event_unit(event);
            events.push(event, &unit, &total.values, total.num_locations);
            let in_known = total.contexts.iter().filter(|found| found.context.is_some()).count();
            num_contexts.push(in_known as u64);
            let mut here: Vec<_> = total.contexts.iter().collect();
            here.sort_by(|a, b| {
                let unknown_last = a.context.is_none().cmp(&b.context.is_none());
                unknown_last.then(b.values.count.total_cmp(&a.values.count))
            });
            for found in here {
                contexts.push(event, &unit, &found.values, found.num_locations);
                let tree = session.tree();
                ids.push(found.context.map(|context| u64::from(tree.source_id(context))));
                names.push(found.context.map_or(ELSEWHERE.to_owned(), |c| tree.label(c)));
                paths.push(found.context.map_or(ELSEWHERE.to_owned(), |c| self.call_path(c)));
            }
        }
        let doc = "Number of contexts that it is known to have happened in.";
        let mut of_events = events.columns(true);
        of_events.push(Column::u64s("contexts", "", doc, num_contexts));
        let mut of_contexts = contexts.columns(true);
        let doc = "Id of the context in the database; null for no known context.";
        of_contexts.insert(1, Column::optional_u64s("context_id", "", doc, ids));
        of_contexts.insert(2, Column::strings("name", "The context.", names));
        of_contexts.insert(3, Column::strings("path", "Its call path from the entry down.", paths));
        let value =
            UserEventsAnswer { events: Table::new(of_events), contexts: Table::new(of_contexts) };
        Ok(Answer { value, notes })
    }

    /// User events at each location: one row for each event and location, those without the event
    /// too: `event`, `location`, `label`, the kinds of identity, `unit`, `count`, `sum`, `mean`,
    /// `min`, `max`, `std_dev`.
    ///
    /// # Errors
    /// As [`Opened::user_events`], and when there is no such context.
    pub fn user_event_locations(
        &self,
        request: &UserEventLocationsRequest,
        control: &Control,
    ) -> Result<Answer<Table>, ServiceError> {
        let session = &self.session;
        let x = session.experiment();
        let mut notes = Vec::new();
        let chosen = self.chosen_events(request.event.as_deref())?;
        let context = request.context_id.map(|id| self.known_context(id)).transpose()?;
        let locations = self.event_locations(request.profiles.as_deref(), &mut notes)?;
        let (mut rows, mut at_locations) = (Rows::default(), Vec::new());
        for event in chosen.iter().filter_map(|&at| x.metrics.user_events().get(at)) {
            let found = user_event_by_location(session, event, context, &locations, control)?;
            let unit = self.event_unit(event);
            for (&location, values) in locations.iter().zip(&found) {
                rows.push(event, &unit, values, 0);
                at_locations.push(location);
            }
        }
        if rows.values.iter().all(EventValues::is_empty) {
            notes.push("it did not happen at these locations".into());
        }
        let mut columns = rows.columns(false);
        let mut more = vec![
            Column::u32s(
                "location",
                "Profile number.",
                at_locations.iter().map(|location| location.get()).collect(),
            ),
            Column::strings(
                "label",
                "What it is called.",
                at_locations.iter().map(|&location| x.locations.label(location)),
            ),
        ];
        for kind in x.locations.kinds() {
            let id = at_locations.iter().map(|&location| x.locations.identity(location, kind));
            let doc = "Part of the identity of the location; null where it has none.";
            more.push(Column::optional_u64s(kind.name(), "", doc, id));
        }
        columns.splice(1..1, more);
        Ok(Answer { value: Table::new(columns), notes })
    }

    /// Positions of the events that a name or a glob means.
    fn chosen_events(&self, name: Option<&str>) -> Result<Vec<usize>, ServiceError> {
        let events = self.session.experiment().metrics.user_events();
        if events.is_empty() {
            return Err(EngineError::Missing {
                what: "this experiment has no user events".into(),
                hint: "profiles of TAU have them; `parallax info` lists the metrics".into(),
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
            [] => error.with_hint("`parallax user-events` without --event lists them"),
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

/// What the place of values is called that happened in no known context.
const ELSEWHERE: &str = "(no known context)";

/// Rows of a table of events, before it has columns.
#[derive(Default)]
struct Rows {
    events: Vec<String>,
    units: Vec<String>,
    values: Vec<EventValues>,
    num_locations: Vec<u64>,
}

impl Rows {
    fn push(&mut self, event: &UserEvent, unit: &Unit, values: &EventValues, num_locations: u64) {
        self.events.push(event.name.to_string());
        self.units.push(unit.to_string());
        self.values.push(*values);
        self.num_locations.push(num_locations);
    }

    fn columns(self, has_locations: bool) -> Vec<Column> {
        let number = |name: &str, doc: &'static str, of: fn(&EventValues) -> Option<f64>| {
            let values = self.values.iter().map(|values| of(values).unwrap_or(f64::NAN));
            defined(name, "", doc, values)
        };
        // A cast of a float saturates.
        let counts = self.values.iter().map(|values| values.count.round() as u64).collect();
        let mut columns = vec![
            Column::strings("event", "Name of the user event.", &self.events),
            Column::strings("unit", "Unit of its values; empty for counts.", &self.units),
            Column::u64s("count", "", "How often it happened.", counts),
            number("sum", "All values added up: mean x count.", |v| {
                (!v.is_empty()).then_some(v.sum)
            }),
            number("mean", "Mean of all values; null where it did not happen.", EventValues::mean),
            number("min", "Smallest value; null where that is not known.", |v| {
                v.extremes.map(|extremes| extremes.0)
            }),
            number("max", "Largest value; null where that is not known.", |v| {
                v.extremes.map(|extremes| extremes.1)
            }),
            number("std_dev", "Standard deviation of all values.", EventValues::std_dev),
        ];
        if has_locations {
            let doc = "Number of locations where it happened.";
            columns.push(Column::u64s("locations", "", doc, self.num_locations));
        }
        columns
    }
}
