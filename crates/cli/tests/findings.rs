//! What an expert says first of each data set of the corpus, and what the tool says first.
//!
//! `findings/expert.json` was written from the data by hand, with independent readers, before the
//! tool was asked. Each row has what an expert says (`expert`), and by which kinds of finding,
//! names and numbers the tool's first one is the same (`kinds`, `names`, `percent` with its
//! tolerance; for `scaling` and `iterations` what it `says`). `never` are words that would be false.
//! Where the tool differs, `why` may say what it lacks. [docs/findings.md](../../../docs/findings.md)
//! is made from both, so that a row which begins to agree, or no longer does, is noticed.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use parallax_testkit::needs;
use serde_json::Value;

/// At least this part of first findings agrees.
const MIN_AGREEING: f64 = 0.9;
/// The table stands behind this line of the document.
const BEGIN: &str = "<!-- made by crates/cli/tests/findings.rs -->\n";

struct Row {
    data: String,
    ask: String,
    expert: Vec<String>,
    kinds: Vec<String>,
    names: Vec<String>,
    percent: Option<(f64, f64)>,
    says: Vec<String>,
    never: Vec<String>,
    arguments: Vec<String>,
    why: Option<String>,
}

fn rows() -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/findings/expert.json");
    let value: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let text = |row: &Value, name: &str| row[name].as_str().map(str::to_owned);
    let texts = |row: &Value, name: &str| -> Vec<String> {
        let list = row[name].as_array().into_iter().flatten();
        list.map(|one| one.as_str().unwrap().to_owned()).collect()
    };
    let row = |row: &Value| Row {
        data: text(row, "data").unwrap(),
        ask: text(row, "ask").unwrap(),
        expert: texts(row, "expert"),
        kinds: texts(row, "kinds"),
        names: texts(row, "names"),
        percent: row["percent"]
            .as_array()
            .map(|pair| (pair[0].as_f64().unwrap(), pair[1].as_f64().unwrap())),
        says: texts(row, "says"),
        never: texts(row, "never"),
        arguments: texts(row, "arguments"),
        why: text(row, "why"),
    };
    value.as_array().unwrap().iter().map(row).collect()
}

/// What the tool says of a row.
struct Said {
    /// First, in a few words; for the document.
    first: String,
    /// What of it is not as the expert says; none where it agrees.
    differs: Option<String>,
    /// What is false in all that it says.
    lies: Vec<String>,
}

/// The tool's answer: findings, and all that it prints. Archives of traces are kept between the rows
/// of one run only.
fn ask(row: &Row, corpus: &Path, cache: &Path) -> Result<(Vec<Value>, String), String> {
    let data = corpus.join("data");
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    // Relative paths: what is said, and where its lines break, does not depend on where the corpus is.
    command.current_dir(&data).arg(&row.ask).args(expanded(&data, &row.data)).args(&row.arguments);
    match row.ask.as_str() {
        "report" => command.arg("--json"),
        _ => command.args(["--color", "never", "--width", "200"]),
    };
    let output = command.env("XDG_CACHE_HOME", cache).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    if row.ask != "report" {
        return Ok((Vec::new(), text));
    }
    let answer: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let findings = answer["findings"].as_array().cloned().unwrap_or_default();
    let texts: Vec<String> = findings.iter().map(words).collect();
    Ok((findings, texts.join("\n")))
}

/// What a finding says.
fn words(finding: &Value) -> String {
    let part = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
    format!("{} {}", part("title"), part("text"))
}

