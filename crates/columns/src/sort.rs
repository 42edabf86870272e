//! Stable order by key.

use parallax_base::casts::{low_u32, saturated_usize};
use parallax_base::threads;

use crate::pieces::{concat, map_pieces, row};

/// A key and the row that it is of.
type Entry = (u64, u32);

/// Below this, comparing beats counting.
const FEW: usize = 512;

/// Up to so many packed keys are in the cache of one core, which has put them in order before several
/// have dealt them to buckets. Of keys that are not packed, it is half of that.
const ON_ONE_THREAD: usize = 1 << 16;

/// The numbers of the rows in ascending order of their keys; equal keys keep their order.
///
/// ```
/// assert_eq!(parallax_columns::sort(&[3_u64, 1, 3, 0]), [3, 1, 0, 2]);
/// ```
#[must_use]
pub fn sort(keys: &[u64]) -> Vec<u32> {
    sort_by(keys.len(), |i| keys[i])
}

/// [`sort`] by keys of 32 bits.
#[must_use]
pub fn sort_u32(keys: &[u32]) -> Vec<u32> {
    sort_by(keys.len(), |i| u64::from(keys[i]))
}

/// The numbers of the rows in ascending order of the keys that `key` gives; equal keys keep their
/// order.
///
/// ```
/// let keys = [3_i64, -1, 3];
/// let order = parallax_columns::sort_by(3, |row| keys[row].cast_unsigned() ^ 1 << 63);
/// assert_eq!(order, [1, 0, 2]);
/// ```
#[must_use]
pub fn sort_by(len: usize, key: impl Fn(usize) -> u64 + Send + Sync) -> Vec<u32> {
    let (is_sorted, low, high) = ends(len, &key);
    if is_sorted {
        return (0..len).map(row).collect();
    }
    let bits = Bits { low, key: bits(high - low), row: bits(len as u64 - 1) };
    match bits.key + bits.row <= u64::BITS {
        true => packed(len, &bits, key),
        false => wide(len, &bits, key),
    }
}

/// Whether the keys ascend, the least and the greatest one.
fn ends(len: usize, key: &(impl Fn(usize) -> u64 + Send + Sync)) -> (bool, u64, u64) {
    let pieces = map_pieces(len, |piece| {
        let (mut is_sorted, mut last, mut low, mut high) = (true, 0, u64::MAX, 0);
        for key in piece.map(key) {
            // Without branches.
            is_sorted &= last <= key;
            (last, low, high) = (key, low.min(key), high.max(key));
        }
        (is_sorted, low, high)
    });
    let all =
        pieces.into_iter().reduce(|a, b| (a.0 && b.0 && a.2 <= b.1, a.1.min(b.1), a.2.max(b.2)));
    all.unwrap_or((true, 0, 0))
}

/// How many bits a number has.
const fn bits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// What keys are made of.
struct Bits {
    /// The least key.
    low: u64,
    /// Bits of a key less that, and of the number of a row.
    key: u32,
    row: u32,
}

/// Rows are dealt to buckets by so many of the highest bits.
const BUCKET_BITS: u32 = 9;

/// The order where a key and the number of its row are one number: half of the memory that is moved,
/// and no two are equal.
fn packed(len: usize, bits: &Bits, key: impl Fn(usize) -> u64 + Send + Sync) -> Vec<u32> {
    let &Bits { low, key: key_bits, row: row_bits } = bits;
    let entry = |i: usize| (key(i) - low) << row_bits | i as u64;
    let of_entry = |entry: u64| low_u32(entry & ((1 << row_bits) - 1));
    if len <= ON_ONE_THREAD {
        let entries = counted((0..len).map(entry).collect(), row_bits, key_bits);
        return entries.into_iter().map(of_entry).collect();
    }
    let rest = key_bits.saturating_sub(BUCKET_BITS);
    let shift = row_bits + rest;
    let buckets = 1_usize << (key_bits - rest);
    let dealt = map_pieces(len, |piece| {
        let mut lens = vec![0_usize; buckets];
        piece.clone().for_each(|i| lens[saturated_usize(entry(i) >> shift)] += 1);
        let mut dealt: Vec<Vec<u64>> = lens.into_iter().map(Vec::with_capacity).collect();
        for i in piece {
            let entry = entry(i);
            dealt[saturated_usize(entry >> shift)].push(entry);
        }
        dealt
    });
    // Each bucket writes its rows where they stay.
    let mut out = vec![0; len];
    let mut left = out.as_mut_slice();
    let mut work = Vec::with_capacity(buckets);
    for bucket in 0..buckets {
        let size = dealt.iter().map(|dealt| dealt[bucket].len()).sum();
        let (here, others) = left.split_at_mut(size);
        work.push((bucket, here));
        left = others;
    }
    // The largest first, so that no thread is left with one at the end.
    work.sort_by_key(|(_, here)| std::cmp::Reverse(here.len()));
    threads::map(work, |(bucket, here)| {
        let mut entries = Vec::with_capacity(here.len());
        dealt.iter().for_each(|dealt| entries.extend_from_slice(&dealt[bucket]));
        let entries = counted(entries, row_bits, rest);
        here.iter_mut().zip(entries).for_each(|(row, entry)| *row = of_entry(entry));
    });
    out
}

