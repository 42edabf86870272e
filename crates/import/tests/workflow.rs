//! Traces of coupled applications become one archive, on one clock.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::collections::BTreeMap;
use std::sync::Arc;

use parallax_base::{
    Control, Folder, Issues, Limits, MemoryFolder, MemorySink, TimeWindow, TrackIdx,
};
use parallax_import::archive;
use parallax_import::convert::{
    Alignment, ConvertOptions, TraceInput, WorkflowInput, convert, convert_workflow, recognise,
};
use parallax_import::events::{ComponentPlan, ConversionError};
use parallax_model::{Experiment, IdentityKind, LinkKind, Message};
use parallax_native::DiskFolder;
use parallax_testkit::otf2::{Anchor, Fields, File, Order};
use parallax_testkit::workflow::Workflow;

/// Microseconds by which the clock of the analysis is late.
const LATE: u64 = 250_000;
/// How long messages take.
const LATENCY: u64 = 5;

fn call(name: &str, rank: u32, from: u64, to: u64) -> [(u64, String); 2] {
    let event = |kind: &str, time: u64| {
        let text = format!(
            r#"{{"event-type": "{kind}", "name": "{name}", "time": {time}, "node-id": {rank}, "thread-id": 0}}"#
        );
        (time, text)
    };
    [event("entry", from), event("exit", to)]
}

fn message(kind: &str, time: u64, from: u32, to: u32, bytes: u64) -> (u64, String) {
    let text = format!(
        r#"{{"event-type": "{kind}", "time": {time}, "source-node-id": {from}, "source-thread-id": 0, "destination-node-id": {to}, "destination-thread-id": 0, "message-size": {bytes}, "message-tag": 7}}"#
    );
    (time, text)
}

fn text(mut events: Vec<(u64, String)>) -> Vec<u8> {
    // Enters that share a time with a leave keep their order.
    events.sort_by_key(|event| event.0);
    let events: Vec<String> = events.into_iter().map(|event| event.1).collect();
    format!("[{}]", events.join(",\n")).into_bytes()
}

/// A simulation of two ranks, and one rank that analyses what it sends; `first` is what ranks of
/// the analysis are counted from, `start` when the simulation began on its clock.
fn traces(first: u32, start: u64) -> [Vec<u8>; 2] {
    let mut simulation = Vec::new();
    let mut analysis = Vec::new();
    for rank in 0..2 {
        simulation.extend(call("simulate", rank, start, start + 10_000));
    }
    analysis.extend(call("analyse", first, start + LATE + 300, start + LATE + 9_000));
    for step in 0..4_u64 {
        let sent = start + 1_000 + 2_000 * step;
        // Only the first message each way is as fast as can be.
        let arrives = sent + LATENCY + 40 * step;
        simulation.push(message("send", sent, 0, first, 640));
        analysis.push(message("receive", LATE + arrives, 0, first, 640));
        let answer = sent + 1_000;
        analysis.push(message("send", LATE + answer, first, 1, 8));
        simulation.push(message("receive", answer + LATENCY + 30 * step, first, 1, 8));
        // Inside the simulation.
        simulation.push(message("send", sent + 100, 0, 1, 16));
        simulation.push(message("receive", sent + 120, 0, 1, 16));
    }
    [text(simulation), text(analysis)]
}

fn input(text: Vec<u8>, name: &str) -> TraceInput {
    let file = format!("{name}.json");
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("m", [(file.clone(), text)]));
    recognise(&folder, &file).unwrap().unwrap()
}

fn plan(name: &str) -> ComponentPlan {
    ComponentPlan { name: name.into(), ..ComponentPlan::default() }
}

fn inputs([simulation, analysis]: [Vec<u8>; 2]) -> Vec<WorkflowInput> {
    let depends_on = vec!["sim".to_owned()];
    vec![
        WorkflowInput {
            trace: input(simulation, "sim"),
            components: vec![plan("sim")],
            offset_nanos: 0,
        },
        WorkflowInput {
            trace: input(analysis, "ana"),
            components: vec![ComponentPlan { depends_on, ..plan("ana") }],
            offset_nanos: 0,
        },
    ]
}

