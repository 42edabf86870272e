//! Questions to ensembles, as the page asks them.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::io::Cursor;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, UInt32Type};
use arrow_ipc::reader::StreamReader;
use parallax_base::{
    Control, Folder, FolderEntry, Limits, MemoryFolder, ReadError, Source, Survey, Writing,
};
use parallax_dispatch::{Dispatcher, Response};
use serde_json::{Value, json};

/// Times `serial + parallel / cores` on 1 to 16 cores, three repetitions each.
fn measurements(serial: f64, parallel: f64) -> Vec<u8> {
    let mut text = "cores,region,time\n".to_owned();
    for cores in [1, 2, 4, 8, 16] {
        for noise in [-0.001, 0.0, 0.001] {
            let time = serial + parallel / f64::from(cores) + noise;
            text.push_str(&format!("{cores},0,{time}\n"));
        }
    }
    text.into_bytes()
}

/// A dispatcher with two versions of a program, as items `e1` and `e2`.
fn dispatcher() -> Dispatcher {
    let dispatcher = Dispatcher::new(Limits::default());
    for (key, bytes) in [("old", measurements(2.0, 8.0)), ("new", measurements(1.0, 9.0))] {
        let file = (format!("{key}.csv"), bytes);
        let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new(key, [file]));
        dispatcher.add_root(key, key, folder);
        let reply =
            reply(&ask(&dispatcher, &json!({"ask": "open", "with": {"root": key}})).unwrap());
        assert_eq!(reply["items"][0]["kind"], "ensemble", "{reply}");
    }
    dispatcher
}

fn ask(dispatcher: &Dispatcher, request: &Value) -> Result<Response, String> {
    let answer = dispatcher.answer_json(&request.to_string(), &Control::new());
    answer.map_err(|error| format!("{}: {}", error.kind, error.message))
}

fn reply(response: &Response) -> Value {
    serde_json::from_str(&response.json).unwrap()
}

fn table(response: &Response, name: &str) -> RecordBatch {
    let table = response.tables.iter().find(|table| table.name == name).unwrap();
    let mut batches = StreamReader::try_new(Cursor::new(&table.bytes), None).unwrap();
    batches.next().unwrap().unwrap()
}

fn numbers(batch: &RecordBatch, name: &str) -> Vec<f64> {
    let column = batch.column_by_name(name).unwrap();
    column.as_primitive::<Float64Type>().iter().map(|value| value.unwrap_or(f64::NAN)).collect()
}

fn unit(batch: &RecordBatch, name: &str) -> String {
    let schema = batch.schema();
    schema.field_with_name(name).unwrap().metadata().get("unit").cloned().unwrap_or_default()
}

#[test]
fn maps_and_losses_are_in_the_units_of_the_measurements() {
    let dispatcher = dispatcher();
    let answer = ask(&dispatcher, &json!({"ask": "scaling", "with": {"item": "e1"}})).unwrap();
    let found = reply(&answer);
    assert_eq!(found["cores"], json!([1, 2, 4, 8, 16]));
    assert_eq!(found["baselines"], json!([1]));
    assert_eq!(found["worst"], json!([0, 4]));
    let cells = table(&answer, "cells");
    assert_eq!(cells.num_rows(), 5);
    let units = ["time", "efficiency", "loss", "own_loss"].map(|name| unit(&cells, name));
    assert_eq!(units, ["s", "", "core-s", "core-s"]);
    let efficiency = numbers(&cells, "efficiency");
    assert!((efficiency[4] - 10.0 / (2.0 + 0.5) / 16.0).abs() < 1e-9, "{efficiency:?}");
    // Core-seconds on 16 cores beyond those on one: 16 * 2.5 - 10.
    let loss = numbers(&table(&answer, "losses"), "loss");
    assert!((loss[0] - 30.0).abs() < 1e-6, "{loss:?}");
    // What the view says counts.
    let view = json!({"baseline": "2", "statistic": "max"});
    let answer =
        ask(&dispatcher, &json!({"ask": "scaling", "with": {"item": "e1", "view": view}})).unwrap();
    assert_eq!(reply(&answer)["baselines"], json!([2]));
    assert!((numbers(&table(&answer, "cells"), "time")[0] - 10.001).abs() < 1e-9);
}

