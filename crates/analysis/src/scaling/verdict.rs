//! Why a program stops scaling, and where: losses in core-seconds, trends, and a verdict.

use std::collections::{BTreeMap, HashMap};

use super::diagonal::{DiagonalStep, weak_diagonal};
use super::map::Map;
use super::maps::Maps;
use super::sentences;
use crate::math::numeric::{mean, sum};
use crate::taxonomy::{is_collective_sync, mpi_routine};

/// One region of a program with its maps.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    /// Path of the region, such as `1.2`; the whole program is `0`.
    pub id: String,
    /// What the region is, for the reader: a function, a file and lines. May be empty.
    pub name: String,
    /// Position of the enclosing region; `None` only for the whole program.
    pub parent: Option<usize>,
    /// Its maps, all regions on the same axes.
    pub maps: Maps,
}

/// The regions of one program: the whole program first, parents before their children.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    regions: Vec<Region>,
    children: Vec<Vec<usize>>,
    /// By region: time per core, where it is known how much all cores spend.
    means: Vec<Option<Map>>,
    delays: Vec<Delay>,
}

/// Waiting at one configuration that a region causes: of those who wait for the location that is
/// late because of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delay {
    /// Position of the region in which the late location computes.
    pub region: usize,
    /// Position of the input.
    pub input: usize,
    /// Position of the core count.
    pub core_idx: usize,
    /// Core-seconds of waiting.
    pub waiting: f64,
}

/// Why regions do not form a program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// There is no region at all.
    #[error("no regions: give the whole program first")]
    Empty,
    /// The first region has a parent, or another has none.
    #[error("region {region} must have {expected}: the first region is the whole program")]
    Root {
        /// Position of the region.
        region: usize,
        /// What it must have.
        expected: &'static str,
    },
    /// A parent does not stand before its child.
    #[error("region {region} names {parent} as its parent, which does not stand before it")]
    ParentOrder {
        /// Position of the region.
        region: usize,
        /// Position of the parent it names.
        parent: usize,
    },
    /// A region has other inputs or core counts than the whole program.
    #[error("region {region} has other inputs or core counts than the whole program")]
    Axes {
        /// Position of the region.
        region: usize,
    },
}

impl Program {
    /// A program from its regions.
    ///
    /// # Errors
    /// When the order or the axes are not as described at [`Program`].
    pub fn new(regions: Vec<Region>) -> Result<Self, ProgramError> {
        let root = regions.first().ok_or(ProgramError::Empty)?;
        let mut children = vec![Vec::new(); regions.len()];
        for (region, own) in regions.iter().enumerate() {
            match (region, own.parent) {
                (0, None) => {}
                (0, Some(_)) => return Err(ProgramError::Root { region, expected: "no parent" }),
                (_, None) => return Err(ProgramError::Root { region, expected: "a parent" }),
                (_, Some(parent)) if parent >= region => {
                    return Err(ProgramError::ParentOrder { region, parent });
                }
                (_, Some(parent)) => {
                    if let Some(list) = children.get_mut(parent) {
                        list.push(region);
                    }
                }
            }
            if own.maps.inputs != root.maps.inputs || own.maps.cores != root.maps.cores {
                return Err(ProgramError::Axes { region });
            }
        }
        let means = vec![None; regions.len()];
        Ok(Self { regions, children, means, delays: Vec::new() })
    }

    /// The same, with times per core for losses: a region that a few of the cores execute costs
    /// what these spend, and not the time of the slowest on all cores. Without a map, or where it
    /// has no value, the time of the region stands for all cores.
    #[must_use]
    pub fn with_means(mut self, means: Vec<Option<Map>>) -> Self {
        self.means = means;
        self.means.resize(self.regions.len(), None);
        self
    }

    /// The same, with waiting that has a known cause.
    #[must_use]
    pub fn with_delays(mut self, delays: Vec<Delay>) -> Self {
        self.delays = delays;
        self
    }

    /// The regions, the whole program first.
    #[must_use]
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// Whether a region is `around`, or lies inside it.
    #[must_use]
    pub fn is_within(&self, region: usize, around: usize) -> bool {
        let mut next = Some(region);
        while let Some(at) = next {
            if at == around {
                return true;
            }
            next = self.regions.get(at).and_then(|region| region.parent);
        }
        false
    }

