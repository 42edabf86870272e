//! The text next to the maps: why regions lose, and what a reader must know.

use parallax_analysis::scaling::{outliers, weak_diagonal};
use parallax_base::quantity::amount;
use parallax_base::quantity::counted;
use parallax_engine::display_name as short;

use super::Remedy;
use super::answer::{ScalingAnswer, ScalingOptions, is_mpi};
use super::causes::Cause;

/// A sentence of a verdict without its share of the program's loss.
fn without_share(sentence: &str) -> String {
    const SHARE: &str = "of the program's overhead";
    if !sentence.contains(SHARE) {
        return sentence.to_owned();
    }
    if let Some((loss, _)) = sentence.split_once("; ") {
        return format!("{loss}.");
    }
    // "Has 40 % of the program's overhead (3.1 core-seconds, where)."
    match sentence.split_once(SHARE).map(|(_, rest)| rest.trim().trim_matches(['(', ')', '.'])) {
        Some(loss) => format!("Exclusive parallel overhead: {loss}."),
        None => sentence.to_owned(),
    }
}

impl ScalingAnswer {
    /// Adds the text next to the maps.
    pub(super) fn add_remarks(&mut self, options: &ScalingOptions) {
        let nesting = self.drop_shares_without_nesting();
        self.explain_losses();
        self.add_notes(options);
        if let Some(note) = nesting {
            self.notes.insert(0, note);
        }
    }

    /// Says why the regions that lose most do so, in their verdicts and in that of the program.
    fn explain_losses(&mut self) {
        const WORTH_A_WORD: f64 = 0.05;
        let mut told = Vec::new();
        let mut is_late_told = false;
        for loss in self.ranked() {
            let share = loss.share.unwrap_or(0.0);
            let is_certain = self.is_certain(loss.region, loss.own);
            if loss.region == 0 || share < WORTH_A_WORD || !is_certain {
                continue;
            }
            // Told once, where most of it is.
            let late = self.late_words(loss.region).filter(|_| !is_late_told);
            is_late_told |= late.is_some();
            let name = self.display_name(loss.region);
            let Some(region) = self.regions.get_mut(loss.region) else { continue };
            let words = region.cause.as_ref().map(Cause::words);
            let known: Vec<String> = words.into_iter().chain(late).collect();
            if known.is_empty() {
                continue;
            }
            let id = &region.region.id;
            let named =
                if name.is_empty() { format!("region {id}") } else { format!("{name} ({id})") };
            let share = 100.0 * share;
            told.push(format!("{named}: {share:.0} % of the overhead, {}.", known.join("; ")));
            region.verdict.sentences.extend(region.cause.as_ref().map(Cause::sentence));
        }
        const NAMED: usize = 5;
        let more = told.len().saturating_sub(NAMED);
        told.truncate(NAMED);
        if more > 0 {
            let (plural, verb) = if more == 1 { ("", "has") } else { ("s", "have") };
            told.push(format!(
                "{more} more region{plural} {verb} smaller shares of {:.0} % or more.",
                100.0 * WORTH_A_WORD
            ));
        }
        let has_gain = self.ranked().iter().any(|loss| loss.share.unwrap_or(0.0) < -0.05);
        if has_gain && !told.is_empty() {
            told.push(
                "Shares add up to more than 100 % because other regions gain, or because the \
                 slowest rank or thread differs between regions."
                    .to_owned(),
            );
        }
        let ranked = self.ranked();
        let is_named = ranked.first().is_some_and(|most| self.is_certain(most.region, most.own));
        if let Some(program) = self.regions.first_mut() {
            if !is_named {
                for sentence in &mut program.verdict.sentences {
                    *sentence = without_share(sentence);
                }
            }
            program.verdict.sentences.extend(told);
        }
    }

