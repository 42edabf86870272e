//! Two versions of a program: what became faster or slower, and whether that is more than noise.

use parallax_analysis::scaling::{
    Change, CompareOptions, Comparison, Map, compare as compare_grids, difference_range,
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
/// A change counts when no repetition of one version lies among those of the other and the times
/// differ by more than `tolerance`.
///
/// # Errors
/// As `scaling`; also when the versions share no region.
pub fn compare_versions(
    old: &Ensemble,
    new: &Ensemble,
    request: &ScalingRequest,
    tolerance: f64,
) -> Result<ComparisonAnswer, ScalingError> {
    let mut notes = Vec::new();
    let axes =
        [Axes::of(old, &request.axes, &mut notes)?, Axes::of(new, &request.axes, &mut notes)?];
    notes.dedup();
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
    let options = CompareOptions { maps: request.maps, tolerance };
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
    let Some(first) = regions.first() else {
        return Err(ScalingError::Missing {
            what: "the two versions have no region in common".to_owned(),
            hint: "are they runs of the same program?".to_owned(),
        });
    };
    let sentences = sentences(first, &regions);
    for (what, added) in [
        ("inputs", first.comparison.added_inputs.clone()),
        ("core counts", first.comparison.added_cores.iter().map(u32::to_string).collect()),
    ] {
        if !added.is_empty() {
            notes.push(format!("only the new version has the {what} {}", added.join(", ")));
        }
    }
    let missing = first.comparison.changes.iter().filter(|change| change.is_none()).count();
    if missing > 0 {
        notes.push(format!(
            "{missing} of {} configurations were not measured in both versions",
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
        sentences,
        notes,
        issues,
    })
}

/// One clause about a region: in how many configurations it changed, and where most.
fn clause(comparison: &Comparison) -> String {
    let (mut faster, mut slower, mut same) = (0, 0, 0);
    let mut most: Option<(f64, usize)> = None;
    for (at, change) in comparison.changes.iter().enumerate() {
        match change {
            Some(Change::Faster { .. }) => faster += 1,
            Some(Change::Slower { .. }) => slower += 1,
            Some(Change::WithinNoise) => same += 1,
            None => continue,
        }
        let ratio = comparison.time_ratio.cells().get(at).copied().flatten();
        if let (Some(ratio), Some(Change::Faster { .. } | Change::Slower { .. })) = (ratio, change)
            && ratio > 0.0
            && most.is_none_or(|(most, _)| ratio.ln().abs() > most.ln().abs())
        {
            most = Some((ratio, at));
        }
    }
    let compared = faster + slower + same;
    let Some((ratio, at)) = most else {
        return format!("no change beyond noise in {compared} configurations");
    };
    let num_cores = comparison.old.cores.len().max(1);
    let cores = comparison.old.cores.get(at % num_cores).copied().unwrap_or(0);
    let direction = if ratio < 1.0 { "faster" } else { "slower" };
    let percent = if ratio < 1.0 { 100.0 * (1.0 - ratio) } else { 100.0 * (ratio - 1.0) };
    format!(
        "faster in {faster}, slower in {slower} of {compared} configurations; most, {percent:.0} % \
         {direction}, with input i{} on {cores} cores",
        at / num_cores + 1
    )
}

fn sentences(first: &ComparedRegion, regions: &[ComparedRegion]) -> Vec<String> {
    let mut out = vec![format!("whole program: {}", clause(&first.comparison))];
    // Core-seconds that a region costs more in the new version, over configurations that changed.
    let weight = |region: &ComparedRegion| {
        let c = &region.comparison;
        let num_cores = c.old.cores.len().max(1);
        c.changes
            .iter()
            .enumerate()
            .filter(|(_, change)| {
                matches!(change, Some(Change::Faster { .. } | Change::Slower { .. }))
            })
            .filter_map(|(at, _)| {
                let cores = f64::from(*c.old.cores.get(at % num_cores)?);
                let old = c.old.time.cells().get(at).copied().flatten()?;
                let new = c.new.time.cells().get(at).copied().flatten()?;
                Some(cores * (new - old))
            })
            .sum::<f64>()
    };
    let mut ranked: Vec<(f64, &ComparedRegion)> =
        regions.iter().skip(1).map(|region| (weight(region), region)).collect();
    ranked.retain(|(weight, _)| *weight != 0.0);
    ranked.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    for (_, region) in ranked.iter().take(5) {
        let name =
            if region.name.is_empty() { String::new() } else { format!(", {}", region.name) };
        out.push(format!("region {}{name}: {}", region.region.id, clause(&region.comparison)));
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
        let word = |change: Change| match change {
            Change::Faster { .. } => "faster",
            Change::Slower { .. } => "slower",
            Change::WithinNoise => "within noise",
        };
        let chance = |change: Change| match change {
            Change::Faster { chance } | Change::Slower { chance } => Some(chance),
            Change::WithinNoise => None,
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
                "faster, slower, or within noise.",
                rows.iter().map(|row| change(row).map(word)),
            ),
            Column::optional_f64s(
                "chance",
                "",
                "Probability that equal versions separate like this.",
                rows.iter().map(|row| change(row).and_then(chance)).collect(),
            ),
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
