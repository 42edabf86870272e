//! Columns of one table, which stay in one memory from one operation to the next.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use crate::{Groups, InRange, MAX_ROWS, Memory, Shared, TableError};

/// Values of a column in the memory of the host.
#[derive(Clone)]
pub enum HostValues {
    /// Of 32 bits.
    Narrow(Shared<u32>),
    /// Of 64 bits.
    Wide(Shared<u64>),
}

impl HostValues {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow(values) => AsRef::<[u32]>::as_ref(&**values).len(),
            Self::Wide(values) => AsRef::<[u64]>::as_ref(&**values).len(),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A column, with whatever is known `about` it.
pub struct TableColumn<M: Memory, A> {
    /// Its name; no two of a table have the same.
    pub name: String,
    /// What is known about it; operations keep it.
    pub about: A,
    values: Values<M>,
}

enum Values<M: Memory> {
    Narrow(Arc<M::Narrow>),
    Wide(Arc<M::Wide>),
}

impl<M: Memory> Clone for Values<M> {
    fn clone(&self) -> Self {
        match self {
            Self::Narrow(values) => Self::Narrow(Arc::clone(values)),
            Self::Wide(values) => Self::Wide(Arc::clone(values)),
        }
    }
}

impl<M: Memory, A: Clone> Clone for TableColumn<M, A> {
    fn clone(&self) -> Self {
        let Self { name, about, values } = self;
        Self { name: name.clone(), about: about.clone(), values: values.clone() }
    }
}

impl<M: Memory, A> TableColumn<M, A> {
    /// Whether its values have 64 bits.
    #[must_use]
    pub fn is_wide(&self) -> bool {
        matches!(self.values, Values::Wide(_))
    }
}

/// Columns of one length in one [`Memory`]. Operations give other tables there, which share the columns
/// that they do not change.
pub struct ColumnTable<M: Memory, A> {
    memory: M,
    len: usize,
    columns: Vec<TableColumn<M, A>>,
}

impl<M: Memory + Default, A> Default for ColumnTable<M, A> {
    fn default() -> Self {
        Self { memory: M::default(), len: 0, columns: Vec::new() }
    }
}

impl<M: Memory, A: Clone> ColumnTable<M, A> {
    /// A table with these columns: a name, what is known about it, and its values.
    ///
    /// # Errors
    /// When lengths differ, two columns have one name, there are too many rows, or no room for them.
    pub fn new(
        memory: M,
        columns: impl IntoIterator<Item = (String, A, HostValues)>,
    ) -> Result<Self, TableError<M::Error>> {
        let mut table = Self { memory, len: 0, columns: Vec::new() };
        for (name, about, values) in columns {
            let rows = values.len();
            if table.columns.is_empty() {
                table.len = rows;
            }
            if rows != table.len {
                return Err(TableError::Lengths { name, rows, expected: table.len });
            }
            if rows > MAX_ROWS {
                return Err(TableError::TooManyRows { rows });
            }
            let values = match values {
                HostValues::Narrow(values) => {
                    Values::Narrow(Arc::new(table.memory.put_narrow(values)?))
                }
                HostValues::Wide(values) => Values::Wide(Arc::new(table.memory.put_wide(values)?)),
            };
            table.push(TableColumn { name, about, values })?;
        }
        Ok(table)
    }

