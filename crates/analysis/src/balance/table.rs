//! The answer as a table.

use parallax_engine::{Column, Session, Table};

use super::{Balance, BalanceRow, Distribution};

impl Balance {
    /// One line per row, in the order of the rows.
    #[must_use]
    pub fn to_table(&self, session: &Session) -> Table {
        let tree = session.tree();
        let unit = self.unit.to_string();
        let squared = if unit.is_empty() { String::new() } else { format!("{unit}²") };
        let number = |name: &str, doc: &'static str, of: fn(&Distribution) -> f64| {
            Column::f64s(name, &unit, doc, self.over(|row| of(&row.distribution)))
        };
        let ratio = |name: &str, unit: &str, doc, of: fn(&Distribution) -> Option<f64>| {
            Column::optional_f64s(name, unit, doc, self.over(|row| of(&row.distribution)))
        };
        let path = |row: &BalanceRow| {
            let labels: Vec<String> =
                tree.path(row.context).into_iter().map(|context| tree.label(context)).collect();
            labels.join(" > ")
        };
        let bins = |row: &BalanceRow| {
            let bins: Vec<String> =
                row.distribution.histogram.iter().map(ToString::to_string).collect();
            bins.join(" ")
        };
        let slowest = |row: &BalanceRow| self.slowest_labels(row).collect::<Vec<_>>().join(", ");
        Table::new(vec![
            Column::u32s(
                "context_id",
                "Id of the context in the database; of a function, the first one.",
                self.over(|row| tree.source_id(row.context)),
            ),
            Column::strings("name", "Context or function.", self.over(|row| row.name.clone())),
            Column::strings("path", "Call path from the entry down.", self.over(path)),
            Column::u64s(
                "contexts",
                "",
                "Number of contexts that were added up.",
                self.over(|row| row.num_contexts as u64),
            ),
            Column::u64s(
                "members",
                "",
                "Number of locations, ranks or nodes that are compared.",
                self.over(|row| row.distribution.num_members as u64),
            ),
            Column::u64s(
                "with_value",
                "",
                "Number of them that spent something here.",
                self.over(|row| row.distribution.num_values as u64),
            ),
            number("saving", "max - mean: what perfect balance would save.", |d| d.saving),
            number("wasted", "members x max - sum: the waiting of all together.", |d| d.wasted),
            ratio("balance_ratio", "", "mean / max; 1 is perfect balance.", |d| d.balance_ratio),
            ratio("imbalance", "", "max / mean; 1 is perfect balance.", |d| d.imbalance),
            number("sum", "Sum over all members.", |d| d.sum),
            number("mean", "sum / members.", |d| d.mean),
            number("min", "The smallest share.", |d| d.min),
            number("p5", "5th percentile.", |d| d.percentiles[0]),
            number("p25", "25th percentile.", |d| d.percentiles[1]),
            number("p50", "Median.", |d| d.percentiles[2]),
            number("p75", "75th percentile.", |d| d.percentiles[3]),
            number("p95", "95th percentile.", |d| d.percentiles[4]),
            number("max", "The largest share.", |d| d.max),
            ratio("variance", &squared, "Sample variance, divisor n - 1.", |d| d.variance),
            ratio("std_dev", &unit, "Square root of the variance.", |d| d.std_dev),
            ratio("variation", "", "Coefficient of variation: std_dev / mean.", |d| d.variation),
            Column::strings(
                "slowest",
                "The members with the largest values, from the largest.",
                self.over(slowest),
            ),
            Column::strings(
                "histogram",
                "Number of members in equal bins from min to max.",
                self.over(bins),
            ),
        ])
    }

    fn over<T>(&self, of: impl FnMut(&BalanceRow) -> T) -> Vec<T> {
        self.rows.iter().map(of).collect()
    }
}
