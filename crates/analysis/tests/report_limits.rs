//! What a report leaves out is said with its number, and nothing is said where nothing is left out.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

mod report_support;

use parallax_analysis::report::{FindingKind, Report, ReportOptions, report};
use parallax_base::Control;
use parallax_testkit::drawn::draw;
use report_support::open;

fn ask(drawing: &str) -> Report {
    let session = open(&draw("CPUTIME (sec)", drawing));
    report(&session, &ReportOptions::default(), &Control::new()).unwrap()
}

/// The number in "N more ..." of the only limit that contains `text`; 0 where none does.
fn more(report: &Report, text: &str) -> usize {
    let found: Vec<&String> = report.limits.iter().filter(|limit| limit.contains(text)).collect();
    let [limit] = found.as_slice() else {
        assert!(found.is_empty(), "{:?}", report.limits);
        return 0;
    };
    let before = limit.split(" more").next().unwrap();
    before.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn functions_whose_balance_is_not_examined_are_counted() {
    // Each calls the next one, so that all have the time of the last one.
    for functions in [100, 101, 130] {
        let mut drawing = String::new();
        for depth in 0..functions {
            let time = if depth + 1 == functions { "100 100" } else { ". ." };
            drawing += &format!("{}f{depth} {time}\n", "  ".repeat(depth));
        }
        let found = ask(&drawing);
        assert_eq!(found.balance.as_ref().unwrap().rows.len(), 100);
        let text = "were examined; ";
        assert_eq!(more(&found, text), functions - 100, "{:?}", found.limits);
        assert_eq!(found.limits.len(), usize::from(functions > 100));
    }
}

/// Functions that take twice as long on the last of four ranks.
fn uneven(functions: usize, mpi_paths: usize) -> Report {
    // Short times say how often samples were taken.
    let tick = "    tick 0.001 0.001 0.001 0.001\n";
    let mut drawing = String::from("main . . . .\n");
    for nth in 0..functions {
        drawing += &format!("  work_{nth} 100 100 100 200\n{tick}");
    }
    for nth in 0..mpi_paths {
        drawing += &format!("  exchange_{nth} . . . .\n    MPI_Recv 2 2 2 .\n");
    }
    ask(&drawing)
}

#[test]
fn imbalances_that_are_no_findings_are_counted() {
    for (functions, not_listed, not_examined) in
        [(3, 0, 0), (4, 1, 0), (8, 5, 0), (9, 5, 1), (12, 5, 4)]
    {
        let found = uneven(functions, 0);
        let findings = found.findings.iter().filter(|f| f.kind == FindingKind::Imbalance).count();
        assert_eq!(findings, 3);
        assert_eq!(more(&found, "are findings; "), not_listed, "{:?}", found.limits);
        assert_eq!(more(&found, "were examined; "), not_examined, "{:?}", found.limits);
        let num_limits = usize::from(not_listed > 0) + usize::from(not_examined > 0);
        assert_eq!(found.limits.len(), num_limits);
    }
}

#[test]
fn call_paths_of_mpi_that_are_not_added_up_are_counted() {
    for (paths, left_out) in [(200, 0), (207, 7)] {
        let found = uneven(1, paths);
        let mpi = found.findings.iter().find(|f| f.kind == FindingKind::Mpi).unwrap();
        assert!(mpi.text.contains("wait for rank 3"), "{}", mpi.text);
        assert_eq!(more(&found, "call paths of MPI"), left_out, "{:?}", found.limits);
        assert_eq!(found.limits.len(), usize::from(left_out > 0));
    }
}
