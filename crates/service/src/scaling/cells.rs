//! Any metric of an ensemble by region, input and core count.

use parallax_analysis::scaling::Grid;
use parallax_base::Unit;
use parallax_model::ensemble::{Ensemble, Region};

use super::ScalingError;
use super::answer::{ScalingOptions, shown_regions};
use super::axes::{Axes, RunChoice};

/// A region that was requested.
pub(super) struct ShownRegion<'a> {
    /// Its position in the ensemble.
    pub(super) at: u32,
    /// The id that the user sees: `0` for the whole program.
    pub(super) id: &'a str,
    pub(super) region: &'a Region,
}

/// The metrics of an ensemble on the axes of options.
pub(super) struct Cells<'a> {
    ensemble: &'a Ensemble,
    pub(super) axes: Axes,
    options: &'a ScalingOptions,
    pub(super) regions: Vec<ShownRegion<'a>>,
}

/// One value of one run.
pub(super) struct RunValue {
    pub(super) run: u32,
    pub(super) input: usize,
    pub(super) cores: u32,
    pub(super) value: f64,
}

impl<'a> Cells<'a> {
    pub(super) fn of(
        ensemble: &'a Ensemble,
        options: &'a ScalingOptions,
        notes: &mut Vec<String>,
    ) -> Result<Self, ScalingError> {
        let axes = Axes::of(ensemble, &options.axes, options.order, notes)?;
        let outermost = ensemble.regions().iter().filter(|region| region.parent.is_none()).count();
        let all: Vec<(&str, &Region)> = ensemble
            .regions()
            .iter()
            .map(|region| {
                let is_whole = outermost == 1 && region.parent.is_none();
                (if is_whole { "0" } else { region.id.as_str() }, region)
            })
            .collect();
        let is_shown = shown_regions(&all, &options.regions)?;
        let regions = (0..)
            .zip(all.iter().zip(is_shown))
            .filter(|(_, (_, is_shown))| *is_shown)
            .map(|(at, (&(id, region), _))| ShownRegion { at, id, region })
            .collect();
        Ok(Self { ensemble, axes, options, regions })
    }

    pub(super) fn metric(&self, is: impl Fn(&str, &Unit) -> bool) -> Option<u16> {
        let found = self.ensemble.metrics().iter().position(|m| is(&m.name, &m.unit))?;
        u16::try_from(found).ok()
    }

    /// The repetitions of a metric in a region.
    pub(super) fn grid(&self, metric: u16, region: u32) -> Result<Grid, ScalingError> {
        let (runs, measure) = (self.options.runs, self.options.maps.measure);
        self.axes.grid(self.ensemble, metric, region, runs, measure)
    }

    /// The statistic over repetitions at a configuration.
    pub(super) fn value(&self, grid: &Grid, input: usize, core_idx: usize) -> Option<f64> {
        self.options.maps.measure.of(grid.repetitions(input, core_idx))
    }

    /// The values of a metric in a region, run by run, for the runs that count.
    pub(super) fn runs(&self, metric: u16, region: u32) -> impl Iterator<Item = RunValue> {
        self.ensemble.samples_of(metric, region).iter().filter_map(|sample| {
            let run = self.ensemble.runs().get(sample.run as usize)?;
            if self.options.runs == RunChoice::Trusted && !run.is_trusted {
                return None;
            }
            let (input, cores) = self.axes.cell(run.coordinate)?;
            Some(RunValue { run: sample.run, input, cores, value: sample.value })
        })
    }
}
