//! In which order the contexts of a loop come, and how likely a random order is as cyclic.
//!
//! What a track does is cut into *runs*: for a context that may call the loop, one of its children
//! or of the siblings of its callers, until another of these is entered. A marker cuts the runs into
//! *words*: from one run of the marker to the next. A program that repeats has the same word again
//! and again, however long each run lasts.

use std::collections::BTreeMap;

use parallax_base::ContextIdx;
use parallax_model::ContextTree;

use super::spacing::{Origin, drop_short};
use super::visits::{ByContext, Visit};

/// A word has at least so many different contexts; of two, one always follows the other.
const LEAST_SYMBOLS: usize = 3;

/// A run: from when to when which context was active, without another one between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) context: ContextIdx,
    pub(super) visit: Visit,
}

/// Contexts that share the time of the program without overlap, seen from below `parent`: its
/// children, and the siblings of itself and of its callers.
pub(super) fn beside(tree: &ContextTree, parent: ContextIdx) -> Vec<ContextIdx> {
    let mut out: Vec<ContextIdx> = tree.children(parent).collect();
    let mut below = parent;
    for above in tree.ancestors(parent) {
        out.extend(tree.children(above).filter(|&child| child != below));
        below = above;
    }
    out
}

/// The runs of a track.
pub(super) fn runs(track: &ByContext, contexts: &[ContextIdx], origin: Origin) -> Vec<Run> {
    let mut all: Vec<Run> = Vec::new();
    for &context in contexts {
        let Some(list) = track.get(&context) else { continue };
        let run = |visit: Visit| Run { context, visit };
        match origin {
            Origin::Exact => all.extend(list.iter().copied().map(run)),
            Origin::Samples | Origin::Pooled => {
                all.extend(drop_short(list).into_iter().map(run));
            }
        }
    }
    all.sort_unstable_by_key(|run| (run.visit.start, run.visit.end, run.context));
    all.dedup_by(|next, run| {
        let is_same = next.context == run.context;
        if is_same {
            run.visit.extend(&next.visit);
        }
        is_same
    });
    all
}

/// How a marker cuts the runs of a track.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Words {
    /// When each run of the marker begins.
    pub(super) starts: Vec<u64>,
    /// Share of the words that are the commonest one.
    pub(super) same_share: f64,
    /// From the begin of the first word to the end of the last one, in nanoseconds.
    pub(super) nanos: u64,
    /// How likely runs in a random order repeat as often what came before.
    pub(super) chance: f64,
}

/// When the runs of a marker begin.
fn starts(runs: &[Run], marker: ContextIdx) -> Vec<u64> {
    runs.iter().filter(|run| run.context == marker).map(|run| run.visit.start).collect()
}

/// Cuts runs into words; `None` where there are fewer than two, or where the commonest word has too
/// few contexts to say anything.
pub(super) fn words(runs: &[Run], marker: ContextIdx, shares: &Shares) -> Option<Words> {
    let mut words: Vec<&[Run]> = runs.split(|run| run.context == marker).collect();
    // What lies before the first marker and behind the last one is no word.
    words.pop();
    let words = words.get(1..).filter(|words| words.len() > 1)?;
    let mut times: BTreeMap<Vec<ContextIdx>, usize> = BTreeMap::new();
    let mut contexts: Vec<ContextIdx> = Vec::new();
    for word in words {
        contexts.clear();
        contexts.extend(word.iter().map(|run| run.context));
        match times.get_mut(&contexts) {
            Some(times) => *times += 1,
            None => {
                times.insert(contexts.clone(), 1);
            }
        }
    }
    let (common, number) = times.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)))?;
    let mut distinct = common.clone();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() + 1 < LEAST_SYMBOLS {
        return None;
    }
    let starts = starts(runs, marker);
    let span = starts.first().zip(starts.last());
    Some(Words {
        same_share: *number as f64 / words.len() as f64,
        nanos: span.map_or(0, |(first, last)| last.saturating_sub(*first)),
        chance: chance(words, marker, shares),
        starts,
    })
}

/// How often a context follows upon another when runs come in a random order.
///
/// Of all orders in which no run follows upon one of the same context, each is as likely. These are
/// the orders of independent draws of which equal neighbours are one run: the context d is drawn with
/// probability q(d), follows upon c with q(d) / (1 - q(c)), and has a share of the runs that is
/// proportional to q(d) (1 - q(d)).
pub(super) struct Shares {
    drawn: BTreeMap<ContextIdx, f64>,
}

impl Shares {
    /// From how often each context is among the runs.
    pub(super) fn new(runs: &[Run]) -> Self {
        let mut counts: BTreeMap<ContextIdx, f64> = BTreeMap::new();
        for run in runs {
            *counts.entry(run.context).or_default() += 1.0;
        }
        let all = runs.len().max(1) as f64;
        let mut drawn: BTreeMap<ContextIdx, f64> =
            counts.iter().map(|(&context, count)| (context, count / all)).collect();
        // A fixed point: q(d) is its share over 1 - q(d), and all add up to 1.
        for _ in 0..100 {
            for (context, share) in &mut drawn {
                let count = counts.get(context).copied().unwrap_or(0.0);
                let next = count / (1.0 - share.min(1.0 - 1e-6));
                *share = next;
            }
            let sum: f64 = drawn.values().sum();
            drawn.values_mut().for_each(|share| *share /= sum.max(f64::MIN_POSITIVE));
        }
        Self { drawn }
    }

