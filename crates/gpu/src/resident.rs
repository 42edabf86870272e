//! Columns that stay on a device between operations, for whoever knows none of its types.

use std::ops::Deref;

use parallax_columns::{
    ColumnDevice, DeviceColumn, DeviceError, Groups, Number, Traffic, Values, Within,
};

use crate::filter::{lengths, words};
use crate::kernels::Module;
use crate::{Column, DeviceKind, Gpu, GpuError, Word};

/// What a [`DeviceColumn`] is here.
enum Resident {
    Narrow(Column<u32>),
    Wide(Column<u64>),
}

/// A column that stays, or one that was made for an operation.
enum Ref<'a, T: Word> {
    Kept(&'a Column<T>),
    Made(Column<T>),
}

impl<T: Word> Deref for Ref<'_, T> {
    type Target = Column<T>;

    fn deref(&self) -> &Column<T> {
        match self {
            Self::Kept(column) => column,
            Self::Made(column) => column,
        }
    }
}

/// Numbers of rows.
enum Numbers<'a> {
    Narrow(Ref<'a, u32>),
    Wide(Ref<'a, u64>),
}

impl From<GpuError> for DeviceError {
    fn from(error: GpuError) -> Self {
        match error.is_full() {
            true => Self::Full(error.to_string()),
            false => Self::Failed(error.to_string()),
        }
    }
}

fn resident(column: &DeviceColumn) -> Result<&Resident, DeviceError> {
    let other = || DeviceError::Failed("a column is of another device".to_owned());
    column.get().ok_or_else(other)
}

fn wide(column: &DeviceColumn) -> Result<&Column<u64>, DeviceError> {
    match resident(column)? {
        Resident::Wide(column) => Ok(column),
        Resident::Narrow(_) => Err(DeviceError::Failed("a column is too narrow".to_owned())),
    }
}

/// The bit of the sign, in the upper word.
const SIGN: u32 = 1 << 31;

impl Gpu {
    /// A column made of others by a kernel of `numbers.wgsl`.
    fn made<T: Word>(
        &self,
        entry: &'static str,
        rows: u32,
        turned: [u32; 2],
        inputs: &[(u32, &wgpu::Buffer)],
    ) -> Result<Column<T>, GpuError> {
        let out = self.column(rows as usize)?;
        let output = if size_of::<T>() == 8 { 5 } else { 2 };
        let buffers = [inputs, &[(output, out.buffer())]].concat();
        let params = (rows, [turned[0], turned[1], 0, 0, 0, 0]);
        let mut commands = self.commands();
        commands.run((Module::Numbers, entry), params, &buffers);
        commands.submit();
        Ok(out)
    }

    fn chosen<'a, T: Word>(
        &self,
        column: &'a Column<T>,
        rows: Option<&Column<u32>>,
    ) -> Result<Ref<'a, T>, GpuError> {
        Ok(match rows {
            None => Ref::Kept(column),
            Some(rows) => Ref::Made(self.gather(column, rows)?),
        })
    }

    /// A number of all rows, or of some.
    fn numbers<'a>(
        &self,
        number: Number<'a>,
        rows: Option<&Column<u32>>,
    ) -> Result<Numbers<'a>, DeviceError> {
        Ok(match number {
            Number::Column(column) => match resident(column)? {
                Resident::Narrow(column) => Numbers::Narrow(self.chosen(column, rows)?),
                Resident::Wide(column) => Numbers::Wide(self.chosen(column, rows)?),
            },
            Number::Difference(from, less) => {
                let (from, less) = (wide(from)?, wide(less)?);
                if from.len() != less.len() {
                    return Err(lengths(from, less).into());
                }
                let (from, less) = (self.chosen(from, rows)?, self.chosen(less, rows)?);
                let inputs = [(3, from.buffer()), (4, less.buffer())];
                let made = self.made("difference", from.rows(), [0, 0], &inputs)?;
                Numbers::Wide(Ref::Made(made))
            }
        })
    }

    /// The rows that are in all ranges, ascending; `None` for all rows.
    fn rows_within(&self, within: &[Within<'_>]) -> Result<Option<Column<u32>>, DeviceError> {
        let mut rows: Option<Column<u32>> = None;
        for one in within {
            let met = match self.numbers(one.number, rows.as_ref())? {
                Numbers::Narrow(values) => {
                    let low = u32::try_from(one.low.max(0));
                    let high = u32::try_from(one.high.min(i64::from(u32::MAX)));
                    match (low, high) {
                        (Ok(low), Ok(high)) if low <= high => {
                            self.filter_u32(&values, low..=high)?
                        }
                        _ => self.column(0)?,
                    }
                }
                Numbers::Wide(_) if one.low > one.high => self.column(0)?,
                Numbers::Wide(values) => {
                    let limit = |value: i64| {
                        let [low, high] = words(value.cast_unsigned());
                        [low, high ^ SIGN]
                    };
                    let ([a, b], [c, d]) = (limit(one.low), limit(one.high));
                    let inputs = [(3, values.buffer())];
                    self.keep(Module::FilterI64, values.rows(), [a, b, c, d], &inputs)?.rows
                }
            };
            rows = Some(match rows {
                None => met,
                Some(before) => self.gather(&before, &met)?,
            });
        }
        Ok(rows)
    }

    fn key<'a>(
        &self,
        column: &'a DeviceColumn,
        rows: Option<&Column<u32>>,
    ) -> Result<Ref<'a, u32>, DeviceError> {
        match resident(column)? {
            Resident::Narrow(column) => Ok(self.chosen(column, rows)?),
            Resident::Wide(_) => Err(DeviceError::Unsuitable("a key is too wide".to_owned())),
        }
    }

    /// A number of 64 bits of all rows, or of some.
    fn value<'a>(
        &self,
        number: Number<'a>,
        rows: Option<&Column<u32>>,
    ) -> Result<Ref<'a, u64>, DeviceError> {
        Ok(self.widened(self.numbers(number, rows)?)?)
    }

    /// Numbers of 64 bits.
    fn widened<'a>(&self, numbers: Numbers<'a>) -> Result<Ref<'a, u64>, GpuError> {
        match numbers {
            Numbers::Wide(values) => Ok(values),
            Numbers::Narrow(values) => Ok(Ref::Made(self.widen(&values)?)),
        }
    }

    /// Rows in the order of numbers.
    fn in_order(&self, numbers: Numbers<'_>, descends: bool) -> Result<Numbers<'_>, GpuError> {
        let turned = if descends { u32::MAX } else { 0 };
        Ok(match numbers {
            Numbers::Narrow(values) => {
                let inputs = [(1, values.buffer())];
                let made = self.made("turn_u32", values.rows(), [turned, 0], &inputs)?;
                Numbers::Narrow(Ref::Made(made))
            }
            Numbers::Wide(values) => {
                let inputs = [(3, values.buffer())];
                let bits = [turned, turned ^ SIGN];
                let made = self.made("turn_u64", values.rows(), bits, &inputs)?;
                Numbers::Wide(Ref::Made(made))
            }
        })
    }
}

