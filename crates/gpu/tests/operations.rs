//! The operations on a device give what those on the processor give, bit for bit: on random, sorted,
//! constant, skewed and empty columns, of lengths around the borders of tiles.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

use std::sync::OnceLock;

use parallax_columns::{self as columns, Compute as _, Events, Keys, summarise};
use parallax_gpu::{Gpu, GpuError, Options, Planner, devices};
use parallax_testkit::needs::{Without, skip};
use proptest::prelude::*;

/// The first device, with and without bounds checks and written-out loops; none is a test skipped.
fn gpus() -> Option<&'static [Gpu]> {
    static GPUS: OnceLock<Vec<Gpu>> = OnceLock::new();
    if devices().is_empty() {
        skip(Without::Test, "no driver for Vulkan");
        return None;
    }
    Some(GPUS.get_or_init(|| {
        let checked = Options {
            checks_bounds: true,
            keeps_loops: true,
            groups_at_once: Some(37),
            ..Options::default()
        };
        [Options::default(), checked].map(|options| Gpu::open_with(0, options).unwrap()).into()
    }))
}

/// Cases of each property.
fn cases() -> ProptestConfig {
    ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() }
}

fn lens() -> impl Strategy<Value = usize> {
    prop_oneof![
        Just(0_usize),
        1..3_usize,
        1020..1030_usize,
        4090..4100_usize,
        0..20_000_usize,
        60_000..70_000_usize,
    ]
}

/// Columns as traces have them, and as nothing has them.
fn numbers() -> impl Strategy<Value = Vec<u64>> {
    (lens(), 0..6_u8, any::<u64>()).prop_map(|(len, kind, seed)| {
        let mut state = seed | 1;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        (0..len as u64)
            .map(|i| match kind {
                0 => random(),
                1 => seed,
                2 => i / 7,
                3 => {
                    if random() % 10 == 0 {
                        random() % 1000
                    } else {
                        5
                    }
                }
                4 => random() % 300,
                _ => (1 << 33) - 50 + random() % 100,
            })
            .collect()
    })
}

fn narrow(values: &[u64]) -> Vec<u32> {
    values.iter().map(|&value| (value ^ (value >> 32)) as u32).collect()
}

#[test]
fn filters_keep_the_same_rows() {
    let Some(gpus) = gpus() else { return };
    proptest!(cases(), |(values in numbers(), a in any::<prop::sample::Index>(), b in any::<prop::sample::Index>())| {
        let at = |index: prop::sample::Index| if values.is_empty() { 0 } else { values[index.index(values.len())] };
        let range = at(a).min(at(b))..=at(a).max(at(b));
        let short = narrow(&values);
        let short_range = (at(a) as u32).min(at(b) as u32)..=(at(a) as u32).max(at(b) as u32);
        for gpu in gpus {
            let column = gpu.upload(&values).unwrap();
            let kept = gpu.filter(&column, range.clone()).unwrap();
            let expected = columns::filter(&values, range.clone());
            prop_assert_eq!(&gpu.download(&kept).unwrap(), &expected);
            let gathered = gpu.gather(&column, &kept).unwrap();
            prop_assert_eq!(gpu.download(&gathered).unwrap(), columns::gather(&values, &expected));
            let column = gpu.upload(&short).unwrap();
            let kept = gpu.filter_u32(&column, short_range.clone()).unwrap();
            prop_assert_eq!(gpu.download(&kept).unwrap(), columns::filter(&short, short_range.clone()));
        }
    });
}

#[test]
fn orders_are_the_same() {
    let Some(gpus) = gpus() else { return };
    proptest!(cases(), |(values in numbers())| {
        let short = narrow(&values);
        for gpu in gpus {
            let rows = gpu.sort(&gpu.upload(&values).unwrap()).unwrap();
            prop_assert_eq!(gpu.download(&rows).unwrap(), columns::sort(&values));
            let rows = gpu.sort_u32(&gpu.upload(&short).unwrap()).unwrap();
            prop_assert_eq!(gpu.download(&rows).unwrap(), columns::sort_u32(&short));
        }
    });
}

#[test]
fn groups_are_the_same() {
    let Some(gpus) = gpus() else { return };
    proptest!(cases(), |(keys in numbers(), others in numbers(), values in numbers(), is_few in any::<bool>())| {
        let len = keys.len().min(values.len()).min(others.len());
        let minor: Vec<u32> = narrow(&keys[..len]).into_iter().map(|key| if is_few { key % 50 } else { key }).collect();
        let major: Vec<u32> = narrow(&others[..len]).into_iter().map(|key| key % 9).collect();
        let values = &values[..len];
        for gpu in gpus {
            let a = gpu.upload(&minor).unwrap();
            let b = gpu.upload(&major).unwrap();
            let v = gpu.upload(values).unwrap();
            prop_assert_eq!(gpu.group(&a, None, &v).unwrap(), columns::group(&minor, None, values));
            prop_assert_eq!(gpu.group(&a, Some(&b), &v).unwrap(), columns::group(&minor, Some(&major), values));
        }
    });
}

#[test]
fn joins_have_the_same_pairs() {
    let Some(gpus) = gpus() else { return };
    proptest!(cases(), |(left in numbers(), right in numbers(), modulus in prop_oneof![Just(u32::MAX), 1000..100_000_u32])| {
        let left: Vec<u32> = narrow(&left).into_iter().map(|key| key % modulus).collect();
        let mut right: Vec<u32> = narrow(&right).into_iter().map(|key| key % modulus).collect();
        right.truncate(2000);
        let expected = columns::join(&left, &right).unwrap();
        prop_assume!(expected.left.len() < 4_000_000);
        for gpu in gpus {
            let pairs = gpu.join(&gpu.upload(&left).unwrap(), &gpu.upload(&right).unwrap()).unwrap();
            prop_assert_eq!(&gpu.download(&pairs.left).unwrap(), &expected.left);
            prop_assert_eq!(&gpu.download(&pairs.right).unwrap(), &expected.right);
        }
    });
}

