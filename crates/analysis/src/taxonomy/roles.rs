//! [`Roles`]: which locations execute the program, and which are helper threads.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parallax_base::{ContextIdx, Control, LocationIdx, TimeWindow};
use parallax_engine::{EngineError, LocationChoice, Session};
use parallax_model::{
    ContextChoice, ContextTree, LAUNCHER, MetricChoice, Plan, Scope, SliceRequest, TraceStore,
};

use super::HelperThreads;
use super::threads::{is_frame, tops};

/// Costs below this part of a location's are what rounding leaves.
const ROUNDING: f64 = 1e-9;

/// The helper threads among the locations: those that cost something in contexts of
/// [`HelperThreads`] and nothing anywhere else, and those of processes that only start ranks, where
/// the recorder says so.
///
/// A location that executed anything of the program, even once, is none, and neither is one
/// without values: wrongly excluded is worse than not excluded.
#[derive(Debug, Clone, Default)]
pub struct Roles {
    /// By location.
    is_helper: Vec<bool>,
    num_helpers: usize,
    /// By what is said of them, how many there are.
    kinds: BTreeMap<&'static str, usize>,
}

impl Roles {
    /// Of all locations. Reads values of the contexts where threads begin, and only where the tree
    /// has any of helper threads.
    ///
    /// # Errors
    /// When values cannot be read, or the question is withdrawn.
    pub fn of(session: &Session, control: &Control) -> Result<Self, EngineError> {
        Self::with(session, &HelperThreads::of(session.tree()), control)
    }

    /// The same with the contexts of helper threads that are known already.
    ///
    /// # Errors
    /// As [`Roles::of`].
    pub fn with(
        session: &Session,
        helpers: &HelperThreads,
        control: &Control,
    ) -> Result<Self, EngineError> {
        let found = match helpers.starts().is_empty() {
            true => HashMap::new(),
            false => match inclusive_metric(session, control)? {
                Some(id) => by_values(session, helpers, id, control)?,
                None => match session.experiment().traces.as_deref() {
                    Some(traces) => by_trace(session.tree(), traces, helpers, control)?,
                    None => HashMap::new(),
                },
            },
        };
        let mut roles = Self {
            is_helper: vec![false; session.experiment().locations.num_rows()],
            ..Self::default()
        };
        for (location, spent) in found {
            if spent.helpers > 0.0 && spent.whole - spent.helpers <= ROUNDING * spent.whole {
                if let Some(flag) = roles.is_helper.get_mut(location as usize) {
                    *flag = true;
                }
                roles.num_helpers += 1;
                let kind = spent.start.map_or("helper thread", |start| helpers.kind_at(start));
                *roles.kinds.entry(kind).or_default() += 1;
            }
        }
        for recorded in &session.experiment().metadata.recorded {
            let is_launcher = |fact: &(Arc<str>, Arc<str>)| (&*fact.0, &*fact.1) == LAUNCHER;
            if recorded.facts.iter().any(is_launcher)
                && let Some(flag) = roles.is_helper.get_mut(recorded.location.idx())
                && !std::mem::replace(flag, true)
            {
                roles.num_helpers += 1;
                *roles.kinds.entry(LAUNCHER.1).or_default() += 1;
            }
        }
        // Where nothing else is, they are what was measured.
        let locations = &session.experiment().locations;
        let num_sampled = locations.iter().filter(|&l| locations.num_values(l) > 0).count();
        if roles.num_helpers >= num_sampled.max(1) {
            return Ok(Self::default());
        }
        Ok(roles)
    }

    /// Whether a location is a helper thread.
    #[must_use]
    pub fn is_helper(&self, location: LocationIdx) -> bool {
        self.is_helper.get(location.idx()).copied().unwrap_or(false)
    }

    /// How many locations are helper threads.
    #[must_use]
    pub const fn num_helpers(&self) -> usize {
        self.num_helpers
    }

