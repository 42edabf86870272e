//! [`find`]: what a folder holds that can be opened, and what of it cannot, with the reason.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use parallax_base::{
    ChosenFiles, Folder, FolderEntry, Limits, NotListed, ReadError, SubFolder, Survey,
};
use parallax_model::Experiment;

use super::document::families;
use super::probe::split;
use super::{DataContent, DataSet, Extent, FORMATS, Format, Probe, Reader};
use crate::ImportError;
use crate::convert::TraceInput;

/// Files that are sniffed at most, so that a home folder named by mistake does not take minutes;
/// the nearest ones, because they are likelier meant than those far inside.
const MAX_SNIFFED: usize = 2_000;

/// Files and experiments named in a message at most.
const MAX_NAMED: usize = 5;

/// Source code, which experiments show and which is no data.
const SOURCE_CODE: [&str; 14] =
    ["c", "cc", "cpp", "cu", "cxx", "f", "f03", "f90", "h", "hh", "hip", "hpp", "py", "rs"];

/// What can be opened, and what cannot.
#[derive(Clone, Default)]
pub struct FoundData {
    /// Folders, then files, then traces, then measurements, each sorted by path.
    pub data: Vec<DataSet>,
    /// Files that belong to nothing that can be opened, sorted by path.
    pub not_used: Vec<NotUsed>,
    /// Files that were not looked at, because there are too many and others lie nearer.
    pub num_unread: usize,
    /// Folders that could not be looked into, sorted by path.
    pub not_listed: Vec<NotListed>,
}

/// A file that is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotUsed {
    /// Its path.
    pub path: String,
    /// Why.
    pub reason: Reason,
}

/// Why a file is not used. Shown, it goes on from the path of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// It is of a format that is not read: what it is, and what to do.
    NotRead(&'static str, &'static str),
    /// It is a part of data of this format, whose other files are not there.
    PartOf(&'static str),
    /// It cannot be read.
    Unreadable(String),
    /// It has no bytes.
    Empty,
    /// It is of no format of the table.
    Unknown,
}

impl Reason {
    const fn rank(&self) -> u8 {
        match self {
            Self::NotRead(..) => 0,
            Self::PartOf(_) => 1,
            Self::Unreadable(_) => 2,
            Self::Empty => 3,
            Self::Unknown => 4,
        }
    }
}

