//! `convert --to parquet`: the tables of SQL as a folder of Parquet files, in parts by location.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use parallax_base::{LocationIdx, TimeWindow, TrackIdx};
use parallax_native::{Unfinished, lost_file};
use parallax_places::check_output;
use parallax_protocol::{LocationsRequest, Table, TypedTable as _};
use parallax_service::{Answers as _, Control, OpenExperiment};

use super::Context;
use super::sql_cluster::{ClusterArgs, OpenOver, open_over};
use crate::output::parquet;

/// Rows and locations of a part at most; a location is in one part.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartSize {
    pub(super) rows: u64,
    pub(super) locations: usize,
}

/// A table that is written in parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parted {
    Values,
    Samples,
    TraceEvents,
}

impl Parted {
    const ALL: [Self; 3] = [Self::Values, Self::Samples, Self::TraceEvents];

    /// Its name in SQL, and that of its folder.
    const fn name(self) -> &'static str {
        match self {
            Self::Values => "values",
            Self::Samples => "samples",
            Self::TraceEvents => "trace_events",
        }
    }

    /// The locations that have rows, ascending, with their numbers of rows; none where an
    /// experiment has no such table. Of a trace of calls, samples only repeat what calls say.
    fn locations(self, opened: &OpenExperiment) -> Vec<(LocationIdx, u64)> {
        let (holds, session) = (opened.holds(), opened.session());
        let mut locations: Vec<(LocationIdx, u64)> = Vec::new();
        let is_there = match self {
            Self::Values => session.profiles().is_ok(),
            Self::Samples => holds.has_trace && !holds.has_calls,
            Self::TraceEvents => holds.has_calls,
        };
        match self {
            _ if !is_there => {}
            Self::Values => {
                let catalog = &session.experiment().locations;
                locations.extend(catalog.iter().map(|row| (row, catalog.num_values(row))));
            }
            Self::Samples | Self::TraceEvents => {
                if let Ok(store) = session.traces() {
                    let tracks = store.tracks().iter();
                    locations.extend(tracks.map(|track| (track.location, track.num_samples)));
                }
            }
        }
        locations.sort_unstable();
        locations.dedup_by(|next, one| {
            let is_same = next.0 == one.0;
            if is_same {
                one.1 += next.1;
            }
            is_same
        });
        locations
    }

    /// The rows of some locations.
    fn table(
        self,
        opened: &OpenExperiment,
        locations: &[LocationIdx],
        control: &Control,
    ) -> anyhow::Result<Table> {
        let all = TimeWindow::ALL;
        Ok(match self {
            Self::Values => opened.value_relation_of(locations, control)?.into_table(),
            Self::Samples => opened.sample_relation(locations, all, control)?.into_table(),
            Self::TraceEvents => {
                let store = opened.session().traces()?;
                let tracks = store.track_ids().zip(store.tracks());
                let mut tracks: Vec<(LocationIdx, TrackIdx)> = tracks
                    .filter(|(_, track)| locations.binary_search(&track.location).is_ok())
                    .map(|(id, track)| (track.location, id))
                    .collect();
                tracks.sort_unstable();
                let tracks: Vec<TrackIdx> = tracks.into_iter().map(|(_, id)| id).collect();
                opened.call_relation(&tracks, all, control)?.into_table()
            }
        })
    }
}

/// The file with the rows of a table in parts that some locations have, for another process that
/// writes it.
#[cfg(feature = "cluster")]
pub(super) fn part_of(
    opened: &OpenExperiment,
    name: &str,
    locations: &[LocationIdx],
    control: &Control,
) -> anyhow::Result<Vec<u8>> {
    let parted = Parted::ALL.into_iter().find(|parted| parted.name() == name);
    let parted = parted.with_context(|| format!("{name} is not a table with parts"))?;
    let mut out = Vec::new();
    parquet(&parted.table(opened, locations, control)?, &mut out)?;
    Ok(out)
}

