//! [`Archives`]: who converts traces for a dispatcher.

use std::sync::Arc;

use parallax_base::{Control, Folder};
use parallax_protocol::ErrorReply;

/// Makes archives of traces, and may keep them. A dispatcher without one converts in memory, each
/// time.
pub trait Archives: Send + Sync {
    /// The archive of the trace whose file is at `path` of the root with the key `root`.
    ///
    /// # Errors
    /// Why there is none, for the user to read.
    fn archive(
        &self,
        root: &str,
        path: &str,
        control: &Control,
    ) -> Result<Arc<dyn Folder>, ErrorReply>;
}
