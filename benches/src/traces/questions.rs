//! Pictures and sums of random windows of an archive of 10^8 events.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use parallax_analysis::math::Random;
use parallax_base::{ContextIdx, Control, Folder, Limits, TimeWindow, TrackIdx};
use parallax_engine::{Bins, LocationChoice, Session, TileQuestion};
use parallax_native::DiskFolder;

use super::{Dice, archive, verdict};

/// Pixels of a picture across.
const BINS: usize = 1_000;
/// Bins of the picture that is asked for first: 2^6 times as long.
const FIRST_BINS: usize = BINS >> 6;
const ASKED: usize = 200;
const TILE_MILLIS: f64 = 20.0;
const SUMS_MILLIS: f64 = 50.0;
/// The narrowest window, about a hundred calls of a rank.
const NARROWEST_NANOS: f64 = 100e6;

pub(super) fn run() -> Result<()> {
    let path = archive::get()?;
    let start = Instant::now();
    let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(&path));
    let experiment = parallax_import::archive::open(&folder, &Limits::default())?;
    let session = Session::new(experiment);
    let opened = start.elapsed();
    let bytes: u64 = folder.walk()?.iter().map(|entry| entry.len).sum();
    check(&session)?;
    let (calls, messages) = archive::planted();
    println!(
        "archive of {} calls and {} messages of {} tracks, {:.2} GB, opened in {:.0} ms\n",
        calls,
        messages,
        archive::TRACKS,
        bytes as f64 / 1e9,
        opened.as_secs_f64() * 1e3
    );
    println!("| question | windows | p50 | p95 | longest | target |");
    println!("|---|---|---|---|---|---|");
    // The page asks for pictures of up to 64 rows, and keeps them. Of many tracks it asks for long
    // bins first.
    let pictures = [
        (64, 1, BINS),
        (archive::TRACKS, 20, FIRST_BINS),
        (100, 1, BINS),
        (300, 1, BINS),
        (640, 10, BINS),
        (archive::TRACKS, 1, BINS),
    ];
    for (tracks, fold, bins) in pictures {
        let rows = tracks / fold;
        let what = match fold {
            1 => format!("picture of {tracks} tracks x at most {bins} bins"),
            _ => format!("picture of {tracks} tracks in {rows} rows x at most {bins} bins"),
        };
        ask(&what, TILE_MILLIS, |dice| tile(&session, (tracks, fold, bins), dice))?;
    }
    ask("sums of all contexts, all tracks", SUMS_MILLIS, |dice| {
        let window = window(&session, dice)?;
        let start = Instant::now();
        let sums = session.context_sums(&LocationChoice::All, window, &Control::new())?;
        let millis = start.elapsed().as_secs_f64() * 1e3;
        let expected = u128::from(window.nanos()) * u128::from(archive::TRACKS);
        if sums.nanos.iter().sum::<u128>() > expected {
            bail!("more time than there is in {window:?}");
        }
        Ok(millis)
    })?;
    Ok(())
}

/// Asks the same of random windows, and prints how long answers take.
fn ask(what: &str, target: f64, mut once: impl FnMut(&mut Dice) -> Result<f64>) -> Result<()> {
    let mut dice = Dice(Random(4711));
    let mut millis = Vec::new();
    for _ in 0..ASKED {
        millis.push(once(&mut dice)?);
    }
    millis.sort_by(f64::total_cmp);
    let at = |part: usize| millis.get((millis.len() - 1) * part / 100).copied().unwrap_or(0.0);
    println!(
        "| {what} | {ASKED} | {:.1} ms | {:.1} ms | {:.1} ms | p95 < {target:.0} ms: {} |",
        at(50),
        at(95),
        at(100),
        verdict(at(95) < target)
    );
    Ok(())
}

/// A window of any width between a tenth of a second and the whole, each order as likely.
fn window(session: &Session, dice: &mut Dice) -> Result<TimeWindow> {
    let span = session.traces()?.span();
    let all = span.nanos() as f64;
    let width = (NARROWEST_NANOS * (all / NARROWEST_NANOS).powf(dice.part())) as u64;
    let start = span.start_nanos + dice.below(span.nanos() - width + 1);
    Ok(TimeWindow::new(start, start + width))
}

/// A picture of so many tracks, of which so many are in a row, in at most so many bins.
fn tile(
    session: &Session,
    (tracks, fold, bins): (u32, u32, usize),
    dice: &mut Dice,
) -> Result<f64> {
    let window = window(session, dice)?;
    let Bins { exponent, .. } = Bins::at_most(window, bins);
    let first = dice.below(u64::from(archive::TRACKS - tracks + 1)) as u32;
    let rows: Vec<_> = (first..first + tracks)
        .step_by(fold as usize)
        .map(|track| TrackIdx::new(track)..TrackIdx::new(track + fold))
        .collect();
    let tree = session.tree();
    let contexts = || (0..tree.len()).map(ContextIdx::from_len);
    let function = |context| tree.function(context).map(|function| function.idx() as u32);
    let key_of: Vec<Option<u32>> = contexts().map(function).collect();
    let depth_of: Vec<u32> = contexts().map(|context| tree.depth(context)).collect();
    let question =
        TileQuestion { rows: &rows, window, exponent, key_of: &key_of, depth_of: &depth_of };
    let start = Instant::now();
    let tile = session.tile(&question, &Control::new())?;
    let millis = start.elapsed().as_secs_f64() * 1e3;
    let busy = tile.cells.iter().filter(|cell| cell.busy_nanos > 0).count();
    if tile.cells.len() != rows.len() * tile.bins.len || busy == 0 {
        bail!("an empty picture of {window:?}");
    }
    Ok(millis)
}

/// What was planted comes out.
fn check(session: &Session) -> Result<()> {
    let (calls, messages) = archive::planted();
    let all = session.context_sums(&LocationChoice::All, TimeWindow::ALL, &Control::new())?;
    let found: u64 = all.calls.iter().sum();
    let records = session.experiment().events.as_deref().context("no events")?.records();
    let sent: u64 = records.iter().map(|track| track.sends).sum();
    if (found, sent) != (calls, messages) {
        bail!("{found} calls and {sent} messages in the archive, {calls} and {messages} planted");
    }
    Ok(())
}
