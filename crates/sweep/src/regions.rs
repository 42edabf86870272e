//! Times of regions inside the program, from the files that `pascalops.h` writes.
//!
//! A run has a folder of its own, named by [`VARIABLE`]; each process in which a region starts has a
//! file there. `crates/measure/include/pascalops.h` defines the bytes: a page with the clocks, then
//! blocks of one thread each. Threads and processes keep their own numbers of regions, so regions
//! are joined by their paths, such as `1.2`. Parallel regions without marks (`parallax_omp.c`) are in
//! the same files; what stands for them in a path is the place of their body.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io;
use std::path::Path;
use std::rc::Rc;

use serde_json::{Map, Value, json};

use crate::automatic::{Bodies, Body};
use crate::iterations::{Estimate, Iterations, Request, by_process};

/// The variable that tells a program where to write; without it the marks do nothing.
pub(crate) const VARIABLE: &str = "PARALLAX_REGIONS";

/// Tells marks that collect what they write that it is read meanwhile.
pub(crate) const LIVE: &str = "PARALLAX_REGIONS_LIVE";

/// The fields of an entry, as `data_descriptor.extras.regions.values` names them.
pub(crate) const VALUES: [&str; 6] =
    ["start_time", "stop_time", "start_line", "stop_line", "thread_id", "filename"];

pub(crate) const MAGIC: &[u8; 8] = b"PLXREGN1";
pub(crate) const PAGE: usize = 65_536;
pub(crate) const BLOCK: usize = 256 << 10;
const DEFINITION: u32 = 1;
const ENTRY: u32 = 2;
/// Bytes of a definition without its file, and of an entry.
const DEFINITION_BYTES: usize = 24;
const ENTRY_BYTES: usize = 32;

/// What the file of a region begins with that is the place of a body.
const BODY: char = '\u{1}';

/// Added to the number of a region without a mark where a mark has the same one.
const ASIDE: i64 = 50_000;

/// Entries of a run that are kept one by one; of more, those of a thread in a region are added up.
const MOST_ENTRIES: usize = 100_000;

/// What a run says of its regions.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Regions {
    /// Entries by the path of the region, each as [`VALUES`] says.
    pub(crate) entries: Map<String, Value>,
    /// Entries that were added up, because there were too many.
    pub(crate) num_added_up: usize,
    /// Whether a process had no room for all of them.
    pub(crate) is_cut: bool,
    /// Iterations, where these were looked for.
    pub(crate) num_iterations: u64,
    /// What the first of them say of the time of a complete run.
    pub(crate) estimate: Option<Estimate>,
}

/// One time in a region.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    /// Seconds since 1970.
    start: f64,
    stop: f64,
    lines: (u32, u32),
    thread: usize,
}

/// When a tick was.
#[derive(Clone, Copy)]
struct Clock {
    /// Nanoseconds since 1970 at the first tick.
    epoch: u64,
    first: u64,
    nanos_per_tick: f64,
}

impl Clock {
    fn of(bytes: &[u8]) -> Option<Self> {
        let [epoch, begin, first, last, end] = [8, 16, 40, 48, 56].map(|at| number(bytes, at));
        let (ticks, nanos) = (last?.checked_sub(first?)?, end?.checked_sub(begin?)?);
        let nanos_per_tick = if ticks == 0 { 1.0 } else { nanos as f64 / ticks as f64 };
        Some(Self { epoch: epoch?, first: first?, nanos_per_tick })
    }

    fn seconds(self, ticks: u64) -> f64 {
        // Before they are added to a large number, so that no digit is lost.
        let nanos = ticks.saturating_sub(self.first) as f64 * self.nanos_per_tick;
        (self.epoch as f64 + nanos) / 1e9
    }
}

/// A part of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Part {
    /// The number of a mark.
    Mark(i64),
    /// Where the body of a parallel region is.
    Body(Rc<str>),
}

/// A region by its parts, the outermost first.
pub(crate) type Parts = Rc<[Part]>;

/// A region as a thread knows it.
pub(crate) struct Node {
    pub(crate) path: Parts,
    file: String,
}

