//! Opening what a person names: files of measurements, databases, and folders of either.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use parallax_base::{Folder, Source};
use parallax_native::{DiskFolder, StreamedFile};
use parallax_service::scaling::{
    Ensemble, EnsembleOptions, ParameterRule, ParameterTable, ScalingContent, ScalingSource,
    holds_measurements, open_ensemble,
};
use parallax_service::{
    Answer, Control, OpenLimits, discover, holds_experiment, is_experiment_file,
};

use super::args::EnsembleArgs;

/// Opens `paths` as one ensemble.
pub(crate) fn ensemble(
    paths: &[PathBuf],
    args: &EnsembleArgs,
    control: &Control,
) -> anyhow::Result<Answer<Ensemble>> {
    let mut sources = Vec::new();
    for path in paths {
        sources.append(&mut sources_at(path)?);
    }
    let parameters =
        args.param.iter().map(|text| ParameterRule::parse(text)).collect::<Result<_, _>>()?;
    let table = match &args.params {
        None => None,
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            Some(ParameterTable::parse(&text, &path.display().to_string())?)
        }
    };
    let options = EnsembleOptions {
        parameters,
        table,
        contexts: args.contexts(),
        region_time: args.region_time.policy(),
        limits: OpenLimits::default(),
    };
    Ok(open_ensemble(&sources, &options, control)?)
}

/// Whether `path` is measurements of several runs: a file of them, or a folder that is no
/// experiment itself.
pub(crate) fn is_ensemble(path: &Path) -> bool {
    if path.is_dir() {
        return !is_database(path) && !crate::traces::is_trace(path);
    }
    let Ok(file) = file(path) else { return false };
    !is_experiment_file(&file)
        && !crate::traces::is_trace(path)
        && holds_measurements(&*file, &path.display().to_string())
}

/// The file at `path`.
pub(crate) fn file(path: &Path) -> anyhow::Result<Source> {
    let file =
        StreamedFile::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    Ok(Arc::new(file))
}

fn sources_at(path: &Path) -> anyhow::Result<Vec<ScalingSource>> {
    let metadata =
        std::fs::metadata(path).with_context(|| format!("cannot open {}", path.display()))?;
    if !metadata.is_dir() {
        let file = file(path)?;
        if is_experiment_file(&file) {
            return Ok(vec![measurements(path, file)]);
        }
        if !holds_measurements(&*file, &path.display().to_string())
            && let Some(folder) = path.parent().filter(|folder| is_database(folder))
        {
            return Ok(vec![database(folder)]);
        }
        return Ok(vec![measurements(path, file)]);
    }
    if is_database(path) {
        return Ok(vec![database(path)]);
    }
    // A folder of databases, or of files of measurements.
    let mut inside: Vec<PathBuf> = std::fs::read_dir(path)
        .with_context(|| format!("cannot look into {}", path.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    inside.sort();
    let databases: Vec<ScalingSource> =
        inside.iter().filter(|inner| is_database(inner)).map(|inner| database(inner)).collect();
    if !databases.is_empty() {
        return Ok(databases);
    }
    let mut files = Vec::new();
    for inner in inside.iter().filter(|inner| inner.is_file()) {
        let file = file(inner)?;
        if is_experiment_file(&file) || holds_measurements(&*file, &inner.display().to_string()) {
            files.push(measurements(inner, file));
        }
    }
    if files.is_empty() {
        // Writers of several runs often put the profiles of each into a folder of its own.
        let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(path));
        let below = discover(&folder).map(|found| found.databases).unwrap_or_default();
        files = below
            .into_iter()
            .map(|source| ScalingSource {
                name: path.join(&source.name).display().to_string(),
                ..source
            })
            .collect();
    }
    if files.is_empty() {
        // Opening it as a database says best what is missing.
        return Ok(vec![database(path)]);
    }
    Ok(files)
}

/// Whether a folder has the file that every database has, or profiles.
fn is_database(path: &Path) -> bool {
    path.join("meta.db").is_file() || path.is_dir() && holds_experiment(&DiskFolder::new(path))
}

fn measurements(path: &Path, file: Source) -> ScalingSource {
    ScalingSource { name: path.display().to_string(), content: ScalingContent::File(file) }
}

fn database(path: &Path) -> ScalingSource {
    let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(path));
    ScalingSource { name: path.display().to_string(), content: ScalingContent::Folder(folder) }
}
