//! Traces written by the kit of the tests: both byte orders, many chunks, known answers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod otf2;

use std::io::Read as _;
use std::process::{Command, Stdio};

use otf2::{ANCHOR, Files, copying, everything, lending, locations, open, open_sound};
use parallax_base::{Issues, Limits};
use parallax_formats::FormatError;
use parallax_formats::otf2::{
    Archive, Attribute, AttributeId, Event, LocationId, MetricId, MetricValue, Ranks, RegionId,
    Value, sniff,
};
use parallax_testkit::needs::{self, Without};
use parallax_testkit::otf2::{
    Anchor, Fields, File, Order, Planted, SMALL_CHUNK, START_TICKS, Shape, generate,
};
use proptest::prelude::*;

fn written(shape: &Shape) -> (Files, Vec<Planted>) {
    let (files, planted) = generate(shape);
    (files.into_iter().collect(), planted)
}

/// Reads a generated trace and compares it with what is known about it.
fn check(shape: &Shape) {
    let (files, planted) = written(shape);
    let archive = open_sound(&files);
    let clock = archive.definitions().clock.clone().unwrap();
    let ranks = Ranks::new(archive.definitions());
    let mut issues = Issues::new();
    for (location, known) in locations(&archive).into_iter().zip(&planted) {
        let file = archive.events(location, &mut issues).unwrap().unwrap();
        let counts = file.count(&mut issues).unwrap();
        assert_eq!((counts.enters, counts.leaves), (known.calls, known.calls));
        assert_eq!((counts.sends, counts.receives), (known.messages, known.messages));
        assert_eq!(counts.total(), file.declared());
        let mut reader = file.reader().unwrap();
        let (mut entered, mut inside, mut last) = (0, 0, 0);
        while let Some(record) = reader.next(&mut issues).unwrap() {
            match record.event {
                Event::Enter { region: RegionId(2) } => entered = record.ticks,
                Event::Leave { region: RegionId(2) } => inside += record.ticks - entered,
                Event::MpiSend { receiver, comm, .. } => {
                    let to = (location.0 + 1) % u64::from(shape.locations);
                    assert_eq!(ranks.location(comm, receiver, location), Some(LocationId(to)));
                }
                _ => {}
            }
            assert!(record.ticks >= last);
            last = record.ticks;
        }
        assert_eq!((inside, last), (known.innermost_ticks, known.last_ticks));
        let nanos = i64::try_from(last - START_TICKS).unwrap();
        assert_eq!(clock.nanos_since_start(last), nanos);
    }
    assert_eq!(issues, Issues::new());
}

#[test]
fn answers_are_found_across_chunks_in_both_byte_orders() {
    for order in [Order::Little, Order::Big] {
        check(&Shape { order, chunk_size: SMALL_CHUNK, calls: 60_000, ..Shape::default() });
        check(&Shape { order, locations: 5, calls: 2, ..Shape::default() });
    }
}

#[test]
fn otf2_print_reads_what_the_kit_writes() {
    if !needs::program("otf2-print", Without::Test) {
        return;
    }
    for order in [Order::Little, Order::Big] {
        let folder = tempfile::tempdir().unwrap();
        let shape = Shape { order, chunk_size: SMALL_CHUNK, calls: 20_000, ..Shape::default() };
        std::fs::create_dir(folder.path().join("traces")).unwrap();
        for (path, bytes) in generate(&shape).0 {
            std::fs::write(folder.path().join(path), bytes).unwrap();
        }
        let mut command = Command::new("otf2-print");
        let command = command.arg(folder.path().join(ANCHOR)).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // It repeats itself without end where it does not understand a chunk.
        let mut text = String::new();
        child.stdout.take().unwrap().take(50 << 20).read_to_string(&mut text).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let count = |kind: &str| text.lines().filter(|line| line.starts_with(kind)).count();
        assert_eq!((count("ENTER "), count("LEAVE ")), (40_000, 40_000));
        assert_eq!((count("MPI_SEND "), count("MPI_RECV ")), (3998, 3998));
    }
}

