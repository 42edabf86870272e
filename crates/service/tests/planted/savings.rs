//! What findings promise is at most what is lost.

use parallax_base::Unit;
use parallax_service::analysis::report::FindingKind;
use parallax_testkit::planted::{Recording, uneven_program};

use crate::recorded::{called, findings, sampled};

/// Findings that promise that work is spread otherwise, and not that there is less of it.
const BALANCING: [FindingKind; 5] = [
    FindingKind::Mpi,
    FindingKind::Imbalance,
    FindingKind::Waiting,
    FindingKind::Iterations,
    FindingKind::Groups,
];

#[test]
fn no_balance_saves_more_than_what_ranks_wait() {
    let recording = Recording { every_nanos: 1_000_000, ..Recording::default() };
    let mut promised = 0;
    for seed in 0..90 {
        let program = uneven_program(seed);
        let opened = match seed % 3 {
            0 => sampled(&program, &Recording { trace: false, ..recording }),
            1 => sampled(&program, &recording),
            _ => called(&program),
        };
        let waited = program.waited_seconds();
        for finding in findings(&opened) {
            let Some(potential) = &finding.potential else { continue };
            if potential.unit != Unit::Seconds || !BALANCING.contains(&finding.kind) {
                continue;
            }
            promised += 1;
            // A sample more or less on each end.
            let most = waited * 1.03 + 0.003;
            let amount = potential.amount;
            assert!(amount <= most, "program {seed}: {amount} s of {waited} s: {}", finding.text);
        }
    }
    assert!(promised > 60, "{promised} promises");
}
