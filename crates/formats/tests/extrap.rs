//! Extra-P inputs: every file of its own tests against the values its answers record, and damage.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests stop at the first surprise")]

mod scaling;

use std::path::{Path, PathBuf};

use parallax_formats::FormatError;
use parallax_formats::scaling_data::{Measurements, ScalingFormat, sniff};
use scaling::{corpus, has_issue, median, read_text, read_whole};

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { all.append(&mut files_below(&path)) } else { all.push(path) }
    }
    all.sort();
    all
}

/// Mean and median of a series at a point, as Extra-P computes them.
fn measure(m: &Measurements, call_path: &str, metric: &str, point: &[f64], name: &str) -> f64 {
    let at = m.coordinates.iter().position(|c| {
        let number = |(p, &v): (usize, &u32)| m.parameters[p].values[v as usize].number;
        c.iter().enumerate().map(number).eq(point.iter().map(|x| Some(*x)))
    });
    let coordinate = at.unwrap_or_else(|| panic!("no point {point:?}")) as u32;
    let (metric, region) = (m.metric(metric).unwrap(), m.region(call_path).unwrap());
    let of = |s: &&parallax_formats::scaling_data::Statistic| {
        (s.metric, s.region, s.coordinate) == (metric, region, coordinate)
    };
    if let Some(statistic) = m.statistics.iter().find(of) {
        return if name == "mean" { statistic.mean } else { statistic.median };
    }
    let values: Vec<f64> = m.repetitions(metric, region, coordinate).collect();
    if name == "mean" {
        values.iter().sum::<f64>() / values.len() as f64
    } else {
        median(values).unwrap()
    }
}

fn check(m: &Measurements, golden: &serde_json::Value, file: &str) -> usize {
    let mut checked = 0;
    for name in ["mean", "median"] {
        let Some(models) = golden[name]["models"].as_array() else { continue };
        let parameters: Vec<&str> = golden[name]["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| p.as_str().unwrap())
            .collect();
        let ours: Vec<&str> = m.parameters.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(ours, parameters, "{file}");
        for model in models {
            let (path, metric) =
                (model["callpath"].as_str().unwrap(), model["metric"].as_str().unwrap());
            let metric = if metric.is_empty() { "<default>" } else { metric };
            let path = if path.is_empty() { "<root>" } else { path };
            for row in model["predictions"].as_array().unwrap() {
                let point: Vec<f64> =
                    row[0].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
                let (ours, theirs) =
                    (measure(m, path, metric, &point, name), row[1].as_f64().unwrap());
                assert!(
                    (ours - theirs).abs() <= 1e-12 * theirs.abs(),
                    "{file} {path} {point:?}: {ours} {theirs}"
                );
                checked += 1;
            }
        }
    }
    checked
}

#[test]
fn every_file_has_the_values_that_extra_p_modelled() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("data/extrap");
    let text = std::fs::read_to_string(folder.join("golden_extrap_4.2.5_default_modeler.json"));
    // Python writes NaN for statistics that are not used here.
    let text = text
        .unwrap()
        .replace("NaN", "null")
        .replace("-Infinity", "null")
        .replace("Infinity", "null");
    let goldens: serde_json::Value = serde_json::from_str(&text).unwrap();
    let (mut files, mut checked) = (0, 0);
    for (file, golden) in goldens.as_object().unwrap() {
        if file.starts_with("cube") {
            continue;
        }
        let (m, issues) = read_whole(&folder.join(file));
        assert!(issues.is_empty(), "{file}: {issues:?}");
        checked += check(&m, golden, file);
        files += 1;
    }
    assert!(files >= 45 && checked > 1000, "{files} files, {checked} points");
}

#[test]
fn every_file_is_recognised_by_its_content_alone() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("data/extrap");
    for (sub, format) in [
        ("text", ScalingFormat::ExtrapText),
        ("text_strong_scaling", ScalingFormat::ExtrapText),
        ("pascal_derived", ScalingFormat::ExtrapText),
        ("json", ScalingFormat::ExtrapJson),
        ("jsonlines", ScalingFormat::ExtrapJsonLines),
        ("talpas", ScalingFormat::ExtrapTalpas),
        ("experiment", ScalingFormat::ExtrapExperiment),
    ] {
        for path in files_below(&folder.join(sub)) {
            let bytes = std::fs::read(&path).unwrap();
            if path.file_name().unwrap() == "golden.json" {
                assert_eq!(sniff(&bytes, "unknown"), None);
                continue;
            }
            assert_eq!(sniff(&bytes, "unknown"), Some(format), "{path:?}");
            let (m, _) = read_text("unknown", &bytes).unwrap();
            assert_eq!(m.format, format);
            assert!(m.samples.len() + m.statistics.len() > 3, "{path:?}");
        }
    }
    for path in files_below(&folder.join("cube")) {
        assert_eq!(sniff(&std::fs::read(&path).unwrap(), "unknown"), None, "{path:?}");
    }
}

#[test]
fn call_paths_become_a_tree() {
    let text = "PARAMETER p\nPOINTS 1 2\nREGION main->b->c\nDATA 1\nDATA 2\nREGION main\nDATA 3\nDATA 4\nMETRIC visits\nREGION main->b\nDATA 5 6\n";
    let (m, _) = read_text("a.txt", text.as_bytes()).unwrap();
    let rows: Vec<_> =
        m.regions.iter().map(|r| (r.path.as_str(), r.name.as_str(), r.parent)).collect();
    assert_eq!(
        rows,
        [("main", "main", None), ("main->b", "b", Some(0)), ("main->b->c", "c", Some(1))]
    );
    let visits = m.metric("visits").unwrap();
    assert_eq!(m.repetitions(visits, 1, 0).collect::<Vec<_>>(), [5.0, 6.0]);
}

