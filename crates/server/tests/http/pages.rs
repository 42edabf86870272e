//! What anybody gets who can reach the server, and what nobody gets.

use std::io::Read as _;
use std::time::Duration;

use flate2::read::GzDecoder;
use parallax_server::Pages;

use crate::common::{TOKEN, ask, get, head, options, receive, send, start};

const HELLO: &str = r#"{"ask":"hello","with":{}}"#;

fn pages() -> Pages {
    let file = |path: &str, text: &str| (path.to_owned(), text.as_bytes().to_vec());
    Pages::new([
        file(
            "index.html",
            "<!doctype html><html><head><title>P</title></head><body></body></html>",
        ),
        file("assets/index-abc123.js", "console.log(1)"),
        file("assets/style-abc123.css", "body{}"),
        file("icon.svg", "<svg/>"),
        file("manifest.webmanifest", "{}"),
        file("assets/engine-abc123.wasm", "\0asm"),
    ])
}

fn with_pages() -> parallax_server::Options {
    parallax_server::Options { pages: pages(), ..options() }
}

#[test]
fn the_page_knows_that_a_server_is_behind_it() {
    let address = start(Vec::new(), with_pages());
    for path in ["/", "/index.html", "/?token=x"] {
        let page = get(address, path, &[]);
        assert_eq!(page.status, 200);
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(page.header("cache-control"), Some("no-cache"));
        assert!(page.text().contains("<meta name=\"parallax-server\" content=\"1\" />"));
    }
}

#[test]
fn files_have_their_kinds_and_are_kept_by_their_content() {
    let address = start(Vec::new(), with_pages());
    for (path, kind) in [
        ("/assets/index-abc123.js", "text/javascript; charset=utf-8"),
        ("/assets/style-abc123.css", "text/css; charset=utf-8"),
        ("/icon.svg", "image/svg+xml"),
        ("/manifest.webmanifest", "application/manifest+json"),
        ("/assets/engine-abc123.wasm", "application/wasm"),
    ] {
        let page = get(address, path, &[]);
        assert_eq!(page.status, 200, "{path}");
        assert_eq!(page.header("content-type"), Some(kind));
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        let keeps = page.header("cache-control").unwrap().contains("immutable");
        assert_eq!(keeps, path.starts_with("/assets/"), "{path}");
        let etag = page.header("etag").unwrap().to_owned();
        let again = get(address, path, &[&format!("If-None-Match: {etag}")]);
        assert_eq!((again.status, again.body.len()), (304, 0));
    }
    let plain = get(address, "/assets/index-abc123.js", &[]);
    assert_eq!(plain.text(), "console.log(1)");
    let packed = get(address, "/assets/index-abc123.js", &["Accept-Encoding: br, gzip;q=0.5"]);
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let mut text = String::new();
    GzDecoder::new(&packed.body[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, "console.log(1)");
}

#[test]
fn no_path_leads_to_a_disk() {
    let address = start(Vec::new(), with_pages());
    for path in [
        "/../Cargo.toml",
        "/..%2fCargo.toml",
        "/assets/../../Cargo.toml",
        "//etc/passwd",
        "/etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/assets/",
        "/api/",
    ] {
        assert_eq!(get(address, path, &[]).status, 404, "{path}");
    }
}

#[test]
fn every_answer_says_what_pages_may_do() {
    let address = start(Vec::new(), with_pages());
    for answer in [get(address, "/", &[]), get(address, "/nothing", &[]), ask(address, HELLO)] {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self' 'wasm-unsafe-eval';"));
        assert!(policy.contains("frame-ancestors 'none'"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

#[test]
fn questions_need_the_token() {
    let address = start(Vec::new(), options());
    let asked = |lines: &[&str]| {
        let lines = [&["Host: localhost"], lines].concat();
        receive(&mut send(address, &head("POST", "/api/ask", &lines), HELLO.as_bytes()))
    };
    let right = format!("Authorization: Bearer {TOKEN}");
    assert_eq!(asked(&[&right]).status, 200);
    let flipped = format!("Authorization: Bearer 1{}", &TOKEN[1..]);
    let longer = format!("Authorization: Bearer {TOKEN}0");
    let bare = format!("Authorization: {TOKEN}");
    for wrong in
        [&["X-None: 1"][..], &[&flipped], &[&longer], &[&bare], &["Authorization: Bearer "]]
    {
        let answer = asked(wrong);
        assert_eq!(answer.status, 401, "{wrong:?}");
        assert!(!answer.text().contains(TOKEN));
    }
    assert_eq!(get(address, &format!("/api/ask?token={TOKEN}"), &[]).status, 405);
}

#[test]
fn names_and_pages_of_others_are_refused() {
    let address = start(Vec::new(), options());
    let token = format!("Authorization: Bearer {TOKEN}");
    let asked = |lines: &[&str]| {
        let lines = [&[token.as_str()], lines].concat();
        receive(&mut send(address, &head("POST", "/api/ask", &lines), HELLO.as_bytes())).status
    };
    assert_eq!(asked(&["Host: 127.0.0.1:8080", "Origin: http://127.0.0.1:8080"]), 200);
    assert_eq!(asked(&["Host: [::1]:8080"]), 200);
    // A tunnel changes the port.
    assert_eq!(asked(&["Host: localhost:9000", "Origin: http://localhost:9000"]), 200);
    assert_eq!(asked(&["Host: evil.example"]), 421);
    assert_eq!(asked(&["Host: evil.example:80", "Origin: http://evil.example:80"]), 421);
    assert_eq!(asked(&["Host: localhost", "Host: evil.example"]), 421);
    assert_eq!(asked(&[]), 421);
    assert_eq!(asked(&["Host: localhost", "Origin: http://evil.example"]), 403);
    assert_eq!(asked(&["Host: localhost", "Origin: null"]), 403);
    let page = receive(&mut send(address, &head("GET", "/", &["Host: evil.example"]), b""));
    assert_eq!(page.status, 421, "not even the page");
}

#[test]
fn a_build_without_a_page_says_how_to_get_one() {
    let address = start(Vec::new(), options());
    let page = get(address, "/", &[]);
    assert_eq!(page.status, 200);
    assert!(page.text().contains("cargo xtask web"));
}

#[test]
fn the_page_of_this_program_is_complete() {
    let embedded = parallax_server::Options { pages: Pages::embedded(), ..options() };
    let address = start(Vec::new(), embedded);
    let page = get(address, "/", &[]).text();
    assert_eq!(Pages::is_embedded(), !page.contains("cargo xtask web"));
    // Every file that the page names is there.
    for quoted in page.split('"').filter(|part| part.starts_with("./")) {
        let path = quoted.strip_prefix('.').unwrap_or(quoted);
        assert_eq!(get(address, path, &[]).status, 200, "{path}");
    }
    assert_eq!(get(address, "/samples/index.json", &[]).text(), "[]");
    assert_eq!(get(address, "/sw.js", &[]).status, 404, "a served page is never kept");
}

#[test]
fn a_reader_that_stops_is_given_up() {
    let large = vec![0; 64 << 20];
    let mut options = options();
    options.pages = Pages::new([("large.bin".to_owned(), large)]);
    options.limits.timeout = Duration::from_millis(300);
    let address = start(Vec::new(), options);
    let mut stream = send(address, &head("GET", "/large.bin", &["Host: localhost"]), b"");
    std::thread::sleep(Duration::from_millis(2500));
    let answer = receive(&mut stream);
    assert_eq!(answer.status, 200);
    assert!(!answer.is_complete, "the server waited for a reader that had stopped");
}
