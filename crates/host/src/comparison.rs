//! Answers about several experiments beside each other.

use parallax_base::Control;
use parallax_service::analysis::comparison::{ComparisonOptions, Matching, Over};
use parallax_service::{Answer, ComparedVersion, ComparisonRequest, Opened, compare_experiments};
use parallax_wire::protocol::{DifferencesAsk, DifferencesReply, ErrorReply};

use crate::errors::service_error;
use crate::profile::unknown;
use crate::response::{Response, with_tables};

pub(crate) fn differences(
    old: &Opened,
    new: &Opened,
    ask: &DifferencesAsk,
    control: &Control,
) -> Result<Response, ErrorReply> {
    let matching = match ask.by.as_deref() {
        None => None,
        Some("context") => Some(Matching::CallPath),
        Some("function") => Some(Matching::Function),
        Some(word) => return Err(unknown("by", word, "context, function")),
    };
    let over = match ask.over.as_deref() {
        None => None,
        Some("sum") => Some(Over::Sum),
        Some("mean") => Some(Over::Mean),
        Some("max") => Some(Over::Max),
        Some(word) => return Err(unknown("over", word, "sum, mean, max")),
    };
    let version =
        |name: &str, opened| ComparedVersion { name: name.to_owned(), experiments: vec![opened] };
    let versions = [version("the old version", old), version("the new version", new)];
    let request = ComparisonRequest {
        metric: ask.metric.clone(),
        profiles: ask.profiles.clone(),
        options: ComparisonOptions { matching, over, ..ComparisonOptions::default() },
        gates: Vec::new(),
    };
    let Answer { value, notes } =
        compare_experiments(&versions, &request, control).map_err(|error| service_error(&error))?;
    let comparison = &value.comparison;
    let pair = comparison.pairs.first();
    let reply = DifferencesReply {
        metric: comparison.metric.clone(),
        unit: comparison.unit.to_string(),
        by: match comparison.matching {
            Matching::CallPath => "context",
            Matching::Function => "function",
        }
        .to_owned(),
        over: match comparison.over {
            Over::Sum => "sum",
            Over::Mean => "mean",
            Over::Max => "max",
        }
        .to_owned(),
        basis: pair.and_then(|pair| pair.basis).map(|basis| basis.name().to_owned()),
        evidence: pair.map(|pair| comparison.evidence(pair)).unwrap_or_default(),
        sentences: pair.map(|pair| comparison.sentences(pair)).unwrap_or_default(),
        notes,
    };
    with_tables(ask, &reply, &[("rows", &value.tree_table(0))])
}
