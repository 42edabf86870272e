//! What a verdict rests on: elapsed time, who is late, samples, repetitions, lengths.

use std::sync::Arc;

use parallax_base::MemoryFolder;
use parallax_service::scaling::{
    EnsembleOptions, ScalingAnswer, ScalingContent, ScalingOptions, ScalingSource, scaling,
};
use parallax_testkit::drawn::draw;
use parallax_testkit::hpctoolkit::{Database, Sample, WriteOptions};

use crate::support::{open, text};

fn source(name: &str, database: &Database) -> ScalingSource {
    let files = database.to_files(&WriteOptions::default());
    let folder = Arc::new(MemoryFolder::new(name, files.by_path));
    ScalingSource { name: name.to_owned(), content: ScalingContent::Folder(folder) }
}

fn asked(sources: &[ScalingSource]) -> (ScalingAnswer, Vec<String>) {
    let (ensemble, notes) = open(sources, &EnsembleOptions::default()).unwrap();
    (scaling(&ensemble, &ScalingOptions::default()).unwrap(), notes)
}

fn verdict(answer: &ScalingAnswer) -> String {
    answer.verdict().join("\n")
}

/// A value for each rank, as a row of a drawing.
fn row(values: impl IntoIterator<Item = f64>) -> String {
    values.into_iter().map(|value| format!(" {value}")).collect()
}

/// Eight seconds of work shared by the ranks, each of which waits asleep: elapsed time grows with
/// the ranks, time on processors falls.
fn illusion(metric: &str, ranks: u32, waiting: f64) -> Database {
    let share = 8.0 / f64::from(ranks);
    let of = |value: f64| row((0..ranks).map(|_| value));
    let (work, wait) = (of(share), of(waiting));
    draw(metric, &format!("main{}\n  solve{work}\n  MPI_Barrier{wait}\n", of(0.0)))
}

#[test]
fn runs_that_get_slower_do_not_scale_because_their_waiting_costs_no_cpu_time() {
    let names = [(1, "run-p1"), (2, "run-p2"), (4, "run-p4")];
    // Measured by CPU time alone.
    let sources: Vec<_> = names
        .map(|(ranks, name)| source(name, &illusion("CPUTIME (sec)", ranks, 0.001)))
        .into_iter()
        .collect();
    let (answer, _) = asked(&sources);
    let said = verdict(&answer);
    assert!(said.starts_with("No verdict: elapsed time is unknown."), "{said}");
    assert!(!said.contains("scaling holds") && !said.contains("overhead"), "{said}");
    assert!(answer.losses.is_empty() && answer.worst.is_none());

    // The same with traces: 8, 9 and 11 seconds pass between the first and the last sample.
    let traced = names.map(|(ranks, name)| {
        let mut database = illusion("CPUTIME (sec)", ranks, 0.001);
        let seconds = 7 + u64::from(ranks);
        for profile in &mut database.profiles {
            let at = |nanos: u64, context: u32| Sample { nanos: 1_000_000_000 + nanos, context };
            let work = 8_000_000_000 / u64::from(ranks);
            profile.trace = vec![at(0, 3), at(work, 4), at(seconds * 1_000_000_000, 0)];
        }
        source(name, &database)
    });
    let (answer, notes) = asked(&traced);
    let said = verdict(&answer);
    let expected = "No speedup: no run is faster than that on 1 core (efficiency 44 % on 2 cores).";
    assert!(said.contains(expected), "{said}");
    let time = &answer.maps(0).unwrap().time;
    let seconds: Vec<f64> = (0..3).filter_map(|at| time.get(0, at)).collect();
    assert_eq!(seconds, [8.0, 9.0, 11.0]);
    assert!(notes.iter().any(|note| note.contains("elapsed time in the traces")), "{notes:?}");

    // And by wall-clock time.
    let walls = names.map(|(ranks, name)| {
        let waiting = 7.0 + f64::from(ranks) - 8.0 / f64::from(ranks);
        source(name, &illusion("REALTIME (sec)", ranks, waiting))
    });
    let (answer, _) = asked(&walls);
    assert!(verdict(&answer).contains(expected), "{}", verdict(&answer));
}

