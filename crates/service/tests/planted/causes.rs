//! Each cause, in each recording that can show it.

use parallax_protocol::IterationsRequest;
use parallax_service::analysis::idleness::SourceChoice;
use parallax_service::analysis::report::{Finding, FindingKind};
use parallax_service::{Answers as _, Control, OpenExperiment};
use parallax_testkit::planted::{
    Executor, Planted, Program, Recording, Simulation, late_rank, oversubscribed_node, serial_part,
    slow_node, stall, starved_gpu, unbalanced_gpu,
};

use crate::recorded::{called, findings, recorded, sampled, saving};

const PROFILE: Recording =
    Recording { wall_clock: true, every_nanos: 2_000_000, trace: false, cpu_clock: false };
const TRACE: Recording = Recording { trace: true, ..PROFILE };

/// The first finding is of one of these kinds, names what is in it, and the saving within 5 %.
/// Without the cause no finding names it.
fn is_found_first(
    cause: fn(bool) -> Planted,
    record: impl Fn(&Planted) -> OpenExperiment,
    kinds: &[FindingKind],
    names: &[&str],
) {
    let planted = cause(true);
    let found = findings(&record(&planted));
    let all: Vec<&str> = found.iter().map(|finding| &*finding.text).collect();
    assert!(!found.is_empty(), "nothing is found");
    let first = found.first().unwrap();
    assert!(kinds.contains(&first.kind), "{:?} is first: {all:#?}", first.kind);
    let words = format!("{}: {}", first.title, first.text);
    for name in names {
        assert!(words.contains(name), "{name} is not named: {words}");
    }
    let expected = planted.saving_seconds;
    let ranks = planted.program.tracks.iter().map(|track| track.place.rank()).max();
    let ranks = ranks.map_or(1, |last| last as usize + 1);
    let said = saving(first, ranks);
    assert!(said.is_some(), "no saving: {}", first.text);
    let said = said.unwrap();
    let close = (said - expected).abs() <= 0.05 * expected;
    assert!(close, "{said} s instead of {expected} s: {} {:?}", first.text, first.evidence);

    let without = findings(&record(&cause(false)));
    let alarms: Vec<&Finding> = without.iter().filter(|one| kinds.contains(&one.kind)).collect();
    assert!(alarms.is_empty(), "found where nothing is wrong: {alarms:#?}");
}

#[test]
fn a_late_rank_is_found_first_in_a_profile_and_in_traces() {
    // The late rank is what is wrong, and no iterations that differ.
    let kinds = [FindingKind::Mpi, FindingKind::Imbalance, FindingKind::Waiting];
    let names = ["rank 5", "solve"];
    is_found_first(late_rank, |p| sampled(&p.program, &PROFILE), &kinds, &names);
    is_found_first(late_rank, |p| sampled(&p.program, &TRACE), &kinds, &names);
    is_found_first(late_rank, |p| called(&p.program), &kinds, &names);
    // By iterations it is known in how many of them it is late.
    for opened in [sampled(&late_rank(true).program, &TRACE), called(&late_rank(true).program)] {
        let first = findings(&opened).swap_remove(0);
        assert!(first.title.starts_with("Late rank: rank 5"), "{}", first.title);
        assert!(first.text.contains("of 60 iterations"), "{}", first.text);
    }
}

/// The same program as one that numbers its steps.
fn numbered(program: &Program) -> Program {
    let mut program = program.clone();
    for piece in program.tracks.iter_mut().flat_map(|track| &mut track.pieces) {
        let number = piece.iteration;
        let steps = piece.path.iter_mut().filter(|name| *name == "step");
        steps.for_each(|name| *name = format!("Step[{number}]"));
    }
    program
}

#[test]
fn steps_with_numbers_are_one() {
    let kinds = [FindingKind::Mpi, FindingKind::Imbalance, FindingKind::Waiting];
    let names = ["rank 5", "solve"];
    is_found_first(late_rank, |p| sampled(&numbered(&p.program), &PROFILE), &kinds, &names);
    is_found_first(late_rank, |p| sampled(&numbered(&p.program), &TRACE), &kinds, &names);
    is_found_first(late_rank, |p| called(&numbered(&p.program)), &kinds, &names);
    let program = numbered(&late_rank(true).program);
    for opened in [sampled(&program, &PROFILE), sampled(&program, &TRACE), called(&program)] {
        let found = findings(&opened);
        // `Step[*]`, where the step is named at all.
        let words = found.iter().map(|one| format!("{}: {}", one.title, one.text));
        let with_number: Vec<String> = words
            .filter(|words| {
                let mut after = words.split("Step[").skip(1);
                after.any(|rest| !rest.starts_with("*]"))
            })
            .collect();
        assert!(with_number.is_empty(), "{with_number:#?}");
    }
    let answer =
        called(&program).answer(&IterationsRequest::default(), &Control::default()).unwrap();
    let rows = &answer.tables.contexts;
    let num = |name: &str| rows.context.iter().filter(|own| *own == name).count();
    assert_eq!((num("solve"), num("assemble"), num("MPI_Allreduce")), (1, 1, 1), "{rows:?}");
    let solve = rows.context.iter().position(|own| own == "solve").unwrap();
    assert_eq!(rows.call_path.get(solve).unwrap(), "main > Step[*] > solve");
}

#[test]
fn a_slow_node_is_found_first_with_its_ranks() {
    let kinds = [FindingKind::Groups];
    let names = ["8 of 32 ranks", "1 node", "solve"];
    is_found_first(slow_node, |p| sampled(&p.program, &PROFILE), &kinds, &names);
    is_found_first(slow_node, |p| sampled(&p.program, &TRACE), &kinds, &names);
}

