//! [`Session`]: an open experiment with the caches of its answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use parallax_base::{
    ContextIdx, Control, Issues, LocationIdx, MetricIdx, Place, Remedy, Severity, Stage,
};
use parallax_model::{
    ContextChoice, ContextTree, Experiment, MetricChoice, Plan, ProfileStore, Scope, SliceColumns,
    SliceRequest,
};

use crate::EngineError;
use crate::cache::ByteCache;
use crate::scopes;

/// Bytes of answers that a session keeps unless told otherwise.
const DEFAULT_CACHE_BYTES: u64 = 256 << 20;

/// From here on a value is none that a program reaches, but a counter that ran below zero in one
/// sample and wrapped to almost 2^64. Such values stay out of all sums.
pub const WRAPPED_COUNT: f64 = 1e19;

/// Whether a value is a counter that wrapped; see [`WRAPPED_COUNT`].
fn is_wrapped(value: f64) -> bool {
    !value.is_finite() || value.abs() >= WRAPPED_COUNT
}

/// Which locations a number is over.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LocationChoice {
    /// All of them: answered from the summary profile where there is one.
    All,
    /// These, ascending and distinct, without the summary.
    Some(Vec<LocationIdx>),
}

/// An open experiment. Cheap to share; answers are cached within a budget of bytes.
pub struct Session {
    experiment: Arc<Experiment>,
    slices: Mutex<ByteCache<SliceRequest, SliceColumns>>,
    columns: Mutex<ByteCache<ColumnKey, Vec<f64>>>,
    /// Values left out of sums by metric, with the context of the first.
    wrapped: Mutex<BTreeMap<MetricIdx, (u64, ContextIdx)>>,
}

/// Values that were left out of a sum because their counters wrapped.
#[derive(Debug, Clone, Copy, Default)]
struct Wrapped {
    count: u64,
    first: Option<ContextIdx>,
}

type ColumnKey = (MetricIdx, Scope, LocationChoice);

/// Rows that a session reads at a time when it only needs sums of them.
const BATCH_ROWS: u64 = 4 << 20;

impl Session {
    /// A session over `experiment` with the default cache.
    #[must_use]
    pub fn new(experiment: Experiment) -> Self {
        Self::with_cache(experiment, DEFAULT_CACHE_BYTES)
    }

    /// The same, whose values and traces are read by other stores of the same content, such as those
    /// that have other machines read. Answers do not depend on it.
    #[must_use]
    pub fn with_stores(mut self, stores: impl FnOnce(&mut Experiment)) -> Self {
        // Nobody else has the experiment of a session that was only just made.
        if let Some(experiment) = Arc::get_mut(&mut self.experiment) {
            stores(experiment);
        }
        self
    }

    /// A session that keeps at most `cache_bytes` of answers.
    #[must_use]
    pub fn with_cache(experiment: Experiment, cache_bytes: u64) -> Self {
        Self {
            experiment: Arc::new(experiment),
            slices: Mutex::new(ByteCache::new(cache_bytes / 4 * 3)),
            columns: Mutex::new(ByteCache::new(cache_bytes / 4)),
            wrapped: Mutex::default(),
        }
    }

    /// The experiment.
    #[must_use]
    pub fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    /// The calling context tree.
    #[must_use]
    pub fn tree(&self) -> &ContextTree {
        &self.experiment.contexts
    }

    /// All issues so far: of opening, of reading, of computing.
    #[must_use]
    pub fn issues(&self) -> Issues {
        let mut issues = self.experiment.all_issues();
        let wrapped = self.wrapped.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((_, &(_, first))) = wrapped.first_key_value() else { return issues };
        let count = wrapped.values().map(|(count, _)| count).sum();
        let names: Vec<&str> =
            wrapped.keys().map(|&metric| &*self.experiment.metrics.get(metric).name).collect();
        let kind = "wrapped-value";
        issues.report_many(Severity::Warning, Stage::Analysis, kind, Place::Whole, count, || {
            format!(
                "Values of {} exceed {WRAPPED_COUNT:.0e}, the first at {}: a counter wrapped (ran \
                 below zero in one sample); they are excluded from all sums, and there is no total.",
                names.join(", "),
                self.tree().label(first)
            )
        });
        issues
    }

