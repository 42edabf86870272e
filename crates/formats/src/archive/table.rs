//! Tables of an archive: Arrow IPC files whose batches are read one by one.
//!
//! Messages of files are encoded by the Arrow library, so that every tool that knows Arrow reads them.
//! The block table is written here, because a table that is still written can be continued elsewhere
//! ([`TableWriter::fork`]), which is how a recording is looked at while it runs (ADR 0109). Reading
//! looks at the block table and the buffers itself: every offset of a foreign file is checked
//! before it is used, a batch of a mapped file is not copied, and nothing is decoded that nobody
//! asks for. Only what archives consist of is read: columns of numbers and texts without nulls.

use std::borrow::Cow;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt8Array, UInt16Array,
    UInt32Array, UInt64Array,
};
use arrow_ipc::convert::IpcSchemaEncoder;
use arrow_ipc::writer::{
    DictionaryTracker, EncodedData, IpcDataGenerator, IpcWriteContext, IpcWriteOptions,
    write_message,
};
use arrow_ipc::{
    Endianness, FooterBuilder, MetadataVersion, Precision, Type, root_as_footer, root_as_message,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use flatbuffers::FlatBufferBuilder;
use parallax_base::{LimitExceeded, Limits, Source, read_range};

use crate::FormatError;

/// What a column holds. Nothing is ever null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Bytes.
    U8,
    /// 16-bit numbers.
    U16,
    /// 32-bit numbers.
    U32,
    /// 64-bit numbers.
    U64,
    /// Signed 64-bit numbers.
    I64,
    /// Floating point numbers.
    F64,
    /// Text.
    Text,
}

impl ColumnKind {
    const fn width(self) -> u64 {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            // The offsets of texts.
            Self::U32 | Self::Text => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    const fn data_type(self) -> DataType {
        match self {
            Self::U8 => DataType::UInt8,
            Self::U16 => DataType::UInt16,
            Self::U32 => DataType::UInt32,
            Self::U64 => DataType::UInt64,
            Self::I64 => DataType::Int64,
            Self::F64 => DataType::Float64,
            Self::Text => DataType::Utf8,
        }
    }

    /// Validity, values; texts have offsets between.
    const fn num_buffers(self) -> usize {
        if matches!(self, Self::Text) { 3 } else { 2 }
    }
}

/// A table: its file and its columns.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    /// Name of the file in the archive.
    pub file: &'static str,
    /// Names and kinds of the columns.
    pub columns: &'static [(&'static str, ColumnKind)],
}

impl Layout {
    fn schema(&self) -> SchemaRef {
        let field = |&(name, kind): &(&str, ColumnKind)| Field::new(name, kind.data_type(), false);
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }

    /// Bytes of one row, without the content of texts.
    #[must_use]
    pub fn row_bytes(&self) -> u64 {
        self.columns.iter().map(|(_, kind)| kind.width()).sum()
    }
}

/// A column to be written.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnData {
    /// [`ColumnKind::U8`].
    U8(Vec<u8>),
    /// [`ColumnKind::U16`].
    U16(Vec<u16>),
    /// [`ColumnKind::U32`].
    U32(Vec<u32>),
    /// [`ColumnKind::U64`].
    U64(Vec<u64>),
    /// [`ColumnKind::I64`].
    I64(Vec<i64>),
    /// [`ColumnKind::F64`].
    F64(Vec<f64>),
    /// [`ColumnKind::Text`].
    Text(Vec<String>),
}

impl ColumnData {
    fn into_array(self) -> ArrayRef {
        match self {
            Self::U8(values) => Arc::new(UInt8Array::from(values)),
            Self::U16(values) => Arc::new(UInt16Array::from(values)),
            Self::U32(values) => Arc::new(UInt32Array::from(values)),
            Self::U64(values) => Arc::new(UInt64Array::from(values)),
            Self::I64(values) => Arc::new(Int64Array::from(values)),
            Self::F64(values) => Arc::new(Float64Array::from(values)),
            Self::Text(values) => Arc::new(StringArray::from(values)),
        }
    }
}

