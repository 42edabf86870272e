//! Questions over HTTP: the same answers as the engine gives without it, and an end when nobody
//! waits for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parallax_base::{ByteSource, Control, Folder, FolderEntry, ReadError, Source};
use parallax_dispatch::Dispatcher;
use parallax_server::{DataRoot, places};

use crate::common::{ask, fixture, options, question_head, receive, send, start};

/// One question of each kind, and some that are wrong: `x1` and `x2` are runs, `e3` is their ensemble.
const QUESTIONS: &[&str] = &[
    r#"{"ask":"info","with":{"item":"x1"}}"#,
    r#"{"ask":"issues","with":{"item":"x1"}}"#,
    r#"{"ask":"metrics","with":{"item":"x1"}}"#,
    r#"{"ask":"tree_table","with":{"item":"x1","costs":{"metrics":["realtime (i)","realtime (e)"]}}}"#,
    r#"{"ask":"callers","with":{"item":"x1"}}"#,
    r#"{"ask":"flat","with":{"item":"x1"}}"#,
    r#"{"ask":"distribution","with":{"item":"x1","context_id":0}}"#,
    r#"{"ask":"source_files","with":{"item":"x1"}}"#,
    r#"{"ask":"source","with":{"item":"x1","path":"reactor.c"}}"#,
    r#"{"ask":"report","with":{"item":"x1"}}"#,
    r#"{"ask":"balance","with":{"item":"x1"}}"#,
    r#"{"ask":"idleness","with":{"item":"x1"}}"#,
    r#"{"ask":"idleness","with":{"item":"x1","blame":true}}"#,
    r#"{"ask":"query","with":{"item":"x1","contexts":"function(MPI_*)"}}"#,
    r#"{"ask":"trace","with":{"item":"x1"}}"#,
    r#"{"ask":"combine","with":{"items":["x1","x2"],"ensemble":{"parameters":["cores=ranks"]}}}"#,
    r#"{"ask":"scaling","with":{"item":"e3"}}"#,
    r#"{"ask":"scaling_table","with":{"item":"e3","table":"losses"}}"#,
    r#"{"ask":"models","with":{"item":"e3"}}"#,
    r#"{"ask":"compare","with":{"old":"e3","new":"e3"}}"#,
    r#"{"ask":"close","with":{"item":"x2"}}"#,
    r#"{"ask":"hello","with":{}}"#,
    // Errors are answers too.
    r#"{"ask":"info","with":{"item":"x2"}}"#,
    r#"{"ask":"flat","with":{"item":"x1","cost":{"metric":"realtme"}}}"#,
    r#"{"ask":"no such question","with":{}}"#,
    "{",
    "",
];

