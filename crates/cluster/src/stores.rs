//! [`Readers`]: an experiment whose values and traces executors read, in parts.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use parallax_base::{Cancelled, Control, Issues, LocationIdx, Severity, TimeWindow, TrackIdx};
use parallax_engine::WRAPPED_COUNT;
use parallax_model::{
    BinTime, Call, ContextChoice, ContextTime, Interval, Plan, ProfileStore, SliceColumns,
    SliceRequest, StoreError, TraceKind, TraceStore, Track, TrackIds, TracksTime,
};
use parallax_service::OpenExperiment;
use parallax_sql::{SqlError, SqlWorkers as _};

use crate::ask::Cluster;
use crate::reading::{Reading, columns_of, times_of, was_read};

/// Parts that are asked for at the same time at most.
const MOST_LANES: usize = 1000;
/// Parts whose rows wait at the same time, to be added up in their order.
const MOST_WAITING: usize = 64;
/// Parts for each lane: some take longer than others.
const PARTS_PER_LANE: usize = 3;
/// Bytes of values above which a question fails on one machine, which says so best.
const MOST_BYTES: u64 = 64 << 30;

/// Executors that read what questions over one database need.
pub struct Readers {
    cluster: Cluster,
    /// Rows of a part at least.
    part_rows: u64,
    /// Why a part could not be read. Analyses make remarks of what their stores cannot read, and a
    /// lost cluster is none.
    failure: Mutex<Option<String>>,
}

impl Readers {
    /// Readers that are asked for parts of so many rows at least; what is smaller than two parts is
    /// read by this process.
    #[must_use]
    pub fn new(cluster: Cluster, part_rows: u64) -> Arc<Self> {
        Arc::new(Self { cluster, part_rows: part_rows.max(1), failure: Mutex::default() })
    }

    /// An experiment of the same database, whose values and traces they read. One with faults that
    /// were found when it was opened is read by this process: which of its values can be used
    /// depends on the order of reading.
    #[must_use]
    pub fn over(self: &Arc<Self>, opened: OpenExperiment) -> OpenExperiment {
        let issues = opened.issues();
        if issues.list().iter().any(|issue| issue.severity > Severity::Note) {
            return opened;
        }
        opened.with_stores(|experiment| {
            let largest = experiment.contexts.source_ids().iter().max().copied();
            let num_ids = largest.and_then(|id| usize::try_from(id).ok()).map_or(0, |id| id + 1);
            if let Some(store) = experiment.profiles.take() {
                let readers = Arc::clone(self);
                experiment.profiles = Some(Arc::new(Profiles { readers, store, num_ids }));
            }
            if let Some(store) = experiment.traces.take() {
                experiment.traces = Some(Arc::new(Traces { readers: Arc::clone(self), store }));
            }
        })
    }

    /// Why a part could not be read, if any: answers that were given then are not to be used.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.failed().clone()
    }

    fn failed(&self) -> MutexGuard<'_, Option<String>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has files with the rows of a table of that name made, one for each list of ascending
    /// locations. `give` gets the number of the list and the file, in any order; no file where this
    /// process must make it.
    ///
    /// # Errors
    /// When a part cannot be read anywhere, `give` fails, or the question is withdrawn.
    pub fn tables(
        &self,
        name: &str,
        parts: &[Vec<LocationIdx>],
        control: &Control,
        give: &mut (dyn FnMut(usize, Option<Vec<u8>>) -> Result<(), String> + Send),
    ) -> Result<(), StoreError> {
        let parts = parts.iter().map(|part| Reading::Table(name.to_owned(), part.clone()));
        let give = Mutex::new(give);
        self.read(&parts.collect::<Vec<_>>(), control, &|at, file| {
            let mut give = give.lock().unwrap_or_else(PoisonError::into_inner);
            give(at, file).map_err(StoreError::Read)
        })
    }

    /// Has parts read, several at a time; `give` gets the number and the bytes of each, and none
    /// where this process must read it.
    fn read(
        &self,
        parts: &[Reading],
        control: &Control,
        give: &(dyn Fn(usize, Option<Vec<u8>>) -> Result<(), StoreError> + Sync),
    ) -> Result<(), StoreError> {
        if let Some(why) = self.failure() {
            return Err(StoreError::Read(why));
        }
        let (next, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let error = Mutex::new(None);
        let lane = || {
            let stop = || has_failed.load(Ordering::Relaxed) || control.check().is_err();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(part) = parts.get(at) else { return };
                let mut bytes = Vec::new();
                let what = ("reading", part.to_json());
                let read = match self.cluster.part(&what, &stop, &mut bytes) {
                    Ok(()) => was_read(bytes).and_then(|bytes| give(at, bytes)),
                    Err(SqlError::Cancelled) => Err(Cancelled.into()),
                    Err(other) => Err(StoreError::Read(other.to_string())),
                };
                let Err(failure) = read else { continue };
                // Others stop because of the first one.
                if !has_failed.swap(true, Ordering::Relaxed) {
                    *error.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
                }
                return;
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.cluster.lanes().min(MOST_LANES).min(parts.len()) {
                // With fewer threads it takes longer.
                let _ = std::thread::Builder::new().spawn_scoped(scope, lane);
            }
            lane();
        });
        control.check()?;
        match error.into_inner().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some(error) => {
                self.failed().get_or_insert_with(|| error.to_string());
                Err(error)
            }
        }
    }

    /// Has parts read and decoded; `None` where this process must read one of them, and then all.
    fn whole<T: Send>(
        &self,
        parts: &[Reading],
        control: &Control,
        decode: impl Fn(&[u8]) -> Result<T, StoreError> + Sync,
    ) -> Result<Option<Vec<T>>, StoreError> {
        let slots: Vec<Mutex<Option<T>>> = parts.iter().map(|_| Mutex::new(None)).collect();
        self.read(parts, control, &|at, bytes| {
            if let (Some(bytes), Some(slot)) = (bytes, slots.get(at)) {
                let decoded = decode(&bytes)?;
                *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(decoded);
            }
            Ok(())
        })?;
        let slots = slots.into_iter();
        Ok(slots.map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
    }

    /// How many parts so many rows are read in; `None` where that is one.
    fn parts(&self, rows: u64) -> Option<usize> {
        let lanes = self.cluster.lanes().min(MOST_LANES);
        let parts = usize::try_from(rows / self.part_rows).unwrap_or(usize::MAX);
        Some(parts.min(lanes * PARTS_PER_LANE)).filter(|&parts| parts > 1)
    }
}

