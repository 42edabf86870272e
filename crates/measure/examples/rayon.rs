//! A loop on the threads of rayon, between parts that one thread executes.
//!
//! ```sh
//! cargo build --release --example rayon
//! parallax measure -c 1,2,4 -i '400 20' -i '800 20' -o rayon.json -- target/release/examples/rayon
//! ```
//!
//! `rayon 400 20` does 400 million steps, 20 % of them on one thread: on p free cores it takes
//! 0.2 + 0.8 / p of the time on one, as Amdahl's law says.

use std::process::ExitCode;

use parallax_measure::pascal;
use rayon::prelude::*;

/// A chain of steps, each of which needs the one before: nothing in it can be vectorised.
fn steps(count: u64, seed: u64) -> u64 {
    (0..count).fold(seed, |x, _| {
        let x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        x ^ (x >> 29)
    })
}

fn main() -> ExitCode {
    const PIECES: u64 = 1000;
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [millions, serial_percent @ 0..=100] = numbers[..] else {
        eprintln!("usage: rayon MILLION_STEPS SERIAL_PERCENT");
        return ExitCode::from(2);
    };
    let all = millions * 1_000_000;
    let serial = all / 100 * serial_percent;
    let alone = {
        let _region = pascal::region(1);
        steps(serial, 1)
    };
    let shared = {
        let _region = pascal::region(2);
        let piece = (all - serial) / PIECES;
        (0..PIECES).into_par_iter().map(|at| steps(piece, at + 2)).reduce(|| 0, |a, b| a ^ b)
    };
    println!("{} threads, {serial} of {all} steps serial", rayon::current_num_threads());
    // The sums are used, so that no step is left out.
    ExitCode::from(u8::from(alone ^ shared == 42))
}
