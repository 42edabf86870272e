//! What bounds a program as a whole: said of programs that are bound by it, and of no others.

use parallax_base::{MetricIdx, Unit};
use parallax_service::analysis::report::{Bound, MetricTotal, Report, Verdict};
use parallax_service::{Control, OpenExperiment};
use parallax_testkit::planted::{
    Program, Recording, Simulation, oversubscribed_node, random_program, starved_gpu,
};

use crate::recorded::{called, recorded, sampled};

const MS: u64 = 1_000_000;

/// Eight ranks of which each iteration spends so long in each part; rank 3 computes longer by
/// `late`.
fn program(compute: u64, late: u64, transfer: u64, others: &[(&[&str], u64)]) -> Program {
    let mut run = Simulation::new(8, 8).started();
    for _ in 0..60 {
        run.next_iteration();
        for rank in 0..8 {
            let more = if rank == 3 { late } else { 0 };
            run.compute(rank, &["step", "solve"], compute * MS + more * MS + rank as u64 * 1000);
            for (path, millis) in others {
                run.compute(rank, path, millis * MS);
            }
        }
        run.collective(&["step", "norm", "MPI_Allreduce"], transfer * MS);
    }
    run.finish("bound")
}

fn report(opened: &OpenExperiment) -> Report {
    opened.diagnose(None, &Control::default()).unwrap().value
}

fn verdict(opened: &OpenExperiment) -> Verdict {
    Verdict::of(&report(opened))
}

#[test]
fn each_bound_is_said_of_the_program_that_is_bound_by_it() {
    let (reads, locks) = (["step", "load", "fread"], ["step", "queue", "pthread_mutex_lock"]);
    for (program, bound) in [
        (program(20, 0, 5, &[]), Bound::ComputeOrMemory),
        (program(10, 0, 20, &[]), Bound::Communication),
        (program(5, 30, 1, &[]), Bound::Imbalance),
        (program(5, 0, 1, &[(&reads, 20)]), Bound::Io),
        (program(5, 0, 1, &[(&locks, 20)]), Bound::Synchronisation),
    ] {
        for opened in [sampled(&program, &Recording::default()), called(&program)] {
            let verdict = verdict(&opened);
            assert_eq!(verdict.bound, Some(bound), "{}", verdict.line());
            assert!(verdict.percent.is_some_and(|percent| percent >= 50.0), "{}", verdict.line());
            assert!(!verdict.evidence.is_empty());
        }
    }
}

#[test]
fn the_share_is_that_which_was_planted() {
    // 20 of 30 ms are the transfer of the reduction; the program starts before.
    let verdict = verdict(&called(&program(10, 0, 20, &[])));
    let percent = verdict.percent.unwrap();
    assert!((percent - 66.7).abs() < 1.0, "{}", verdict.line());
    assert_eq!(
        verdict.line(),
        format!(
            "communication-bound (communication in MPI takes {percent:.1} % of wall-clock time)"
        )
    );
}

#[test]
fn gpus_bound_a_program_only_when_they_work() {
    let busy = |compute: u64| {
        let mut run = Simulation::new(2, 2).started();
        for _ in 0..300 {
            run.next_iteration();
            for rank in 0..2 {
                run.compute(rank, &["step", "prepare"], compute * MS / 10);
                run.kernel(rank, &["step", "launch", "<gpu kernel>", "update_kernel"], 10 * MS);
                run.synchronise(rank, &["step", "launch", "cudaStreamSynchronize"]);
            }
        }
        run.finish("gpus")
    };
    for opened in [sampled(&busy(1), &Recording::default()), called(&busy(1))] {
        let verdict = verdict(&opened);
        assert_eq!(verdict.bound, Some(Bound::Gpu), "{}", verdict.line());
    }
    for opened in [sampled(&busy(80), &Recording::default()), called(&busy(80))] {
        let verdict = verdict(&opened);
        assert_eq!(verdict.bound, None, "{}", verdict.line());
        assert!(verdict.reason.starts_with("GPUs are idle for 4"), "{}", verdict.line());
    }
    let starved = verdict(&called(&starved_gpu(true).program));
    assert!(starved.reason.contains("idle for"), "{}", starved.line());
}

#[test]
fn what_the_measurement_cannot_say_is_no_verdict() {
    let few = Recording { every_nanos: 400 * MS, ..Recording::default() };
    let verdict_of = |opened: OpenExperiment| verdict(&opened);
    let verdict = verdict_of(sampled(&program(20, 0, 5, &[]), &few));
    assert_eq!(verdict.line(), "none (there are too few samples)");
    let verdict = verdict_of(recorded(&oversubscribed_node(true).program));
    assert_eq!(verdict.bound, None, "{}", verdict.line());
    let thirds = program(10, 0, 10, &[(&["step", "load", "fread"], 10)]);
    let verdict = verdict_of(called(&thirds));
    assert!(verdict.line().starts_with("none (nothing takes half of"), "{}", verdict.line());
}

#[test]
fn counters_tell_computation_from_waiting_for_memory() {
    let plain = report(&called(&program(20, 0, 5, &[])));
    let with = |counters: &[(&str, f64)]| {
        let mut report = plain.clone();
        report.metrics.extend(counters.iter().map(|&(name, total)| MetricTotal {
            metric: MetricIdx::new(0),
            name: name.to_owned(),
            unit: Unit::Count,
            total: Some(total),
        }));
        let verdict = Verdict::of(&report);
        (verdict.bound, verdict.line())
    };
    for (counters, bound) in [
        (&[("PAPI_TOT_INS", 1e9), ("PAPI_L3_TCM", 2.5e7)][..], Bound::Memory),
        (&[("PAPI_TOT_INS", 1e9), ("PAPI_L3_TCM", 1e6)], Bound::Compute),
        (&[("perf::INSTRUCTIONS", 1e9), ("perf::CACHE-MISSES", 5e7)], Bound::Memory),
        (&[("cycles", 1e9), ("CYCLE_ACTIVITY.STALLS_MEM_ANY", 6e8)], Bound::Memory),
        (&[("cycles", 1e9), ("CYCLE_ACTIVITY.STALLS_MEM_ANY", 1e8)], Bound::Compute),
        // One of two says nothing.
        (&[("PAPI_L3_TCM", 2.5e7)], Bound::ComputeOrMemory),
        (&[("PAPI_TOT_INS", 1e9), ("PAPI_L1_DCM", 2.5e8)], Bound::ComputeOrMemory),
    ] {
        let (found, line) = with(counters);
        assert_eq!(found, Some(bound), "{line}");
    }
}

#[test]
fn programs_without_a_cause_compute() {
    for seed in 0..100 {
        let opened = called(&random_program(seed));
        let verdict = verdict(&opened);
        let lost = [
            Bound::Communication,
            Bound::Imbalance,
            Bound::Synchronisation,
            Bound::Io,
            Bound::Allocation,
            Bound::Latency,
        ];
        assert!(
            verdict.bound.is_none_or(|bound| !lost.contains(&bound)),
            "program {seed}: {}",
            verdict.line()
        );
    }
}
