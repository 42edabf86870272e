//! Which context marks the iterations of a program.
//!
//! Every context that takes a noticeable part of the time is a candidate: its visits on each
//! track may be where iterations begin. Candidates are judged by how much of the time their regular
//! spacings cover, how regular these are, and how far locations agree; those with the same number
//! of iterations support each other. See `docs/iterations.md` for the definitions.

use std::collections::{BTreeMap, BTreeSet};

use parallax_base::quantity::quantity;
use parallax_base::{ContextIdx, Control, TimeWindow, TrackIdx, threads};
use parallax_engine::{EngineError, Session};
use parallax_model::{ContextKind, ContextTree, PREEMPTED, Relation, TraceKind};

use super::Location;
use super::candidates::{
    Candidate, MOST_ORDER_LOCATIONS, SearchResult, is_same, of_all, of_context, of_order,
};
use super::chains::{Chains, Homes};
use super::limits::{keep_best, spread};
use super::spacing::Origin;
use super::steps::of_steps;
use super::visits::{ByContext, Collected, Wanted, collect};

/// At most this many locations are examined to find the marker: the busiest of each of as many
/// parts of the list.
const MOST_LOCATIONS: usize = 48;
/// As many are examined however long their traces are.
const FEWEST_LOCATIONS: usize = 4;
/// About so many samples or calls are read to find the marker. Of longer traces fewer locations are
/// examined, and then the middle part of the window only.
const MOST_RECORDS: u64 = 8 << 20;
/// So many other periods are listed next to the chosen one.
const MOST_OTHERS: usize = 4;
/// So many visits are kept to find the marker, 24 bytes each.
const MOST_VISITS: usize = 11 << 20;
/// Candidates take at least this share of the time.
pub(super) const LEAST_SHARE: f64 = 0.005;
/// Iterations may begin with a context that takes this share of the time.
const LEAST_MARKER_SHARE: f64 = 0.0002;
/// At least so many iterations are asked for.
pub(super) const LEAST_ITERATIONS: usize = 4;
/// So many of the tracks agree.
const LEAST_AGREEMENT: f64 = 0.6;
/// Where so many agree, what each shows alone is certain.
const SURE_AGREEMENT: f64 = 0.9;
/// So many of the iterations that all tracks show together are seen on a track alone.
const LEAST_SEEN: f64 = 0.2;
/// Samples that are this part of a period apart, or less, show iterations on one track.
const INTERVALS: f64 = 5.0;
/// The same where all tracks together show them.
const POOLED_INTERVALS: f64 = 3.0;
/// A context with more of the time than this is the program, not a phase; but streams of GPUs are
/// idle between kernels.
const WHOLE_PROGRAM: f64 = 0.97;
/// How good a finer repetition inside of the same loop has to be, compared with the best.
const FINER: f64 = 0.3;
/// A finer repetition is at least so many times as frequent.
const FINER_TIMES: f64 = 3.0;
/// The same on streams, where a tree distinguishes no loops.
const FINER_KERNELS: f64 = 0.8;
/// Share of spacings that are regular, all in all.
const MOSTLY_REGULAR: f64 = 0.72;
/// The same where times are exact: then the number of iterations is, too.
const MOSTLY_REGULAR_EXACT: f64 = 0.55;
/// Where fewer distances are regular, the number of iterations may be off.
const SURELY_REGULAR: f64 = 0.9;
/// How good all in all.
const LEAST_SCORE: f64 = 0.1;
/// What a repetition counts that is seen on all tracks together only.
pub(super) const POOLED: f64 = 0.8;
/// Iterations cover so much of the time.
pub(super) const LEAST_COVERAGE: f64 = 0.2;
/// The same where order speaks for them: short runs start up for longer than they compute.
const LEAST_COVERAGE_IN_ORDER: f64 = 0.1;
/// Anything in a program without iterations looks as regular at most so often.
const MOST_CHANCE: f64 = 2e-3;
/// Share of the words that are the same, where order alone speaks for iterations.
pub(super) const MOSTLY_SAME: f64 = 0.72;
/// The same of what locations do in step: that they pass moments together is evidence, too.
const MOST_CHANCE_IN_STEP: f64 = 1e-2;
/// Contexts that repeat as often take this share of the time of the iterations.
const LEAST_EXPLAINED: f64 = 0.35;
/// An outer loop is preferred to an inner one when it explains nearly as much.
const OUTER: f64 = 0.8;
/// Visits that were joined from more pieces than this are weaker evidence.
pub(super) const WHOLE: f64 = 1.5;

