//! The streams of a GPU are one member of a balance, and its time is the union of theirs.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

mod report_support;

use std::sync::Arc;

use parallax_analysis::balance::{Balance, BalanceRequest, Grouping, balance};
use parallax_base::{Control, Folder, Limits, MemorySink, MetricIdx};
use parallax_engine::Session;
use parallax_import::archive;
use parallax_import::events::{Conversion, TrackIdentity};
use parallax_model::IdentityKind;
use report_support::functions;

/// Rank and stream, and from when to when kernels run.
type Stream<'a> = (u64, u64, &'a [(u64, u64, &'a str)]);

fn session(streams: &[Stream]) -> Session {
    let sink = MemorySink::new();
    let mut conversion = Conversion::new(Arc::new(sink.clone()), 1 << 20).unwrap();
    for (rank, stream, kernels) in streams {
        let identity = vec![(IdentityKind::Rank, *rank), (IdentityKind::GpuStream, *stream)];
        let track = conversion.track(TrackIdentity { identity, ..TrackIdentity::default() });
        for (start, end, name) in *kernels {
            let function = conversion.function(name, "");
            let builder = conversion.builder(track).unwrap();
            builder.enter(*start, function);
            builder.leave(*end, None);
        }
    }
    conversion.finish().unwrap();
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("memory"));
    Session::new(archive::open(&folder, &Limits::default()).unwrap())
}

fn ask(session: &Session, grouping: Grouping) -> Balance {
    let metrics = &session.experiment().metrics;
    let time: Vec<MetricIdx> =
        metrics.iter().filter(|(_, metric)| metric.unit.is_time()).map(|(at, _)| at).collect();
    let request = BalanceRequest { grouping, ..BalanceRequest::new(time[0], functions(session)) };
    balance(session, &request, &Control::new()).unwrap()
}

#[test]
fn overlapping_streams_of_a_gpu_count_once() {
    // The first GPU computes for 30 us on two streams that overlap, the second one for 30 us on one
    // and twice 15 us of the same time on the other.
    let session = session(&[
        (0, 1, &[(1_000, 21_000, "kernel")]),
        (0, 2, &[(11_000, 31_000, "kernel")]),
        (1, 1, &[(1_000, 31_000, "kernel")]),
        (1, 2, &[(1_000, 16_000, "kernel"), (16_000, 31_000, "kernel")]),
    ]);
    for grouping in [Grouping::Location, Grouping::Identity(IdentityKind::Rank)] {
        let found = ask(&session, grouping);
        assert_eq!((found.members.len(), found.num_added), (2, 0));
        let row = &found.rows[0];
        assert_eq!(row.name, "kernel");
        assert_eq!(row.distribution.balance_ratio, Some(1.0), "{row:?}");
        assert!((row.distribution.sum / row.distribution.max - 2.0).abs() < 1e-12);
        assert_eq!(row.distribution.saving, 0.0);
    }
    let labels: Vec<String> =
        ask(&session, Grouping::Location).members.into_iter().map(|m| m.label).collect();
    assert_eq!(labels, ["rank 0 (2 streams)", "rank 1 (2 streams)"]);
}

#[test]
fn uneven_gpus_are_uneven_by_their_unions() {
    // 40 us on the first GPU, on both streams; 10 us and other 10 us on the second one.
    let session = session(&[
        (0, 1, &[(0, 40_000, "kernel")]),
        (0, 2, &[(0, 40_000, "kernel")]),
        (1, 1, &[(0, 10_000, "kernel")]),
        (1, 2, &[(20_000, 30_000, "kernel")]),
    ]);
    let row = &ask(&session, Grouping::Location).rows[0];
    // Mean and largest of 40 and 20.
    assert_eq!(row.distribution.balance_ratio, Some(0.75), "{row:?}");
}

#[test]
fn times_of_streams_without_a_trace_are_added_up_and_that_is_said() {
    let with_trace = session(&[
        (0, 1, &[(0, 40_000, "kernel")]),
        (0, 2, &[(0, 40_000, "kernel")]),
        (1, 1, &[(0, 40_000, "kernel")]),
    ]);
    let mut x = with_trace.experiment().clone();
    x.traces = None;
    let found = ask(&Session::new(x), Grouping::Location);
    assert_eq!((found.members.len(), found.num_added), (2, 1));
    assert_eq!(found.rows[0].distribution.balance_ratio, Some(0.75));
}
