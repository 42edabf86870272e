//! Traces that must be converted before questions can be asked: small ones in memory, others once,
//! into the cache.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use anyhow::Context as _;
use parallax_base::{Folder, Issues, MemorySink};
use parallax_native::{DiskFolder, DiskSink, discard, remove_abandoned};
use parallax_service::{
    ARCHIVE_VERSION, Alignment, Control, ConvertOptions, DataContent, FORMATS, OpenLimits, Reader,
    TraceInput, WorkflowRequest, convert as convert_trace, convert_workflow, open,
};

use crate::open::data_at;
use crate::room::{self, Needed};

/// Files up to this size are converted in memory each time: that is faster than it can be noticed.
const SMALL_BYTES: u64 = 8 << 20;

/// As [`SMALL_BYTES`], for compressed files: they may be a thousand times as long as they look.
const SMALL_COMPRESSED_BYTES: u64 = 256 << 10;

/// Up to which size a file is small.
fn small_bytes(file: &Path) -> u64 {
    use std::io::Read as _;
    let mut magic = [0; 4];
    let read = std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut magic));
    let is_compressed = matches!(magic, [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd]);
    if read.is_ok() && is_compressed { SMALL_COMPRESSED_BYTES } else { SMALL_BYTES }
}

/// The trace that a person means by `path`, and its file.
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

/// A trace in one file that is read once from front to back need not stay in memory.
fn streamed(input: &TraceInput, file: &Path) -> TraceInput {
    if !input.is_stream() {
        return input.clone();
    }
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = DiskFolder::streamed(parent.unwrap_or(Path::new(".")));
    input.clone().within(Arc::new(folder))
}

/// The trace in a file called `name` as an archive: in memory, or in the cache.
pub(crate) fn archive_of(
    input: &TraceInput,
    name: &str,
    control: &Control,
) -> anyhow::Result<Arc<dyn Folder>> {
    let file = PathBuf::from(name);
    let input = streamed(input, &file);
    let title = title(&file);
    let (options, limits) = (ConvertOptions::default(), OpenLimits::default());
    let cached = cache_folder().map(|cache| cache.join(cache_name(&file, &input)));
    let size = std::fs::metadata(&file).map_or(0, |metadata| metadata.len());
    // An anchor is small whatever the trace is.
    let is_small = size <= small_bytes(&file) && !input.is_anchor();
    if let Some(archive) = cached.filter(|_| !is_small) {
        archive.parent().map(remove_abandoned);
        let kept: Arc<dyn Folder> = Arc::new(DiskFolder::new(&archive));
        // What another version of this program left, or somebody damaged, is made anew.
        if open(&kept, &limits).is_ok() {
            return Ok(kept);
        }
        if into_cache(&input, &title, &archive, &options, control)? {
            return Ok(kept);
        }
    }
    let sink = MemorySink::new();
    convert_trace(&input, &title, Arc::new(sink.clone()), &options, control)?;
    Ok(Arc::new(sink.into_folder(file.display().to_string())))
}

/// Converts into the cache; `false` where nothing can be written there.
fn into_cache(
    input: &TraceInput,
    title: &str,
    archive: &Path,
    options: &ConvertOptions,
    control: &Control,
) -> anyhow::Result<bool> {
    let parent = archive.parent().unwrap_or(Path::new("."));
    let is_ready =
        std::fs::create_dir_all(parent).is_ok() && (!archive.exists() || discard(archive).is_ok());
    let Some(sink) = is_ready.then(|| DiskSink::new(archive).ok()).flatten() else {
        return Ok(false);
    };
    let sink = Arc::new(sink);
    if let Err(error) = convert_trace(input, title, Arc::clone(&sink) as _, options, control) {
        let remedy = "free space there, or set PARALLAX_CACHE to a folder on another disk";
        let what = format!("cannot keep the archive of {title} in the cache {}", parent.display());
        return Err(explained(error.into(), sink, archive, &what, remedy));
    }
    // Another process may have been faster; what it made is the same.
    if let Err(error) = sink.publish()
        && !archive.is_dir()
    {
        return Err(error).with_context(|| format!("cannot write {}", archive.display()));
    }
    Ok(true)
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
        let names: Vec<String> = files.iter().map(|file| self::title(file)).collect();
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
            let remedy = "free space there or name an archive on another disk";
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
    if !room::comes_from_full(&error) {
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
        let name = title(file);
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

fn title(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Where archives of opened traces are kept: PARALLAX_CACHE, or the user's cache folder.
fn cache_folder() -> Option<PathBuf> {
    let own = std::env::var_os("PARALLAX_CACHE").map(PathBuf::from);
    let users =
        || std::env::var_os("XDG_CACHE_HOME").map(|folder| PathBuf::from(folder).join("parallax"));
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/parallax"));
    own.or_else(users).or_else(home)
}

/// Names the archive by what it is made of: a trace of which any file changes gets another one.
fn cache_name(file: &Path, input: &TraceInput) -> String {
    let mut hasher = DefaultHasher::new();
    // Older archives can be read, but say less.
    ARCHIVE_VERSION.hash(&mut hasher);
    let place = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    place.hash(&mut hasher);
    let folder = place.parent().unwrap_or(Path::new("."));
    let mut parts: Vec<PathBuf> =
        input.files().unwrap_or_default().iter().map(|path| folder.join(path)).collect();
    if parts.is_empty() {
        parts.push(place.clone());
    }
    for part in parts {
        part.hash(&mut hasher);
        let Ok(metadata) = std::fs::metadata(&part) else { continue };
        metadata.len().hash(&mut hasher);
        let modified = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        modified.map(|at| at.as_nanos()).hash(&mut hasher);
    }
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    format!("{name}-{:016x}.parallax", hasher.finish())
}
