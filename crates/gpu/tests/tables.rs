//! Tables on a device give what tables in the memory of the host give, bit for bit, and both give what
//! operations are defined as: on random, sorted, constant, skewed and empty columns.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

use std::sync::{Arc, OnceLock};

use parallax_columns::{ColumnTable, Host, HostValues, Memory, TableError};
use parallax_gpu::{DeviceMemory, Gpu, device_for, devices};
use parallax_testkit::needs::{Without, skip};
use parallax_testkit::random;
use proptest::prelude::*;

/// The memory of the first device; none is a test skipped.
fn device() -> Option<&'static DeviceMemory> {
    static DEVICE: OnceLock<DeviceMemory> = OnceLock::new();
    if devices().is_empty() {
        skip(Without::Test, "no driver for Vulkan");
        return None;
    }
    Some(DEVICE.get_or_init(|| DeviceMemory::new(Arc::new(Gpu::open(0).unwrap()))))
}

fn cases() -> ProptestConfig {
    ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() }
}

/// A table as lists, in the order of its columns.
type Lists = Vec<(String, Vec<u64>)>;

/// What is in the columns of samples.
#[derive(Debug, Clone, Default)]
struct Samples {
    location: Vec<u32>,
    context: Vec<u32>,
    start: Vec<u64>,
    end: Vec<u64>,
}

fn samples() -> impl Strategy<Value = Samples> {
    let lens = prop_oneof![Just(0_usize), 1..3_usize, 4090..4100_usize, 0..9_000_usize];
    (lens, 0..5_u8, any::<u64>()).prop_map(|(len, kind, seed)| {
        let mut random = random::numbers(seed);
        let mut samples = Samples::default();
        for i in 0..len as u64 {
            let (context, start, length) = match kind {
                0 => (random() as u32, random() >> 1, random() >> 1),
                1 => (7, 1 << 60, 5),
                2 => ((i / 9) as u32, 10 * i, 10),
                3 => (
                    if random().is_multiple_of(10) { (random() % 900) as u32 } else { 3 },
                    i,
                    random() % 40,
                ),
                _ => ((random() % 50) as u32, u64::MAX - random() % 90, 50),
            };
            samples.location.push((i / 700) as u32);
            samples.context.push(context);
            samples.start.push(start);
            // Some end before they start.
            samples.end.push(start.wrapping_add(length));
        }
        samples
    })
}

fn table<M: Memory>(memory: M, samples: &Samples) -> ColumnTable<M, &'static str> {
    let Samples { location, context, start, end } = samples.clone();
    let narrow = |values: Vec<u32>| HostValues::Narrow(Arc::new(values));
    let wide = |values: Vec<u64>| HostValues::Wide(Arc::new(values));
    let columns = [
        ("location", "where", narrow(location)),
        ("context", "what", narrow(context)),
        ("start", "from", wide(start)),
        ("end", "until", wide(end)),
    ];
    let named = columns.map(|(name, about, values)| (name.to_owned(), about, values));
    ColumnTable::new(memory, named).unwrap()
}

fn lists<M: Memory>(table: &ColumnTable<M, &'static str>) -> Lists {
    let list = |name: &str| match table.host_values(name).unwrap() {
        HostValues::Narrow(values) => {
            AsRef::<[u32]>::as_ref(&*values).iter().map(|&value| value.into()).collect()
        }
        HostValues::Wide(values) => AsRef::<[u64]>::as_ref(&*values).to_vec(),
    };
    let columns = table.columns().iter();
    let lists: Lists = columns.map(|column| (column.name.clone(), list(&column.name))).collect();
    assert!(lists.iter().all(|(_, values)| values.len() == table.len()));
    lists
}

/// The samples in some rows, with their durations, as lists.
fn rows_of(samples: &Samples, rows: &[usize]) -> Lists {
    let wide = |values: &[u32]| rows.iter().map(|&row| u64::from(values[row])).collect();
    let at = |values: &[u64]| -> Vec<u64> { rows.iter().map(|&row| values[row]).collect() };
    let (start, end) = (at(&samples.start), at(&samples.end));
    let lasts = start.iter().zip(&end).map(|(start, end)| end.saturating_sub(*start)).collect();
    vec![
        ("location".to_owned(), wide(&samples.location)),
        ("context".to_owned(), wide(&samples.context)),
        ("start".to_owned(), start),
        ("end".to_owned(), end),
        ("lasts".to_owned(), lasts),
    ]
}

