//! `parallax-benches pascal [MEGABYTES]`: a PaScal file read by Parallax, by Python's `json` and by
//! node's `JSON.parse`, each in a process of its own.
//!
//! The other two only make their objects of the text; Parallax also folds entries into times,
//! statistics into maps, and keeps nothing else. So the comparison favours them.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use parallax_analysis::scaling::{GridBuilder, MapOptions, maps};
use parallax_import::scaling::{MeasurementOptions, open_measurements};
use parallax_native::StreamedFile;

use crate::probe;

/// The first word of this benchmark's command line.
pub(crate) const COMMAND: &str = "pascal";

/// The size of the largest file that the authors of the PaScal viewer of 2025 report on.
pub(crate) const MEGABYTES: u64 = 144;
const REPEATS: usize = 5;

const PYTHON: &str = r"
import json, resource, sys, time
best = 1e9
for _ in range(int(sys.argv[2])):
    with open(sys.argv[1]) as f:
        start = time.perf_counter()
        value = json.load(f)
        best = min(best, time.perf_counter() - start)
    runs = len(value['data'])
    del value
print(best, runs, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
";

const NODE: &str = r"
const fs = require('fs');
let best = 1e9, runs = 0;
for (let i = 0; i < Number(process.argv[2]); i++) {
  const start = process.hrtime.bigint();
  const value = JSON.parse(fs.readFileSync(process.argv[1], 'utf8'));
  best = Math.min(best, Number(process.hrtime.bigint() - start) / 1e9);
  runs = Object.keys(value.data).length;
}
console.log(best, runs, process.resourceUsage().maxRSS * 1024);
";

/// What one process said: seconds of the best run, number of runs in the file, peak bytes.
struct Told {
    seconds: f64,
    runs: u64,
    peak: u64,
}

/// Runs the benchmark, or the part of it that this process is started for.
pub(crate) fn answer(words: &[String]) -> Result<()> {
    match words {
        [word, path] if word == "read" => read(Path::new(path)),
        [] => compare(MEGABYTES),
        [size] => compare(size.parse().context("a size in megabytes is expected")?),
        _ => bail!("usage: parallax-benches {COMMAND} [MEGABYTES]"),
    }
}

/// The file of about that size, written when it is not there yet.
pub(crate) fn file(megabytes: u64) -> Result<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target"))
        .join(format!("bench-pascal-{megabytes}.json"));
    if !path.exists() {
        eprintln!("writing {}", path.display());
        generate(&path, megabytes)?;
    }
    Ok(path)
}

fn compare(megabytes: u64) -> Result<()> {
    let path = file(megabytes)?;
    let size = std::fs::metadata(&path)?.len();
    let text = path.to_string_lossy();
    let repeats = REPEATS.to_string();
    let own = std::env::current_exe()?;
    let own = own.to_string_lossy();
    let programs: [(&str, Vec<&str>); 3] = [
        ("Parallax, to maps", vec![&own, COMMAND, "read", &text]),
        ("Python json.load", vec!["python3", "-c", PYTHON, &text, &repeats]),
        ("node JSON.parse", vec!["node", "-e", NODE, &text, &repeats]),
    ];
    println!("{} MB of PaScal JSON, best of {REPEATS}", size / 1_000_000);
    let mut ours: Option<Told> = None;
    for (name, words) in programs {
        let told = match told(&words) {
            Ok(told) => told,
            Err(why) => {
                println!("{name:<20} not measured: {why:#}");
                continue;
            }
        };
        let rate = size as f64 / 1e6 / told.seconds;
        let mut line = format!(
            "{name:<20} {:>8.3} s {rate:>7.0} MB/s {:>8.1} MB peak",
            told.seconds,
            told.peak as f64 / 1e6
        );
        match &ours {
            None => ours = Some(told),
            Some(ours) => {
                if told.runs != ours.runs {
                    bail!("{name} found {} runs, Parallax {}", told.runs, ours.runs);
                }
                let _ = write!(
                    line,
                    "   Parallax: {:.1} times as fast, {:.1} % of the memory",
                    told.seconds / ours.seconds,
                    100.0 * ours.peak as f64 / told.peak as f64
                );
            }
        }
        println!("{line}");
    }
    Ok(())
}

