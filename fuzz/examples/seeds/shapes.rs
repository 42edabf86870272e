//! Small inputs of the shapes that once took too much time or memory: many tracks, deep nests,
//! unique coordinates, wide tables, much in little, both sides of one exchange, streams of GPUs.
//!
//! Fuzzing begins from them, so that it grows what is dangerous and not only what is usual.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use parallax_testkit::tau::{PackedVersion, Profiles, Thread, Timer, to_packed};

/// Tracks, ranks or rows where there are many.
const MANY: u32 = 40;

/// Calls inside each other where they are deep.
const DEEP: u32 = 60;

pub(crate) fn write(seeds: &Path) -> io::Result<()> {
    let traces = [
        ("threads", many_threads()),
        ("nest", deep_nest()),
        ("streams", streams()),
        ("exchange", exchange()),
        ("ranks", many_ranks()),
        ("steps", repeated_steps()),
    ];
    for (name, text) in &traces {
        let reader = if matches!(*name, "exchange" | "ranks") {
            "json_trace_codar"
        } else {
            "json_trace_chrome"
        };
        for target in [reader, "convert", "questions"] {
            save(seeds, target, name, text.as_bytes())?;
        }
    }
    let long = many_threads().replace("\"ts\":", "\"ts\":    ").repeat(20);
    for target in ["convert", "questions"] {
        save(seeds, target, "packed.gz", &gzip(long.as_bytes())?)?;
    }
    save(seeds, "callgrind", "chain", call_chain().as_bytes())?;
    save(seeds, "questions", "callgrind-chain", call_chain().as_bytes())?;
    save(seeds, "tau_profile", "path", deep_path().as_bytes())?;
    save(seeds, "tau_packed", "zeros", &[0; 2000])?;
    let packed = gzip(&to_packed(&many_profiles(), PackedVersion::Two))?;
    save(seeds, "tau_packed", "many.gz", &packed)?;
    save(seeds, "questions", "packed-profile", &to_packed(&many_profiles(), PackedVersion::Two))?;

    // The first byte of `scaling` chooses the name of the file: .csv, .json, .txt, .extra-p.
    let tables = [
        ("unique", unique_rows()),
        ("wide", wide_table()),
        ("regions", regions_table()),
        ("repeated", "cores,input,time\n".to_owned() + &"1,1,2.5\n".repeat(200)),
    ];
    for (name, text) in &tables {
        save(seeds, "sperf_talp_pop", name, text.as_bytes())?;
        save(seeds, "scaling", name, &named(0, text.as_bytes()))?;
    }
    save(seeds, "scaling", "packed.gz", &named(0, &gzip(tables[3].1.as_bytes())?))?;
    save(seeds, "pascal", "runs", pascal_runs().as_bytes())?;
    save(seeds, "scaling", "pascal", &named(1, pascal_runs().as_bytes()))?;
    let points = extrap_points();
    save(seeds, "extrap", "points", points.as_bytes())?;
    save(seeds, "scaling", "points", &named(2, points.as_bytes()))?;
    let long = zip64("experiment.json", extrap_points_json().as_bytes());
    save(seeds, "extrap", "zip64", &long)?;
    save(seeds, "scaling", "zip64", &named(3, &long))?;

    for (number, request) in REQUESTS.iter().enumerate() {
        save(seeds, "protocol", &format!("{number:02}"), request.as_bytes())?;
    }
    Ok(())
}

