//! The tables of an ensemble.

use parallax_protocol::TypedTable as _;
use parallax_service::scaling::{
    ensemble_issue_relation, ensemble_metric_relation, parameter_relation, region_relation,
    run_relation, run_statistic_relation,
};

use super::catalogue::{Content, TableEntry, always};
use super::failed;

/// All of them.
pub(super) const TABLES: &[TableEntry] = &[
    TableEntry {
        name: "regions",
        needs: "",
        has: always,
        content: Content::OfEnsemble(|ensemble, _| Ok(region_relation(ensemble).into_table())),
    },
    TableEntry {
        name: "runs",
        needs: "",
        has: always,
        content: Content::OfEnsemble(|ensemble, control| {
            Ok(run_relation(ensemble, control).map_err(failed)?.into_table())
        }),
    },
    TableEntry {
        name: "statistics",
        needs: "",
        has: always,
        content: Content::OfEnsemble(|ensemble, _| {
            Ok(run_statistic_relation(ensemble).into_table())
        }),
    },
    TableEntry {
        name: "parameters",
        needs: "",
        has: always,
        content: Content::OfEnsemble(|ensemble, _| Ok(parameter_relation(ensemble).into_table())),
    },
    TableEntry {
        name: "metrics",
        needs: "",
        has: always,
        content: Content::OfEnsemble(|ensemble, _| {
            Ok(ensemble_metric_relation(ensemble).into_table())
        }),
    },
    TableEntry {
        name: "issues",
        needs: "",
        has: always,
        content: Content::OfEnsemble(|ensemble, _| {
            Ok(ensemble_issue_relation(ensemble).into_table())
        }),
    },
    TableEntry { name: "table_functions", needs: "", has: always, content: Content::Functions },
];
