//! `cargo xtask generate`: writes a database with planted answers.
//!
//! One table says what every option is called, what it means and what it sets.

use std::cell::Cell;
use std::io::{BufWriter, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use parallax_testkit::hpctoolkit::WriteOptions;
use parallax_testkit::hpctoolkit::generate::{
    Congestion, GenerateOptions, Imbalance, ImbalanceLaw, SlowNodes, generate,
};
use parallax_testkit::hpctoolkit::iterations::gamess;
use parallax_testkit::parceive::{Program, Schema};
use parallax_testkit::pascal::{Version, solver};
use parallax_testkit::workflow::{FUNCTIONS, Workflow};

/// Decides the order of long and short repetitions in the files of `fixtures/pascal`.
const SOLVER_SEED: u64 = 7;

/// One option: its name, what stands for its value in the help (empty for a switch, which takes
/// none), what it means, what it sets, and what it is when it is not set.
struct Setting {
    name: &'static str,
    value: &'static str,
    help: &'static str,
    set: fn(&mut GenerateOptions, &str) -> Result<()>,
    default: fn(&GenerateOptions) -> String,
}

/// An option that is one number of the options.
macro_rules! number {
    ($name:literal, $value:literal, $field:ident, $help:literal) => {
        Setting {
            name: $name,
            value: $value,
            help: $help,
            set: |options, text| put(&mut options.$field, text),
            default: |options| options.$field.to_string(),
        }
    };
}

const SETTINGS: &[Setting] = &[
    number!("--ranks", "N", ranks, "MPI ranks"),
    number!("--contexts", "C", contexts, "contexts in the tree"),
    number!("--threads-per-rank", "T", threads_per_rank, "threads of each rank"),
    number!("--ranks-per-node", "R", ranks_per_node, "consecutive ranks on one node"),
    number!("--values-per-rank", "V", values_per_rank, "values of each rank, about"),
    number!("--metrics", "M", metrics, "metrics, 1 to 8"),
    number!("--samples", "S", trace_samples, "trace samples of each thread, about"),
    number!("--iterations", "I", iterations, "iterations of the time step loop"),
    number!("--seed", "S", seed, "everything random follows from it"),
    Setting {
        name: "--imbalance",
        value: "F",
        help: "additional work of the slowest rank, as a part of the balanced work; 0 for none",
        set: |options, text| put(&mut options.imbalance.get_or_insert_default().amplitude, text),
        default: |options| options.imbalance.map_or(0.0, |i| i.amplitude).to_string(),
    },
    Setting {
        name: "--imbalance-law",
        value: "LAW",
        help: "linear, sine, or step:FRACTION of the ranks that have more work",
        set: |options, text| {
            options.imbalance.get_or_insert_default().law = law(text)?;
            Ok(())
        },
        default: |_| "linear".to_owned(),
    },
    Setting {
        name: "--slow-nodes",
        value: "K",
        help: "nodes that are slow in the all-reduce of the set-up",
        set: |options, text| put(&mut options.slow_nodes.get_or_insert_default().count, text),
        default: |options| options.slow_nodes.map_or(0, |slow| slow.count).to_string(),
    },
    Setting {
        name: "--slow-factor",
        value: "F",
        help: "how much longer they take there, at least 1",
        set: |options, text| {
            let one = SlowNodes { count: 1, ..SlowNodes::default() };
            put(&mut options.slow_nodes.get_or_insert(one).factor, text)
        },
        default: |_| format!("{:.3}", SlowNodes::default().factor),
    },
    Setting {
        name: "--congestion",
        value: "K:R",
        help: "K slow nodes in R racks as in the paper on AMG (202:22), with hosts.csv",
        set: |options, text| {
            let (nodes, racks) = text.split_once(':').context("give nodes:racks, as 202:22")?;
            options.congestion = Some(Congestion { nodes: nodes.parse()?, racks: racks.parse()? });
            // Ranks do not end together, which traces and iterations rest on.
            (options.iterations, options.trace, options.imbalance) = (1, false, None);
            Ok(())
        },
        default: |_| "none".to_owned(),
    },
    Setting {
        name: "--no-trace",
        value: "",
        help: "leave trace.db out",
        set: |options, _| {
            options.trace = false;
            Ok(())
        },
        default: |_| String::new(),
    },
    Setting {
        name: "--no-elided",
        value: "",
        help: "put costs on lines, not on instructions that the tree leaves out",
        set: |options, _| {
            options.elided = false;
            Ok(())
        },
        default: |_| String::new(),
    },
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() || words.iter().any(|word| word == "--help" || word == "-h") {
        print_help();
        return ExitCode::SUCCESS;
    }
    let done = match words.as_slice() {
        [format, out] if format == "pascal" => write_solver(Path::new(out)),
        [format, out] if format == "gamess" => write_gamess(Path::new(out)),
        [format, megabytes, out] if format == "workflow" => {
            write_workflow(megabytes, Path::new(out))
        }
        [format, megabytes, out] if format == "parceive" => {
            write_program(megabytes, Schema::Y2016, Path::new(out))
        }
        [format, schema, megabytes, out] if format == "parceive" && schema == "--2015" => {
            write_program(megabytes, Schema::Y2015, Path::new(out))
        }
        _ => parse(words).and_then(|(options, out)| write(&options, &out)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn put<T: FromStr>(place: &mut T, text: &str) -> Result<()>
where
    T::Err: std::error::Error + Send + Sync + 'static,
{
    *place = text.parse()?;
    Ok(())
}

fn law(text: &str) -> Result<ImbalanceLaw> {
    Ok(match text.split_once(':') {
        None if text == "linear" => ImbalanceLaw::Linear,
        None if text == "sine" => ImbalanceLaw::Sine,
        Some(("step", fraction)) => ImbalanceLaw::Step { fraction: fraction.parse()? },
        _ => bail!("there are linear, sine and step:FRACTION"),
    })
}

fn parse(words: Vec<String>) -> Result<(GenerateOptions, String)> {
    let mut options = GenerateOptions::default();
    let mut places = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            places.push(word);
            continue;
        }
        let (name, given) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        let setting = SETTINGS
            .iter()
            .find(|setting| setting.name == name)
            .with_context(|| format!("unknown option {name}; --help lists them"))?;
        let value = match given {
            Some(value) => value,
            None if setting.value.is_empty() => String::new(),
            None => words.next().with_context(|| format!("{name} needs a value"))?,
        };
        (setting.set)(&mut options, &value)
            .with_context(|| format!("{name}: `{value}` is not a value it takes"))?;
    }
    if options.imbalance.is_some_and(|imbalance: Imbalance| imbalance.amplitude == 0.0) {
        options.imbalance = None;
    }
    match places.as_slice() {
        [format, out] if format == "hpctoolkit" => Ok((options, out.clone())),
        [format, _] => {
            bail!(
                "cannot generate `{format}` like that; there are hpctoolkit, gamess, pascal, parceive \
                 and workflow"
            )
        }
        _ => bail!("give the format and the folder: hpctoolkit OUT"),
    }
}

fn write(options: &GenerateOptions, out: &str) -> Result<()> {
    let started = Instant::now();
    let is_terminal = std::io::stderr().is_terminal();
    let shown = Cell::new(u64::MAX);
    let planted = generate(Path::new(out), options, |done, total, file| {
        let percent = done.saturating_mul(100) / total.max(1);
        if is_terminal && shown.replace(percent) != percent {
            let secs = started.elapsed().as_secs();
            eprint!("\r{file:<12} {percent:>3} % {secs:>5} s  ");
            // A progress line that cannot be shown is no reason to stop.
            let _ = std::io::stderr().flush();
        }
    })?;
    if is_terminal {
        eprintln!();
    }
    println!(
        "{out}: {} locations, {} values, {} samples, {:.1} MB in {:.1} s\n{out}/planted.json holds the answers",
        options.locations(),
        planted.values,
        planted.samples,
        planted.bytes as f64 / 1e6,
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Writes both versions of the solver, as in `fixtures/pascal`.
fn write_solver(out: &Path) -> Result<()> {
    std::fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    for (name, version) in [("solver-v1.json", Version::First), ("solver-v2.json", Version::Second)]
    {
        let path = out.join(name);
        std::fs::write(&path, solver(version, SOLVER_SEED))
            .with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// Writes the run of GAMESS of the paper on hpcanalysis, with the traces of its GPU streams.
fn write_gamess(out: &Path) -> Result<()> {
    let plan = gamess();
    let files = plan.database().to_files(&WriteOptions::default());
    files.write_to(out).with_context(|| format!("cannot write {}", out.display()))?;
    println!("{}: {} GPU streams, 11 iterations", out.display(), plan.locations());
    Ok(())
}

/// Writes the trace of a coupled run, and prints what is known about it.
fn write_workflow(megabytes: &str, out: &Path) -> Result<()> {
    let started = Instant::now();
    let megabytes: u64 = megabytes.parse().context("a size in megabytes is expected")?;
    let workflow = Workflow::of_size(megabytes * 1_000_000);
    let failed = || format!("cannot write {}", out.display());
    let mut file = BufWriter::new(std::fs::File::create(out).with_context(failed)?);
    let planted = workflow.write(&mut file).with_context(failed)?;
    file.flush().with_context(failed)?;
    println!(
        "{}: {} ranks, {} calls, {} messages, {:.1} MB in {:.1} s",
        out.display(),
        workflow.ranks(),
        planted.calls,
        planted.messages,
        planted.bytes as f64 / 1e6,
        started.elapsed().as_secs_f64()
    );
    println!("\ncalls, inclusive (us), exclusive (us), function");
    for (known, name) in planted.functions.iter().zip(FUNCTIONS) {
        println!(
            "{:>10} {:>14} {:>14}  {name}",
            known.calls, known.inclusive_micros, known.exclusive_micros
        );
    }
    Ok(())
}

/// Writes the database of a program, and prints what is known about it.
fn write_program(megabytes: &str, schema: Schema, out: &Path) -> Result<()> {
    let started = Instant::now();
    let megabytes: f64 = megabytes.parse().context("a size in megabytes is expected")?;
    let program = Program { schema, ..Program::of_size((megabytes * 1e6) as u64) };
    let failed = || format!("cannot write {}", out.display());
    let planted = program.write_file(out).with_context(failed)?;
    let bytes = std::fs::metadata(out).with_context(failed)?.len();
    println!(
        "{}: {} threads, {} calls, {} loop executions, {} iterations, {} references, {} reads, \
         {} writes, {:.1} MB in {:.1} s",
        out.display(),
        program.threads,
        planted.calls,
        planted.executions,
        planted.iterations,
        planted.references,
        planted.reads,
        planted.writes,
        bytes as f64 / 1e6,
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

fn print_help() {
    let defaults = GenerateOptions::default();
    println!("cargo xtask generate hpctoolkit [OPTIONS] OUT\n");
    for setting in SETTINGS {
        let option = format!("{} {}", setting.name, setting.value);
        let default = match (setting.default)(&defaults) {
            text if text.is_empty() => text,
            text => format!(" [{text}]"),
        };
        println!("  {option:<24} {}{default}", setting.help);
    }
    println!("\ncargo xtask generate gamess OUT\n");
    println!("  six GPU kernels in 11 iterations on 8 streams, as in the paper on hpcanalysis");
    println!("\ncargo xtask generate pascal OUT\n");
    println!("  two PaScal files of a solver: v1 with a serial and an uneven region, v2 without");
    println!("\ncargo xtask generate parceive [--2015] MEGABYTES OUT.db\n");
    println!("  a program with recursion, nested loops, threads, shared and private variables");
    println!("\ncargo xtask generate workflow MEGABYTES OUT.json\n");
    println!("  the CODAR trace of a run of 309 s: 2,200 steps on 4 nodes, 1,000 on one more");
}