/// How iterations were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// By regular distances of the visits of a context on each track alone.
    Spacing,
    /// By regular distances on all tracks together.
    Pooled,
    /// By the moments that all tracks pass together, once in an iteration.
    InStep,
    /// By the order of contexts: distances differ.
    Order,
}

impl Method {
    /// Whether all tracks together show the iterations, because samples are too far apart to show
    /// each one on each track.
    #[must_use]
    pub const fn is_pooled(self) -> bool {
        matches!(self, Self::Pooled | Self::InStep)
    }
}

/// A way in which a program repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct Repetition {
    /// The context with which iterations begin.
    pub marker: ContextIdx,
    /// Its visits belong together when at most this lies between them, in nanoseconds.
    pub gap_nanos: u64,
    /// How many iterations there are, those without their marker included: the median over tracks.
    pub count: usize,
    /// The median over tracks of the median spacing, in nanoseconds.
    pub period_nanos: f64,
    /// Share of the spacings that are regular: within a factor of 1.5 of the median. Mean over the
    /// tracks that agree.
    pub regular_share: f64,
    /// Share of the time, from the first to the last activity of the tracks, that regular spacings
    /// cover. Mean over the tracks that agree.
    pub coverage: f64,
    /// Share of the tracks examined that have this many iterations, give or take 5 %. Where
    /// iterations were found on all tracks together: share of them that a track alone shows.
    pub agreement: f64,
    /// How it was found. Where by [`Method::Order`], `regular_share` is the share of iterations that
    /// consist of the same contexts in the same order, and `coverage` the time of all iterations.
    pub method: Method,
    /// Whether the number of iterations may be off: distances of which fewer than 90 % are regular
    /// where an iteration is not one call, or moments that all tracks pass together of which some may not be seen on any.
    pub is_estimate: bool,
    /// How likely anything that was tried looks as regular in a program without iterations: the
    /// median over tracks, of the distances or of the order, times the number of tries.
    pub chance: f64,
    /// Share of the time of the iterations that is in contexts that repeat as often. Iterations that
    /// all tracks show together are explained by half of the loop around their marker, at least.
    pub explained: f64,
    /// How many contexts repeat as often.
    pub num_contexts: usize,
    /// Whether one of them computes: is not a routine of MPI.
    pub computes: bool,
}

impl Repetition {
    /// From 0 to 1: how well it explains the time.
    #[must_use]
    pub fn score(&self) -> f64 {
        let own = if self.method.is_pooled() { POOLED } else { self.agreement };
        self.coverage * self.regular_share * own * self.explained
    }
}

/// What was found on the tracks of one kind.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Detected {
    /// The one to use; `None` when there is none.
    pub(super) best: Option<Repetition>,
    /// Other ways in which the program repeats, best first.
    pub(super) others: Vec<Repetition>,
    /// Why there is none, human-readable.
    pub(super) why_not: Option<String>,
    /// What was not examined, in sentences for users.
    pub(super) limits: Vec<String>,
}

const fn least_agreement(repetition: &Repetition) -> f64 {
    if repetition.method.is_pooled() { LEAST_SEEN } else { LEAST_AGREEMENT }
}

/// Where the marker is looked for.
struct LookedAt<'a> {
    locations: Vec<&'a Location>,
    window: TimeWindow,
}

