//! SPERF, TALP, POP and plain tables: real files and their stories, and damage.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests stop at the first surprise")]

mod scaling;

use parallax_base::Unit;
use parallax_formats::FormatError;
use parallax_formats::scaling_data::{ScalingFormat, metric_names, sniff};
use scaling::{corpus, has_issue, read_text, read_whole};

#[test]
fn real_sperf_reports_have_every_time_of_the_text() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("data/pascal/sperf-text");
    let mut reports = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if !text.contains("-----> Execution number") {
            // Lists of times, means and the output of `time`: nothing says what was varied.
            assert_eq!(sniff(&bytes, path.to_str().unwrap()), None, "{path:?}");
            assert!(matches!(read_text("a.txt", &bytes), Err(FormatError::NotThisFormat { .. })));
            continue;
        }
        let (m, issues) = read_whole(&path);
        assert_eq!(m.format, ScalingFormat::SperfText);
        let time = m.metric(metric_names::TIME).unwrap();
        let seconds = |line: &str| -> Option<f64> {
            line.rsplit(": ").next()?.trim_end().strip_suffix(" seconds")?.parse().ok()
        };
        let mut theirs: Vec<f64> = text
            .lines()
            .filter(|l| {
                l.contains("time of")
                    && !(l.contains("lines 0 to 0 on file") && l.contains(": 0.000000 "))
            })
            .filter_map(seconds)
            .collect();
        let mut ours: Vec<f64> =
            m.samples.iter().filter(|s| s.metric == time).map(|s| s.value).collect();
        let results = text.matches("--> Result for").count();
        // A result may be cut or repeated; the times that are there must all be here.
        ours.sort_by(f64::total_cmp);
        theirs.sort_by(f64::total_cmp);
        assert_eq!(m.runs.len(), results, "{path:?} {issues:?}");
        assert!(ours == theirs, "{path:?} {issues:?}");
        // The program of this one failed at its start every time.
        let failed = path.ends_with("results__1-12-2016-23h29m0s.txt");
        assert_eq!(has_issue(&issues, "run-too-short"), failed, "{path:?}");
        reports += 1;
    }
    assert_eq!(reports, 12);
}

#[test]
fn a_report_keeps_lines_files_and_inputs() {
    let Some(corpus) = corpus() else { return };
    let (m, _) = read_whole(&corpus.join("data/pascal/sperf-text/results__26-11-2016-18h1m2s.txt"));
    assert_eq!(m.parameters[1].values[0].label, "/home/marcio/webdocs_250k.dat 14000");
    let cores: Vec<_> = m.parameters[0].values.iter().map(|v| v.label.as_str()).collect();
    assert_eq!(cores, ["1", "2", "4", "8", "16", "32", "64"]);
    let region = m.region("7").unwrap();
    assert_eq!(m.regions[region as usize].file.as_deref(), Some("fp_tree.cpp"));
    assert_eq!(m.regions[region as usize].lines, Some((1377, 1461)));
    let c = m.coordinate(&["64", "/home/marcio/webdocs_250k.dat 14000"]).unwrap();
    let time = m.metric(metric_names::TIME).unwrap();
    assert_eq!(m.repetitions(time, 0, c).collect::<Vec<_>>(), [17.274626]);
    assert_eq!(m.repetitions(time, region, c).collect::<Vec<_>>(), [7.445266]);
}

const SPERF_JSON: &str = r#"{"Region":"108, 120","Filename":"app","Execution 1":{"InputData 1":{"arguments":" a b ",
 "Run 1":{"Num threads":"1","Time":"4.00000","Speedup":"1","Efficiency":"1"},"Run 2":{"Num threads":"2","Time":"2.50000"}}},
 "Execution 2":{"InputData 1":{"arguments":" a b ","Run 1":{"Num threads":"1","Time":"4.25"},"Run 2":{"Num threads":"x","Time":"2"}}}}"#;

const SPERF_XML: &str = "<regiao><l>108</l><l>120</l><p>app</p><execucoes><item><arg> a b </arg>\
 <execucao><n>1</n><t>4.0</t><s>1</s><e>1</e></execucao><execucao><n>2</n><t>2.5</t></execucao></item></execucoes>\
 <execucoes><item><arg> a b </arg><execucao><n>1</n><t>4.25</t></execucao><execucao><n>x</n><t>2</t></execucao></item></execucoes></regiao>";

