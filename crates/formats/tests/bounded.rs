//! Small files that would take very much time or memory: what they need follows their size, or ends
//! in an error that says so.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests stop at the first surprise")]

mod peak;
mod scaling;

use std::io::Write as _;

use parallax_base::{Issues, Limits, MemorySource};
use parallax_formats::FormatError;
use parallax_formats::scaling_data::{Measurements, ReadOptions, read};
use parallax_formats::tau::read_packed;
use peak::{measured, turn};
use scaling::{gzip, has_issue, read_text};

const MIB: usize = 1 << 20;

fn limited(metadata_bytes: usize) -> Limits {
    Limits { metadata_bytes: metadata_bytes as u64, ..Limits::default() }
}

fn read_with(
    name: &str,
    bytes: Vec<u8>,
    limits: Limits,
) -> (Result<Measurements, FormatError>, Issues) {
    let mut issues = Issues::new();
    let options = ReadOptions { limits, ..ReadOptions::new(name) };
    (read(&MemorySource::new(bytes), &options, &mut issues), issues)
}

/// A gzip of `head` and then `pattern` very often.
fn gzip_of(head: &[u8], pattern: &[u8], times: usize) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(head).unwrap();
    let block = pattern.repeat(10_000);
    for _ in 0..times / 10_000 {
        packer.write_all(&block).unwrap();
    }
    packer.finish().unwrap()
}

