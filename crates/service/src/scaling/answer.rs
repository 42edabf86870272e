//! Maps, verdicts and losses of all regions: the answer of `scaling`.

use parallax_analysis::scaling::{
    Grid, Loss, MapOptions, Maps, Program, Region as ProgramRegion, Spread, Verdict,
    VerdictOptions, losses, maps, outliers, ranked_losses, share_of_parent, verdicts,
    weak_diagonal,
};
use parallax_base::{Issues, Unit};
use parallax_engine::query::NameMatch;
use parallax_model::ensemble::{Ensemble, Region, RegionKind, metric_names};

use super::ScalingError;
use super::axes::{Axes, AxisChoice, RunChoice};
use super::causes::{Cause, Spreads};
use crate::{Column, Table};

/// What is asked about an ensemble.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScalingRequest {
    /// Which parameters become the axes.
    pub axes: AxisChoice,
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
    /// Why it loses, where that can be seen.
    pub cause: Option<Cause>,
    /// What a person should know, in plain words.
    pub verdict: Verdict,
    /// Whether it was asked for.
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
    /// All regions, the whole program first, parents before children.
    pub regions: Vec<ScalingRegion>,
    program: Program,
    /// Losses at every configuration, of the regions that a verdict names: those marked by a
    /// person, functions of the program and calls of MPI. Loops, lines and library functions
    /// count for the function around them. `region` is the position in `regions`.
    pub losses: Vec<Loss>,
    /// Positions of input and core count where the whole program loses most.
    pub worst: Option<(usize, usize)>,
    /// What a person should know, the most important first.
    pub notes: Vec<String>,
    /// What was repaired, dropped or guessed.
    pub issues: Issues,
}

/// A region before its maps are made.
struct Prepared {
    region: Region,
    parent: Option<usize>,
    grid: Grid,
    maps: Maps,
    /// Position in the ensemble; `None` for a whole program that was added up.
    source: Option<u32>,
}

/// Answers a request.
///
/// # Errors
/// When a parameter, region or metric is unknown, or there are no times at all.
pub fn scaling(
    ensemble: &Ensemble,
    request: &ScalingRequest,
) -> Result<ScalingAnswer, ScalingError> {
    let mut notes = Vec::new();
    let axes = Axes::of(ensemble, &request.axes, &mut notes)?;
    let metric = chosen_metric(ensemble, request.metric.as_deref())?;
    let unit = ensemble.metrics().get(usize::from(metric)).map_or(Unit::Count, |m| m.unit.clone());
    let prepared = prepare(ensemble, &axes, metric, request, &mut notes)?;
    let spreads = Spreads::of(ensemble, &axes, request.runs);

    let in_story = positions(&prepared);
    let story = story(&prepared, &in_story)?;
    let story_losses = losses(&story);
    let story_verdicts = verdicts(&story, request.verdict);
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
    let all_verdicts = verdicts(&program, request.verdict);
    let shown = shown_regions(&prepared, &request.regions)?;
    let mut regions: Vec<ScalingRegion> = Vec::with_capacity(prepared.len());
    for (at, (prepared, verdict)) in prepared.iter().zip(all_verdicts).enumerate() {
        let in_story = in_story.iter().position(|&position| position == at);
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
            Cause::of(&prepared.region, cell)
        });
        regions.push(ScalingRegion {
            region: prepared.region.clone(),
            parent: prepared.parent,
            depth,
            grid: prepared.grid.clone(),
            share_of_parent: share,
            imbalance: spread.flatten(),
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
        inputs: axes.inputs.clone(),
        cores: axes.cores.clone(),
        regions,
        program,
        losses,
        worst,
        notes,
        issues: ensemble.issues.clone(),
    };
    answer.explain_losses();
    answer.add_notes(request);
    answer.check_nesting();
    Ok(answer)
}

/// The metric that counts as time.
pub(super) fn chosen_metric(ensemble: &Ensemble, asked: Option<&str>) -> Result<u16, ScalingError> {
    let known = || {
        ensemble.metrics().iter().map(|metric| metric.name.clone()).collect::<Vec<_>>().join(", ")
    };
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
        hint: format!("choose one of their metrics with --metric: {}", known()),
    })
}

