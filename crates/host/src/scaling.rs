//! Answers about ensembles.

use std::collections::HashMap;

use parallax_service::analysis::scaling::{
    ChangeLimits, Map, Maps, Measure as ScalingMeasure, difference_range,
};
use parallax_service::scaling::{
    Ensemble, ModelRequest, NumberRule, ScalingAnswer, ScalingRegion, compare_versions,
    energy_table, models as find_models, pop_table, scaling as answer_scaling,
};
use parallax_service::{Answer, Table};
use parallax_wire::protocol::{
    CompareAsk, CompareReply, ComparedRegionReply, CurveReply, ErrorReply, ModelReply, ModelsAsk,
    ModelsReply, ParameterReply, RegionReply, ScalingAsk, ScalingReply, ScalingTableAsk,
    SpreadReply, TableOnlyReply,
};

use crate::errors::scaling_error;
use crate::response::{AnswerTables, plain, with_tables};

type Answered = Result<AnswerTables, ErrorReply>;

/// Changes of time up to this many per cent are noise unless a person says otherwise; as on the
/// command line.
const TOLERANCE_PERCENT: f64 = 2.0;

pub(crate) fn scaling(ensemble: &Ensemble, ask: &ScalingAsk) -> Answered {
    let request = ask.view.request(&[])?;
    let answer = answer_scaling(ensemble, &request).map_err(|error| scaling_error(&error))?;
    let regions =
        answer.regions.iter().enumerate().map(|(at, region)| region_reply(&answer, at, region));
    let whole = answer.maps(0);
    let position = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let reply = ScalingReply {
        title: answer.title.clone(),
        source: answer.source.clone(),
        unit: answer.unit.to_string(),
        inputs: answer.inputs.clone(),
        cores: answer.cores.clone(),
        baselines: whole
            .map(|maps| maps.baselines.iter().map(|baseline| baseline.cores()).collect())
            .unwrap_or_default(),
        regions: regions.collect(),
        worst: answer.worst.map(|(input, core)| (position(input), position(core))),
        verdict: answer.verdict().to_vec(),
        notes: answer.notes.clone(),
        parameters: parameters(ensemble),
        metrics: ensemble.metrics().iter().map(|metric| metric.name.clone()).collect(),
    };
    let cells = answer.cells_table().map_err(|error| scaling_error(&error))?;
    let losses = answer.losses_table(false);
    with_tables(ask, &reply, &[("cells", &cells), ("losses", &losses)])
}

fn region_reply(answer: &ScalingAnswer, at: usize, region: &ScalingRegion) -> RegionReply {
    let place = &region.region;
    let range = |of: fn(&Maps) -> [&Map; 3]| difference_range(&of(answer.maps(at)?));
    RegionReply {
        id: place.id.clone(),
        parent: region.parent.and_then(|parent| u32::try_from(parent).ok()),
        depth: u32::try_from(region.depth).unwrap_or(u32::MAX),
        kind: place.kind.name().to_owned(),
        name: place.name.clone(),
        display_name: answer.display_name(at),
        path: place.path.clone(),
        file: place.file.clone(),
        first_line: place.lines.map(|(first, _)| first),
        last_line: place.lines.map(|(_, last)| last),
        share_min: region.share_of_parent.map(|(low, _)| low),
        share_max: region.share_of_parent.map(|(_, high)| high),
        imbalance: region.imbalance.map(|spread| SpreadReply {
            min: spread.min,
            mean: spread.mean,
            max: spread.max,
        }),
        cause: region.cause.as_ref().map(parallax_service::scaling::Cause::words),
        sentences: region.verdict.sentences.clone(),
        range_absolute: range(|m| [&m.scalability_abs, &m.strong_abs, &m.weak_abs]),
        range_relative: range(|m| [&m.scalability_rel, &m.strong_rel, &m.weak_rel]),
    }
}

fn parameters(ensemble: &Ensemble) -> Vec<ParameterReply> {
    let parameters = ensemble.parameters().iter();
    parameters
        .map(|parameter| ParameterReply {
            name: parameter.name.clone(),
            values: parameter.values.iter().map(|value| value.label.clone()).collect(),
            numbers: parameter.values.iter().map(|value| value.number).collect(),
        })
        .collect()
}