    /// What they are and how many: `progress of MPI: 126, measurement: 2`.
    #[must_use]
    pub fn kinds(&self) -> String {
        let each = self.kinds.iter().map(|(kind, count)| format!("{kind}: {count}"));
        each.collect::<Vec<_>>().join(", ")
    }

    /// The chosen locations without helper threads; `None` where none of them is one, or all are.
    #[must_use]
    pub fn without(&self, session: &Session, chosen: &LocationChoice) -> Option<Vec<LocationIdx>> {
        if self.num_helpers == 0 {
            return None;
        }
        let all: Vec<LocationIdx> = match chosen {
            LocationChoice::All => session.experiment().locations.iter().collect(),
            LocationChoice::Some(list) => list.clone(),
        };
        let rest: Vec<LocationIdx> =
            all.iter().copied().filter(|&location| !self.is_helper(location)).collect();
        (!rest.is_empty() && rest.len() < all.len()).then_some(rest)
    }
}

/// What a location spends on all, and on helper threads.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    whole: f64,
    helpers: f64,
    /// Where a helper thread begins on it.
    start: Option<ContextIdx>,
}

/// The id in profiles of the metric that stands for cost; `None` where there is none.
fn inclusive_metric(session: &Session, control: &Control) -> Result<Option<u16>, EngineError> {
    if session.experiment().profiles.is_none() {
        return Ok(None);
    }
    match session.default_metric(control) {
        Ok(found) => {
            let described = session.experiment().metrics.get(found.metric);
            Ok(described.id_in(&Scope::Inclusive))
        }
        Err(EngineError::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn by_values(
    session: &Session,
    helpers: &HelperThreads,
    id: u16,
    control: &Control,
) -> Result<HashMap<u32, Spent>, EngineError> {
    let tree = session.tree();
    // Not all writers store a value of the root; those of its children add up to it.
    let tops = tops(tree);
    let starts = helpers.starts();
    let mut ids: Vec<u32> =
        tops.iter().chain(starts).map(|&context| tree.source_id(context)).collect();
    ids.sort_unstable();
    ids.dedup();
    let request = SliceRequest {
        locations: session.experiment().locations.iter().collect(),
        contexts: ContextChoice::Ids(ids),
        metrics: MetricChoice::Ids { values: vec![id], statistics: Vec::new() },
        plan: Plan::Cheapest,
    };
    let mut spent: HashMap<u32, Spent> = HashMap::new();
    session.slice_in_parts(&request, control, |part| {
        let rows = part.location.iter().zip(&part.context).zip(&part.value);
        for ((&location, &context), &value) in rows {
            let Some(context) = tree.by_source_id(context).filter(|_| value.is_finite()) else {
                continue;
            };
            let sum = spent.entry(location).or_default();
            if tops.binary_search(&context).is_ok() {
                sum.whole += value;
            }
            if starts.binary_search(&context).is_ok() && value > 0.0 {
                sum.helpers += value;
                sum.start.get_or_insert(context);
            }
        }
    })?;
    Ok(spent)
}

fn by_trace(
    tree: &ContextTree,
    traces: &dyn TraceStore,
    helpers: &HelperThreads,
    control: &Control,
) -> Result<HashMap<u32, Spent>, EngineError> {
    let mut spent: HashMap<u32, Spent> = HashMap::new();
    for (at, track) in traces.track_ids().zip(traces.tracks()) {
        control.check()?;
        let sum = spent.entry(track.location.get()).or_default();
        traces.sums(at, TimeWindow::ALL, &mut |time| {
            let Some(context) = tree.by_source_id(time.context) else { return };
            if context == ContextTree::ROOT || is_frame(tree, context) {
                return;
            }
            sum.whole += time.nanos as f64;
            if helpers.has(context) {
                sum.helpers += time.nanos as f64;
                sum.start = sum.start.or_else(|| helpers.start_of(tree, context));
            }
        })?;
    }
    Ok(spent)
}
