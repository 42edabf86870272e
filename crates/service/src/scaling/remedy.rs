//! [`Remedy`]: what a person can do about an answer, in the same words on every surface.

use std::fmt;

/// What notes and errors about an ensemble advise. A surface that has a way of its own to follow
/// the advice, such as an option, adds it where it finds the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Runs of one configuration should be different ones.
    TellApart,
    /// Another number should count as cores.
    Cores,
    /// One of the parameters counts cores under another name.
    CoresParameter,
    /// Inputs should be told apart by something else.
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
}

impl Remedy {
    /// All of them.
    pub const ALL: [Self; 11] = [
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
        }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}
