//! Sizes and field offsets of the on-disk records; `FORMAT.md` explains them and a test compares
//! the two.

pub(super) const MAGIC: &[u8; 10] = b"HPCTOOLKIT";
pub(super) const FOOTER_SIZE: u64 = 8;
pub(super) const MAJOR: u8 = 4;
/// The common header before the first section pair.
pub(super) const HEADER_SIZE: u64 = 0x10;
pub(super) const SECTION_PAIR_SIZE: u64 = 0x10;

/// Smallest strides under which a record still has all fields of 4.0.
pub(super) const METRIC_SIZE: u64 = 0x20;
pub(super) const SCOPE_INSTANCE_SIZE: u64 = 0x10;
pub(super) const SUMMARY_SIZE: u64 = 0x18;
pub(super) const SCOPE_SIZE: u64 = 0x10;
pub(super) const MODULE_SIZE: u64 = 0x10;
pub(super) const FILE_SIZE: u64 = 0x10;
pub(super) const FUNCTION_SIZE: u64 = 0x28;
pub(super) const ENTRY_SIZE: u64 = 0x20;
pub(super) const CONTEXT_SIZE: u64 = 0x20;
pub(super) const PROFILE_SIZE: u64 = 0x30;
pub(super) const CONTEXT_INFO_SIZE: u64 = 0x20;
pub(super) const TRACE_SIZE: u64 = 0x18;
pub(super) const IDENTITY_SIZE: u64 = 0x10;

/// The 2022 draft that carries the same version number.
pub(super) const DRAFT_METRIC_SIZE: u64 = 0x18;
pub(super) const DRAFT_SCOPE_SIZE: u64 = 0x18;
pub(super) const DRAFT_SUMMARY_SIZE: u64 = 0x10;
pub(super) const DRAFT_CONTEXT_SIZE: u64 = 0x18;
pub(super) const DRAFT_PROFILE_SIZE: u64 = 0x28;

/// Array elements; these never grow.
pub(super) const VALUE_SIZE: usize = 10;
pub(super) const CONTEXT_INDEX_SIZE: usize = 12;
pub(super) const PROFILE_VALUE_SIZE: usize = 12;
pub(super) const METRIC_INDEX_SIZE: usize = 10;
pub(super) const SAMPLE_SIZE: usize = 12;

/// Context flags: which flexible words follow.
pub(super) const HAS_FUNCTION: u8 = 1;
pub(super) const HAS_SOURCE: u8 = 2;
pub(super) const HAS_POINT: u8 = 4;