/// Reads what the processes of a run have written into `folder`. `bodies` numbers parallel regions
/// without marks; `first` is what is asked of iterations.
///
/// # Errors
/// When the folder or a file cannot be read. What a process that was killed did not finish is left
/// out.
pub(crate) fn read(
    folder: &Path,
    bodies: &mut dyn Bodies,
    first: Option<&Request<'_>>,
) -> io::Result<Regions> {
    let mut paths: Vec<_> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    paths.sort();
    let mut all = Collected::default();
    for path in paths {
        all.take(&fs::read(path)?);
    }
    Ok(all.finish(bodies, first))
}

/// The entries of all processes, by the path of their region.
#[derive(Default)]
struct Collected {
    regions: BTreeMap<Parts, (String, Vec<Entry>)>,
    num_entries: usize,
    num_threads: usize,
    /// The number of the first thread of each process.
    first_threads: Vec<usize>,
    is_cut: bool,
}

impl Collected {
    /// Takes the file of a process.
    fn take(&mut self, bytes: &[u8]) {
        let Some(clock) = Clock::of(bytes).filter(|_| bytes.starts_with(MAGIC)) else { return };
        self.is_cut |= bytes.get(32).is_some_and(|&flag| flag != 0);
        let seconds = |ticks: u64| clock.seconds(ticks);
        self.first_threads.push(self.num_threads);
        // A thread has its blocks one after the other, with those of others between.
        let mut threads: BTreeMap<u64, HashMap<u32, Node>> = BTreeMap::new();
        for block in bytes.get(PAGE..).unwrap_or_default().chunks(BLOCK) {
            let Some(thread) = number(block, 0) else { continue };
            let nodes = threads.entry(thread).or_default();
            let place = self.num_threads.saturating_add(usize::try_from(thread).unwrap_or(0));
            let Some(records) = block.get(8..) else { continue };
            read_records(records, nodes, &mut |node, times| {
                let own = self.regions.entry(Rc::clone(&node.path));
                let own = own.or_insert_with(|| (node.file.clone(), Vec::new()));
                // A thread that is inside of another's region does not know its file.
                if own.0.is_empty() {
                    own.0.clone_from(&node.file);
                }
                own.1.push(Entry {
                    start: seconds(times.start),
                    stop: seconds(times.stop.max(times.start)),
                    lines: times.lines,
                    thread: place,
                });
                self.num_entries += 1;
            });
        }
        self.num_threads += threads.len();
    }

    /// `first`: the iterations that are looked for, and whether the run was ended after the first ones.
    fn finish(self, bodies: &mut dyn Bodies, first: Option<&Request<'_>>) -> Regions {
        let Self { mut regions, num_entries, first_threads, is_cut, .. } = self;
        let numbers = numbers_of(&regions, bodies);
        let process = |thread| first_threads.partition_point(|&first| first <= thread);
        let mut iterations = Vec::new();
        if let Some(first) = first {
            let chosen = regions.iter().filter(|(path, _)| first.region.is_of(path, &numbers));
            let spans = chosen.flat_map(|(_, (_, entries))| {
                entries.iter().map(|entry| (entry.thread, entry.start, entry.stop))
            });
            iterations = by_process(spans, process);
        }
        let num_iterations = iterations.iter().map(Iterations::len).max().unwrap_or(0) as u64;
        let estimate = first.and_then(|first| first.estimate(&iterations));
        let is_ended = first.is_some_and(|first| first.ended_of.is_some());
        if let Some(estimate) = estimate.filter(|_| is_ended) {
            let of = |thread| iterations.iter().find(|own| own.process == process(thread));
            regions.values_mut().for_each(|(_, entries)| stretch(entries, of, &estimate));
        }
        let adds_up = num_entries > MOST_ENTRIES || is_ended;
        let named = named(regions, &numbers);
        let mut entries = Map::new();
        for (path, (file, mut own)) in named {
            if adds_up {
                own = added_up(&own);
            }
            own.sort_by(|a, b| a.start.total_cmp(&b.start).then(a.thread.cmp(&b.thread)));
            let list = own.iter().map(|entry| {
                let Entry { start, stop, lines, thread } = entry;
                json!([start, stop, lines.0, lines.1, thread, file])
            });
            entries.insert(path, list.collect());
        }
        let num_added_up = if adds_up { num_entries } else { 0 };
        Regions { entries, num_added_up, is_cut, num_iterations, estimate }
    }
}

