//! Several coupled applications: what the user says about them, checked against the data.

use std::collections::{BTreeMap, HashSet};

use parallax_base::{Control, Remedy, TimeWindow, TrackIdx};
use parallax_engine::query::{QueryError, near_names};
use parallax_engine::{EngineError, LocationChoice};
use parallax_formats::json::{JsonLimits, JsonReader, Value};
use parallax_import::convert::{TraceInput, WorkflowInput};
use parallax_import::events::ComponentPlan;
use parallax_model::{IdentityKind, LinkKind, Message, TraceStore};
use parallax_protocol::{MessageSumTable, MessagesBy, MessagesRequest};

use crate::timeline::{Row, sums};
use crate::{OpenExperiment, ServiceError};

/// What the user says about the components of a workflow, besides where they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkflowRequest {
    /// `NAME=SECONDS`: added to the times of a component.
    pub offsets: Vec<String>,
    /// `NAME=OTHER[,OTHER]`: the components that one takes data from.
    pub depends: Vec<String>,
    /// `NAME=FIRST-LAST`: a component that is these ranks of the only trace.
    pub ranks: Vec<String>,
    /// A description of the workflow, as TAU's tools take it (`workflow_in.json`).
    pub description: Option<Vec<u8>>,
}

/// A workflow as it was described: its name, and what its components need.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Description {
    /// The whole text.
    pub(crate) value: Option<Value>,
    /// Name of the workflow.
    pub(crate) title: Option<String>,
    depends: Vec<(String, Vec<String>)>,
}

impl WorkflowRequest {
    /// The traces as the inputs of one archive, and what the workflow is called where a
    /// description says so.
    ///
    /// # Errors
    /// When something names no component, or is not written as it should be.
    pub fn inputs(
        &self,
        traces: Vec<(String, TraceInput)>,
    ) -> Result<(Vec<WorkflowInput>, Option<String>), ServiceError> {
        let description = self.description()?;
        let mut inputs: Vec<WorkflowInput> = traces
            .into_iter()
            .map(|(name, trace)| WorkflowInput {
                trace,
                components: vec![ComponentPlan { name, ..ComponentPlan::default() }],
                offset_nanos: 0,
            })
            .collect();
        if !self.ranks.is_empty() {
            let plans = self.ranks.iter().map(|text| ranks(text));
            let plans = plans.collect::<Result<Vec<_>, _>>()?;
            overlap(&self.ranks, &plans)?;
            let [only] = inputs.as_mut_slice() else {
                let text = self.ranks.first().map_or("", String::as_str);
                let what = "ranks are components of one trace, and several are named";
                return Err(wrong(text, what, "convert that trace alone").into());
            };
            only.components = plans;
        }
        let names: Vec<String> = inputs
            .iter()
            .flat_map(|input| input.components.iter().map(|plan| plan.name.clone()))
            .collect();
        distinct(&names)?;
        for text in &self.offsets {
            let (name, value) = pair(text, "NAME=SECONDS")?;
            known(text, name, &names)?;
            let nanos = value.trim_end_matches('s').trim().parse::<f64>().ok();
            // Beyond 292 years nanoseconds do not fit.
            let nanos = nanos.map(|s| s * 1e9).filter(|nanos| nanos.abs() < 9.2e18);
            let Some(nanos) = nanos else {
                let what = format!("{value} is no time in seconds");
                return Err(wrong(text, what, "such as analysis=0.25 or analysis=-3").into());
            };
            let own = inputs.iter_mut().find(|i| i.components.iter().any(|plan| plan.name == name));
            match own {
                Some(input) if input.components.len() == 1 => {
                    input.offset_nanos = nanos.round() as i64;
                }
                _ => {
                    let what = "components of one trace have one clock";
                    return Err(wrong(text, what, "omit the offset").into());
                }
            }
        }
        for (name, needed) in self.depends(&description, &names)? {
            for input in &mut inputs {
                for plan in input.components.iter_mut().filter(|plan| plan.name == name) {
                    for other in &needed {
                        if !plan.depends_on.contains(other) {
                            plan.depends_on.push(other.clone());
                        }
                    }
                }
            }
        }
        Ok((inputs, description.title))
    }

