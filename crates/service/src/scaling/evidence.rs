//! What a verdict rests on, said where it stands: elapsed time, samples, repetitions, the length of
//! runs, and whether nodes had enough cores.

use std::collections::{BTreeMap, BTreeSet};

use parallax_analysis::scaling::{Delay, GridEvidence, SHORT, grid_evidence};
use parallax_base::quantity::{amount, counted};
use parallax_model::ensemble::{Ensemble, LateLocation, RunEstimate, RunEvidence, metric_names};

use super::answer::{ScalingAnswer, ScalingOptions};
use super::axes::{Axes, RunChoice};

/// Of fewer samples of a location, values of regions are too uncertain to pass over in silence.
const FEW_SAMPLES: f64 = 200.0;
/// Cautions that are told at most.
const MOST_CAUTIONS: usize = 3;
/// Configurations that are named at most.
const MOST_NAMED: usize = 5;

/// What a verdict calls the rest of the program, and what that is in databases.
const OUTSIDE: &str = "in code outside all regions";
const OUTSIDE_OF_RUNS: &str = "outside all regions: nothing was sampled, or other ranks had ended";

type Configuration = (usize, u32);

/// What is known of the runs at each configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Grounds {
    /// By input and core count.
    runs: BTreeMap<Configuration, Vec<RunEvidence>>,
    /// What times rest on that were not measured, by input and core count.
    estimates: BTreeMap<Configuration, Vec<RunEstimate>>,
    /// The region of the answer that a verdict names for one of the ensemble.
    positions: BTreeMap<u32, usize>,
}

impl Grounds {
    pub(super) fn of(ensemble: &Ensemble, axes: &Axes, runs: RunChoice) -> Self {
        let mut found: BTreeMap<Configuration, Vec<RunEvidence>> = BTreeMap::new();
        let mut estimates: BTreeMap<Configuration, Vec<RunEstimate>> = BTreeMap::new();
        for (at, evidence) in ensemble.evidence() {
            let Some(run) = ensemble.runs().get(*at as usize) else { continue };
            let is_excluded = runs == RunChoice::Trusted && !run.is_trusted;
            let Some(place) = axes.cell(run.coordinate).filter(|_| !is_excluded) else { continue };
            match evidence.estimate {
                Some(estimate) => estimates.entry(place).or_default().push(estimate),
                None => found.entry(place).or_default().push(evidence.clone()),
            }
        }
        Self { runs: found, estimates, positions: BTreeMap::new() }
    }

    /// How many times at a configuration are estimates.
    pub(super) fn num_estimated(&self, input: usize, cores: u32) -> usize {
        self.estimates.get(&(input, cores)).map_or(0, Vec::len)
    }

    /// Remembers which regions of the answer stand for those where locations are late.
    pub(super) fn place(&mut self, position: impl Fn(u32) -> Option<usize>) {
        let runs = || self.runs.values().flatten();
        let late = runs().filter_map(|run| run.late.as_ref()).map(|late| late.region);
        let delays = runs().flat_map(|run| &run.delays).map(|(region, _)| *region);
        let regions: BTreeSet<u32> = late.chain(delays).collect();
        let placed = regions.into_iter().filter_map(|region| Some((region, position(region)?)));
        self.positions = placed.collect();
    }

    /// The region of the answer that stands for one of the ensemble.
    pub(super) fn position(&self, region: u32) -> Option<usize> {
        self.positions.get(&region).copied()
    }

    fn at(&self, place: Configuration) -> &[RunEvidence] {
        self.runs.get(&place).map_or(&[], Vec::as_slice)
    }

    /// About how many samples a location has at a configuration: of several runs, the fewest.
    pub(super) fn samples(&self, input: usize, cores: u32) -> Option<f64> {
        self.at((input, cores)).iter().filter_map(|run| run.samples).reduce(f64::min)
    }

    /// The location that others wait for at a configuration, where all its runs have it in one
    /// region; of several runs, that of the one with the median waiting.
    pub(super) fn late(&self, input: usize, cores: u32) -> Option<&LateLocation> {
        let runs = self.at((input, cores));
        let mut late: Vec<&LateLocation> = runs.iter().filter_map(|r| r.late.as_ref()).collect();
        let first = late.first()?.region;
        if late.len() < runs.len() || late.iter().any(|late| late.region != first) {
            return None;
        }
        late.sort_by(|a, b| a.waiting.total_cmp(&b.waiting));
        late.get(late.len() / 2).copied()
    }

