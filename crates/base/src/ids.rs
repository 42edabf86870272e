//! Typed indices: a context index cannot be used where a location index is meant.

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The `n`-th, counted from 0.
            #[must_use]
            pub const fn new(n: u32) -> Self {
                Self(n)
            }

            /// The number itself.
            #[must_use]
            pub const fn get(self) -> u32 {
                self.0
            }

            /// The number as an index into columns.
            #[must_use]
            pub const fn idx(self) -> usize {
                self.0 as usize
            }

            /// The `n`-th, where `n` is the length of a column so far.
            /// Saturates at `u32::MAX`, which no column can reach under the default limits.
            #[must_use]
            pub fn from_len(n: usize) -> Self {
                Self(u32::try_from(n).unwrap_or(u32::MAX))
            }
        }
    };
}

index! {
    /// A node of the calling context tree: its position in depth-first order. 0 is the root.
    ContextIdx
}
index! {
    /// A row of the location catalog; equals the profile number of the source where it has one.
    LocationIdx
}
index! {
    /// A row of the metric catalog.
    MetricIdx
}
index! {
    /// A row of the function table.
    FunctionIdx
}
index! {
    /// A row of the source file table.
    FileIdx
}
index! {
    /// A row of the load module table.
    ModuleIdx
}
index! {
    /// A call, an execution of a loop, or an iteration: its position in depth-first order.
    ActivationIdx
}
index! {
    /// A row of the table of references: variables and allocations.
    ReferenceIdx
}
index! {
    /// A row of the table of threads of the activations.
    ThreadIdx
}
index! {
    /// A row of the tracks of a trace: the trace of one location.
    TrackIdx
}