    /// What each component needs, by the description and by what was given in addition.
    pub(crate) fn depends(
        &self,
        description: &Description,
        names: &[String],
    ) -> Result<Vec<(String, Vec<String>)>, ServiceError> {
        let mut out = Vec::new();
        for (name, needed) in &description.depends {
            known(name, name, names)?;
            for other in needed {
                known(other, other, names)?;
            }
            out.push((name.clone(), needed.clone()));
        }
        for text in &self.depends {
            let (name, others) = pair(text, "NAME=OTHER[,OTHER]")?;
            known(text, name, names)?;
            let mut needed = Vec::new();
            for other in others.split(',').map(str::trim).filter(|other| !other.is_empty()) {
                known(text, other, names)?;
                if other == name {
                    let what = format!("{name} cannot take data from itself");
                    return Err(wrong(text, what, "name other components").into());
                }
                needed.push(other.to_owned());
            }
            out.push((name.to_owned(), needed));
        }
        Ok(out)
    }

    /// Reads the description.
    pub(crate) fn description(&self) -> Result<Description, ServiceError> {
        let Some(text) = &self.description else { return Ok(Description::default()) };
        let read = JsonReader::from_slice(text, JsonLimits::default()).read_value();
        let hint = "it is JSON like TAU's workflow_in.json, with Workflow Component and Dependency \
                    Graph";
        let value = match read {
            Ok(value @ Value::Object(_)) => value,
            Ok(other) => {
                let what = format!("the description of the workflow is {}", other.kind());
                return Err(wrong("", what, hint).into());
            }
            Err(error) => {
                let what = format!("the description of the workflow cannot be read: {error}");
                return Err(wrong("", what, hint).into());
            }
        };
        // A finished workflow profile has the description inside.
        let inner = value.get("Workflow metadata").cloned().unwrap_or(value);
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let instance = inner.get("Workflow Instance").and_then(|list| list.items().first());
        let title = instance.and_then(|instance| instance.get("name")).and_then(text);
        let graph = inner.get("Dependency Graph").map_or(&[][..], Value::entries);
        let depends = graph
            .iter()
            .map(|(name, needed)| (name.clone(), needed.items().iter().filter_map(text).collect()))
            .collect();
        Ok(Description { title, depends, value: Some(inner) })
    }
}

/// No two components may have the same name.
pub(crate) fn distinct(names: &[String]) -> Result<(), ServiceError> {
    for (at, name) in names.iter().enumerate() {
        if names.iter().skip(at + 1).any(|other| other == name) {
            let what = format!("two components are called {name}");
            return Err(wrong(name, what, Remedy::ComponentNames.words()).into());
        }
    }
    Ok(())
}

/// `name` must be a component.
pub(crate) fn known(text: &str, name: &str, names: &[String]) -> Result<(), QueryError> {
    if names.iter().any(|known| known == name) {
        return Ok(());
    }
    let near = near_names(name, names.iter().map(String::as_str), 3);
    let hint = if near.is_empty() {
        format!("components are {}", names.join(", "))
    } else {
        format!("did you mean {}?", near.join(" or "))
    };
    Err(QueryError::unknown_name(text, name, format!("no component is called {name}"))
        .with_hint(hint))
}

/// The parts before and after the first `=`.
fn pair<'t>(text: &'t str, form: &str) -> Result<(&'t str, &'t str), QueryError> {
    let parts = text.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    parts.filter(|(name, value)| !name.is_empty() && !value.is_empty()).ok_or_else(|| {
        wrong(text, format!("{text} is not written as {form}"), "put = between name and value")
    })
}

fn ranks(text: &str) -> Result<ComponentPlan, QueryError> {
    let (name, range) = pair(text, "NAME=FIRST-LAST")?;
    let (from, to) = range.split_once('-').unwrap_or((range, range));
    let bounds = from.trim().parse().ok().zip(to.trim().parse().ok());
    let bounds = bounds.filter(|(from, to)| from <= to).ok_or_else(|| {
        wrong(text, format!("{range} is no range of ranks"), "such as md=0-15; 15 belongs to it")
    })?;
    Ok(ComponentPlan { name: name.to_owned(), depends_on: Vec::new(), ranks: Some(bounds) })
}

