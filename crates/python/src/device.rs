//! [`DeviceTable`]: columns of a table that stay on a device from one operation to the next.

#[cfg(feature = "gpu")]
use std::sync::Arc;

use parallax_base::threads;
use parallax_columns::{ColumnTable, DeviceChoice, Host, HostValues, Memory, TableError};
#[cfg(feature = "gpu")]
use parallax_gpu::{DeviceMemory, GpuError};
use parallax_protocol::{Column, ErrorReply};
use pyo3::prelude::*;

use crate::device_columns::{About, Refused, groups_table, host_column, nothing, placed};
#[cfg(feature = "gpu")]
use crate::gpus;
use crate::process;
use crate::table::Table;
use crate::wait::failure;

/// How a device is asked for, its name, kind, programming interface and driver.
type DeviceText = [String; 5];

/// The devices that tables can be on: the processor first.
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> PyResult<Vec<DeviceText>> {
    process::check().map_err(|error| failure(py, &error))?;
    let count = threads::count();
    let count = format!("{count} {}", if count == 1 { "thread" } else { "threads" });
    let processor = ["cpu".to_owned(), count, "processor".to_owned(), String::new(), String::new()];
    let gpus = py.detach(gpus);
    Ok(std::iter::once(processor).chain(gpus).collect())
}

#[cfg(feature = "gpu")]
fn gpus() -> Vec<DeviceText> {
    let all = parallax_gpu::devices().into_iter().map(|found| {
        let parallax_gpu::DeviceInfo { number, name, kind, interface, driver } = found;
        [format!("gpu:{number}"), name, kind.name().to_owned(), interface, driver]
    });
    all.collect()
}

#[cfg(not(feature = "gpu"))]
fn gpus() -> Vec<DeviceText> {
    Vec::new()
}

/// Columns on a device. Operations run there and give tables there; only groups, counts and what is
/// asked for come back.
#[pyclass(frozen, module = "parallax._native")]
pub(crate) struct DeviceTable {
    place: Place,
    /// As it is asked for: `cpu` or `gpu:N`.
    device: String,
    /// Why it is there.
    reason: String,
}

enum Place {
    Host(ColumnTable<Host, About>),
    #[cfg(feature = "gpu")]
    Gpu(ColumnTable<DeviceMemory, About>),
}

/// The same with the table of either place.
macro_rules! at {
    ($place:expr, $table:ident => $value:expr) => {
        match $place {
            Place::Host($table) => $value,
            #[cfg(feature = "gpu")]
            Place::Gpu($table) => $value,
        }
    };
}

/// The same, where the value is another table there.
macro_rules! there {
    ($self:expr, $py:expr, $table:ident => $value:expr) => {
        match &$self.place {
            Place::Host($table) => $self.with($py, move || Ok(Place::Host($value?))),
            #[cfg(feature = "gpu")]
            Place::Gpu($table) => $self.with($py, move || Ok(Place::Gpu($value?))),
        }
    };
}

/// Why an operation has no result.
struct Failed {
    reply: ErrorReply,
    /// Its GPU does nothing any more.
    #[cfg(feature = "gpu")]
    is_lost: bool,
}

impl From<TableError<parallax_columns::TooManyPairs>> for Failed {
    fn from(error: TableError<parallax_columns::TooManyPairs>) -> Self {
        ErrorReply::new("misuse", error.to_string()).into()
    }
}

#[cfg(feature = "gpu")]
impl From<TableError<GpuError>> for Failed {
    fn from(error: TableError<GpuError>) -> Self {
        let TableError::Memory(error) = error else {
            return ErrorReply::new("misuse", error.to_string()).into();
        };
        let reply = match &error {
            GpuError::TooManyPairs => ErrorReply::new("misuse", error.to_string()),
            error if error.is_full() => ErrorReply::new("device", error.to_string())
                .with_hint("use fewer columns or rows, or the device cpu"),
            _ => ErrorReply::new("device", error.to_string()).with_hint("use the device cpu"),
        };
        Self { reply, is_lost: matches!(error, GpuError::Failed(_)) }
    }
}

impl From<ErrorReply> for Failed {
    fn from(reply: ErrorReply) -> Self {
        Self {
            reply,
            #[cfg(feature = "gpu")]
            is_lost: false,
        }
    }
}