#[test]
fn each_table_has_the_columns_that_its_form_says() {
    let dispatcher = dispatcher();
    for (kind, column) in [("maps", "strong_abs"), ("laws", "amdahl_serial"), ("losses", "loss")] {
        let with = json!({"item": "e1", "table": kind, "regions": ["0"]});
        let answer = ask(&dispatcher, &json!({"ask": "scaling_table", "with": with})).unwrap();
        let rows = table(&answer, "rows");
        assert!(!numbers(&rows, column).is_empty(), "{kind}");
        if kind == "laws" {
            assert!((numbers(&rows, column)[0] - 0.2).abs() < 1e-6);
            assert_eq!([unit(&rows, "amdahl_time"), unit(&rows, "amdahl_error")], ["s", "%"]);
        }
    }
    let with = json!({"item": "e1", "table": "energy"});
    let error = ask(&dispatcher, &json!({"ask": "scaling_table", "with": with})).unwrap_err();
    assert!(error.starts_with("open: no energy was measured"), "{error}");
}

#[test]
fn models_have_curves_where_they_were_asked_for() {
    let dispatcher = dispatcher();
    let with = json!({"item": "e1", "statistic": "median"});
    let answer = ask(&dispatcher, &json!({"ask": "models", "with": with})).unwrap();
    assert_eq!(reply(&answer)["parameters"], json!(["cores"]));
    let rows = table(&answer, "rows");
    assert_eq!(rows.column_by_name("region").unwrap().as_string::<i32>().value(0), "0");
    assert_eq!(rows.column_by_name("unit").unwrap().as_string::<i32>().value(0), "s");
    let curves = &answer.tables[1];
    assert_eq!(curves.name, "curves");
    let with = json!({"item": "e1", "curve": {"parameter": "cores", "values": [1.0, 4.0, 16.0]}});
    let answer = ask(&dispatcher, &json!({"ask": "models", "with": with})).unwrap();
    let curves = table(&answer, "curves");
    assert_eq!(numbers(&curves, "x"), [1.0, 4.0, 16.0]);
    assert_eq!(
        curves.column_by_name("model").unwrap().as_primitive::<UInt32Type>().values(),
        &[0, 0, 0]
    );
    // The last value is that of the prediction, which stands at the most cores.
    let prediction = numbers(&table(&answer, "rows"), "prediction")[0];
    assert!((numbers(&curves, "y")[2] - prediction).abs() < 1e-12);
    let with = json!({"item": "e1", "curve": {"parameter": "gpus", "values": [1.0]}});
    let error = ask(&dispatcher, &json!({"ask": "models", "with": with})).unwrap_err();
    assert_eq!(error, "misuse: there is no parameter \"gpus\"; known: cores");
}

#[test]
fn two_ensembles_are_compared_cell_by_cell() {
    let dispatcher = dispatcher();
    let with = json!({"old": "e1", "new": "e2"});
    let answer = ask(&dispatcher, &json!({"ask": "compare", "with": with})).unwrap();
    let found = reply(&answer);
    assert_eq!(found["regions"][0]["parent"], Value::Null);
    assert!(found["evidence"].as_str().unwrap().contains("tolerance 2 % of time"), "{found}");
    let cells = table(&answer, "cells");
    let change = cells.column_by_name("change").unwrap().as_string::<i32>().clone();
    assert_eq!(change.iter().flatten().collect::<Vec<_>>()[1..], ["faster"; 4]);
    assert_eq!([unit(&cells, "time_old"), unit(&cells, "low")], ["s", "s"]);
    assert!((numbers(&cells, "time_ratio")[4] - 1.5625 / 2.5).abs() < 1e-9);
    let with = json!({"old": "e1", "new": "e2", "tolerance": 50.0});
    let answer = ask(&dispatcher, &json!({"ask": "compare", "with": with})).unwrap();
    let change = table(&answer, "cells");
    let change = change.column_by_name("change").unwrap().as_string::<i32>().clone();
    assert!(change.iter().flatten().all(|change| change == "within noise"), "{change:?}");
}

