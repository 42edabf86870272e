//! Maps, verdicts and losses of all regions: the answer of `scaling`.

use std::collections::BTreeSet;

use parallax_analysis::scaling::{
    Delay, Grid, GridBuilder, Loss, Map, MapOptions, Maps, Program, Region as ProgramRegion,
    Spread, Verdict, VerdictOptions, losses, maps, ranked_losses, share_of_parent, verdicts,
};
use parallax_analysis::taxonomy::is_collective_sync;
use parallax_base::{Issues, Limits, Severity, Unit};
use parallax_engine::display_name as short;
use parallax_engine::query::NameMatch;
use parallax_model::ensemble::{Ensemble, Region, RegionKind, fact_names, metric_names};
use parallax_protocol::CoreOrder;

use super::axes::{Axes, AxisChoice, RunChoice};
use super::causes::{Cause, NO_SPEEDUP, Spreads};
use super::clock::is_on_processors;
use super::error::listed;
use super::evidence::Grounds;
use super::overlap::share_cores;
use super::pop::USEFUL_MEAN;
use super::{Remedy, ScalingError};

/// How an ensemble is looked at; from a [`ScalingView`](parallax_protocol::ScalingView).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScalingOptions {
    /// Which parameters become the axes.
    pub axes: AxisChoice,
    /// In which order maps show core counts.
    pub order: CoreOrder,
    /// Which metric counts as time; `None` for `time`, else the first.
    pub metric: Option<String>,
    /// Regions to show, by id, path, name or glob; all when empty. Verdicts and losses are about
    /// the whole program in any case.
    pub regions: Vec<String>,
    /// Regions that never reach this share of the program's time, in per cent, are left out; what
    /// they lose counts for the region around them.
    pub min_percent: f64,
    /// Which runs count.
    pub runs: RunChoice,
    /// How the maps are computed.
    pub maps: MapOptions,
    /// The thresholds of the verdict.
    pub verdict: VerdictOptions,
    /// Bounds on memory.
    pub limits: Limits,
}

/// A region with everything there is to say about it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalingRegion {
    /// Its place in the program.
    pub region: Region,
    /// Position of the region around it in the answer.
    pub parent: Option<usize>,
    /// Levels below the whole program.
    pub depth: usize,
    /// Its repetition times.
    pub grid: Grid,
    /// Smallest and largest share of its parent's time, in per cent.
    pub share_of_parent: Option<(f64, f64)>,
    /// Spread of the load imbalance over the configurations, as fractions.
    pub imbalance: Option<Spread>,
    /// The load imbalance of each configuration, as a fraction.
    pub imbalances: Map,
    /// Why it loses, where that can be seen.
    pub cause: Option<Cause>,
    /// Remarks in plain words.
    pub verdict: Verdict,
    /// Whether it was requested.
    pub is_shown: bool,
}

/// The answer.
#[derive(Debug, Clone)]
pub struct ScalingAnswer {
    /// Name of the program.
    pub title: String,
    /// Format and origin of the measurements.
    pub source: String,
    /// Unit of the times.
    pub unit: Unit,
    /// Inputs, the columns of the maps.
    pub inputs: Vec<String>,
    /// Core counts, ascending.
    pub cores: Vec<u32>,
    /// Positions in `cores`, in the order in which maps show them from the top.
    pub rows: Vec<usize>,
    /// All regions, the whole program first, parents before children.
    pub regions: Vec<ScalingRegion>,
    pub(super) program: Program,
    pub(super) grounds: Grounds,
    pub(super) limits: Limits,
    /// Losses at every configuration, of the regions that a verdict names: those marked by the
    /// user, functions of the program and calls of MPI. Loops, lines and library functions count
    /// for the function around them. `region` is the position in `regions`.
    pub losses: Vec<Loss>,
    /// Positions of input and core count where the whole program loses most.
    pub worst: Option<(usize, usize)>,
    /// Remarks, the most important first.
    pub notes: Vec<String>,
    /// What was repaired, dropped or guessed.
    pub issues: Issues,
}

