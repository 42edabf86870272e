//! `subtree(a)`: a context and everything below it.

use std::fmt;
use std::sync::Arc;

use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::logical_expr::Expr;
use parallax_base::Control;
use parallax_protocol::TypedTable as _;
use parallax_service::OpenExperiment;

use crate::bridge;
use crate::computed::Computed;
use crate::tables::failed;

/// Its name in SQL.
pub(crate) const NAME: &str = "subtree";
/// What it gives, for lists.
pub(crate) const ABOUT: &str = "A context and everything below it, as rows of `contexts`; only \
                                these places of the tree are read.";

/// The function.
pub(crate) struct Subtree {
    pub(crate) opened: Arc<OpenExperiment>,
    pub(crate) control: Control,
    pub(crate) computed: Computed,
}

impl fmt::Debug for Subtree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Subtree")
    }
}

impl TableFunctionImpl for Subtree {
    fn call_with_args(
        &self,
        arguments: TableFunctionArgs<'_, '_>,
    ) -> Result<Arc<dyn TableProvider>> {
        let [Expr::Literal(ScalarValue::Int64(Some(id)), _)] = arguments.exprs() else {
            return plan_err!(
                "write subtree(context_id) with a number, such as subtree(0) for the whole tree"
            );
        };
        let tree = self.opened.session().tree();
        let Some(context) = u32::try_from(*id).ok().and_then(|id| tree.by_source_id(id)) else {
            return plan_err!("subtree({id}): there is no context {id}; `contexts` lists them");
        };
        self.computed.table(format!("{NAME}({id})"), || {
            let rows = self.opened.context_relation_of(tree.subtree(context), &self.control);
            bridge::batch(&rows.map_err(failed)?.into_table())
        })
    }
}