impl Reason {
    /// What is wrong, without what to do.
    fn what(&self) -> String {
        match self {
            Self::NotRead(what, _) => {
                format!("is {what}, a format that is recognised but not read")
            }
            Self::PartOf(format) => {
                format!(
                    "is named as a part of the format {format}, whose other files are not there"
                )
            }
            Self::Unreadable(cause) => format!("cannot be read: {cause}"),
            Self::Empty => "is empty".to_owned(),
            Self::Unknown => "is of no known format".to_owned(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what())?;
        match self {
            Self::NotRead(_, hint) => write!(f, "; {hint}"),
            _ => Ok(()),
        }
    }
}

impl FoundData {
    /// The warnings about files and folders that were not looked at.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let unread = (self.num_unread > 0).then(|| {
            format!(
                "{} files in deeper folders were not examined: only the {MAX_SNIFFED} nearest were; \
                 open an inner folder to include the others",
                self.num_unread
            )
        });
        let more = self.not_listed.len().saturating_sub(MAX_NAMED);
        let more = (more > 0).then(|| format!("{more} more folders were not examined"));
        let folders = self.not_listed.iter().take(MAX_NAMED);
        let folders = folders.map(|folder| {
            format!("the folder {} {}; its files were not examined", folder.path, folder.why)
        });
        unread.into_iter().chain(folders).chain(more)
    }

    /// The experiments, without measurements.
    pub fn experiments(&self) -> impl Iterator<Item = &DataSet> {
        self.data.iter().filter(|data| data.is_experiment())
    }

    /// Why there is nothing to open in `origin`, and what to do.
    #[must_use]
    pub fn nothing(&self, origin: &str) -> ImportError {
        let mut sorted: Vec<&NotUsed> = self.not_used.iter().collect();
        sorted.sort_by(|a, b| a.reason.rank().cmp(&b.reason.rank()).then(a.path.cmp(&b.path)));
        let is_one = sorted.len() == 1;
        let name = |path: &str| split(path).1.to_owned();
        let (unknown, told): (Vec<&NotUsed>, Vec<&NotUsed>) =
            sorted.into_iter().partition(|file| file.reason == Reason::Unknown);
        let mut reasons: Vec<(&Reason, Vec<&str>)> = Vec::new();
        for file in &told {
            match reasons.iter_mut().find(|(reason, _)| **reason == file.reason) {
                Some((_, paths)) => paths.push(&file.path),
                None => reasons.push((&file.reason, vec![&file.path])),
            }
        }
        let mut parts: Vec<String> = reasons
            .iter()
            .take(MAX_NAMED)
            .map(|(reason, paths)| match paths.as_slice() {
                [only] if is_one => format!("{} {}", name(only), reason.what()),
                [only] => format!("{only} {}", reason.what()),
                several => {
                    let names = listed(several.iter().copied(), several.len());
                    format!("{names}: each {}", reason.what())
                }
            })
            .collect();
        if reasons.len() > MAX_NAMED {
            parts.push(format!("and {} more reasons", reasons.len() - MAX_NAMED));
        }
        if !unknown.is_empty() {
            let paths = || unknown.iter().map(|file| file.path.as_str());
            parts.push(if is_one {
                format!("{} is of no known format", unknown.first().map_or("", |f| &f.path))
            } else {
                format!("of no known format: {}", listed(paths(), unknown.len()))
            });
        }
        if parts.is_empty() {
            parts.push("it has no files".to_owned());
        }
        parts.extend(self.notes());
        let hint = match told.first().map(|file| &file.reason) {
            Some(Reason::Empty) if unknown.is_empty() => {
                "the measurement or the copy was not completed".to_owned()
            }
            Some(Reason::PartOf(_)) => "open the whole folder".to_owned(),
            Some(Reason::NotRead(_, hint)) => (*hint).to_owned(),
            _ => format!("Parallax reads data of {}", families()),
        };
        ImportError::NotRecognised { origin: origin.to_owned(), found: parts.join("; "), hint }
    }
}

fn listed<'n>(names: impl Iterator<Item = &'n str>, count: usize) -> String {
    let mut shown: Vec<String> = names.take(MAX_NAMED).map(ToOwned::to_owned).collect();
    if count > shown.len() {
        shown.push(format!("and {} more", count - shown.len()));
    }
    shown.join(", ")
}

/// Looks for everything in and below `folder` that can be opened. Reads the first bytes of files
/// only.
///
/// # Errors
/// When the folder cannot be listed.
pub fn find(folder: &Arc<dyn Folder>) -> Result<FoundData, ReadError> {
    let Survey { files, not_listed } = folder.survey()?;
    let mut search = Search::new(folder, &files);
    search.look_at_usual();
    search.look_at_others();
    Ok(FoundData { not_listed, ..search.finish() })
}

