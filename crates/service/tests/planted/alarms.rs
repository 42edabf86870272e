//! Programs in which nothing is wrong.

use std::sync::atomic::{AtomicU64, Ordering};

use parallax_protocol::AnomaliesRequest;
use parallax_service::analysis::report::FindingKind;
use parallax_service::{Answers as _, Control};
use parallax_testkit::planted::{Executor, Piece, Program, Recording, Track, random_program};

use crate::recorded::{called, findings, recorded, sampled};

/// Findings that say where time goes, and not that any is lost.
const NO_ALARM: [FindingKind; 3] =
    [FindingKind::FewSamples, FindingKind::HotFunction, FindingKind::CriticalPath];

/// Whether streams execute something for nearly all of the run.
fn has_busy_gpus(program: &Program) -> bool {
    let tracks = || program.tracks.iter();
    let is_stream = |track: &&Track| matches!(track.place, Executor::Stream { .. });
    let end = tracks().flat_map(|track| &track.pieces).map(|piece| piece.end_nanos).max();
    let busy = |track: &Track| -> u64 {
        track.pieces.iter().map(|piece| piece.end_nanos - piece.start_nanos).sum()
    };
    let sum: u64 = tracks().filter(is_stream).map(busy).sum();
    let num = tracks().filter(is_stream).count() as f64;
    sum as f64 >= 0.85 * end.unwrap_or(0) as f64 * num && num > 0.0
}

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
            let opened = match seed % 4 {
                3 => recorded(&program),
                0 => sampled(&program, &Recording { trace: false, ..recording }),
                1 => sampled(&program, &recording),
                _ => called(&program),
            };
            let found = findings(&opened).into_iter();
            let accused = found.filter(|finding| match finding.kind {
                FindingKind::BusyGpu => !has_busy_gpus(&program),
                kind => !NO_ALARM.contains(&kind),
            });
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

#[test]
fn of_a_thousand_programs_without_a_cause_none_has_an_anomaly() {
    let found: Vec<String> = (0..1000)
        .filter_map(|seed| {
            let opened = called(&random_program(seed));
            let answer = opened.answer(&AnomaliesRequest::default(), &Control::new()).unwrap();
            let first = answer.tables.rows.name.first()?.clone();
            Some(format!("program {seed}: {first}, {} in all", answer.reply.total))
        })
        .collect();
    assert!(found.is_empty(), "{} false alarms: {found:#?}", found.len());
}

#[test]
fn anomalies_are_found_in_programs_with_one_long_call() {
    let mut compared = 0;
    for seed in 0..100 {
        let mut program = random_program(seed);
        let is_thread = |track: &&mut Track| matches!(track.place, Executor::Thread { .. });
        let tracks = program.tracks.iter_mut().filter(is_thread);
        let Some(track) = tracks.last() else { continue };
        // The longest part of the program's own, in the middle of the run.
        let names = |piece: &Piece| piece.path.last().cloned().unwrap_or_default();
        let is_own = |piece: &&Piece| !names(piece).starts_with("MPI_") && names(piece) != "launch";
        let own: Vec<Piece> = track.pieces.iter().filter(is_own).cloned().collect();
        let Some(wanted) = own.get(own.len() / 2) else { continue };
        let nanos = |piece: &Piece| piece.end_nanos - piece.start_nanos;
        // What a function does in several ways, by call path, has no usual duration.
        let is_alike = |piece: &Piece| nanos(piece).abs_diff(nanos(wanted)) < nanos(wanted) / 4;
        let mut same = own.iter().filter(|piece| names(piece) == names(wanted));
        let calls_others = |piece: &Piece| {
            piece.path.split_last().is_some_and(|(_, above)| above.contains(&names(wanted)))
        };
        let is_one = same.clone().count() >= 20 && same.all(is_alike);
        if names(wanted).starts_with("cuda") || !is_one || own.iter().any(calls_others) {
            continue;
        }
        let more = nanos(wanted) * 20;
        let from = wanted.start_nanos;
        for piece in track.pieces.iter_mut().filter(|piece| piece.end_nanos > from) {
            piece.end_nanos += more;
            piece.start_nanos += if piece.start_nanos > from { more } else { 0 };
        }
        compared += 1;
        let name = names(wanted);
        let opened = called(&program);
        let answer = opened.answer(&AnomaliesRequest::default(), &Control::new()).unwrap();
        assert_eq!(answer.tables.rows.name, [name.as_str()], "program {seed}");
    }
    assert!(compared >= 10, "{compared} programs have enough calls");
}
