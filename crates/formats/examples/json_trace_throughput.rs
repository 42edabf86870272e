//! How fast JSON traces are read, compared with `serde_json` into a tree of values.
//!
//! `cargo run --release -p parallax-formats --example json_trace_throughput [MB] [STYLE]` makes a
//! trace of about that many megabytes (200) in each style (or `tau`, `codar`, `chrome`, `kineto`),
//! reads it from memory five times by layout, once name by name, and once with `serde_json`, checks
//! the counts, and prints the best speed of each, by processor time (Linux). `once` as a third word reads once by layout only,
//! for a profiler, and `stream` reads the text while it is made and prints the peak of memory. A
//! path instead of MB reads that file.

use parallax_base::{Issues, MemorySource, ReadError};
use parallax_formats::json_trace::{
    ChimbukoReader, ChromeReader, CodarKind, CodarReader, JsonTraceFormat, Phase, TraceOptions,
    sniff,
};
use parallax_formats::stream::{ByteStream, read_all};
use parallax_testkit::json_trace::{Counts, JsonTrace, Style};

type Failure = Box<dyn std::error::Error>;

fn read(text: &MemorySource, format: JsonTraceFormat, by_layout: bool) -> Result<Counts, Failure> {
    let options = TraceOptions { by_layout, ..TraceOptions::new("made.json") };
    let (mut issues, mut counts) = (Issues::new(), Counts::default());
    match format {
        JsonTraceFormat::Chrome => {
            let mut reader = ChromeReader::open(text, &options)?;
            while let Some(event) = reader.next_event(&mut issues)? {
                match event.phase {
                    Phase::Begin | Phase::Complete => counts.entries += 1,
                    Phase::FlowStart => counts.sends += 1,
                    Phase::Counter => counts.counters += 1,
                    _ => {}
                }
            }
        }
        JsonTraceFormat::Codar => {
            let mut reader = CodarReader::open(text, &options)?;
            while let Some(event) = reader.next_event(&mut issues)? {
                match event.kind {
                    CodarKind::Entry => counts.entries += 1,
                    CodarKind::Send => counts.sends += 1,
                    CodarKind::Counter => counts.counters += 1,
                    _ => {}
                }
            }
        }
        _ => {
            let mut reader = ChimbukoReader::open(text, &options)?;
            while reader.next_row(&mut issues)?.is_some() {
                counts.entries += 1;
            }
        }
    }
    for issue in issues.list() {
        println!("  {} x {}: {}", issue.count, issue.kind, issue.message);
    }
    Ok(counts)
}

/// Processor time of this thread in seconds: on a busy machine the clock on the wall says little.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|nanos| nanos.parse().ok());
    nanos.unwrap_or(f64::NAN) / 1e9
}

fn timed<T>(
    what: &str,
    bytes: usize,
    times: u32,
    mut work: impl FnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut best = f64::INFINITY;
    let mut left = times;
    loop {
        let start = cpu_seconds();
        let result = work()?;
        best = best.min(cpu_seconds() - start);
        left -= 1;
        if left == 0 {
            println!("  {what}: {:.0} MB/s", bytes as f64 / 1e6 / best);
            return Ok(result);
        }
    }
}

/// A trace that is never whole in memory.
struct Made(JsonTrace);

impl ByteStream for Made {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let cause =
            |error: std::io::Error| ReadError::Storage { offset: 0, cause: error.to_string() };
        std::io::Read::read(&mut self.0, buffer).map_err(cause)
    }
}

fn stream(style: Style, steps: u64) -> Result<(), Failure> {
    let mut made = Made(JsonTrace::new(style, 8, steps));
    let (options, mut issues) = (TraceOptions::new("made.json"), Issues::new());
    let events = if matches!(style, Style::Tau | Style::Codar) {
        let mut reader = CodarReader::new(&mut made, &options);
        while reader.next_event(&mut issues)?.is_some() {}
        reader.events()
    } else {
        let mut reader = ChromeReader::new(&mut made, &options);
        while reader.next_event(&mut issues)?.is_some() {}
        reader.events()
    };
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    println!("{style:?}: {events} events in {} bytes; {peak}", made.0.produced());
    Ok(())
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let first = arguments.first().map_or("200", String::as_str);
    let once = arguments.get(2).is_some_and(|word| word == "once");
    if first.parse::<u64>().is_err() {
        let packed = MemorySource::new(std::fs::read(first)?);
        let text = {
            let mut stream = parallax_formats::compressed::open(&packed)?;
            read_all(&mut stream, 8 << 30)?.ok_or("too large")?
        };
        let format = sniff(&text).ok_or("no JSON trace")?;
        println!("{first}: {}, {} bytes", format.name(), text.len());
        let source = MemorySource::new(text.clone());
        let times = if once { 1 } else { 5 };
        let counts = timed("by layout", text.len(), times, || read(&source, format, true))?;
        println!("  {counts:?}");
        if !once {
            timed("name by name", text.len(), 1, || read(&source, format, false))?;
            if format != JsonTraceFormat::Chimbuko {
                timed("serde_json to values", text.len(), 1, || {
                    Ok(serde_json::from_slice::<serde_json::Value>(&text)?)
                })?;
            }
        }
        return Ok(());
    }
    let megabytes: u64 = first.parse()?;
    let styles = [
        ("tau", Style::Tau, 132 * 8),
        ("codar", Style::Codar, 140 * 8),
        ("chrome", Style::Chrome, 130 * 8),
        ("kineto", Style::Kineto, 370 * 4),
    ];
    for (name, style, step_bytes) in styles {
        if arguments.get(1).is_some_and(|wanted| wanted != name && wanted != "all") {
            continue;
        }
        let steps = megabytes * 1_000_000 / (step_bytes * 8);
        if arguments.get(2).is_some_and(|word| word == "stream") {
            stream(style, steps)?;
            continue;
        }
        let (text, planted) = JsonTrace::new(style, 8, steps).text();
        let format = sniff(&text).ok_or("no JSON trace")?;
        println!("{name}: {}, {} bytes", format.name(), text.len());
        let source = MemorySource::new(text.clone());
        let times = if once { 1 } else { 5 };
        let counts = timed("by layout", text.len(), times, || read(&source, format, true))?;
        if counts != planted {
            return Err(format!("{counts:?} read, {planted:?} planted").into());
        }
        if !once {
            timed("name by name", text.len(), 1, || read(&source, format, false))?;
            let mut tree = text;
            if style == Style::Chrome {
                // What this writer leaves out, the peer insists on.
                let kept = tree.trim_ascii_end().strip_suffix(b",").map_or(tree.len(), <[u8]>::len);
                tree.truncate(kept);
                tree.push(b']');
            }
            timed("serde_json to values", tree.len(), 1, || {
                Ok(serde_json::from_slice::<serde_json::Value>(&tree)?)
            })?;
        }
    }
    Ok(())
}