/// A path below the data, or all that begin so where it ends with `*`.
fn expanded(data: &Path, path: &str) -> Vec<PathBuf> {
    let Some(prefix) = path.strip_suffix('*') else { return vec![PathBuf::from(path)] };
    let (folder, begin) = prefix.rsplit_once('/').unwrap_or(("", prefix));
    let entries = std::fs::read_dir(data.join(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let fits = names.filter(|name| name.starts_with(begin));
    let mut out: Vec<PathBuf> = fits.map(|name| Path::new(folder).join(name)).collect();
    out.sort();
    out
}

fn judged(row: &Row, answer: Result<(Vec<Value>, String), String>) -> Said {
    let (findings, everything) = match answer {
        Ok(answer) => answer,
        Err(error) => {
            let first = error.lines().next().unwrap_or_default().to_owned();
            return Said { differs: Some("it fails".into()), first, lies: Vec::new() };
        }
    };
    let never = row.never.iter().filter(|words| everything.contains(*words));
    let mut lies: Vec<String> = never.map(|words| format!("says {words:?}")).collect();
    for finding in &findings {
        let percent = finding["percent"].as_f64().unwrap_or(f64::NAN);
        if !(0.0..=100.0).contains(&percent) {
            lies.push(format!("{percent} % is at stake: {}", words(finding)));
        }
    }
    let said = |first: String, reasons: &[String]| {
        (first, (!reasons.is_empty()).then(|| reasons.join(", ")))
    };
    let (first, differs) = match (row.ask.as_str(), findings.first()) {
        ("report", Some(first)) => said(in_short(first), &differences(row, first)),
        ("report", None) if row.kinds.iter().any(|kind| kind == "None") => {
            said("nothing".into(), &[])
        }
        ("report", None) => said("nothing".into(), &["it finds nothing".into()]),
        _ => {
            let missing = row.says.iter().filter(|words| !everything.contains(*words));
            let reasons: Vec<String> = missing.map(|words| format!("no {words:?}")).collect();
            let mut lines = everything.lines().map(|line| line.trim_start_matches("• "));
            let is_answer = |line: &&str| {
                line.contains("scaling ")
                    || line.contains("Efficiency")
                    || line.starts_with("No speedup")
                    || line.contains("iterations")
                    || line.starts_with("Phases that")
            };
            let first = lines.find(is_answer).unwrap_or("nothing").trim_end_matches('.');
            said(first.to_owned(), &reasons)
        }
    };
    Said { first, differs, lies }
}

/// A finding in a few words.
fn in_short(finding: &Value) -> String {
    let kind = finding["kind"].as_str().unwrap_or_default();
    let samples = finding["evidence"][0]["value"].as_f64().filter(|_| kind == "FewSamples");
    match samples {
        Some(samples) => format!("{kind}, {samples:.0} samples"),
        None => format!("{kind}, {:.0} %", finding["percent"].as_f64().unwrap_or(f64::NAN)),
    }
}

/// What of the first finding is not as the expert says.
fn differences(row: &Row, first: &Value) -> Vec<String> {
    let kind = first["kind"].as_str().unwrap_or_default();
    let mut reasons = Vec::new();
    if !row.kinds.iter().any(|accepted| accepted == kind) {
        reasons.push(format!("{kind} is first"));
    }
    let words = words(first);
    if !row.names.is_empty() && !row.names.iter().any(|name| words.contains(name)) {
        reasons.push(format!("{} is not named", row.names.join(" or ")));
    }
    let percent = first["percent"].as_f64().unwrap_or(f64::NAN);
    if let Some((expected, tolerance)) = row.percent
        && (percent - expected).abs() > tolerance
    {
        reasons.push(format!("{percent:.1} % instead of {expected} %"));
    }
    reasons
}

/// The table of the document.
fn table(rows: &[Row], said: &[Said]) -> String {
    let mut out = String::from(
        "| data | question | an expert says first | then | the tool says first | agrees |\n\
         |---|---|---|---|---|---|\n",
    );
    for (row, said) in rows.iter().zip(said) {
        let cell = |text: &str| text.replace('|', "\\|");
        let (first, then) = row.expert.split_first().unwrap();
        let verdict = match (&said.differs, &row.why) {
            (None, _) => "yes".to_owned(),
            (Some(differs), None) => format!("no: {differs}"),
            (Some(differs), Some(why)) => format!("no: {differs}; {why}"),
        };
        writeln!(
            out,
            "| `{}` | {} | {} | {} | {} | {} |",
            cell(&row.data),
            row.ask,
            cell(first),
            cell(&then.join("; ")),
            cell(&said.first),
            cell(&verdict),
        )
        .unwrap();
    }
    out
}

#[test]
fn what_an_expert_says_first_the_tool_says_first() {
    let Some(corpus) = needs::corpus() else { return };
    let rows = rows();
    let cache = tempfile::tempdir().unwrap();
    let next = AtomicUsize::new(0);
    let answers: Mutex<Vec<Option<Said>>> = Mutex::new(rows.iter().map(|_| None).collect());
    let work = || {
        while let Some((at, row)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            rows.get(at).map(|row| (at, row))
        } {
            let said = judged(row, ask(row, &corpus, cache.path()));
            answers.lock().unwrap()[at] = Some(said);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let said: Vec<Said> = answers.into_inner().unwrap().into_iter().map(Option::unwrap).collect();

    let what = |row: &Row| format!("{} {}", row.ask, row.data);
    let lies: Vec<String> = (rows.iter().zip(&said))
        .flat_map(|(row, said)| said.lies.iter().map(|lie| format!("{} {lie}", what(row))))
        .collect();
    assert!(lies.is_empty(), "{lies:#?}");
    let differing: Vec<String> = (rows.iter().zip(&said))
        .filter_map(|(row, said)| Some(format!("{}: {}", what(row), said.differs.as_ref()?)))
        .collect();
    let agreeing = rows.len() - differing.len();
    let is_enough = agreeing as f64 >= MIN_AGREEING * rows.len() as f64;
    assert!(is_enough, "{agreeing} of {} agree: {differing:#?}", rows.len());

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/findings.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let (head, kept) = document.split_once(BEGIN).unwrap();
    let made = table(&rows, &said);
    if kept != made && std::env::var_os("PARALLAX_BLESS").is_some() {
        std::fs::write(&path, format!("{head}{BEGIN}{made}")).unwrap();
        return;
    }
    assert_eq!(kept, made, "`cargo xtask bless` writes docs/findings.md anew");
}
