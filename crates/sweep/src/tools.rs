//! Runs under a measurement tool: each leaves a database in a folder of its own.
//!
//! What is known of a tool is a row of [`PRESETS`]; everything else follows from it. ADR 0111 has the
//! reasons.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::SweepError;
use crate::command_line::line;
use crate::files::{check_program, write_whole};
use crate::plan::{Key, Plan};

/// Stand for the folder of a run and for its database in commands and variables.
const RUN: &str = "{run}";
const DATABASE: &str = "{database}";

/// The file in the folder of a run that says what made it.
const COMMAND_FILE: &str = "command.txt";

/// The table of the parameters of all databases.
const TABLE: &str = "runs.csv";

/// What is known of a tool.
#[derive(Debug)]
pub struct Preset {
    /// By which the user names it.
    pub name: &'static str,
    /// What runs the program; nothing where the program was built with the tool.
    launcher: &'static [&'static str],
    /// The same without an MPI launcher, where it differs.
    launcher_without_ranks: Option<&'static [&'static str]>,
    /// Whether it starts the MPI launcher, and not each rank.
    is_outermost: bool,
    environment: &'static [(&'static str, &'static str)],
    /// What makes the database when the program has ended, one command after the other.
    then: &'static [&'static [&'static str]],
    database: &'static str,
}

/// The tools that are known.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "hpctoolkit",
        launcher: &["hpcrun", "-t", "-e", "REALTIME", "-o", "{run}/measurements"],
        launcher_without_ranks: None,
        is_outermost: false,
        environment: &[],
        then: &[
            &["hpcstruct", "{run}/measurements"],
            &["hpcprof", "-o", DATABASE, "{run}/measurements"],
        ],
        database: "{run}/database",
    },
    Preset {
        name: "tau",
        launcher: &["tau_exec"],
        launcher_without_ranks: Some(&["tau_exec", "-T", "serial"]),
        is_outermost: false,
        environment: &[("PROFILEDIR", DATABASE), ("TAU_PROFILE", "1")],
        then: &[],
        // It writes into a folder that is there, and makes none.
        database: RUN,
    },
    Preset {
        name: "scorep",
        launcher: &[],
        launcher_without_ranks: None,
        is_outermost: false,
        environment: &[
            ("SCOREP_EXPERIMENT_DIRECTORY", "{run}/experiment"),
            ("SCOREP_ENABLE_TRACING", "true"),
            ("SCOREP_ENABLE_PROFILING", "false"),
        ],
        then: &[],
        database: "{run}/experiment/traces.otf2",
    },
    Preset {
        name: "caliper",
        launcher: &[],
        launcher_without_ranks: None,
        is_outermost: false,
        environment: &[(
            "CALI_CONFIG",
            "hatchet-region-profile(output.format=json-split,output={database})",
        )],
        then: &[],
        database: "{run}/profile.json",
    },
    Preset {
        name: "nsight",
        launcher: &["nsys", "profile", "--trace=cuda,nvtx,osrt,mpi", "--output={run}/report"],
        launcher_without_ranks: Some(&[
            "nsys",
            "profile",
            "--trace=cuda,nvtx,osrt",
            "--output={run}/report",
        ]),
        is_outermost: true,
        environment: &[],
        then: &[&[
            "nsys",
            "export",
            "--type=sqlite",
            "--output={database}",
            "{run}/report.nsys-rep",
        ]],
        database: "{run}/report.sqlite",
    },
];

/// A measurement tool, and where its databases go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// By which messages name it.
    pub name: String,
    /// The folder of the folders of runs.
    pub folder: PathBuf,
    /// What runs the program, as words.
    pub launcher: Vec<String>,
    /// Whether it starts the MPI launcher, and not each rank.
    pub is_outermost: bool,
    /// Variables for the program.
    pub environment: Vec<(String, String)>,
    /// What makes the database when the program has ended, one command after the other.
    pub then: Vec<Vec<String>>,
    /// The database, as a path that begins with `{run}`.
    pub database: String,
}

impl Tool {
    /// A tool that is known, with or without an MPI launcher.
    #[must_use]
    pub fn preset(preset: &Preset, folder: PathBuf, has_ranks: bool) -> Self {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let alone = preset.launcher_without_ranks.filter(|_| !has_ranks);
        let variable = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        Self {
            name: preset.name.to_owned(),
            folder,
            launcher: words(alone.unwrap_or(preset.launcher)),
            is_outermost: preset.is_outermost,
            environment: preset.environment.iter().map(variable).collect(),
            then: preset.then.iter().map(|command| words(command)).collect(),
            database: preset.database.to_owned(),
        }
    }

    /// A tool of which nothing is known: the user says what it consists of.
    #[must_use]
    pub fn other(name: &str, folder: PathBuf) -> Self {
        Self {
            name: name.to_owned(),
            folder,
            launcher: Vec::new(),
            is_outermost: false,
            environment: Vec::new(),
            then: Vec::new(),
            database: String::new(),
        }
    }