/// Buffers of a batch begin at multiples of so many bytes.
const ALIGNMENT: usize = 8;

/// What is at the start of a file: the magic, up to the next multiple of [`ALIGNMENT`].
const START: &[u8; ALIGNMENT] = b"ARROW1\0\0";
/// What is behind the last batch: a message of no length.
const LAST: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// Writes a table batch by batch.
pub struct TableWriter {
    layout: &'static Layout,
    schema: SchemaRef,
    options: IpcWriteOptions,
    file: Box<dyn Write + Send>,
    blocks: Vec<arrow_ipc::Block>,
    /// Bytes before the next batch.
    len: u64,
    context: IpcWriteContext,
}

impl TableWriter {
    /// Begins the table of `layout` in `file`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn new(layout: &'static Layout, file: Box<dyn Write + Send>) -> Result<Self, ArrowError> {
        let schema = layout.schema();
        // Buffers begin at multiples of 8 bytes, the least that Arrow allows: small batches would
        // consist of padding otherwise.
        let options = IpcWriteOptions::try_new(ALIGNMENT, false, MetadataVersion::V5)?;
        let blocks = Vec::new();
        let context = IpcWriteContext::default();
        let mut own = Self { layout, schema, options, file, blocks, len: 0, context };
        own.put(START)?;
        let message = IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(
            &own.schema,
            &mut DictionaryTracker::new(true),
            &own.options,
        );
        own.message(message)?;
        Ok(own)
    }

    /// Writes one batch; columns are those of the layout, in its order and of equal length.
    ///
    /// # Errors
    /// When the file cannot be written, or the columns are not those of the layout.
    pub fn write(&mut self, columns: Vec<ColumnData>) -> Result<(), ArrowError> {
        let arrays = columns.into_iter().map(ColumnData::into_array).collect();
        let batch = RecordBatch::try_new(SchemaRef::clone(&self.schema), arrays)?;
        // No column is a dictionary.
        let tracker = &mut DictionaryTracker::new(true);
        let generator = IpcDataGenerator::default();
        let (_, message) = generator.encode(&batch, tracker, &self.options, &mut self.context)?;
        let offset = self.len;
        let (head_bytes, body_bytes) = self.message(message)?;
        let too_large = |_| ArrowError::IpcError("a batch is too large".to_owned());
        self.blocks.push(arrow_ipc::Block::new(
            i64::try_from(offset).map_err(too_large)?,
            i32::try_from(head_bytes).map_err(too_large)?,
            i64::try_from(body_bytes).map_err(too_large)?,
        ));
        Ok(())
    }

    /// A writer of the same table that continues it in `file`: what was written so far, followed by
    /// what `file` will have, is a table. This one goes on as if nothing had happened.
    ///
    /// # Errors
    /// When what was written cannot be handed to the storage; it is tried again later.
    pub fn fork(&mut self, file: Box<dyn Write + Send>) -> Result<Self, ArrowError> {
        self.flush()?;
        Ok(Self {
            layout: self.layout,
            schema: SchemaRef::clone(&self.schema),
            options: self.options.clone(),
            file,
            blocks: self.blocks.clone(),
            len: self.len,
            context: IpcWriteContext::default(),
        })
    }

    /// Bytes of the file so far; of a fork together with what it continues.
    #[must_use]
    pub const fn len_bytes(&self) -> u64 {
        self.len
    }

    /// Writes the block table and hands everything to the storage.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(mut self) -> Result<(), ArrowError> {
        self.put(&LAST)?;
        let mut table = FlatBufferBuilder::new();
        let dictionaries = table.create_vector::<arrow_ipc::Block>(&[]);
        let batches = table.create_vector(&self.blocks);
        let schema = IpcSchemaEncoder::new().schema_to_fb_offset(&mut table, &self.schema);
        let mut footer = FooterBuilder::new(&mut table);
        footer.add_version(MetadataVersion::V5);
        footer.add_schema(schema);
        footer.add_dictionaries(dictionaries);
        footer.add_recordBatches(batches);
        let footer = footer.finish();
        table.finish(footer, None);
        let footer = table.finished_data();
        let too_long = |_| ArrowError::IpcError("the block table is too large".to_owned());
        let size = i32::try_from(footer.len()).map_err(too_long)?;
        self.put(footer)?;
        self.put(&size.to_le_bytes())?;
        self.put(MAGIC)?;
        self.flush()
    }

    /// Writes a message; gives the bytes of its head and its body.
    fn message(&mut self, message: EncodedData) -> Result<(usize, usize), ArrowError> {
        let (head, body) = write_message(&mut self.file, message, &self.options)?;
        self.len += (head + body) as u64;
        Ok((head, body))
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), ArrowError> {
        self.len += bytes.len() as u64;
        self.file.write_all(bytes).map_err(|cause| self.failed(cause))
    }

    fn flush(&mut self) -> Result<(), ArrowError> {
        self.file.flush().map_err(|cause| self.failed(cause))
    }

    fn failed(&self, cause: std::io::Error) -> ArrowError {
        ArrowError::IoError(self.layout.file.to_owned(), cause)
    }
}

