//! The operations on a device give what those on the processor give, bit for bit: on random, sorted,
//! constant, skewed and empty columns, of lengths around the borders of tiles.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

use std::sync::OnceLock;

use parallax_columns::{self as columns, Bins, Cells, Compute as _, Events, Keys, summarise};
use parallax_gpu::{DeviceEvents, Gpu, GpuError, Options, Planner, SortShape, devices};
use parallax_testkit::needs::{Without, skip};
use parallax_testkit::random;
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
        let mut random = random::numbers(seed);
        (0..len as u64)
            .map(|i| match kind {
                0 => random(),
                1 => seed,
                2 => i / 7,
                3 => {
                    if random().is_multiple_of(10) {
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
fn orders_are_the_same_whichever_way_they_are_sorted() {
    let Some(gpus) = gpus() else { return };
    let of = |digit_bits, workgroup, items| SortShape { digit_bits, workgroup, items };
    // Few tiles and many, more digits than invocations and fewer, digits that end within a word.
    let ways = [
        of(1, 64, 1),
        of(3, 128, 32),
        of(4, 512, 8),
        of(5, 64, 7),
        of(6, 256, 16),
        of(7, 128, 4),
        of(8, 64, 1),
        of(8, 512, 16),
    ];
    let ways: Vec<Gpu> = (0..)
        .zip(ways)
        .filter_map(|(i, sort)| {
            let options = Options {
                sort: Some(sort),
                checks_bounds: i % 2 == 1,
                keeps_loops: i % 3 == 1,
                ..Options::default()
            };
            match Gpu::open_with(gpus[0].info().number, options) {
                // The last needs more shared memory than a software device has.
                Err(GpuError::Unsupported { .. }) if i > 6 => None,
                opened => Some(opened.unwrap()),
            }
        })
        .collect();
    proptest!(cases(), |(values in numbers(), way in any::<prop::sample::Index>())| {
        let gpu = way.get(&ways);
        let rows = gpu.sort(&gpu.upload(&values).unwrap()).unwrap();
        prop_assert_eq!(gpu.download(&rows).unwrap(), columns::sort(&values));
        let short = narrow(&values);
        let rows = gpu.sort_u32(&gpu.upload(&short).unwrap()).unwrap();
        prop_assert_eq!(gpu.download(&rows).unwrap(), columns::sort_u32(&short));
    });
    for sort in [of(0, 64, 16), of(9, 64, 16), of(8, 3, 16), of(8, 0, 16), of(8, 64, 33)] {
        let options = Options { sort: Some(sort), ..Options::default() };
        let error = Gpu::open_with(gpus[0].info().number, options).unwrap_err();
        assert!(matches!(error, GpuError::Unsupported { .. }), "{sort:?}: {error}");
    }
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

/// The dominant context of each cell, as it is defined: time by time of each bin.
fn dominant_by_definition(events: &Events<'_>, tracks: u32, bins: Bins) -> Cells {
    let mut out = Cells::default();
    for track in 0..tracks {
        for bin in 0..bins.count {
            let Some(number) = bins.first.checked_add(bin.into()) else { break };
            let from = u128::from(number) << bins.exponent;
            let to = from + (1 << bins.exponent);
            let mut times = std::collections::BTreeMap::<u32, u128>::new();
            for i in (0..events.len()).filter(|&i| events.location[i] == track) {
                let begin = from.max(events.start[i].into());
                let time = to.min(events.end[i].into()).saturating_sub(begin);
                *times.entry(events.context[i]).or_default() += time;
            }
            let most = times.values().copied().max().unwrap_or(0);
            if let Some((&context, _)) = times.iter().find(|(_, time)| **time == most && most > 0) {
                out.cell.push(track * bins.count + bin);
                out.context.push(context);
                out.time.push(most);
            }
        }
    }
    out
}

#[test]
fn pictures_of_time_are_the_same_and_as_defined() {
    let Some(gpus) = gpus() else { return };
    proptest!(cases(), |(starts in numbers(), lengths in numbers(), keys in numbers(), exponent in prop_oneof![Just(0_u32), 1..12_u32, 30..36_u32, 60..64_u32], first in any::<prop::sample::Index>(), count in 0..40_u32, most in prop_oneof![Just(300_usize), Just(20_000_usize)])| {
        let len = starts.len().min(lengths.len()).min(keys.len()).min(most);
        let starts = &starts[..len];
        // Some end before they start, some at the end of the clock.
        let ends: Vec<u64> = starts.iter().zip(&lengths).map(|(start, by)| if by % 11 == 3 { start.saturating_sub(*by) } else { start.saturating_add(*by % (20 << exponent.min(50))) }).collect();
        let location: Vec<u32> = (0..len as u32).map(|i| i / 70).collect();
        let context: Vec<u32> = narrow(&keys[..len]).into_iter().map(|key| key % 5).collect();
        let tracks = (len as u32 / 70).saturating_sub(1).max(1);
        let first = if len == 0 { 0 } else { starts[first.index(len)] >> exponent }.saturating_sub(3);
        let bins = Bins { exponent, first, count };
        let events = Events { location: &location, context: &context, start: starts, end: &ends };
        let expected = columns::times_in_cells(&events, tracks, bins);
        if most == 300 {
            prop_assert_eq!(Cells::of(&expected), dominant_by_definition(&events, tracks, bins));
        }
        for gpu in gpus {
            let (l, c) = (gpu.upload(&location).unwrap(), gpu.upload(&context).unwrap());
            let (s, e) = (gpu.upload(starts).unwrap(), gpu.upload(&ends).unwrap());
            let there = DeviceEvents { location: &l, context: &c, start: &s, end: &e };
            prop_assert_eq!(&gpu.times_in_cells(there, tracks, bins).unwrap(), &expected);
            let all = Bins { count: u32::MAX, ..bins };
            prop_assert!(len < 2 || gpu.times_in_cells(there, 1, all).is_err_and(|error| error.is_full()));
        }
    });
}

/// Pearson's correlation from deviations from the means.
fn by_deviations(a: &[u32], b: &[u32]) -> f64 {
    let mean = |of: &[u32]| of.iter().copied().map(f64::from).sum::<f64>() / of.len() as f64;
    let (x, y) = (mean(a), mean(b));
    let pairs = || a.iter().zip(b).map(|(&a, &b)| (f64::from(a) - x, f64::from(b) - y));
    let sum = |of: fn((f64, f64)) -> f64| pairs().map(of).sum::<f64>();
    sum(|(x, y)| x * y) / (sum(|(x, _)| x * x) * sum(|(_, y)| y * y)).sqrt()
}

#[test]
fn products_of_rows_are_the_same_and_give_their_correlations() {
    let Some(gpus) = gpus() else { return };
    proptest!(cases(), |(values in numbers(), dims in prop_oneof![1..5_usize, 200..900_usize], most in 1..40_usize)| {
        let mut values = narrow(&values);
        values.truncate((values.len() / dims).min(most) * dims);
        let expected = columns::products(&values, dims);
        let rows: Vec<&[u32]> = values.chunks_exact(dims).collect();
        for (a, b) in (1..rows.len()).map(|b| (b / 2, b)) {
            let is_constant = [a, b].iter().any(|&of| rows[of].iter().all(|value| *value == rows[of][0]));
            match expected.correlation(a, b) {
                None => prop_assert!(is_constant),
                Some(r) => prop_assert!(!is_constant && (r - by_deviations(rows[a], rows[b])).abs() < 1e-9),
            }
        }
        for gpu in gpus {
            let there = gpu.products(&gpu.upload(&values).unwrap(), dims as u32).unwrap();
            prop_assert_eq!(&there, &expected);
        }
    });
}

#[test]
fn nearest_centres_are_the_same() {
    let Some(gpus) = gpus() else { return };
    proptest!(cases(), |(points in numbers(), centres in numbers(), dims in 1..6_usize, count in 1..9_usize, is_near in any::<bool>())| {
        // Near ones have many ties, far ones sums of more than 64 bits.
        let whole = |values: &[u64], most: usize| -> Vec<u32> {
            let mut all: Vec<u32> = narrow(values).into_iter().map(|value| if is_near { value % 7 } else { value }).collect();
            all.truncate((all.len() / dims).min(most) * dims);
            all
        };
        let (points, centres) = (whole(&points, usize::MAX), whole(&centres, count));
        prop_assume!(!centres.is_empty());
        for gpu in gpus {
            let (a, b) = (gpu.upload(&points).unwrap(), gpu.upload(&centres).unwrap());
            let found = gpu.nearest(&a, &b, dims as u32).unwrap();
            prop_assert_eq!(gpu.download(&found).unwrap(), columns::nearest(&points, &centres, dims));
        }
    });
}

/// A filter, an order and sums by group, one after the other: between them nothing comes back but a few
/// words, such as how many rows were kept.
#[test]
fn operations_on_columns_that_stay_on_the_device_give_what_the_processor_gives() {
    let Some(gpus) = gpus() else { return };
    proptest!(cases(), |(starts in numbers(), values in numbers(), keys in numbers(), shortest in prop_oneof![Just(0_u64), 1..400_u64, Just(u64::MAX)])| {
        let len = starts.len().min(values.len()).min(keys.len());
        let (starts, values) = (&starts[..len], &values[..len]);
        let keys: Vec<u32> = narrow(&keys[..len]).into_iter().map(|key| key % 40).collect();

        let kept = columns::filter(values, shortest..=u64::MAX);
        let order = columns::sort(&columns::gather(starts, &kept));
        let rows = columns::gather(&kept, &order);
        let expected = (columns::gather(&keys, &rows), columns::gather(values, &rows));
        for gpu in gpus {
            let (s, v, k) = (gpu.upload(starts).unwrap(), gpu.upload(values).unwrap(), gpu.upload(&keys).unwrap());
            let kept = gpu.filter(&v, shortest..=u64::MAX).unwrap();
            let order = gpu.sort(&gpu.gather(&s, &kept).unwrap()).unwrap();
            let rows = gpu.gather(&kept, &order).unwrap();
            let (k, v) = (gpu.gather(&k, &rows).unwrap(), gpu.gather(&v, &rows).unwrap());
            prop_assert_eq!(gpu.group(&k, None, &v).unwrap(), columns::group(&expected.0, None, &expected.1));
            prop_assert_eq!(gpu.download(&k).unwrap(), expected.0.clone());
            prop_assert_eq!(gpu.download(&v).unwrap(), expected.1.clone());
            gpu.release();
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
        // Three coordinates are no points of two, and there is nothing nearest without a centre.
        let refused = GpuError::Lengths { one: 3, other: 5000 };
        assert_eq!(gpu.nearest(&a, &b, 2).map(|_| ()), Err(refused.clone()));
        assert_eq!(gpu.nearest(&a, &b, 0).map(|_| ()), Err(refused));
        let refused = GpuError::Lengths { one: 3, other: 0 };
        assert_eq!(gpu.nearest(&a, &none, 3).map(|_| ()), Err(refused));
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
