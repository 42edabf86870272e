//! The profiles of an execution: a folder of `profile.N.C.T`, or one such folder for each metric.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parallax_base::{Folder, Issues, Limits, Place, ReadError, Severity, Stage};

use super::records::{Facts, Names, Profiles, Thread, ThreadId, Timer, TimerRow};
use super::text::{self, TextProfile};
use crate::FormatError;

/// A file that the name of a profile was given to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileFile {
    /// Path inside the folder.
    pub path: String,
    /// Which thread it is of.
    pub id: ThreadId,
    /// Size in bytes.
    pub len: u64,
}

/// How the names of folders of one metric begin: `MULTI__TIME`.
pub const METRIC_FOLDER: &str = "MULTI__";

/// The thread that a file named `profile.N.C.T` is of, with or without folders before the name.
#[must_use]
pub fn thread_of_name(path: &str) -> Option<ThreadId> {
    let name = path.rsplit('/').next()?;
    let mut parts = name.strip_prefix("profile.")?.split('.').map(|part| part.parse().ok());
    let (node, context, thread) = (parts.next()??, parts.next()??, parts.next()??);
    parts.next().is_none().then_some(ThreadId { node, context, thread })
}

impl ThreadId {
    /// The only thread of a program without ranks.
    pub(super) const FIRST: Self = Self { node: 0, context: 0, thread: 0 };
}

/// The profiles in `folder`, by names: those directly inside, else those in its folders of
/// metrics. Sorted by folder and thread.
///
/// # Errors
/// When the folder cannot be listed.
pub fn find_profiles(folder: &dyn Folder) -> Result<Vec<ProfileFile>, ReadError> {
    let known = |entries: Vec<parallax_base::FolderEntry>| -> Vec<ProfileFile> {
        let files = entries.into_iter().filter_map(|entry| {
            let id = thread_of_name(&entry.path)?;
            Some(ProfileFile { path: entry.path, id, len: entry.len })
        });
        files.collect()
    };
    let mut files = known(folder.entries()?);
    if files.is_empty() {
        let is_of_metric = |path: &str| {
            path.split_once('/').is_some_and(|(metric, file)| {
                metric.starts_with(METRIC_FOLDER) && !file.contains('/')
            })
        };
        let entries = folder.walk()?.into_iter().filter(|entry| is_of_metric(&entry.path));
        files = known(entries.collect());
    }
    files.sort_by(|a, b| {
        let place = |file: &ProfileFile| file.path.rsplit_once('/').map(|(f, _)| f.to_owned());
        place(a).cmp(&place(b)).then(a.id.cmp(&b.id))
    });
    Ok(files)
}

/// Reads the profiles of all threads in `folder`. A file that cannot be read is reported and left
/// out.
///
/// # Errors
/// When no file can be read.
pub fn read_folder(
    folder: &dyn Folder,
    limits: &Limits,
    issues: &mut Issues,
) -> Result<Profiles, FormatError> {
    let name = folder.name();
    let files = find_profiles(folder).map_err(|cause| FormatError::read(name, cause))?;
    let size: u64 = files.iter().map(|file| file.len).sum();
    limits
        .metadata("the profiles of TAU", size)
        .map_err(|cause| FormatError::Limit { file: name.to_owned(), cause })?;
    let mut merge = Merge::default();
    let mut failed = None;
    for file in &files {
        let read = match folder.open(&file.path) {
            Ok(Some(source)) => text::read(&*source, &file.path, limits, issues),
            Ok(None) => continue,
            Err(cause) => Err(FormatError::read(&file.path, cause)),
        };
        match read {
            Ok(profile) => merge.add(file.id, &file.path, profile, issues),
            Err(error) => {
                let place = Place::File { file: file.path.clone() };
                issues.report(Severity::Error, Stage::Read, "file-unusable", place, || {
                    format!("{error}; the profile is omitted")
                });
                failed = failed.or(Some(error));
            }
        }
    }
    if merge.is_empty() {
        let none = || FormatError::malformed(name, 0, "it has no profile.N.C.T");
        return Err(failed.unwrap_or_else(none));
    }
    merge.finish(name, limits, issues)
}

/// Puts the files of several threads and metrics together.
#[derive(Default)]
pub(super) struct Merge {
    out: Profiles,
    metric_rows: Names,
    timer_rows: HashMap<String, u32>,
    group_rows: Names,
    event_rows: Names,
    threads: BTreeMap<ThreadId, Gathered>,
}

/// One thread while its files come in.
struct Gathered {
    thread: Thread,
    /// Row of `thread.timers` by timer.
    rows: HashMap<u32, usize>,
    /// Exclusive and inclusive value by row and metric.
    values: Vec<Vec<(u32, f64, f64)>>,
}

