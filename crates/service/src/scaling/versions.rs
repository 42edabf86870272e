//! Two versions of a program: what became faster or slower, and whether that is more than noise.

use std::collections::HashMap;
use std::sync::Arc;

use parallax_analysis::scaling::{
    Change, ChangeKind, ChangeLimits, CompareOptions, Comparison, Map, compare as compare_grids,
    difference_range, judge,
};
use parallax_base::{Control, Issues, Unit};
use parallax_model::ensemble::{Ensemble, Region, RegionKind};
use parallax_protocol::{
    self as protocol, CompareReply, CompareRequest, CompareTables, ComparedCellRow,
    ComparedCellTable, ComparedRegionReply,
};

use super::ScalingError;
use super::answer::{ScalingOptions, chosen_metric, display_name};
use super::axes::Axes;
use crate::{Answers, ServiceError};

/// One region in both versions.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRegion {
    /// The region, with its id in the old version.
    pub region: Region,
    /// Call path of the region around it in the old version.
    pub parent: Option<String>,
    /// What a sentence calls it.
    pub name: String,
    /// The differences.
    pub comparison: Comparison,
}

/// Two ensembles: versions of one program.
#[derive(Debug, Clone)]
pub struct EnsemblePair {
    /// The old version.
    pub old: Arc<Ensemble>,
    /// The new version.
    pub new: Arc<Ensemble>,
}

/// Two versions side by side.
#[derive(Debug, Clone)]
pub struct ComparisonAnswer {
    /// What the versions are called: title and origin of each.
    pub titles: [String; 2],
    /// Unit of the times of the old version.
    pub unit: Unit,
    /// Regions that both have, the whole program first.
    pub regions: Vec<ComparedRegion>,
    /// Paths of regions that only the old version has.
    pub only_old: Vec<String>,
    /// Paths of regions that only the new version has.
    pub only_new: Vec<String>,
    /// What changes are judged by: which test, on how many runs, adjusted for how many looks, at
    /// which level.
    pub evidence: String,
    /// The verdict in plain words.
    pub sentences: Vec<String>,
    /// Remarks.
    pub notes: Vec<String>,
    /// Issues of both.
    pub issues: Issues,
}