fn coupled(
    inputs: &[WorkflowInput],
    alignment: Alignment,
) -> Result<(Experiment, Issues), ConversionError> {
    let sink = MemorySink::new();
    let (options, control) = (ConvertOptions::default(), Control::new());
    let folder = Arc::new(sink.clone());
    let issues = convert_workflow(inputs, "coupled", alignment, folder, &options, &control)?;
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("coupled"));
    Ok((archive::open(&folder, &Limits::default()).unwrap(), issues))
}

fn alone(input: &TraceInput) -> Experiment {
    let sink = MemorySink::new();
    let options = ConvertOptions::default();
    convert(input, "alone", Arc::new(sink.clone()), &options, &Control::new()).unwrap();
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("alone"));
    archive::open(&folder, &Limits::default()).unwrap()
}

/// Application and rank of each track.
fn identities(x: &Experiment) -> Vec<(Option<u64>, u64)> {
    let of = |l, kind| x.locations.identity(l, kind);
    let both = |l| (of(l, IdentityKind::Application), of(l, IdentityKind::Rank).unwrap());
    x.locations.iter().map(both).collect()
}

fn messages(x: &Experiment) -> Vec<Message> {
    let mut all = Vec::new();
    let visit = &mut |message| all.push(message);
    x.events.as_deref().unwrap().messages(TimeWindow::ALL, visit).unwrap();
    all
}

/// Number of matched messages by sending and receiving application.
fn between(x: &Experiment) -> BTreeMap<(Option<u64>, Option<u64>), u64> {
    let of: Vec<Option<u64>> = identities(x).into_iter().map(|(a, _)| a).collect();
    let mut found = BTreeMap::new();
    for m in messages(x).iter().filter(|m| m.kind == LinkKind::Message) {
        if m.send_nanos.is_some() && m.receive_nanos.is_some() {
            let (from, to) = (m.sender.unwrap().idx(), m.receiver.unwrap().idx());
            *found.entry((of[from], of[to])).or_insert(0) += 1;
        }
    }
    found
}

/// Start and end of all calls of an application, less `shift`, by rank.
fn calls(x: &Experiment, application: Option<u64>, shift: i64) -> Vec<(u64, String, u64, u64)> {
    let mut out = Vec::new();
    for (track, (own, rank)) in identities(x).into_iter().enumerate() {
        if own != application {
            continue;
        }
        let traces = x.traces.as_deref().unwrap();
        let mut visit = |call: parallax_model::Call| {
            let context = x.contexts.by_source_id(call.context).unwrap();
            let time = |nanos: u64| nanos.checked_add_signed(-shift).unwrap();
            let name = x.contexts.label(context);
            out.push((rank, name, time(call.start_nanos), time(call.end_nanos)));
        };
        traces.visit_calls(TrackIdx::from_len(track), TimeWindow::ALL, &mut visit).unwrap();
    }
    out
}

#[test]
fn components_are_told_apart_and_their_calls_are_those_of_their_traces() {
    let inputs = inputs(traces(2, 0));
    let (x, _) = coupled(&inputs, Alignment::Auto).unwrap();
    assert_eq!(identities(&x), [(Some(0), 0), (Some(0), 1), (Some(1), 2)]);
    let labels: Vec<String> = x.locations.iter().map(|l| x.locations.label(l)).collect();
    assert_eq!(labels, ["sim rank 0 thread 0", "sim rank 1 thread 0", "ana rank 2 thread 0"]);
    let components = &x.metadata.components;
    let described: Vec<_> = components.iter().map(|c| (c.application, &*c.name)).collect();
    assert_eq!(described, [(0, "sim"), (1, "ana")]);
    assert_eq!(components[1].depends_on, [Arc::from("sim")]);
    // No rank is in both, so they are numbers of one space already.
    assert_eq!((components[0].first_rank, components[1].first_rank), (0, 0));
    for (input, component) in inputs.iter().zip(components) {
        let own = calls(&x, Some(component.application), component.shift_nanos);
        assert!(!own.is_empty());
        assert_eq!(own, calls(&alone(&input.trace), None, 0), "{}", component.name);
    }
    assert_eq!(x.metadata.format, "CODAR event JSON (converted)");
}

