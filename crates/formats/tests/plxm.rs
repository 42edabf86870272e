//! Recordings of the project's runtime, byte by byte.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

use parallax_base::{Issues, Limits, MemorySource};
use parallax_formats::FormatError;
use parallax_formats::plxm::{
    Event, Named, PlaceKind, Recording, SourceLocation, Variable, What, is_recording, names_chunk,
};

/// The header, with 64 bytes.
fn header() -> Vec<u8> {
    let mut bytes = b"PLXM\r\n\x1a\n".to_vec();
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend(64_u32.to_le_bytes());
    for field in [2_000_000_000_u64, 5000, 1_700_000_000_000_000_000, 42] {
        bytes.extend(field.to_le_bytes());
    }
    bytes.extend(b"\x05./run");
    bytes.resize(64, 0);
    bytes
}

/// A chunk of a kind with its records, and the zeros that fill it up.
fn chunk(kind: u32, part: u32, thread: u64, ticks: u64, records: &[u8]) -> Vec<u8> {
    let length = (64 + records.len()).next_multiple_of(64);
    let mut bytes = b"PLXCHUNK".to_vec();
    bytes.extend((length as u64).to_le_bytes());
    bytes.extend(kind.to_le_bytes());
    bytes.extend(part.to_le_bytes());
    for field in [thread, 0x7f00 + thread, ticks] {
        bytes.extend(field.to_le_bytes());
    }
    bytes.resize(64, 0);
    bytes.extend(records);
    bytes.resize(length, 0);
    bytes
}

fn places() -> Vec<u8> {
    let main = b"\x01\x01\x01\x07\x00\x03a.c\x04main";
    let sum = b"\x01\x02\x04\x84\x02\x03sum\x03a.c\x04main";
    chunk(1, 0, 0, 0, &[&main[..], sum].concat())
}

fn open(bytes: Vec<u8>) -> (Result<Recording, FormatError>, Issues) {
    let mut issues = Issues::new();
    let source = MemorySource::shared(bytes);
    (Recording::open(source, "run.plxm", &Limits::default(), &mut issues), issues)
}

fn events(recording: &Recording, thread: usize, issues: &mut Issues) -> Vec<Event> {
    let mut events = recording.events(thread);
    let mut out = Vec::new();
    while let Some(event) = events.next(issues).unwrap() {
        out.push(event);
    }
    out
}

fn kinds(issues: &Issues) -> Vec<&'static str> {
    issues.list().iter().map(|issue| issue.kind).collect()
}

/// Enters main, reads 8 bytes at 0x1000, writes 4 at 0x0ffc.
const FIRST: &[u8] = b"\x01\x00\x01\x0a\x05\x02\x80\x40\x08\x06\x02\x07\x04";
/// Leaves main 300 ticks later.
const LAST: &[u8] = b"\x04\x00\xac\x02";

#[test]
fn every_field_of_a_small_recording_is_read() {
    let bytes = [
        header(),
        places(),
        chunk(2, 0, 0, 6000, FIRST),
        chunk(2, 0, 1, 6100, b"\x0b\x02\x02\x00"),
        chunk(2, 1, 0, 6020, LAST),
    ]
    .concat();
    assert!(is_recording(&*MemorySource::shared(bytes.clone())));
    let (recording, mut issues) = open(bytes);
    let recording = recording.unwrap();
    assert_eq!((&*recording.program, recording.ticks_per_second), ("./run", 2_000_000_000));
    assert_eq!((recording.anchor_ticks, recording.process), (5000, 42));
    assert_eq!(recording.anchor_nanos, 1_700_000_000_000_000_000);
    assert!(!recording.is_cut);
    let (main, sum) = (recording.place(1).unwrap(), recording.place(2).unwrap());
    assert_eq!((main.kind, &*main.function, main.line), (PlaceKind::Function, "main", 7));
    assert_eq!((sum.kind, &*sum.name, &*sum.file, sum.line), (PlaceKind::Other, "sum", "a.c", 260));
    assert_eq!(recording.place(0), None);
    let threads: Vec<_> = recording.threads.iter().map(|t| (t.number, t.handle)).collect();
    assert_eq!(threads, [(0, 0x7f00), (1, 0x7f01)]);
    let access = |address, bytes, is_write| What::Access { place: 2, address, bytes, is_write };
    let expected = [
        (6010, What::Call { place: 1, depth: 0 }),
        (6010, access(0x1000, 8, false)),
        (6010, access(0xffc, 4, true)),
        (6320, What::Leave { depth: 0 }),
    ];
    assert_eq!(
        events(&recording, 0, &mut issues),
        expected.map(|(ticks, what)| Event { ticks, what })
    );
    let lock = What::Lock { place: 2, address: 1, is_taken: true };
    assert_eq!(events(&recording, 1, &mut issues), [Event { ticks: 6100, what: lock }]);
    assert!(issues.is_empty(), "{issues:?}");
}

#[test]
fn a_bad_record_costs_the_rest_of_its_chunk_only() {
    let broken = [FIRST, b"\xee\x01\x02", LAST].concat();
    let bytes =
        [header(), places(), chunk(2, 0, 0, 6000, &broken), chunk(2, 1, 0, 7000, LAST)].concat();
    let (recording, mut issues) = open(bytes);
    let events = events(&recording.unwrap(), 0, &mut issues);
    assert_eq!(events.len(), 4);
    assert_eq!(events.last().unwrap(), &Event { ticks: 7300, what: What::Leave { depth: 0 } });
    assert_eq!(kinds(&issues), ["bad-record"]);
}

