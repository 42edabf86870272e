//! Where columns are, and what operates on them there.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::filter::widened;
use crate::{
    Groups, Numbers, Pairs, Picks, Room, TooManyPairs, durations, filter, filter_columns, gather,
    group, histogram, join, sort, sort_u32,
};

/// Values in the memory of the host, whoever owns them.
pub type Shared<T> = Arc<dyn AsRef<[T]> + Send + Sync>;

/// That a value of a column is in a range, both ends included.
#[derive(Debug)]
pub enum InRange<'a, M: Memory> {
    /// Of a narrow column.
    Narrow(&'a M::Narrow, RangeInclusive<u32>),
    /// Of a wide column.
    Wide(&'a M::Wide, RangeInclusive<u64>),
}

/// Some rows of columns.
#[derive(Debug)]
pub struct Filtered<M: Memory> {
    /// How many.
    pub rows: usize,
    /// Their narrow columns.
    pub narrow: Vec<M::Narrow>,
    /// Their wide columns.
    pub wide: Vec<M::Wide>,
}

/// Operates on columns that stay where they are: in the memory of the host, or in that of a device.
/// Results are the same wherever that is.
///
/// *Narrow* columns have 32 bits and *wide* ones 64. Columns that an operation combines are of one
/// memory, and have one length where they are of one table. Numbers of rows are below the length of
/// what is gathered.
pub trait Memory: Clone + Send + Sync {
    /// A column of `u32`.
    type Narrow: Send + Sync;
    /// A column of `u64`.
    type Wide: Send + Sync;
    /// Why something could not be done.
    type Error: std::error::Error + Send + Sync + 'static;

    /// A column with these values.
    ///
    /// # Errors
    /// When there is no room for it.
    fn put_narrow(&self, values: Shared<u32>) -> Result<Self::Narrow, Self::Error>;

    /// A column with these values.
    ///
    /// # Errors
    /// When there is no room for it.
    fn put_wide(&self, values: Shared<u64>) -> Result<Self::Wide, Self::Error>;

    /// The values of a column.
    ///
    /// # Errors
    /// When they cannot be had.
    fn narrow(&self, column: &Self::Narrow) -> Result<Shared<u32>, Self::Error>;

    /// The values of a column.
    ///
    /// # Errors
    /// When they cannot be had.
    fn wide(&self, column: &Self::Wide) -> Result<Shared<u64>, Self::Error>;

    /// Number of rows.
    fn num_rows(&self, column: &Self::Narrow) -> usize;

    /// The same values with 64 bits.
    ///
    /// # Errors
    /// When there is no room for them.
    fn widen(&self, column: &Self::Narrow) -> Result<Self::Wide, Self::Error>;

    /// [`durations`].
    ///
    /// # Errors
    /// When there is no room for them.
    fn durations(&self, starts: &Self::Wide, ends: &Self::Wide) -> Result<Self::Wide, Self::Error>;

    /// [`filter()`].
    ///
    /// # Errors
    /// When there is no room for the result.
    fn filter_narrow(
        &self,
        values: &Self::Narrow,
        range: RangeInclusive<u32>,
    ) -> Result<Self::Narrow, Self::Error>;

    /// [`filter()`].
    ///
    /// # Errors
    /// When there is no room for the result.
    fn filter_wide(
        &self,
        values: &Self::Wide,
        range: RangeInclusive<u64>,
    ) -> Result<Self::Narrow, Self::Error>;

    /// [`filter_columns`]: the rows of the columns in which a value is in a range.
    ///
    /// # Errors
    /// When there is no room for the result.
    fn filter_columns(
        &self,
        is_in: InRange<'_, Self>,
        narrow: &[&Self::Narrow],
        wide: &[&Self::Wide],
    ) -> Result<Filtered<Self>, Self::Error> {
        let rows = match is_in {
            InRange::Narrow(values, range) => self.filter_narrow(values, range)?,
            InRange::Wide(values, range) => self.filter_wide(values, range)?,
        };
        let narrow = narrow.iter().map(|values| self.gather_narrow(values, &rows));
        let wide = wide.iter().map(|values| self.gather_wide(values, &rows));
        Ok(Filtered {
            rows: self.num_rows(&rows),
            narrow: narrow.collect::<Result<_, _>>()?,
            wide: wide.collect::<Result<_, _>>()?,
        })
    }

    /// [`sort_u32`].
    ///
    /// # Errors
    /// When there is no room for the result.
    fn sort_narrow(&self, keys: &Self::Narrow) -> Result<Self::Narrow, Self::Error>;

    /// [`sort()`].
    ///
    /// # Errors
    /// When there is no room for the result.
    fn sort_wide(&self, keys: &Self::Wide) -> Result<Self::Narrow, Self::Error>;

    /// [`gather`].
    ///
    /// # Errors
    /// When there is no room for the result.
    fn gather_narrow(
        &self,
        values: &Self::Narrow,
        rows: &Self::Narrow,
    ) -> Result<Self::Narrow, Self::Error>;

    /// [`gather`].
    ///
    /// # Errors
    /// When there is no room for the result.
    fn gather_wide(
        &self,
        values: &Self::Wide,
        rows: &Self::Narrow,
    ) -> Result<Self::Wide, Self::Error>;

    /// [`group()`].
    ///
    /// # Errors
    /// When there is no room for the result.
    fn group(
        &self,
        minor: &Self::Narrow,
        major: Option<&Self::Narrow>,
        values: &Self::Wide,
    ) -> Result<Groups, Self::Error>;

    /// [`join()`]: the rows of the left side, and those of the right one.
    ///
    /// # Errors
    /// When there are too many pairs, or there is no room for them.
    fn join(
        &self,
        left: &Self::Narrow,
        right: &Self::Narrow,
    ) -> Result<(Self::Narrow, Self::Narrow), Self::Error>;

    /// [`histogram()`].
    ///
    /// # Errors
    /// When it cannot be computed.
    fn histogram(&self, values: &Self::Wide, edges: &[u64]) -> Result<Vec<u64>, Self::Error>;
}

/// The memory of the host: operations are those of this crate, on all cores.
#[derive(Debug, Clone, Copy, Default)]
pub struct Host;

fn shared<T: Send + Sync + 'static>(values: Vec<T>) -> Shared<T> {
    Arc::new(values)
}