/// Cuts a list into so many pieces of nearly equal length at most.
fn pieces<T: Clone>(list: &[T], parts: usize) -> impl Iterator<Item = Vec<T>> + '_ {
    list.chunks(list.len().div_ceil(parts.max(1)).max(1)).map(<[T]>::to_vec)
}

/// Values that executors read.
struct Profiles {
    readers: Arc<Readers>,
    store: Arc<dyn ProfileStore>,
    /// One more than the largest id of a context of the tree.
    num_ids: usize,
}

impl Profiles {
    /// What a request is cut into, and whether by contexts.
    fn cut(&self, request: &SliceRequest) -> Result<Option<(Vec<Reading>, bool)>, StoreError> {
        let (plan, rows) = self.store.estimate(request)?;
        let is_too_large = rows.saturating_mul(SliceColumns::ROW_BYTES) > MOST_BYTES;
        let Some(parts) = self.readers.parts(rows).filter(|_| !is_too_large) else {
            return Ok(None);
        };
        // As one machine reads: damaged files may say something else in their other order.
        let request = SliceRequest { plan, ..request.clone() };
        Ok(Some(match &request.contexts {
            // What one location has is read at once.
            _ if plan == Plan::LocationMajor && request.locations.len() < 2 => return Ok(None),
            ContextChoice::Ids(ids) if plan == Plan::ContextMajor && ids.len() >= parts => {
                let part =
                    |ids| SliceRequest { contexts: ContextChoice::Ids(ids), ..request.clone() };
                (pieces(ids, parts).map(part).map(Reading::Slice).collect(), true)
            }
            _ => {
                let part = |locations| SliceRequest { locations, ..request.clone() };
                let parts = pieces(&request.locations, parts);
                (parts.map(part).map(Reading::Slice).collect(), false)
            }
        }))
    }
}

impl ProfileStore for Profiles {
    fn slice(&self, request: &SliceRequest, control: &Control) -> Result<SliceColumns, StoreError> {
        let Some((parts, is_by_context)) = self.cut(request)? else {
            return self.store.slice(request, control);
        };
        let read = self.readers.whole(&parts, control, |bytes| columns_of(bytes, request))?;
        let Some(parts) = read else { return self.store.slice(request, control) };
        let mut all = SliceColumns::default();
        for part in parts {
            all.location.extend(part.location);
            all.context.extend(part.context);
            all.metric.extend(part.metric);
            all.value.extend(part.value);
        }
        Ok(if is_by_context { by_location(&all) } else { all })
    }

    fn estimate(&self, request: &SliceRequest) -> Result<(Plan, u64), StoreError> {
        self.store.estimate(request)
    }

    fn sums(
        &self,
        request: &SliceRequest,
        control: &Control,
    ) -> Result<Option<Vec<(u32, f64)>>, StoreError> {
        let (plan, rows) = self.store.estimate(request)?;
        // With as many parts as there are rows for, so that few rows wait to be added up.
        let parts = usize::try_from(rows / self.readers.part_rows).unwrap_or(usize::MAX);
        if parts.min(request.locations.len()) < 2 {
            return Ok(None);
        }
        let request = SliceRequest { plan, ..request.clone() };
        let part = |locations| SliceRequest { locations, ..request.clone() };
        let parts = pieces(&request.locations, parts).map(part).map(Reading::Slice);
        let parts: Vec<Reading> = parts.collect();
        let mut sums = vec![0.0; self.num_ids];
        for some in parts.chunks(self.readers.cluster.lanes().clamp(1, MOST_WAITING)) {
            let read = self.readers.whole(some, control, |bytes| columns_of(bytes, &request))?;
            let Some(read) = read else { return Ok(None) };
            // In the order of one machine, so that no digit differs.
            for columns in read {
                let is_wrapped = |value: &f64| value.is_nan() || value.abs() >= WRAPPED_COUNT;
                if columns.value.iter().any(is_wrapped) {
                    return Ok(None);
                }
                for (context, value) in columns.context.into_iter().zip(columns.value) {
                    let at = usize::try_from(context).ok();
                    if let Some(sum) = at.and_then(|at| sums.get_mut(at)) {
                        *sum += value;
                    }
                }
            }
        }
        let sums = (0..).zip(sums).filter(|(_, sum)| *sum != 0.0);
        Ok(Some(sums.collect()))
    }

