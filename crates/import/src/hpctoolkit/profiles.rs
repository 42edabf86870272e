//! `profile.db` and `cct.db` as one [`ProfileStore`]: the same values in two orders, of which each
//! request takes the cheaper.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::{Mutex, OnceLock, PoisonError};

use parallax_base::casts::saturated_u64;
use parallax_base::{Control, Issues, Limits, LocationIdx, Place, Severity, Stage};
use parallax_formats::FormatError;
use parallax_formats::hpctoolkit::{CctDb, ContextInfo, ProfileDb};
use parallax_model::{ContextChoice, Plan, ProfileStore, SliceColumns, SliceRequest, StoreError};

use super::slice::{self, ContextFilter, IdSet};

pub(super) struct Profiles {
    profiles: ProfileDb,
    cct: Option<CctDb>,
    /// How much of the values `cct.db` holds; found out when first needed.
    cct_state: OnceLock<CctState>,
    /// Whether some profiles have the values that `cct.db` has; found out when first needed.
    is_cct_of_profiles: OnceLock<bool>,
    /// Ids of the contexts of the tree, ascending; the root has the lowest.
    sorted_ids: Vec<u32>,
    tree_ids: IdSet,
    node_ids: IdSet,
    /// Whether opening found faults in `profile.db`.
    is_damaged: bool,
    limits: Limits,
    late_issues: Mutex<Issues>,
}

/// How much of the values `cct.db` holds, next to `profile.db`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CctState {
    /// Fewer: writers that crashed, or tools that grow databases, leave an empty one.
    Emptier,
    /// The same number.
    Same,
    /// More: `profile.db` lost some.
    Fuller,
}

pub(super) fn failed(error: &FormatError) -> StoreError {
    StoreError::Read(error.to_string())
}

/// Bytes that one step of a binary search touches: a cache line.
const PROBE_BYTES: u64 = 64;

/// Contexts are few when `cct.db` has so many times as many.
const FEW_CONTEXTS: u64 = 16;
/// Profiles, from the first to the last, of which the values of a context are compared.
const COMPARED_PROFILES: usize = 8;

impl Profiles {
    pub(super) fn new(
        profiles: ProfileDb,
        cct: Option<CctDb>,
        tree_ids: &[u32],
        is_damaged: bool,
        limits: Limits,
    ) -> Self {
        let mut sorted_ids = tree_ids.to_vec();
        sorted_ids.sort_unstable();
        Self {
            profiles,
            cct,
            cct_state: OnceLock::new(),
            is_cct_of_profiles: OnceLock::new(),
            sorted_ids,
            tree_ids: IdSet::new(tree_ids),
            // The root comes first.
            node_ids: IdSet::new(tree_ids.get(1..).unwrap_or_default()),
            is_damaged,
            limits,
            late_issues: Mutex::default(),
        }
    }

    fn report(&self, kind: &'static str, file: &str, message: String) {
        let place = Place::File { file: file.into() };
        let mut issues = self.late_issues.lock().unwrap_or_else(PoisonError::into_inner);
        issues.report(Severity::Warning, Stage::Read, kind, place, || message);
    }

    /// `cct.db`, when it is there and holds at least as many values as `profile.db`: one that lacks
    /// values must not decide what an answer is. Whether it holds more is the second value.
    ///
    /// Counting its values reads 32 bytes for every context there is, far more than an answer about
    /// a few of them, so it is done only where the blocks of the wanted contexts do not show by
    /// themselves that they are whole.
    fn usable_cct(&self, wanted: &ContextChoice) -> Option<(&CctDb, bool)> {
        let cct = self.cct.as_ref()?;
        if self.cct_state.get().is_none() && self.shows_itself_whole(cct, wanted) {
            return Some((cct, false));
        }
        let state = *self.cct_state.get_or_init(|| self.compare(cct));
        (state != CctState::Emptier).then_some((cct, state == CctState::Fuller))
    }

    /// Whether the blocks of a few contexts are as `hpcprof` writes them, in a file that has room for
    /// the values of all, and whose values some profiles have, too: those of the first context that is
    /// asked for, which are compared once.
    fn shows_itself_whole(&self, cct: &CctDb, wanted: &ContextChoice) -> bool {
        let ContextChoice::Ids(ids) = wanted else { return false };
        let are_few = ids.len() as u64 <= cct.num_contexts() / FEW_CONTEXTS;
        if self.is_damaged || !are_few || !cct.has_room_for(self.num_values()) {
            return false;
        }
        let Ok(infos) = Self::context_infos(cct, ids) else { return false };
        let (Some(&id), Some(info)) = (ids.first(), infos.first()) else { return false };
        infos.iter().all(ContextInfo::is_compact)
            && *self.is_cct_of_profiles.get_or_init(|| self.agrees(cct, id, *info).unwrap_or(false))
    }

