//! [`DeviceMemory`]: columns of tables in memory that stay on a device from one statement to the next,
//! and whether a step is done there.
//!
//! Copying columns to a device takes longer than most steps do on the processor, so they are copied
//! once. Where nobody says which device, times decide: those that earlier steps of the kind took on the
//! processor, and on the device those of a sample of the rows, and then of whole steps.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use datafusion::arrow::array::Array as _;
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::{DataFusionError, Result};
use parallax_base::Control;
use parallax_base::quantity::quantity;
use parallax_columns::{ColumnDevice, DeviceColumn, DeviceError, Traffic};

use super::job::{Job, JobResult, Kind, merged, width};
use super::samples::{column, copied};
use super::times::{Finish, Stop, Times, measured};
use super::{On, SqlDevice, SqlStep};
use crate::SqlError;
use crate::kept::KeptTable;

/// What came of asking a device: `found` is `None` where the processor has to do the job.
pub(crate) struct Outcome {
    pub(crate) found: Option<JobResult>,
    /// How long it took, without copies of columns, where that says how long it takes again.
    pub(crate) seconds: Option<f64>,
    pub(crate) step: SqlStep,
}

/// A column of a part of a table that is on the device.
struct Entry {
    table: u64,
    column: usize,
    rows: Range<usize>,
    there: DeviceColumn,
}

#[derive(Default)]
struct State {
    /// Columns on the device, the latest first.
    entries: Vec<Entry>,
    /// Rows of a part.
    part_rows: Option<usize>,
    processor: HashMap<Kind, Times>,
    device: HashMap<Kind, Times>,
    /// Seconds that a byte takes to the device.
    byte: Option<f64>,
    /// Seconds that columns took to the device, together.
    copied: f64,
    /// Seconds that statements about a table would have saved had its columns been on the device.
    missed: HashMap<u64, f64>,
    /// Seconds that the processor took for steps that a device could have done.
    spent: f64,
    /// The fewest rows for which there was no room, of kinds that are not done in parts.
    full: HashMap<Kind, usize>,
    /// Why the device is used no more.
    failed: Option<String>,
}

impl State {
    fn bytes(&self) -> u64 {
        self.entries.iter().map(|entry| entry.there.bytes()).sum()
    }

    /// Notes that there was no room for a job that is not done in parts.
    fn filled(&mut self, kind: Kind, rows: usize) {
        let least = self.full.entry(kind).or_insert(rows);
        *least = rows.min(*least);
    }

    fn has(&self, table: u64, column: usize, rows: &Range<usize>) -> Option<usize> {
        let is =
            |entry: &Entry| (entry.table, entry.column) == (table, column) && entry.rows == *rows;
        self.entries.iter().position(is)
    }
}

/// Tables with fewer rows are not worth a device: about a thousandth of a second passes before it has
/// done anything.
const LEAST_ROWS: usize = 500_000;
/// Nor is what the processor does in so many seconds.
const LEAST_SECONDS: f64 = 0.002;
/// A device is opened once the processor has taken so long for such steps: opening it and compiling its
/// kernels takes about as long.
const OPENING_SECONDS: f64 = 0.2;
/// Rows of a part at most, and at least.
const PART_ROWS: usize = 1 << 26;
const LEAST_PART: usize = 1 << 16;
/// Bytes of columns on a device whose memory is not known.
const DEFAULT_BYTES: u64 = 1 << 30;
/// Copies of fewer bytes say little about how long a byte takes.
const TELLING_BYTES: u64 = 1 << 20;

/// The device of an engine, and what is on it.
pub(crate) struct DeviceMemory {
    device: SqlDevice,
    opened: OnceLock<Result<Arc<dyn ColumnDevice>, String>>,
    state: Mutex<State>,
    tables: AtomicU64,
}

/// What a device found, in how many parts, and in which time where that is known.
struct Done {
    found: JobResult,
    parts: usize,
    seconds: Option<f64>,
}