/// The locations and the part of the window that are examined: no more than can be read.
fn looked_at<'a>(
    session: &Session,
    all: &'a [Location],
    window: TimeWindow,
) -> Result<LookedAt<'a>, EngineError> {
    let store = session.traces()?;
    let len = |track: &TrackIdx| store.track(*track).map_or(0, |t| t.num_samples);
    let records = |location: &Location| location.tracks.iter().map(len).sum::<u64>();
    // Windows have about their share of the records.
    let share = window.nanos() as f64 / super::whole(store).nanos().max(1) as f64;
    let inside = |records: u64| records as f64 * share;
    let mean = inside(all.iter().map(records).sum::<u64>()) / all.len().max(1) as f64;
    let affordable = (MOST_RECORDS as f64 / mean.max(1.0)) as usize;
    let most = all.len().min(MOST_LOCATIONS).min(affordable.max(FEWEST_LOCATIONS)).max(1);
    let busiest = |part: usize| {
        let part = part * all.len() / most..(part + 1) * all.len() / most;
        let part = all.get(part).unwrap_or_default();
        // The first of several that are as busy.
        part.iter().rev().max_by_key(|location| location.active_nanos)
    };
    let locations: Vec<&Location> = (0..most).filter_map(busiest).collect();
    let wanted = inside(locations.iter().map(|location| records(location)).sum());
    let mut part = window;
    if wanted > MOST_RECORDS as f64 {
        let nanos = (window.nanos() as f64 * MOST_RECORDS as f64 / wanted) as u64;
        let start = window.start_nanos + (window.nanos() - nanos) / 2;
        part = TimeWindow::new(start, start + nanos);
    }
    Ok(LookedAt { locations, window: part })
}

/// What was not examined.
fn limits(looked_at: &LookedAt, num_locations: usize, window: TimeWindow) -> Vec<String> {
    let mut out = Vec::new();
    let num = looked_at.locations.len();
    if num < num_locations {
        out.push(format!(
            "The marker of iterations was detected on {num} of the {num_locations} locations, the \
             busiest of equal parts of the list."
        ));
    }
    let share = looked_at.window.nanos() as f64 / window.nanos().max(1) as f64;
    if share < 1.0 {
        out.push(format!(
            "The marker of iterations was detected in {:.2} % of the window, because there are \
             many records; the evidence is for that part.",
            share * 100.0
        ));
    }
    out
}

/// Time by position in the tree, with what each context calls, over some tracks.
pub(super) fn inclusive(
    session: &Session,
    tracks: impl Iterator<Item = TrackIdx>,
    window: TimeWindow,
) -> Result<Vec<u128>, EngineError> {
    let store = session.traces()?;
    let tree = session.tree();
    let idle = super::visits::idle_contexts(tree);
    let mut nanos = vec![0_u128; tree.len()];
    for track in tracks {
        store.sums(track, window, &mut |time| {
            let context = tree.by_source_id(time.context).map(ContextIdx::idx);
            let context = context.filter(|&at| idle.get(at) == Some(&false));
            if let Some(slot) = context.and_then(|at| nanos.get_mut(at)) {
                *slot += u128::from(time.nanos);
            }
        })?;
    }
    add_up(tree, &mut nanos);
    Ok(nanos)
}

/// Turns time in contexts alone into time in them and in what they call.
pub(super) fn add_up(tree: &ContextTree, nanos: &mut [u128]) {
    // Parents lie before their children.
    for context in tree.iter().rev() {
        let own = nanos.get(context.idx()).copied().unwrap_or(0);
        let above = tree.parent(context).and_then(|parent| nanos.get_mut(parent.idx()));
        if let Some(above) = above {
            *above += own;
        }
    }
}

/// Contexts that may mark iterations: those with some time that are not inside of MPI. Where the
/// operating system takes the processor away from a thread is nothing that the program repeats.
fn wanted(tree: &ContextTree, inclusive: &[u128], is_exact: bool) -> Vec<bool> {
    let total = inclusive.first().copied().unwrap_or(0) as f64;
    let is_mpi: Vec<bool> =
        tree.functions().iter().map(|f| crate::mpi_routine(&f.name).is_some()).collect();
    let is_preempted: Vec<bool> = tree.functions().iter().map(|f| &*f.name == PREEMPTED).collect();
    let mut within_mpi = vec![false; tree.len()];
    let mut out = vec![false; tree.len()];
    for context in tree.iter().skip(1) {
        let above = tree.parent(context).map_or(0, ContextIdx::idx);
        let is_below = within_mpi.get(above) == Some(&true);
        let is_routine = tree.function(context).is_some_and(|f| is_mpi.get(f.idx()) == Some(&true))
            && tree.relation(context) != Relation::Lexical;
        if let Some(slot) = within_mpi.get_mut(context.idx()) {
            *slot = is_below || is_routine;
        }
        let time = inclusive.get(context.idx()).copied().unwrap_or(0) as f64;
        if let Some(slot) = out.get_mut(context.idx()) {
            let is_own =
                tree.function(context).is_none_or(|f| is_preempted.get(f.idx()) != Some(&true));
            let is_phase = is_own && (is_exact || time < WHOLE_PROGRAM * total);
            *slot = !is_below && is_phase && time > 0.0 && time >= LEAST_MARKER_SHARE * total;
        }
    }
    out
}

