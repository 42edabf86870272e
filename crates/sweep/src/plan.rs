//! What a sweep runs: core counts, inputs, repetitions, and how.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use parallax_analysis::math::Random;

use crate::SweepError;
use crate::command_line::split;
use crate::ipmi::Controller;
use crate::iterations::FirstIterations;
use crate::series;
use crate::slurm::Slurm;
use crate::tools::Tool;
use crate::topology::{self, Binding};

/// Most core counts in a list, and the largest.
const MOST_CORES: u32 = 1 << 20;

/// Most runs of a sweep.
const MOST_RUNS: u64 = 100_000;

/// Variables by which runtimes are told how many threads to start.
pub const THREAD_VARIABLES: [&str; 8] = [
    "OMP_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "JULIA_NUM_THREADS",
    "GOMAXPROCS",
];

/// What is run, how often and in which order.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The program: a path, or a name that is looked for in `PATH`.
    pub program: String,
    /// Its arguments, before those of the input.
    pub arguments: Vec<String>,
    /// Core counts, ascending, each once.
    pub cores: Vec<u32>,
    /// Clock frequencies in kHz, ascending, each once; empty: there is no such axis.
    pub frequencies: Vec<u64>,
    /// The governor of frequencies during a run; `None`: as it is, or what frequencies need.
    pub governor: Option<String>,
    /// The folder in which the kernel has the processors.
    pub system: PathBuf,
    /// Each is written as on a command line and becomes arguments; empty: there is no such axis.
    pub inputs: Vec<String>,
    /// How often each configuration is run.
    pub repetitions: Repetitions,
    /// The order of the runs.
    pub order: Order,
    /// Runs of each configuration that are not kept, before its first one that is.
    pub warmups: u32,
    /// Stands for the core count in arguments, inputs, the launcher and values of variables.
    pub token: String,
    /// Variables for the program, over those that are set anyway.
    pub environment: Vec<(String, String)>,
    /// Which processors the program may use.
    pub binding: Binding,
    /// The launcher of an MPI program, as words; `{p}` stands for the core count.
    pub launcher: Option<Vec<String>>,
    /// A run that takes longer is ended and counts as failed.
    pub timeout: Option<Duration>,
    /// A run that uses no processor for so long is ended and counts as failed.
    pub idle_timeout: Option<Duration>,
    /// Waiting time between runs.
    pub pause: Duration,
    /// Whether the energy of each run is measured.
    pub has_energy: bool,
    /// Events that are counted in each run, by the names of `perf`.
    pub counters: Vec<String>,
    /// How often energy, events and the controller are read within a run; `None`: at its ends.
    pub sample: Option<Duration>,
    /// Whom the power of the machine is asked of.
    pub controller: Option<Controller>,
    /// Whether parallel regions of OpenMP are regions without marks.
    pub has_automatic_regions: bool,
    /// Where the program's output goes.
    pub output: ProgramOutput,
    /// The folder of the archives, where each run is recorded by sampling.
    pub archives: Option<PathBuf>,
    /// Whether these have calls of MPI.
    pub has_mpi_calls: bool,
    /// The measurement tool under which runs are made.
    pub tool: Option<Tool>,
    /// When the rest of a configuration is not worth running.
    pub stop: Stop,
    /// After how many iterations runs are ended, so that their times are estimates.
    pub estimate: Option<FirstIterations>,
    /// Whether the runs are jobs of Slurm, and what these are like.
    pub slurm: Option<Slurm>,
}

/// How often each configuration is run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Repetitions {
    /// So often.
    Fixed(u32),
    /// Until the 95 % confidence interval of the mean is narrow enough.
    UntilInterval {
        /// Half of its width, as a share of the mean.
        relative: f64,
        /// Runs at least.
        least: u32,
        /// Runs at most.
        most: u32,
    },
}

impl Repetitions {
    /// Runs of a configuration at most.
    #[must_use]
    pub const fn most(self) -> u32 {
        match self {
            Self::Fixed(most) | Self::UntilInterval { most, .. } => most,
        }
    }
}