#[test]
fn faults_of_texts_name_the_line() {
    let cases = [
        (
            "PARAMETER p\nPOINTS 1 2\nDATA 1\nDATA 2\nDATA 3\n",
            "line 5: more DATA lines than the 2 points",
        ),
        (
            "PARAMETER p q\nPOINTS (1 2) (3)\nDATA 1\n",
            "line 3: a point has 1 values for 2 parameters",
        ),
        ("PARAMETER p\nPOINTS (1\nDATA 1\n", "line 2: ')' expected"),
        ("PARAMETER p\nPOINTS 1 x\nDATA 1\n", "line 2: \"x\" is not a number"),
        ("PARAMETER p\nPOINTS 1\nDATA 1 two\n", "line 3: \"two\" is not a number"),
        ("PARAMETER p\nPOINTS 1\nDATUM 1\n", "line 3: \"DATUM\" is not one of"),
        ("PARAMETER p\nPOINTS 1\n", "no DATA lines"),
    ];
    for (text, expected) in cases {
        let error = read_text("a.txt", text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let (m, issues) = read_text("a.txt", b"PARAMETER p\nPOINTS 1\nDATA 1 nan 3\n").unwrap();
    assert!(has_issue(&issues, "bad-value"));
    let repetitions: Vec<u32> = m.runs.iter().map(|r| r.repetition).collect();
    assert_eq!((m.samples.len(), repetitions), (2, vec![1, 3]));
}

#[test]
fn bad_lines_are_left_out_and_counted() {
    let text = "{\"params\":{\"x\":1},\"value\":2}\n{\"params\":{\"x\":1},\"value\":\n{\"params\":{\"y\":1},\"value\":2}\n\
                {\"params\":{\"x\":1,\"x\":2},\"value\":2}\n{\"params\":{\"x\":1},\"value\":NaN}\n{\"params\":{\"x\":2},\"value\":[3,4]}\n";
    let (m, issues) = read_text("a.jsonl", text.as_bytes()).unwrap();
    let bad = issues.list().iter().find(|i| i.kind == "bad-line").unwrap();
    assert_eq!(bad.count, 4, "{issues:?}");
    assert!(
        bad.message.starts_with("line 2: ") && bad.message.contains("$.value"),
        "{}",
        bad.message
    );
    assert_eq!((m.samples.len(), m.parameters.len()), (3, 1));
}

#[test]
fn damage_never_stops_the_readers() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("data/extrap");
    for file in [
        "json/input1.json",
        "json/input_1.JSON",
        "jsonlines/extended2.jsonl",
        "text/docs_example_input.txt",
        "experiment/two_parameter3.txt.extra-p",
    ] {
        let whole = std::fs::read(folder.join(file)).unwrap();
        let all = read_text("a", &whole).unwrap().0.samples.len();
        for len in (0..whole.len()).step_by(1 + whole.len() / 1500) {
            match read_text("a", &whole[..len]) {
                Ok((m, _)) => assert!(m.samples.len() <= all),
                Err(FormatError::Malformed { offset, .. }) => assert!(offset <= whole.len() as u64),
                Err(_) => {}
            }
        }
        let mut changed = whole.clone();
        for at in (0..whole.len()).step_by(1 + whole.len() / 700) {
            for byte in [0, b'"', b'{', b']', b'9', b'-', b'\n', 0xff] {
                changed[at] = byte;
                if let Ok((m, _)) = read_text("a", &changed) {
                    assert!(m.samples.iter().all(|s| s.value.is_finite()));
                }
            }
            changed[at] = whole[at];
        }
    }
}

#[test]
fn an_archive_cannot_unpack_without_bound() {
    // A deflated member of 64 MiB zeros under a limit of 1 MiB.
    use std::io::Write as _;
    let mut packer = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(&vec![b' '; 64 << 20]).unwrap();
    let packed = packer.finish().unwrap();
    let name = b"experiment.json";
    let mut zip = b"PK\x03\x04\x14\0\0\0\x08\0\0\0\0\0\0\0\0\0".to_vec();
    for field in [packed.len() as u32, 64 << 20] {
        zip.extend(field.to_le_bytes());
    }
    zip.extend([name.len() as u8, 0, 0, 0]);
    zip.extend(name);
    zip.extend(&packed);
    let directory = zip.len() as u32;
    zip.extend(b"PK\x01\x02\x14\0\x14\0\0\0\x08\0\0\0\0\0\0\0\0\0");
    for field in [packed.len() as u32, 64 << 20] {
        zip.extend(field.to_le_bytes());
    }
    zip.extend([name.len() as u8, 0]);
    zip.extend([0; 16]);
    zip.extend(name);
    let size = zip.len() as u32 - directory;
    zip.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    zip.extend(size.to_le_bytes());
    zip.extend(directory.to_le_bytes());
    zip.extend([0, 0]);
    let mut options = parallax_formats::scaling_data::ReadOptions::new("a.extra-p");
    options.limits.metadata_bytes = 1 << 20;
    let source = parallax_base::MemorySource::new(zip);
    let outcome =
        parallax_formats::scaling_data::read(&source, &options, &mut parallax_base::Issues::new());
    // It is unpacked while it is read, so blanks take no memory; there is nothing behind them.
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains("at byte 67108864: the text ends"), "{error}");
}