/// Finds how the locations of one kind repeat inside of a window. `interval_nanos` says how far
/// their samples are apart, `None` that times are exact.
pub(super) fn detect(
    session: &Session,
    all: &[Location],
    whole: TimeWindow,
    interval_nanos: Option<u64>,
    control: &Control,
) -> Result<Detected, EngineError> {
    let tree = session.tree();
    let mut looked_at = looked_at(session, all, whole)?;
    let window = looked_at.window;
    let tracks = looked_at.locations.iter().flat_map(|location| location.tracks.iter().copied());
    let inclusive = inclusive(session, tracks, window)?;
    let is_wanted = wanted(tree, &inclusive, interval_nanos.is_none());
    let wanted = Wanted::new(tree, &is_wanted);
    control.begin(looked_at.locations.len() as u64);
    let most = MOST_VISITS / looked_at.locations.len().max(1);
    let parts = threads::map(looked_at.locations.clone(), |location| {
        let found = collect(session, &location.tracks, window, &wanted, most)?;
        control.advance(1)?;
        Ok::<_, EngineError>(found)
    });
    let parts = parts.into_iter().collect::<Result<Vec<Collected>, _>>()?;
    // Where one location has too many visits, the time from then on counts nowhere.
    if let Some(until) = parts.iter().filter_map(|part| part.full_until).min() {
        looked_at.window.end_nanos = until.max(window.start_nanos);
    }
    let end = looked_at.window.end_nanos;
    let tracks: Vec<ByContext> = parts
        .into_iter()
        .map(|part| {
            let mut by_context = part.by_context;
            if end < window.end_nanos {
                by_context.values_mut().for_each(|list| list.retain(|s| s.start < end));
                by_context.retain(|_, list| !list.is_empty());
            }
            by_context
        })
        .collect();
    let visits = || tracks.iter().flat_map(|track| track.values().flatten());
    let first = visits().map(|s| s.start).min().unwrap_or(0);
    let last = visits().map(|s| s.end).max().unwrap_or(0);
    let active = last.saturating_sub(first);
    let chains = Chains::new(tree, &tracks);
    let origin = if interval_nanos.is_some() { Origin::Samples } else { Origin::Exact };
    let own: Vec<ContextIdx> = tree
        .iter()
        .filter(|context| is_wanted.get(context.idx()) == Some(&true))
        .filter(|&context| chains.representative(context) == context)
        .collect();
    let found = threads::map(own, |context| {
        let mut found = of_context(&chains, context, &tracks, active, origin);
        if interval_nanos.is_some() && tracks.len() > 1 {
            found.append(of_all(context, &tracks, active));
        }
        found
    });
    let mut tried = SearchResult::default();
    found.into_iter().for_each(|found| tried.append(found));
    let mut ranges: BTreeMap<ContextIdx, std::ops::Range<usize>> = BTreeMap::new();
    for (at, candidate) in tried.candidates.iter().enumerate() {
        ranges.entry(candidate.context).or_insert(at..at).end = at + 1;
    }
    for (context, representative) in chains.represented() {
        let like = ranges.get(&representative).cloned().unwrap_or_default();
        let same = tried.candidates.get(like).unwrap_or_default().iter();
        let more: Vec<Candidate> = same.map(|c| Candidate { context, ..c.clone() }).collect();
        tried.candidates.extend(more);
    }
    let ordered = of_order(tree, &tracks, &is_wanted, &inclusive, active, origin);
    let mut limits = limits(&looked_at, all.len(), whole);
    limits.extend(ordered.1);
    tried.append(ordered.0);
    if interval_nanos.is_some() && tracks.len() > 1 {
        let in_step = of_steps(tree, &tracks, &is_wanted, &inclusive, active);
        limits.extend(in_step.1);
        tried.append(in_step.0);
    }
    let SearchResult { mut candidates, mut tries } = tried;
    // A context and the only one that it calls are one try.
    tries.sort_unstable();
    tries.dedup();
    let mut too_short = None;
    if let Some(interval) = interval_nanos {
        let is_long = |candidate: &Candidate| {
            let least = match candidate.method {
                Method::Pooled => POOLED_INTERVALS,
                Method::Spacing | Method::InStep | Method::Order => INTERVALS,
            };
            candidate.period_nanos >= least * interval as f64
        };
        too_short = too_short_of(candidates.iter().filter(|candidate| !is_long(candidate)));
        let too_short = too_short.as_ref().map(|c: &Candidate| c.context);
        // Where a phase is too short to be counted, what is counted of its neighbours is as wrong.
        let parent = too_short.and_then(|context| tree.parent(context));
        candidates.retain(|candidate| {
            is_long(candidate)
                && !(candidate.method == Method::InStep
                    && parent.is_some()
                    && tree.parent(candidate.context) == parent)
        });
    }
    let is_calls = session.traces()?.kind() == TraceKind::Calls;
    for candidate in &mut candidates {
        candidate.is_stream = interval_nanos.is_none() && !is_calls;
    }
    let total = inclusive.first().copied().unwrap_or(0) as f64;
    let share = |c: &Candidate| inclusive.get(c.context.idx()).copied().unwrap_or(0) as f64 / total;
    let (main, small) = candidates.into_iter().partition(|c| share(c) >= LEAST_SHARE);
    let num_tries = tries.len().max(1);
    let homes = Homes::new(tree);
    let inclusive = &inclusive;
    let about = About { tree, homes, inclusive, is_calls, interval_nanos, small, num_tries };
    let mut chosen = choose(&about, main);
    if let (Some(candidate), Some(interval), Some(_)) = (too_short, interval_nanos, &chosen.why_not)
    {
        chosen.why_not = Some(format!(
            "{} occurs at least {} times, about every {}; that is too often for samples every {}",
            tree.label(candidate.context),
            candidate.count,
            milliseconds(candidate.period_nanos),
            milliseconds(interval as f64),
        ));
    }
    if chosen.best.as_ref().is_some_and(|best| best.method == Method::Order) {
        let what = "The order of contexts was examined";
        limits.extend(spread(what, tracks.len(), MOST_ORDER_LOCATIONS));
    }
    limits.extend(chosen.limits);
    Ok(Detected { best: chosen.best, others: chosen.others, why_not: chosen.why_not, limits })
}

