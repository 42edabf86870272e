//! A server in a thread, and the smallest client that can talk to it.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use parallax_server::{DataRoot, Options, Pages, Server, Token};

/// The token of servers in tests.
pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reactor").join(name)
}

/// Options as the command line has them, with the token of tests.
pub(crate) fn options() -> Options {
    Options { pages: Pages::new([]), ..Options::new(Token::known(TOKEN).unwrap()) }
}

/// Starts a server that ends with the test.
pub(crate) fn start(places: Vec<DataRoot>, options: Options) -> SocketAddr {
    let server = Server::bind(places, options).unwrap();
    let address = server.address();
    std::thread::spawn(move || server.run(std::future::pending()));
    address
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// Whether the body came to its end.
    pub(crate) is_complete: bool,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// The last piece of an answer to a question: its letter and what follows.
    pub(crate) fn last_piece(&self) -> (char, &[u8]) {
        let mut rest = &self.body[..];
        loop {
            let length = u32::from_le_bytes(rest[1..5].try_into().unwrap()) as usize;
            if rest[0] != b'P' {
                assert_eq!(rest.len() - 5, length);
                return (char::from(rest[0]), &rest[5..]);
            }
            rest = &rest[5 + length..];
        }
    }
}

/// Sends a head (without its empty line) and a body.
pub(crate) fn send(address: SocketAddr, head: &str, body: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let length = format!("Content-Length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}\r\n{length}").as_bytes()).unwrap();
    // The server may have refused by now.
    let _ = stream.write_all(body);
    stream
}

/// Reads until the server closes.
pub(crate) fn receive(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    // A connection that is reset has said what it had to say.
    let _ = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut answer = Answer { status, head, body: bytes[end + 4..].to_vec(), is_complete: true };
    if answer.header("transfer-encoding") == Some("chunked") {
        (answer.body, answer.is_complete) = dechunked(&answer.body);
    } else if let Some(length) = answer.header("content-length") {
        answer.is_complete = answer.body.len() == length.parse::<usize>().unwrap();
    }
    answer
}

fn dechunked(mut bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut out = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let length =
            usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
        if length == 0 {
            return (out, true);
        }
        let from = end + 2;
        let until = (from + length).min(bytes.len());
        out.extend_from_slice(&bytes[from..until]);
        bytes = bytes.get(until + 2..).unwrap_or_default();
    }
    (out, false)
}

/// The head of a request, with more lines after the first two.
pub(crate) fn head(method: &str, path: &str, more: &[&str]) -> String {
    let mut out = format!("{method} {path} HTTP/1.1\r\nConnection: close");
    for line in more {
        out.push_str("\r\n");
        out.push_str(line);
    }
    out
}

pub(crate) fn get(address: SocketAddr, path: &str, more: &[&str]) -> Answer {
    let more = [&["Host: localhost"], more].concat();
    receive(&mut send(address, &head("GET", path, &more), b""))
}

/// The head of a question with everything in order.
pub(crate) fn question_head() -> String {
    let token = format!("Authorization: Bearer {TOKEN}");
    head("POST", "/api/ask", &["Host: 127.0.0.1:1", "Content-Type: application/json", &token])
}

pub(crate) fn ask(address: SocketAddr, question: &str) -> Answer {
    receive(&mut send(address, &question_head(), question.as_bytes()))
}