/// Four seconds of work for each rank, of which the last one takes `more`; the others wait for it.
fn late(ranks: u32, more: f64) -> Database {
    let of = |value: &dyn Fn(u32) -> f64| row((0..ranks).map(value));
    let is_last = |rank: u32| ranks > 1 && rank + 1 == ranks;
    let own = 4.0 / f64::from(ranks);
    let relax = of(&|rank| if is_last(rank) { own + more } else { own });
    let other = of(&|_| 2.0 * own);
    // What one sample adds, so that there are many of them.
    let tick = of(&|_| 1e-6);
    let wait = of(&|rank| if is_last(rank) || ranks == 1 { 0.01 } else { 0.01 + more });
    draw(
        "REALTIME (sec)",
        &format!(
            "main{}\n  relax{relax}\n    tick{tick}\n  assemble{other}\n    tick{tick}\n  \
             MPI_Allreduce{wait}\n",
            of(&|_| 0.0)
        ),
    )
}

#[test]
fn waiting_is_told_of_the_late_rank_and_its_function_not_of_mpi() {
    let runs = [(1, "late-p1"), (4, "late-p4")];
    let (answer, _) = asked(&runs.map(|(ranks, name)| source(name, &late(ranks, 2.0))));
    let said = verdict(&answer);
    let first = answer.ranked()[0];
    assert_eq!(answer.regions[first.region].region.name, "relax", "{said}");
    // Two seconds of rank 3 itself, and two seconds for which each of three ranks waits for it.
    assert!((first.own - 8.0).abs() < 1e-4, "{first:?}");
    assert!(said.contains("rank 3 is late in relax"), "{said}");
    assert!(said.contains("the others wait 6.00 s for it"), "{said}");
    let shares: f64 = answer.ranked().iter().filter_map(|loss| loss.share).sum();
    let largest = answer.ranked().iter().filter_map(|loss| loss.share).fold(0.0, f64::max);
    assert!((shares - 1.0).abs() < 1e-9 && largest <= 1.0, "{shares} {largest}");

    // Balanced work: nobody is late.
    let (answer, _) = asked(&runs.map(|(ranks, name)| source(name, &late(ranks, 0.0))));
    assert!(!verdict(&answer).contains("late"), "{}", verdict(&answer));
}

fn table(times: impl IntoIterator<Item = (u32, f64)>) -> String {
    let mut csv = String::from("cores,input,time\n");
    for (cores, time) in times {
        csv += &format!("{cores},a,{time}\n");
    }
    csv
}

#[test]
fn single_runs_short_runs_and_outliers_are_said_where_the_verdict_stands() {
    let ask = |name: &str, csv: &str| asked(&[text(name, csv)]).0;
    let single = ask("single.csv", &table([(1, 8.0), (2, 4.1), (4, 2.2)]));
    assert!(verdict(&single).contains("was measured once"), "{}", verdict(&single));

    let steady = [(1, 8.0), (1, 8.1), (1, 8.05), (2, 4.1), (2, 4.0), (2, 4.05)];
    let said = verdict(&ask("steady.csv", &table(steady)));
    for word in ["once", "Outlier", " ms", "samples", "oversubscribed"] {
        assert!(!said.contains(word), "{word}: {said}");
    }
    let far = steady.map(|(cores, time)| (cores, if time == 4.0 { 12.0 } else { time }));
    let said = verdict(&ask("far.csv", &table(far)));
    assert!(said.contains("Outlier among the repetitions: a factor of 3.0 for 2 cores"), "{said}");

    let short = ask("short.csv", &table([(1, 0.004), (2, 0.002), (4, 0.001), (8, 0.5)]));
    let said = verdict(&short);
    assert!(said.starts_with("No verdict: 3 of 4 configurations took less than 10 ms"), "{said}");
    assert!(short.losses.is_empty());
    let one = verdict(&ask("one.csv", &table([(1, 0.08), (2, 0.04), (4, 0.02), (8, 0.009)])));
    assert!(one.contains("Strong scaling") && one.contains("Less than 10 ms"), "{one}");
}

#[test]
fn few_samples_are_said_and_what_they_cannot_show_is_not() {
    // One sample of 10 ms each: 40 on every rank, and two more in `noise` on two ranks.
    let run = |ranks: u32, samples: u32| {
        let of = |value: f64| row((0..ranks).map(|_| value));
        let mut drawing = format!("main{}\n", of(0.0));
        for at in 0..samples {
            drawing += &format!("  solve{at}{}\n", of(0.01));
        }
        draw("REALTIME (sec)", &drawing)
    };
    let sources = [source("few-p1", &run(1, 40)), source("few-p2", &run(2, 40))];
    let (answer, _) = asked(&sources);
    let said = verdict(&answer);
    assert!(said.contains("Few samples: about 40 per location"), "{said}");
    let sources = [source("many-p1", &run(1, 400)), source("many-p2", &run(2, 400))];
    assert!(!verdict(&asked(&sources).0).contains("samples"), "{}", verdict(&asked(&sources).0));
}
