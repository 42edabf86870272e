//! What the source says about single processes, and about the components of a workflow.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use parallax_base::LocationIdx;
use parallax_model::{Experiment, IdentityKind};
use parallax_protocol::{
    Column, ComponentFactTable, FactReply, Family, ProcessInfoReply, ProcessTable,
};

/// Names that tools give to what is asked for most, in the order in which they are looked for.
const HOST: [&str; 3] = ["Hostname", "MPI Processor Name", "Node Name"];
const CPU: [&str; 1] = ["CPU Type"];
const COMMAND: [&str; 2] = ["Command Line", "Executable"];
const PID: [&str; 1] = ["pid"];
/// Microseconds since 1970.
const START: [&str; 1] = ["Starting Timestamp"];

/// Distinct values of a fact that are shown.
const SHOWN: usize = 4;

/// Processes of a reply at most; tables have all.
pub(crate) const MOST_LISTED: usize = 1000;

/// Facts by name.
type Facts<'x> = BTreeMap<&'x str, String>;

/// Facts of single locations.
type OwnFacts<'x> = HashMap<LocationIdx, &'x [(Arc<str>, Arc<str>)]>;

/// One process.
struct Process<'x> {
    application: Option<u64>,
    rank: Option<u64>,
    label: String,
    threads: u64,
    facts: Facts<'x>,
}

/// What is known of processes and components.
pub(crate) struct Recorded<'x> {
    x: &'x Experiment,
    processes: Vec<Process<'x>>,
    /// By application, what all of its processes have in common.
    common: BTreeMap<Option<u64>, Facts<'x>>,
}

impl<'x> Recorded<'x> {
    pub(crate) fn of(x: &'x Experiment) -> Self {
        let own: OwnFacts<'x> = x
            .metadata
            .recorded
            .iter()
            .map(|recorded| (recorded.location, recorded.facts.as_slice()))
            .collect();
        let mut processes = Vec::new();
        if !own.is_empty() {
            for group in groups(x) {
                processes.push(process(x, &group, &own));
            }
        }
        let mut common: BTreeMap<Option<u64>, Facts<'x>> = BTreeMap::new();
        for process in &processes {
            match common.get_mut(&process.application) {
                None => {
                    common.insert(process.application, process.facts.clone());
                }
                Some(known) => known.retain(|name, value| process.facts.get(name) == Some(value)),
            }
        }
        // What an archive says about all of a component has its name in front.
        for component in &x.metadata.components {
            let own = processes.iter().filter(|one| one.application == Some(component.application));
            let differing: HashSet<&str> = own.flat_map(|one| one.facts.keys().copied()).collect();
            let known = common.entry(Some(component.application)).or_default();
            for (name, value) in &x.metadata.facts {
                let rest = name.strip_prefix(&*component.name);
                let name = rest.and_then(|rest| rest.strip_prefix(": "));
                if let Some(name) = name.filter(|name| !differing.contains(name)) {
                    known.entry(name).or_insert_with(|| value.clone());
                }
            }
        }
        Self { x, processes, common }
    }

    /// Whether something differs between processes of one application.
    fn differs(&self) -> bool {
        let has_own = |process: &Process<'_>| {
            let common = self.common.get(&process.application);
            process.facts.keys().any(|name| common.is_none_or(|facts| !facts.contains_key(name)))
        };
        self.processes.iter().any(has_own)
    }

    /// What is known of a process by one of several names: by itself, else of its application.
    fn known(&self, process: &Process<'_>, names: &[&str]) -> Option<String> {
        let own = |name: &&str| process.facts.get(*name).cloned();
        names.iter().find_map(own).or_else(|| self.of_component(process.application, names))
    }

    /// What is known of all of a component, or of the whole execution.
    fn of_component(&self, application: Option<u64>, names: &[&str]) -> Option<String> {
        let common = self.common.get(&application);
        let shared = |name: &&str| common.and_then(|facts| facts.get(*name)).cloned();
        let whole = |name: &&str| {
            let facts = self.x.metadata.facts.iter();
            let mut found = facts.filter(|(known, _)| known == *name);
            found.next().map(|(_, value)| value.clone())
        };
        names.iter().find_map(shared).or_else(|| names.iter().find_map(whole))
    }

    /// Command line of a component, else its executable; where its processes differ, the first.
    pub(crate) fn command(&self, application: Option<u64>) -> Option<String> {
        let mut own = self.processes.iter().filter(|one| one.application == application);
        own.find_map(|process| self.known(process, &COMMAND))
            .or_else(|| self.of_component(application, &COMMAND))
    }

    /// Hosts of a component, in the order of its processes.
    pub(crate) fn hosts(&self, application: Option<u64>) -> Vec<String> {
        let own = self.processes.iter().filter(|one| one.application == application);
        let mut out: Vec<String> = Vec::new();
        for host in own.filter_map(|process| self.known(process, &HOST)) {
            if !out.contains(&host) {
                out.push(host);
            }
        }
        if out.is_empty() {
            out.extend(self.of_component(application, &HOST));
        }
        out
    }

    /// What is said about all of a component.
    pub(crate) fn facts_of(&self, application: u64) -> Vec<FactReply> {
        let facts = self.common.get(&Some(application)).into_iter().flatten();
        facts.map(|(name, value)| fact(name, value)).collect()
    }

    /// The facts of components, one beside the other.
    pub(crate) fn component_table(&self) -> ComponentFactTable {
        let components = &self.x.metadata.components;
        let mut names: Vec<&str> = Vec::new();
        for component in components {
            let own = self.common.get(&Some(component.application)).into_iter().flatten();
            names.extend(own.map(|(name, _)| *name));
        }
        names.sort_unstable();
        names.dedup();
        let values = components.iter().map(|component| {
            let own = self.common.get(&Some(component.application));
            let value = |name: &&str| own.and_then(|facts| facts.get(*name)).cloned();
            let name = distinct_name(&component.name, &["fact"]);
            Column::optional_strings(name, "What it is there.", names.iter().map(value))
        });
        let values = values.collect();
        ComponentFactTable { fact: names.iter().map(ToString::to_string).collect(), values }
    }

    /// The processes; none where nothing differs between them.
    pub(crate) fn processes(&self) -> Vec<ProcessInfoReply> {
        if !self.differs() {
            return Vec::new();
        }
        let starts: Vec<Option<f64>> = self
            .processes
            .iter()
            .map(|process| self.known(process, &START)?.split(',').next()?.trim().parse().ok())
            .collect();
        let first = starts.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        let named = [&HOST[..], &CPU, &COMMAND, &PID, &START].concat();
        let reply = |(process, start): (&Process<'_>, Option<f64>)| {
            let common = self.common.get(&process.application);
            let is_own = |(name, _): &(&&str, &String)| {
                !named.contains(*name) && common.is_none_or(|facts| !facts.contains_key(**name))
            };
            let own = process.facts.iter().filter(is_own);
            ProcessInfoReply {
                component: process.application.map(|at| self.x.locations.application_label(at)),
                process: process.label.clone(),
                rank: process.rank,
                threads: process.threads,
                host: self.known(process, &HOST),
                cpu: self.known(process, &CPU),
                start_s: start.map(|start| (start - first) / 1e6),
                pid: self.known(process, &PID),
                command: self.known(process, &COMMAND),
                fact_list: own.map(|(name, value)| fact(name, value)).collect(),
            }
        };
        self.processes.iter().zip(starts).map(reply).collect()
    }
}