/// The order of the runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// One repetition of all configurations after the other, so that what changes on the machine
    /// falls on all alike, and the first maps are there early.
    #[default]
    Interleaved,
    /// All repetitions of a configuration, then the next: fewest cores first.
    Ascending,
    /// As before, most cores first, as PaScal Analyzer has it.
    Descending,
    /// One repetition of all configurations after the other, each in an order of its own (a
    /// randomized block design).
    Random {
        /// The same seed gives the same order.
        seed: u64,
    },
}

/// Where the program's output goes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ProgramOutput {
    /// Its standard output nowhere; the end of its standard error is shown when it fails.
    #[default]
    OnFailure,
    /// Nowhere.
    Discarded,
    /// Into two files for each run in this folder.
    Kept(PathBuf),
    /// To the tool's standard error, as it comes.
    Shown,
}

/// When further runs are not worth their time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stop {
    /// A configuration has failed so often and never succeeded.
    pub failures: Option<u32>,
    /// The parallel efficiency at fewer cores is below this share, relative to the fewest cores of
    /// the same input.
    pub efficiency: Option<f64>,
}

/// Which run of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Number of cores.
    pub cores: u32,
    /// Clock frequency in kHz; `None` without frequencies.
    pub frequency: Option<u64>,
    /// Number of the input, from 0; `None` without inputs.
    pub input: Option<u32>,
    /// Number of the repetition, from 1.
    pub repetition: u32,
}

/// What is run several times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Configuration {
    /// Number of cores.
    pub cores: u32,
    /// Clock frequency in kHz; `None` without frequencies.
    pub frequency: Option<u64>,
    /// Number of the input, from 0; `None` without inputs.
    pub input: Option<u32>,
}

impl Key {
    /// As the file has it: `4;0;1`, or `4;2300000;0;1` with frequencies.
    pub(crate) fn text(self) -> String {
        let parts = [
            Some(u64::from(self.cores)),
            self.frequency,
            self.input.map(u64::from),
            Some(u64::from(self.repetition)),
        ];
        parts.iter().flatten().map(ToString::to_string).collect::<Vec<_>>().join(";")
    }

    /// Without its repetition.
    #[must_use]
    pub const fn configuration(self) -> Configuration {
        Configuration { cores: self.cores, frequency: self.frequency, input: self.input }
    }
}

impl Plan {
    /// A plan with one repetition of everything and nothing else said.
    #[must_use]
    pub fn new(program: &str, arguments: Vec<String>, cores: Vec<u32>) -> Self {
        Self {
            program: program.to_owned(),
            arguments,
            cores,
            frequencies: Vec::new(),
            governor: None,
            system: PathBuf::from(topology::SYSTEM),
            inputs: Vec::new(),
            repetitions: Repetitions::Fixed(1),
            order: Order::default(),
            warmups: 0,
            token: "__nt__".to_owned(),
            environment: Vec::new(),
            binding: Binding::default(),
            launcher: None,
            timeout: None,
            idle_timeout: None,
            pause: Duration::ZERO,
            has_energy: false,
            counters: Vec::new(),
            sample: None,
            controller: None,
            has_automatic_regions: false,
            output: ProgramOutput::default(),
            archives: None,
            has_mpi_calls: false,
            tool: None,
            stop: Stop::default(),
            estimate: None,
            slurm: None,
        }
    }