    fn follows(&self, context: ContextIdx, before: ContextIdx) -> f64 {
        let of = |context| self.drawn.get(&context).copied().unwrap_or(0.0);
        (of(context) / (1.0 - of(before)).max(1e-9)).clamp(0.0, 1.0)
    }
}

/// How likely a random order repeats as much.
///
/// Each word is foretold to be the one before it, run by run, until it differs for the first time.
/// Nothing is known of the first word, so nothing is foretold of it; and the last word follows from
/// the others when the numbers of runs are given, so it does not count. With n runs foretold, of
/// which a random order hits p of each on average, h hits or more have at most the probability
/// exp(-n KL(h/n, p)): W. Hoeffding, Probability inequalities for sums of bounded random variables,
/// JASA 58 (1963), theorem 1.
fn chance(words: &[&[Run]], marker: ContextIdx, shares: &Shares) -> f64 {
    let (mut told, mut hits, mut probability) = (0_usize, 0_usize, 0.0);
    let judged = words.len().saturating_sub(1);
    for (before, word) in words.iter().zip(words.iter().skip(1)).take(judged.saturating_sub(1)) {
        let contexts = |word: &[Run]| -> Vec<ContextIdx> {
            word.iter().map(|run| run.context).chain([marker]).collect()
        };
        let mut last = marker;
        for (expected, context) in contexts(before).into_iter().zip(contexts(word)) {
            told += 1;
            probability += shares.follows(expected, last);
            if expected != context {
                break;
            }
            hits += 1;
            last = context;
        }
    }
    tail(told, hits, probability / told.max(1) as f64)
}

/// Hoeffding's bound for at least `hits` of `told`, each with `probability` on average.
fn tail(told: usize, hits: usize, probability: f64) -> f64 {
    let share = hits as f64 / told.max(1) as f64;
    if told == 0 || share <= probability {
        return 1.0;
    }
    let part = |a: f64, b: f64| if a > 0.0 { a * libm::log(a / b.max(1e-300)) } else { 0.0 };
    let divergence = part(share, probability) + part(1.0 - share, 1.0 - probability);
    libm::exp(-(told as f64) * divergence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(order: &str) -> Vec<Run> {
        let at = |i: usize| {
            let end = i as u64 * 10 + 10;
            Visit { start: end - 10, end, last: end }
        };
        let context = |byte: u8| ContextIdx::new(u32::from(byte - b'a') + 1);
        order.bytes().enumerate().map(|(i, b)| Run { context: context(b), visit: at(i) }).collect()
    }

    fn cut(order: &str) -> Option<Words> {
        let runs = of(order);
        words(&runs, ContextIdx::new(1), &Shares::new(&runs))
    }

    #[test]
    fn the_same_word_again_and_again_is_no_chance() {
        let found = cut(&"abcd".repeat(8)).unwrap();
        assert_eq!((found.starts.len(), found.same_share), (8, 1.0));
        assert_eq!(found.nanos, 7 * 40);
        // Five words foretold, four runs of each, each one of the three others.
        assert!((libm::log(found.chance) / libm::log(1.0 / 3.0) - 20.0).abs() < 1e-6);
    }

    #[test]
    fn two_contexts_always_take_turns() {
        assert_eq!(cut(&"ab".repeat(40)), None);
        let runs = of(&"ab".repeat(40));
        assert_eq!(Shares::new(&runs).follows(ContextIdx::new(2), ContextIdx::new(1)), 1.0);
    }

    #[test]
    fn an_order_without_rule_is_nothing_strange() {
        let found = cut("abcadbacdbacbdabdcadbcabcdacdbadcb").unwrap();
        assert!(found.chance > 0.05, "{found:?}");
    }

    #[test]
    fn a_frequent_context_follows_often() {
        // a is drawn half of the time, the others a sixth each.
        let shares: f64 = 0.5 * 0.5 + 3.0 * (1.0 / 6.0) * (5.0 / 6.0);
        let num = |q: f64| (q * (1.0 - q) / shares * 3000.0).round() as usize;
        let mut runs = Vec::new();
        for (name, q) in [("a", 0.5), ("b", 1.0 / 6.0), ("c", 1.0 / 6.0), ("d", 1.0 / 6.0)] {
            runs.extend(of(&name.repeat(num(q))));
        }
        let found = Shares::new(&runs);
        let (a, b) = (ContextIdx::new(1), ContextIdx::new(2));
        assert!((found.follows(a, b) - 0.6).abs() < 0.01, "{}", found.follows(a, b));
        assert!((found.follows(b, a) - 1.0 / 3.0).abs() < 0.01);
    }
}