/// Makes the entries of a run that was ended after its first iterations those of a complete run:
/// what came after the first iteration of its process takes as much longer as the iterations do.
fn stretch<'a>(
    entries: &mut Vec<Entry>,
    iterations: impl Fn(usize) -> Option<&'a Iterations>,
    estimate: &Estimate,
) {
    entries.retain_mut(|entry| {
        let Some(window) = iterations(entry.thread).and_then(|own| own.window(estimate.from))
        else {
            return true;
        };
        if entry.start >= window.stop {
            return false;
        }
        if entry.start >= window.start {
            let seconds = entry.stop.min(window.stop) - entry.start;
            entry.stop = entry.start + seconds * estimate.factor;
        }
        true
    });
}

/// The bodies of regions by their places.
pub(crate) type Numbered = HashMap<Rc<str>, Body>;

fn numbers_of(
    regions: &BTreeMap<Parts, (String, Vec<Entry>)>,
    bodies: &mut dyn Bodies,
) -> Numbered {
    let parts = regions.keys().flat_map(|path| path.iter());
    let places: BTreeSet<Rc<str>> = parts
        .filter_map(|part| match part {
            Part::Body(place) => Some(Rc::clone(place)),
            Part::Mark(_) => None,
        })
        .collect();
    if places.is_empty() {
        return HashMap::new();
    }
    let found = bodies.number(&places.iter().map(|place| &**place).collect::<Vec<_>>());
    places.into_iter().zip(found).collect()
}

/// The same regions by their numbers, with the file and line of each body.
fn named(
    regions: BTreeMap<Parts, (String, Vec<Entry>)>,
    numbers: &Numbered,
) -> BTreeMap<String, (String, Vec<Entry>)> {
    let number = |part: &Part| match part {
        Part::Mark(id) => Some(*id),
        Part::Body(place) => numbers.get(place).map(|body| body.number),
    };
    let plain = |path: &[Part]| path.iter().map(number).collect::<Option<Vec<i64>>>();
    // Two regions of one number in one place would be taken for the same.
    let marks: HashSet<Vec<i64>> = regions
        .keys()
        .flat_map(|path| (1..=path.len()).filter_map(|len| path.get(..len)))
        .filter(|path| matches!(path.last(), Some(Part::Mark(_))))
        .filter_map(plain)
        .collect();
    let mut named: BTreeMap<String, (String, Vec<Entry>)> = BTreeMap::new();
    for (path, (mut file, mut entries)) in regions {
        let shown = (1..=path.len()).filter_map(|len| path.get(..len)).map(|path| {
            let last = number(path.last()?)?;
            let is_body = matches!(path.last(), Some(Part::Body(_)));
            let aside = if is_body && marks.contains(&plain(path)?) { ASIDE } else { 0 };
            Some((last + aside).to_string())
        });
        let Some(shown) = shown.collect::<Option<Vec<String>>>() else { continue };
        if let Some(Part::Body(place)) = path.last()
            && let Some(body) = numbers.get(place)
        {
            file.clone_from(&body.file);
            entries.iter_mut().for_each(|entry| entry.lines = (body.line, body.line));
        }
        // Regions that were inlined into several functions have several bodies.
        match named.entry(shown.join(".")) {
            std::collections::btree_map::Entry::Vacant(slot) => {
                slot.insert((file, entries));
            }
            std::collections::btree_map::Entry::Occupied(mut slot) => {
                slot.get_mut().1.append(&mut entries);
            }
        }
    }
    named
}

/// One entry for each thread: from its first one on, as long as all of them.
fn added_up(entries: &[Entry]) -> Vec<Entry> {
    let mut sums: BTreeMap<usize, Entry> = BTreeMap::new();
    for entry in entries {
        match sums.get_mut(&entry.thread) {
            Some(sum) => {
                let seconds = sum.stop - sum.start + (entry.stop - entry.start);
                sum.start = sum.start.min(entry.start);
                sum.stop = sum.start + seconds;
            }
            None => {
                sums.insert(entry.thread, entry.clone());
            }
        }
    }
    sums.into_values().collect()
}

/// What an entry says of itself, in ticks.
pub(crate) struct Times {
    start: u64,
    stop: u64,
    lines: (u32, u32),
}

