//! Opening databases and asking them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array as _, ArrayRef};
use arrow_schema::DataType;
use parallax_base::{Control, Folder, Limits};
use parallax_native::{DiskFolder, MappedFile};
use parallax_protocol::Table;
use parallax_service::scaling::{EnsembleOptions, ScalingContent, ScalingSource, open_ensemble};
use parallax_service::{DataContent, OpenExperiment, experiment_at, open, open_data};
use parallax_sql::{SqlError, SqlLimits, SqlSession, SqlSource};

/// A database that lies in the repository.
pub(crate) fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(path)
}

/// Opens a database; a trace is converted into memory.
pub(crate) fn opened(path: &Path) -> Arc<OpenExperiment> {
    let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(path));
    let data = experiment_at(&folder).unwrap();
    let opened = match &data.content {
        DataContent::Trace(input) => {
            let sink = parallax_base::MemorySink::new();
            let options = parallax_service::ConvertOptions::default();
            let written = Arc::new(sink.clone());
            parallax_service::convert(input, "trace", written, &options, &Control::new()).unwrap();
            let archive: Arc<dyn Folder> = Arc::new(sink.into_folder("archive"));
            open(&archive, &Limits::default()).unwrap()
        }
        _ => open_data(&data, &Limits::default()).unwrap(),
    };
    Arc::new(opened)
}

/// Opens a file of measurements, or several databases, as one ensemble.
pub(crate) fn ensemble(paths: &[PathBuf]) -> SqlSource {
    let source = |path: &PathBuf| ScalingSource {
        name: path.display().to_string(),
        content: match path.is_dir() {
            true => ScalingContent::Folder(Arc::new(DiskFolder::new(path))),
            false => ScalingContent::File(Arc::new(MappedFile::open(path).unwrap())),
        },
    };
    let sources: Vec<ScalingSource> = paths.iter().map(source).collect();
    let options = EnsembleOptions::default();
    Arc::new(open_ensemble(&sources, &options, &Control::new()).unwrap().value).into()
}

/// Opens a database, or a file of measurements.
pub(crate) fn source(path: &Path) -> SqlSource {
    if path.extension().is_some_and(|extension| extension == "json") {
        return ensemble(&[path.to_owned()]);
    }
    opened(path).into()
}

/// A session without limits.
pub(crate) fn session(source: &(impl Clone + Into<SqlSource>)) -> SqlSession {
    SqlSession::new(source.clone(), SqlLimits::default()).unwrap()
}

/// What a statement gives; it must not fail.
pub(crate) fn ask(source: &(impl Clone + Into<SqlSource>), statement: &str) -> Table {
    match try_ask(source, statement) {
        Ok(table) => table,
        Err(error) => panic!("{error}\n{statement}"),
    }
}

pub(crate) fn try_ask(
    source: &(impl Clone + Into<SqlSource>),
    statement: &str,
) -> Result<Table, SqlError> {
    session(source).query(statement, &Control::new())
}

/// The rows of a table, each value as text; absent ones are `null`.
pub(crate) fn rows(table: &Table) -> Vec<Vec<String>> {
    let texts: Vec<Vec<String>> =
        table.columns.iter().map(|column| texts(&column.values)).collect();
    (0..table.num_rows()).map(|row| texts.iter().map(|of| of[row].clone()).collect()).collect()
}

fn texts(array: &ArrayRef) -> Vec<String> {
    fn all<T: ToString>(values: impl Iterator<Item = Option<T>>) -> Vec<String> {
        values.map(|value| value.map_or_else(|| "null".to_owned(), |v| v.to_string())).collect()
    }
    match array.data_type() {
        DataType::Boolean => all(array.as_boolean().iter()),
        DataType::UInt16 => all(array.as_primitive::<UInt16Type>().iter()),
        DataType::UInt32 => all(array.as_primitive::<UInt32Type>().iter()),
        DataType::UInt64 => all(array.as_primitive::<UInt64Type>().iter()),
        DataType::Int64 => all(array.as_primitive::<Int64Type>().iter()),
        // With all digits, so that equal texts are equal numbers.
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>().iter();
            all(values.map(|value| value.map(|value| format!("{value:?}"))))
        }
        DataType::Utf8 => all(array.as_string::<i32>().iter()),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_dictionary::<Int32Type>();
            let known = texts(dictionary.values());
            all(dictionary
                .keys()
                .iter()
                .map(|key| Some(known[usize::try_from(key?).ok()?].clone())))
        }
        other => panic!("answers do not carry {other}"),
    }
}