    /// The same without what was measured on more cores.
    fn up_to(&self, most: u32) -> Self {
        let mut out = self.clone();
        let keep = |maps: &Maps, map: &Map| {
            map.map_cells(|_, j, value| maps.cores.get(j).filter(|&&n| n <= most).map(|_| value))
        };
        for (region, mean) in out.regions.iter_mut().zip(&mut out.means) {
            let maps = &region.maps;
            let (time, efficiency) = (keep(maps, &maps.time), keep(maps, &maps.efficiency));
            *mean = mean.as_ref().map(|mean| keep(maps, mean));
            (region.maps.time, region.maps.efficiency) = (time, efficiency);
        }
        out
    }

    fn root(&self) -> Option<&Maps> {
        self.regions.first().map(|region| &region.maps)
    }

    fn children(&self, region: usize) -> &[usize] {
        self.children.get(region).map_or(&[], Vec::as_slice)
    }
}

/// Core-seconds that a region costs beyond its baseline at one configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss {
    /// Position of the region.
    pub region: usize,
    /// Position of the input.
    pub input: usize,
    /// Position of the core count.
    pub core_idx: usize,
    /// `p T(w,p) - p0 T(w,p0)` with everything inside the region, in core-seconds.
    pub inclusive: f64,
    /// The same without what its child regions lose, with the waiting that the region causes, and
    /// without the waiting in it that others cause. These add up to the loss of the program.
    pub own: f64,
    /// `own` over the loss of the whole program; `None` when the program loses nothing.
    pub share: Option<f64>,
}

/// Losses of every region at every configuration with a baseline, region by region.
///
/// `p T(w,p) - p0 T(w,p0)` is the cost of the parallel run above that of the baseline, and equals
/// `p T(w,p) (1 - E(w,p))`: overhead in the sense of Grama, Gupta, Karypis and Kumar,
/// "Introduction to Parallel Computing", 2003, section 5.1. A region is measured against the
/// baseline cores of the whole program. A child that was not measured at a configuration or its
/// baseline has no loss there; its part stays with its parent.
///
/// Waiting is moved from where it is spent to what causes it ([`Program::with_delays`]): delay
/// costs as Böhme, Geimer, Wolf and Arnold define them, "Identifying the root causes of wait
/// states in large-scale parallel applications", 2010. It is taken from routines of MPI in
/// proportion to their own losses, and no more than these.
#[must_use]
pub fn losses(program: &Program) -> Vec<Loss> {
    let Some(root) = program.root() else { return Vec::new() };
    let times = program.regions().iter().zip(&program.means).map(|(region, mean)| {
        let time = &region.maps.time;
        match mean {
            Some(mean) => time.map_cells(|i, j, own| Some(mean.get(i, j).unwrap_or(own))),
            None => time.clone(),
        }
    });
    let excess: Vec<Map> = times.map(|time| excess(root, &time)).collect();
    let of = |region: usize, i: usize, j: usize| excess.get(region).and_then(|map| map.get(i, j));
    let mut found = Vec::new();
    for (region, own_excess) in excess.iter().enumerate() {
        for (input, core_idx, inclusive) in own_excess.iter() {
            let inside: Vec<f64> = program
                .children(region)
                .iter()
                .filter_map(|&child| of(child, input, core_idx))
                .collect();
            let own = inclusive - sum(&inside);
            let whole = of(0, input, core_idx).filter(|whole| *whole > 0.0);
            let share = whole.map(|whole| own / whole);
            found.push(Loss { region, input, core_idx, inclusive, own, share });
        }
    }
    let mut by_place: BTreeMap<(usize, usize), Vec<&Delay>> = BTreeMap::new();
    for delay in program.delays.iter().filter(|delay| delay.waiting > 0.0) {
        by_place.entry((delay.input, delay.core_idx)).or_default().push(delay);
    }
    for (place, delays) in by_place {
        // No more than what is lost by waiting, whichever of the causes comes first.
        let lost: Vec<f64> = found
            .iter()
            .filter(|loss| (loss.input, loss.core_idx) == place && waits(program, loss))
            .map(|loss| loss.own)
            .collect();
        let wanted: Vec<f64> = delays.iter().map(|delay| delay.waiting).collect();
        let part = (sum(&lost) / sum(&wanted)).min(1.0);
        for delay in delays {
            attribute(program, &Delay { waiting: delay.waiting * part, ..*delay }, &mut found);
        }
    }
    found
}

