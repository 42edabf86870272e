//! Two versions of a program: what became faster or slower, and whether that is more than noise.

use parallax_analysis::math::Test;
use parallax_analysis::scaling::{
    Change, ChangeKind, ChangeLimits, CompareOptions, Comparison, Map, compare as compare_grids,
    difference_range, judge,
};
use parallax_base::Issues;
use parallax_model::ensemble::{Ensemble, Region, RegionKind};

use super::ScalingError;
use super::answer::{ScalingRequest, chosen_metric, display_name};
use super::axes::Axes;
use crate::{Column, Table};

/// One region in both versions.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRegion {
    /// The region, with its id in the old version.
    pub region: Region,
    /// What a sentence calls it.
    pub name: String,
    /// The differences.
    pub comparison: Comparison,
}

/// Two versions side by side.
#[derive(Debug, Clone)]
pub struct ComparisonAnswer {
    /// What the versions are called: title and origin of each.
    pub titles: [String; 2],
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
    /// What a person should know.
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
    request: &ScalingRequest,
    limits: ChangeLimits,
) -> Result<ComparisonAnswer, ScalingError> {
    let mut notes = Vec::new();
    let axes =
        [Axes::of(old, &request.axes, &mut notes)?, Axes::of(new, &request.axes, &mut notes)?];
    notes.dedup();
    let [old_axes, new_axes] = &axes;
    old_axes.check_cells(old.regions().len(), &request.limits)?;
    new_axes.check_axes(new.regions().len(), &request.limits)?;
    let metric = [
        chosen_metric(old, request.metric.as_deref())?,
        chosen_metric(new, request.metric.as_deref())?,
    ];
    let key = |region: &Region| match region.kind {
        RegionKind::WholeProgram => String::new(),
        _ => region.path.clone(),
    };
    let by_key: std::collections::HashMap<String, u32> =
        (0..).zip(new.regions()).map(|(at, region)| (key(region), at)).collect();
    let options = CompareOptions { maps: request.maps, limits };
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
        let measure = request.maps.measure;
        let before = old_axes.grid(old, old_metric, at, request.runs, measure)?;
        let after = new_axes.grid(new, new_metric, other, request.runs, measure)?;
        regions.push(ComparedRegion {
            region: region.clone(),
            name: display_name(region),
            comparison: compare_grids(&before, &after, options),
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
    Ok(ComparisonAnswer {
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
    pub fn table(&self) -> Table {
        let mut rows: Vec<(&ComparedRegion, usize, usize)> = Vec::new();
        for region in &self.regions {
            for input in 0..region.comparison.old.inputs.len() {
                for core_idx in 0..region.comparison.old.cores.len() {
                    rows.push((region, input, core_idx));
                }
            }
        }
        type Get = fn(&Comparison) -> &Map;
        let map = |name: &str, unit: &str, doc: &'static str, get: Get| {
            let cell = |(region, i, j): &(&ComparedRegion, usize, usize)| {
                get(&region.comparison).get(*i, *j)
            };
            Column::optional_f64s(name, unit, doc, rows.iter().map(cell).collect())
        };
        let change = |(region, i, j): &(&ComparedRegion, usize, usize)| {
            let at = i * region.comparison.old.cores.len() + j;
            region.comparison.changes.get(at).copied().flatten()
        };
        let runs = |of: fn(Change) -> usize| {
            rows.iter().map(|row| change(row).map(|change| of(change) as u64)).collect::<Vec<_>>()
        };
        let tested = |name: &str, unit: &str, doc: &'static str, of: fn(Test) -> f64| {
            let value = |row| change(row).and_then(|change| change.test).map(of);
            Column::optional_f64s(name, unit, doc, rows.iter().map(value).collect())
        };
        Table::new(vec![
            Column::strings("region", "Region.", rows.iter().map(|row| &row.0.region.id)),
            Column::strings(
                "input",
                "Program arguments.",
                rows.iter().map(|(region, i, _)| {
                    region.comparison.old.inputs.get(*i).map_or("", String::as_str)
                }),
            ),
            Column::u32s(
                "cores",
                "Cores used.",
                rows.iter()
                    .map(|(region, _, j)| region.comparison.old.cores.get(*j).copied().unwrap_or(0))
                    .collect(),
            ),
            map("time_old", "s", "Time of the old version.", |c| &c.old.time),
            map("time_new", "s", "Time of the new version.", |c| &c.new.time),
            map("time_ratio", "", "New over old: below 1 is faster.", |c| &c.time_ratio),
            Column::optional_strings(
                "change",
                "faster, slower, within noise, or not tested where a version has a single run.",
                rows.iter().map(|row| change(row).map(|change| change.kind.name())),
            ),
            Column::optional_u64s("runs_old", "", "Repetitions of the old version.", {
                runs(|change| change.runs.0)
            }),
            Column::optional_u64s("runs_new", "", "Repetitions of the new version.", {
                runs(|change| change.runs.1)
            }),
            tested("p", "", "Probability of such a difference by chance.", |test| test.p),
            tested("p_adjusted", "", "The same for all configurations and regions at once.", |t| {
                t.adjusted_p
            }),
            tested("low", "s", "95 % interval of the difference, lower end.", |t| t.interval.0),
            tested("high", "s", "95 % interval of the difference, upper end.", |t| t.interval.1),
            map("efficiency", "", "Difference of efficiency.", |c| &c.efficiency),
            map("scalability_abs", "", "Difference of scalability.", |c| &c.scalability_abs),
            map("strong_abs", "", "Difference of strong scaling.", |c| &c.strong_abs),
            map("weak_abs", "", "Difference of weak scaling.", |c| &c.weak_abs),
            map("scalability_rel", "", "Difference, relative.", |c| &c.scalability_rel),
            map("strong_rel", "", "Difference, relative.", |c| &c.strong_rel),
            map("weak_rel", "", "Difference, relative.", |c| &c.weak_rel),
        ])
    }
}
