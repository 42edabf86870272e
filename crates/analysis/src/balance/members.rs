//! Who takes part: which locations are compared, aggregated in groups, and which of them count
//! although they spent nothing.

use std::collections::{BTreeSet, HashMap};

use parallax_base::{ContextIdx, Control, LocationIdx};
use parallax_engine::{EngineError, LocationChoice, Session};
use parallax_model::{ContextTree, IdentityKind, LocationCatalog, Scope};

use super::read::{SliceParts, visit_values};
use super::{BalanceRequest, Grouping};
use crate::devices::Devices;

/// One of those that are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Display name: `rank 3 thread 0`, `rank 3 gpucontext 1 (2 streams)`, or `rank 3`, `node
    /// 0x2a803c80` for groups.
    pub label: String,
    /// Its location; of a group or of several streams, the first one.
    pub location: LocationIdx,
    /// What the locations of a group have in common.
    pub id: Option<u64>,
    /// Whether any of its locations has any value at all, of any metric.
    pub has_samples: bool,
}

/// "Not a member."
const NO_MEMBER: u32 = u32::MAX;

pub(super) struct Members {
    pub(super) list: Vec<Member>,
    /// Member of each location, by location row.
    of_location: Vec<u32>,
    /// The locations of all members, ascending.
    pub(super) locations: Vec<LocationIdx>,
    /// Locations that have no element of the kind they are grouped by.
    pub(super) num_ungrouped: usize,
}

impl Members {
    pub(super) fn new(
        catalog: &LocationCatalog,
        choice: &LocationChoice,
        grouping: Grouping,
    ) -> Self {
        let chosen: Vec<LocationIdx> = match choice {
            LocationChoice::All => catalog.iter().collect(),
            LocationChoice::Some(list) => list
                .iter()
                .copied()
                .filter(|l| l.idx() < catalog.num_rows() && Some(*l) != catalog.summary())
                .collect(),
        };
        let mut out = Self {
            list: Vec::new(),
            of_location: vec![NO_MEMBER; catalog.num_rows()],
            locations: Vec::with_capacity(chosen.len()),
            num_ungrouped: 0,
        };
        match grouping {
            Grouping::Location => out.each(catalog, chosen),
            Grouping::Identity(kind) => out.group(catalog, &chosen, kind),
        }
        out
    }

    /// Each location for itself, and the streams of a GPU together.
    fn each(&mut self, catalog: &LocationCatalog, chosen: Vec<LocationIdx>) {
        let devices = Devices::new(catalog);
        let mut of_device = HashMap::new();
        let mut streams: Vec<Vec<LocationIdx>> = Vec::new();
        // In the order of lists for users, whatever the order of the profiles.
        for location in catalog.in_order(chosen) {
            let has_samples = catalog.num_values(location) > 0;
            let next = self.list.len();
            let at = match devices.of(location) {
                Some(device) => *of_device.entry(device).or_insert(next),
                None => next,
            };
            match (self.list.get_mut(at), streams.get_mut(at)) {
                (Some(member), Some(of)) => {
                    member.has_samples |= has_samples;
                    of.push(location);
                }
                _ => {
                    let label = String::new();
                    self.list.push(Member { label, location, id: None, has_samples });
                    streams.push(vec![location]);
                }
            }
            self.of_location[location.idx()] = number(at);
            self.locations.push(location);
        }
        for (member, streams) in self.list.iter_mut().zip(&streams) {
            member.label = match streams.as_slice() {
                [location] => catalog.label(*location),
                several => devices.label(several),
            };
        }
        self.locations.sort_unstable();
    }

