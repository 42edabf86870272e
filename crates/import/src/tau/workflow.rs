//! The profile of a workflow as groups of profiles, one for each component.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parallax_formats::json::Value;
use parallax_formats::tau::{
    Component, EventRow, Facts, Profiles, Thread, ThreadId, Timer, TimerRow, Workflow,
};
use parallax_model::Metadata;

use super::Group;

/// What is known of a workflow: its name, its components and what they add up.
pub(super) fn metadata(workflow: &Workflow, origin: &str) -> Metadata {
    let first = |list: &str| workflow.metadata.get(list).and_then(|list| list.items().first());
    let instance = first("Workflow Instance");
    let text = |value: Option<&Value>, field: &str| {
        value.and_then(|value| value.get(field)).and_then(Value::as_str).map(str::to_owned)
    };
    let base = origin.rsplit('/').next().unwrap_or(origin);
    let mut facts = Facts::new();
    for (field, name) in [("description", "Description"), ("Local-Time", "Local Time")] {
        facts.extend(text(instance, field).map(|value| (name.to_owned(), value)));
    }
    let place = text(first("Location"), "type");
    facts.extend(place.map(|value| ("Location".to_owned(), value)));
    for component in &workflow.components {
        for (name, value) in &component.aggregates {
            if let Some(value) = value.as_f64() {
                facts.push((format!("{} {name}", component.name), value.to_string()));
            }
        }
    }
    Metadata {
        title: text(instance, "name").unwrap_or_else(|| base.to_owned()),
        format: "TAU workflow profile".to_owned(),
        origin: origin.to_owned(),
        facts,
        components: components(workflow),
        ..Metadata::default()
    }
}

/// The components: when each ran, and what it needs. Their ranks follow each other.
fn components(workflow: &Workflow) -> Vec<parallax_model::Component> {
    let listed = workflow.metadata.get("Workflow Component").map_or(&[][..], Value::items);
    let mut first_rank = 0;
    let mut out = Vec::new();
    for (application, component) in (0..).zip(&workflow.components) {
        let is_own = |value: &&Value| {
            value.get("name").and_then(Value::as_str) == Some(component.name.as_str())
        };
        let described = listed.iter().find(is_own);
        // Later versions of the tool say it next to the profiles.
        let aggregate = |field: &str| {
            component.aggregates.iter().find(|(name, _)| name == field).map(|(_, value)| value)
        };
        let nanos = |field: &str| {
            let value =
                described.and_then(|value| value.get(field)).or_else(|| aggregate(field))?;
            let micros = match value {
                Value::String(text) => text.parse::<u64>().ok()?,
                Value::Number(number) => number.as_u64()?,
                _ => return None,
            };
            micros.checked_mul(1000)
        };
        let needed = workflow.dependencies(&component.name);
        out.push(parallax_model::Component {
            application,
            name: component.name.as_str().into(),
            depends_on: needed.into_iter().map(Arc::from).collect(),
            first_rank,
            shift_nanos: 0,
            span: nanos("start-timestamp").zip(nanos("end-timestamp")),
            inputs: named_files(workflow, "Workflow Component-input", described),
            outputs: named_files(workflow, "Workflow Component-output", described),
        });
        let timers = component.timers.iter().map(|timer| u64::from(timer.process));
        let counters = component.counters.iter().map(|counter| u64::from(counter.process));
        first_rank += timers.chain(counters).max().map_or(0, |last| last + 1);
    }
    out
}

/// Names of what a component reads or writes, as the description lists it by the component's id.
fn named_files(workflow: &Workflow, list: &str, described: Option<&Value>) -> Vec<Arc<str>> {
    let Some(id) = described.and_then(|value| value.get("id")) else { return Vec::new() };
    let listed = workflow.metadata.get(list).map_or(&[][..], Value::items);
    let own = listed.iter().filter(|file| file.get("component-id") == Some(id));
    own.filter_map(|file| file.get("name").and_then(Value::as_str)).map(Arc::from).collect()
}

/// The thread that a key such as `Rank 0, Thread 0` means.
fn thread_of_key(key: &str) -> Option<(u32, u32)> {
    let (rank, thread) = key.split_once(',')?;
    let rank = rank.trim().strip_prefix("Rank")?.trim().parse().ok()?;
    Some((rank, thread.trim().strip_prefix("Thread")?.trim().parse().ok()?))
}

/// Each component as the profiles it was made of.
pub(super) fn groups(workflow: Workflow) -> Vec<Group> {
    let group = |component: Component| Group {
        component: Some(component.name.clone()),
        profiles: profiles(component),
    };
    workflow.components.into_iter().map(group).collect()
}

fn profiles(component: Component) -> Profiles {
    let mut out = Profiles { metrics: vec!["TIME".into()], ..Profiles::default() };
    let mut threads: BTreeMap<ThreadId, Thread> = BTreeMap::new();
    let mut timers: HashMap<Arc<str>, u32> = HashMap::new();
    let mut events: HashMap<Arc<str>, u32> = HashMap::new();
    let row = |rows: &mut HashMap<Arc<str>, u32>, name: &str| {
        let next = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        *rows.entry(name.trim().into()).or_insert(next)
    };
    let id = |node, thread| ThreadId { node, context: 0, thread };
    for found in component.timers {
        let id = id(found.process, found.thread);
        let thread = threads.entry(id).or_insert_with(|| Thread::new(id));
        let timer = row(&mut timers, &found.function);
        let (calls, subroutines) = (found.calls, found.subroutines);
        thread.timers.push(TimerRow { timer, calls, subroutines });
        thread.values.extend([found.exclusive, found.inclusive]);
    }
    for found in component.counters {
        let id = id(found.process, found.thread);
        let thread = threads.entry(id).or_insert_with(|| Thread::new(id));
        let event = row(&mut events, &found.counter);
        thread.events.push(EventRow {
            event,
            count: found.count,
            max: found.max,
            min: found.min,
            mean: found.mean,
            sum_of_squares: found.sum_of_squares,
        });
    }
    // Facts of threads without any timer or event are about nothing that is shown.
    for (key, facts) in component.metadata {
        let id = thread_of_key(&key).map(|(node, thread)| id(node, thread));
        if let Some(thread) = id.and_then(|id| threads.get_mut(&id)) {
            thread.metadata = facts;
        }
    }
    let in_order = |rows: HashMap<Arc<str>, u32>| {
        let mut names: Vec<(u32, Arc<str>)> =
            rows.into_iter().map(|(name, row)| (row, name)).collect();
        names.sort_unstable();
        names.into_iter().map(|(_, name)| name)
    };
    out.timers = in_order(timers).map(|name| Timer { name, groups: Vec::new() }).collect();
    out.events = in_order(events).collect();
    out.threads = threads.into_values().collect();
    out
}
