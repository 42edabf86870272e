//! `measure --open`: the maps of a sweep in the browser while it runs.

use std::path::Path;

use clap::Args;
use parallax_server::{Background, Options, Server, Token, places};
use parallax_sweep::Event;

use super::{Context, serve};
use crate::text::{Level, Notice};

/// Whether the browser shows the sweep.
#[derive(Debug, Clone, Args)]
pub(super) struct LiveArgs {
    /// Show the results in the browser while the program runs, from the first ones until Ctrl+C.
    #[arg(long, help_heading = "Browser")]
    pub(super) open: bool,
    /// With --open: only print the address.
    #[arg(long, requires = "open", help_heading = "Browser")]
    pub(super) no_browser: bool,
    /// With --open: port to listen on (default: any free port).
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    #[arg(requires = "open", help_heading = "Browser")]
    pub(super) port: u16,
}

/// The sweep in the browser, once there is something to show.
pub(super) struct Live<'a> {
    context: &'a Context,
    arguments: LiveArgs,
    state: State,
}

enum State {
    /// No run is in the file yet.
    Waiting,
    /// The browser has it, at this address.
    Shown(Background, String),
    /// It was not asked for, or cannot be had.
    Off,
}

impl<'a> Live<'a> {
    pub(super) fn new(context: &'a Context, arguments: LiveArgs) -> Self {
        let state = if arguments.open { State::Waiting } else { State::Off };
        Self { context, arguments, state }
    }

    /// Whether `event` is the first after which the file of the sweep has a run to show.
    pub(super) fn is_due(&self, event: &Event<'_>) -> bool {
        let has_run = match event {
            Event::Began { done, .. } => *done > 0,
            Event::Ran { is_warmup, outcome, .. } => !is_warmup && outcome.is_success(),
            _ => false,
        };
        has_run && matches!(self.state, State::Waiting)
    }

    /// Offers the file of the sweep to the browser. The sweep goes on where that fails.
    pub(super) fn show(&mut self, path: &Path) {
        self.state = self.started(path).unwrap_or_else(|error| {
            let message = format!("cannot show the sweep in the browser: {error:#}");
            Notice::new(Level::Warning, message).print(&self.context.stderr);
            State::Off
        });
    }

    fn started(&self, path: &Path) -> anyhow::Result<State> {
        let places = places(&[path.to_owned()])?;
        let options =
            Options { port: self.arguments.port, follow: true, ..Options::new(Token::random()?) };
        let server = Server::bind(places, options)?;
        let (url, port) = (server.url(), server.address().port());
        let background = Background::start(server)?;
        self.context.note(format!("Parallax is at {url} and shows each run when it ends"));
        serve::show(self.context, &url, port, self.arguments.no_browser);
        Ok(State::Shown(background, url))
    }

    /// Answers the browser until Ctrl+C, where it was asked for.
    pub(super) fn until_interrupted(self) -> anyhow::Result<()> {
        if let State::Shown(background, url) = self.state {
            let context = self.context;
            background.until_interrupted(|| {
                context.note(format!("the sweep remains available at {url} until Ctrl+C"));
            })?;
        }
        Ok(())
    }
}
