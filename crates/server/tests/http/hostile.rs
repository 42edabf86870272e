//! Clients that are slow, broken or hostile: others are answered meanwhile, and nothing grows.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use parallax_server::{Options, Pages, places};

use crate::common::{ask, fixture, get, head, options, question_head, receive, send, start};
use crate::questions::{SLOW_QUESTION, open, slow};

const HELLO: &str = r#"{"ask":"hello","with":{}}"#;

/// Far more than an answer takes, and far less than the server's timeout.
const SOON: Duration = Duration::from_secs(30);

/// A server that takes few connections and gives nobody up for being slow, as far as tests go.
fn crowded(connections: usize) -> Options {
    let mut options = options();
    options.pages = Pages::new([("large.bin".to_owned(), vec![7; 16 << 20])]);
    options.limits.connections = connections;
    options.limits.timeout = Duration::from_secs(600);
    options
}

/// Both kinds of requests are answered soon.
fn answers(address: SocketAddr) {
    let started = Instant::now();
    assert_eq!(get(address, "/nothing", &[]).status, 404);
    assert_eq!(ask(address, HELLO).last_piece().0, 'R');
    assert!(started.elapsed() < SOON, "after {:?}", started.elapsed());
}

fn connect(address: SocketAddr, text: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    stream.set_write_timeout(Some(SOON)).unwrap();
    // The server may have closed by now.
    let _ = stream.write_all(text);
    stream
}

/// What the server sends until it closes or says nothing more for long.
fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn clients_that_do_nothing_do_not_keep_others_out() {
    let address = start(Vec::new(), crowded(16));
    let half_body = format!("{}\r\nContent-Length: 100\r\n\r\n{{", question_head());
    let no_reader = head("GET", "/large.bin", &["Host: localhost", "", ""]);
    let kinds: [(&[u8], u32); 4] = [
        (b"", 60),
        (b"GET / HT", 60),
        (half_body.as_bytes(), 60),
        // Each takes some megabytes of the system's memory.
        (no_reader.as_bytes(), 20),
    ];
    let mut held = Vec::new();
    for (text, number) in kinds {
        for _ in 0..number {
            held.push(connect(address, text));
        }
        answers(address);
    }
    drop(held);
    answers(address);
}

#[test]
fn thousands_of_connections_leave_nothing_behind() {
    let address = start(Vec::new(), crowded(16));
    for _ in 0..40 {
        let held: Vec<TcpStream> = (0..100).map(|_| connect(address, b"")).collect();
        drop(held);
    }
    answers(address);
}

#[test]
fn who_waits_for_the_engine_stays_when_others_come() {
    let (place, reads) = slow(Duration::from_millis(20));
    let key = place.key.clone();
    let address = start(vec![place], crowded(4));
    assert_eq!(ask(address, &open(&key)).last_piece().0, 'R');
    let before = reads.load(Ordering::SeqCst);
    let mut waiting = send(address, &question_head(), SLOW_QUESTION.as_bytes());
    while reads.load(Ordering::SeqCst) == before {
        std::thread::sleep(Duration::from_millis(1));
    }
    let held: Vec<TcpStream> = (0..50).map(|_| connect(address, b"")).collect();
    answers(address);
    assert_eq!(receive(&mut waiting).last_piece().0, 'R');
    drop(held);
}

