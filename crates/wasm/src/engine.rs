//! [`Engine`]: what the worker's script calls.

use std::sync::Arc;

use js_sys::{Array, Function, Uint8Array};
use parallax_base::Limits;
use parallax_dispatch::Dispatcher;
use parallax_protocol::ErrorReply;
use wasm_bindgen::prelude::*;
use web_sys::Blob;

use crate::blobs::{BlobFolder, clear_prefetched, set_prefetched};
use crate::http::find_files;
use crate::watch::watched;

/// An engine in a worker.
#[wasm_bindgen]
pub struct Engine {
    dispatcher: Dispatcher,
}

/// The answer to a request.
#[wasm_bindgen]
pub struct Answer {
    json: String,
    tables: Array,
}

#[wasm_bindgen]
impl Answer {
    /// The reply as JSON; of errors an `ErrorReply`.
    #[wasm_bindgen(getter)]
    pub fn json(&self) -> String {
        self.json.clone()
    }

    /// The tables: pairs of a name and the bytes of an Arrow IPC stream.
    #[wasm_bindgen(getter)]
    pub fn tables(&self) -> Array {
        self.tables.clone()
    }
}

/// What was read of a part of a file.
#[wasm_bindgen]
pub struct ReadPart {
    to: u64,
    bytes: Uint8Array,
}

#[wasm_bindgen]
impl ReadPart {
    /// The offset where the part ends; where it begins, if no part ends in the bytes that were given.
    #[wasm_bindgen(getter)]
    pub fn to(&self) -> f64 {
        // Files are shorter than 2^53 bytes.
        self.to as f64
    }

    /// What was read; empty when it turned out to be no part of its own.
    #[wasm_bindgen(getter)]
    pub fn bytes(&self) -> Uint8Array {
        self.bytes.clone()
    }
}

impl Engine {
    fn part(
        &self,
        key: &str,
        path: &str,
        from: u64,
        end: u64,
        is_last: bool,
    ) -> Result<ReadPart, ErrorReply> {
        let to =
            if is_last { Some(end) } else { self.dispatcher.part_end(key, path, from, end)? };
        let read = match to {
            Some(to) => self.dispatcher.read_part(key, path, from, to)?,
            None => Vec::new(),
        };
        Ok(ReadPart { to: to.unwrap_or(from), bytes: Uint8Array::from(read.as_slice()) })
    }
}

fn error(error: &ErrorReply) -> JsValue {
    // A string that the worker's script parses: plain errors of JavaScript lose their parts.
    JsValue::from_str(&serde_json::to_string(error).unwrap_or_default())
}

#[wasm_bindgen]
impl Engine {
    /// An engine without any files.
    #[wasm_bindgen(constructor)]
    #[allow(clippy::new_without_default, reason = "JavaScript has no defaults")]
    pub fn new() -> Self {
        Self { dispatcher: Dispatcher::new(Limits::default()) }
    }

    /// Makes files of the page something that can be opened. `paths` and `blobs` go together.
    /// Returns the root as JSON.
    pub fn add_files(&self, key: &str, name: &str, paths: Vec<String>, blobs: Vec<Blob>) -> String {
        let folder = BlobFolder::new(name, paths.into_iter().zip(blobs));
        let root = self.dispatcher.add_root(key, name, Arc::new(folder));
        serde_json::to_string(&root).unwrap_or_default()
    }

    /// Makes files behind an address something that can be opened. `paths` are relative to `url`.
    /// Returns the root as JSON.
    ///
    /// # Errors
    /// An `ErrorReply` as JSON when none of the files can be had.
    pub fn add_url(
        &self,
        key: &str,
        name: &str,
        url: &str,
        paths: Vec<String>,
    ) -> Result<String, JsValue> {
        let folder = find_files(name, url, paths).map_err(|message| {
            let hint = "check the address; the server must allow this page to read it (CORS)";
            error(&ErrorReply::new("open", message).with_hint(hint))
        })?;
        let root = self.dispatcher.add_root(key, name, Arc::new(folder));
        Ok(serde_json::to_string(&root).unwrap_or_default())
    }

    /// Reads a part of a file, of which `bytes` were fetched: they begin at `from`, where the part
    /// does. It is as long as they allow; with `is_last` they reach to the end of the file.
    ///
    /// # Errors
    /// An `ErrorReply` as JSON.
    pub fn read_part(
        &self,
        key: &str,
        path: &str,
        from: f64,
        bytes: Uint8Array,
        is_last: bool,
    ) -> Result<ReadPart, JsValue> {
        let from = from as u64;
        let end = from + u64::from(bytes.length());
        set_prefetched(from, bytes);
        let read = self.part(key, path, from, end, is_last);
        clear_prefetched();
        read.map_err(|reply| error(&reply))
    }

    /// Takes what was read of the parts of a file, in their order, for when its root is opened.
    pub fn add_parts(&self, key: &str, path: &str, parts: Vec<Uint8Array>) {
        let parts = parts.into_iter().map(|part| part.to_vec()).collect();
        self.dispatcher.add_parts(key, path, parts);
    }

    /// Answers a request. `tell(done, total, bytes)` is called now and then while it runs and
    /// returns true to cancel.
    ///
    /// # Errors
    /// An `ErrorReply` as JSON.
    pub fn answer(&self, request: &str, tell: &Function) -> Result<Answer, JsValue> {
        let (answered, is_cancelled) =
            watched(tell, |control| self.dispatcher.answer_json(request, control));
        match answered {
            Ok(response) => {
                let tables = Array::new();
                for table in &response.tables {
                    let bytes = Uint8Array::from(table.bytes.as_slice());
                    tables.push(&Array::of2(&JsValue::from_str(table.name), &bytes));
                }
                Ok(Answer { json: response.json, tables })
            }
            // Readers only see that bytes could not be had; why is known here.
            Err(_) if is_cancelled => Err(error(&ErrorReply::new("cancelled", "cancelled"))),
            Err(reply) => Err(error(&reply)),
        }
    }

    /// Bytes of memory that the engine has taken from the browser. Memory is never given back.
    pub fn memory_bytes(&self) -> f64 {
        core::arch::wasm32::memory_size(0) as f64 * 65536.0
    }
}
