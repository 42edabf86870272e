//! Stable order by key.

use parallax_base::threads;

use crate::pieces::{concat, map_pieces, row};

/// A key and the row that it is of.
type Entry = (u64, u32);

/// Below this, comparing beats counting.
const FEW: usize = 512;

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

/// Rows are dealt to buckets by the highest eight bits in which keys differ, and each bucket is put in
/// order by one thread, eight bits at a time from the lowest ones.
fn sort_by(len: usize, key: impl Fn(usize) -> u64 + Send + Sync) -> Vec<u32> {
    if len == 0 {
        return Vec::new();
    }
    let one = key(0);
    let varying = map_pieces(len, |piece| piece.fold(0, |bits, i| bits | (key(i) ^ one)));
    let varying = varying.into_iter().fold(0, |a, b| a | b);
    if varying == 0 {
        return (0..len).map(row).collect();
    }
    let shift = (64 - varying.leading_zeros()).saturating_sub(8);
    let dealt = map_pieces(len, |piece| {
        let mut lens = [0_usize; 256];
        piece.clone().for_each(|i| lens[digit(key(i), shift)] += 1);
        let mut buckets: Vec<Vec<Entry>> =
            lens.iter().map(|&len| Vec::with_capacity(len)).collect();
        piece.for_each(|i| buckets[digit(key(i), shift)].push((key(i), row(i))));
        buckets
    });
    let rest = varying & ((1 << shift) - 1);
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
