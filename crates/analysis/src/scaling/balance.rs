//! Load imbalance between threads, its spread over configurations, and shares of the parent.

use super::map::Map;
use crate::math::Measure;
use crate::math::numeric::mean;

/// How the disparity of thread times is expressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ImbalanceRule {
    /// `(max - mean) / max`, in 0..1: the part of the slowest thread's time that perfect
    /// balancing would save. The default, as PaScal's own expression is not public.
    #[default]
    MaxOverMean,
    /// `(max - min) / max`, in 0..1.
    Range,
    /// `max / mean - 1`, 0 and above: the classical percentage of imbalance.
    Excess,
}

/// Load imbalance of the times of threads (or ranks) in one region.
///
/// `None` for fewer than two threads, for a time that is negative or not finite, and when nobody
/// spent any time. Source: PaScal Viewer paper of 2025, section 3.3, for the meaning;
/// DeRose et al., "Detecting application load imbalance", Euro-Par 2007, for the expressions.
#[must_use]
pub fn imbalance(times: &[f64], rule: ImbalanceRule) -> Option<f64> {
    if times.len() < 2 || times.iter().any(|time| !time.is_finite() || *time < 0.0) {
        return None;
    }
    let max = Measure::Max.of(times)?;
    if max <= 0.0 {
        return None;
    }
    // The mean cannot exceed the maximum but by rounding.
    let mean = Measure::Mean.of(times)?.min(max);
    Some(match rule {
        ImbalanceRule::MaxOverMean => (max - mean) / max,
        ImbalanceRule::Range => (max - Measure::Min.of(times)?) / max,
        ImbalanceRule::Excess => max / mean - 1.0,
    })
}

/// Smallest, mean and largest defined value of a map: over a map of imbalances this is the "time
/// variation" of the region that PaScal shows in its tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Smallest value.
    pub min: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Largest value.
    pub max: f64,
}

/// Spread of the defined values; `None` when there are none.
#[must_use]
pub fn spread(map: &Map) -> Option<Spread> {
    let values: Vec<f64> = map.iter().map(|(_, _, value)| value).collect();
    let (min, max) = map.min_max()?;
    Some(Spread { min, mean: mean(&values)?, max })
}

/// `100 T_region / T_parent` in percent at every configuration; `None` where either is missing or
/// the parent took no time. [`Map::min_max`] of it is the execution share of PaScal's tree.
///
/// Both maps must have the same axes; cells outside the parent are undefined.
#[must_use]
pub fn share_of_parent(region: &Map, parent: &Map) -> Map {
    region.map_cells(|input, core_idx, own| {
        let whole = parent.get(input, core_idx)?;
        Some(100.0 * own / whole).filter(|_| whole > 0.0)
    })
}
