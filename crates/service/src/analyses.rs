//! The named analyses by expressions: the answers of `balance`, `report` and `idleness`.

use parallax_analysis::balance::{
    Balance, BalanceRequest as Question, Grouping, MemberRule, Pooling, balance,
    balance_by_function,
};
use parallax_analysis::idleness::{
    GpuBlame, Idleness, IdlenessOptions, SourceChoice, gpu_blame, idleness, short_name,
};
use parallax_analysis::report::{Report, ReportOptions, report};
use parallax_analysis::taxonomy::helper_contexts;
use parallax_base::{ContextIdx, Control, MetricIdx};
use parallax_engine::query::{parse_contexts, parse_metrics};
use parallax_engine::resolve::{resolve_contexts, resolve_metric};
use parallax_engine::{LocationChoice, PruneRules};
use parallax_model::{ContextKind, IdentityKind, Scope};

use crate::options::locations;
use crate::timeline::path_names;
use crate::{Answer, Opened, ServiceError};

/// Functions that cost less than this share of the total, in per cent, are not compared unless a
/// person names them.
const WORTH_COMPARING: f64 = 1.0;

/// What is compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum BalanceBy {
    /// Single profiles.
    #[default]
    Profile,
    /// Ranks: their threads added up.
    Rank,
    /// Nodes: their ranks added up.
    Node,
}

/// How evenly contexts cost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BalanceRequest {
    /// A metric expression; `None` for the metric that says most about time.
    pub metric: Option<String>,
    /// A profile expression; `None` for all locations.
    pub profiles: Option<String>,
    /// A context expression; `None` for the functions that cost at least 1 %, without what lies
    /// below calls of MPI and without helper threads.
    pub contexts: Option<String>,
    /// Compare costs without what contexts call.
    pub is_exclusive: bool,
    /// What is compared.
    pub by: BalanceBy,
    /// Compare single contexts, not functions wherever they are called from.
    pub by_context: bool,
    /// Only locations with a stored value count.
    pub stored_only: bool,
    /// How many of the slowest to name.
    pub num_slowest: usize,
}

/// How evenly contexts cost, with how the metric was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct BalanceAnswer {
    /// The analysis.
    pub balance: Balance,
    /// Why this metric, where nobody named one.
    pub reason: Option<String>,
    /// The whole execution's inclusive cost over the chosen locations.
    pub total: f64,
}

impl Opened {
    pub(crate) fn metric(
        &self,
        expression: Option<&str>,
        control: &Control,
    ) -> Result<(MetricIdx, Option<String>), ServiceError> {
        let session = &self.session;
        Ok(match expression {
            Some(text) => {
                (resolve_metric(&session.experiment().metrics, &parse_metrics(text)?)?, None)
            }
            None => {
                let default = session.default_metric(control)?;
                (default.metric, Some(default.reason))
            }
        })
    }

    /// The functions that are worth comparing when nobody names any; those of helper threads, which
    /// only wait, are not.
    pub(crate) fn costly_functions(
        &self,
        metric: MetricIdx,
        control: &Control,
    ) -> Result<Vec<ContextIdx>, ServiceError> {
        let session = &self.session;
        let tree = session.tree();
        let costs = session.costs(metric, &LocationChoice::All, control)?;
        let rules = PruneRules {
            mpi_internals: true,
            lines_and_loops: true,
            below_percent: Some(WORTH_COMPARING),
            ..PruneRules::default()
        };
        let view = rules.apply(tree, Some(&costs));
        let is_helper = helper_contexts(tree);
        let is_meant = |context: &ContextIdx| {
            tree.kind(*context) == ContextKind::Function
                && is_helper.get(context.idx()) != Some(&true)
        };
        Ok(view.contexts().iter().copied().filter(is_meant).collect())
    }