/// The one experiment in `folder`: the folder itself, or the only one in and below it.
///
/// # Errors
/// When there is none, there are several, or the folder cannot be listed.
pub fn experiment_at(folder: &Arc<dyn Folder>) -> Result<DataSet, ImportError> {
    let origin = folder.name();
    let fail = |cause| ImportError::Folder { origin: origin.to_owned(), cause };
    // A database is found without looking at what lies below it.
    let entries = folder.entries().map_err(fail)?;
    let mut search = Search::new(folder, &entries);
    search.look_at_usual();
    let own = search.finish().data.into_iter().find(
        |data| matches!(&data.content, DataContent::Folder { place, .. } if place.is_empty()),
    );
    if let Some(own) = own {
        return Ok(own);
    }
    let found = find(folder).map_err(fail)?;
    let count = found.experiments().count();
    match (found.experiments().next(), count) {
        (Some(only), 1) => Ok(only.clone()),
        (None, _) if !found.data.is_empty() => Err(ImportError::OtherKind {
            origin: origin.to_owned(),
            what: "it has measurements of several executions; `scaling` reads them",
        }),
        (None, _) => Err(found.nothing(origin)),
        (Some(_), _) => {
            let inside = |data: &DataSet| format!("{}/{}", origin.trim_end_matches('/'), data.name);
            let names: Vec<String> = found.experiments().take(MAX_NAMED).map(inside).collect();
            let names = listed(names.iter().map(String::as_str), count);
            Err(ImportError::Several { origin: origin.to_owned(), count, names })
        }
    }
}

/// The data set that the file at `path` in `folder` is, or is a part of.
///
/// # Errors
/// When it is none; the error is about this file only.
pub fn recognise_file(folder: &Arc<dyn Folder>, path: &str) -> Result<DataSet, ImportError> {
    let entries = match folder.open(path) {
        Ok(Some(source)) => vec![FolderEntry { path: path.to_owned(), len: source.len() }],
        Ok(None) => Vec::new(),
        Err(cause) => {
            return Err(ImportError::Folder { origin: path.to_owned(), cause });
        }
    };
    let mut search = Search::new(folder, &entries);
    search.is_alone = true;
    for entry in &entries {
        search.look_at(entry);
    }
    let found = search.finish();
    found.data.first().cloned().ok_or_else(|| found.nothing(path))
}

/// Opens the experiment in `folder`.
///
/// Costs what the metadata costs: values and samples are read on demand.
///
/// # Errors
/// When there is none or there are several, or a required file is broken.
pub fn open(folder: &Arc<dyn Folder>, limits: &Limits) -> Result<Experiment, ImportError> {
    experiment_at(folder)?.open(limits)
}

/// The profiles of one execution.
struct Run {
    format: &'static Format,
    paths: Vec<String>,
}

struct Search<'f> {
    folder: &'f Arc<dyn Folder>,
    entries: &'f [FolderEntry],
    /// Whether one file is looked at for itself: the files next to it are of no interest.
    is_alone: bool,
    /// Data sets that are folders, by path.
    folders: HashMap<String, (&'static Format, bool)>,
    runs: BTreeMap<(String, String), Run>,
    singles: Vec<DataSet>,
    /// Files of traces.
    members: HashSet<String>,
    not_used: Vec<NotUsed>,
    num_unread: usize,
}

impl<'f> Search<'f> {
    fn new(folder: &'f Arc<dyn Folder>, entries: &'f [FolderEntry]) -> Self {
        Self {
            folder,
            entries,
            is_alone: false,
            folders: HashMap::new(),
            runs: BTreeMap::new(),
            singles: Vec::new(),
            members: HashSet::new(),
            not_used: Vec::new(),
            num_unread: 0,
        }
    }

    /// Looks at files with the names that writers of databases and profiles use: at one of each
    /// folder, unless that one is something else.
    fn look_at_usual(&mut self) {
        for entry in self.entries {
            let Some(place) = usual_place(&entry.path) else { continue };
            if !self.folders.contains_key(place) && self.not_used.len() < MAX_SNIFFED {
                self.look_at(entry);
            }
        }
    }

    /// Looks at the other files, the nearest first.
    fn look_at_others(&mut self) {
        let others = self.entries.iter().filter(|entry| {
            !self.is_covered(&entry.path)
                && usual_place(&entry.path).is_none()
                && part_of(&entry.path).is_none()
        });
        let mut others: Vec<&FolderEntry> = others.collect();
        self.num_unread = others.len().saturating_sub(MAX_SNIFFED);
        let depth = |entry: &FolderEntry| entry.path.matches('/').count();
        others.sort_by(|a, b| depth(a).cmp(&depth(b)).then(a.path.cmp(&b.path)));
        for entry in others.into_iter().take(MAX_SNIFFED) {
            if !self.is_covered(&entry.path) {
                self.look_at(entry);
            }
        }
    }

