//! [`Table`]: definitions of one kind by their id; [`Definitions`]: all of them.

use std::marker::PhantomData;

use super::fields::{Field as _, Fields};
use super::ids::{
    AttributeId, CallingContextId, CallpathId, CallsiteId, CartDimensionId, CartTopologyId, CommId,
    GroupId, InterruptGeneratorId, IoFileId, IoHandleId, IoParadigmId, LocationGroupId, LocationId,
    MetricId, MetricMemberId, ParameterId, RegionId, RmaWinId, SourceCodeLocationId, StringId,
    SystemTreeNodeId, TableKey,
};
use super::records::{
    AttributeRecord, CallingContext, CallingContextProperty, Callpath, CallpathParameter, Callsite,
    CartCoordinate, CartDimension, CartTopology, ClockProperties, Comm, Group, InterComm,
    InterruptGenerator, IoFile, IoFileKind, IoFileProperty, IoHandle, IoParadigm,
    IoPreCreatedHandleState, Location, LocationGroup, LocationGroupProperty, LocationProperty,
    MetricClass, MetricClassRecorder, MetricInstance, MetricMember, ParadigmPropertyRecord,
    ParadigmRecord, Parameter, Region, RmaWin, SourceCodeLocation, SystemTreeNode,
    SystemTreeNodeDomain, SystemTreeNodeProperty,
};

/// Definitions of one kind, in the order of their ids.
#[derive(Debug, Clone, PartialEq)]
pub struct Table<K, T> {
    rows: Vec<(u64, T)>,
    key: PhantomData<K>,
}

impl<K, T> Default for Table<K, T> {
    fn default() -> Self {
        Self { rows: Vec::new(), key: PhantomData }
    }
}

impl<K: TableKey, T> Table<K, T> {
    /// The definition of `id`.
    #[must_use]
    pub fn get(&self, id: K) -> Option<&T> {
        let number = id.number();
        // Most writers count from 0 without gaps.
        let guess = usize::try_from(number).ok().and_then(|at| self.rows.get(at));
        if let Some((found, row)) = guess
            && *found == number
        {
            return Some(row);
        }
        let at = self.rows.binary_search_by_key(&number, |(id, _)| *id).ok()?;
        self.rows.get(at).map(|(_, row)| row)
    }

    /// All of them with their ids, in the order of the ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (K, &T)> {
        self.rows.iter().map(|(id, row)| (K::of_number(*id), row))
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn push(&mut self, id: K, row: T) {
        self.rows.push((id.number(), row));
    }

    /// Puts the rows in order; of rows with one id the first is kept. Returns how many were not.
    fn sort(&mut self) -> usize {
        if !self.rows.is_sorted_by(|a, b| a.0 < b.0) {
            self.rows.sort_by_key(|(id, _)| *id);
        }
        let before = self.rows.len();
        self.rows.dedup_by_key(|(id, _)| *id);
        before - self.rows.len()
    }
}

