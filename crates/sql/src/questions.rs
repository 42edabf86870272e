//! Every question of the protocol about an experiment or an ensemble as functions that give tables.
//!
//! `flat(by => 'module')` is the question `flat` with the field `by`; its first table. A further
//! table of an answer is a function of its own: `find_histogram(...)`.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::logical_expr::Expr;
use parallax_base::Control;
use parallax_protocol::{
    Answer, Engine, Ensemble, EnsemblePair, Experiment, ExperimentPair, Item, Question,
    QuestionSchema, Subject, Table, TableFunctionRow, TableFunctionTable, TableSet as _,
    for_each_question,
};
use parallax_service::{Answers, OpenExperiment, scaling};
use serde_json::{Map, Value};

use crate::computed::Computed;
use crate::tables::failed;
use crate::{SqlSource, bridge, subtree};

/// Passes a question on, where it can be asked of a source.
trait AskedOf<Q: Question<Subject = Self>>: Subject {
    /// Whether it is asked of sources of this kind.
    fn is_asked(_: &SqlSource) -> bool {
        false
    }

    fn ask(_: &SqlSource, _: &Q, _: &Control) -> Option<Result<Answer<Q>>> {
        None
    }
}

impl<Q> AskedOf<Q> for Experiment
where
    Q: Question<Subject = Experiment>,
    OpenExperiment: Answers<Q>,
{
    fn is_asked(source: &SqlSource) -> bool {
        matches!(source, SqlSource::Experiment(_))
    }

    fn ask(source: &SqlSource, request: &Q, control: &Control) -> Option<Result<Answer<Q>>> {
        match source {
            SqlSource::Experiment(opened) => Some(opened.answer(request, control).map_err(failed)),
            SqlSource::Ensemble(_) => None,
        }
    }
}

impl<Q> AskedOf<Q> for Ensemble
where
    Q: Question<Subject = Ensemble>,
    scaling::Ensemble: Answers<Q>,
{
    fn is_asked(source: &SqlSource) -> bool {
        matches!(source, SqlSource::Ensemble(_))
    }

    fn ask(source: &SqlSource, request: &Q, control: &Control) -> Option<Result<Answer<Q>>> {
        match source {
            SqlSource::Ensemble(ensemble) => {
                Some(ensemble.answer(request, control).map_err(failed))
            }
            SqlSource::Experiment(_) => None,
        }
    }
}

impl<Q: Question<Subject = Item>> AskedOf<Q> for Item {}
impl<Q: Question<Subject = Engine>> AskedOf<Q> for Engine {}
impl<Q: Question<Subject = ExperimentPair>> AskedOf<Q> for ExperimentPair {}
impl<Q: Question<Subject = EnsemblePair>> AskedOf<Q> for EnsemblePair {}

/// Whether a question is asked of a source.
fn is_asked<Q>(source: &SqlSource) -> bool
where
    Q: Question,
    Q::Subject: AskedOf<Q>,
{
    <Q::Subject as AskedOf<Q>>::is_asked(source)
}

