//! The protocol over HTTP with the application embedded, and reports that are one file.
//!
//! A [`Server`] answers on one address: the application's files to anybody who can reach it, and
//! questions (`POST /api/ask`) to those who know its [`Token`]. A question names data by the keys of
//! its [`DataRoot`]s, which are chosen when the server starts; no request carries a path of the
//! operating system. [`Report`] writes the same application with data inside as one file.
//!
//! Invariant: nothing is written, apart from temporary files of statements that exceed their memory,
//! and nothing outside the places is read. Links inside a place are
//! followed: databases are often assembled from them, and who made the folder chose where they lead.

mod answer;
mod background;
mod connections;
mod error;
mod guard;
mod pages;
mod places;
mod reply;
mod report;
mod selection;
mod server;
mod unless;
mod write_timeout;

pub use background::{Background, until_interrupted};
pub use error::ServerError;
pub use guard::Token;
pub use pages::Pages;
pub use parallax_dispatch::{Content, Statements};
pub use parallax_places::DataRoot;
pub use places::places;
pub use report::Report;
pub use selection::Selection;
pub use server::{AccessLogEntry, Options, Server, ServerLimits, interrupted, stdin_closed};