/// Requests to an engine that has an archive and a table open, some of them out of all bounds.
const REQUESTS: &[&str] = &[
    r#"{"ask":"info","with":{"item":"x1"}}"#,
    r#"{"ask":"tile","with":{"item":"x1","rows":[{"from":0,"to":4294967295}],"from_ns":0,"to_ns":18446744073709551615,"bins":4294967295}}"#,
    r#"{"ask":"query","with":{"item":"x1","contexts":"(((((function(a)))))","profiles":"rank(0-4294967295:1)"}}"#,
    r#"{"ask":"flat","with":{"item":"x1","cost":{"metric":"=((((1))))","window":"0s-1s"}}}"#,
    r#"{"ask":"tree_table","with":{"item":"x1","costs":{"metrics":["time (i)","time (e)"]},"prune":{"below_percent":0,"hide":["function(s*)"]},"max_depth":3,"max_rows":4294967295}}"#,
    r#"{"ask":"distribution","with":{"item":"x1","context":"function(main)","bins":4294967295}}"#,
    r#"{"ask":"links","with":{"item":"x1","tracks":[{"from":1,"to":0}],"from_ns":9,"to_ns":3,"max_links":4294967295}}"#,
    r#"{"ask":"counter_bins","with":{"item":"x1","counter":0,"tracks":[{"from":0,"to":2}],"from_ns":0,"to_ns":1000,"bins":100000}}"#,
    r#"{"ask":"find","with":{"item":"x1","name":"(a+)+$","min_ns":0,"max_ns":1,"max_rows":4294967295}}"#,
    r#"{"ask":"over_time","with":{"item":"x1","bins":4294967295}}"#,
    r#"{"ask":"clusters","with":{"item":"x1","k":4294967295,"eps":1e308}}"#,
    r#"{"ask":"stacks","with":{"item":"x1","top":4294967295}}"#,
    r#"{"ask":"models","with":{"item":"e2","curve":{"parameter":"cores","values":[1e308,-1,0],"at":[["input",2]]}}}"#,
    r#"{"ask":"scaling","with":{"item":"e2","view":{"min_percent":-1,"fixed":[["input","1"]]}}}"#,
    r#"{"ask":"waits","with":{"item":"x1","window":{"from_ns":5,"to_ns":2},"by":"rank"}}"#,
    r#"{"ask":"advise","with":{"item":"x1","workers":4294967295}}"#,
];

fn save(seeds: &Path, target: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let folder = seeds.join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes)
}

fn named(which: u8, bytes: &[u8]) -> Vec<u8> {
    [&[which], bytes].concat()
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(bytes)?;
    packer.finish()
}

