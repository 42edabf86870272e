//! Whether marked nodes stand together: in one rack, in whole chassis, or spread like chance.
//!
//! Of the N nodes of a run K are marked. If which ones they are were idle with where they
//! stand, every choice of K of the N would be as likely: the number in a unit with n nodes follows
//! the hypergeometric distribution (Fisher, 1935). How close together they are is measured by the
//! sum of squares of the numbers of marked nodes in the units, and compared with
//! [`PERMUTATIONS`] random choices (Pitman, 1937), so p-values are at least 0.0001.
//!
//! Every level of every set of marked nodes is examined twice, for nodes that lie together and for
//! nodes that lie apart. So that chance calls anything in fewer than 1 % of such questions, however
//! many levels and sets they have, p-values are adjusted for all of these looks by the method of S.
//! Holm, "A simple sequentially rejective multiple test procedure" (1979). It holds whatever
//! depends on what, and racks and their chassis do.

use std::collections::BTreeMap;

use parallax_base::Control;
use parallax_engine::EngineError;

use super::place::{Level, by_number};
use super::{Located, NodePosition};
use crate::math::Random;

/// Random choices that the real one is compared with.
pub const PERMUTATIONS: usize = 9_999;
/// Random choices on either side after which no further ones are drawn: the p-value cannot be below
/// [`SURE`] any more.
const ENOUGH: u32 = 100;
/// Adjusted p-values below this are called more than chance.
const SURE: f64 = 0.01;

/// One rack, chassis, ... of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// Nodes of the run in it.
    pub nodes: u64,
    /// Marked ones.
    pub marked: u64,
    /// How likely at least so many are marked by chance: the upper tail of the hypergeometric
    /// distribution.
    pub p_value: f64,
}

/// How the marked nodes lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// There are too few nodes or units to say anything.
    Unknown,
    /// All in one unit, of several.
    OneUnit,
    /// Closer together than by chance.
    Together,
    /// As by chance.
    LikeChance,
    /// More evenly over the units than by chance.
    Apart,
}

/// How the marked nodes lie over the units of a level.
#[derive(Debug, Clone, PartialEq)]
pub struct Concentration {
    /// The level.
    pub level: Level,
    /// Nodes whose unit is known.
    pub nodes: u64,
    /// Marked ones among them.
    pub marked: u64,
    /// All units with nodes of the run, in the order of their names.
    pub units: Vec<Unit>,
    /// Units with marked nodes.
    pub touched: u64,
    /// How many units would have some by chance, in the mean.
    pub expected_touched: f64,
    /// Units with at least two nodes, all of them marked.
    pub whole: u64,
    /// How many units would be whole by chance, in the mean.
    pub expected_whole: f64,
    /// How likely marked nodes are so close together by chance.
    pub p_together: f64,
    /// How likely they are so far apart by chance.
    pub p_apart: f64,
    /// The first p-value, adjusted for all looks of the question (Holm).
    pub adjusted_together: f64,
    /// The second one, adjusted.
    pub adjusted_apart: f64,
    /// What it is called.
    pub spread: Spread,
}

impl Concentration {
    /// Whether they lie closer together than by chance, be it in one unit or in several.
    #[must_use]
    pub fn is_together(&self) -> bool {
        match self.spread {
            Spread::OneUnit | Spread::Together => self.adjusted_together < SURE,
            Spread::Unknown | Spread::LikeChance | Spread::Apart => false,
        }
    }

    /// How many nodes of a unit would be marked by chance, in the mean.
    fn marked_by_chance(&self, unit: &Unit) -> f64 {
        unit.nodes as f64 * self.marked as f64 / self.nodes.max(1) as f64
    }

    /// The unit that has most marked nodes beyond those by chance; of equal ones the first.
    fn fullest(&self) -> Option<&Unit> {
        let excess = |unit: &Unit| unit.marked as f64 - self.marked_by_chance(unit);
        self.units.iter().rev().max_by(|a, b| excess(a).total_cmp(&excess(b)))
    }