#[test]
fn a_lost_chunk_is_said_and_the_next_one_is_found() {
    let mut lost = chunk(2, 1, 0, 6500, LAST);
    lost[3] ^= 1;
    let bytes = [header(), places(), chunk(2, 0, 0, 6000, FIRST), lost, chunk(2, 2, 0, 7000, LAST)]
        .concat();
    let (recording, mut issues) = open(bytes);
    let events = events(&recording.unwrap(), 0, &mut issues);
    assert_eq!(events.len(), 4);
    assert_eq!(kinds(&issues), ["chunk-outside", "chunk-missing"]);
}

#[test]
fn a_length_that_is_wrong_swallows_no_other_chunk() {
    let first = chunk(2, 0, 0, 6000, FIRST);
    let rest = [chunk(2, 1, 0, 6020, LAST), chunk(2, 2, 0, 8000, LAST)].concat();
    for length in [0, 63, 65, 192, 1 << 40, u64::MAX] {
        let mut first = first.clone();
        first[8..16].copy_from_slice(&length.to_le_bytes());
        let (recording, mut issues) = open([header(), places(), first, rest.clone()].concat());
        let events = events(&recording.unwrap(), 0, &mut issues);
        let leaves = events.iter().filter(|e| matches!(e.what, What::Leave { .. })).count();
        assert_eq!(leaves, 2, "length {length}: {events:?}");
        assert!(!issues.is_empty());
    }
}

#[test]
fn other_versions_and_other_files_are_named() {
    let mut newer = header();
    newer[8] = 2;
    let (newer, _) = open(newer);
    let message = newer.err().unwrap().to_string();
    assert!(message.contains("a recording of version 2"), "{message}");
    let (foreign, _) = open(b"SQLite format 3\0".to_vec());
    assert!(matches!(foreign.err().unwrap(), FormatError::NotThisFormat { .. }));
    let (short, _) = open(header()[..40].to_vec());
    assert!(matches!(short.err().unwrap(), FormatError::Malformed { .. }));
}

#[test]
fn a_recording_that_grew_too_large_says_so() {
    let (recording, issues) = open([header(), chunk(1, 0, 0, 0, b"\x02")].concat());
    assert!(recording.unwrap().is_cut);
    assert!(issues.is_empty());
}

/// A file mapped at 0x1000, and in it a function and an access known by their addresses.
fn addresses() -> Vec<u8> {
    let module = b"\x03\x80\x20\x80\x20\x80\x40\x06/bin/p";
    let function = b"\x04\x01\x01\xa0\x21\x00";
    let access = b"\x04\x02\x04\xb0\x21\x00";
    chunk(1, 0, 0, 0, &[&module[..], function, access].concat())
}

#[test]
fn addresses_are_places_and_names_behind_the_rest_are_theirs() {
    let events_chunk =
        chunk(2, 0, 0, 6000, b"\x01\x00\x01\x0a\x05\x02\x80\x40\x08\x0e\x01\x03\x05\x0d\x00\x10");
    let bytes = [header(), addresses(), events_chunk].concat();
    let (recording, mut issues) = open(bytes.clone());
    let recording = recording.unwrap();
    let module = recording.module(0x10a0).unwrap();
    assert_eq!((module.base, &*module.path), (0x1000, "/bin/p"));
    assert_eq!(recording.module(0x2000), None);
    let place = recording.place(1).unwrap();
    assert_eq!((&*place.function, &*place.file, place.line), ("0xa0", "/bin/p", 0));
    assert_eq!(recording.addresses.len(), 2);
    let found = events(&recording, 0, &mut issues);
    let block = Event { ticks: 6015, what: What::Block { place: 3, depth: 1 } };
    let ends = What::FrameEnds { address: 0x1000, bytes: 16 };
    assert_eq!(found[2..], [block, Event { ticks: 6015, what: ends }]);
    // Longer names than the format has are cut between letters.
    let long = "\u{e4}".repeat(600);
    let place = |name: &str, function: &str, line| SourceLocation {
        kind: PlaceKind::Other,
        name: name.to_owned(),
        file: "p.c".to_owned(),
        function: function.to_owned(),
        line,
        inline_depth: 0,
    };
    let block = SourceLocation { kind: PlaceKind::Block, inline_depth: 2, ..place("", "main", 8) };
    let named = [
        Named {
            number: 1,
            place: SourceLocation { kind: PlaceKind::Function, ..place("", "main", 300) },
        },
        Named { number: 2, place: place(&long, "main", 7) },
        Named { number: 3, place: block.clone() },
    ];
    let variable = Variable { address: 0x1800, bytes: 400, storage: 8, name: "table".to_owned() };
    let chunk = names_chunk(&named, std::slice::from_ref(&variable));
    assert_eq!(chunk.len() % 64, 0);
    let (recording, issues) = open([bytes.clone(), chunk.clone()].concat());
    let recording = recording.unwrap();
    assert_eq!(recording.addresses, []);
    let main = recording.place(1).unwrap();
    assert_eq!((main.kind, &*main.function, main.line), (PlaceKind::Function, "main", 300));
    assert_eq!(recording.place(2).unwrap().name.chars().count(), 500);
    assert_eq!(recording.place(3), Some(&block));
    assert_eq!(recording.variables, [variable]);
    assert!(issues.is_empty(), "{issues:?}");
    // Cut anywhere, what is whole is read.
    for len in bytes.len()..bytes.len() + chunk.len() {
        let cut = [bytes.clone(), chunk[..len - bytes.len()].to_vec()].concat();
        let (recording, _) = open(cut);
        assert!(recording.unwrap().place(1).is_some());
    }
}