    /// Waiting by its cause, in the regions that `in_story` lists by their positions in the answer:
    /// of all that the trace tells, else of the location that is late.
    pub(super) fn delays(&self, cores: &[u32], in_story: &[usize]) -> Vec<Delay> {
        let mut out = Vec::new();
        for &(input, count) in self.runs.keys() {
            let Some(core_idx) = cores.iter().position(|known| *known == count) else { continue };
            let late = || self.late(input, count).map(|late| vec![(late.region, late.waiting)]);
            let told = self.traced(input, count).map(<[_]>::to_vec).or_else(late);
            let mut waiting: BTreeMap<usize, f64> = BTreeMap::new();
            for (region, seconds) in told.into_iter().flatten() {
                let position = self.position(region);
                let story = position.and_then(|position| in_story.binary_search(&position).ok());
                if let Some(region) = story {
                    *waiting.entry(region).or_default() += seconds;
                }
            }
            let delay = |(region, waiting)| Delay { region, input, core_idx, waiting };
            out.extend(waiting.into_iter().map(delay));
        }
        out
    }

    /// What the traces of all runs at a configuration tell of waiting by its cause; of several runs,
    /// the one with the median. `None` where a run has no such trace.
    pub(super) fn traced(&self, input: usize, cores: u32) -> Option<&[(u32, f64)]> {
        let mut runs: Vec<&RunEvidence> = self.at((input, cores)).iter().collect();
        if runs.iter().any(|run| run.delays.is_empty()) {
            return None;
        }
        let sum = |run: &RunEvidence| run.delays.iter().map(|(_, seconds)| seconds).sum::<f64>();
        runs.sort_by(|a, b| sum(a).total_cmp(&sum(b)));
        runs.get(runs.len() / 2).map(|run| run.delays.as_slice())
    }

    /// Cautions of single runs, each with the configurations that it is about.
    fn cautions(&self) -> BTreeMap<&str, BTreeSet<Configuration>> {
        let mut out: BTreeMap<&str, BTreeSet<Configuration>> = BTreeMap::new();
        for (place, runs) in &self.runs {
            for caution in runs.iter().flat_map(|run| &run.cautions) {
                out.entry(caution).or_default().insert(*place);
            }
        }
        out
    }
}

/// A configuration in words: `i2 on 4 cores`.
fn place_words(answer: &ScalingAnswer, input: usize, cores: u32) -> String {
    let plural = if cores == 1 { "" } else { "s" };
    match answer.inputs.len() {
        0 | 1 => format!("{cores} core{plural}"),
        _ => format!("i{} on {cores} core{plural}", input + 1),
    }
}

