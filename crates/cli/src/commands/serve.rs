//! `open`: the application in a browser, with this machine's files.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::Poll;

use anyhow::Context as _;
use clap::Args;
use parallax_server::{
    AccessLogEntry, DataRoot, Options, Pages, Server, Token, interrupted, places, stdin_closed,
};
use parallax_service::discover;

use super::{Context, recorded};
use crate::browser;
use crate::output::Format;
use crate::statements::{StatementArgs, statements};
use crate::text::{Level, Notice};

/// What `open` serves, and how.
#[derive(Debug, Args)]
pub(crate) struct OpenArgs {
    /// Profiles, traces, recordings, measurement files, or folders of them; several paths are
    /// offered individually and together, as an ensemble.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Port to listen on (default: any free port).
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Name or address to listen on (default: 127.0.0.1, reachable only from this machine).
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", hide_default_value = true)]
    bind: String,
    /// Only print the address.
    #[arg(long)]
    no_browser: bool,
    /// Watch the files and show changes: a running sweep, a growing trace, additional runs.
    #[arg(long)]
    follow: bool,
    /// Show a recording while `parallax record` writes it to PATH; waits until it starts.
    #[arg(long, conflicts_with = "follow")]
    live: bool,
    /// Read the token from this file, or write a new one to it, so that the address stays the same.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Exit when standard input is closed, for programs that start the server.
    #[arg(long)]
    until_stdin_closes: bool,
    /// Print every request.
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    statements: StatementArgs,
}

pub(super) fn serve(context: &Context, arguments: &OpenArgs) -> anyhow::Result<()> {
    let mut closed = arguments.until_stdin_closes.then(|| Box::pin(stdin_closed()));
    let places = if arguments.live {
        match recorded::place(context, &arguments.paths, closed.as_mut())? {
            Some(place) => vec![place],
            None => return Ok(()),
        }
    } else {
        places(&arguments.paths)?
    };
    check(context, &places)?;
    let token = match &arguments.token_file {
        Some(path) => kept_token(path)?,
        None => Token::random()?,
    };
    let options = Options {
        bind: arguments.bind.clone(),
        port: arguments.port,
        follow: arguments.follow || arguments.live,
        statements: statements(arguments.statements, context.device)?,
        on_access: arguments
            .verbose
            .then(|| Box::new(log) as Box<dyn Fn(AccessLogEntry) + Send + Sync>),
        ..Options::new(token.clone())
    };
    let server = Server::bind(places, options)?;
    let said = announcement(context, arguments, &server, &token);
    let mut announced = Ok(());
    // The address is told when signals are heeded: whoever reads it may end the server at once.
    server.run(async {
        let end = ended(closed);
        announced = said();
        if announced.is_ok() {
            end.await;
        }
    })?;
    Ok(announced?)
}

/// Completes when the server is to end. Signals are heeded from the call on.
fn ended(mut closed: Option<impl Future<Output = ()> + Unpin>) -> impl Future<Output = ()> {
    let mut signal = Box::pin(interrupted());
    std::future::poll_fn(move |context| match signal.as_mut().poll(context) {
        Poll::Pending => match &mut closed {
            Some(closed) => Pin::new(closed).poll(context),
            None => Poll::Pending,
        },
        ready @ Poll::Ready(()) => ready,
    })
}

/// What tells where the server is, and opens a browser there.
fn announcement<'a>(
    context: &'a Context,
    arguments: &'a OpenArgs,
    server: &Server,
    token: &Token,
) -> impl FnOnce() -> std::io::Result<()> + 'a {
    let url = server.url();
    let is_json = context.output.format == Format::Json;
    let (port, is_local) = (server.address().port(), server.is_local());
    let line = serde_json::json!({
        "url": url, "token": token.as_str(), "roots": server.roots(),
    });
    move || {
        if is_json {
            say(&line.to_string())?;
        } else {
            say(&format!("Parallax is at {url}"))?;
            context.note(
                "anyone with this address, which contains a token, can read these files through \
                 this server; stop it with Ctrl+C",
            );
        }
        if !is_local {
            let warning = "other machines can reach this server, and its traffic is not encrypted; \
                           omit --bind to allow only this machine";
            Notice::new(Level::Warning, warning).print(&context.stderr);
        }
        show(context, &url, port, arguments.no_browser || is_json);
        Ok(())
    }
}

/// Opens the browser at a server, unless its address is all that is wanted; says what to do where
/// that cannot be.
pub(super) fn show(context: &Context, url: &str, port: u16, is_address_only: bool) {
    if !Pages::is_embedded() {
        let warning = "this build contains no web page; run `cargo xtask web` and rebuild";
        Notice::new(Level::Warning, warning).print(&context.stderr);
    }
    if !is_address_only && !browser::open(url) {
        context.note(browser::advice(port));
    }
}

/// Says which paths hold nothing, while the person who typed them is still looking.
fn check(context: &Context, places: &[DataRoot]) -> anyhow::Result<()> {
    let mut empty = Vec::new();
    for place in places {
        let found = discover(&place.folder).with_context(|| place.folder.name().to_owned())?;
        for note in found.notes() {
            let name = place.folder.name();
            Notice::new(Level::Warning, format!("{name}: {note}")).print(&context.stderr);
        }
        if found.data.is_empty() {
            empty.push(found.nothing(place.folder.name()));
        }
    }
    if empty.len() == places.len() {
        // Several paths come together first, and then each on its own.
        let all: Vec<String> =
            empty.iter().skip(usize::from(empty.len() > 1)).map(ToString::to_string).collect();
        anyhow::bail!("{}", all.join("\n"));
    }
    for error in empty {
        Notice::new(Level::Warning, error.to_string()).print(&context.stderr);
    }
    Ok(())
}

/// The token in a file; a new one, which is written there for the owner only, when there is none.
fn kept_token(path: &Path) -> anyhow::Result<Token> {
    let named = || format!("cannot use the token file {}", path.display());
    match std::fs::read_to_string(path) {
        Ok(text) => Token::known(text.trim()).with_context(named),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let token = Token::random()?;
            let mut options = std::fs::OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut file = options.open(path).with_context(named)?;
            writeln!(file, "{}", token.as_str()).with_context(named)?;
            Ok(token)
        }
        Err(error) => Err(error).with_context(named),
    }
}

fn log(entry: AccessLogEntry) {
    let AccessLogEntry { method, path, question, status, took } = entry;
    let question = question.map(|name| format!(" {name}")).unwrap_or_default();
    let millis = took.as_secs_f64() * 1e3;
    // The reader may be gone.
    let _ = writeln!(std::io::stderr(), "{method} {path}{question} {status} {millis:.1} ms");
}

/// A line that a reader has at once. A reader that goes away is no failure: the server goes on.
fn say(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}
