//! How regularly visits of time repeat.
//!
//! Pure functions over the visits of one context on one track: nothing here knows of trees or
//! traces.

use std::borrow::Cow;

use super::visits::Visit;

/// A spacing is regular when it differs from the median by at most this factor.
pub(super) const REGULAR: f64 = 1.5;
/// A visit of samples shorter than this part of the usual one is noise.
const SPECK: f64 = 0.2;
/// Of exact times, one that is so much shorter is something else by the same name.
const EXACT_SPECK: f64 = 0.02;
/// Two starts nearer than this part of the period belong to one iteration.
const TOO_NEAR: f64 = 0.4;
/// The same for the starts of several tracks, which do not begin at the same moment.
const TOO_NEAR_POOLED: f64 = 0.5;
/// A visit follows at once after less than this part of the usual visit.
const AT_ONCE: f64 = 0.02;
/// So few are none.
const NEARLY: f64 = 0.05;
/// At most this many iterations in a row may lack their marker.
const MOST_MISSED: u64 = 3;
/// A spacing is taken for several periods when it differs from them by less than this part.
const SAME: f64 = 0.1;
/// Gaps differ in kind when the longer one is at least so many times the shorter one.
const JUMP: f64 = 1.5;
/// Largest number of ways in which visits of one context are joined.
const MOST_LEVELS: usize = 6;

/// Of so many visits the longest says nothing about the others.
const MANY: usize = 8;

/// The length such that half of all time lies in visits that are at least so long. Unlike the
/// median it does not move when many short visits are added. A single visit in which a location was
/// stalled for longer than in all others together does not move it either.
fn usual_nanos(visits: &[Visit]) -> u64 {
    let mut lengths: Vec<u64> = visits.iter().map(|visit| visit.nanos()).collect();
    lengths.sort_unstable();
    if lengths.len() >= MANY {
        lengths.pop();
    }
    let half = lengths.iter().sum::<u64>() / 2;
    let mut sum = 0;
    for length in lengths {
        sum += length;
        if sum > half {
            return length;
        }
    }
    0
}

/// The visits without those that are much shorter than usual.
pub(super) fn drop_short(visits: &[Visit]) -> Vec<Visit> {
    at_least(visits, SPECK)
}

fn at_least(visits: &[Visit], part: f64) -> Vec<Visit> {
    let least = usual_nanos(visits) as f64 * part;
    visits.iter().copied().filter(|visit| visit.nanos() as f64 >= least).collect()
}

/// Puts visits together between which at most `gap_nanos` lie.
pub(super) fn joined(visits: &[Visit], gap_nanos: u64) -> Vec<Visit> {
    let mut out: Vec<Visit> = Vec::new();
    for visit in visits {
        match out.last_mut() {
            Some(last) if visit.start.saturating_sub(last.end) <= gap_nanos => {
                last.extend(visit);
            }
            _ => out.push(*visit),
        }
    }
    out
}

/// The visits that say something: without short ones; where times are exact, a short visit is as good
/// as a long one.
pub(super) fn telling(visits: &[Visit], origin: Origin) -> Cow<'_, [Visit]> {
    match origin {
        Origin::Exact => Cow::Borrowed(visits),
        Origin::Samples | Origin::Pooled => Cow::Owned(drop_short(visits)),
    }
}

/// How [`telling`] visits become occurrences: near ones are joined, and short ones dropped again.
pub(super) fn occurrences(telling: &[Visit], gap_nanos: u64, origin: Origin) -> Vec<Visit> {
    let part = match origin {
        Origin::Exact => EXACT_SPECK,
        Origin::Samples | Origin::Pooled => SPECK,
    };
    at_least(&joined(telling, gap_nanos), part)
}

/// Up to which gap occurrences on several tracks follow each other at once. `tracks` has the
/// [`telling`] visits of each.
pub(super) fn at_once(tracks: &[&[Visit]], gap_nanos: u64, origin: Origin) -> u64 {
    let occurrences = tracks.iter().flat_map(|list| occurrences(list, gap_nanos, origin));
    let lengths: Vec<u64> = occurrences.map(Visit::nanos).collect();
    median(&lengths).map_or(0, |usual| (usual * AT_ONCE) as u64)
}

