//! `POST /api/ask`: a question, and its answer piece by piece.
//!
//! A piece is its kind (one letter), the length of what follows (u32, little-endian) and that many
//! bytes. `P` is progress as JSON (`{"done","total","bytes"}`), any number of times. Then comes `E`,
//! why there is no answer (an [`ErrorReply`] as JSON), or `R`, the answer as
//! [`framed`](parallax_dispatch::Response::framed) until the end of the body; since an answer may be
//! longer than four bytes can say, readers do not use the length of an `R`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::{Response, StatusCode};
use parallax_base::Control;
use parallax_protocol::{ErrorReply, Question, SqlRequest};
use tokio::sync::mpsc::Sender;
use tokio::time::timeout;

use crate::connections::{Connection, Working};
use crate::reply::{Body, pieces, text};
use crate::server::{ASK, AccessLogEntry, Shared};
use crate::unless::unless;

/// Milliseconds between two pieces about progress.
const BETWEEN_PROGRESS: u64 = 100;

/// Pieces that wait for the network at most.
const NUM_WAITING: usize = 4;

/// Length of the pieces in which an answer is handed to the network: what a connection that nobody
/// reads from holds beyond the answer itself.
pub(crate) const CHUNK: usize = 1 << 18;

type Pieces = Sender<Bytes>;

/// Reads the question and starts answering it. The caller has checked who asks.
pub(crate) async fn ask(
    shared: &Arc<Shared>,
    own: &Arc<Connection>,
    body: Incoming,
) -> Response<Body> {
    let limits = &shared.limits;
    let body = timeout(limits.timeout, Limited::new(body, limits.request_bytes).collect()).await;
    let request = match body {
        Err(_) => {
            return text(StatusCode::REQUEST_TIMEOUT, "the question did not arrive in time\n");
        }
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            return text(StatusCode::PAYLOAD_TOO_LARGE, "the question is too long\n");
        }
        Ok(Err(_)) => return text(StatusCode::BAD_REQUEST, "the question is incomplete\n"),
        Ok(Ok(body)) => body.to_bytes(),
    };
    let Some(working) = own.work() else {
        let message = "too many questions wait for the engine; ask again when some are answered\n";
        return text(StatusCode::SERVICE_UNAVAILABLE, message);
    };
    let (sender, response) = pieces(NUM_WAITING);
    tokio::spawn(answer(Arc::clone(shared), working, request, sender));
    response
}

async fn answer(shared: Arc<Shared>, working: Working, request: Bytes, pieces: Pieces) {
    let started = Instant::now();
    let question = name(&request);
    // Whoever left the queue needs no answer, and their question no memory.
    let statement = match question.as_deref() == Some(<SqlRequest as Question>::SCHEMA.name) {
        true => {
            let turn = Arc::clone(&shared.statements).acquire_owned();
            let Some(Ok(turn)) = unless(turn, pieces.closed()).await else { return };
            Some(turn)
        }
        false => None,
    };
    let turn = Arc::clone(&shared.questions).acquire_owned();
    let Some(Ok(permit)) = unless(turn, pieces.closed()).await else { return };
    let permit = Arc::new(permit);
    let control = Control::with_progress(progress(&pieces));
    let watcher = tokio::spawn({
        let (pieces, control) = (pieces.clone(), control.clone());
        async move {
            pieces.closed().await;
            control.cancel();
        }
    });
    let job = tokio::task::spawn_blocking({
        let shared = Arc::clone(&shared);
        let permit = Arc::clone(&permit);
        move || {
            // A withdrawn question counts until its thread is free again.
            let (_permit, _statement) = (permit, statement);
            let Ok(request) = std::str::from_utf8(&request) else {
                return Err(ErrorReply::new("protocol", "the request is not UTF-8"));
            };
            shared.dispatcher.answer_json(request, &control).map(|response| response.framed())
        }
    });
    let outcome = job.await.unwrap_or_else(|_| {
        Err(ErrorReply::new("crashed", "the engine stopped at this question")
            .with_hint("other questions still work; report this with the data if it repeats"))
    });
    watcher.abort();
    shared.log(|| AccessLogEntry {
        method: "POST".to_owned(),
        path: ASK.to_owned(),
        question,
        status: 200,
        took: started.elapsed(),
    });
    drop(working);
    // A closed connection is no failure.
    match outcome {
        Ok(framed) => {
            let wanted = u32::try_from(framed.len().div_ceil(CHUNK)).unwrap_or(u32::MAX);
            let room = Arc::clone(&shared.answers);
            let room = room.acquire_many_owned(wanted.clamp(1, shared.num_answers));
            let Some(_room) = unless(room, pieces.closed()).await else { return };
            // The next question may begin: what this one takes is counted elsewhere now.
            drop(permit);
            send_reply(&pieces, framed).await;
        }
        Err(error) => {
            drop(permit);
            let json = serde_json::to_vec(&error).unwrap_or_default();
            let _ = pieces.send(piece(b'E', &json)).await;
        }
    }
}

/// What a question asks.
fn name(request: &[u8]) -> Option<String> {
    let request: serde_json::Value = serde_json::from_slice(request).ok()?;
    Some(request.get("ask")?.as_str()?.to_owned())
}

/// A listener that passes progress on, now and then, if the network takes it.
fn progress(pieces: &Pieces) -> impl Fn(u64, u64) + Send + Sync + 'static {
    // Weak: the body ends when the last sender goes, and listeners may outlive the answer.
    let pieces = pieces.downgrade();
    let started = Instant::now();
    let next = AtomicU64::new(BETWEEN_PROGRESS);
    move |done, total| {
        let now = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let due = next.load(Ordering::Relaxed);
        let later = now.saturating_add(BETWEEN_PROGRESS);
        // One of several threads that find it due tells.
        if now < due
            || next.compare_exchange(due, later, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            return;
        }
        if let Some(pieces) = pieces.upgrade() {
            // Files are mapped, so bytes are not counted.
            let json = serde_json::json!({ "done": done, "total": total, "bytes": 0 }).to_string();
            // What the network does not take now is out of date when it does.
            let _ = pieces.try_send(piece(b'P', json.as_bytes()));
        }
    }
}

fn piece(kind: u8, payload: &[u8]) -> Bytes {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    let mut out = Vec::with_capacity(payload.len() + 5);
    out.push(kind);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(payload);
    out.into()
}

async fn send_reply(pieces: &Pieces, framed: Vec<u8>) {
    let length = u32::try_from(framed.len()).unwrap_or(u32::MAX);
    let mut head = vec![b'R'];
    head.extend_from_slice(&length.to_le_bytes());
    let mut next = Bytes::from(head);
    let mut rest = Bytes::from(framed);
    while pieces.send(next).await.is_ok() && !rest.is_empty() {
        next = rest.split_to(rest.len().min(CHUNK));
    }
}