#[test]
fn every_question_has_the_answer_that_the_engine_gives_itself() {
    let places = places(&[fixture("n256-p1"), fixture("n256-p2")]).unwrap();
    let dispatcher = Dispatcher::default();
    for place in &places {
        dispatcher.add_root(&place.key, &place.name, Arc::clone(&place.folder));
    }
    let open = format!(r#"{{"ask":"open","with":{{"root":"{}"}}}}"#, places[0].key);
    let address = start(places, options());
    let mut letters = String::new();
    for question in [&[open.as_str()], QUESTIONS].concat() {
        let over_http = ask(address, question);
        assert_eq!(over_http.status, 200, "{question}");
        assert!(over_http.is_complete);
        let (letter, bytes) = over_http.last_piece();
        letters.push(letter);
        match dispatcher.answer_json(question, &Control::new()) {
            Ok(response) => {
                assert_eq!(letter, 'R', "{question}: {}", String::from_utf8_lossy(bytes));
                assert!(bytes == response.framed(), "{question}");
            }
            Err(error) => {
                assert_eq!(letter, 'E', "{question}");
                assert_eq!(bytes, serde_json::to_vec(&error).unwrap(), "{question}");
            }
        }
    }
    assert_eq!(letters, "RRRRRRRRRRRRRRRRRRRRRRREEEEE", "what is meant to be answered is");
}

#[test]
fn requests_cannot_name_files_outside() {
    let places = places(&[fixture("n256-p1")]).unwrap();
    let key = places[0].key.clone();
    let address = start(places, options());
    for root in ["..", "/etc", &format!("{key}/.."), &format!("{key}/../n256-p2"), "../n256-p2", ""]
    {
        let (letter, bytes) = {
            let answer = ask(address, &format!(r#"{{"ask":"open","with":{{"root":"{root}"}}}}"#));
            let (letter, bytes) = answer.last_piece();
            (letter, String::from_utf8(bytes.to_vec()).unwrap())
        };
        assert_eq!(letter, 'E', "{root}");
        assert!(bytes.contains("there is no root"), "{bytes}");
    }
    let opened = ask(address, &format!(r#"{{"ask":"open","with":{{"root":"{key}"}}}}"#));
    assert_eq!(opened.last_piece().0, 'R');
    for file in ["/etc/passwd", "../../../Cargo.toml", "../n256-p2/src/reactor.c", "meta.db"] {
        let question = format!(r#"{{"ask":"source","with":{{"item":"x1","path":"{file}"}}}}"#);
        assert_eq!(ask(address, &question).last_piece().0, 'E', "{file}");
    }
}

/// A folder on a slow disk.
struct SlowFolder {
    inner: Arc<dyn Folder>,
    reads: Arc<AtomicUsize>,
    delay: Duration,
}

struct SlowFile {
    inner: Source,
    reads: Arc<AtomicUsize>,
    delay: Duration,
}

impl Folder for SlowFolder {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        self.inner.entries()
    }
    fn walk(&self) -> Result<Vec<FolderEntry>, ReadError> {
        self.inner.walk()
    }
    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        let opened = self.inner.open(path)?;
        let (reads, delay) = (Arc::clone(&self.reads), self.delay);
        Ok(opened.map(|inner| Arc::new(SlowFile { inner, reads, delay }) as Source))
    }
}

impl ByteSource for SlowFile {
    fn len(&self) -> u64 {
        self.inner.len()
    }
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(self.delay);
        self.inner.read_at(offset, buffer)
    }
}

/// The reads that `trace` takes from a database, and a place that is slow at each of them.
pub(crate) fn slow(delay: Duration) -> (DataRoot, Arc<AtomicUsize>) {
    let mut place = places(&[fixture("n1024-p8")]).unwrap().remove(0);
    let reads = Arc::new(AtomicUsize::new(0));
    let folder = SlowFolder { inner: place.folder, reads: Arc::clone(&reads), delay };
    place.folder = Arc::new(folder);
    (place, reads)
}

pub(crate) const SLOW_QUESTION: &str = r#"{"ask":"trace","with":{"item":"x1"}}"#;

pub(crate) fn open(key: &str) -> String {
    format!(r#"{{"ask":"open","with":{{"root":"{key}"}}}}"#)
}

#[test]
fn a_question_ends_when_nobody_waits_for_its_answer() {
    let (place, reads) = slow(Duration::ZERO);
    let dispatcher = Dispatcher::default();
    dispatcher.add_root(&place.key, &place.name, Arc::clone(&place.folder));
    dispatcher.answer_json(&open(&place.key), &Control::new()).unwrap();
    let before = reads.load(Ordering::SeqCst);
    dispatcher.answer_json(SLOW_QUESTION, &Control::new()).unwrap();
    let whole = reads.load(Ordering::SeqCst) - before;
    assert!(whole > 20, "{whole} reads are too few to be stopped in the middle");

    let (place, reads) = slow(Duration::from_millis(60));
    let key = place.key.clone();
    let address = start(vec![place], options());
    assert_eq!(ask(address, &open(&key)).last_piece().0, 'R');
    let before = reads.load(Ordering::SeqCst);
    let taken = || reads.load(Ordering::SeqCst) - before;
    let stream = send(address, &question_head(), SLOW_QUESTION.as_bytes());
    let started = Instant::now();
    while taken() < 3 {
        assert!(started.elapsed() < Duration::from_secs(60), "the question has not begun");
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(stream);
    // It has ended when nothing was read for far longer than a read takes.
    let (mut last, mut since) = (taken(), Instant::now());
    while since.elapsed() < Duration::from_millis(600) {
        std::thread::sleep(Duration::from_millis(20));
        if taken() != last {
            (last, since) = (taken(), Instant::now());
        }
    }
    assert!(last < whole, "all {whole} reads were made for nobody");
    assert_eq!(ask(address, r#"{"ask":"hello","with":{}}"#).last_piece().0, 'R');
}

#[test]
fn progress_comes_before_the_answer() {
    let (place, _) = slow(Duration::from_millis(20));
    let key = place.key.clone();
    let address = start(vec![place], options());
    assert_eq!(ask(address, &open(&key)).last_piece().0, 'R');
    let answer = ask(address, SLOW_QUESTION);
    assert_eq!(answer.body[0], b'P');
    let length = u32::from_le_bytes(answer.body[1..5].try_into().unwrap()) as usize;
    let progress: serde_json::Value = serde_json::from_slice(&answer.body[5..5 + length]).unwrap();
    assert_eq!(progress["total"], 24, "a part for each location");
    assert!(progress["done"].as_u64().unwrap() <= 24);
    assert_eq!(answer.last_piece().0, 'R');
}

#[test]
fn a_question_that_is_too_long_is_refused() {
    let mut options = options();
    options.limits.request_bytes = 1000;
    let address = start(Vec::new(), options);
    let long = format!(r#"{{"ask":"hello","with":{{}}}}{}"#, " ".repeat(2000));
    assert_eq!(ask(address, &long).status, 413);
    assert_eq!(ask(address, r#"{"ask":"hello","with":{}}"#).last_piece().0, 'R');
}

#[test]
fn clients_that_do_not_go_on_are_given_up() {
    let mut options = options();
    options.limits.timeout = Duration::from_millis(300);
    let address = start(Vec::new(), options);
    // Half a question.
    let head = format!("{}\r\nX-More: ", question_head());
    let mut stream = send(address, &head.replace("X-More: ", "Content-Length: 100\r\n\r\n{"), b"");
    let answer = receive(&mut stream);
    assert!(matches!(answer.status, 400 | 408), "{}", answer.head);
    // Half a head: closed without a word, or with one.
    let started = Instant::now();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    std::io::Write::write_all(&mut stream, b"GET / HT").unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let _ = std::io::Read::read_to_end(&mut stream, &mut Vec::new());
    assert!(started.elapsed() < Duration::from_secs(20));
}