/// A table that is read batch by batch.
pub struct Table {
    layout: &'static Layout,
    source: Source,
    blocks: Vec<Block>,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    offset: u64,
    head_bytes: u64,
    body_bytes: u64,
}

const MAGIC: &[u8; 6] = b"ARROW1";
/// Bytes of the end of a file: the length of the footer and the magic.
const END_BYTES: u64 = 4 + MAGIC.len() as u64;

impl Table {
    /// Reads the block table: 24 bytes a batch.
    ///
    /// # Errors
    /// When the file is not the table of `layout`, or cannot be read.
    pub fn open(
        layout: &'static Layout,
        source: Source,
        limits: &Limits,
    ) -> Result<Self, FormatError> {
        let file = layout.file;
        let fail = |cause| FormatError::read(file, cause);
        let len = source.len();
        let cut = || FormatError::malformed(file, len, "the end of an Arrow file is missing");
        let end_at = len.checked_sub(END_BYTES).ok_or_else(cut)?;
        let end = read_range(&*source, end_at, END_BYTES).map_err(fail)?;
        let (size, magic) = end.split_first_chunk::<4>().ok_or_else(cut)?;
        let footer_bytes = u64::from(u32::from_le_bytes(*size));
        if magic != MAGIC || footer_bytes > end_at {
            return Err(cut());
        }
        limits
            .metadata("the block table", footer_bytes)
            .map_err(|cause| FormatError::Limit { file: file.into(), cause })?;
        let footer_at = end_at - footer_bytes;
        let footer = read_range(&*source, footer_at, footer_bytes).map_err(fail)?;
        let broken = |what: String| FormatError::malformed(file, footer_at, what);
        let footer =
            root_as_footer(&footer).map_err(|e| broken(format!("a broken block table: {e}")))?;
        let schema = footer.schema().ok_or_else(|| broken("no schema".into()))?;
        check_schema(layout, schema).map_err(broken)?;
        let mut blocks = Vec::new();
        for block in footer.recordBatches().iter().flatten() {
            let sizes = (
                u64::try_from(block.offset()),
                u64::try_from(block.metaDataLength()),
                u64::try_from(block.bodyLength()),
            );
            let (Ok(offset), Ok(head_bytes), Ok(body_bytes)) = sizes else {
                return Err(broken("a batch of negative size".into()));
            };
            let end = offset.checked_add(head_bytes).and_then(|at| at.checked_add(body_bytes));
            if end.is_none_or(|end| end > footer_at) {
                return Err(broken(format!("batch {} lies outside the file", blocks.len())));
            }
            blocks.push(Block { offset, head_bytes, body_bytes });
        }
        Ok(Self { layout, source, blocks })
    }

