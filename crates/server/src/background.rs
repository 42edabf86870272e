//! [`Background`]: a server beside something else that this process does.

use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use crate::{Server, ServerError, interrupted};

/// Waits for Ctrl+C, or until the system asks for the end. `tell` says so, when signals are heeded:
/// whoever reads it may interrupt at once.
///
/// # Errors
/// When the system does not tell of signals.
pub fn until_interrupted(tell: impl FnOnce()) -> Result<(), ServerError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|cause| ServerError::Start { cause })?.block_on(async {
        let end = interrupted();
        tell();
        end.await;
    });
    Ok(())
}

/// A server that answers on a thread of its own.
///
/// As long as it is in the background, signals are the business of whoever started it. It ends when
/// this is dropped.
pub struct Background {
    /// Tells the server that it has the process to itself, and where to say that it heeds signals;
    /// dropped, that it is to end.
    alone: oneshot::Sender<Sender<()>>,
    thread: JoinHandle<Result<(), ServerError>>,
}

impl Background {
    /// Has `server` answer from now on.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn start(server: Server) -> Result<Self, ServerError> {
        let (alone, is_alone) = oneshot::channel::<Sender<()>>();
        let stop = async move {
            if let Ok(heeded) = is_alone.await {
                let end = interrupted();
                let _ = heeded.send(());
                end.await;
            }
        };
        let answer = move || server.run(stop);
        let thread = std::thread::Builder::new()
            .name("server".to_owned())
            .spawn(answer)
            .map_err(|cause| ServerError::Start { cause })?;
        Ok(Self { alone, thread })
    }

    /// Answers until Ctrl+C, or until the system asks for the end. `tell` says so, when signals are
    /// heeded: whoever reads it may interrupt at once.
    ///
    /// # Errors
    /// When it could not answer at all.
    pub fn until_interrupted(self, tell: impl FnOnce()) -> Result<(), ServerError> {
        let (heeded, is_heeded) = channel();
        // A server that ended already says why below.
        let _ = self.alone.send(heeded);
        if is_heeded.recv().is_ok() {
            tell();
        }
        let no_thread = || std::io::Error::other("its thread ended early");
        self.thread.join().unwrap_or_else(|_| Err(ServerError::Start { cause: no_thread() }))
    }
}