/// Regions that a note on overlap names.
const MAX_OVERLAPPING: usize = 8;

/// A region before its maps are made.
pub(super) struct Prepared {
    region: Region,
    pub(super) parent: Option<usize>,
    grid: Grid,
    pub(super) maps: Maps,
    /// Time per core, where it is known what each location spends.
    pub(super) mean: Option<Map>,
    /// Position in the ensemble; `None` for a whole program that was added up.
    pub(super) source: Option<u32>,
}

/// Maps, verdicts and losses of all regions.
///
/// # Errors
/// When a parameter, region or metric is unknown, or there are no times at all.
pub fn scaling(
    ensemble: &Ensemble,
    options: &ScalingOptions,
) -> Result<ScalingAnswer, ScalingError> {
    let mut notes = Vec::new();
    let axes = Axes::of(ensemble, &options.axes, options.order, &mut notes)?;
    axes.check_axes(ensemble.regions().len(), &options.limits)?;
    let metric = chosen_metric(ensemble, options.metric.as_deref())?;
    let unit = ensemble.metrics().get(usize::from(metric)).map_or(Unit::Count, |m| m.unit.clone());
    let mut prepared = prepare(ensemble, &axes, metric, options, &mut notes)?;
    let overlapping = share_cores(&mut prepared, ensemble, &axes, options)?;
    notes.extend(about_overlap(&prepared, &overlapping));
    let spreads = Spreads::of(ensemble, &axes, options.runs);

    let in_story = positions(&prepared);
    let mut grounds = Grounds::of(ensemble, &axes, options.runs);
    grounds.place(|source| {
        let mut at = prepared.iter().position(|region| region.source == Some(source))?;
        while in_story.binary_search(&at).is_err() {
            at = prepared.get(at)?.parent?;
        }
        Some(at)
    });
    let mut delays = grounds.delays(&axes.cores, &in_story);
    // Where a trace tells who is waited for, serial parts are among those.
    let is_traced = |delay: &Delay| {
        let cores = axes.cores.get(delay.core_idx);
        cores.is_some_and(|&cores| grounds.traced(delay.input, cores).is_some())
    };
    let serial = serial_delays(&prepared, &in_story, &spreads, &axes.cores);
    delays.extend(serial.into_iter().filter(|delay| !is_traced(delay)));
    let story = story(&prepared, &in_story)?.with_delays(delays);
    let story_losses = losses(&story);
    // Times relative to one core say nothing about core-seconds.
    let is_relative = ensemble
        .metrics()
        .get(usize::from(metric))
        .is_some_and(|metric| metric.name == metric_names::EFFICIENCY);
    let processors = fact(ensemble, fact_names::PROCESSORS).and_then(|text| text.parse().ok());
    let judged = VerdictOptions {
        are_costs: !is_relative,
        most_cores: processors.or(options.verdict.most_cores),
        ..options.verdict
    };
    let story_losses = if is_relative { Vec::new() } else { story_losses };
    let story_verdicts = verdicts(&story, judged);
    let worst = story_verdicts
        .first()
        .and_then(|verdict| verdict.loss)
        .map(|loss| (loss.input, loss.core_idx));

    let program = Program::new(
        prepared
            .iter()
            .map(|region| ProgramRegion {
                id: region.region.id.clone(),
                name: display_name(&region.region),
                parent: region.parent,
                maps: region.maps.clone(),
            })
            .collect(),
    )?;
    let all_verdicts = verdicts(&program, judged);
    let all: Vec<(&str, &Region)> =
        prepared.iter().map(|region| (region.region.id.as_str(), &region.region)).collect();
    let shown = shown_regions(&all, &options.regions)?;
    let all_parents: BTreeSet<Option<usize>> =
        prepared.iter().map(|region| region.parent).collect();
    let mut regions: Vec<ScalingRegion> = Vec::with_capacity(prepared.len());
    for (at, (prepared, verdict)) in prepared.iter().zip(all_verdicts).enumerate() {
        let in_story = in_story.binary_search(&at).ok();
        let verdict = in_story
            .and_then(|position| story_verdicts.get(position))
            .map_or(verdict, |verdict| Verdict { region: at, ..verdict.clone() });
        let share = prepared.parent.and_then(|above| {
            let above = program.regions().get(above)?;
            share_of_parent(&prepared.maps.time, &above.maps.time).min_max()
        });
        let depth =
            prepared.parent.and_then(|above| regions.get(above)).map_or(0, |above| above.depth + 1);
        let spread = prepared.source.map(|source| spreads.of_region(source));
        let cause = worst.zip(prepared.source).and_then(|((input, core_idx), source)| {
            let cores = *axes.cores.get(core_idx)?;
            // In a hundredth of the time, a distribution is mostly chance.
            let whole = program.regions().first()?.maps.time.get(input, core_idx)?;
            let is_worth = prepared.maps.time.get(input, core_idx)? >= 0.01 * whole;
            let cell = spreads.at(source, input, cores).filter(|_| is_worth)?;
            let has_inner = all_parents.contains(&Some(at));
            let is_unused = !has_inner
                && prepared.maps.baseline_idx(input).is_some_and(|base| base < core_idx)
                && prepared.maps.speedup.get(input, core_idx).is_some_and(|it| it <= NO_SPEEDUP);
            let found = Cause::of(&prepared.region, cell, is_unused.then_some(cores));
            // While few threads are in it, the others are in another region.
            let is_elsewhere = overlapping.contains(&at);
            found.filter(|cause| !(is_elsewhere && matches!(cause, Cause::Serial { .. })))
        });
        let imbalances = prepared.maps.time.map_cells(|input, core_idx, _| {
            let cores = *axes.cores.get(core_idx)?;
            let cell = spreads.at(prepared.source?, input, cores)?;
            (!cell.is_alone).then_some(cell.imbalance)
        });
        regions.push(ScalingRegion {
            region: prepared.region.clone(),
            parent: prepared.parent,
            depth,
            grid: prepared.grid.clone(),
            share_of_parent: share,
            imbalance: spread.flatten(),
            imbalances,
            cause,
            verdict,
            is_shown: shown.get(at).copied().unwrap_or(true),
        });
    }
    let losses = story_losses
        .iter()
        .filter_map(|loss| Some(Loss { region: *in_story.get(loss.region)?, ..*loss }))
        .collect();
    let mut answer = ScalingAnswer {
        title: ensemble.metadata.title.clone(),
        source: format!("{} from {}", ensemble.metadata.format, ensemble.metadata.origin),
        unit,
        inputs: axes.inputs.to_vec(),
        cores: axes.cores.to_vec(),
        rows: axes.rows.clone(),
        limits: options.limits,
        regions,
        program,
        grounds,
        losses,
        worst,
        notes,
        issues: ensemble.issues.clone(),
    };
    let of_time = ensemble.metrics().get(usize::from(metric));
    match of_time.filter(|metric| is_on_processors(&metric.name)) {
        Some(metric) => answer.withhold_verdict(&metric.name, options),
        None => {
            answer.add_remarks(options);
            answer.add_evidence(options);
            answer.say_oversubscribed(judged.most_cores);
        }
    }
    if !answer.has_room_for_gaps() {
        let measured: usize =
            answer.shown().filter_map(|at| answer.maps(at)).map(Maps::num_measured).sum();
        answer.notes.push(format!(
            "Maps of {} inputs x {} core counts are too large to list all cells: the {measured} \
             measured configurations are listed.",
            answer.inputs.len(),
            answer.cores.len()
        ));
    }
    Ok(answer)
}