#[test]
fn a_packed_table_of_very_many_rows_ends_in_an_error_that_says_what_to_do() {
    let _turn = turn();
    // 40 MB of text where 16 MB are allowed, and 4 MB of text whose runs would take more.
    for rows in [10_000_000, 1_000_000] {
        let packed = gzip_of(b"cores,time\n", b"1,1\n", rows);
        assert!(packed.len() < MIB, "{}", packed.len());
        let ((read, _), peak) = measured(|| read_with("a.csv.gz", packed, limited(16 * MIB)));
        let error = read.unwrap_err();
        assert!(matches!(error, FormatError::Limit { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("a.csv.gz") && text.contains("limit of 16777216"), "{text}");
        assert!(text.contains("use a part of the data"), "{text}");
        assert!(peak < 64 * MIB, "{peak} bytes for {rows} rows");
    }
}

#[test]
fn the_memory_of_a_table_follows_its_rows() {
    let _turn = turn();
    let table = |rows: u32| {
        let mut text = "cores,input,time\n".to_owned();
        for i in 1..=rows {
            text.push_str(&format!("{i},n{i},{}.5\n", i % 97));
        }
        text.into_bytes()
    };
    let peak = |rows| {
        let bytes = table(rows);
        let ((read, _), peak) = measured(|| read_with("a.csv", bytes, Limits::default()));
        assert_eq!(read.unwrap().coordinates.len(), rows as usize);
        peak
    };
    let (few, many) = (peak(20_000), peak(40_000));
    assert!(many < 3 * few && many < 64 * MIB, "{few} {many}");
}

/// Would take minutes where columns are looked for one after the other.
#[test]
fn a_table_of_200_000_columns_is_read() {
    let _turn = turn();
    const COLUMNS: usize = 200_000;
    let table = |cell: &str| {
        let names: Vec<String> = (0..COLUMNS).map(|i| format!("column{i}")).collect();
        let row = vec![cell; COLUMNS].join(",");
        format!("cores,time,{}\n1,2.5,{row}\n2,1.5,{row}\n", names.join(","))
    };
    // Texts are parameters.
    let (m, issues) = read_text("a.csv", table("x").as_bytes()).unwrap();
    assert_eq!((m.parameters.len(), m.metrics.len()), (COLUMNS + 1, 1));
    assert!(!has_issue(&issues, "too-many-metrics"));
    // Numbers are metrics, of which there are numbers for 65,535.
    let (m, issues) = read_text("a.csv", table("7").as_bytes()).unwrap();
    assert_eq!((m.parameters.len(), m.metrics.len()), (1, 65_535));
    assert_eq!(m.samples.len(), 2 * 65_535);
    assert!(m.samples.is_sorted_by_key(|s| (s.metric, s.region, s.run)));
    let lost = issues.list().iter().find(|issue| issue.kind == "too-many-metrics").unwrap();
    assert!(lost.message.contains(&(2 * (COLUMNS + 1 - 65_535)).to_string()), "{lost:?}");
    // 65,535 columns of results were no problem before, and 65,534 are none now.
    assert_eq!(m.metrics[65_534].name, "column65533");
}

/// Big endian numbers, as Java writes them.
fn java(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

/// A packed profile up to its first list: version 1 with an empty header.
fn packed_head() -> Vec<u8> {
    let mut head = b"\0P\0P\0K".to_vec();
    head.extend(java(&[1, 1, 0]));
    head
}

#[test]
fn zeros_in_a_packed_profile_take_no_memory() {
    let _turn = turn();
    // No metrics, groups, timers and events; ten million times the thread 0.0.0 with nothing.
    let threads = 10_000_000_i32;
    let mut head = packed_head();
    head.extend(java(&[0, 0, 0, 0, threads]));
    let packed = gzip_of(&head, &[0; 20], threads as usize);
    assert!(packed.len() < 2 * MIB, "{}", packed.len());
    let mut issues = Issues::new();
    let source = MemorySource::new(packed);
    let (read, peak) =
        measured(|| read_packed(&source, "a.ppk", &Limits::default(), &mut issues).unwrap());
    assert_eq!(read.threads.len(), 1);
    let [issue] = issues.list() else { panic!("{issues:?}") };
    assert_eq!((issue.kind, issue.count), ("thread-repeated", threads as u64 - 1));
    assert!(peak < MIB, "{peak} bytes");
}

#[test]
fn names_of_a_packed_profile_are_bounded_by_the_limits() {
    let _turn = turn();
    // Ten million metrics without a name: two bytes each in the file, far more in memory.
    let mut head = packed_head();
    head.extend(java(&[10_000_000]));
    let packed = gzip_of(&head, &[0; 2], 10_000_000);
    let (mut issues, source) = (Issues::new(), MemorySource::new(packed));
    let (read, peak) = measured(|| read_packed(&source, "a.ppk", &limited(32 * MIB), &mut issues));
    let error = read.unwrap_err();
    assert!(matches!(error, FormatError::Limit { .. }), "{error}");
    assert!(peak < 64 * MIB, "{peak} bytes");
}

/// A ZIP archive of one deflated member, with sizes and offsets in the fields of ZIP64.
fn zip64(name: &str, content: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(content).unwrap();
    let packed = packer.finish().unwrap();
    let u16s = |numbers: &[u16]| -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    };
    let u32s = |numbers: &[u32]| -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    };
    let u64s = |numbers: &[usize]| -> Vec<u8> {
        numbers.iter().flat_map(|&number| (number as u64).to_le_bytes()).collect()
    };
    let mut out = Vec::new();
    // The local header, whose sizes follow the data or stand in its extra field.
    out.extend(b"PK\x03\x04");
    out.extend(u16s(&[45, 0, 8, 0, 0]));
    out.extend(u32s(&[0, u32::MAX, u32::MAX]));
    out.extend(u16s(&[name.len() as u16, 20]));
    out.extend(name.as_bytes());
    out.extend(u16s(&[1, 16]));
    out.extend(u64s(&[content.len(), packed.len()]));
    out.extend(&packed);
    let directory = out.len();
    out.extend(b"PK\x01\x02");
    out.extend(u16s(&[45, 45, 0, 8, 0, 0]));
    out.extend(u32s(&[0, u32::MAX, u32::MAX]));
    // The extra field of times comes first: that of ZIP64 must be looked for.
    out.extend(u16s(&[name.len() as u16, 4 + 5 + 4 + 24, 0, 0, 0]));
    out.extend(u32s(&[0, u32::MAX]));
    out.extend(name.as_bytes());
    out.extend(u16s(&[0x5455, 5]));
    out.extend([1, 0, 0, 0, 0]);
    out.extend(u16s(&[1, 24]));
    out.extend(u64s(&[content.len(), packed.len(), 0]));
    let record = out.len();
    out.extend(b"PK\x06\x06");
    out.extend(u64s(&[44]));
    out.extend(u16s(&[45, 45]));
    out.extend(u32s(&[0, 0]));
    out.extend(u64s(&[1, 1, record - directory, directory]));
    out.extend(b"PK\x06\x07");
    out.extend(u32s(&[0]));
    out.extend(u64s(&[record]));
    out.extend(u32s(&[1]));
    out.extend(b"PK\x05\x06");
    out.extend(u16s(&[0, 0, u16::MAX, u16::MAX]));
    out.extend(u32s(&[u32::MAX, u32::MAX]));
    out.extend(u16s(&[0]));
    out
}

const EXPERIMENT: &str = r#"{"parameters": ["x"], "measurements": {"main": {"time": [
    {"point": [1], "values": [2.5, 3.5]}, {"point": [2], "values": [4.5]}]}}}"#;

