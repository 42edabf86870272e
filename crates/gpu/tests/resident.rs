//! Operations over columns that stay on a device, as statements use them: what they give is computed
//! here row by row.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

use std::collections::BTreeMap;
use std::sync::OnceLock;

use parallax_columns::{ColumnDevice, DeviceColumn, DeviceError, Moments, Number, Values, Within};
use parallax_gpu::{Gpu, Options, devices};
use parallax_testkit::needs::{Without, skip};
use parallax_testkit::random;
use proptest::prelude::*;

/// The first device, with and without bounds checks; none is a test skipped.
fn gpus() -> Option<&'static [Gpu]> {
    static GPUS: OnceLock<Vec<Gpu>> = OnceLock::new();
    if devices().is_empty() {
        skip(Without::Test, "no driver for Vulkan");
        return None;
    }
    Some(GPUS.get_or_init(|| {
        let checked = Options { checks_bounds: true, keeps_loops: true, ..Options::default() };
        [Options::default(), checked].map(|options| Gpu::open_with(0, options).unwrap()).into()
    }))
}

/// Events: two keys, and two times of which the second is rarely before the first.
#[derive(Debug, Clone)]
struct Table {
    minor: Vec<u32>,
    major: Vec<u32>,
    start: Vec<i64>,
    end: Vec<i64>,
}

fn tables() -> impl Strategy<Value = Table> {
    let lens = prop_oneof![Just(0_usize), 1..3_usize, 4090..4100_usize, 0..9000_usize];
    (lens, 0..5_u8, any::<u64>()).prop_map(|(len, kind, seed)| {
        let mut random = random::numbers(seed);
        let mut table = Table { minor: vec![], major: vec![], start: vec![], end: vec![] };
        for row in 0..len as u64 {
            let number = match kind {
                0 => random(),
                1 => seed,
                2 => row,
                3 => random() % 10 * (random() % 1000),
                _ => (1 << 33) - 50 + random() % 100,
            };
            table.minor.push((number % 300) as u32);
            table.major.push((random() % 5) as u32);
            let start = (number >> 2) as i64;
            table.start.push(if kind == 3 { -start } else { start });
            table.end.push(table.start.last().unwrap() + (random() % 5000) as i64);
        }
        table
    })
}

/// Ranges of a column, a difference and a narrow column; any of them may be empty.
fn ranges() -> impl Strategy<Value = Vec<(u8, i64, i64)>> {
    let limit = || prop_oneof![-10_i64..6000, any::<i64>(), Just(i64::MIN), Just(i64::MAX)];
    prop::collection::vec((0..4_u8, limit(), limit()), 0..3)
}

/// A table on a device.
struct There {
    minor: DeviceColumn,
    major: DeviceColumn,
    start: DeviceColumn,
    end: DeviceColumn,
}

impl Table {
    fn on(&self, gpu: &dyn ColumnDevice) -> There {
        let [minor, major] =
            [&self.minor, &self.major].map(|values| gpu.copy(Values::Narrow(values)).unwrap());
        let [start, end] =
            [&self.start, &self.end].map(|values| gpu.copy(Values::Wide(values)).unwrap());
        There { minor, major, start, end }
    }

    fn number(&self, which: u8, row: usize) -> i64 {
        match which {
            0 => self.minor[row].into(),
            1 => self.start[row],
            2 => self.end[row],
            _ => self.end[row].wrapping_sub(self.start[row]),
        }
    }

    fn rows(&self, ranges: &[(u8, i64, i64)]) -> Vec<usize> {
        let is_in = |&row: &usize| {
            ranges.iter().all(|&(which, low, high)| {
                let number = self.number(which, row);
                low <= number && number <= high
            })
        };
        (0..self.minor.len()).filter(is_in).collect()
    }
}