/// What candidates are judged with.
struct About<'a> {
    tree: &'a ContextTree,
    homes: Homes,
    /// Time by position in the tree.
    inclusive: &'a [u128],
    is_calls: bool,
    interval_nanos: Option<u64>,
    /// Contexts with too little time to say that there are iterations; these may begin with one.
    small: Vec<Candidate>,
    /// How many ways to repeat were tried.
    num_tries: usize,
}

fn choose(about: &About, mut candidates: Vec<Candidate>) -> Detected {
    let tree = about.tree;
    candidates.sort_by(|a, b| b.score().total_cmp(&a.score()).then(a.context.cmp(&b.context)));
    let (ordered, spaced): (Vec<&Candidate>, Vec<&Candidate>) =
        candidates.iter().partition(|candidate| candidate.method == Method::Order);
    let mut all = repetitions(about, &spaced, &ordered);
    let mut at = best_of(about, &all);
    // Where distances are not regular, the order alone may be.
    if at.is_none() {
        let more = repetitions(about, &ordered, &ordered);
        at = best_of(about, &more).map(|best| all.len() + best);
        all.extend(more);
    }
    let why_not = at.is_none().then(|| why_not(tree, likeliest(&all)));
    let best = at.map(|at| all.remove(at));
    all.retain(|r| {
        passes(about, r) && r.score() >= LEAST_SCORE * best.as_ref().map_or(0.0, Repetition::score)
    });
    let limits = keep_best(&mut all, MOST_OTHERS).into_iter().collect();
    Detected { best, others: all, why_not, limits }
}

