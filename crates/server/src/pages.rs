//! [`Pages`]: the files of the application, as they lie in the program.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use hyper::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue,
    IF_NONE_MATCH, VARY,
};
use hyper::{Response, StatusCode};
use parallax_base::StableHash;

use crate::reply::{Body, text, whole};

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// The page itself.
const INDEX: &str = "index.html";

/// What tells the page that a server is behind it.
const SERVED: &str = "<meta name=\"parallax-server\" content=\"1\" />";

/// The list of samples, which a page asks for; a server shows what it was told to show.
const SAMPLES: &str = "samples/index.json";

const NO_PAGE: &str = "\
<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\" />
<meta name=\"color-scheme\" content=\"light dark\" />
<title>Parallax</title>
<style>body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem }</style>
<h1>This Parallax was built without its page</h1>
<p>The server works, but there is nothing to look at. In the folder of the source code:</p>
<pre>cargo xtask web
cargo install --path crates/cli</pre>
<p>Then start <code>parallax open</code> again. Building the page needs Node.js; the other commands of <code>parallax</code> do not need the page.</p>
</html>
";

/// A file of the application.
struct Page {
    packed: Bytes,
    kind: &'static str,
    etag: HeaderValue,
    /// Names with a hash in them never mean another content.
    is_forever: bool,
}

/// The files of the application, by their paths.
pub struct Pages {
    pages: BTreeMap<String, Page>,
}

impl Pages {
    /// Those that were built into this program; without them, a page that says how to get them.
    #[must_use]
    pub fn embedded() -> Self {
        Self::of_packed(
            EMBEDDED.iter().map(|(path, packed)| ((*path).to_owned(), Bytes::from_static(packed))),
        )
    }

    /// Files by their paths, for another build of the application than the one in this program.
    #[must_use]
    pub fn new(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        Self::of_packed(files.into_iter().map(|(path, bytes)| (path, pack(&bytes))))
    }

    /// Whether there is an application, and not only a page that says how to get one.
    #[must_use]
    pub fn is_embedded() -> bool {
        EMBEDDED.iter().any(|(path, _)| *path == INDEX)
    }

    fn of_packed(files: impl Iterator<Item = (String, Bytes)>) -> Self {
        let mut files: BTreeMap<String, Bytes> = files.collect();
        let index = files.get(INDEX).map_or_else(|| NO_PAGE.to_owned(), |packed| served(packed));
        files.insert(INDEX.to_owned(), pack(index.as_bytes()));
        files.entry(SAMPLES.to_owned()).or_insert_with(|| pack(b"[]"));
        let pages = files.into_iter().map(|(path, packed)| {
            let page = Page {
                kind: kind_of(&path),
                etag: etag(&packed),
                is_forever: path.starts_with("assets/"),
                packed,
            };
            (path, page)
        });
        Self { pages: pages.collect() }
    }

    /// The answer to a request for `path`, which begins with `/`.
    pub(crate) fn answer(&self, path: &str, headers: &HeaderMap) -> Response<Body> {
        let name = path.strip_prefix('/').unwrap_or(path);
        // Only names that were built in are known: nothing here can lead to a disk.
        let Some(page) = self.pages.get(if name.is_empty() { INDEX } else { name }) else {
            return text(StatusCode::NOT_FOUND, "there is no such page; the application is at /\n");
        };
        let has = |name, wanted: &str| {
            let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
            values.flat_map(|value| value.split(',')).any(|one| one.trim() == wanted)
        };
        let is_known = page.etag.to_str().is_ok_and(|etag| has(IF_NONE_MATCH, etag));
        let takes_packed = headers
            .get_all(ACCEPT_ENCODING)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|coding| {
                let mut parts = coding.split(';').map(str::trim);
                parts.next() == Some("gzip") && parts.next() != Some("q=0")
            });
        let mut response = if is_known {
            let mut response = whole(Bytes::new());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        } else if takes_packed {
            let mut response = whole(page.packed.clone());
            response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            response
        } else {
            whole(Bytes::from(unpack(&page.packed)))
        };
        let keep =
            if page.is_forever { "private, max-age=31536000, immutable" } else { "no-cache" };
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(page.kind));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(keep));
        headers.insert(ETAG, page.etag.clone());
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        response
    }
}

/// The page that data can be put into; none where this program was built without.
pub(crate) fn report_page() -> Option<String> {
    EMBEDDED_REPORT.and_then(|packed| String::from_utf8(unpack(packed)).ok())
}

/// The page as a server shows it.
fn served(packed: &[u8]) -> String {
    let page = String::from_utf8_lossy(&unpack(packed)).into_owned();
    page.replacen("<head>", &format!("<head>\n    {SERVED}"), 1)
}

fn pack(bytes: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Memory takes every byte.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default().into()
}

fn unpack(packed: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    // What was packed here unpacks.
    let _ = GzDecoder::new(packed).read_to_end(&mut out);
    out
}

/// A name for the content: a hash of the compressed bytes, and their number.
fn etag(packed: &[u8]) -> HeaderValue {
    let name = format!("W/\"{:016x}-{:x}\"", StableHash::of(packed).bits(), packed.len());
    HeaderValue::try_from(name).unwrap_or_else(|_| HeaderValue::from_static("W/\"0\""))
}

fn kind_of(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json" | "map") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("wasm") => "application/wasm",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
