//! Scaling measurements whose inputs and core counts are all different: memory follows what was
//! measured, not inputs times cores.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops where it cannot go on")]

#[path = "../../formats/tests/peak/mod.rs"]
mod peak;

use std::fmt::Write as _;
use std::sync::Arc;

use parallax_base::{Limits, MemorySource, Source};
use parallax_protocol::TypedTable as _;
use parallax_service::Control;
use parallax_service::analysis::scaling::ChangeLimits;
use parallax_service::scaling::{
    Ensemble, EnsembleOptions, ScalingContent, ScalingError, ScalingOptions, ScalingSource,
    compare_versions, open_ensemble, pop_table, scaling,
};
use peak::{measured, turn};

fn open(name: &str, text: String) -> Ensemble {
    let source: Source = Arc::new(MemorySource::new(text.into_bytes()));
    let source = ScalingSource { name: name.to_owned(), content: ScalingContent::File(source) };
    open_ensemble(&[source], &EnsembleOptions::default(), &Control::new()).unwrap().value
}

/// Two regions; every run has an input and a core count of its own, and input `n1` has one core.
fn table(runs: u32) -> String {
    let mut text = "cores,input,region,time\n".to_owned();
    for i in 1..=runs {
        writeln!(text, "{i},n{i},0,{}\n{i},n{i},solve,{}", 2 * i, i).unwrap();
    }
    text
}

/// The same as a file of PaScal: the inputs are numbered.
fn pascal(runs: u32) -> String {
    let arguments: Vec<String> = (0..runs).map(|i| format!("\"n{i}\"")).collect();
    let mut text = format!(
        r#"{{"config": {{"command": "a", "arguments": [{}], "data_descriptor":
        {{"keys": ["cores", "input", "repetitions"]}}}}, "data": {{"#,
        arguments.join(",")
    );
    for i in 0..runs {
        let comma = if i == 0 { "" } else { "," };
        write!(text, r#"{comma}"{};{i};1":{{"start_time":0,"stop_time":{}}}"#, i + 1, i + 2)
            .unwrap();
    }
    text + "}}"
}

#[test]
fn maps_take_memory_for_what_was_measured() {
    let _turn = turn();
    for (name, make) in [("a.csv", table as fn(u32) -> String), ("a.json", pascal)] {
        let peak = |runs: u32| {
            let text = make(runs);
            let (answer, peak) = measured(|| {
                let ensemble = open(name, text);
                let answer = scaling(&ensemble, &ScalingOptions::default()).unwrap();
                std::hint::black_box((
                    answer.maps_table().into_table(),
                    answer.dispersion_table().into_table(),
                    answer.laws_table().into_table(),
                ));
                answer
            });
            let (inputs, cores) = (answer.inputs.len(), answer.cores.len());
            assert_eq!((inputs, cores), (runs as usize, runs as usize));
            peak
        };
        // At 10,000 runs a map alone would be 800 MB.
        let (few, many) = (peak(5_000), peak(10_000));
        assert!(many < 3 * few && many < 200 << 20, "{name}: {few} {many}");
    }
}

#[test]
fn tables_of_very_many_cells_have_what_was_measured_and_say_so() {
    let _turn = turn();
    let small = Limits { max_cells: 1000, ..Limits::default() };
    let request = ScalingOptions { limits: small, ..ScalingOptions::default() };
    let ensemble = open("a.csv", table(100));
    let answer = scaling(&ensemble, &request).unwrap();
    assert!(!answer.has_room_for_gaps());
    assert_eq!(answer.maps_table().into_table().num_rows(), 200);
    let note = answer.notes.iter().find(|note| note.contains("100 inputs x 100 core counts"));
    assert!(note.unwrap().contains("the 200 measured configurations"), "{note:?}");
    // Where there is room, gaps are shown.
    let all = scaling(&ensemble, &ScalingOptions::default()).unwrap();
    assert!(all.has_room_for_gaps());
    assert_eq!(
        (
            all.maps_table().into_table().num_rows(),
            all.cells_table().unwrap().into_table().num_rows()
        ),
        (20_000, 20_000)
    );
    assert!(all.notes.iter().all(|note| !note.contains("too large")), "{:?}", all.notes);
    assert_eq!(
        all.maps_table().into_table().columns.len(),
        answer.maps_table().into_table().columns.len()
    );
    // What must have its gaps ends in an error that says what to do.
    let errors = [
        answer.cells_table().unwrap_err(),
        compare_versions(&ensemble, &ensemble, &request, ChangeLimits::default()).unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, ScalingError::TooManyCells { .. }), "{error}");
        assert!(error.to_string().contains("hold a parameter at one value"), "{error}");
    }
    // Axes themselves are bounded, too: regions times inputs and cores.
    let none = Limits { metadata_bytes: 10_000, ..Limits::default() };
    let request = ScalingOptions { limits: none, ..ScalingOptions::default() };
    assert!(matches!(scaling(&ensemble, &request), Err(ScalingError::Limit(_))));
}

#[test]
fn very_many_locations_in_a_file_are_no_request_for_memory() {
    let _turn = turn();
    let text = "cores,time:useful-max,time:useful-mean,locations,time:location-max,parallel efficiency\n\
                1,1,1,1e300,2,0.5\n2,1,1,3,2,0.5\n";
    let ensemble = open("a.csv", text.to_owned());
    let (answer, peak) = measured(|| pop_table(&ensemble, &ScalingOptions::default()));
    assert!(peak < 1 << 20, "{peak}");
    let _ = answer;
}

/// Would take very long where each further file looks at all runs before it.
#[test]
fn very_many_files_of_one_configuration_are_repetitions() {
    let _turn = turn();
    let files: Vec<ScalingSource> = (0..3_000)
        .map(|i| {
            let text = format!("cores,time\n1,{i}.5\n2,{i}.25\n");
            let source: Source = Arc::new(MemorySource::new(text.into_bytes()));
            let name = format!("{i}.csv");
            ScalingSource { name, content: ScalingContent::File(source) }
        })
        .collect();
    let options = EnsembleOptions::default();
    let opened = open_ensemble(&files, &options, &Control::new()).unwrap();
    assert_eq!((opened.value.runs().len(), opened.value.coordinates().len()), (6_000, 2));
    assert!(
        opened.notes[0].starts_with("2999 files have the same configurations"),
        "{:?}",
        opened.notes
    );
}
