//! User events: values that a program reports one at a time, by event, context and location.
//!
//! Of the values at a location a profile keeps number `n`, mean, extremes and the sum of squares.
//! Of several locations together:
//!
//! | what | formula |
//! |---|---|
//! | number | `n = Σ n_i` |
//! | sum | `Σ n_i × mean_i` |
//! | mean | `sum / n` |
//! | smallest, largest | those of all `min_i` and `max_i` |
//! | standard deviation | `√(max(0, Σ squares_i / n − mean²))`, 0 where all values are equal |
//!
//! The standard deviation is that of all values (divisor `n`), as TAU's ParaProf shows it. It comes
//! from a difference of large numbers: where values differ by less than a hundred-millionth of their
//! size, it is rounding.

use std::collections::BTreeMap;

use parallax_base::{ContextIdx, Control, LocationIdx};
use parallax_engine::{EngineError, Session};
use parallax_model::{
    ContextChoice, ContextKind, ContextTree, MetricChoice, Plan, Scope, SliceRequest, UserEvent,
};

/// What is known of some values.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct EventValues {
    /// How many there are.
    pub count: f64,
    /// All of them added up.
    pub sum: f64,
    /// Smallest and largest one; `None` where nothing happened, or they are not known.
    pub extremes: Option<(f64, f64)>,
    /// Their squares added up.
    pub sum_of_squares: f64,
}

impl EventValues {
    /// Values that a profile keeps: number, largest, smallest, mean, sum of squares. A number
    /// that is not positive says that nothing happened, whatever the others are.
    #[must_use]
    pub fn stored([count, max, min, mean, sum_of_squares]: [f64; 5]) -> Self {
        if count.is_nan() || count <= 0.0 {
            return Self::default();
        }
        Self { count, sum: count * mean, extremes: Some((min, max)), sum_of_squares }
    }

    /// Whether nothing happened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count <= 0.0
    }

    /// Adds values that are not among these yet.
    pub fn add(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        self.extremes = match (self.extremes, other.extremes) {
            _ if self.is_empty() => other.extremes,
            (Some((min, max)), Some((low, high))) => Some((min.min(low), max.max(high))),
            _ => None,
        };
        self.count += other.count;
        self.sum += other.sum;
        self.sum_of_squares += other.sum_of_squares;
    }

    /// The arithmetic mean; `None` where nothing happened.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum / self.count)
    }

    /// The standard deviation of all values; `None` where nothing happened.
    #[must_use]
    pub fn std_dev(&self) -> Option<f64> {
        let mean = self.mean()?;
        if self.extremes.is_some_and(|(min, max)| min == max) {
            return Some(0.0);
        }
        // Rounding may take more from the squares than there is.
        Some((self.sum_of_squares / self.count - mean * mean).max(0.0).sqrt())
    }
}

/// What happened in one context.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EventContext {
    /// The context; `None` for what happened in no known one.
    pub context: Option<ContextIdx>,
    /// The values.
    pub values: EventValues,
    /// Number of locations where it happened; 0 for no known context.
    pub num_locations: u64,
}

/// What happened of one event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventTotal {
    /// The values, wherever they happened.
    pub values: EventValues,
    /// Number of locations where it happened.
    pub num_locations: u64,
    /// Where it happened, in the order of the tree, then what happened elsewhere; empty where no
    /// context is known.
    pub contexts: Vec<EventContext>,
}

/// What happened of each user event at some locations, in the order of
/// [`parallax_model::MetricCatalog::user_events`]. `locations` are ascending and distinct.
///
/// # Errors
/// When the values cannot be read, or the question is withdrawn.
pub fn user_events(
    session: &Session,
    locations: &[LocationIdx],
    control: &Control,
) -> Result<Vec<EventTotal>, EngineError> {
    let tree = session.tree();
    let events = session.experiment().metrics.user_events();
    let mut totals = vec![EventTotal::default(); events.len()];
    let mut question = Question { session, locations, events, scope: Scope::Inclusive, control };
    question.visit(root(tree), &mut |event, _, _, values| {
        if let Some(total) = totals.get_mut(event) {
            total.values.add(&values);
            total.num_locations += 1;
        }
    })?;
    question.scope = Scope::Exclusive;
    let mut found: BTreeMap<(usize, ContextIdx), (EventValues, u64)> = BTreeMap::new();
    let mut rests = vec![EventValues::default(); events.len()];
    question.visit(ContextChoice::Tree, &mut |event, _, id, values| {
        let Some(context) = tree.by_source_id(id) else { return };
        if context == ContextTree::ROOT || tree.kind(context) == ContextKind::Entry {
            if let Some(rest) = rests.get_mut(event) {
                rest.add(&values);
            }
            return;
        }
        let (known, num_locations) = found.entry((event, context)).or_default();
        known.add(&values);
        *num_locations += 1;
    })?;
    for ((event, context), (values, num_locations)) in found {
        if let Some(total) = totals.get_mut(event) {
            total.contexts.push(EventContext { context: Some(context), values, num_locations });
        }
    }
    for (total, rest) in totals.iter_mut().zip(rests) {
        if total.contexts.is_empty() || rest.is_empty() {
            continue;
        }
        // What is stored there besides number and squares is about the event as a whole.
        let in_contexts: f64 = total.contexts.iter().map(|context| context.values.sum).sum();
        let values = EventValues { sum: total.values.sum - in_contexts, extremes: None, ..rest };
        total.contexts.push(EventContext { context: None, values, num_locations: 0 });
    }
    Ok(totals)
}

