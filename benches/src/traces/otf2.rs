//! How fast OTF2 traces are read, beside the programs of OTF2 itself.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use parallax_base::{Control, Folder, Issues, Limits, MemorySink};
use parallax_formats::otf2::{Archive, Event, EventFile, LocationId};
use parallax_import::convert::{ConvertOptions, convert, recognise};
use parallax_native::DiskFolder;
use parallax_testkit::otf2::{Shape, generate};

use super::{best, peers, say, verdict};

const EVENTS: u64 = 10_000_000;
const TARGET: f64 = 20e6;

/// Reads all events with the package of OTF2: the argument is the anchor.
const PYTHON: &str = "
import sys, time, otf2
start = time.perf_counter()
with otf2.reader.open(sys.argv[1]) as trace:
    count = sum(1 for _ in trace.events)
print(time.perf_counter() - start, count)
";

pub(super) fn run() -> Result<()> {
    let path = trace()?;
    let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(&path));
    println!("{EVENTS} events of OTF2, one location, so one core\n");
    println!("| reader | time | events | |\n|---|---|---|---|");
    let (seconds, count) = best(5, || Ok(open(&folder)?.count(&mut Issues::new())?.total()))?;
    expect(count)?;
    let is_met = verdict(EVENTS as f64 / seconds > TARGET);
    let target = format!("> 20 M/s: {is_met}");
    say("Parallax, counted", EVENTS as f64, "", seconds, &target);
    let (seconds, count) = best(5, || times_and_regions(&folder))?;
    expect(count)?;
    let is_met = verdict(EVENTS as f64 / seconds > TARGET);
    let target = format!("> 20 M/s: {is_met}");
    say("Parallax, times and regions", EVENTS as f64, "", seconds, &target);
    let (seconds, ()) = best(3, || to_archive(&folder))?;
    say("Parallax, to an archive in memory", EVENTS as f64, "", seconds, "");

    let anchor = path.join("traces.otf2").to_string_lossy().into_owned();
    for (what, argument) in
        [("otf2-print --silent", "--silent"), ("otf2-print to nowhere", "--timestamps=plain")]
    {
        match peers::timed("otf2-print", &[argument, &anchor]) {
            Ok(seconds) => say(what, EVENTS as f64, "", seconds, "libotf2"),
            Err(why) => println!("| {what} | not measured: {why:#} | | |"),
        }
    }
    match peers::python(PYTHON, &[&anchor]) {
        Ok((seconds, count)) => {
            expect(count)?;
            say("Python package otf2", EVENTS as f64, "", seconds, "libotf2 in Python");
        }
        Err(why) => println!("| Python package otf2 | not measured: {why:#} | | |"),
    }
    Ok(())
}

fn expect(count: u64) -> Result<()> {
    if count != EVENTS {
        bail!("{count} events read, {EVENTS} written");
    }
    Ok(())
}

fn trace() -> Result<PathBuf> {
    let path = super::data()?.join(format!("otf2-{EVENTS}"));
    if !path.exists() {
        let shape = Shape { locations: 1, calls: EVENTS / 2, message_every: 0, ..Shape::default() };
        fs::create_dir_all(path.join("traces"))?;
        for (name, bytes) in generate(&shape).0 {
            fs::write(path.join(name), bytes)?;
        }
    }
    Ok(path)
}

fn open(folder: &Arc<dyn Folder>) -> Result<EventFile> {
    let mut issues = Issues::new();
    let archive = Archive::open(folder, "traces.otf2", Limits::default(), &mut issues)?;
    archive.events(LocationId(0), &mut issues)?.context("there are no events")
}

fn times_and_regions(folder: &Arc<dyn Folder>) -> Result<u64> {
    let file = open(folder)?;
    let (mut reader, mut issues) = (file.reader()?, Issues::new());
    let mut sum = 0_u64;
    while let Some(record) = reader.next(&mut issues)? {
        if let Event::Enter { region } | Event::Leave { region } = record.event {
            sum = sum.wrapping_mul(31).wrapping_add(record.ticks ^ u64::from(region.0));
        }
    }
    // So that nothing is left out because nobody looks at it.
    std::hint::black_box(sum);
    Ok(reader.seen())
}

fn to_archive(folder: &Arc<dyn Folder>) -> Result<()> {
    let input = recognise(folder, "traces.otf2")?.context("no trace")?;
    let sink = Arc::new(MemorySink::new());
    convert(&input, "bench", sink, &ConvertOptions::default(), &Control::new())?;
    Ok(())
}
