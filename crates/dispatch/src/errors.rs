//! Errors of the service as replies: by error category.

use parallax_base::ReadError;
use parallax_protocol::ErrorReply;
use parallax_service::{ConversionError, ServiceError};
use parallax_wire::WireError;

pub(crate) fn service_error(error: &ServiceError) -> ErrorReply {
    let kind = if error.is_cancelled() {
        "cancelled"
    } else if error.is_misuse() {
        "misuse"
    } else if matches!(error, ServiceError::Open(_) | ServiceError::Scaling(_)) {
        "open"
    } else {
        "read"
    };
    with_hint(kind, error.to_string())
}

pub(crate) fn conversion_error(error: &ConversionError) -> ErrorReply {
    let kind = if matches!(error, ConversionError::Cancelled(_)) { "cancelled" } else { "open" };
    with_hint(kind, error.to_string())
}

pub(crate) fn read_error(error: &ReadError, name: &str) -> ErrorReply {
    with_hint("read", format!("{name}: {error}"))
}

pub(crate) fn wire_error(error: &WireError) -> ErrorReply {
    ErrorReply::new("protocol", error.to_string())
}

/// A file that changed under an open page is the commonest failure that no message of a reader can
/// explain: readers see bytes, not why they are gone.
fn with_hint(kind: &str, message: String) -> ErrorReply {
    let error = ErrorReply::new(kind, message);
    if error.message.contains("cannot read at offset") {
        return error.with_hint(
            "the file was removed, changed or cut short after it was opened; open it again",
        );
    }
    error
}