#[test]
fn an_experiment_of_extra_p_in_zip64_is_read() {
    let _turn = turn();
    let archive = zip64("experiment.json", EXPERIMENT.as_bytes());
    let (m, issues) = read_text("a.extra-p", &archive).unwrap();
    assert!(issues.is_empty(), "{issues:?}");
    let values: Vec<f64> = m.samples.iter().map(|s| s.value).collect();
    assert_eq!((values.as_slice(), m.coordinates.len()), (&[2.5, 3.5, 4.5][..], 2));
    // Cut or changed anywhere: an error or less data, never a panic.
    for at in 0..archive.len() {
        let mut changed = archive.clone();
        changed[at] ^= 0x40;
        let _ = read_text("a.extra-p", &changed);
        let _ = read_text("a.extra-p", &archive[..at]);
    }
}

#[test]
fn an_experiment_is_unpacked_as_it_is_read() {
    let _turn = turn();
    // 100 MB of blanks in the middle of the text.
    let (front, back) = EXPERIMENT.split_at(20);
    let text = [front, &" ".repeat(100 * MIB), back].concat();
    let archive = zip64("experiment.json", text.as_bytes());
    drop(text);
    let ((read, _), peak) = measured(|| read_with("a.extra-p", archive, limited(16 * MIB)));
    assert_eq!(read.unwrap().samples.len(), 3);
    assert!(peak < 8 * MIB, "{peak} bytes");
}

/// Every coordinate is resolved once, whatever refers to it: would take minutes otherwise.
#[test]
fn id_tables_of_extra_p_with_many_parameters_are_read() {
    let _turn = turn();
    const PARAMETERS: usize = 5_000;
    let list = |item: &dyn Fn(usize) -> String, count: usize| {
        (0..count).map(item).collect::<Vec<_>>().join(",")
    };
    let parameters = list(&|i| format!(r#"{{"id":{i},"name":"p{i}"}}"#), PARAMETERS);
    let pairs = list(&|i| format!(r#"{{"parameter_id":{i},"parameter_value":{i}}}"#), PARAMETERS);
    let row = r#"{"callpath_id":0,"coordinate_id":0,"metric_id":0,"value":1.5}"#;
    let text = format!(
        r#"{{"callpaths":[{{"id":0,"name":"main"}}],"parameters":[{parameters}],
        "metrics":[{{"id":0,"name":"time"}}],"coordinates":[{{"id":0,
        "parameter_value_pairs":[{pairs}]}}],"measurements":[{}]}}"#,
        list(&|_| row.to_owned(), 20_000)
    );
    let (m, _) = read_text("a.json", text.as_bytes()).unwrap();
    assert_eq!((m.parameters.len(), m.samples.len()), (PARAMETERS, 20_000));
}

#[test]
fn a_packed_list_of_points_is_bounded_by_the_limits() {
    let _turn = turn();
    let head = br#"{"Extra-P":"4.0","measurements":{"main":{"time":["#;
    let packed = gzip_of(head, br#"{"point":[1],"values":[1]},"#, 1_000_000);
    let ((read, _), peak) = measured(|| read_with("a.json.gz", packed, limited(16 * MIB)));
    let error = read.unwrap_err();
    assert!(matches!(error, FormatError::Limit { .. }), "{error}");
    assert!(peak < 32 * MIB, "{peak} bytes");
    assert!(gzip(b"x").len() < 64);
}
