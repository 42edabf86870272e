//! `cargo xtask bench`: Parallax and its peers on the same data, on the same machine, in one run.
//!
//! Every measurement is a process of its own (this program again, or a Python with a peer in it),
//! so that neither time nor memory of one can lean on another. The table says what was asked for,
//! what came out, and the target where there is one; a missed target does not fail the run,
//! because a time on a shared machine proves nothing by itself.

mod answers;
mod calls;
mod data;
mod machine;
mod options;
mod paired;
mod peers;
mod probe;
mod record;
mod regions;
mod report;
mod scaling;
mod traces;
mod web;
mod work;

use std::process::ExitCode;

use anyhow::Result;

use crate::data::Database;
use crate::options::Options;
use crate::peers::Peers;
use crate::report::Report;
use crate::work::Work;

/// The allocator of the programs that people run (ADR 0010).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.split_first() {
        Some((first, rest)) if first == probe::COMMAND => probe::answer(rest),
        Some((first, rest)) if first == scaling::COMMAND => scaling::answer(rest),
        Some((first, rest)) if first == traces::COMMAND => traces::answer(rest),
        Some((first, rest)) if first == calls::COMMAND => calls::answer(rest),
        Some((first, rest)) if first == record::COMMAND => record::answer(rest),
        Some((first, rest)) if first == regions::COMMAND => regions::answer(rest),
        Some((first, [])) if first == web::COMMAND => web::answer(),
        _ => Options::parse(&words).and_then(|options| options.map_or(Ok(()), |o| run(&o))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    if let Some(old) = &options.against {
        return paired::run(options, old);
    }
    let peers = Peers::find();
    let mut report = Report::new(machine::describe(), options.format);
    for ranks in &options.ranks {
        let database = Database::get(*ranks)?;
        answers::check(&database)?;
        report.database(&database);
        measure(options, &peers, &database, &mut report)?;
    }
    report.print();
    Ok(())
}

fn measure(
    options: &Options,
    peers: &Peers,
    database: &Database,
    report: &mut Report,
) -> Result<()> {
    for work in Work::ALL.into_iter().filter(|work| work.is_meant_for(database.ranks)) {
        if !options.wants(work.name()) {
            continue;
        }
        eprintln!("{} ranks: {}", database.ranks, work.name());
        let ours = probe::measure(work, database, options.repeats)?;
        for peer in work.peers().iter().filter(|peer| peer.is_meant_for(work, database.ranks)) {
            if options.with_peers {
                eprintln!("{} ranks: {} by {}", database.ranks, work.name(), peer.name());
                let theirs = peers.measure(*peer, work, database)?;
                report.peer(work, database.ranks, &ours, *peer, theirs);
            }
        }
        report.ours(work, database.ranks, ours);
    }
    Ok(())
}
