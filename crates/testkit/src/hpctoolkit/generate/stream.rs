//! The files of a generated database, streamed to disk.

use std::fs::{File, create_dir_all, remove_file, rename};
use std::io::{BufWriter, ErrorKind, Result, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::super::contexts::{self, Census};
use super::super::database::{Id, Sample, Scope};
use super::super::files::{Layout, WriteOptions};
use super::super::profiles::{ProfileDb, Value, encode};
use super::super::traces::TraceDb;
use super::super::{meta, taxonomy};
use super::model::{Model, Scratch};
use super::plan::Planted;

/// Profiles that are made before they are written.
const CHUNK: u32 = 256;

/// Bytes of cct.db that are in memory at a time; all values are made again for every block.
pub(crate) const BLOCK_BYTES: u64 = 512 << 20;

/// Scratch spaces are as large as the tree: more of them than this do not pay.
const MAX_SCRATCHES: usize = 16;

const FILES: [&str; 7] = [
    "meta.db",
    "profile.db",
    "cct.db",
    "trace.db",
    "metrics/default.yaml",
    "planted.json",
    "hosts.csv",
];

/// Progress: steps done, all steps, and the name of the file.
type Progress<'a> = dyn Fn(u64, u64, &str) + 'a;

/// Writes all files; see [`super::generate`].
pub(crate) fn write(
    dir: &Path,
    model: &Model,
    block_bytes: u64,
    progress: &Progress<'_>,
) -> Result<Planted> {
    create_dir_all(dir.join("metrics"))?;
    for name in FILES {
        for path in [dir.join(name), partial(dir, name)] {
            match remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    let mut planted = model.planted();
    let database = &model.program.database;

    let options = WriteOptions { elide_instructions: true, ..WriteOptions::default() };
    small_file(dir, "meta.db", &meta::encode(database, &options))?;
    small_file(dir, "metrics/default.yaml", taxonomy::default_yaml(database).as_bytes())?;

    let mut makers = Makers::new(model);
    let census = write_profiles(dir, model, &mut makers, &mut planted, progress)?;
    write_contexts(dir, model, &mut makers, (&census, block_bytes), progress)?;
    drop(makers);
    if model.options.trace {
        write_traces(dir, model, &mut planted, progress)?;
    }
    // The answers come last: who sees them sees a complete database.
    for name in FILES {
        match std::fs::metadata(dir.join(name)) {
            Ok(metadata) => planted.bytes += metadata.len(),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    if model.options.congestion.is_some() {
        small_file(dir, "hosts.csv", planted.hosts_csv().as_bytes())?;
    }
    small_file(dir, "planted.json", planted.to_json().as_bytes())?;
    Ok(planted)
}

fn partial(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}.partial"))
}

fn create(dir: &Path, name: &str) -> Result<BufWriter<File>> {
    Ok(BufWriter::with_capacity(1 << 20, File::create(partial(dir, name))?))
}

/// Gives a file its final name once all of its bytes are written.
fn complete(dir: &Path, name: &str, mut out: BufWriter<File>) -> Result<()> {
    out.flush()?;
    drop(out);
    rename(partial(dir, name), dir.join(name))
}

fn small_file(dir: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let mut out = create(dir, name)?;
    out.write_all(bytes)?;
    complete(dir, name, out)
}

/// Makes values on all cores.
struct Makers<'a> {
    model: &'a Model,
    scratches: Vec<Scratch>,
}

impl<'a> Makers<'a> {
    fn new(model: &'a Model) -> Self {
        let count = (2 * rayon::current_num_threads()).min(MAX_SCRATCHES);
        let scratches = (0..count).map(|_| Scratch::new(model)).collect();
        Self { model, scratches }
    }

    /// Makes something of the values of every profile of a range, in the order of the profiles.
    fn make<T: Send>(
        &mut self,
        profiles: Range<u32>,
        wanted: &Range<u32>,
        finish: impl Fn(u32, Vec<Value>) -> T + Sync,
    ) -> Vec<T> {
        let model = self.model;
        let share = profiles.len().div_ceil(self.scratches.len()) as u32;
        let make = |(nth, scratch): (usize, &mut Scratch)| {
            let start = (profiles.start + nth as u32 * share).min(profiles.end);
            let own = start..(start + share).min(profiles.end);
            own.map(|profile| {
                let location = model.location(profile);
                finish(profile, scratch.values(model, location, wanted.clone()))
            })
            .collect::<Vec<T>>()
        };
        let made: Vec<Vec<T>> = self.scratches.par_iter_mut().enumerate().map(make).collect();
        made.into_iter().flatten().collect()
    }
}

/// Makes chunks of profiles and uses each one while the next one is made.
fn pipeline<T: Send>(
    num_profiles: u32,
    mut make: impl FnMut(Range<u32>) -> Vec<T> + Send,
    mut take: impl FnMut(u32, Vec<T>) -> Result<()> + Send,
    mut report: impl FnMut(u32),
) -> Result<()> {
    let chunk = |start: u32| start..start.saturating_add(CHUNK).min(num_profiles + 1);
    let mut start = 1;
    let mut made = make(chunk(start));
    while start <= num_profiles {
        let next = chunk(start).end;
        let current = std::mem::take(&mut made);
        let (taken, following) = rayon::join(
            || take(start, current),
            || if next <= num_profiles { make(chunk(next)) } else { Vec::new() },
        );
        taken?;
        made = following;
        start = next;
        report(next - 1);
    }
    Ok(())
}

struct Made {
    values: Vec<Value>,
    bytes: Vec<u8>,
    num_contexts: u32,
}

fn write_profiles(
    dir: &Path,
    model: &Model,
    makers: &mut Makers<'_>,
    planted: &mut Planted,
    progress: &Progress<'_>,
) -> Result<Census> {
    let num_profiles = model.num_profiles();
    let tuples: Vec<Vec<Id>> = (1..=num_profiles).map(|profile| model.tuple(profile)).collect();
    let tuples = tuples.iter().map(Vec::as_slice);
    let mut file = ProfileDb::begin(create(dir, "profile.db")?, Layout::Final, tuples)?;
    let metrics = &model.program.database.metrics;
    let num_ids = planted.context_ids as usize;
    let mut census = Census::new(num_ids, metrics, Scope::ALL.len(), &model.numbering);
    let make = |profiles: Range<u32>| {
        makers.make(profiles, &(0..u32::MAX), |_, mut values| {
            values.sort_unstable_by_key(|value| (value.context, value.metric));
            let (bytes, num_contexts) = encode(&values);
            Made { values, bytes, num_contexts }
        })
    };
    let mut num_values = 0;
    let take = |start: u32, made: Vec<Made>| {
        for (profile, made) in (start..).zip(made) {
            num_values += made.values.len() as u64;
            let len = made.values.len();
            file.push_encoded(profile as usize, len, made.num_contexts, &made.bytes)?;
            census.add(&made.values);
        }
        Ok(())
    };
    let report = |done| progress(u64::from(done), u64::from(num_profiles), "profile.db");
    pipeline(num_profiles, make, take, report)?;
    planted.values = num_values;
    let summary = census.summary(metrics, Scope::ALL.len(), &model.numbering);
    complete(dir, "profile.db", file.finish(&summary)?)?;
    Ok(census)
}

fn write_contexts(
    dir: &Path,
    model: &Model,
    makers: &mut Makers<'_>,
    (census, block_bytes): (&Census, u64),
    progress: &Progress<'_>,
) -> Result<()> {
    let num_profiles = model.num_profiles();
    let total = u64::from(census.num_contexts());
    let feed = |wanted: Range<u32>, sink: &mut contexts::Sink<'_>| {
        let make = |profiles: Range<u32>| makers.make(profiles, &wanted, |_, values| values);
        let take = |start: u32, made: Vec<Vec<Value>>| {
            for (profile, values) in (start..).zip(made) {
                sink(profile, &values);
            }
            Ok(())
        };
        let report = |done: u32| {
            let part = u64::from(done) * wanted.len() as u64 / u64::from(num_profiles);
            progress(u64::from(wanted.start) + part, total, "cct.db");
        };
        pipeline(num_profiles, make, take, report)
    };
    let out = contexts::write(create(dir, "cct.db")?, census, block_bytes, feed)?;
    complete(dir, "cct.db", out)
}

fn write_traces(
    dir: &Path,
    model: &Model,
    planted: &mut Planted,
    progress: &Progress<'_>,
) -> Result<()> {
    let num_profiles = model.num_profiles();
    let mut file = TraceDb::begin(create(dir, "trace.db")?, num_profiles as usize)?;
    let make = |profiles: Range<u32>| {
        profiles.into_par_iter().map(|profile| model.trace(profile)).collect()
    };
    let mut num_samples = 0;
    let take = |start: u32, made: Vec<Vec<Sample>>| {
        for (profile, samples) in (start..).zip(made) {
            file.push(profile as usize, &samples)?;
            num_samples += samples.len() as u64;
        }
        Ok(())
    };
    let report = |done| progress(u64::from(done), u64::from(num_profiles), "trace.db");
    pipeline(num_profiles, make, take, report)?;
    planted.samples = num_samples;
    complete(dir, "trace.db", file.finish()?)
}

#[cfg(test)]
mod tests {
    use super::super::GenerateOptions;
    use super::*;

    /// What lies in memory at a time, and which costs are therefore not made again, must not change
    /// a byte.
    #[test]
    fn blocks_leave_no_mark_in_the_file() {
        let options = GenerateOptions {
            ranks: 20,
            threads_per_rank: 2,
            contexts: 900,
            values_per_rank: 500,
            trace: false,
            ..GenerateOptions::default()
        };
        let model = Model::new(&options);
        let with = |block_bytes| {
            let dir = tempfile::tempdir().unwrap();
            write(dir.path(), &model, block_bytes, &|_, _, _| ()).unwrap();
            std::fs::read(dir.path().join("cct.db")).unwrap()
        };
        let whole = with(BLOCK_BYTES);
        assert!(whole.len() > 100_000);
        assert!(whole == with(10_000));
        assert!(whole == with(0));
    }
}
