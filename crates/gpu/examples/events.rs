//! Times of the operations on events of traces: on a GPU, with and without transfers, and on the
//! processor. `events.py` has the same for pandas and Polars.
//!
//! ```text
//! events [--cpu-only | --device N] [--keep-loops] [--times] [--tune] TRACES...
//! ```
//!
//! With `--cpu-only` no GPU is needed: only the operations on the processor are measured.
//! A line is tab-separated: who, traces, events, operation, seconds (median), checksum of the result.
//! With `--times`, lines with `#` have the time of each kernel instead of those of the processor.
//! With `--tune`, only sorts are measured, with digits and tiles of many sizes: which is fastest depends
//! on the device.

use std::hint::black_box;
use std::time::{Duration, Instant};

use parallax_columns as columns;
use parallax_gpu::{Gpu, GpuError, Options, SortShape};

/// As in the program, which keeps the pages of columns that are freed (ADR 0010).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const EVENTS_OF_A_TRACE: u64 = 1300;
const CONTEXTS: u64 = 1000;
const ROUNDS: usize = 7;

/// Events of traces: whose, what, from when until when.
struct Events {
    location: Vec<u32>,
    context: Vec<u32>,
    start: Vec<u64>,
    end: Vec<u64>,
}

fn mixed(i: u64) -> u64 {
    let mut x = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The same numbers as in `events.py`. A few contexts have most events.
fn events(traces: u64) -> Events {
    let len = traces * EVENTS_OF_A_TRACE;
    let of = |i: u64| {
        let hash = mixed(i);
        let context = (hash % CONTEXTS) * ((hash >> 32) % CONTEXTS) / CONTEXTS;
        let start = (i % EVENTS_OF_A_TRACE) * 4_000_000 + ((hash >> 12) & 0xf_ffff);
        let duration = 1000 + ((hash >> 20) & 0x1f_ffff);
        ((i / EVENTS_OF_A_TRACE) as u32, context as u32 + 17, start, start + duration)
    };
    Events {
        location: (0..len).map(|i| of(i).0).collect(),
        context: (0..len).map(|i| of(i).1).collect(),
        start: (0..len).map(|i| of(i).2).collect(),
        end: (0..len).map(|i| of(i).3).collect(),
    }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

fn timed<R>(mut work: impl FnMut() -> Result<R, GpuError>) -> Result<(f64, R), GpuError> {
    let first = Instant::now();
    let mut last = work()?;
    if first.elapsed() > Duration::from_secs(5) {
        return Ok((first.elapsed().as_secs_f64(), last));
    }
    // Clocks rise while there is work.
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(300) {
        last = work()?;
    }
    let mut times = Vec::new();
    let all = Instant::now();
    while times.is_empty() || times.len() < ROUNDS && all.elapsed() < Duration::from_secs(5) {
        let begin = Instant::now();
        last = black_box(work()?);
        times.push(begin.elapsed());
    }
    Ok((median(times), last))
}

fn checksum(rows: &[u32]) -> u64 {
    rows.iter().enumerate().fold(0, |sum: u64, (i, &row)| {
        sum.wrapping_add((i as u64 + 1).wrapping_mul(u64::from(row)))
    })
}

fn line(who: &str, traces: u64, len: usize, operation: &str, seconds: f64, check: u64) {
    println!("{who}\t{traces}\t{len}\t{operation}\t{seconds:.6}\t{check:016x}");
}

fn sum_of_groups(groups: &columns::Groups) -> u64 {
    let keys = groups.minor.iter().zip(&groups.moments);
    keys.fold(0, |sum: u64, (&key, of)| {
        sum.wrapping_add(u64::from(key).wrapping_mul(of.sum as u64))
    })
}

const LONG: u64 = 1_500_000;

fn on_cpu(traces: u64, e: &Events) -> Result<(), GpuError> {
    let len = e.start.len();
    let table: Vec<u32> = (0..CONTEXTS as u32 + 17).rev().collect();
    let values: Vec<u64> = table.iter().map(|&key| u64::from(key) * 3).collect();
    let (t, groups) =
        timed(|| Ok(columns::group(&e.context, None, &columns::durations(&e.start, &e.end))))?;
    line("cpu", traces, len, "group", t, sum_of_groups(&groups));
    let (t, groups) = timed(|| {
        Ok(columns::group(&e.context, Some(&e.location), &columns::durations(&e.start, &e.end)))
    })?;
    line("cpu", traces, len, "group2", t, sum_of_groups(&groups));
    let all = |rows: &[u32]| {
        (
            columns::gather(&e.location, rows),
            columns::gather(&e.context, rows),
            columns::gather(&e.start, rows),
            columns::gather(&e.end, rows),
        )
    };
    let (t, rows) = timed(|| {
        let rows = columns::sort(&e.start);
        black_box(all(&rows));
        Ok(rows)
    })?;
    line("cpu", traces, len, "sort", t, checksum(&rows));
    let of_events = [
        columns::Numbers::Four(&e.location),
        columns::Numbers::Four(&e.context),
        columns::Numbers::Eight(&e.start),
        columns::Numbers::Eight(&e.end),
    ];
    let (t, kept) = timed(|| {
        Ok(columns::filter_columns(&of_events, |block, picks| {
            let times = e.start[block.clone()].iter().zip(&e.end[block]);
            picks.push(times.map(|(start, end)| end.saturating_sub(*start) >= LONG));
        }))
    })?;
    // Which rows these are, is found in another way.
    let rows = columns::filter(&columns::durations(&e.start, &e.end), LONG..=u64::MAX);
    let (location, context, start, end) = all(&rows);
    let four = [location, context].map(columns::Room::Four);
    let is_same = kept.iter().eq(four.iter().chain(&[start, end].map(columns::Room::Eight)));
    line("cpu", traces, len, "filter", t, if is_same { checksum(&rows) } else { 0 });
    let (t, rows) = timed(|| {
        let pairs = columns::join(&e.context, &table).map_err(|_| GpuError::TooManyPairs)?;
        black_box(all(&pairs.left));
        Ok(columns::gather(&values, &pairs.right))
    })?;
    let rows: Vec<u32> = rows.iter().map(|&value| value as u32).collect();
    line("cpu", traces, len, "merge", t, checksum(&rows));
    Ok(())
}

fn on_gpu(gpu: &Gpu, traces: u64, e: &Events) -> Result<(), GpuError> {
    let len = e.start.len();
    let (t, (location, context, start, end)) = timed(|| {
        let columns = (
            gpu.upload(&e.location)?,
            gpu.upload(&e.context)?,
            gpu.upload(&e.start)?,
            gpu.upload(&e.end)?,
        );
        gpu.wait()?;
        Ok(columns)
    })?;
    line("gpu", traces, len, "upload", t, 0);
    let table: Vec<u32> = (0..CONTEXTS as u32 + 17).rev().collect();
    let values: Vec<u64> = table.iter().map(|&key| u64::from(key) * 3).collect();
    let (table, values) = (gpu.upload(&table)?, gpu.upload(&values)?);
    let all = |rows: &_| {
        Ok::<_, GpuError>((
            gpu.gather(&location, rows)?,
            gpu.gather(&context, rows)?,
            gpu.gather(&start, rows)?,
            gpu.gather(&end, rows)?,
        ))
    };
    let (t, _) = timed(|| {
        for _ in 0..8 {
            gpu.durations(&start, &end)?;
        }
        gpu.wait()
    })?;
    println!("#stream\t{traces}\t{len}\t{:.0} GB/s", 8.0 * 24.0 * len as f64 / t / 1e9);
    gpu.take_times()?;
    let (t, groups) = timed(|| gpu.group(&context, None, &gpu.durations(&start, &end)?))?;
    line("gpu", traces, len, "group", t, sum_of_groups(&groups));
    kernels(gpu, traces, len, "group")?;
    let (t, groups) =
        timed(|| gpu.group(&context, Some(&location), &gpu.durations(&start, &end)?))?;
    line("gpu", traces, len, "group2", t, sum_of_groups(&groups));
    kernels(gpu, traces, len, "group2")?;
    let (t, out) = timed(|| {
        let rows = gpu.sort(&start)?;
        let out = all(&rows)?;
        gpu.wait()?;
        Ok((rows, out))
    })?;
    line("gpu", traces, len, "sort", t, checksum(&gpu.download(&out.0)?));
    kernels(gpu, traces, len, "sort")?;
    let (t, _) = timed(|| {
        Ok((
            gpu.download(&out.1.0)?,
            gpu.download(&out.1.1)?,
            gpu.download(&out.1.2)?,
            gpu.download(&out.1.3)?,
        ))
    })?;
    drop(out);
    line("gpu", traces, len, "download", t, 0);
    let (t, out) = timed(|| {
        let rows = gpu.filter(&gpu.durations(&start, &end)?, LONG..=u64::MAX)?;
        let out = all(&rows)?;
        gpu.wait()?;
        Ok((rows, out))
    })?;
    line("gpu", traces, len, "filter", t, checksum(&gpu.download(&out.0)?));
    drop(out);
    kernels(gpu, traces, len, "filter")?;
    let (t, out) = timed(|| {
        let pairs = gpu.join(&context, &table)?;
        let out = (all(&pairs.left)?, gpu.gather(&values, &pairs.right)?);
        gpu.wait()?;
        Ok(out)
    })?;
    let rows: Vec<u32> = gpu.download(&out.1)?.iter().map(|&v| v as u32).collect();
    line("gpu", traces, len, "merge", t, checksum(&rows));
    drop(out);
    kernels(gpu, traces, len, "merge")
}

/// Bytes that a kernel reads and writes for each element, where that is fixed.
fn bytes(kernel: &str) -> Option<f64> {
    Some(match kernel {
        "subtract" => 24.0,
        "filter: count" => 8.0,
        "filter: emit" => 8.0,
        "sort: count" | "bits_u32" | "join: count" => 4.0,
        "sort: scatter" => 16.0,
        "word" => 12.0,
        "bits_u64" => 8.0,
        _ => return None,
    })
}

/// The median time of each kernel, and the bytes per second that it moves at least.
fn kernels(gpu: &Gpu, traces: u64, len: usize, operation: &str) -> Result<(), GpuError> {
    let times = gpu.take_times()?;
    let mut names: Vec<&str> = times.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let of: Vec<Duration> = times.iter().filter(|(n, _)| *n == name).map(|(_, t)| *t).collect();
        let of = of[of.len() / 2..].to_vec();
        let count = of.len();
        let all: Duration = of.iter().sum();
        let t = median(of);
        // Of a merge, only the left side has so many rows.
        let of_all = bytes(name).filter(|_| operation != "merge" || name.starts_with("join"));
        let rate = of_all
            .map_or(String::new(), |bytes| format!("{:.0} GB/s", bytes * len as f64 / t / 1e9));
        println!(
            "#{operation}\t{traces}\t{len}\t{name}\t{:.1} us x {count} = {:.3} ms\t{rate}",
            t * 1e6,
            all.as_secs_f64() * 1e3
        );
    }
    Ok(())
}

/// Sorts of starts and of contexts, each way that the device can; each result is compared with that of
/// the processor.
fn tune(device: usize, options: Options, traces: u64, e: &Events) -> Result<(), GpuError> {
    let right = [checksum(&columns::sort(&e.start)), checksum(&columns::sort_u32(&e.context))];
    for digit_bits in [4, 5, 6, 7, 8] {
        for (workgroup, items) in [(128, 16), (256, 8), (256, 16), (256, 24), (512, 8), (512, 16)] {
            let sort = SortShape { digit_bits, workgroup, items };
            let gpu = match Gpu::open_with(device, Options { sort: Some(sort), ..options }) {
                Ok(gpu) => gpu,
                Err(GpuError::Unsupported { .. }) => continue,
                Err(error) => return Err(error),
            };
            let (start, context) = (gpu.upload(&e.start)?, gpu.upload(&e.context)?);
            let of_start = timed(|| gpu.sort(&start).and_then(|rows| gpu.wait().map(|()| rows)))?;
            let name = format!("sort, {digit_bits} bits, {workgroup} x {items}");
            kernels(&gpu, traces, e.start.len(), &name)?;
            let of_context =
                timed(|| gpu.sort_u32(&context).and_then(|rows| gpu.wait().map(|()| rows)))?;
            let results = [("start", of_start), ("context", of_context)];
            for ((key, (t, rows)), right) in results.into_iter().zip(right) {
                let check = checksum(&gpu.download(&rows)?);
                if check != right {
                    return Err(GpuError::Failed(format!("{name}: another order by {key}")));
                }
                line("gpu", traces, e.start.len(), &format!("{name}, by {key}"), t, check);
            }
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = Options::default();
    let (mut device, mut is_cpu_only, mut is_tuned, mut sizes) = (0, false, false, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--device" => device = arguments.next().unwrap_or_default().parse()?,
            "--cpu-only" => is_cpu_only = true,
            "--keep-loops" => options.keeps_loops = true,
            "--tune" => is_tuned = true,
            "--times" => options.is_timed = true,
            traces => sizes.push(traces.parse::<u64>()?),
        }
    }
    let gpu = if is_cpu_only {
        None
    } else {
        for found in parallax_gpu::devices() {
            eprintln!("{found:?}");
        }
        Some(Gpu::open_with(device, options)?)
    };
    for traces in sizes {
        let e = events(traces);
        if is_tuned {
            tune(device, options, traces, &e)?;
            continue;
        }
        if !options.is_timed {
            on_cpu(traces, &e)?;
        }
        if let Some(gpu) = &gpu {
            on_gpu(gpu, traces, &e)?;
            gpu.release();
        }
    }
    Ok(())
}