    /// The finding as a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let all = self.units.len();
        // "Groups" alone would be those of the members.
        let (name, plural) = match self.level {
            Level::Group => ("group of switches", "groups of switches"),
            other => (other.name(), other.plural()),
        };
        let units = |n: u64| if n == 1 { name } else { plural };
        let lie = format!(
            "{} nodes are in {} of {} {}",
            self.marked,
            self.touched,
            all,
            units(all as u64)
        );
        let chance = format!("{:.1} expected", self.expected_touched);
        let p = p_text(self.adjusted_together);
        let mut text = match self.spread {
            Spread::Unknown if all == 1 => {
                format!("the run has only one {name}")
            }
            Spread::Unknown => format!("{lie}: too few for a test"),
            Spread::OneUnit => {
                let unit = self.units.iter().find(|unit| unit.marked > 0);
                let named = unit.map_or("", |unit| &unit.name);
                if self.adjusted_together < SURE {
                    format!("all {} nodes are in one {name}, {named} ({p})", self.marked)
                } else {
                    format!(
                        "all {} nodes are in one {name}, {named}, not significant ({p})",
                        self.marked
                    )
                }
            }
            // They may be in as many units as by chance, and most of them in one.
            Spread::Together if self.touched as f64 > self.expected_touched - 0.5 => {
                let densest = self.fullest().map_or_else(String::new, |unit| {
                    let by_chance = self.marked_by_chance(unit);
                    format!("{} in {}, {by_chance:.1} expected", unit.marked, unit.name)
                });
                format!("{lie}, {densest}: more concentrated than by chance ({p})")
            }
            Spread::Together => format!("{lie} ({chance}): more concentrated than by chance ({p})"),
            Spread::LikeChance => format!("{lie} ({chance}): no significant concentration ({p})"),
            Spread::Apart => {
                let p = p_text(self.adjusted_apart);
                let most = self.units.iter().map(|unit| unit.marked).max().unwrap_or(0);
                if (self.touched as f64) < self.expected_touched + 0.5 {
                    format!("{lie}, {most} at most in one: less concentrated than by chance ({p})")
                } else {
                    format!("{lie} ({chance}): less concentrated than by chance ({p})")
                }
            }
        };
        if self.whole > 0 && all > 1 {
            text.push_str(&format!(
                "; all nodes of {} {} ({:.1} expected)",
                self.whole,
                units(self.whole),
                self.expected_whole
            ));
        }
        text
    }
}

fn p_text(p: f64) -> String {
    if p <= 0.001 { "p ≤ 0.001".into() } else { format!("p = {p:.3}") }
}

/// How nodes lie at each level that all or most of them have, for each of `sets` the nodes for
/// which it says yes; levels that say the same as the one above are left out. All are one question,
/// for whose looks p-values are adjusted.
///
/// # Errors
/// When the question is withdrawn.
pub fn concentrations(
    nodes: &[Located],
    sets: &[Vec<bool>],
    control: &Control,
) -> Result<Vec<Vec<Concentration>>, EngineError> {
    let each = |marks: &Vec<bool>| {
        let is_marked = |at: usize| marks.get(at) == Some(&true);
        of_set(nodes, is_marked, control)
    };
    let mut out: Vec<Vec<Concentration>> = sets.iter().map(each).collect::<Result<_, _>>()?;
    adjust(out.iter_mut().flatten());
    Ok(out)
}

/// Adjusts p-values by the method of Holm, and calls things by what is left. Where nothing can be
/// said nothing was examined.
fn adjust<'c>(found: impl Iterator<Item = &'c mut Concentration>) {
    let mut found: Vec<&mut Concentration> =
        found.filter(|one| one.spread != Spread::Unknown).collect();
    let p: Vec<f64> = found.iter().flat_map(|one| [one.p_together, one.p_apart]).collect();
    let adjusted = holm(&p);
    for (one, pair) in found.iter_mut().zip(adjusted.chunks(2)) {
        let [together, apart] = pair else { continue };
        (one.adjusted_together, one.adjusted_apart) = (*together, *apart);
        one.spread = match () {
            () if one.touched == 1 => Spread::OneUnit,
            () if *together < SURE => Spread::Together,
            () if *apart < SURE => Spread::Apart,
            () => Spread::LikeChance,
        };
    }
}