    /// Number of batches.
    #[must_use]
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there are no batches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Reads batch `index`, counted from 0 in the order they were written.
    ///
    /// # Errors
    /// When there is no such batch, it is broken, or the source fails.
    pub fn batch(&self, index: usize) -> Result<Batch<'_>, FormatError> {
        let file = self.layout.file;
        let Some(&block) = self.blocks.get(index) else {
            let what = format!("batch {index} wanted, but there are {}", self.blocks.len());
            return Err(FormatError::malformed(file, self.source.len(), what));
        };
        let broken = |what: String| FormatError::malformed(file, block.offset, what);
        let size = block.head_bytes + block.body_bytes;
        let bytes = read_range(&*self.source, block.offset, size)
            .map_err(|cause| FormatError::read(file, cause))?;
        let head_bytes = usize::try_from(block.head_bytes).unwrap_or(usize::MAX);
        let (head, body) = bytes
            .split_at_checked(head_bytes)
            .ok_or_else(|| broken(format!("batch {index} is cut")))?;
        // A continuation marker and the length of the message precede it.
        let message = head.get(8..).ok_or_else(|| broken(format!("batch {index} has no head")))?;
        let message = root_as_message(message)
            .map_err(|e| broken(format!("batch {index} has a broken head: {e}")))?;
        let record = message
            .header_as_record_batch()
            .ok_or_else(|| broken(format!("batch {index} is no batch of records")))?;
        let rows = u64::try_from(record.length()).unwrap_or(0);
        let buffers = record.buffers();
        let mut at = 0;
        let mut columns = Vec::with_capacity(self.layout.columns.len());
        for (name, kind) in self.layout.columns {
            let range = |nth: usize, least: u64| -> Option<Range<usize>> {
                let buffers = buffers.filter(|buffers| nth < buffers.len())?;
                let buffer = buffers.get(nth);
                let start = usize::try_from(buffer.offset()).ok()?;
                let len = usize::try_from(buffer.length()).ok()?;
                let end = start.checked_add(len)?;
                (end <= body.len() && len as u64 >= least).then_some(start..end)
            };
            let is_text = *kind == ColumnKind::Text;
            // One offset more than there are texts; none at all where there are no texts.
            let items = if is_text && rows > 0 { rows + 1 } else { rows };
            let values = items.checked_mul(kind.width()).and_then(|least| range(at + 1, least));
            let texts = if is_text { range(at + 2, 0) } else { Some(0..0) };
            let (Some(values), Some(texts)) = (values, texts) else {
                return Err(broken(format!("column {name} of batch {index} lies outside it")));
            };
            columns.push((values, texts));
            at += kind.num_buffers();
        }
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
        let body_at = head_bytes;
        let batch = Batch { layout: self.layout, bytes, body_at, rows, columns };
        Ok(batch)
    }

    /// Reads all batches of a small table, one after the other.
    ///
    /// # Errors
    /// As [`Table::batch`].
    pub fn batches(&self) -> impl Iterator<Item = Result<Batch<'_>, FormatError>> {
        (0..self.len()).map(|index| self.batch(index))
    }

    /// Bytes of all batches.
    #[must_use]
    pub fn num_bytes(&self) -> u64 {
        self.blocks.iter().map(|block| block.body_bytes).sum()
    }

    /// The error of an answer that would be larger than allowed.
    pub(crate) fn over(&self, cause: LimitExceeded) -> FormatError {
        FormatError::Limit { file: self.layout.file.into(), cause }
    }
}

fn check_schema(layout: &Layout, schema: arrow_ipc::Schema<'_>) -> Result<(), String> {
    if schema.endianness() != Endianness::Little {
        return Err("numbers of the other byte order".into());
    }
    let fields = schema.fields().ok_or("no columns")?;
    let found: Vec<&str> = fields.iter().map(|field| field.name().unwrap_or_default()).collect();
    let expected = || layout.columns.iter().map(|(name, _)| *name);
    if !expected().eq(found.iter().copied()) {
        let expected: Vec<_> = expected().collect();
        return Err(format!(
            "columns {} where {} are expected",
            found.join(", "),
            expected.join(", ")
        ));
    }
    for ((name, kind), field) in layout.columns.iter().zip(fields) {
        if kind_of(field) != Some(*kind) {
            let found = field.type_type().variant_name().unwrap_or("something unknown");
            return Err(format!("column {name} holds {found} where {kind:?} is expected"));
        }
    }
    Ok(())
}

