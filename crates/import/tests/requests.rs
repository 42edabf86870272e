//! Sends and receives that do not block come out of OTF2 with the times of their requests, matched
//! in the order in which they were posted; archives of before are still read.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::{files_of, manifest, old_functions, old_table};
use parallax_base::{Control, Folder, Limits, MemoryFolder, MemorySink, TimeWindow};
use parallax_formats::archive::{MANIFEST, keys};
use parallax_import::archive;
use parallax_import::convert::{ConvertOptions, convert, recognise};
use parallax_import::events::MessageRow;
use parallax_model::{CollectivePart, Experiment, Message};
use parallax_testkit::otf2::{ALONE, Shape, Step, Step::*, WORLD, write};

/// Converts a trace; gives the files of the archive.
fn archived(ranks: &[Vec<(u64, Step)>]) -> BTreeMap<String, Vec<u8>> {
    let files = write(&Shape::default(), ranks);
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("trace", files));
    let input = recognise(&folder, "traces.otf2").unwrap().unwrap();
    let sink = MemorySink::new();
    let options = ConvertOptions::default();
    convert(&input, "trace", Arc::new(sink.clone()), &options, &Control::new()).unwrap();
    files_of(sink)
}

fn open(files: BTreeMap<String, Vec<u8>>) -> Result<Experiment, String> {
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("a", files));
    archive::open(&folder, &Limits::default()).map_err(|error| error.to_string())
}

fn messages(experiment: &Experiment) -> Vec<Message> {
    let mut list = Vec::new();
    let events = experiment.events.as_deref().unwrap();
    events.messages(TimeWindow::ALL, &mut |message| list.push(message)).unwrap();
    list.sort_by_key(|message| message.send_nanos);
    list
}

/// Rank 1 posts two receives of one tag and completes the second one first.
fn exchange() -> [Vec<(u64, Step)>; 2] {
    [
        vec![
            (0, Enter("main")),
            (10, Enter("MPI_Isend")),
            (11, Isend(1, 100, 5)),
            (12, Leave),
            (20, Enter("MPI_Send")),
            (21, Send(1, 200)),
            (25, Leave),
            (30, Enter("MPI_Wait")),
            (39, IsendComplete(5)),
            (40, Leave),
            (45, Enter("MPI_Send")),
            (46, Send(1, 300)),
            (47, Leave),
            (50, Leave),
        ],
        vec![
            (0, Enter("main")),
            (2, IrecvRequest(7)),
            (3, IrecvRequest(8)),
            (4, IrecvRequest(9)),
            (35, Irecv(0, 200, 8)),
            (36, Irecv(0, 100, 7)),
            (37, Cancel(9)),
            (48, Receive(0, 300)),
            (50, Leave),
        ],
    ]
}

#[test]
fn messages_have_the_times_of_their_requests() {
    let experiment = open(archived(&exchange())).unwrap();
    let list = messages(&experiment);
    let of = |m: &Message| (m.bytes, m.receive_nanos, m.posted_nanos, m.completed_nanos);
    assert_eq!(
        list.iter().map(of).collect::<Vec<_>>(),
        [
            (100, Some(36), Some(2), Some(39)),
            (200, Some(35), Some(3), None),
            (300, Some(48), None, None),
        ]
    );
    // In the order of completion the sizes would not agree.
    assert!(list.iter().all(|message| !message.is_doubtful));
    let kinds: Vec<_> = experiment.issues.list().iter().map(|issue| issue.kind).collect();
    assert_eq!(kinds, Vec::<&str>::new());
    let records = experiment.events.as_deref().unwrap().records();
    let counts: Vec<_> = records.iter().map(|r| (r.sends, r.receives, r.others)).collect();
    assert_eq!(counts, [(3, 0, 1), (0, 3, 4)]);
}

#[test]
fn archives_of_version_2_are_read_without_times_of_requests() {
    let mut files = archived(&exchange());
    let whole = open(files.clone()).unwrap();
    // Version 2 is version 3 without the last two columns of messages.
    let rows: Vec<MessageRow> = messages(&whole)
        .into_iter()
        .map(|m| MessageRow {
            kind: 0,
            flags: 0,
            sender: m.sender.unwrap().get(),
            receiver: m.receiver.unwrap().get(),
            communicator: m.communicator,
            tag: m.tag,
            bytes: m.bytes,
            send_nanos: m.send_nanos.unwrap(),
            receive_nanos: m.receive_nanos.unwrap(),
            posted_nanos: 0,
            completed_nanos: 0,
        })
        .collect();
    let functions = old_functions(&files);
    files.insert("functions.arrow".into(), functions);
    files.insert("messages.arrow".into(), old_table(rows, 9));
    let manifest = |version: &str| {
        manifest(&[(keys::VERSION, version), (keys::FIRST_NANOS, "0"), (keys::LAST_NANOS, "50")])
    };
    files.insert(MANIFEST.into(), manifest("2"));
    let old = messages(&open(files.clone()).unwrap());
    let expected = messages(&whole).into_iter().map(|message| Message {
        posted_nanos: None,
        completed_nanos: None,
        ..message
    });
    assert_eq!(old, expected.collect::<Vec<_>>());
    for version in ["1", "7"] {
        files.insert(MANIFEST.into(), manifest(version));
        let error = open(files.clone()).err().unwrap();
        assert!(
            error.contains(&format!("version {version}")) && error.contains("convert"),
            "{error}"
        );
    }
}

#[test]
fn a_communicator_of_one_is_no_communicator_of_all() {
    let rank = |enter: u64| {
        let mut steps = vec![(0, Enter("main"))];
        for communicator in [ALONE, WORLD] {
            steps.extend([
                (enter, Enter("MPI_Barrier")),
                (enter, CollectiveBegin),
                (enter + 30, CollectiveEnd(0, communicator, None)),
                (enter + 30, Leave),
            ]);
        }
        steps.push((100, Leave));
        steps
    };
    let experiment = open(archived(&[rank(10), rank(20)])).unwrap();
    let mut parts: Vec<CollectivePart> = Vec::new();
    let events = experiment.events.as_deref().unwrap();
    events.collectives(TimeWindow::ALL, &mut |part| parts.push(part)).unwrap();
    parts.sort_by_key(|part| (part.track, part.communicator));
    let of: Vec<_> = parts.iter().map(|part| (part.track.get(), part.communicator)).collect();
    assert_eq!(of, [(0, WORLD), (0, u32::MAX), (1, WORLD), (1, u32::MAX)]);
}
