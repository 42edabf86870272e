//! The order of the tracks of an archive: files have them as they first met them.

use parallax_base::{LocationIdx, TrackIdx};
use parallax_formats::archive::NONE_32;
use parallax_model::LocationCatalog;

use super::location;

/// From rows of the table of tracks to tracks in the order of lists for users, and back.
#[derive(Debug)]
pub(super) struct Order {
    /// Row of each track.
    rows: Vec<u32>,
    /// Track of each row.
    places: Vec<u32>,
}

impl Order {
    /// The order of the locations of `catalog`, whose row i + 1 is row i of the table of tracks.
    pub(super) fn of(catalog: &LocationCatalog, num_tracks: usize) -> Self {
        let numbers = (0..NONE_32).take(num_tracks);
        let ordered = catalog.in_order(numbers.map(location));
        let rows: Vec<u32> = ordered.into_iter().map(|at: LocationIdx| at.get() - 1).collect();
        let mut places = vec![NONE_32; rows.len()];
        for (place, &row) in (0..).zip(&rows) {
            if let Some(at) = places.get_mut(row as usize) {
                *at = place;
            }
        }
        Self { rows, places }
    }

    /// The row of a track; a number that is none stays that.
    pub(super) fn row(&self, track: TrackIdx) -> u32 {
        self.rows.get(track.idx()).copied().unwrap_or(NONE_32)
    }

    /// The track of a row; a number that is none stays that.
    pub(super) fn track(&self, row: u32) -> u32 {
        self.places.get(row as usize).copied().unwrap_or(NONE_32)
    }

    /// What each row has, by track.
    pub(super) fn ordered<'r, T>(&self, of_rows: &'r [T]) -> impl Iterator<Item = &'r T> {
        self.rows.iter().filter_map(|&row| of_rows.get(row as usize))
    }
}