/// Candidates with the same number of iterations together, best first. `ordered` are those whose
/// order is evidence, too.
fn repetitions(
    about: &About,
    candidates: &[&Candidate],
    ordered: &[&Candidate],
) -> Vec<Repetition> {
    let mut families: Vec<Vec<&Candidate>> = Vec::new();
    for &candidate in candidates {
        let family = families
            .iter_mut()
            .find(|family| family.first().is_some_and(|f| is_same(f.count, candidate.count)));
        match family {
            Some(family) => family.push(candidate),
            None => families.push(vec![candidate]),
        }
    }
    let mut all: Vec<Repetition> =
        families.iter().filter_map(|family| repetition(about, family, ordered)).collect();
    all.sort_by(|a, b| b.score().total_cmp(&a.score()).then(a.count.cmp(&b.count)));
    all
}

fn least_coverage(r: &Repetition) -> f64 {
    if r.method == Method::Order { LEAST_COVERAGE_IN_ORDER } else { LEAST_COVERAGE }
}

const fn most_chance(r: &Repetition) -> f64 {
    match r.method {
        Method::InStep => MOST_CHANCE_IN_STEP,
        Method::Spacing | Method::Pooled | Method::Order => MOST_CHANCE,
    }
}

/// Whether a repetition is good enough to be believed.
fn passes(about: &About, r: &Repetition) -> bool {
    let mostly_regular = match about.interval_nanos {
        _ if r.method == Method::Order => MOSTLY_SAME,
        Some(_) => MOSTLY_REGULAR,
        None => MOSTLY_REGULAR_EXACT,
    };
    r.count >= LEAST_ITERATIONS
        && r.agreement >= least_agreement(r)
        && r.coverage >= least_coverage(r)
        && r.regular_share >= mostly_regular
        && r.explained >= LEAST_EXPLAINED
        && r.chance <= most_chance(r)
}

/// The place of the repetition to use.
fn best_of(about: &About, all: &[Repetition]) -> Option<usize> {
    let passes = |r: &Repetition| passes(about, r);
    // Communication that comes in bursts repeats inside of what a program repeats; it is the
    // iteration only where nothing else is measured.
    let any_computes = all.iter().any(|r| passes(r) && r.computes && r.score() >= LEAST_SCORE);
    let may_be_best = |r: &Repetition| passes(r) && (r.computes || !any_computes);
    let at = all.iter().position(|r| may_be_best(r) && r.score() >= LEAST_SCORE)?;
    let is_stream = about.interval_nanos.is_none() && !about.is_calls;
    let finer = if is_stream { FINER_KERNELS } else { FINER };
    let at = in_the_same_loop(about, all, at, finer, may_be_best);
    Some(around(about, all, at, may_be_best))
}

/// Every tenth iteration that does something more makes groups of ten, and these repeat, too. But
/// what repeats oftener in the same loop, or in one around it, is the iteration.
fn in_the_same_loop(
    about: &About,
    all: &[Repetition],
    at: usize,
    least: f64,
    passes: impl Fn(&Repetition) -> bool,
) -> usize {
    let Some(coarse) = all.get(at) else { return at };
    let own = about.homes.of(coarse.marker);
    let is_finer = |r: &Repetition| {
        r.count as f64 >= FINER_TIMES * coarse.count as f64
            && r.score() >= least * coarse.score()
            && about.tree.is_within(own, about.homes.of(r.marker))
    };
    let mut finer = all.iter().enumerate().filter(|(_, r)| passes(r) && is_finer(r));
    finer.next().map_or(at, |(finer, _)| finer)
}

/// What repeats in a loop around this one and explains nearly as much is the iteration.
fn around(
    about: &About,
    all: &[Repetition],
    at: usize,
    passes: impl Fn(&Repetition) -> bool,
) -> usize {
    let Some(fine) = all.get(at) else { return at };
    let own = about.homes.of(fine.marker);
    let is_outer = |r: &Repetition| {
        let outer = about.homes.of(r.marker);
        1.5 * r.count as f64 <= fine.count as f64
            && r.score() >= OUTER * fine.score()
            && outer != own
            && about.tree.is_within(own, outer)
    };
    let outer = all.iter().enumerate().filter(|(_, r)| passes(r) && is_outer(r));
    outer.min_by_key(|(_, r)| r.count).map_or(at, |(outer, _)| outer)
}