/// Reads the records of a block of one thread, from the first one that was not read before, as far as
/// they are complete; gives their length.
pub(crate) fn read_records(
    block: &[u8],
    nodes: &mut HashMap<u32, Node>,
    each: &mut dyn FnMut(&Node, &Times),
) -> usize {
    let mut at = 0;
    while let Some(kind) = word(block, at) {
        at += match kind {
            DEFINITION => match defined(block, at, nodes) {
                Some(len) => len,
                None => break,
            },
            ENTRY => {
                let words = [4, 8, 12].map(|offset| word(block, at + offset));
                let times = [16, 24].map(|offset| number(block, at + offset));
                let ([Some(node), Some(from), Some(to)], [Some(start), Some(stop)]) =
                    (words, times)
                else {
                    break;
                };
                if let Some(node) = nodes.get(&node) {
                    each(node, &Times { start, stop, lines: (from, to) });
                }
                ENTRY_BYTES
            }
            _ => break,
        };
    }
    at
}

/// Takes the definition at a place of a block; gives its length.
fn defined(block: &[u8], at: usize, nodes: &mut HashMap<u32, Node>) -> Option<usize> {
    let (node, parent) = (word(block, at + 4)?, word(block, at + 8)?);
    let file_len = word(block, at + 12)? as usize;
    let id = number(block, at + 16)?.cast_signed();
    let from = at + DEFINITION_BYTES;
    let file = block.get(from..from.checked_add(file_len.next_multiple_of(8))?)?.get(..file_len)?;
    let file = String::from_utf8_lossy(file).into_owned();
    let own = match file.strip_prefix(BODY) {
        Some(place) => Part::Body(Rc::from(place)),
        None => Part::Mark(id),
    };
    let above = nodes.get(&parent).map_or(&[][..], |above| &above.path);
    let path = above.iter().cloned().chain([own]).collect();
    nodes.insert(node, Node { path, file });
    Some(DEFINITION_BYTES + file_len.next_multiple_of(8))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file of a process whose clocks begin at 100 s and count two ticks a nanosecond, with these
    /// records in its blocks.
    fn file(blocks: &[(u64, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = vec![0; PAGE];
        bytes[..8].copy_from_slice(MAGIC);
        let numbers: [(usize, u64); 5] = [
            (8, 100_000_000_000),
            (16, 7_000),
            (40, 5_000_000_000),
            (48, 5_000_002_000),
            (56, 8_000),
        ];
        for (at, number) in numbers {
            bytes[at..at + 8].copy_from_slice(&number.to_ne_bytes());
        }
        for (thread, records) in blocks {
            let mut block = thread.to_ne_bytes().to_vec();
            block.extend(records);
            block.resize(BLOCK, 0);
            bytes.extend(block);
        }
        bytes
    }

    fn words(words: [u32; 4]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn definition(node: u32, parent: u32, id: i64) -> Vec<u8> {
        let mut bytes = words([DEFINITION, node, parent, 3]);
        bytes.extend(id.to_ne_bytes());
        bytes.extend(*b"a.c\0\0\0\0\0");
        bytes
    }

    fn entry(node: u32, start: u64, stop: u64) -> Vec<u8> {
        let mut bytes = words([ENTRY, node, 10, 20]);
        bytes.extend((5_000_000_000 + 2 * start).to_ne_bytes());
        bytes.extend((5_000_000_000 + 2 * stop).to_ne_bytes());
        bytes
    }

    fn collected(files: &[Vec<u8>]) -> Regions {
        let mut all = Collected::default();
        files.iter().for_each(|file| all.take(file));
        all.finish(&mut Planted, None)
    }

    /// A place is the line of the region.
    struct Planted;

    impl Bodies for Planted {
        fn number(&mut self, places: &[&str]) -> Vec<Body> {
            let line = |place: &str| place.parse().unwrap_or(0);
            let body =
                |line: u32| Body { number: i64::from(line), file: "binary:a.c".to_owned(), line };
            places.iter().map(|place| body(line(place))).collect()
        }
    }

    #[test]
    fn regions_are_joined_by_their_paths_over_threads_and_processes() {
        let nested = [definition(1, 0, 1), definition(2, 1, 2), entry(2, 0, 5_000_000)].concat();
        let first = file(&[
            (0, [nested, entry(1, 0, 9_000_000)].concat()),
            // Another thread has other numbers for the same regions.
            (1, [definition(1, 0, 7), definition(2, 0, 1), entry(2, 0, 8_000_000)].concat()),
            (0, entry(2, 10_000_000, 11_000_000)),
        ]);
        let second = file(&[(0, [definition(1, 0, 1), entry(1, 0, 7_000_000)].concat())]);
        let found = collected(&[first, second]);
        let paths: Vec<&str> = found.entries.keys().map(String::as_str).collect();
        assert_eq!(paths, ["1", "1.2"]);
        assert_eq!(
            found.entries["1"],
            json!([
                [100.0, 100.009, 10, 20, 0, "a.c"],
                [100.0, 100.008, 10, 20, 1, "a.c"],
                [100.0, 100.007, 10, 20, 2, "a.c"]
            ])
        );
        assert_eq!(
            found.entries["1.2"],
            json!([[100.0, 100.005, 10, 20, 0, "a.c"], [100.01, 100.011, 10, 20, 0, "a.c"]])
        );
        assert_eq!((found.num_added_up, found.is_cut), (0, false));
    }

    #[test]
    fn bodies_have_their_numbers_and_lines_and_keep_apart_from_marks() {
        let body = |node, parent, id, line: u8| {
            let mut bytes = definition(node, parent, id);
            bytes[24..27].copy_from_slice(&[1, b'0' + line / 10, b'0' + line % 10]);
            bytes
        };
        // Threads may call the same body by other addresses, and do not know files of marks around.
        let mut nameless = definition(2, 1, 3);
        nameless[12..16].copy_from_slice(&0_u32.to_ne_bytes());
        nameless.truncate(24);
        let first =
            [body(1, 0, 0x7f01, 27), nameless, entry(2, 0, 4_000), entry(1, 0, 9_000)].concat();
        let second =
            [body(1, 0, 0x7f02, 27), definition(2, 1, 3), entry(2, 0, 4_000), entry(1, 0, 9_000)];
        let mark = [definition(1, 0, 27), entry(1, 0, 9_000)].concat();
        let found = collected(&[file(&[(0, first), (1, second.concat())]), file(&[(0, mark)])]);
        let place =
            |path: &str, at: usize| found.entries[path][at].as_array().unwrap()[2..].to_vec();
        let paths: Vec<&str> = found.entries.keys().map(String::as_str).collect();
        assert_eq!(paths, ["27", "50027", "50027.3"]);
        assert_eq!(place("50027", 1), [json!(27), json!(27), json!(1), json!("binary:a.c")]);
        assert_eq!(place("50027.3", 0), [json!(10), json!(20), json!(0), json!("a.c")]);
        assert_eq!(place("27", 0), [json!(10), json!(20), json!(2), json!("a.c")]);
    }

    #[test]
    fn too_many_entries_are_added_up_by_thread() {
        let mut blocks = vec![(0, definition(1, 0, 4))];
        let per_block = (BLOCK - 8) / ENTRY_BYTES;
        let mut left = MOST_ENTRIES + 1;
        while left > 0 {
            let some = left.min(per_block);
            blocks.push((0, entry(1, 1_000_000, 1_001_000).repeat(some)));
            left -= some;
        }
        let found = collected(&[file(&blocks)]);
        assert_eq!(found.num_added_up, MOST_ENTRIES + 1);
        let own = &found.entries["4"];
        assert_eq!(own.as_array().unwrap().len(), 1);
        let seconds = own[0][1].as_f64().unwrap() - own[0][0].as_f64().unwrap();
        assert!((seconds - 1e-6 * (MOST_ENTRIES + 1) as f64).abs() < 1e-6, "{seconds}");
    }

    #[test]
    fn what_is_damaged_or_unfinished_is_left_out() {
        let whole =
            file(&[(0, [definition(1, 0, 1), entry(1, 0, 1_000), entry(1, 0, 2_000)].concat())]);
        for len in 0..=PAGE + 200 {
            let _ = collected(&[whole[..len].to_vec()]);
        }
        for at in (0..64).chain(PAGE..PAGE + 120) {
            for byte in [0, 1, 2, 3, 255] {
                let mut damaged = whole.clone();
                damaged[at] = byte;
                let _ = collected(&[damaged]);
            }
        }
        // An entry of a region that was never defined.
        assert!(collected(&[file(&[(0, entry(9, 0, 1_000))])]).entries.is_empty());
        assert!(collected(&[b"something else".to_vec()]).entries.is_empty());
    }
}