/// Whether a loss is that of a routine of MPI, in which locations wait.
fn waits(program: &Program, loss: &Loss) -> bool {
    let name = program.regions().get(loss.region).map(|region| region.name.as_str());
    loss.own > 0.0
        && name.is_some_and(|name| mpi_routine(name).is_some() || is_collective_sync(name))
}

/// Moves waiting from routines of MPI to the region that causes it.
fn attribute(program: &Program, delay: &Delay, losses: &mut [Loss]) {
    let is_here = |loss: &Loss| loss.input == delay.input && loss.core_idx == delay.core_idx;
    let waits = |loss: &Loss| is_here(loss) && waits(program, loss);
    let all: Vec<f64> = losses.iter().filter(|loss| waits(loss)).map(|loss| loss.own).collect();
    let all = sum(&all);
    let moved = delay.waiting.min(all);
    // Where the region calls others, the one of them that loses most stands for it.
    let inside = losses.iter().filter(|loss| {
        is_here(loss) && !waits(loss) && program.is_within(loss.region, delay.region)
    });
    let most = inside.reduce(|most, loss| if loss.own > most.own { loss } else { most });
    let Some(cause) = most.map(|loss| loss.region) else { return };
    if moved.is_nan() || moved <= 0.0 {
        return;
    }
    let root = losses.iter().find(|loss| is_here(loss) && loss.region == 0);
    let whole = root.map(|root| root.inclusive).filter(|whole| *whole > 0.0);
    for loss in losses.iter_mut().filter(|loss| is_here(loss)) {
        if waits(loss) {
            loss.own -= moved * (loss.own / all);
        } else if loss.region == cause {
            loss.own += moved;
        }
        loss.share = whole.map(|whole| loss.own / whole);
    }
}

fn excess(root: &Maps, time: &Map) -> Map {
    time.map_cells(|i, j, own| {
        let base = root.baseline_idx(i)?;
        let cost = |at: usize, time: f64| Some(f64::from(*root.cores.get(at)?) * time);
        Some(cost(j, own)? - cost(base, time.get(i, base)?)?)
    })
}

/// The losses at one configuration, the largest own loss first; equal ones in region order.
#[must_use]
pub fn ranked_losses(losses: &[Loss], input: usize, core_idx: usize) -> Vec<Loss> {
    let mut ranked: Vec<Loss> = losses
        .iter()
        .filter(|loss| loss.input == input && loss.core_idx == core_idx)
        .copied()
        .collect();
    ranked.sort_by(|a, b| b.own.total_cmp(&a.own).then(a.region.cmp(&b.region)));
    ranked
}

/// The thresholds behind the words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VerdictOptions {
    /// Strong scaling ends where efficiency falls below this.
    pub min_efficiency: f64,
    /// A change of efficiency up to this is no trend.
    pub trend_tolerance: f64,
    /// Factor by which growth of work and cores may differ on a weak diagonal.
    pub diagonal_tolerance: f64,
    /// Whether times of different inputs can be added up; otherwise nothing is said about losses.
    pub are_costs: bool,
    /// The most cores that the machine had: on more, threads wait for a core, which says nothing
    /// about the program.
    pub most_cores: Option<u32>,
}

impl Default for VerdictOptions {
    /// Half of the ideal, two points of efficiency, a quarter.
    fn default() -> Self {
        Self {
            min_efficiency: 0.5,
            trend_tolerance: 0.02,
            diagonal_tolerance: 1.25,
            are_costs: true,
            most_cores: None,
        }
    }
}

/// Direction of a change of efficiency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trend {
    /// Efficiency rises.
    Rises,
    /// Efficiency falls.
    Falls,
    /// Within the tolerance.
    Holds,
    /// Within the tolerance on average, because it rises on some core counts and falls on others.
    Mixed,
}

