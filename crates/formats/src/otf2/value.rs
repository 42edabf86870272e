//! Typed values: of attributes, of properties, of metrics.

use super::fields::{Field as _, Fields};
use super::ids::{
    AttributeId, CallingContextId, CommId, GroupId, InterruptGeneratorId, IoFileId, IoHandleId,
    LocationGroupId, LocationId, MetricId, ParameterId, RegionId, RmaWinId, SourceCodeLocationId,
    StringId,
};

/// A value whose type is stored with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// 8 bits without sign.
    U8(u8),
    /// 16 bits without sign.
    U16(u16),
    /// 32 bits without sign.
    U32(u32),
    /// 64 bits without sign.
    U64(u64),
    /// 8 bits with sign.
    I8(i8),
    /// 16 bits with sign.
    I16(i16),
    /// 32 bits with sign.
    I32(i32),
    /// 64 bits with sign.
    I64(i64),
    /// A 32-bit floating point number.
    F32(f32),
    /// A 64-bit floating point number.
    F64(f64),
    /// A string.
    String(StringId),
    /// An attribute.
    Attribute(AttributeId),
    /// A location.
    Location(LocationId),
    /// A region.
    Region(RegionId),
    /// A group.
    Group(GroupId),
    /// A metric class or instance.
    Metric(MetricId),
    /// A communicator.
    Comm(CommId),
    /// A parameter.
    Parameter(ParameterId),
    /// A window of remote memory access.
    RmaWin(RmaWinId),
    /// A place in a source file.
    SourceCodeLocation(SourceCodeLocationId),
    /// A calling context.
    CallingContext(CallingContextId),
    /// An interrupt generator.
    InterruptGenerator(InterruptGeneratorId),
    /// A file or directory.
    IoFile(IoFileId),
    /// An I/O handle.
    IoHandle(IoHandleId),
    /// A location group.
    LocationGroup(LocationGroupId),
    /// A type that this reader does not know, as the 64 bits that are stored.
    Other {
        /// The number of the type.
        kind: u8,
        /// The bits.
        bits: u64,
    },
}

impl Value {
    /// The value of type `kind` that comes next.
    pub(super) fn read_of(kind: u8, f: &mut Fields<'_>) -> Option<Self> {
        Some(match kind {
            1 => Self::U8(f.u8()?),
            2 => Self::U16(f.u16()?),
            3 => Self::U32(f.c32()?),
            4 => Self::U64(f.c64()?),
            5 => Self::I8(f.u8()?.cast_signed()),
            6 => Self::I16(f.u16()?.cast_signed()),
            7 => Self::I32(f.c32()?.cast_signed()),
            8 => Self::I64(f.c64()?.cast_signed()),
            9 => Self::F32(f.f32()?),
            10 => Self::F64(f.f64()?),
            11 => Self::String(StringId::read(f)?),
            12 => Self::Attribute(AttributeId::read(f)?),
            13 => Self::Location(LocationId::read(f)?),
            14 => Self::Region(RegionId::read(f)?),
            15 => Self::Group(GroupId::read(f)?),
            16 => Self::Metric(MetricId::read(f)?),
            17 => Self::Comm(CommId::read(f)?),
            18 => Self::Parameter(ParameterId::read(f)?),
            19 => Self::RmaWin(RmaWinId::read(f)?),
            20 => Self::SourceCodeLocation(SourceCodeLocationId::read(f)?),
            21 => Self::CallingContext(CallingContextId::read(f)?),
            22 => Self::InterruptGenerator(InterruptGeneratorId::read(f)?),
            23 => Self::IoFile(IoFileId::read(f)?),
            24 => Self::IoHandle(IoHandleId::read(f)?),
            25 => Self::LocationGroup(LocationGroupId::read(f)?),
            kind => Self::Other { kind, bits: f.c64()? },
        })
    }
}

/// One attribute of an event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attribute {
    /// What it means.
    pub attribute: AttributeId,
    /// Its value.
    pub value: Value,
}

/// One value of a metric event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MetricValue {
    /// A count.
    Unsigned(u64),
    /// A number with sign.
    Signed(i64),
    /// A floating point number.
    Real(f64),
}

impl MetricValue {
    /// The value of `bits`, which files store as a 64-bit number whatever its type is.
    pub(super) const fn of(kind: u8, bits: u64) -> Self {
        match kind {
            8 => Self::Signed(bits.cast_signed()),
            10 => Self::Real(f64::from_bits(bits)),
            _ => Self::Unsigned(bits),
        }
    }

    /// As a floating point number; counts above 2^53 are rounded.
    #[must_use]
    pub const fn as_f64(self) -> f64 {
        match self {
            Self::Unsigned(n) => n as f64,
            Self::Signed(n) => n as f64,
            Self::Real(n) => n,
        }
    }
}
