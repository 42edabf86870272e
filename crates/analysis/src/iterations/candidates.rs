//! The ways in which each context may mark iterations: by distances on each track, by distances on all
//! tracks together, and by the order in which contexts come.

use std::borrow::Cow;
use std::collections::BTreeMap;

use parallax_base::{ContextIdx, threads};
use parallax_model::ContextTree;

use super::boundaries::{nearest, pooled};
use super::chains::Chains;
use super::detect::{LEAST_ITERATIONS, LEAST_SHARE, MOSTLY_SAME, Method, POOLED, WHOLE};
use super::limits::step;
use super::order::{Shares, Words, beside, runs, words};
use super::spacing::{
    Content, Origin, Spacing, at_once, chance, gap_levels, occurrences, one_after_the_other,
    spacing, telling,
};
use super::visits::{ByContext, Visit};

/// A track agrees when so many of its spacings are regular.
const LEAST_REGULAR: f64 = 0.5;
/// All tracks together are in a marker for at most this part of the time, or it marks nothing.
const MOST_OCCUPIED: f64 = 0.6;
/// At most this many locations are examined for the order of contexts, spread evenly over those
/// that are examined to find the marker.
pub(super) const MOST_ORDER_LOCATIONS: usize = 8;
/// So many visits are put in order for each visit there is, and
const ORDERED_EACH: u64 = 32;
/// so many more.
const ORDERED: u64 = 64 << 20;

#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) context: ContextIdx,
    pub(super) gap_nanos: u64,
    pub(super) count: usize,
    pub(super) period_nanos: f64,
    pub(super) regular_share: f64,
    pub(super) coverage: f64,
    pub(super) agreement: f64,
    /// How it was found.
    pub(super) method: Method,
    /// Whether the number may be off. Of iterations with regular distances it is not where each is
    /// one call.
    pub(super) is_estimate: bool,
    /// Whether it is on streams, whose contexts are all above kernels.
    pub(super) is_stream: bool,
    pub(super) chance: f64,
    /// How many pieces one occurrence was joined from.
    pub(super) pieces: f64,
    /// When the first iteration begins, as a median over tracks.
    pub(super) first_nanos: f64,
}

impl Candidate {
    /// How well it repeats.
    pub(super) fn regularity(&self) -> f64 {
        let own = if self.method.is_pooled() { POOLED } else { self.agreement };
        self.coverage * self.regular_share * own
    }

    /// How well it repeats as it is, without joining pieces.
    pub(super) fn score(&self) -> f64 {
        let whole = if self.pieces > WHOLE { 0.5 } else { 1.0 };
        self.regularity() * whole
    }
}

/// Ways in which a program may repeat.
#[derive(Default)]
pub(super) struct SearchResult {
    pub(super) candidates: Vec<Candidate>,
    /// All that were examined, by what distinguishes them: how many occurrences there are on the
    /// first track, and when the first begins and the last ends.
    pub(super) tries: Vec<(usize, u64, u64)>,
}

impl SearchResult {
    pub(super) fn append(&mut self, mut other: Self) {
        self.candidates.append(&mut other.candidates);
        self.tries.append(&mut other.tries);
    }

    fn note(&mut self, occurrences: &[Visit]) {
        if let (Some(first), Some(last)) = (occurrences.first(), occurrences.last())
            && occurrences.len() >= LEAST_ITERATIONS
        {
            self.tries.push((occurrences.len(), first.start, last.end));
        }
    }
}

