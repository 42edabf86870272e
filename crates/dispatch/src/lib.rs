//! Answers the questions of `protocol`: what a browser's worker and an HTTP server have in common.
//!
//! A [`Dispatcher`] knows *roots* (files and folders that may be opened) and *items* (what is open). It
//! takes a request as JSON and gives a [`Response`]; how bytes get in and out is the surface's
//! business. Every question goes the same way (`dispatch.rs`).
//!
//! Invariant: every number comes from `parallax_service`; nothing is computed here.

mod archives;
mod dispatch;
mod errors;
mod items;
mod open;
mod parts;
mod response;
mod statements;

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use parallax_base::{Control, Folder, Limits};
use parallax_protocol::{
    ErrorReply, FingerprintReply, HelloReply, PROTOCOL_VERSION, RootReply, Writing,
};
use serde_json::Value;

use crate::items::{Item, Items};

pub use archives::Archives;
pub use items::Content;
pub use response::{AnswerTables, NamedTable, Response};
pub use statements::Statements;

/// A file or folder that may be opened.
struct Root {
    key: String,
    name: String,
    folder: Arc<dyn Folder>,
}

/// An engine that answers requests, from any number of threads.
#[derive(Default)]
pub struct Dispatcher {
    roots: RwLock<Vec<Root>>,
    items: RwLock<Items>,
    parts: Mutex<Vec<parts::ReadParts>>,
    limits: Limits,
    archives: Option<Box<dyn Archives>>,
    statements: Option<Box<dyn Statements>>,
    /// Whether files of the roots may still be written.
    follow: bool,
}

impl Dispatcher {
    /// A dispatcher whose readers keep to `limits`.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// The same dispatcher, which has traces converted by `archives` instead of in memory.
    #[must_use]
    pub fn with_archives(self, archives: Box<dyn Archives>) -> Self {
        Self { archives: Some(archives), ..self }
    }

    /// The same dispatcher, whose statements in SQL are answered by `statements`; `None` for none.
    #[must_use]
    pub fn with_statements(self, statements: Option<Box<dyn Statements>>) -> Self {
        Self { statements, ..self }
    }

    /// The same dispatcher, which keeps so many items open at most; the oldest make room. For surfaces
    /// that close what they no longer need themselves.
    #[must_use]
    pub fn with_max_items(self, max_items: usize) -> Self {
        let items = Items::with_max(max_items);
        Self { items: RwLock::new(items), ..self }
    }

    /// The same dispatcher, which says that files of its roots may still be written: whoever opened
    /// them watches their fingerprints.
    #[must_use]
    pub fn following(self, follow: bool) -> Self {
        Self { follow, ..self }
    }

    /// Forgets a root; what was opened from it stays open.
    pub fn remove_root(&self, key: &str) {
        let mut roots = self.roots.write().unwrap_or_else(PoisonError::into_inner);
        roots.retain(|known| known.key != key);
    }

    /// Makes `folder` something that can be opened, with the display name `name`. A key that is
    /// known already now means the new folder.
    pub fn add_root(&self, key: &str, name: &str, folder: Arc<dyn Folder>) -> RootReply {
        let root = Root { key: key.to_owned(), name: name.to_owned(), folder };
        let reply = root.reply();
        let mut roots = self.roots.write().unwrap_or_else(PoisonError::into_inner);
        roots.retain(|known| known.key != key);
        roots.push(root);
        reply
    }

    /// Answers `request`, which is JSON as the protocol has it.
    ///
    /// # Errors
    /// Why there is no answer, as a human-readable message.
    pub fn answer_json(&self, request: &str, control: &Control) -> Result<Response, ErrorReply> {
        self.answer_tables(request, control)?.packed()
    }

    /// The same, with tables as they are in memory: for programs that take them without a copy.
    ///
    /// # Errors
    /// Why there is no answer, as a human-readable message.
    pub fn answer_tables(
        &self,
        request: &str,
        control: &Control,
    ) -> Result<AnswerTables, ErrorReply> {
        let not_understood = |error: String| {
            ErrorReply::new("protocol", format!("the request is not understood: {error}"))
                .with_hint("the page and the engine are of different versions; reload the page")
        };
        let message: Value =
            serde_json::from_str(request).map_err(|error| not_understood(error.to_string()))?;
        let (Some(name), Some(with)) = (message["ask"].as_str(), message["with"].as_object())
        else {
            return Err(not_understood("it has no `ask` or no `with`".to_owned()));
        };
        self.answer_question(name, with, control)
            .ok_or_else(|| not_understood(format!("there is no question `{name}`")))?
    }

    pub(crate) fn hello(&self) -> HelloReply {
        let roots = self.roots.read().unwrap_or_else(PoisonError::into_inner);
        HelloReply {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: PROTOCOL_VERSION,
            roots: roots.iter().map(Root::reply).collect(),
            follow: self.follow,
            sql: self.statements.is_some(),
        }
    }

    pub(crate) fn fingerprint(&self, key: &str) -> Result<FingerprintReply, ErrorReply> {
        let (name, folder) = self.root(key)?;
        let bits = folder.fingerprint().map_err(|error| errors::read_error(&error, &name))?;
        let writing = match folder.writing() {
            parallax_base::Writing::Unknown => Writing::Unknown,
            parallax_base::Writing::Growing => Writing::Growing,
            parallax_base::Writing::Abandoned => Writing::Abandoned,
            parallax_base::Writing::Complete => Writing::Complete,
        };
        Ok(FingerprintReply { fingerprint: format!("{bits:016x}"), writing })
    }

    pub(crate) fn close(&self, key: &str) {
        self.items.write().unwrap_or_else(PoisonError::into_inner).remove(key);
    }

    fn root(&self, key: &str) -> Result<(String, Arc<dyn Folder>), ErrorReply> {
        let roots = self.roots.read().unwrap_or_else(PoisonError::into_inner);
        let root = roots.iter().find(|root| root.key == key).ok_or_else(|| {
            ErrorReply::new("open", format!("there is no root `{key}`"))
                .with_hint("drop or pick the files again")
        })?;
        Ok((root.name.clone(), Arc::clone(&root.folder)))
    }

    fn item(&self, key: &str) -> Result<Arc<Item>, ErrorReply> {
        let items = self.items.read().unwrap_or_else(PoisonError::into_inner);
        items.get(key).ok_or_else(|| {
            ErrorReply::new("unknown_item", format!("`{key}` is not open"))
                .with_hint("it was closed; open it again")
        })
    }
}

impl Root {
    fn reply(&self) -> RootReply {
        let (files, error) = match self.folder.walk() {
            Ok(files) => (files, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        RootReply {
            key: self.key.clone(),
            name: self.name.clone(),
            files: files.len() as u64,
            bytes: files.iter().map(|file| file.len).sum(),
            error,
        }
    }
}