    /// Whether the plan can be run as it is.
    ///
    /// # Errors
    /// Says what is missing, out of range, or cannot be read.
    pub fn check(&self) -> Result<(), SweepError> {
        let wrong = |why: &str| Err(SweepError::Plan(why.to_owned()));
        if self.cores.is_empty() {
            return wrong("there are no core counts");
        }
        if self.token.is_empty() {
            return wrong("the token that stands for the core count is empty");
        }
        for input in &self.inputs {
            split(input)?;
        }
        let first: BTreeSet<&String> = self.inputs.iter().collect();
        if first.len() < self.inputs.len() {
            return wrong("an input is named twice; use --reps for repetitions");
        }
        if self.repetitions.most() == 0 {
            return wrong("no repetitions are asked for");
        }
        if let Repetitions::UntilInterval { relative, least, most } = self.repetitions {
            if !(relative > 0.0 && relative.is_finite()) {
                return wrong("the width of the confidence interval is not above 0 %");
            }
            if least < 2 || least > most {
                return wrong(
                    "a confidence interval needs two repetitions, and no more than --max-reps",
                );
            }
        }
        for (name, _) in &self.environment {
            if name.is_empty() || name.contains(['=', '\0']) {
                return wrong("a variable of --env has no name; write NAME=VALUE");
            }
        }
        let events: BTreeSet<&String> = self.counters.iter().collect();
        if events.len() < self.counters.len() {
            return wrong("an event of --counters is named twice");
        }
        if let Some(sample) = self.sample {
            if !self.has_energy && self.counters.is_empty() && self.controller.is_none() {
                return wrong(
                    "there is nothing to sample: name --counters, --energy or --ipmi, too",
                );
            }
            if sample < series::SHORTEST {
                return wrong("the interval of --sample is below 1 ms");
            }
        }
        if let Some(first) = &self.estimate {
            first.check(self.inputs.len())?;
            let is_whole = self.has_energy
                || !self.counters.is_empty()
                || self.controller.is_some()
                || self.archives.is_some()
                || self.tool.is_some();
            if is_whole {
                return wrong(
                    "runs that --estimate-from ends have no energy, counters, recordings or \
                     databases of complete runs; measure these without it",
                );
            }
            if self.slurm.is_some() && first.of.is_empty() {
                return wrong(
                    "with --slurm, all runs are submitted at once, so that none of them can count \
                     iterations for the others: name --iterations for --estimate-from",
                );
            }
        }
        if self.slurm.is_some() && !self.can_be_jobs() {
            return wrong(
                "with --slurm each run is a job of its own, submitted before any has run: options \
                 about what comes before or after a run on this machine cannot be used",
            );
        }
        let runs = (self.cores.len() as u64)
            .saturating_mul(self.frequencies.len().max(1) as u64)
            .saturating_mul(self.inputs.len().max(1) as u64)
            .saturating_mul(u64::from(self.repetitions.most()));
        if runs > MOST_RUNS {
            return Err(SweepError::Plan(format!(
                "these are up to {runs} runs; a sweep has {MOST_RUNS} at most"
            )));
        }
        Ok(())
    }

    /// Whether nothing is asked for that jobs cannot do: what depends on other runs, or on the
    /// machine of the tool.
    fn can_be_jobs(&self) -> bool {
        matches!(self.repetitions, Repetitions::Fixed(_))
            && self.warmups == 0
            && self.stop == Stop::default()
            && self.pause.is_zero()
            && self.binding == Binding::None
            && self.frequencies.is_empty()
            && self.governor.is_none()
            && self.controller.is_none()
            && self.archives.is_none()
            && !self.has_automatic_regions
            && self.output != ProgramOutput::Shown
    }

    /// The command line of a run.
    ///
    /// # Errors
    /// When the input is not written as a command line is.
    pub fn command(&self, key: Key) -> Result<Vec<String>, SweepError> {
        Ok([self.launcher(key), self.started(key)?].concat())
    }

    /// The launcher in the command line of a run.
    pub(crate) fn launcher(&self, key: Key) -> Vec<String> {
        let words = self.launcher.iter().flatten();
        let words = words.map(|word| word.replace("{p}", &key.cores.to_string()));
        words.map(|word| self.with_cores(&word, key.cores)).collect()
    }

    /// What the launcher starts, or what is started without one.
    pub(crate) fn started(&self, key: Key) -> Result<Vec<String>, SweepError> {
        let mut words = vec![self.program.clone()];
        words.extend(self.arguments.iter().map(|word| self.with_cores(word, key.cores)));
        if let Some(input) = key.input.and_then(|at| self.inputs.get(at as usize)) {
            words.extend(split(input)?.iter().map(|word| self.with_cores(word, key.cores)));
        }
        Ok(words)
    }