/// What happened of one event at each of some locations, in their order: anywhere, or in one
/// context. `locations` are ascending and distinct.
///
/// # Errors
/// When the values cannot be read, or the question is withdrawn.
pub fn user_event_by_location(
    session: &Session,
    event: &UserEvent,
    context: Option<ContextIdx>,
    locations: &[LocationIdx],
    control: &Control,
) -> Result<Vec<EventValues>, EngineError> {
    let tree = session.tree();
    let (contexts, scope) = match context {
        Some(context) => (ContextChoice::Ids(vec![tree.source_id(context)]), Scope::Exclusive),
        None => (root(tree), Scope::Inclusive),
    };
    let events = std::slice::from_ref(event);
    let mut out = vec![EventValues::default(); locations.len()];
    let question = Question { session, locations, events, scope, control };
    question.visit(contexts, &mut |_, location, _, values| {
        let at = locations.binary_search(&LocationIdx::new(location));
        if let Some(slot) = at.ok().and_then(|at| out.get_mut(at)) {
            *slot = values;
        }
    })?;
    Ok(out)
}

fn root(tree: &ContextTree) -> ContextChoice {
    ContextChoice::Ids(vec![tree.source_id(ContextTree::ROOT)])
}

struct Question<'a> {
    session: &'a Session,
    locations: &'a [LocationIdx],
    events: &'a [UserEvent],
    scope: Scope,
    control: &'a Control,
}

impl Question<'_> {
    /// Calls `each` with event, location, context id and values wherever an event happened, in
    /// ascending order of location and context.
    fn visit(
        &self,
        contexts: ContextChoice,
        each: &mut dyn FnMut(usize, u32, u32, EventValues),
    ) -> Result<(), EngineError> {
        let metrics = &self.session.experiment().metrics;
        // By metric id: which event, and which of its five metrics.
        let mut places: Vec<(u16, usize, usize)> = Vec::new();
        for (at, event) in self.events.iter().enumerate() {
            for (which, metric) in event.metrics().into_iter().enumerate() {
                let id = metrics.get(metric).id_in(&self.scope);
                places.extend(id.map(|id| (id, at, which)));
            }
        }
        places.sort_unstable();
        let request = SliceRequest {
            locations: self.locations.to_vec(),
            contexts,
            metrics: MetricChoice::Ids {
                values: places.iter().map(|place| place.0).collect(),
                statistics: Vec::new(),
            },
            plan: Plan::Cheapest,
        };
        if places.is_empty() || self.locations.is_empty() {
            return Ok(());
        }
        // The values of a place come together, but those of one event may be apart.
        let (mut now, mut here) = (None, BTreeMap::<usize, [f64; 5]>::new());
        self.session.slice_in_parts(&request, self.control, |rows| {
            let keys = rows.location.iter().zip(&rows.context).zip(&rows.metric);
            for (((&location, &context), metric), &value) in keys.zip(&rows.value) {
                if now != Some((location, context)) {
                    flush(now, &mut here, each);
                    now = Some((location, context));
                }
                let place = places.binary_search_by_key(metric, |place| place.0);
                if let Some(&(_, event, which)) = place.ok().and_then(|at| places.get(at))
                    && let Some(slot) = here.entry(event).or_default().get_mut(which)
                {
                    *slot = value;
                }
            }
        })?;
        flush(now, &mut here, each);
        self.control.check().map_err(EngineError::from)
    }
}

/// Tells of everything that happened at a place. What is not stored is zero.
fn flush(
    place: Option<(u32, u32)>,
    here: &mut BTreeMap<usize, [f64; 5]>,
    each: &mut dyn FnMut(usize, u32, u32, EventValues),
) {
    let Some((location, context)) = place else { return };
    for (event, stored) in std::mem::take(here) {
        let values = EventValues::stored(stored);
        if !values.is_empty() {
            each(event, location, context, values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_add_up_and_means_do_not() {
        let mut all = EventValues::stored([2.0, 5.0, 3.0, 4.0, 34.0]);
        all.add(&EventValues::stored([1.0, 10.0, 10.0, 10.0, 100.0]));
        assert_eq!((all.count, all.sum, all.extremes), (3.0, 18.0, Some((3.0, 10.0))));
        assert_eq!(all.mean(), Some(6.0));
        // 3, 5 and 10: squares 134, mean 6.
        assert_eq!(all.std_dev(), Some((134.0_f64 / 3.0 - 36.0).sqrt()));
    }

    #[test]
    fn what_never_happened_changes_nothing() {
        let never = EventValues::stored([0.0, -1e308, 1e308, 0.0, 0.0]);
        assert_eq!((never.mean(), never.std_dev(), never.extremes), (None, None, None));
        let mut all = never;
        all.add(&EventValues::stored([1.0, -2.0, -2.0, -2.0, 4.0]));
        all.add(&never);
        assert_eq!((all.extremes, all.mean()), (Some((-2.0, -2.0)), Some(-2.0)));
    }

    #[test]
    fn equal_values_do_not_deviate() {
        // 0.1 squared three times is not three times the square of the mean.
        let all = EventValues::stored([3.0, 0.1, 0.1, 0.1, 0.030_000_000_000_000_006]);
        assert_eq!(all.std_dev(), Some(0.0));
        let rounded = EventValues::stored([2.0, 2.0, 1.0, 1.5, 4.4]);
        assert_eq!(rounded.std_dev(), Some(0.0), "less than there can be");
    }
}