#[test]
fn partners_in_another_trace_are_found_where_ranks_are_one_space() {
    let (x, _) = coupled(&inputs(traces(2, 0)), Alignment::Auto).unwrap();
    let (sim, ana) = (Some(0), Some(1));
    let expected = BTreeMap::from([((sim, sim), 4), ((sim, ana), 4), ((ana, sim), 4)]);
    assert_eq!(between(&x), expected);
    assert!(messages(&x).iter().all(|m| m.send_nanos.is_some() && m.receive_nanos.is_some()));
    // Rank 0 of the analysis is not rank 0 of the simulation.
    let (x, issues) = coupled(&inputs(traces(0, 0)), Alignment::Auto).unwrap();
    let components = &x.metadata.components;
    assert_eq!((components[0].first_rank, components[1].first_rank), (0, 2));
    assert_eq!(between(&x).get(&(sim, ana)), None);
    assert!(issues.list().iter().any(|issue| issue.kind == "send-without-receive"));
}

#[test]
fn clocks_are_brought_together_by_messages_by_starts_or_by_what_is_said() {
    let span = |x: &Experiment| -> Vec<(u64, u64)> {
        x.metadata.components.iter().map(|c| c.span.unwrap()).collect()
    };
    let mut both = inputs(traces(2, 0));
    let (x, issues) = coupled(&both, Alignment::Messages).unwrap();
    assert_eq!(span(&x), [(0, 10_000_000), (300_000, 9_000_000)]);
    let delays: Vec<i64> = messages(&x)
        .iter()
        .filter(|m| [m.sender, m.receiver].contains(&Some(TrackIdx::new(2))))
        .map(|m| (m.receive_nanos.unwrap() as i64 - m.send_nanos.unwrap() as i64) / 1000)
        .collect();
    assert_eq!(delays.iter().min(), Some(&(LATENCY as i64)), "{delays:?}");
    let told = issues.list().iter().find(|issue| issue.message.contains("fastest")).unwrap();
    assert!(told.message.contains("fastest of 4 messages from sim"), "{}", told.message);
    assert!(told.message.contains("take 0.000005 s each"), "{}", told.message);

    let (x, issues) = coupled(&both, Alignment::Auto).unwrap();
    assert_eq!(span(&x), [(0, 10_000_000), (0, 8_700_000)]);
    let guess = issues.list().iter().find(|issue| issue.kind == "clocks").unwrap();
    assert!(guess.message.contains("nothing about the time of day"), "{}", guess.message);

    both[1].offset_nanos = 300_000;
    let (x, _) = coupled(&both, Alignment::Starts).unwrap();
    assert_eq!(span(&x), [(0, 10_000_000), (300_000, 9_000_000)]);
    both[1].offset_nanos = -1_000_000;
    let (x, _) = coupled(&both, Alignment::Starts).unwrap();
    assert_eq!(span(&x), [(1_000_000, 11_000_000), (0, 8_700_000)], "no time is negative");

    let error = coupled(&both, Alignment::TimeOfDay).err().unwrap().to_string();
    assert!(error.contains("sim says nothing about the time of day"), "{error}");

    // Times since 1970 need nothing.
    let (x, issues) = coupled(&inputs(traces(2, 1_529_543_791_035_675)), Alignment::Auto).unwrap();
    let [sim, ana] = [span(&x)[0].0, span(&x)[1].0];
    assert_eq!(ana - sim, (LATE + 300) * 1000);
    assert!(issues.list().iter().all(|issue| issue.kind != "clocks"), "{issues:?}");
}

