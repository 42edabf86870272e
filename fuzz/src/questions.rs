//! Whatever can be asked of whatever is open, as the page asks it.

use std::sync::Arc;

use parallax_base::{Control, Folder, Limits, MemoryFolder};
use parallax_dispatch::Dispatcher;

/// Small enough that an input reaches them within the memory that a target may take.
fn limits() -> Limits {
    let (metadata_bytes, answer_bytes) = (64 << 20, 64 << 20);
    Limits { metadata_bytes, answer_bytes, max_depth: 1000, ..Limits::default() }
}

/// Questions about an experiment; `ITEM` stands for its key.
const EXPERIMENT: &[&str] = &[
    r#"{"ask":"info","with":{"item":"ITEM"}}"#,
    r#"{"ask":"issues","with":{"item":"ITEM"}}"#,
    r#"{"ask":"metrics","with":{"item":"ITEM"}}"#,
    r#"{"ask":"tree_table","with":{"item":"ITEM"}}"#,
    r#"{"ask":"callers","with":{"item":"ITEM"}}"#,
    r#"{"ask":"flat","with":{"item":"ITEM"}}"#,
    r#"{"ask":"report","with":{"item":"ITEM"}}"#,
    r#"{"ask":"balance","with":{"item":"ITEM"}}"#,
    r#"{"ask":"idleness","with":{"item":"ITEM"}}"#,
    r#"{"ask":"idleness","with":{"item":"ITEM","blame":true}}"#,
    r#"{"ask":"clusters","with":{"item":"ITEM"}}"#,
    r#"{"ask":"correlations","with":{"item":"ITEM"}}"#,
    r#"{"ask":"stacks","with":{"item":"ITEM"}}"#,
    r#"{"ask":"user_events","with":{"item":"ITEM"}}"#,
    r#"{"ask":"query","with":{"item":"ITEM"}}"#,
    r#"{"ask":"source_files","with":{"item":"ITEM"}}"#,
    r#"{"ask":"trace","with":{"item":"ITEM"}}"#,
    r#"{"ask":"timeline","with":{"item":"ITEM"}}"#,
    r#"{"ask":"tile","with":{"item":"ITEM","rows":[{"from":0,"to":1},{"from":1,"to":9}],"from_ns":0,"to_ns":3000000,"bins":64}}"#,
    r#"{"ask":"calls","with":{"item":"ITEM","tracks":[{"from":0,"to":9}],"from_ns":0,"to_ns":3000000,"max_calls":1000}}"#,
    r#"{"ask":"links","with":{"item":"ITEM","from_ns":0,"to_ns":3000000,"max_links":1000}}"#,
    r#"{"ask":"links","with":{"item":"ITEM","from_ns":0,"to_ns":3000000,"max_links":1000,"flows":true}}"#,
    r#"{"ask":"link_bins","with":{"item":"ITEM","from_ns":0,"to_ns":3000000,"bins":64}}"#,
    r#"{"ask":"stats","with":{"item":"ITEM"}}"#,
    r#"{"ask":"messages","with":{"item":"ITEM"}}"#,
    r#"{"ask":"find","with":{"item":"ITEM"}}"#,
    r#"{"ask":"counter_bins","with":{"item":"ITEM","counter":0,"from_ns":0,"to_ns":3000000,"bins":64}}"#,
    r#"{"ask":"markers","with":{"item":"ITEM","from_ns":0,"to_ns":3000000,"max_markers":100}}"#,
    r#"{"ask":"waits","with":{"item":"ITEM"}}"#,
    r#"{"ask":"waits","with":{"item":"ITEM","by":"rank"}}"#,
    r#"{"ask":"critical_path","with":{"item":"ITEM"}}"#,
    r#"{"ask":"critical_path","with":{"item":"ITEM","segments":true}}"#,
    r#"{"ask":"over_time","with":{"item":"ITEM"}}"#,
    r#"{"ask":"iterations","with":{"item":"ITEM"}}"#,
    r#"{"ask":"advise","with":{"item":"ITEM"}}"#,
    r#"{"ask":"lanes","with":{"item":"ITEM","tops":[0],"is_merged":false,"below_percent":1.0,"loops":true}}"#,
];

/// Questions about an ensemble.
const ENSEMBLE: &[&str] = &[
    r#"{"ask":"issues","with":{"item":"ITEM"}}"#,
    r#"{"ask":"scaling","with":{"item":"ITEM"}}"#,
    r#"{"ask":"scaling_table","with":{"item":"ITEM","table":"maps"}}"#,
    r#"{"ask":"scaling_table","with":{"item":"ITEM","table":"regions"}}"#,
    r#"{"ask":"scaling_table","with":{"item":"ITEM","table":"losses"}}"#,
    r#"{"ask":"scaling_table","with":{"item":"ITEM","table":"laws"}}"#,
    r#"{"ask":"scaling_table","with":{"item":"ITEM","table":"dispersion"}}"#,
    r#"{"ask":"scaling_table","with":{"item":"ITEM","table":"energy"}}"#,
    r#"{"ask":"scaling_table","with":{"item":"ITEM","table":"pop"}}"#,
    r#"{"ask":"models","with":{"item":"ITEM"}}"#,
    r#"{"ask":"compare","with":{"old":"ITEM","new":"ITEM"}}"#,
];

/// A dispatcher with one root, `r`, of these files.
#[must_use]
pub fn dispatcher(files: Vec<(String, Vec<u8>)>) -> Dispatcher {
    let dispatcher = Dispatcher::new(limits());
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("fuzz", files));
    dispatcher.add_root("r", "fuzz", folder);
    dispatcher
}

/// Opens a file as the page does and asks everything about what is in it. Every question ends, with
/// an answer or with a reason why there is none, and a second time with the same one.
///
/// # Panics
/// When an answer changes.
pub fn ask_everything(name: &str, bytes: &[u8]) {
    let dispatcher = dispatcher(vec![(name.to_owned(), bytes.to_vec())]);
    let control = Control::new();
    let open = r#"{"ask":"open","with":{"root":"r"}}"#;
    let Ok(opened) = dispatcher.answer_json(open, &control) else { return };
    for (first, questions) in [('x', EXPERIMENT), ('e', ENSEMBLE)] {
        for number in 1..=3 {
            let key = format!("{first}{number}");
            if !opened.json.contains(&format!("\"{key}\"")) {
                continue;
            }
            for question in questions {
                let question = question.replace("ITEM", &key);
                let answer = dispatcher.answer_json(&question, &control);
                let misread = answer.as_ref().err().filter(|error| error.kind == "protocol");
                assert!(misread.is_none(), "{question}: {misread:?}");
                if number == 1 && question.len() % 4 == 0 {
                    assert!(answer == dispatcher.answer_json(&question, &control), "{question}");
                }
            }
        }
    }
}