#[test]
fn what_is_wrong_with_a_request_is_named() {
    let dispatcher = dispatcher();
    for (question, with, expected) in [
        ("scaling", json!({"item": "e1", "view": {"baseline": "none"}}), "common or a core count"),
        ("scaling", json!({"item": "e1", "view": {"statistic": "sum"}}), "median"),
        ("scaling_table", json!({"item": "e1"}), "needs the field `table`"),
        ("scaling_table", json!({"item": "e1", "table": "power"}), "dispersion"),
        ("models", json!({"item": "e1", "numbers": ["cores"]}), "NAME=REGEX"),
        ("compare", json!({"old": "e1", "new": "e2", "significance": 5.0}), "0.0..=1.0"),
        ("compare", json!({"old": "e1"}), "new"),
        ("compare", json!({"old": "e1", "new": "e2", "tolerence": 5.0}), "tolerance"),
    ] {
        let error = ask(&dispatcher, &json!({"ask": question, "with": with})).unwrap_err();
        assert!(error.starts_with("misuse: ") && error.contains(expected), "{question}: {error}");
    }
    let error = ask(&dispatcher, &json!({"ask": "scale", "with": {}})).unwrap_err();
    assert!(error.starts_with("protocol: ") && error.contains("`scale`"), "{error}");
}

/// A folder whose disk is gone.
struct Gone;

impl Folder for Gone {
    fn name(&self) -> &str {
        "gone"
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        Err(ReadError::Storage { offset: 0, cause: "permission denied".to_owned() })
    }

    fn survey(&self) -> Result<Survey, ReadError> {
        Ok(Survey { files: self.entries()?, ..Survey::default() })
    }

    fn open(&self, _: &str) -> Result<Option<Source>, ReadError> {
        Ok(None)
    }
}

#[test]
fn a_root_that_cannot_be_listed_says_why() {
    let dispatcher = Dispatcher::new(Limits::default());
    let added = dispatcher.add_root("g", "gone", Arc::new(Gone));
    assert!(added.error.as_deref().unwrap().contains("permission denied"), "{added:?}");
    let file = ("runs.csv".to_owned(), measurements(2.0, 8.0));
    dispatcher.add_root("r", "runs", Arc::new(MemoryFolder::new("runs", [file])));
    let hello = reply(&ask(&dispatcher, &json!({"ask": "hello", "with": {}})).unwrap());
    let roots = hello["roots"].as_array().unwrap();
    assert!(roots[0]["error"].as_str().unwrap().contains("permission denied"), "{hello}");
    assert_eq!([&roots[0]["files"], &roots[1]["files"]], [&json!(0), &json!(1)]);
    assert_eq!(roots[1]["error"], Value::Null);
}

/// A folder whose files another program replaces, all at once: each file that is opened of it directly
/// may be of another state than the one before.
struct Replaced(MemoryFolder);

impl Folder for Replaced {
    fn name(&self) -> &str {
        "replaced"
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        self.0.entries()
    }

    fn writing(&self) -> Writing {
        Writing::Growing
    }

    fn frozen(&self) -> Option<Arc<dyn Folder>> {
        Some(Arc::new(self.0.clone()))
    }

    fn open(&self, _: &str) -> Result<Option<Source>, ReadError> {
        Err(ReadError::Storage { offset: 0, cause: "of another state".to_owned() })
    }
}

#[test]
fn all_that_is_opened_is_of_one_state_and_the_page_learns_whether_there_will_be_more() {
    let dispatcher = Dispatcher::new(Limits::default());
    let file = ("runs.csv".to_owned(), measurements(2.0, 8.0));
    dispatcher.add_root("r", "runs", Arc::new(Replaced(MemoryFolder::new("runs", [file]))));
    let with = json!({"root": "r"});
    let opened = reply(&ask(&dispatcher, &json!({"ask": "open", "with": with})).unwrap());
    assert_eq!(opened["errors"], json!([]), "{opened}");
    assert_eq!(opened["items"][0]["kind"], "ensemble", "{opened}");
    let looked = reply(&ask(&dispatcher, &json!({"ask": "fingerprint", "with": with})).unwrap());
    assert_eq!(looked["writing"], "growing", "{looked}");
}
