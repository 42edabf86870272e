//! [`Address`]: the name of a folder or an object in a store.

use std::fmt;

use object_store::path::Path;

use crate::StoreError;

/// How an address begins.
const S3: &str = "s3://";

/// A folder or an object in a store: `s3://bucket/path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub(crate) bucket: String,
    /// Without `/` at its ends; empty for the bucket itself.
    pub(crate) key: String,
}

impl Address {
    /// The address that `text` is.
    ///
    /// # Errors
    /// When it does not begin with `s3://` and a bucket, or has parts that no folder has.
    pub fn parse(text: &str) -> Result<Self, StoreError> {
        let invalid =
            |why: &str| StoreError::Address { address: text.to_owned(), why: why.to_owned() };
        let rest = text.strip_prefix(S3).ok_or_else(|| invalid("it begins with no s3://"))?;
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err(invalid("it names no bucket; write s3://BUCKET/PATH"));
        }
        let key = key.trim_end_matches('/');
        Path::parse(key).map_err(|error| invalid(&error.to_string()))?;
        Ok(Self { bucket: bucket.to_owned(), key: key.to_owned() })
    }

    /// The folder that it lies in, and its name there; `None` for a bucket.
    #[must_use]
    pub fn split(&self) -> Option<(Self, String)> {
        if self.key.is_empty() {
            return None;
        }
        let (folder, name) = self.key.rsplit_once('/').unwrap_or(("", &self.key));
        Some((Self { bucket: self.bucket.clone(), key: folder.to_owned() }, name.to_owned()))
    }

    /// The object at a relative path below it; `None` for paths that leave it.
    pub(crate) fn below(&self, path: &str) -> Option<Path> {
        let is_inside = !path.is_empty() && !path.starts_with('/') && !path.ends_with('/');
        if !is_inside {
            return None;
        }
        if self.key.is_empty() {
            return Path::parse(path).ok();
        }
        Path::parse(format!("{}/{path}", self.key)).ok()
    }

    pub(crate) fn path(&self) -> Path {
        // It was checked when it was parsed.
        Path::parse(&self.key).unwrap_or_default()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{S3}{}", self.bucket)?;
        if self.key.is_empty() { Ok(()) } else { write!(out, "/{}", self.key) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written() {
        for (text, shown) in [
            ("s3://runs", "s3://runs"),
            ("s3://runs/", "s3://runs"),
            ("s3://runs/a/b c/", "s3://runs/a/b c"),
        ] {
            assert_eq!(Address::parse(text).unwrap().to_string(), shown);
        }
        for text in ["s3://", "s3:///a", "/s3://a", "s3://runs/a//b", "s3://runs/../a"] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn no_path_leaves_its_folder() {
        let folder = Address::parse("s3://runs/mine").unwrap();
        assert_eq!(folder.below("a/b").unwrap().as_ref(), "mine/a/b");
        for path in ["", "..", "../theirs", "/theirs", "a/../../theirs", "a//b", "a/"] {
            assert!(folder.below(path).is_none(), "{path}");
        }
    }
}