/// The smallest level at which the step-down rule of Holm rejects each hypothesis.
fn holm(p: &[f64]) -> Vec<f64> {
    let of = |at: usize| p.get(at).copied().unwrap_or(1.0);
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| of(a).total_cmp(&of(b)).then(a.cmp(&b)));
    let mut out = vec![1.0; p.len()];
    let mut most = 0.0_f64;
    for (rank, &at) in order.iter().enumerate() {
        most = most.max(of(at) * (p.len() - rank) as f64).min(1.0);
        if let Some(slot) = out.get_mut(at) {
            *slot = most;
        }
    }
    out
}

fn of_set(
    nodes: &[Located],
    is_marked: impl Fn(usize) -> bool,
    control: &Control,
) -> Result<Vec<Concentration>, EngineError> {
    let mut out: Vec<Concentration> = Vec::new();
    let places: Vec<&NodePosition> = nodes.iter().map(|node| &node.place).collect();
    for level in Level::ALL {
        control.check()?;
        let mut units: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for (at, name) in
            places.iter().enumerate().filter_map(|(at, p)| Some((at, p.level(level)?)))
        {
            let unit = units.entry(name).or_default();
            unit.0 += 1;
            unit.1 += u64::from(is_marked(at));
        }
        // Slots of one node each say nothing that the nodes do not.
        if units.is_empty() || units.values().all(|unit| unit.0 == 1) {
            continue;
        }
        let mut units: Vec<(&str, (u64, u64))> = units.into_iter().collect();
        units.sort_by(|a, b| by_number(a.0, b.0));
        let found = one(level, &units);
        // On some systems a rack is a group.
        let is_same = out.iter().any(|other| {
            other.units.len() == found.units.len()
                && other.units.iter().zip(&found.units).all(|(a, b)| a.name == b.name)
        });
        if !is_same {
            out.push(found);
        }
    }
    Ok(out)
}

fn one(level: Level, units: &[(&str, (u64, u64))]) -> Concentration {
    let nodes: u64 = units.iter().map(|unit| unit.1.0).sum();
    let marked: u64 = units.iter().map(|unit| unit.1.1).sum();
    let logs = logs_of_factorials(nodes as usize);
    let chances = Chances { logs: &logs, nodes, marked };
    let rows: Vec<Unit> = units
        .iter()
        .map(|&(name, (nodes, marked))| Unit {
            name: name.to_owned(),
            nodes,
            marked,
            p_value: chances.at_least(nodes, marked),
        })
        .collect();
    let touched = rows.iter().filter(|unit| unit.marked > 0).count() as u64;
    let is_whole = |unit: &&Unit| unit.nodes > 1 && unit.marked == unit.nodes;
    let sizes: Vec<u64> = rows.iter().map(|unit| unit.nodes).collect();
    let counts: Vec<u64> = rows.iter().map(|unit| unit.marked).collect();
    let (p_together, p_apart) = permuted(&sizes, &counts, nodes, marked);
    let spread = match () {
        () if marked < 2 || rows.len() < 2 || marked == nodes => Spread::Unknown,
        () => Spread::LikeChance,
    };
    Concentration {
        level,
        nodes,
        marked,
        touched,
        expected_touched: sizes.iter().map(|&n| 1.0 - chances.exactly(n, 0)).sum(),
        whole: rows.iter().filter(is_whole).count() as u64,
        expected_whole: sizes.iter().filter(|n| **n > 1).map(|&n| chances.exactly(n, n)).sum(),
        p_together,
        p_apart,
        adjusted_together: p_together,
        adjusted_apart: p_apart,
        spread,
        units: rows,
    }
}

/// The hypergeometric distribution of marked nodes in a unit.
struct Chances<'a> {
    logs: &'a [f64],
    nodes: u64,
    marked: u64,
}

