//! [`places`]: what a server offers.

use std::path::PathBuf;

use parallax_places::{DataRoot, Reading};

use crate::ServerError;

/// What `paths` offer: each path is a place, and several are offered together as well. Files are
/// read and not mapped: whoever writes there may shorten one at any time (ADR 0031).
///
/// # Errors
/// When a path leads nowhere.
pub fn places(paths: &[PathBuf]) -> Result<Vec<DataRoot>, ServerError> {
    Ok(parallax_places::places(paths, Reading::Streamed)?)
}
