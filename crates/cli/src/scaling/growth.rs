//! `model`: growth models in the terminal.

use std::io::{self, Write};

use anyhow::Context as _;
use parallax_protocol::{ModelsRequest, TypedTable as _};
use parallax_service::Control;
use parallax_service::scaling::{ModelAnswer, models};

use super::args::ModelArgs;
use super::{sources, text};
use crate::output::Output;
use crate::text::{Show, Style, TextTable};

/// Answers `model`.
pub(crate) fn run(
    args: &ModelArgs,
    output: &Output,
    stderr: &Style,
    control: &Control,
) -> anyhow::Result<()> {
    let opened = sources::ensemble(&args.paths, &args.ensemble, control)?;
    let request = request(args)?;
    let metric = request.metric.filter(|name| opened.value.metric(name).is_some());
    let mut answer = models(&opened.value, &ModelsRequest { metric, ..request })?;
    answer.notes.extend(opened.notes);
    let table = answer.value.table().into_table();
    output.emit_with(&table, |style, out| write(&answer.value, style, out))?;
    text::remarks(&answer.notes, &opened.value.issues, stderr);
    Ok(())
}

fn request(args: &ModelArgs) -> anyhow::Result<ModelsRequest> {
    let mut at = Vec::new();
    for text in &args.at {
        let (name, value) =
            text.split_once('=').with_context(|| format!("--at {text}: expected NAME=NUMBER"))?;
        let value: f64 = value.trim().parse().with_context(|| format!("--at {text}"))?;
        at.push((name.trim().to_owned(), value));
    }
    Ok(ModelsRequest {
        parameters: (!args.over_parameters.is_empty()).then(|| args.over_parameters.clone()),
        numbers: args.number.clone(),
        metric: args.ensemble.metric.clone(),
        regions: args.region.clone(),
        statistic: args.statistic,
        search: args.modeler,
        negative: args.negative,
        resources: args.resources.clone(),
        at,
        curve: None,
    })
}

/// Columns from which on a line has room for whole models, and for how well they fit.
const WIDE: usize = 140;
const MEDIUM: usize = 100;

fn write(answer: &ModelAnswer, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    // On a terminal, what costs most comes first.
    let mut sorted = answer.clone();
    let value = |at: Option<f64>| at.unwrap_or(f64::NEG_INFINITY);
    sorted.models.sort_by(|a, b| value(b.prediction).total_cmp(&value(a.prediction)));
    for found in &mut sorted.models {
        found.formula = found.model.function.format(
            &answer.parameters.iter().map(String::as_str).collect::<Vec<_>>(),
            parallax_service::analysis::growth::Style::Plain,
        );
        found.formula = rounded(&found.formula);
    }
    let place: Vec<String> = answer
        .parameters
        .iter()
        .zip(&answer.predict_at)
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let place = place.join(", ");
    let mut columns = vec!["region", "prediction", "model"];
    let differ = |get: fn(&parallax_service::scaling::RegionModel) -> &str| {
        sorted.models.windows(2).any(|pair| matches!(pair, [a, b] if get(a) != get(b)))
    };
    if differ(|found| &found.metric) {
        columns.push("metric");
    }
    if differ(|found| &found.group) {
        columns.push("group");
    }
    columns.push("name");
    if style.width >= MEDIUM {
        columns.extend(["smape", "ar2"]);
    }
    // The model is the answer: where it does not fit it is shortened, never omitted.
    let model = if style.width < WIDE { Show::Name } else { Show::Text };
    let table = sorted.table().into_table();
    TextTable::new(&table)
        .title(format!("Growth models; predictions are for {place}"))
        .columns(&columns)
        .head("prediction", "predicted")
        .show("region", Show::Text)
        .show("model", model)
        .show("smape", Show::Percent)
        .write(style, out)
}

/// A formula with four significant digits in its coefficients: other formats have all.
fn rounded(formula: &str) -> String {
    formula
        .split(' ')
        .map(|word| match word.parse::<f64>() {
            Ok(number) if number != 0.0 => {
                let digits = number.abs().log10().floor();
                if (-4.0..6.0).contains(&digits) {
                    // Between 0 and 7 by the range above.
                    let decimals = (3.0 - digits).max(0.0) as usize;
                    format!("{number:.decimals$}")
                } else {
                    format!("{number:.3e}")
                }
            }
            _ => word.to_owned(),
        })
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn only_coefficients_are_rounded() {
        assert_eq!(
            rounded("2.8183276094059617 + -0.48270031 * p^(5/4) * log2(p)^(1)"),
            "2.818 + -0.4827 * p^(5/4) * log2(p)^(1)"
        );
        assert_eq!(rounded("1.23456789e-9 * n^(3)"), "1.235e-9 * n^(3)");
        assert_eq!(rounded("123456.789"), "123457");
    }
}