#[test]
fn ranks_of_a_merged_trace_become_components() {
    let workflow = Workflow::SMALL;
    let mut text = Vec::new();
    let planted = workflow.write(&mut text).unwrap();
    let md = u64::from(workflow.md_ranks());
    let last = u64::from(workflow.ranks()) - 1;
    let merged = WorkflowInput {
        trace: input(text, "merged"),
        components: vec![
            ComponentPlan { ranks: Some((0, md - 1)), ..plan("md") },
            ComponentPlan { ranks: Some((md, last)), ..plan("analysis") },
        ],
        offset_nanos: 0,
    };
    let (x, issues) = coupled(std::slice::from_ref(&merged), Alignment::Auto).unwrap();
    assert!(issues.is_empty(), "{issues:?}");
    let mut found = identities(&x);
    found.sort_unstable();
    let md_ranks = (0..md).map(|rank| (Some(0), rank));
    let expected: Vec<_> = md_ranks.chain((0..=last - md).map(|rank| (Some(1), rank))).collect();
    assert_eq!(found, expected);
    assert_eq!(x.metadata.components[1].first_rank, md);
    let between = between(&x);
    assert_eq!(between.values().sum::<u64>(), planted.messages);
    assert!(between[&(Some(0), Some(1))] > 0, "frames: {between:?}");
    // Ranks that nobody named are not lost.
    let few = WorkflowInput { components: merged.components[..1].to_vec(), ..merged };
    let (x, _) = coupled(&[few], Alignment::Auto).unwrap();
    let names: Vec<_> = x.metadata.components.iter().map(|c| c.name.to_string()).collect();
    assert_eq!(names, ["md", "other ranks"]);
    assert_eq!(identities(&x).len() as u64, last + 1);
}

#[test]
fn programs_of_a_real_stream_are_components() {
    let Some(place) = parallax_testkit::needs::corpus_path("data/codar/heat") else { return };
    let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(&place));
    let heat = recognise(&folder, "events_test1.json").unwrap().unwrap();
    let x = alone(&heat);
    let components: Vec<_> =
        x.metadata.components.iter().map(|c| (c.application, &*c.name, c.first_rank)).collect();
    assert_eq!(components, [(0, "program 0", 0), (1, "program 1", 2)]);
    let spans: Vec<_> = x.metadata.components.iter().map(|c| c.span.unwrap()).collect();
    assert!(spans.iter().all(|span| span.0 < span.1));
    // As one of several traces it has two components.
    let heat = WorkflowInput { trace: heat, components: vec![plan("heat")], offset_nanos: 0 };
    let mut both = inputs(traces(2, 1_529_543_791_035_675));
    both.truncate(1);
    both.push(heat);
    both[0].components[0].depends_on = vec!["heat".into()];
    let (x, _) = coupled(&both, Alignment::Auto).unwrap();
    let components = &x.metadata.components;
    let mut names: Vec<_> = components.iter().map(|c| c.name.to_string()).collect();
    names.sort_unstable();
    assert_eq!(names, ["heat 0", "heat 1", "sim"]);
    let sim = components.iter().find(|c| &*c.name == "sim").unwrap();
    assert_eq!(sim.depends_on.len(), 2, "all of it: {sim:?}");
}

