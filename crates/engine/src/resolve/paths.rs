//! Hatchet's path patterns over the tree.
//!
//! A pattern is a sequence of atoms, each for one context or for any number of them. Two passes
//! find the contexts on matching paths without listing paths: downwards, at which atoms a path
//! from above can arrive at a context; upwards, from which atoms a path below it can complete the
//! pattern. A context is chosen when both hold for one atom.

use parallax_base::ContextIdx;
use parallax_model::Scope;

use super::contexts::{Mask, Resolver};
use super::metrics::resolve_metric;
use crate::EngineError;
use crate::query::{
    PathColumn, PathCondition, PathPattern, PathQuery, PathTest, PathValue, Quantifier, QueryError,
    parse_metrics,
};

/// Atoms that fit a machine word; longer patterns are refused.
const MAX_ATOMS: usize = 64;

pub(super) fn evaluate(
    resolver: &mut Resolver<'_>,
    query: &PathQuery,
) -> Result<Mask, EngineError> {
    Ok(match query {
        PathQuery::Pattern(pattern) => match_pattern(resolver, pattern)?,
        PathQuery::And(parts) => fold(resolver, parts, true, |a, b| a && b)?,
        PathQuery::Or(parts) => fold(resolver, parts, false, |a, b| a || b)?,
        PathQuery::Xor(parts) => fold(resolver, parts, false, |a, b| a != b)?,
        PathQuery::Not(part) => evaluate(resolver, part)?.into_iter().map(|is| !is).collect(),
    })
}

fn fold(
    resolver: &mut Resolver<'_>,
    parts: &[PathQuery],
    start: bool,
    join: impl Fn(bool, bool) -> bool,
) -> Result<Mask, EngineError> {
    let mut mask = vec![start; resolver.tree.len()];
    for part in parts {
        for (all, one) in mask.iter_mut().zip(evaluate(resolver, part)?) {
            *all = join(*all, one);
        }
    }
    Ok(mask)
}

/// The atoms of a pattern: which step's condition, and whether any number of contexts fit.
fn atoms(resolver: &Resolver<'_>, pattern: &PathPattern) -> Result<Vec<(usize, bool)>, QueryError> {
    let mut atoms = Vec::new();
    for (step, part) in pattern.steps.iter().enumerate() {
        match part.quantifier {
            Quantifier::One => atoms.push((step, false)),
            Quantifier::Any => atoms.push((step, true)),
            Quantifier::Some => atoms.extend([(step, false), (step, true)]),
            Quantifier::Exactly(count) => {
                let count = usize::try_from(count).unwrap_or(usize::MAX).min(MAX_ATOMS + 1);
                atoms.extend(std::iter::repeat_n((step, false), count));
            }
        }
        if atoms.len() > MAX_ATOMS {
            let message = format!("a path pattern has at most {MAX_ATOMS} contexts");
            return Err(QueryError::unknown_name(&resolver.text, &resolver.text, message));
        }
    }
    Ok(atoms)
}

fn match_pattern(resolver: &mut Resolver<'_>, pattern: &PathPattern) -> Result<Mask, EngineError> {
    let atoms = atoms(resolver, pattern)?;
    let tree = resolver.tree;
    let conditions = pattern
        .steps
        .iter()
        .map(|step| condition(resolver, &step.condition))
        .collect::<Result<Vec<Mask>, _>>()?;
    // Bit j of `fits[i]`: context i may stand at atom j.
    let fits = |context: ContextIdx| -> u64 {
        let bits = atoms.iter().enumerate();
        bits.filter(|(_, (step, _))| conditions[*step][context.idx()])
            .fold(0, |bits, (j, _)| bits | 1 << j)
    };
    // Atoms reachable from the start, and from each atom, by skipping atoms that may be empty.
    let from = |first: usize| -> u64 {
        let mut bits = 0;
        for (j, (_, is_any)) in atoms.iter().enumerate().skip(first) {
            bits |= 1_u64 << j;
            if !is_any {
                break;
            }
        }
        bits
    };
    let start = from(0);
    let next: Vec<u64> =
        (0..atoms.len()).map(|j| from(j + 1) | if atoms[j].1 { 1 << j } else { 0 }).collect();
    let accepts: u64 = (0..atoms.len())
        .filter(|&j| atoms[j + 1..].iter().all(|(_, is_any)| *is_any))
        .fold(0, |bits, j| bits | 1 << j);
    let step = |bits: u64| -> u64 {
        (0..atoms.len()).filter(|j| bits >> j & 1 != 0).fold(0, |out, j| out | next[j])
    };
    let mut down = vec![0_u64; tree.len()];
    let mut up = vec![0_u64; tree.len()];
    // The root stands for the whole execution; it is no node of Hatchet's graphs.
    for context in tree.iter().skip(1) {
        let above = tree.parent(context).map_or(0, |parent| down[parent.idx()]);
        down[context.idx()] = fits(context) & (start | step(above));
    }
    for context in tree.iter().skip(1).rev() {
        // `up` holds until here which atoms the children can go on with.
        let wanted = up[context.idx()];
        let goes_on = (0..atoms.len())
            .filter(|&j| next[j] & wanted != 0)
            .fold(accepts, |bits, j| bits | 1 << j);
        up[context.idx()] = fits(context) & goes_on;
        if let Some(parent) = tree.parent(context) {
            up[parent.idx()] |= up[context.idx()];
        }
    }
    let mut mask: Mask = down.iter().zip(&up).map(|(down, up)| down & up != 0).collect();
    if let Some(root) = mask.first_mut() {
        *root = false;
    }
    Ok(mask)
}

