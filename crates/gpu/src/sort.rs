//! Stable order by key.

use crate::device::Commands;
use crate::kernels::Module;
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
        let counts: Column<u32> = self.column(256 * self.tiles(keys.rows()) as usize)?;
        let nothing: Column<u32> = self.column(1)?;
        let mut shifts: Vec<u32> =
            (0..32).step_by(8).filter(|shift| (varying >> shift) & 0xff != 0).collect();
        if shifts.is_empty() {
            shifts.push(0);
        }
        let mut done: Option<Ordered> = None;
        let mut spare: Option<Ordered> = None;
        for shift in shifts {
            let (keys, rows) = match &done {
                Some(done) => (&done.keys, Some(&done.rows)),
                None => (keys, rows),
            };
            let next = match spare.take() {
                Some(spare) => spare,
                None => Ordered { keys: self.column(len)?, rows: self.column(len)? },
            };
            let params = (keys.rows(), [shift, u32::from(rows.is_none()), 0, 0, 0, 0]);
            let inputs = [(1, counts.buffer()), (2, keys.buffer())];
            commands.run((Module::Digits, "count"), params, &inputs);
            self.scan(commands, &counts)?;
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
}
