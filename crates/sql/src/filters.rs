//! From conditions of a query to the numbers that a table has to read.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions as physical;
use parallax_model::ContextTree;
use serde_json::Value;

use crate::numbers::Numbers;

/// Which numbers each of some columns may have.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Wanted(BTreeMap<String, Numbers>);

impl Wanted {
    /// Of which rows are wanted by one column.
    fn one(column: &str, numbers: Numbers) -> Self {
        Self(BTreeMap::from([(column.to_owned(), numbers)]))
    }

    /// The numbers of a column.
    pub(crate) fn of(&self, column: &str) -> Numbers {
        self.0.get(column).cloned().unwrap_or_else(Numbers::all)
    }

    /// The same, of which only numbers from `first` to `last` of a column.
    pub(crate) fn within(self, column: &str, first: u64, last: u64) -> Self {
        self.and(&Self::one(column, Numbers::range(first.into(), last.into())))
    }

    /// What both want.
    pub(crate) fn and(mut self, other: &Self) -> Self {
        for (column, numbers) in &other.0 {
            let both = self.of(column).and(numbers);
            self.0.insert(column.clone(), both);
        }
        self
    }

    /// What either wants, where that is about one column.
    fn or(&self, other: &Self) -> Option<Self> {
        match (self.0.first_key_value(), other.0.first_key_value()) {
            (Some((a, x)), Some((b, y))) if a == b && self.0.len() + other.0.len() == 2 => {
                Some(Self::one(a, x.or(y)))
            }
            _ => None,
        }
    }

    /// Whether only columns of `known` are restricted.
    pub(crate) fn is_about(&self, known: &[&str]) -> bool {
        self.0.keys().all(|column| known.contains(&&**column))
    }

    /// The same without the columns that are not in `known`.
    pub(crate) fn only(mut self, known: &[&str]) -> Self {
        self.0.retain(|column, _| known.contains(&&**column));
        self
    }

    /// As it is sent to others.
    pub(crate) fn to_json(&self) -> Value {
        let restricted = self.0.iter().filter(|(_, numbers)| !numbers.is_all());
        restricted.map(|(column, numbers)| (column.clone(), numbers.to_json())).collect()
    }

    /// What was sent; `None` when it is something else.
    pub(crate) fn from_json(sent: &Value) -> Option<Self> {
        let columns = sent.as_object()?.iter();
        let columns =
            columns.map(|(column, sent)| Some((column.clone(), Numbers::from_json(sent)?)));
        columns.collect::<Option<_>>().map(Self)
    }

    /// Whether nothing is restricted.
    pub(crate) fn is_all(&self) -> bool {
        self.0.values().all(Numbers::is_all)
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.0.iter().map(|(column, numbers)| format!("{column}={numbers}"));
        f.write_str(&parts.collect::<Vec<_>>().join(", "))
    }
}

/// What a condition wants: exactly that, where every row with these numbers meets the condition;
/// otherwise rows without them do not meet it, and others may.
pub(crate) struct Condition {
    pub(crate) wanted: Wanted,
    pub(crate) is_exact: bool,
}

/// What a condition of a query wants; `None` where it says nothing about numbers of columns.
pub(crate) fn of_condition(condition: &Expr, tree: &ContextTree) -> Option<Condition> {
    let exact = |wanted| Some(Condition { wanted, is_exact: true });
    match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            let (left, right) = (of_condition(left, tree), of_condition(right, tree));
            let is_exact = [&left, &right].iter().all(|c| c.as_ref().is_some_and(|c| c.is_exact));
            let both = [left, right].into_iter().flatten();
            let wanted = both.fold(Wanted::default(), |so_far, c| so_far.and(&c.wanted));
            (!wanted.0.is_empty()).then_some(Condition { wanted, is_exact })
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            let (left, right) = (of_condition(left, tree)?, of_condition(right, tree)?);
            let wanted = left.wanted.or(&right.wanted)?;
            Some(Condition { wanted, is_exact: left.is_exact && right.is_exact })
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let (column, op, number) = match (column(left), column(right)) {
                (Some(column), None) => (column, *op, literal(right)?),
                (None, Some(column)) => (column, op.swap()?, literal(left)?),
                _ => return None,
            };
            exact(Wanted::one(column, compared(op, number)?))
        }
        Expr::InList(InList { expr, list, negated: false }) => {
            let column = column(expr)?;
            let numbers: Option<Vec<i128>> = list.iter().map(literal).collect();
            let numbers = numbers?.into_iter().filter_map(|number| u64::try_from(number).ok());
            exact(Wanted::one(column, Numbers::of(numbers)))
        }
        Expr::Between(Between { expr, negated: false, low, high }) => {
            let numbers = Numbers::range(literal(low)?, literal(high)?);
            exact(Wanted::one(column(expr)?, numbers))
        }
        Expr::ScalarFunction(call) => match (call.func.name(), call.args.as_slice()) {
            ("is_descendant", [below, above]) => {
                let above = u32::try_from(literal(above)?).ok();
                let above = above.and_then(|id| tree.by_source_id(id));
                let ids = above.map(|above| {
                    let below = tree.descendants(above);
                    Numbers::of(below.map(|context| u64::from(tree.source_id(context))))
                });
                exact(Wanted::one(column(below)?, ids.unwrap_or_else(Numbers::none)))
            }
            // What begins before the end and ends after the beginning.
            ("overlaps", [start, end, from, to]) => {
                let (from, to) = (literal(from)?, literal(to)?);
                let begins = Wanted::one(column(start)?, Numbers::range(0, to - 1));
                let ends = Wanted::one(column(end)?, Numbers::range(from, i128::MAX));
                Some(Condition { wanted: begins.and(&ends), is_exact: false })
            }
            _ => None,
        },
        _ => None,
    }
}

