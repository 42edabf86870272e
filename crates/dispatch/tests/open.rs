//! What was dropped together: which experiments become an ensemble, and what is excluded and why.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::sync::Arc;

use parallax_base::{Control, Folder, Limits, MemoryFolder};
use parallax_dispatch::Dispatcher;
use parallax_protocol::{ErrorReply, ItemKind, OpenReply};

/// A profile of Callgrind: what was counted, and costs of two functions that only this program has.
fn profile(program: &str, event: &str) -> Vec<u8> {
    format!(
        "# callgrind format\ncmd: ./{program} 8\npid: 7\nevents: {event}\n\
         fl={program}.c\nfn=main\n1 1\ncfn={program}_solve\ncalls=1 5\n2 90\n\
         fn={program}_solve\n5 60\ncfn={program}_norm\ncalls=3 9\n6 30\nfn={program}_norm\n9 30\n"
    )
    .into_bytes()
}

fn open(files: &[(&str, Vec<u8>)]) -> Result<OpenReply, ErrorReply> {
    let files = files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.clone()));
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("dropped", files));
    let dispatcher = Dispatcher::new(Limits::default());
    dispatcher.add_root("r", "dropped", folder);
    let answer =
        dispatcher.answer_json(r#"{"ask":"open","with":{"root":"r"}}"#, &Control::new())?;
    Ok(serde_json::from_str(&answer.json).unwrap())
}

/// The members of each ensemble by name, and the names of all experiments.
fn shown(reply: &OpenReply) -> (Vec<Vec<&str>>, Vec<&str>) {
    let name = |key: &str| &*reply.items.iter().find(|item| item.item == key).unwrap().name;
    let of_kind = |kind| reply.items.iter().filter(move |item| item.kind == kind);
    let members = of_kind(ItemKind::Ensemble)
        .map(|item| item.members.iter().map(|member| name(member)).collect());
    (members.collect(), of_kind(ItemKind::Experiment).map(|item| &*item.name).collect())
}

fn excluded(reply: &OpenReply) -> Vec<String> {
    reply.excluded.iter().map(|one| format!("{} {}", one.path, one.reason)).collect()
}

#[test]
fn what_lacks_the_metric_or_is_another_program_leaves_the_ensemble_as_it_is() {
    let reply = open(&[
        ("a/callgrind.out.1", profile("solver", "Cycles")),
        ("b/callgrind.out.1", profile("solver", "Ir")),
        ("c/callgrind.out.1", profile("other", "Ir")),
        ("d/callgrind.out.1", profile("solver", "Ir")),
        ("e/callgrind.out.1", profile("solver", "Ir")),
    ])
    .unwrap();
    let (ensembles, experiments) = shown(&reply);
    assert_eq!(
        ensembles,
        [["b/callgrind.out.1", "d/callgrind.out.1", "e/callgrind.out.1"].to_vec()]
    );
    assert_eq!(experiments.len(), 5);
    assert_eq!(reply.items[0].kind, ItemKind::Ensemble, "what says most comes first");
    assert_eq!(
        excluded(&reply),
        [
            "a/callgrind.out.1 is not in the ensemble: it has the metric Cycles, not Ir",
            "c/callgrind.out.1 is not in the ensemble: a run of other, not of solver",
        ]
    );
    assert!(reply.errors.is_empty(), "{:?}", reply.errors);
}

#[test]
fn unrelated_experiments_make_no_ensemble() {
    let reply = open(&[
        ("a/callgrind.out.1", profile("solver", "Ir")),
        ("b/callgrind.out.1", profile("other", "Ir")),
    ])
    .unwrap();
    let (ensembles, experiments) = shown(&reply);
    assert!(ensembles.is_empty(), "{ensembles:?}");
    assert_eq!(experiments, ["a/callgrind.out.1", "b/callgrind.out.1"]);
    assert!(reply.errors.is_empty() && reply.excluded.is_empty(), "{reply:?}");
}

#[test]
fn runs_of_two_programs_make_two_ensembles() {
    let reply = open(&[
        ("a/callgrind.out.1", profile("solver", "Ir")),
        ("b/callgrind.out.1", profile("other", "Ir")),
        ("c/callgrind.out.1", profile("solver", "Ir")),
        ("d/callgrind.out.1", profile("other", "Ir")),
    ])
    .unwrap();
    assert_eq!(
        shown(&reply).0,
        [["a/callgrind.out.1", "c/callgrind.out.1"], ["b/callgrind.out.1", "d/callgrind.out.1"]]
    );
}

#[test]
fn a_folder_of_callgrind_files_is_one_experiment() {
    let reply = open(&[
        ("run/callgrind.out.7-01", profile("solver", "Ir")),
        ("run/callgrind.out.7-02", profile("solver", "Ir")),
    ])
    .unwrap();
    let (ensembles, experiments) = shown(&reply);
    assert_eq!((ensembles.len(), experiments), (0, vec!["run"]));
}

#[test]
fn tables_of_two_programs_make_two_ensembles() {
    let table = |region: &str, cores: u32| {
        format!("cores,region,time\n{cores},{region},4.0\n{cores},{region}_norm,2.0\n").into_bytes()
    };
    let reply = open(&[
        ("a1.csv", table("solve", 1)),
        ("a2.csv", table("solve", 2)),
        ("b1.csv", table("render", 1)),
        ("b2.csv", table("render", 2)),
    ])
    .unwrap();
    let names: Vec<&str> = reply.items.iter().map(|item| &*item.name).collect();
    assert_eq!(names, ["a1.csv and 1 more", "b1.csv and 1 more"]);
}

#[test]
fn files_that_are_no_data_are_named_with_the_reason() {
    let reply = open(&[
        ("callgrind.out.1", profile("solver", "Ir")),
        ("notes.txt", b"hello".to_vec()),
        ("empty.json", Vec::new()),
        ("solver.c", b"int main;".to_vec()),
    ])
    .unwrap();
    assert_eq!(excluded(&reply), ["empty.json is empty", "notes.txt is of no known format"]);
}

#[test]
fn the_anchor_of_a_trace_alone_asks_for_the_whole_folder() {
    let anchor = include_bytes!("../../../fixtures/otf2/all-records/traces.otf2");
    let error = open(&[("traces.otf2", anchor.to_vec())]).unwrap_err();
    assert_eq!(
        error.message,
        "traces.otf2 needs traces.def, which is missing; open the whole folder that they belong to"
    );
}

#[test]
fn a_single_empty_file_is_empty() {
    let error = open(&[("empty.json", Vec::new())]).unwrap_err();
    assert!(error.message.contains("empty.json is empty"), "{}", error.message);
}
