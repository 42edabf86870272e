//! Traces that are converted into archives which the user named.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use parallax_base::Issues;
use parallax_native::DiskSink;
use parallax_places::streamed;
use parallax_service::{
    Alignment, Control, ConvertOptions, DataContent, FORMATS, Reader, TraceInput, WorkflowRequest,
    convert as convert_trace, convert_workflow,
};

use crate::open::data_at;
use crate::room::{self, Needed};

/// The trace that the user means by `path`, and its file.
fn trace_at(path: &Path) -> anyhow::Result<(TraceInput, PathBuf)> {
    let data = data_at(path)?;
    match data.content {
        DataContent::Trace(input) => Ok((input, PathBuf::from(data.name))),
        _ => anyhow::bail!(
            "{} is {}, not a trace that can be converted: {}",
            path.display(),
            data.format.name,
            trace_formats()
        ),
    }
}

/// The formats of traces that are converted.
fn trace_formats() -> String {
    let traces = FORMATS.iter().filter(|format| matches!(format.reader, Reader::Trace(_)));
    traces.map(|format| format.name).collect::<Vec<_>>().join(", ")
}

/// A trace that a person named.
#[derive(Debug, Clone)]
pub(crate) struct NamedPath {
    /// The name of its component; `None` for that of the file.
    pub(crate) name: Option<String>,
    /// Where it is.
    pub(crate) path: PathBuf,
}

/// Converts the traces at `inputs` into a new archive at `output`.
pub(crate) fn convert(
    inputs: &[NamedPath],
    request: &WorkflowRequest,
    alignment: Alignment,
    output: &Path,
    memory_bytes: usize,
    control: &Control,
) -> anyhow::Result<Issues> {
    parallax_places::check_output(output)?;
    let mut traces = Vec::new();
    let mut files = Vec::new();
    for input in inputs {
        let (trace, file) = trace_at(&input.path)?;
        let trace = streamed(&trace, &file);
        traces.push(trace);
        files.push(file);
    }
    let names = component_names(inputs, &files);
    let (inputs, title) = request.inputs(names.into_iter().zip(traces).collect())?;
    let title = title.unwrap_or_else(|| {
        let names: Vec<String> = files.iter().map(|file| parallax_places::title(file)).collect();
        names.join(" + ")
    });
    let options = ConvertOptions { memory_bytes, ..ConvertOptions::default() };
    let failed = || format!("cannot write {}", output.display());
    let sink = Arc::new(DiskSink::new(output).with_context(failed)?);
    let folder = Arc::clone(&sink) as _;
    let issues = match inputs.as_slice() {
        // A plain trace says itself which applications it has.
        [only] if only.components.iter().all(|plan| plan.ranks.is_none()) => {
            convert_trace(&only.trace, &title, folder, &options, control)
        }
        several => convert_workflow(several, &title, alignment, folder, &options, control),
    };
    match issues {
        Ok(issues) => {
            sink.publish().with_context(failed)?;
            Ok(issues)
        }
        Err(error) => {
            let remedy = "free space there, or specify an archive on another disk";
            Err(explained(error.into(), sink, output, &failed(), remedy))
        }
    }
}

/// Why a conversion failed; where a disk is full, `what` could not be done, how much room it takes,
/// and the remedy. What was written until then is gone.
fn explained(
    error: anyhow::Error,
    sink: Arc<DiskSink>,
    target: &Path,
    what: &str,
    remedy: &str,
) -> anyhow::Error {
    if !room::comes_from_full(error.as_ref()) {
        return error;
    }
    let needed = Needed::foreseen(sink.written_bytes());
    drop(sink);
    anyhow::anyhow!("{what}: {}", room::explain(target, needed, remedy))
}

/// What components are called: as it was said, else by their file; files of one name, and those
/// whose name every tool gives, by their folder.
fn component_names(inputs: &[NamedPath], files: &[PathBuf]) -> Vec<String> {
    const USUAL: [&str; 5] = ["traces", "tau", "trace", "events", "timeline"];
    let stem = |file: &Path| {
        let name = parallax_places::title(file);
        name.split('.').next().unwrap_or(&name).to_owned()
    };
    let stems: Vec<String> = files.iter().map(|file| stem(file)).collect();
    let of_folder = |file: &Path| {
        let place = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        Some(place.parent()?.file_name()?.to_string_lossy().into_owned())
    };
    let named = inputs.iter().zip(files).zip(&stems);
    let names = named.map(|((input, file), own)| {
        if let Some(name) = &input.name {
            return name.clone();
        }
        let is_usual =
            USUAL.contains(&own.as_str()) || stems.iter().filter(|other| *other == own).count() > 1;
        is_usual.then(|| of_folder(file)).flatten().unwrap_or_else(|| own.clone())
    });
    names.collect()
}
