//! [`Remedy`]: what users can do about a note or an error, in the same words on every surface.

use std::fmt;

/// What notes, findings and errors advise. No layer below the surfaces names a command, an option or
/// a view: a surface that has a way of its own to follow the advice adds it where it finds the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Runs of one configuration should be different ones.
    TellApart,
    /// Another number should count as cores.
    Cores,
    /// One of the parameters counts cores under another name.
    CoresParameter,
    /// Inputs should be distinguished by something else.
    Inputs,
    /// A parameter has words as values, with numbers in them.
    Numbers,
    /// Efficiency should be relative to other core counts.
    Baseline,
    /// Another clock frequency should be shown.
    Frequency,
    /// Time times cores grows where time falls.
    Resources,
    /// Times alone tell something too.
    Laws,
    /// Another metric should be used.
    Metric,
    /// Other locations should be counted.
    Locations,
    /// Locations that ran, but have no value, should count with 0.
    AllLocations,
    /// What is stored is listed with the metrics.
    SeeMetrics,
    /// The load balance has more.
    SeeBalance,
    /// The distribution has each location.
    SeeDistribution,
    /// Functions are listed by the flat view.
    SeeFlat,
    /// The wait states have more.
    SeeWaits,
    /// Stalls of GPU kernels are listed.
    SeeGpuStalls,
    /// Iterations are a question of their own.
    SeeIterations,
    /// User events are listed.
    SeeUserEvents,
    /// Racks of nodes are in a table.
    HostTable,
    /// Names of nodes have parts that somebody must describe.
    System,
    /// Components need names.
    ComponentNames,
    /// A trace is too long for memory.
    Convert,
}

impl Remedy {
    /// All of them.
    pub const ALL: [Self; 24] = [
        Self::TellApart,
        Self::Cores,
        Self::CoresParameter,
        Self::Inputs,
        Self::Numbers,
        Self::Baseline,
        Self::Frequency,
        Self::Resources,
        Self::Laws,
        Self::Metric,
        Self::Locations,
        Self::AllLocations,
        Self::SeeMetrics,
        Self::SeeBalance,
        Self::SeeDistribution,
        Self::SeeFlat,
        Self::SeeWaits,
        Self::SeeGpuStalls,
        Self::SeeIterations,
        Self::SeeUserEvents,
        Self::HostTable,
        Self::System,
        Self::ComponentNames,
        Self::Convert,
    ];

    /// The advice, as it stands in notes and errors.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::TellApart => "add a parameter from their paths",
            Self::Cores => "choose the core count",
            Self::CoresParameter => "name the parameter that counts cores",
            Self::Inputs => "choose the input parameter",
            Self::Numbers => "extract a number from its labels",
            Self::Baseline => "choose a baseline that was measured",
            Self::Frequency => "choose another frequency",
            Self::Resources => "model the resources instead",
            Self::Laws => "the scaling laws",
            Self::Metric => "choose another metric",
            Self::Locations => "choose other locations",
            Self::AllLocations => "count those that ran as 0",
            Self::SeeMetrics => "see the list of metrics",
            Self::SeeBalance => "see the load balance",
            Self::SeeDistribution => "see the distribution over locations",
            Self::SeeFlat => "see the flat view",
            Self::SeeWaits => "see the wait states",
            Self::SeeGpuStalls => "see the stalls of GPU kernels",
            Self::SeeIterations => "see the iterations",
            Self::SeeUserEvents => "see the list of user events",
            Self::HostTable => "add a host table",
            Self::System => "describe the system",
            Self::ComponentNames => "give them names",
            Self::Convert => "convert it into an archive",
        }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}