    /// The variables that a run has besides those of the tool's own environment.
    #[must_use]
    pub fn variables(&self, cores: u32) -> Vec<(String, String)> {
        // Each rank of an MPI program is one core.
        let threads = if self.launcher.is_some() { 1 } else { cores };
        let mut all: Vec<(String, String)> =
            THREAD_VARIABLES.iter().map(|name| ((*name).to_owned(), threads.to_string())).collect();
        for (name, value) in &self.environment {
            let value = self.with_cores(value, cores);
            match all.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => *known = value,
                None => all.push((name.clone(), value)),
            }
        }
        all
    }

    fn with_cores(&self, word: &str, cores: u32) -> String {
        word.replace(&self.token, &cores.to_string())
    }

    /// The run that the text of a key means.
    pub(crate) fn key_of(&self, text: &str) -> Option<Key> {
        let mut parts = text.split(';').map(|part| part.parse::<u64>().ok());
        let mut small = |is_there: bool| -> Option<Option<u32>> {
            match is_there {
                true => Some(Some(u32::try_from(parts.next()??).ok()?)),
                false => Some(None),
            }
        };
        let cores = small(true)??;
        let frequency = match self.frequencies.is_empty() {
            true => None,
            false => Some(u64::from(small(true)??)),
        };
        let input = small(!self.inputs.is_empty())?;
        let repetition = small(true)??;
        parts.next().is_none().then_some(Key { cores, frequency, input, repetition })
    }

    /// All runs that there can be, in order.
    pub(crate) fn keys(&self) -> Vec<Key> {
        let inputs: Vec<Option<u32>> = match u32::try_from(self.inputs.len()) {
            Ok(0) => vec![None],
            Ok(count) => (0..count).map(Some).collect(),
            Err(_) => Vec::new(),
        };
        let mut cores = self.cores.clone();
        if self.order == Order::Descending {
            cores.reverse();
        }
        let mut frequencies: Vec<Option<u64>> =
            self.frequencies.iter().copied().map(Some).collect();
        if frequencies.is_empty() {
            frequencies.push(None);
        }
        let pairs = cores.iter().flat_map(|&cores| {
            let inputs = &inputs;
            frequencies.iter().flat_map(move |&frequency| {
                inputs.iter().map(move |&input| Configuration { cores, frequency, input })
            })
        });
        let mut pairs: Vec<Configuration> = pairs.collect();
        let repetitions = 1..=self.repetitions.most();
        let key = |of: Configuration, repetition| {
            let Configuration { cores, frequency, input } = of;
            Key { cores, frequency, input, repetition }
        };
        match self.order {
            Order::Ascending | Order::Descending => pairs
                .iter()
                .flat_map(|&pair| repetitions.clone().map(move |n| key(pair, n)))
                .collect(),
            Order::Interleaved => {
                repetitions.flat_map(|n| pairs.iter().map(move |&pair| key(pair, n))).collect()
            }
            Order::Random { seed } => {
                let mut random = Random(seed);
                let mut keys = Vec::new();
                for n in repetitions {
                    shuffle(&mut pairs, &mut random);
                    keys.extend(pairs.iter().map(|&pair| key(pair, n)));
                }
                keys
            }
        }
    }
}

/// Fisher and Yates.
fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last + 1));
    }
}