fn told(words: &[&str]) -> Result<Told> {
    let (program, arguments) = words.split_first().context("no program")?;
    let output = Command::new(program).args(arguments).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        bail!("{program} ended with {}", output.status);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> =
        text.split_whitespace().map(str::parse).collect::<Result<_, _>>().context("its answer")?;
    let &[seconds, runs, peak] = numbers.as_slice() else { bail!("unexpected answer {text}") };
    Ok(Told { seconds, runs: runs as u64, peak: peak as u64 })
}

/// Reads the file to all maps of every region, several times, and says the best.
fn read(path: &Path) -> Result<()> {
    // Not mapped, so that the bytes of the file do not count as memory.
    let source = StreamedFile::open(path)?;
    let mut best = f64::INFINITY;
    let mut runs = 0;
    for _ in 0..REPEATS {
        let start = Instant::now();
        let ensemble = open_measurements(&source, &MeasurementOptions::new("bench.json"))?;
        let inputs: Vec<String> =
            ensemble.parameters()[1].values.iter().map(|value| value.label.clone()).collect();
        let metric = ensemble.metric("time").context("no time")?;
        let mut checksum = 0.0;
        for region in (0..).take(ensemble.regions().len()) {
            let mut grid = GridBuilder::new(inputs.clone());
            for sample in ensemble.samples_of(metric, region) {
                let coordinate = ensemble.runs()[sample.run as usize].coordinate as usize;
                let cores = ensemble.value_at(coordinate, 0).and_then(|value| value.number);
                let input = ensemble.coordinates()[coordinate][1] as usize;
                grid.push(input, cores.context("no cores")? as u32, sample.value)?;
            }
            let found = maps(&grid.finish()?, MapOptions::default());
            checksum += found.efficiency.iter().map(|(_, _, value)| value).sum::<f64>();
        }
        best = best.min(start.elapsed().as_secs_f64());
        runs = ensemble.runs().len();
        anyhow::ensure!(checksum.is_finite(), "the maps have no values");
    }
    println!("{best} {runs} {}", probe::peak_bytes()?);
    Ok(())
}

/// Writes a file of about that size: 12 regions, 8 core counts, 6 inputs, 5 repetitions.
fn generate(path: &Path, megabytes: u64) -> Result<()> {
    const RUNS: u32 = 8 * 6 * 5;
    const REGIONS: u32 = 12;
    const ENTRY_BYTES: u64 = 68;
    let entries = (megabytes * 1_000_000 / (u64::from(RUNS * REGIONS) * ENTRY_BYTES)).max(1);
    let partial = path.with_extension("partial");
    let mut out = BufWriter::new(File::create(&partial)?);
    out.write_all(
        br#"{"config": {"pkg": "./solver", "command": "pascalanalyzer ./solver --inst man --cors 1,2,4,8,16,32,64,128 --ipts 1 a,2 b,3 c,4 d,5 e,6 f --rpts 5", "data_descriptor": {"values": ["start_time", "stop_time"], "extras": {"regions": {"values": ["start_time", "stop_time", "start_line", "stop_line", "thread_id", "filename"]}}, "keys": ["cores", "input", "repetitions"]}, "arguments": ["1 a", "2 b", "3 c", "4 d", "5 e", "6 f"]}, "data": {"#,
    )?;
    for run in 0..RUNS {
        let (cores, input, repetition) = (1 << (7 - run / 30), run / 5 % 6, run % 5 + 1);
        let base = 1_758_626_047.0 + f64::from(run) * 1000.0;
        let comma = if run == 0 { "" } else { ", " };
        write!(out, "{comma}\"{cores};{input};{repetition}\": {{\"regions\": {{")?;
        for region in 0..REGIONS {
            let comma = if region == 0 { "" } else { ", " };
            write!(out, "{comma}\"1.{}\": [", region + 1)?;
            for entry in 0..entries {
                let start = base + entry as f64 * 0.07 + f64::from(region) * 0.005_1;
                let comma = if entry == 0 { "" } else { ", " };
                let (first, last) = (100 + region * 20, 117 + region * 20);
                let thread = (entry * 7 + u64::from(region)) % 128;
                write!(
                    out,
                    "{comma}[{start:.6}, {:.6}, {first}, {last}, {thread}, \"solver.c\"]",
                    start + 0.004_321
                )?;
            }
            write!(out, "]")?;
        }
        write!(out, "}}, \"start_time\": {base:.7}, \"stop_time\": {:.7}}}", base + 900.0)?;
    }
    write!(out, "}}}}")?;
    out.into_inner()?.sync_all()?;
    Ok(std::fs::rename(partial, path)?)
}
