//! From flat region paths to a tree.

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;

use parallax_base::StableHash;

use super::{Region, RegionKind};

/// How regions nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nesting {
    /// The path of the parent is the path up to the last separator.
    Path(&'static str),
    /// The parent is the shortest longer range of lines in the same file that contains the
    /// region's (marks without ids, as in 2018).
    Lines,
    /// All are children of the whole program.
    Flat,
}

/// Compares ids as people count: `1.2` before `1.10`, parents before children.
pub(super) fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let (digits_a, digits_b) = (leading_digits(a), leading_digits(b));
        let order = if digits_a > 0 && digits_b > 0 {
            let (x, rest_a) = a.split_at(digits_a);
            let (y, rest_b) = b.split_at(digits_b);
            (a, b) = (rest_a, rest_b);
            let (x, y) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
            x.len().cmp(&y.len()).then_with(|| x.cmp(y))
        } else {
            let (mut chars_a, mut chars_b) = (a.chars(), b.chars());
            let (x, y) = (chars_a.next(), chars_b.next());
            if x.is_none() && y.is_none() {
                return Ordering::Equal;
            }
            (a, b) = (chars_a.as_str(), chars_b.as_str());
            x.cmp(&y)
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Sets parents, ids and names, and sorts parents before children. Returns the regions and the new
/// index of each old one.
pub(super) fn arrange(mut regions: Vec<Region>, nesting: Nesting) -> (Vec<Region>, Vec<u32>) {
    let parents = match nesting {
        Nesting::Path(separator) => by_path(&mut regions, separator),
        Nesting::Lines => by_lines(&mut regions),
        Nesting::Flat => flat(&mut regions),
    };
    // Depth-first, siblings in natural order, without recursion: paths may be very deep.
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); regions.len()];
    let mut stack = Vec::new();
    for (i, parent) in (0..).zip(&parents) {
        match parent.and_then(|p| children.get_mut(p as usize)) {
            Some(siblings) => siblings.push(i),
            None => stack.push(i),
        }
    }
    let id = |i: u32| regions.get(i as usize).map_or("", |region| region.id.as_str());
    let kind = |i: u32| regions.get(i as usize).is_some_and(|r| r.kind != RegionKind::WholeProgram);
    let order = |a: &u32, b: &u32| {
        kind(*b).cmp(&kind(*a)).then_with(|| natural(id(*b), id(*a))).then(b.cmp(a))
    };
    stack.sort_by(order);
    let mut new_of = vec![u32::MAX; regions.len()];
    let mut sequence = Vec::with_capacity(regions.len());
    while let Some(i) = stack.pop() {
        if let Some(new) = new_of.get_mut(i as usize) {
            *new = u32::try_from(sequence.len()).unwrap_or(u32::MAX);
        }
        sequence.push(i);
        if let Some(siblings) = children.get_mut(i as usize) {
            siblings.sort_by(order);
            stack.append(siblings);
        }
    }
    let mut slots: Vec<Option<Region>> = regions.into_iter().map(Some).collect();
    let mut sorted = Vec::with_capacity(slots.len());
    for &i in &sequence {
        if let Some(mut region) = slots.get_mut(i as usize).and_then(Option::take) {
            let parent = parents.get(i as usize).copied().flatten();
            region.parent = parent.and_then(|p| new_of.get(p as usize).copied());
            sorted.push(region);
        }
    }
    (sorted, new_of)
}

fn program(regions: &[Region]) -> Option<u32> {
    let at = regions.iter().position(|region| region.kind == RegionKind::WholeProgram)?;
    u32::try_from(at).ok()
}

fn under_program(regions: &[Region]) -> Vec<Option<u32>> {
    let root = program(regions);
    (0..).zip(regions).map(|(i, _)| root.filter(|&r| r != i)).collect()
}

fn flat(regions: &mut [Region]) -> Vec<Option<u32>> {
    for region in regions.iter_mut() {
        region.id = match (region.kind, region.path.as_str()) {
            (RegionKind::WholeProgram, _) => "0".to_owned(),
            // The id of the whole program is taken.
            (_, "0") => "0.0".to_owned(),
            (_, path) => path.to_owned(),
        };
    }
    under_program(regions)
}

