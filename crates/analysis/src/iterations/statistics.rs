//! What the cube says about each context, location and iteration.
//!
//! The formulas are those of the tri-dimensional model of hpcanalysis (arXiv 2605.03561, section
//! VI-A, Tables IV and V). With t(l, i) the time of a context on location l of L in iteration i of
//! I, iterations that do not count left out:
//!
//! - mean(i) and max(i) are over the locations, those without any time included;
//! - *average mean* and *average max* are their means over the iterations;
//! - *saving* per iteration = average max - average mean; *total saving* = saving * I;
//! - *balance ratio* = mean over locations / largest of the locations, of their times over all
//!   iterations: as for profiles;
//! - *lasting saving* = largest - mean of the locations' mean times: what is left of the saving when
//!   differences that change from iteration to iteration even out;
//! - *variation across locations* = the standard deviation (divisor L - 1) of the locations' mean
//!   times, over their mean: it tells a lasting difference between locations from noise;
//! - *variation within a location* = the mean over locations of the standard deviation (divisor
//!   I - 1) of its times, over its mean.
//!
//! `max - mean` is what a context alone would save if all locations waited for its slowest one in
//! each iteration. Whatever is balanced, locations compute as long as before: no more can be saved
//! than the time in which they do not compute ([`Statistics::waited_seconds`]), and no saving that
//! is told is more.

use parallax_base::ContextIdx;

use super::IterationState;
use crate::events::Activity;

/// What one context costs.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextStatistics {
    /// Which.
    pub context: ContextIdx,
    /// What a location does in it.
    pub activity: Activity,
    /// Of the time in which locations are active in iterations.
    pub share: f64,
    /// Mean over iterations of the mean over locations, in seconds.
    pub mean_seconds: f64,
    /// Mean over iterations of the largest of the locations, in seconds.
    pub max_seconds: f64,
    /// Mean over locations / the largest of them, of their times over all iterations that count.
    pub balance_ratio: f64,
    /// Coefficient of variation of the locations' means; `None` for a single location.
    pub across_locations: Option<f64>,
    /// Mean of the coefficients of variation of each location's iterations; `None` for a single
    /// iteration.
    pub within_location: Option<f64>,
    /// `max - mean`: what an iteration would be shorter if the context were balanced and all
    /// locations waited for the slowest, in seconds.
    pub saving_seconds: f64,
    /// The same over all iterations that count; may be more than what anybody waits, see
    /// [`Self::potential_saving`].
    pub total_saving_seconds: f64,
    /// Largest - mean of the locations' mean times, over all iterations that count, in seconds.
    pub lasting_saving_seconds: f64,
    /// Whether it takes at least two samples for each location and iteration in the mean over both,
    /// so that the saving of an iteration is not mostly noise of sampling. The mean, because a
    /// location that does little of it is what an imbalance consists of. Always where times are
    /// exact.
    pub is_resolved: bool,
    /// The location with the largest mean: its place in [`super::Iterations::streams`].
    pub slowest: usize,
}

/// A difference of sampled times counts from this many standard deviations on: of many contexts and
/// locations some differ by two by chance.
const CHANCE: f64 = 3.0;

/// How much a time of so many seconds may differ by chance: the number of its samples, each of
/// `interval_seconds`, is uncertain by its square root (Poisson). 0 where times are exact.
#[must_use]
pub fn sampling_noise(seconds: f64, interval_seconds: Option<f64>) -> f64 {
    interval_seconds.map_or(0.0, |interval| CHANCE * (seconds.max(0.0) * interval).sqrt())
}

impl ContextStatistics {
    /// What balancing saves over all iterations of `all`, in seconds: not more than what locations
    /// wait in them. Times of samples are uncertain in one iteration; then only what lasts over all
    /// of them counts, and `None` where this may be noise, too. `None` also of waiting and
    /// communication, which end by themselves where what they wait for is balanced.
    #[must_use]
    pub fn potential_saving(&self, interval_seconds: Option<f64>, all: &Statistics) -> Option<f64> {
        let saving = self.certain_saving(interval_seconds, all.num_whole)?;
        Some(saving.min(all.waited_seconds))
    }

