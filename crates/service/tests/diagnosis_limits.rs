//! Findings that name the first few of many say how many more there are, and say nothing where
//! there are no more.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

mod converted;

use std::sync::Arc;

use converted::converted;
use parallax_base::{Folder, MemoryFolder};
use parallax_model::IdentityKind;
use parallax_protocol::{BalanceBy, BalanceRequest, ClusterChoice};
use parallax_service::analysis::report::{FindingKind, Report};
use parallax_service::{Answer, Control, OpenExperiment, OpenLimits, open};
use parallax_testkit::drawn::draw;
use parallax_testkit::hpctoolkit::iterations::{IterationPlan, PlannedPhase, Recording};
use parallax_testkit::hpctoolkit::{Database, Id, Point, WriteOptions, kind};

const MS: u64 = 1_000_000;

fn written(database: &Database) -> OpenExperiment {
    let files = database.to_files(&WriteOptions::default());
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("planted", files.by_path));
    open(&folder, &OpenLimits::default()).unwrap()
}

/// The calls of each track: from when to when, and what.
type Calls = Vec<(u64, u64, String)>;

fn diagnosed(opened: &OpenExperiment) -> Answer<Report> {
    opened.diagnose(None, &Control::default()).unwrap()
}

fn text(report: &Report, kind: FindingKind) -> &str {
    report.findings.iter().find(|finding| finding.kind == kind).map_or("", |found| &found.text)
}

/// The part of a text from `from` up to the next full stop that ends a sentence.
fn sentence<'a>(text: &'a str, from: &str) -> &'a str {
    let rest = text.split(from).nth(1).unwrap_or_default();
    rest.split(". ").next().unwrap_or_default()
}

#[test]
fn kinds_of_waiting_that_are_no_findings_are_counted() {
    let routines = ["MPI_Barrier", "MPI_Allreduce", "MPI_Alltoall", "MPI_Allgather"];
    for used in [2, 3, 4] {
        let tracks: Vec<_> = [0, 1]
            .map(|rank: u64| {
                let mut calls = Vec::new();
                for step in 0..8 * used as u64 {
                    let (start, end) = (step * 20 * MS, (step + 1) * 20 * MS - MS);
                    // The second rank computes for most of the time, and the first one waits.
                    let enter = start + if rank == 0 { MS } else { 15 * MS };
                    calls.push((start, enter, "work".to_owned()));
                    calls.push((enter, end, routines[step as usize % used].to_owned()));
                }
                (vec![(IdentityKind::Rank, rank), (IdentityKind::Thread, 0)], calls)
            })
            .into();
        let answer = diagnosed(&converted(&tracks));
        let waits = answer.value.findings.iter().filter(|f| f.kind == FindingKind::Waiting).count();
        assert_eq!(waits, 2);
        let said: Vec<&String> =
            answer.notes.iter().filter(|note| note.starts_with("wait states: ")).collect();
        match used - 2 {
            0 => assert!(said.is_empty(), "{said:?}"),
            more => {
                let [note] = said.as_slice() else { panic!("{said:?}") };
                assert!(note.contains(&format!(" {more} more take at least 5 % ")), "{note}");
            }
        }
    }
}

/// Four GPUs that do the same kernels in each iteration, each kernel twice as long on one of them.
fn kernels(number: usize) -> OpenExperiment {
    let phase = |nth: usize| PlannedPhase {
        name: format!("kernel_{nth}"),
        pieces: 1,
        nanos: (0..4).map(|gpu| vec![(5 + 5 * u64::from(gpu == nth % 4)) * MS; 40]).collect(),
    };
    let plan = IterationPlan {
        title: "kernels".into(),
        caller: "step".into(),
        phases: (0..number).map(phase).collect(),
        begins_nanos: (0..40).map(|nth| 100 * MS + nth * 100 * MS).collect(),
        span_nanos: 4300 * MS,
        recording: Recording::GpuStreams,
        waiting_ranks: 0,
    };
    written(&plan.database())
}

#[test]
fn kernels_that_are_not_named_are_counted() {
    for (number, more) in [(3, ""), (4, "1 more"), (6, "3 more")] {
        let report = diagnosed(&kernels(number)).value;
        let idle = text(&report, FindingKind::IdleGpu);
        let work = sentence(idle, "Most GPU time: ");
        assert_eq!(work.matches("kernel_").count(), 3, "{idle}");
        assert_eq!(work.contains(" more with at least 5 % each"), !more.is_empty(), "{idle}");
        assert!(work.contains(more), "{idle}");
        let iterations = text(&report, FindingKind::Iterations);
        assert_eq!(iterations.matches("alancing kernel_").count(), 3, "{iterations}");
        let contexts = match number {
            3 => String::new(),
            4 => "; 1 more context at least 2 % each".to_owned(),
            more => format!("; {} more contexts at least 2 % each", more - 3),
        };
        assert!(iterations.contains(&contexts), "{iterations}");
        assert_eq!(iterations.contains(" more context"), number > 3, "{iterations}");
    }
}

/// 16 ranks on two nodes, of which some are slow.
fn ranks(slow: impl Fn(usize) -> bool) -> OpenExperiment {
    let row = |fast: &str, late: &str| {
        (0..16).map(|rank| if slow(rank) { late } else { fast }).collect::<Vec<_>>().join(" ")
    };
    let drawing = format!(
        "main {}\n  solve {}\n    sweep {}\n  other {}\n",
        row("0", "0"),
        row("1", "1"),
        row("100", "300"),
        row("50", "51")
    );
    let mut database = draw("CPUTIME (sec)", &drawing);
    for (rank, profile) in database.profiles.iter_mut().enumerate() {
        profile.tuple[0] = Id::node(7 + rank as u32 % 3);
    }
    written(&database)
}