/// The metric that counts as time.
pub(super) fn chosen_metric(ensemble: &Ensemble, asked: Option<&str>) -> Result<u16, ScalingError> {
    let known = || listed(ensemble.metrics().iter().map(|metric| &*metric.name));
    if let Some(name) = asked {
        return ensemble.metric(name).ok_or_else(|| ScalingError::Unknown {
            what: "metric",
            name: name.to_owned(),
            known: known(),
        });
    }
    let is_time = |name: &str| matches!(name, "time" | "runtime" | "elapsedTime");
    let metrics = ensemble.metrics();
    let found = ensemble
        .metric(metric_names::TIME)
        .map(usize::from)
        .or_else(|| metrics.iter().position(|metric| is_time(&metric.name)))
        .or_else(|| metrics.iter().position(|metric| metric.unit.is_time()))
        .or_else(|| (metrics.len() == 1).then_some(0));
    found.and_then(|at| u16::try_from(at).ok()).ok_or_else(|| ScalingError::Missing {
        what: "the measurements have no time".to_owned(),
        hint: format!("{}; there are: {}", Remedy::Metric, known()),
    })
}

fn prepare(
    ensemble: &Ensemble,
    axes: &Axes,
    metric: u16,
    options: &ScalingOptions,
    notes: &mut Vec<String>,
) -> Result<Vec<Prepared>, ScalingError> {
    let relative = ensemble
        .metrics()
        .get(usize::from(metric))
        .is_some_and(|metric| metric.name == metric_names::EFFICIENCY);
    let grid = |region: u32| {
        let grid = axes.grid(ensemble, metric, region, options.runs, options.maps.measure)?;
        if relative { relative_times(&grid) } else { Ok(grid) }
    };
    // Of ranks, what each spends is known; the whole program takes as long as the slowest.
    let is_main = ensemble.metrics().get(usize::from(metric)).map(|m| m.name.as_str())
        == Some(metric_names::TIME);
    let mean_of = ensemble.metric(USEFUL_MEAN).filter(|_| is_main);
    let mean_of = mean_of.and_then(|_| ensemble.metric(metric_names::LOCATION_MEAN));
    let outermost: Vec<u32> = (0..)
        .zip(ensemble.regions())
        .filter(|(_, region)| region.parent.is_none())
        .map(|(at, _)| at)
        .collect();
    let mut prepared = Vec::new();
    // Where several regions are outermost, their sum stands for the program.
    let is_summed = outermost.len() > 1;
    if relative {
        notes.push(
            "The file has efficiencies only: times are relative to the run on one core of the same \
             input, and there is no overhead in core-seconds."
                .to_owned(),
        );
    }
    if is_summed && relative {
        return Err(ScalingError::Missing {
            what: "the file has efficiencies of several regions, and no times to add up".to_owned(),
            hint: "open the JSON, XML or text report of the same runs".to_owned(),
        });
    }
    if is_summed {
        notes.push(format!(
            "There is no time of the whole program: region 0 is the sum of the {} outermost \
             regions.",
            outermost.len()
        ));
        let grid = axes.grid_of_sum(ensemble, metric, &outermost, options.runs)?;
        let region = Region {
            id: "0".to_owned(),
            path: String::new(),
            name: "all regions".to_owned(),
            parent: None,
            kind: RegionKind::WholeProgram,
            file: None,
            lines: None,
        };
        let maps = maps(&grid, options.maps);
        prepared.push(Prepared { region, parent: None, grid, maps, mean: None, source: None });
    }
    let mut new_of: Vec<Option<usize>> = Vec::new();
    for (at, region) in (0..).zip(ensemble.regions()) {
        let parent = match region.parent {
            Some(above) => match new_of.get(above as usize).copied().flatten() {
                Some(above) => Some(above),
                // What is below a region that was left out is smaller still.
                None => {
                    new_of.push(None);
                    continue;
                }
            },
            None => is_summed.then_some(0),
        };
        let grid = grid(at)?;
        let maps = maps(&grid, options.maps);
        if options.min_percent > 0.0
            && let Some(program) = prepared.first()
            && parent.is_some()
        {
            let share = share_of_parent(&maps.time, &program.maps.time).min_max();
            if share.is_none_or(|(_, high)| high < options.min_percent) {
                new_of.push(None);
                continue;
            }
        }
        new_of.push(Some(prepared.len()));
        let mut region = region.clone();
        if parent.is_none() {
            // The one outermost region stands for the whole program.
            region.id = "0".to_owned();
        }
        let mean = mean_of.filter(|_| parent.is_some()).map(|metric| {
            let grid = axes.grid(ensemble, metric, at, options.runs, options.maps.measure)?;
            Ok::<Map, ScalingError>(self::maps(&grid, options.maps).time)
        });
        let mean = mean.transpose()?;
        prepared.push(Prepared { region, parent, grid, maps, mean, source: Some(at) });
    }
    if prepared.iter().all(|region| region.maps.time.is_undefined()) {
        return Err(ScalingError::Missing {
            what: "no run has a time".to_owned(),
            hint: "the issues list what was omitted, and why".to_owned(),
        });
    }
    Ok(prepared)
}