    /// The same without regard to what locations wait.
    pub(super) fn certain_saving(
        &self,
        interval_seconds: Option<f64>,
        num_whole: usize,
    ) -> Option<f64> {
        let is_certain =
            |interval| self.saving_seconds > sampling_noise(self.max_seconds, Some(interval));
        match self.activity {
            Activity::Computing if interval_seconds.is_none_or(is_certain) => {
                Some(self.total_saving_seconds)
            }
            Activity::Computing => self.lasting_saving(interval_seconds, num_whole),
            _ => None,
        }
    }

    /// The saving that lasts over all iterations; `None` where it may be noise of sampling.
    #[must_use]
    pub fn lasting_saving(&self, interval_seconds: Option<f64>, num_whole: usize) -> Option<f64> {
        let lasting = self.lasting_saving_seconds;
        let largest = lasting + self.mean_seconds * num_whole as f64;
        (lasting > sampling_noise(largest, interval_seconds)).then_some(lasting)
    }
}

/// What one location does in an iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct LocationStatistics {
    /// Its place in [`super::Iterations::streams`].
    pub location: usize,
    /// Mean length of its iterations, in seconds.
    pub length_seconds: f64,
    /// Mean time in which it computes, in seconds.
    pub computing_seconds: f64,
    /// Mean time in which it communicates without waiting, in seconds.
    pub communicating_seconds: f64,
    /// Mean time in which it waits, in seconds.
    pub waiting_seconds: f64,
    /// Coefficient of variation over iterations of the time in which it computes.
    pub variation: Option<f64>,
    /// In how many iterations no location computes longer.
    pub num_slowest: usize,
}

/// How one iteration went, or several that follow each other where there are too many for a row
/// each: then all times are means over them.
#[derive(Debug, Clone, PartialEq)]
pub struct IterationStatistics {
    /// Number, from 0; of several, the first.
    pub iteration: usize,
    /// How many iterations.
    pub num_iterations: usize,
    /// Whether it counts; of several, the first.
    pub state: IterationState,
    /// When the first location begins it, in nanoseconds on the trace's clock.
    pub start_nanos: u64,
    /// Mean length over the locations, in seconds.
    pub length_seconds: f64,
    /// Time of computing: mean over the locations, in seconds.
    pub computing_seconds: f64,
    /// Time of computing on the location that computes longest, in seconds.
    pub longest_seconds: f64,
    /// The location that computes longest; of several iterations, in the longest of them.
    pub slowest: usize,
    /// Mean time of waiting, in seconds.
    pub waiting_seconds: f64,
    /// Sum over contexts that compute of `max - mean`, times [`Statistics::overlap`] of the
    /// iteration: the saving if each were balanced.
    pub saving_seconds: f64,
}

/// All of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// Contexts, most time first.
    pub contexts: Vec<ContextStatistics>,
    /// Locations, in their order.
    pub locations: Vec<LocationStatistics>,
    /// Iterations, in their order; a row for several where there are more than a million.
    pub iterations: Vec<IterationStatistics>,
    /// How many iterations count.
    pub num_whole: usize,
    /// Sum of what balancing each context that computes saves for certain, times `overlap`,
    /// `waited_seconds` at most. In seconds.
    pub saving_seconds: f64,
    /// How long the iterations that count take together, mean over the locations, in seconds.
    pub covered_seconds: f64,
    /// Time in which locations do not compute until the last one ends its last iteration, mean over
    /// them, in seconds. Work that is
    /// spread otherwise is the same work: no saving is more.
    pub waited_seconds: f64,
    /// How many contexts that compute take longest somewhere by no more than noise of sampling.
    pub num_unresolved: usize,
    /// Sum over iterations of max - mean of all computing together: what is saved if only the sum of
    /// the work of each location is balanced, `waited_seconds` at most. In seconds.
    pub joint_saving_seconds: f64,
    /// Largest - mean of the locations' computing over all iterations: what is saved if only the
    /// differences that last are balanced. Not more than the one above. In seconds.
    pub lasting_saving_seconds: f64,
    /// Over how much of the contents two iterations agree: mean over iterations of the sum over
    /// contexts of the smaller of its share in the iteration and its share on average. Of so many
    /// iterations that they are not in memory at once, over the first of them.
    pub similarity: f64,
    /// Time in which locations compute / sum over contexts of the time in which they compute. Less
    /// than 1 where streams of a GPU execute several contexts at a time.
    pub overlap: f64,
}