#[test]
fn questions_beyond_what_can_wait_are_refused_and_pages_still_come() {
    let (place, _) = slow(Duration::from_millis(40));
    let key = place.key.clone();
    let mut options = crowded(8);
    options.limits.questions = 1;
    let address = start(vec![place], options);
    assert_eq!(ask(address, &open(&key)).last_piece().0, 'R');
    let mut held: Vec<TcpStream> =
        (0..6).map(|_| send(address, &question_head(), SLOW_QUESTION.as_bytes())).collect();
    let started = Instant::now();
    assert_eq!(get(address, "/nothing", &[]).status, 404);
    assert!(started.elapsed() < SOON);
    let statuses: Vec<u16> =
        held.split_off(4).iter_mut().map(|stream| receive(stream).status).collect();
    assert_eq!(statuses, [503, 503]);
    // Withdrawn ones make room.
    drop(held);
    let started = Instant::now();
    while ask(address, HELLO).status != 200 {
        assert!(started.elapsed() < SOON);
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Bytes of this process in memory.
fn resident() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(pages.split(' ').nth(1)?.parse::<u64>().ok()? * 4096)
}

#[test]
fn questions_that_were_withdrawn_while_they_waited_take_no_memory() {
    let (place, _) = slow(Duration::from_millis(100));
    let key = place.key.clone();
    let mut options = options();
    options.limits.questions = 1;
    let address = start(vec![place], options);
    assert_eq!(ask(address, &open(&key)).last_piece().0, 'R');
    let first = send(address, &question_head(), SLOW_QUESTION.as_bytes());
    let Some(before) = resident() else { return };
    // 600 MB in all; other tests of this process take some, too.
    let long = format!("{}{HELLO}", " ".repeat(1_000_000));
    for _ in 0..600 {
        drop(send(address, &question_head(), long.as_bytes()));
    }
    let grown = resident().unwrap().saturating_sub(before);
    assert!(grown < 300 << 20, "{grown} bytes for questions that nobody asks any more");
    assert_eq!(ask(address, HELLO).status, 200, "they do not count as waiting");
    drop(first);
    answers(address);
}

#[test]
fn heads_have_an_end() {
    let address = start(Vec::new(), options());
    let long = "x".repeat(1 << 20);
    let many: String = (0..10_000).map(|n| format!("X-{n}: 1\r\n")).collect();
    for text in [
        format!("GET /{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {long}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n"),
        format!("{long}\r\n\r\n"),
    ] {
        let answer = rest(connect(address, text.as_bytes()));
        let status = answer.split(' ').nth(1).unwrap_or("none");
        // The connection may be reset before the answer is read.
        assert!(["400", "414", "431", "none"].contains(&status), "{status}");
    }
    answers(address);
}

#[test]
fn what_is_no_http_is_refused() {
    let address = start(Vec::new(), options());
    // A stream of bytes that is the same in each run.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for round in 0..100 {
        let mut text: Vec<u8> = (0..next() % 400).map(|_| next() as u8).collect();
        if round % 2 == 0 {
            let head = format!("{}\r\nContent-Length: 5\r\n\r\n[1,2]", question_head());
            let mut damaged = head.into_bytes();
            for _ in 0..3 {
                let at = next() as usize % damaged.len();
                damaged[at] = next() as u8;
            }
            text = damaged;
        }
        let stream = connect(address, &text);
        let _ = stream.shutdown(Shutdown::Write);
        assert!(!rest(stream).contains("\"reply\""));
    }
    for wrong in [
        "POST /api/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        "POST /api/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "POST /api/ask HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let answer = rest(connect(address, wrong.as_bytes()));
        assert!(!answer.contains(" 200 "), "{wrong}: {answer}");
    }
    answers(address);
}

#[test]
fn requests_that_come_at_once_are_answered_in_order() {
    let file = |n: usize| (format!("{n}.txt"), format!("file {n}").into_bytes());
    let pages = Pages::new((0..100).map(file));
    let address = start(Vec::new(), Options { pages, ..options() });
    let mut text = String::new();
    for n in 0..100 {
        let end = if n == 99 { "Connection: close\r\n" } else { "" };
        text.push_str(&format!("GET /{n}.txt HTTP/1.1\r\nHost: localhost\r\n{end}\r\n"));
    }
    let answer = rest(connect(address, text.as_bytes()));
    let found: Vec<&str> = answer.split("HTTP/1.1 200 OK").skip(1).collect();
    assert_eq!(found.len(), 100);
    for (n, one) in found.iter().enumerate() {
        assert!(one.ends_with(&format!("\r\n\r\nfile {n}")), "{one}");
    }
}

#[test]
fn a_client_that_has_closed_its_half_withdraws_its_question() {
    let (place, reads) = slow(Duration::from_millis(30));
    let key = place.key.clone();
    let address = start(vec![place], options());
    assert_eq!(ask(address, &open(&key)).last_piece().0, 'R');
    let before = reads.load(Ordering::SeqCst);
    let stream = send(address, &question_head(), SLOW_QUESTION.as_bytes());
    stream.shutdown(Shutdown::Write).unwrap();
    let text = rest(stream);
    assert!(!text.contains("\"reply\""), "{text}");
    std::thread::sleep(Duration::from_millis(300));
    let taken = reads.load(Ordering::SeqCst) - before;
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(reads.load(Ordering::SeqCst) - before, taken, "it goes on for nobody");
    answers(address);
}

