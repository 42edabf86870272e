//! Stable order by key.

use crate::device::Commands;
use crate::kernels::{CHUNK, Module};
use crate::{Column, Gpu, GpuError, Word};

/// Which bits of a column are of interest: lower words and upper words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bits {
    /// Bits in which values differ.
    pub(crate) varying: [u32; 2],
    /// Bits that are set in a value.
    pub(crate) any: [u32; 2],
}

/// Keys in order, and the rows that they are of.
pub(crate) struct Ordered {
    pub(crate) keys: Column<u32>,
    pub(crate) rows: Column<u32>,
}

impl Gpu {
    /// [`parallax_columns::sort`]: the rows in ascending order of their keys.
    ///
    /// # Errors
    /// When the device fails or has no memory.
    pub fn sort(&self, keys: &Column<u64>) -> Result<Column<u32>, GpuError> {
        let [low, high] = self.bits(keys)?.varying;
        let mut commands = self.commands();
        let mut rows = None;
        if low != 0 || high == 0 {
            let words = self.words(&mut commands, keys, 0, None)?;
            let ordered = self.radix(&mut commands, &words, None, low)?;
            commands.hold(words);
            commands.hold(ordered.keys);
            rows = Some(ordered.rows);
        }
        if high != 0 {
            let words = self.words(&mut commands, keys, 1, rows.as_ref())?;
            let ordered = self.radix(&mut commands, &words, rows.as_ref(), high)?;
            commands.hold(words);
            commands.hold(ordered.keys);
            if let Some(first) = rows.replace(ordered.rows) {
                commands.hold(first);
            }
        }
        commands.submit();
        rows.ok_or_else(|| GpuError::Failed("no order".to_owned()))
    }

    /// [`parallax_columns::sort_u32`]: the rows in ascending order of their keys.
    ///
    /// # Errors
    /// When the device fails or has no memory.
    pub fn sort_u32(&self, keys: &Column<u32>) -> Result<Column<u32>, GpuError> {
        Ok(self.ordered(keys, None)?.rows)
    }

    /// Keys in ascending order; those that are equal in the order of `rows`, or of their rows.
    pub(crate) fn ordered(
        &self,
        keys: &Column<u32>,
        rows: Option<&Column<u32>>,
    ) -> Result<Ordered, GpuError> {
        let [varying, _] = self.bits(keys)?.varying;
        let gathered = rows.map(|rows| self.gather(keys, rows)).transpose()?;
        let mut commands = self.commands();
        let ordered =
            self.radix(&mut commands, gathered.as_ref().unwrap_or(keys), rows, varying)?;
        commands.submit();
        Ok(ordered)
    }

    /// Which bits of a column vary, and which are set.
    pub(crate) fn bits<T: Word>(&self, values: &Column<T>) -> Result<Bits, GpuError> {
        let bits: Column<u32> = self.column(4)?;
        let mut commands = self.commands();
        commands.clear(bits.buffer());
        let (entry, input) = if size_of::<T>() == 8 { ("bits_u64", 4) } else { ("bits_u32", 2) };
        let buffers = [(input, values.buffer()), (7, bits.buffer())];
        commands.run((Module::Gather, entry), (values.rows(), [0; 6]), &buffers);
        commands.submit();
        let words = self.download(&bits)?;
        Ok(Bits { varying: [words[0], words[1]], any: [words[2], words[3]] })
    }

    /// One word of each value, of the rows in their order or of all.
    fn words(
        &self,
        commands: &mut Commands<'_>,
        values: &Column<u64>,
        word: u32,
        rows: Option<&Column<u32>>,
    ) -> Result<Column<u32>, GpuError> {
        let out = self.column(values.len())?;
        let params = (values.rows(), [word, u32::from(rows.is_some()), 0, 0, 0, 0]);
        // Without rows nothing is read from there.
        let unused = if rows.is_none() { Some(self.column::<u32>(1)?) } else { None };
        let numbers = rows.or(unused.as_ref()).map_or(out.buffer(), Column::buffer);
        let buffers = [(1, numbers), (3, out.buffer()), (4, values.buffer())];
        commands.run((Module::Gather, "word"), params, &buffers);
        if let Some(unused) = unused {
            commands.hold(unused);
        }
        Ok(out)
    }