/// The locations of each process, in the order of lists for users.
fn groups(x: &Experiment) -> Vec<Vec<LocationIdx>> {
    let mut out: Vec<Vec<LocationIdx>> = Vec::new();
    let mut at: HashMap<(Option<u64>, u64), usize> = HashMap::new();
    for location in x.locations.in_order(x.locations.iter()) {
        let application = x.locations.identity(location, IdentityKind::Application);
        let place = x
            .locations
            .identity(location, IdentityKind::Rank)
            .map(|rank| *at.entry((application, rank)).or_insert(out.len()));
        match place.and_then(|place| out.get_mut(place)) {
            Some(group) => group.push(location),
            None => out.push(vec![location]),
        }
    }
    out
}

fn process<'x>(x: &'x Experiment, group: &[LocationIdx], own: &OwnFacts<'x>) -> Process<'x> {
    let first = group.first().copied();
    let identity = |kind| first.and_then(|location| x.locations.identity(location, kind));
    let rank = identity(IdentityKind::Rank);
    let label = match (rank, first) {
        (Some(rank), _) => format!("{} {rank}", x.locations.word(IdentityKind::Rank)),
        (None, Some(location)) => x.locations.label(location),
        (None, None) => String::new(),
    };
    let mut values: BTreeMap<&'x str, Vec<&'x str>> = BTreeMap::new();
    for (name, value) in group.iter().filter_map(|location| own.get(location)).copied().flatten() {
        let known = values.entry(name).or_default();
        if !known.contains(&&**value) {
            known.push(value);
        }
    }
    let joined = |values: Vec<&str>| {
        let more = values.len().saturating_sub(SHOWN);
        let shown = values.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
        if more == 0 { shown } else { format!("{shown} and {more} more") }
    };
    Process {
        application: identity(IdentityKind::Application),
        rank,
        label,
        threads: group.len() as u64,
        facts: values.into_iter().map(|(name, values)| (name, joined(values))).collect(),
    }
}

fn fact(name: &str, value: &str) -> FactReply {
    FactReply { name: name.to_owned(), value: value.to_owned() }
}

/// A name for a column that none of the others has.
fn distinct_name(name: &str, others: &[&str]) -> String {
    if others.contains(&name) { format!("{name} (recorded)") } else { name.to_owned() }
}

/// Columns that every table of processes has.
const COLUMNS: [&str; 9] =
    ["component", "process", "rank", "threads", "host", "cpu", "start_s", "pid", "command"];

/// The processes as a table.
pub(crate) fn process_table(list: &[ProcessInfoReply]) -> ProcessTable {
    let mut names: Vec<&str> = Vec::new();
    for process in list {
        names.extend(process.fact_list.iter().map(|fact| fact.name.as_str()));
    }
    names.sort_unstable();
    names.dedup();
    let facts: Family = names
        .into_iter()
        .map(|name| {
            let value = |process: &ProcessInfoReply| {
                let found = process.fact_list.iter().find(|fact| fact.name == name);
                found.map(|fact| fact.value.clone())
            };
            let title = distinct_name(name, &COLUMNS);
            Column::optional_strings(title, "A fact in the source's words.", list.iter().map(value))
        })
        .collect();
    let has_components = list.iter().any(|process| process.component.is_some());
    ProcessTable {
        component: has_components
            .then(|| list.iter().map(|one| one.component.clone().unwrap_or_default()).collect()),
        process: list.iter().map(|one| one.process.clone()).collect(),
        rank: list.iter().map(|one| one.rank).collect(),
        threads: list.iter().map(|one| one.threads).collect(),
        host: list.iter().map(|one| one.host.clone()).collect(),
        cpu: list.iter().map(|one| one.cpu.clone()).collect(),
        start_s: list.iter().map(|one| one.start_s).collect(),
        pid: list.iter().map(|one| one.pid.clone()).collect(),
        command: list.iter().map(|one| one.command.clone()).collect(),
        facts,
    }
}
