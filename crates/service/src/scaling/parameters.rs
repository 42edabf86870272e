//! Where the parameters of an experiment come from when its files do not say.

use parallax_analysis::taxonomy::Roles;
use parallax_base::Control;
use parallax_engine::Session;
use parallax_import::RANKS_IN_MEAN;
use parallax_model::IdentityKind;
use parallax_model::ensemble::{ParameterValue, parameter_names};
use regex::Regex;

use super::error::listed;
use super::{Remedy, ScalingError};

/// A parameter and where its value comes from: `cores=ranks`, `input=path:n(\d+)`.
#[derive(Debug, Clone)]
pub struct ParameterRule {
    /// Name of the parameter.
    pub name: String,
    /// Where its value comes from.
    pub from: ParameterSource,
}

/// Where the value of a parameter comes from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ParameterSource {
    /// The number of ranks.
    Ranks,
    /// The largest number of threads of a rank that have values.
    Threads,
    /// The number of locations that have values.
    Locations,
    /// The number of nodes.
    Nodes,
    /// The first group of a regular expression, or all it matches, in the path as it was given.
    Path(Regex),
    /// A fact of the metadata: `title`, `format`, or any name that the file has.
    Metadata(String),
    /// The same for all.
    Fixed(String),
}

const FORMS: &str = "write NAME=ranks, NAME=threads, NAME=locations, NAME=nodes, \
                     NAME=path:REGEX, NAME=meta:FACT or NAME=value:TEXT";

impl ParameterRule {
    /// Reads a rule as people type it.
    ///
    /// # Errors
    /// When it is none of the forms, or its regular expression is wrong.
    pub fn parse(text: &str) -> Result<Self, ScalingError> {
        let wrong = |what: String| ScalingError::Rule { text: text.to_owned(), what };
        let (name, from) = text.split_once('=').ok_or_else(|| wrong(FORMS.to_owned()))?;
        if name.trim().is_empty() {
            return Err(wrong(format!("it has no name; {FORMS}")));
        }
        let from = match (from, from.split_once(':')) {
            ("ranks", _) => ParameterSource::Ranks,
            ("threads", _) => ParameterSource::Threads,
            ("locations", _) => ParameterSource::Locations,
            ("nodes", _) => ParameterSource::Nodes,
            (_, Some(("path", pattern))) => ParameterSource::Path(
                Regex::new(pattern)
                    .map_err(|error| wrong(format!("the regular expression is wrong: {error}")))?,
            ),
            (_, Some(("meta", fact))) => ParameterSource::Metadata(fact.to_owned()),
            (_, Some(("value", text))) => ParameterSource::Fixed(text.to_owned()),
            _ => return Err(wrong(FORMS.to_owned())),
        };
        Ok(Self { name: name.trim().to_owned(), from })
    }

    /// The value for one file or database.
    pub(super) fn value(
        &self,
        origin: &str,
        facts: &[(String, String)],
        session: Option<&Session>,
    ) -> Result<ParameterValue, ScalingError> {
        let none = |what: String| ScalingError::NoValue {
            parameter: self.name.clone(),
            origin: origin.to_owned(),
            what,
        };
        let counted = |what: &str, count: Option<usize>| match count {
            Some(count) if count > 0 => Ok(numbered(count)),
            Some(_) => Err(none(format!("it has no {what}"))),
            None => Err(none(format!("a file of measurements has no {what} to count"))),
        };
        match &self.from {
            ParameterSource::Ranks => counted("ranks", session.map(num_ranks)),
            ParameterSource::Threads => counted("threads", session.map(num_threads)),
            ParameterSource::Locations => counted("locations", session.map(num_locations)),
            ParameterSource::Nodes => counted("nodes", session.map(num_nodes)),
            ParameterSource::Path(pattern) => {
                let found = pattern.captures(origin).ok_or_else(|| {
                    none(format!("the path does not match the pattern {pattern}"))
                })?;
                let text = found.get(1).or_else(|| found.get(0)).map_or("", |part| part.as_str());
                Ok(labelled(text))
            }
            ParameterSource::Metadata(fact) => {
                let known = facts.iter().find(|(name, _)| name == fact);
                known.map(|(_, text)| labelled(text)).ok_or_else(|| {
                    let names: Vec<&str> = facts.iter().map(|(name, _)| name.as_str()).collect();
                    none(format!("it has no fact {fact:?}; it has {}", names.join(", ")))
                })
            }
            ParameterSource::Fixed(text) => Ok(labelled(text)),
        }
    }
}

/// A value of this text, a number where it is one.
pub(super) fn labelled(text: &str) -> ParameterValue {
    let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    ParameterValue { label: text.trim().to_owned(), number }
}

fn numbered(count: usize) -> ParameterValue {
    labelled(&count.to_string())
}

