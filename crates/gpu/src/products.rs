//! Sums of products of rows.

use parallax_columns::Products;

use crate::filter::lengths;
use crate::kernels::Module;
use crate::{Column, Gpu, GpuError};

impl Gpu {
    /// [`parallax_columns::products`] of rows of `dims` numbers each.
    ///
    /// # Errors
    /// When rows have no numbers or the last one lacks some, when there is no room for all pairs of
    /// rows, or the device fails.
    pub fn products(&self, values: &Column<u32>, dims: u32) -> Result<Products, GpuError> {
        if dims == 0 || !values.rows().is_multiple_of(dims) {
            return Err(lengths(values, values));
        }
        let rows = values.rows() / dims;
        // With a row of ones, whose products are the sums.
        let side = rows as usize + 1;
        let sums: Column<u32> = self.column(3 * side * side)?;
        let mut commands = self.commands();
        let buffers = [(1, values.buffer()), (2, sums.buffer())];
        let params = (sums.rows() / 3, [dims, rows, 0, 0, 0, 0]);
        commands.run((Module::Products, "products"), params, &buffers);
        commands.submit();
        let words = self.download(&sums)?;
        let number = |words: &[u32]| {
            words.iter().rev().fold(0_u128, |high, &low| high << 32 | u128::from(low))
        };
        let mut out = Products { dims: dims as usize, sums: Vec::new(), products: Vec::new() };
        for (a, row) in words.chunks_exact(3 * side).take(side - 1).enumerate() {
            let mut numbers: Vec<u128> = row.chunks_exact(3).skip(a).map(number).collect();
            let sum = numbers.pop().unwrap_or_default();
            out.sums.push(u64::try_from(sum).unwrap_or(u64::MAX));
            out.products.push(numbers);
        }
        Ok(out)
    }
}