fn kind_of(field: arrow_ipc::Field<'_>) -> Option<ColumnKind> {
    if let Some(int) = field.type_as_int() {
        return match (int.bitWidth(), int.is_signed()) {
            (8, false) => Some(ColumnKind::U8),
            (16, false) => Some(ColumnKind::U16),
            (32, false) => Some(ColumnKind::U32),
            (64, false) => Some(ColumnKind::U64),
            (64, true) => Some(ColumnKind::I64),
            _ => None,
        };
    }
    match field.type_type() {
        Type::Utf8 => Some(ColumnKind::Text),
        Type::FloatingPoint => {
            let float = field.type_as_floating_point()?;
            (float.precision() == Precision::DOUBLE).then_some(ColumnKind::F64)
        }
        _ => None,
    }
}

/// The rows of one batch; columns are counted from 0 in the order of the layout.
pub struct Batch<'a> {
    layout: &'static Layout,
    bytes: Cow<'a, [u8]>,
    body_at: usize,
    rows: usize,
    /// Where the values (of texts: the offsets) and the texts lie in the body.
    columns: Vec<(Range<usize>, Range<usize>)>,
}

macro_rules! numbers {
    ($(#[$doc:meta])* $name:ident, $at:ident, $kind:ident, $type:ty) => {
        $(#[$doc])*
        pub fn $name(&self, column: usize) -> impl DoubleEndedIterator<Item = $type> + ExactSizeIterator + Clone + '_ {
            debug_assert_eq!(self.layout.columns.get(column).map(|c| c.1), Some(ColumnKind::$kind));
            const WIDTH: usize = size_of::<$type>();
            let values = self.values(column).as_chunks::<WIDTH>().0;
            let values = values.get(..self.rows).unwrap_or_default();
            values.iter().map(|bytes| <$type>::from_le_bytes(*bytes))
        }

        /// One value of such a column; 0 past the end.
        #[must_use]
        #[inline]
        pub fn $at(&self, column: usize, row: usize) -> $type {
            const WIDTH: usize = size_of::<$type>();
            let values = self.values(column).as_chunks::<WIDTH>().0;
            values.get(row).map_or(Default::default(), |bytes| <$type>::from_le_bytes(*bytes))
        }
    };
}

impl Batch<'_> {
    /// Number of rows.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Only the rows of a range; none where it is not inside.
    #[must_use]
    pub fn part(mut self, range: Range<usize>) -> Self {
        let is_inside = range.start <= range.end && range.end <= self.rows;
        let range = if is_inside { range } else { 0..0 };
        for ((values, _), (_, kind)) in self.columns.iter_mut().zip(self.layout.columns) {
            // The offsets of texts are values, too; the texts stay where they are.
            let width = usize::try_from(kind.width()).unwrap_or(usize::MAX);
            let skipped = range.start.saturating_mul(width);
            values.start = values.start.saturating_add(skipped).min(values.end);
        }
        self.rows = range.len();
        self
    }

    fn body(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get(self.body_at..).and_then(|body| body.get(range.clone())).unwrap_or_default()
    }

    fn values(&self, column: usize) -> &[u8] {
        self.columns.get(column).map_or(&[], |(values, _)| self.body(values))
    }

    numbers!(
        /// The values of a column of bytes.
        u8s, u8_at, U8, u8
    );
    numbers!(
        /// The values of a column of 16-bit numbers.
        u16s, u16_at, U16, u16
    );
    numbers!(
        /// The values of a column of 32-bit numbers.
        u32s, u32_at, U32, u32
    );
    numbers!(
        /// The values of a column of 64-bit numbers.
        u64s, u64_at, U64, u64
    );
    numbers!(
        /// The values of a column of signed 64-bit numbers.
        i64s, i64_at, I64, i64
    );
    numbers!(
        /// The values of a column of floating point numbers.
        f64s, f64_at, F64, f64
    );

    /// The texts of a column; what is not UTF-8 or lies outside is empty.
    pub fn texts(&self, column: usize) -> impl Iterator<Item = &str> + '_ {
        let (offsets, texts) = self
            .columns
            .get(column)
            .map_or((&[][..], &[][..]), |(o, t)| (self.body(o), self.body(t)));
        let offsets = offsets.as_chunks::<4>().0;
        let offset = |bytes: &[u8; 4]| usize::try_from(i32::from_le_bytes(*bytes)).ok();
        (0..self.rows).map(move |row| {
            let from = offsets.get(row).and_then(offset);
            let to = offsets.get(row + 1).and_then(offset);
            let range = from.zip(to).and_then(|(from, to)| texts.get(from..to));
            range.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
        })
    }
}