/// Core counts from a list such as `1,2,4`, `1:32` (both ends), `1:64:*2`, `4:32:+4`; ascending,
/// each once.
///
/// # Errors
/// Says which part cannot be read, or that there are too many.
pub fn core_counts(text: &str) -> Result<Vec<u32>, SweepError> {
    let wrong = |why: &str| SweepError::Cores { text: text.to_owned(), why: why.to_owned() };
    let number = |part: &str| match part.trim().parse::<u32>() {
        Ok(0) => Err(wrong("a program cannot run on 0 cores")),
        Ok(cores) if cores <= MOST_CORES => Ok(cores),
        _ => Err(wrong(&format!("{:?} is not a number of cores", part.trim()))),
    };
    let mut counts = BTreeSet::new();
    for part in text.split(',') {
        let mut ends = part.split(':');
        let first = number(ends.next().unwrap_or_default())?;
        let last = ends.next().map_or(Ok(first), number)?;
        let step = ends.next().map_or("+1", str::trim);
        if ends.next().is_some() {
            return Err(wrong("a range has two ends and a step"));
        }
        if last < first {
            return Err(wrong(&format!("the range {part} ends before it begins")));
        }
        let factor = step.strip_prefix('*').map(number).transpose()?;
        let summand = number(step.trim_start_matches(['+', '*']))?;
        if factor == Some(1) {
            return Err(wrong("a step of *1 never ends"));
        }
        let mut at = Some(first);
        while let Some(cores) = at.filter(|&cores| cores <= last) {
            counts.insert(cores);
            at = match factor {
                Some(factor) => cores.checked_mul(factor),
                None => cores.checked_add(summand),
            };
        }
    }
    Ok(counts.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let mut plan = Plan::new("./app", vec!["-t".into(), "__nt__".into()], vec![1, 2, 4]);
        plan.inputs = vec!["small 'a b'".into(), "large __nt__".into()];
        plan.repetitions = Repetitions::Fixed(2);
        plan
    }

    fn texts(plan: &Plan) -> Vec<String> {
        plan.keys().iter().map(|key| key.text()).collect()
    }

    #[test]
    fn lists_and_ranges_of_core_counts_are_read() {
        let cases: [(&str, &[u32]); 6] = [
            ("1,2,4", &[1, 2, 4]),
            ("4, 2,2 ,1", &[1, 2, 4]),
            ("1:5", &[1, 2, 3, 4, 5]),
            ("1:64:*2", &[1, 2, 4, 8, 16, 32, 64]),
            ("1,4:13:+4", &[1, 4, 8, 12]),
            ("3:40:*3,4:6:2", &[3, 4, 6, 9, 27]),
        ];
        for (text, expected) in cases {
            assert_eq!(core_counts(text).unwrap(), expected, "{text}");
        }
        for text in [
            "",
            "0",
            "1,,2",
            "a",
            "-1",
            "1:",
            "4:1",
            "1:8:*1",
            "1:8:*0",
            "1:8:0",
            "1:2:3:4",
            "99999999999",
            "1:8:**2",
            "1:2000000",
        ] {
            let error = core_counts(text).unwrap_err();
            assert!(error.is_misuse() && error.to_string().contains("1:64:*2"), "{text}: {error}");
        }
    }

    #[test]
    fn orders_are_what_they_are_called() {
        let mut plan = plan();
        plan.cores = vec![1, 2];
        plan.order = Order::Ascending;
        let ascending = ["1;0;1", "1;0;2", "1;1;1", "1;1;2", "2;0;1", "2;0;2", "2;1;1", "2;1;2"];
        assert_eq!(texts(&plan), ascending);
        plan.order = Order::Descending;
        let descending = ["2;0;1", "2;0;2", "2;1;1", "2;1;2", "1;0;1", "1;0;2", "1;1;1", "1;1;2"];
        assert_eq!(texts(&plan), descending);
        plan.order = Order::Interleaved;
        let interleaved = ["1;0;1", "1;1;1", "2;0;1", "2;1;1", "1;0;2", "1;1;2", "2;0;2", "2;1;2"];
        assert_eq!(texts(&plan), interleaved);
        plan.inputs.clear();
        assert_eq!(texts(&plan), ["1;1", "2;1", "1;2", "2;2"]);
    }

    #[test]
    fn a_random_order_has_every_run_once_and_follows_its_seed() {
        let mut plan = plan();
        plan.cores = (1..=8).collect();
        plan.order = Order::Interleaved;
        let mut expected = plan.keys();
        expected.sort();
        let mut orders = BTreeSet::new();
        for seed in 0..20 {
            plan.order = Order::Random { seed };
            let keys = plan.keys();
            assert_eq!(keys, plan.keys());
            // Blocks: the first repetition of all comes before the second of any.
            assert!(keys.is_sorted_by_key(|key| key.repetition));
            let mut sorted = keys.clone();
            sorted.sort();
            assert_eq!(sorted, expected);
            orders.insert(keys);
        }
        assert_eq!(orders.len(), 20);
    }

    #[test]
    fn the_token_is_replaced_wherever_a_count_can_be_needed() {
        let mut plan = plan();
        plan.environment = vec![("PLACES".into(), "{0}:__nt__".into())];
        plan.environment.push(("GOMAXPROCS".into(), "7".into()));
        let key = Key { cores: 4, frequency: None, input: Some(0), repetition: 1 };
        assert_eq!(plan.command(key).unwrap(), ["./app", "-t", "4", "small", "a b"]);
        let key = Key { input: Some(1), ..key };
        assert_eq!(plan.command(key).unwrap(), ["./app", "-t", "4", "large", "4"]);
        let variables = plan.variables(4);
        let of = |name: &str| {
            let mut found = variables.iter().filter(|(known, _)| known == name);
            let value = found.next().map(|(_, value)| value.as_str());
            assert!(found.next().is_none());
            value
        };
        assert_eq!(of("OMP_NUM_THREADS"), Some("4"));
        assert_eq!(of("RAYON_NUM_THREADS"), Some("4"));
        assert_eq!(of("GOMAXPROCS"), Some("7"));
        assert_eq!(of("PLACES"), Some("{0}:4"));
        plan.launcher = Some(split("mpirun -n {p} --tag __nt__").unwrap());
        let command = plan.command(key).unwrap();
        assert_eq!(command.get(..6).unwrap(), ["mpirun", "-n", "4", "--tag", "4", "./app"]);
        assert_eq!(plan.variables(4).first().unwrap().1, "1");
        plan.token = "@P@".into();
        plan.launcher = None;
        assert_eq!(plan.command(key).unwrap(), ["./app", "-t", "__nt__", "large", "__nt__"]);
    }

    #[test]
    fn plans_that_cannot_be_run_are_refused() {
        type Damage = fn(&mut Plan);
        let broken: [(&str, Damage); 7] = [
            ("no core counts", |plan| plan.cores.clear()),
            ("not closed", |plan| plan.inputs.push("'a".into())),
            ("twice", |plan| plan.inputs.push("large __nt__".into())),
            ("no repetitions", |plan| plan.repetitions = Repetitions::Fixed(0)),
            ("no name", |plan| plan.environment.push((String::new(), "x".into()))),
            ("at most", |plan| plan.repetitions = Repetitions::Fixed(u32::MAX)),
            ("two repetitions", |plan| {
                plan.repetitions = Repetitions::UntilInterval { relative: 0.1, least: 1, most: 3 };
            }),
        ];
        plan().check().unwrap();
        for (expected, damage) in broken {
            let mut plan = plan();
            damage(&mut plan);
            let error = plan.check().unwrap_err();
            assert!(error.is_misuse() && error.to_string().contains(expected), "{error}");
        }
    }

    #[test]
    fn keys_come_back_from_their_text() {
        let mut plan = plan();
        for key in plan.keys() {
            assert_eq!(plan.key_of(&key.text()), Some(key));
        }
        for text in ["", "1", "1;2;3;4", "a;0;1", "1;0;-1"] {
            assert_eq!(plan.key_of(text), None, "{text}");
        }
        plan.frequencies = vec![1_200_000, 2_300_000];
        plan.cores = vec![1, 2];
        plan.order = Order::Ascending;
        let keys = plan.keys();
        assert_eq!(keys.len(), 2 * 2 * 2 * 2);
        assert_eq!(keys[0].text(), "1;1200000;0;1");
        assert_eq!(keys[15].text(), "2;2300000;1;2");
        for key in keys {
            assert_eq!(plan.key_of(&key.text()), Some(key));
        }
        assert_eq!(plan.key_of("1;0;1"), None);
        plan.frequencies.clear();
        plan.inputs.clear();
        assert_eq!(plan.key_of("4;2").map(Key::text).as_deref(), Some("4;2"));
    }
}