impl Memory for Host {
    type Narrow = Shared<u32>;
    type Wide = Shared<u64>;
    type Error = TooManyPairs;

    fn put_narrow(&self, values: Shared<u32>) -> Result<Shared<u32>, TooManyPairs> {
        Ok(values)
    }

    fn put_wide(&self, values: Shared<u64>) -> Result<Shared<u64>, TooManyPairs> {
        Ok(values)
    }

    fn narrow(&self, column: &Shared<u32>) -> Result<Shared<u32>, TooManyPairs> {
        Ok(Arc::clone(column))
    }

    fn wide(&self, column: &Shared<u64>) -> Result<Shared<u64>, TooManyPairs> {
        Ok(Arc::clone(column))
    }

    fn num_rows(&self, column: &Shared<u32>) -> usize {
        values(column).len()
    }

    fn widen(&self, column: &Shared<u32>) -> Result<Shared<u64>, TooManyPairs> {
        Ok(shared(widened(values(column))))
    }

    fn durations(
        &self,
        starts: &Shared<u64>,
        ends: &Shared<u64>,
    ) -> Result<Shared<u64>, TooManyPairs> {
        Ok(shared(durations(values(starts), values(ends))))
    }

    fn filter_narrow(
        &self,
        column: &Shared<u32>,
        range: RangeInclusive<u32>,
    ) -> Result<Shared<u32>, TooManyPairs> {
        Ok(shared(filter(values(column), range)))
    }

    fn filter_wide(
        &self,
        column: &Shared<u64>,
        range: RangeInclusive<u64>,
    ) -> Result<Shared<u32>, TooManyPairs> {
        Ok(shared(filter(values(column), range)))
    }

    fn filter_columns(
        &self,
        is_in: InRange<'_, Self>,
        narrow: &[&Shared<u32>],
        wide: &[&Shared<u64>],
    ) -> Result<Filtered<Self>, TooManyPairs> {
        let all = narrow.iter().map(|column| Numbers::Four(values(column)));
        let all = all.chain(wide.iter().map(|column| Numbers::Eight(values(column))));
        let all: Vec<Numbers<'_>> = all.collect();
        let mut kept = filter_columns(&all, |block, picks: &mut Picks| match &is_in {
            InRange::Narrow(column, range) => {
                picks.push_within(values(column)[block].iter().copied(), range);
            }
            InRange::Wide(column, range) => {
                picks.push_within(values(column)[block].iter().copied(), range);
            }
        });
        let rows = kept.first().map_or(0, Room::len);
        let wide = kept.split_off(narrow.len());
        Ok(Filtered {
            rows,
            narrow: kept.into_iter().map(|room| shared(room.into_narrow())).collect(),
            wide: wide.into_iter().map(|room| shared(room.into_wide())).collect(),
        })
    }

    fn sort_narrow(&self, keys: &Shared<u32>) -> Result<Shared<u32>, TooManyPairs> {
        Ok(shared(sort_u32(values(keys))))
    }

    fn sort_wide(&self, keys: &Shared<u64>) -> Result<Shared<u32>, TooManyPairs> {
        Ok(shared(sort(values(keys))))
    }

    fn gather_narrow(
        &self,
        column: &Shared<u32>,
        rows: &Shared<u32>,
    ) -> Result<Shared<u32>, TooManyPairs> {
        Ok(shared(gather(values(column), values(rows))))
    }

    fn gather_wide(
        &self,
        column: &Shared<u64>,
        rows: &Shared<u32>,
    ) -> Result<Shared<u64>, TooManyPairs> {
        Ok(shared(gather(values(column), values(rows))))
    }

    fn group(
        &self,
        minor: &Shared<u32>,
        major: Option<&Shared<u32>>,
        column: &Shared<u64>,
    ) -> Result<Groups, TooManyPairs> {
        Ok(group(values(minor), major.map(values), values(column)))
    }

    fn join(
        &self,
        left: &Shared<u32>,
        right: &Shared<u32>,
    ) -> Result<(Shared<u32>, Shared<u32>), TooManyPairs> {
        let Pairs { left, right } = join(values(left), values(right))?;
        Ok((shared(left), shared(right)))
    }

    fn histogram(&self, column: &Shared<u64>, edges: &[u64]) -> Result<Vec<u64>, TooManyPairs> {
        Ok(histogram(values(column), edges))
    }
}

fn values<T>(column: &Shared<T>) -> &[T] {
    AsRef::<[T]>::as_ref(&**column)
}
