//! The balance of functions, wherever they are called from.

use std::collections::HashMap;

use parallax_base::{ContextIdx, Control};
use parallax_engine::query::normalised_name;
use parallax_engine::{EngineError, Session, display_name};
use parallax_model::Scope;

use super::members::Members;
use super::read::{SliceParts, visit_values};
use super::{Balance, BalanceRequest, RowPlan, Slow, WRAPPED, compute, row, sort, value_id};

/// What the values of a function are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Pooling {
    /// One value per member: its sum over the contexts of the function. Of inclusive costs only
    /// outermost activations are added up, so that recursion is not counted twice.
    #[default]
    PerMember,
    /// One value per stored number: a location that calls the function from five places has five.
    /// This is what `load_imbalance` of hpcanalysis compares; the mean over it depends on how many
    /// call paths there are. Members that spent nothing do not count.
    PerValue,
}

/// How evenly the cost of each function among the requested contexts is spread.
///
/// Contexts that are no functions are ignored. Functions are distinguished by their display name
/// ([`display_name`]: `PMPI_Send [libmpi.so]` is `MPI_Send`), with [`Pooling::PerValue`] by their
/// normalised name, as hpcanalysis has it. Every context of a function that
/// is not among the requested ones is left out.
///
/// # Errors
/// As [`balance`](super::balance).
pub fn balance_by_function(
    session: &Session,
    request: &BalanceRequest,
    pooling: Pooling,
    control: &Control,
) -> Result<Balance, EngineError> {
    let plans = plans(session, request, pooling);
    match pooling {
        Pooling::PerMember => compute(session, request, &plans, control),
        Pooling::PerValue => pooled(session, request, plans, control),
    }
}

/// One row per function name, with the contexts that are added up.
fn plans(session: &Session, request: &BalanceRequest, pooling: Pooling) -> Vec<RowPlan> {
    let tree = session.tree();
    let mut contexts = request.contexts.clone();
    contexts.sort_unstable();
    contexts.dedup();
    let is_outermost_only = request.scope == Scope::Inclusive && pooling == Pooling::PerMember;
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    let mut short_names: Vec<Option<String>> = vec![None; tree.functions().len()];
    for &context in &contexts {
        if let Some(function) = tree.function(context)
            && let Some(short) = short_names.get_mut(function.idx())
            && short.is_none()
        {
            *short = tree.function_name(context).map(|name| match pooling {
                Pooling::PerMember => display_name(name),
                Pooling::PerValue => normalised_name(name).into_owned(),
            });
        }
    }
    let mut plans: Vec<RowPlan> = Vec::new();
    // End of the outermost open activation, by row: contexts ascend, so what lies before it is
    // below it.
    let mut open_until: Vec<usize> = Vec::new();
    for &context in &contexts {
        let Some(name) = tree
            .function(context)
            .and_then(|function| short_names.get(function.idx()))
            .and_then(Option::as_deref)
        else {
            continue;
        };
        let at = *by_name.entry(name).or_insert_with(|| {
            let name = name.to_owned();
            plans.push(RowPlan { name, context, subject: Vec::new(), terms: Vec::new() });
            open_until.push(0);
            plans.len() - 1
        });
        if is_outermost_only && context.idx() < open_until[at] {
            continue;
        }
        open_until[at] = tree.subtree(context).end;
        plans[at].subject.push(context);
        plans[at].terms.push((context, 1.0));
    }
    plans
}

fn pooled(
    session: &Session,
    request: &BalanceRequest,
    plans: Vec<RowPlan>,
    control: &Control,
) -> Result<Balance, EngineError> {
    let x = session.experiment();
    let metric = x.metrics.get(request.metric);
    let id = value_id(session, request)?;
    let members = Members::new(&x.locations, &request.locations, request.grouping);
    let parts = SliceParts { locations: &members.locations, metric: id };
    let (mut rows, mut num_wrapped) = (Vec::new(), 0);
    for plan in plans {
        let mut values: Vec<(ContextIdx, Slow)> = Vec::new();
        visit_values(session, &parts, &plan.subject, control, |location, context, value| {
            if !value.is_finite() || value.abs() >= WRAPPED {
                num_wrapped += 1;
            } else if let Some(member) = members.of(location) {
                values.push((context, Slow { member, value }));
            }
        })?;
        // Parts come in no particular order.
        values.sort_unstable_by_key(|(context, slow)| (slow.member, *context));
        let values = values.into_iter().map(|(_, slow)| slow).collect();
        rows.extend(row(plan.name, plan.context, plan.subject.len(), values, request));
    }
    sort(&mut rows);
    Ok(Balance {
        metric: metric.name.to_string(),
        unit: metric.unit.clone(),
        scope: request.scope.clone(),
        grouping: request.grouping,
        num_ungrouped: members.num_ungrouped,
        members: members.list,
        rows,
        num_wrapped,
        num_added: 0,
    })
}