/// What the visits of a context consist of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// Of other things from time to time.
    Different,
    /// Of one thing, always the same.
    Single,
    /// Of several things, always the same ones.
    Several,
}

/// Puts visits together that follow each other at once, after `at_once` nanoseconds at the most:
/// these are regular where a context is called again and again, and calls are as long as each other.
/// `None` where there are none, where all consist of the same several things, and where nearly all
/// follow at once and are the same: then the calls themselves are what repeats.
pub(super) fn one_after_the_other(
    visits: &[Visit],
    at_once: u64,
    content: impl FnOnce() -> Content,
) -> Option<Vec<Visit>> {
    let together = joined(visits, at_once);
    let num_gaps = visits.len().checked_sub(1)?;
    let apart = (together.len() - 1) as f64 / num_gaps.max(1) as f64;
    if apart >= 1.0 - NEARLY {
        return None;
    }
    match content() {
        Content::Several => None,
        Content::Single if apart <= NEARLY => None,
        Content::Single | Content::Different => Some(together),
    }
}

/// Gaps up to which it may make sense to put visits together, 0 first: where gaps inside of an
/// iteration and gaps between iterations differ in kind, they are sorted apart by a jump.
/// `tracks` has the [`telling`] visits of one context on several tracks.
pub(super) fn gap_levels(tracks: &[&[Visit]]) -> Vec<u64> {
    let mut gaps: Vec<u64> = Vec::new();
    for kept in tracks {
        let pairs = kept.iter().zip(kept.iter().skip(1));
        gaps.extend(pairs.map(|(a, b)| b.start.saturating_sub(a.end)));
    }
    gaps.sort_unstable();
    let mut jumps: Vec<(f64, u64)> = gaps
        .iter()
        .zip(gaps.iter().skip(1))
        .filter(|(shorter, longer)| **longer as f64 >= JUMP * (**shorter).max(1) as f64)
        .map(|(&shorter, &longer)| (longer as f64 / shorter.max(1) as f64, shorter))
        .collect();
    jumps.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    jumps.truncate(MOST_LEVELS);
    let mut levels: Vec<u64> = jumps.into_iter().map(|(_, gap)| gap).collect();
    levels.push(0);
    levels.sort_unstable();
    levels.dedup();
    levels
}

/// Starts of iterations on one track, and how regular they are.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spacing {
    /// Start of each iteration, ascending; those that had to be guessed included.
    pub(super) starts: Vec<u64>,
    /// How many of them were guessed, in the middle of a spacing of several periods.
    pub(super) num_missed: usize,
    /// The median of the spacings.
    pub(super) period_nanos: f64,
    /// Share of the spacings that are regular, before anything was guessed.
    pub(super) regular_share: f64,
    /// Time in regular spacings, guessed ones included.
    pub(super) regular_nanos: u64,
}

/// Where occurrences come from, which decides how much of them is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// Calls, or a stream: begin and end are exact, and none is missing.
    Exact,
    /// Samples of one track, which may miss an occurrence.
    Samples,
    /// Samples of several tracks together.
    Pooled,
}

