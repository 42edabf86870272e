//! [`Numbers`]: one column.

use super::{Paged, Paging};
use crate::ActivationIdx;
use crate::casts::low_u32;

/// What a column may have.
pub trait Number: Copy {
    /// As 64 bits.
    fn wide(self) -> u64;
    /// From what [`Number::wide`] gave.
    fn narrow(wide: u64) -> Self;
}

impl Number for u32 {
    #[inline]
    fn wide(self) -> u64 {
        self.into()
    }

    #[inline]
    fn narrow(wide: u64) -> Self {
        low_u32(wide)
    }
}

impl Number for u64 {
    #[inline]
    fn wide(self) -> u64 {
        self
    }

    #[inline]
    fn narrow(wide: u64) -> Self {
        wide
    }
}

impl Number for ActivationIdx {
    #[inline]
    fn wide(self) -> u64 {
        self.get().into()
    }

    #[inline]
    fn narrow(wide: u64) -> Self {
        Self::new(low_u32(wide))
    }
}

/// Whole numbers by position: [`Paged`] with one number a row.
#[derive(Debug, Clone, Default)]
pub struct Numbers<T> {
    rows: Paged<1>,
    kind: std::marker::PhantomData<T>,
}

impl<T: Number> Numbers<T> {
    /// No numbers.
    #[must_use]
    pub fn new(paging: &Paging) -> Self {
        Self { rows: Paged::new(paging), kind: std::marker::PhantomData }
    }

    /// The same number so many times.
    #[must_use]
    pub fn filled(paging: &Paging, len: usize, number: T) -> Self {
        let rows = Paged::filled(paging, len, [number.wide()]);
        Self { rows, kind: std::marker::PhantomData }
    }

    /// What the numbers share with others.
    #[must_use]
    pub fn paging(&self) -> Paging {
        self.rows.paging()
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The number at a position; `None` behind the last one.
    #[inline]
    #[must_use]
    pub fn get(&self, at: usize) -> Option<T> {
        (at < self.len()).then(|| T::narrow(self.rows.cell(at, 0)))
    }

    /// As [`Numbers::get`], for those who have the numbers for themselves; 0 behind the last one.
    #[inline]
    pub fn at(&mut self, at: usize) -> T {
        let [number] = self.rows.at(at);
        T::narrow(number)
    }

    /// Sets a number; nothing behind the last one.
    #[inline]
    pub fn set(&mut self, at: usize, number: T) {
        self.rows.set(at, [number.wide()]);
    }

    /// Adds a number.
    #[inline]
    pub fn push(&mut self, number: T) {
        self.rows.push([number.wide()]);
    }

    /// All numbers in order.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// How many come before the first one of which `is_before` does not hold; it must hold of none
    /// after that one.
    #[must_use]
    pub fn partition_point(&self, is_before: impl Fn(T) -> bool) -> usize {
        self.rows.partition_point(|&[number]| is_before(T::narrow(number)))
    }
}

impl<T: Number> FromIterator<T> for Numbers<T> {
    fn from_iter<I: IntoIterator<Item = T>>(numbers: I) -> Self {
        let mut out = Self::new(&Paging::in_memory());
        numbers.into_iter().for_each(|number| out.push(number));
        out
    }
}

impl<T: Number> PartialEq for Numbers<T> {
    fn eq(&self, other: &Self) -> bool {
        let wide = |list: &Self, at| list.rows.cell(at, 0);
        self.len() == other.len() && (0..self.len()).all(|at| wide(self, at) == wide(other, at))
    }
}

impl<T: Number> Eq for Numbers<T> {}