fn condition(resolver: &Resolver<'_>, condition: &PathCondition) -> Result<Mask, EngineError> {
    let tree = resolver.tree;
    let join = |parts: &[PathCondition], start: bool, join: fn(bool, bool) -> bool| {
        let mut mask = vec![start; tree.len()];
        for part in parts {
            for (all, one) in mask.iter_mut().zip(self::condition(resolver, part)?) {
                *all = join(*all, one);
            }
        }
        Ok::<_, EngineError>(mask)
    };
    Ok(match condition {
        PathCondition::Always => vec![true; tree.len()],
        PathCondition::Leaf => tree.iter().map(|c| tree.subtree(c).len() == 1).collect(),
        PathCondition::Column { column: path_column, test } => {
            let values = column(resolver, path_column)?;
            tree.iter().map(|context| holds(test, values(context).as_ref())).collect()
        }
        PathCondition::And(parts) => join(parts, true, |a, b| a && b)?,
        PathCondition::Or(parts) => join(parts, false, |a, b| a || b)?,
        PathCondition::Xor(parts) => join(parts, false, |a, b| a != b)?,
        PathCondition::Not(part) => {
            self::condition(resolver, part)?.into_iter().map(|is| !is).collect()
        }
    })
}

type Getter<'a> = Box<dyn Fn(ContextIdx) -> Option<PathValue> + 'a>;

/// The values of a column of Hatchet's tables.
fn column<'a>(resolver: &'a Resolver<'_>, wanted: &PathColumn) -> Result<Getter<'a>, EngineError> {
    let tree = resolver.tree;
    let text = |text: &str| Some(PathValue::Text(text.to_owned()));
    let number = |number: f64| Some(PathValue::Number(number));
    let name = match wanted {
        PathColumn::Name(name) => name.clone(),
        PathColumn::Number(number) => number.to_string(),
        PathColumn::Tuple(parts) => parts.first().cloned().unwrap_or_default(),
    };
    Ok(match name.as_str() {
        "name" => Box::new(move |c| text(&tree.label(c))),
        "type" => Box::new(move |c| text(tree.kind(c).name())),
        "file" => Box::new(move |c| tree.file_path(c).and_then(text)),
        "module" => Box::new(move |c| tree.module_path(c).and_then(text)),
        "line" => Box::new(move |c| match tree.line(c) {
            0 => None,
            line => number(f64::from(line)),
        }),
        // Hatchet counts depth from its outermost nodes, which are below the root here.
        "depth" => Box::new(move |c| number(f64::from(tree.depth(c)) - 1.0)),
        "node_id" => Box::new(move |c| number(f64::from(tree.source_id(c)))),
        _ => {
            let (metric, scope) = match name.strip_suffix(" (inc)") {
                Some(metric) => (metric, Scope::Inclusive),
                None => (name.strip_suffix(" (exc)").unwrap_or(&name), Scope::Exclusive),
            };
            let unknown = |_| {
                let message = format!("there is no column {name} and no metric of that name");
                QueryError::unknown_name(&resolver.text, &name, message).with_hint(
                    "columns are name, type, file, line, module, depth, node_id and metrics, \
                     such as `time (inc)`",
                )
            };
            let expression = parse_metrics(metric).map_err(unknown)?;
            let metrics = &resolver.session.experiment().metrics;
            let metric = resolve_metric(metrics, &expression).map_err(unknown)?;
            let values = resolver.column(metric, &scope)?;
            Box::new(move |c| number(values[c.idx()]))
        }
    })
}

/// Whether a test holds; nothing but `IS NONE` holds for a missing value.
fn holds(test: &PathTest, value: Option<&PathValue>) -> bool {
    let Some(value) = value else { return *test == PathTest::IsNone };
    match (test, value) {
        (PathTest::Equals(wanted), value) => wanted == value,
        (PathTest::Compare(op, limit), PathValue::Number(number)) => op.holds(*number, *limit),
        (PathTest::Matches(regex), PathValue::Text(text)) => regex.matches(text),
        (PathTest::StartsWith(part), PathValue::Text(text)) => text.starts_with(part),
        (PathTest::EndsWith(part), PathValue::Text(text)) => text.ends_with(part),
        (PathTest::Contains(part), PathValue::Text(text)) => text.contains(part),
        (PathTest::IsNan, PathValue::Number(number)) => number.is_nan(),
        (PathTest::IsInf, PathValue::Number(number)) => number.is_infinite(),
        _ => false,
    }
}