/// What the candidates with the same number of iterations say together.
fn repetition(about: &About, family: &[&Candidate], ordered: &[&Candidate]) -> Option<Repetition> {
    let &About { tree, ref homes, inclusive, .. } = about;
    let leader = family.first()?;
    let strong: Vec<&&Candidate> =
        family.iter().filter(|c| c.score() >= 0.5 * leader.score()).collect();
    // The number that most of the time speaks for. Where locations alone do not show each
    // iteration, those in step count what is seen, and others take what is missing from distances.
    let is_alone = strong.iter().any(|c| {
        c.method == Method::Spacing
            && c.agreement >= SURE_AGREEMENT
            && c.regular_share >= SURELY_REGULAR
    });
    let is_in_step = !is_alone && strong.iter().any(|c| c.method == Method::InStep);
    let may_vote = |c: &&&&Candidate| (c.method == Method::InStep) == is_in_step;
    let mut votes: BTreeMap<usize, f64> = BTreeMap::new();
    for candidate in strong.iter().filter(may_vote) {
        let time = inclusive.get(candidate.context.idx()).copied().unwrap_or(0) as f64;
        *votes.entry(candidate.count).or_default() += time * candidate.regularity();
    }
    let (&count, _) = votes.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)))?;
    let good = || strong.iter().filter(may_vote).copied().copied().filter(|c| c.count == count);
    let best = good().map(Candidate::regularity).fold(0.0, f64::max);
    let own = good().next().map_or(ContextTree::ROOT, |c| homes.of(c.context));
    let small = about.small.iter().filter(|c| c.count == count && homes.of(c.context) == own);
    // Iterations begin with the first of the contexts that mark them well, and among equals with
    // the one nearest to the loop.
    let is_ordered = |c: &Candidate| c.method == Method::Order;
    let small = small.filter(|c| is_ordered(c) == is_ordered(leader));
    let marker = good().chain(small).filter(|c| c.regularity() >= 0.85 * best).min_by(|a, b| {
        let apart = about.interval_nanos.unwrap_or(1).max(1) as f64;
        let slot = |c: &Candidate| (c.first_nanos / apart).floor();
        let by_time = slot(a).total_cmp(&slot(b));
        let depth = |c: &Candidate| tree.depth(c.context);
        // Of the same context, each of whose visits is one, and not several put together.
        let by_depth = depth(a).cmp(&depth(b)).then(a.context.cmp(&b.context));
        by_time.then(by_depth).then(a.is_estimate.cmp(&b.is_estimate))
    })?;
    let total = inclusive.first().copied().unwrap_or(0).max(1) as f64;
    let mut contexts: Vec<(ContextIdx, bool)> =
        strong.iter().map(|c| (c.context, c.pieces <= WHOLE || about.is_calls)).collect();
    contexts.sort_unstable_by_key(|(context, is_whole)| (*context, !is_whole));
    contexts.dedup_by_key(|(context, _)| *context);
    // Time counts once, for the outermost context that repeats; half where it is in pieces.
    let (mut explained, mut covered) = (0.0, 0_usize);
    for &(context, is_whole) in &contexts {
        if context.idx() < covered {
            continue;
        }
        covered = tree.subtree(context).end;
        let time = inclusive.get(context.idx()).copied().unwrap_or(0) as f64 / total;
        explained += if is_whole { time } else { time / 2.0 };
    }
    if marker.method.is_pooled() {
        let around = inclusive.get(homes.of(marker.context).idx()).copied().unwrap_or(0);
        explained = f64::max(explained, 0.5 * around as f64 / total);
    }
    let order = ordered.iter().filter(|c| is_same(c.count, count)).map(|c| c.chance);
    // Each phase of a loop is another look at the same iterations, and is among the tries.
    let phases = good().filter(|c| c.method == Method::InStep).map(|c| c.chance);
    let chance = order.chain(phases).fold(marker.chance, f64::min);
    if marker.method == Method::Order {
        // All contexts of a word come as often as the word.
        explained = marker.coverage * marker.regular_share;
    }
    let is_estimate = match marker.method {
        Method::Order => false,
        Method::InStep => good().filter(|c| c.method == Method::InStep).all(|c| c.is_estimate),
        // Where each iteration is one call, distances that differ leave no doubt of the number.
        Method::Spacing => marker.is_estimate && marker.regular_share < SURELY_REGULAR,
        Method::Pooled => {
            marker.regular_share < SURELY_REGULAR
                || marker.agreement < LEAST_AGREEMENT
                || about
                    .interval_nanos
                    .is_some_and(|interval| marker.period_nanos < INTERVALS * interval as f64)
        }
    };
    Some(Repetition {
        marker: named(tree, inclusive, marker, &strong),
        gap_nanos: marker.gap_nanos,
        count,
        period_nanos: marker.period_nanos,
        regular_share: marker.regular_share,
        coverage: marker.coverage,
        agreement: marker.agreement,
        method: marker.method,
        is_estimate,
        chance: (chance * about.num_tries as f64).min(1.0),
        explained: (explained / marker.coverage.max(0.01)).min(1.0),
        num_contexts: contexts.len(),
        computes: contexts.iter().any(|&(context, _)| !is_mpi(tree, context)),
    })
}