fn listed_places(answer: &ScalingAnswer, places: impl Iterator<Item = Configuration>) -> String {
    let mut by_cores: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (input, cores) in places {
        by_cores.entry(cores).or_default().push(input);
    }
    let words = |(&cores, inputs): (&u32, &Vec<usize>)| -> Vec<String> {
        // Of all inputs, the core count says enough.
        match inputs.len() == answer.inputs.len() {
            true => vec![format!("{cores} core{}", if cores == 1 { "" } else { "s" })],
            false => inputs.iter().map(|&input| place_words(answer, input, cores)).collect(),
        }
    };
    let mut named: Vec<String> = by_cores.iter().flat_map(words).collect();
    let more = named.len().saturating_sub(MOST_NAMED);
    named.truncate(MOST_NAMED);
    match more {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

impl ScalingAnswer {
    /// Takes back everything that would be a verdict, because the times are no elapsed times.
    pub(super) fn withhold_verdict(&mut self, metric: &str, options: &ScalingOptions) {
        let what = if metric == metric_names::CPU_TIME { "CPU time" } else { metric };
        self.withhold(&[
            format!(
                "No verdict: elapsed time is unknown. {what} was measured, which excludes waiting \
                 asleep, so that runs that get slower can look as if they scaled."
            ),
            "Measure wall-clock time (REALTIME) or a trace.".to_owned(),
        ]);
        self.add_notes(options);
    }

    fn withhold(&mut self, reasons: &[String]) {
        self.losses.clear();
        self.worst = None;
        for region in &mut self.regions {
            region.cause = None;
            region.verdict.loss = None;
            region.verdict.strong.clear();
            region.verdict.input_trend = None;
            region.verdict.weak_change = None;
            region.verdict.sentences = reasons.iter().take(1).cloned().collect();
        }
        if let Some(program) = self.regions.first_mut() {
            program.verdict.sentences = reasons.to_vec();
        }
    }

    /// Adds to the verdict on the program what it rests on; takes it back where most runs are too
    /// short to say anything.
    pub(super) fn add_evidence(&mut self, options: &ScalingOptions) {
        let Some(grid) = self.regions.first().map(|region| region.grid.clone()) else { return };
        if !self.unit.is_time() {
            return;
        }
        let found = grid_evidence(&grid, options.maps.measure);
        let cores = |core_idx: usize| grid.cores().get(core_idx).copied().unwrap_or(0);
        if 2 * found.short.len() > found.num_measured {
            self.withhold(&[format!(
                "No verdict: {} of {} configurations took less than {} ms, so that start-up and the \
                 grain of the clock decide about their times. Measure larger inputs.",
                found.short.len(),
                found.num_measured,
                SHORT * 1e3
            )]);
            return;
        }
        let mut first = self.about_estimates();
        let mut cautions: Vec<(&str, BTreeSet<Configuration>)> =
            self.grounds.cautions().into_iter().collect();
        // The largest runs first.
        let most = |places: &BTreeSet<Configuration>| places.iter().map(|place| place.1).max();
        cautions.sort_by_key(|(_, places)| std::cmp::Reverse(most(places)));
        for (caution, places) in cautions.into_iter().take(MOST_CAUTIONS) {
            first.push(match places.len() {
                all if all == found.num_measured => caution.to_owned(),
                _ => format!("{}: {caution}", listed_places(self, places.into_iter())),
            });
        }
        let mut last = Vec::new();
        if !found.short.is_empty() {
            let places: Vec<Configuration> =
                found.short.iter().map(|&(i, j)| (i, cores(j))).collect();
            last.push(format!(
                "Less than {} ms, so that start-up and the grain of the clock decide: {}.",
                SHORT * 1e3,
                listed_places(self, places.into_iter())
            ));
        }
        last.extend(self.about_strays(&found, &cores));
        last.extend(self.about_samples());
        if found.most_repetitions == 1 && found.num_measured > 1 {
            last.push(
                "Each configuration was measured once: how much times vary from run to run is \
                 unknown."
                    .to_owned(),
            );
        }
        let is_databases = !self.grounds.runs.is_empty();
        if let Some(program) = self.regions.first_mut() {
            if is_databases {
                for sentence in &mut program.verdict.sentences {
                    *sentence = sentence.replace(OUTSIDE, OUTSIDE_OF_RUNS);
                }
            }
            program.verdict.sentences.splice(0..0, first);
            program.verdict.sentences.extend(last);
        }
    }

    /// Says first which runs do not count because the machine had fewer processors.
    pub(super) fn say_oversubscribed(&mut self, processors: Option<u32>) {
        let Some(processors) = processors else { return };
        let beyond: Vec<String> =
            self.cores.iter().filter(|&&cores| cores > processors).map(u32::to_string).collect();
        if beyond.is_empty() {
            return;
        }
        let sentence = format!(
            "The machine has {}: runs on {} cores are oversubscribed, and no verdict counts them.",
            counted(u64::from(processors), "processor"),
            beyond.join(", "),
        );
        if let Some(program) = self.regions.first_mut() {
            program.verdict.sentences.insert(0, sentence);
        }
    }

    /// Which times were not measured, and what of that is doubtful.
    fn about_estimates(&self) -> Vec<String> {
        let estimates = &self.grounds.estimates;
        let mut named: Vec<String> = estimates
            .iter()
            .map(|(&(input, cores), runs)| {
                let first = runs.first();
                let (iterations, of) = first.map_or((0, 0), |run| (run.iterations, run.of));
                let low = runs.iter().map(|run| run.interval.0).fold(f64::INFINITY, f64::min);
                let high = runs.iter().map(|run| run.interval.1).fold(0.0, f64::max);
                format!(
                    "{} ({iterations} of {}, {} to {})",
                    place_words(self, input, cores),
                    counted(of, "iteration"),
                    amount(low, &self.unit),
                    amount(high, &self.unit)
                )
            })
            .collect();
        if named.is_empty() {
            return Vec::new();
        }
        let more = named.len().saturating_sub(MOST_NAMED);
        named.truncate(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let mut out = vec![format!(
            "Estimated from the first iterations, not measured to the end: {}{more}.",
            named.join(", ")
        )];
        let off = |run: &RunEstimate| {
            run.with_trend.map(|time| (time / run.interval.1).max(run.interval.0 / time))
        };
        let trends = estimates
            .iter()
            .flat_map(|(place, runs)| runs.iter().map(move |run| (*place, run)))
            .filter_map(|(place, run)| Some((off(run)?, place, run)));
        let trends: Vec<_> = trends.collect();
        let Some((_, (input, cores), run)) = trends.iter().max_by(|a, b| a.0.total_cmp(&b.0))
        else {
            return out;
        };
        let time = run.with_trend.unwrap_or_default();
        let (how, what) =
            if time > run.interval.1 { ("slower", "low") } else { ("faster", "high") };
        let others = match trends.len() - 1 {
            0 => String::new(),
            more => format!("; {} more with a trend", counted(more as u64, "run")),
        };
        out.push(format!(
            "Iterations get {how} within those measured for {}: if that continues, the run takes \
             {}, and the estimate is too {what}; measure it completely{others}.",
            place_words(self, *input, *cores),
            amount(time, &self.unit)
        ));
        out
    }

    fn about_strays(&self, found: &GridEvidence, cores: &dyn Fn(usize) -> u32) -> Vec<String> {
        let mut out = Vec::new();
        let worst = |strays: &[parallax_analysis::scaling::Stray]| {
            let far = |factor: f64| factor.max(1.0 / factor);
            strays.iter().max_by(|a, b| far(a.factor).total_cmp(&far(b.factor))).copied()
        };
        if let Some(most) = worst(&found.outliers) {
            let place = place_words(self, most.input, cores(most.core_idx));
            let others = match found.outliers.len() - 1 {
                0 => String::new(),
                1 => "; 1 more configuration has one".to_owned(),
                more => format!("; {more} more configurations have one"),
            };
            out.push(format!(
                "Outlier among the repetitions: a factor of {:.1} for {place}{others}.",
                most.factor
            ));
        }
        if let Some(most) = worst(&found.spikes) {
            let place = place_words(self, most.input, cores(most.core_idx));
            out.push(format!(
                "{place}: the time is {:.1} times that of its neighbours, which may be an outlier; \
                 what is said of it is doubtful.",
                most.factor
            ));
        }
        out
    }

    /// Few samples where the program loses most, or on the baseline.
    fn about_samples(&self) -> Option<String> {
        let few = |(place, runs): (&Configuration, &Vec<RunEvidence>)| {
            let n = runs.iter().filter_map(|run| run.samples).reduce(f64::min)?;
            (n < FEW_SAMPLES).then_some((*place, n))
        };
        let found: Vec<(Configuration, f64)> = self.grounds.runs.iter().filter_map(few).collect();
        let ((input, cores), n) = *found.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        // Two standard errors of a count of half of the samples.
        let uncertain = 200.0 / (n / 2.0).max(1.0).sqrt();
        let others = match found.len() - 1 {
            0 => String::new(),
            1 => "; 1 more configuration has few".to_owned(),
            more => format!("; {more} more configurations have few"),
        };
        Some(format!(
            "Few samples: about {n:.0} per location for {}, so that the time of a region with half \
             of them is uncertain by {uncertain:.0} %{others}.",
            place_words(self, input, cores)
        ))
    }

    /// Whether what a region loses at the configuration where the program loses most is more than
    /// the uncertainty of its samples.
    pub(super) fn is_certain(&self, region: usize, own_loss: f64) -> bool {
        let certain = || {
            let (input, core_idx) = self.worst?;
            let cores = *self.cores.get(core_idx)?;
            let samples = self.grounds.samples(input, cores)?;
            let whole = self.maps(0)?.time.get(input, core_idx)?;
            let own = self.maps(region)?.time.get(input, core_idx)?;
            // Of n samples of each core in the whole, a time t has n t / whole: two standard errors
            // of what all cores have.
            let error = 2.0 * (own * whole / samples.max(1.0)).sqrt();
            Some(own_loss > f64::from(cores).sqrt() * error)
        };
        certain().unwrap_or(true)
    }
}