impl There {
    fn number(&self, which: u8) -> Number<'_> {
        match which {
            0 => Number::Column(&self.minor),
            1 => Number::Column(&self.start),
            2 => Number::Column(&self.end),
            _ => Number::Difference(&self.end, &self.start),
        }
    }

    fn within(&self, ranges: &[(u8, i64, i64)]) -> Vec<Within<'_>> {
        let within = |&(which, low, high)| Within { number: self.number(which), low, high };
        ranges.iter().map(within).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn counts_are_those_of_the_rows(table in tables(), ranges in ranges()) {
        for gpu in gpus().unwrap_or_default() {
            let gpu: &dyn ColumnDevice = gpu;
            let there = table.on(gpu);
            let count = gpu.count(table.minor.len(), &there.within(&ranges)).unwrap();
            prop_assert_eq!(count, table.rows(&ranges).len() as u64);
        }
    }

    #[test]
    fn groups_are_those_of_the_rows(
        table in tables(), ranges in ranges(), both in any::<bool>(), values in prop::collection::vec(0..4_u8, 1..3),
    ) {
        let rows = table.rows(&ranges);
        let expected: Vec<BTreeMap<(u32, u32), Moments>> = values.iter().map(|&which| {
            let mut groups = BTreeMap::<_, Moments>::new();
            for &row in &rows {
                let major = if both { table.major[row] } else { 0 };
                let group = groups.entry((major, table.minor[row])).or_insert(Moments::NONE);
                group.push(table.number(which, row).cast_unsigned());
            }
            groups
        }).collect();
        let is_negative =
            values.iter().any(|&which| rows.iter().any(|&row| table.number(which, row) < 0));
        for gpu in gpus().unwrap_or_default() {
            let gpu: &dyn ColumnDevice = gpu;
            let there = table.on(gpu);
            let keys = if both { vec![&there.major, &there.minor] } else { vec![&there.minor] };
            let numbers: Vec<_> = values.iter().map(|&which| there.number(which)).collect();
            let found = gpu.group(&keys, &there.within(&ranges), &numbers);
            if is_negative {
                prop_assert!(matches!(&found, Err(DeviceError::Unsuitable(_))), "{:?}", found);
                continue;
            }
            let found = found.unwrap();
            prop_assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                let majors = if both { found.major.clone() } else { vec![0; found.minor.len()] };
                let keys: Vec<_> = majors.into_iter().zip(found.minor.iter().copied()).collect();
                prop_assert_eq!(keys, expected.keys().copied().collect::<Vec<_>>());
                prop_assert_eq!(&found.moments, &expected.values().copied().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn first_rows_are_those_of_the_order(
        table in tables(), ranges in ranges(), most in 0..200_usize,
        order in prop::collection::vec((0..4_u8, any::<bool>()), 0..3),
    ) {
        let mut rows = table.rows(&ranges);
        rows.sort_by(|&a, &b| {
            let by = |&(which, descends): &(u8, bool)| {
                let (a, b) = (table.number(which, a), table.number(which, b));
                if descends { b.cmp(&a) } else { a.cmp(&b) }
            };
            order.iter().map(by).find(|by| by.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        });
        let expected: Vec<u32> = rows.iter().take(most).map(|&row| row as u32).collect();
        for gpu in gpus().unwrap_or_default() {
            let gpu: &dyn ColumnDevice = gpu;
            let there = table.on(gpu);
            let order: Vec<_> =
                order.iter().map(|&(which, descends)| (there.number(which), descends)).collect();
            let found = gpu.first(most, &order, &there.within(&ranges));
            if order.is_empty() && ranges.is_empty() {
                prop_assert!(matches!(&found, Err(DeviceError::Unsuitable(_))), "{:?}", found);
                continue;
            }
            prop_assert_eq!(&found.unwrap(), &expected);
        }
    }
}

#[test]
fn bytes_are_counted_and_memory_is_told() {
    let Some([gpu, ..]) = gpus() else { return };
    let gpu: &dyn ColumnDevice = &Gpu::open(gpu.info().number).unwrap();
    assert_eq!(gpu.traffic(), parallax_columns::Traffic::default());
    let column = gpu.copy(Values::Wide(&[5, -7, 9])).unwrap();
    assert_eq!((column.bytes(), gpu.traffic().to_bytes), (24, 24));
    let within = [Within { number: Number::Column(&column), low: -7, high: 5 }];
    assert_eq!(gpu.count(3, &within), Ok(2));
    // How many rows there are, and nothing else.
    assert_eq!((gpu.traffic().to_bytes, gpu.traffic().from_bytes), (24, 4));
    assert!(gpu.memory_bytes().is_none_or(|bytes| bytes > 1 << 20), "{:?}", gpu.memory_bytes());
    let other = DeviceColumn::new(5_u8, 1);
    let of_another = gpu.group(&[&other], &[], &[]);
    assert!(matches!(of_another, Err(DeviceError::Failed(_))), "{of_another:?}");
}
