//! Values by key.

use parallax_columns::{Groups, Moments, Squares};

use crate::filter::{Kept, lengths};
use crate::kernels::Module;
use crate::{Column, Gpu, GpuError};

/// Words of a group; see `group.wgsl`.
const WORDS: usize = 12;

/// The sums of so many groups, in bytes, are made at once.
const MOST_BYTES: u64 = 512 << 20;

impl Gpu {
    /// [`parallax_columns::group`]: count, sums and extremes of the values of each key. The columns
    /// have one length.
    ///
    /// # Errors
    /// When the lengths differ, the device fails or has no memory.
    pub fn group(
        &self,
        minor: &Column<u32>,
        major: Option<&Column<u32>>,
        values: &Column<u64>,
    ) -> Result<Groups, GpuError> {
        Ok(self.group_each(minor, major, &[values])?.pop().unwrap_or_default())
    }

    /// [`Gpu::group`] of several columns of values: the keys are put in order once.
    ///
    /// # Errors
    /// When the lengths differ, the device fails or has no memory.
    pub fn group_each(
        &self,
        minor: &Column<u32>,
        major: Option<&Column<u32>>,
        values: &[&Column<u64>],
    ) -> Result<Vec<Groups>, GpuError> {
        for values in values {
            if minor.len() != values.len() {
                return Err(lengths(minor, values));
            }
            if let Some(major) = major.filter(|major| major.len() != values.len()) {
                return Err(lengths(major, values));
            }
        }
        if minor.is_empty() {
            return Ok(vec![Groups::default(); values.len()]);
        }
        let by_minor = self.ordered(minor, None)?;
        let (minor, major, rows) = match major {
            None => (by_minor.keys, None, by_minor.rows),
            Some(major) => {
                let by_both = self.ordered(major, Some(&by_minor.rows))?;
                (self.gather(minor, &by_both.rows)?, Some(by_both.keys), by_both.rows)
            }
        };
        let (heads, sums) = match major {
            None => (Module::HeadsOfOne, Module::GroupOfOne),
            Some(_) => (Module::HeadsOfTwo, Module::GroupOfTwo),
        };
        let mut keys = vec![(3, minor.buffer())];
        keys.extend(major.as_ref().map(|major| (4, major.buffer())));
        let Kept { rows: starts, before } = self.keep(heads, minor.rows(), [0; 4], &keys)?;

        let first = self.download(&starts)?;
        let in_order = InOrder { minor: &minor, keys, rows: &rows, before: &before, sums, first };
        let all = values.iter().map(|values| self.moments(&in_order, values));
        let all = all.collect::<Result<Vec<_>, _>>()?;
        let (minor, major) = (
            self.download(&self.gather(&minor, &starts)?)?,
            match &major {
                None => Vec::new(),
                Some(major) => self.download(&self.gather(major, &starts)?)?,
            },
        );
        let groups = all.into_iter();
        let groups =
            groups.map(|moments| Groups { minor: minor.clone(), major: major.clone(), moments });
        Ok(groups.collect())
    }

    /// What is known of the values of each group.
    fn moments(
        &self,
        in_order: &InOrder<'_>,
        values: &Column<u64>,
    ) -> Result<Vec<Moments>, GpuError> {
        let InOrder { minor, rows, before, sums, first, .. } = in_order;
        let is_short = self.bits(values)?.any[1] == 0;
        let mut keys = in_order.keys.clone();
        keys.extend([(1, before.buffer()), (5, rows.buffer()), (6, values.buffer())]);
        let mut all = Vec::with_capacity(first.len());
        // A column has room for the sums of so many groups, and all of them need not fit at once.
        let room = usize::try_from(self.limit().min(MOST_BYTES)).unwrap_or(usize::MAX);
        let most = self.options.groups_at_once.unwrap_or(room / (4 * WORDS)).max(1);
        for group in (0..first.len()).step_by(most) {
            let next = (group + most).min(first.len());
            let end = first.get(next).copied().unwrap_or(minor.rows());
            let totals: Column<u32> = self.column((next - group) * WORDS)?;
            let mut commands = self.commands();
            commands.clear(totals.buffer());
            let buffers = [&keys[..], &[(2, totals.buffer())]].concat();
            let tiles = first[group] / self.shape.tile()..self.tiles(end);
            for step in if is_short { &[0][..] } else { &[1, 2] } {
                let [from, len] =
                    [group, next - group].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
                let params = (minor.rows(), [*step, from, len, tiles.start, tiles.end, 0]);
                commands.run_some((*sums, "total"), params, &buffers, tiles.len());
            }
            commands.submit();
            let ends = first[group + 1..next].iter().copied().chain([end]);
            let totals = self.download(&totals)?;
            let groups = first[group..next].iter().zip(ends).zip(totals.chunks_exact(WORDS));
            all.extend(
                groups
                    .map(|((first, end), words)| moments(u64::from(end - first), words, is_short)),
            );
        }
        Ok(all)
    }
}

/// Keys in order, and the rows that they are of.
struct InOrder<'a> {
    minor: &'a Column<u32>,
    /// The keys, as kernels have them.
    keys: Vec<(u32, &'a wgpu::Buffer)>,
    rows: &'a Column<u32>,
    /// How many groups begin before each tile.
    before: &'a Column<u32>,
    sums: Module,
    /// Where each group begins.
    first: Vec<u32>,
}

fn moments(count: u64, words: &[u32], is_short: bool) -> Moments {
    let number =
        |words: &[u32]| words.iter().rev().fold(0_u128, |high, &low| high << 32 | u128::from(low));
    let (min, max) = if is_short {
        ([!words[8], 0], [words[9], 0])
    } else {
        ([!words[10], !words[8]], [words[11], words[9]])
    };
    let wide = |[low, high]: [u32; 2]| u64::from(high) << 32 | u64::from(low);
    Moments {
        count,
        sum: number(&words[..3]),
        squares: Squares { low: number(&words[3..7]), high: u64::from(words[7]) },
        min: wide(min),
        max: wide(max),
    }
}
