//! Slurm's `topology.conf` (topology.conf(5)) and `scontrol show topology`: one switch or block a
//! line, as pairs `Name=value`.

use std::collections::{BTreeMap, HashMap};

use super::hostlist::{Room, expand_within};
use super::{HostError, HostFile, HostFormat, HostRecord, lines, push};

#[derive(Default)]
struct Entry {
    line: u64,
    nodes: Vec<String>,
    switches: Vec<String>,
    is_block: bool,
}

pub(super) fn read(text: &str, file: &str) -> Result<HostFile, HostError> {
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    let mut room = Room::default();
    for (line, content) in lines(text).filter(|(_, content)| !content.is_empty()) {
        let mut entry = Entry { line, ..Entry::default() };
        let mut name = None;
        for word in content.split_whitespace() {
            let wrong = |what: String| HostError::line(file, line, what);
            let (key, value) = word
                .split_once('=')
                .ok_or_else(|| wrong(format!("expected Name=value, found {word:?}")))?;
            let mut listed = || expand_within(value, &mut room).map_err(wrong);
            match key.to_ascii_lowercase().as_str() {
                "switchname" => name = Some(value.to_owned()),
                "blockname" => {
                    name = Some(value.to_owned());
                    entry.is_block = true;
                }
                "nodes" => entry.nodes = listed()?,
                "switches" => entry.switches = listed()?,
                // LinkSpeed, Level, BlockSizes and what later versions add.
                _ => {}
            }
        }
        match name {
            Some(name) => {
                if let Some(first) = entries.get(&name) {
                    let what = format!("{name} is in line {} already", first.line);
                    return Err(HostError::line(file, line, what));
                }
                entries.insert(name, entry);
            }
            None if content.to_ascii_lowercase().starts_with("blocksizes=") => {}
            None => return Err(HostError::line(file, line, "expected SwitchName= or BlockName=")),
        }
    }
    let above: HashMap<&str, &str> = entries
        .iter()
        .flat_map(|(name, entry)| entry.switches.iter().map(move |below| (&**below, &**name)))
        .collect();
    // A switch with everything below it says nothing about where a node is.
    let mut parents: Vec<&str> = above.values().copied().collect();
    parents.sort_unstable();
    parents.dedup();
    let has_groups = parents.iter().filter(|parent| has_leaves(&entries, parent)).count() > 1;
    let mut hosts = Vec::new();
    for (name, entry) in &entries {
        // Switches above others list all nodes below them, too, where scontrol prints them.
        if !entry.switches.is_empty() {
            continue;
        }
        for node in &entry.nodes {
            let mut host =
                HostRecord { line: entry.line, names: vec![node.clone()], ..HostRecord::default() };
            let group = above.get(&**name).filter(|_| has_groups).map(|&group| group.to_owned());
            if entry.is_block {
                host.place.group = Some(name.clone());
            } else {
                host.place.switch = Some(name.clone());
                host.place.group = group;
            }
            push(&mut hosts, host, file)?;
        }
    }
    Ok(HostFile { format: HostFormat::Slurm, hosts, notes: Vec::new() })
}

fn has_leaves(entries: &BTreeMap<String, Entry>, parent: &str) -> bool {
    let below = entries.get(parent).map_or(&[][..], |entry| &entry.switches);
    below.iter().any(|name| entries.get(name).is_some_and(|entry| entry.switches.is_empty()))
}
