//! How fast a large PaScal file is read, and in how much memory.
//!
//! `cargo run --release -p parallax-formats --example pascal_throughput [MB] [write PATH]`
//! generates a file of about that many megabytes as a stream (it never lies in memory or on disk),
//! reads it as the readers do, and prints the speed of both together and of the reading alone.
//! With `write PATH` the file is written instead, for comparison with other readers; with
//! `read PATH` that file is read.

use std::io::{Read as _, Write as _};
use std::time::Instant;

use parallax_base::{Issues, MemorySource, ReadError};
use parallax_formats::scaling_data::{ReadOptions, read, read_stream};
use parallax_formats::stream::ByteStream;

/// Runs of a synthetic program with 12 regions: 8 core counts, 6 inputs, 5 repetitions.
struct Generator {
    target: u64,
    produced: u64,
    run: u32,
    entries: u32,
    pending: Vec<u8>,
    used: usize,
    done: bool,
}

const RUNS: u32 = 8 * 6 * 5;
const REGIONS: u32 = 12;

impl Generator {
    fn new(megabytes: u64) -> Self {
        let target = megabytes * 1_000_000;
        let entries = u32::try_from(target / (u64::from(RUNS * REGIONS) * 68)).unwrap_or(1).max(1);
        let pending = br#"{"config": {"pkg": "./solver", "execdate": "23-09-2025_08:14:05", "command": "pascalanalyzer ./solver --inst man --cors 1,2,4,8,16,32,64,128 --ipts 1 a,2 b,3 c,4 d,5 e,6 f --rpts 5", "data_descriptor": {"values": ["start_time", "stop_time"], "extras": {"regions": {"values": ["start_time", "stop_time", "start_line", "stop_line", "thread_id", "filename"]}}, "keys": ["cores", "input", "repetitions"]}, "arguments": ["1 a", "2 b", "3 c", "4 d", "5 e", "6 f"]}, "data": {"#.to_vec();
        Self { target, produced: 0, run: 0, entries, pending, used: 0, done: false }
    }

    /// The text of the next run.
    fn next_run(&mut self) {
        self.pending.clear();
        self.used = 0;
        if self.run == RUNS {
            self.pending.extend_from_slice(b"}}");
            self.done = true;
            return;
        }
        let out = &mut self.pending;
        let (cores, input, repetition) =
            (1 << (7 - self.run / 30), self.run / 5 % 6, self.run % 5 + 1);
        let base = 1_758_626_047.0 + f64::from(self.run) * 1000.0;
        let comma = if self.run == 0 { "" } else { ", " };
        let _ = write!(out, "{comma}\"{cores};{input};{repetition}\": {{\"regions\": {{");
        for region in 0..REGIONS {
            let comma = if region == 0 { "" } else { ", " };
            let _ = write!(out, "{comma}\"1.{}\": [", region + 1);
            for entry in 0..self.entries {
                let start = base + f64::from(entry) * 0.07 + f64::from(region) * 0.005_1;
                let comma = if entry == 0 { "" } else { ", " };
                let (first, last) = (100 + region * 20, 117 + region * 20);
                let _ = write!(
                    out,
                    "{comma}[{start:.6}, {:.6}, {first}, {last}, {}, \"tarefa11.c\"]",
                    start + 0.004_321,
                    (entry * 7 + region) % 128
                );
            }
            out.push(b']');
        }
        let _ = write!(out, "}}, \"start_time\": {base:.7}, \"stop_time\": {:.7}}}", base + 900.0);
        self.run += 1;
    }
}

impl ByteStream for Generator {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        while self.used >= self.pending.len() {
            if self.done {
                return Ok(0);
            }
            self.next_run();
        }
        let rest = self.pending.get(self.used..).unwrap_or_default();
        let take = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..take), rest.get(..take)) {
            to.copy_from_slice(from);
        }
        self.used += take;
        self.produced += take as u64;
        Ok(take)
    }
}

fn peak_kilobytes() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: unknown");
    line.trim_start_matches("VmHWM:").trim().to_owned()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let megabytes = arguments.first().and_then(|text| text.parse().ok()).unwrap_or(144);
    let mode = arguments.iter().position(|word| word == "write" || word == "read");
    let path = mode.and_then(|at| arguments.get(at + 1));
    let options = ReadOptions::new("large.json");
    let mut issues = Issues::new();
    if let (Some(at), Some(path)) = (mode, path) {
        if arguments.get(at).is_some_and(|word| word == "write") {
            let mut generator = Generator::new(megabytes);
            let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
            let mut piece = vec![0; 1 << 16];
            loop {
                let n = generator.read(&mut piece)?;
                if n == 0 {
                    return Ok(file.flush()?);
                }
                file.write_all(piece.get(..n).unwrap_or_default())?;
            }
        }
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.read_to_end(&mut bytes)?;
        let source = MemorySource::new(bytes);
        for _ in 0..5 {
            let start = Instant::now();
            let m = read(&source, &options, &mut issues)?;
            let seconds = start.elapsed().as_secs_f64();
            let megabytes = std::fs::metadata(path)?.len() as f64 / 1e6;
            println!(
                "read {megabytes:.1} MB from memory: {:.0} MB/s, {} samples",
                megabytes / seconds,
                m.samples.len()
            );
        }
        return Ok(());
    }
    let start = Instant::now();
    let mut generator = Generator::new(megabytes);
    let m = read_stream(&mut generator, &options, &mut issues)?;
    let seconds = start.elapsed().as_secs_f64();
    let produced = generator.produced as f64 / 1e6;
    println!(
        "generated and read {produced:.1} MB ({} asked): {:.0} MB/s",
        generator.target / 1_000_000,
        produced / seconds
    );
    println!(
        "{} runs, {} regions, {} samples, {} issues",
        m.runs.len(),
        m.regions.len(),
        m.samples.len(),
        issues.len()
    );
    println!("peak memory {}", peak_kilobytes());
    Ok(())
}
