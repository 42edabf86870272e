//! What several fuzz targets check.

mod questions;

use parallax_base::{Issues, Limits, MemorySource, ReadError};
use parallax_formats::json_trace::{TraceLimits, TraceOptions};
use parallax_formats::scaling_data::{
    ReadOptions, assemble_parts, read, read_part, read_stream, split,
};
use parallax_formats::stream::ChunkStream;
use parallax_model::Experiment;

pub use questions::{ask_everything, dispatcher};

/// Reads measurements from `bytes` in parts, as workers do: the same result and issues as from
/// front to back.
pub fn check_parts(bytes: &[u8], name: &str) {
    let limits = Limits { metadata_bytes: 64 << 20, ..Limits::default() };
    let options = ReadOptions { limits, ..ReadOptions::new(name) };
    let source = MemorySource::new(bytes.to_vec());
    let mut expected = Issues::new();
    let whole = read(&source, &options, &mut expected);
    for parts in 2..6 {
        let Some(ranges) = split(&source, name, parts, 0) else { continue };
        let parts: Vec<Vec<u8>> =
            ranges.into_iter().map(|range| read_part(&source, range, &options)).collect();
        let mut issues = Issues::new();
        let found = assemble_parts(&source, &parts, &options, &mut issues);
        assert_eq!((&found, &issues), (&whole, &expected));
    }
}

/// Reads measurements from `bytes` under the file name `name`, as a whole and in small pieces:
/// both give the same, values are finite, and what refers to something refers to what exists.
pub fn check_measurements(bytes: &[u8], name: &str) {
    // A file is unpacked when it is read, a stream comes unpacked.
    if bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return;
    }
    let limits = Limits { metadata_bytes: 64 << 20, ..Limits::default() };
    let options = ReadOptions { limits, ..ReadOptions::new(name) };
    let source = MemorySource::new(bytes.to_vec());
    let whole = read(&source, &options, &mut Issues::new());
    // The same bytes in small pieces give the same measurements.
    let pieces: Vec<Vec<u8>> = bytes.chunks(7).map(<[u8]>::to_vec).collect();
    let stream = ChunkStream::new(pieces.into_iter().map(Ok));
    let pieces = read_stream(stream, &options, &mut Issues::new());
    assert_eq!(whole, pieces);
    let Ok(found) = whole else { return };
    assert!(found.samples.iter().all(|s| s.value.is_finite()));
    assert!(
        found
            .samples
            .is_sorted_by(|a, b| { (a.metric, a.region, a.run) < (b.metric, b.region, b.run) })
    );
    for sample in &found.samples {
        assert!((sample.metric as usize) < found.metrics.len());
        assert!((sample.region as usize) < found.regions.len());
        assert!((sample.run as usize) < found.runs.len());
    }
    for run in &found.runs {
        let coordinate = &found.coordinates[run.coordinate as usize];
        assert_eq!(coordinate.len(), found.parameters.len());
        for (value, parameter) in coordinate.iter().zip(&found.parameters) {
            assert!((*value as usize) < parameter.values.len());
        }
    }
    for (at, region) in found.regions.iter().enumerate() {
        assert!(region.parent.is_none_or(|above| (above as usize) < at));
    }
}

/// How many bytes of a trace arrive at once.
pub const TRACE_PIECES: [usize; 2] = [usize::MAX, 7];

/// Bounds so small that inputs reach them.
pub fn trace_options(by_layout: bool) -> TraceOptions<'static> {
    let limits = TraceLimits { event_bytes: 2048, name_bytes: 1024, metadata_bytes: 2048 };
    TraceOptions { limits, by_layout, ..TraceOptions::new("fuzz.json") }
}

/// The bytes of a trace, a few at a time.
pub fn trace_stream(
    bytes: &[u8],
    piece: usize,
) -> ChunkStream<impl Iterator<Item = Result<Vec<u8>, ReadError>>> {
    let pieces: Vec<_> = bytes.chunks(piece.min(bytes.len().max(1))).map(<[u8]>::to_vec).collect();
    ChunkStream::new(pieces.into_iter().map(Ok))
}

/// Steps of the archive of which a table is replaced: enough for two levels of nodes.
pub const STEPS: u64 = 8;

/// What is known of single calls keeps its promises: contexts form a tree, everything below an
/// activation lies in it, and what refers to something refers to what exists.
pub fn check_activations(experiment: &Experiment) {
    assert_eq!(experiment.contexts.check(), Ok(()));
    let Some(activations) = &experiment.activations else { return };
    let tree = &activations.tree;
    for activation in tree.iter() {
        let below = tree.subtree(activation);
        assert!(below.end <= tree.len());
        assert!(tree.parent(activation).is_none_or(|parent| tree.subtree(parent).end >= below.end));
        assert!(tree.context(activation).idx() < experiment.contexts.len());
        assert!(tree.thread(activation).idx() < activations.threads.len());
        let time = tree.time(activation);
        assert!(time.start_nanos <= time.end_nanos);
    }
    for touch in activations.touches.all() {
        assert!(touch.reference.idx() < activations.references.len());
    }
}