fn num_ranks(session: &Session) -> usize {
    let experiment = session.experiment();
    let mean = experiment.metadata.facts.iter().find(|(name, _)| name == RANKS_IN_MEAN);
    let in_mean = mean.and_then(|(_, value)| value.parse().ok());
    in_mean.unwrap_or_else(|| experiment.locations.num_ranks())
}

fn num_nodes(session: &Session) -> usize {
    session.experiment().locations.count_distinct(IdentityKind::Node)
}

/// Which locations are helper threads; none where that cannot be read.
fn roles(session: &Session) -> Roles {
    Roles::of(session, &Control::new()).unwrap_or_default()
}

fn num_locations(session: &Session) -> usize {
    let locations = &session.experiment().locations;
    let roles = roles(session);
    let is_used = |&location: &_| locations.num_values(location) > 0 && !roles.is_helper(location);
    locations.iter().filter(is_used).count()
}

fn num_threads(session: &Session) -> usize {
    let locations = &session.experiment().locations;
    let mut threads: std::collections::BTreeMap<Option<u64>, usize> =
        std::collections::BTreeMap::new();
    let roles = roles(session);
    let is_used = |&location: &_| locations.num_values(location) > 0 && !roles.is_helper(location);
    for location in locations.iter().filter(is_used) {
        if !locations.is_gpu(location) {
            *threads.entry(locations.identity(location, IdentityKind::Rank)).or_default() += 1;
        }
    }
    threads.values().copied().max().unwrap_or(0)
}

/// The core count that a database itself tells: ranks where there are any, else threads.
pub(super) fn told_cores(session: &Session) -> (ParameterValue, &'static str) {
    match num_ranks(session) {
        0 => (numbered(num_threads(session).max(1)), "threads"),
        ranks => (numbered(ranks), "ranks"),
    }
}

/// Parameters for many sources, from a table with a column of paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterTable {
    names: Vec<String>,
    rows: Vec<(String, Vec<String>)>,
}

impl ParameterTable {
    /// Reads comma-separated values: a header with `path` and names of parameters, then rows.
    /// Fields may stand in double quotes.
    ///
    /// # Errors
    /// When there is no column `path`, or a row has another number of fields than the header.
    pub fn parse(text: &str, file: &str) -> Result<Self, ScalingError> {
        let wrong = |what: String| ScalingError::Rule { text: file.to_owned(), what };
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let (_, header) = lines.next().ok_or_else(|| wrong("the table is empty".to_owned()))?;
        let mut names = fields(header);
        let path = names.iter().position(|name| name == "path").ok_or_else(|| {
            wrong(format!("the table has no column path; it has {}", names.join(", ")))
        })?;
        names.remove(path);
        let mut rows = Vec::new();
        for (number, line) in lines {
            let mut row = fields(line);
            if row.len() != names.len() + 1 {
                return Err(wrong(format!(
                    "line {} has {} fields, the header has {}",
                    number + 1,
                    row.len(),
                    names.len() + 1
                )));
            }
            let name = row.remove(path);
            rows.push((name, row));
        }
        Ok(Self { names, rows })
    }

    /// The parameters of a source: those of the row whose path it is, or whose path it ends with.
    pub(super) fn values(&self, origin: &str) -> Result<Vec<(&str, ParameterValue)>, ScalingError> {
        let is_end = |long: &str, short: &str| {
            long.strip_suffix(short).is_some_and(|front| front.is_empty() || front.ends_with('/'))
        };
        let origin = origin.trim_end_matches('/');
        let found = self.rows.iter().find(|(path, _)| {
            let path = path.trim_start_matches("./").trim_end_matches('/');
            is_end(origin, path) || is_end(path, origin)
        });
        let (_, row) = found.ok_or_else(|| ScalingError::NoValue {
            parameter: self.names.join(", "),
            origin: origin.to_owned(),
            what: "the table of parameters has no row with this path".to_owned(),
        })?;
        Ok(self.names.iter().map(String::as_str).zip(row.iter().map(|t| labelled(t))).collect())
    }
}

