//! [`Choice`]: a field of a request that takes one of several names.

/// One of the values of a [`Choice`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChoiceValue {
    /// Its name in requests and on the command line.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// One of several names; `choice!` defines them.
pub trait Choice: Copy + Default + 'static {
    /// All of them, in the order of documents and help.
    const ALL: &'static [Self];

    /// The name and meaning of this one.
    fn value(self) -> ChoiceValue;
}