#[test]
fn sperf_json_and_xml_say_the_same() {
    let (a, issues) = read_text("a", SPERF_JSON.as_bytes()).unwrap();
    assert_eq!(a.format, ScalingFormat::SperfJson);
    assert!(has_issue(&issues, "bad-run"));
    let (b, issues) = read_text("a", SPERF_XML.as_bytes()).unwrap();
    assert_eq!(b.format, ScalingFormat::SperfXml);
    assert!(has_issue(&issues, "bad-run"));
    assert_eq!(a.samples, b.samples);
    assert_eq!(a.parameters, b.parameters);
    assert_eq!(a.regions, b.regions);
    let region = a.region("108-120").unwrap();
    let one = a.coordinate(&["1", "a b"]).unwrap();
    assert_eq!(a.repetitions(0, region, one).collect::<Vec<_>>(), [4.0, 4.25]);
}

#[test]
fn sperf_csv_gives_efficiencies_by_execution() {
    let text = ",1,2,4,\n,\n1,1.0,0.9,0.8,\n2,1.0,0.95,0.85,\n,\n1,1.0,0.92,oops,\n";
    let (m, issues) = read_text("a", text.as_bytes()).unwrap();
    assert_eq!(m.format, ScalingFormat::SperfCsv);
    assert!(has_issue(&issues, "efficiency-only") && has_issue(&issues, "bad-value"));
    let efficiency = m.metric(metric_names::EFFICIENCY).unwrap();
    let c = m.coordinate(&["2", "input 1"]).unwrap();
    assert_eq!(m.repetitions(efficiency, 0, c).collect::<Vec<_>>(), [0.9, 0.92]);
}

#[test]
fn talp_files_of_every_version_are_read() {
    let Some(corpus) = corpus() else { return };
    let mut stack = vec![corpus.join("data/pascal/peers/talp")];
    let mut files = 0;
    while let Some(path) = stack.pop() {
        if path.is_dir() {
            stack.extend(std::fs::read_dir(path).unwrap().map(|e| e.unwrap().path()));
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let (m, issues) = read_whole(&path);
        assert_eq!(m.format, ScalingFormat::TalpJson, "{path:?}");
        assert!(issues.is_empty(), "{path:?} {issues:?}");
        let regions = json["Application"].as_object().unwrap();
        let whole = if regions.contains_key("Global") { "Global" } else { "Application" };
        for (name, fields) in regions {
            let region = m.region(if name == whole { "0" } else { name }).unwrap();
            for (field, value) in fields.as_object().unwrap() {
                let value = value.as_f64().unwrap();
                let (metric, value) = match field.as_str() {
                    "elapsedTime" => (metric_names::TIME, value * 1e-9),
                    other => (other, value),
                };
                assert_eq!(
                    m.value(m.metric(metric).unwrap(), region, 0),
                    Some(value),
                    "{name} {field}"
                );
            }
        }
        let cpus = json["resources"].get("numCpus").unwrap_or(&regions[whole]["numCpus"]);
        assert_eq!(m.parameters[0].values[0].number, cpus.as_f64(), "{path:?}");
        files += 1;
    }
    assert_eq!(files, 28);
}

#[test]
fn both_pop_tables_say_the_same() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("data/pascal/peers/pypop");
    let (rows, issues) = read_whole(&folder.join("modelfactors.csv"));
    assert!(issues.is_empty(), "{issues:?}");
    let (columns, _) = read_whole(&folder.join("precomputed.csv"));
    assert_eq!((rows.format, columns.format), (ScalingFormat::PopCsv, ScalingFormat::PopCsv));
    for (a, b) in [
        ("Parallel efficiency", "Parallel Efficiency"),
        ("Load balance", "MPI Load Balance"),
        ("Computation scalability", "Computation Scaling"),
        ("Speedup", "Speedup"),
        ("Average IPC", "Average IPC"),
    ] {
        for cores in ["1", "2", "4", "8", "16"] {
            let value = |m: &parallax_formats::scaling_data::Measurements, name: &str| {
                let c = m.coordinate(&[cores]).unwrap();
                m.repetitions(m.metric(name).unwrap(), 0, c).next().unwrap()
            };
            assert!((value(&rows, a) - value(&columns, b)).abs() < 1e-9, "{a} {cores}");
        }
    }
    let c = rows.coordinate(&["16"]).unwrap();
    let time: Vec<f64> = rows.repetitions(rows.metric(metric_names::TIME).unwrap(), 0, c).collect();
    assert!((time[0] - 2.33956072).abs() < 1e-9);
}