#[test]
fn bodies_are_taken_as_they_are_and_bombs_in_them_do_not_go_off() {
    let places = places(&[fixture("n256-p1")]).unwrap();
    let key = places[0].key.clone();
    let address = start(places, options());
    assert_eq!(ask(address, &open(&key)).last_piece().0, 'R');
    // A thousand times more when it is unpacked.
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    let block = vec![0; 1 << 20];
    for _ in 0..256 {
        packer.write_all(&block).unwrap();
    }
    let bomb = packer.finish().unwrap();
    assert!(bomb.len() < 1 << 20);
    let before = resident();
    let packed = format!("{}\r\nContent-Encoding: gzip", question_head());
    assert_eq!(receive(&mut send(address, &packed, &bomb)).last_piece().0, 'E');
    if let (Some(before), Some(now)) = (before, resident()) {
        assert!(now.saturating_sub(before) < 150 << 20);
    }
    let deep = 200_000;
    let nested = |open: &str, close: &str| format!("{}1{}", open.repeat(deep), close.repeat(deep));
    let with = |ask: &str, field: &str, value: &str| {
        format!(r#"{{"ask":"{ask}","with":{{"item":"x1",{field}:{value}}}}}"#)
    };
    for question in [
        nested("[", "]"),
        nested(r#"{"ask":"#, "}"),
        with("query", r#""contexts""#, &format!("\"{}\"", nested("(", ")"))),
        with("query", r#""contexts""#, &format!("\"{}\"", "function(a).".repeat(50_000))),
        with("query", r#""contexts""#, &format!("\"function({})\"", "*a".repeat(100_000))),
        with("query", r#""profiles""#, &format!("\"{}\"", nested("!(", ")"))),
        with("query", r#""metrics""#, &format!("\"={}\"", nested("(", ")"))),
        with("query", r#""metrics""#, &format!("\"={}1\"", "-".repeat(deep))),
        with("flat", r#""cost""#, &format!(r#"{{"metric":"={}"}}"#, nested("(", ")"))),
        with("flat", r#""cost""#, &format!(r#"{{"metric":"={}1"}}"#, "1^".repeat(deep))),
        with("find", r#""name""#, &format!("\"{}\"", nested("(", ")"))),
        with("find", r#""name""#, "\"(a{1000}){1000}{1000}\""),
        with("find", r#""max_rows""#, "4294967295"),
        with("stacks", r#""top""#, "4294967295"),
        with("clusters", r#""k""#, "4294967295"),
        with("over_time", r#""bins""#, "4294967295"),
        with("tile", r#""rows":[{"from":0,"to":4294967295}],"from_ns":0,"to_ns":1e99,"bins""#, "1"),
        with(
            "tile",
            r#""rows":[{"from":0,"to":4294967295}],"from_ns":0,"to_ns":18446744073709551615,"bins""#,
            "4294967295",
        ),
        format!(
            r#"{{"ask":"tile","with":{{"item":"x1","from_ns":0,"to_ns":9,"bins":4294967295,"rows":[{}]}}}}"#,
            vec![r#"{"from":0,"to":1}"#; 20_000].join(",")
        ),
    ] {
        let started = Instant::now();
        let start: String = question.chars().take(80).collect();
        let answer = ask(address, &question);
        assert!(matches!(answer.status, 200 | 413), "{start}: {}", answer.status);
        assert!(started.elapsed() < SOON * 2, "{start} took {:?}", started.elapsed());
    }
    answers(address);
}

#[test]
fn answers_that_nobody_reads_do_not_stop_other_questions() {
    let places = places(&[fixture("n1024-p8")]).unwrap();
    let key = places[0].key.clone();
    let mut options = options();
    options.limits.answer_bytes = 1 << 20;
    options.limits.timeout = Duration::from_millis(500);
    let address = start(places, options);
    assert_eq!(ask(address, &open(&key)).last_piece().0, 'R');
    // Some megabytes each: more than the system takes for a connection.
    let rows = vec![r#"{"from":0,"to":24}"#; 64].join(",");
    let large = format!(
        r#"{{"ask":"tile","with":{{"item":"x1","from_ns":0,"to_ns":900000000000,"bins":8192,"rows":[{rows}]}}}}"#
    );
    let held: Vec<TcpStream> =
        (0..12).map(|_| send(address, &question_head(), large.as_bytes())).collect();
    answers(address);
    drop(held);
    answers(address);
}