/// Writes the tables of the database at `input` into a new folder, which appears complete or not at
/// all. A cluster makes the files of large tables, where one is named.
pub(super) fn tables(
    context: &Context,
    input: &Path,
    output: &Path,
    size: PartSize,
    members: &ClusterArgs,
) -> anyhow::Result<()> {
    check_output(output)?;
    let over = open_over(context, input, members, size.rows)?;
    let failed = || format!("cannot write {}", output.display());
    if output.exists() {
        anyhow::bail!("{} exists already; specify a new folder", output.display());
    }
    let unfinished = Unfinished::new(output).with_context(failed)?;
    let folder = unfinished.content();
    fs::create_dir(&folder).with_context(failed)?;
    write(context, &over, &folder, size).with_context(failed)?;
    if let Some(path) = lost_file() {
        anyhow::bail!("{} was truncated while it was being read; convert it again", path.display());
    }
    unfinished.publish(output).with_context(failed)?;
    context.finish(&over.opened, &[]);
    Ok(())
}

fn write(context: &Context, over: &OpenOver, folder: &Path, size: PartSize) -> anyhow::Result<()> {
    let (control, opened) = (&context.control, &over.opened);
    let locations = opened.answer(&LocationsRequest::default(), control)?.tables.rows;
    let whole = [
        ("contexts", opened.context_relation(control)?.into_table()),
        ("locations", locations.into_table()),
        ("metrics", opened.metric_relation().into_table()),
    ];
    for (name, table) in whole {
        file(&folder.join(format!("{name}.parquet")), &table)?;
    }
    for parted in Parted::ALL {
        let locations = parted.locations(opened);
        if locations.is_empty() {
            continue;
        }
        let place = folder.join(parted.name());
        fs::create_dir(&place)?;
        // Names sort as numbers do.
        let digits = locations.last().map_or(1, |(last, _)| last.get().to_string().len());
        let parts = parts(&locations, size);
        let name_of = |part: &[LocationIdx]| -> Option<PathBuf> {
            let (first, last) = (part.first()?.get(), part.last()?.get());
            Some(place.join(format!("part-{first:0digits$}-{last:0digits$}.parquet")))
        };
        let own = |part: &[LocationIdx]| -> anyhow::Result<()> {
            let Some(path) = name_of(part) else { return Ok(()) };
            file(&path, &parted.table(opened, part, control)?)
                .with_context(|| path.display().to_string())
        };
        #[cfg(feature = "cluster")]
        if let Some(readers) = &over.readers {
            let name = parted.name();
            readers.tables(name, &parts, control, &mut |at, made| {
                let part = parts.get(at).map(Vec::as_slice).unwrap_or_default();
                let written = match (made, name_of(part)) {
                    (Some(made), Some(path)) => fs::write(path, made).map_err(Into::into),
                    _ => own(part),
                };
                written.map_err(|error: anyhow::Error| format!("{error:#}"))
            })?;
            continue;
        }
        parts.iter().try_for_each(|part| own(part))?;
    }
    Ok(())
}

/// Locations that are written together.
fn parts(locations: &[(LocationIdx, u64)], size: PartSize) -> Vec<Vec<LocationIdx>> {
    let mut parts: Vec<Vec<LocationIdx>> = Vec::new();
    let mut rows = 0_u64;
    for &(location, more) in locations {
        match parts.last_mut() {
            Some(part) if part.len() < size.locations && rows.saturating_add(more) <= size.rows => {
                part.push(location);
                rows = rows.saturating_add(more);
            }
            _ => {
                parts.push(vec![location]);
                rows = more;
            }
        }
    }
    parts
}

fn file(path: &Path, table: &Table) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    parquet(table, &mut out)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_neither_more_rows_nor_more_locations_than_they_may() {
        let rows = [3, 3, 3, 20, 1, 1, 1, 1];
        let locations: Vec<_> = (1..).map(LocationIdx::new).zip(rows).collect();
        let lens = |rows, locations_at_most| -> Vec<usize> {
            let size = PartSize { rows, locations: locations_at_most };
            parts(&locations, size).iter().map(Vec::len).collect()
        };
        assert_eq!(lens(6, usize::MAX), [2, 1, 1, 4]);
        assert_eq!(lens(u64::MAX, 3), [3, 3, 2]);
        assert_eq!(lens(0, 8), [1; 8]);
    }
}