#[test]
fn plain_tables_are_understood_by_their_titles() {
    let text = "Threads;Problem;Run;Region;Time (ms);energy [J];note\n1;small;1;0;1500;3,5;x\n1;small;1;solve;1200;2.5;x\n2;small;1;0;800;;y\n";
    let (m, issues) = read_text("times.csv", text.as_bytes()).unwrap();
    assert_eq!(m.format, ScalingFormat::PlainCsv);
    let names: Vec<&str> = m.parameters.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["cores", "input", "note"]);
    assert!(has_issue(&issues, "bad-value"), "a decimal comma is not guessed");
    let time = m.metric("time").unwrap();
    let c = m.coordinate(&["1", "small", "x"]).unwrap();
    assert_eq!(m.repetitions(time, 0, c).collect::<Vec<_>>(), [1.5]);
    assert_eq!(m.repetitions(time, m.region("solve").unwrap(), c).collect::<Vec<_>>(), [1.2]);
    assert_eq!(m.metrics[m.metric("energy").unwrap() as usize].unit, Unit::Joules);

    let long = "cores,metric,value\n1,time,4\n1,time,5\n2,time,3\n2,flops,100\n";
    let (m, _) = read_text("long", long.as_bytes()).unwrap();
    let c = m.coordinate(&["1"]).unwrap();
    assert_eq!(m.repetitions(m.metric("time").unwrap(), 0, c).collect::<Vec<_>>(), [4.0, 5.0]);
    assert_eq!(m.samples.len(), 4);
}

#[test]
fn foreign_files_are_refused() {
    for (name, text) in [
        ("a.json", "{\"traceEvents\": []}"),
        ("a.json", "[1, 2, 3]"),
        ("a.xml", "<html></html>"),
        ("a.txt", "hello world\n"),
        ("a.csv", "18,356\n18,527\n"),
        ("a.bin", "\0\0\0\0"),
        ("empty", ""),
    ] {
        assert_eq!(sniff(text.as_bytes(), name), None, "{name} {text}");
        assert!(matches!(read_text(name, text.as_bytes()), Err(FormatError::NotThisFormat { .. })));
    }
    // Nothing is decided by the name alone.
    assert_eq!(sniff(SPERF_XML.as_bytes(), "a.json"), Some(ScalingFormat::SperfXml));
}

#[test]
fn damage_never_stops_the_readers() {
    let report = "-----> Execution number 1 for ./a:\n\n\t--> Result for 2 threads, application ./a, arguments: x, 4, \n\n\
        \t\t Parallel execution time of the region 1, lines 108 to 120 on file X.h: 0.174836 seconds\n\t\t Total time of execution: 30.2 seconds\n";
    let talp = r#"{"dlbVersion": "3.5", "resources": {"numCpus": 2}, "Application": {"Global": {"elapsedTime": 1000, "usefulTime": 5}}}"#;
    let pop = "Number of processes;1;2\nParallel efficiency;99.9;99.3\n#Runtime (us);200.1;100.5\n";
    let table = "cores,input,time\n1,\"a, b\",3.5\n2,\"a, b\",2\n";
    for text in [SPERF_JSON, SPERF_XML, report, talp, pop, table, ",1,2,\n,\n1,1.0,0.5,\n"] {
        let whole = text.as_bytes();
        assert!(read_text("a", whole).is_ok(), "{text}");
        for len in 0..whole.len() {
            if let Ok((m, _)) = read_text("a", &whole[..len]) {
                assert!(m.samples.iter().all(|s| (s.run as usize) < m.runs.len()));
            }
        }
        let mut changed = whole.to_vec();
        for at in 0..whole.len() {
            for byte in [0, b'"', b'<', b'{', b',', b'9', b'-', b'\n', 0xff] {
                changed[at] = byte;
                if let Ok((m, _)) = read_text("a", &changed) {
                    assert!(m.samples.iter().all(|s| s.value.is_finite()));
                }
            }
            changed[at] = whole[at];
        }
    }
}
