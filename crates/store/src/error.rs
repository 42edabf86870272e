//! [`StoreError`]: why an object cannot be had, in words that say what to do.

use object_store::Error;

use crate::client::Place;

/// Why something in a store cannot be listed or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The text names nothing in a store.
    #[error("{address} is no address in an object store: {why}")]
    Address {
        /// As it was typed.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// The variables of the environment are not enough, or contradict each other.
    #[error("{bucket} cannot be used: {why}")]
    Configuration {
        /// The address of the bucket.
        bucket: String,
        /// What the variables lack.
        why: String,
    },
    /// There is no such bucket.
    #[error("there is no bucket {bucket} at {endpoint}; check its name, and AWS_ENDPOINT_URL")]
    NoBucket {
        /// The address of the bucket.
        bucket: String,
        /// Where it was looked for.
        endpoint: String,
    },
    /// There is nothing at an address.
    #[error("there is no object {address} and nothing below it")]
    Nothing {
        /// What was looked for.
        address: String,
    },
    /// An object that was there is not there any more.
    #[error("{address} was removed while it was read; open it again")]
    Removed {
        /// The object.
        address: String,
    },
    /// An object is another one than when it was opened.
    #[error("{address} was changed while it was read; open it again")]
    Changed {
        /// The object.
        address: String,
    },
    /// The store refuses.
    #[error(
        "{address}: access denied by {endpoint} ({code}); check AWS_ACCESS_KEY_ID, \
         AWS_SECRET_ACCESS_KEY, and the right to list the bucket and read its objects"
    )]
    Denied {
        /// What was asked for.
        address: String,
        /// Who refused.
        endpoint: String,
        /// Its reason, as it names it.
        code: String,
    },
    /// There are no credentials.
    #[error(
        "{address}: no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
         AWS_SKIP_SIGNATURE=true for a public bucket ({cause})"
    )]
    NoCredentials {
        /// What was asked for.
        address: String,
        /// What the service that gives machines of a cloud credentials said.
        cause: String,
    },
    /// The bucket lies elsewhere.
    #[error("{bucket} is in another region; set AWS_REGION to its region")]
    Region {
        /// The address of the bucket.
        bucket: String,
    },
    /// The store does not answer.
    #[error(
        "{address}: no answer from {endpoint}: {cause}; check the network and AWS_ENDPOINT_URL"
    )]
    Unreachable {
        /// What was asked for.
        address: String,
        /// Where.
        endpoint: String,
        /// What the network said last.
        cause: String,
    },
    /// Anything else.
    #[error("{address}: {endpoint} failed: {cause}")]
    Failed {
        /// What was asked for.
        address: String,
        /// Where.
        endpoint: String,
        /// What it said.
        cause: String,
    },
    /// A prefix has more objects than are looked through.
    #[error("more than {most} objects lie below {address}: name a folder inside it")]
    TooMany {
        /// The prefix.
        address: String,
        /// Objects that are looked through at most.
        most: usize,
    },
    /// No thread can be started.
    #[error("object stores cannot be read: {0}")]
    Threads(String),
}

impl StoreError {
    /// What an error of the library means for what was asked for at `address`.
    pub(crate) fn of(error: &Error, address: String, place: &Place) -> Self {
        let whole = error.to_string();
        let (bucket, endpoint) = (place.bucket.clone(), place.endpoint.clone());
        let code = code(&whole);
        if code.as_deref() == Some("NoSuchBucket") {
            return Self::NoBucket { bucket, endpoint };
        }
        match error {
            Error::NotFound { .. } => return Self::Nothing { address },
            Error::Precondition { .. } => return Self::Changed { address },
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
                let code = code.unwrap_or_else(|| "403".to_owned());
                return Self::Denied { address, endpoint, code };
            }
            _ => {}
        }
        if !place.has_credentials && code.is_none() {
            return Self::NoCredentials { address, cause: innermost(error) };
        }
        if whole.contains("redirect without LOCATION")
            || code.as_deref() == Some("AuthorizationHeaderMalformed")
            || code.as_deref() == Some("PermanentRedirect")
        {
            return Self::Region { bucket };
        }
        if let Some(code) = code {
            return Self::Failed { address, endpoint, cause: code };
        }
        let cause = innermost(error);
        if whole.contains("status code") {
            return Self::Failed { address, endpoint, cause };
        }
        Self::Unreachable { address, endpoint, cause }
    }
}

/// What a store calls its error: `<Code>` of its reply.
fn code(text: &str) -> Option<String> {
    let rest = text.split_once("<Code>")?.1;
    Some(rest.split_once("</Code>")?.0.to_owned())
}

/// What the error comes from in the end: the layers above it repeat it.
fn innermost(error: &Error) -> String {
    let mut last: &dyn std::error::Error = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}
