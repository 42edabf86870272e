//! A statement reads the part of the files that it needs.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parallax_base::{
    ByteSource, Control, Folder, FolderEntry, Limits, ReadError, Source, TimeWindow, read_range,
};
use parallax_native::DiskFolder;
use parallax_service::{OpenExperiment, open};
use parallax_testkit::hpctoolkit::generate::{GenerateOptions, generate};

use crate::common::{ask, rows};

/// A folder that counts the bytes that are read of its files.
struct Counting {
    folder: DiskFolder,
    read: Arc<AtomicU64>,
}

struct CountingFile {
    file: Source,
    read: Arc<AtomicU64>,
}

impl ByteSource for CountingFile {
    fn len(&self) -> u64 {
        self.file.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.read.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        buffer.copy_from_slice(&read_range(&*self.file, offset, buffer.len() as u64)?);
        Ok(())
    }
}

impl Folder for Counting {
    fn name(&self) -> &str {
        self.folder.name()
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        self.folder.entries()
    }

    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        let read = Arc::clone(&self.read);
        let file = self.folder.open(path)?;
        Ok(file.map(|file| -> Source { Arc::new(CountingFile { file, read }) }))
    }
}

struct Counted {
    opened: Arc<OpenExperiment>,
    read: Arc<AtomicU64>,
    /// Of profiles, contexts and traces.
    bytes: u64,
}

impl Counted {
    fn open(path: &Path) -> Self {
        let read = Arc::new(AtomicU64::new(0));
        let folder = Counting { folder: DiskFolder::new(path), read: Arc::clone(&read) };
        let files = folder.entries().unwrap();
        let bytes = files.iter().filter(|file| file.path != "meta.db").map(|file| file.len).sum();
        let folder: Arc<dyn Folder> = Arc::new(folder);
        let opened = Arc::new(open(&folder, &Limits::default()).unwrap());
        Self { opened, read, bytes }
    }

    /// Bytes that a statement reads, and its result.
    fn cost(&self, statement: &str) -> (u64, Vec<Vec<String>>) {
        // What is read once for all questions is not the statement's.
        ask(&self.opened, "SELECT count(*) FROM contexts");
        let before = self.read.load(Ordering::Relaxed);
        let found = rows(&ask(&self.opened, statement));
        (self.read.load(Ordering::Relaxed) - before, found)
    }
}

#[test]
fn statements_read_what_they_need() {
    let folder = tempfile::tempdir().unwrap();
    let options = GenerateOptions {
        ranks: 400,
        contexts: 4000,
        values_per_rank: 2000,
        trace_samples: 1000,
        elided: false,
        ..GenerateOptions::default()
    };
    generate(folder.path(), &options, |_, _, _| ()).unwrap();
    let counted = Counted::open(folder.path());
    let whole = counted.bytes;
    assert!(whole > 10_000_000, "{whole} bytes");

    let (all, sums) = counted
        .cost("SELECT metric_id, sum(value) FROM values WHERE context_id <> 0 GROUP BY metric_id");
    assert!(!sums.is_empty() && all > whole / 10, "{all} of {whole} bytes");

    // A context that many ranks have: one block of the database in order of contexts.
    let common = "SELECT context_id FROM values WHERE context_id <> 0 GROUP BY context_id
                  ORDER BY count(*) DESC, context_id LIMIT 1";
    let context = rows(&ask(&counted.opened, common))[0][0].clone();
    let (read, found) =
        counted.cost(&format!("SELECT count(*) FROM values WHERE context_id = {context}"));
    assert!(found[0][0].parse::<u64>().unwrap() >= 400, "{found:?}");
    assert!(read * 100 < whole, "{read} of {whole} bytes for context {context}");

    let (read, found) = counted.cost("SELECT count(*) FROM values WHERE profile_id IN (7, 200)");
    assert!(found[0][0].parse::<u64>().unwrap() > 1000, "{found:?}");
    assert!(read * 50 < whole, "{read} of {whole} bytes for two locations");

    let (read, found) = counted.cost("SELECT * FROM values LIMIT 10");
    assert_eq!(found.len(), 10);
    assert!(read * 50 < whole, "{read} of {whole} bytes for ten rows");

    let (read, found) = counted.cost("SELECT count(*) FROM samples WHERE profile_id = 9");
    assert!(found[0][0].parse::<u64>().unwrap() > 500, "{found:?}");
    assert!(read * 50 < whole, "{read} of {whole} bytes for one track");

    // What a join finds on its smaller side narrows the larger one.
    let join = format!(
        "SELECT count(*) FROM values JOIN contexts USING (context_id)
         WHERE path(contexts.context_id) = (SELECT path({context}))"
    );
    let (read, found) = counted.cost(&join);
    assert!(found[0][0].parse::<u64>().unwrap() >= 400, "{found:?}");
    assert!(read * 50 < whole, "{read} of {whole} bytes for a join");
    let within = format!(
        "SELECT count(*) FROM values WHERE context_id IN
         (SELECT context_id FROM contexts WHERE path(context_id) = (SELECT path({context})))"
    );
    let (read, again) = counted.cost(&within);
    assert_eq!(again, found);
    assert!(read * 50 < whole, "{read} of {whole} bytes for a subquery");

    let plan = rows(&ask(
        &counted.opened,
        &format!("EXPLAIN SELECT value FROM values WHERE context_id = {context} AND metric_id = 1"),
    ));
    let plan = plan.concat().join("\n");
    let expected =
        format!("table=values, columns=[value], read=[context_id={context}, metric_id=1]");
    assert!(plan.contains(&expected), "{plan}");
}

