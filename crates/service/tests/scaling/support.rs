//! Opening files and databases as the command line does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parallax_base::{MemorySource, Source};
use parallax_native::{DiskFolder, MappedFile};
use parallax_service::Control;
use parallax_service::scaling::{
    Ensemble, EnsembleOptions, ParameterRule, ScalingContent, ScalingError, ScalingSource,
    open_ensemble,
};

/// The corpus; without it the test is skipped.
pub(crate) fn corpus() -> Option<PathBuf> {
    parallax_testkit::needs::corpus()
}

pub(crate) fn file(path: &Path) -> ScalingSource {
    let source: Source = Arc::new(MappedFile::open(path).unwrap());
    ScalingSource { name: path.display().to_string(), content: ScalingContent::File(source) }
}

pub(crate) fn text(name: &str, text: &str) -> ScalingSource {
    let source: Source = Arc::new(MemorySource::new(text.as_bytes().to_vec()));
    ScalingSource { name: name.to_owned(), content: ScalingContent::File(source) }
}

pub(crate) fn database(path: &Path) -> ScalingSource {
    let folder = Arc::new(DiskFolder::new(path));
    ScalingSource { name: path.display().to_string(), content: ScalingContent::Folder(folder) }
}

pub(crate) fn rules(texts: &[&str]) -> EnsembleOptions {
    let parameters = texts.iter().map(|text| ParameterRule::parse(text).unwrap()).collect();
    EnsembleOptions { parameters, ..EnsembleOptions::default() }
}

pub(crate) fn open(
    sources: &[ScalingSource],
    options: &EnsembleOptions,
) -> Result<(Ensemble, Vec<String>), ScalingError> {
    let answer = open_ensemble(sources, options, &Control::new())?;
    Ok((answer.value, answer.notes))
}
