//! A comparison in plain words.

use parallax_base::Unit;
use parallax_base::quantity::compared as amount;

use super::{Basis, Comparison, Delta, Presence, VersionPair};

/// Rows that are named at most.
const NAMED: usize = 5;
/// A row is named when its own difference is at least this share of the larger version's cost.
const WORTH_NAMING: f64 = 0.01;

fn signed(value: f64, unit: &Unit) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", amount(value, unit))
}

impl Comparison {
    /// Rows by own difference, the largest first; equal ones in the order of the tree.
    #[must_use]
    pub fn by_difference(&self, pair: &VersionPair) -> Vec<usize> {
        let own = |row: usize| pair.rows.get(row).map_or(0.0, |row| row.own.difference().abs());
        let mut rows: Vec<usize> = (0..pair.rows.len()).filter(|&row| own(row) > 0.0).collect();
        rows.sort_by(|&a, &b| own(b).total_cmp(&own(a)).then(a.cmp(&b)));
        rows
    }

    /// What changed from the first version to the other, the most important first.
    #[must_use]
    pub fn sentences(&self, pair: &VersionPair) -> Vec<String> {
        let Some(total) = pair.total() else { return Vec::new() };
        let size = total.old.abs().max(total.new.abs());
        let mut out = vec![format!("Whole program: {}.", self.verdict(total))];
        let mut named = 0;
        let mut noise = 0;
        let mut more = 0;
        for row in self.by_difference(pair) {
            let (Some(context), Some(delta)) = (self.contexts.get(row), pair.rows.get(row)) else {
                continue;
            };
            if delta.own.difference().abs() < size * WORTH_NAMING {
                break;
            }
            // Locations say where a difference is, not that it is chance.
            if pair.basis == Some(Basis::Repetitions)
                && delta.own.is_significant(self.level) == Some(false)
            {
                noise += 1;
                continue;
            }
            if named == NAMED {
                more += 1;
                continue;
            }
            named += 1;
            let name = if row == 0 { "outside all functions" } else { &context.name };
            let verdict = match delta.presence {
                Presence::OnlyNew => {
                    format!("only in the new version: {}", amount(delta.own.new, &self.unit))
                }
                Presence::OnlyOld => {
                    format!("only in the old version: {}", amount(delta.own.old, &self.unit))
                }
                _ => self.verdict(&delta.own),
            };
            let caller = match context.path.as_slice() {
                [.., caller, _] => format!(", called from {caller}"),
                _ => String::new(),
            };
            out.push(format!("{name}{caller}: {verdict}{}.", self.part(&delta.own, total)));
        }
        if more > 0 {
            let (what, verb) =
                if more == 1 { ("context", "differs") } else { ("contexts", "differ") };
            out.push(format!(
                "{more} more {what} {verb} by smaller amounts of at least 1 % of the total."
            ));
        }
        if named == 0 {
            out.push(match noise {
                0 => "No context differs by 1 % of the total or more.".to_owned(),
                1 => "1 context differs by 1 % of the total or more, within noise.".to_owned(),
                n => format!("{n} contexts differ by 1 % of the total or more, within noise."),
            });
        }
        out
    }

    /// What the differences of a pair are judged by: the test, on how much it stands, for how many
    /// looks it is adjusted, and the level. One rule for all comparisons; `docs/comparison.md` says
    /// why.
    #[must_use]
    pub fn evidence(&self, pair: &VersionPair) -> String {
        let old = self.versions.first().map_or(0, |version| version.executions);
        let new = self.versions.get(pair.new).map_or(0, |version| version.executions);
        let Some(basis) = pair.basis else {
            return match (old, new) {
                (1, 1) => {
                    "one execution each: the variance is unknown, so nothing is tested".into()
                }
                _ => format!("{old} and {new} executions: nothing is tested"),
            };
        };
        let number = |(old, new): (usize, usize)| match old == new {
            true => format!("{old}"),
            false => format!("{old} and {new}"),
        };
        let on = match (basis, pair.counts) {
            (Basis::Repetitions, _) => format!("Welch's t-test of {old} versus {new} executions"),
            (Basis::PairedLocations, Some(counts)) => format!(
                "ratio estimator over {} locations of one execution each",
                number((counts.0, counts.0))
            ),
            (Basis::PairedLocations, None) => {
                "ratio estimator over the locations of one execution each".to_owned()
            }
            (Basis::Locations, counts) => format!(
                "Welch's t-test of the {}locations of one execution each",
                counts.map_or_else(String::new, |counts| format!("{} ", number(counts)))
            ),
        };
        let looks = match self.num_tested {
            1 => "1 difference tested".to_owned(),
            n => format!("{n} differences tested, p adjusted (Benjamini-Hochberg)"),
        };
        let beyond = match basis {
            Basis::Repetitions => "between executions",
            _ => "over locations",
        };
        format!("{on}; {looks}; significance level {} %, noise {beyond}", short(self.level * 100.0))
    }

    /// `3.2 s of 4.1 s of the whole difference`, where that is a part.
    fn part(&self, own: &Delta, total: &Delta) -> String {
        match own.share {
            Some(share) if (0.5..=100.0).contains(&share) => format!(
                "; {} of {} total difference",
                signed(own.difference(), &self.unit),
                signed(total.difference(), &self.unit)
            ),
            _ => String::new(),
        }
    }

    /// `slower by 12 % (95 %: 8 to 16 %), 3.2 s instead of 2.9 s`.
    #[must_use]
    pub fn verdict(&self, delta: &Delta) -> String {
        let difference = delta.difference();
        let values =
            format!("{} versus {}", amount(delta.new, &self.unit), amount(delta.old, &self.unit));
        if difference == 0.0 {
            return format!("unchanged, {}", amount(delta.new, &self.unit));
        }
        let direction = match (self.unit.is_time(), difference > 0.0) {
            (true, true) => "slower",
            (true, false) => "faster",
            (false, true) => "more",
            (false, false) => "less",
        };
        let by = match delta.percent() {
            Some(percent) => {
                let interval = delta.percent_interval().map_or_else(String::new, |(low, high)| {
                    let (low, high) = if difference > 0.0 { (low, high) } else { (-high, -low) };
                    format!(" (95 %: {} to {} %)", short(low), short(high))
                });
                format!(" by {} %{interval}", short(percent.abs()))
            }
            None => String::new(),
        };
        let noise = match (delta.is_significant(self.level), delta.test) {
            (Some(false), Some(test)) if test.p < 1.0 && !test.has_spread() => {
                let (old, new) = test.counts;
                Some(format!(
                    ", not distinguishable from noise with {old} and {new} executions without \
                     variance"
                ))
            }
            (Some(false), Some(test)) => Some(format!(", {}", test.basis.chance())),
            _ => None,
        };
        format!("{direction}{by}, {values}{}", noise.unwrap_or_default())
    }
}

/// A percentage in as few digits as tell something.
fn short(percent: f64) -> String {
    let size = percent.abs();
    if size >= 10.0 {
        format!("{percent:.0}")
    } else if size >= 1.0 {
        format!("{percent:.1}")
    } else {
        format!("{percent:.2}")
    }
}