fn fact<'e>(ensemble: &'e Ensemble, name: &str) -> Option<&'e str> {
    let facts = ensemble.metadata.facts.iter();
    facts.rev().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
}

/// That regions overlap, and what their overhead is then.
fn about_overlap(prepared: &[Prepared], overlapping: &[usize]) -> Option<String> {
    let name = |&at: &usize| prepared.get(at).map(|region| region.region.id.as_str());
    let ids: Vec<&str> = overlapping.iter().filter_map(name).take(MAX_OVERLAPPING).collect();
    let more = overlapping.len().saturating_sub(ids.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!ids.is_empty()).then(|| {
        format!(
            "Threads execute {} {}{more} at the same time as others: the overhead of these regions \
             is the time that threads spend in them, and not that of all cores.",
            if overlapping.len() == 1 { "region" } else { "regions" },
            ids.join(", ")
        )
    })
}

/// Times in which the run on one core takes 1, from efficiencies.
fn relative_times(efficiencies: &Grid) -> Result<Grid, ScalingError> {
    let mut times = GridBuilder::new(efficiencies.inputs().to_vec());
    for (input, core_idx, values) in efficiencies.measured() {
        let Some(&cores) = efficiencies.cores().get(core_idx) else { continue };
        for efficiency in values.iter().filter(|efficiency| **efficiency > 0.0) {
            times.push(input, cores, 1.0 / (f64::from(cores) * efficiency))?;
        }
    }
    Ok(times.finish_with(efficiencies.cores().to_vec())?)
}