fn by_path(regions: &mut [Region], separator: &str) -> Vec<Option<u32>> {
    let root = program(regions);
    // Numbered regions may start at 0, which is the id of the whole program: the ids of all then
    // go below it, as the original viewer shows them.
    let clash = root.is_some()
        && regions.iter().any(|region| {
            region.kind != RegionKind::WholeProgram
                && region.path.split(separator).next() == Some("0")
        });
    let mut parents = under_program(regions);
    {
        let known = (0..).zip(regions.iter());
        let known = known.filter(|(_, region)| region.kind != RegionKind::WholeProgram);
        // Of equal paths the last counts.
        let by_path: HashMap<u64, (&str, u32)> = known
            .map(|(i, region)| {
                (StableHash::of(region.path.as_bytes()).bits(), (region.path.as_str(), i))
            })
            .collect();
        for (region, parent) in regions.iter().zip(&mut parents) {
            if region.kind == RegionKind::WholeProgram {
                continue;
            }
            if let Some(found) = nearest(&region.path, separator, &by_path) {
                *parent = Some(found);
            }
        }
    }
    for region in regions.iter_mut() {
        if region.kind == RegionKind::WholeProgram {
            region.id = "0".to_owned();
            continue;
        }
        let last = region.path.rsplit(separator).next().unwrap_or(&region.path);
        if region.name.is_empty() {
            region.name = last.to_owned();
        }
        region.id =
            if clash { format!("0{separator}{}", region.path) } else { region.path.clone() };
    }
    parents
}

/// The region whose path is the longest part of `path` before a separator. Prefixes are looked up
/// by hashes that are made on one way over the path, because it may be very deep.
fn nearest(path: &str, separator: &str, by_path: &HashMap<u64, (&str, u32)>) -> Option<u32> {
    let mut found = Vec::new();
    let (mut state, mut done) = (StableHash::default(), 0);
    for (at, _) in path.match_indices(separator) {
        state = state.with(path.as_bytes().get(done..at).unwrap_or_default());
        done = at;
        if let Some(&(known, region)) =
            by_path.get(&state.bits()).filter(|(known, _)| known.len() == at)
        {
            found.push((known, region));
        }
    }
    let is_front = |(known, _): &&(&str, u32)| path.starts_with(known);
    found.iter().rev().find(is_front).map(|&(_, region)| region)
}

/// For each region with lines the shortest longer range of its file that holds it, the first of
/// equally long ones.
fn holders(regions: &[Region], root: Option<u32>) -> Vec<Option<u32>> {
    // Ranges by file, from the first line on; of those that start together the longest first.
    let mut ranges: Vec<(Option<&str>, u32, u32, u32)> = (0_u32..)
        .zip(regions)
        .filter(|&(i, _)| Some(i) != root)
        .filter_map(|(i, region)| Some((region.file.as_deref(), region.lines?, i)))
        .map(|(file, (first, last), i)| (file, first, last, i))
        .collect();
    ranges.sort_by_key(|&(file, first, last, i)| (file, first, Reverse(last), i));
    let mut out = vec![None; regions.len()];
    for of_file in ranges.chunk_by(|a, b| a.0 == b.0) {
        let mut ends: Vec<u32> = of_file.iter().map(|&(_, _, last, _)| last).collect();
        ends.sort_unstable_by_key(|&end| Reverse(end));
        ends.dedup();
        // A Fenwick tree of minima: of all ranges so far that end at a line or later the shortest.
        let mut shortest: Vec<Option<(u32, u32)>> = vec![None; ends.len() + 1];
        for equal in of_file.chunk_by(|a, b| (a.1, a.2) == (b.1, b.2)) {
            let Some(&(_, first, last, _)) = equal.first() else { continue };
            let place = ends.partition_point(|&end| end > last) + 1;
            let (mut at, mut best) = (place, None::<(u32, u32)>);
            while at > 0 {
                let here = shortest.get(at).copied().flatten();
                best = best.into_iter().chain(here).min();
                at &= at - 1;
            }
            for &(_, _, _, i) in equal {
                if let Some(slot) = out.get_mut(i as usize) {
                    *slot = best.map(|(_, holder)| holder);
                }
                // Nothing is inside one line, or inside a range that ends before it begins.
                let mut at = if last > first { place } else { usize::MAX };
                while let Some(slot) = shortest.get_mut(at) {
                    let own = (last - first, i);
                    *slot = Some(slot.map_or(own, |known| known.min(own)));
                    at += at & at.wrapping_neg();
                }
            }
        }
    }
    out
}