#[pymethods]
impl DeviceTable {
    /// The columns of a table on a device; all that can be there, or those that are named. Also which
    /// columns cannot be there, each with the reason.
    #[staticmethod]
    #[pyo3(signature = (table, device, columns=None))]
    fn of(
        py: Python<'_>,
        table: &Table,
        device: &str,
        columns: Option<Vec<String>>,
    ) -> PyResult<(Self, Vec<(String, String)>)> {
        let made = py.detach(move || {
            process::check()?;
            let choice: DeviceChoice =
                device.parse().map_err(|error: String| ErrorReply::new("misuse", error))?;
            let (named, refused) = chosen(table.table(), columns.as_deref())?;
            Ok((Self::on(choice, named, table.table().num_rows())?, refused))
        });
        made.map_err(|error: ErrorReply| failure(py, &error))
    }

    /// As the device is asked for.
    #[getter]
    fn device(&self) -> &str {
        &self.device
    }

    /// Why the table is there.
    #[getter]
    fn device_reason(&self) -> &str {
        &self.reason
    }

    /// The programming interface of its GPU; empty for the processor.
    #[getter]
    fn interface(&self) -> &str {
        match &self.place {
            Place::Host(_) => "",
            #[cfg(feature = "gpu")]
            Place::Gpu(table) => &table.memory().gpu().info().interface,
        }
    }

    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        at!(&self.place, table => table.len())
    }

    /// Its columns without rows.
    fn empty(&self) -> Table {
        let columns = at!(&self.place, table => {
            let empty = table.columns().iter().map(|column| {
                host_column(&column.name, &column.about, nothing(column.is_wide()))
            });
            empty.collect()
        });
        Table::new(parallax_protocol::Table::new(columns))
    }

    /// All columns in the memory of the host, or those that are named; where they are there, they are
    /// not copied.
    #[pyo3(signature = (columns=None))]
    fn to_table(&self, py: Python<'_>, columns: Option<Vec<String>>) -> PyResult<Table> {
        self.run(py, move || {
            let columns = at!(&self.place, table => host_columns(table, columns.as_deref())?);
            Ok(Table::new(parallax_protocol::Table::new(columns)))
        })
    }

    /// The same columns on another device.
    fn to_device(&self, py: Python<'_>, device: &str) -> PyResult<Self> {
        let table = self.to_table(py, None)?;
        Ok(Self::of(py, &table, device, None)?.0)
    }

    /// Some of the columns.
    fn select(&self, py: Python<'_>, columns: Vec<String>) -> PyResult<Self> {
        there!(self, py, table => table.select(&words(&columns)))
    }

    /// One more column: the time from one to another.
    fn with_durations(&self, py: Python<'_>, name: &str, start: &str, end: &str) -> PyResult<Self> {
        there!(self, py, table => {
            let unit = table.column(end)?.about.unit.clone();
            let about = About { unit, doc: "End minus start.", ..About::default() };
            table.with_durations(name, about, [start, end])
        })
    }

    /// The rows in which a column is in a range, which includes its ends. Both are names where the
    /// column has names.
    fn filter(
        &self,
        py: Python<'_>,
        column: &str,
        minimum: Option<&Bound<'_, PyAny>>,
        maximum: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let about = self.about(py, column)?;
        let low = minimum.map_or(Ok(Some(0)), |limit| about.low(limit))?;
        let high = maximum.map_or(Ok(Some(u64::MAX)), |limit| about.high(limit))?;
        // Without one of them every value is outside.
        let (low, high) = low.zip(high).unwrap_or((1, 0));
        let range = low..=high;
        there!(self, py, table => table.filter(column, range.clone()))
    }

    /// The rows in ascending order of some columns.
    fn sort(&self, py: Python<'_>, columns: Vec<String>) -> PyResult<Self> {
        there!(self, py, table => table.sort(&words(&columns)))
    }

    /// The rows with these numbers.
    fn rows(&self, py: Python<'_>, start: usize, end: usize) -> PyResult<Self> {
        there!(self, py, table => table.rows(start..end))
    }

    /// Count, sum, extremes, mean and variance of a column by one or two others.
    fn group(&self, py: Python<'_>, by: Vec<String>, of: &str) -> PyResult<Table> {
        self.names_are_no_numbers(py, of)?;
        self.run(py, move || {
            let by = words(&by);
            at!(&self.place, table => {
                let groups = table.group(&by, of)?;
                let mut keys = Vec::new();
                for name in &by {
                    keys.push((*name, &table.column(name)?.about));
                }
                Ok(Table::new(groups_table(groups, &keys, &table.column(of)?.about)?))
            })
        })
    }

    /// The pairs of rows with equal keys.
    fn join(
        &self,
        py: Python<'_>,
        other: &Self,
        left: &str,
        right: &str,
        suffix: &str,
    ) -> PyResult<Self> {
        let keys = [self.about(py, left)?, other.about(py, right)?];
        let apart = |what: &str| failure(py, &ErrorReply::new("misuse", what));
        if let [Some(one), Some(two)] = keys.each_ref().map(|key| key.texts.as_ref()) {
            if one != two {
                return Err(apart(
                    "the two columns have different names in them; join by their ids",
                ));
            }
        } else if keys.iter().any(|key| key.texts.is_some()) {
            return Err(apart("one of the two columns has names, and the other one has numbers"));
        }
        match (&self.place, &other.place) {
            (Place::Host(one), Place::Host(two)) => {
                self.with(py, || Ok(Place::Host(one.join(two, [left, right], suffix)?)))
            }
            #[cfg(feature = "gpu")]
            (Place::Gpu(one), Place::Gpu(two))
                if Arc::ptr_eq(one.memory().gpu(), two.memory().gpu()) =>
            {
                self.with(py, || Ok(Place::Gpu(one.join(two, [left, right], suffix)?)))
            }
            #[cfg(feature = "gpu")]
            _ => {
                let what = format!(
                    "one table is on {} and the other one on {}; to_device brings both to one device",
                    self.device, other.device
                );
                Err(apart(&what))
            }
        }
    }

    /// How many values of a column are in each interval.
    fn histogram(&self, py: Python<'_>, column: &str, edges: Vec<u64>) -> PyResult<Vec<u64>> {
        self.names_are_no_numbers(py, column)?;
        self.run(py, move || Ok(at!(&self.place, table => table.histogram(column, &edges)?)))
    }
}

