//! Blocks of rows of whole numbers as few bytes, exactly.
//!
//! A block has its columns one after the other:
//!
//! ```text
//! mode          0: numbers as they are; 1: each less the one before, signs folded in
//! first         of mode 1: the first number, whose difference means nothing
//! per 64 numbers:
//!   width       bits of each number, 0 to 64
//!   least       what is added to each
//!   numbers     width bits each, the lowest first, filled up to a byte
//! ```
//!
//! `first` and `least` have 7 bits a byte, the lowest first. Numbers that count up by one, or that
//! stay the same, take two or three bytes for 64 of them.

use crate::casts::{low_u8, low_u64};

/// Numbers that share a width.
const GROUP: usize = 64;

/// Bytes of the widest group, and as many as are read beyond its end.
const ROOM: usize = GROUP * 8 + 16;

const PLAIN: u8 = 0;
const DIFFERENCES: u8 = 1;

/// What packing needs, used again from block to block.
#[derive(Debug, Default)]
pub(super) struct Room {
    column: Vec<u64>,
    differences: Vec<u64>,
    /// The least number of each group, and the bits that each number above it needs.
    plain_spans: Vec<(u64, usize)>,
    spans: Vec<(u64, usize)>,
}

/// Adds rows of `width` numbers each to `out`.
pub(super) fn encode(rows: &[u64], width: usize, room: &mut Room, out: &mut Vec<u8>) {
    let Room { column, differences, plain_spans, spans } = room;
    for number in 0..width {
        column.clear();
        column.extend(rows.chunks_exact(width).filter_map(|row| row.get(number)));
        let plain_bits = measure(column, plain_spans);
        if plain_spans.iter().all(|&(_, width)| width == 0) {
            out.push(PLAIN);
            groups(column, plain_spans, out);
            continue;
        }
        differences.clear();
        // Before the first one there is none: it gets the difference that is there anyway.
        let second = column.get(1).copied().unwrap_or(0);
        let mut last =
            column.first().map_or(0, |first| first.wrapping_sub(second.wrapping_sub(*first)));
        for &number in &*column {
            differences.push(folded(number.wrapping_sub(last)));
            last = number;
        }
        if measure(differences, spans) < plain_bits {
            out.push(DIFFERENCES);
            push_varint(column.first().copied().unwrap_or(0), out);
            groups(differences, spans, out);
        } else {
            out.push(PLAIN);
            groups(column, plain_spans, out);
        }
    }
}

/// Fills rows of `width` numbers each with what [`encode`] made of them; `None` when the bytes end
/// before.
pub(super) fn decode(mut bytes: &[u8], width: usize, rows: &mut [u64]) -> Option<()> {
    let mut group = [0; GROUP];
    for number in 0..width {
        let mode = byte(&mut bytes)?;
        let mut last = if mode == DIFFERENCES { varint(&mut bytes)? } else { 0 };
        let mut is_first = true;
        for rows in rows.chunks_mut(GROUP * width) {
            let group = group.get_mut(..rows.len() / width)?;
            unpack(&mut bytes, group)?;
            if mode == DIFFERENCES {
                let mut differences = group.iter_mut();
                if std::mem::take(&mut is_first)
                    && let Some(first) = differences.next()
                {
                    *first = last;
                }
                for difference in differences {
                    last = last.wrapping_add(unfolded(*difference));
                    *difference = last;
                }
            }
            for (row, &value) in rows.chunks_exact_mut(width).zip(&*group) {
                if let Some(cell) = row.get_mut(number) {
                    *cell = value;
                }
            }
        }
    }
    Some(())
}

/// Takes a group from the front of `bytes`.
fn unpack(bytes: &mut &[u8], group: &mut [u64]) -> Option<()> {
    let width = usize::from(byte(bytes)?);
    let least = varint(bytes)?;
    let packed = bytes.split_off(..(group.len() * width).div_ceil(8))?;
    if width == 0 {
        group.fill(least);
        return Some(());
    }
    let mut room = [0_u8; ROOM];
    room.get_mut(..packed.len())?.copy_from_slice(packed);
    let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
    let mut bit = 0;
    if width <= 56 {
        for slot in group {
            let word = room.get(bit / 8..bit / 8 + 8)?;
            let word = u64::from_le_bytes(word.try_into().ok()?);
            *slot = (word >> (bit % 8) & mask).wrapping_add(least);
            bit += width;
        }
    } else {
        for slot in group {
            let word = room.get(bit / 8..bit / 8 + 16)?;
            let word = u128::from_le_bytes(word.try_into().ok()?);
            *slot = (low_u64(word >> (bit % 8)) & mask).wrapping_add(least);
            bit += width;
        }
    }
    Some(())
}