/// The answer to a question.
pub(crate) struct Answered {
    /// Its tables, by name.
    pub(crate) tables: Vec<(&'static str, Table)>,
    /// Its remarks, such as that nothing was found and why.
    pub(crate) notes: Vec<String>,
}

/// Remarks of all questions that a statement asks.
pub(crate) type Notes = Arc<Mutex<Vec<String>>>;

/// The remarks of a reply, where it has any.
fn notes<Q: Question>(reply: &Q::Reply) -> Vec<String> {
    let reply = serde_json::to_value(reply).unwrap_or_default();
    let notes = reply.get("notes").and_then(Value::as_array).into_iter().flatten();
    notes.filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}

fn ask_one<Q>(
    source: &SqlSource,
    mut fields: Map<String, Value>,
    control: &Control,
) -> Result<Answered>
where
    Q: Question,
    Q::Subject: AskedOf<Q>,
{
    nest(&mut fields, &Q::SCHEMA);
    // What a question is asked of is what is open.
    for (name, _) in Q::Subject::FIELDS {
        fields.insert((*name).to_owned(), Value::String(String::new()));
    }
    let request = match Q::parse(fields) {
        Ok((_, request)) => request,
        Err(error) => return plan_err!("{error}"),
    };
    match <Q::Subject as AskedOf<Q>>::ask(source, &request, control) {
        Some(answer) => answer.map(|answer| Answered {
            notes: notes::<Q>(&answer.reply),
            tables: answer.tables.into_named(&answer.unit),
        }),
        None => plan_err!("{} is not asked of what is open", Q::SCHEMA.name),
    }
}

/// Moves fields that belong to an object of the request, such as `metric` of `cost`, into it.
fn nest(fields: &mut Map<String, Value>, question: &QuestionSchema) {
    let is_own = |name: &str| question.all_fields().any(|field| field.name == name);
    let Value::Object(defaults) = (question.defaults)() else { return };
    let names: Vec<String> = fields.keys().filter(|name| !is_own(name)).cloned().collect();
    for name in names {
        let has_it = |value: &Value| value.as_object().is_some_and(|o| o.contains_key(&name));
        let Some((around, _)) = defaults.iter().find(|(_, value)| has_it(value)) else { continue };
        let Some(value) = fields.remove(&name) else { continue };
        let object = fields.entry(around.clone()).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(object) = object {
            object.insert(name, value);
        }
    }
}

/// The names of what may be given to a question: its fields, and of objects what is in them.
fn field_names(question: &QuestionSchema) -> String {
    let defaults = (question.defaults)();
    let names = question.all_fields().flat_map(|field| match defaults.get(field.name) {
        Some(Value::Object(object)) => object.keys().cloned().collect(),
        _ => vec![field.name.to_owned()],
    });
    names.collect::<Vec<_>>().join(", ")
}

macro_rules! questions {
    ($($request:ident,)*) => {
        /// Asks the question called `name`.
        pub(crate) fn ask(
            source: &SqlSource,
            name: &str,
            fields: Map<String, Value>,
            control: &Control,
        ) -> Result<Answered> {
            $(if name == <parallax_protocol::$request as Question>::SCHEMA.name {
                return ask_one::<parallax_protocol::$request>(source, fields, control);
            })*
            plan_err!("there is no question {name}")
        }

        /// The questions that are asked of a source and answered with tables.
        pub(crate) fn all(source: &SqlSource) -> Vec<QuestionSchema> {
            let mut all = Vec::new();
            $(if is_asked::<parallax_protocol::$request>(source) {
                all.push(<parallax_protocol::$request as Question>::SCHEMA);
            })*
            all.retain(|question| !question.tables.is_empty());
            all
        }
    };
}

for_each_question!(questions);

/// A function and the table that it gives.
pub(crate) struct Named {
    /// The name in SQL.
    pub(crate) function: String,
    /// The question; `None` for a function of the tree.
    pub(crate) question: Option<&'static str>,
    /// What is asked.
    pub(crate) doc: &'static str,
    /// The table of its answer.
    pub(crate) table: &'static str,
    /// What may be given.
    pub(crate) fields: String,
}

/// The questions as functions: one for the first table of each, and one for each of the others.
pub(crate) fn asked_of(source: &SqlSource) -> Vec<Named> {
    let of = |question: QuestionSchema| {
        question.tables.iter().enumerate().map(move |(at, &(table, _))| Named {
            function: match at {
                0 => question.name.to_owned(),
                _ => format!("{}_{table}", question.name),
            },
            question: Some(question.name),
            doc: question.doc,
            table,
            fields: field_names(&question),
        })
    };
    all(source).into_iter().flat_map(of).collect()
}

/// All functions behind FROM.
pub(crate) fn functions(source: &SqlSource) -> Vec<Named> {
    let mut functions = asked_of(source);
    if matches!(source, SqlSource::Experiment(_)) {
        functions.push(Named {
            function: subtree::NAME.to_owned(),
            question: None,
            doc: subtree::ABOUT,
            table: "contexts",
            fields: "a context id, without a name".to_owned(),
        });
    }
    functions
}

/// The functions as a table.
pub(crate) fn table(source: &SqlSource) -> TableFunctionTable {
    let row = |named: Named| TableFunctionRow {
        function: named.function,
        question: named.question.map(ToOwned::to_owned),
        gives: named.table.to_owned(),
        about: named.doc.trim().to_owned(),
        fields: named.fields,
    };
    functions(source).into_iter().map(row).collect()
}

/// A question as a function.
pub(crate) struct Function {
    pub(crate) named: Named,
    pub(crate) source: SqlSource,
    pub(crate) control: Control,
    pub(crate) notes: Notes,
    pub(crate) computed: Computed,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({})", self.named.function)
    }
}

impl TableFunctionImpl for Function {
    fn call_with_args(
        &self,
        arguments: TableFunctionArgs<'_, '_>,
    ) -> Result<Arc<dyn TableProvider>> {
        let Named { question: Some(question), table, .. } = self.named else {
            return plan_err!("{} is not a question", self.named.function);
        };
        let fields = match arguments.exprs() {
            [] => Map::new(),
            // What `statement.rs` makes of `name => value`.
            [Expr::Literal(ScalarValue::Utf8(Some(json)), _)] => match serde_json::from_str(json) {
                Ok(Value::Object(fields)) => fields,
                _ => return plan_err!("write {question}(field => value, ...)"),
            },
            _ => return plan_err!("write {question}(field => value, ...)"),
        };
        let asked = format!("{}({})", self.named.function, Value::Object(fields.clone()));
        self.computed.table(asked, || {
            let answer = ask(&self.source, question, fields, &self.control)?;
            self.notes.lock().unwrap_or_else(PoisonError::into_inner).extend(answer.notes);
            match answer.tables.into_iter().find(|(name, _)| *name == table) {
                Some((_, table)) => bridge::batch(&table),
                None => plan_err!("the answer to {question} has no table {table}"),
            }
        })
    }
}
