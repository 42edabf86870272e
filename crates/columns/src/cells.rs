//! Pictures of time: how long each context was active in each cell of tracks and bins.

use parallax_base::threads;

use crate::pieces::pieces;
use crate::{Events, Groups, group};

/// The bins of a picture: of 2^`exponent` units of time, counted from 0 of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bins {
    /// The length of a bin as a power of two, below 64.
    pub exponent: u32,
    /// The number of the first bin.
    pub first: u64,
    /// Number of bins.
    pub count: u32,
}

/// What a picture shows in each cell in which anything was active, ascending: all bins of the first
/// track, then those of the second.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cells {
    /// The track times the number of bins, plus the bin.
    pub cell: Vec<u32>,
    /// What was active longest; of several the lowest number.
    pub context: Vec<u32>,
    /// How long.
    pub time: Vec<u128>,
}

impl Cells {
    /// The dominant context of each cell, of the groups by context and cell.
    #[must_use]
    pub fn of(groups: &Groups) -> Self {
        let mut out = Self::default();
        let rows = groups.major.iter().zip(&groups.minor).zip(&groups.moments);
        for ((&cell, &context), moments) in rows {
            match (out.cell.last(), out.time.last_mut(), out.context.last_mut()) {
                (Some(&last), Some(time), Some(best)) if last == cell => {
                    if moments.sum > *time {
                        (*time, *best) = (moments.sum, context);
                    }
                }
                _ => {
                    out.cell.push(cell);
                    out.context.push(context);
                    out.time.push(moments.sum);
                }
            }
        }
        out
    }
}

/// How long each context was active in each cell of the first `tracks` locations: groups by context
/// and cell, of which [`Cells::of`] takes the dominant ones. An event is in all bins that it touches,
/// with the time that it has there.
///
/// # Panics
/// When there are more cells than 32 bits can count, or bins of 2^64.
#[must_use]
pub fn times_in_cells(events: &Events<'_>, tracks: u32, bins: Bins) -> Groups {
    assert!(
        bins.exponent < 64 && tracks.checked_mul(bins.count).is_some(),
        "cells are counted by 32 bits"
    );
    let parts = threads::map(pieces(events.len()), |piece| {
        let (mut cell, mut context, mut time) = (Vec::new(), Vec::new(), Vec::new());
        for i in piece {
            let (start, end) = (events.start[i], events.end[i]);
            if events.location[i] >= tracks || start >= end {
                continue;
            }
            let (from, last) = (start >> bins.exponent, (end - 1) >> bins.exponent);
            let Ok(first) = u32::try_from(from.saturating_sub(bins.first)) else { continue };
            for bin in first..bins.count {
                let Some(number) = bins.first.checked_add(bin.into()) else { break };
                if number > last {
                    break;
                }
                let begin = if number == from { start } else { number << bins.exponent };
                let stop = if number == last { end } else { (number + 1) << bins.exponent };
                cell.push(events.location[i] * bins.count + bin);
                context.push(events.context[i]);
                time.push(stop - begin);
            }
        }
        group(&context, Some(&cell), &time)
    });
    Groups::merged(parts)
}