    /// Whether it can be used as it is.
    pub(crate) fn check(&self) -> Result<(), SweepError> {
        let wrong = |why: &str| Err(SweepError::Plan(why.to_owned()));
        let inside = self.database.strip_prefix(RUN);
        if inside.is_none_or(|rest| !(rest.is_empty() || rest.starts_with('/'))) {
            return wrong(
                "name the database that a run leaves by --tool-database; it begins with {run}, the \
                 folder of the run, such as {run}/database",
            );
        }
        if self.then.iter().any(Vec::is_empty) {
            return wrong("a command of --tool-then is empty");
        }
        let commands = std::iter::once(&self.launcher).chain(&self.then);
        commands.filter_map(|words| words.first()).try_for_each(|program| check_program(program))
    }

    pub(crate) fn to_value(&self) -> Value {
        json!({
            "name": self.name,
            "launcher": self.launcher,
            "environment": self.environment,
            "then": self.then,
            "database": self.database,
        })
    }

    /// The run of this name.
    pub(crate) fn run(&self, name: &str) -> ToolRun<'_> {
        let folder = self.folder.join(name);
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        ToolRun { tool: self, folder: folder.to_string_lossy().into_owned() }
    }

    /// The databases of all runs, as a shell expands it, and the table of their parameters.
    #[must_use]
    pub fn databases(&self) -> (String, PathBuf) {
        let runs = self.folder.join("cores*");
        let pattern = self.database.replace(RUN, &runs.to_string_lossy());
        (pattern, self.folder.join(TABLE))
    }

    /// Writes the table of the parameters of the runs that left a database.
    pub(crate) fn write_table(
        &self,
        plan: &Plan,
        runs: impl Iterator<Item = (Key, String)>,
    ) -> Result<(), SweepError> {
        let path = self.folder.join(TABLE);
        let mut text = String::from("path,cores");
        text.push_str(if plan.frequencies.is_empty() { "" } else { ",frequency" });
        text.push_str(if plan.inputs.is_empty() { "\n" } else { ",input\n" });
        for (key, name) in runs {
            text.push_str(&field(&self.database.replace(RUN, &name)));
            text.push_str(&format!(",{}", key.cores));
            if let Some(kilohertz) = key.frequency {
                text.push_str(&format!(",{kilohertz}"));
            }
            if let Some(input) = key.input.and_then(|at| plan.inputs.get(at as usize)) {
                text.push_str(&format!(",{}", field(input)));
            }
            text.push('\n');
        }
        let write = |cause| SweepError::Write { path: path.clone(), kept: None, cause };
        fs::create_dir_all(&self.folder).map_err(write)?;
        write_whole(&path, &text).map_err(write)
    }
}

/// A field of a table of comma-separated values.
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// A tool in one run.
pub(crate) struct ToolRun<'t> {
    tool: &'t Tool,
    folder: String,
}

impl ToolRun<'_> {
    pub(crate) fn folder(&self) -> &Path {
        Path::new(&self.folder)
    }

    pub(crate) fn database(&self) -> String {
        self.tool.database.replace(RUN, &self.folder)
    }

    /// A word with what stands for the folder and the database.
    pub(crate) fn filled(&self, word: &str) -> String {
        word.replace(DATABASE, &self.database()).replace(RUN, &self.folder)
    }

    fn words(&self, words: &[String]) -> Vec<String> {
        words.iter().map(|word| self.filled(word)).collect()
    }

    /// The command line of a program under the tool.
    pub(crate) fn command(&self, launcher: Vec<String>, program: Vec<String>) -> Vec<String> {
        let tool = self.words(&self.tool.launcher);
        match self.tool.is_outermost {
            true => [tool, launcher, program].concat(),
            false => [launcher, tool, program].concat(),
        }
    }

    /// Variables of the tool, over those that are set anyway and below those of the user.
    pub(crate) fn variables(&self, own: &mut Vec<(String, String)>, given: &[(String, String)]) {
        for (_, value) in own.iter_mut() {
            *value = self.filled(value);
        }
        for (name, value) in &self.tool.environment {
            if !given.iter().any(|(known, _)| known == name) {
                own.push((name.clone(), self.filled(value)));
            }
        }
    }

    /// What makes the database.
    pub(crate) fn then(&self) -> Vec<Vec<String>> {
        self.tool.then.iter().map(|words| self.words(words)).collect()
    }
}

/// Makes the folder of a run, and takes what an earlier one left there: one that failed, or that is not
/// in the file because the sweep was ended. Nothing is removed that a sweep did not make.
pub(crate) fn make_folder(folder: &Path, command: &[String]) -> io::Result<()> {
    let mark = folder.join(COMMAND_FILE);
    if folder.exists() {
        if !mark.is_file() {
            return Err(io::Error::other(
                "it is there already, and no run of a sweep made it; remove it, or name another \
                 folder by --tool-folder",
            ));
        }
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    fs::write(mark, format!("{}\n", line(command)))
}