/// What a condition wants that was found while the query ran, such as the keys of a join.
pub(crate) fn of_running(condition: &Arc<dyn PhysicalExpr>) -> Wanted {
    if let Some(dynamic) = condition.downcast_ref::<physical::DynamicFilterPhysicalExpr>() {
        return dynamic.current().map(|now| of_running(&now)).unwrap_or_default();
    }
    if let Some(binary) = condition.downcast_ref::<physical::BinaryExpr>() {
        if *binary.op() == Operator::And {
            return of_running(binary.left()).and(&of_running(binary.right()));
        }
        let (Some(column), Some(number)) =
            (physical_column(binary.left()), physical_literal(binary.right()))
        else {
            return Wanted::default();
        };
        let numbers = compared(*binary.op(), number);
        return numbers.map(|numbers| Wanted::one(column, numbers)).unwrap_or_default();
    }
    if let Some(list) = condition.downcast_ref::<physical::InListExpr>()
        && !list.negated()
        && let Some(column) = physical_column(list.expr())
        && let Some(numbers) = list.list().iter().map(physical_literal).collect::<Option<Vec<_>>>()
    {
        let numbers = numbers.into_iter().filter_map(|number| u64::try_from(number).ok());
        return Wanted::one(column, Numbers::of(numbers));
    }
    Wanted::default()
}

/// The numbers that compare to `number` as `op` says.
fn compared(op: Operator, number: i128) -> Option<Numbers> {
    Some(match op {
        Operator::Eq => Numbers::range(number, number),
        Operator::Lt => Numbers::range(0, number - 1),
        Operator::LtEq => Numbers::range(0, number),
        Operator::Gt => Numbers::range(number + 1, i128::MAX),
        Operator::GtEq => Numbers::range(number, i128::MAX),
        _ => return None,
    })
}

/// The name of a column, perhaps as wider whole numbers.
fn column(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Column(column) => Some(&column.name),
        Expr::Cast(cast) if *cast.field.data_type() == DataType::Int64 => column(&cast.expr),
        _ => None,
    }
}

fn literal(expression: &Expr) -> Option<i128> {
    match expression {
        Expr::Literal(value, _) => whole(value),
        Expr::Cast(cast) if cast.field.data_type().is_integer() => literal(&cast.expr),
        _ => None,
    }
}

fn physical_column(expression: &Arc<dyn PhysicalExpr>) -> Option<&str> {
    expression.downcast_ref::<physical::Column>().map(physical::Column::name)
}

fn physical_literal(expression: &Arc<dyn PhysicalExpr>) -> Option<i128> {
    expression.downcast_ref::<physical::Literal>().and_then(|literal| whole(literal.value()))
}

/// A value as a whole number.
pub(crate) fn whole(value: &ScalarValue) -> Option<i128> {
    match *value {
        ScalarValue::Int8(value) => value.map(i128::from),
        ScalarValue::Int16(value) => value.map(i128::from),
        ScalarValue::Int32(value) => value.map(i128::from),
        ScalarValue::Int64(value) => value.map(i128::from),
        ScalarValue::UInt8(value) => value.map(i128::from),
        ScalarValue::UInt16(value) => value.map(i128::from),
        ScalarValue::UInt32(value) => value.map(i128::from),
        ScalarValue::UInt64(value) => value.map(i128::from),
        _ => None,
    }
}