#[test]
fn slow_ranks_that_are_not_named_are_counted() {
    let report = diagnosed(&ranks(|rank| rank % 4 == 3)).value;
    let found = text(&report, FindingKind::Groups);
    assert!(found.contains("The slow ones are ranks 3, 7, 11, 15."), "{found}");
    let report = diagnosed(&ranks(|rank| matches!(rank, 0 | 2 | 4 | 6 | 9 | 10 | 12))).value;
    let found = text(&report, FindingKind::Groups);
    assert!(found.contains("are ranks 0, 2, 4, 6 and 3 more ranks."), "{found}");
}

const STREAM: [IdentityKind; 3] =
    [IdentityKind::Rank, IdentityKind::GpuDevice, IdentityKind::GpuStream];

/// A stream of a rank's GPU that executes a kernel again and again.
fn stream(of: [u64; 3], kernel: &str, nanos: u64) -> (Vec<(IdentityKind, u64)>, Calls) {
    let calls = (0..40).map(|nth| {
        let start = nth * 50 * MS;
        (start, start + nanos, kernel.to_owned())
    });
    (STREAM.into_iter().zip(of).collect(), calls.collect())
}

/// What `cluster` and `report` say about the balance of GPUs.
fn of_gpus(opened: &OpenExperiment) -> (Vec<String>, Answer<Report>, Vec<String>) {
    let control = Control::default();
    let cluster = ClusterChoice { by: BalanceBy::Profile, ..ClusterChoice::default() };
    let clusters = opened.clusters(&cluster, &control).unwrap();
    let sizes: Vec<u64> = clusters.value.clusters.sizes.clone();
    let members = clusters.value.measured.members.iter().map(|m| m.label.clone()).collect();
    assert_eq!(sizes.iter().sum::<u64>(), 2, "both GPUs in one group: {sizes:?}");
    assert!(sizes.len() <= 1, "{sizes:?}");
    (members, diagnosed(opened), clusters.notes)
}

#[test]
fn balanced_gpus_are_one_cluster_and_nothing_is_to_be_saved() {
    // Two GPUs with two streams each, whose work overlaps in one way or the other; and a second
    // stream that only copies.
    let cases = [
        [(20 * MS, "kernel"), (4 * MS, "kernel"), (20 * MS, "kernel"), (4 * MS, "kernel")],
        [(20 * MS, "kernel"), (4 * MS, "kernel"), (10 * MS, "kernel"), (20 * MS, "kernel")],
        [(20 * MS, "kernel"), (7 * MS, "<gpu copy>"), (20 * MS, "kernel"), (7 * MS, "<gpu copy>")],
    ];
    for case in cases {
        // GPUs of their own for both ranks, and two that both ranks use.
        for of in [
            [[0, 0, 1], [0, 0, 2], [1, 0, 1], [1, 0, 2]],
            [[0, 0, 1], [0, 0, 2], [0, 1, 1], [0, 1, 2]],
        ] {
            let tracks: Vec<_> = of
                .into_iter()
                .zip(case)
                .map(|(of, (nanos, kernel))| stream(of, kernel, nanos))
                .collect();
            let (members, report, notes) = of_gpus(&converted(&tracks));
            assert_eq!(members.len(), 2, "{members:?}");
            assert!(members.iter().all(|label| label.ends_with("(2 streams)")), "{members:?}");
            for kind in [FindingKind::Imbalance, FindingKind::Iterations, FindingKind::Groups] {
                assert_eq!(text(&report.value, kind), "");
            }
            let added = |notes: &[String]| notes.iter().any(|note| note.contains("are added up"));
            assert!(!added(&notes) && !added(&report.notes), "{notes:?} {:?}", report.notes);
        }
    }
}

#[test]
fn streams_that_were_added_up_are_said_in_balance_cluster_and_report() {
    // The same time on both GPUs, on other streams; there is no trace.
    let mut database = draw("GPUOP (sec)", "main . . . .\n  kernel 20 4 12 12\n");
    for (nth, profile) in (0_u32..).zip(&mut database.profiles) {
        profile.tuple = vec![
            Id::node(1),
            Id::logical(kind::RANK, nth / 2),
            Id::logical(kind::GPUCONTEXT, 1),
            Id::logical(kind::GPUSTREAM, nth % 2),
        ];
        assert!(profile.points.iter().any(|Point { value, .. }| *value > 0.0));
    }
    let opened = written(&database);
    let (_, report, notes) = of_gpus(&opened);
    let request = BalanceRequest { by: BalanceBy::Profile, ..BalanceRequest::default() };
    let balance = opened.balance(&request, &Control::default()).unwrap();
    assert_eq!(balance.value.balance.rows[0].distribution.balance_ratio, Some(1.0));
    let expected = "the times of the streams of 2 GPUs are added up, because no trace says when \
                    they overlap: they may be more than the time of the GPU";
    for notes in [&balance.notes, &notes, &report.notes] {
        assert!(notes.iter().any(|note| note == expected), "{notes:?}");
    }
    assert_eq!(text(&report.value, FindingKind::Imbalance), "");
}