/// Some operations one after the other: durations, a filter, an order by two columns, the first rows.
fn first_of_the_long_ones<M: Memory>(
    memory: M,
    samples: &Samples,
    least: u64,
) -> ColumnTable<M, &'static str> {
    let table = table(memory, samples).with_durations("lasts", "how long", ["start", "end"]);
    let table = table.unwrap().filter("lasts", least..=u64::MAX).unwrap();
    table.sort(&["context", "start"]).unwrap().rows(0..5000).unwrap()
}

#[test]
fn operations_after_each_other_give_the_rows_that_they_should() {
    let Some(device) = device() else { return };
    proptest!(cases(), |(samples in samples(), least in prop_oneof![Just(0_u64), 1..40_u64, Just(u64::MAX)])| {
        let lasts = |row: &usize| samples.end[*row].saturating_sub(samples.start[*row]);
        let mut rows: Vec<usize> = (0..samples.start.len()).filter(|row| lasts(row) >= least).collect();
        rows.sort_by_key(|&row| (samples.context[row], samples.start[row]));
        rows.truncate(5000);
        let here = first_of_the_long_ones(Host, &samples, least);
        prop_assert_eq!(lists(&here), rows_of(&samples, &rows));
        let there = first_of_the_long_ones(device.clone(), &samples, least);
        prop_assert_eq!(lists(&there), rows_of(&samples, &rows));
        let about: Vec<_> = there.columns().iter().map(|column| (column.about, column.is_wide())).collect();
        prop_assert_eq!(about, [("where", false), ("what", false), ("from", true), ("until", true), ("how long", true)]);
    });
}

#[test]
fn narrow_columns_are_filtered_as_numbers_of_any_size() {
    let Some(device) = device() else { return };
    proptest!(cases(), |(samples in samples(), low in prop_oneof![Just(0_u64), 0..60_u64, Just(1_u64 << 32)], high in prop_oneof![0..90_u64, Just(u64::MAX)])| {
        let kept: Vec<usize> = (0..samples.context.len()).filter(|&row| (low..=high).contains(&samples.context[row].into())).collect();
        let mut expected = rows_of(&samples, &kept);
        expected.pop();
        prop_assert_eq!(lists(&table(Host, &samples).filter("context", low..=high).unwrap()), expected.clone());
        prop_assert_eq!(lists(&table(device.clone(), &samples).filter("context", low..=high).unwrap()), expected);
    });
}

#[test]
fn groups_and_histograms_of_both_widths_are_the_same() {
    let Some(device) = device() else { return };
    proptest!(cases(), |(samples in samples(), mut edges in prop::collection::vec(0..100_u64, 2..20))| {
        edges.sort_unstable();
        let (here, there) = (table(Host, &samples), table(device.clone(), &samples));
        for of in ["location", "context", "start"] {
            let groups = here.group(&["location", "context"], of).unwrap();
            prop_assert_eq!(&there.group(&["location", "context"], of).unwrap(), &groups);
            let total: u128 = groups.moments.iter().map(|of| of.sum).sum();
            let column = lists(&here).into_iter().find(|(name, _)| name == of).unwrap().1;
            prop_assert_eq!(total, column.iter().copied().map(u128::from).sum::<u128>());
            prop_assert_eq!(there.group(&["context"], of).unwrap(), here.group(&["context"], of).unwrap());
            let counts = there.histogram(of, &edges).unwrap();
            prop_assert_eq!(&counts, &here.histogram(of, &edges).unwrap());
            let inside = |value: &&u64| (edges[0]..=edges[edges.len() - 1]).contains(value);
            prop_assert_eq!(counts.iter().sum::<u64>(), column.iter().filter(inside).count() as u64);
        }
    });
}