/// What larger inputs do to efficiency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InputTrend {
    /// The direction.
    pub trend: Trend,
    /// Mean over core counts of `E(last input, p) - E(first input, p)`.
    pub change: f64,
    /// The smallest and the largest of these differences.
    pub range: (f64, f64),
    /// Number of core counts in the mean.
    pub num_cores: usize,
}

/// Where strong scaling ends for one input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StrongEnd {
    /// Position of the input.
    pub input: usize,
    /// The largest core count up to which efficiency never fell below the threshold.
    pub cores: u32,
    /// Efficiency there.
    pub efficiency: f64,
    /// The next core count measured and its efficiency, below the threshold; `None` when scaling
    /// did not end within the measurements.
    pub next: Option<(u32, f64)>,
    /// The core count with the shortest time; the smallest of several.
    pub fastest: u32,
}

/// The words of "PaScal Viewer" (VPA 2018, section III) for what its maps show: whether efficiency
/// nowhere drops from one measured configuration to the next. A baseline, whose efficiency is 1
/// whatever the program does, is no such configuration, but for strong scaling, which starts there.
/// `None` where there are fewer than two to compare.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ByDefinition {
    /// Generally scalable: with larger inputs, on any number of cores.
    pub generally: Option<bool>,
    /// Strongly scalable: with more cores, for any input.
    pub strongly: Option<bool>,
    /// Weakly scalable: with input and cores that grow together, one step each.
    pub weakly: Option<bool>,
}

/// A region judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Position of the region.
    pub region: usize,
    /// What larger inputs do; `None` when fewer than two inputs can be compared.
    pub input_trend: Option<InputTrend>,
    /// Where strong scaling ends, for each input with a baseline.
    pub strong: Vec<StrongEnd>,
    /// `E` at the end of the longest diagonal less `E` at its start; `None` where work does not
    /// grow like cores along it.
    pub weak_change: Option<f64>,
    /// What the definitions of PaScal Viewer say.
    pub by_definition: ByDefinition,
    /// The loss at the configuration where the whole program loses most.
    pub loss: Option<Loss>,
    /// The verdict in plain words, one sentence each, without a final stop.
    pub sentences: Vec<String>,
}

impl Verdict {
    /// The sentences as one line.
    #[must_use]
    pub fn text(&self) -> String {
        self.sentences.join(" ")
    }
}

/// A verdict on every region, in region order.
///
/// The loss stands at the configuration where the whole program loses most core-seconds; the
/// first sentence about it names the region that causes most of it. Without a baseline a verdict
/// says so and nothing else.
#[must_use]
pub fn verdicts(program: &Program, options: VerdictOptions) -> Vec<Verdict> {
    let limited = options.most_cores.map(|most| program.up_to(most));
    let program = limited.as_ref().unwrap_or(program);
    let losses = if options.are_costs { losses(program) } else { Vec::new() };
    // The first configuration among equals, in map order.
    let worst = losses
        .iter()
        .filter(|loss| loss.region == 0 && loss.inclusive > 0.0)
        .reduce(|worst, loss| if loss.inclusive > worst.inclusive { loss } else { worst });
    let ranked = worst.map(|at| ranked_losses(&losses, at.input, at.core_idx)).unwrap_or_default();
    let at_worst: HashMap<usize, Loss> = ranked.iter().map(|loss| (loss.region, *loss)).collect();
    program
        .regions()
        .iter()
        .enumerate()
        .map(|(at, region)| {
            let input_trend = input_trend(&region.maps, options.trend_tolerance);
            let strong = (0..region.maps.inputs.len())
                .filter_map(|input| strong_end(&region.maps, input, options.min_efficiency))
                .collect();
            let mut verdict = Verdict {
                region: at,
                input_trend,
                strong,
                weak_change: weak_change(program.root(), &region.maps, options),
                by_definition: by_definition(&region.maps, options.trend_tolerance),
                loss: at_worst.get(&at).copied(),
                sentences: Vec::new(),
            };
            verdict.sentences = sentences::sentences(program, &verdict, &ranked, options);
            verdict
        })
        .collect()
}