    /// Keys in ascending order of the bits that vary.
    fn radix(
        &self,
        commands: &mut Commands<'_>,
        keys: &Column<u32>,
        rows: Option<&Column<u32>>,
        varying: u32,
    ) -> Result<Ordered, GpuError> {
        let len = keys.len();
        let shape = self.sorting;
        let tiles = keys.rows().div_ceil(shape.tile());
        let chunks = tiles.div_ceil(CHUNK);
        // A row for each tile, one where digits begin, and one for each chunk.
        let rows_of_counts = tiles as usize + 1 + chunks as usize;
        let counts: Column<u32> = self.column(shape.radix() as usize * rows_of_counts)?;
        let nothing: Column<u32> = self.column(1)?;
        let mut done: Option<Ordered> = None;
        let mut spare: Option<Ordered> = None;
        for shift in shifts(varying, shape.digit_bits) {
            let (keys, rows) = match &done {
                Some(done) => (&done.keys, Some(&done.rows)),
                None => (keys, rows),
            };
            let next = match spare.take() {
                Some(spare) => spare,
                None => Ordered { keys: self.column(len)?, rows: self.column(len)? },
            };
            let back = (32 - shift) % 32;
            let params = (keys.rows(), [shift, u32::from(rows.is_none()), back, 0, 0, 0]);
            let inputs = [(1, counts.buffer()), (2, keys.buffer())];
            commands.run((Module::Digits, "count"), params, &inputs);
            self.sums_of_digits(commands, &counts, tiles);
            let others = [
                (3, rows.unwrap_or(&nothing).buffer()),
                (4, next.keys.buffer()),
                (5, next.rows.buffer()),
            ];
            commands.run((Module::Radix, "scatter"), params, &[&inputs[..], &others].concat());
            spare = done.replace(next);
        }
        commands.hold(counts);
        commands.hold(nothing);
        if let Some(Ordered { keys, rows }) = spare {
            commands.hold(keys);
            commands.hold(rows);
        }
        done.ok_or_else(|| GpuError::Failed("no order".to_owned()))
    }

    /// Makes counts of the digits of tiles the numbers of keys before them, as `digit_sums.wgsl` says.
    fn sums_of_digits(&self, commands: &mut Commands<'_>, counts: &Column<u32>, tiles: u32) {
        let buffers = [(1, counts.buffer())];
        let params = |rows, first| (rows, [first, tiles, 0, 0, 0, 0]);
        // As many as one workgroup sums anyway need no others.
        if tiles <= CHUNK {
            commands.run_some((Module::DigitSums, "top"), params(tiles, 0), &buffers, 1);
            return;
        }
        let (chunks, first) = (tiles.div_ceil(CHUNK), tiles + 1);
        let all = params(tiles, first);
        commands.run_some((Module::DigitSums, "reduce"), all, &buffers, chunks as usize);
        commands.run_some((Module::DigitSums, "top"), params(chunks, first), &buffers, 1);
        commands.run_some((Module::DigitSums, "down"), all, &buffers, chunks as usize);
    }
}

/// Where digits begin that together have all bits that vary: as few as there can be, and one where
/// none varies. Each ends within the word; that some bits are in two of them changes no order.
fn shifts(varying: u32, bits: u32) -> Vec<u32> {
    let mut rest = varying;
    let mut shifts = Vec::new();
    while rest != 0 || shifts.is_empty() {
        let shift = rest.trailing_zeros().min(32 - bits);
        let next = shift + bits;
        rest = rest.checked_shr(next).map_or(0, |rest| rest << next);
        shifts.push(shift);
    }
    shifts
}

#[cfg(test)]
mod tests {
    use super::shifts;

    #[test]
    fn digits_begin_with_bits_that_vary() {
        assert_eq!(shifts(0, 8), [24]);
        assert_eq!(shifts(u32::MAX, 8), [0, 8, 16, 24]);
        assert_eq!(shifts(u32::MAX, 5), [0, 5, 10, 15, 20, 25, 27]);
        // Nine bits across a border of bytes, and two that one digit does not reach.
        assert_eq!(shifts(0x0001_ff80, 8), [7, 15]);
        assert_eq!(shifts(0x8000_0010, 8), [4, 24]);
    }
}
