//! From host ids to names to places.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use super::{NodePosition, System};

/// The address that a host id holds: the id with its 16-bit halves exchanged is the address as it
/// lies in the memory of a little-endian machine (glibc, `gethostid.c`). `0x2a803c80` is
/// 128.42.128.60. Meaningless where the host has a file `/etc/hostid`.
#[must_use]
pub fn address_of(host_id: u32) -> Ipv4Addr {
    Ipv4Addr::from(host_id.rotate_left(16).to_le_bytes())
}

/// The host id that the C library makes of an address.
#[must_use]
pub fn host_id_of(address: Ipv4Addr) -> u32 {
    u32::from_le_bytes(address.octets()).rotate_left(16)
}

/// What a table says about a host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Host {
    /// What `gethostid` gives there.
    pub host_id: Option<u32>,
    /// Its addresses.
    pub addresses: Vec<Ipv4Addr>,
    /// Its names; the first one is its own.
    pub names: Vec<String>,
    /// Where it stands, as far as the table says so.
    pub place: NodePosition,
}

/// Hosts by everything that they can be found by.
#[derive(Debug, Clone, Default)]
pub struct HostTable {
    hosts: Vec<Host>,
    by_id: HashMap<u32, usize>,
    by_address: HashMap<Ipv4Addr, usize>,
    by_name: HashMap<String, Vec<usize>>,
    /// Ids and addresses that several hosts have; the first one counts.
    pub num_repeated: u64,
}

/// How a node was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostMatch {
    /// The table has its host id.
    ById,
    /// The table has the address that its host id holds.
    ByAddress,
    /// No host of the table has its id or address.
    Unknown,
    /// Its address is one that every host has, such as 127.0.1.1: it does not distinguish nodes.
    Loopback,
}

/// A node of an experiment with what is known about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Its host id.
    pub host_id: u64,
    /// The address that this holds.
    pub address: Option<Ipv4Addr>,
    /// Its name.
    pub name: Option<String>,
    /// How it was found.
    pub found: HostMatch,
    /// Where it stands.
    pub place: NodePosition,
}

impl HostTable {
    /// A table of these hosts. Earlier ones win.
    #[must_use]
    pub fn new(hosts: Vec<Host>) -> Self {
        let mut out = Self { hosts: Vec::new(), ..Self::default() };
        for (at, host) in hosts.iter().enumerate() {
            if let Some(id) = host.host_id
                && *out.by_id.entry(id).or_insert(at) != at
            {
                out.num_repeated += 1;
            }
            for address in &host.addresses {
                // Two names for one address, in two lines, are one host more often than two.
                out.by_address.entry(*address).or_insert(at);
            }
            for name in &host.names {
                out.by_name.entry(short(name)).or_default().push(at);
            }
        }
        out.hosts = hosts;
        out
    }

    /// Number of hosts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// What is known about the node with a host id.
    #[must_use]
    pub fn locate(&self, host_id: u64, system: &System) -> Located {
        let id = u32::try_from(host_id).ok();
        let address = id.map(address_of);
        let mut out = Located {
            host_id,
            address,
            name: None,
            found: HostMatch::Unknown,
            place: NodePosition::default(),
        };
        let by_id = id.and_then(|id| self.by_id.get(&id)).map(|&at| (at, HostMatch::ById));
        let by_address =
            || address.and_then(|a| self.by_address.get(&a)).map(|&at| (at, HostMatch::ByAddress));
        let Some((at, found)) = by_id.or_else(by_address) else {
            if address.is_some_and(|address| address.is_loopback()) {
                out.found = HostMatch::Loopback;
            }
            return out;
        };
        out.found = found;
        // Other tables may say more about the same names.
        let mut names: Vec<String> = Vec::new();
        let mut open = vec![at];
        let mut seen = vec![at];
        while let Some(at) = open.pop() {
            let Some(host) = self.hosts.get(at) else { continue };
            out.place.fill(host.place.clone());
            for name in &host.names {
                if !names.contains(name) {
                    names.push(name.clone());
                }
                for &other in self.by_name.get(&short(name)).into_iter().flatten() {
                    if !seen.contains(&other) && seen.len() < 64 {
                        seen.push(other);
                        open.push(other);
                    }
                }
            }
        }
        let placed = names.iter().find_map(|name| Some((name, system.place(name)?)));
        out.name =
            placed.as_ref().map(|(name, _)| (*name).clone()).or_else(|| names.first().cloned());
        if let Some((_, place)) = placed {
            out.place.fill(place);
        }
        out
    }
}

/// A name as hosts are found by it: its first label in lower case.
fn short(name: &str) -> String {
    name.split('.').next().unwrap_or_default().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn host_ids_hold_addresses() {
        // Of a real database measured at Rice University.
        assert_eq!(address_of(0x2a80_3c80), Ipv4Addr::new(128, 42, 128, 60));
        assert_eq!(address_of(0x007f_0101), Ipv4Addr::new(127, 0, 1, 1));
        for id in [0, 1, 0x1234_5678, u32::MAX] {
            assert_eq!(host_id_of(address_of(id)), id);
        }
    }

    #[test]
    fn tables_complete_each_other() {
        let etc = Host {
            addresses: vec![Ipv4Addr::new(10, 1, 2, 3)],
            names: vec!["nid0007".into(), "x4109c3s5b0n0-hsn0".into()],
            ..Host::default()
        };
        let mut slurm = Host { names: vec!["NID0007.site".into()], ..Host::default() };
        slurm.place.set(Level::Switch, "s3");
        let table = HostTable::new(vec![etc, slurm]);
        let id = u64::from(host_id_of(Ipv4Addr::new(10, 1, 2, 3)));
        let found = table.locate(id, &System::Aurora);
        assert_eq!(found.found, HostMatch::ByAddress);
        assert_eq!(found.place.level(Level::Switch), Some("s3"));
        assert_eq!(found.place.level(Level::Chassis), Some("x4109c3"));
        assert_eq!(table.locate(1, &System::Aurora).found, HostMatch::Unknown);
        assert_eq!(table.locate(0x007f_0101, &System::Aurora).found, HostMatch::Loopback);
    }
}