impl ColumnDevice for Gpu {
    fn name(&self) -> String {
        self.info().name.clone()
    }

    fn is_software(&self) -> bool {
        self.info().kind == DeviceKind::Software
    }

    fn memory_bytes(&self) -> Option<u64> {
        self.memory_bytes
    }

    fn traffic(&self) -> Traffic {
        self.copied.total()
    }

    fn copy(&self, values: Values<'_>) -> Result<DeviceColumn, DeviceError> {
        let column = match values {
            Values::Narrow(values) => Resident::Narrow(self.upload(values)?),
            Values::Wide(values) => {
                Resident::Wide(self.upload::<u64>(bytemuck::cast_slice(values))?)
            }
        };
        self.wait()?;
        Ok(DeviceColumn::new(column, values.bytes()))
    }

    fn release(&self) {
        Self::release(self);
    }

    fn count(&self, rows: usize, within: &[Within<'_>]) -> Result<u64, DeviceError> {
        let met = self.rows_within(within)?;
        Ok(met.map_or(rows, |met| met.len()) as u64)
    }

    fn group(
        &self,
        keys: &[&DeviceColumn],
        within: &[Within<'_>],
        values: &[Number<'_>],
    ) -> Result<Vec<Groups>, DeviceError> {
        let rows = self.rows_within(within)?;
        let rows = rows.as_ref();
        let (minor, major) = match keys {
            [minor] => (self.key(minor, rows)?, None),
            [major, minor] => (self.key(minor, rows)?, Some(self.key(major, rows)?)),
            _ => return Err(DeviceError::Unsuitable("keys are neither one nor two".to_owned())),
        };
        let made = values.iter().map(|&value| self.value(value, rows));
        let made = made.collect::<Result<Vec<_>, _>>()?;
        let made: Vec<&Column<u64>> = made.iter().map(|values| &**values).collect();
        let groups = self.group_each(&minor, major.as_deref(), &made)?;
        let most = i64::MAX.cast_unsigned();
        if groups.iter().flat_map(|of| &of.moments).any(|of| of.count > 0 && of.max > most) {
            return Err(DeviceError::Unsuitable("a value is negative".to_owned()));
        }
        Ok(groups)
    }

    fn first(
        &self,
        most: usize,
        order: &[(Number<'_>, bool)],
        within: &[Within<'_>],
    ) -> Result<Vec<u32>, DeviceError> {
        let rows = self.rows_within(within)?;
        let mut sorted: Option<Column<u32>> = None;
        // From the number that counts least: sorting keeps the order of equal ones.
        for &(number, descends) in order.iter().rev() {
            let keys = self.in_order(self.numbers(number, rows.as_ref())?, descends)?;
            let next = match keys {
                Numbers::Narrow(keys) => {
                    let keys = self.after(keys, sorted.as_ref())?;
                    self.sort_u32(&keys)?
                }
                Numbers::Wide(keys) => {
                    let keys = self.after(keys, sorted.as_ref())?;
                    self.sort(&keys)?
                }
            };
            sorted = Some(match sorted {
                None => next,
                Some(before) => self.gather(&before, &next)?,
            });
        }
        let sorted = match (rows, sorted) {
            (Some(rows), None) => rows,
            (None, Some(sorted)) => sorted,
            (Some(rows), Some(sorted)) => self.gather(&rows, &sorted)?,
            (None, None) => {
                let none = "there is neither a condition nor an order";
                return Err(DeviceError::Unsuitable(none.to_owned()));
            }
        };
        Ok(self.download_rows(&sorted, 0, most.min(sorted.len()))?)
    }
}

impl Gpu {
    /// Keys in an order that there is already.
    fn after<'a, T: Word>(
        &self,
        keys: Ref<'a, T>,
        order: Option<&Column<u32>>,
    ) -> Result<Ref<'a, T>, GpuError> {
        Ok(match order {
            None => keys,
            Some(order) => Ref::Made(self.gather(&keys, order)?),
        })
    }
}
