//! The profiles of several applications as the profile of one workflow, as TAU's tools make it.

use std::sync::Arc;

use parallax_base::{Control, Folder, Issues, Limits, Source};
use parallax_engine::EngineError;
use parallax_formats::FormatError;
use parallax_formats::json::{Number, Value};
use parallax_formats::tau::{
    ComponentProfiles, Profiles, Workflow, build_workflow, is_packed, read_folder, read_packed,
};
use parallax_import::ImportError;

use crate::workflow::{WorkflowRequest, distinct, known};
use crate::{Answer, ServiceError};

/// Where the profiles of a component are.
#[derive(Clone)]
pub enum ProfileInput {
    /// A folder of `profile.N.C.T`.
    Folder(Arc<dyn Folder>),
    /// A packed profile and its name.
    File(Source, String),
}

impl WorkflowRequest {
    /// The profile of a workflow from those of its components. Where no description is given, one
    /// with names and dependencies is made; `title` is what the workflow is called then.
    ///
    /// # Errors
    /// When profiles cannot be read, or something names no component.
    pub fn profile(
        &self,
        parts: &[(String, ProfileInput)],
        title: &str,
        limits: &Limits,
        control: &Control,
    ) -> Result<Answer<(Workflow, Issues)>, ServiceError> {
        let names: Vec<String> = parts.iter().map(|(name, _)| name.clone()).collect();
        distinct(&names)?;
        let description = self.description()?;
        let depends = self.depends(&description, &names)?;
        let mut notes = Vec::new();
        let mut value = match description.value {
            Some(value) => {
                let listed = value.get("Workflow Component").map_or(&[][..], Value::items);
                let listed: Vec<String> = listed
                    .iter()
                    .filter_map(|component| component.get("name")?.as_str().map(str::to_owned))
                    .collect();
                for name in names.iter().filter(|_| !listed.is_empty()) {
                    known(name, name, &listed)?;
                }
                for name in listed.iter().filter(|name| !names.contains(name)) {
                    notes.push(format!("The description has a component {name} without profiles."));
                }
                value
            }
            None => describe(title, &names),
        };
        set_graph(&mut value, &names, &depends);
        let mut issues = Issues::new();
        let mut read: Vec<(&str, Profiles)> = Vec::new();
        control.begin(parts.len() as u64);
        for (name, input) in parts {
            control
                .advance(1)
                .map_err(parallax_model::StoreError::from)
                .map_err(EngineError::from)?;
            let profiles = input.read(limits, &mut issues);
            let fail = |cause| ImportError::Format { origin: name.clone(), cause };
            read.push((name, profiles.map_err(fail)?));
        }
        if let Some((name, _)) = read.iter().find(|(_, profiles)| profiles.threads.is_empty()) {
            let found = "no profiles of TAU".to_owned();
            let hint = "name folders with profile.0.0.0, or packed profiles (.ppk)".to_owned();
            let origin = (*name).to_owned();
            return Err(ImportError::NotRecognised { origin, found, hint }.into());
        }
        let parts: Vec<ComponentProfiles<'_>> =
            read.iter().map(|(name, profiles)| ComponentProfiles { name, profiles }).collect();
        Ok(Answer { value: (build_workflow(&value, &parts), issues), notes })
    }
}

impl ProfileInput {
    fn read(&self, limits: &Limits, issues: &mut Issues) -> Result<Profiles, FormatError> {
        match self {
            Self::Folder(folder) => read_folder(&**folder, limits, issues),
            Self::File(source, name) if is_packed(&**source) => {
                read_packed(&**source, name, limits, issues)
            }
            Self::File(_, name) => Err(FormatError::NotThisFormat {
                file: name.clone(),
                expected: "a profile of TAU",
                found: "something else".into(),
            }),
        }
    }
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// A description with what is known without one, in the form of TAU's `workflow_in.json`.
fn describe(title: &str, names: &[String]) -> Value {
    let integer = |number: i64| Value::Number(Number::Integer(number));
    let components = (1_i64..).zip(names).map(|(id, name)| {
        object([
            ("id", integer(id)),
            ("name", text(name)),
            ("location-id", integer(1)),
            ("application-id", integer(id)),
            ("event-type", text("")),
            ("description", text("")),
        ])
    });
    let instance = object([
        ("id", integer(1)),
        ("name", text(title)),
        ("location-id", integer(1)),
        ("version", text("0.1")),
        ("event-type", text("")),
        ("description", text("")),
    ]);
    let metric = object([
        ("id", text("1")),
        ("location-id", integer(1)),
        ("measurement", text("Time")),
        ("units", text("microseconds")),
        ("datetime", text("")),
        ("description", text("")),
    ]);
    object([
        ("Workflow Instance", Value::Array(vec![instance])),
        ("Workflow Component", Value::Array(components.collect())),
        ("Metric", Value::Array(vec![metric])),
        ("Dependency Graph", Value::Object(Vec::new())),
    ])
}

/// Writes what each component needs; components that need nothing have an empty list.
fn set_graph(description: &mut Value, names: &[String], depends: &[(String, Vec<String>)]) {
    let Value::Object(entries) = description else { return };
    let graph = names.iter().map(|name| {
        let mut needed: Vec<Value> = Vec::new();
        for other in depends.iter().filter(|(own, _)| own == name).flat_map(|(_, list)| list) {
            if !needed.iter().any(|known| known.as_str() == Some(other)) {
                needed.push(text(other));
            }
        }
        (name.clone(), Value::Array(needed))
    });
    let graph = Value::Object(graph.collect());
    match entries.iter_mut().find(|(key, _)| key == "Dependency Graph") {
        Some((_, value)) => *value = graph,
        None => entries.push(("Dependency Graph".to_owned(), graph)),
    }
}
