//! Tables of hosts: a head that names the columns, then one host a line, separated by commas,
//! semicolons or tabs.

use std::net::Ipv4Addr;

use super::{HostError, HostFile, HostFormat, HostRecord, lines, push};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    HostId,
    Address,
    Name,
    Group,
    Rack,
    Chassis,
    Slot,
    Switch,
    Other,
}

fn kind(head: &str) -> Kind {
    match head.to_ascii_lowercase().replace(['_', ' '], "").as_str() {
        "hostid" | "posixid" | "nodeid" => Kind::HostId,
        "address" | "ip" | "ipaddress" => Kind::Address,
        "xname" | "name" | "host" | "hostname" | "node" | "nodename" | "nid" => Kind::Name,
        "group" | "switchgroup" | "dragonflygroup" => Kind::Group,
        "rack" | "cabinet" => Kind::Rack,
        "chassis" => Kind::Chassis,
        "slot" | "blade" | "unit" => Kind::Slot,
        "switch" => Kind::Switch,
        _ => Kind::Other,
    }
}

pub(super) fn read(text: &str, file: &str) -> Result<HostFile, HostError> {
    let mut rows = lines(text).filter(|(_, content)| !content.is_empty());
    let Some((head_line, head)) = rows.next() else {
        return Err(HostError::Unknown { file: file.to_owned(), what: "it is empty".into() });
    };
    let separator = [',', ';', '\t'].into_iter().find(|mark| head.contains(*mark)).unwrap_or(',');
    let split = |line: &str| -> Vec<String> {
        line.split(separator).map(|cell| cell.trim().trim_matches('"').to_owned()).collect()
    };
    let mut cells: Vec<(u64, Vec<String>)> = rows.map(|(line, row)| (line, split(row))).collect();
    let first = split(head);
    let mut kinds: Vec<Kind> = first.iter().map(|head| kind(head)).collect();
    let names_host = |kinds: &[Kind]| {
        kinds.iter().any(|kind| matches!(kind, Kind::HostId | Kind::Address | Kind::Name))
    };
    if !names_host(&kinds) {
        // Without a head two columns are `hostid,xname`.
        let is_plain = matches!(first.as_slice(), [id, name] if is_host_id(id) && !name.is_empty());
        if !is_plain {
            return Err(HostError::Unknown {
                file: file.to_owned(),
                what: format!(
                    "line {head_line} is {:?}",
                    head.chars().take(60).collect::<String>()
                ),
            });
        }
        kinds = vec![Kind::HostId, Kind::Name];
        cells.insert(0, (head_line, first));
    }
    let at = |wanted: Kind| kinds.iter().position(|kind| *kind == wanted);
    let is_hex = at(Kind::HostId).is_some_and(|column| {
        is_hexadecimal(cells.iter().filter_map(|(_, row)| row.get(column)).map(String::as_str))
    });
    let mut hosts = Vec::new();
    for (line, row) in cells {
        if row.len() > kinds.len() && row.iter().skip(kinds.len()).any(|cell| !cell.is_empty()) {
            let what = format!("{} columns, but the head has {}", row.len(), kinds.len());
            return Err(HostError::line(file, line, what));
        }
        let mut host = HostRecord { line, ..HostRecord::default() };
        for (kind, cell) in kinds.iter().zip(row).filter(|(_, cell)| !cell.is_empty()) {
            let wrong = |what: &str| HostError::line(file, line, format!("{cell:?} is no {what}"));
            match kind {
                Kind::HostId => {
                    let id = host_id(&cell, is_hex).ok_or_else(|| wrong("host id"))?;
                    host.host_id = Some(id);
                }
                Kind::Address => {
                    let address: Ipv4Addr = cell.parse().map_err(|_| wrong("address of IPv4"))?;
                    host.addresses.push(address);
                }
                Kind::Name => host.names.push(cell),
                Kind::Group => host.place.group = Some(cell),
                Kind::Rack => host.place.rack = Some(cell),
                Kind::Chassis => host.place.chassis = Some(cell),
                Kind::Slot => host.place.slot = Some(cell),
                Kind::Switch => host.place.switch = Some(cell),
                Kind::Other => {}
            }
        }
        if host.host_id.is_none() && host.addresses.is_empty() && host.names.is_empty() {
            return Err(HostError::line(file, line, "no host id, address or name"));
        }
        push(&mut hosts, host, file)?;
    }
    Ok(HostFile { format: HostFormat::Table, hosts, notes: Vec::new() })
}

fn digits(text: &str) -> Option<(&str, bool)> {
    let lower = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let digits = lower.unwrap_or(text);
    let is_some = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_some.then_some((digits, lower.is_some()))
}

fn is_host_id(text: &str) -> bool {
    digits(text).is_some()
}

/// Whether ids of a column are hexadecimal: one has a letter or `0x`, or all have eight digits, as
/// the command `hostid` prints them.
fn is_hexadecimal<'a>(ids: impl Iterator<Item = &'a str>) -> bool {
    let (mut is_hex, mut are_eight, mut number) = (false, true, 0_usize);
    for (digits, is_marked) in ids.filter_map(digits) {
        number += 1;
        is_hex |= is_marked || digits.bytes().any(|byte| byte.is_ascii_alphabetic());
        are_eight &= digits.len() == 8;
    }
    is_hex || (number > 0 && are_eight)
}

fn host_id(text: &str, is_hex: bool) -> Option<u32> {
    let (digits, is_marked) = digits(text)?;
    // Some tools print the host id as a signed number of 64 bits; only 32 of them are its own.
    match is_hex || is_marked {
        true => u64::from_str_radix(digits, 16).ok().map(|id| (id & 0xffff_ffff) as u32),
        false => digits.parse().ok(),
    }
}