/// Every event on a thread of its own.
fn many_threads() -> String {
    let events: Vec<String> = (0..MANY)
        .map(|n| format!(r#"{{"ph":"X","name":"f","ts":{n},"dur":5,"pid":1,"tid":{n}}}"#))
        .collect();
    format!("[{}]", events.join(","))
}

/// Calls inside calls.
fn deep_nest() -> String {
    let mut events: Vec<String> = (0..DEEP)
        .map(|n| format!(r#"{{"ph":"B","name":"f{}","ts":{n},"pid":1,"tid":1}}"#, n % 3))
        .collect();
    events.extend((0..DEEP).map(|n| format!(r#"{{"ph":"E","ts":{},"pid":1,"tid":1}}"#, DEEP + n)));
    format!("[{}]", events.join(","))
}

/// Launches on a thread, and kernels on two streams of a device.
fn streams() -> String {
    let mut events = String::new();
    for step in 0..8_u32 {
        let at = step * 100;
        for stream in 0..2 {
            let id = step * 2 + stream;
            let _ = write!(
                events,
                r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":{},"dur":5,"args":{{"correlation":{id}}}}},
{{"ph":"X","cat":"kernel","name":"k{stream}","pid":0,"tid":{},"ts":{},"dur":40,"args":{{"device":0,"stream":{},"correlation":{id}}}}},
{{"ph":"s","id":{id},"pid":1,"tid":1,"ts":{},"cat":"ac2g","name":"ac2g"}},
{{"ph":"f","id":{id},"pid":0,"tid":{},"ts":{},"cat":"ac2g","name":"ac2g","bp":"e"}},
"#,
                at + stream * 7,
                7 + stream,
                at + 20 + stream * 3,
                7 + stream,
                at + stream * 7,
                7 + stream,
                at + 20 + stream * 3,
            );
        }
    }
    let _ = write!(
        events,
        r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":1,"tid":1,"ts":850,"dur":50}}"#
    );
    format!("{{\"schemaVersion\": 1, \"deviceProperties\": [], \"traceEvents\": [\n{events}\n]}}")
}

/// Two ranks that send and receive in one call, one of them late.
fn exchange() -> String {
    let mut events = Vec::new();
    for step in 0..6_u32 {
        let start = 1000 + step * 1000;
        for rank in 0..2_u32 {
            let (other, enter) = (1 - rank, start + rank * 400);
            let call = |kind: &str, time: u32| {
                format!(
                    r#"{{"event-type": "{kind}", "name": "MPI_Sendrecv()", "time": {time}, "node-id": {rank}, "thread-id": 0}}"#
                )
            };
            let message = |kind: &str, time: u32, from: u32, to: u32| {
                format!(
                    r#"{{"event-type": "{kind}", "time": {time}, "node-id": {rank}, "thread-id": 0, "source-node-id": {from}, "source-thread-id": 0, "destination-node-id": {to}, "destination-thread-id": 0, "message-tag": 3, "message-size": 64}}"#
                )
            };
            events.push(call("entry", enter));
            events.push(message("send", enter + 1, rank, other));
            events.push(message("receive", start + 480, other, rank));
            events.push(call("exit", start + 500));
        }
    }
    format!("[{}, {{}}]", events.join(", "))
}

/// A call on each of many ranks.
fn many_ranks() -> String {
    let events: Vec<String> = (0..MANY)
        .flat_map(|rank| {
            ["entry", "exit"].map(|kind| {
                format!(
                    r#"{{"event-type": "{kind}", "name": "f", "time": {}, "node-id": {}, "thread-id": 0}}"#,
                    10 + rank,
                    rank * 1_000_003
                )
            })
        })
        .collect();
    format!("[{}, {{}}]", events.join(", "))
}

/// Regular steps with a part that one of two threads lacks.
fn repeated_steps() -> String {
    let mut events = Vec::new();
    for step in 0..12_u32 {
        for thread in 0..2_u32 {
            let at = step * 100;
            events.push(format!(
                r#"{{"ph":"X","name":"step","ts":{at},"dur":90,"pid":1,"tid":{thread}}}"#
            ));
            let long = 20 + 30 * thread;
            events.push(format!(
                r#"{{"ph":"X","name":"solve","ts":{},"dur":{long},"pid":1,"tid":{thread}}}"#,
                at + 10
            ));
        }
    }
    format!("[{}]", events.join(","))
}

/// A function calls the next one, and so on.
fn call_chain() -> String {
    let mut out = String::from("# callgrind format\nevents: Ir\n\n");
    for n in 0..DEEP {
        let _ = write!(out, "fn=f{n}\n1 1\ncfn=f{}\ncalls=1 1\n1 {}\n\n", n + 1, DEEP - n);
    }
    let _ = write!(out, "fn=f{DEEP}\n1 1\n");
    out
}

/// A call path of TAU that goes deep.
fn deep_path() -> String {
    let names: Vec<String> = (0..DEEP).map(|n| format!("f{n}")).collect();
    let mut rows = String::new();
    for n in 1..=names.len() {
        let path = names[..n].join(" => ");
        let _ =
            writeln!(rows, "\"{path}\" 1 1 1 {} 0 GROUP=\"TAU_CALLPATH\" ", names.len() - n + 1);
    }
    let head = "templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls #\n";
    format!("{} {head}{rows}0 aggregates\n", names.len())
}

/// Threads with a timer each.
fn many_profiles() -> Profiles {
    let thread = |n: u32| Thread {
        id: [n, 0, 0],
        timers: vec![Timer {
            timer: n,
            calls: 1.0,
            subroutines: 0.0,
            values: vec![(f64::from(n), f64::from(n))],
        }],
        ..Thread::default()
    };
    Profiles {
        metrics: vec!["TIME".to_owned()],
        groups: vec!["TAU_DEFAULT".to_owned()],
        timers: (0..MANY).map(|n| (format!("f{n}"), vec![0])).collect(),
        threads: (0..MANY).map(thread).collect(),
        ..Profiles::default()
    }
}

/// No core count and no input comes twice.
fn unique_rows() -> String {
    let mut out = String::from("cores,input,time\n");
    for n in 1..=MANY {
        let _ = writeln!(out, "{n},{},{}.5", n * 7 + 1, MANY - n);
    }
    out
}

/// More columns than rows.
fn wide_table() -> String {
    let names: Vec<String> = (0..MANY * 4).map(|n| format!("t{n}")).collect();
    let cells: Vec<String> = (0..MANY * 4).map(|n| n.to_string()).collect();
    format!("cores,input,{}\n1,1,{}\n2,1,{}\n", names.join(","), cells.join(","), cells.join(","))
}

/// Regions, cores and inputs that make a map each.
fn regions_table() -> String {
    let mut out = String::from("region,cores,input,time\n");
    for region in ["main", "main->solve", "main->wait"] {
        for cores in [1, 2, 4] {
            for input in [1, 2] {
                let _ = writeln!(out, "{region},{cores},{input},{}.25", input * 8 / cores + 1);
            }
        }
    }
    out
}

/// Runs of which each has a core count and an input of its own.
fn pascal_runs() -> String {
    let runs: Vec<String> = (1..=MANY)
        .map(|n| format!(r#""{n};{n};1":{{"start_time":0.5,"stop_time":{n}.25}}"#))
        .collect();
    format!(
        r#"{{"config":{{"data_descriptor":{{"values":["start_time","stop_time"],"keys":["cores","input","repetitions"]}}}},"data":{{{}}}}}"#,
        runs.join(",")
    )
}

/// As many points as models are fitted to without a rest, and more.
fn extrap_points() -> String {
    let points: String = (1..=MANY).map(|n| format!(" ({n})")).collect();
    let data: String = (1..=MANY).map(|n| format!("DATA {}.5\n", n * n)).collect();
    format!("PARAMETER p\nPOINTS{points}\nREGION main\nMETRIC time\n{data}")
}

fn extrap_points_json() -> String {
    let points: Vec<String> =
        (1..=6).map(|n| format!(r#"{{"point":[{n}],"values":[{n}.5]}}"#)).collect();
    format!(r#"{{"parameters":["x"],"measurements":{{"main":{{"time":[{}]}}}}}}"#, points.join(","))
}

/// An archive of one stored file whose sizes stand in the fields of zip64.
fn zip64(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    let len = bytes.len() as u64;
    let mut out = Vec::new();
    let head = |out: &mut Vec<u8>| {
        out.extend(45_u16.to_le_bytes());
        out.extend([0; 8]);
        out.extend(crc.sum().to_le_bytes());
        out.extend([0xff; 8]);
        out.extend((name.len() as u16).to_le_bytes());
    };
    out.extend(b"PK\x03\x04");
    head(&mut out);
    out.extend(20_u16.to_le_bytes());
    out.extend(name.as_bytes());
    out.extend([1, 0, 16, 0]);
    out.extend(len.to_le_bytes());
    out.extend(len.to_le_bytes());
    out.extend(bytes);
    let directory = out.len() as u64;
    out.extend(b"PK\x01\x02\x2d\0");
    head(&mut out);
    out.extend(28_u16.to_le_bytes());
    out.extend([0; 10]);
    out.extend([0xff; 4]);
    out.extend(name.as_bytes());
    out.extend([1, 0, 24, 0]);
    out.extend(len.to_le_bytes());
    out.extend(len.to_le_bytes());
    out.extend(0_u64.to_le_bytes());
    let directory_len = out.len() as u64 - directory;
    let end = out.len() as u64;
    out.extend(b"PK\x06\x06");
    out.extend(44_u64.to_le_bytes());
    out.extend([45, 0, 45, 0]);
    out.extend([0; 8]);
    for field in [1_u64, 1, directory_len, directory] {
        out.extend(field.to_le_bytes());
    }
    out.extend(b"PK\x06\x07\0\0\0\0");
    out.extend(end.to_le_bytes());
    out.extend(1_u32.to_le_bytes());
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([0xff; 12]);
    out.extend([0, 0]);
    out
}
