//! The first cause of lost scaling is the one that `report` finds, with the waiting of the trace.

use parallax_service::Control;
use parallax_service::analysis::scaling::Loss;
use parallax_service::scaling::{
    EnsembleOptions, ScalingContent, ScalingOptions, ScalingSource, open_ensemble, scaling,
};
use parallax_testkit::planted::Simulation;

use super::recorded::called_folder;

const MS: u64 = 1_000_000;
const ITERATIONS: u64 = 40;
/// How much longer the last rank takes in each iteration.
const MORE: u64 = 20 * MS;

/// Ranks that share 80 ms of `relax` in each iteration, of which the last one may take longer, and
/// meet in a reduction.
fn runs(is_late: bool) -> Vec<ScalingSource> {
    let run = |ranks: u32| {
        let mut run = Simulation::new(ranks, ranks).started();
        for _ in 0..ITERATIONS {
            run.next_iteration();
            for rank in 0..ranks as usize {
                let is_last = ranks > 1 && rank + 1 == ranks as usize;
                let more = if is_late && is_last { MORE } else { 0 };
                run.compute(rank, &["step", "relax"], 80 * MS / u64::from(ranks) + more);
            }
            run.collective(&["step", "MPI_Allreduce"], MS / 5);
        }
        let content = ScalingContent::Folder(called_folder(&run.finish("late")));
        ScalingSource { name: format!("run-p{ranks}"), content }
    };
    [1, 2, 4].into_iter().map(run).collect()
}

#[test]
fn the_late_rank_of_a_trace_causes_the_waiting_of_the_others() {
    let ask = |is_late: bool| {
        let options = EnsembleOptions::default();
        let made = open_ensemble(&runs(is_late), &options, &Control::new()).unwrap();
        scaling(&made.value, &ScalingOptions::default()).unwrap()
    };
    let answer = ask(true);
    let said = answer.regions[0].verdict.text();
    let first = answer.ranked()[0];
    assert_eq!(answer.regions[first.region].region.name, "relax", "{said}");
    assert!(said.contains("rank 3 is late in relax"), "{said}");
    // The work of rank 3 itself, and three ranks that wait for it.
    let planted = (ITERATIONS * MORE * 4) as f64 / 1e9;
    assert!((first.own - planted).abs() <= 0.05 * planted, "{} of {planted}: {said}", first.own);

    let answer = ask(false);
    let said = answer.regions[0].verdict.text();
    assert!(!said.contains("late"), "{said}");
}

/// Ranks that relax for 20 ms and take turns to assemble for twice as long, and meet in a reduction:
/// each rank is late as often as any other.
fn in_turn(is_late: bool) -> Vec<ScalingSource> {
    let run = |ranks: u32| {
        let mut run = Simulation::new(ranks, ranks).started();
        for iteration in 0..ITERATIONS {
            run.next_iteration();
            for rank in 0..ranks as usize {
                run.compute(rank, &["step", "relax"], 80 * MS / u64::from(ranks));
                let is_turn = ranks > 1 && iteration % u64::from(ranks) == rank as u64;
                let more = if is_late && is_turn { MORE } else { 0 };
                run.compute(rank, &["step", "assemble"], 20 * MS / u64::from(ranks) + more);
            }
            run.collective(&["step", "MPI_Allreduce"], MS / 5);
        }
        let content = ScalingContent::Folder(called_folder(&run.finish("in turn")));
        ScalingSource { name: format!("run-p{ranks}"), content }
    };
    [1, 2, 4].into_iter().map(run).collect()
}

#[test]
fn waiting_for_ranks_that_are_late_in_turn_belongs_to_what_they_compute() {
    let ask = |is_late: bool| {
        let options = EnsembleOptions::default();
        let made = open_ensemble(&in_turn(is_late), &options, &Control::new()).unwrap();
        scaling(&made.value, &ScalingOptions::default()).unwrap()
    };
    let answer = ask(true);
    let said = answer.regions[0].verdict.text();
    let ranked = answer.ranked();
    let first = ranked[0];
    assert_eq!(answer.regions[first.region].region.name, "assemble", "{said}");
    // One rank works longer in each iteration, and three wait for it.
    let planted = (ITERATIONS * MORE * 4) as f64 / 1e9;
    assert!((first.own - planted).abs() <= 0.05 * planted, "{} of {planted}: {said}", first.own);
    assert!(ranked.iter().all(|loss| loss.share.is_none_or(|share| share <= 1.0 + 1e-9)));

    let answer = ask(false);
    let of = |name: &str| {
        let own = |loss: &&Loss| answer.regions[loss.region].region.name == name;
        answer.ranked().iter().find(own).map_or(0.0, |loss| loss.own)
    };
    assert!(of("assemble").abs() < 0.02 * planted, "{}", of("assemble"));
}
