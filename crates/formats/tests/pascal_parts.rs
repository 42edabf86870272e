//! PaScal files read in parts: equal to what is read from front to back, whatever the text.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests stop at the first surprise")]

mod scaling;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use parallax_base::{Issues, MemorySource};
use parallax_formats::FormatError;
use parallax_formats::scaling_data::{
    Measurements, ReadOptions, RegionTime, SPLIT_FROM, assemble_parts, part_end, read, read_part,
    read_stream, split,
};
use parallax_formats::stream::SliceStream;
use parallax_testkit::needs::{self, Without};
use scaling::{Rng, gzip, kinds};

const NAME: &str = "file.json";

type Read = (Result<Measurements, FormatError>, Issues);

fn in_order(text: &[u8], options: &ReadOptions<'_>) -> Read {
    let mut issues = Issues::new();
    (read_stream(SliceStream::new(text), options, &mut issues), issues)
}

/// Reads `text` in 2 to 9 parts; returns how often it could be cut and all parts were accepted.
fn check(text: &[u8]) -> (usize, usize) {
    let options = ReadOptions::new(NAME);
    let expected = in_order(text, &options);
    let source = MemorySource::new(text);
    let (mut cut, mut accepted) = (0, 0);
    for parts in 1..=9 {
        let Some(ranges) = split(&source, NAME, parts, 0) else { continue };
        assert!((2..=parts).contains(&ranges.len()));
        let mut end = 0;
        for range in &ranges {
            assert_eq!(range.start, end);
            end = range.end;
        }
        assert_eq!(end, text.len() as u64);
        let parts: Vec<Vec<u8>> =
            ranges.into_iter().map(|range| read_part(&source, range, &options)).collect();
        cut += 1;
        accepted += usize::from(parts.iter().all(|part| !part.is_empty()));
        let mut issues = Issues::new();
        let found = assemble_parts(&source, &parts, &options, &mut issues);
        assert_eq!((found, issues), expected, "{}", String::from_utf8_lossy(text));
    }
    (cut, accepted)
}

fn json_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            json_files(&path, into);
        } else if path.extension().is_some_and(|end| end == "json") {
            into.push(path);
        }
    }
}

#[test]
fn real_files_are_the_same_in_parts() {
    let mut files = Vec::new();
    json_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/pascal"), &mut files);
    if let Some(corpus) = needs::corpus_of(Without::Part) {
        json_files(&corpus.join("data/pascal"), &mut files);
    }
    let mut accepted = 0;
    for file in &files {
        accepted += usize::from(check(&std::fs::read(file).unwrap()).1 >= 7);
    }
    assert!(files.len() < 10 && accepted > 0 || accepted >= 15, "{accepted} of {}", files.len());
}

/// A file of `runs` runs of which each has what `run` writes.
fn file(front: &str, runs: usize, run: impl Fn(usize) -> String, back: &str) -> String {
    let mut text = format!("{{{front}\"data\": {{");
    for i in 0..runs {
        let comma = if i == 0 { "" } else { ", " };
        let _ = write!(
            text,
            "{comma}\"{};{};{}\": {}",
            1 << (i / 6 % 12),
            i / 3 % 2,
            i % 3 + 1,
            run(i)
        );
    }
    text + "}" + back + "}"
}

const CONFIG: &str = r#""config": {"pkg": "a", "arguments": ["1", "2"], "command": "x --ipts 1,2 y",
 "data_descriptor": {"keys": ["cores", "input", "repetitions"], "extras": {"sensors": {}, "regions":
 {"values": ["start_time", "stop_time", "start_line", "stop_line", "thread_id", "filename"]}}}}, "#;

fn plain_run(i: usize) -> String {
    let start = 1_758_626_047.0 + 10.0 * i as f64;
    let mut entries = String::new();
    for entry in 0..12 {
        let comma = if entry == 0 { "" } else { ", " };
        let at = start + 0.137 * f64::from(entry * 7 % 12);
        let _ = write!(entries, "{comma}[{at:.6}, {:.6}, 17, 19, {entry}, \"a.c\"]", at + 0.2);
    }
    let region = i % 5;
    format!(
        "{{\"regions\": {{\"1.{region}\": [{entries}], \"2\": [[{start}, {:.2}, 1, 2, 0, \"b.c\"]]}}, \
         \"start_time\": {start}, \"stop_time\": {}, \"papi{}\": {i}}}",
        start + 1.5,
        start + 2.5,
        i % 4,
    )
}

