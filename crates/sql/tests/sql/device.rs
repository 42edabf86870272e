//! Steps of statements on a device give what they give on the processor, and columns stay there. The
//! device here is a slow one made of loops, which can run out of memory and fail.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use parallax_base::Control;
use parallax_columns::{
    ColumnDevice, DeviceColumn, DeviceError, Groups, Moments, Number, Traffic, Values, Within,
};
use parallax_service::OpenExperiment;
use parallax_sql::{SqlAnswer, SqlDevice, SqlEngine, SqlLimits, SqlSession, SqlStatement, SqlStep};
use parallax_testkit::hpctoolkit::generate::{GenerateOptions, generate};

use crate::common::{fixture, opened, rows};

/// A device of loops.
#[derive(Default)]
struct Loops {
    to: AtomicU64,
    from: AtomicU64,
    /// Bytes of the columns that are there.
    held: Arc<AtomicU64>,
    most_held: AtomicU64,
    /// Bytes that there is room for.
    room: Option<u64>,
    /// So many rows can be put in order at most.
    most_ordered: Option<usize>,
    is_broken: AtomicBool,
    is_software: bool,
    /// Puts columns in order when they are copied, so that orders and ranges of one column are there.
    is_fast: bool,
    /// Waits so long before it finds rows.
    pause: Duration,
    /// What was done.
    done: Mutex<Vec<&'static str>>,
}

