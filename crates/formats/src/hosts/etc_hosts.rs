//! `/etc/hosts`: an address, then the names of the host that has it (hosts(5)).

use std::net::{IpAddr, Ipv4Addr};

use super::{HostError, HostFile, HostFormat, HostRecord, lines, push};

pub(super) fn read(text: &str, file: &str) -> Result<HostFile, HostError> {
    let (mut hosts, mut others, mut local) = (Vec::new(), 0_u64, 0_u64);
    for (line, content) in lines(text).filter(|(_, content)| !content.is_empty()) {
        let mut words = content.split_whitespace();
        let word = words.next().unwrap_or_default();
        let address: IpAddr = word.parse().map_err(|_| {
            HostError::line(file, line, format!("expected an address, found {word:?}"))
        })?;
        let IpAddr::V4(address) = address else {
            others += 1;
            continue;
        };
        let names: Vec<String> = words.map(str::to_owned).collect();
        if names.is_empty() {
            return Err(HostError::line(file, line, format!("{address} has no name")));
        }
        if is_local(address) {
            local += 1;
            continue;
        }
        push(
            &mut hosts,
            HostRecord { line, addresses: vec![address], names, ..HostRecord::default() },
            file,
        )?;
    }
    let mut notes = Vec::new();
    if others > 0 {
        notes.push(format!(
            "{file}: {others} addresses of IPv6 are omitted; host ids hold addresses of IPv4"
        ));
    }
    if local > 0 {
        notes.push(format!(
            "{file}: {local} addresses that every host has, such as 127.0.0.1, are omitted"
        ));
    }
    Ok(HostFile { format: HostFormat::EtcHosts, hosts, notes })
}

fn is_local(address: Ipv4Addr) -> bool {
    address.is_loopback() || address.is_unspecified() || address.is_broadcast()
}
