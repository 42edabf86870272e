//! Waiting for an answer without the interpreter's lock, with an ear for Ctrl+C.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use parallax_base::Control;
use parallax_protocol::ErrorReply;
use pyo3::prelude::*;

/// How often signals and progress are looked at while a question runs.
const PAUSE: Duration = Duration::from_millis(50);

/// Runs `work` on a thread of its own and waits for its answer. Other threads of Python run
/// meanwhile; a signal whose handler raises, such as Ctrl+C, withdraws the question. `progress` is
/// called with how many parts of how many are done.
pub(crate) fn answered<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Control) -> Result<T, ErrorReply> + Send + 'static,
) -> PyResult<T> {
    let parts = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
    let seen = Arc::clone(&parts);
    let control = Control::with_progress(move |done, total| {
        seen.0.store(done, Ordering::Relaxed);
        seen.1.store(total, Ordering::Relaxed);
    });
    let worker = control.clone();
    let (send, receive) = mpsc::channel();
    let thread = thread::Builder::new().name("parallax".to_owned()).spawn(move || {
        // Nobody waits any more where the question was withdrawn.
        let _ = send.send(work(&worker));
    })?;
    let mut receive = Some(receive);
    let mut told = 0;
    loop {
        let Some(channel) = receive.take() else { break };
        let (channel, got) = py.detach(move || {
            let got = channel.recv_timeout(PAUSE);
            (channel, got)
        });
        match got {
            Ok(answer) => return answer.map_err(|error| failure(py, &error)),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        receive = Some(channel);
        let done = parts.0.load(Ordering::Relaxed);
        let heard = py.check_signals().and_then(|()| match progress {
            Some(progress) if done != told => {
                told = done;
                progress.call1((done, parts.1.load(Ordering::Relaxed))).map(|_| ())
            }
            _ => Ok(()),
        });
        if let Err(raised) = heard {
            control.cancel();
            // It notices soon, and must not go on while the caller believes that it has ended.
            drop(receive);
            py.detach(move || thread.join().ok());
            return Err(raised);
        }
    }
    let error = ErrorReply::new("internal", "the question ended without an answer")
        .with_hint("this is a defect of Parallax; the lines before say where");
    Err(failure(py, &error))
}

/// The exception for why there is no answer.
pub(crate) fn failure(py: Python<'_>, error: &ErrorReply) -> PyErr {
    let make = || -> PyResult<Bound<'_, PyAny>> {
        let errors = py.import("parallax._errors")?;
        errors.call_method1("failure", (&error.kind, &error.message, &error.hint))
    };
    make().map_or_else(|error| error, PyErr::from_value)
}
