//! Progress of a file that is read from front to back.

use parallax_base::Control;

use crate::events::ConversionError;

/// Bytes between two reports.
const STEP_BYTES: u64 = 8 << 20;

/// Reports progress now and then. Compressed files are longer than they look; their progress ends
/// before the end.
pub(super) struct Progress<'c> {
    control: &'c Control,
    total: u64,
    told: u64,
}

impl<'c> Progress<'c> {
    pub(super) fn new(total: u64, control: &'c Control) -> Self {
        control.begin(total);
        Self { control, total, told: 0 }
    }

    /// So many bytes are read.
    pub(super) fn at(&mut self, bytes: u64) -> Result<(), ConversionError> {
        let bytes = bytes.min(self.total);
        if bytes >= self.told + STEP_BYTES {
            self.control.advance(bytes - self.told)?;
            self.told = bytes;
        }
        Ok(())
    }
}