    /// Whether profiles from the first to the last have the values of a context that `cct.db` has.
    fn agrees(&self, cct: &CctDb, id: u32, info: ContextInfo) -> Result<bool, StoreError> {
        let others = || (0_u32..).zip(self.profiles.infos()).filter(|(_, info)| !info.is_summary);
        let step = others().count().div_ceil(COMPARED_PROFILES).max(1);
        let some: Vec<_> = others().step_by(step).map(|(at, _)| LocationIdx::new(at)).collect();
        let block = cct.block(&info).map_err(|e| failed(&e))?;
        let mut there = SliceColumns::default();
        for &location in &some {
            for (metric, range) in block.metrics() {
                if let Some(value) = block.find(range, location.get()).map_err(|e| failed(&e))? {
                    there.push(location.get(), id, metric, value);
                }
            }
        }
        let (limits, control) = (&self.limits, &Control::new());
        let here = slice::few_contexts(&self.profiles, &some, &[id], None, limits, control)?;
        Ok(there == here)
    }

    /// Values of `profile.db` without the summary.
    fn num_values(&self) -> u64 {
        let others = self.profiles.infos().iter().filter(|info| !info.is_summary);
        others.map(|info| info.num_values).fold(0, u64::saturating_add)
    }

    fn compare(&self, cct: &CctDb) -> CctState {
        let expected = self.num_values();
        let all = u32::try_from(cct.num_contexts()).unwrap_or(u32::MAX);
        let (found, lost) = match cct.infos(0..all) {
            Ok((infos, lost)) => (infos.iter().map(|info| info.num_values).sum::<u64>(), lost),
            Err(_) => (0, 1),
        };
        let (state, source) = match found.cmp(&expected) {
            Ordering::Equal if lost == 0 => return CctState::Same,
            Ordering::Greater => (CctState::Fuller, "cct.db"),
            _ => (CctState::Emptier, "profile.db"),
        };
        let counts = format!("cct.db holds {found} values and profile.db {expected}");
        let message = format!("{counts}; all but the summary is read from {source}");
        self.report("cct-differs", "cct.db", message);
        state
    }

    /// The contexts of a request as ids, ascending.
    fn ids_of<'r>(&'r self, contexts: &'r ContextChoice, cct: &CctDb) -> Cow<'r, [u32]> {
        match contexts {
            ContextChoice::Ids(ids) => Cow::Borrowed(ids),
            ContextChoice::Tree => Cow::Borrowed(&self.sorted_ids),
            ContextChoice::Nodes => Cow::Borrowed(self.sorted_ids.get(1..).unwrap_or_default()),
            ContextChoice::Stored => {
                (0..u32::try_from(cct.num_contexts()).unwrap_or(u32::MAX)).collect()
            }
        }
    }

    /// Where the values of the contexts `ids` lie in `cct.db`, runs of neighbours in one read.
    fn context_infos(cct: &CctDb, ids: &[u32]) -> Result<Vec<ContextInfo>, StoreError> {
        let mut out = Vec::with_capacity(ids.len());
        let mut read = 0;
        for run in ids.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
            if let (Some(&first), Some(&last)) = (run.first(), run.last()) {
                let (infos, _) =
                    cct.infos(first..last.saturating_add(1)).map_err(|e| failed(&e))?;
                out.extend(infos);
            }
            // Ids past the end of the table have no values.
            read += run.len();
            out.resize(read, ContextInfo::default());
        }
        Ok(out)
    }

    /// Reads profile after profile.
    fn by_location(
        &self,
        locations: &[LocationIdx],
        contexts: &ContextChoice,
        metrics: Option<&[u16]>,
        control: &Control,
    ) -> Result<SliceColumns, StoreError> {
        let (profiles, limits) = (&self.profiles, &self.limits);
        let filter = match contexts {
            ContextChoice::Ids(ids) => {
                return slice::few_contexts(profiles, locations, ids, metrics, limits, control);
            }
            ContextChoice::Tree => ContextFilter::Set(&self.tree_ids),
            ContextChoice::Nodes => ContextFilter::Set(&self.node_ids),
            ContextChoice::Stored => ContextFilter::All,
        };
        slice::location_major(profiles, locations, &filter, metrics, limits, control)
    }

    /// Bytes that reading location by location touches, and an upper bound of the rows.
    fn location_major_cost(&self, request: &SliceRequest) -> (u64, u64) {
        let (mut bytes, mut rows) = (0_u64, 0_u64);
        for location in &request.locations {
            let Some(info) = self.profiles.infos().get(location.idx()) else { continue };
            let contexts = u64::from(info.num_contexts);
            if contexts == 0 {
                continue;
            }
            let per_context = info.num_values.div_ceil(contexts);
            match &request.contexts {
                ContextChoice::Ids(ids) => {
                    let ids = ids.len() as u64;
                    let steps = u64::from(contexts.ilog2()) + 1;
                    bytes += (ids * steps * PROBE_BYTES).min(contexts * 12)
                        + ids.min(contexts) * per_context * 10;
                    rows += info.num_values;
                }
                ContextChoice::Tree | ContextChoice::Nodes | ContextChoice::Stored => {
                    bytes += contexts * 12 + info.num_values * 10;
                    rows += info.num_values;
                }
            }
        }
        (bytes, rows)
    }
}

