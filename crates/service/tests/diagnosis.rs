//! The report with what all analyses know: planted differences are told, with what they cost and
//! where they are, and what is even is not.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parallax_native::DiskFolder;
use parallax_protocol::{IterationsRequest, NodeNames, TextFile, TopologyRequest};
use parallax_service::analysis::report::{Finding, FindingKind, NextAction, Report};
use parallax_service::{Answers as _, Control, OpenExperiment, OpenLimits, open};
use parallax_testkit::hpctoolkit::WriteOptions;
use parallax_testkit::hpctoolkit::generate::{Congestion, GenerateOptions, Planted, generate};
use parallax_testkit::hpctoolkit::iterations::gamess;

fn opened(dir: &Path) -> OpenExperiment {
    let folder = DiskFolder::new(dir);
    open(&(Arc::new(folder) as _), &OpenLimits::default()).unwrap()
}

fn diagnosed(opened: &OpenExperiment) -> Report {
    opened.diagnose(None, &Control::default()).unwrap().value
}

fn find(report: &Report, kind: FindingKind) -> Option<&Finding> {
    report.findings.iter().find(|finding| finding.kind == kind)
}

fn number(finding: &Finding, what: &str) -> f64 {
    finding.evidence.iter().find(|one| one.what == what).unwrap().value
}

fn congested() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/congested")
}

#[test]
fn slow_nodes_are_told_with_what_they_cost_and_where_they_stand() {
    let opened = opened(&congested());
    let report = diagnosed(&opened);
    let finding = find(&report, FindingKind::Groups).unwrap();
    for part in [
        "24 of 96 ranks on 24 nodes take 2.76 s each in MPI_Allreduce below \
         hypre_ParCSRMatrixSetNumNonzeros_core, the other 72 take 691 ms.",
        "The slow ones are 10.128.0.9, 10.128.0.12, 10.128.0.15 and 21 more; add a host table to see",
    ] {
        assert!(finding.text.contains(part), "{}", finding.text);
    }
    let potential = finding.potential.as_ref().unwrap();
    assert!((potential.amount - 2.07).abs() < 0.005 && (potential.percent - 39.9).abs() < 0.1);
    assert_eq!(potential.condition, "for each slow one, if as fast as the others");
    assert!((finding.percent - 39.9).abs() < 0.1, "{}", finding.percent);
    assert_eq!(finding.next.action, NextAction::RankClusters);
    // The imbalance of its caller is the same difference, and says less.
    assert_eq!(find(&report, FindingKind::Imbalance), None);
    let context = opened.session().tree().label(finding.context.unwrap());
    assert_eq!(context, "MPI_Allreduce");

    let text = std::fs::read_to_string(congested().join("hosts.csv")).unwrap();
    let hosts = vec![TextFile { name: "hosts.csv".into(), text }];
    let place = TopologyRequest { hosts, system: NodeNames::Aurora, ..Default::default() };
    let answer = opened.diagnose_at(None, &place, &Control::default()).unwrap();
    let finding = find(&answer.value, FindingKind::Groups).unwrap();
    for part in
        ["are in 3 of 3 racks (16 of 32 nodes of x4101, ", "including all nodes of 2 chassis"]
    {
        assert!(finding.text.contains(part), "{}", finding.text);
    }
    assert_eq!(finding.next.action, NextAction::RankRacks);
    assert!(answer.notes.iter().any(|note| note.contains("96 hosts")), "{:?}", answer.notes);
    let hosts = vec![TextFile { name: "h.csv".into(), text: "hostid,xname\nzz,a\n".into() }];
    let place = TopologyRequest { hosts, ..TopologyRequest::default() };
    let error = opened.diagnose_at(None, &place, &Control::default()).unwrap_err();
    assert!(error.is_misuse() && error.to_string().starts_with("h.csv, line 2: "), "{error}");
}

#[test]
fn of_very_many_ranks_nodes_are_grouped() {
    let dir = tempfile::tempdir().unwrap();
    let options = GenerateOptions {
        ranks: 20_200,
        ranks_per_node: 100,
        contexts: 100,
        values_per_rank: 20,
        iterations: 1,
        imbalance: None,
        congestion: Some(Congestion { nodes: 40, racks: 5 }),
        trace: false,
        elided: false,
        ..GenerateOptions::default()
    };
    generate(dir.path(), &options, |_, _, _| ()).unwrap();
    let opened = opened(dir.path());
    let text = std::fs::read_to_string(dir.path().join("hosts.csv")).unwrap();
    let hosts = vec![TextFile { name: "hosts.csv".into(), text }];
    let place = TopologyRequest { hosts, system: NodeNames::Aurora, ..Default::default() };
    let report = opened.diagnose_at(None, &place, &Control::default()).unwrap().value;
    let finding = find(&report, FindingKind::Groups).unwrap();
    for part in [
        "40 of 202 nodes take 2.75 s for each rank in MPI_Allreduce below \
         hypre_ParCSRMatrixSetNumNonzeros_core, the other 162 take 691 ms.",
        "The slow ones are in 5 of 7 racks",
    ] {
        assert!(finding.text.contains(part), "{}", finding.text);
    }
    let potential = finding.potential.as_ref().unwrap();
    assert!((potential.amount - 2.06).abs() < 0.005 && (potential.percent - 39.8).abs() < 0.1);
    assert_eq!(finding.next.action, NextAction::NodeRacks);
}

