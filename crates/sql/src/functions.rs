//! Functions of contexts and of time.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{Array as _, AsArray as _, BooleanArray, Int64Array, StringBuilder};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use parallax_base::ContextIdx;
use parallax_model::ContextTree;
use parallax_protocol::SqlFunctionReply;
use parallax_service::OpenExperiment;

use crate::SqlSource;

/// What a function computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    IsDescendant,
    Path,
    Overlaps,
    Bin,
}

impl Kind {
    const ALL: [Self; 4] = [Self::IsDescendant, Self::Path, Self::Overlaps, Self::Bin];

    /// Whether it is about the tree of contexts.
    const fn needs_tree(self) -> bool {
        matches!(self, Self::IsDescendant | Self::Path)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::IsDescendant => "is_descendant",
            Self::Path => "path",
            Self::Overlaps => "overlaps",
            Self::Bin => "bin",
        }
    }

    const fn arguments(self) -> usize {
        match self {
            Self::Path => 1,
            Self::IsDescendant | Self::Bin => 2,
            Self::Overlaps => 4,
        }
    }

    /// What it takes, for people.
    const fn takes(self) -> &'static str {
        match self {
            Self::IsDescendant => "context, context",
            Self::Path => "context",
            Self::Overlaps => "start, end, from, to",
            Self::Bin => "time, width",
        }
    }

    const fn about(self) -> &'static str {
        match self {
            Self::IsDescendant => {
                "Whether the first context lies below the second; a context is not below itself."
            }
            Self::Path => "The call path of a context, from the entry down.",
            Self::Overlaps => "Whether a record is in progress at some moment between two times.",
            Self::Bin => "Where the bin of this width begins in which a time lies.",
        }
    }
}

/// A function of numbers.
struct Function {
    kind: Kind,
    signature: Signature,
    /// `None` where it needs no tree.
    opened: Option<Arc<OpenExperiment>>,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.kind.name())
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        let of = |function: &Self| function.opened.as_ref().map(Arc::as_ptr);
        self.kind == other.kind && of(self) == of(other)
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
    }
}

/// All functions that there are for a source.
pub(crate) fn all(source: &SqlSource) -> Vec<ScalarUDF> {
    let opened = match source {
        SqlSource::Experiment(opened) => Some(opened),
        SqlSource::Ensemble(_) => None,
    };
    let function = |kind: Kind| {
        let whole = vec![DataType::Int64; kind.arguments()];
        let signature = Signature::exact(whole, Volatility::Immutable);
        let opened = opened.filter(|_| kind.needs_tree()).cloned();
        ScalarUDF::from(Function { kind, signature, opened })
    };
    let known = Kind::ALL.into_iter().filter(|kind| opened.is_some() || !kind.needs_tree());
    known.map(function).collect()
}

/// What they give and take, for people.
pub(crate) fn described(source: &SqlSource) -> Vec<SqlFunctionReply> {
    let has_tree = matches!(source, SqlSource::Experiment(_));
    let known = Kind::ALL.into_iter().filter(|kind| has_tree || !kind.needs_tree());
    let described = known.map(|kind| SqlFunctionReply {
        name: kind.name().to_owned(),
        is_table: false,
        about: kind.about().to_owned(),
        takes: kind.takes().to_owned(),
    });
    described.collect()
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        self.kind.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.kind {
            Kind::IsDescendant | Kind::Overlaps => DataType::Boolean,
            Kind::Path => DataType::Utf8,
            Kind::Bin => DataType::Int64,
        })
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&arguments.args)?;
        let of: Option<Vec<&Int64Array>> =
            arrays.iter().map(|array| array.as_primitive_opt::<Int64Type>()).collect();
        let Some(of) = of else { return exec_err!("{} is of whole numbers", self.name()) };
        let rows = if let Some(first) = of.first() { first.len() } else { 0 };
        let row = |row: usize| -> Option<Vec<i64>> {
            of.iter().map(|of| of.is_valid(row).then(|| of.value(row))).collect()
        };
        let tree = self.opened.as_ref().map(|opened| opened.session().tree());
        let context = |id: i64| -> Option<(&ContextTree, ContextIdx)> {
            let (id, tree) = (u32::try_from(id).ok()?, tree?);
            tree.by_source_id(id).map(|context| (tree, context))
        };
        Ok(ColumnarValue::Array(match self.kind {
            Kind::IsDescendant => {
                let is_below = |at| {
                    let ids = row(at)?;
                    Some(match (context(ids[0]), context(ids[1])) {
                        (Some((tree, below)), Some((_, above))) => {
                            below != above && tree.is_within(below, above)
                        }
                        _ => false,
                    })
                };
                Arc::new((0..rows).map(is_below).collect::<BooleanArray>())
            }
            Kind::Path => {
                let mut out = StringBuilder::new();
                for at in 0..rows {
                    let found = row(at).and_then(|ids| context(ids[0]));
                    out.append_option(found.map(|(tree, context)| {
                        let labels = tree.path(context).into_iter().map(|c| tree.label(c));
                        labels.collect::<Vec<_>>().join(" > ")
                    }));
                }
                Arc::new(out.finish())
            }
            Kind::Overlaps => {
                let overlaps = |at| row(at).map(|times| times[0] < times[3] && times[1] > times[2]);
                Arc::new((0..rows).map(overlaps).collect::<BooleanArray>())
            }
            Kind::Bin => {
                let mut starts = Vec::with_capacity(rows);
                for at in 0..rows {
                    let Some(numbers) = row(at) else {
                        starts.push(None);
                        continue;
                    };
                    if numbers[1] <= 0 {
                        return exec_err!(
                            "bin(time, width): the width is {}; it must be above 0",
                            numbers[1]
                        );
                    }
                    starts.push(Some(numbers[0].div_euclid(numbers[1]) * numbers[1]));
                }
                Arc::new(Int64Array::from(starts))
            }
        }))
    }
}