pub(crate) fn table(ensemble: &Ensemble, ask: &ScalingTableAsk) -> Answered {
    let request = ask.view.request(&ask.regions)?;
    let answer = || answer_scaling(ensemble, &request).map_err(|error| scaling_error(&error));
    let noted = |answer: Answer<Table>| (answer.value, answer.notes);
    let (table, notes) = match ask.table.as_str() {
        "maps" => (answer()?.table(), Vec::new()),
        "regions" => (answer()?.regions_table(), Vec::new()),
        "losses" => (answer()?.losses_table(false), Vec::new()),
        "laws" => (answer()?.laws_table(), Vec::new()),
        "dispersion" => (answer()?.dispersion_table(), Vec::new()),
        "energy" => noted(energy_table(ensemble, &request).map_err(|error| scaling_error(&error))?),
        "pop" => noted(pop_table(ensemble, &request).map_err(|error| scaling_error(&error))?),
        word => {
            let known = "maps, regions, losses, laws, dispersion, energy, pop";
            return Err(ErrorReply::new("misuse", format!("table `{word}` is none of {known}")));
        }
    };
    with_tables(ask, &TableOnlyReply { notes }, &[("rows", &table)])
}

pub(crate) fn models(ensemble: &Ensemble, ask: &ModelsAsk) -> Answered {
    let mut request = ModelRequest {
        parameters: ask.parameters.clone(),
        numbers: ask
            .numbers
            .iter()
            .map(|text| NumberRule::parse(text))
            .collect::<Result<_, _>>()
            .map_err(|error| scaling_error(&error))?,
        metric: ask.metric.clone(),
        regions: ask.regions.clone(),
        predict_at: ask.curve.as_ref().map(|curve| curve.at.clone()).unwrap_or_default(),
        ..ModelRequest::default()
    };
    request.options.measure = match ask.statistic.as_deref() {
        None | Some("mean") => ScalingMeasure::Mean,
        Some("median") => ScalingMeasure::Median,
        Some("min") => ScalingMeasure::Min,
        Some("max") => ScalingMeasure::Max,
        Some(word) => {
            let known = "mean, median, min, max";
            return Err(ErrorReply::new(
                "misuse",
                format!("statistic `{word}` is none of {known}"),
            ));
        }
    };
    let answer = find_models(ensemble, &request).map_err(|error| scaling_error(&error))?;
    let value = &answer.value;
    let along = ask.curve.as_ref().and_then(|curve| {
        let at = value.parameters.iter().position(|name| *name == curve.parameter)?;
        Some((at, curve.values.as_slice()))
    });
    let models = value.models.iter().map(|found| ModelReply {
        region: if found.region.parent.is_none() {
            "0".to_owned()
        } else {
            found.region.id.clone()
        },
        path: found.region.path.clone(),
        metric: found.metric.clone(),
        unit: found.unit.clone(),
        group: found.group.clone(),
        formula: found.formula.clone(),
        smape: found.model.quality.smape,
        adjusted_r2: found.model.quality.adjusted_r2,
        points: u32::try_from(found.num_points).unwrap_or(u32::MAX),
        curve: along.map(|(at, values)| CurveReply {
            x: values.to_vec(),
            y: values
                .iter()
                .map(|&x| {
                    let mut point = value.predict_at.clone();
                    *point.get_mut(at)? = x;
                    found.model.function.evaluate(&point).filter(|y| y.is_finite())
                })
                .collect(),
        }),
    });
    plain(
        ask,
        &ModelsReply {
            parameters: value.parameters.clone(),
            models: models.collect(),
            notes: answer.notes.clone(),
        },
    )
}

pub(crate) fn compare(old: &Ensemble, new: &Ensemble, ask: &CompareAsk) -> Answered {
    let request = ask.view.request(&[])?;
    let limits = ChangeLimits {
        tolerance: ask.tolerance.unwrap_or(TOLERANCE_PERCENT) / 100.0,
        level: ask.significance.unwrap_or(ChangeLimits::default().level),
    };
    let answer =
        compare_versions(old, new, &request, limits).map_err(|error| scaling_error(&error))?;
    let at_path: HashMap<&str, u32> =
        (0..).zip(&answer.regions).map(|(at, region)| (region.region.path.as_str(), at)).collect();
    let parent = |region: &parallax_service::scaling::Region| {
        let above = old.regions().get(region.parent? as usize)?;
        at_path.get(above.path.as_str()).copied()
    };
    let regions = answer.regions.iter().enumerate().map(|(at, found)| ComparedRegionReply {
        id: found.region.id.clone(),
        parent: parent(&found.region),
        display_name: found.name.clone(),
        path: found.region.path.clone(),
        range: answer.difference_range(at),
    });
    let first = answer.regions.first().map(|region| &region.comparison.old);
    let [before, after] = answer.titles.clone();
    let reply = CompareReply {
        titles: (before, after),
        inputs: first.map(|maps| maps.inputs.to_vec()).unwrap_or_default(),
        cores: first.map(|maps| maps.cores.to_vec()).unwrap_or_default(),
        regions: regions.collect(),
        only_old: answer.only_old.clone(),
        only_new: answer.only_new.clone(),
        evidence: answer.evidence.clone(),
        sentences: answer.sentences.clone(),
        notes: answer.notes.clone(),
    };
    let table = answer.table();
    with_tables(ask, &reply, &[("cells", &table)])
}
