//! How fast JSON traces are read, beside readers that make a tree of values of them.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use parallax_base::{ByteSource as _, Control, Folder, Issues, MemorySink};
use parallax_formats::json_trace::{ChromeReader, CodarReader, TraceOptions};
use parallax_import::convert::{ConvertOptions, convert, recognise};
use parallax_native::{DiskFolder, MappedFile};
use parallax_testkit::json_trace::{JsonTrace, Style};
use parallax_testkit::workflow::Workflow;

use super::{best, peers, say, verdict};

const BYTES: u64 = 200_000_000;
const TARGET: f64 = 500e6;

const PERFETTO: &str = "
import sys, time
from perfetto.trace_processor import TraceProcessor
start = time.perf_counter()
with TraceProcessor(trace=sys.argv[1]) as tp:
    count = list(tp.query('select count(*) c from slice'))[0].c
    print(time.perf_counter() - start, count)
";

const JSON_LOAD: &str = "
import json, sys, time
start = time.perf_counter()
with open(sys.argv[1]) as f:
    value = json.load(f)
print(time.perf_counter() - start, len(value))
";

pub(super) fn run() -> Result<()> {
    let codar = file("codar", |out| {
        Workflow::of_size(BYTES).write(out)?;
        Ok(())
    })?;
    let chrome = file("chrome", |out| {
        let steps = BYTES / (130 * 8 * 8);
        let (mut text, _) = JsonTrace::new(Style::Chrome, 8, steps).text();
        // The writer leaves the list open, which some of the others cannot read.
        text.truncate(text.trim_ascii_end().len().saturating_sub(1));
        text.push(b']');
        out.write_all(&text)?;
        Ok(())
    })?;
    println!("JSON traces of about {} MB, one core\n", BYTES / 1_000_000);
    println!("| reader | time | bytes | |\n|---|---|---|---|");
    for (name, path) in [("CODAR", &codar), ("Chrome", &chrome)] {
        let source = MappedFile::open(path)?;
        let bytes = source.len() as f64;
        let (seconds, events) = best(5, || events(&source, name == "CODAR"))?;
        let target = format!("{events} events; > 500 MB/s: {}", verdict(bytes / seconds > TARGET));
        say(&format!("{name}, Parallax, all events"), bytes, "B", seconds, &target);
        let (seconds, ()) = best(2, || to_archive(path))?;
        say(&format!("{name}, Parallax, to an archive in memory"), bytes, "B", seconds, "");
        let (seconds, ()) = best(1, || {
            let text = source.as_slice().context("not mapped")?;
            serde_json::from_slice::<serde_json::Value>(text)?;
            Ok(())
        })?;
        say(&format!("{name}, serde_json to values"), bytes, "B", seconds, "");
        let text = path.to_string_lossy();
        match peers::python(JSON_LOAD, &[&text]) {
            Ok((seconds, _)) => say(&format!("{name}, Python json.load"), bytes, "B", seconds, ""),
            Err(why) => println!("| {name}, Python json.load | not measured: {why:#} | | |"),
        }
    }
    let bytes = std::fs::metadata(&chrome)?.len() as f64;
    match peers::python(PERFETTO, &[&chrome.to_string_lossy()]) {
        Ok((seconds, calls)) => {
            let note = format!("{calls} slices");
            say("Chrome, Perfetto trace_processor", bytes, "B", seconds, &note);
        }
        Err(why) => println!("| Chrome, Perfetto trace_processor | not measured: {why:#} | | |"),
    }
    Ok(())
}

fn file(name: &str, write: impl FnOnce(&mut dyn std::io::Write) -> Result<()>) -> Result<PathBuf> {
    let path = super::data()?.join(format!("{name}-{}MB.json", BYTES / 1_000_000));
    if !path.exists() {
        let mut out = BufWriter::new(File::create(&path)?);
        write(&mut out)?;
        out.flush()?;
    }
    Ok(path)
}

fn events(source: &MappedFile, is_codar: bool) -> Result<u64> {
    let (options, mut issues) = (TraceOptions::new("bench.json"), Issues::new());
    let count = if is_codar {
        let mut reader = CodarReader::open(source, &options)?;
        while reader.next_event(&mut issues)?.is_some() {}
        reader.events()
    } else {
        let mut reader = ChromeReader::open(source, &options)?;
        while reader.next_event(&mut issues)?.is_some() {}
        reader.events()
    };
    match issues.list().first() {
        Some(issue) => bail!("{}", issue.message),
        None => Ok(count),
    }
}

fn to_archive(path: &Path) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let parent = path.parent().unwrap_or(Path::new("."));
    let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(parent));
    let input = recognise(&folder, &name)?.context("no trace")?;
    let sink = Arc::new(MemorySink::new());
    convert(&input, "bench", sink, &ConvertOptions::default(), &Control::new())?;
    Ok(())
}