    /// Whether values of a metric were left out of sums so far, because a counter had wrapped: its
    /// sums are too small, and its total means nothing.
    #[must_use]
    pub fn has_wrapped(&self, metric: MetricIdx) -> bool {
        self.wrapped.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&metric)
    }

    /// The values of the experiment.
    ///
    /// # Errors
    /// When it has none.
    pub fn profiles(&self) -> Result<&dyn ProfileStore, EngineError> {
        self.experiment.profiles.as_deref().ok_or_else(|| EngineError::Missing {
            what: "this experiment has no profiles".into(),
            hint: "ask for its trace".into(),
        })
    }

    /// A slice of the values, from the cache where it was requested before.
    ///
    /// # Errors
    /// When the values cannot be read, or the question is withdrawn.
    pub fn slice(
        &self,
        request: &SliceRequest,
        control: &Control,
    ) -> Result<Arc<SliceColumns>, EngineError> {
        let known = self.slices.lock().unwrap_or_else(PoisonError::into_inner).get(request);
        if let Some(columns) = known {
            return Ok(columns);
        }
        let columns = Arc::new(self.profiles()?.slice(request, control)?);
        let bytes = columns.len() as u64 * SliceColumns::ROW_BYTES;
        let mut slices = self.slices.lock().unwrap_or_else(PoisonError::into_inner);
        slices.put(request.clone(), &columns, bytes);
        Ok(columns)
    }

    /// Calls `visit` with consecutive parts of a slice, none much larger than four million rows,
    /// so that memory stays bounded whatever the slice. Parts are whole in their locations.
    ///
    /// # Errors
    /// As [`Session::slice`].
    pub fn slice_in_parts(
        &self,
        request: &SliceRequest,
        control: &Control,
        mut visit: impl FnMut(&SliceColumns),
    ) -> Result<(), EngineError> {
        let store = self.profiles()?;
        let (_, rows) = store.estimate(request)?;
        let parts = rows.div_ceil(BATCH_ROWS).max(1);
        let len = (request.locations.len() as u64).div_ceil(parts).max(1);
        for locations in request.locations.chunks(usize::try_from(len).unwrap_or(usize::MAX)) {
            let part = SliceRequest { locations: locations.to_vec(), ..request.clone() };
            visit(&store.slice(&part, control)?);
        }
        Ok(())
    }

    /// The sum over locations of a metric in a scope, for every context of the tree (by position;
    /// 0 where nothing is stored).
    ///
    /// Over all locations this is the summary profile's plain sum. Over chosen ones, or where the
    /// summary lacks it, values are added up; [`Scope::LexicalAware`] is then recomputed from
    /// [`Scope::Exclusive`], because writers store a wrong value for loops without samples of
    /// their own in profiles of locations. Values of counters that wrapped are left out; see
    /// [`Session::has_wrapped`].
    ///
    /// # Errors
    /// When the values cannot be read, the metric is not stored in the scope, or the question is
    /// withdrawn.
    pub fn column(
        &self,
        metric: MetricIdx,
        scope: &Scope,
        locations: &LocationChoice,
        control: &Control,
    ) -> Result<Arc<Vec<f64>>, EngineError> {
        let key = (metric, scope.clone(), locations.clone());
        let known = self.columns.lock().unwrap_or_else(PoisonError::into_inner).get(&key);
        if let Some(column) = known {
            return Ok(column);
        }
        let column = Arc::new(self.compute_column(metric, scope, locations, control)?);
        let bytes = column.len() as u64 * 8;
        let mut columns = self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        columns.put(key, &column, bytes);
        Ok(column)
    }

    fn compute_column(
        &self,
        metric: MetricIdx,
        scope: &Scope,
        locations: &LocationChoice,
        control: &Control,
    ) -> Result<Vec<f64>, EngineError> {
        let x = &*self.experiment;
        let described = x.metrics.get(metric);
        if *locations == LocationChoice::All
            && let Some(summary) = x.locations.summary()
            // A damaged summary is empty; the profiles still add up.
            && x.locations.num_values(summary) > 0
            && let Some(id) = described.sum_id_in(scope)
        {
            let request = SliceRequest {
                locations: vec![summary],
                contexts: ContextChoice::Tree,
                metrics: MetricChoice::Ids { values: Vec::new(), statistics: vec![id] },
                plan: Plan::Cheapest,
            };
            let (column, wrapped) = self.add_up(&request, control)?;
            self.note_wrapped(metric, wrapped);
            // Of a sum with a counter that wrapped nothing is left: those of the locations are
            // added up without it, where they are stored.
            if wrapped.count == 0 || described.id_in(scope).is_none() {
                return Ok(column);
            }
        }
        if *scope == Scope::LexicalAware {
            let function = self.column(metric, &Scope::Exclusive, locations, control)?;
            return Ok(scopes::lexical_aware(&x.contexts, &function));
        }
        let Some(id) = described.id_in(scope) else {
            return Err(EngineError::Missing {
                what: format!(
                    "metric {} is not stored in scope {}",
                    described.name,
                    scope.source_name()
                ),
                hint: format!("{} for the scopes of each", Remedy::SeeMetrics),
            });
        };
        let request = SliceRequest {
            locations: match locations {
                LocationChoice::All => x.locations.iter().collect(),
                LocationChoice::Some(list) => list.clone(),
            },
            contexts: ContextChoice::Tree,
            metrics: MetricChoice::Ids { values: vec![id], statistics: Vec::new() },
            plan: Plan::Cheapest,
        };
        let (column, wrapped) = self.add_up(&request, control)?;
        self.note_wrapped(metric, wrapped);
        Ok(column)
    }

    /// The sum of a slice for every context, without the values of counters that wrapped.
    fn add_up(
        &self,
        request: &SliceRequest,
        control: &Control,
    ) -> Result<(Vec<f64>, Wrapped), EngineError> {
        let tree = self.tree();
        let mut column = vec![0.0; tree.len()];
        let mut wrapped = Wrapped::default();
        if let Some(sums) = self.profiles()?.sums(request, control)? {
            for (id, sum) in sums {
                let context = tree.by_source_id(id);
                if let Some(slot) = context.and_then(|context| column.get_mut(context.idx())) {
                    *slot = sum;
                }
            }
            return Ok((column, wrapped));
        }
        self.slice_in_parts(request, control, |part| {
            for (&id, &value) in part.context.iter().zip(&part.value) {
                let Some(context) = tree.by_source_id(id) else { continue };
                if is_wrapped(value) {
                    wrapped.count += 1;
                    wrapped.first.get_or_insert(context);
                } else {
                    column[context.idx()] += value;
                }
            }
        })?;
        Ok((column, wrapped))
    }

    /// Remembers the most values that one sum of a metric left out.
    fn note_wrapped(&self, metric: MetricIdx, found: Wrapped) {
        let Some(first) = found.first else { return };
        let mut wrapped = self.wrapped.lock().unwrap_or_else(PoisonError::into_inner);
        let known = wrapped.entry(metric).or_insert((0, first));
        if found.count > known.0 {
            *known = (found.count, first);
        }
    }

    /// The value of a metric for the whole execution, over all locations.
    ///
    /// # Errors
    /// As [`Session::column`].
    pub fn total(&self, metric: MetricIdx, control: &Control) -> Result<f64, EngineError> {
        let column = self.column(metric, &Scope::Inclusive, &LocationChoice::All, control)?;
        Ok(scopes::total(self.tree(), &column))
    }

    /// The value of a metric for the whole execution, over the chosen locations.
    ///
    /// # Errors
    /// As [`Session::column`].
    pub fn total_over(
        &self,
        metric: MetricIdx,
        locations: &LocationChoice,
        control: &Control,
    ) -> Result<f64, EngineError> {
        let LocationChoice::Some(list) = locations else { return self.total(metric, control) };
        let id = self.experiment.metrics.get(metric).id_in(&Scope::Inclusive);
        let request = SliceRequest {
            locations: list.clone(),
            contexts: ContextChoice::Ids(vec![self.tree().source_id(ContextTree::ROOT)]),
            metrics: MetricChoice::Ids { values: id.into_iter().collect(), statistics: Vec::new() },
            plan: Plan::Cheapest,
        };
        let slice = self.slice(&request, control)?;
        let root: f64 = slice.value.iter().filter(|value| !is_wrapped(**value)).sum();
        if root != 0.0 {
            return Ok(root);
        }
        // Some sources store nothing for the root.
        let column = self.column(metric, &Scope::Inclusive, locations, control)?;
        Ok(scopes::total(self.tree(), &column))
    }
}