#[cfg(test)]
mod tests {
    use arrow_ipc::writer::FileWriter;
    use parallax_base::{Folder, FolderSink, MemorySink, MemorySource};

    use super::*;

    static LAYOUT: Layout = Layout {
        file: "t.arrow",
        columns: &[("a", ColumnKind::U32), ("name", ColumnKind::Text), ("x", ColumnKind::F64)],
    };

    fn written() -> Vec<u8> {
        let sink = MemorySink::new();
        let mut writer = TableWriter::new(&LAYOUT, sink.create("t.arrow").unwrap()).unwrap();
        for rows in [vec![1, 2, 3], vec![], vec![4]] {
            let names = rows.iter().map(|row| format!("row {row} ä")).collect();
            let x = rows.iter().map(|&row| f64::from(row) / 3.0).collect();
            let columns = vec![ColumnData::U32(rows), ColumnData::Text(names), ColumnData::F64(x)];
            writer.write(columns).unwrap();
        }
        writer.finish().unwrap();
        let folder = sink.into_folder("memory");
        let source = folder.open("t.arrow").unwrap().unwrap();
        read_range(&*source, 0, source.len()).unwrap().into_owned()
    }

    #[test]
    fn batches_come_back_as_they_were_written() {
        let table =
            Table::open(&LAYOUT, MemorySource::shared(written()), &Limits::default()).unwrap();
        assert_eq!(table.len(), 3);
        let mut rows = Vec::new();
        for batch in table.batches() {
            let batch = batch.unwrap();
            let numbers = batch.u32s(0).zip(batch.f64s(2));
            rows.extend(batch.texts(1).map(str::to_owned).zip(numbers));
        }
        let expected = [1, 2, 3, 4].map(|i| (format!("row {i} ä"), (i, f64::from(i) / 3.0)));
        assert_eq!(rows, expected);
    }

    #[test]
    fn a_file_is_what_the_arrow_library_writes() {
        let bytes = written();
        let options = IpcWriteOptions::try_new(ALIGNMENT, false, MetadataVersion::V5).unwrap();
        let mut theirs =
            FileWriter::try_new_with_options(Vec::new(), &LAYOUT.schema(), options).unwrap();
        for rows in [vec![1, 2, 3], vec![], vec![4_u32]] {
            let names: Vec<String> = rows.iter().map(|row| format!("row {row} ä")).collect();
            let x = rows.iter().map(|&row| f64::from(row) / 3.0).collect();
            let columns = [ColumnData::U32(rows), ColumnData::Text(names), ColumnData::F64(x)];
            let arrays = columns.into_iter().map(ColumnData::into_array).collect();
            theirs.write(&RecordBatch::try_new(LAYOUT.schema(), arrays).unwrap()).unwrap();
        }
        assert_eq!(bytes, theirs.into_inner().unwrap());
    }

