//! The operations give what a plain loop gives, on columns of any shape and for any number of threads.

use std::collections::BTreeMap;

use parallax_columns::{
    BLOCK_ROWS, ColumnTable, Compute as _, Events, Groups, Host, HostValues, Keys, Moments,
    Numbers, Processor, Room, durations, filter, filter_columns, gather, group, histogram, join,
    select, sort, sort_u32, summarise,
};
use proptest::prelude::*;

/// Long enough for several pieces; random, constant, ascending, and of few values.
fn numbers() -> impl Strategy<Value = Vec<u64>> {
    let len = prop_oneof![Just(0_usize), 1..2000_usize, 30_000..60_000_usize];
    (len, 0..5_u8, any::<u64>()).prop_map(|(len, kind, seed)| {
        let mut state = seed | 1;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let number = |i: u64, random: u64| match kind {
            0 => random,
            1 => seed,
            2 => i / 5,
            3 => random % 40,
            _ => u64::MAX - random % 100_000,
        };
        (0..len as u64).map(|i| number(i, random())).collect()
    })
}

/// As [`numbers`], and longer than what is sorted on one thread, or picked before anything is copied.
fn many_numbers() -> impl Strategy<Value = Vec<u64>> {
    let times = prop_oneof![3 => Just(1_usize), 1 => 6..9_usize];
    (numbers(), times).prop_map(|(values, times)| values.repeat(times))
}

fn short(values: &[u64]) -> Vec<u16> {
    values.iter().map(|value| (value % 65_536) as u16).collect()
}

fn narrow(values: &[u64], modulus: u64) -> Vec<u32> {
    values.iter().map(|value| (value % modulus) as u32).collect()
}

