//! Files of scaling measurements as ensembles.

use std::ops::Range;

use parallax_base::{ByteSource, Issues};
use parallax_formats::FormatError;
use parallax_formats::measurements::{self, Measurements, ReadOptions};
use parallax_model::Metadata;
use parallax_model::ensemble::{
    Ensemble, EnsembleColumns, EnsembleMetric, Parameter, ParameterValue, Region, RegionKind, Run,
    RunStatistic, Sample, metric_names,
};

use crate::ImportError;

pub use parallax_formats::measurements::{ReadOptions as MeasurementOptions, RegionTime};

/// Whether a file holds scaling measurements of any known format, plain or compressed. Looks at
/// the first bytes only; a file that cannot be read does not.
#[must_use]
pub fn holds_measurements(source: &dyn ByteSource, name: &str) -> bool {
    measurements::sniff_source(source, name).is_ok_and(|format| format.is_some())
}

/// Reads a file of scaling measurements: PaScal, SPERF, Extra-P, TALP, POP or a table.
///
/// Single entries of regions are folded while the file passes, so memory follows regions x
/// configurations x repetitions.
///
/// # Errors
/// When the file is of no known format, or so damaged that nothing remains.
pub fn open_measurements(
    source: &dyn ByteSource,
    options: &ReadOptions<'_>,
) -> Result<Ensemble, ImportError> {
    let mut issues = Issues::new();
    let read = measurements::read(source, options, &mut issues);
    imported(read, options.file, issues)
}

/// Where the last part of a large file of measurements ends that is whole in `range`; `None` when
/// none does. Parts of other formats than those that can be read in parts are empty then.
#[must_use]
pub fn measurement_part_end(source: &dyn ByteSource, range: Range<u64>) -> Option<u64> {
    measurements::part_end(source, range)
}

/// Reads the range between two ends of [`measurement_part_end`] into bytes for [`assemble_measurements`]. The bytes
/// may be made by another process of the same program; they are empty where the range turns out
/// not to be a part of its own.
#[must_use]
pub fn read_measurement_part(
    source: &dyn ByteSource,
    range: Range<u64>,
    options: &ReadOptions<'_>,
) -> Vec<u8> {
    measurements::read_part(source, range, options)
}

/// Puts together what [`read_measurement_part`] gave for all ranges, in their order: equal to what
/// [`open_measurements`] gives. Where the parts do not fit together, `source` is read from front to
/// back.
///
/// # Errors
/// As [`open_measurements`].
pub fn assemble_measurements(
    source: &dyn ByteSource,
    parts: &[Vec<u8>],
    options: &ReadOptions<'_>,
) -> Result<Ensemble, ImportError> {
    let mut issues = Issues::new();
    let read = measurements::assemble_parts(source, parts, options, &mut issues);
    imported(read, options.file, issues)
}

fn imported(
    read: Result<Measurements, FormatError>,
    file: &str,
    issues: Issues,
) -> Result<Ensemble, ImportError> {
    let fail = |cause| ImportError::Format { origin: file.to_owned(), cause };
    ensemble(read.map_err(fail)?, file, issues)
        .map_err(|what| fail(FormatError::malformed(file, 0, what)))
}

fn ensemble(read: Measurements, file: &str, issues: Issues) -> Result<Ensemble, String> {
    let fact = |name: &str| {
        read.metadata.iter().find(|(known, _)| known == name).map(|(_, text)| text.clone())
    };
    let metadata = Metadata {
        title: fact("pkg").or_else(|| fact("command")).unwrap_or_else(|| file.to_owned()),
        format: read.format.name().to_owned(),
        origin: file.to_owned(),
        facts: read.metadata.clone(),
        components: Vec::new(),
    };
    let mut columns = EnsembleColumns {
        parameters: read
            .parameters
            .into_iter()
            .map(|parameter| Parameter {
                name: parameter.name,
                values: parameter
                    .values
                    .into_iter()
                    .map(|value| ParameterValue { label: value.label, number: value.number })
                    .collect(),
            })
            .collect(),
        coordinates: read.coordinates,
        runs: read
            .runs
            .iter()
            .map(|run| Run {
                coordinate: run.coordinate,
                repetition: run.repetition,
                is_trusted: run.outcome == measurements::Outcome::Completed,
            })
            .collect(),
        regions: read
            .regions
            .into_iter()
            .map(|region| Region {
                id: region.id,
                path: region.path,
                name: region.name,
                parent: region.parent,
                kind: match region.kind {
                    measurements::RegionKind::WholeProgram => RegionKind::WholeProgram,
                    measurements::RegionKind::Marked => RegionKind::Marked,
                    measurements::RegionKind::Gap => RegionKind::Gap,
                    measurements::RegionKind::Automatic => RegionKind::Automatic,
                },
                file: region.file,
                lines: region.lines,
            })
            .collect(),
        metrics: read
            .metrics
            .into_iter()
            .map(|metric| EnsembleMetric { name: own_name(metric.name), unit: metric.unit })
            .collect(),
        samples: read
            .samples
            .into_iter()
            .map(|s| Sample { metric: s.metric, region: s.region, run: s.run, value: s.value })
            .collect(),
        statistics: read
            .statistics
            .into_iter()
            .map(|s| RunStatistic {
                metric: s.metric,
                region: s.region,
                coordinate: s.coordinate,
                mean: s.mean,
                median: s.median,
                minimum: s.minimum,
                maximum: s.maximum,
                repetitions: s.repetitions,
            })
            .collect(),
    };
    // Columns of finite numbers only: a statistic of a damaged file may be anything.
    columns
        .statistics
        .retain(|s| [s.mean, s.median, s.minimum, s.maximum].iter().all(|value| value.is_finite()));
    Ensemble::new(metadata, columns, issues)
}

/// The names by which analyses look for metrics; others stay as they are.
fn own_name(name: String) -> String {
    use parallax_formats::measurements::metric_names as theirs;
    let own = match name.as_str() {
        theirs::TIME_THREAD_MAX => metric_names::LOCATION_MAX,
        theirs::TIME_THREAD_MEAN => metric_names::LOCATION_MEAN,
        theirs::THREADS => metric_names::LOCATIONS,
        theirs::TIME => metric_names::TIME,
        theirs::IMBALANCE => metric_names::IMBALANCE,
        theirs::EFFICIENCY => metric_names::EFFICIENCY,
        _ => return name,
    };
    own.to_owned()
}