/// Positions of the regions that a story about losses names.
fn positions(prepared: &[Prepared]) -> Vec<usize> {
    prepared
        .iter()
        .enumerate()
        .filter(|(at, prepared)| {
            let name = prepared.region.name.as_str();
            *at == 0
                || match prepared.region.kind {
                    RegionKind::WholeProgram
                    | RegionKind::Marked
                    | RegionKind::Gap
                    | RegionKind::Automatic => true,
                    RegionKind::Entry | RegionKind::Loop | RegionKind::Line => false,
                    RegionKind::Function => {
                        let is_library = name.contains(" [") || name.starts_with('[');
                        let is_unknown = name.starts_with('<');
                        is_mpi(name) || !is_library && !is_unknown
                    }
                }
        })
        .map(|(at, _)| at)
        .collect()
}

/// Whether a region is a routine of MPI by its own name. Wrappers of measurement tools
/// (`hpcrun_MPI_Finalize`) are not: they stand for starting and ending, which POP leaves out.
pub(super) fn is_mpi(name: &str) -> bool {
    name.starts_with("MPI_") || name.starts_with("PMPI_") || is_collective_sync(name)
}

/// Waiting that serial regions cause: what all other ranks could do meanwhile is wait. Of nested
/// ones only that of the outermost.
fn serial_delays(
    prepared: &[Prepared],
    in_story: &[usize],
    spreads: &Spreads,
    cores: &[u32],
) -> Vec<Delay> {
    let mut serial: BTreeSet<(usize, usize, usize)> = BTreeSet::new();
    let mut out = Vec::new();
    for (story, &at) in in_story.iter().enumerate() {
        let Some(region) = prepared.get(at) else { continue };
        let Some((mean, source)) = region.mean.as_ref().zip(region.source) else { continue };
        for (input, core_idx, most) in region.maps.time.iter() {
            let whole = prepared.first().and_then(|whole| whole.maps.time.get(input, core_idx));
            // In a hundredth of the time, a distribution is mostly chance.
            let is_worth = whole.is_some_and(|whole| most >= 0.01 * whole);
            let Some(&count) = cores.get(core_idx).filter(|_| is_worth) else { continue };
            let mut around = region.parent;
            let mut is_inside = false;
            while let Some(above) = around {
                is_inside |= serial.contains(&(above, input, core_idx));
                around = prepared.get(above).and_then(|above| above.parent);
            }
            let cell = spreads.at(source, input, count);
            let cause = cell.and_then(|cell| Cause::of(&region.region, cell, None));
            if !is_inside && matches!(cause, Some(Cause::Serial { .. })) {
                serial.insert((at, input, core_idx));
                let mean = mean.get(input, core_idx).unwrap_or(most);
                let waiting = f64::from(count) * (most - mean);
                out.push(Delay { region: story, input, core_idx, waiting });
            }
        }
    }
    out
}

