//! Sweeps over clock frequencies, on planted files of the kernel.
#![allow(clippy::unwrap_used, reason = "tests may stop")]

use std::fs;
use std::path::Path;

use parallax_sweep::{Choices, Order, Outcome, Plan, Repetitions, Series, Usage, dry_run, sweep};
use serde_json::{Value, json};

/// A processor that can run at 1.2 and 2.3 GHz.
fn planted() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("system/cpu0/cpufreq");
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in [
        ("scaling_available_governors", "userspace powersave"),
        ("scaling_available_frequencies", "1200000 2300000"),
        ("scaling_governor", "powersave"),
        ("scaling_setspeed", "1200000"),
        ("cpuinfo_min_freq", "1200000"),
        ("cpuinfo_max_freq", "2300000"),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    place
}

fn plan(place: &Path) -> Plan {
    Plan {
        frequencies: vec![1_200_000, 2_300_000],
        inputs: vec!["10".to_owned()],
        system: place.join("system"),
        repetitions: Repetitions::Fixed(2),
        order: Order::Ascending,
        ..Plan::new("true", Vec::new(), vec![1, 2])
    }
}

fn choices(place: &Path, resume: bool) -> Choices {
    Choices {
        output: place.join("sweep.json"),
        resume,
        retry_failed: false,
        command_line: "parallax measure".to_owned(),
    }
}

/// A run that took so long, with what was counted in it.
fn outcome(seconds: f64) -> Outcome {
    Outcome {
        start: 1.7e9,
        seconds,
        exit_status: 0,
        signal: None,
        ended: None,
        usage: Usage::default(),
        joules: None,
        counts: vec![("page-faults".to_owned(), Some(7)), ("cycles".to_owned(), None)],
        series: Series::default(),
        said: String::new(),
    }
}

fn file(place: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(place.join("sweep.json")).unwrap()).unwrap()
}

#[test]
fn frequencies_are_a_part_of_the_keys_as_pascal_analyzer_has_them() {
    let place = planted();
    let mut plan = plan(place.path());
    let mut seconds = (1..).map(f64::from);
    let mut launch = |_: &_| Ok(outcome(seconds.next().unwrap()));
    let summary = sweep(&plan, &choices(place.path(), false), &mut launch, &mut |_| {}).unwrap();
    assert_eq!((summary.succeeded, summary.failed), (8, 0));
    let written = file(place.path());
    let keys = &written["config"]["data_descriptor"]["keys"];
    assert_eq!(*keys, json!(["cores", "frequency", "input", "repetitions"]));
    let found: Vec<&String> = written["data"].as_object().unwrap().keys().collect();
    assert!(found.iter().any(|key| *key == "2;2300000;0;1"), "{found:?}");
    assert_eq!(written["data"]["1;1200000;0;2"]["page-faults"], 7);
    // What was not counted is absent, and not 0.
    assert!(written["data"]["1;1200000;0;2"].get("cycles").is_none());
    // A third frequency is a part that is missing; without any it is another sweep.
    plan.frequencies = vec![2_300_000];
    assert_eq!(dry_run(&plan, &choices(place.path(), true)).unwrap().len(), 0);
    plan.cores.push(4);
    assert_eq!(dry_run(&plan, &choices(place.path(), true)).unwrap().len(), 2);
    plan.frequencies.clear();
    let error = dry_run(&plan, &choices(place.path(), true)).unwrap_err().to_string();
    assert!(error.contains("frequencies"), "{error}");
}

#[test]
fn what_the_machine_cannot_do_is_said_before_the_first_run() {
    let place = planted();
    let mut wrong = plan(place.path());
    wrong.frequencies.push(5_000_000);
    let mut launch = |_: &_| panic!("nothing may be run");
    let refused =
        |plan: &Plan, launch: &mut dyn FnMut(&parallax_sweep::Job) -> Result<Outcome, _>| {
            let error =
                sweep(plan, &choices(place.path(), false), launch, &mut |_| {}).unwrap_err();
            assert!(error.is_misuse() && !place.path().join("sweep.json").exists());
            error.to_string()
        };
    let said = refused(&wrong, &mut launch);
    assert!(said.contains("5000000 kHz") && said.contains("1200000 2300000"), "{said}");
    let mut wrong = plan(place.path());
    wrong.governor = Some("ondemand".to_owned());
    let said = refused(&wrong, &mut launch);
    assert!(said.contains("ondemand") && said.contains("powersave"), "{said}");
    let mut wrong = plan(place.path());
    wrong.system = place.path().join("nothing");
    let said = refused(&wrong, &mut launch);
    assert!(said.contains("cpufreq"), "{said}");
    let mut wrong = plan(place.path());
    wrong.counters = vec!["no-such-event".to_owned()];
    let said = refused(&wrong, &mut launch);
    assert!(said.contains("no-such-event") && said.contains("page-faults"), "{said}");
}