#[test]
fn a_serial_part_is_found_first_in_a_profile_and_in_traces() {
    let kinds = [FindingKind::Mpi, FindingKind::Imbalance, FindingKind::Waiting];
    let names = ["rank 0", "serial_update"];
    is_found_first(serial_part, |p| sampled(&p.program, &PROFILE), &kinds, &names);
    is_found_first(serial_part, |p| sampled(&p.program, &TRACE), &kinds, &names);
    is_found_first(serial_part, |p| called(&p.program), &kinds, &names);
    for opened in [sampled(&serial_part(true).program, &TRACE), called(&serial_part(true).program)]
    {
        let first = findings(&opened).swap_remove(0);
        assert!(first.title.starts_with("Serial part: serial_update"), "{}", first.title);
    }
}

#[test]
fn a_starved_gpu_is_found_first_with_its_idle_time() {
    let kinds = [FindingKind::IdleGpu];
    is_found_first(starved_gpu, |p| sampled(&p.program, &TRACE), &kinds, &["idle", "prepare"]);
}

#[test]
fn busy_gpus_are_found_with_their_kernel_and_not_where_they_are_idle() {
    /// Kernels of 40 ms that follow each other after what the host prepares meanwhile.
    fn program(prepared_ms: u64) -> Program {
        const MS: u64 = 1_000_000;
        let mut run = Simulation::new(2, 2).started();
        for _ in 0..60 {
            run.next_iteration();
            for rank in 0..2 {
                run.compute(rank, &["step", "prepare"], prepared_ms * MS);
                run.kernel(rank, &["step", "launch", "<gpu kernel>", "update_kernel"], 40 * MS);
                run.synchronise(rank, &["step", "launch", "cudaStreamSynchronize"]);
            }
        }
        run.finish("busy_gpu")
    }
    let busy = |is_starved: bool| {
        let program = program(if is_starved { 40 } else { 1 });
        let found = findings(&sampled(&program, &TRACE));
        let host = found.iter().filter(|one| one.kind == FindingKind::GpuHost).count();
        (found.into_iter().find(|one| one.kind == FindingKind::BusyGpu), host)
    };
    let (found, host) = busy(false);
    let found = found.unwrap();
    assert!(found.percent > 90.0 && found.text.contains("update_kernel"), "{}", found.text);
    // Faster launches do not help.
    assert_eq!(host, 0);
    assert_eq!(busy(true).0, None);
}

#[test]
fn of_a_gpu_without_its_host_nothing_is_said_to_be_idle() {
    let mut program = starved_gpu(true).program;
    program.tracks.retain(|track| matches!(track.place, Executor::Stream { .. }));
    for opened in [sampled(&program, &TRACE), called(&program)] {
        let found = findings(&opened);
        let is_idle = |finding: &Finding| finding.kind == FindingKind::IdleGpu;
        assert!(!found.iter().any(is_idle), "{found:#?}");
    }
}

#[test]
fn an_unbalanced_gpu_is_found_first_with_its_kernel() {
    let kinds = [FindingKind::Iterations, FindingKind::Imbalance];
    let names = ["force_kernel", "rank 1"];
    is_found_first(unbalanced_gpu, |p| sampled(&p.program, &TRACE), &kinds, &names);
}

#[test]
fn an_oversubscribed_node_is_found_first_by_two_clocks() {
    let clocks = Recording { cpu_clock: true, ..PROFILE };
    let kinds = [FindingKind::Caution];
    is_found_first(
        oversubscribed_node,
        |p| sampled(&p.program, &clocks),
        &kinds,
        &["oversubscribed", "50 %"],
    );
}

#[test]
fn an_oversubscribed_node_is_found_first_by_threads_that_are_preempted() {
    let kinds = [FindingKind::Caution];
    let names = ["oversubscribed", "49 %", "another thread has the core"];
    is_found_first(oversubscribed_node, |p| recorded(&p.program), &kinds, &names);
    // Schedulers take threads off their cores now and then.
    let mut program = oversubscribed_node(false).program;
    for piece in program.tracks.iter_mut().flat_map(|track| &mut track.pieces) {
        piece.cpu_permille = 970;
    }
    let found = findings(&recorded(&program));
    assert!(found.iter().all(|one| one.kind != FindingKind::Caution), "{found:#?}");
    // Being preempted is no work, no waiting for others, and no imbalance of its own.
    let opened = recorded(&oversubscribed_node(true).program);
    let found = opened.idleness(None, SourceChoice::Best, &Control::default()).unwrap();
    let total = found.cpu.unwrap().total;
    let share = |part: f64| total.percent(part);
    assert!((share(total.without_core) - 49.0).abs() < 0.5, "{total:?}");
    assert!((share(total.working()) - 50.0).abs() < 0.5, "{total:?}");
    assert!(total.other_wait == 0.0, "{total:?}");
    let named = findings(&opened).into_iter().filter(|one| one.title.contains("preempted"));
    assert_eq!(named.count(), 0);
}

#[test]
fn a_stall_in_one_iteration_is_found_first_with_who_waits_for_it() {
    let kinds = [FindingKind::Stall];
    let names = ["rank 2", "reallocate"];
    is_found_first(stall, |p| sampled(&p.program, &TRACE), &kinds, &names);
    is_found_first(stall, |p| called(&p.program), &kinds, &names);
}