fn prepare(
    ensemble: &Ensemble,
    axes: &Axes,
    metric: u16,
    request: &ScalingRequest,
    notes: &mut Vec<String>,
) -> Result<Vec<Prepared>, ScalingError> {
    let relative = ensemble
        .metrics()
        .get(usize::from(metric))
        .is_some_and(|metric| metric.name == metric_names::EFFICIENCY);
    if relative {
        return Err(ScalingError::Missing {
            what: "the file has efficiencies only, from which no times can be had".to_owned(),
            hint: "open the JSON, XML or text report of the same runs".to_owned(),
        });
    }
    let grid =
        |region: u32| axes.grid(ensemble, metric, region, request.runs, request.maps.measure);
    let outermost: Vec<u32> = (0..)
        .zip(ensemble.regions())
        .filter(|(_, region)| region.parent.is_none())
        .map(|(at, _)| at)
        .collect();
    let mut prepared = Vec::new();
    // Where several regions are outermost, their sum stands for the program.
    let is_summed = outermost.len() > 1;
    if is_summed {
        notes.push(format!(
            "there is no time of the whole program: region 0 is the sum of the {} outermost \
             regions",
            outermost.len()
        ));
        let grid = axes.grid_of_sum(ensemble, metric, &outermost, request.runs)?;
        let region = Region {
            id: "0".to_owned(),
            path: String::new(),
            name: "all regions".to_owned(),
            parent: None,
            kind: RegionKind::WholeProgram,
            file: None,
            lines: None,
        };
        let maps = maps(&grid, request.maps);
        prepared.push(Prepared { region, parent: None, grid, maps, source: None });
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
        let maps = maps(&grid, request.maps);
        if request.min_percent > 0.0
            && let Some(program) = prepared.first()
            && parent.is_some()
        {
            let share = share_of_parent(&maps.time, &program.maps.time).min_max();
            if share.is_none_or(|(_, high)| high < request.min_percent) {
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
        prepared.push(Prepared { region, parent, grid, maps, source: Some(at) });
    }
    if prepared.iter().all(|region| region.maps.time.is_undefined()) {
        return Err(ScalingError::Missing {
            what: "no run has a time".to_owned(),
            hint: "the issues say what was left out, and why".to_owned(),
        });
    }
    Ok(prepared)
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

pub(super) fn is_mpi(name: &str) -> bool {
    name.starts_with("MPI_") || name.starts_with("PMPI_")
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
    Ok(Program::new(regions)?)
}

/// What a sentence calls a region: `checkpoint`, `MPI_Gather in checkpoint`,
/// `heat.c:117-137`.
pub(super) fn display_name(region: &Region) -> String {
    let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    match region.kind {
        RegionKind::WholeProgram => region.name.clone(),
        RegionKind::Function | RegionKind::Loop | RegionKind::Line | RegionKind::Entry => {
            // The function around it, as a person wrote it: no loops, no library, no outlined code,
            // no wrapper such as `hypre_MPI_Waitall` around `PMPI_Waitall`.
            let call = region.name.split(" [").next().unwrap_or("").trim_start_matches('P');
            let around = region.path.rsplit(" > ").skip(1).find(|name| {
                !(call.starts_with("MPI_") && name.contains(call))
                    && !name.starts_with("loop ")
                    && !name.starts_with('<')
                    && !name.contains(" [")
                    && !name.contains("._omp_fn")
            });
            let name = region.name.split(" [").next().filter(|name| !name.is_empty());
            let name = name.unwrap_or(&region.name);
            match around.filter(|around| *around != "main" && *around != name) {
                Some(around) => format!("{name} in {around}"),
                None => name.to_owned(),
            }
        }
        _ => match (&region.file, region.lines) {
            (Some(file), Some((first, last))) if last > 0 => {
                format!("{}:{first}-{last}", base(file))
            }
            _ if region.id.ends_with(&region.name) => String::new(),
            _ => region.name.clone(),
        },
    }
}

/// Which regions were asked for.
fn shown_regions(prepared: &[Prepared], asked: &[String]) -> Result<Vec<bool>, ScalingError> {
    if asked.is_empty() {
        return Ok(vec![true; prepared.len()]);
    }
    let mut shown = vec![false; prepared.len()];
    for text in asked {
        let mark = |shown: &mut Vec<bool>, is: &dyn Fn(&Region) -> bool| {
            let mut any = false;
            for (slot, prepared) in shown.iter_mut().zip(prepared) {
                if is(&prepared.region) {
                    *slot = true;
                    any = true;
                }
            }
            any
        };
        let glob = NameMatch::from_bare(text);
        let found = mark(&mut shown, &|region| region.id == *text)
            || mark(&mut shown, &|region| region.path == *text)
            || mark(&mut shown, &|region| region.name == *text)
            || mark(&mut shown, &|region| {
                region.kind != RegionKind::WholeProgram && glob.matches_function(&region.name)
            });
        if !found {
            let ids: Vec<&str> =
                prepared.iter().take(12).map(|region| region.region.id.as_str()).collect();
            let more = if prepared.len() > ids.len() { ", ..." } else { "" };
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

    /// Positions of the regions that were asked for.
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

    /// The verdict on the whole program: one sentence each.
    #[must_use]
    pub fn verdict(&self) -> &[String] {
        self.regions.first().map_or(&[], |region| &region.verdict.sentences)
    }

    /// Says why the regions that lose most do so, in their verdicts and in that of the program.
    fn explain_losses(&mut self) {
        const WORTH_A_WORD: f64 = 0.05;
        let mut told = Vec::new();
        for loss in self.ranked() {
            let share = loss.share.unwrap_or(0.0);
            if loss.region == 0 || share < WORTH_A_WORD {
                continue;
            }
            let name = self.display_name(loss.region);
            let Some(region) = self.regions.get_mut(loss.region) else { continue };
            if let Some(cause) = &region.cause {
                let words = cause.words();
                let id = &region.region.id;
                let named =
                    if name.is_empty() { format!("region {id}") } else { format!("{name} ({id})") };
                told.push(format!("{named} loses {:.0} %: {words}", 100.0 * share));
                region.verdict.sentences.push(words);
            }
        }
        told.truncate(5);
        let has_gain = self.ranked().iter().any(|loss| loss.share.unwrap_or(0.0) < -0.05);
        if has_gain && !told.is_empty() {
            told.push(
                "shares add up to more than 100 % where the slowest rank or thread is another one \
                 in each region"
                    .to_owned(),
            );
        }
        if let Some(program) = self.regions.first_mut() {
            program.verdict.sentences.extend(told);
        }
    }

    /// Some files call something "whole program" that does not contain their regions. Shares of
    /// its loss mean nothing then.
    fn check_nesting(&mut self) {
        const TOLERANCE: f64 = 1.05;
        let times: Vec<_> = self.program.regions().iter().map(|region| &region.maps.time).collect();
        let Some(whole) = times.first() else { return };
        let is_longer = |at: &usize| {
            times.get(*at).is_some_and(|time| {
                time.cells().iter().zip(whole.cells()).any(|(inner, outer)| {
                    inner.zip(*outer).is_some_and(|(inner, outer)| inner > TOLERANCE * outer)
                })
            })
        };
        let longer: Vec<usize> = (1..times.len()).filter(is_longer).collect();
        let Some(&first) = longer.first() else { return };
        let id = self.regions.get(first).map(|region| region.region.id.clone()).unwrap_or_default();
        let note = format!(
            "{} regions (such as {id}) take longer than what the file calls the whole program: \
             shares of its loss say nothing here",
            longer.len()
        );
        self.notes.insert(0, note);
        if let Some(program) = self.regions.first_mut() {
            for sentence in &mut program.verdict.sentences {
                if let Some((loss, share)) = sentence.split_once("; ")
                    && share.contains("of the loss of the whole program")
                {
                    *sentence = loss.to_owned();
                }
            }
        }
    }

    fn add_notes(&mut self, request: &ScalingRequest) {
        let Some(program) = self.program.regions().first().map(|region| &region.maps) else {
            return;
        };
        let missing = program.inputs_without_baseline();
        let mut notes = Vec::new();
        if !missing.is_empty() {
            let names: Vec<String> = missing.iter().map(|at| format!("i{}", at + 1)).collect();
            let which = if missing.len() == self.inputs.len() {
                "no input was".to_owned()
            } else {
                format!(
                    "{} {} not",
                    names.join(", "),
                    if names.len() == 1 { "was" } else { "were" }
                )
            };
            notes.push(format!(
                "{which} measured on the core count that efficiency is relative to: there are \
                 times, but no efficiency and no maps (choose a baseline that was measured: \
                 --baseline smallest, or a core count)"
            ));
        }
        if program.has_parallel_baseline() {
            notes.push(
                "efficiencies are relative to a parallel run: what was lost up to it does not show"
                    .to_owned(),
            );
        }
        if let Some(warning) = weak_diagonal(program, request.verdict.diagonal_tolerance)
            .and_then(|diagonal| diagonal.warning())
        {
            notes.push(warning);
        }
        if let Some(region) = self.regions.first() {
            let grid = &region.grid;
            let mut far = Vec::new();
            for input in 0..grid.inputs().len() {
                for (core_idx, cores) in grid.cores().iter().enumerate() {
                    let found = outliers(grid.repetitions(input, core_idx)).len();
                    if found > 0 {
                        far.push(format!("i{} on {cores}", input + 1));
                    }
                }
            }
            if !far.is_empty() {
                let more = if far.len() > 5 { ", ..." } else { "" };
                let count = far.len();
                far.truncate(5);
                notes.push(format!(
                    "{count} configurations have repetitions far from the others: {}{more}",
                    far.join(", ")
                ));
            }
        }
        notes.append(&mut self.notes);
        self.notes = notes;
    }

    /// One row for each region shown and each configuration: the exact columns that other
    /// programs rely on. `input` is the argument string, region `0` the whole program.
    #[must_use]
    pub fn table(&self) -> Table {
        let rows: Vec<(&str, parallax_analysis::scaling::Row<'_>)> = self
            .shown()
            .filter_map(|at| Some((self.regions.get(at)?, self.maps(at)?)))
            .flat_map(|(region, maps)| maps.rows().map(|row| (region.region.id.as_str(), row)))
            .collect();
        type Get = fn(&parallax_analysis::scaling::Row<'_>) -> Option<f64>;
        let column = |name: &str, unit: &str, doc: &'static str, get: Get| {
            Column::optional_f64s(name, unit, doc, rows.iter().map(|(_, row)| get(row)).collect())
        };
        let unit = self.unit.to_string();
        let counts = rows.iter().map(|(_, row)| u32::try_from(row.repetitions).unwrap_or(u32::MAX));
        Table::new(vec![
            Column::strings("region", "Region; 0 is the whole program.", rows.iter().map(|r| r.0)),
            Column::strings("input", "Program arguments.", rows.iter().map(|r| r.1.input)),
            Column::u32s("cores", "Cores used.", rows.iter().map(|r| r.1.cores).collect()),
            Column::u32s("repetitions", "Runs measured.", counts.collect()),
            column("time", &unit, "Statistic of the repetitions.", |row| row.time),
            column("time_min", &unit, "Shortest repetition.", |row| row.time_min),
            column("time_max", &unit, "Longest repetition.", |row| row.time_max),
            column("speedup", "", "Time of the baseline over the time.", |row| row.speedup),
            column("efficiency", "", "Speedup per core of the baseline.", |row| row.efficiency),
            column("scalability_abs", "", "Efficiency less that of the first input.", |row| {
                row.scalability_abs
            }),
            column("strong_abs", "", "Efficiency less that of the baseline.", |row| row.strong_abs),
            column("weak_abs", "", "Efficiency less that at the diagonal's start.", |row| {
                row.weak_abs
            }),
            column("scalability_rel", "", "Efficiency less that of the input before.", |row| {
                row.scalability_rel
            }),
            column("strong_rel", "", "Efficiency less that on fewer cores.", |row| row.strong_rel),
            column("weak_rel", "", "Efficiency less that one step up the diagonal.", |row| {
                row.weak_rel
            }),
        ])
    }

    /// One row for each region: its place, share, imbalance and verdict.
    #[must_use]
    pub fn regions_table(&self) -> Table {
        let rows: Vec<&ScalingRegion> =
            self.shown().filter_map(|at| self.regions.get(at)).collect();
        let parent = |row: &&ScalingRegion| Some(self.regions.get(row.parent?)?.region.id.clone());
        let line = |row: &&ScalingRegion, first: bool| {
            row.region.lines.map(|(a, b)| f64::from(if first { a } else { b }))
        };
        let share = |pick: fn((f64, f64)) -> f64| {
            rows.iter().map(|row| row.share_of_parent.map(pick)).collect()
        };
        Table::new(vec![
            Column::strings("region", "Id.", rows.iter().map(|row| &row.region.id)),
            Column::optional_strings("parent", "Region around it.", rows.iter().map(parent)),
            Column::strings("kind", "What it is.", rows.iter().map(|row| row.region.kind.name())),
            Column::strings("name", "Name.", rows.iter().map(|row| &row.region.name)),
            Column::strings("path", "Call path.", rows.iter().map(|row| &row.region.path)),
            Column::optional_strings(
                "file",
                "Source file.",
                rows.iter().map(|row| row.region.file.as_ref()),
            ),
            Column::optional_f64s(
                "first_line",
                "",
                "First line.",
                rows.iter().map(|row| line(row, true)).collect(),
            ),
            Column::optional_f64s(
                "last_line",
                "",
                "Last line.",
                rows.iter().map(|row| line(row, false)).collect(),
            ),
            Column::optional_f64s(
                "share_min",
                "%",
                "Smallest share of its parent's time.",
                share(|(low, _)| low),
            ),
            Column::optional_f64s(
                "share_max",
                "%",
                "Largest share of its parent's time.",
                share(|(_, high)| high),
            ),
            Column::optional_f64s(
                "imbalance_mean",
                "",
                "Mean load imbalance over the configurations.",
                rows.iter().map(|row| row.imbalance.map(|spread| spread.mean)).collect(),
            ),
            Column::optional_f64s(
                "imbalance_max",
                "",
                "Largest load imbalance.",
                rows.iter().map(|row| row.imbalance.map(|spread| spread.max)).collect(),
            ),
            Column::strings(
                "verdict",
                "What a person should know.",
                rows.iter().map(|row| row.verdict.text()),
            ),
        ])
    }

    /// The losses where the whole program loses most, or at every configuration.
    #[must_use]
    pub fn losses_table(&self, everywhere: bool) -> Table {
        let ranked = if everywhere { self.losses.clone() } else { self.ranked() };
        let rows: Vec<(&Loss, &ScalingRegion)> =
            ranked.iter().filter_map(|loss| Some((loss, self.regions.get(loss.region)?))).collect();
        let unit = format!("core {}", self.unit);
        let words = |row: &ScalingRegion| row.cause.as_ref().map(Cause::words);
        Table::new(vec![
            Column::strings("region", "Id.", rows.iter().map(|(_, row)| &row.region.id)),
            Column::strings(
                "name",
                "What it is called.",
                rows.iter().map(|(_, row)| match display_name(&row.region) {
                    name if name.is_empty() => row.region.path.clone(),
                    name => name,
                }),
            ),
            Column::strings(
                "input",
                "Program arguments.",
                rows.iter().map(|(loss, _)| self.inputs.get(loss.input).map_or("", String::as_str)),
            ),
            Column::u32s(
                "cores",
                "Cores used.",
                rows.iter()
                    .map(|(loss, _)| self.cores.get(loss.core_idx).copied().unwrap_or(0))
                    .collect(),
            ),
            Column::f64s(
                "loss",
                &unit,
                "Core-seconds beyond the baseline, with everything inside.",
                rows.iter().map(|(loss, _)| loss.inclusive).collect(),
            ),
            Column::f64s(
                "own_loss",
                &unit,
                "The same without what the regions inside lose.",
                rows.iter().map(|(loss, _)| loss.own).collect(),
            ),
            Column::optional_f64s(
                "share",
                "%",
                "Own loss as a share of the program's loss.",
                rows.iter().map(|(loss, _)| loss.share.map(|share| 100.0 * share)).collect(),
            ),
            Column::optional_strings(
                "cause",
                "Why, where that can be seen.",
                rows.iter().map(|(_, row)| words(row)),
            ),
        ])
    }
}