#[test]
fn parts_of_an_ordinary_file_are_all_accepted() {
    for text in [
        file(CONFIG, 18, plain_run, ""),
        file(CONFIG, 18, plain_run, "").replace(' ', ""),
        file(CONFIG, 18, plain_run, "").replace(", ", ",\r\n\t").replace(": ", " :\r\n "),
        format!("\u{feff} {}\n\n", file(CONFIG, 18, plain_run, "")),
        file(CONFIG, 18, plain_run, ", \"more\": {\"4;0;1\": {}}"),
    ] {
        assert_eq!(check(text.as_bytes()), (8, 8), "{text}");
    }
}

#[test]
fn names_of_runs_where_none_are_do_not_mislead() {
    let texts: [fn(usize) -> String; 6] = [
        |i| plain_run(i).replace("a.c", "x, \\\"4;0;1\\\": { \\\"regions\\\": {"),
        |i| plain_run(i).replace("a.c", "\\\\\", \"4;0;1\\\": {"),
        |i| {
            plain_run(i)
                .replace("\"start_time\"", "\"other\": {\"4;0;1\": {\"7;1\": {}}}, \"start_time\"")
        },
        |i| {
            plain_run(i).replace("\"regions\": {", "\"regions\": {\"1;2\": {\"a\": 1}, \"5\": {}, ")
        },
        |i| plain_run(i).replace("b.c", ", "),
        |i| if i % 4 == 0 { "[{\"1;2;3\": {}}]".to_owned() } else { plain_run(i) },
    ];
    for run in texts {
        check(file(CONFIG, 18, run, "").as_bytes());
    }
}

#[test]
fn unusual_files_are_the_same_in_parts() {
    let twice = file("", 9, plain_run, "");
    let config = CONFIG.trim_end_matches(", ");
    let (cut, _) = check(file(CONFIG, 9, plain_run, &format!(", {config}")).as_bytes());
    assert!(cut > 0);
    check(file("", 9, plain_run, &format!(", {config}")).as_bytes());
    check(file("", 9, plain_run, "").as_bytes());
    check(file(CONFIG, 9, plain_run, &format!(", {}", &twice[1..twice.len() - 1])).as_bytes());
    check(format!("{} trailing", file(CONFIG, 9, plain_run, "")).as_bytes());
    // The same run again, failed runs, runs without times or regions, keys that do not fit.
    check(file(CONFIG, 9, |i| plain_run(i % 3), "").replace("1;0;2", "1;0;1").as_bytes());
    check(file(CONFIG, 9, |i| plain_run(i).replace("\"papi2\"", "\"exit_status\""), "").as_bytes());
    check(file(CONFIG, 9, |i| plain_run(i).replace("start_time", "start"), "").as_bytes());
    check(file(CONFIG, 9, |i| if i < 4 { "{}".into() } else { plain_run(i) }, "").as_bytes());
    check(file(CONFIG, 9, plain_run, "").replace("\"1;1;1\"", "\"1;1\"").as_bytes());
    let estimated = r#""estimated": {"from": 5, "of": 9, "interval": [1, 2.5]}, "regions""#;
    let estimate = |i| plain_run(i).replace("\"regions\"", estimated);
    check(file(CONFIG, 9, |i| if i < 4 { estimate(i) } else { plain_run(i) }, "").as_bytes());
    let sensors =
        r#""sensors": {"ipmi_x": [[100, 1758626047.5], [1, 1758626050], [-1, 3]]}, "regions""#;
    check(file(CONFIG, 9, |i| plain_run(i).replace("\"regions\"", sensors), "").as_bytes());
}

