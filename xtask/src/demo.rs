//! `cargo xtask demo`: the main job, on the databases of this repository, and then the application
//! in the browser.

use std::io::{BufRead as _, BufReader, IsTerminal as _, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::args::Args;
use crate::{setup, shell, web};

/// A question that an analyst asks, and the command that answers it.
struct Step {
    question: &'static str,
    /// Words after `parallax`; `@name` stands for data under `fixtures`.
    command: &'static [&'static str],
}

const FIXTURES: &str = "fixtures";

const STEPS: &[Step] = &[
    Step {
        question: "What does this database hold: ranks, contexts, metrics, and issues?",
        command: &["info", "@reactor/n1024-p8"],
    },
    Step {
        question: "Where is the time spent, top-down from main, and what is the hot path?",
        command: &["tree", "@reactor/n1024-p8"],
    },
    Step {
        question: "What are the top findings: MPI, OpenMP, I/O, GPU, load imbalance?",
        command: &["report", "@reactor/n1024-p8"],
    },
    Step {
        question: "Is the load balanced over ranks, and which ranks are slow?",
        // Thread 0 of each rank: the others are helpers that Open MPI starts to wait for events.
        command: &["balance", "@reactor/n1024-p8", "--profiles", "thread(0)"],
    },
    Step {
        question: "The same for a longer run with 512 cells: does the imbalance persist?",
        command: &["balance", "@reactor/long-n512-p8", "--profiles", "thread(0)"],
    },
    Step {
        question: "Why does the program stop scaling over 1, 2, 4 and 8 ranks, and where?",
        command: &[
            "scaling",
            "@reactor/n256-p1",
            "@reactor/n256-p2",
            "@reactor/n256-p4",
            "@reactor/n256-p8",
            "@reactor/n512-p1",
            "@reactor/n512-p2",
            "@reactor/n512-p4",
            "@reactor/n512-p8",
            "@reactor/n1024-p1",
            "@reactor/n1024-p2",
            "@reactor/n1024-p4",
            "@reactor/n1024-p8",
            "--param",
            "cores=ranks",
            "--param",
            r"input=path:n(\d+)-",
        ],
    },
    Step {
        question: "Which loops and calls of a recorded program could run in parallel?",
        command: &["advise", "@measured/image.plxm"],
    },
];

/// What the application shows at the end.
const SHOWN: &[&str] = &["@reactor/n1024-p8"];

pub(crate) fn run(args: Args) -> Result<()> {
    args.finish()?;
    setup::base()?;
    let started = Instant::now();
    // The page waits for the network and the compiler for the processor: both at once.
    let page = std::thread::spawn(build_page);
    println!("\n[1/3] building the command line tool");
    shell::run(cargo("build"))?;

    println!("\n[2/3] running {} analyses", STEPS.len());
    let mut failed = 0;
    for step in STEPS {
        let words = with_paths(step.command);
        println!("\n\n{}\n$ parallax {}\n", step.question, words.join(" "));
        if let Err(error) = shell::run(parallax(&words)) {
            eprintln!("{error:#}");
            failed += 1;
        }
    }
    if failed > 0 {
        bail!("{failed} of {} demo commands failed", STEPS.len());
    }

    println!("\n\n[3/3] starting the web application");
    match page.join().unwrap_or_else(|_| bail!("the build of the web application stopped")) {
        Ok(dist) => application(&dist)?,
        Err(why) => println!("skipped: {why:#}"),
    }
    println!(
        "\n{}. For your own data: `cargo install --path crates/cli`, then `parallax report DATABASE`",
        shell::seconds(started.elapsed())
    );
    Ok(())
}

/// Bundles the page into a folder of its own. It has no engine inside, which takes minutes to
/// compile: it asks the server.
fn build_page() -> Result<PathBuf> {
    let say = |what: &str| println!("  web application: {what}");
    say("Node.js and packages");
    web::packages()?;
    say("bundling");
    let dist = shell::root().join("target/demo-web/dist");
    let out = dist.to_string_lossy();
    let words = ["run", "--silent", "build", "--", "--logLevel", "warn", "--emptyOutDir"];
    let mut build = web::npm(&words)?;
    build.args(["--outDir", &out]);
    shell::quiet(build)?;
    say("bundled");
    Ok(dist)
}

/// Serves fixtures to a browser. Somebody at a terminal stays there until Ctrl-C; otherwise the
/// application is asked once for its page, and ended.
fn application(dist: &Path) -> Result<()> {
    println!("embedding the web application");
    let with_page = |mut command: Command| {
        command.env("PARALLAX_WEB_DIST", dist);
        command
    };
    shell::run(with_page(cargo("build")))?;
    let mut words = vec!["open".to_owned()];
    words.extend(with_paths(SHOWN));
    println!("\n$ parallax {}\n", words.join(" "));
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && !shell::must_be_whole()
    {
        println!("(stop it with Ctrl+C)");
        return shell::run_ours(with_page(parallax(&words)));
    }
    words.extend(["--no-browser", "--json"].map(str::to_owned));
    let mut server = with_page(parallax(&words));
    let mut child = server.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let shown = address(&mut child).and_then(|address| fetch(&address).map(|()| address));
    // It has served its purpose; whatever it says about being ended is of no interest.
    let _ = child.kill();
    let _ = child.wait();
    println!("it answered at {} and was stopped, because this is no terminal", shown?);
    Ok(())
}

/// The address that the server prints first.
fn address(child: &mut Child) -> Result<String> {
    let mut line = String::new();
    let stdout = child.stdout.take().context("the server has no output")?;
    BufReader::new(stdout).read_line(&mut line)?;
    let line: serde_json::Value = serde_json::from_str(&line).context("not an address")?;
    Ok(line["url"].as_str().context("no address")?.to_owned())
}

/// Asks for the page, which has to be the application.
fn fetch(address: &str) -> Result<()> {
    let rest = address.strip_prefix("http://").context("not an address of this machine")?;
    let place = rest.split('/').next().unwrap_or_default();
    let mut stream = TcpStream::connect(place)?;
    write!(stream, "GET / HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    if !(answer.starts_with(b"HTTP/1.1 200") && has(&answer, b"parallax-server")) {
        bail!("the application does not answer at {place}");
    }
    Ok(())
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Cargo, on the tool as the demo compiles it.
fn cargo(word: &str) -> Command {
    shell::cargo(&[word, "--locked", "--profile", "demo", "--package", "parallax-cli"])
}

/// The tool, which cargo recompiles when it is out of date and then becomes.
fn parallax(words: &[String]) -> Command {
    let mut parallax = cargo("run");
    parallax.args(["--quiet", "--"]).args(words);
    parallax
}

fn with_paths(words: &[&str]) -> Vec<String> {
    let path = |word: &&str| match word.strip_prefix('@') {
        Some(name) => format!("{FIXTURES}/{name}"),
        None => (*word).to_owned(),
    };
    words.iter().map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_database_of_the_demo_is_in_the_repository() {
        for word in STEPS.iter().flat_map(|step| step.command).chain(SHOWN) {
            if let Some(name) = word.strip_prefix('@') {
                let path = shell::root().join(FIXTURES).join(name);
                let is_there = path.is_file() || path.join("meta.db").is_file();
                assert!(is_there, "{} is not there", path.display());
            }
        }
    }
}