#[test]
fn a_source_that_cannot_lend_gives_the_same() {
    let (files, _) = written(&Shape { chunk_size: SMALL_CHUNK, calls: 40_000, ..Shape::default() });
    let mut issues = [Issues::new(), Issues::new()];
    let lent = everything(&lending(&files), &mut issues[0]);
    let copied = everything(&copying(&files), &mut issues[1]);
    assert_eq!(lent, copied);
    assert_eq!(issues[0], issues[1]);
    assert_eq!(lent.counts[0].1.total(), 87_998);
}

/// A trace of one location with an event file of these bytes.
fn trace_of(order: Order, events: &[u8]) -> Files {
    let shape = Shape { order, locations: 1, calls: 0, ..Shape::default() };
    let (mut files, _) = written(&shape);
    let file = files.iter_mut().find(|(path, _)| path == "traces/0.evt");
    file.unwrap().1 = events.to_vec();
    files
}

#[test]
fn records_of_later_versions_are_skipped_by_their_lengths() {
    let mut file = File::events(Order::Little, 1 << 20);
    file.enter(10, 1);
    let long = (0..400).fold(file.fields(), |fields, n| fields.u8(n as u8));
    file.event(20, 200, &long);
    // A known record with fields that a later version added.
    let more = file.fields().c32(1).c32(0).c32(7).c64(8).c64(12345).text("more");
    file.event(30, 14, &more);
    file.leave(40, 1);
    let archive = open_sound(&trace_of(Order::Little, &file.finish()));
    let mut issues = Issues::new();
    let events = archive.events(LocationId(0), &mut issues).unwrap().unwrap();
    let mut reader = events.reader().unwrap();
    let mut found = Vec::new();
    while let Some(record) = reader.next(&mut issues).unwrap() {
        found.push((record.ticks, record.event.kind()));
    }
    assert_eq!(found, [(10, 12), (20, 200), (30, 14), (40, 13)]);
    let kinds: Vec<_> = issues.list().iter().map(|issue| issue.kind).collect();
    assert_eq!(kinds, ["declared-count"]);
}

#[test]
fn compressed_traces_and_sion_containers_are_named_in_an_error() {
    let anchor = Anchor {
        order: Order::Big,
        chunk_size: 1 << 20,
        substrate: 1,
        compression: 1,
        locations: 0,
        definitions: 0,
    };
    let refused = |anchor: Anchor, word: &str| {
        let files = vec![(ANCHOR.to_owned(), anchor.bytes())];
        let Err(error) = open(&lending(&files), &mut Issues::new()) else { panic!("opened") };
        assert!(matches!(error, FormatError::Unsupported { .. }));
        assert!(error.to_string().contains(word), "{error}");
    };
    refused(Anchor { compression: 2, ..anchor }, "zlib");
    refused(Anchor { substrate: 2, ..anchor }, "SION");
    refused(Anchor { substrate: 9, ..anchor }, "unknown kind 9");
    assert!(sniff(&anchor.bytes()));
    assert!(!sniff(b"\x03BOTF3\0"));
    assert!(!sniff(b"\x03"));
    let foreign = vec![(ANCHOR.to_owned(), b"<xml>".to_vec())];
    let error = open(&lending(&foreign), &mut Issues::new()).err().unwrap();
    assert!(matches!(error, FormatError::NotThisFormat { .. }), "{error}");
    let alone = vec![(ANCHOR.to_owned(), anchor.bytes())];
    let error = open(&lending(&alone), &mut Issues::new()).err().unwrap();
    assert!(error.to_string().contains("traces.def"), "{error}");
}

#[test]
fn a_missing_event_file_is_reported_and_the_others_are_read() {
    let (mut files, _) = written(&Shape { calls: 10, ..Shape::default() });
    files.retain(|(path, _)| path != "traces/1.evt");
    let mut issues = Issues::new();
    let found = everything(&lending(&files), &mut issues);
    assert_eq!(found.counts.len(), 1);
    assert_eq!(issues.list()[0].kind, "no-event-file");
    assert!(issues.list()[0].message.contains("20 events"), "{}", issues.list()[0].message);
}

#[test]
fn definitions_beyond_the_limit_are_refused() {
    let (files, _) = written(&Shape::default());
    let limits = Limits { metadata_bytes: 1000, ..Limits::default() };
    let error = Archive::open(&lending(&files), ANCHOR, limits, &mut Issues::new()).err().unwrap();
    assert!(matches!(error, FormatError::Limit { .. }), "{error}");
}