    #[test]
    fn a_fork_continues_a_table_that_goes_on() {
        let row = |number: u32| {
            let text = ColumnData::Text(vec![format!("row {number}")]);
            vec![ColumnData::U32(vec![number]), text, ColumnData::F64(vec![0.5])]
        };
        let sink = MemorySink::new();
        let mut writer = TableWriter::new(&LAYOUT, sink.create("own").unwrap()).unwrap();
        writer.write(row(1)).unwrap();
        let mut fork = writer.fork(sink.create("fork").unwrap()).unwrap();
        let shared = usize::try_from(fork.len_bytes()).unwrap();
        writer.write(row(2)).unwrap();
        fork.write(row(3)).unwrap();
        fork.finish().unwrap();
        writer.finish().unwrap();
        let folder = sink.into_folder("memory");
        let bytes = |name: &str| {
            let source = folder.open(name).unwrap().unwrap();
            read_range(&*source, 0, source.len()).unwrap().into_owned()
        };
        let rows = |bytes: Vec<u8>| -> Vec<u32> {
            let source = MemorySource::shared(bytes);
            let table = Table::open(&LAYOUT, source, &Limits::default()).unwrap();
            table.batches().map(|batch| batch.unwrap().u32_at(0, 0)).collect()
        };
        let own = bytes("own");
        assert_eq!(rows([own.get(..shared).unwrap(), &bytes("fork")].concat()), [1, 3]);
        assert_eq!(rows(own), [1, 2]);
    }

    #[test]
    fn damage_anywhere_is_an_error_or_an_answer() {
        let whole = written();
        let read = |bytes: Vec<u8>| {
            let source = MemorySource::shared(bytes);
            if let Ok(table) = Table::open(&LAYOUT, source, &Limits::default()) {
                for batch in table.batches().filter_map(Result::ok) {
                    assert!(batch.u32s(0).count() <= batch.rows());
                    let _ = batch.texts(1).map(str::len).sum::<usize>();
                    let _ = batch.f64s(2).sum::<f64>();
                }
            }
        };
        for len in 0..whole.len() {
            read(whole.get(..len).unwrap_or_default().to_vec());
        }
        for at in 0..whole.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut bytes = whole.clone();
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= flip;
                }
                read(bytes);
            }
        }
    }

    #[test]
    fn a_part_of_a_batch_has_its_rows_only() {
        let table =
            Table::open(&LAYOUT, MemorySource::shared(written()), &Limits::default()).unwrap();
        let part = |range| table.batch(0).unwrap().part(range);
        let rows = part(1..3);
        assert_eq!(rows.u32s(0).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(rows.texts(1).collect::<Vec<_>>(), ["row 2 ä", "row 3 ä"]);
        assert_eq!(rows.f64_at(2, 1), 1.0);
        for range in [0..0, 3..3, 2..4, 9..9] {
            let rows = part(range);
            assert_eq!((rows.rows(), rows.u32s(0).len(), rows.texts(1).count()), (0, 0, 0));
        }
    }

    #[test]
    fn small_batches_are_not_mostly_padding() {
        let written = |batches: u32| {
            let sink = MemorySink::new();
            let mut writer = TableWriter::new(&LAYOUT, sink.create("t.arrow").unwrap()).unwrap();
            for row in 0..batches {
                let text = ColumnData::Text(vec![String::new()]);
                let columns = vec![ColumnData::U32(vec![row]), text, ColumnData::F64(vec![0.0])];
                writer.write(columns).unwrap();
            }
            writer.finish().unwrap();
            sink.into_folder("memory").open("t.arrow").unwrap().unwrap().len()
        };
        let each = (written(200) - written(100)) / 100;
        assert!(each < 480, "{each} bytes for a batch of one row");
    }

    #[test]
    fn another_table_is_named_in_the_error() {
        static OTHER: Layout = Layout { file: "t.arrow", columns: &[("b", ColumnKind::U32)] };
        let source = MemorySource::shared(written());
        let error = Table::open(&OTHER, source, &Limits::default()).err().unwrap();
        assert!(error.to_string().contains("columns a, name, x where b are expected"), "{error}");
    }
}