    fn late_issues(&self) -> Issues {
        self.store.late_issues()
    }
}

/// What a column has at each place of a list.
fn ordered<T: Copy>(of: &[T], order: &[usize]) -> Vec<T> {
    order.iter().filter_map(|&at| of.get(at).copied()).collect()
}

/// The same values by location, those of one location in the order in which they were.
fn by_location(columns: &SliceColumns) -> SliceColumns {
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by_key(|&at| columns.location.get(at));
    let SliceColumns { location, context, metric, value } = columns;
    SliceColumns {
        location: ordered(location, &order),
        context: ordered(context, &order),
        metric: ordered(metric, &order),
        value: ordered(value, &order),
    }
}

/// Traces that executors add up; everything else is read by this process.
struct Traces {
    readers: Arc<Readers>,
    store: Arc<dyn TraceStore>,
}

impl TraceStore for Traces {
    fn tracks(&self) -> &[Track] {
        self.store.tracks()
    }

    fn track_ids(&self) -> TrackIds {
        self.store.track_ids()
    }

    fn track(&self, track: TrackIdx) -> Option<&Track> {
        self.store.track(track)
    }

    fn track_sizes(&self) -> Vec<u64> {
        self.store.track_sizes()
    }

    fn span(&self) -> TimeWindow {
        self.store.span()
    }

    fn kind(&self) -> TraceKind {
        self.store.kind()
    }

    fn sample_interval_nanos(&self) -> Option<u64> {
        self.store.sample_interval_nanos()
    }

    fn has_mpi_calls(&self) -> bool {
        self.store.has_mpi_calls()
    }

    fn visit(
        &self,
        track: TrackIdx,
        window: TimeWindow,
        visit: &mut dyn FnMut(Interval),
    ) -> Result<(), StoreError> {
        self.store.visit(track, window, visit)
    }

    fn visit_calls(
        &self,
        track: TrackIdx,
        window: TimeWindow,
        visit: &mut dyn FnMut(Call),
    ) -> Result<(), StoreError> {
        self.store.visit_calls(track, window, visit)
    }

    fn sums(
        &self,
        track: TrackIdx,
        window: TimeWindow,
        visit: &mut dyn FnMut(ContextTime),
    ) -> Result<(), StoreError> {
        self.store.sums(track, window, visit)
    }

    fn sums_of_tracks(
        &self,
        tracks: &[TrackIdx],
        window: TimeWindow,
        control: &Control,
    ) -> Result<Option<Vec<TracksTime>>, StoreError> {
        let mut tracks = tracks.to_vec();
        tracks.sort_unstable();
        let samples = |&track: &TrackIdx| self.store.track(track).map_or(0, |of| of.num_samples);
        let Some(parts) = self.readers.parts(tracks.iter().map(samples).sum()) else {
            return Ok(None);
        };
        let parts: Vec<Reading> =
            pieces(&tracks, parts).map(|tracks| Reading::Tracks(tracks, window)).collect();
        let read = self.readers.whole(&parts, control, times_of)?;
        // Whole numbers, whose order does not matter.
        Ok(read.map(|parts| parts.into_iter().flatten().collect()))
    }

    fn bins(
        &self,
        track: TrackIdx,
        window: TimeWindow,
        exponent: u8,
        visit: &mut dyn FnMut(&[BinTime]),
    ) -> Result<(), StoreError> {
        self.store.bins(track, window, exponent, visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_were_read_by_context_come_in_the_order_of_locations() {
        let columns = SliceColumns {
            location: vec![1, 2, 4, 1, 1, 4],
            context: vec![3, 3, 3, 5, 5, 5],
            metric: vec![0, 0, 0, 0, 1, 0],
            value: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        };
        let ordered = by_location(&columns);
        assert_eq!(ordered.location, [1, 1, 1, 2, 4, 4]);
        assert_eq!(ordered.context, [3, 5, 5, 3, 3, 5]);
        assert_eq!(ordered.value, [1.0, 4.0, 5.0, 2.0, 3.0, 6.0]);
    }

    #[test]
    fn pieces_are_all_of_a_list() {
        for (len, parts) in [(0, 3), (1, 3), (7, 3), (7, 100)] {
            let list: Vec<u32> = (0..len).collect();
            let cut: Vec<Vec<u32>> = pieces(&list, parts).collect();
            assert!(cut.len() <= parts, "{len} {parts}");
            assert_eq!(cut.concat(), list);
        }
    }
}