impl DeviceMemory {
    pub(crate) fn new(device: SqlDevice) -> Self {
        let (opened, state, tables) = (OnceLock::new(), Mutex::default(), AtomicU64::new(0));
        Self { device, opened, state, tables }
    }

    /// Whether there may be a device.
    pub(crate) fn is_any(&self) -> bool {
        !matches!(self.device.on, On::Processor)
    }

    /// The device that steps are planned for.
    pub(crate) fn planned(&self) -> Option<String> {
        match &self.device.on {
            On::Processor => None,
            On::Auto(_) => Some("auto".to_owned()),
            On::Forced(device) => Some(device.name()),
        }
    }

    /// A number for a table.
    pub(crate) fn number(&self) -> u64 {
        self.tables.fetch_add(1, Ordering::Relaxed)
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees what is on the device of a table that is in memory no more.
    pub(crate) fn forget(&self, table: u64) {
        let mut state = self.locked();
        let before = state.entries.len();
        state.entries.retain(|entry| entry.table != table);
        state.missed.remove(&table);
        if state.entries.len() == before {
            return;
        }
        state.full.clear();
        if let Some(Ok(device)) = self.opened.get() {
            device.release();
        }
    }

    fn opened(&self) -> Result<&Arc<dyn ColumnDevice>, String> {
        let open = || match &self.device.on {
            On::Processor => Err("no other device was asked for".to_owned()),
            On::Auto(open) => open(),
            On::Forced(device) => Ok(Arc::clone(device)),
        };
        self.opened.get_or_init(open).as_ref().map_err(Clone::clone)
    }

    /// Whether the device does what it can, whatever it takes.
    fn is_forced(&self) -> bool {
        matches!(self.device.on, On::Forced(_))
    }

    fn most_bytes(&self, device: &dyn ColumnDevice) -> u64 {
        let half = || device.memory_bytes().map(|bytes| bytes / 2);
        self.device.most_bytes.or_else(half).unwrap_or(DEFAULT_BYTES)
    }

    /// Bytes of the columns that a job needs.
    fn needed(table: &KeptTable, job: &Job) -> u64 {
        let bytes = |at: usize| (table.rows.num_rows() * width(&table.rows, at)) as u64;
        job.columns().into_iter().map(bytes).sum()
    }

    /// Does a job on the device where that is forced or takes less time, with what follows on the
    /// processor. `job` says why a step is none that a device does.
    ///
    /// # Errors
    /// When the statement was withdrawn.
    pub(crate) fn run(
        &self,
        table: &KeptTable,
        job: &Result<Job, String>,
        finish: &Finish<'_>,
        control: &Control,
    ) -> Result<Outcome> {
        let here = |reason: String| {
            Ok(Outcome { found: None, seconds: None, step: SqlStep::on_processor(reason) })
        };
        let rows = table.rows.num_rows();
        let job = match job {
            Ok(job) => job,
            Err(reason) => return here(reason.clone()),
        };
        if let Some(why) = job.columns().iter().find_map(|&at| unsuitable(&table.rows, at)) {
            return here(why);
        }
        if rows == 0 || !self.is_forced() && rows < LEAST_ROWS {
            return here("too few rows for a GPU".to_owned());
        }
        let mut state = self.locked();
        if let Some(why) = &state.failed {
            return here(why.clone());
        }
        if let Some(why) = self.too_early(&state, job, &table.rows) {
            return here(why);
        }
        let device = match self.opened() {
            Ok(device) => device,
            Err(why) => return here(why),
        };
        let name = device.name();
        let before = device.traffic();
        let reason = match self.is_forced() {
            true => Ok(Ok("it was asked for".to_owned())),
            false => self.chosen(&mut state, &**device, table, job, finish),
        };
        let done = reason.and_then(|reason| match reason {
            Ok(reason) => {
                let done = self.in_parts(&mut state, &**device, table, job, control)?;
                Ok((Some(done.found), done.seconds, in_words(reason, done.parts)))
            }
            Err(reason) => Ok((None, None, reason)),
        });
        let (found, seconds, reason) = match done {
            Ok(done) => done,
            Err(Stop::Statement(error)) => return Err(error),
            Err(Stop::Device(error)) => {
                let reason = format!("{name}: {error}");
                if matches!(error, DeviceError::Failed(_)) {
                    state.entries.clear();
                    state.failed = Some(reason.clone());
                }
                (None, None, reason)
            }
        };
        let after = device.traffic();
        let traffic = Traffic {
            to_bytes: after.to_bytes.saturating_sub(before.to_bytes),
            from_bytes: after.from_bytes.saturating_sub(before.from_bytes),
        };
        let device = if found.is_some() { name } else { "cpu".to_owned() };
        let (step, resident_bytes) = (String::new(), state.bytes());
        let step = SqlStep { step, device, reason, traffic, resident_bytes };
        Ok(Outcome { found, seconds, step })
    }

    /// Notes how long a job took with the device, and what followed on the processor.
    pub(crate) fn did(&self, job: &Result<Job, String>, table: &RecordBatch, seconds: f64) {
        let Ok(job) = job else { return };
        if let Some(times) = self.locked().device.get_mut(&job.kind(table)) {
            times.learn(table.num_rows(), seconds);
        }
    }

    /// Notes how long the processor took for a job.
    pub(crate) fn took(&self, job: &Result<Job, String>, table: &RecordBatch, since: Instant) {
        let rows = table.num_rows();
        // Of a small table, little of the time is that of its rows.
        let Some(job) = job.as_ref().ok().filter(|_| rows >= LEAST_ROWS) else { return };
        let (mut state, seconds) = (self.locked(), since.elapsed().as_secs_f64());
        state.spent += seconds;
        state.processor.entry(job.kind(table)).or_default().learn(rows, seconds);
    }

    /// Why no device is looked at yet, for a job over a table.
    fn too_early(&self, state: &State, job: &Job, table: &RecordBatch) -> Option<String> {
        if self.is_forced() {
            return None;
        }
        let steps = job.timed_steps();
        let times = state.processor.get(&job.kind(table)).filter(|times| times.steps >= steps);
        let Some(times) = times else {
            return Some(match steps {
                1 => "the first step of its kind is timed there".to_owned(),
                steps => format!("the first {steps} steps of its kind are timed there"),
            });
        };
        let seconds = times.all(table.num_rows());
        let estimated = || format!("estimated {} on the processor", quantity(seconds, "s"));
        if seconds < LEAST_SECONDS {
            return Some(format!("{}, too short for a GPU", estimated()));
        }
        let is_open = self.opened.get().is_some();
        (!is_open && state.spent + seconds < OPENING_SECONDS)
            .then(|| format!("{}, and too few such steps to open a GPU", estimated()))
    }

    /// Why the device takes less time; or, as an error inside, why the processor does.
    fn chosen(
        &self,
        state: &mut State,
        device: &dyn ColumnDevice,
        table: &KeptTable,
        job: &Job,
        finish: &Finish<'_>,
    ) -> Result<Result<String, String>, Stop> {
        let name = device.name();
        if device.is_software() {
            return Ok(Err(format!("{name} is the processor, too")));
        }
        let (kind, rows) = (job.kind(&table.rows), table.rows.num_rows());
        let on_processor = state.processor.get(&kind).copied().unwrap_or_default().all(rows);
        let told = |seconds: f64| quantity(seconds, "s");
        let has_room = |state: &State| {
            rows <= state.part_rows.unwrap_or(PART_ROWS)
                && Self::needed(table, job) <= self.most_bytes(device)
                && state.full.get(&kind).is_none_or(|&least| rows < least)
        };
        if job.is_whole() && !has_room(state) {
            return Ok(Err(format!("{name}: {WHOLE}, for which there is no room")));
        }
        let there = match state.device.get(&kind) {
            Some(times) => *times,
            None => {
                let measured = measured(device, &table.rows, job, finish);
                if job.is_whole() && matches!(measured, Err(Stop::Device(DeviceError::Full(_)))) {
                    state.filled(kind, rows);
                }
                let (times, byte) = measured?;
                state.byte = state.byte.or(byte);
                state.device.insert(kind, times);
                times
            }
        };
        let there = there.all(rows);
        let parts = parts(rows, state.part_rows.unwrap_or(PART_ROWS));
        let columns = job.columns();
        let bytes = |rows: &Range<usize>, at: usize| (rows.len() * width(&table.rows, at)) as u64;
        let pieces = || parts.iter().flat_map(|rows| columns.iter().map(move |&at| (rows, at)));
        let missing = pieces().filter(|(rows, at)| state.has(table.number, *at, rows).is_none());
        let missing: u64 = missing.map(|(rows, at)| bytes(rows, at)).sum();
        let copies = missing as f64 * state.byte.unwrap_or(0.0);
        let times =
            format!("estimated {} there and {} on the processor", told(there), told(on_processor));
        if missing == 0 {
            return Ok(match there < on_processor {
                true => Ok(format!("{times}; no copies, as the columns are there")),
                false => Err(format!("{name}: {times}")),
            });
        }
        let times = format!("{times}, and {} for copies", told(copies));
        if there + copies < on_processor {
            return Ok(Ok(times));
        }
        if there >= on_processor || Self::needed(table, job) > self.most_bytes(device) {
            return Ok(Err(format!("{name}: {times}")));
        }
        let missed = state.missed.entry(table.number).or_default();
        *missed += on_processor - there;
        if *missed < copies {
            let missed = told(*missed);
            return Ok(Err(format!(
                "{name}: {times}; statements so far would have saved {missed}"
            )));
        }
        let missed = told(std::mem::take(missed));
        Ok(Ok(format!("{times}, copied as statements so far would have saved {missed}")))
    }

    /// Does a job, in as few parts as there is room for.
    fn in_parts(
        &self,
        state: &mut State,
        device: &dyn ColumnDevice,
        table: &KeptTable,
        job: &Job,
        control: &Control,
    ) -> Result<Done, Stop> {
        let rows = table.rows.num_rows();
        loop {
            let part_rows = state.part_rows.unwrap_or(PART_ROWS);
            let parts = parts(rows, part_rows);
            let count = parts.len();
            if count > 1 && job.is_whole() {
                return Err(Stop::Device(DeviceError::Unsuitable(WHOLE.to_owned())));
            }
            let (begin, copied) = (Instant::now(), state.copied);
            let done = parts.into_iter().map(|part| {
                if control.check().is_err() {
                    let withdrawn = DataFusionError::External(Box::new(SqlError::Cancelled));
                    return Err(Stop::Statement(withdrawn));
                }
                let columns = self.columns(state, device, table, job, &part)?;
                Ok((part.start, job.done(device, &columns, part.len())?))
            });
            match done.collect::<Result<Vec<_>, Stop>>() {
                Ok(found) => {
                    let copied = state.copied - copied;
                    let seconds = begin.elapsed().as_secs_f64() - copied;
                    // Where columns are new, so is all other memory; those that do not stay always are.
                    let stays = Self::needed(table, job) <= self.most_bytes(device);
                    let seconds = (copied <= 0.0 || !stays).then_some(seconds);
                    return Ok(Done { found: merged(found), parts: count, seconds });
                }
                // Parts are of no use to it, and other steps still need their columns as they are.
                Err(Stop::Device(DeviceError::Full(why))) if job.is_whole() => {
                    device.release();
                    state.filled(job.kind(&table.rows), rows);
                    let why = DeviceError::Unsuitable(format!("{WHOLE}; {why}"));
                    return Err(Stop::Device(why));
                }
                // Half as many rows at a time need half of the room.
                Err(Stop::Device(DeviceError::Full(_))) if part_rows.min(rows) > LEAST_PART => {
                    state.entries.clear();
                    device.release();
                    state.part_rows = Some(part_rows.min(rows.next_power_of_two()) / 2);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Columns of a part of a table on the device for a job; those that are used least recently go for
    /// them, where all of them have room then.
    fn columns(
        &self,
        state: &mut State,
        device: &dyn ColumnDevice,
        table: &KeptTable,
        job: &Job,
        rows: &Range<usize>,
    ) -> Result<HashMap<usize, DeviceColumn>, DeviceError> {
        let columns = job.columns();
        let most = self.most_bytes(device);
        let bytes_of = |at: usize| (rows.len() * width(&table.rows, at)) as u64;
        let column =
            |at: usize| column(&table.rows, at).map(|all| all.slice(rows.start, rows.len()));
        if columns.iter().map(|&at| bytes_of(at)).sum::<u64>() > most {
            return Err(DeviceError::Full(format!(
                "no room for the columns of a step in {}",
                quantity(most as f64, "B")
            )));
        }
        let mut found = HashMap::new();
        // Those that are there come to the front, so that they do not go for the others.
        for &at in &columns {
            if let Some(place) = state.has(table.number, at, rows) {
                let entry = state.entries.remove(place);
                found.insert(at, entry.there.clone());
                state.entries.insert(0, entry);
            }
        }
        for &at in &columns {
            if found.contains_key(&at) {
                continue;
            }
            let bytes = bytes_of(at);
            let mut is_freed = false;
            while state.bytes() + bytes > most && state.entries.len() > found.len() {
                state.entries.pop();
                is_freed = true;
            }
            if is_freed {
                device.release();
            }
            let begin = Instant::now();
            let there = match copied(device, &column(at)?) {
                // Of others there may be too much on the device.
                Err(DeviceError::Full(_))
                    if state.entries.len() > found.len() && !job.is_whole() =>
                {
                    state.entries.truncate(found.len());
                    device.release();
                    copied(device, &column(at)?)?
                }
                other => other?,
            };
            let seconds = begin.elapsed().as_secs_f64();
            state.copied += seconds;
            if bytes >= TELLING_BYTES {
                state.byte = Some(seconds / bytes as f64);
            }
            let (table, column, rows) = (table.number, at, rows.clone());
            state.entries.insert(0, Entry { table, column, rows, there: there.clone() });
            found.insert(at, there);
        }
        Ok(found)
    }
}

/// Why an order of all rows is not done in parts.
const WHOLE: &str = "an order of all rows needs all of them at once";

fn in_words(reason: String, parts: usize) -> String {
    match parts {
        1 => reason,
        parts => format!("{reason}; in {parts} parts, as all do not fit"),
    }
}

fn parts(rows: usize, part_rows: usize) -> Vec<Range<usize>> {
    let begins = (0..rows).step_by(part_rows.max(1));
    begins.map(|begin| begin..rows.min(begin + part_rows)).collect()
}

/// Why a device cannot compute with a column.
fn unsuitable(table: &RecordBatch, at: usize) -> Option<String> {
    let schema = table.schema_ref();
    let (column, field) = (table.columns().get(at)?, schema.fields().get(at)?);
    let is_whole =
        matches!(column.data_type(), DataType::UInt16 | DataType::UInt32 | DataType::Int64);
    match (is_whole, column.null_count()) {
        (true, 0) => None,
        (true, _) => Some(format!("{} is NULL in some rows", field.name())),
        (false, _) => Some(format!("{} has no whole numbers", field.name())),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;
    use std::thread;
    use std::time::Duration;

    use parallax_columns::{Groups, Number, Values, Within};

    use super::super::samples::FEW;
    use super::super::{Operand, Share, What};
    use super::*;

    /// A device that has no columns, and for which all are in order.
    struct Empty;

    impl ColumnDevice for Empty {
        fn name(&self) -> String {
            "empty".to_owned()
        }

        fn is_software(&self) -> bool {
            false
        }

        fn memory_bytes(&self) -> Option<u64> {
            Some(1 << 30)
        }

        fn traffic(&self) -> Traffic {
            Traffic::default()
        }

        fn copy(&self, values: Values<'_>) -> Result<DeviceColumn, DeviceError> {
            Ok(DeviceColumn::new((), values.bytes()))
        }

        fn release(&self) {}

        fn count(&self, _: usize, _: &[Within<'_>]) -> Result<u64, DeviceError> {
            Ok(0)
        }

        fn group(
            &self,
            _: &[&DeviceColumn],
            _: &[Within<'_>],
            _: &[Number<'_>],
        ) -> Result<Vec<Groups>, DeviceError> {
            Ok(Vec::new())
        }

        fn first(
            &self,
            _: usize,
            order: &[(Number<'_>, bool)],
            _: &[Within<'_>],
        ) -> Result<Vec<u32>, DeviceError> {
            let Some((Number::Column(column), _)) = order.first() else { return Ok(Vec::new()) };
            Ok((0..u32::try_from(column.bytes() / 4).unwrap()).collect())
        }
    }

    #[test]
    fn a_device_is_timed_warm_and_with_what_the_processor_does_then() {
        let rows = 1_000_000;
        let memory = Arc::new(DeviceMemory::new(SqlDevice::auto(|| Ok(Arc::new(Empty)))));
        let table = crate::kept::tests::table(&memory, rows);
        let order = vec![(Operand::Column(0), false)];
        let what = What::All { order, columns: 1 };
        let job = Job { within: Vec::new(), share: Share::default(), what };
        let finished = RefCell::new(Vec::new());
        let finish = |found: JobResult| {
            let JobResult::Rows(rows) = found else { panic!("{found:?}") };
            finished.borrow_mut().push(rows);
            thread::sleep(Duration::from_millis(2));
            Ok(None)
        };
        let (times, _) = measured(&Empty, &table.rows, &job, &finish).unwrap();
        assert!(times.all(rows) >= 0.002, "{times:?}");
        let finished = finished.into_inner();
        let counts: Vec<usize> = finished.iter().map(Vec::len).collect();
        assert_eq!(counts, [FEW, FEW, FEW, 1 << 18, 1 << 18, 1 << 18]);
        // Rows of all of the table are collected.
        for rows in finished {
            let tenths: BTreeSet<u32> = rows.iter().map(|row| row / 100_000).collect();
            assert_eq!(tenths.into_iter().collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
        }
    }

    #[test]
    fn sorts_and_filters_follow_their_times() {
        let rows = 1_000_000;
        let memory = Arc::new(DeviceMemory::new(SqlDevice::auto(|| Ok(Arc::new(Empty)))));
        let table = crate::kept::tests::table(&memory, rows);
        let key = Operand::Column(0);
        let job = |within: &[(Operand, i64, i64)], order: &[(Operand, bool)], met: usize| {
            let what = What::All { order: order.to_vec(), columns: 1 };
            Job { within: within.to_vec(), share: Share::of(met, rows), what }
        };
        let sort = job(&[], &[(key, false)], rows);
        let (many, few) = (job(&[(key, 0, 9)], &[], rows), job(&[(key, 0, 9)], &[], 9));
        let jobs = [&sort, &many, &few];
        let times = |each: [f64; 3]| -> HashMap<Kind, Times> {
            let times = |row: f64| Times { row: row * 1e-9, ..Times::default() };
            let kinds = jobs.iter().map(|job| job.kind(&table.rows));
            kinds.zip(each.map(times)).collect()
        };
        let entry = |rows: Range<usize>| {
            let there = DeviceColumn::new((), 4 * rows.len() as u64);
            Entry { table: table.number, column: 0, rows, there }
        };
        let mut state = State {
            entries: vec![entry(0..rows)],
            processor: times([20.0, 9.0, 5.0]),
            device: times([8.0, 12.0, 1.0]),
            ..State::default()
        };
        let none = |_: JobResult| Ok(None);
        let chosen = |state: &mut State, job: &Job| {
            memory.chosen(state, &Empty, &table, job, &none).unwrap()
        };
        // Each by its own times.
        let why = chosen(&mut state, &sort).unwrap();
        assert!(why.starts_with("estimated 8.00 ms there and 20.0 ms on the processor"), "{why}");
        let why = chosen(&mut state, &many).unwrap_err();
        assert_eq!(why, "empty: estimated 12.0 ms there and 9.00 ms on the processor");
        chosen(&mut state, &few).unwrap();
        // A complete step says how long it takes, and so does one on the processor.
        let seen = |memory: &DeviceMemory, state: State| *memory.locked() = state;
        seen(&memory, state);
        memory.did(&Ok(sort.clone()), &table.rows, 0.021);
        let mut state = std::mem::take(&mut *memory.locked());
        let why = chosen(&mut state, &sort).unwrap_err();
        assert_eq!(why, "empty: estimated 21.0 ms there and 20.0 ms on the processor");
        state.processor = times([30.0, 9.0, 5.0]);
        chosen(&mut state, &sort).unwrap();
        // A sort that had no room is not tried again, until there is more; filters are done in parts.
        state.filled(sort.kind(&table.rows), rows);
        let why = chosen(&mut state, &sort).unwrap_err();
        assert!(why.ends_with("needs all of them at once, for which there is no room"), "{why}");
        state.part_rows = Some(rows / 2);
        state.entries = vec![entry(0..rows / 2), entry(rows / 2..rows)];
        chosen(&mut state, &few).unwrap();
        seen(&memory, state);
        memory.forget(table.number);
        assert!(memory.locked().full.is_empty());
    }

    #[test]
    fn columns_are_copied_once_statements_would_have_saved_the_time_for_it() {
        let rows = 1_000_000;
        let memory = Arc::new(DeviceMemory::new(SqlDevice::auto(|| Ok(Arc::new(Empty)))));
        let table = crate::kept::tests::table(&memory, rows);
        let within = vec![(Operand::Column(0), 0, 5)];
        let job = Job { within, share: Share::default(), what: What::Count };
        let none = |_: JobResult| Ok(None);
        let times = |row: f64| {
            HashMap::from([(job.kind(&table.rows), Times { row: row * 1e-9, ..Times::default() })])
        };
        let known = |processor: f64, device: f64, byte: f64| State {
            processor: times(processor),
            device: times(device),
            byte: Some(byte * 1e-9),
            ..State::default()
        };
        let chosen = |state: &mut State| {
            let chosen = memory.chosen(state, &Empty, &table, &job, &none);
            chosen.unwrap()
        };
        // 10 ms here, 1 ms there, and 25 ms for copies of 4 MB: the third statement copies.
        let mut state = known(10.0, 1.0, 6.25);
        for missed in ["9.00 ms", "18.0 ms"] {
            let why = chosen(&mut state).unwrap_err();
            assert!(why.contains(&format!("would have saved {missed}")), "{why}");
        }
        let why = chosen(&mut state).unwrap();
        assert!(why.contains("copied as statements so far would have saved 27.0 ms"), "{why}");
        // Once they are there, nothing is copied.
        let there = DeviceColumn::new((), 4 * rows as u64);
        let entry = Entry { table: table.number, column: 0, rows: 0..rows, there };
        state.entries.push(entry);
        assert!(chosen(&mut state).unwrap().contains("the columns are there"));
        // A device that is slower is not chosen though they are there, ...
        state.device = times(11.0);
        assert!(chosen(&mut state).unwrap_err().starts_with("empty: estimated"));
        // ... and is never worth copies.
        let mut slow = known(10.0, 11.0, 0.0);
        for _ in 0..9 {
            chosen(&mut slow).unwrap_err();
        }
        // Copies that pay at once.
        assert!(chosen(&mut known(10.0, 1.0, 0.5)).unwrap().contains("for copies"));
        // What has no room to stay is copied each time, and has to pay each time.
        let small = SqlDevice::auto(|| Ok(Arc::new(Empty))).keeping(Some(1000));
        let memory = DeviceMemory::new(small);
        let mut state = known(10.0, 1.0, 6.25);
        for _ in 0..9 {
            let chosen = memory.chosen(&mut state, &Empty, &table, &job, &none);
            assert!(chosen.unwrap().is_err());
        }
    }
}