    /// Whether a file belongs to a folder that was found.
    fn is_covered(&self, path: &str) -> bool {
        let mut rest = path;
        while !rest.is_empty() {
            rest = split(rest).0;
            if let Some((format, is_whole)) = self.folders.get(rest)
                && (*is_whole || (format.usual_place)(path) == Some(rest))
            {
                return true;
            }
        }
        false
    }

    fn look_at(&mut self, entry: &FolderEntry) {
        match self.recognise(entry) {
            Ok((format, extent)) => self.take(&entry.path, format, extent),
            Err(reason) => self.not_used.push(NotUsed { path: entry.path.clone(), reason }),
        }
    }

    fn recognise(&self, entry: &FolderEntry) -> Result<(&'static Format, Extent), Reason> {
        if entry.len == 0 {
            return Err(Reason::Empty);
        }
        let probe = Probe::of(self.folder, &entry.path)
            .map_err(|cause| Reason::Unreadable(cause.to_string()))?
            .ok_or_else(|| Reason::Unreadable("it is not there any more".to_owned()))?;
        let found = FORMATS.iter().find_map(|format| Some((format, (format.recognise)(&probe)?)));
        let part = || part_of(&entry.path).map_or(Reason::Unknown, Reason::PartOf);
        match found {
            Some((format, Extent::NotRead(what))) => match format.reader {
                Reader::None(hint) => Err(Reason::NotRead(what, hint)),
                _ => Err(Reason::NotRead(what, "convert it with the tool that wrote it")),
            },
            Some(found) => Ok(found),
            None => Err(part()),
        }
    }

    fn take(&mut self, path: &str, format: &'static Format, extent: Extent) {
        match (extent, format.reader) {
            (Extent::Folder(place), _) => {
                self.folders.insert(place, (format, true));
            }
            (Extent::Usual(place), _) => {
                self.folders.insert(place, (format, false));
            }
            (Extent::Run(place, run), _) if !self.is_alone => {
                let run = self.runs.entry((place, run));
                let run = run.or_insert_with(|| Run { format, paths: Vec::new() });
                run.paths.push(path.to_owned());
            }
            (Extent::Trace, Reader::Trace(reader)) => {
                let input = TraceInput::new(reader, self.folder, path);
                let mut files = input.files_among(self.entries);
                // Of a trace in many files, one is named.
                if self.is_alone || files.first().is_none_or(|first| first == path) {
                    let content = DataContent::Trace(input);
                    self.singles.push(DataSet { name: path.to_owned(), format, content });
                }
                self.members.extend(files.drain(..));
            }
            _ => self.take_file(path, format),
        }
    }

    fn take_file(&mut self, path: &str, format: &'static Format) {
        match self.folder.open(path) {
            Ok(Some(source)) => {
                let content = DataContent::File(source);
                self.singles.push(DataSet { name: path.to_owned(), format, content });
            }
            Ok(None) => {}
            Err(cause) => {
                let reason = Reason::Unreadable(cause.to_string());
                self.not_used.push(NotUsed { path: path.to_owned(), reason });
            }
        }
    }

