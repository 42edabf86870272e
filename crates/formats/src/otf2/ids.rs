//! Ids of definitions, one type for each kind, and the kinds that a location may number itself.

/// Kinds of ids that a location's mapping tables translate, by the number that files store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    String = 0,
    Attribute = 1,
    Location = 2,
    Region = 3,
    Group = 4,
    Metric = 5,
    Comm = 6,
    Parameter = 7,
    RmaWin = 8,
    SourceCodeLocation = 9,
    CallingContext = 10,
    InterruptGenerator = 11,
    IoFile = 12,
    IoHandle = 13,
    LocationGroup = 14,
}

impl Kind {
    /// How many there are.
    pub(super) const COUNT: usize = 15;
}

/// An id that files store as a compressed 32-bit number.
pub(super) trait Id32 {
    /// Which mapping table translates it, if any does.
    const KIND: Option<Kind>;
    fn new(id: u32) -> Self;
}

/// An id by which a [`Table`](super::Table) is looked up.
pub trait TableKey: Copy {
    /// The number of the id.
    fn number(self) -> u64;
    /// The id of a number; numbers that no id of this kind can have do not occur in tables.
    fn of_number(number: u64) -> Self;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident $kind:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// What files store where there is none.
            pub const UNDEFINED: Self = Self(u32::MAX);

            /// Whether it names something.
            #[must_use]
            pub const fn is_defined(self) -> bool {
                self.0 != u32::MAX
            }
        }

        impl Id32 for $name {
            const KIND: Option<Kind> = $kind;
            fn new(id: u32) -> Self {
                Self(id)
            }
        }

        impl TableKey for $name {
            fn number(self) -> u64 {
                u64::from(self.0)
            }

            fn of_number(number: u64) -> Self {
                u32::try_from(number).map_or(Self::UNDEFINED, Self)
            }
        }
    )* };
}

ids! {
    /// Names a string.
    StringId Some(Kind::String);
    /// Names an attribute: what a value in an attribute list means.
    AttributeId Some(Kind::Attribute);
    /// Names a node of the system tree.
    SystemTreeNodeId None;
    /// Names a location group: a process or an accelerator.
    LocationGroupId Some(Kind::LocationGroup);
    /// Names a region.
    RegionId Some(Kind::Region);
    /// Names a callsite (a record of old writers).
    CallsiteId None;
    /// Names a callpath (a record of old writers).
    CallpathId None;
    /// Names a group of locations, ranks, regions or metrics.
    GroupId Some(Kind::Group);
    /// Names a metric member: one column of a metric class.
    MetricMemberId None;
    /// Names a metric class or a metric instance, which share their numbers.
    MetricId Some(Kind::Metric);
    /// Names a communicator or an inter-communicator, which share their numbers.
    CommId Some(Kind::Comm);
    /// Names a parameter.
    ParameterId Some(Kind::Parameter);
    /// Names a window of remote memory access.
    RmaWinId Some(Kind::RmaWin);
    /// Names a dimension of a Cartesian topology.
    CartDimensionId None;
    /// Names a Cartesian topology.
    CartTopologyId None;
    /// Names a place in a source file.
    SourceCodeLocationId Some(Kind::SourceCodeLocation);
    /// Names a calling context.
    CallingContextId Some(Kind::CallingContext);
    /// Names an interrupt generator.
    InterruptGeneratorId Some(Kind::InterruptGenerator);
    /// Names a regular file or a directory, which share their numbers.
    IoFileId Some(Kind::IoFile);
    /// Names an I/O handle.
    IoHandleId Some(Kind::IoHandle);
}

/// Names a location: a thread, a stream of an accelerator, or a recorder of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocationId(pub u64);

impl LocationId {
    /// What files store where there is none.
    pub const UNDEFINED: Self = Self(u64::MAX);

    /// Whether it names something.
    #[must_use]
    pub const fn is_defined(self) -> bool {
        self.0 != u64::MAX
    }
}

impl TableKey for LocationId {
    fn number(self) -> u64 {
        self.0
    }

    fn of_number(number: u64) -> Self {
        Self(number)
    }
}

/// Names an I/O paradigm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IoParadigmId(pub u8);

impl TableKey for IoParadigmId {
    fn number(self) -> u64 {
        u64::from(self.0)
    }

    fn of_number(number: u64) -> Self {
        Self(u8::try_from(number).unwrap_or(u8::MAX))
    }
}