impl Merge {
    fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// Adds one file: the thread `id`, one metric.
    pub(super) fn add(
        &mut self,
        id: ThreadId,
        file: &str,
        profile: TextProfile,
        issues: &mut Issues,
    ) {
        let TextProfile { metric, metadata, timers, events } = profile;
        let named = super::records::fact(&metadata, METRIC_NAME).map(Into::into);
        let metric = metric.or(named).unwrap_or_else(|| Arc::from("TIME"));
        let metric = self.metric_rows.row(&mut self.out.metrics, &metric);
        let gathered = self.threads.entry(id).or_insert_with(|| Gathered {
            thread: Thread::new(id),
            rows: HashMap::new(),
            values: Vec::new(),
        });
        if gathered.thread.metadata.is_empty() {
            gathered.thread.metadata = metadata;
            gathered.thread.metadata.retain(|(name, _)| name != METRIC_NAME);
        }
        for timer in timers {
            let row = match self.timer_rows.get(&timer.name) {
                Some(&row) => row,
                None => {
                    let row = u32::try_from(self.out.timers.len()).unwrap_or(u32::MAX);
                    let name: Arc<str> = timer.name.as_str().into();
                    let groups = timer.groups.iter();
                    let groups =
                        groups.map(|g| self.group_rows.row(&mut self.out.groups, g)).collect();
                    self.out.timers.push(Timer { name, groups });
                    self.timer_rows.insert(timer.name.clone(), row);
                    row
                }
            };
            let next = gathered.thread.timers.len();
            let at = *gathered.rows.entry(row).or_insert(next);
            if at == next {
                let (calls, subroutines) = (timer.calls, timer.subroutines);
                gathered.thread.timers.push(TimerRow { timer: row, calls, subroutines });
                gathered.values.push(Vec::new());
            }
            let Some(values) = gathered.values.get_mut(at) else { continue };
            // Metrics come in the order of their numbers, but for folders of equal names.
            let is_new = values.last().is_none_or(|&(known, ..)| known < metric);
            if !is_new && values.iter().any(|(known, ..)| *known == metric) {
                let place = Place::File { file: file.to_owned() };
                issues.report(Severity::Warning, Stage::Read, "timer-repeated", place, || {
                    format!("{} is there twice; the first counts", timer.name)
                });
                continue;
            }
            values.push((metric, timer.exclusive, timer.inclusive));
        }
        // Folders of further metrics repeat the user events of the first.
        if gathered.thread.events.is_empty() {
            for (name, mut event) in events {
                event.event = self.event_rows.row(&mut self.out.events, &name);
                gathered.thread.events.push(event);
            }
        }
    }

    /// All threads; a timer without a value of some metric has 0 there.
    ///
    /// # Errors
    /// When the values of all metrics would take more memory than the limits allow: of thousands of
    /// files with a metric each, nearly all would be 0.
    pub(super) fn finish(
        self,
        file: &str,
        limits: &Limits,
        issues: &mut Issues,
    ) -> Result<Profiles, FormatError> {
        let Self { mut out, threads, .. } = self;
        let metrics = out.metrics.len();
        let rows: u64 = threads.values().map(|gathered| gathered.values.len() as u64).sum();
        limits
            .metadata(
                "the values of all timers and metrics",
                rows.saturating_mul(metrics as u64 * 16),
            )
            .map_err(|cause| FormatError::Limit { file: file.to_owned(), cause })?;
        let mut missing = 0_u64;
        for Gathered { mut thread, values, .. } in threads.into_values() {
            thread.values = vec![0.0; values.len() * metrics * 2];
            for (row, values) in values.iter().enumerate() {
                missing += (metrics - values.len().min(metrics)) as u64;
                for &(metric, exclusive, inclusive) in values {
                    let at = (row * metrics + metric as usize) * 2;
                    if let Some(slot) = thread.values.get_mut(at..at + 2) {
                        slot.copy_from_slice(&[exclusive, inclusive]);
                    }
                }
            }
            out.threads.push(thread);
        }
        if missing > 0 {
            issues.report(Severity::Warning, Stage::Read, "metric-missing", Place::Whole, || {
                format!(
                    "{missing} values of timers that one metric has and another lacks count as 0"
                )
            });
        }
        out.metadata = take_common(&mut out.threads);
        Ok(out)
    }
}

/// The fact that names the metric of a file; it is no fact about the execution.
const METRIC_NAME: &str = "Metric Name";

/// Facts that all threads have in common move from the threads to the whole.
fn take_common(threads: &mut [Thread]) -> Facts {
    let Some((first, others)) = threads.split_first() else { return Facts::new() };
    let sets: Vec<std::collections::HashSet<&(String, String)>> =
        others.iter().map(|thread| thread.metadata.iter().collect()).collect();
    let common: Facts = first
        .metadata
        .iter()
        .filter(|fact| sets.iter().all(|set| set.contains(fact)))
        .cloned()
        .collect();
    let known: std::collections::HashSet<&(String, String)> = common.iter().collect();
    for thread in threads.iter_mut() {
        thread.metadata.retain(|fact| !known.contains(fact));
    }
    common
}