/// Compares two versions on the configurations of the old one. Regions are matched by their
/// path, inputs by their argument string, core counts by their number.
///
/// Whether a change counts is said by Welch's test of the repetitions, with probabilities adjusted
/// for all configurations and regions (Benjamini and Hochberg), and by the tolerance of `limits`.
/// Where a version has a single run nothing is judged.
///
/// # Errors
/// As `scaling`; also when the versions share no region.
pub fn compare_versions(
    old: &Ensemble,
    new: &Ensemble,
    options: &ScalingOptions,
    limits: ChangeLimits,
) -> Result<ComparisonAnswer, ScalingError> {
    let mut notes = Vec::new();
    let mut axes = |ensemble| Axes::of(ensemble, &options.axes, options.order, &mut notes);
    let axes = [axes(old)?, axes(new)?];
    notes.dedup();
    let [old_axes, new_axes] = &axes;
    old_axes.check_cells(old.regions().len(), &options.limits)?;
    new_axes.check_axes(new.regions().len(), &options.limits)?;
    let metric = [
        chosen_metric(old, options.metric.as_deref())?,
        chosen_metric(new, options.metric.as_deref())?,
    ];
    let key = |region: &Region| match region.kind {
        RegionKind::WholeProgram => String::new(),
        _ => region.path.clone(),
    };
    let by_key: HashMap<String, u32> =
        (0..).zip(new.regions()).map(|(at, region)| (key(region), at)).collect();
    let compared = CompareOptions { maps: options.maps, limits };
    let mut regions = Vec::new();
    let mut only_old = Vec::new();
    let mut matched = std::collections::HashSet::new();
    for (at, region) in (0..).zip(old.regions()) {
        let Some(&other) = by_key.get(&key(region)) else {
            only_old.push(region.path.clone());
            continue;
        };
        matched.insert(other);
        let [old_axes, new_axes] = &axes;
        let [old_metric, new_metric] = metric;
        let measure = options.maps.measure;
        let before = old_axes.grid(old, old_metric, at, options.runs, measure)?;
        let after = new_axes.grid(new, new_metric, other, options.runs, measure)?;
        let parent = region.parent.and_then(|above| old.regions().get(above as usize));
        regions.push(ComparedRegion {
            region: region.clone(),
            parent: parent.map(|above| above.path.clone()),
            name: display_name(region),
            comparison: compare_grids(&before, &after, compared),
        });
    }
    let only_new: Vec<String> = (0..)
        .zip(new.regions())
        .filter(|(at, _)| !matched.contains(at))
        .map(|(_, region)| region.path.clone())
        .collect();
    let num_tested = judge(regions.iter_mut().map(|region| &mut region.comparison), limits);
    let Some(first) = regions.first() else {
        return Err(ScalingError::Missing {
            what: "the two versions have no region in common".to_owned(),
            hint: "are they runs of the same program?".to_owned(),
        });
    };
    let sentences = sentences(first, &regions);
    let evidence = evidence(&regions, num_tested, limits);
    for (what, added) in [
        ("inputs", first.comparison.added_inputs.clone()),
        ("core counts", first.comparison.added_cores.iter().map(u32::to_string).collect()),
    ] {
        if !added.is_empty() {
            notes.push(format!("Only the new version has the {what} {}.", added.join(", ")));
        }
    }
    let missing = first.comparison.changes.iter().filter(|change| change.is_none()).count();
    if missing > 0 {
        notes.push(format!(
            "{missing} of {} configurations were not measured in both versions.",
            first.comparison.changes.len()
        ));
    }
    let mut issues = old.issues.clone();
    issues.extend(new.issues.clone());
    let title =
        |ensemble: &Ensemble| format!("{} ({})", ensemble.metadata.title, ensemble.metadata.origin);
    let unit = old.metrics().get(usize::from(metric[0])).map(|metric| metric.unit.clone());
    Ok(ComparisonAnswer {
        unit: unit.unwrap_or(Unit::Count),
        titles: [title(old), title(new)],
        regions,
        only_old,
        only_new,
        evidence,
        sentences,
        notes,
        issues,
    })
}

/// What changes are judged by, in words.
fn evidence(regions: &[ComparedRegion], num_tested: usize, limits: ChangeLimits) -> String {
    let changes = || regions.iter().flat_map(|region| region.comparison.changes.iter().flatten());
    let judged = || changes().filter(|change| change.test.is_some());
    let range = |of: fn(&Change) -> usize| {
        let (least, most) = (judged().map(of).min(), judged().map(of).max());
        match (least.unwrap_or(0), most.unwrap_or(0)) {
            (least, most) if least == most => most.to_string(),
            (least, most) => format!("{least} to {most}"),
        }
    };
    let not_judged = changes().count() - judged().count();
    if num_tested == 0 {
        return "One run each: the variance is unknown, so changes are not tested; repeat each \
                configuration"
            .to_owned();
    }
    let mut text = format!(
        "Welch's t-test of {} versus {} repetitions; {num_tested} configurations of regions \
         tested, p adjusted (Benjamini-Hochberg); significance level {} %, tolerance {} % of time",
        range(|change| change.runs.0),
        range(|change| change.runs.1),
        percent(limits.level),
        percent(limits.tolerance)
    );
    if not_judged > 0 {
        text.push_str(&format!("; {not_judged} more have a single run and are not tested"));
    }
    text
}