/// The program of the regions at `chosen`, each below the nearest chosen one around it.
fn story(prepared: &[Prepared], chosen: &[usize]) -> Result<Program, ScalingError> {
    let mut new_of: Vec<Option<usize>> = vec![None; prepared.len()];
    let mut regions = Vec::with_capacity(chosen.len());
    for (at, region) in prepared.iter().enumerate() {
        let above = region.parent.and_then(|above| new_of.get(above).copied().flatten());
        let is_chosen = chosen.binary_search(&at).is_ok();
        if let Some(slot) = new_of.get_mut(at) {
            *slot = if is_chosen { Some(regions.len()) } else { above };
        }
        if is_chosen {
            regions.push(ProgramRegion {
                id: region.region.id.clone(),
                name: display_name(&region.region),
                parent: above,
                maps: region.maps.clone(),
            });
        }
    }
    let means = chosen.iter().map(|&at| prepared.get(at)?.mean.clone()).collect();
    Ok(Program::new(regions)?.with_means(means))
}

/// What a sentence calls a region: `checkpoint`, `MPI_Gather in checkpoint`,
/// `heat.c:117-137`. Functions are abbreviated as everywhere.
pub(super) fn display_name(region: &Region) -> String {
    let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    match region.kind {
        RegionKind::WholeProgram => region.name.clone(),
        RegionKind::Function | RegionKind::Loop | RegionKind::Line | RegionKind::Entry => {
            // The function around it, as the developer wrote it: no loops, no library, no outlined
            // code, no wrapper such as `hypre_MPI_Waitall` around `PMPI_Waitall`.
            let call = region.name.split(" [").next().unwrap_or("").trim_start_matches('P');
            let around = region.path.rsplit(" > ").skip(1).find(|name| {
                let is_wrapper = call.starts_with("MPI_") && name.contains(call);
                let is_written = !["loop ", "<"].iter().any(|start| name.starts_with(start))
                    && ![" [", "._omp_fn"].iter().any(|part| name.contains(part));
                is_written && !is_wrapper
            });
            let name = short(&region.name);
            match around.map(short).filter(|around| around != "main" && *around != name) {
                Some(around) => format!("{name} in {around}"),
                None => name,
            }
        }
        _ => match (&region.file, region.lines) {
            (Some(file), Some((first, last))) if last == first && last > 0 => {
                format!("{}:{first}", base(file))
            }
            (Some(file), Some((first, last))) if last > 0 => {
                format!("{}:{first}-{last}", base(file))
            }
            _ if region.id.ends_with(&region.name) => String::new(),
            _ => region.name.clone(),
        },
    }
}