struct Held {
    values: Vec<i64>,
    /// Numbers of the rows in order, of a fast device.
    order: Vec<u32>,
    bytes: u64,
    held: Arc<AtomicU64>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

fn number(number: Number<'_>, row: usize) -> i64 {
    let value = |column: &DeviceColumn| column.get::<Held>().unwrap().values[row];
    match number {
        Number::Column(column) => value(column),
        Number::Difference(from, less) => value(from).wrapping_sub(value(less)),
    }
}

fn len(number: Number<'_>) -> usize {
    let (Number::Column(column) | Number::Difference(column, _)) = number;
    column.get::<Held>().unwrap().values.len()
}

fn met(rows: usize, within: &[Within<'_>]) -> Vec<usize> {
    let is_met = |row: &usize| {
        within.iter().all(|one| (one.low..=one.high).contains(&number(one.number, *row)))
    };
    (0..rows).filter(is_met).collect()
}

impl Loops {
    fn with_room(room: u64) -> Self {
        Self { room: Some(room), ..Self::default() }
    }

    fn does(&self, what: &'static str) -> Result<(), DeviceError> {
        self.done.lock().unwrap().push(what);
        match self.is_broken.load(Ordering::Relaxed) {
            true => Err(DeviceError::Failed("a fuse has blown".to_owned())),
            false => Ok(()),
        }
    }
}

impl ColumnDevice for Loops {
    fn name(&self) -> String {
        "loops".to_owned()
    }

    fn is_software(&self) -> bool {
        self.is_software
    }

    fn memory_bytes(&self) -> Option<u64> {
        self.room
    }

    fn traffic(&self) -> Traffic {
        let [to_bytes, from_bytes] =
            [&self.to, &self.from].map(|bytes| bytes.load(Ordering::Relaxed));
        Traffic { to_bytes, from_bytes }
    }

    fn copy(&self, values: Values<'_>) -> Result<DeviceColumn, DeviceError> {
        self.does("copy")?;
        let bytes = values.bytes();
        let held = self.held.load(Ordering::Relaxed) + bytes;
        if self.room.is_some_and(|room| held > room) {
            return Err(DeviceError::Full("no more room".to_owned()));
        }
        self.held.fetch_add(bytes, Ordering::Relaxed);
        self.most_held.fetch_max(held, Ordering::Relaxed);
        self.to.fetch_add(bytes, Ordering::Relaxed);
        let values = match values {
            Values::Narrow(values) => values.iter().map(|&value| value.into()).collect(),
            Values::Wide(values) => values.to_vec(),
        };
        let mut order = Vec::new();
        if self.is_fast {
            order.extend(0..u32::try_from(values.len()).unwrap());
            order.sort_by_key(|&row| values[row as usize]);
        }
        let held = Held { values, order, bytes, held: Arc::clone(&self.held) };
        Ok(DeviceColumn::new(held, bytes))
    }

    fn release(&self) {}

    fn count(&self, rows: usize, within: &[Within<'_>]) -> Result<u64, DeviceError> {
        self.does("count")?;
        self.from.fetch_add(4, Ordering::Relaxed);
        Ok(met(rows, within).len() as u64)
    }

    fn group(
        &self,
        keys: &[&DeviceColumn],
        within: &[Within<'_>],
        values: &[Number<'_>],
    ) -> Result<Vec<Groups>, DeviceError> {
        self.does("group")?;
        let keys: Vec<Number<'_>> = keys.iter().map(|&key| Number::Column(key)).collect();
        let rows = met(len(keys[0]), within);
        let of = |&value: &Number<'_>| {
            let mut groups = BTreeMap::<Vec<u32>, Moments>::new();
            for &row in &rows {
                let key = keys.iter().map(|&key| u32::try_from(number(key, row)).unwrap());
                let value = u64::try_from(number(value, row));
                let value = value.map_err(|_| DeviceError::Unsuitable("negative".to_owned()))?;
                groups.entry(key.collect()).or_insert(Moments::NONE).push(value);
            }
            self.from.fetch_add(groups.len() as u64 * 52, Ordering::Relaxed);
            let has_major = keys.len() == 2;
            Ok(Groups {
                minor: groups.keys().map(|key| *key.last().unwrap()).collect(),
                major: groups.keys().filter(|_| has_major).map(|key| key[0]).collect(),
                moments: groups.into_values().collect(),
            })
        };
        values.iter().map(of).collect()
    }

    fn first(
        &self,
        most: usize,
        order: &[(Number<'_>, bool)],
        within: &[Within<'_>],
    ) -> Result<Vec<u32>, DeviceError> {
        self.does("first")?;
        std::thread::sleep(self.pause);
        if let (true, [(Number::Column(column), false)], []) = (self.is_fast, order, within) {
            let order = &column.get::<Held>().unwrap().order;
            if self.most_ordered.is_some_and(|most| order.len() > most) {
                return Err(DeviceError::Full("no more room".to_owned()));
            }
            return Ok(order[..most.min(order.len())].to_vec());
        }
        let of = order.first().map(|(of, _)| *of);
        let of = of.or(within.first().map(|one| one.number));
        let mut rows = met(len(of.unwrap()), within);
        if self.most_ordered.is_some_and(|most| rows.len() > most) {
            return Err(DeviceError::Full("no more room".to_owned()));
        }
        rows.sort_by_cached_key(|&row| -> Vec<i128> {
            let key = |&(of, descends): &(Number<'_>, bool)| {
                let key = i128::from(number(of, row));
                if descends { -key } else { key }
            };
            order.iter().map(key).collect()
        });
        rows.truncate(most);
        self.from.fetch_add(rows.len() as u64 * 4, Ordering::Relaxed);
        Ok(rows.into_iter().map(|row| u32::try_from(row).unwrap()).collect())
    }
}

/// Statements with a step that a device does.
const STATEMENTS: &[&str] = &[
    "SELECT context_id, count(*), sum(d), min(d), max(d), avg(d), var_pop(d) FROM
     (SELECT context_id, end_ns - start_ns AS d FROM {table} AS t) AS s GROUP BY context_id",
    "SELECT profile_id, context_id, count(*) AS n, max(end_ns), sum(context_id) FROM {table} AS t
     GROUP BY profile_id, context_id",
    "SELECT profile_id, stddev_pop(end_ns - start_ns) FROM {table} AS t
     WHERE context_id > 1 AND end_ns - start_ns >= 1000 GROUP BY 1",
    "SELECT context_id, count(*) FROM {table} AS t WHERE end_ns - start_ns < 0 GROUP BY context_id",
    "SELECT count(*) FROM {table} AS t WHERE end_ns - start_ns >= 4000 AND context_id < 90",
    "SELECT count(*) AS n, count(1) FROM {table} AS t WHERE end_ns - start_ns < 0",
    "SELECT end_ns - start_ns AS d, start_ns FROM {table} AS t ORDER BY d DESC, start_ns LIMIT 9",
    "SELECT profile_id + 1 AS p, end_ns FROM {table} AS t WHERE context_id > 3
     ORDER BY end_ns DESC, profile_id LIMIT 12",
    "SELECT * FROM {table} AS t WHERE end_ns - start_ns < 0 ORDER BY end_ns, profile_id LIMIT 5",
    "SELECT start_ns, profile_id FROM {table} AS t ORDER BY start_ns, profile_id LIMIT 3 OFFSET 4",
    // All rows.
    "SELECT * FROM {table} AS t WHERE end_ns - start_ns >= 2000 AND context_id > 2",
    "SELECT end_ns, profile_id + 1 AS p FROM {table} AS t WHERE end_ns - start_ns < 0",
    "SELECT * FROM {table} AS t ORDER BY context_id DESC, start_ns, profile_id",
];

/// A database with so many samples of each rank.
fn traced(ranks: u32, samples: u32) -> (tempfile::TempDir, Arc<OpenExperiment>) {
    let folder = tempfile::tempdir().unwrap();
    let options = GenerateOptions {
        ranks,
        contexts: 100,
        values_per_rank: 20,
        trace_samples: samples,
        elided: false,
        ..GenerateOptions::default()
    };
    generate(folder.path(), &options, |_, _, _| ()).unwrap();
    let experiment = opened(folder.path());
    (folder, experiment)
}

fn with(opened: &Arc<OpenExperiment>, device: SqlDevice) -> SqlSession {
    let limits = SqlLimits { kept_bytes: Some(1 << 30), ..SqlLimits::default() };
    Arc::new(SqlEngine::on_device(limits, device).unwrap()).session(Arc::clone(opened))
}

fn forced(opened: &Arc<OpenExperiment>, device: &Arc<Loops>) -> SqlSession {
    with(opened, SqlDevice::forced(Arc::clone(device) as Arc<dyn ColumnDevice>))
}

fn run(session: &SqlSession, statement: &str) -> SqlAnswer {
    let parsed = SqlStatement::only(statement).unwrap();
    session.run(parsed, &Control::new()).unwrap_or_else(|error| panic!("{error}\n{statement}"))
}

/// The table comes to memory, as it does when a second statement reads all of it.
fn load(session: &SqlSession, table: &str) {
    for _ in 0..2 {
        let read = run(session, &format!("SELECT min(start_ns), max(end_ns) FROM {table}"));
        assert!(read.steps.is_empty(), "{:?}", read.steps);
    }
}

/// The only step.
fn step(answer: &SqlAnswer) -> &SqlStep {
    assert_eq!(answer.steps.len(), 1, "{:?}", answer.steps);
    &answer.steps[0]
}

/// The rows, in an order that does not depend on who computed them.
fn comparable(answer: &SqlAnswer, statement: &str) -> Vec<Vec<String>> {
    let mut found = rows(&answer.table);
    if !statement.contains("ORDER BY") {
        found.sort_unstable();
    }
    found
}

fn compare(opened: &Arc<OpenExperiment>, table: &str) {
    let processor = with(opened, SqlDevice::processor());
    let from_files = SqlSession::new(
        Arc::clone(opened),
        SqlLimits { kept_bytes: Some(0), ..SqlLimits::default() },
    );
    let from_files = from_files.unwrap();
    // With room for all, and in parts.
    let large = Arc::new(Loops::default());
    let rows = rows(&run(&from_files, &format!("SELECT count(*) FROM {table}")).table);
    let bytes: u64 = rows[0][0].parse::<u64>().unwrap() * 24;
    let small = Arc::new(Loops::with_room(bytes * 2 / 3));
    for session in [&processor, &forced(opened, &large), &forced(opened, &small)] {
        load(session, table);
        for statement in STATEMENTS {
            let statement = statement.replace("{table}", table);
            let expected = comparable(&run(&processor, &statement), &statement);
            // Of variances only sums of whole numbers have all digits.
            if !statement.contains("var_pop") && !statement.contains("stddev_pop") {
                assert!(
                    expected == comparable(&run(&from_files, &statement), &statement),
                    "{statement}"
                );
            }
            let found = run(session, &statement);
            assert!(comparable(&found, &statement) == expected, "{statement}");
        }
    }
    for device in [&large, &small] {
        let done = device.done.lock().unwrap();
        for what in ["group", "count", "first"] {
            assert!(done.contains(&what), "{what}: {done:?}");
        }
    }
}

#[test]
fn statements_about_samples_are_the_same_on_a_device() {
    // More rows than a part has at least.
    let (_folder, opened) = traced(12, 20_000);
    compare(&opened, "samples");
}

#[test]
fn statements_about_calls_are_the_same_on_a_device() {
    let opened = opened(&fixture("otf2/all-records"));
    let processor = with(&opened, SqlDevice::processor());
    let device = Arc::new(Loops::default());
    let session = forced(&opened, &device);
    for session in [&processor, &session] {
        load(session, "trace_events");
    }
    for statement in STATEMENTS {
        let statement = statement.replace("{table}", "trace_events");
        let (found, expected) = (run(&session, &statement), run(&processor, &statement));
        assert!(comparable(&found, &statement) == comparable(&expected, &statement), "{statement}");
        assert_eq!(found.steps.len(), 1, "{statement}");
        assert_eq!(step(&found).device, "loops", "{statement}");
    }
}

#[test]
fn columns_are_copied_once() {
    let (_folder, opened) = traced(6, 1000);
    let device = Arc::new(Loops::default());
    let session = forced(&opened, &device);
    load(&session, "samples");
    let count = rows(&run(&session, "SELECT count(*) FROM samples").table);
    let count: u64 = count[0][0].parse().unwrap();
    let by_context = "SELECT context_id, sum(end_ns - start_ns) FROM samples GROUP BY context_id";
    let first = run(&session, by_context);
    let SqlStep { step: name, device: on, reason, traffic, resident_bytes } = step(&first);
    assert_eq!((&**name, &**on, &**reason), ("group of samples", "loops", "it was asked for"));
    assert_eq!((traffic.to_bytes, *resident_bytes), (count * 20, count * 20));
    assert!(traffic.from_bytes > 0);
    let second = run(&session, by_context);
    assert_eq!((step(&second).traffic.to_bytes, step(&second).resident_bytes), (0, count * 20));
    assert_eq!(rows(&second.table), rows(&first.table));
    // Another step with the same columns, and one that needs one more.
    let longest = "SELECT * FROM samples ORDER BY end_ns - start_ns DESC LIMIT 3";
    assert_eq!(step(&run(&session, longest)).traffic.to_bytes, 0);
    let by_profile = "SELECT profile_id, max(end_ns) FROM samples GROUP BY profile_id";
    let third = run(&session, by_profile);
    assert_eq!(
        (step(&third).traffic.to_bytes, step(&third).resident_bytes),
        (count * 4, count * 24)
    );
    assert_eq!(device.held.load(Ordering::Relaxed), count * 24);
}

#[test]
fn columns_go_with_their_table() {
    let (_folder, one) = traced(4, 800);
    let (_other, other) = traced(3, 700);
    let device = Arc::new(Loops::default());
    let on = SqlDevice::forced(Arc::clone(&device) as Arc<dyn ColumnDevice>);
    let engine = Arc::new(SqlEngine::on_device(SqlLimits::default(), on).unwrap());
    let session = engine.session(Arc::clone(&one));
    load(&session, "samples");
    let count = "SELECT count(*) FROM samples WHERE context_id > 1";
    assert_eq!(step(&run(&session, count)).device, "loops");
    assert!(device.held.load(Ordering::Relaxed) > 0);
    // The next statement of the engine is about another database.
    drop(session);
    drop(one);
    assert!(run(&engine.session(other), count).steps.is_empty());
    assert_eq!(device.held.load(Ordering::Relaxed), 0);
}

#[test]
fn columns_that_are_used_least_recently_go() {
    let (_folder, opened) = traced(12, 20_000);
    let device = Arc::new(Loops::default());
    let count =
        rows(&run(&with(&opened, SqlDevice::processor()), "SELECT count(*) FROM samples").table);
    let count: u64 = count[0][0].parse().unwrap();
    // Room for two wide columns and a narrow one.
    let on = SqlDevice::forced(Arc::clone(&device) as Arc<dyn ColumnDevice>);
    let session = with(&opened, on.keeping(Some(count * 20)));
    load(&session, "samples");
    let copied = |statement: &str| {
        let answer = run(&session, statement);
        assert_eq!(step(&answer).device, "loops", "{}", step(&answer).reason);
        assert!(step(&answer).resident_bytes <= count * 20);
        step(&answer).traffic.to_bytes / count
    };
    let by_context = "SELECT context_id, sum(end_ns - start_ns) FROM samples GROUP BY context_id";
    let by_profile = "SELECT profile_id, max(end_ns) FROM samples GROUP BY profile_id";
    assert_eq!(copied(by_context), 20);
    assert_eq!(copied(by_context), 0);
    // The other key goes, and times stay.
    assert_eq!(copied(by_profile), 4);
    assert_eq!(copied(by_context), 4);
    assert_eq!(copied(by_context), 0);
    assert!(device.most_held.load(Ordering::Relaxed) <= count * 20);
    // A table that has no room in one part is done in several, which are copied each time.
    let on = SqlDevice::forced(Arc::new(Loops::default()));
    let session = with(&opened, on.keeping(Some(count * 10)));
    load(&session, "samples");
    let expected = comparable(&run(&with(&opened, SqlDevice::processor()), by_context), by_context);
    for _ in 0..2 {
        let found = run(&session, by_context);
        assert!(comparable(&found, by_context) == expected);
        let SqlStep { device, reason, resident_bytes, .. } = step(&found);
        assert_eq!(device, "loops", "{reason}");
        assert!(reason.contains("parts, as all do not fit"), "{reason}");
        assert!(*resident_bytes <= count * 10);
    }
    // Where there is no room for anything, the processor does it and says why.
    let on = SqlDevice::forced(Arc::new(Loops::default()));
    let session = with(&opened, on.keeping(Some(1000)));
    load(&session, "samples");
    let found = run(&session, by_context);
    assert!(comparable(&found, by_context) == expected);
    assert_eq!(step(&found).device, "cpu");
    assert!(step(&found).reason.contains("no room"), "{}", step(&found).reason);
}

#[test]
fn a_sort_that_has_no_room_leaves_columns_where_they_are() {
    let (_folder, opened) = traced(12, 20_000);
    let processor = with(&opened, SqlDevice::processor());
    let count = rows(&run(&processor, "SELECT count(*) FROM samples").table);
    let count: u64 = count[0][0].parse().unwrap();
    let by_profile = "SELECT profile_id, sum(end_ns - start_ns) FROM samples GROUP BY profile_id";
    let expected = comparable(&run(&processor, by_profile), by_profile);
    let all = "SELECT * FROM samples ORDER BY";
    let few = Loops { most_ordered: Some(70_000), ..Loops::default() };
    for (device, most_bytes, sort) in [
        // No room for what comes in between, for one more column, and for all columns.
        (few, None, format!("{all} end_ns, start_ns")),
        (Loops::with_room(count * 21), Some(1 << 30), format!("{all} context_id")),
        (
            Loops::default(),
            Some(count * 20),
            format!("{all} end_ns, start_ns, context_id, profile_id"),
        ),
    ] {
        let on = SqlDevice::forced(Arc::new(device) as Arc<dyn ColumnDevice>);
        let session = with(&opened, on.keeping(most_bytes));
        load(&session, "samples");
        run(&session, by_profile);
        let sorted = run(&session, &sort);
        let SqlStep { step: name, device, reason, resident_bytes, .. } = step(&sorted);
        assert_eq!((&**name, &**device), ("sort of samples", "cpu"));
        assert!(reason.contains("an order of all rows needs all of them at once"), "{reason}");
        assert_eq!(*resident_bytes, count * 20);
        assert!(rows(&sorted.table) == rows(&run(&processor, &sort).table), "{sort}");
        // They are there for the next step, which is not done in parts either.
        let found = run(&session, by_profile);
        assert!(comparable(&found, by_profile) == expected);
        let SqlStep { device, reason, traffic, .. } = step(&found);
        assert_eq!((&**device, &**reason), ("loops", "it was asked for"));
        assert_eq!(traffic.to_bytes, 0, "{sort}");
    }
}

#[test]
fn a_device_that_fails_is_left_and_the_reason_told() {
    let (_folder, opened) = traced(4, 800);
    let device = Arc::new(Loops::default());
    let session = forced(&opened, &device);
    load(&session, "samples");
    let by_context = "SELECT context_id, count(*) FROM samples GROUP BY context_id";
    let expected = run(&session, by_context);
    assert_eq!(step(&expected).device, "loops");
    device.is_broken.store(true, Ordering::Relaxed);
    for _ in 0..2 {
        let found = run(&session, by_context);
        assert_eq!(comparable(&found, by_context), comparable(&expected, by_context));
        let SqlStep { device, reason, resident_bytes, .. } = step(&found);
        assert_eq!((&**device, &**reason), ("cpu", "loops: a fuse has blown"));
        assert_eq!(*resident_bytes, 0);
    }
    // It is asked once.
    let asked = device.done.lock().unwrap().iter().filter(|what| **what == "group").count();
    assert_eq!(asked, 2);
}

#[test]
fn what_a_device_does_not_do_stays_on_the_processor() {
    let (_folder, opened) = traced(4, 800);
    let device = Arc::new(Loops::default());
    let (session, processor) = (forced(&opened, &device), with(&opened, SqlDevice::processor()));
    for session in [&session, &processor] {
        load(session, "samples");
    }
    for (statement, why) in [
        ("SELECT end_ns, context_id FROM samples", "all rows are the result"),
        (
            "SELECT s.start_ns, c.depth FROM samples AS s JOIN contexts AS c USING (context_id)",
            "all rows are the result",
        ),
        (
            "SELECT context_id, count(*) FROM samples WHERE context_id % 2 = 1 GROUP BY 1",
            "a condition is evaluated on the CPU only",
        ),
        (
            "SELECT context_id, sum(2 * end_ns) FROM samples GROUP BY 1",
            "a value is computed on the CPU only",
        ),
        ("SELECT context_id, sum(start_ns - end_ns) FROM samples GROUP BY 1", "loops: negative"),
    ] {
        let found = run(&session, statement);
        assert_eq!((&*step(&found).device, &*step(&found).reason), ("cpu", why), "{statement}");
        let expected = run(&processor, statement);
        assert!(expected.steps.is_empty(), "{:?}", expected.steps);
        assert!(comparable(&found, statement) == comparable(&expected, statement), "{statement}");
    }
    // Values that are NULL in some rows.
    let statement = "SELECT context_id, sum(nullif(profile_id, 3)) FROM samples GROUP BY 1";
    let (found, expected) = (run(&session, statement), run(&processor, statement));
    assert!(comparable(&found, statement) == comparable(&expected, statement));
    assert_eq!(step(&found).device, "cpu");
}

#[test]
fn first_rows_of_a_table_in_parts_are_found_on_a_device() {
    // Parts have 262,144 rows or more, and what is computed comes between them and their order.
    let (_folder, opened) = traced(30, 20_000);
    let device = Arc::new(Loops::default());
    let session = forced(&opened, &device);
    load(&session, "samples");
    for statement in [
        "SELECT context_id, start_ns FROM samples WHERE context_id > 50
         ORDER BY start_ns DESC, profile_id LIMIT 20",
        "SELECT end_ns - start_ns AS d, start_ns FROM samples ORDER BY d DESC, start_ns LIMIT 20",
    ] {
        let found = run(&session, statement);
        assert_eq!(found.steps.len(), 1, "{statement}");
        assert_eq!(step(&found).device, "loops");
        let expected = run(&with(&opened, SqlDevice::processor()), statement);
        assert_eq!(rows(&found.table), rows(&expected.table), "{statement}");
    }
}

#[test]
fn explain_says_where_steps_run() {
    let (_folder, opened) = traced(4, 800);
    let device = Arc::new(Loops::default());
    let session = forced(&opened, &device);
    let plan = |session: &SqlSession, how: &str, statement: &str| {
        rows(&run(session, &format!("{how} {statement}")).table).concat().join("\n")
    };
    let group = "SELECT context_id, count(*) FROM samples GROUP BY context_id";
    let planned = plan(&session, "EXPLAIN", group);
    assert!(planned.contains("InMemory: group of samples, device=\"loops\"\n"), "{planned}");
    load(&session, "samples");
    for (statement, name) in [
        (group, "group"),
        ("SELECT count(*) FROM samples WHERE context_id > 5", "count"),
        ("SELECT * FROM samples ORDER BY end_ns LIMIT 2", "first rows"),
    ] {
        let ran = plan(&session, "EXPLAIN ANALYZE", statement);
        let expected = format!(
            "InMemory: {name} of samples, ran=from_memory, device=\"loops\", \
             reason=\"it was asked for\""
        );
        assert!(ran.contains(&expected), "{ran}");
    }
    let all = "SELECT end_ns FROM samples";
    let ran = plan(&session, "EXPLAIN ANALYZE", all);
    let expected = "ran=from_memory, device=\"cpu\", reason=\"all rows are the result\"";
    assert!(ran.contains(expected), "{ran}");
    assert!(plan(&session, "EXPLAIN", all).contains("rows of samples, device=\"cpu\"\n"));
    // Without a device nothing is said of it, and the steps are the same.
    let session = with(&opened, SqlDevice::processor());
    load(&session, "samples");
    for (statement, name) in [
        (group, "group"),
        ("SELECT * FROM samples ORDER BY end_ns LIMIT 2", "first rows"),
        ("SELECT count(*) FROM samples WHERE context_id > 5", "count"),
    ] {
        let ran = plan(&session, "EXPLAIN ANALYZE", statement);
        let expected = format!("InMemory: {name} of samples, ran=from_memory, metrics");
        assert!(ran.contains(&expected) && !ran.contains("device="), "{ran}");
    }
}

#[test]
fn times_decide_where_nothing_is_asked_for() {
    // Few rows: the device is not even opened.
    let (_folder, few) = traced(4, 800);
    let session = with(&few, SqlDevice::auto(|| panic!("it is not opened")));
    load(&session, "samples");
    let all = run(&session, "SELECT * FROM samples WHERE end_ns - start_ns > 5");
    assert_eq!(step(&all).reason, "too few rows for a GPU");
    let sorted = run(&session, "SELECT * FROM samples ORDER BY end_ns");
    assert_eq!(step(&sorted).reason, "too few rows for a GPU");
    let by_context = "SELECT context_id, count(*) FROM samples GROUP BY context_id";
    assert_eq!(step(&run(&session, by_context)).reason, "too few rows for a GPU");
    // Rows with equal keys keep the order of the table, on the processor and on a device.
    for order in ["context_id", "context_id DESC", "context_id DESC, end_ns"] {
        for condition in ["", "WHERE end_ns - start_ns > 2000"] {
            let all = format!("SELECT * FROM samples {condition} ORDER BY {order}");
            let expected = rows(&run(&session, &all).table)[..150].to_vec();
            let first = format!("{all} LIMIT 150");
            let here = run(&session, &first);
            assert_eq!(step(&here).step, "first rows of samples");
            assert!(rows(&here.table) == expected, "{first}");
            let device = forced(&few, &Arc::default());
            load(&device, "samples");
            assert!(rows(&run(&device, &first).table) == expected, "{first}");
        }
    }
    let count = "SELECT count(*) FROM samples WHERE end_ns - start_ns > 2000";
    let counted = run(&session, count);
    assert_eq!(step(&counted).step, "count of samples");
    let expected = rows(&run(&with(&few, SqlDevice::processor()), count).table);
    assert_eq!(rows(&counted.table), expected);
    let (_folder, many) = traced(40, 14_000);
    let expected = comparable(&run(&with(&many, SqlDevice::processor()), by_context), by_context);
    // The reasons of one statement after the other, until something is known of the device.
    let until = |session: &SqlSession| {
        load(session, "samples");
        let first = run(session, by_context);
        assert_eq!(step(&first).reason, "the first step of its kind is timed there");
        for _ in 0..2000 {
            let found = run(session, by_context);
            assert!(comparable(&found, by_context) == expected);
            let SqlStep { device, reason, .. } = step(&found);
            assert_eq!(device, "cpu", "{reason}");
            if !reason.contains("too few such steps") && !reason.contains("too short") {
                return reason.clone();
            }
        }
        panic!("no device is ever opened");
    };
    let reason = |device: Loops| {
        let device = Arc::new(device);
        let shared = Arc::clone(&device);
        let session =
            with(&many, SqlDevice::auto(move || Ok(Arc::clone(&shared) as Arc<dyn ColumnDevice>)));
        until(&session)
    };
    // A device that is the processor is never chosen, and neither is a slow one.
    let software = Loops { is_software: true, ..Loops::default() };
    assert_eq!(reason(software), "loops is the processor, too");
    let slow = reason(Loops::default());
    assert!(slow.starts_with("loops: estimated") && slow.contains("on the processor"), "{slow}");
    let session = with(&many, SqlDevice::auto(|| Err("there is no GPU".to_owned())));
    assert_eq!(until(&session), "there is no GPU");
}

#[test]
fn sorts_and_filters_run_where_they_take_less_time() {
    let (_folder, opened) = traced(40, 14_000);
    let sort = "SELECT * FROM samples ORDER BY end_ns";
    let filter = "SELECT * FROM samples WHERE end_ns - start_ns >= 2000";
    let processor = with(&opened, SqlDevice::processor());
    load(&processor, "samples");
    let [sorted, filtered] = [sort, filter].map(|statement| run(&processor, statement).table);
    let auto = |device: &Arc<Loops>| {
        let device = Arc::clone(device);
        with(&opened, SqlDevice::auto(move || Ok(Arc::clone(&device) as Arc<dyn ColumnDevice>)))
    };
    // The same rows one statement after the other, until a step is as wanted. Other programs may make
    // a time much longer than it is, so there is an end to that.
    let until = |session: &SqlSession, statement: &str, is_wanted: &dyn Fn(&SqlStep) -> bool| {
        let expected = if statement == sort { &sorted } else { &filtered };
        for _ in 0..30 {
            let found = run(session, statement);
            let columns = found.table.columns.iter().zip(&expected.columns);
            assert!(columns.clone().count() == 4);
            for (found, expected) in columns {
                assert!(*found.values == *expected.values, "{statement}");
            }
            let step = step(&found);
            if is_wanted(step) {
                return Some(step.reason.clone());
            }
            assert_eq!(step.device, "cpu", "{}", step.reason);
        }
        None
    };
    let is_sorted = |device: &dyn Fn() -> Loops, is_wanted: &dyn Fn(&SqlStep) -> bool| {
        let sorted = (0..20).find_map(|_| {
            let device = Arc::new(device());
            let session = auto(&device);
            load(&session, "samples");
            Some((until(&session, sort, is_wanted)?, session, device))
        });
        sorted.expect("times are never as they should be")
    };
    let is_slow =
        |step: &SqlStep| step.device == "cpu" && step.reason.starts_with("loops: estimated");

    // A slow device: the first two steps are timed on the processor, and others stay there.
    let pause = Duration::from_millis(200);
    let device = Arc::new(Loops { pause, ..Loops::default() });
    let session = auto(&device);
    load(&session, "samples");
    for statement in [sort, filter] {
        for _ in 0..2 {
            let first = until(&session, statement, &|_| true);
            let first =
                first.is_some_and(|why| why == "the first 2 steps of its kind are timed there");
            assert!(first, "{statement}");
        }
    }
    assert!(until(&session, sort, &is_slow).is_some());
    let is_short = |step: &SqlStep| step.reason.ends_with("too short for a GPU");
    assert!(until(&session, filter, &|step| is_slow(step) || is_short(step)).is_some());

    // A fast one, which has the columns in the end.
    let fast = || Loops { is_fast: true, ..Loops::default() };
    let (copied, session, _) = is_sorted(&fast, &|step| step.device == "loops");
    assert!(copied.starts_with("estimated") && copied.contains("cop"), "{copied}");
    let there = |step: &SqlStep| step.reason.ends_with("no copies, as the columns are there");
    assert!(until(&session, sort, &there).is_some());
    let ran = rows(&run(&session, &format!("EXPLAIN ANALYZE {sort}")).table).concat().join("\n");
    assert!(ran.contains("InMemory: sort of samples, ran=from_memory, device="), "{ran}");
    assert!(ran.contains("reason=\"") && ran.contains(" on the processor"), "{ran}");
    let plan = rows(&run(&session, &format!("EXPLAIN {filter}")).table).concat().join("\n");
    assert!(plan.contains("rows of samples, device=\"auto\""), "{plan}");

    // One that has no room for the order of all rows is asked for it once.
    let few = || Loops { most_ordered: Some(300_000), ..fast() };
    let is_whole = |step: &SqlStep| step.reason.contains("needs all of them at once");
    let (_, session, device) = is_sorted(&few, &is_whole);
    let asked = device.done.lock().unwrap().len();
    let why = until(&session, sort, &|_| true);
    assert!(why.is_some_and(|why| why.ends_with("for which there is no room")));
    assert_eq!(device.done.lock().unwrap().len(), asked);

    // One that fails.
    let device = Arc::new(Loops::default());
    device.is_broken.store(true, Ordering::Relaxed);
    let session = auto(&device);
    load(&session, "samples");
    let is_broken = |step: &SqlStep| step.reason == "loops: a fuse has blown";
    assert!(until(&session, sort, &is_broken).is_some());
    let asked = device.done.lock().unwrap().len();
    assert!(until(&session, sort, &|_| true).is_some());
    assert_eq!(device.done.lock().unwrap().len(), asked);
}
