//! [`Server`]: listening, and which request goes where.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use parallax_dispatch::{Dispatcher, Statements};
use parallax_protocol::RootReply;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;

use crate::answer::{CHUNK, ask};
use crate::connections::{Connection, Connections};
use crate::guard::{is_host_allowed, is_own_page};
use crate::reply::{Body, only, secured, text};
use crate::unless::unless;
use crate::write_timeout::WriteTimeout;
use crate::{DataRoot, Pages, ServerError, Token};

/// Where questions are asked.
pub(crate) const ASK: &str = "/api/ask";

/// Length of a request's head, in bytes, and of what waits for a connection to be written.
const HEAD_BYTES: usize = 64 << 10;

/// How much a server takes on at once.
#[derive(Debug, Clone)]
pub struct ServerLimits {
    /// Connections at a time; a further one takes the place of the one whose client has let the
    /// server wait for longest. Browsers keep up to six for each page.
    pub connections: usize,
    /// Questions that are worked on at a time; further ones wait.
    pub questions: usize,
    /// Length of a question, in bytes.
    pub request_bytes: usize,
    /// Length of the answers that wait for their clients, all together, in bytes. Where this is used
    /// up, further questions wait; an answer that is longer on its own waits until it is alone.
    pub answer_bytes: usize,
    /// How long a connection may take to send a question, or to take the next part of an answer,
    /// and how long it may stay without one.
    pub timeout: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            connections: 256,
            // One question uses all cores where it can; a second keeps short ones from waiting.
            questions: cores.max(2),
            request_bytes: 1 << 20,
            answer_bytes: 1 << 30,
            timeout: Duration::from_secs(30),
        }
    }
}

/// A request that was answered, for a log.
#[derive(Debug, Clone)]
pub struct AccessLogEntry {
    /// The method.
    pub method: String,
    /// The path, without a token.
    pub path: String,
    /// What was asked, by its name in the protocol, where the engine was.
    pub question: Option<String>,
    /// The status of the answer.
    pub status: u16,
    /// Until the answer was there.
    pub took: Duration,
}

/// How a server is to be.
pub struct Options {
    /// Name or address to listen on. Others than loopback are reachable from other machines.
    pub bind: String,
    /// The port; 0 for any that is free.
    pub port: u16,
    /// What questions must know.
    pub token: Token,
    /// The application.
    pub pages: Pages,
    /// How much it takes on at once.
    pub limits: ServerLimits,
    /// Whether pages watch the files that they have opened, and show them again when they change.
    pub follow: bool,
    /// What answers statements in SQL; `None` where there is no SQL.
    pub statements: Option<Box<dyn Statements>>,
    /// Told of every request.
    pub on_access: Option<Box<dyn Fn(AccessLogEntry) + Send + Sync>>,
}

impl Options {
    /// On loopback, on any free port, with the application of this program.
    #[must_use]
    pub fn new(token: Token) -> Self {
        Self {
            bind: "127.0.0.1".to_owned(),
            port: 0,
            token,
            pages: Pages::embedded(),
            limits: ServerLimits::default(),
            follow: false,
            statements: None,
            on_access: None,
        }
    }
}

/// What all connections have in common.
pub(crate) struct Shared {
    pub(crate) dispatcher: Dispatcher,
    pub(crate) limits: ServerLimits,
    pub(crate) questions: Arc<Semaphore>,
    /// Turns of statements in SQL: one at a time, so that other questions always have a turn.
    pub(crate) statements: Arc<Semaphore>,
    /// Pieces of answers that may wait, see [`ServerLimits::answer_bytes`].
    pub(crate) answers: Arc<Semaphore>,
    pub(crate) num_answers: u32,
    token: Token,
    pages: Pages,
    bind: String,
    on_access: Option<Box<dyn Fn(AccessLogEntry) + Send + Sync>>,
}

impl Shared {
    /// Tells the one who keeps a log.
    pub(crate) fn log(&self, entry: impl FnOnce() -> AccessLogEntry) {
        if let Some(on_access) = &self.on_access {
            on_access(entry());
        }
    }
}

/// A server that listens, and answers once it [runs](Server::run).
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    roots: Vec<RootReply>,
    shared: Arc<Shared>,
}