/// A difference so that small ones of both signs are small.
const fn folded(difference: u64) -> u64 {
    let is_negative = difference >> 63;
    (difference << 1) ^ (0_u64.wrapping_sub(is_negative))
}

const fn unfolded(number: u64) -> u64 {
    (number >> 1) ^ (0_u64.wrapping_sub(number & 1))
}

/// The least of a group, and the bits that each number above it needs.
fn span(group: &[u64]) -> (u64, usize) {
    let (mut least, mut most) = (u64::MAX, 0);
    for &number in group {
        least = least.min(number);
        most = most.max(number);
    }
    let least = least.min(most);
    (least, (64 - (most - least).leading_zeros()) as usize)
}

/// Finds the span of each group; returns how many bits all of them take, about.
fn measure(column: &[u64], spans: &mut Vec<(u64, usize)>) -> usize {
    spans.clear();
    let mut bits = 0;
    for group in column.chunks(GROUP) {
        let (least, width) = span(group);
        spans.push((least, width));
        bits += width * group.len() + (64 - least.leading_zeros()) as usize;
    }
    bits
}

fn groups(column: &[u64], spans: &[(u64, usize)], out: &mut Vec<u8>) {
    for (group, &(least, width)) in column.chunks(GROUP).zip(spans) {
        out.push(u8::try_from(width).unwrap_or(64));
        push_varint(least, out);
        if width == 0 {
            continue;
        }
        let (mut held, mut count) = (0_u64, 0);
        for &number in group {
            let number = number - least;
            held |= number << count;
            count += width;
            if count >= 64 {
                out.extend_from_slice(&held.to_le_bytes());
                count -= 64;
                // What did not fit any more.
                held = number.checked_shr(low_count(width - count)).unwrap_or(0);
            }
        }
        let last = held.to_le_bytes();
        out.extend_from_slice(last.get(..count.div_ceil(8)).unwrap_or_default());
    }
}

fn low_count(bits: usize) -> u32 {
    u32::try_from(bits).unwrap_or(64)
}

fn push_varint(mut rest: u64, out: &mut Vec<u8>) {
    while rest >= 128 {
        out.push(low_byte(rest) | 128);
        rest >>= 7;
    }
    out.push(low_byte(rest));
}

const fn low_byte(number: u64) -> u8 {
    low_u8((number & 255) as u32)
}

fn byte(bytes: &mut &[u8]) -> Option<u8> {
    bytes.split_off_first().copied()
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0_u64, 0);
    loop {
        let next = byte(bytes)?;
        number |= u64::from(next & 127).checked_shl(shift)?;
        if next < 128 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(rows: &[u64], width: usize) -> usize {
        let mut bytes = Vec::new();
        encode(rows, width, &mut Room::default(), &mut bytes);
        let mut back = vec![0; rows.len()];
        decode(&bytes, width, &mut back).unwrap();
        assert_eq!(back, rows);
        for len in 0..bytes.len() {
            assert_eq!(decode(&bytes[..len], width, &mut back), None, "cut at {len}");
        }
        bytes.len()
    }

    #[test]
    fn columns_of_all_kinds_come_back() {
        assert!(same(&[], 1) < 3);
        same(&[0], 1);
        same(&[u64::MAX], 1);
        same(&[u64::MAX, 0, u64::MAX, 1, 1 << 63], 1);
        assert!(same(&(7..407).collect::<Vec<_>>(), 1) < 40, "counted up");
        assert!(same(&[5; 400], 1) < 40, "the same");
        assert!(same(&[5; 400], 4) < 40, "in four columns");
        let mut number = 1_u64;
        for bits in 0..=64 {
            let column: Vec<u64> = (0..200)
                .map(|_| {
                    number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
                    if bits == 0 { 0 } else { number >> (64 - bits) }
                })
                .collect();
            let size = same(&column, 1);
            assert!(size <= 11 + 200 * bits / 8 + 4 * 12 + 4, "{bits} bits: {size}");
            let mut sum = 0_u64;
            let sums: Vec<u64> = (column.iter())
                .map(|&number| {
                    sum = sum.wrapping_add(number);
                    sum
                })
                .collect();
            same(&sums, 1);
            same(&sums, 5);
        }
    }
}
