//! Columns in a device's memory.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use parallax_columns::Traffic;

use crate::{Gpu, GpuError};

/// What a column can consist of: `u32` and `u64`.
pub trait Word: bytemuck::Pod + Send + Sync + sealed::Sealed {}

impl Word for u32 {}
impl Word for u64 {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// Memory of the device that no column has any more, by size.
pub(crate) type Pool = Arc<Mutex<BTreeMap<u64, Vec<wgpu::Buffer>>>>;

/// Memory of the device, which goes back to the pool.
#[derive(Debug)]
pub(crate) struct Memory {
    buffer: Option<wgpu::Buffer>,
    pool: Pool,
}

impl Memory {
    pub(crate) fn new(buffer: wgpu::Buffer, pool: Pool) -> Self {
        Self { buffer: Some(buffer), pool }
    }

    pub(crate) fn buffer(&self) -> &wgpu::Buffer {
        // Taken out by `drop` alone.
        self.buffer.as_ref().unwrap_or_else(|| unreachable!())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
            pool.entry(buffer.size()).or_default().push(buffer);
        }
    }
}

/// A column of whole numbers in the memory of a [`Gpu`].
#[derive(Debug)]
pub struct Column<T: Word> {
    pub(crate) memory: Memory,
    len: u32,
    of: PhantomData<T>,
}

impl<T: Word> Column<T> {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn rows(&self) -> u32 {
        self.len
    }

    pub(crate) fn buffer(&self) -> &wgpu::Buffer {
        self.memory.buffer()
    }
}

/// Bytes of columns that were copied to the device and from it.
#[derive(Debug, Default)]
pub(crate) struct Copied {
    to: AtomicU64,
    from: AtomicU64,
}

impl Copied {
    pub(crate) fn total(&self) -> Traffic {
        let [to_bytes, from_bytes] =
            [&self.to, &self.from].map(|bytes| bytes.load(Ordering::Relaxed));
        Traffic { to_bytes, from_bytes }
    }
}

/// So much is copied at once: what is copied lies in memory of the host a second time.
const PART: usize = 64 << 20;

impl Gpu {
    /// Copies a column to the device.
    ///
    /// # Errors
    /// When the device has no room for it.
    pub fn upload<T: Word>(&self, values: &[T]) -> Result<Column<T>, GpuError> {
        let column = self.column(values.len())?;
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let mut at = 0;
        for part in bytes.chunks(PART) {
            self.queue.write_buffer(column.buffer(), at, part);
            at += part.len() as u64;
            self.queue.submit([]);
            if bytes.len() > PART {
                self.wait()?;
            }
        }
        self.copied.to.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.failure()?;
        Ok(column)
    }

    /// Copies a column to the host, once all that was queued has been done.
    ///
    /// # Errors
    /// When the device fails, or has no room for the copy.
    pub fn download<T: Word>(&self, column: &Column<T>) -> Result<Vec<T>, GpuError> {
        self.download_rows(column, 0, column.len())
    }

    /// [`Gpu::download`] of `len` rows from row `first` on.
    pub(crate) fn download_rows<T: Word>(
        &self,
        column: &Column<T>,
        first: usize,
        len: usize,
    ) -> Result<Vec<T>, GpuError> {
        self.read(column.buffer(), first, len)
    }

    /// `len` words of a buffer, from the `first` one on.
    fn read<T: Word>(
        &self,
        buffer: &wgpu::Buffer,
        first: usize,
        len: usize,
    ) -> Result<Vec<T>, GpuError> {
        let mut out = vec![T::zeroed(); len];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut out);
        if bytes.is_empty() {
            return Ok(out);
        }
        let mut kept = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        let size = bytes.len().min(PART) as u64;
        let staging = match kept.take().filter(|staging| staging.size() >= size) {
            Some(staging) => staging,
            None => {
                let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
                self.create_buffer(size.next_power_of_two(), usage)?
            }
        };
        let mut at = (first * size_of::<T>()) as u64;
        for part in bytes.chunks_mut(PART) {
            let size = part.len() as u64;
            let mut encoder =
                self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(buffer, at, &staging, 0, size);
            self.queue.submit([encoder.finish()]);
            let (sender, receiver) = std::sync::mpsc::channel();
            staging.map_async(wgpu::MapMode::Read, 0..size, move |result| {
                // Nobody waits for it once this function has returned.
                let _ = sender.send(result);
            });
            self.wait()?;
            // Another thread that waits, too, may be the one that is about to send.
            let mapped = receiver.recv().map_err(|error| GpuError::Failed(error.to_string()))?;
            mapped.map_err(|error| GpuError::Failed(error.to_string()))?;
            let view =
                staging.get_mapped_range(0..size).map_err(|e| GpuError::Failed(e.to_string()))?;
            part.copy_from_slice(&view);
            drop(view);
            staging.unmap();
            at += size;
        }
        *kept = Some(staging);
        self.copied.from.fetch_add((len * size_of::<T>()) as u64, Ordering::Relaxed);
        self.failure()?;
        Ok(out)
    }

    /// The values of the first `len` queries.
    pub(crate) fn resolved(
        &self,
        queries: &wgpu::QuerySet,
        len: usize,
    ) -> Result<Vec<u64>, GpuError> {
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let buffer = self.create_buffer((len * 8) as u64, usage)?;
        let mut encoder =
            self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let rows = u32::try_from(len).unwrap_or(u32::MAX);
        encoder.resolve_query_set(queries, 0..rows, &buffer, 0);
        self.queue.submit([encoder.finish()]);
        self.read(&buffer, 0, len)
    }

    /// A column of `len` rows with unspecified contents.
    pub(crate) fn column<T: Word>(&self, len: usize) -> Result<Column<T>, GpuError> {
        let bytes = (len * size_of::<T>()) as u64;
        let len =
            u32::try_from(len).map_err(|_| GpuError::TooLarge { bytes, limit: self.limit() })?;
        Ok(Column { memory: self.memory(bytes)?, len, of: PhantomData })
    }

    /// The most bytes that a column can have.
    pub(crate) fn limit(&self) -> u64 {
        let limits = self.device.limits();
        limits.max_storage_buffer_binding_size.min(limits.max_buffer_size)
    }

    fn memory(&self, bytes: u64) -> Result<Memory, GpuError> {
        if bytes > self.limit() {
            return Err(GpuError::TooLarge { bytes, limit: self.limit() });
        }
        // Sizes in steps of an eighth, so that memory fits again.
        let step = (bytes.max(256).next_power_of_two() / 16).max(256);
        let size = bytes.max(1).next_multiple_of(step).min(self.limit());
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(buffer) = pool.get_mut(&size).and_then(Vec::pop) {
            return Ok(Memory::new(buffer, Arc::clone(&self.pool)));
        }
        drop(pool);
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        let buffer = match self.create_buffer(size, usage) {
            Err(GpuError::OutOfMemory { .. }) => {
                self.release();
                self.create_buffer(size, usage)?
            }
            other => other?,
        };
        Ok(Memory::new(buffer, Arc::clone(&self.pool)))
    }

    /// Gives memory that no column has back to the device.
    pub fn release(&self) {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        pool.values().flatten().for_each(wgpu::Buffer::destroy);
        pool.clear();
    }

    fn create_buffer(
        &self,
        size: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer, GpuError> {
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: size.next_multiple_of(4),
            usage,
            mapped_at_creation: false,
        });
        match pollster::block_on(scope.pop()) {
            None => Ok(buffer),
            Some(_) => Err(GpuError::OutOfMemory { bytes: size }),
        }
    }
}