/// The spacing of occurrences; `None` when there are fewer than three.
pub(super) fn spacing(occurrences: &[Visit], origin: Origin) -> Option<Spacing> {
    let too_near = match origin {
        Origin::Exact => 0.0,
        Origin::Samples => TOO_NEAR,
        Origin::Pooled => TOO_NEAR_POOLED,
    };
    let mut starts: Vec<u64> = occurrences.iter().map(|o| o.start).collect();
    let period = median(&differences(&starts))?;
    // Starts that follow too soon are the same iteration, interrupted.
    let mut kept: Vec<u64> = Vec::with_capacity(starts.len());
    let mut num_near = 0;
    for &start in &starts {
        match kept.last() {
            Some(&last) if ((start - last) as f64) < too_near * period => num_near += 1,
            _ => kept.push(start),
        }
    }
    starts = kept;
    if starts.len() < 3 {
        return None;
    }
    let period = median(&differences(&starts))?;
    let mut filled = Vec::with_capacity(starts.len());
    let (mut num_missed, mut num_regular, mut regular_nanos) = (0, 0_usize, 0);
    for (&start, &next) in starts.iter().zip(starts.iter().skip(1)) {
        filled.push(start);
        let spacing = next - start;
        let times = (spacing as f64 / period).round().max(1.0) as u64;
        if is_regular(spacing as f64, period) {
            num_regular += 1;
            regular_nanos += spacing;
        } else if origin != Origin::Exact
            && (2..=MOST_MISSED + 1).contains(&times)
            && (spacing as f64 / times as f64 / period - 1.0).abs() < SAME
        {
            filled.extend((1..times).map(|nth| start + spacing * nth / times));
            num_missed += times as usize - 1;
            regular_nanos += spacing;
        }
    }
    filled.extend(starts.last());
    let num_spacings = starts.len() - 1 + num_near;
    Some(Spacing {
        starts: filled,
        num_missed,
        period_nanos: period,
        regular_share: num_regular as f64 / num_spacings as f64,
        regular_nanos,
    })
}

pub(super) fn is_regular(spacing: f64, period: f64) -> bool {
    spacing <= REGULAR * period && spacing * REGULAR >= period
}

pub(super) fn differences(times: &[u64]) -> Vec<u64> {
    times.iter().zip(times.iter().skip(1)).map(|(a, b)| b.saturating_sub(*a)).collect()
}

/// The median; the mean of the two middle ones of an even number; `None` of nothing.
pub(super) fn median(values: &[u64]) -> Option<f64> {
    let mut values = values.to_vec();
    if values.is_empty() {
        return None;
    }
    let (middle, is_even) = (values.len() / 2, values.len().is_multiple_of(2));
    let (shorter, above, _) = values.select_nth_unstable(middle);
    let below = if is_even { shorter.iter().max().copied()? } else { *above };
    Some((*above as f64 + below as f64) / 2.0)
}

/// Widths around the median, and how likely a spacing without memory lies inside, at the most.
///
/// The worst case are programs whose calls are as long as each other and come in a random order.
/// Calls that follow each other are one visit, so that spacings are sums of two geometric
/// distributions: s calls with the probability `q (1 - q) (p^(s - 1) - q^(s - 1)) / (p - q)`, with
/// `p = 1 - q`, where q is the share of the calls that is of the context. For q = 1/2, 0.19 of them
/// are as long as the median; of all q, visits joined over short gaps included, at most 0.21 lie
/// within a factor of 1.1 of it, 0.39 within 1.25 and 0.68 within 1.5. Walks through a call tree
/// may have a little more of the last. Starts of a Poisson process, `2^(-1/w) - 2^(-w)`, are far
/// below.
const WIDTHS: [(f64, f64); 5] =
    [(1.02, 0.19), (1.05, 0.19), (1.1, 0.21), (1.25, 0.39), (REGULAR, 0.75)];

/// How likely visits that begin without memory look at least as regular as these, for the best of
/// several widths.
///
/// The median is one of the spacings, or lies between two of them, so that one spacing is always
/// inside of every width: of n spacings, n - 1 say something. How many of them are inside is a
/// binomial tail.
pub(super) fn chance(starts: &[u64]) -> f64 {
    let spacings = differences(starts);
    let Some(period) = median(&spacings).filter(|&period| period > 0.0) else { return 1.0 };
    let best = WIDTHS
        .iter()
        .map(|(width, probability)| {
            let inside = |spacing: &&u64| {
                let times = **spacing as f64 / period;
                times <= *width && times * width >= 1.0
            };
            let hits = spacings.iter().filter(inside).count();
            binomial_tail(spacings.len() - 1, hits.saturating_sub(1), *probability)
        })
        .fold(1.0, f64::min);
    (best * WIDTHS.len() as f64).min(1.0)
}

