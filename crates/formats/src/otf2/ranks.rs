//! [`Ranks`]: which location a rank of a communicator is.

use super::codes::{GroupFlags, GroupType, Paradigm};
use super::ids::{CommId, GroupId, LocationId};
use super::records::Group;
use super::tables::Definitions;

/// Finds the locations of ranks.
///
/// A rank counts the members of a communicator's group; these count the locations of the
/// programming model, which a group of its own lists.
pub struct Ranks<'d> {
    definitions: &'d Definitions,
    /// For each programming model the group that lists its locations.
    locations: Vec<(Paradigm, &'d Group)>,
}

impl<'d> Ranks<'d> {
    /// Looks for the groups that list locations.
    #[must_use]
    pub fn new(definitions: &'d Definitions) -> Self {
        let groups = definitions.groups.iter().map(|(_, group)| group);
        let lists = groups.filter(|group| group.group_type == GroupType::COMM_LOCATIONS);
        let locations = lists.map(|group| (group.paradigm, group)).collect();
        Self { definitions, locations }
    }

    /// The location of `rank` in `comm`, as the location `own` sees it; `None` for what is no rank
    /// (such as a root where there is none) or cannot be resolved.
    #[must_use]
    pub fn location(&self, comm: CommId, rank: u32, own: LocationId) -> Option<LocationId> {
        if let Some(comm) = self.definitions.comms.get(comm) {
            return self.member(comm.group, rank, own);
        }
        // Ranks of an inter-communicator are those of the other side.
        let comm = self.definitions.inter_comms.get(comm)?;
        let is_in_a = self.has(comm.group_a, own);
        self.member(if is_in_a { comm.group_b } else { comm.group_a }, rank, own)
    }

    /// Whether `comm` has one rank, whoever calls: `MPI_COMM_SELF`, which all locations share as a
    /// definition, and a group of one.
    #[must_use]
    pub fn is_self(&self, comm: CommId) -> bool {
        let group = self.definitions.comms.get(comm).map(|comm| comm.group);
        group.and_then(|group| self.definitions.groups.get(group)).is_some_and(|group| {
            group.group_type == GroupType::COMM_SELF || group.members.len() == 1
        })
    }

    fn member(&self, group: GroupId, rank: u32, own: LocationId) -> Option<LocationId> {
        let group = self.definitions.groups.get(group)?;
        if group.group_type == GroupType::COMM_SELF {
            return (rank == 0).then_some(own);
        }
        self.resolve(group, *group.members.get(rank as usize)?)
    }

    /// The location that a member of `group` stands for.
    fn resolve(&self, group: &Group, member: u64) -> Option<LocationId> {
        match group.group_type {
            GroupType::LOCATIONS | GroupType::COMM_LOCATIONS => Some(LocationId(member)),
            GroupType::COMM_GROUP if group.flags.has(GroupFlags::GLOBAL_MEMBERS) => {
                Some(LocationId(member))
            }
            GroupType::COMM_GROUP => {
                let (_, list) = self.locations.iter().find(|(p, _)| *p == group.paradigm)?;
                list.members.get(usize::try_from(member).ok()?).copied().map(LocationId)
            }
            _ => None,
        }
    }

    fn has(&self, group: GroupId, location: LocationId) -> bool {
        let Some(group) = self.definitions.groups.get(group) else { return false };
        group.members.iter().any(|&member| self.resolve(group, member) == Some(location))
    }
}