    /// How evenly contexts cost over locations, ranks or nodes.
    ///
    /// # Errors
    /// When an expression is wrong, or the values cannot be read.
    pub fn balance(
        &self,
        request: &BalanceRequest,
        control: &Control,
    ) -> Result<Answer<BalanceAnswer>, ServiceError> {
        let session = &self.session;
        let mut notes = Vec::new();
        let (metric, reason) = self.metric(request.metric.as_deref(), control)?;
        let locations = locations(session, request.profiles.as_deref(), &mut notes)?;
        let contexts = match &request.contexts {
            Some(text) => {
                let (contexts, more) = resolve_contexts(session, &parse_contexts(text)?, control)?;
                notes.extend(more);
                contexts
            }
            None => self.costly_functions(metric, control)?,
        };
        let chosen = locations.clone();
        let tree = session.tree();
        let only_functions = contexts.iter().all(|&c| tree.kind(c) == ContextKind::Function);
        let question = Question {
            scope: if request.is_exclusive { Scope::Exclusive } else { Scope::Inclusive },
            locations,
            grouping: match request.by {
                BalanceBy::Profile => Grouping::Location,
                BalanceBy::Rank => Grouping::Identity(IdentityKind::Rank),
                BalanceBy::Node => Grouping::Identity(IdentityKind::Node),
            },
            members: if request.stored_only { MemberRule::StoredOnly } else { MemberRule::Ran },
            num_slowest: request.num_slowest,
            ..Question::new(metric, contexts)
        };
        let balance = if request.by_context || !only_functions {
            balance(session, &question, control)?
        } else {
            balance_by_function(session, &question, Pooling::PerMember, control)?
        };
        if balance.num_ungrouped > 0 {
            notes.push(format!(
                "{} locations have no {} and are left out",
                balance.num_ungrouped,
                balance.grouping.name()
            ));
        }
        if balance.num_wrapped > 0 {
            notes.push(format!(
                "{} values are counters that ran below zero, or not numbers; they are left out",
                balance.num_wrapped
            ));
        }
        notes.extend(balance.added_note());
        let total = session.total_over(metric, &chosen, control)?;
        Ok(Answer { value: BalanceAnswer { balance, reason, total }, notes })
    }

    /// Where the cost of the whole execution goes, and what bounds the program.
    /// `metric` is a metric expression; `None` for the metric that says most about time.
    ///
    /// # Errors
    /// When the expression is wrong, or the values cannot be read.
    pub fn report(&self, metric: Option<&str>, control: &Control) -> Result<Report, ServiceError> {
        let metric = match metric {
            Some(_) => Some(self.metric(metric, control)?.0),
            None => None,
        };
        Ok(report(&self.session, &ReportOptions { metric, ..ReportOptions::default() }, control)?)
    }

    /// When GPUs had nothing to do, and when threads did not work.
    ///
    /// # Errors
    /// When the expression is wrong, or samples or values cannot be read.
    pub fn idleness(
        &self,
        metric: Option<&str>,
        source: SourceChoice,
        control: &Control,
    ) -> Result<Idleness, ServiceError> {
        let metric = match metric {
            Some(_) => Some(self.metric(metric, control)?.0),
            None => None,
        };
        Ok(idleness(&self.session, &IdlenessOptions { source, metric }, control)?)
    }

    /// What the threads of each rank did while its GPUs had nothing to do: needs traces.
    /// [`GpuBlame::calls_table`] makes a table of it.
    ///
    /// # Errors
    /// When there are no traces, they cannot be read, or the question is withdrawn.
    pub fn gpu_blame(&self, control: &Control) -> Result<Answer<GpuBlame>, ServiceError> {
        let blame = gpu_blame(&self.session, control)?;
        let mut notes = Vec::new();
        if blame.ranks.is_empty() {
            notes.push("the traces have no streams of GPUs: there is nobody to blame".to_owned());
            return Ok(Answer { value: blame, notes });
        }
        notes.push(
            "Time in which no GPU work of a rank was active, shared equally among its threads \
             that were active; calls of MPI, GPU runtimes and system libraries with all below them."
                .into(),
        );
        let alone = blame.ranks.iter().filter(|rank| rank.num_threads == 0).count();
        if alone > 0 {
            notes.push(format!(
                "{alone} of {} ranks with GPUs have no traces of threads: nobody can be blamed for \
                 their idle time.",
                blame.ranks.len()
            ));
        }
        Ok(Answer { value: blame, notes })
    }

    /// The functions that lead to a context, outermost first: `main > initMC > cudaMallocManaged`.
    #[must_use]
    pub fn call_path(&self, context: ContextIdx) -> String {
        self.functions_to(context).join(" > ")
    }

    /// The same with names as short as they can be: without entry, arguments and libraries.
    #[must_use]
    pub fn short_call_path(&self, context: ContextIdx) -> String {
        let names = self.functions_to(context);
        let from =
            usize::from(names.len() > 1 && names.first().is_some_and(|n| n.starts_with('<')));
        let names: Vec<String> = names.iter().skip(from).map(|name| short_name(name)).collect();
        names.join(" > ")
    }

    fn functions_to(&self, context: ContextIdx) -> Vec<String> {
        let tree = self.session.tree();
        let is_named = |c: ContextIdx| {
            c == context || matches!(tree.kind(c), ContextKind::Function | ContextKind::Entry)
        };
        let names = path_names(tree, context, is_named);
        if names.is_empty() { vec![tree.label(context)] } else { names }
    }
}
