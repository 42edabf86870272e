//! `convert --to parquet`: the tables of SQL as a folder of Parquet files, in parts by location.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use anyhow::Context as _;
use parallax_base::{LocationIdx, TimeWindow, TrackIdx};
use parallax_native::{Unfinished, lost_file};
use parallax_places::check_output;
use parallax_protocol::{LocationsRequest, Table, TypedTable as _};
use parallax_service::{Answers as _, OpenExperiment};

use super::Context;
use crate::open;
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
        context: &Context,
        opened: &OpenExperiment,
        locations: &[LocationIdx],
    ) -> anyhow::Result<Table> {
        let (control, all) = (&context.control, TimeWindow::ALL);
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

/// Writes the tables of the database at `input` into a new folder, which appears complete or not at
/// all.
pub(super) fn tables(
    context: &Context,
    input: &Path,
    output: &Path,
    size: PartSize,
) -> anyhow::Result<()> {
    check_output(output)?;
    let opened = open::database(input, &context.control)?;
    let failed = || format!("cannot write {}", output.display());
    if output.exists() {
        anyhow::bail!("{} exists already; name a folder that is not there", output.display());
    }
    let unfinished = Unfinished::new(output).with_context(failed)?;
    let folder = unfinished.content();
    fs::create_dir(&folder).with_context(failed)?;
    write(context, &opened, &folder, size).with_context(failed)?;
    if let Some(path) = lost_file() {
        anyhow::bail!("{} was cut short while it was read; convert again", path.display());
    }
    unfinished.publish(output).with_context(failed)?;
    context.finish(&opened, &[]);
    Ok(())
}

fn write(
    context: &Context,
    opened: &OpenExperiment,
    folder: &Path,
    size: PartSize,
) -> anyhow::Result<()> {
    let control = &context.control;
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
        for part in parts(&locations, size) {
            let (Some(first), Some(last)) = (part.first(), part.last()) else { continue };
            let name = format!("part-{:0digits$}-{:0digits$}.parquet", first.get(), last.get());
            let table = parted.table(context, opened, &part)?;
            file(&place.join(name), &table)?;
        }
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
