//! For tests only: writers, generators with planted answers, and drawn profiles.
//!
//! Nothing here shares code with the readers of Parallax.
//! The byte layouts are implemented a second time, from the format descriptions, so that a reader
//! and its test data cannot agree on the same mistake.
//!
//! - [`hpctoolkit`]: databases of HPCToolkit format v4, written from a plain description, drawn at
//!   random for property tests, or generated at any size with answers known beforehand.
//! - [`drawn`]: small profiles drawn as indented text.
//! - [`gpu_stalls`]: databases with instruction sampling of GPUs, with planted stalls.
//! - [`json_trace`]: JSON traces of any size, with known counts.
//! - [`needs`]: the corpus and programs that tests need; without them they are skipped, and counted.
//! - [`nsight`]: exports of Nsight Systems with planted rows.
//! - [`otf2`]: traces of OTF2, of any size with answers known beforehand.
//! - [`parceive`]: databases of Parceive, of any size with known numbers.
//! - [`parceive_tags`]: databases of Parceive with a planted section and its tasks.
//! - [`pascal`]: files of PaScal Analyzer, of a solver whose scaling is planted.
//! - [`planted`]: programs with one planted cause of lost time, and programs without any.
//! - [`random`]: numbers that look random, for what property tests draw.
//! - [`sqlite`]: databases that SQLite itself writes.
//! - [`tau`]: profiles of TAU as text and packed, and traces, written from plain descriptions.
//! - [`workflow`]: CODAR traces of a coupled run, of any size with answers known beforehand.
//!
//! This crate is used by tests, benchmarks and `cargo xtask generate` only; it may do file IO and
//! stops with a message when it is misused.

pub mod drawn;
pub mod gpu_stalls;
pub mod hpctoolkit;
pub mod json_trace;
pub mod needs;
pub mod nsight;
pub mod otf2;
pub mod parceive;
pub mod parceive_tags;
pub mod pascal;
pub mod planted;
pub mod random;
pub mod sqlite;
pub mod tau;
pub mod workflow;