impl DeviceTable {
    /// Columns where they are asked for.
    fn on(
        choice: DeviceChoice,
        columns: Vec<(String, About, HostValues)>,
        rows: usize,
    ) -> Result<Self, ErrorReply> {
        #[cfg(feature = "gpu")]
        let (asked, reason) = match choice {
            DeviceChoice::Cpu => (None, "it was asked for".to_owned()),
            DeviceChoice::Gpu(number) => (Some(number), "it was asked for".to_owned()),
            DeviceChoice::Auto => match parallax_gpu::device_for(rows) {
                Ok(number) => (Some(number), "the table is large enough for a GPU".to_owned()),
                Err(reason) => (None, reason),
            },
        };
        #[cfg(feature = "gpu")]
        if let Some(number) = asked {
            match Self::on_gpu(number, columns.clone(), reason) {
                // What was not asked for by its name may be done without.
                Err(error) if choice == DeviceChoice::Auto => {
                    return Self::on_host(columns, format!("gpu:{number}: {}", error.message));
                }
                other => return other,
            }
        }
        #[cfg(not(feature = "gpu"))]
        let (reason, _) = match choice {
            DeviceChoice::Cpu => ("it was asked for".to_owned(), rows),
            DeviceChoice::Auto => (WITHOUT.to_owned(), rows),
            DeviceChoice::Gpu(number) => {
                let what = format!("cannot use gpu:{number}: {WITHOUT}");
                return Err(ErrorReply::new("device", what).with_hint(REBUILD));
            }
        };
        Self::on_host(columns, reason)
    }

    fn on_host(
        columns: Vec<(String, About, HostValues)>,
        reason: String,
    ) -> Result<Self, ErrorReply> {
        let table = ColumnTable::new(Host, columns).map_err(|error| Failed::from(error).reply)?;
        Ok(Self { place: Place::Host(table), device: "cpu".to_owned(), reason })
    }

    #[cfg(feature = "gpu")]
    fn on_gpu(
        number: usize,
        columns: Vec<(String, About, HostValues)>,
        reason: String,
    ) -> Result<Self, ErrorReply> {
        let gpu = gpus::gpu(number).map_err(|error| {
            ErrorReply::new("device", format!("cannot use gpu:{number}: {error}"))
                .with_hint("parallax.devices() lists the devices; use the device cpu")
        })?;
        let table = ColumnTable::new(DeviceMemory::new(Arc::clone(&gpu)), columns);
        let table = table.map_err(|error| {
            let failed = Failed::from(error);
            if failed.is_lost {
                gpus::forget(&gpu);
            }
            failed.reply
        })?;
        Ok(Self { place: Place::Gpu(table), device: format!("gpu:{number}"), reason })
    }

