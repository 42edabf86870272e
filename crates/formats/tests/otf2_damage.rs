//! Damaged traces: what is readable is kept, the rest is reported, nothing panics or hangs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod otf2;

use otf2::{ANCHOR, Files, all_records, copying, everything, files, lending, locations, open};
use parallax_base::{Issues, Limits, Place};
use parallax_formats::otf2::Archive;
use parallax_testkit::otf2::{SMALL_CHUNK, Shape, generate};
use proptest::prelude::*;

fn changed(files: &Files, path: &str, change: impl FnOnce(&mut Vec<u8>)) -> Files {
    let mut files = files.clone();
    change(&mut files.iter_mut().find(|(found, _)| found == path).unwrap().1);
    files
}

fn kinds(issues: &Issues) -> Vec<&'static str> {
    issues.list().iter().map(|issue| issue.kind).collect()
}

#[test]
fn an_event_file_cut_at_any_byte_gives_the_events_before() {
    let whole = files(&all_records());
    for (path, index) in [("traces/0.evt", 0), ("traces/1.evt", 1)] {
        let mut issues = Issues::new();
        let expected = everything(&lending(&whole), &mut issues).events[index].1.clone();
        assert!(issues.is_empty());
        let len = whole.iter().find(|(found, _)| found == path).unwrap().1.len();
        let mut last = 0;
        for cut in 0..len {
            let files = changed(&whole, path, |bytes| bytes.truncate(cut));
            let mut issues = Issues::new();
            let found = everything(&lending(&files), &mut issues);
            assert_eq!(found, everything(&copying(&files), &mut Issues::new()));
            let events = &found.events[index].1;
            if cut < 18 {
                assert!(events[0].contains("ends inside the header"), "{cut}: {events:?}");
                continue;
            }
            assert_eq!(events[..], expected[..events.len()], "{path} cut at {cut}");
            assert!(events.len() >= last, "{path} cut at {cut}");
            last = events.len();
            // Both marks of the end are behind all events, and one of them is enough.
            if cut < len - 1 {
                let at = issues.list().iter().find_map(|issue| match &issue.place {
                    Place::Byte { file, offset } if file == path => Some(*offset),
                    _ => None,
                });
                assert!(at.unwrap() <= cut as u64, "{path} cut at {cut}: {issues:?}");
                let is_short = events.len() < expected.len();
                assert_eq!(kinds(&issues).contains(&"event-count"), is_short, "{issues:?}");
            }
        }
        assert_eq!(last, expected.len());
    }
}

#[test]
fn definitions_cut_at_any_byte_give_the_definitions_before() {
    let whole = files(&all_records());
    let mut last = 0;
    let len = whole.iter().find(|(path, _)| path == "traces.def").unwrap().1.len();
    for cut in 18..len {
        let files = changed(&whole, "traces.def", |bytes| bytes.truncate(cut));
        let mut issues = Issues::new();
        let archive = open(&lending(&files), &mut issues).unwrap();
        let d = archive.definitions();
        let found = d.strings.len() + d.regions.len() + d.locations.len() + d.io_handles.len();
        assert!(found >= last, "cut at {cut}");
        last = found;
        assert_eq!(kinds(&issues).is_empty(), cut == len - 1, "cut at {cut}");
        everything(&lending(&files), &mut Issues::new());
    }
    assert_eq!(last, 36 + 3 + 3 + 2);
}

#[test]
fn anchors_and_local_definitions_cut_at_any_byte_are_reported() {
    let whole = files(&all_records());
    for path in [ANCHOR, "traces/1.def"] {
        let len = whole.iter().find(|(found, _)| found == path).unwrap().1.len();
        // The last bytes are marks of the end.
        for cut in 0..len - 3 {
            let files = changed(&whole, path, |bytes| bytes.truncate(cut));
            let mut issues = Issues::new();
            let found = everything(&lending(&files), &mut issues);
            assert!(!issues.is_empty() || found.events.is_empty(), "{path} cut at {cut}");
            if path != ANCHOR {
                assert_eq!(found.events[1].1.len(), 14, "{path} cut at {cut}");
            }
        }
    }
}

#[test]
fn a_broken_chunk_costs_itself_and_the_next_one_is_read() {
    let shape = Shape { chunk_size: SMALL_CHUNK, calls: 40_000, locations: 1, ..Shape::default() };
    let whole: Files = generate(&shape).0.into_iter().collect();
    let count = |files: &Files, issues: &mut Issues| {
        everything(&lending(files), issues).counts[0].1.total()
    };
    let mut issues = Issues::new();
    let expected = count(&whole, &mut issues);
    assert!(issues.is_empty());

    // The header of the second chunk.
    let files = changed(&whole, "traces/0.evt", |bytes| bytes[SMALL_CHUNK] = 99);
    let found = count(&files, &mut issues);
    assert!(found > expected / 2 && found < expected, "{found} of {expected}");
    assert_eq!(kinds(&issues), ["bad-chunk", "event-count"]);
    let place = Place::Byte { file: "traces/0.evt".into(), offset: SMALL_CHUNK as u64 };
    assert_eq!(issues.list()[0].place, place);

    // A record in the middle of the first chunk: what is before it is kept, too.
    let mut issues = Issues::new();
    let files = changed(&whole, "traces/0.evt", |bytes| bytes[SMALL_CHUNK / 2..][..64].fill(4));
    let more = count(&files, &mut issues);
    assert!(more > found && more < expected, "{more} of {expected}");
    assert_eq!(kinds(&issues).last(), Some(&"event-count"));
}

/// Opens, reads everything, and holds memory to what the bytes are worth.
fn survive(files: &Files) {
    let mut issues = [Issues::new(), Issues::new()];
    let lent = everything(&lending(files), &mut issues[0]);
    let copied = everything(&copying(files), &mut issues[1]);
    assert_eq!(format!("{lent:?}"), format!("{copied:?}"), "the kind of source decides");
    assert_eq!(issues[0], issues[1]);
    let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    let events: usize = lent.events.iter().map(|(_, events)| events.len()).sum();
    assert!(events <= bytes, "more events than bytes");
    let limits = Limits { metadata_bytes: 10_000, ..Limits::default() };
    if let Ok(archive) = Archive::open(&lending(files), ANCHOR, limits, &mut Issues::new()) {
        assert!(locations(&archive).len() <= 200);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn changed_bytes_do_no_harm(
        file in 0..8_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut files = files(&all_records());
        let count = files.len();
        let bytes = &mut files[file % count].1;
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        survive(&files);
    }

    #[test]
    fn bytes_that_move_do_no_harm(
        file in 0..8_usize,
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        len in 1..40_usize,
    ) {
        let mut files = files(&all_records());
        let count = files.len();
        let bytes = &mut files[file % count].1;
        let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
        let piece: Vec<u8> = bytes.iter().copied().skip(from).take(len).collect();
        bytes.splice(to..to, piece);
        survive(&files);
    }
}