fn fields(line: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => out.push(String::new()),
            c => {
                if let Some(last) = out.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    out.iter().map(|field| field.trim().to_owned()).collect()
}

/// What distinguishes sources in their paths besides the core count: `n256` of `n256-p4`.
///
/// Paths are cut into words and numbers; places that differ between sources and are not the core
/// count make the value. `None` when nothing else differs, or paths have different shapes.
pub(super) fn told_input(paths: &[&str], cores: &[ParameterValue]) -> Option<Vec<ParameterValue>> {
    let cut: Vec<Vec<&str>> = paths.iter().map(|path| words(path)).collect();
    let len = cut.first()?.len();
    if cut.iter().any(|parts| parts.len() != len) {
        return None;
    }
    let differs = |at: usize| {
        let first = cut.first().and_then(|parts| parts.get(at));
        cut.iter().any(|parts| parts.get(at) != first)
    };
    let is_cores = |at: usize| {
        cut.iter().zip(cores).all(|(parts, cores)| {
            parts.get(at).and_then(|part| part.parse::<f64>().ok()) == cores.number
        })
    };
    let places: Vec<usize> = (0..len).filter(|&at| differs(at) && !is_cores(at)).collect();
    if places.is_empty() {
        return None;
    }
    let value = |parts: &Vec<&str>| {
        let named = |&at: &usize| {
            let part = parts.get(at).copied().unwrap_or("");
            let before = at.checked_sub(1).and_then(|at| parts.get(at)).copied().unwrap_or("");
            let is_name = before.chars().all(char::is_alphabetic);
            if is_name && part.starts_with(|c: char| c.is_ascii_digit()) {
                format!("{before}{part}")
            } else {
                part.to_owned()
            }
        };
        let label: Vec<String> = places.iter().map(named).collect();
        let number = match places.as_slice() {
            [at] => parts.get(*at).and_then(|part| part.parse().ok()),
            _ => None,
        };
        ParameterValue { label: label.join(" "), number }
    };
    Some(cut.iter().map(value).collect())
}

/// Runs of letters and of digits; everything else separates.
fn words(path: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = None;
    let class = |c: char| u8::from(c.is_ascii_digit()) + 2 * u8::from(c.is_alphabetic());
    let mut before = 0;
    for (at, c) in path.char_indices() {
        let now = class(c);
        if now != before {
            if let Some(from) = start.take() {
                out.extend(path.get(from..at));
            }
            if now > 0 {
                start = Some(at);
            }
            before = now;
        }
    }
    if let Some(from) = start {
        out.extend(path.get(from..));
    }
    out
}

/// Names by which parameters count the machine, the likeliest for cores first.
const RESOURCES: [&str; 16] = [
    parameter_names::CORES,
    "p",
    "P",
    "np",
    "threads",
    "ranks",
    "procs",
    "processes",
    "nprocs",
    "num_threads",
    "mpi_ranks",
    "cpus",
    "numCpus",
    "jobsize",
    "nodes",
    "processors",
];

/// Names by which parameters count other parts of the machine; none of them counts cores.
const DEVICES: [&str; 2] = ["gpus", "numGpus"];

/// Whether a parameter of this name counts a part of the machine.
pub(super) fn is_resource(name: &str) -> bool {
    RESOURCES.contains(&name) || DEVICES.contains(&name)
}

/// The parameter that counts cores: the one asked for, else one of the usual names.
pub(super) fn cores_parameter(names: &[&str], asked: Option<&str>) -> Result<usize, ScalingError> {
    let find = |wanted: &str| names.iter().position(|name| *name == wanted);
    let known = || listed(names.iter().copied());
    if let Some(asked) = asked {
        return find(asked).ok_or_else(|| ScalingError::Unknown {
            what: "parameter",
            name: asked.to_owned(),
            known: known(),
        });
    }
    RESOURCES.into_iter().find_map(find).ok_or_else(|| ScalingError::Missing {
        what: format!("no parameter says how many cores were used; there are: {}", known()),
        hint: format!("{}, or {}", Remedy::CoresParameter, Remedy::Cores),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(paths: &[&str], cores: &[&str]) -> Option<Vec<String>> {
        let cores: Vec<_> = cores.iter().map(|text| labelled(text)).collect();
        Some(told_input(paths, &cores)?.into_iter().map(|value| value.label).collect())
    }

    #[test]
    fn paths_tell_the_input_where_they_differ_by_more_than_cores() {
        let paths = ["db/n256-p1", "db/n256-p2", "db/n512-p1", "db/n512-p2"];
        let found = labels(&paths, &["1", "2", "1", "2"]).unwrap();
        assert_eq!(found, ["n256", "n256", "n512", "n512"]);
        assert_eq!(labels(&paths[..2], &["1", "2"]), None);
        assert_eq!(labels(&["a/p1", "b/x/p2"], &["1", "2"]), None);
        let found = labels(&["small.p2", "large.p2"], &["2", "2"]).unwrap();
        assert_eq!(found, ["small", "large"]);
    }

    #[test]
    fn rules_say_what_is_wrong_with_them() {
        for (text, part) in [
            ("cores", "NAME=ranks"),
            ("=ranks", "no name"),
            ("cores=rank", "NAME=ranks"),
            ("cores=path:(", "regular expression"),
        ] {
            let error = ParameterRule::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn tables_match_by_the_end_of_the_path() {
        let text = "cores,path,input\n4,runs/p4,\"64, small\"\n8,runs/p8,64\n";
        let table = ParameterTable::parse(text, "t.csv").unwrap();
        let values = table.values("/data/runs/p4/").unwrap();
        assert_eq!(values[0], ("cores", labelled("4")));
        assert_eq!(values[1].1.label, "64, small");
        assert!(table.values("/data/runs/xp4").is_err());
        assert!(ParameterTable::parse("a,b\n", "t.csv").is_err());
        assert!(ParameterTable::parse("path,b\nx\n", "t.csv").is_err());
    }
}