    fn finish(mut self) -> FoundData {
        for ((place, _), run) in std::mem::take(&mut self.runs) {
            self.take_run(&place, run);
        }
        let singles = std::mem::take(&mut self.singles);
        let mut data: Vec<DataSet> =
            singles.into_iter().filter(|single| !self.is_covered(&single.name)).collect();
        for (place, (format, is_whole)) in &self.folders {
            let own = |entry: &&FolderEntry| (format.usual_place)(&entry.path) == Some(place);
            let files =
                || self.entries.iter().filter(own).map(|entry| entry.path.clone()).collect();
            let content = DataContent::Folder {
                folder: SubFolder::of(self.folder, place),
                place: place.clone(),
                files: (!is_whole && !self.is_alone).then(files),
            };
            data.push(DataSet { name: self.name_of(place), format, content });
        }
        let rank = |data: &DataSet| match (&data.content, data.is_experiment()) {
            (DataContent::Folder { .. }, _) => 0,
            (DataContent::File(_), true) => 1,
            (DataContent::Trace(_), _) => 2,
            (DataContent::File(_), false) => 3,
        };
        data.sort_by(|a, b| rank(a).cmp(&rank(b)).then(a.name.cmp(&b.name)));
        if !self.is_alone {
            self.add_parts();
        }
        let has_data = !data.is_empty();
        let mut not_used = std::mem::take(&mut self.not_used);
        not_used.retain(|file| {
            let is_known = self.is_covered(&file.path) || self.members.contains(&file.path);
            let is_expected = has_data && is_no_data(file);
            !is_known && !is_expected
        });
        not_used.sort_by(|a, b| a.path.cmp(&b.path));
        FoundData { data, not_used, num_unread: self.num_unread, not_listed: Vec::new() }
    }

    /// Files that are a part of something that was not found.
    fn add_parts(&mut self) {
        for entry in self.entries {
            if let Some(format) = part_of(&entry.path)
                && !self.members.contains(&entry.path)
                && !self.is_covered(&entry.path)
            {
                let (path, reason) = (entry.path.clone(), Reason::PartOf(format));
                self.not_used.push(NotUsed { path, reason });
            }
        }
    }

    /// One profile is a file; several are their folder, or what they are of it.
    fn take_run(&mut self, place: &str, Run { format, paths }: Run) {
        let [first, others @ ..] = paths.as_slice() else { return };
        if others.is_empty() {
            return self.take_file(first, format);
        }
        let folder = SubFolder::of(self.folder, place);
        let own = |path: &String| split(path).1.to_owned();
        let all = self.entries.iter().filter(|entry| split(&entry.path).0 == place);
        let is_other = |path: &str| {
            let at = Probe::of(self.folder, path);
            let other = at.ok().flatten().and_then(|probe| (format.recognise)(&probe));
            other.is_some() && !paths.iter().any(|known| known == path)
        };
        let has_others = all.take(MAX_SNIFFED).any(|entry| is_other(&entry.path));
        let (name, folder): (String, Arc<dyn Folder>) = if has_others {
            let name = format!("{first} and {} more", others.len());
            let chosen = ChosenFiles::new(&folder, &name, paths.iter().map(own));
            (name, Arc::new(chosen))
        } else {
            (self.name_of(place), folder)
        };
        let (place, files) = (place.to_owned(), Some(paths.into()));
        let content = DataContent::Folder { folder, place, files };
        self.singles.push(DataSet { name, format, content });
    }

    fn name_of(&self, place: &str) -> String {
        if place.is_empty() { self.folder.name().to_owned() } else { place.to_owned() }
    }
}

/// The folder of the data set that a file belongs to by its name.
fn usual_place(path: &str) -> Option<&str> {
    FORMATS.iter().find_map(|format| (format.usual_place)(path))
}

/// The format of whose data a file is a part by its name.
fn part_of(path: &str) -> Option<&'static str> {
    let is_part = |format: &&Format| format.part_endings.iter().any(|end| path.ends_with(end));
    FORMATS.iter().find(is_part).map(|format| format.name)
}

/// Whether a file that was not recognised is none that somebody would take for data.
fn is_no_data(file: &NotUsed) -> bool {
    let name = split(&file.path).1;
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    file.reason == Reason::Unknown && (name.starts_with('.') || SOURCE_CODE.contains(&ending))
}
