//! An archive of 10^8 events: 1,000 ranks of a solver in steps.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result};
use parallax_analysis::math::Random;
use parallax_base::threads;
use parallax_formats::archive::keys;
use parallax_import::events::{Conversion, Endpoint, Peer, TrackBuilder, TrackIdentity};
use parallax_model::IdentityKind;
use parallax_native::DiskSink;

use super::Dice;

pub(super) const TRACKS: u32 = 1_000;
const STEPS: u64 = 735;
const PHASES: u32 = 6;
const KERNELS: u32 = 8;
const FUNCTIONS: u32 = 40;
/// Calls of a rank in a step: the step, its phases, their kernels (three, in turns) with a helper in
/// every fourth call, and what sends and waits.
const CALLS: u64 = 1 + PHASES as u64 * (1 + KERNELS as u64 + KERNELS as u64 / 4) + 2;
const STEP_NANOS: u64 = 100_000_000;
/// Steps that are given to the conversion at once.
const SLICE_STEPS: u64 = 60;
/// Part of the name: another number makes another archive.
const GENERATION: u32 = 4;

/// The archive, made when it is not there yet.
pub(super) fn get() -> Result<PathBuf> {
    let path = super::data()?.join(format!("events-1e8-{GENERATION}.parallax"));
    if !path.exists() {
        let start = Instant::now();
        make(&path).with_context(|| format!("cannot make {}", path.display()))?;
        eprintln!("made {} in {:.1} s", path.display(), start.elapsed().as_secs_f64());
    }
    Ok(path)
}

/// Calls and messages of the archive.
pub(super) const fn planted() -> (u64, u64) {
    // The whole run of each rank is a call, too.
    (TRACKS as u64 * (1 + STEPS * CALLS), TRACKS as u64 * STEPS)
}

struct Rank {
    number: u32,
    dice: Dice,
    before: Option<Peer>,
    after: Option<Peer>,
}

fn make(path: &std::path::Path) -> Result<()> {
    let sink = Arc::new(DiskSink::new(path)?);
    let mut conversion = Conversion::new(Arc::clone(&sink) as _, 256 << 20)?;
    conversion.fact(keys::TITLE, "10^8 events");
    conversion.fact(keys::FORMAT, "made for a benchmark");
    for function in 0..FUNCTIONS {
        let group = if function >= FUNCTIONS - 2 { "MPI" } else { "USER" };
        conversion.function(&format!("function_{function}"), group);
    }
    let tracks: Vec<u32> = (0..TRACKS)
        .map(|rank| {
            let identity = vec![(IdentityKind::Rank, rank.into()), (IdentityKind::Thread, 0)];
            conversion.track(TrackIdentity { identity, ..TrackIdentity::default() })
        })
        .collect();
    let peers: Vec<Option<Peer>> = tracks.iter().map(|&track| conversion.peer_of(track)).collect();
    let peer = |rank: u32| peers.get((rank % TRACKS) as usize).copied().flatten();
    let mut ranks: Vec<Rank> = (0..TRACKS)
        .map(|number| Rank {
            number,
            dice: Dice(Random(number.into())),
            before: peer(number + TRACKS - 1),
            after: peer(number + 1),
        })
        .collect();
    let mut from = 0;
    while from < STEPS {
        let to = (from + SLICE_STEPS).min(STEPS);
        let work: Vec<_> = conversion.builders().iter_mut().zip(&mut ranks).collect();
        threads::map(work, |(builder, rank)| {
            if from == 0 {
                builder.enter(0, 0);
            }
            for step in from..to {
                one_step(builder, rank, step);
            }
            if to == STEPS {
                builder.leave(STEPS * STEP_NANOS, Some(0));
            }
        });
        conversion.commit()?;
        from = to;
    }
    conversion.finish()?;
    sink.publish()?;
    Ok(())
}

fn one_step(builder: &mut TrackBuilder, rank: &mut Rank, step: u64) {
    let start = step * STEP_NANOS;
    let mut now = start + rank.dice.below(1000);
    builder.enter(now, 1);
    // Some ranks have more to do than others; all are done before the messages come.
    let share = 60 + u64::from(rank.number % 7) * 5;
    let kernel_nanos = STEP_NANOS * share / 100 / u64::from(PHASES * KERNELS);
    for phase in 0..PHASES {
        builder.enter(now, 2 + phase);
        for kernel in 0..KERNELS {
            let function = 8 + phase * 5 + kernel % 3;
            let length = kernel_nanos / 2 + rank.dice.below(kernel_nanos / 2);
            builder.enter(now, function);
            if kernel % 4 == 1 {
                builder.enter(now + length / 4, 8 + phase * 5 + 4);
                builder.leave(now + length / 2, None);
            }
            now += length;
            builder.leave(now, Some(function));
            now += rank.dice.below(kernel_nanos / 100);
        }
        builder.leave(now, Some(2 + phase));
    }
    let (send, wait) = (FUNCTIONS - 2, FUNCTIONS - 1);
    let side = |nanos, partner, is_send| Endpoint {
        nanos,
        partner,
        communicator: 0,
        tag: 1,
        bytes: 8192,
        is_send,
    };
    builder.enter(now, send);
    builder.message(side(now + 500, rank.after, true));
    builder.leave(now + 1_000, Some(send));
    builder.enter(now + 1_000, wait);
    let end = start + STEP_NANOS * 98 / 100 + rank.dice.below(STEP_NANOS / 100);
    builder.message(side(end, rank.before, false));
    builder.leave(end, Some(wait));
    builder.leave(end + 100, Some(1));
}