/// The ways in which the visits of one context may be iterations.
pub(super) fn of_context(
    chains: &Chains,
    context: ContextIdx,
    tracks: &[ByContext],
    active_nanos: u64,
    origin: Origin,
) -> SearchResult {
    let lists: Vec<(usize, &ByContext, &[Visit])> = tracks
        .iter()
        .enumerate()
        .filter_map(|(nth, track)| track.get(&context).map(|list| (nth, track, list.as_slice())))
        .collect();
    let visits: Vec<&[Visit]> = lists.iter().map(|(_, _, list)| *list).collect();
    let mut out = SearchResult::default();
    // Three distances are the fewest that are alike.
    if visits.iter().all(|list| list.len() < 3) {
        return out;
    }
    let kept: Vec<Cow<'_, [Visit]>> = visits.iter().map(|list| telling(list, origin)).collect();
    let told: Vec<&[Visit]> = kept.iter().map(|list| &**list).collect();
    let num_pieces: Vec<usize> =
        visits.iter().map(|list| super::spacing::drop_short(list).len()).collect();
    for mut gap_nanos in gap_levels(&told) {
        let level_nanos = gap_nanos;
        let at_once = match origin {
            Origin::Exact => at_once(&told, gap_nanos, origin),
            Origin::Samples | Origin::Pooled => 0,
        };
        let mut spacings: Vec<(Spacing, f64)> = Vec::new();
        let mut chances: Vec<f64> = Vec::new();
        let mut is_each_a_call = origin == Origin::Exact;
        let each = lists.iter().zip(&told).zip(&num_pieces).enumerate();
        for (nth, (((place, track, list), told), pieces)) in each {
            let mut found = occurrences(told, level_nanos, origin);
            if origin == Origin::Exact {
                let parts = || chains.parts(*place, track, context);
                let content = || content(&parts(), track, &found);
                if let Some(together) = one_after_the_other(&found, at_once, content) {
                    found = together;
                    gap_nanos = gap_nanos.max(at_once);
                }
            }
            if nth == 0 {
                out.note(&found);
            }
            let regular = spacing(&found, origin)
                .filter(|s| s.regular_share >= LEAST_REGULAR && s.period_nanos > 0.0);
            if let Some(regular) = regular {
                is_each_a_call &= found.len() == list.len();
                let pieces = *pieces as f64 / regular.starts.len() as f64;
                spacings.push((regular, pieces));
                chances.push(chance_of(&found));
            }
        }
        let counts: Vec<u64> = spacings.iter().map(|(s, _)| s.starts.len() as u64).collect();
        let Some(count) = super::spacing::median(&counts).map(|c| c.round() as usize) else {
            continue;
        };
        spacings.retain(|(s, _)| is_same(s.starts.len(), count));
        if count < 3 || spacings.is_empty() {
            continue;
        }
        let of = |value: &dyn Fn(&(Spacing, f64)) -> f64| -> Vec<f64> {
            let mut values: Vec<f64> = spacings.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        chances.sort_by(f64::total_cmp);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let middle = |values: &[f64]| values.get(values.len() / 2).copied().unwrap_or(0.0);
        let active = active_nanos.max(1) as f64;
        out.candidates.push(Candidate {
            context,
            gap_nanos,
            count,
            period_nanos: middle(&of(&|(s, _)| s.period_nanos)),
            regular_share: mean(&of(&|(s, _)| s.regular_share)),
            // The last iteration has no spacing, but is as long as the others.
            coverage: mean(&of(&|(s, _)| {
                ((s.regular_nanos as f64 + s.period_nanos) / active).min(1.0)
            })),
            agreement: spacings.len() as f64 / tracks.len() as f64,
            method: Method::Spacing,
            is_estimate: !is_each_a_call,
            is_stream: false,
            chance: middle(&chances),
            pieces: mean(&of(&|(_, pieces)| *pieces)),
            first_nanos: middle(&of(&|(s, _)| s.starts.first().copied().unwrap_or(0) as f64)),
        });
    }
    out
}

/// What most visits of a context consist of: which of the contexts that it may consist of.
fn content(parts: &[ContextIdx], track: &ByContext, visits: &[Visit]) -> Content {
    let mut contents: Vec<Vec<ContextIdx>> = vec![Vec::new(); visits.len()];
    for &part in parts {
        for inside in track.get(&part).into_iter().flatten() {
            let at = visits.partition_point(|visit| visit.end <= inside.start);
            if let Some(content) = contents.get_mut(at).filter(|c| c.last() != Some(&part)) {
                content.push(part);
            }
        }
    }
    let mut times: BTreeMap<&[ContextIdx], usize> = BTreeMap::new();
    for content in &contents {
        *times.entry(content).or_default() += 1;
    }
    let (parts, most) = times
        .iter()
        .max_by_key(|(_, times)| **times)
        .map_or((0, 0), |(parts, &times)| (parts.len(), times));
    match parts {
        _ if (most as f64) < MOSTLY_SAME * contents.len() as f64 => Content::Different,
        0 | 1 => Content::Single,
        _ => Content::Several,
    }
}

/// The ways in which the visits of one context may be iterations on all tracks together: ranks
/// that wait for each other begin iterations together, and what samples do not show on one of them
/// they show on another.
pub(super) fn of_all(context: ContextIdx, tracks: &[ByContext], active_nanos: u64) -> SearchResult {
    let lists: Vec<&[Visit]> =
        tracks.iter().filter_map(|track| track.get(&context).map(Vec::as_slice)).collect();
    let union = pooled(&lists);
    let occupied: u64 = union.iter().map(|visit| visit.nanos()).sum();
    let first = union.first().map_or(0, |visit| visit.start);
    let whole = union.last().map_or(0, |visit| visit.end).saturating_sub(first);
    if occupied as f64 > MOST_OCCUPIED * whole as f64 {
        return SearchResult::default();
    }
    let mut out = SearchResult::default();
    let told = telling(&union, Origin::Pooled);
    for gap_nanos in gap_levels(&[&told]) {
        let together = occurrences(&told, gap_nanos, Origin::Pooled);
        out.note(&together);
        let regular = spacing(&together, Origin::Pooled)
            .filter(|s| s.regular_share >= LEAST_REGULAR && s.period_nanos > 0.0);
        let Some(found) = regular else { continue };
        let seen = |list: &&[Visit]| {
            let starts: Vec<u64> = list.iter().map(|visit| visit.start).collect();
            let hits = nearest(&found.starts, &starts, found.period_nanos).0;
            hits.iter().flatten().count() as f64 / found.starts.len() as f64
        };
        let active = active_nanos.max(1) as f64;
        let pieces = told.len() as f64;
        out.candidates.push(Candidate {
            context,
            gap_nanos,
            count: found.starts.len(),
            period_nanos: found.period_nanos,
            regular_share: found.regular_share,
            coverage: ((found.regular_nanos as f64 + found.period_nanos) / active).min(1.0),
            agreement: lists.iter().map(seen).sum::<f64>() / tracks.len() as f64,
            method: Method::Pooled,
            is_estimate: false,
            is_stream: false,
            chance: chance_of(&together),
            pieces: pieces / found.starts.len() as f64,
            first_nanos: found.starts.first().copied().unwrap_or(0) as f64,
        });
    }
    out
}

/// The ways in which contexts that come in the same order again and again may be iterations, for the
/// children of every context that calls or holds several.
pub(super) fn of_order(
    tree: &ContextTree,
    tracks: &[ByContext],
    wanted: &[bool],
    inclusive: &[u128],
    active_nanos: u64,
    origin: Origin,
) -> (SearchResult, Option<String>) {
    let total = inclusive.first().copied().unwrap_or(0) as f64;
    let is_wanted = |context: &ContextIdx| wanted.get(context.idx()) == Some(&true);
    let takes_part = |context: ContextIdx| {
        let time = inclusive.get(context.idx()).copied().unwrap_or(0) as f64;
        is_wanted(&context) && time >= LEAST_SHARE * total
    };
    let mut parents: Vec<ContextIdx> = tree
        .iter()
        .filter(|&parent| tree.children(parent).filter(|&child| takes_part(child)).count() > 1)
        .collect();
    let step = step(tracks.len(), MOST_ORDER_LOCATIONS);
    let looked_at: Vec<&ByContext> = tracks.iter().step_by(step).collect();
    let what = "The order of contexts was examined";
    let limit = keep_affordable(&mut parents, what, tree, &looked_at, inclusive, takes_part);
    let found = threads::map(parents, |parent| {
        let mut contexts = beside(tree, parent);
        contexts.retain(is_wanted);
        let of_track = |track: &&ByContext| {
            let runs = runs(track, &contexts, origin);
            let shares = Shares::new(&runs);
            (runs, shares)
        };
        let sequences: Vec<_> = looked_at.iter().map(of_track).collect();
        let mut out = SearchResult::default();
        for context in tree.children(parent).filter(|&child| takes_part(child)) {
            let cut: Vec<Words> = sequences
                .iter()
                .filter_map(|(runs, shares)| words(runs, context, shares))
                .filter(|words| words.starts.len() >= LEAST_ITERATIONS)
                .collect();
            if let Some((first, last)) =
                cut.first().and_then(|w| w.starts.first().zip(w.starts.last()))
            {
                out.tries.push((0, *first, *last));
            }
            out.candidates.extend(in_order(context, cut, looked_at.len(), active_nanos));
        }
        out
    });
    let mut out = SearchResult::default();
    found.into_iter().for_each(|found| out.append(found));
    (out, limit)
}

/// Keeps the parents whose children can be put in order with bounded work, those with most time
/// first, in the order of the tree; and what was not examined. Where calls are nested deeply, each
/// level may be a loop, and all that lies around it is put in order.
pub(super) fn keep_affordable(
    parents: &mut Vec<ContextIdx>,
    what: &str,
    tree: &ContextTree,
    tracks: &[&ByContext],
    inclusive: &[u128],
    takes_part: impl Fn(ContextIdx) -> bool,
) -> Option<String> {
    let num_parents = parents.len();
    let (work, all) = work_in_order(tree, tracks);
    let most = ORDERED + ORDERED_EACH * all;
    parents.sort_by_key(|parent| {
        let time = inclusive.get(parent.idx()).copied().unwrap_or(0);
        (std::cmp::Reverse(time), *parent)
    });
    let mut sum = 0_u64;
    parents.retain(|parent| {
        // Each of the children goes through them once.
        let times = tree.children(*parent).filter(|&child| takes_part(child)).count() as u64;
        let work = work.get(parent.idx()).copied().unwrap_or(0);
        sum = sum.saturating_add(work.saturating_mul(times));
        sum <= most
    });
    parents.sort_unstable();
    (parents.len() < num_parents).then(|| {
        format!(
            "{what} below {} of {num_parents} contexts, those with the largest time.",
            parents.len()
        )
    })
}

/// By position in the tree, how many visits are put in order to see what comes below a context,
/// plus the number of contexts; and how many visits there are.
fn work_in_order(tree: &ContextTree, tracks: &[&ByContext]) -> (Vec<u64>, u64) {
    let mut own = vec![0_u64; tree.len()];
    for (context, list) in tracks.iter().flat_map(|track| track.iter()) {
        if let Some(slot) = own.get_mut(context.idx()) {
            *slot += list.len() as u64;
        }
    }
    let all = own.iter().sum();
    let of = |list: &[u64], context: ContextIdx| list.get(context.idx()).copied().unwrap_or(0);
    let mut below = vec![0_u64; tree.len()];
    for context in tree.iter().skip(1) {
        let visits = of(&own, context) + 1;
        if let Some(slot) = tree.parent(context).and_then(|above| below.get_mut(above.idx())) {
            *slot += visits;
        }
    }
    let mut out = vec![0_u64; tree.len()];
    for context in tree.iter() {
        let beside = tree
            .parent(context)
            .map_or(0, |above| of(&out, above).saturating_sub(of(&own, context)));
        let work = of(&below, context).saturating_add(beside);
        if let Some(slot) = out.get_mut(context.idx()) {
            *slot = work;
        }
    }
    (out, all)
}

/// What the tracks that agree on the number of words say together.
fn in_order(
    context: ContextIdx,
    mut cut: Vec<Words>,
    num_tracks: usize,
    active_nanos: u64,
) -> Option<Candidate> {
    let counts: Vec<u64> = cut.iter().map(|words| words.starts.len() as u64).collect();
    let count = super::spacing::median(&counts)?.round() as usize;
    cut.retain(|words| is_same(words.starts.len(), count));
    let of = |value: &dyn Fn(&Words) -> f64| -> Vec<f64> {
        let mut values: Vec<f64> = cut.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let middle = |values: &[f64]| values.get(values.len() / 2).copied();
    let period = |words: &Words| {
        super::spacing::median(&super::spacing::differences(&words.starts)).unwrap_or(0.0)
    };
    let active = active_nanos.max(1) as f64;
    Some(Candidate {
        context,
        gap_nanos: 0,
        count,
        period_nanos: middle(&of(&period))?,
        regular_share: mean(&of(&|words| words.same_share)),
        // The last iteration ends with the loop, but is as long as the others.
        coverage: mean(&of(&|words| ((words.nanos as f64 + period(words)) / active).min(1.0))),
        agreement: cut.len() as f64 / num_tracks.max(1) as f64,
        method: Method::Order,
        is_estimate: false,
        is_stream: false,
        chance: middle(&of(&|words| words.chance))?,
        pieces: 1.0,
        first_nanos: middle(&of(&|words| words.starts.first().copied().unwrap_or(0) as f64))?,
    })
}

/// How likely occurrences at random are as regular. Those that are dropped or filled in count, or
/// what is left would look more regular than it is.
fn chance_of(occurrences: &[Visit]) -> f64 {
    chance(&occurrences.iter().map(|visit| visit.start).collect::<Vec<u64>>())
}

/// Whether two numbers of iterations are the same but for noise.
pub(super) fn is_same(a: usize, b: usize) -> bool {
    a.abs_diff(b) as f64 <= (0.05 * a.max(b) as f64).max(1.0) && a.abs_diff(b) < a.min(b)
}
