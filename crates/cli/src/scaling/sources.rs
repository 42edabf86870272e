//! Opening what the user names: files of measurements, databases, and folders of either.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use parallax_base::Source;
use parallax_places::{Located, Reading, archive_of, around, locate};
use parallax_service::scaling::{
    Ensemble, EnsembleOptions, ParameterTable, ScalingContent, ScalingSource, open_ensemble,
};
use parallax_service::{Answer, Control, DataContent, DataSet, Reason, discover};

use super::args::EnsembleArgs;
use crate::open::data_at;

/// Files that are not used, of which a note says why, at most.
const MOST_TOLD: usize = 5;

/// Opens `paths` as one ensemble.
pub(crate) fn ensemble(
    paths: &[PathBuf],
    args: &EnsembleArgs,
    control: &Control,
) -> anyhow::Result<Answer<Ensemble>> {
    let (mut sources, mut notes) = (Vec::new(), Vec::new());
    for path in paths {
        sources.append(&mut sources_at(path, control, &mut notes)?);
    }
    let table = match &args.params {
        None => None,
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            Some(ParameterTable::parse(&text, &path.display().to_string())?)
        }
    };
    let options = EnsembleOptions { table, ..EnsembleOptions::of(&args.choice())? };
    let mut made = open_ensemble(&sources, &options, control)?;
    notes.append(&mut made.notes);
    Ok(Answer { value: made.value, notes })
}

/// Whether `path` is measurements of several runs: a file of them, or a folder that is no single
/// experiment.
pub(crate) fn is_ensemble(path: &Path) -> bool {
    match locate(path, Reading::Mapped) {
        Ok(Located::Folder(_)) => data_at(path).is_err(),
        Ok(Located::File(..)) => data_at(path).is_ok_and(|data| !data.is_experiment()),
        Err(_) => false,
    }
}

/// The file at `path`.
pub(crate) fn file(path: &Path) -> anyhow::Result<Source> {
    let failed = || format!("cannot open {}", path.display());
    let (folder, name) = around(path, Reading::Streamed).with_context(failed)?;
    let file = folder.open(&name).with_context(failed)?;
    file.with_context(|| format!("{}: no such file", failed()))
}

/// What is at `path`: a file or an experiment, or the experiments of a folder, or else its files of
/// measurements.
fn sources_at(
    path: &Path,
    control: &Control,
    notes: &mut Vec<String>,
) -> anyhow::Result<Vec<ScalingSource>> {
    let located = locate(path, Reading::Mapped);
    let Located::Folder(folder) =
        located.with_context(|| format!("cannot open {}", path.display()))?
    else {
        return Ok(vec![source(&data_at(path)?, control)?]);
    };
    if let Ok(only) = data_at(path) {
        return Ok(vec![source(&only, control)?]);
    }
    let found = discover(&folder).with_context(|| format!("cannot list {}", path.display()))?;
    if found.data.is_empty() {
        return Err(found.nothing(&path.display().to_string()).into());
    }
    let not_used = found.not_used.iter().filter(|file| file.reason != Reason::Unknown);
    let told =
        not_used.clone().map(|file| format!("{} {}", path.join(&file.path).display(), file.reason));
    notes.extend(told.take(MOST_TOLD));
    let more = not_used.count().saturating_sub(MOST_TOLD);
    notes.extend((more > 0).then(|| format!("{more} more files are ignored")));
    notes.extend(found.notes());
    let is_trace = |data: &DataSet| matches!(data.content, DataContent::Trace(_));
    let has_other = found.experiments().any(|data| !is_trace(data));
    let has_experiment = found.experiments().next().is_some();
    let mut sources = Vec::new();
    for data in &found.data {
        // Profiles are read rather than traces of the same runs.
        if data.is_experiment() == has_experiment && !(has_other && is_trace(data)) {
            let name = match &data.content {
                DataContent::Folder { place, .. } if place.is_empty() => data.name.clone(),
                _ => path.join(&data.name).display().to_string(),
            };
            sources.push(source(&DataSet { name, ..data.clone() }, control)?);
        }
    }
    Ok(sources)
}

/// Data under the path that the user can type, as a source.
fn source(data: &DataSet, control: &Control) -> anyhow::Result<ScalingSource> {
    let name = data.name.clone();
    let content = match &data.content {
        DataContent::Folder { folder, .. } => ScalingContent::Folder(Arc::clone(folder)),
        DataContent::Trace(_) => {
            // Its paths are relative to the folder of its file.
            let data = data_at(Path::new(&name))?;
            let DataContent::Trace(input) = &data.content else {
                anyhow::bail!("{name} is no longer a trace")
            };
            ScalingContent::Folder(archive_of(input, &name, control)?)
        }
        // Measurements are read once, from front to back.
        DataContent::File(_) if !data.is_experiment() => {
            ScalingContent::File(file(Path::new(&name))?)
        }
        DataContent::File(file) => ScalingContent::File(Arc::clone(file)),
    };
    Ok(ScalingSource { name, content })
}