#[test]
fn the_kernels_of_gamess_are_told_with_what_balancing_them_saves() {
    let dir = tempfile::tempdir().unwrap();
    gamess().database().to_files(&WriteOptions::default()).write_to(dir.path()).unwrap();
    let opened = opened(dir.path());
    let report = diagnosed(&opened);
    let finding = find(&report, FindingKind::Iterations).unwrap();
    let text = &finding.text;
    for part in [
        "11 iterations (median 7.77 s), beginning with <gpu kernel> (below gpu_ompmod_twoei_jk_)",
        "on 8 GPU streams",
        "Balancing gpu_rhf_j05_ppps_ would save up to 9.25 s (10.6 % of the run)",
        "More cannot be saved: computation takes the rest of the time on each of the GPU streams",
        "balancing gpu_rhf_j04_psps_ up to 5.23 s (6.0 % of the run)",
        "balancing gpu_rhf_j03_ppss_ up to 2.32 s (2.7 % of the run)",
    ] {
        assert!(text.contains(part), "{text}");
    }
    // Of the other kernels balancing saves less than 2 %.
    assert!(!text.contains("j06") && !text.contains("j02"), "{text}");
    assert!((finding.percent - 10.63).abs() < 0.1, "{}", finding.percent);
    assert!((number(finding, "iterations") - 11.0).abs() < f64::EPSILON);
    assert!(
        (number(finding, "potential saving by balancing gpu_rhf_j05_ppps_") - 9.251).abs() < 0.01
    );
    // Servers of data do nothing of what the other ranks do: these are no groups, and nobody waits.
    assert_eq!(find(&report, FindingKind::Groups), None);
    assert_eq!(find(&report, FindingKind::Imbalance), None);
    let mpi = find(&report, FindingKind::Mpi).unwrap();
    assert!(mpi.text.contains("ddi_server") && !mpi.text.contains("wait for"), "{}", mpi.text);
}

fn generated(dir: &Path, imbalance: bool) -> Planted {
    let mut options = GenerateOptions {
        ranks: 16,
        contexts: 300,
        values_per_rank: 90,
        iterations: 30,
        seed: 3,
        ..GenerateOptions::default()
    };
    if !imbalance {
        options.imbalance = None;
    }
    generate(dir, &options, |_, _, _| ()).unwrap()
}

#[test]
fn an_uneven_time_step_is_told_and_an_even_one_is_not() {
    let dir = tempfile::tempdir().unwrap();
    generated(&dir.path().join("uneven"), true);
    let report = diagnosed(&opened(&dir.path().join("uneven")));
    let finding = find(&report, FindingKind::Iterations).unwrap();
    assert!(finding.text.starts_with("30 iterations (median "), "{}", finding.text);
    assert!(finding.text.contains("rank 15 is slowest in it"), "{}", finding.text);
    assert!(finding.percent > 5.0, "{}", finding.text);
    generated(&dir.path().join("even"), false);
    let even = opened(&dir.path().join("even"));
    let report = diagnosed(&even);
    for kind in [FindingKind::Iterations, FindingKind::Groups, FindingKind::Imbalance] {
        assert_eq!(find(&report, kind), None);
    }
    // Its iterations are there, though.
    let found =
        even.answer(&IterationsRequest::default(), &Control::default()).unwrap().reply.found;
    assert_eq!(found.unwrap().count, 30);
}

#[test]
fn without_traces_everything_else_is_told() {
    let dir = tempfile::tempdir().unwrap();
    generated(dir.path(), true);
    let trace = dir.path().join("trace.db");
    let whole = opened(dir.path()).diagnose(None, &Control::default()).unwrap();
    assert!(whole.notes.is_empty(), "{:?}", whole.notes);
    std::fs::remove_file(&trace).unwrap();
    let less = opened(dir.path()).diagnose(None, &Control::default()).unwrap();
    assert_eq!(find(&less.value, FindingKind::Iterations), None);
    assert!(find(&less.value, FindingKind::Mpi).is_some());
    assert!(less.notes.is_empty(), "{:?}", less.notes);
}