/// Entries in the order of `bits` bits from `first` on; equal ones keep their order, which is that of
/// their numbers.
fn counted(mut entries: Vec<u64>, first: u32, bits: u32) -> Vec<u64> {
    if entries.len() <= FEW / 2 {
        entries.sort_unstable();
        return entries;
    }
    let most = if entries.len() < 1 << 11 { 8 } else { 11 };
    let passes = bits.div_ceil(most);
    let width = if passes == 0 { 0 } else { bits.div_ceil(passes) };
    let mask = (1_u64 << width) - 1;
    let mut other = vec![0; entries.len()];
    let mut places = vec![0_usize; 1 << width];
    for shift in (0..passes).map(|pass| first + pass * width) {
        let digit = |entry: u64| saturated_usize((entry >> shift) & mask);
        places.fill(0);
        entries.iter().for_each(|&entry| places[digit(entry)] += 1);
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        for &entry in &entries {
            let place = &mut places[digit(entry)];
            other[*place] = entry;
            *place += 1;
        }
        std::mem::swap(&mut entries, &mut other);
    }
    entries
}

/// Rows are dealt to buckets by the highest eight bits in which keys differ, and each bucket is put in
/// order by one thread, eight bits at a time from the lowest ones.
fn wide(len: usize, bits: &Bits, key: impl Fn(usize) -> u64 + Send + Sync) -> Vec<u32> {
    let key = |i: usize| key(i) - bits.low;
    if len <= ON_ONE_THREAD / 2 {
        // Rows ascend, so an entry as a whole is the key of a stable order.
        let mut entries: Vec<Entry> = (0..len).map(|i| (key(i), row(i))).collect();
        entries.sort_unstable();
        return entries.into_iter().map(|(_, row)| row).collect();
    }
    let shift = bits.key.saturating_sub(8);
    let dealt = map_pieces(len, |piece| {
        let mut lens = [0_usize; 256];
        piece.clone().for_each(|i| lens[digit(key(i), shift)] += 1);
        let mut buckets: Vec<Vec<Entry>> =
            lens.iter().map(|&len| Vec::with_capacity(len)).collect();
        piece.for_each(|i| buckets[digit(key(i), shift)].push((key(i), row(i))));
        buckets
    });
    let rest = (1 << shift) - 1;
    let mut numbers: Vec<usize> = (0..256).collect();
    let size = |bucket: usize| dealt.iter().map(|buckets| buckets[bucket].len()).sum::<usize>();
    // The largest first, so that no thread is left with one at the end.
    numbers.sort_by_key(|&bucket| std::cmp::Reverse(size(bucket)));
    let mut sorted = threads::map(numbers, |bucket| {
        let mut entries = Vec::with_capacity(size(bucket));
        dealt.iter().for_each(|buckets| entries.extend_from_slice(&buckets[bucket]));
        (bucket, in_order(entries, rest))
    });
    sorted.sort_unstable_by_key(|(bucket, _)| *bucket);
    let parts: Vec<Vec<u32>> = sorted.into_iter().map(|(_, rows)| rows).collect();
    concat(&parts)
}

fn digit(key: u64, shift: u32) -> usize {
    usize::from((key >> shift).to_le_bytes()[0])
}

/// The rows of the entries by the bits of their keys that vary.
fn in_order(mut entries: Vec<Entry>, varying: u64) -> Vec<u32> {
    if entries.len() <= FEW {
        // Rows ascend, so an entry as a whole is the key of a stable order.
        entries.sort_unstable();
    } else {
        let mut other = vec![(0, 0); entries.len()];
        for shift in (0..64).step_by(8).filter(|shift| (varying >> shift) & 0xff != 0) {
            let mut places = [0_usize; 256];
            entries.iter().for_each(|(key, _)| places[digit(*key, shift)] += 1);
            let mut before = 0;
            for place in &mut places {
                before += std::mem::replace(place, before);
            }
            for entry in &entries {
                let place = &mut places[digit(entry.0, shift)];
                other[*place] = *entry;
                *place += 1;
            }
            std::mem::swap(&mut entries, &mut other);
        }
    }
    entries.into_iter().map(|(_, row)| row).collect()
}