/// Which of the regions, given with the ids that the user sees, were requested.
pub(super) fn shown_regions(
    regions: &[(&str, &Region)],
    asked: &[String],
) -> Result<Vec<bool>, ScalingError> {
    if asked.is_empty() {
        return Ok(vec![true; regions.len()]);
    }
    let mut shown = vec![false; regions.len()];
    for text in asked {
        let mark = |shown: &mut Vec<bool>, is: &dyn Fn(&str, &Region) -> bool| {
            let mut any = false;
            for (slot, (id, region)) in shown.iter_mut().zip(regions) {
                if is(id, region) {
                    *slot = true;
                    any = true;
                }
            }
            any
        };
        let glob = NameMatch::from_bare(text);
        let found = mark(&mut shown, &|id, _| id == *text)
            || mark(&mut shown, &|_, region| region.path == *text)
            || mark(&mut shown, &|_, region| region.name == *text)
            || mark(&mut shown, &|_, region| {
                region.kind != RegionKind::WholeProgram && glob.matches_function(&region.name)
            });
        if !found {
            let ids: Vec<&str> = regions.iter().take(12).map(|(id, _)| *id).collect();
            let more = match regions.len() - ids.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            return Err(ScalingError::Unknown {
                what: "region",
                name: text.clone(),
                known: format!("{}{more}", ids.join(", ")),
            });
        }
    }
    Ok(shown)
}

impl ScalingAnswer {
    /// Whether tables may have a row for every cell of the maps, those included where nothing was
    /// measured. Of thousands of inputs and core counts nearly all cells are gaps.
    #[must_use]
    pub fn has_room_for_gaps(&self) -> bool {
        let cells = self.inputs.len().saturating_mul(self.cores.len());
        cells.saturating_mul(self.shown().count()) as u64 <= self.limits.max_cells
    }

    /// The maps of a region by its position; `None` outside the answer.
    #[must_use]
    pub fn maps(&self, region: usize) -> Option<&Maps> {
        Some(&self.program.regions().get(region)?.maps)
    }

    /// What a sentence calls a region.
    #[must_use]
    pub fn display_name(&self, region: usize) -> String {
        self.regions.get(region).map(|region| display_name(&region.region)).unwrap_or_default()
    }

    /// Positions of the regions that were requested.
    pub fn shown(&self) -> impl Iterator<Item = usize> + '_ {
        self.regions.iter().enumerate().filter(|(_, region)| region.is_shown).map(|(at, _)| at)
    }

    /// The losses where the whole program loses most, the largest first.
    #[must_use]
    pub fn ranked(&self) -> Vec<Loss> {
        self.worst
            .map(|(input, core_idx)| ranked_losses(&self.losses, input, core_idx))
            .unwrap_or_default()
    }

    /// What makes the data doubtful, one sentence each: it stands beside the verdict, which is
    /// worth no more than its data.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let doubtful = self.issues.list().iter().filter(|issue| issue.severity != Severity::Note);
        doubtful
            .map(|issue| match issue.count {
                0 | 1 => clause_as_sentence(&issue.message),
                times => clause_as_sentence(&format!("{} ({times} times)", issue.message)),
            })
            .collect()
    }

    /// The verdict on the whole program: one sentence each.
    #[must_use]
    pub fn verdict(&self) -> &[String] {
        self.regions.first().map_or(&[], |region| &region.verdict.sentences)
    }
}

/// A clause with a capital, unless it begins with a name, and with a full stop.
fn clause_as_sentence(clause: &str) -> String {
    let word = clause.split([' ', ',']).next().unwrap_or_default();
    let is_word = !word.is_empty() && word.chars().all(|letter| letter.is_ascii_lowercase());
    let mut letters = clause.chars();
    let mut sentence = match letters.next() {
        Some(first) if is_word => format!("{}{}", first.to_ascii_uppercase(), letters.as_str()),
        _ => clause.to_owned(),
    };
    if !sentence.ends_with(['.', '!', '?', '…']) {
        sentence.push('.');
    }
    sentence
}