#[test]
fn the_first_statement_about_a_context_reads_its_values_and_not_the_table_of_contexts() {
    let folder = tempfile::tempdir().unwrap();
    let options = GenerateOptions {
        ranks: 400,
        contexts: 20_000,
        values_per_rank: 200,
        trace_samples: 0,
        ..GenerateOptions::default()
    };
    generate(folder.path(), &options, |_, _, _| ()).unwrap();
    let values = "SELECT count(*) FROM values WHERE profile_id > 0 AND context_id =";
    let all = Counted::open(folder.path());
    let common = "SELECT context_id FROM values WHERE profile_id > 0 AND context_id <> 0
                  GROUP BY context_id ORDER BY count(*) DESC, context_id LIMIT 1";
    let context = rows(&ask(&all.opened, common))[0][0].clone();

    let first = Counted::open(folder.path());
    let (read, found) = first.cost(&format!("{values} {context}"));
    let stored = found[0][0].parse::<u64>().unwrap() * 12;
    assert!(stored >= 400 * 12, "{found:?}");
    // The table of contexts has 32 bytes for each.
    assert!(read < 2 * stored + 200_000, "{read} bytes for values of {stored} bytes");
    let (again, same) = first.cost(&format!("{values} {context}"));
    assert_eq!(same, found);
    assert!(again <= read, "{again} bytes after {read}");

    // What there is not is known without reading.
    for what in [
        "values WHERE context_id = 4000000000",
        "values WHERE profile_id = 4000000000",
        "values WHERE metric_id = 60000",
        "summary WHERE context_id = 4000000000",
    ] {
        let none = Counted::open(folder.path());
        let (read, found) = none.cost(&format!("SELECT count(*) FROM {what}"));
        assert_eq!(found, [["0"]], "{what}");
        assert_eq!(read, 0, "bytes for {what}");
    }
}

#[test]
fn parts_that_are_read_at_the_same_time_are_the_whole_in_its_order() {
    let folder = tempfile::tempdir().unwrap();
    let options = GenerateOptions {
        ranks: 300,
        contexts: 4000,
        values_per_rank: 4000,
        trace_samples: 3000,
        elided: false,
        ..GenerateOptions::default()
    };
    generate(folder.path(), &options, |_, _, _| ()).unwrap();
    let counted = Counted::open(folder.path());
    let plan = |statement: &str| {
        rows(&ask(&counted.opened, &format!("EXPLAIN {statement}"))).concat().join("\n")
    };
    let several = std::thread::available_parallelism().is_ok_and(|threads| threads.get() > 1);
    for (table, order) in
        [("values", "profile_id, context_id, metric_id"), ("samples", "profile_id, start_ns")]
    {
        let all = format!("SELECT * FROM {table}");
        assert_eq!(plan(&all).contains("parts="), several, "{}", plan(&all));
        let found = rows(&ask(&counted.opened, &all));
        assert!(found.len() > 600_000, "{} rows of {table}", found.len());
        let sorted = rows(&ask(&counted.opened, &format!("{all} ORDER BY {order}")));
        assert!(found == sorted, "{table}: rows are in order of {order}");
        // Every row once, whatever a condition leaves of the parts.
        let of = |condition: &str| -> u64 {
            let counts = format!("SELECT count(*) FROM {table} WHERE {condition}");
            rows(&ask(&counted.opened, &counts))[0][0].parse().unwrap()
        };
        let halves = of("profile_id < 150") + of("profile_id >= 150");
        assert_eq!(halves, found.len() as u64, "{table}");
        // The first rows are read by one part, which reads no more of them.
        let first = format!("{all} LIMIT 7");
        assert!(!plan(&first).contains("parts="), "{}", plan(&first));
        assert!(rows(&ask(&counted.opened, &first)) == sorted[..7], "{table}");
    }
    // One context of all ranks lies in one place, which one part reads.
    let one = "SELECT value FROM values WHERE context_id = 0";
    assert!(!plan(one).contains("parts="), "{}", plan(one));
}

#[test]
fn few_samples_are_read_like_many() {
    let folder = tempfile::tempdir().unwrap();
    let options = GenerateOptions {
        ranks: 300,
        contexts: 1000,
        values_per_rank: 100,
        trace_samples: 3000,
        elided: false,
        ..GenerateOptions::default()
    };
    generate(folder.path(), &options, |_, _, _| ()).unwrap();
    let opened = Counted::open(folder.path()).opened;
    let store = opened.session().traces().unwrap();
    let (tracks, control): (Vec<_>, _) = (store.track_ids().collect(), Control::new());
    let span = store.span();
    let at = |share: u64| span.start_nanos + span.nanos() / 100 * share;
    let middle = TimeWindow::new(at(20), at(80));
    for (window, least) in [(TimeWindow::ALL, 800_000), (middle, 400_000)] {
        let together = opened.sample_relation_of(&tracks, window, &control).unwrap();
        let mut alone = parallax_protocol::StoredSampleTable::default();
        for &track in &tracks {
            let own = opened.sample_relation_of(&[track], window, &control).unwrap();
            alone.profile_id.extend(own.profile_id);
            alone.context_id.extend(own.context_id);
            alone.start_ns.extend(own.start_ns);
            alone.end_ns.extend(own.end_ns);
        }
        assert!(together.start_ns.len() > least, "{} samples", together.start_ns.len());
        assert!(together.profile_id == alone.profile_id, "{window:?}");
        assert!(together.context_id == alone.context_id, "{window:?}");
        assert!(together.start_ns == alone.start_ns, "{window:?}");
        assert!(together.end_ns == alone.end_ns, "{window:?}");
    }
}