fn by_lines(regions: &mut [Region]) -> Vec<Option<u32>> {
    let root = program(regions);
    let mut parents = under_program(regions);
    for (parent, holder) in parents.iter_mut().zip(holders(regions, root)) {
        *parent = holder.or(*parent);
    }
    let short = |region: &Region| match region.lines {
        Some((first, last)) => format!("{first}-{last}"),
        None => region.path.clone(),
    };
    let mut seen: HashMap<String, usize> = HashMap::new();
    for region in regions.iter() {
        *seen.entry(short(region)).or_default() += 1;
    }
    for region in regions.iter_mut() {
        let id = short(region);
        let unique = seen.get(&id) == Some(&1);
        region.id = match &region.file {
            _ if region.kind == RegionKind::WholeProgram => "0".to_owned(),
            Some(file) if !unique => format!("{file}:{id}"),
            _ => id,
        };
        if region.name.is_empty() {
            region.name.clone_from(&region.id);
        }
    }
    parents
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(path: &str, kind: RegionKind, lines: Option<(u32, u32)>) -> Region {
        Region {
            id: String::new(),
            path: path.to_owned(),
            name: String::new(),
            parent: None,
            kind,
            file: Some("a.c".to_owned()),
            lines,
        }
    }

    fn tree(regions: &[Region]) -> Vec<String> {
        let depth = |region: &Region| {
            let parent = |r: &Region| regions.get(r.parent? as usize).cloned();
            std::iter::successors(parent(region), |r| parent(r)).count()
        };
        regions.iter().map(|r| format!("{}{}", "  ".repeat(depth(r)), r.id)).collect()
    }

    #[test]
    fn paths_become_a_tree_in_natural_order() {
        let all = ["1.10", "1.2", "", "2", "1", "100.7.3", "p1"];
        let list = all.map(|path| {
            let kind = if path.is_empty() { RegionKind::WholeProgram } else { RegionKind::Marked };
            region(path, kind, None)
        });
        let (sorted, new_of) = arrange(list.to_vec(), Nesting::Path("."));
        assert_eq!(tree(&sorted), ["0", "  1", "    1.2", "    1.10", "  2", "  100.7.3", "  p1"]);
        for (old, &new) in all.iter().zip(&new_of) {
            assert_eq!(sorted.get(new as usize).unwrap().path, **old);
        }
    }

    #[test]
    fn regions_that_start_at_zero_go_below_the_program() {
        let program = region("", RegionKind::WholeProgram, None);
        let list = vec![
            program,
            region("0.1", RegionKind::Marked, None),
            region("0", RegionKind::Marked, None),
        ];
        let (sorted, _) = arrange(list, Nesting::Path("."));
        assert_eq!(tree(&sorted), ["0", "  0.0", "    0.0.1"]);
    }

    #[test]
    fn line_ranges_nest_in_the_nearest_that_holds_them() {
        let list = vec![
            region("0, 9999", RegionKind::WholeProgram, None),
            region("20, 30", RegionKind::Marked, Some((20, 30))),
            region("10, 90", RegionKind::Marked, Some((10, 90))),
            region("15, 50", RegionKind::Marked, Some((15, 50))),
            region("95, 99", RegionKind::Marked, Some((95, 99))),
        ];
        let (sorted, _) = arrange(list, Nesting::Lines);
        assert_eq!(tree(&sorted), ["0", "  10-90", "    15-50", "      20-30", "  95-99"]);
    }

    #[test]
    fn the_nearest_range_is_that_of_looking_at_all() {
        let number = |i: u32| i.wrapping_mul(2_654_435_761) >> 9;
        for (count, lines) in [(40, 12), (120, 30), (200, 400)] {
            let list: Vec<Region> = (0..count)
                .map(|i| {
                    let first = number(i) % lines;
                    // Some end before they begin.
                    let last = (first + number(i + count) % (lines / 3)).saturating_sub(2);
                    let mut region = region("x", RegionKind::Marked, Some((first, last)));
                    region.file = Some(format!("{}.c", number(i + 2 * count) % 2));
                    region
                })
                .collect();
            let length = |r: &Region| r.lines.map(|(first, last)| last.saturating_sub(first));
            let expected = list.iter().map(|own| {
                let (first, last) = own.lines.unwrap();
                let around = (0_u32..).zip(&list).filter(|(_, other)| {
                    let holds = other.lines.is_some_and(|(f, l)| f <= first && last <= l);
                    holds && other.file == own.file && length(other) > length(own)
                });
                around.min_by_key(|(_, other)| length(other)).map(|(k, _)| k)
            });
            assert_eq!(holders(&list, None), expected.collect::<Vec<_>>());
        }
    }

    /// Would take hours where every part of the path is looked up by its whole text.
    #[test]
    fn one_very_deep_path_is_placed_below_its_nearest_part() {
        let deep = "1.".repeat(1_000_000) + "1";
        let list = ["1", "1.1.1", "1.2", &deep].map(|path| region(path, RegionKind::Marked, None));
        let (sorted, _) = arrange(list.to_vec(), Nesting::Path("."));
        let own = sorted.iter().find(|region| region.path == deep).unwrap();
        let parent = sorted.get(own.parent.unwrap() as usize).unwrap();
        assert_eq!(parent.path, "1.1.1");
    }
}