    /// Who is late in a region, and what that costs the others, where the program loses most.
    fn late_words(&self, region: usize) -> Option<String> {
        let (input, core_idx) = self.worst?;
        let late = self.grounds.late(input, *self.cores.get(core_idx)?)?;
        let around = self.grounds.position(late.region)?;
        let name = short(&self.regions.get(around)?.region.name);
        let own = self.regions.get(region).map(|own| own.region.name.as_str())?;
        (!is_mpi(own) && self.program.is_within(region, around)).then(|| {
            format!(
                "{} is late in {name} ({}, mean {}), and the others wait {} for it in sum",
                late.location,
                amount(late.value, &self.unit),
                amount(late.mean, &self.unit),
                amount(late.waiting, &self.unit)
            )
        })
    }

    /// Some files call something "whole program" that does not contain their regions. Shares of
    /// its loss mean nothing then: they are taken out, and a note says so.
    fn drop_shares_without_nesting(&mut self) -> Option<String> {
        const TOLERANCE: f64 = 1.05;
        let times: Vec<_> = self.program.regions().iter().map(|region| &region.maps.time).collect();
        let whole = times.first()?;
        let is_longer = |at: &usize| {
            times.get(*at).is_some_and(|time| {
                time.iter().any(|(input, core_idx, inner)| {
                    whole.get(input, core_idx).is_some_and(|outer| inner > TOLERANCE * outer)
                })
            })
        };
        let longer: Vec<usize> = (1..times.len()).filter(is_longer).collect();
        let first = *longer.first()?;
        let id = self.regions.get(first).map(|region| region.region.id.clone()).unwrap_or_default();
        for loss in &mut self.losses {
            loss.share = None;
        }
        for region in &mut self.regions {
            if let Some(loss) = &mut region.verdict.loss {
                loss.share = None;
            }
            for sentence in &mut region.verdict.sentences {
                *sentence = without_share(sentence);
            }
        }
        Some(format!(
            "{} regions (such as {id}) take longer than the whole program as the file defines it: \
             shares of its overhead are omitted.",
            longer.len()
        ))
    }

    pub(super) fn add_notes(&mut self, options: &ScalingOptions) {
        let Some(program) = self.program.regions().first().map(|region| &region.maps) else {
            return;
        };
        let missing = program.inputs_without_baseline();
        let mut notes = Vec::new();
        if !missing.is_empty() {
            const MOST_NAMED: usize = 20;
            let named = missing.iter().take(MOST_NAMED).map(|at| format!("i{}", at + 1));
            let names = named.collect::<Vec<_>>().join(", ");
            let which = if missing.len() == self.inputs.len() {
                "No input was".to_owned()
            } else {
                match missing.len() {
                    1 => format!("{names} was not"),
                    2..=MOST_NAMED => format!("{names} were not"),
                    all => format!("{names} and {} other inputs were not", all - MOST_NAMED),
                }
            };
            notes.push(format!(
                "{which} measured on the baseline core count: there are times, but no efficiency \
                 and no maps; {}.",
                Remedy::Baseline
            ));
        }
        if program.has_parallel_baseline() {
            notes.push(
                "Efficiencies are relative to a parallel run: overhead up to that run is not \
                 included."
                    .to_owned(),
            );
        }
        if let Some(warning) = weak_diagonal(program, options.verdict.diagonal_tolerance)
            .and_then(|diagonal| diagonal.warning())
        {
            notes.push(warning);
        }
        if let Some(region) = self.regions.first() {
            let grid = &region.grid;
            let mut far = Vec::new();
            for (input, core_idx, times) in grid.measured() {
                if !outliers(times).is_empty() {
                    let cores = grid.cores().get(core_idx).copied().unwrap_or(0);
                    far.push(format!("i{} on {cores}", input + 1));
                }
            }
            if !far.is_empty() {
                let more = if far.len() > 5 { ", ..." } else { "" };
                let count = far.len();
                far.truncate(5);
                let verb = if count == 1 { "has" } else { "have" };
                notes.push(format!(
                    "{} {verb} outliers among their repetitions: {}{more}.",
                    counted(count as u64, "configuration"),
                    far.join(", ")
                ));
            }
        }
        notes.append(&mut self.notes);
        self.notes = notes;
    }
}
