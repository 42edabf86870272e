//! Context expressions.

use parallax_base::{ContextIdx, Control, MetricIdx};
use parallax_model::{ContextKind, ContextTree, Scope};

use super::{Notes, metrics, paths};
use crate::query::{
    Aggregation, CompareOp, ContextExpr, ContextSelector, MetricExpr, MetricScope, MetricSelector,
    ModulePlace, NameMatch, NameSearch, NumberAttribute, Predicate, QueryError, Relation,
    SourcePlace, TextAttribute, Threshold, Unit, near_names,
};
use crate::{EngineError, LocationChoice, Session};

/// The contexts that `expression` names, in depth-first order, and remarks.
///
/// Costs in predicates are sums over all locations.
///
/// # Errors
/// When a literal name is no function or metric of the experiment, or values that a predicate
/// needs cannot be read.
pub fn resolve_contexts(
    session: &Session,
    expression: &ContextExpr,
    control: &Control,
) -> Result<(Vec<ContextIdx>, Notes), EngineError> {
    let text = expression.to_string();
    let mut resolver = Resolver { session, tree: session.tree(), text, control, notes: Vec::new() };
    let mask = resolver.evaluate(expression)?;
    let mut notes = resolver.notes;
    let chosen: Vec<_> = session.tree().iter().filter(|context| mask[context.idx()]).collect();
    if chosen.is_empty() && notes.is_empty() {
        notes.push(format!("no context matches {expression}"));
    }
    Ok((chosen, notes))
}

/// Characters of what was typed that a note repeats.
const LONGEST_QUOTED: usize = 80;

/// The functions whose names were typed, as contexts.
///
/// # Errors
/// As [`resolve_contexts`] where an expression was typed. Words that no name has are no error: the
/// answer is empty, with a note.
pub fn find_functions(
    session: &Session,
    search: &NameSearch,
    control: &Control,
) -> Result<(Vec<ContextIdx>, Notes), EngineError> {
    if let NameSearch::Names(names) = search {
        return resolve_contexts(session, names, control);
    }
    let tree = session.tree();
    let functions = tree.functions();
    let has: Vec<bool> = functions.iter().map(|one| search.has_words(&one.name)).collect();
    let is_found = |context: &ContextIdx| {
        let function = tree.function(*context);
        tree.kind(*context) == ContextKind::Function
            && function.is_some_and(|function| has.get(function.idx()) == Some(&true))
    };
    let chosen: Vec<_> = tree.iter().filter(is_found).collect();
    if !chosen.is_empty() {
        return Ok((chosen, Vec::new()));
    }
    let text = search.to_string();
    let mut names: Vec<&str> = functions.iter().map(|one| &*one.name).collect();
    names.sort_unstable();
    names.dedup();
    let near = near_names(&text, names.into_iter(), 3);
    let hint = match near.is_empty() {
        true => String::new(),
        false => format!(" Did you mean {}?", near.join(" or ")),
    };
    // Whatever was pasted into the field: a note is read.
    let shown: String = text.chars().take(LONGEST_QUOTED).collect();
    let rest = if shown.len() < text.len() { "…" } else { "" };
    Ok((chosen, vec![format!("No function has “{shown}{rest}” in its name.{hint}")]))
}

/// One truth value for each context, by position.
pub(super) type Mask = Vec<bool>;

pub(super) struct Resolver<'s> {
    pub(super) session: &'s Session,
    pub(super) tree: &'s ContextTree,
    pub(super) text: String,
    pub(super) control: &'s Control,
    pub(super) notes: Notes,
}