impl Server {
    /// Begins to listen, and offers `places`.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub fn bind(places: Vec<DataRoot>, options: Options) -> Result<Self, ServerError> {
        let Options { bind, port, token, pages, limits, follow, statements, on_access } = options;
        let listen = || {
            let addresses: Vec<SocketAddr> = (bind.as_str(), port).to_socket_addrs()?.collect();
            let listener = TcpListener::bind(&addresses[..])?;
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        let (listener, address) = listen()
            .map_err(|cause| ServerError::Listen { address: format!("{bind}:{port}"), cause })?;
        let dispatcher = Dispatcher::default().following(follow).with_statements(statements);
        let roots = places
            .into_iter()
            .map(|place| dispatcher.add_root(&place.key, &place.name, place.folder))
            .collect();
        let num_answers = u32::try_from(limits.answer_bytes / CHUNK).unwrap_or(u32::MAX).max(1);
        let shared = Shared {
            dispatcher,
            answers: Arc::new(Semaphore::new(num_answers as usize)),
            num_answers,
            questions: Arc::new(Semaphore::new(limits.questions.max(1))),
            statements: Arc::new(Semaphore::new(1)),
            limits,
            token,
            pages,
            bind,
            on_access,
        };
        Ok(Self { listener, address, roots, shared: Arc::new(shared) })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether only this machine can reach it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// What the user opens, with the token.
    #[must_use]
    pub fn url(&self) -> String {
        let is_any = self.address.ip().is_unspecified();
        let is_name = self.shared.bind.parse::<IpAddr>().is_err();
        let port = self.address.port();
        let place = match self.address {
            // A name was typed because it is the one by which others know the machine.
            _ if is_name => format!("{}:{port}", self.shared.bind),
            SocketAddr::V4(_) if is_any => format!("127.0.0.1:{port}"),
            SocketAddr::V6(_) if is_any => format!("[::1]:{port}"),
            address => address.to_string(),
        };
        format!("http://{place}/?token={}", self.shared.token.as_str())
    }

    /// What it offers.
    #[must_use]
    pub fn roots(&self) -> &[RootReply] {
        &self.roots
    }

    /// Answers until `stop` is there. Questions that are still worked on are left where they are.
    ///
    /// # Errors
    /// When the system has no threads to give.
    pub fn run(self, stop: impl Future<Output = ()>) -> Result<(), ServerError> {
        let failed = |cause| ServerError::Start { cause };
        let runtime = Builder::new_current_thread()
            .enable_all()
            // Withdrawn questions need a moment to notice.
            .max_blocking_threads(self.shared.limits.questions.max(1) * 2)
            .build()
            .map_err(failed)?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener).map_err(failed)?;
            let accepting = tokio::spawn(accept(listener, self.shared));
            stop.await;
            accepting.abort();
            Ok::<(), ServerError>(())
        })?;
        runtime.shutdown_background();
        Ok(())
    }
}

/// Waits for Ctrl+C, or for the system to ask for the end. Both are heeded from this call on, which
/// only a future of [`Server::run`] may make.
pub fn interrupted() -> impl Future<Output = ()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
        // Without signals the program ends as the system ends it.
        let mut signals: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
        std::future::poll_fn(move |context| {
            if signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready()) {
                std::task::Poll::Ready(())
            } else {
                std::task::Poll::Pending
            }
        })
    }
    #[cfg(not(unix))]
    async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Completes when standard input is closed; what is written there is ignored. A program that starts
/// this one keeps the other end open, and closes it however it ends.
pub fn stdin_closed() -> impl Future<Output = ()> {
    let (tell, told) = tokio::sync::oneshot::channel();
    let read = move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = tell.send(());
    };
    // Without a thread the server ends as it does without this.
    let thread = std::thread::Builder::new().name("stdin".to_owned()).spawn(read);
    async move {
        if thread.is_err() || told.await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

async fn accept(listener: tokio::net::TcpListener, shared: Arc<Shared>) {
    let connections = Connections::new(shared.limits.connections);
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Too many open files, for instance: it may be better soon.
                if error.kind() != io::ErrorKind::ConnectionAborted {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                continue;
            }
        };
        // Pieces about progress are small and should not wait for more.
        let _ = stream.set_nodelay(true);
        let entered = connections.enter().await;
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let own = Arc::clone(&entered.0);
            let timeout = shared.limits.timeout;
            let service = service_fn(|request| {
                let (shared, own) = (Arc::clone(&shared), Arc::clone(&own));
                async move { Ok::<_, Infallible>(handle(&shared, &own, request).await) }
            });
            let stream = WriteTimeout::new(stream, timeout, Arc::clone(&own));
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(timeout)
                .max_buf_size(HEAD_BYTES)
                .serve_connection(TokioIo::new(stream), service);
            // A connection that breaks is the other side's business.
            let _ = unless(connection, own.told_to_go()).await;
        });
    }
}

async fn handle(
    shared: &Arc<Shared>,
    own: &Arc<Connection>,
    request: Request<Incoming>,
) -> Response<Body> {
    let started = Instant::now();
    let method = request.method().to_string();
    let path = request.uri().path().to_owned();
    let response = secured(route(shared, own, request).await);
    // A question that reached the engine is told of when it has its answer.
    if path != ASK || response.status() != StatusCode::OK {
        let status = response.status().as_u16();
        shared.log(|| AccessLogEntry {
            method,
            path,
            question: None,
            status,
            took: started.elapsed(),
        });
    }
    response
}

async fn route(
    shared: &Arc<Shared>,
    own: &Arc<Connection>,
    request: Request<Incoming>,
) -> Response<Body> {
    let headers = request.headers();
    let is_elsewhere = request.uri().authority().is_some();
    if is_elsewhere || !is_host_allowed(headers, &shared.bind) {
        let message = "this name is not one of the server; open the address that `parallax open` \
                       printed, or start it with --bind and this name\n";
        return text(StatusCode::MISDIRECTED_REQUEST, message);
    }
    let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
    if request.uri().path() != ASK {
        if !is_reading {
            return only("GET, HEAD");
        }
        return shared.pages.answer(request.uri().path(), headers);
    }
    if *request.method() != Method::POST {
        return only("POST");
    }
    if !is_own_page(headers) {
        return text(StatusCode::FORBIDDEN, "pages of other servers may not ask\n");
    }
    if !shared.token.is_in(headers) {
        let message = "questions need the token, as `Authorization: Bearer TOKEN`\n";
        return text(StatusCode::UNAUTHORIZED, message);
    }
    ask(shared, own, request.into_body()).await
}
