//! [`spread`]: rows of a table that stand for all of it.

use std::ops::Range;

/// Rows of a sample that lie next to each other, as rows do in the table.
pub(super) const BLOCK_ROWS: usize = 1 << 10;

/// So many rows of a table at most, in blocks that are spread over it: tables are in the order of
/// locations and times, so that the first rows are not like the others.
pub(crate) fn spread(rows: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let wanted = (most / BLOCK_ROWS).max(1);
    let there = rows.div_ceil(BLOCK_ROWS);
    let blocks = wanted.min(there);
    (0..blocks).map(move |at| {
        let begin = at * there / blocks * BLOCK_ROWS;
        begin..rows.min(begin + BLOCK_ROWS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_spread_over_the_table() {
        let blocks: Vec<_> = spread(1_000_000, 4096).collect();
        assert_eq!(blocks.len(), 4);
        assert!(blocks.windows(2).all(|two| two[1].start - two[0].start > 240_000));
        assert!(blocks.iter().all(|block| block.len() == BLOCK_ROWS));
        // All of a table that has fewer.
        let all: Vec<usize> = spread(2500, 4096).flatten().collect();
        assert_eq!(all, (0..2500).collect::<Vec<_>>());
        assert_eq!(spread(0, 4096).count(), 0);
    }
}