impl ProfileStore for Profiles {
    fn slice(&self, request: &SliceRequest, control: &Control) -> Result<SliceColumns, StoreError> {
        let infos = self.profiles.infos();
        let (summaries, locations): (Vec<LocationIdx>, Vec<LocationIdx>) = request
            .locations
            .iter()
            .filter(|l| l.idx() < infos.len())
            .partition(|l| infos.get(l.idx()).is_some_and(|info| info.is_summary));
        let (plan, _) = self.estimate(request)?;
        control.begin(locations.len() as u64);
        let values = request.metrics.ids(false);
        let cct =
            if plan == Plan::ContextMajor { self.usable_cct(&request.contexts) } else { None };
        let by_context = match (plan, cct) {
            (Plan::ContextMajor, Some((cct, _))) => {
                let ids = self.ids_of(&request.contexts, cct);
                let infos = Self::context_infos(cct, &ids)?;
                let columns = slice::context_major(
                    cct,
                    &ids,
                    &infos,
                    &locations,
                    values,
                    &self.limits,
                    control,
                )?;
                if columns.is_none() {
                    self.report(
                        "cct-unsorted",
                        "cct.db",
                        "values of cct.db are not in order of profile; \
                         they are read from profile.db"
                            .into(),
                    );
                }
                columns
            }
            _ => None,
        };
        let columns = match by_context {
            Some(columns) => columns,
            None => self.by_location(&locations, &request.contexts, values, control)?,
        };
        if summaries.is_empty() {
            return Ok(columns);
        }
        let statistics = request.metrics.ids(true);
        let summary = self.by_location(&summaries, &request.contexts, statistics, control)?;
        Ok(slice::merge(summary, columns))
    }

    fn estimate(&self, request: &SliceRequest) -> Result<(Plan, u64), StoreError> {
        let (bytes, rows) = self.location_major_cost(request);
        let is_choice_of_ids = matches!(request.contexts, ContextChoice::Ids(_));
        // Only a damaged profile.db makes it worth looking when all contexts are wanted.
        let is_free = request.plan != Plan::LocationMajor;
        let by_ids = is_choice_of_ids && is_free;
        let cct = if self.is_damaged || by_ids { self.usable_cct(&request.contexts) } else { None };
        let cct = cct.filter(|(_, is_fuller)| *is_fuller || by_ids);
        let Some((cct, is_fuller)) = cct else { return Ok((Plan::LocationMajor, rows)) };
        let infos = Self::context_infos(cct, &self.ids_of(&request.contexts, cct))?;
        let values: u64 = infos.iter().map(|info| info.num_values).sum();
        let metrics: u64 = infos.iter().map(|info| u64::from(info.num_metrics)).sum();
        let summary = request
            .locations
            .iter()
            .filter_map(|l| self.profiles.infos().get(l.idx()))
            .filter(|info| info.is_summary)
            .map(|info| info.num_values)
            .sum::<u64>();
        if is_fuller {
            return Ok((Plan::ContextMajor, values + summary));
        }
        let context_rows = rows.min(values + summary);
        if request.plan == Plan::ContextMajor {
            return Ok((Plan::ContextMajor, context_rows));
        }
        // A metric filter skips whole spans; few locations are found in a span by searching.
        let share = match request.metrics.ids(false) {
            Some(wanted) if metrics > 0 => {
                let per_context = metrics.div_ceil(infos.len().max(1) as u64).max(1);
                (wanted.len() as u64).min(per_context) as f64 / per_context as f64
            }
            _ => 1.0,
        };
        let scanned = saturated_u64(values as f64 * 12.0 * share);
        let searched = metrics * request.locations.len() as u64 * 20 * PROBE_BYTES;
        let context_bytes = infos.len() as u64 * 64 + metrics * 10 + scanned.min(searched);
        let plan = if context_bytes < bytes { Plan::ContextMajor } else { Plan::LocationMajor };
        Ok((plan, context_rows))
    }

    fn late_issues(&self) -> Issues {
        self.late_issues.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