/// A share in per cent, in as few digits as it needs.
fn percent(share: f64) -> String {
    // Three places, without those that are 0.
    let text = format!("{:.3}", 100.0 * share);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// One clause about a region: in how many configurations it changed, and where most.
fn clause(comparison: &Comparison) -> String {
    let count = |kind: ChangeKind| {
        comparison.changes.iter().flatten().filter(|change| change.kind == kind).count()
    };
    let (faster, slower) = (count(ChangeKind::Faster), count(ChangeKind::Slower));
    let not_judged = count(ChangeKind::NotJudged);
    let judged = faster + slower + count(ChangeKind::WithinNoise);
    let width = comparison.old.cores.len().max(1);
    let ratios = || {
        let changes = comparison.changes.iter().enumerate();
        changes.filter_map(|(at, change)| {
            Some((at, comparison.time_ratio.get(at / width, at % width)?, (*change)?))
        })
    };
    let farther = |a: &(usize, f64, Change), b: &(usize, f64, Change)| {
        // Of equal ones the first.
        a.1.ln().abs().total_cmp(&b.1.ln().abs()).then(b.0.cmp(&a.0))
    };
    let mut text = match ratios().filter(|(_, r, c)| *r > 0.0 && c.kind.counts()).max_by(farther) {
        _ if judged == 0 => String::new(),
        None => format!("no significant change in {judged} configurations"),
        Some((at, ratio, _)) => {
            let num_cores = comparison.old.cores.len().max(1);
            let cores = comparison.old.cores.get(at % num_cores).copied().unwrap_or(0);
            format!(
                "faster in {faster}, slower in {slower} of {judged} configurations; largest change \
                 {}, with input i{} on {cores} cores",
                difference(ratio),
                at / num_cores + 1
            )
        }
    };
    if not_judged == 0 {
        return if text.is_empty() { "not measured in both versions".to_owned() } else { text };
    }
    let single = || ratios().filter(|(_, _, change)| change.kind == ChangeKind::NotJudged);
    let (least, most) =
        (single().min_by(|a, b| a.1.total_cmp(&b.1)), single().max_by(|a, b| a.1.total_cmp(&b.1)));
    let told = match (least, most) {
        (Some((_, least, _)), Some((_, most, _))) if difference(least) == difference(most) => {
            difference(least)
        }
        (Some((_, least, _)), Some((_, most, _))) => {
            format!("from {} to {}", difference(least), difference(most))
        }
        _ => String::new(),
    };
    if !text.is_empty() {
        text.push_str("; ");
    }
    let all_single = single().all(|(_, _, change)| change.runs == (1, 1));
    let why = if all_single { "one run each" } else { "a single run of one version" };
    let plural = if not_judged == 1 { "" } else { "s" };
    text.push_str(&format!(
        "{told} in {not_judged} configuration{plural}, not tested ({why}: the variance is unknown)"
    ));
    text
}

/// `3 % slower`.
fn difference(ratio: f64) -> String {
    let direction = if ratio < 1.0 { "faster" } else { "slower" };
    match format!("{:.0}", 100.0 * (ratio - 1.0).abs()).as_str() {
        "0" => "unchanged".to_owned(),
        percent => format!("{percent} % {direction}"),
    }
}

fn sentences(first: &ComparedRegion, regions: &[ComparedRegion]) -> Vec<String> {
    let mut out = vec![format!("Whole program: {}.", clause(&first.comparison))];
    // Core-seconds that a region costs more in the new version, over configurations that changed.
    let weight = |region: &ComparedRegion| {
        let c = &region.comparison;
        let num_cores = c.old.cores.len().max(1);
        c.changes
            .iter()
            .enumerate()
            .filter(|(_, change)| change.is_some_and(|change| change.kind.counts()))
            .filter_map(|(at, _)| {
                let cores = f64::from(*c.old.cores.get(at % num_cores)?);
                let old = c.old.time.get(at / num_cores, at % num_cores)?;
                let new = c.new.time.get(at / num_cores, at % num_cores)?;
                Some(cores * (new - old))
            })
            .sum::<f64>()
    };
    let mut ranked: Vec<(f64, &ComparedRegion)> =
        regions.iter().skip(1).map(|region| (weight(region), region)).collect();
    ranked.retain(|(weight, _)| *weight != 0.0);
    ranked.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    const NAMED: usize = 5;
    for (_, region) in ranked.iter().take(NAMED) {
        let name =
            if region.name.is_empty() { String::new() } else { format!(", {}", region.name) };
        out.push(format!("Region {}{name}: {}.", region.region.id, clause(&region.comparison)));
    }
    match ranked.len().saturating_sub(NAMED) {
        0 => {}
        1 => out.push("1 more region changed, by fewer core-seconds.".to_owned()),
        more => out.push(format!("{more} more regions changed, by fewer core-seconds.")),
    }
    out
}

impl ComparisonAnswer {
    /// The largest absolute value of all differences of efficiency of a region.
    #[must_use]
    pub fn difference_range(&self, region: usize) -> f64 {
        let Some(found) = self.regions.get(region) else { return 0.0 };
        let c = &found.comparison;
        let maps: [&Map; 4] = [&c.efficiency, &c.scalability_abs, &c.strong_abs, &c.weak_abs];
        difference_range(&maps).unwrap_or(0.0)
    }

    /// One row for each region and configuration.
    #[must_use]
    pub fn cells_table(&self) -> ComparedCellTable {
        let mut table = ComparedCellTable::default();
        for found in &self.regions {
            let c = &found.comparison;
            let region: Arc<str> = Arc::from(found.region.id.as_str());
            for (i, input) in c.old.inputs.iter().enumerate() {
                let input: Arc<str> = Arc::from(input.as_str());
                table.extend(c.old.cores.iter().enumerate().map(|(j, &cores)| {
                    let change = c.changes.get(i * c.old.cores.len() + j).copied().flatten();
                    let test = change.and_then(|change| change.test);
                    ComparedCellRow {
                        region: Arc::clone(&region),
                        input: Arc::clone(&input),
                        cores,
                        time_old: c.old.time.get(i, j),
                        time_new: c.new.time.get(i, j),
                        time_ratio: c.time_ratio.get(i, j),
                        change: change.map(|change| change.kind.name()),
                        runs_old: change.map(|change| change.runs.0 as u64),
                        runs_new: change.map(|change| change.runs.1 as u64),
                        p: test.map(|test| test.p),
                        p_adjusted: test.map(|test| test.adjusted_p),
                        low: test.map(|test| test.interval.0),
                        high: test.map(|test| test.interval.1),
                        efficiency: c.efficiency.get(i, j),
                        scalability_abs: c.scalability_abs.get(i, j),
                        strong_abs: c.strong_abs.get(i, j),
                        weak_abs: c.weak_abs.get(i, j),
                        scalability_rel: c.scalability_rel.get(i, j),
                        strong_rel: c.strong_rel.get(i, j),
                        weak_rel: c.weak_rel.get(i, j),
                    }
                }));
            }
        }
        table
    }

    fn reply(&self) -> CompareReply {
        let at_path: HashMap<&str, u32> =
            (0..).zip(&self.regions).map(|(at, found)| (found.region.path.as_str(), at)).collect();
        let regions = self.regions.iter().enumerate().map(|(at, found)| ComparedRegionReply {
            id: found.region.id.clone(),
            parent: found.parent.as_deref().and_then(|path| at_path.get(path).copied()),
            display_name: found.name.clone(),
            path: found.region.path.clone(),
            range: self.difference_range(at),
        });
        let first = self.regions.first().map(|region| &region.comparison.old);
        let [old, new] = self.titles.clone();
        CompareReply {
            titles: (old, new),
            inputs: first.map(|maps| maps.inputs.to_vec()).unwrap_or_default(),
            cores: first.map(|maps| maps.cores.to_vec()).unwrap_or_default(),
            regions: regions.collect(),
            only_old: self.only_old.clone(),
            only_new: self.only_new.clone(),
            evidence: self.evidence.clone(),
            sentences: self.sentences.clone(),
            notes: self.notes.clone(),
        }
    }
}

/// When a change counts, by a request.
#[must_use]
pub fn change_limits(request: &CompareRequest) -> ChangeLimits {
    ChangeLimits { tolerance: request.tolerance / 100.0, level: request.significance }
}

impl Answers<CompareRequest> for EnsemblePair {
    fn answer(
        &self,
        request: &CompareRequest,
        _: &Control,
    ) -> Result<protocol::Answer<CompareRequest>, ServiceError> {
        let options = ScalingOptions::from(&request.view);
        let answer = compare_versions(&self.old, &self.new, &options, change_limits(request))?;
        let tables = CompareTables { cells: answer.cells_table() };
        let unit = answer.unit.to_string();
        Ok(protocol::Answer { reply: answer.reply(), tables, unit })
    }
}
