//! `.ppk` as ParaProf packs profiles.

use super::{Facts, Profiles};

/// Which version to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackedVersion {
    /// Without metadata.
    One,
    /// With metadata.
    Two,
}

/// The bytes of a packed profile, not compressed.
#[must_use]
pub fn to_packed(profiles: &Profiles, version: PackedVersion) -> Vec<u8> {
    let mut out = vec![0, b'P', 0, b'P', 0, b'K'];
    let number = if version == PackedVersion::One { 1 } else { 2 };
    int(&mut out, number);
    int(&mut out, 1);
    match version {
        PackedVersion::One => {
            // A header that need not be understood.
            int(&mut out, 3);
            out.extend([7, 8, 9]);
        }
        PackedVersion::Two => {
            let mut header = Vec::new();
            int(&mut header, 0);
            facts(&mut header, &profiles.metadata);
            int(&mut header, profiles.threads.len());
            for thread in &profiles.threads {
                id(&mut header, thread.id);
                facts(&mut header, &thread.metadata);
            }
            int(&mut out, header.len());
            out.extend(header);
        }
    }
    names(&mut out, &profiles.metrics);
    names(&mut out, &profiles.groups);
    int(&mut out, profiles.timers.len());
    for (name, groups) in &profiles.timers {
        utf(&mut out, name);
        int(&mut out, groups.len());
        groups.iter().for_each(|&group| int(&mut out, group as usize));
    }
    names(&mut out, &profiles.events);
    int(&mut out, profiles.threads.len());
    for thread in &profiles.threads {
        id(&mut out, thread.id);
        int(&mut out, thread.timers.len());
        for timer in &thread.timers {
            int(&mut out, timer.timer as usize);
            out.extend(timer.calls.to_be_bytes());
            out.extend(timer.subroutines.to_be_bytes());
            for (exclusive, inclusive) in &timer.values {
                out.extend(exclusive.to_be_bytes());
                out.extend(inclusive.to_be_bytes());
            }
        }
        int(&mut out, thread.events.len());
        for event in &thread.events {
            int(&mut out, event.event as usize);
            out.extend(event.count.to_be_bytes());
            let [max, min, mean, sum_of_squares] = event.statistics;
            for value in [min, max, mean, sum_of_squares] {
                out.extend(value.to_be_bytes());
            }
        }
    }
    out
}

fn int(out: &mut Vec<u8>, number: usize) {
    out.extend(u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes());
}

fn id(out: &mut Vec<u8>, id: [u32; 3]) {
    id.iter().for_each(|&part| int(out, part as usize));
}

fn facts(out: &mut Vec<u8>, facts: &Facts) {
    int(out, facts.len());
    for (name, value) in facts {
        utf(out, name);
        utf(out, value);
    }
}

fn names(out: &mut Vec<u8>, names: &[String]) {
    int(out, names.len());
    names.iter().for_each(|name| utf(out, name));
}

/// Java's modified UTF-8, by its description: each 16-bit unit on its own, NUL in two bytes.
fn utf(out: &mut Vec<u8>, text: &str) {
    let mut bytes = Vec::new();
    for unit in text.encode_utf16() {
        let [high, low] = unit.to_be_bytes();
        match unit {
            1..=0x7f => bytes.push(low),
            0 | 0x80..=0x7ff => {
                bytes.extend([0xc0 | (high << 2) | (low >> 6), 0x80 | (low & 0x3f)]);
            }
            _ => bytes.extend([
                0xe0 | (high >> 4),
                0x80 | ((high & 0x0f) << 2) | (low >> 6),
                0x80 | (low & 0x3f),
            ]),
        }
    }
    out.extend(u16::try_from(bytes.len()).unwrap_or(u16::MAX).to_be_bytes());
    out.extend(bytes);
}
