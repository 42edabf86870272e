//! Opening what a person names: files of measurements, databases, and folders of either.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use parallax_base::{ByteSource, Folder, ReadError, Source};
use parallax_native::DiskFolder;
use parallax_service::scaling::{
    Ensemble, EnsembleOptions, ParameterRule, ParameterTable, ScalingContent, ScalingSource,
    holds_measurements, open_ensemble,
};
use parallax_service::{
    Answer, Control, OpenLimits, discover, holds_experiment, is_experiment_file,
};

use super::args::EnsembleArgs;

/// A file that is read piece by piece. Files of measurements are read once from front to back, so
/// mapping them would only make their bytes count as memory of this program.
struct StreamedFile {
    file: Mutex<File>,
    len: u64,
}

impl StreamedFile {
    fn open(path: &Path) -> std::io::Result<Self> {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        Ok(Self { file: Mutex::new(file), len })
    }
}

impl ByteSource for StreamedFile {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut read = || {
            file.seek(SeekFrom::Start(offset))?;
            file.read_exact(buffer)
        };
        read().map_err(|error| ReadError::Storage { offset, cause: error.to_string() })
    }
}

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