#[test]
fn histograms_are_the_same() {
    let Some(gpus) = gpus() else { return };
    proptest!(cases(), |(values in numbers(), mut edges in prop::collection::vec(any::<u64>(), 0..40), is_near in any::<bool>())| {
        if is_near {
            edges.iter_mut().for_each(|edge| *edge %= 400);
        }
        edges.sort_unstable();
        for gpu in gpus {
            let column = gpu.upload(&values).unwrap();
            prop_assert_eq!(gpu.histogram(&column, &edges).unwrap(), columns::histogram(&values, &edges));
        }
    });
}

#[test]
fn durations_are_the_same() {
    let Some(gpus) = gpus() else { return };
    proptest!(cases(), |(starts in numbers(), ends in numbers())| {
        let len = starts.len().min(ends.len());
        for gpu in gpus {
            let (a, b) = (gpu.upload(&starts[..len]).unwrap(), gpu.upload(&ends[..len]).unwrap());
            let both = gpu.durations(&a, &b).unwrap();
            prop_assert_eq!(gpu.download(&both).unwrap(), columns::durations(&starts[..len], &ends[..len]));
        }
    });
}

#[test]
fn the_highest_keys_are_in_order_and_joined() {
    let keys = [u32::MAX, 0, u32::MAX - 1, u32::MAX, 7];
    let Some(gpus) = gpus() else { return };
    for gpu in gpus {
        let column = gpu.upload(&keys).unwrap();
        let rows = gpu.sort_u32(&column).unwrap();
        assert_eq!(gpu.download(&rows).unwrap(), [1, 4, 2, 0, 3]);
        for other in [&[u32::MAX, u32::MAX][..], &[3, u32::MAX]] {
            let pairs = gpu.join(&column, &gpu.upload(other).unwrap()).unwrap();
            let expected = columns::join(&keys, other).unwrap();
            assert_eq!(gpu.download(&pairs.right).unwrap(), expected.right);
        }
    }
}

#[test]
fn a_join_with_more_pairs_than_rows_is_refused() {
    let ones = vec![1_u32; 70_000];
    assert_eq!(columns::join(&ones, &ones), Err(columns::TooManyPairs));
    let Some([gpu, ..]) = gpus() else { return };
    let column = gpu.upload(&ones).unwrap();
    assert_eq!(gpu.join(&column, &column).map(|_| ()), Err(GpuError::TooManyPairs));
}

#[test]
fn columns_that_do_not_belong_together_are_refused() {
    let Some(gpus) = gpus() else { return };
    for gpu in gpus {
        let [few, many] = [3_u32, 5000].map(|len| (0..len).collect::<Vec<u32>>());
        let wide: Vec<u64> = many.iter().map(|&value| value.into()).collect();
        let [a, b] = [&few, &many].map(|values| gpu.upload(values).unwrap());
        let (v, none) = (gpu.upload(&wide).unwrap(), gpu.upload::<u32>(&[]).unwrap());
        let refused = GpuError::Lengths { one: 3, other: 5000 };
        assert_eq!(gpu.group(&a, None, &v), Err(refused.clone()));
        assert_eq!(gpu.group(&b, Some(&a), &v), Err(refused));
        let short = gpu.upload(&wide[..7]).unwrap();
        let refused = GpuError::Lengths { one: 7, other: 5000 };
        assert_eq!(gpu.durations(&short, &v).map(|_| ()), Err(refused));
        let refused = GpuError::Lengths { one: 0, other: 3 };
        assert_eq!(gpu.gather(&none, &a).map(|_| ()), Err(refused));
        assert_eq!(gpu.gather(&none, &none).unwrap().len(), 0);
        // Rows behind the last one are the last one.
        let far = gpu.upload(&[1_u32, 2, 3, u32::MAX]).unwrap();
        assert_eq!(gpu.download(&gpu.gather(&a, &far).unwrap()).unwrap(), [1, 2, 2, 2]);
        let got = gpu.download(&gpu.gather(&v, &far).unwrap()).unwrap();
        assert_eq!(got, [1, 2, 3, 4999]);
    }
}

#[test]
fn a_device_that_is_not_there_is_named() {
    let count = devices().len();
    let error = Gpu::open(count).unwrap_err();
    assert!(error.to_string().contains(&format!("GPU {count}")), "{error}");
}

#[test]
fn events_are_summarised_the_same() {
    let len = 20_000_u32;
    let location: Vec<u32> = (0..len).map(|i| i / 700).collect();
    let context: Vec<u32> = (0..len).map(|i| i.wrapping_mul(i) % 31).collect();
    let start: Vec<u64> = (0..u64::from(len)).map(|i| (1 << 60) + i * 10).collect();
    let end: Vec<u64> = start.iter().map(|at| at + at % 9).collect();
    let events = Events { location: &location, context: &context, start: &start, end: &end };
    if gpus().is_none() {
        return;
    }
    let forced = Planner::forced(Gpu::open(0).unwrap());
    let planned = Planner::auto();
    for keys in [Keys::Context, Keys::Location, Keys::Both] {
        for shortest in [0, 4, 9] {
            let expected = summarise(&events, keys, shortest);
            let there = forced.summarise(&events, keys, shortest);
            assert_eq!(there.value, expected, "{keys:?} {shortest}");
            assert_eq!(there.device, devices()[0].name);
            let here = planned.summarise(&events, keys, shortest);
            assert_eq!((&*here.device, here.value == expected), ("cpu", true), "{}", here.reason);
        }
    }
}