#[test]
fn a_file_that_comes_piece_by_piece_is_the_same() {
    let text = file(CONFIG, 12, plain_run, "");
    let options = ReadOptions::new(NAME);
    let source = MemorySource::new(text.as_bytes());
    let (len, expected) = (text.len() as u64, in_order(text.as_bytes(), &options));
    let mut most = 0;
    for piece in [1, 7, 97, 500, 1000, 2500, 10_000, len] {
        let mut bounds = vec![0];
        for end in (piece..len).step_by(piece as usize) {
            let from = *bounds.last().unwrap();
            let found = part_end(&source, from..end);
            assert!(found.is_none_or(|to| from < to && to < end), "{found:?} in {from}..{end}");
            bounds.extend(found);
        }
        bounds.push(len);
        most = most.max(bounds.len());
        let ranges = bounds.iter().zip(bounds.iter().skip(1)).map(|(&from, &to)| from..to);
        let parts: Vec<_> = ranges.map(|range| read_part(&source, range, &options)).collect();
        assert!(parts.iter().all(|part| !part.is_empty()), "pieces of {piece}");
        let mut issues = Issues::new();
        let found = assemble_parts(&source, &parts, &options, &mut issues);
        assert_eq!((found, issues), expected, "pieces of {piece}");
    }
    // The smallest pieces make a part of what stands before the runs, and one of each run.
    assert_eq!(most, 14);
}

#[test]
fn truncated_and_damaged_files_are_the_same_in_parts() {
    let text = file(CONFIG, 12, plain_run, "");
    let mut rng = Rng::new(5);
    let (mut cut, mut accepted) = (0, 0);
    for len in (0..text.len()).step_by(61) {
        let (more_cut, more) = check(text.as_bytes().get(..len).unwrap());
        (cut, accepted) = (cut + more_cut, accepted + more);
    }
    // A truncation is met by the last part, which does not hold up the others.
    assert!(accepted > 100 && cut >= accepted, "{accepted} of {cut}");
    for _ in 0..300 {
        let mut damaged = text.clone().into_bytes();
        for _ in 0..=rng.next() % 3 {
            let at = (rng.next() as usize) % damaged.len();
            let bytes = b"\"{}[],:;\\ 0e-";
            damaged[at] = bytes[(rng.next() as usize) % bytes.len()];
        }
        check(&damaged);
    }
}

#[test]
fn damaged_or_foreign_parts_are_read_again() {
    let text = file(CONFIG, 12, plain_run, "");
    let options = ReadOptions::new(NAME);
    let source = MemorySource::new(text.as_bytes());
    let expected = in_order(text.as_bytes(), &options);
    let ranges = split(&source, NAME, 3, 0).unwrap();
    let parts: Vec<Vec<u8>> =
        ranges.iter().map(|range| read_part(&source, range.clone(), &options)).collect();
    let check = |parts: &[Vec<u8>]| {
        let mut issues = Issues::new();
        let found = assemble_parts(&source, parts, &options, &mut issues);
        assert_eq!((found, issues), expected);
    };
    check(&parts);
    check(&[]);
    check(&parts[1..]);
    check(&parts[..2]);
    check(&[parts[0].clone(), parts[2].clone(), parts[1].clone()]);
    for len in 0..parts[1].len() {
        check(&[parts[0].clone(), parts[1][..len].to_vec(), parts[2].clone()]);
    }
    let sum = ReadOptions { region_time: RegionTime::Sum, ..options };
    let other = read_part(&source, ranges[1].clone(), &sum);
    check(&[parts[0].clone(), other, parts[2].clone()]);
}

#[test]
fn small_compressed_and_foreign_files_are_not_cut() {
    let text = file(CONFIG, 12, plain_run, "");
    assert!(split(&MemorySource::new(text.as_bytes()), NAME, 4, SPLIT_FROM).is_none());
    assert!(split(&MemorySource::new(gzip(text.as_bytes())), NAME, 4, 0).is_none());
    assert!(split(&MemorySource::new(&b"x;y\n1;2\n"[..]), NAME, 4, 0).is_none());
}

#[test]
fn a_large_file_is_the_same_with_and_without_threads() {
    let text = file(CONFIG, 6_000, plain_run, "").into_bytes();
    assert!(text.len() as u64 > SPLIT_FROM / 2);
    let text = [text.as_slice(), " ".repeat(5 << 20).as_bytes()].concat();
    let options = ReadOptions::new(NAME);
    let mut issues = Issues::new();
    let found = read(&MemorySource::new(text.as_slice()), &options, &mut issues);
    let expected = in_order(&text, &options);
    assert!(kinds(&issues).is_empty() == kinds(&expected.1).is_empty());
    assert_eq!((found, issues), expected);
}