/// An OTF2 trace of one rank that began `epoch` seconds after 1970, with operations on the files
/// `frames` and `own`: time, file, whether it is written, and bytes.
fn otf2(epoch: u64, operations: &[(u64, u32, bool, u64)]) -> TraceInput {
    const CHUNK: usize = 1 << 20;
    let f = || Fields::new(Order::Little);
    let mut events = File::events(Order::Little, CHUNK);
    events.enter(10, 0);
    for (number, &(time, file, is_write, bytes)) in (0_u64..).zip(operations) {
        let begin = f().c32(file).u8(u8::from(is_write)).c32(0).c64(bytes).c64(number);
        events.event(time - 5, 75, &begin);
        events.event(time, 78, &f().c32(file).c64(bytes).c64(number));
    }
    events.leave(1_000_000, 0);
    let mut definitions = File::definitions(Order::Little, CHUNK);
    let mut count = 0;
    let mut add = |kind, fields: Fields| {
        definitions.record(kind, &fields);
        count += 1;
    };
    add(5, f().c64(1_000_000_000).c64(0).c64(1_000_000).c64(epoch * 1_000_000_000));
    for (id, name) in (0..).zip(["", "main", "frames.bp", "own.log"]) {
        add(10, f().c32(id).text(name));
    }
    add(12, f().c32(0).c32(0).c32(0).c32(u32::MAX));
    add(13, f().c32(0).c32(0).u8(1).c32(0).c32(u32::MAX));
    add(14, f().c64(0).c32(0).u8(1).c64(2 + 2 * operations.len() as u64).c32(0));
    let region = f().c32(0).c32(1).c32(0).u8(0).c32(0).c32(0).c32(0);
    add(15, region.c32(1).u8(1).u8(1).c32(0));
    for file in 0..2 {
        add(38, f().c32(file).c32(2 + file).c32(u32::MAX));
        add(40, f().c32(file).c32(2 + file).c32(file).u8(0).c32(0).c32(u32::MAX).c32(u32::MAX));
    }
    let anchor = Anchor {
        order: Order::Little,
        chunk_size: CHUNK,
        substrate: 1,
        compression: 1,
        locations: 1,
        definitions: count,
    };
    let local = File::definitions(Order::Little, CHUNK);
    let files = [
        ("traces.otf2".to_owned(), anchor.bytes()),
        ("traces.def".to_owned(), definitions.finish()),
        ("traces/0.def".to_owned(), local.finish()),
        ("traces/0.evt".to_owned(), events.finish()),
    ];
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("m", files));
    recognise(&folder, "traces.otf2").unwrap().unwrap()
}

#[test]
fn what_one_component_writes_and_another_one_reads_is_a_transfer() {
    let writes = [(1_000, 0, true, 100), (2_000, 1, true, 7), (5_000, 0, true, 200)];
    // Its own clock began a second later; it also reads what it wrote itself.
    let reads = [(500, 0, false, 90), (600, 1, true, 5), (700, 1, false, 5)];
    let both = [otf2(1_700_000_000, &writes), otf2(1_700_000_001, &reads)];
    let inputs: Vec<WorkflowInput> = both
        .into_iter()
        .zip(["sim", "ana"])
        .map(|(trace, name)| WorkflowInput { trace, components: vec![plan(name)], offset_nanos: 0 })
        .collect();
    let (x, issues) = coupled(&inputs, Alignment::TimeOfDay).unwrap();
    assert!(issues.list().iter().all(|issue| issue.kind == "clocks"), "{issues:?}");
    assert_eq!(x.metadata.components[1].shift_nanos, 1_000_000_000);
    let all = messages(&x);
    let transfers: Vec<_> = all.iter().filter(|m| m.kind == LinkKind::Transfer).collect();
    assert_eq!(transfers.len(), 1, "{transfers:?}");
    let only = transfers[0];
    assert_eq!((only.sender.unwrap().get(), only.receiver.unwrap().get(), only.bytes), (0, 1, 90));
    assert_eq!((only.send_nanos, only.receive_nanos), (Some(5_000), Some(1_000_000_500)));
    let events = x.events.as_deref().unwrap();
    assert_eq!(events.file_of(only).map(|file| &**file), Some("frames.bp"));
    // With the reader's clock as it is, the newest write was the one before.
    let (x, _) = coupled(&inputs, Alignment::None).unwrap();
    assert!(messages(&x).iter().all(|m| m.kind != LinkKind::Transfer), "nothing was written yet");
}