#[test]
fn joins_have_the_columns_of_both_sides() {
    let Some(device) = device() else { return };
    proptest!(cases(), |(left in samples(), right in samples())| {
        let cut = |samples: &Samples, most: usize| {
            let mut samples = samples.clone();
            samples.location.truncate(most);
            samples.context.truncate(most);
            samples.start.truncate(most);
            samples.end.truncate(most);
            samples.context.iter_mut().for_each(|context| *context %= 40);
            samples
        };
        let (left, right) = (cut(&left, 900), cut(&right, 300));
        let mut pairs = Vec::new();
        for (i, key) in left.context.iter().enumerate() {
            pairs.extend(right.context.iter().enumerate().filter(|(_, other)| *other == key).map(|(j, _)| (i, j)));
        }
        let (of_left, of_right): (Vec<usize>, Vec<usize>) = pairs.into_iter().unzip();
        let mut expected = rows_of(&left, &of_left);
        expected.pop();
        for (name, values) in rows_of(&right, &of_right) {
            if ["location", "start", "end"].contains(&&*name) {
                expected.push((format!("{name}_right"), values));
            }
        }
        let keys = ["context", "context"];
        prop_assert_eq!(lists(&table(Host, &left).join(&table(Host, &right), keys, "_right").unwrap()), expected.clone());
        let there = table(device.clone(), &left).join(&table(device.clone(), &right), keys, "_right").unwrap();
        prop_assert_eq!(lists(&there), expected);
    });
}

#[test]
fn what_cannot_be_done_says_why() {
    let few =
        Samples { location: vec![1, 2], context: vec![3, 3], start: vec![5, 6], end: vec![9, 9] };
    fn check<M: Memory>(table: &ColumnTable<M, &'static str>) {
        let said = |error: TableError<M::Error>| error.to_string();
        let none = table.filter("contxt", 0..=1).err().map(said);
        assert_eq!(
            none.unwrap(),
            "there is no column `contxt`; there are location, context, start, end"
        );
        let wide = table.group(&["start"], "end").err().map(said).unwrap();
        assert!(wide.contains("`start` has 64 bits"), "{wide}");
        assert!(table.group(&[], "end").err().map(said).unwrap().contains("not by 0"));
        assert!(table.histogram("end", &[3]).err().map(said).unwrap().contains("two or more"));
        assert!(table.histogram("end", &[3, 2]).is_err());
        let twice = table.with_durations("end", "", ["start", "end"]).err().map(said);
        assert_eq!(twice.unwrap(), "two columns would have the name `end`");
        assert!(table.select(&["end", "end"]).is_err());
        // The suffix is not enough: both tables have that name already.
        let both = table.with_durations("start_right", "", ["start", "end"]).unwrap();
        let clash = both.join(&both, ["context", "context"], "_right").err().map(said);
        assert_eq!(clash.unwrap(), "two columns would have the name `start_right`");
        let columns = table.select(&["end", "context"]).unwrap();
        assert_eq!(columns.columns().len(), 2);
        assert_eq!(lists(&table.rows(1..9).unwrap())[0].1, [2]);
        assert_eq!(table.rows(7..9).unwrap().len(), 0);
        assert_eq!(lists(&table.sort(&[]).unwrap()), lists(table));
    }
    check(&table(Host, &few));
    if let Some(device) = device() {
        check(&table(device.clone(), &few));
    }
    let columns = [("a", vec![1_u64, 2]), ("b", vec![3])]
        .map(|(name, values)| (name.to_owned(), "", HostValues::Wide(Arc::new(values))));
    let error = ColumnTable::new(Host, columns).err().unwrap();
    assert_eq!(error.to_string(), "column `b` has 1 rows, and those before it have 2");
}

#[test]
fn a_table_is_never_on_a_software_device_unasked() {
    assert!(device_for(1000).unwrap_err().contains("too few"));
    if let Some(first) = devices().first() {
        let chosen = device_for(1 << 30);
        assert_eq!(chosen.is_err(), first.kind == parallax_gpu::DeviceKind::Software);
    }
}