    /// Where it is.
    pub fn memory(&self) -> &M {
        &self.memory
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The columns, in their order.
    #[must_use]
    pub fn columns(&self) -> &[TableColumn<M, A>] {
        &self.columns
    }

    /// A column by its name.
    ///
    /// # Errors
    /// When there is none.
    pub fn column(&self, name: &str) -> Result<&TableColumn<M, A>, TableError<M::Error>> {
        let found = self.columns.iter().find(|column| column.name == name);
        found.ok_or_else(|| TableError::NoColumn {
            name: name.to_owned(),
            known: self.columns.iter().map(|column| column.name.clone()).collect(),
        })
    }

    /// The values of a column in the memory of the host.
    ///
    /// # Errors
    /// When there is no such column, or its values cannot be had.
    pub fn host_values(&self, name: &str) -> Result<HostValues, TableError<M::Error>> {
        Ok(match &self.column(name)?.values {
            Values::Narrow(values) => HostValues::Narrow(self.memory.narrow(values)?),
            Values::Wide(values) => HostValues::Wide(self.memory.wide(values)?),
        })
    }

    /// Some of the columns, in the given order.
    ///
    /// # Errors
    /// When there is no such column, or it is named twice.
    pub fn select(&self, names: &[&str]) -> Result<Self, TableError<M::Error>> {
        let mut table = Self { memory: self.memory.clone(), len: self.len, columns: Vec::new() };
        for name in names {
            table.push(self.column(name)?.clone())?;
        }
        Ok(table)
    }

    /// The table with one more column: how long it is from `start` to `end`, 0 where that ends before it
    /// starts.
    ///
    /// # Errors
    /// When there is no such column, the name is taken, or there is no room for it.
    pub fn with_durations(
        &self,
        name: &str,
        about: A,
        [start, end]: [&str; 2],
    ) -> Result<Self, TableError<M::Error>> {
        let (start, end) = (self.widened(start)?, self.widened(end)?);
        let values = Values::Wide(Arc::new(self.memory.durations(&start, &end)?));
        let mut table = self.same_rows();
        table.push(TableColumn { name: name.to_owned(), about, values })?;
        Ok(table)
    }

    /// The rows in which a column is in a range, in their order.
    ///
    /// # Errors
    /// When there is no such column, or no room for the rows.
    pub fn filter(
        &self,
        name: &str,
        range: RangeInclusive<u64>,
    ) -> Result<Self, TableError<M::Error>> {
        let is_in = match &self.column(name)?.values {
            Values::Wide(values) => InRange::<M>::Wide(values, range),
            Values::Narrow(values) => {
                let (low, high) = range.into_inner();
                // Where no word of 32 bits is as great, nothing is in the range.
                let (low, high) = match u32::try_from(low) {
                    Ok(low) => (low, u32::try_from(high).unwrap_or(u32::MAX)),
                    Err(_) => (1, 0),
                };
                InRange::<M>::Narrow(values, low..=high)
            }
        };
        let (mut narrow, mut wide): (Vec<&M::Narrow>, Vec<&M::Wide>) = Default::default();
        for column in &self.columns {
            match &column.values {
                Values::Narrow(values) => narrow.push(values),
                Values::Wide(values) => wide.push(values),
            }
        }
        let kept = self.memory.filter_columns(is_in, &narrow, &wide)?;
        let (mut narrow, mut wide) = (kept.narrow.into_iter(), kept.wide.into_iter());
        let mut table = Self { memory: self.memory.clone(), len: kept.rows, columns: Vec::new() };
        for column in &self.columns {
            let values = match &column.values {
                Values::Narrow(_) => narrow.next().map(|kept| Values::Narrow(Arc::new(kept))),
                Values::Wide(_) => wide.next().map(|kept| Values::Wide(Arc::new(kept))),
            };
            let TableColumn { name, about, .. } = column.clone();
            // There are as many columns as before.
            table.columns.extend(values.map(|values| TableColumn { name, about, values }));
        }
        Ok(table)
    }

    /// The rows in ascending order of some columns, the first of which matters most; rows that are
    /// equal in all of them keep their order.
    ///
    /// # Errors
    /// When there is no such column, or no room for the rows.
    pub fn sort(&self, names: &[&str]) -> Result<Self, TableError<M::Error>> {
        let memory = &self.memory;
        let keys: Vec<_> = names.iter().map(|name| self.column(name)).collect::<Result<_, _>>()?;
        let mut rows: Option<M::Narrow> = None;
        // Sorting is stable, so what matters most is sorted by last.
        for key in keys.into_iter().rev() {
            let order = match (&key.values, &rows) {
                (Values::Narrow(keys), None) => memory.sort_narrow(keys)?,
                (Values::Wide(keys), None) => memory.sort_wide(keys)?,
                (Values::Narrow(keys), Some(rows)) => {
                    memory.sort_narrow(&memory.gather_narrow(keys, rows)?)?
                }
                (Values::Wide(keys), Some(rows)) => {
                    memory.sort_wide(&memory.gather_wide(keys, rows)?)?
                }
            };
            rows = Some(match &rows {
                None => order,
                Some(rows) => memory.gather_narrow(rows, &order)?,
            });
        }
        match rows {
            None => Ok(self.same_rows()),
            Some(rows) => self.gathered(&rows),
        }
    }

    /// The rows with these numbers; those behind the last one are left out.
    ///
    /// # Errors
    /// When there is no room for them.
    pub fn rows(&self, numbers: Range<usize>) -> Result<Self, TableError<M::Error>> {
        let number = |row: usize| u32::try_from(row.min(self.len)).unwrap_or(u32::MAX);
        let numbers: Vec<u32> = (number(numbers.start)..number(numbers.end)).collect();
        let numbers: Shared<u32> = Arc::new(numbers);
        self.gathered(&self.memory.put_narrow(numbers)?)
    }

    /// The values of a column by one or two others, whose values have 32 bits. Of two, the first is the
    /// major key. What comes back is in the memory of the host.
    ///
    /// # Errors
    /// When there is no such column, keys have 64 bits or are more than two, or the groups do not fit.
    pub fn group(&self, by: &[&str], of: &str) -> Result<Groups, TableError<M::Error>> {
        let (minor, major) = match by {
            [minor] => (self.key(minor)?, None),
            [major, minor] => (self.key(minor)?, Some(self.key(major)?)),
            _ => return Err(TableError::NumberOfKeys { keys: by.len() }),
        };
        let values = self.widened(of)?;
        Ok(self.memory.group(minor, major.map(AsRef::as_ref), &values)?)
    }

    /// The pairs of rows of both tables that have equal keys, whose values have 32 bits: all columns of
    /// this table, and those of the other one apart from its key. Of the other one, what is called like
    /// a column of this one is called that with a suffix.
    ///
    /// # Errors
    /// When there is no such column, keys have 64 bits, two columns are called the same with the suffix
    /// as well, there are too many pairs, or there is no room for them.
    pub fn join(
        &self,
        other: &Self,
        [left, right]: [&str; 2],
        suffix: &str,
    ) -> Result<Self, TableError<M::Error>> {
        let (left, other_key) = (self.key(left)?, other.key(right)?);
        let (left, right_rows) = self.memory.join(left, other_key)?;
        let mut table = self.gathered(&left)?;
        for column in other.columns.iter().filter(|column| column.name != right) {
            let mut column = other.gathered_column(column, &right_rows)?;
            if table.columns.iter().any(|known| known.name == column.name) {
                column.name.push_str(suffix);
            }
            table.push(column)?;
        }
        Ok(table)
    }

    /// How many values of a column are from each edge to the next one, that one excluded; in the last
    /// interval it is included.
    ///
    /// # Errors
    /// When there is no such column, edges do not ascend, or it cannot be computed.
    pub fn histogram(&self, name: &str, edges: &[u64]) -> Result<Vec<u64>, TableError<M::Error>> {
        let values = self.widened(name)?;
        if edges.len() < 2 || !edges.is_sorted() {
            return Err(TableError::Edges);
        }
        Ok(self.memory.histogram(&values, edges)?)
    }

    fn key(&self, name: &str) -> Result<&Arc<M::Narrow>, TableError<M::Error>> {
        match &self.column(name)?.values {
            Values::Narrow(values) => Ok(values),
            Values::Wide(_) => Err(TableError::WideKey { name: name.to_owned() }),
        }
    }

    fn widened(&self, name: &str) -> Result<Arc<M::Wide>, TableError<M::Error>> {
        Ok(match &self.column(name)?.values {
            Values::Narrow(values) => Arc::new(self.memory.widen(values)?),
            Values::Wide(values) => Arc::clone(values),
        })
    }

    fn same_rows(&self) -> Self {
        Self { memory: self.memory.clone(), len: self.len, columns: self.columns.clone() }
    }

    fn gathered(&self, rows: &M::Narrow) -> Result<Self, TableError<M::Error>> {
        let columns = self.columns.iter().map(|column| self.gathered_column(column, rows));
        let columns = columns.collect::<Result<_, _>>()?;
        Ok(Self { memory: self.memory.clone(), len: self.memory.num_rows(rows), columns })
    }

    fn gathered_column(
        &self,
        column: &TableColumn<M, A>,
        rows: &M::Narrow,
    ) -> Result<TableColumn<M, A>, TableError<M::Error>> {
        let values = match &column.values {
            Values::Narrow(values) => {
                Values::Narrow(Arc::new(self.memory.gather_narrow(values, rows)?))
            }
            Values::Wide(values) => Values::Wide(Arc::new(self.memory.gather_wide(values, rows)?)),
        };
        Ok(TableColumn { name: column.name.clone(), about: column.about.clone(), values })
    }

    fn push(&mut self, column: TableColumn<M, A>) -> Result<(), TableError<M::Error>> {
        if self.columns.iter().any(|known| known.name == column.name) {
            return Err(TableError::SameName { name: column.name });
        }
        self.columns.push(column);
        Ok(())
    }
}