impl Chances<'_> {
    fn choose(&self, n: u64, k: u64) -> f64 {
        let log = |n: u64| self.logs.get(n as usize).copied().unwrap_or(0.0);
        log(n) - log(k) - log(n.saturating_sub(k))
    }

    /// That exactly `k` of a unit of `n` nodes are marked.
    fn exactly(&self, n: u64, k: u64) -> f64 {
        let others = self.nodes.saturating_sub(n);
        let Some(rest) = self.marked.checked_sub(k) else { return 0.0 };
        if k > n || rest > others {
            return 0.0;
        }
        let log =
            self.choose(n, k) + self.choose(others, rest) - self.choose(self.nodes, self.marked);
        libm::exp(log).min(1.0)
    }

    fn at_least(&self, n: u64, k: u64) -> f64 {
        (k..=n.min(self.marked)).map(|k| self.exactly(n, k)).sum::<f64>().min(1.0)
    }
}

fn logs_of_factorials(n: usize) -> Vec<f64> {
    let mut out = vec![0.0];
    let mut log = 0.0;
    for i in 1..=n {
        log += libm::log(i as f64);
        out.push(log);
    }
    out
}

/// How often marks dealt at random are at least as close together, and at least as far apart.
fn permuted(sizes: &[u64], counts: &[u64], nodes: u64, marked: u64) -> (f64, f64) {
    let squares = |counts: &[u64]| counts.iter().map(|n| n * n).sum::<u64>();
    let real = squares(counts);
    let unit_of: Vec<usize> =
        sizes.iter().enumerate().flat_map(|(unit, &n)| (0..n).map(move |_| unit)).collect();
    let mut random = Random(nodes.wrapping_mul(0x9e37).wrapping_add(marked));
    let (mut together, mut apart) = (0_u32, 0_u32);
    let mut drawn = 0_u32;
    let mut order = unit_of;
    let mut dealt = vec![0_u64; sizes.len()];
    for _ in 0..PERMUTATIONS {
        if together >= ENOUGH && apart >= ENOUGH {
            break;
        }
        drawn += 1;
        dealt.fill(0);
        for at in 0..(marked as usize).min(order.len()) {
            let other = at + random.below(order.len() - at);
            order.swap(at, other);
            dealt[order[at]] += 1;
        }
        let sum = squares(&dealt);
        together += u32::from(sum >= real);
        apart += u32::from(sum <= real);
    }
    // The real choice is one of those that are as likely.
    let share = |count: u32| f64::from(count + 1) / f64::from(drawn + 1);
    (share(together), share(apart))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(units: &[(u64, u64)]) -> Concentration {
        let names: Vec<String> = (0..units.len()).map(|i| format!("x{i}")).collect();
        let named: Vec<(&str, (u64, u64))> =
            names.iter().map(String::as_str).zip(units.iter().copied()).collect();
        let mut found = one(Level::Rack, &named);
        adjust(std::iter::once(&mut found));
        found
    }

    #[test]
    fn holms_rule_by_hand() {
        // 4 * 0.01, 3 * 0.013, which must not be below the one before, 2 * 0.03, 0.5.
        let adjusted = holm(&[0.03, 0.01, 0.5, 0.013]);
        let expected = [0.06, 0.04, 0.5, 0.04];
        assert!(adjusted.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{adjusted:?}");
    }

    #[test]
    fn marks_by_lot_are_called_more_than_chance_in_at_most_one_of_a_hundred_questions() {
        use crate::topology::{HostMatch, NodePosition};
        // 8 racks of 4 chassis of 4 nodes, two sets of marked ones: 8 looks a question.
        let node = |at: u64| {
            let mut place = NodePosition::default();
            place.set(Level::Group, format!("g{}", at / 32));
            place.set(Level::Rack, format!("r{}", at / 16));
            place.set(Level::Chassis, format!("r{} c{}", at / 16, at / 4));
            let found = HostMatch::ByAddress;
            Located { host_id: at, address: None, name: None, place, found }
        };
        let nodes: Vec<Located> = (0..128).map(node).collect();
        let mut random = Random(7);
        let mut by_lot = |number: usize| {
            let mut order: Vec<usize> = (0..nodes.len()).collect();
            let mut marks = vec![false; nodes.len()];
            for at in 0..number {
                let other = at + random.below(order.len() - at);
                order.swap(at, other);
                marks[order[at]] = true;
            }
            marks
        };
        let is_called = |lists: &[Vec<Concentration>]| {
            lists.iter().flatten().any(|one| one.is_together() || one.spread == Spread::Apart)
        };
        let mut alarms = 0;
        for _ in 0..1000 {
            let sets = [by_lot(12), by_lot(40)];
            let found = concentrations(&nodes, &sets, &Control::new()).unwrap();
            assert!(found.iter().all(|levels| levels.len() == 3));
            alarms += u32::from(is_called(&found));
        }
        assert!(alarms <= 10, "{alarms} of 1000 questions about lots");
        // And what is planted is still found: 12 nodes in 3 of 32 chassis.
        let planted: Vec<bool> = (0..128).map(|at| at / 4 % 8 == 0 && at < 96).collect();
        let found = concentrations(&nodes, &[planted], &Control::new()).unwrap();
        assert_eq!(found[0].last().map(|one| one.spread), Some(Spread::Together));
    }

    #[test]
    fn the_hypergeometric_distribution_by_hand() {
        // Two of four marked, units of two: C(2,2) C(2,0) / C(4,2) = 1/6 that one of them is whole.
        let found = of(&[(2, 2), (2, 0)]);
        assert!((found.units[0].p_value - 1.0 / 6.0).abs() < 1e-12);
        assert!((found.expected_whole - 2.0 / 6.0).abs() < 1e-12);
        assert!((found.expected_touched - 2.0 * 5.0 / 6.0).abs() < 1e-12);
        assert_eq!((found.whole, found.touched, found.spread), (1, 1, Spread::OneUnit));
        // A third of all deals leaves both in one unit.
        assert!((found.p_together - 1.0 / 3.0).abs() < 0.05, "{}", found.p_together);
    }

    #[test]
    fn a_sentence_gives_the_numbers_that_it_rests_on() {
        // All three racks have some, as by chance, and most are in one.
        let uneven = of(&[(40, 38), (40, 3), (40, 3)]);
        assert_eq!((uneven.spread, uneven.touched), (Spread::Together, 3));
        assert_eq!(
            uneven.sentence(),
            "44 nodes are in 3 of 3 racks, 38 in x0, 14.7 expected: more concentrated than by \
             chance (p ≤ 0.001)"
        );
        // In all racks, as by chance, and as evenly as it gets.
        let even = of(&[(20, 6); 10]);
        assert_eq!(even.spread, Spread::Apart);
        assert!(even.sentence().contains("in 10 of 10 racks, 6 at most in one"), "{even:?}");
        assert!(!even.sentence().contains("10.0 expected"));
    }

    #[test]
    fn words_fit_what_is_planted() {
        let mut one_rack = vec![(32, 0); 10];
        one_rack[3] = (32, 32);
        let found = of(&one_rack);
        assert_eq!(found.spread, Spread::OneUnit);
        let text = found.sentence();
        assert!(
            text.starts_with("all 32 nodes are in one rack, x3 (p ≤ 0.001); all nodes of 1 rack"),
            "{text}"
        );
        let mut whole = vec![(8, 0); 100];
        whole[..20].fill((8, 8));
        assert_eq!(of(&whole).spread, Spread::Together);
        // Three each of ten times ten is as even as it gets.
        assert_eq!(of(&[(10, 3); 10]).spread, Spread::Apart);
        let by_chance = [(10, 3), (10, 2), (10, 5), (10, 1), (10, 4), (10, 3), (10, 2), (10, 4)];
        assert_eq!(of(&by_chance).spread, Spread::LikeChance);
        assert_eq!(of(&[(10, 3)]).spread, Spread::Unknown);
        assert_eq!(of(&[(10, 1), (10, 0)]).spread, Spread::Unknown);
    }
}
