//! Files behind an address, read in ranges.

use std::sync::Arc;

use js_sys::Uint8Array;
use parallax_base::{
    BlockCache, ByteSource, ListedFolder, MemorySource, ReadError, Source, end_inside,
};
use wasm_bindgen::JsCast as _;
use web_sys::{XmlHttpRequest, XmlHttpRequestResponseType};

use crate::watch::count_bytes;

/// Every question to a server takes its time, so blocks are larger than those of local files.
const BLOCK_BYTES: u32 = 512 << 10;

/// Bytes of blocks kept for one file.
const CACHE_BYTES: u64 = 16 << 20;

/// What a server answered to a range.
struct Answered {
    /// 206 when it keeps to the range, 200 when it sends everything.
    status: u16,
    /// Length of the whole file, where the server tells.
    total: Option<u64>,
    bytes: Uint8Array,
}

/// Asks for the bytes from `start` to `last`, both included.
fn get(url: &str, start: u64, last: u64) -> Result<Answered, String> {
    let failed = |_| format!("{url} cannot be reached");
    let request = XmlHttpRequest::new().map_err(failed)?;
    // Synchronous: this is a worker, and everything above reads like from a file.
    request.open_with_async("GET", url, false).map_err(failed)?;
    request.set_response_type(XmlHttpRequestResponseType::Arraybuffer);
    request.set_request_header("Range", &format!("bytes={start}-{last}")).map_err(failed)?;
    request.send().map_err(failed)?;
    let status = request.status().map_err(failed)?;
    let range = request.get_response_header("Content-Range").ok().flatten();
    let total = range.and_then(|range| range.rsplit('/').next()?.trim().parse().ok());
    let body = request.response().map_err(failed)?;
    let bytes = body
        .dyn_into::<js_sys::ArrayBuffer>()
        .map_or_else(|_| Uint8Array::new_with_length(0), |buffer| Uint8Array::new(&buffer));
    Ok(Answered { status, total, bytes })
}

/// A file behind an address.
struct HttpSource {
    url: String,
    len: u64,
}

impl ByteSource for HttpSource {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let wanted = buffer.len() as u64;
        let end = end_inside(offset, wanted, self.len)?;
        if wanted == 0 {
            return Ok(());
        }
        count_bytes(wanted, offset)?;
        let failed = |cause: String| ReadError::Storage { offset, cause };
        let answered = get(&self.url, offset, end - 1).map_err(failed)?;
        let sent = u64::from(answered.bytes.length());
        // Some servers send more than was requested; where it begins is known all the same.
        let skipped = match answered.status {
            206 if sent >= wanted => 0,
            200 if sent == self.len => offset,
            status => {
                return Err(failed(format!(
                    "{} answered with status {status} and {sent} bytes",
                    self.url
                )));
            }
        };
        let (from, to) = (skipped as u32, (skipped + wanted) as u32);
        answered.bytes.subarray(from, to).copy_to(buffer);
        Ok(())
    }
}

/// The folder of those of `paths`, relative to `url`, that are there. A path of nothing is the
/// address itself.
///
/// # Errors
/// When none of them can be had; the text says why.
pub(crate) fn find_files(
    name: &str,
    url: &str,
    paths: Vec<String>,
) -> Result<ListedFolder<Source>, String> {
    let mut files: Vec<(String, Source)> = Vec::new();
    let mut last_error = None;
    for path in paths {
        let (address, path) = if path.is_empty() {
            let file = url.split(['?', '#']).next().unwrap_or(url);
            (url.to_owned(), file.rsplit('/').next().unwrap_or(file).to_owned())
        } else {
            (format!("{}/{path}", url.trim_end_matches('/')), path)
        };
        match look(&address) {
            Ok(Some(source)) => files.push((path, source)),
            Ok(None) => last_error = Some(format!("there is nothing at {address}")),
            Err(error) => last_error = Some(error),
        }
    }
    match last_error {
        Some(error) if files.is_empty() => Err(error),
        _ => Ok(ListedFolder::new(name, files)),
    }
}

/// The file at `url`; `None` when there is none.
fn look(url: &str) -> Result<Option<Source>, String> {
    let answered = get(url, 0, 0)?;
    match (answered.status, answered.total) {
        (206, Some(len)) => {
            let source = HttpSource { url: url.to_owned(), len };
            Ok(Some(Arc::new(BlockCache::new(source, BLOCK_BYTES, CACHE_BYTES))))
        }
        // A server without ranges sends everything; a header that a page may not see, likewise
        // forces to keep what came.
        (200, _) => Ok(Some(Arc::new(MemorySource::new(answered.bytes.to_vec())))),
        // The range of the first byte of an empty file.
        (416, _) => Ok(Some(Arc::new(MemorySource::new(Vec::new())))),
        (404 | 410, _) => Ok(None),
        (status, _) => Err(format!("{url} answered with status {status}")),
    }
}
