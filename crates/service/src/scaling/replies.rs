//! The answers to `scaling` and `scaling_table`.

use parallax_analysis::scaling::{
    BaselinePolicy, EfficiencyRule, MapOptions, Measure, Superlinear, VerdictOptions,
    difference_range,
};
use parallax_base::{Control, Limits};
use parallax_model::ensemble::Ensemble;
use parallax_protocol::{
    self as protocol, CoreOrder, NotesReply, ParameterReply, RegionReply, RepetitionStatistic,
    ScalingBaseline, ScalingReply, ScalingRequest, ScalingTable, ScalingTableKind,
    ScalingTableRequest, ScalingTableTables, ScalingTables, ScalingView, SpreadReply,
};

use super::answer::{ScalingAnswer, ScalingOptions, ScalingRegion, chosen_metric, scaling};
use super::axes::{AxisChoice, RunChoice};
use super::causes::Cause;
use super::energy::energy_table;
use super::pop::pop_table;
use super::tables::count;
use crate::{Answer, Answers, ServiceError};

/// The statistic of the analysis.
pub(super) const fn measure(statistic: RepetitionStatistic) -> Measure {
    match statistic {
        RepetitionStatistic::Median => Measure::Median,
        RepetitionStatistic::Mean => Measure::Mean,
        RepetitionStatistic::Min => Measure::Min,
        RepetitionStatistic::Max => Measure::Max,
    }
}

impl From<&ScalingView> for ScalingOptions {
    /// All regions.
    fn from(view: &ScalingView) -> Self {
        Self {
            axes: AxisChoice { cores: view.cores.clone(), fixed: view.fixed.clone() },
            order: CoreOrder::default(),
            metric: view.metric.clone(),
            regions: Vec::new(),
            min_percent: view.min_percent,
            runs: if view.trusted { RunChoice::Trusted } else { RunChoice::All },
            maps: MapOptions {
                measure: measure(view.statistic),
                efficiency: if view.per_repetition {
                    EfficiencyRule::PerRepetition
                } else {
                    EfficiencyRule::OfStatistic
                },
                baseline: match view.baseline {
                    ScalingBaseline::Serial => BaselinePolicy::Serial,
                    ScalingBaseline::Smallest => BaselinePolicy::Smallest,
                    ScalingBaseline::Common => BaselinePolicy::SmallestCommon,
                    ScalingBaseline::Cores(cores) => BaselinePolicy::Cores(cores.get()),
                },
                superlinear: if view.clamp {
                    Superlinear::ClampInDifferences
                } else {
                    Superlinear::Keep
                },
            },
            verdict: VerdictOptions::default(),
            limits: Limits::default(),
        }
    }
}

impl Answers<ScalingRequest> for Ensemble {
    fn answer(
        &self,
        request: &ScalingRequest,
        _: &Control,
    ) -> Result<protocol::Answer<ScalingRequest>, ServiceError> {
        let options =
            ScalingOptions { order: request.order, ..ScalingOptions::from(&request.view) };
        let answer = scaling(self, &options)?;
        let reply = answer.reply(self);
        let tables = ScalingTables { cells: answer.cells_table()?, losses: answer.losses_table() };
        Ok(protocol::Answer { reply, tables, unit: answer.unit.to_string() })
    }
}

impl Answers<ScalingTableRequest> for Ensemble {
    fn answer(
        &self,
        request: &ScalingTableRequest,
        _: &Control,
    ) -> Result<protocol::Answer<ScalingTableRequest>, ServiceError> {
        let options = ScalingOptions {
            regions: request.regions.clone(),
            order: request.order,
            ..ScalingOptions::from(&request.view)
        };
        let answer = || scaling(self, &options);
        let without_notes = |value: ScalingTable| Answer { value, notes: Vec::new() };
        let Answer { value: rows, notes } = match request.table {
            ScalingTableKind::Maps => without_notes(ScalingTable::Maps(answer()?.maps_table())),
            ScalingTableKind::Regions => {
                without_notes(ScalingTable::Regions(answer()?.regions_table()))
            }
            ScalingTableKind::Losses => {
                without_notes(ScalingTable::Losses(answer()?.losses_table()))
            }
            ScalingTableKind::Laws => without_notes(ScalingTable::Laws(answer()?.laws_table())),
            ScalingTableKind::Dispersion => {
                without_notes(ScalingTable::Dispersion(answer()?.dispersion_table()))
            }
            ScalingTableKind::Energy => {
                let Answer { value, notes } = energy_table(self, &options)?;
                Answer { value: ScalingTable::Energy(value), notes }
            }
            ScalingTableKind::Pop => {
                let Answer { value, notes } = pop_table(self, &options)?;
                Answer { value: ScalingTable::Pop(value), notes }
            }
        };
        // The tables of energy and POP have units of their own, whatever counts as time.
        let metric = chosen_metric(self, options.metric.as_deref()).ok();
        let metric = metric.and_then(|metric| self.metrics().get(usize::from(metric)));
        let unit = metric.map(|metric| metric.unit.to_string()).unwrap_or_default();
        let reply = NotesReply { notes };
        Ok(protocol::Answer { reply, tables: ScalingTableTables { rows }, unit })
    }
}

impl ScalingAnswer {
    fn reply(&self, ensemble: &Ensemble) -> ScalingReply {
        let regions = self.regions.iter().enumerate();
        let baselines = self.maps(0).map(|maps| &maps.baselines);
        ScalingReply {
            title: self.title.clone(),
            source: self.source.clone(),
            unit: self.unit.to_string(),
            inputs: self.inputs.clone(),
            cores: self.cores.clone(),
            rows: self.rows.iter().copied().map(count).collect(),
            baselines: baselines
                .map(|all| all.iter().map(|baseline| baseline.cores()).collect())
                .unwrap_or_default(),
            regions: regions.map(|(at, region)| self.region_reply(at, region)).collect(),
            worst: self.worst.map(|(input, core)| (count(input), count(core))),
            verdict: self.verdict().to_vec(),
            warnings: self.warnings(),
            notes: self.notes.clone(),
            parameters: parameters(ensemble),
            metrics: ensemble.metrics().iter().map(|metric| metric.name.clone()).collect(),
        }
    }

    fn region_reply(&self, at: usize, region: &ScalingRegion) -> RegionReply {
        let place = &region.region;
        let maps = self.maps(at);
        RegionReply {
            id: place.id.clone(),
            parent: region.parent.map(count),
            depth: count(region.depth),
            kind: place.kind.name(),
            name: place.name.clone(),
            display_name: self.display_name(at),
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
            cause: region.cause.as_ref().map(Cause::words),
            sentences: region.verdict.sentences.clone(),
            range_absolute: maps.and_then(|maps| {
                difference_range(&[&maps.scalability_abs, &maps.strong_abs, &maps.weak_abs])
            }),
            range_relative: maps.and_then(|maps| {
                difference_range(&[&maps.scalability_rel, &maps.strong_rel, &maps.weak_rel])
            }),
        }
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