/// The probability of at least `hits` successes in `trials`.
fn binomial_tail(trials: usize, hits: usize, probability: f64) -> f64 {
    let log_factorial = |n: usize| libm::lgamma(n as f64 + 1.0);
    let log_choose =
        |k: usize| log_factorial(trials) - log_factorial(k) - log_factorial(trials - k);
    let term = |k: usize| {
        let log = log_choose(k)
            + k as f64 * libm::log(probability)
            + (trials - k) as f64 * libm::log1p(-probability);
        libm::exp(log)
    };
    // Below the mean there is nothing to be found out; above, each term is smaller than the one
    // before.
    if trials > 4096 && hits as f64 <= trials as f64 * probability {
        return 1.0;
    }
    let mut sum = 0.0;
    let mut more = term(hits);
    for k in hits..=trials {
        sum += more;
        if k as f64 > trials as f64 * probability + 1.0 && more <= sum * 1e-17 {
            break;
        }
        // Each term from the one before, but from one that is too small for a number.
        more = if more.is_normal() {
            more * ((trials - k) as f64 / (k + 1) as f64) * (probability / (1.0 - probability))
        } else if k < trials {
            term(k + 1)
        } else {
            0.0
        };
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(times: &[(u64, u64)]) -> Vec<Visit> {
        times.iter().map(|&(start, end)| Visit { start, end, last: end }).collect()
    }

    #[test]
    fn short_visits_do_not_count_however_many_there_are() {
        let real = (0..5).map(|i| (i * 100, i * 100 + 30));
        let short = (0..20).map(|i| (i * 20 + 45, i * 20 + 46));
        let mut all: Vec<(u64, u64)> = real.chain(short).collect();
        all.sort_unstable();
        assert_eq!(drop_short(&at(&all)).len(), 5);
    }

    #[test]
    fn interrupted_stretches_are_put_together_where_gaps_differ_in_kind() {
        // Three launches in each of four iterations.
        let list: Vec<(u64, u64)> = (0..4)
            .flat_map(|i| (0..3).map(move |k| (i * 1000 + k * 50, i * 1000 + k * 50 + 40)))
            .collect();
        let list = at(&list);
        let levels = gap_levels(&[&telling(&list, Origin::Samples)]);
        assert!(levels.contains(&10), "{levels:?}");
        let found = spacing(&occurrences(&list, 10, Origin::Exact), Origin::Exact).unwrap();
        assert_eq!(found.starts, [0, 1000, 2000, 3000]);
        assert_eq!((found.period_nanos, found.regular_share), (1000.0, 1.0));
    }

    #[test]
    fn an_iteration_without_its_marker_is_filled_in() {
        let list = at(&[(0, 10), (100, 110), (200, 210), (400, 410), (500, 510)]);
        let found = spacing(&list, Origin::Samples).unwrap();
        assert_eq!(found.starts, [0, 100, 200, 300, 400, 500]);
        assert_eq!((found.num_missed, found.regular_share), (1, 0.75));
        let exact = spacing(&list, Origin::Exact).unwrap();
        assert_eq!(exact.starts, [0, 100, 200, 400, 500], "exact times miss nothing");
    }

    #[test]
    fn a_second_start_within_an_iteration_is_the_same_iteration() {
        let list = at(&[(0, 10), (100, 110), (130, 140), (200, 210), (300, 310), (400, 410)]);
        assert_eq!(spacing(&list, Origin::Samples).unwrap().starts, [0, 100, 200, 300, 400]);
    }

    #[test]
    fn regular_times_are_no_chance_and_random_ones_are() {
        let regular: Vec<u64> = (0..6).map(|i| i * 100 + i % 2).collect();
        assert!(chance(&regular) < 0.02);
        let more: Vec<u64> = (0..20).map(|i| i * 100 + i % 2).collect();
        assert!(chance(&more) < 1e-10);
        // The median of three spacings is one of them.
        assert!((chance(&[0, 100, 200, 300]) - 5.0 * 0.19 * 0.19).abs() < 1e-12);
        let random = [0, 10, 100, 130, 300, 305, 420, 700, 720];
        assert!(chance(&random) > 0.05, "{}", chance(&random));
        assert_eq!(chance(&[5]), 1.0);
        assert!((binomial_tail(3, 2, 0.5) - 0.5).abs() < 1e-12);
    }
}
