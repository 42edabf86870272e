//! Definition records, one type for each kind, with the fields in the order of the file.

use super::codes::{
    Base, CartPeriodicity, CommFlags, GroupFlags, GroupType, InterruptGeneratorMode, IoAccessMode,
    IoHandleFlags, IoParadigmClass, IoParadigmFlags, IoParadigmProperty, IoStatusFlags,
    LocationGroupType, LocationType, MetricMode, MetricOccurrence, MetricScope, MetricType,
    Paradigm, ParadigmClass, ParadigmProperty, ParameterType, RecorderKind, RegionFlags,
    RegionRole, RmaWinFlags, SystemTreeDomain, Type,
};
use super::fields::{Field, Fields};
use super::ids::{
    CallingContextId, CallpathId, CartDimensionId, CartTopologyId, CommId, GroupId, IoFileId,
    IoHandleId, IoParadigmId, LocationGroupId, LocationId, MetricId, MetricMemberId, ParameterId,
    RegionId, SourceCodeLocationId, StringId, SystemTreeNodeId,
};
use super::value::Value;

macro_rules! records {
    ($($(#[$doc:meta])* $name:ident {
        $($(#[$field_doc:meta])* $field:ident: $type:ty = $read:ident $(($argument:expr))?;)*
    })*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl Field for $name {
            fn read(f: &mut Fields<'_>) -> Option<Self> {
                Some(Self { $($field: f.$read($($argument)?)?,)* })
            }
        }
    )* };
}

records! {
    /// How ticks become time.
    ClockProperties {
        /// Ticks in a second.
        ticks_per_second: u64 = get;
        /// The first time stamp of the trace, in ticks.
        global_offset_ticks: u64 = get;
        /// From the first to the last time stamp, in ticks.
        length_ticks: u64 = get;
        /// Nanoseconds since 1970 at `global_offset_ticks`; all ones where unknown, as before 3.0.
        realtime_nanos: u64 = later(u64::MAX);
    }

    /// A programming model that the trace uses.
    ParadigmRecord {
        /// Which.
        paradigm: Paradigm = get;
        /// Its name.
        name: StringId = get;
        /// What kind of parallelism it is.
        class: ParadigmClass = get;
    }

    /// A property of a programming model.
    ParadigmPropertyRecord {
        /// Which model.
        paradigm: Paradigm = get;
        /// Which property.
        property: ParadigmProperty = get;
        /// Its value.
        value: Value = get;
    }

    /// A way to do input and output.
    IoParadigm {
        /// A name for programs.
        identification: StringId = get;
        /// A name for users.
        name: StringId = get;
        /// Whether it is parallel.
        class: IoParadigmClass = get;
        /// Its marks.
        flags: IoParadigmFlags = get;
        /// Its properties.
        properties: Vec<(IoParadigmProperty, Value)> = counted8;
    }

    /// What a value in an attribute list means.
    AttributeRecord {
        /// Its name.
        name: StringId = get;
        /// The type of its values.
        value_type: Type = get;
        /// What it means, in words.
        description: StringId = later(StringId::UNDEFINED);
    }

    /// A node of the tree of machines, nodes, sockets.
    SystemTreeNode {
        /// Its name, such as a host's.
        name: StringId = get;
        /// What it is, such as `node`.
        class: StringId = get;
        /// The node above; undefined at the top.
        parent: SystemTreeNodeId = get;
    }

    /// A process, or the streams of one accelerator.
    LocationGroup {
        /// Its name.
        name: StringId = get;
        /// What it is.
        group_type: LocationGroupType = get;
        /// Where it runs.
        system_tree_parent: SystemTreeNodeId = get;
        /// The process that made it; undefined before 3.0.
        creating_group: LocationGroupId = later(LocationGroupId::UNDEFINED);
    }

    /// A thread, a stream of an accelerator, or a recorder of metrics: what has events.
    Location {
        /// Its name.
        name: StringId = get;
        /// What it is.
        location_type: LocationType = get;
        /// How many events it has, as the writer counted them.
        event_count: u64 = get;
        /// The group that it belongs to.
        group: LocationGroupId = get;
    }

    /// A function, a loop, a part of a program.
    Region {
        /// Its name.
        name: StringId = get;
        /// What it is, in words.
        description: StringId = get;
        /// The source file.
        file: StringId = after_old_type;
        /// First line; 0 where unknown.
        begin_line: u32 = get;
        /// Last line; 0 where unknown.
        end_line: u32 = get;
        /// The name that the linker sees.
        canonical_name: StringId = later(StringId::UNDEFINED);
        /// What it does.
        role: RegionRole = later(RegionRole::UNKNOWN);
        /// The programming model that it belongs to.
        paradigm: Paradigm = later(Paradigm::UNKNOWN);
        /// Its marks.
        flags: RegionFlags = later(RegionFlags(0));
    }

    /// A place from which a region is called.
    Callsite {
        /// The source file.
        file: StringId = get;
        /// The line.
        line: u32 = get;
        /// The region that is called.
        entered: RegionId = get;
        /// The region that calls.
        left: RegionId = get;
    }

    /// A region below other regions.
    Callpath {
        /// The callpath above; undefined at the top.
        parent: CallpathId = get;
        /// The region.
        region: RegionId = get;
    }

    /// A list of locations, ranks, regions or metrics.
    Group {
        /// Its name.
        name: StringId = get;
        /// Ids or ranks, as `group_type` says.
        members: Vec<u64> = members;
        /// What the members are.
        group_type: GroupType = get;
        /// The programming model that the group belongs to.
        paradigm: Paradigm = get;
        /// Its marks.
        flags: GroupFlags = later(GroupFlags(0));
    }

    /// One column of a metric class.
    MetricMember {
        /// Its name.
        name: StringId = get;
        /// What it counts, in words.
        description: StringId = get;
        /// Where it comes from.
        metric_type: MetricType = get;
        /// What span of time a value stands for.
        mode: MetricMode = get;
        /// The type of its values.
        value_type: Type = get;
        /// Values are to be multiplied by `base` to the power of `exponent`.
        base: Base = get;
        /// Values are to be multiplied by `base` to the power of `exponent`.
        exponent: i64 = get;
        /// The unit, in words.
        unit: StringId = get;
    }

    /// Metrics that are recorded together.
    MetricClass {
        /// Its columns.
        members: Vec<MetricMemberId> = counted8;
        /// When values are recorded.
        occurrence: MetricOccurrence = get;
        /// What kind of location records them.
        recorder_kind: RecorderKind = later(RecorderKind::UNKNOWN);
    }

    /// Metrics of a class that one location records for something else.
    MetricInstance {
        /// The class.
        class: MetricId = get;
        /// The location that records.
        recorder: LocationId = get;
        /// What kind of thing `scope` names.
        scope_type: MetricScope = get;
        /// What the values were measured for.
        scope: u64 = get;
    }

    /// A communicator.
    Comm {
        /// Its name.
        name: StringId = get;
        /// Its members.
        group: GroupId = get;
        /// The communicator that it was made from.
        parent: CommId = get;
        /// Its marks; none before 3.0.
        flags: CommFlags = later(CommFlags(0));
    }

    /// A communicator between two groups.
    InterComm {
        /// Its name.
        name: StringId = get;
        /// The members of one side.
        group_a: GroupId = get;
        /// The members of the other side.
        group_b: GroupId = get;
        /// A communicator that contains both.
        common: CommId = get;
        /// Its marks.
        flags: CommFlags = get;
    }

    /// A parameter of regions.
    Parameter {
        /// Its name.
        name: StringId = get;
        /// The type of its values.
        parameter_type: ParameterType = get;
    }

    /// A window of remote memory access.
    RmaWin {
        /// Its name.
        name: StringId = get;
        /// The communicator over which it was made.
        comm: CommId = get;
        /// Its marks; none before 3.0.
        flags: RmaWinFlags = later(RmaWinFlags(0));
    }

    /// A location that records a metric class.
    MetricClassRecorder {
        /// The class.
        class: MetricId = get;
        /// The location.
        recorder: LocationId = get;
    }

    /// A property of a node of the system tree.
    SystemTreeNodeProperty {
        /// The node.
        node: SystemTreeNodeId = get;
        /// The name of the property.
        name: StringId = get;
        /// Its value.
        value: Value = property;
    }

    /// What a node of the system tree is shared by.
    SystemTreeNodeDomain {
        /// The node.
        node: SystemTreeNodeId = get;
        /// What it is shared by.
        domain: SystemTreeDomain = get;
    }

    /// A property of a location group.
    LocationGroupProperty {
        /// The group.
        group: LocationGroupId = get;
        /// The name of the property.
        name: StringId = get;
        /// Its value.
        value: Value = property;
    }

    /// A property of a location.
    LocationProperty {
        /// The location.
        location: LocationId = get;
        /// The name of the property.
        name: StringId = get;
        /// Its value.
        value: Value = property;
    }

    /// A dimension of a Cartesian topology.
    CartDimension {
        /// Its name.
        name: StringId = get;
        /// How many coordinates it has.
        size: u32 = get;
        /// Whether it is a ring.
        periodicity: CartPeriodicity = get;
    }

    /// A Cartesian topology.
    CartTopology {
        /// Its name.
        name: StringId = get;
        /// The communicator whose ranks have coordinates.
        comm: CommId = get;
        /// Its dimensions.
        dimensions: Vec<CartDimensionId> = counted8;
    }

    /// The coordinates of one rank in a topology.
    CartCoordinate {
        /// The topology.
        topology: CartTopologyId = get;
        /// The rank, in the topology's communicator.
        rank: u32 = get;
        /// One coordinate for each dimension.
        coordinates: Vec<u32> = counted8;
    }

    /// A place in a source file.
    SourceCodeLocation {
        /// The file.
        file: StringId = get;
        /// The line.
        line: u32 = get;
    }

    /// A node of the calling context tree.
    CallingContext {
        /// The region.
        region: RegionId = get;
        /// Where in the region; undefined where unknown.
        source_code_location: SourceCodeLocationId = get;
        /// The context above; undefined at the top.
        parent: CallingContextId = get;
    }

    /// A property of a calling context.
    CallingContextProperty {
        /// The context.
        context: CallingContextId = get;
        /// The name of the property.
        name: StringId = get;
        /// Its value.
        value: Value = get;
    }

    /// What interrupts the program to take a sample.
    InterruptGenerator {
        /// Its name.
        name: StringId = get;
        /// Whether time or events are counted.
        mode: InterruptGeneratorMode = get;
        /// The period is to be multiplied by `base` to the power of `exponent`.
        base: Base = get;
        /// The period is to be multiplied by `base` to the power of `exponent`.
        exponent: i64 = get;
        /// From one interrupt to the next: seconds or events, when scaled.
        period: u64 = get;
    }

    /// A property of a file.
    IoFileProperty {
        /// The file or directory.
        file: IoFileId = get;
        /// The name of the property.
        name: StringId = get;
        /// Its value.
        value: Value = get;
    }

    /// The fields of [`IoFile`].
    IoFileFields {
        /// Its path.
        name: StringId = get;
        /// The part of the machine on which the path means this file; undefined for all.
        scope: SystemTreeNodeId = get;
    }

    /// A handle of an open file.
    IoHandle {
        /// Its name.
        name: StringId = get;
        /// The file or directory.
        file: IoFileId = get;
        /// The way to do input and output.
        paradigm: IoParadigmId = get;
        /// Its marks.
        flags: IoHandleFlags = get;
        /// The communicator over which it was opened; undefined when it was not.
        comm: CommId = get;
        /// The handle that it stands on.
        parent: IoHandleId = get;
    }

    /// The state of a handle that was open before the program started.
    IoPreCreatedHandleState {
        /// The handle.
        handle: IoHandleId = get;
        /// What it may do.
        mode: IoAccessMode = get;
        /// Its state.
        status: IoStatusFlags = get;
    }

    /// A parameter's value on a callpath.
    CallpathParameter {
        /// The callpath.
        callpath: CallpathId = get;
        /// The parameter.
        parameter: ParameterId = get;
        /// Its value.
        value: Value = get;
    }
}

/// A regular file or a directory.
#[derive(Debug, Clone, PartialEq)]
pub struct IoFile {
    /// Which of the two.
    pub kind: IoFileKind,
    /// The path and where it is valid.
    pub fields: IoFileFields,
}

/// What an [`IoFile`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoFileKind {
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
}

impl Fields<'_> {
    /// A list whose length is one byte.
    fn counted8<T: Field>(&mut self) -> Option<Vec<T>> {
        let count = self.u8()?;
        self.list(u64::from(count))
    }

    /// The members of a group, after the type that readers before 1.2 used.
    fn members(&mut self) -> Option<Vec<u64>> {
        self.u8()?;
        let count = self.c32()?;
        self.list(u64::from(count))
    }

    /// A field after the type that readers before 1.2 used.
    fn after_old_type<T: Field>(&mut self) -> Option<T> {
        self.u8()?;
        self.get()
    }

    /// The value of a property: older writers stored a string, newer ones store that (undefined
    /// for other types) and a value with its type.
    fn property(&mut self) -> Option<Value> {
        let text = self.get()?;
        self.later(Value::String(text))
    }
}

impl Field for (IoParadigmProperty, Value) {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        Some((fields.get()?, fields.get()?))
    }
}
