//! Programs in which nothing is wrong.

use std::sync::atomic::{AtomicU64, Ordering};

use parallax_service::analysis::report::FindingKind;
use parallax_testkit::planted::{Recording, random_program};

use crate::recorded::{called, findings, sampled};

/// Findings that say where time goes, and not that any is lost.
const NO_ALARM: [FindingKind; 3] =
    [FindingKind::FewSamples, FindingKind::HotFunction, FindingKind::CriticalPath];

#[test]
fn of_a_thousand_programs_without_a_cause_none_is_accused() {
    const PROGRAMS: u64 = 1000;
    let next = AtomicU64::new(0);
    let accuse = || {
        let mut alarms = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= PROGRAMS {
                return alarms;
            }
            let program = random_program(seed);
            let recording = Recording { every_nanos: 1_000_000, ..Recording::default() };
            let opened = match seed % 3 {
                0 => sampled(&program, &Recording { trace: false, ..recording }),
                1 => sampled(&program, &recording),
                _ => called(&program),
            };
            let found = findings(&opened).into_iter();
            let accused = found.filter(|finding| !NO_ALARM.contains(&finding.kind));
            alarms.extend(accused.map(|finding| format!("program {seed}: {}", finding.text)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let alarms: Vec<String> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(accuse)).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(alarms.is_empty(), "{} false alarms: {alarms:#?}", alarms.len());
}
