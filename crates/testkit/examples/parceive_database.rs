//! Writes a database of Parceive with known numbers, for tests that are not written in Rust:
//! `parceive_database OUT THREADS ROUNDS DEPTH INNER ACCESSES`, as `parceive::Program` has them.
//! Prints what it holds as JSON.

use std::process::ExitCode;

use parallax_testkit::parceive::Program;

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<String, String> {
    let [out, numbers @ ..] = args else { return Err("where to? give a path".to_owned()) };
    let mut program = Program::default();
    let fields = [
        &mut program.threads,
        &mut program.rounds,
        &mut program.depth,
        &mut program.inner,
        &mut program.accesses,
    ];
    for (field, text) in fields.into_iter().zip(numbers) {
        *field = text.parse().map_err(|why| format!("`{text}`: {why}"))?;
    }
    let counts =
        program.write_file(std::path::Path::new(out)).map_err(|why| format!("{out}: {why}"))?;
    Ok(serde_json::json!({
        "calls": counts.calls,
        "executions": counts.executions,
        "iterations": counts.iterations,
        "references": counts.references,
        "reads": counts.reads,
        "writes": counts.writes,
    })
    .to_string())
}