fn overlap(texts: &[String], plans: &[ComponentPlan]) -> Result<(), QueryError> {
    for (at, (text, plan)) in texts.iter().zip(plans).enumerate() {
        for other in plans.iter().take(at) {
            let (Some(a), Some(b)) = (plan.ranks, other.ranks) else { continue };
            if a.0 <= b.1 && b.0 <= a.1 {
                let what = format!("{} and {} have ranks in common", other.name, plan.name);
                return Err(wrong(text, what, "ranges of ranks include their end"));
            }
        }
    }
    Ok(())
}

fn wrong(text: &str, what: impl Into<String>, hint: &str) -> QueryError {
    QueryError::unknown_name(text, text, what).with_hint(hint)
}

impl OpenExperiment {
    /// Messages and transfers of the chosen locations by pair of components, or transfers by file.
    pub(crate) fn messages_of_components(
        &self,
        request: &MessagesRequest,
        chosen: &LocationChoice,
        window: TimeWindow,
        notes: &mut Vec<String>,
        control: &Control,
    ) -> Result<MessageSumTable, ServiceError> {
        let session = &self.session;
        let x = session.experiment();
        let is_all = *chosen == LocationChoice::All;
        let traces = session.traces()?;
        let tracks = session.chosen_tracks(traces, chosen);
        let tracks: HashSet<TrackIdx> = tracks.into_iter().collect();
        let has = |track: Option<TrackIdx>| track.is_some_and(|t| tracks.contains(&t));
        let is_by_file = request.by == MessagesBy::File;
        let applications: Vec<Option<u64>> = TraceStore::tracks(traces)
            .iter()
            .map(|track| x.locations.identity(track.location, IdentityKind::Application))
            .collect();
        // Tracks of no component come after all others, what is not in the trace last.
        let place = |track: Option<TrackIdx>| match track {
            Some(track) => {
                let own = applications.get(track.idx()).copied().flatten();
                own.map_or((1, 0), |number| (0, number))
            }
            None => (2, 0),
        };
        let events = self.events()?;
        let mut rows: BTreeMap<_, Row> = BTreeMap::new();
        let mut visit = |message: Message| {
            let is_kind = match message.kind {
                LinkKind::Transfer => !request.flows,
                LinkKind::Message => !request.flows && !is_by_file,
                LinkKind::Flow => request.flows && !is_by_file,
            };
            if is_kind && (is_all || has(message.sender) || has(message.receiver)) {
                let file = is_by_file.then(|| events.file_of(&message).cloned()).flatten();
                let key = (file, place(message.sender), place(message.receiver), message.kind);
                rows.entry(key).or_default().add(&message);
            }
        };
        events.messages(window, &mut visit).map_err(EngineError::from)?;
        control.check().map_err(EngineError::from)?;
        if rows.is_empty() && notes.is_empty() {
            let what = if is_by_file { "file transfers" } else { "messages" };
            notes.push(format!("No {what} in this window."));
        }
        if x.metadata.components.is_empty() {
            notes.push(
                "There is one component; converting several together merges them into one archive."
                    .into(),
            );
        }
        let name = |(kind, number): (u8, u64)| match kind {
            0 => x.locations.application_label(number),
            1 => x.metadata.title.clone(),
            _ => "(not in the trace)".to_owned(),
        };
        let (keys, rows): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        let kind = |kind: LinkKind| match kind {
            LinkKind::Message => "message",
            LinkKind::Flow => "flow",
            LinkKind::Transfer => "transfer",
        };
        let mut table = sums(&rows, notes);
        table.sender = Some(keys.iter().map(|key| name(key.1)).collect());
        table.receiver = Some(keys.iter().map(|key| name(key.2)).collect());
        if is_by_file {
            let files = keys.iter().map(|key| key.0.as_deref().unwrap_or("(unnamed)").to_owned());
            table.file = Some(files.collect());
        } else {
            table.kind = Some(keys.iter().map(|key| kind(key.3)).collect());
        }
        Ok(table)
    }
}