/// An event that a test makes up.
#[derive(Debug, Clone)]
enum Made {
    Enter(u32),
    Leave(u32),
    Request(u64),
    Metric(u32, Vec<u64>),
    Seek(i64),
    Attributes(u32, Vec<(u32, i64)>),
}

fn made() -> impl Strategy<Value = Made> {
    let id = prop_oneof![0..5_u32, any::<u32>()];
    let number = prop_oneof![0..300_u64, any::<u64>(), Just(u64::MAX)];
    let sign = prop_oneof![-3..3_i64, any::<i64>()];
    prop_oneof![
        id.clone().prop_map(Made::Enter),
        id.clone().prop_map(Made::Leave),
        number.clone().prop_map(Made::Request),
        (id.clone(), prop::collection::vec(number, 0..40)).prop_map(|(m, v)| Made::Metric(m, v)),
        sign.clone().prop_map(Made::Seek),
        (id.clone(), prop::collection::vec((id, sign), 0..40))
            .prop_map(|(region, list)| Made::Attributes(region, list)),
    ]
}

fn write(file: &mut File, time: u64, made: &Made) {
    match made {
        Made::Enter(region) => file.enter(time, *region),
        Made::Leave(region) => file.leave(time, *region),
        Made::Request(request) => file.bare(time, 16, *request),
        Made::Metric(metric, values) => {
            let head = file.fields().c32(*metric).u8(values.len() as u8);
            let fields = values.iter().fold(head, |fields, n| fields.u8(4).c64(*n));
            file.event(time, 31, &fields);
        }
        Made::Seek(by) => {
            let fields = file.fields().c32(3).signed(*by).u8(1).c64(9);
            file.event(time, 72, &fields);
        }
        Made::Attributes(region, list) => {
            let head = file.fields().c32(list.len() as u32);
            let attribute = |fields: Fields, (id, n): &(u32, i64)| fields.c32(*id).u8(8).signed(*n);
            let attributes = list.iter().fold(head, attribute);
            let fields = file.fields().c32(*region).c32(0);
            file.event_with(time, &attributes, 35, &fields);
        }
    }
}

proptest! {
    #[test]
    fn events_of_any_values_come_back(
        order in prop_oneof![Just(Order::Little), Just(Order::Big)],
        events in prop::collection::vec((any::<u64>(), made()), 0..30),
    ) {
        let mut file = File::events(order, 1 << 20);
        for (time, made) in &events {
            write(&mut file, *time, made);
        }
        let archive = open_sound(&trace_of(order, &file.finish()));
        let mut issues = Issues::new();
        let found = archive.events(LocationId(0), &mut issues).unwrap().unwrap();
        let mut reader = found.reader().unwrap();
        for (time, made) in &events {
            let record = reader.next(&mut issues).unwrap().unwrap();
            prop_assert_eq!(record.ticks, *time);
            match made {
                Made::Enter(id) => prop_assert_eq!(record.event, Event::Enter { region: RegionId(*id) }),
                Made::Leave(id) => prop_assert_eq!(record.event, Event::Leave { region: RegionId(*id) }),
                Made::Request(request) => {
                    prop_assert_eq!(record.event, Event::MpiIsendComplete { request: *request });
                }
                Made::Metric(metric, values) => {
                    prop_assert_eq!(record.event, Event::Metric { metric: MetricId(*metric) });
                    let expected: Vec<_> = values.iter().copied().map(MetricValue::Unsigned).collect();
                    prop_assert_eq!(record.values, expected);
                }
                Made::Seek(by) => {
                    let Event::IoSeek { requested_bytes, result_bytes: 9, .. } = record.event else {
                        panic!("{record:?}");
                    };
                    prop_assert_eq!(requested_bytes, *by);
                }
                Made::Attributes(_, list) => {
                    let expected = list.iter().map(|&(id, n)| Attribute {
                        attribute: AttributeId(id),
                        value: Value::I64(n),
                    });
                    prop_assert_eq!(record.attributes, expected.collect::<Vec<_>>());
                }
            }
        }
        prop_assert!(reader.next(&mut issues).unwrap().is_none());
    }
}