fn input_trend(maps: &Maps, tolerance: f64) -> Option<InputTrend> {
    let measured = |input: &usize| maps.efficiency.row(*input).next().is_some();
    let first = (0..maps.inputs.len()).find(measured)?;
    let last = (0..maps.inputs.len()).rev().find(measured).filter(|&last| last > first)?;
    let changes: Vec<f64> = (0..maps.cores.len())
        // At its own baseline every efficiency is 1 and no input can change it.
        .filter(|&j| maps.baseline_idx(first) != Some(j) && maps.baseline_idx(last) != Some(j))
        .filter_map(|j| Some(maps.efficiency.get(last, j)? - maps.efficiency.get(first, j)?))
        .collect();
    let change = mean(&changes)?;
    let smallest = changes.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = changes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let trend = match trend(change, tolerance) {
        Trend::Holds if largest.max(-smallest) > MIXED * tolerance => Trend::Mixed,
        trend => trend,
    };
    Some(InputTrend { trend, change, range: (smallest, largest), num_cores: changes.len() })
}

/// Differences of this many tolerances are no scatter around a mean of zero.
const MIXED: f64 = 2.0;

fn trend(change: f64, tolerance: f64) -> Trend {
    if change > tolerance {
        Trend::Rises
    } else if change < -tolerance {
        Trend::Falls
    } else {
        Trend::Holds
    }
}

fn strong_end(maps: &Maps, input: usize, min_efficiency: f64) -> Option<StrongEnd> {
    let base = maps.baseline_idx(input)?;
    let measured: Vec<(u32, f64, f64)> = maps
        .efficiency
        .row(input)
        .filter(|&(j, _)| j >= base)
        .filter_map(|(j, efficiency)| {
            Some((*maps.cores.get(j)?, efficiency, maps.time.get(input, j)?))
        })
        .collect();
    let ends = measured.iter().position(|&(_, efficiency, _)| efficiency < min_efficiency);
    let last = ends.unwrap_or(measured.len()).checked_sub(1)?;
    let &(cores, efficiency, _) = measured.get(last)?;
    let fastest = measured.iter().reduce(|best, cell| if cell.2 < best.2 { cell } else { best })?.0;
    // One core count alone shows nothing about scaling.
    (measured.len() > 1).then(|| StrongEnd {
        input,
        cores,
        efficiency,
        next: ends.and_then(|at| measured.get(at)).map(|&(cores, value, _)| (cores, value)),
        fastest,
    })
}

fn by_definition(maps: &Maps, tolerance: f64) -> ByDefinition {
    let at = |i: usize, j: usize| maps.efficiency.get(i, j);
    // Efficiency of the configuration some steps before; that of a baseline says nothing.
    let before = |i: usize, j: usize, inputs: usize, cores: usize| {
        let (i, j) = (i.checked_sub(inputs)?, j.checked_sub(cores)?);
        at(i, j).filter(|_| maps.baseline_idx(i) != Some(j))
    };
    let all_hold = |steps: &mut dyn Iterator<Item = (f64, f64)>| {
        let mut steps = steps.peekable();
        steps.peek().is_some().then(|| steps.all(|(old, new)| new >= old - tolerance))
    };
    let cells = || maps.efficiency.iter();
    let behind = |inputs: usize, cores: usize| {
        cells()
            .filter(move |&(i, j, _)| maps.baseline_idx(i) != Some(j))
            .filter_map(move |(i, j, new)| Some((before(i, j, inputs, cores)?, new)))
    };
    ByDefinition {
        generally: all_hold(&mut behind(1, 0)),
        strongly: all_hold(
            &mut cells().filter_map(|(i, j, new)| Some((at(i, j.checked_sub(1)?)?, new))),
        ),
        weakly: all_hold(&mut behind(1, 1)),
    }
}

fn weak_change(root: Option<&Maps>, maps: &Maps, options: VerdictOptions) -> Option<f64> {
    // Work is that of the whole program, also for the diagonals of a region.
    let diagonal = weak_diagonal(root?, options.diagonal_tolerance)?;
    let end = maps.inputs.len().min(maps.cores.len()).checked_sub(1).filter(|&end| end > 0)?;
    let off = |step: &DiagonalStep| step.input == step.core_idx && step.input <= end;
    if diagonal.mismatches.iter().any(off) {
        return None;
    }
    Some(maps.efficiency.get(end, end)? - maps.efficiency.get(0, 0)?)
}
