//! The parts of a report as tables.

use parallax_engine::{Column, Session, Table};

use super::Report;

impl Report {
    /// Cost by class.
    #[must_use]
    pub fn categories_table(&self) -> Table {
        let rows = &self.categories;
        let unit = self.unit.to_string();
        Table::new(vec![
            Column::strings("group", "Group of classes.", rows.iter().map(|row| row.class.major())),
            Column::strings("class", "Class.", rows.iter().map(|row| row.class.minor())),
            Column::f64s(
                "cost",
                &unit,
                "Cost of the class; classes add up to the total.",
                rows.iter().map(|row| row.cost).collect(),
            ),
            Column::optional_f64s(
                "percent",
                "%",
                "Share of the program's total, without helper threads.",
                rows.iter().map(|row| row.percent).collect(),
            ),
            Column::u64s(
                "contexts",
                "",
                "Number of outermost contexts of the class.",
                rows.iter().map(|row| row.num_contexts as u64).collect(),
            ),
        ])
    }

    /// The functions by which classes begin.
    #[must_use]
    pub fn routines_table(&self) -> Table {
        let rows = &self.routines;
        let unit = self.unit.to_string();
        Table::new(vec![
            Column::strings("routine", "Normalised name.", rows.iter().map(|row| &*row.name)),
            Column::strings("group", "Group of classes.", rows.iter().map(|row| row.class.major())),
            Column::strings("class", "Class.", rows.iter().map(|row| row.class.minor())),
            Column::f64s(
                "cost",
                &unit,
                "Cost at outermost contexts.",
                rows.iter().map(|row| row.cost).collect(),
            ),
            Column::optional_f64s(
                "percent",
                "%",
                "Share of the program's cost.",
                rows.iter().map(|row| row.percent).collect(),
            ),
            Column::u64s(
                "contexts",
                "",
                "Number of contexts where it is called.",
                rows.iter().map(|row| row.num_contexts as u64).collect(),
            ),
        ])
    }

    /// Metrics of GPUs.
    #[must_use]
    pub fn gpu_table(&self) -> Table {
        let rows = &self.gpu;
        Table::new(vec![
            Column::strings("what", "What is measured.", rows.iter().map(|row| row.what)),
            Column::strings("metric", "Name of the metric.", rows.iter().map(|row| &*row.metric)),
            Column::f64s(
                "value",
                "",
                "Sum over all locations, in the unit of the next column.",
                rows.iter().map(|row| row.value).collect(),
            ),
            Column::strings(
                "unit",
                "Unit of the value.",
                rows.iter().map(|row| row.unit.to_string()),
            ),
            Column::optional_f64s(
                "percent",
                "%",
                "Share of the time of all GPU operations.",
                rows.iter().map(|row| row.percent).collect(),
            ),
        ])
    }

    /// Functions by exclusive cost.
    #[must_use]
    pub fn functions_table(&self) -> Table {
        let rows = &self.top_functions;
        let unit = self.unit.to_string();
        let share =
            |cost: f64| (self.program_total > 0.0).then(|| cost / self.program_total * 100.0);
        Table::new(vec![
            Column::strings("function", "Name.", rows.iter().map(|row| &*row.name)),
            Column::strings("module", "Where its code is.", rows.iter().map(|row| &*row.place)),
            Column::f64s(
                "exclusive",
                &unit,
                "Cost of the function itself; of MPI routines with their internals.",
                rows.iter().map(|row| row.exclusive).collect(),
            ),
            Column::optional_f64s(
                "percent",
                "%",
                "Exclusive share of the program's cost.",
                rows.iter().map(|row| share(row.exclusive)).collect(),
            ),
            Column::f64s(
                "inclusive",
                &unit,
                "Cost with everything below, outermost activations only.",
                rows.iter().map(|row| row.inclusive).collect(),
            ),
            Column::u32s(
                "contexts",
                "Number of contexts of the function.",
                rows.iter().map(|row| row.num_contexts).collect(),
            ),
        ])
    }

    /// The hot path.
    #[must_use]
    pub fn hot_path_table(&self, session: &Session) -> Table {
        let rows = &self.hot_path;
        let unit = self.unit.to_string();
        let tree = session.tree();
        Table::new(vec![
            Column::u32s(
                "context_id",
                "Id of the context in the database.",
                rows.iter().map(|row| tree.source_id(row.context)).collect(),
            ),
            Column::strings("context", "What it is called.", rows.iter().map(|row| &*row.name)),
            Column::f64s(
                "inclusive",
                &unit,
                "Cost with everything below.",
                rows.iter().map(|row| row.inclusive).collect(),
            ),
            Column::optional_f64s(
                "percent",
                "%",
                "Share of the program's cost.",
                rows.iter().map(|row| row.percent).collect(),
            ),
        ])
    }

    /// Totals of all metrics.
    #[must_use]
    pub fn metrics_table(&self) -> Table {
        let rows = &self.metrics;
        Table::new(vec![
            Column::strings("metric", "Name.", rows.iter().map(|row| &*row.name)),
            Column::optional_f64s(
                "total",
                "",
                "Sum over all locations, in the unit of the next column; undefined when a counter \
                 wrapped.",
                rows.iter().map(|row| row.total).collect(),
            ),
            Column::strings("unit", "Unit.", rows.iter().map(|row| row.unit.to_string())),
        ])
    }

    /// What bounds the program.
    #[must_use]
    pub fn findings_table(&self) -> Table {
        let rows = &self.findings;
        let evidence = |row: &super::Finding| {
            let list: Vec<String> = row
                .evidence
                .iter()
                .map(|e| format!("{} = {} {}", e.what, e.value, e.unit).trim_end().to_owned())
                .collect();
            list.join("; ")
        };
        let next = |row: &super::Finding| match &row.next.contexts {
            Some(contexts) => format!("{} {contexts}", row.next.command),
            None => row.next.command.to_owned(),
        };
        Table::new(vec![
            Column::f64s(
                "percent",
                "%",
                "Impact: the share of the program's total that the finding is about.",
                rows.iter().map(|row| row.percent).collect(),
            ),
            Column::strings("finding", "What was found.", rows.iter().map(|row| &*row.text)),
            Column::strings(
                "evidence",
                "Evidence: the numbers behind it.",
                rows.iter().map(evidence),
            ),
            Column::strings("next", "Command and contexts to ask next.", rows.iter().map(next)),
        ])
    }
}