    fn group(&mut self, catalog: &LocationCatalog, chosen: &[LocationIdx], kind: IdentityKind) {
        let own = |location| {
            Some((catalog.application_of(location, kind), catalog.identity(location, kind)?))
        };
        let ids: BTreeSet<(Option<u64>, u64)> =
            chosen.iter().filter_map(|&location| own(location)).collect();
        // In the order of ids, whatever the order of the profiles.
        let by_id: HashMap<(Option<u64>, u64), usize> = ids.iter().copied().zip(0..).collect();
        let mut groups: Vec<Option<Member>> = vec![None; ids.len()];
        for &location in chosen {
            let Some((application, id)) = own(location) else {
                self.num_ungrouped += 1;
                continue;
            };
            let Some(&group) = by_id.get(&(application, id)) else { continue };
            let member = groups[group].get_or_insert_with(|| Member {
                label: match (kind, application) {
                    (IdentityKind::Node, _) => format!("node {id:#x}"),
                    (_, Some(application)) => {
                        format!(
                            "{} {} {id}",
                            catalog.application_label(application),
                            catalog.word(kind)
                        )
                    }
                    _ => format!("{} {id}", catalog.word(kind)),
                },
                location,
                id: Some(id),
                has_samples: false,
            });
            member.has_samples |= catalog.num_values(location) > 0;
            self.of_location[location.idx()] = number(group);
            self.locations.push(location);
        }
        self.list = groups.into_iter().flatten().collect();
    }

    /// The member that a location belongs to.
    pub(super) fn of(&self, location: u32) -> Option<usize> {
        let member = self.of_location.get(location as usize).copied()?;
        (member != NO_MEMBER).then_some(member as usize)
    }
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(NO_MEMBER)
}

/// Which members ran where a context is, whether they spent anything in it or not.
pub(super) struct Presence {
    /// By outermost context: members that ran below it. `None` of groups.
    by_entry: Option<HashMap<ContextIdx, Vec<bool>>>,
    /// Members that have samples at all.
    sampled: Vec<bool>,
    /// The children of the root, in order.
    entries: Vec<ContextIdx>,
}

impl Presence {
    /// Finds out who ran below the outermost contexts of `contexts`.
    pub(super) fn new(
        session: &Session,
        request: &BalanceRequest,
        members: &Members,
        contexts: impl Iterator<Item = ContextIdx>,
        control: &Control,
    ) -> Result<Self, EngineError> {
        let sampled: Vec<bool> = members.list.iter().map(|member| member.has_samples).collect();
        let tree = session.tree();
        let entries = tree.children(ContextTree::ROOT).collect();
        let mut out = Self { by_entry: None, sampled, entries };
        let metric = session.experiment().metrics.get(request.metric);
        let (Grouping::Location, Some(id)) = (request.grouping, metric.id_in(&Scope::Inclusive))
        else {
            return Ok(out);
        };
        let mut entries: Vec<ContextIdx> =
            contexts.filter_map(|context| out.entry_of(context)).collect();
        entries.sort_unstable();
        entries.dedup();
        let mut by_entry: HashMap<ContextIdx, Vec<bool>> =
            entries.iter().map(|&entry| (entry, vec![false; members.list.len()])).collect();
        let parts = SliceParts { locations: &members.locations, metric: id };
        visit_values(session, &parts, &entries, control, |l, context, value| {
            if value != 0.0
                && let Some(member) = members.of(l)
                && let Some(ran) = by_entry.get_mut(&context)
            {
                ran[member] = true;
            }
        })?;
        out.by_entry = Some(by_entry);
        Ok(out)
    }

    /// By member, whether it ran where `contexts` are.
    pub(super) fn counts(&self, contexts: &[ContextIdx]) -> Vec<bool> {
        match &self.by_entry {
            None => self.sampled.clone(),
            Some(by_entry) => {
                let mut entries = BTreeSet::new();
                for &context in contexts {
                    match self.entry_of(context) {
                        Some(entry) => entries.insert(entry),
                        None => return self.sampled.clone(),
                    };
                }
                let mut out = vec![false; self.sampled.len()];
                for ran in entries.iter().filter_map(|entry| by_entry.get(entry)) {
                    for (out, ran) in out.iter_mut().zip(ran) {
                        *out |= ran;
                    }
                }
                out
            }
        }
    }
    /// The outermost context that holds `context`: a child of the root. `None` for the root itself.
    fn entry_of(&self, context: ContextIdx) -> Option<ContextIdx> {
        // Contexts are in depth-first order, so each lies below the last entry before it.
        let at = self.entries.partition_point(|&entry| entry <= context);
        self.entries.get(at.checked_sub(1)?).copied()
    }
}