impl Resolver<'_> {
    fn mask(&self, accept: impl Fn(ContextIdx) -> bool) -> Mask {
        self.tree.iter().map(accept).collect()
    }

    fn evaluate(&mut self, expression: &ContextExpr) -> Result<Mask, EngineError> {
        Ok(match expression {
            ContextExpr::All => self.mask(|context| context != ContextTree::ROOT),
            ContextExpr::Root => self.mask(|context| context == ContextTree::ROOT),
            ContextExpr::Select(selector) => self.select(selector)?,
            ContextExpr::Chain { head, steps } => {
                let mut mask = self.evaluate(head)?;
                for step in steps {
                    let to = self.evaluate(&step.to)?;
                    let below = match step.relation {
                        Relation::Descendant => self.strictly_below(&mask),
                        Relation::Child => self.mask(|context| {
                            self.tree.parent(context).is_some_and(|parent| mask[parent.idx()])
                        }),
                    };
                    mask = to.into_iter().zip(below).map(|(a, b)| a && b).collect();
                }
                mask
            }
            ContextExpr::Filter { of, predicate } => {
                let of = self.evaluate(of)?;
                let holds = self.predicate(predicate)?;
                of.into_iter().zip(holds).map(|(a, b)| a && b).collect()
            }
            ContextExpr::Subtree(part) => {
                let part = self.evaluate(part)?;
                let below = self.strictly_below(&part);
                part.into_iter().zip(below).map(|(a, b)| a || b).collect()
            }
            ContextExpr::Ancestors(part) => {
                let mut mask = self.evaluate(part)?;
                for context in self.tree.iter().rev() {
                    if mask[context.idx()]
                        && let Some(parent) = self.tree.parent(context)
                    {
                        mask[parent.idx()] = true;
                    }
                }
                mask
            }
            ContextExpr::And(parts) => self.fold(parts, true, |a, b| a && b)?,
            ContextExpr::Or(parts) => self.fold(parts, false, |a, b| a || b)?,
            ContextExpr::Not(part) => {
                let part = self.evaluate(part)?;
                self.mask(|context| context != ContextTree::ROOT && !part[context.idx()])
            }
            ContextExpr::Paths(query) => paths::evaluate(self, query)?,
        })
    }

    fn fold(
        &mut self,
        parts: &[ContextExpr],
        start: bool,
        join: impl Fn(bool, bool) -> bool,
    ) -> Result<Mask, EngineError> {
        let mut mask = vec![start; self.tree.len()];
        for part in parts {
            for (all, one) in mask.iter_mut().zip(self.evaluate(part)?) {
                *all = join(*all, one);
            }
        }
        Ok(mask)
    }

    /// The contexts that have one of `mask` above them.
    fn strictly_below(&self, mask: &Mask) -> Mask {
        let mut below = vec![false; self.tree.len()];
        for context in self.tree.iter().skip(1) {
            let parent = self.tree.parent(context).map_or(0, ContextIdx::idx);
            below[context.idx()] = mask[parent] || below[parent];
        }
        below
    }

    fn select(&mut self, selector: &ContextSelector) -> Result<Mask, EngineError> {
        let tree = self.tree;
        let mask = match selector {
            ContextSelector::Any => self.mask(|context| context != ContextTree::ROOT),
            ContextSelector::Entry(names) => self.mask(|context| {
                tree.kind(context) == ContextKind::Entry && {
                    let label = tree.label(context);
                    let name = label.trim_start_matches('<').trim_end_matches('>');
                    names.is_empty() || names.iter().any(|n| n.matches(name) || n.matches(&label))
                }
            }),
            ContextSelector::Function(names) => return self.functions(names),
            ContextSelector::Loop(places) => self.places(ContextKind::Loop, places),
            ContextSelector::Line(places) => self.places(ContextKind::Line, places),
            ContextSelector::Instruction(places) => self.mask(|context| {
                tree.kind(context) == ContextKind::Instruction
                    && (places.is_empty()
                        || places.iter().any(|place| self.is_at_instruction(place, context)))
            }),
            ContextSelector::Ids(ids) => {
                self.mask(|context| ids.contains(u64::from(tree.source_id(context))))
            }
        };
        Ok(mask)
    }

    fn is_at_instruction(&self, place: &ModulePlace, context: ContextIdx) -> bool {
        let path = self.tree.module_path(context);
        path.is_some_and(|path| place.matches(path, self.tree.offset(context)))
    }

    fn places(&self, kind: ContextKind, places: &[SourcePlace]) -> Mask {
        let tree = self.tree;
        self.mask(|context| {
            tree.kind(context) == kind
                && (places.is_empty()
                    || tree.file_path(context).is_some_and(|path| {
                        let line = u64::from(tree.line(context));
                        places.iter().any(|place| place.matches(path, line))
                    }))
        })
    }

    /// Functions by name; a literal name that no function bears is an error.
    fn functions(&mut self, names: &[NameMatch]) -> Result<Mask, EngineError> {
        let tree = self.tree;
        let matching = |names: &[NameMatch]| -> Vec<bool> {
            let matches = |name: &str| names.iter().any(|one| one.matches_function(name));
            tree.functions().iter().map(|function| matches(&function.name)).collect()
        };
        for name in names {
            let is_known = matching(std::slice::from_ref(name)).contains(&true);
            if let (NameMatch::Exact(text), false) = (name, is_known) {
                return Err(self.unknown_function(text).into());
            }
        }
        let rows = matching(names);
        Ok(self.mask(|context| {
            tree.kind(context) == ContextKind::Function
                && (names.is_empty()
                    || tree.function(context).is_some_and(|f| rows.get(f.idx()) == Some(&true)))
        }))
    }

    fn unknown_function(&self, name: &str) -> QueryError {
        let message = format!("this experiment has no function {name}");
        let error = QueryError::unknown_name(&self.text, name, message);
        let mut names: Vec<&str> = self.tree.functions().iter().map(|f| &*f.name).collect();
        names.sort_unstable();
        names.dedup();
        let near = near_names(name, names.into_iter(), 3);
        if near.is_empty() {
            error.with_hint(format!("`function(*{name}*)` looks for a part of a name"))
        } else {
            error.with_hint(format!("did you mean {}?", near.join(" or ")))
        }
    }

    fn predicate(&mut self, predicate: &Predicate) -> Result<Mask, EngineError> {
        let tree = self.tree;
        Ok(match predicate {
            Predicate::Number { attribute, op, threshold } => match attribute {
                NumberAttribute::Metric(selector) => self.metric_test(selector, *op, threshold)?,
                NumberAttribute::Depth => {
                    self.mask(|c| op.holds(f64::from(tree.depth(c)), threshold.in_base_unit()))
                }
                NumberAttribute::Children => self
                    .mask(|c| op.holds(tree.children(c).count() as f64, threshold.in_base_unit())),
                NumberAttribute::Line => {
                    self.mask(|c| op.holds(f64::from(tree.line(c)), threshold.in_base_unit()))
                }
            },
            Predicate::Text { attribute, negated, pattern } => {
                let negated = *negated;
                match attribute {
                    TextAttribute::Name => {
                        self.mask(|c| pattern.matches_function(&tree.label(c)) != negated)
                    }
                    TextAttribute::File => {
                        let path = |c| tree.file_path(c).is_some_and(|p| pattern.matches_path(p));
                        self.mask(|c| path(c) != negated)
                    }
                    TextAttribute::Module => {
                        let path = |c| tree.module_path(c).is_some_and(|p| pattern.matches_path(p));
                        self.mask(|c| path(c) != negated)
                    }
                }
            }
            Predicate::Leaf => self.mask(|c| tree.subtree(c).len() == 1),
            Predicate::And(parts) => self.fold_predicates(parts, true, |a, b| a && b)?,
            Predicate::Or(parts) => self.fold_predicates(parts, false, |a, b| a || b)?,
            Predicate::Not(part) => self.predicate(part)?.into_iter().map(|is| !is).collect(),
        })
    }

    fn fold_predicates(
        &mut self,
        parts: &[Predicate],
        start: bool,
        join: impl Fn(bool, bool) -> bool,
    ) -> Result<Mask, EngineError> {
        let mut mask = vec![start; self.tree.len()];
        for part in parts {
            for (all, one) in mask.iter_mut().zip(self.predicate(part)?) {
                *all = join(*all, one);
            }
        }
        Ok(mask)
    }

    fn metric_test(
        &mut self,
        selector: &MetricSelector,
        op: CompareOp,
        threshold: &Threshold,
    ) -> Result<Mask, EngineError> {
        if let Some(other) = selector
            .aggregations
            .iter()
            .find(|a| !matches!(a, Aggregation::Sum | Aggregation::Prop))
        {
            let message = format!("predicates compare sums over locations, not {}", other.word());
            return Err(QueryError::unknown_name(&self.text, other.word(), message)
                .with_hint("leave the aggregation out")
                .into());
        }
        let expression = MetricExpr {
            selectors: vec![MetricSelector { aggregations: Vec::new(), ..selector.clone() }],
        };
        let resolved = metrics::resolve_metrics(&self.session.experiment().metrics, &expression)?;
        self.notes.extend(resolved.notes);
        let mut mask = vec![false; self.tree.len()];
        for metric in resolved.metrics {
            let scopes: Vec<Scope> = if selector.scopes.is_empty() {
                vec![Scope::Inclusive]
            } else {
                selector.scopes.iter().map(|scope| model_scope(*scope)).collect()
            };
            let limit = self.limit(metric, threshold)?;
            for scope in scopes {
                let column = self.column(metric, &scope)?;
                for (is, &value) in mask.iter_mut().zip(&*column) {
                    *is |= op.holds(value, limit);
                }
            }
        }
        Ok(mask)
    }

    /// A threshold in the unit of the metric.
    fn limit(&self, metric: MetricIdx, threshold: &Threshold) -> Result<f64, EngineError> {
        let limit = threshold.in_base_unit();
        if threshold.unit == Unit::Percent {
            return Ok(self.session.total(metric, self.control)? * limit / 100.0);
        }
        let is_nanos =
            self.session.experiment().metrics.get(metric).unit == parallax_base::Unit::Nanos;
        Ok(if threshold.unit.is_time() && is_nanos { limit * 1e9 } else { limit })
    }

    pub(super) fn column(
        &self,
        metric: MetricIdx,
        scope: &Scope,
    ) -> Result<std::sync::Arc<Vec<f64>>, EngineError> {
        self.session.column(metric, scope, &LocationChoice::All, self.control)
    }
}

fn model_scope(scope: MetricScope) -> Scope {
    match scope {
        MetricScope::Inclusive => Scope::Inclusive,
        MetricScope::Exclusive => Scope::Exclusive,
        MetricScope::Point => Scope::Point,
        MetricScope::Lexical => Scope::LexicalAware,
    }
}
