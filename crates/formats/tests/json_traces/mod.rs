//! What tests of JSON traces share: the corpus, and whole traces as text.

#![allow(dead_code, reason = "each test uses a part")]

use std::path::{Path, PathBuf};

use parallax_base::{Issues, MemorySource};
use parallax_formats::compressed;
use parallax_formats::json_trace::{
    ChimbukoReader, ChimbukoRow, ChromeReader, CodarEvent, CodarReader, ExecutionsReader,
    TraceLimits, TraceOptions,
};
use parallax_formats::stream::{ChunkStream, read_all};

fn folder() -> Option<PathBuf> {
    parallax_testkit::needs::corpus_path("data")
}

/// The (decompressed) file of the corpus whose path begins with `stem`; `None` without a corpus.
pub(crate) fn corpus(stem: &str) -> Option<Vec<u8>> {
    let wanted = folder()?.join(stem);
    let name = wanted.file_name().unwrap().to_string_lossy().into_owned();
    let mut found: Vec<PathBuf> = std::fs::read_dir(wanted.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(&name))
        .collect();
    found.sort();
    let path = found.first().unwrap_or_else(|| panic!("{stem} is not in the corpus"));
    Some(decompressed(path))
}

pub(crate) fn decompressed(path: &Path) -> Vec<u8> {
    let source = MemorySource::new(std::fs::read(path).unwrap());
    let mut stream = compressed::open(&source).unwrap();
    read_all(&mut stream, 1 << 30).unwrap().unwrap()
}

/// Every JSON file of the corpus, compressed or not; `None` without a corpus.
pub(crate) fn all_json() -> Option<Vec<PathBuf>> {
    let mut folders = vec![folder()?];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".json") || name.ends_with(".json.gz") {
                found.push(path);
            }
        }
    }
    Some(found)
}

fn options(by_layout: bool) -> TraceOptions<'static> {
    let limits = TraceLimits { event_bytes: 1 << 20, ..TraceLimits::default() };
    TraceOptions { by_layout, limits, ..TraceOptions::new("trace.json") }
}

fn pieces(text: &[u8], piece: usize) -> Vec<Vec<u8>> {
    text.chunks(piece.min(text.len().max(1))).map(<[u8]>::to_vec).collect()
}

/// Everything that a reader of Chrome trace events says about a text, which arrives in pieces.
pub(crate) fn chrome(text: &[u8], by_layout: bool, piece: usize) -> (Vec<String>, Issues) {
    let stream = ChunkStream::new(pieces(text, piece).into_iter().map(Ok));
    let mut reader = ChromeReader::new(stream, &options(by_layout));
    let (mut issues, mut out) = (Issues::new(), Vec::new());
    loop {
        match reader.next_event(&mut issues) {
            Ok(Some(event)) => out.push(format!(
                "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
                event.offset,
                event.phase,
                event.name,
                event.categories,
                event.process,
                event.thread,
                event.time_nanos,
                event.duration_nanos,
                event.id(),
                (event.thread_time_nanos(), event.bind_id(), event.flow_in(), event.flow_out()),
                String::from_utf8_lossy(event.args.text()),
                String::from_utf8_lossy(event.text),
            )),
            Ok(None) => break,
            Err(error) => {
                out.push(error.to_string());
                break;
            }
        }
    }
    out.extend(reader.names().iter().map(str::to_owned));
    out.push(format!("{:?} {} {}", reader.metadata(), reader.bytes_read(), reader.empty_events()));
    (out, issues)
}

/// Everything that a reader of CODAR events says about a text, which arrives in pieces.
pub(crate) fn codar(text: &[u8], by_layout: bool, piece: usize) -> (Vec<String>, Issues) {
    let stream = ChunkStream::new(pieces(text, piece).into_iter().map(Ok));
    let mut reader = CodarReader::new(stream, &options(by_layout));
    let (mut issues, mut out) = (Issues::new(), Vec::new());
    loop {
        match reader.next_event(&mut issues) {
            Ok(Some(event)) => {
                let text = String::from_utf8_lossy(event.text).into_owned();
                let bare = CodarEvent { text: &[], ..event };
                out.push(format!("{bare:?} {text}"));
            }
            Ok(None) => break,
            Err(error) => {
                out.push(error.to_string());
                break;
            }
        }
    }
    out.extend(reader.names().iter().map(str::to_owned));
    out.push(format!("{:?} {} {}", reader.metadata(), reader.bytes_read(), reader.empty_events()));
    (out, issues)
}

/// Everything that a reader of executions says about a text, which arrives in pieces.
pub(crate) fn executions(text: &[u8], by_layout: bool, piece: usize) -> (Vec<String>, Issues) {
    let stream = ChunkStream::new(pieces(text, piece).into_iter().map(Ok));
    let mut reader = ExecutionsReader::new(stream, &options(by_layout));
    let (mut issues, mut out) = (Issues::new(), Vec::new());
    while let Ok(Some(call)) = reader.next_execution(&mut issues) {
        out.push(format!("{call:?}"));
    }
    out.extend(reader.names().iter().map(str::to_owned));
    out.push(format!("{:?} {}", reader.metadata(), reader.executions()));
    (out, issues)
}

/// The rows of a text, which arrives in pieces.
pub(crate) fn rows(text: &[u8], piece: usize) -> (Vec<ChimbukoRow>, Issues) {
    let stream = ChunkStream::new(pieces(text, piece).into_iter().map(Ok));
    let mut reader = ChimbukoReader::new(stream, &options(true));
    let (mut issues, mut out) = (Issues::new(), Vec::new());
    while let Ok(Some(row)) = reader.next_row(&mut issues) {
        out.push(row);
    }
    (out, issues)
}
