//! `profile.db` and `cct.db` as one [`ProfileStore`]: the same values in two orders, of which each
//! request takes the cheaper.

use std::sync::{Mutex, OnceLock, PoisonError};

use parallax_base::{Control, Issues, Limits, LocationIdx, Place, Severity, Stage};
use parallax_formats::FormatError;
use parallax_formats::hpctoolkit::{CctDb, ContextInfo, ProfileDb};
use parallax_model::{ContextChoice, Plan, ProfileStore, SliceColumns, SliceRequest, StoreError};

use super::slice::{self, ContextFilter, IdSet};

pub(super) struct Profiles {
    profiles: ProfileDb,
    cct: Option<CctDb>,
    /// Whether `cct.db` holds as many values as `profile.db`; found out when first needed.
    is_cct_usable: OnceLock<bool>,
    tree_ids: IdSet,
    node_ids: IdSet,
    limits: Limits,
    late_issues: Mutex<Issues>,
}

pub(super) fn failed(error: &FormatError) -> StoreError {
    StoreError::Read(error.to_string())
}

/// Bytes that one step of a binary search touches: a cache line.
const PROBE_BYTES: u64 = 64;

impl Profiles {
    pub(super) fn new(
        profiles: ProfileDb,
        cct: Option<CctDb>,
        tree_ids: &[u32],
        limits: Limits,
    ) -> Self {
        Self {
            profiles,
            cct,
            is_cct_usable: OnceLock::new(),
            tree_ids: IdSet::new(tree_ids),
            // The root comes first.
            node_ids: IdSet::new(tree_ids.get(1..).unwrap_or_default()),
            limits,
            late_issues: Mutex::default(),
        }
    }

    fn report(&self, kind: &'static str, file: &str, message: String) {
        let place = Place::File { file: file.into() };
        let mut issues = self.late_issues.lock().unwrap_or_else(PoisonError::into_inner);
        issues.report(Severity::Warning, Stage::Read, kind, place, || message);
    }

    /// `cct.db`, when it is there and complete: one that lacks values (writers that crashed or
    /// tools that grow databases leave an empty one) must not decide what an answer is.
    fn usable_cct(&self) -> Option<&CctDb> {
        let cct = self.cct.as_ref()?;
        let is_usable = *self.is_cct_usable.get_or_init(|| {
            let expected: u64 =
                self.profiles.infos().iter().filter(|i| !i.is_summary).map(|i| i.num_values).sum();
            let all = u32::try_from(cct.num_contexts()).unwrap_or(u32::MAX);
            let (found, lost) = match cct.infos(0..all) {
                Ok((infos, lost)) => (infos.iter().map(|info| info.num_values).sum::<u64>(), lost),
                Err(_) => (0, 1),
            };
            if found == expected && lost == 0 {
                return true;
            }
            self.report(
                "cct-incomplete",
                "cct.db",
                format!(
                    "cct.db holds {found} values and profile.db {expected}; \
                     everything is read from profile.db"
                ),
            );
            false
        });
        is_usable.then_some(cct)
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
                    rows += info.num_values.min(ids * per_context * 8);
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
        let filter = match &request.contexts {
            ContextChoice::Tree => ContextFilter::Set(&self.tree_ids),
            ContextChoice::Nodes => ContextFilter::Set(&self.node_ids),
            ContextChoice::Stored => ContextFilter::All,
            ContextChoice::Ids(ids) => ContextFilter::Ids(ids),
        };
        control.begin(locations.len() as u64);
        let values = request.metrics.ids(false);
        let by_context = match (&request.contexts, plan, self.usable_cct()) {
            (ContextChoice::Ids(ids), Plan::ContextMajor, Some(cct)) => {
                let infos = Self::context_infos(cct, ids)?;
                let columns = slice::context_major(
                    cct,
                    ids,
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
            None => slice::location_major(
                &self.profiles,
                &locations,
                &filter,
                values,
                &self.limits,
                control,
            )?,
        };
        if summaries.is_empty() {
            return Ok(columns);
        }
        let statistics = request.metrics.ids(true);
        let summary = slice::location_major(
            &self.profiles,
            &summaries,
            &filter,
            statistics,
            &self.limits,
            control,
        )?;
        Ok(slice::merge(summary, columns))
    }

    fn estimate(&self, request: &SliceRequest) -> Result<(Plan, u64), StoreError> {
        let (bytes, rows) = self.location_major_cost(request);
        let ContextChoice::Ids(ids) = &request.contexts else {
            return Ok((Plan::LocationMajor, rows));
        };
        if request.plan == Plan::LocationMajor {
            return Ok((Plan::LocationMajor, rows));
        }
        let Some(cct) = self.usable_cct() else { return Ok((Plan::LocationMajor, rows)) };
        let infos = Self::context_infos(cct, ids)?;
        let values: u64 = infos.iter().map(|info| info.num_values).sum();
        let metrics: u64 = infos.iter().map(|info| u64::from(info.num_metrics)).sum();
        let summary = request
            .locations
            .iter()
            .filter_map(|l| self.profiles.infos().get(l.idx()))
            .filter(|info| info.is_summary)
            .map(|info| info.num_values)
            .sum::<u64>();
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
        let scanned = (values as f64 * 12.0 * share) as u64;
        let searched = metrics * request.locations.len() as u64 * 20 * PROBE_BYTES;
        let context_bytes = infos.len() as u64 * 64 + metrics * 10 + scanned.min(searched);
        let plan = if context_bytes < bytes { Plan::ContextMajor } else { Plan::LocationMajor };
        Ok((plan, context_rows))
    }

    fn late_issues(&self) -> Issues {
        self.late_issues.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
