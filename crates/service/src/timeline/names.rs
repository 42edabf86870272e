//! What the colours of a timeline stand for: functions and groups by number.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use parallax_base::{ContextIdx, Control, TimeWindow};
use parallax_engine::{LocationChoice, call_depths};
use parallax_model::TraceKind;
use parallax_protocol::TimelineBy;

use crate::{OpenExperiment, ServiceError};

/// A function or a group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimelineKey {
    /// The display name.
    pub name: String,
    /// Of a function, the number of its group.
    pub group: u32,
    /// Time in it and in nothing below over the whole trace, in nanoseconds.
    pub exclusive_nanos: u128,
    /// How often it was entered.
    pub calls: u64,
}

/// Samples that are read to know what functions take of the whole trace; more would take too long.
const MAX_SUMMED_SAMPLES: u64 = 20_000_000;

/// The functions and groups of a trace, by number, and which contexts count to them.
#[derive(Debug, Clone, Default)]
pub struct TimelineNames {
    /// Functions with different names, from the one that takes most time.
    pub functions: Vec<TimelineKey>,
    /// Groups, from the one that takes most time.
    pub groups: Vec<TimelineKey>,
    /// For each context, by position: its function; `None` above all functions.
    pub function_of: Vec<Option<u32>>,
    /// For each context, by position: how many functions lead to it, itself included.
    pub depth_of: Vec<u32>,
    /// Samples of the trace where there are too many to sum up: then keys are in the order of the
    /// tree, and have no times.
    pub num_not_summed: Option<u64>,
}

/// What functions without a group belong to.
const NO_GROUP: &str = "(no group)";

impl TimelineNames {
    /// That there are no times, and why.
    pub(crate) fn note(&self) -> Option<String> {
        let samples = self.num_not_summed?;
        Some(format!(
            "Functions and groups have no total times and are in the order of the calling context \
             tree: the trace has {samples} samples, and more than {MAX_SUMMED_SAMPLES} are not \
             summed up here. Times of a window are exact."
        ))
    }

    /// For each context what it counts to; contexts deeper than `max_depth` count to the one above
    /// them, and the keys in `hidden` are left out.
    #[must_use]
    pub fn keys(
        &self,
        parent_of: impl Fn(usize) -> Option<usize>,
        by: TimelineBy,
        max_depth: Option<u32>,
        hidden: &[u32],
    ) -> Vec<Option<u32>> {
        let mut keys: Vec<Option<u32>> = Vec::with_capacity(self.function_of.len());
        for (context, (&function, &depth)) in
            self.function_of.iter().zip(&self.depth_of).enumerate()
        {
            let above =
                || parent_of(context).and_then(|parent| keys.get(parent).copied().flatten());
            let key = if max_depth.is_some_and(|max| depth > max) {
                above()
            } else {
                match by {
                    TimelineBy::Function => function,
                    TimelineBy::Group => function
                        .and_then(|function| self.functions.get(function as usize))
                        .map(|function| function.group),
                }
            };
            keys.push(key);
        }
        for key in &mut keys {
            *key = key.filter(|key| !hidden.contains(key));
        }
        keys
    }
}

impl OpenExperiment {
    /// The functions and groups of the trace; computed once.
    ///
    /// # Errors
    /// When there are no traces, they cannot be read, or the question is withdrawn.
    pub fn timeline_names(&self, control: &Control) -> Result<Arc<TimelineNames>, ServiceError> {
        let mut known = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(names) = &*known {
            return Ok(Arc::clone(names));
        }
        let names = Arc::new(self.name_contexts(control)?);
        *known = Some(Arc::clone(&names));
        Ok(names)
    }

    fn name_contexts(&self, control: &Control) -> Result<TimelineNames, ServiceError> {
        let session = &self.session;
        let tree = session.tree();
        let store = session.traces()?;
        let samples: u64 = store.track_sizes().iter().sum();
        let sums = (store.kind() == TraceKind::Calls || samples <= MAX_SUMMED_SAMPLES)
            .then(|| session.context_sums(&LocationChoice::All, TimeWindow::ALL, control))
            .transpose()?;
        let mut functions: Vec<TimelineKey> = Vec::new();
        let mut groups: Vec<TimelineKey> = Vec::new();
        let mut known_functions: HashMap<String, u32> = HashMap::new();
        let mut known_groups: HashMap<String, u32> = HashMap::new();
        let mut function_of: Vec<Option<u32>> = vec![None; tree.len()];
        for context in tree.iter() {
            let Some(own) = tree.enclosing_function(context) else { continue };
            let function = if own == context {
                let name = tree.label(context);
                *known_functions.entry(name).or_insert_with_key(|name| {
                    let group = group_of(tree, context);
                    let group = *known_groups.entry(group).or_insert_with_key(|name| {
                        groups.push(TimelineKey { name: name.clone(), ..TimelineKey::default() });
                        number(groups.len() - 1)
                    });
                    let name = name.clone();
                    functions.push(TimelineKey { name, group, ..TimelineKey::default() });
                    number(functions.len() - 1)
                })
            } else {
                let Some(Some(function)) = function_of.get(own.idx()).copied() else { continue };
                function
            };
            if let Some(place) = function_of.get_mut(context.idx()) {
                *place = Some(function);
            }
            let Some(key) = functions.get_mut(function as usize) else { continue };
            if let Some(sums) = &sums {
                key.exclusive_nanos += sums.nanos.get(context.idx()).copied().unwrap_or(0);
                key.calls += sums.calls.get(context.idx()).copied().unwrap_or(0);
            }
        }
        for function in &functions {
            if let Some(group) = groups.get_mut(function.group as usize) {
                group.exclusive_nanos += function.exclusive_nanos;
                group.calls += function.calls;
            }
        }
        let place_of_group = by_time(&mut groups);
        for function in &mut functions {
            function.group = place_of_group.get(function.group as usize).copied().unwrap_or(0);
        }
        let place_of_function = by_time(&mut functions);
        for function in function_of.iter_mut().flatten() {
            *function = place_of_function.get(*function as usize).copied().unwrap_or(0);
        }
        let depth_of = call_depths(tree);
        let num_not_summed = sums.is_none().then_some(samples);
        Ok(TimelineNames { functions, groups, function_of, depth_of, num_not_summed })
    }
}

fn group_of(tree: &parallax_model::ContextTree, context: ContextIdx) -> String {
    let function = tree.function(context).and_then(|f| tree.functions().get(f.idx()));
    match function.and_then(|f| f.group.as_deref()) {
        Some(group) if !group.is_empty() => group.to_owned(),
        _ => NO_GROUP.to_owned(),
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Orders keys by time, equal ones as they come in the tree; gives the new place of each.
fn by_time(keys: &mut Vec<TimelineKey>) -> Vec<u32> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(keys.get(at).map_or(0, |key| key.exclusive_nanos)));
    let mut place = vec![0; keys.len()];
    for (new, &old) in order.iter().enumerate() {
        if let Some(place) = place.get_mut(old) {
            *place = number(new);
        }
    }
    *keys = order.iter().filter_map(|&old| keys.get_mut(old).map(std::mem::take)).collect();
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_without_times_are_said() {
        assert_eq!(TimelineNames::default().note(), None);
        let names = TimelineNames { num_not_summed: Some(30_000_000), ..TimelineNames::default() };
        let note = names.note().unwrap();
        assert!(note.contains("the trace has 30000000 samples"), "{note}");
    }
}
