//! Files of scaling measurements as ensembles.

use std::ops::Range;

use parallax_base::{ByteSource, Issues};
use parallax_formats::FormatError;
use parallax_formats::scaling_data::{self, Measurements, ReadOptions};
use parallax_model::Metadata;
use parallax_model::ensemble::{Ensemble, EnsembleColumns, Run, RunEvidence};

use crate::ImportError;

pub use parallax_formats::scaling_data::{ReadOptions as MeasurementOptions, RegionTime};

/// Whether a file holds scaling measurements of any known format, plain or compressed. Looks at
/// the first bytes only; a file that cannot be read does not.
#[must_use]
pub fn holds_measurements(source: &dyn ByteSource, name: &str) -> bool {
    scaling_data::sniff_source(source, name).is_ok_and(|format| format.is_some())
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
    let read = scaling_data::read(source, options, &mut issues);
    imported(read, options.file, issues)
}

/// Where the last part of a large file of measurements ends that is whole in `range`; `None` when
/// none does. Parts of other formats than those that can be read in parts are empty then.
#[must_use]
pub fn measurement_part_end(source: &dyn ByteSource, range: Range<u64>) -> Option<u64> {
    scaling_data::part_end(source, range)
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
    scaling_data::read_part(source, range, options)
}

/// Joins what [`read_measurement_part`] gave for all ranges, in their order: equal to what
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
    let read = scaling_data::assemble_parts(source, parts, options, &mut issues);
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
        ..Metadata::default()
    };
    let trusted = |run: scaling_data::Run| Run {
        coordinate: run.coordinate,
        repetition: run.repetition,
        is_trusted: run.outcome == scaling_data::Outcome::Completed,
    };
    let estimates = (0..).zip(&read.runs).filter_map(|(number, run)| {
        let is_used = run.outcome != scaling_data::Outcome::Replaced;
        let estimate = run.estimate.filter(|_| is_used)?;
        Some((number, RunEvidence { estimate: Some(estimate), ..RunEvidence::default() }))
    });
    let evidence = estimates.collect();
    let mut columns = EnsembleColumns {
        parameters: read.parameters,
        coordinates: read.coordinates,
        runs: read.runs.into_iter().map(trusted).collect(),
        regions: read.regions,
        metrics: read.metrics,
        samples: read.samples,
        statistics: read.statistics,
        evidence,
    };
    // Columns of finite numbers only: a statistic of a damaged file may be anything.
    columns
        .statistics
        .retain(|s| [s.mean, s.median, s.minimum, s.maximum].iter().all(|value| value.is_finite()));
    Ensemble::new(metadata, columns, issues)
}