fn plain_groups(minor: &[u32], major: &[u32], values: &[u64]) -> Groups {
    let mut all: BTreeMap<(u32, u32), Moments> = BTreeMap::new();
    for ((&minor, &major), &value) in minor.iter().zip(major).zip(values) {
        all.entry((major, minor)).or_default().push(value);
    }
    Groups {
        minor: all.keys().map(|key| key.1).collect(),
        major: all.keys().map(|key| key.0).collect(),
        moments: all.into_values().collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn orders_are_stable(values in many_numbers()) {
        let mut expected: Vec<u32> = (0..values.len() as u32).collect();
        expected.sort_by_key(|&row| values[row as usize]);
        prop_assert_eq!(sort(&values), &expected[..]);
        let short = narrow(&values, 1 << 32);
        expected.sort_unstable();
        expected.sort_by_key(|&row| short[row as usize]);
        prop_assert_eq!(sort_u32(&short), expected);
    }

    #[test]
    fn filters_keep_what_is_in_range(values in numbers(), a: u64, b: u64) {
        let range = a.min(b)..=a.max(b);
        let rows = filter(&values, range.clone());
        let expected: Vec<u64> = values.iter().copied().filter(|value| range.contains(value)).collect();
        prop_assert!(rows.is_sorted());
        prop_assert_eq!(gather(&values, &rows), expected);
    }

    #[test]
    fn columns_are_filtered_as_rows_are(values in many_numbers(), others in many_numbers(), a: u64, b: u64) {
        let len = values.len().min(others.len());
        let (values, others) = (&values[..len], &others[..len]);
        let (narrow, short) = (narrow(values, 1 << 32), short(others));
        let times = durations(values, others);
        let range = a.min(b)..=a.max(b);
        let rows = filter(&times, range.clone());
        let all = [Numbers::Two(&short), Numbers::Eight(others), Numbers::Four(&narrow), Numbers::Eight(values)];
        let kept = filter_columns(&all, |block, picks| {
            let times = values[block.clone()].iter().zip(&others[block]);
            picks.push_within(times.map(|(start, end)| end.saturating_sub(*start)), &range);
        });
        let expected = [
            Room::Two(gather(&short, &rows)),
            Room::Eight(gather(others, &rows)),
            Room::Four(gather(&narrow, &rows)),
            Room::Eight(gather(values, &rows)),
        ];
        prop_assert_eq!(&kept[..], &expected[..]);
        let shared = |values: &[u64]| HostValues::Wide(std::sync::Arc::new(values.to_vec()));
        let columns = [("values", shared(values)), ("times", shared(&times)), ("narrow", HostValues::Narrow(std::sync::Arc::new(narrow.clone())))];
        let table = ColumnTable::new(Host, columns.map(|(name, values)| (name.to_owned(), (), values))).unwrap();
        let kept = table.filter("times", range).unwrap();
        prop_assert_eq!(kept.len(), rows.len());
        let HostValues::Wide(of_table) = kept.host_values("values").unwrap() else { unreachable!() };
        prop_assert_eq!((*of_table).as_ref(), &gather(values, &rows)[..]);
        let narrow_range = narrow.first().map_or(3, |&first| u64::from(first));
        let kept = table.filter("narrow", narrow_range..=narrow_range).unwrap();
        let HostValues::Narrow(of_table) = kept.host_values("narrow").unwrap() else { unreachable!() };
        let expected = narrow.iter().filter(|&&value| u64::from(value) == narrow_range).copied();
        prop_assert_eq!((*of_table).as_ref(), &expected.collect::<Vec<_>>()[..]);
    }

    #[test]
    fn groups_have_all_values(keys in numbers(), others in numbers(), values in numbers(), few in prop_oneof![Just(3_u64), Just(5000), Just(1 << 32)]) {
        let len = keys.len().min(others.len()).min(values.len());
        let (minor, major) = (narrow(&keys[..len], few), narrow(&others[..len], 7));
        let values = &values[..len];
        prop_assert_eq!(group(&minor, Some(&major), values), plain_groups(&minor, &major, values));
        let one = Groups { major: Vec::new(), ..plain_groups(&minor, &vec![0; len], values) };
        prop_assert_eq!(group(&minor, None, values), one);
    }

    #[test]
    fn joins_have_all_pairs(left in numbers(), right in numbers(), few in prop_oneof![Just(3000_u64), Just(1 << 32)]) {
        let left = narrow(&left[..left.len().min(3000)], few);
        let right = narrow(&right[..right.len().min(500)], few);
        let pairs = join(&left, &right).unwrap();
        let mut expected = (Vec::new(), Vec::new());
        for (i, key) in left.iter().enumerate() {
            for (k, other) in right.iter().enumerate() {
                if key == other {
                    expected.0.push(i as u32);
                    expected.1.push(k as u32);
                }
            }
        }
        prop_assert_eq!((pairs.left, pairs.right), expected);
    }

    #[test]
    fn rows_are_joined_with_the_one_that_has_their_key(
        left in numbers(),
        keys in prop::collection::hash_set(10..700_u32, 1..400),
        low in prop_oneof![Just(0_u32), Just(5), Just(u32::MAX - 700)],
        has_all: bool,
    ) {
        let right: Vec<u32> = keys.into_iter().map(|key| key + low).collect();
        let key = |value: u64| match has_all {
            true => right[value as usize % right.len()],
            false => (value % 720) as u32 + low.min(u32::MAX - 720),
        };
        let left: Vec<u32> = left.into_iter().map(key).collect();
        let partner = |key: &u32| right.iter().position(|other| other == key);
        let expected = left.iter().enumerate().filter_map(|(row, key)| Some((row as u32, partner(key)? as u32)));
        let expected: (Vec<u32>, Vec<u32>) = expected.unzip();
        let pairs = join(&left, &right).unwrap();
        prop_assert_eq!((pairs.left, pairs.right), expected);
    }

    #[test]
    fn histograms_count_what_is_between_edges(values in numbers(), mut edges in prop::collection::vec(0..60_u64, 0..9)) {
        edges.sort_unstable();
        let expected: Vec<u64> = edges.windows(2).enumerate().map(|(i, edge)| {
            let is_last = i + 2 == edges.len();
            let is_in = |&&value: &&u64| value >= edge[0] && (value < edge[1] || is_last && value == edge[1]);
            // An edge that comes again begins an interval later.
            let values = values.iter().filter(is_in);
            values.filter(|&&value| edge[0] < edge[1] || is_last && value == edge[1]).count() as u64
        }).collect();
        prop_assert_eq!(histogram(&values, &edges), expected);
    }
}

#[test]
fn events_are_summarised_by_their_durations() {
    let events = Events {
        location: &[1, 1, 2, 2],
        context: &[9, 8, 9, 9],
        start: &[0, 10, 0, 50],
        end: &[10, 15, 7, 40],
    };
    let by_context = summarise(&events, Keys::Context, 0);
    assert_eq!(by_context.minor, [8, 9]);
    let sums: Vec<(u64, u128)> = by_context.moments.iter().map(|of| (of.count, of.sum)).collect();
    // What ends before it starts takes no time.
    assert_eq!(sums, [(1, 5), (3, 17)]);
    let both = Processor::default().summarise(&events, Keys::Both, 7).value;
    assert_eq!((both.major, both.minor), (vec![1, 2], vec![9, 9]));
    assert_eq!((both.moments[0].sum, both.moments[1].sum), (10, 7));
    assert_eq!(summarise(&events, Keys::Location, 6).minor, [1, 2]);
    let (first, second) = events.split_at(1);
    let parts = [first, second].map(|part| summarise(&part, Keys::Both, 0));
    assert_eq!(Groups::merged(parts), summarise(&events, Keys::Both, 0));
}

#[test]
fn rows_that_follow_each_other_are_gathered_like_any_others() {
    let values: Vec<u64> = (0..5000).map(|i| i * 7).collect();
    let mut rows: Vec<u32> = (900..4900).collect();
    let plain = |rows: &[u32]| rows.iter().map(|&row| u64::from(row) * 7).collect::<Vec<_>>();
    assert_eq!(gather(&values, &rows), plain(&rows));
    // The ends are those of a range, and what is between them is not in its order.
    rows.swap(10, 20);
    rows[2100] = 2;
    assert_eq!(gather(&values, &rows), plain(&rows));
}

/// Nothing is chosen in the blocks that are looked at first, and everything in the last ones.
#[test]
fn rows_for_which_there_was_no_room_are_there_as_well() {
    let values: Vec<u64> = (0..40 * BLOCK_ROWS as u64 + 77).collect();
    let least = 30 * BLOCK_ROWS as u64 - 5;
    let is_sampled = |value: u64| (value as usize / BLOCK_ROWS) % 8 == 4;
    let chosen = |value: u64| value >= least && !is_sampled(value);
    let expected: Vec<u64> = values.iter().copied().filter(|&value| chosen(value)).collect();
    let pick = |block: std::ops::Range<usize>| values[block].iter().map(|&value| chosen(value));
    let all = [Numbers::Eight(&values)];
    let selected = select(
        values.len(),
        &all,
        false,
        |numbers, rows| numbers.room(rows),
        |block, picks| {
            picks.push(pick(block));
            Ok::<_, ()>(())
        },
    );
    let selected = selected.unwrap();
    assert!(selected.rows_here < selected.rows, "there was room for all");
    assert_eq!(selected.rows, expected.len());
    let kept = filter_columns(&all, |block, picks| picks.push(pick(block)));
    assert_eq!(kept, [Room::Eight(expected)]);
}

/// A block that fails stops the threads that wait for it.
#[test]
fn a_selection_ends_with_the_first_error() {
    let values = vec![0_u64; 40 * BLOCK_ROWS];
    for failing in [0, 17, 39] {
        let all = [Numbers::Eight(&values)];
        let selected = select(
            values.len(),
            &all,
            true,
            |numbers, rows| numbers.room(rows),
            |block, picks| {
                picks.push_all(block.len());
                if block.start / BLOCK_ROWS == failing { Err(failing) } else { Ok(()) }
            },
        );
        assert_eq!(selected, Err(failing));
    }
}

/// Threads look at equal parts, and what ascends in each of them need not ascend from one to the next.
#[test]
fn keys_that_ascend_in_parts_are_sorted() {
    let half = 1 << 14;
    let twice: Vec<u64> = (0..half).chain(0..half).collect();
    let expected: Vec<u32> = (0..half as u32).flat_map(|row| [row, row + half as u32]).collect();
    assert_eq!(sort(&twice), expected);
    let ascending: Vec<u64> = (0..2 * half).map(|i| i / 3).collect();
    assert_eq!(sort(&ascending), (0..2 * half as u32).collect::<Vec<_>>());
}