    /// Does something without the interpreter's lock.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> Result<T, Failed> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            process::check()?;
            work()
        });
        done.map_err(|failed| {
            #[cfg(feature = "gpu")]
            if let Place::Gpu(table) = &self.place
                && failed.is_lost
            {
                gpus::forget(table.memory().gpu());
            }
            failure(py, &failed.reply)
        })
    }

    /// What an operation makes of it, in the same place.
    fn with(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> Result<Place, Failed> + Send,
    ) -> PyResult<Self> {
        let place = self.run(py, work)?;
        Ok(Self { place, device: self.device.clone(), reason: self.reason.clone() })
    }

    fn about(&self, py: Python<'_>, column: &str) -> PyResult<About> {
        let about = at!(&self.place, table => {
            table.column(column).map(|column| column.about.clone()).map_err(Failed::from)
        });
        about.map_err(|failed| failure(py, &failed.reply))
    }

    fn names_are_no_numbers(&self, py: Python<'_>, column: &str) -> PyResult<()> {
        if self.about(py, column)?.texts.is_none() {
            return Ok(());
        }
        let what = format!("`{column}` has names, not numbers");
        Err(failure(py, &ErrorReply::new("misuse", what)))
    }
}

#[cfg(feature = "gpu")]
impl Drop for DeviceTable {
    fn drop(&mut self) {
        // Memory of columns is kept for the next ones while there are tables; the list of open GPUs
        // and this table have one reference each. A forked process has no device.
        if let Place::Gpu(table) = &self.place
            && process::is_first()
            && Arc::strong_count(table.memory().gpu()) <= 2
        {
            let gpu = Arc::clone(table.memory().gpu());
            self.place = Place::Host(ColumnTable::default());
            gpu.release();
        }
    }
}

/// Why there are no GPUs in this build.
#[cfg(not(feature = "gpu"))]
const WITHOUT: &str = "this package was built without the feature `gpu`";

/// What to do about it.
#[cfg(not(feature = "gpu"))]
const REBUILD: &str =
    "build it with `maturin build --release --features gpu`, or use the device cpu";

fn words(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

/// Columns for a device, and those that cannot be there with the reasons.
type Chosen = (Vec<(String, About, HostValues)>, Vec<(String, String)>);

fn chosen(
    table: &parallax_protocol::Table,
    names: Option<&[String]>,
) -> Result<Chosen, ErrorReply> {
    let none = |name: &String| {
        let known: Vec<&str> = table.columns.iter().map(|column| &*column.name).collect();
        let what = format!("there is no column `{name}`; there are {}", known.join(", "));
        ErrorReply::new("misuse", what)
    };
    let found = match names {
        None => table.columns.iter().collect(),
        Some(names) => {
            let found = names.iter().map(|name| table.column(name).ok_or_else(|| none(name)));
            found.collect::<Result<Vec<&Column>, ErrorReply>>()?
        }
    };
    let (mut columns, mut refused) = (Vec::new(), Vec::new());
    for column in found {
        match placed(column) {
            Ok((about, values)) => columns.push((column.name.clone(), about, values)),
            Err(Refused(why)) => refused.push((column.name.clone(), why)),
        }
    }
    match refused.first() {
        Some((name, why)) if names.is_some() || columns.is_empty() => {
            let what = format!("`{name}` cannot be on a device: {why}");
            Err(ErrorReply::new("misuse", what)
                .with_hint("whole numbers that are not negative can, and names that repeat"))
        }
        _ => Ok((columns, refused)),
    }
}

fn host_columns<M: Memory>(
    table: &ColumnTable<M, About>,
    names: Option<&[String]>,
) -> Result<Vec<Column>, TableError<M::Error>> {
    let all = || table.columns().iter().map(|column| column.name.clone()).collect();
    let names = names.map_or_else(all, <[String]>::to_vec);
    let column = |name: &String| {
        let about = &table.column(name)?.about;
        Ok(host_column(name, about, table.host_values(name)?))
    };
    names.iter().map(column).collect()
}