/// Of iterations in step that are too short for the samples the ones with most time that are a
/// loop's.
fn too_short_of<'a>(candidates: impl Iterator<Item = &'a Candidate>) -> Option<Candidate> {
    let is_likely = |c: &&Candidate| {
        c.method == Method::InStep && c.regular_share >= 0.5 && c.coverage >= LEAST_COVERAGE
    };
    candidates.filter(is_likely).max_by(|a, b| a.score().total_cmp(&b.score())).cloned()
}

fn milliseconds(nanos: f64) -> String {
    quantity(nanos, "ns")
}

/// Whether a context is a routine of MPI.
fn is_mpi(tree: &ContextTree, context: ContextIdx) -> bool {
    tree.function_name(context).is_some_and(|name| crate::mpi_routine(name).is_some())
}

/// The context by which people know a marker: of several that are one call path without a branch,
/// the first that is a function, and of kernels the innermost.
fn named(
    tree: &ContextTree,
    inclusive: &[u128],
    marker: &Candidate,
    strong: &[&&Candidate],
) -> ContextIdx {
    let time = |context: ContextIdx| inclusive.get(context.idx()).copied().unwrap_or(0);
    let same: BTreeSet<ContextIdx> =
        strong.iter().filter(|c| c.count == marker.count).map(|c| c.context).collect();
    let mut context = marker.context;
    loop {
        let is_kernel = tree.function_name(context) == Some("<gpu kernel>");
        if tree.kind(context) == ContextKind::Function && !is_kernel && !marker.is_stream {
            return context;
        }
        let below = tree.children(context).find(|&child| {
            time(child) as f64 >= 0.95 * time(context) as f64 && same.contains(&child)
        });
        match below {
            Some(child) => context = child,
            None => return context,
        }
    }
}

/// The way to repeat that is told where none is good enough: what all locations pass together, in
/// several phases, or else the best one.
fn likeliest(all: &[Repetition]) -> Option<&Repetition> {
    let is_counted = |r: &&Repetition| {
        r.method == Method::InStep && !r.is_estimate && r.explained >= LEAST_EXPLAINED
    };
    let is_likely = |r: &&Repetition| r.method == Method::InStep && r.chance < 0.5;
    let counted = all.iter().filter(is_counted).max_by_key(|r| r.count);
    let likely = || all.iter().filter(is_likely).min_by(|a, b| a.chance.total_cmp(&b.chance));
    counted.or_else(likely).or_else(|| all.first())
}

/// Why the best of all ways to repeat is not good enough.
fn why_not(tree: &ContextTree, best: Option<&Repetition>) -> String {
    let Some(best) = best else {
        return "no context repeats at least three times at regular intervals".into();
    };
    let name = tree.label(best.marker);
    let (count, percent) = (best.count, |share: f64| (share * 100.0).round());
    if best.count < LEAST_ITERATIONS {
        format!("{name} occurs {count} times; at least {LEAST_ITERATIONS} are needed")
    } else if best.agreement < least_agreement(best) {
        format!(
            "{name} occurs {count} times on only {} % of the locations",
            percent(best.agreement)
        )
    } else if best.coverage < LEAST_COVERAGE {
        format!("{name} occurs {count} times, in only {} % of the time", percent(best.coverage))
    } else if best.chance > most_chance(best) {
        format!(
            "{name} occurs {count} times, but the regularity may be chance (probability {:.3})",
            best.chance
        )
    } else {
        format!(
            "{name} occurs {count} times, but only {} % of the intervals are similar, in {} % of \
             the time",
            percent(best.regular_share),
            percent(best.coverage)
        )
    }
}