macro_rules! definitions {
    (
        by_id { $($(#[$doc:meta])* $number:literal $field:ident: $key:ident => $row:ty;)* }
        lists { $($(#[$list_doc:meta])* $list_number:literal $list:ident: $list_row:ident;)* }
    ) => {
        /// The definitions that all locations share.
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct Definitions {
            /// How ticks become time; `None` when the file does not say.
            pub clock: Option<ClockProperties>,
            /// Regular files and directories.
            pub io_files: Table<IoFileId, IoFile>,
            $($(#[$doc])* pub $field: Table<$key, $row>,)*
            $($(#[$list_doc])* pub $list: Vec<$list_row>,)*
            /// How many records of each unknown kind were skipped: the kind, the count.
            pub unknown: Vec<(u8, u64)>,
        }

        impl Definitions {
            /// Adds the record of `kind`; `None` when its fields cannot be read.
            pub(super) fn add(&mut self, kind: u8, f: &mut Fields<'_>) -> Option<()> {
                match kind {
                    5 => self.clock = Some(ClockProperties::read(f)?),
                    38 | 39 => {
                        let id = f.get()?;
                        let kind =
                            if kind == 38 { IoFileKind::Regular } else { IoFileKind::Directory };
                        self.io_files.push(id, IoFile { kind, fields: f.get()? });
                    }
                    $($number => {
                        let id = f.get::<$key>()?;
                        self.$field.push(id, f.get()?);
                    })*
                    $($list_number => self.$list.push($list_row::read(f)?),)*
                    _ => match self.unknown.iter_mut().find(|(known, _)| *known == kind) {
                        Some((_, count)) => *count += 1,
                        None => self.unknown.push((kind, 1)),
                    },
                }
                Some(())
            }

            /// Puts all tables in order; returns how many definitions had an id that was taken.
            pub(super) fn sort(&mut self) -> usize {
                self.io_files.sort() $(+ self.$field.sort())*
            }
        }
    };
}

definitions! {
    by_id {
        /// Ways to do input and output.
        8 io_paradigms: IoParadigmId => IoParadigm;
        /// Texts.
        10 strings: StringId => Box<str>;
        /// What values in attribute lists mean.
        11 attributes: AttributeId => AttributeRecord;
        /// Machines, nodes, sockets.
        12 system_tree_nodes: SystemTreeNodeId => SystemTreeNode;
        /// Processes and accelerators.
        13 location_groups: LocationGroupId => LocationGroup;
        /// What has events.
        14 locations: LocationId => Location;
        /// Functions, loops, parts of the program.
        15 regions: RegionId => Region;
        /// Places of calls.
        16 callsites: CallsiteId => Callsite;
        /// Regions below regions.
        17 callpaths: CallpathId => Callpath;
        /// Lists of locations, ranks, regions or metrics.
        18 groups: GroupId => Group;
        /// Columns of metric classes.
        19 metric_members: MetricMemberId => MetricMember;
        /// Metrics that are recorded together.
        20 metric_classes: MetricId => MetricClass;
        /// Metrics that are recorded for something else.
        21 metric_instances: MetricId => MetricInstance;
        /// Communicators.
        22 comms: CommId => Comm;
        /// Parameters of regions.
        23 parameters: ParameterId => Parameter;
        /// Windows of remote memory access.
        24 rma_wins: RmaWinId => RmaWin;
        /// Dimensions of Cartesian topologies.
        30 cart_dimensions: CartDimensionId => CartDimension;
        /// Cartesian topologies.
        31 cart_topologies: CartTopologyId => CartTopology;
        /// Places in source files.
        33 source_code_locations: SourceCodeLocationId => SourceCodeLocation;
        /// Nodes of the calling context tree.
        34 calling_contexts: CallingContextId => CallingContext;
        /// What interrupts the program to take a sample.
        36 interrupt_generators: InterruptGeneratorId => InterruptGenerator;
        /// Handles of open files.
        40 io_handles: IoHandleId => IoHandle;
        /// Communicators between two groups.
        43 inter_comms: CommId => InterComm;
    }
    lists {
        /// Programming models.
        6 paradigms: ParadigmRecord;
        /// Properties of programming models.
        7 paradigm_properties: ParadigmPropertyRecord;
        /// Which locations record which metric classes.
        25 metric_class_recorders: MetricClassRecorder;
        /// Properties of nodes of the system tree.
        26 system_tree_node_properties: SystemTreeNodeProperty;
        /// What nodes of the system tree are shared by.
        27 system_tree_node_domains: SystemTreeNodeDomain;
        /// Properties of location groups.
        28 location_group_properties: LocationGroupProperty;
        /// Properties of locations.
        29 location_properties: LocationProperty;
        /// Coordinates of ranks.
        32 cart_coordinates: CartCoordinate;
        /// Properties of calling contexts.
        35 calling_context_properties: CallingContextProperty;
        /// Properties of files.
        37 io_file_properties: IoFileProperty;
        /// States of handles that were open before the start.
        41 io_pre_created_handle_states: IoPreCreatedHandleState;
        /// Values of parameters on callpaths.
        42 callpath_parameters: CallpathParameter;
    }
}

impl Definitions {
    /// The text of `id`; nothing for an undefined or unknown one.
    #[must_use]
    pub fn string(&self, id: StringId) -> &str {
        self.strings.get(id).map_or("", |text| text)
    }

    /// The class of a metric, also when `metric` is an instance.
    #[must_use]
    pub fn metric_class(&self, metric: MetricId) -> Option<&MetricClass> {
        let class = self.metric_instances.get(metric).map_or(metric, |instance| instance.class);
        self.metric_classes.get(class)
    }

    /// The name of a programming model, as the trace names it.
    #[must_use]
    pub fn paradigm_name(&self, paradigm: super::codes::Paradigm) -> Option<&str> {
        let record = self.paradigms.iter().find(|record| record.paradigm == paradigm)?;
        Some(self.string(record.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_finds_rows_with_gaps_and_out_of_order() {
        let mut table = Table::<RegionId, &str>::default();
        for (id, row) in [(7, "seven"), (0, "zero"), (7, "again"), (4_000_000_000, "far")] {
            table.push(RegionId(id), row);
        }
        assert_eq!(table.sort(), 1);
        assert_eq!(table.get(RegionId(7)), Some(&"seven"));
        assert_eq!(table.get(RegionId(4_000_000_000)), Some(&"far"));
        assert_eq!(table.get(RegionId(1)), None);
        assert_eq!(table.get(RegionId::UNDEFINED), None);
        let ids: Vec<u32> = table.iter().map(|(id, _)| id.0).collect();
        assert_eq!(ids, [0, 7, 4_000_000_000]);
    }
}
