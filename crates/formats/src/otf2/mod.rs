//! OTF2 traces, as Score-P, TAU and others write them: an anchor, definitions, events by location.
//!
//! Read: all definition and event records of OTF2 1.0 to 3.2 in plain files, in both byte orders.
//! Records of later versions are skipped by their lengths and counted. The byte layout is in
//! `FORMAT.md` next to this file.
//!
//! [`Archive::open`] reads the anchor and the global definitions. [`Archive::events`] opens the
//! events of one location, whose local ids and clock are translated while [`EventReader`] reads
//! them chunk by chunk. [`Ranks`] tells which location a message goes to.
//! A damaged record costs the rest of its chunk and is reported; what is before is kept.
//!
//! Not read: snapshots, thumbnails, markers; traces in SION containers and compressed ones, which
//! are named in an error.

mod anchor;
mod archive;
mod chunks;
mod clock;
mod codes;
mod event;
mod fields;
mod ids;
mod local;
mod ranks;
mod reader;
mod records;
mod tables;
mod value;

pub use anchor::{Anchor, sniff};
pub use archive::{Archive, EventFile};
pub use clock::{ClockCorrection, ClockOffset};
pub use codes::{
    Base, CartPeriodicity, CollectiveOp, CommFlags, GroupFlags, GroupType, InterruptGeneratorMode,
    IoAccessMode, IoCreationFlags, IoHandleFlags, IoOperationFlags, IoOperationMode,
    IoParadigmClass, IoParadigmFlags, IoParadigmProperty, IoSeekOption, IoStatusFlags,
    LocationGroupType, LocationType, LockType, MeasurementMode, MetricMode, MetricOccurrence,
    MetricScope, MetricType, Paradigm, ParadigmClass, ParadigmProperty, ParameterType,
    RecorderKind, RegionFlags, RegionRole, RmaAtomicType, RmaSyncLevels, RmaSyncType, RmaWinFlags,
    SystemTreeDomain, Type,
};
pub use event::Event;
pub use fields::ByteOrder;
pub use ids::{
    AttributeId, CallingContextId, CallpathId, CallsiteId, CartDimensionId, CartTopologyId, CommId,
    GroupId, InterruptGeneratorId, IoFileId, IoHandleId, IoParadigmId, LocationGroupId, LocationId,
    MetricId, MetricMemberId, ParameterId, RegionId, RmaWinId, SourceCodeLocationId, StringId,
    SystemTreeNodeId, TableKey,
};
pub use local::LocalDefinitions;
pub use ranks::Ranks;
pub use reader::{EventCounts, EventReader, Record};
pub use records::{
    AttributeRecord, CallingContext, CallingContextProperty, Callpath, CallpathParameter, Callsite,
    CartCoordinate, CartDimension, CartTopology, ClockProperties, Comm, Group, InterComm,
    InterruptGenerator, IoFile, IoFileFields, IoFileKind, IoFileProperty, IoHandle, IoParadigm,
    IoPreCreatedHandleState, Location, LocationGroup, LocationGroupProperty, LocationProperty,
    MetricClass, MetricClassRecorder, MetricInstance, MetricMember, ParadigmPropertyRecord,
    ParadigmRecord, Parameter, Region, RmaWin, SourceCodeLocation, SystemTreeNode,
    SystemTreeNodeDomain, SystemTreeNodeProperty,
};
pub use tables::{Definitions, Table};
pub use value::{Attribute, MetricValue, Value};
