//! The answer of `workflow`: components, and what goes from one to the other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parallax_analysis::events::{Activities, Activity};
use parallax_analysis::exchanges::{
    Exchange, ExchangeChoice, ExchangeKey, Through, adios_stream, exchanges,
};
use parallax_analysis::user_events::user_event_by_location;
use parallax_base::casts::saturated_u64;
use parallax_base::{Control, LocationIdx, TimeWindow};
use parallax_engine::{EngineError, LocationChoice};
use parallax_import::events::file_of_counter;
use parallax_model::{IdentityKind, Scope, TraceStore, UserEvent};
use parallax_protocol::{
    Answer, Choice as _, ExchangeBinRow, ExchangeBinTable, ExchangeBy, ExchangeEvidence,
    ExchangeRow, ExchangeTable, WorkflowComponentRow, WorkflowGraphReply, WorkflowGraphRequest,
    WorkflowGraphTables,
};

use crate::options::{locations, stretch};
use crate::recorded::Recorded;
use crate::timeline::since;
use crate::{Answers, OpenExperiment, ServiceError};

/// What TAU counts of what goes to ADIOS.
const ADIOS_DATA: &str = "ADIOS data size";

/// Name of what is not in the trace.
const ABSENT: &str = "(not in the trace)";

/// Hosts of a component that are named.
const SHOWN_HOSTS: usize = 4;

/// Parts of a window at most.
const MOST_BINS: u32 = 1 << 12;

/// A box of the drawing: a component, or what is of none.
struct Part {
    application: Option<u64>,
    name: String,
    locations: Vec<LocationIdx>,
}

impl Answers<WorkflowGraphRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &WorkflowGraphRequest,
        control: &Control,
    ) -> Result<Answer<WorkflowGraphRequest>, ServiceError> {
        let x = self.session.experiment();
        let mut notes = Vec::new();
        let chosen = locations(&self.session, request.part.profiles.as_deref(), &mut notes)?;
        let has_trace = x.traces.is_some();
        let window = if has_trace {
            let span = self.session.traces()?.span();
            stretch(&self.session, &request.part)?.intersect(span_of(span))
        } else {
            if request.part.window.is_some()
                || request.part.from_ns.or(request.part.to_ns).is_some()
            {
                return Err(EngineError::Missing {
                    what: "this experiment has no trace, so it has no time windows".into(),
                    hint: "omit the window, or open a trace".into(),
                }
                .into());
            }
            TimeWindow::ALL
        };
        let parts = self.parts(&chosen);
        let bin_nanos = match request.bins.min(MOST_BINS) {
            0 => 0,
            bins => window.nanos().div_ceil(u64::from(bins)).max(1),
        };
        let bin_nanos = if has_trace { bin_nanos } else { 0 };
        let origin = match &x.traces {
            Some(traces) => traces.span().start_nanos,
            None => x.metadata.components.iter().filter_map(|c| Some(c.span?.0)).min().unwrap_or(0),
        };
        let components = self.component_rows(&parts, window, origin, control)?;
        let mut found = ExchangeList::default();
        if has_trace {
            let choice = ExchangeChoice {
                window,
                rows: &self.rows_of_tracks(&parts),
                is_all: chosen == LocationChoice::All,
                bin_nanos,
            };
            for (key, exchange) in exchanges(&self.session, choice)? {
                found.recorded(&parts, &key, &exchange, origin);
            }
            if let Some(chosen) = self.chosen_calls() {
                notes.push(format!("Messages are not matched: {}.", chosen.words()));
            }
        } else {
            self.files_of_profiles(&parts, &mut found, &mut notes, control)?;
        }
        control.check().map_err(EngineError::from)?;
        self.described(&parts, &mut found, control)?;
        notes.extend(remarks(&parts, &found, has_trace));
        let since_first = |nanos: u64| has_trace.then(|| since(nanos, origin));
        let reply = WorkflowGraphReply {
            title: x.metadata.title.clone(),
            start_ns: since_first(window.start_nanos),
            end_ns: since_first(window.end_nanos),
            bin_ns: (bin_nanos > 0).then_some(bin_nanos as f64),
            notes,
        };
        let (exchanges, over_time) = found.tables();
        let components = components.into_iter().collect();
        Ok(Answer::new(reply, WorkflowGraphTables { components, exchanges, over_time }))
    }
}

/// The window of a span, with its last moment.
fn span_of(span: TimeWindow) -> TimeWindow {
    TimeWindow::new(span.start_nanos, span.end_nanos.saturating_add(1))
}

impl OpenExperiment {
    /// The components with their chosen locations; one where there is one application.
    fn parts(&self, chosen: &LocationChoice) -> Vec<Part> {
        let x = self.session.experiment();
        let mut of: BTreeMap<(bool, u64), Vec<LocationIdx>> = BTreeMap::new();
        let has_components = !x.metadata.components.is_empty();
        for component in &x.metadata.components {
            of.insert((false, component.application), Vec::new());
        }
        let is_chosen = |location: LocationIdx| match chosen {
            LocationChoice::All => true,
            LocationChoice::Some(list) => list.binary_search(&location).is_ok(),
        };
        for location in x.locations.iter().filter(|&location| is_chosen(location)) {
            let own = x.locations.identity(location, IdentityKind::Application);
            let own = own.filter(|_| has_components);
            of.entry((own.is_none(), own.unwrap_or(0))).or_default().push(location);
        }
        let part = |((is_none, number), locations): ((bool, u64), Vec<LocationIdx>)| Part {
            application: (!is_none).then_some(number),
            name: if is_none {
                x.metadata.title.clone()
            } else {
                x.locations.application_label(number)
            },
            locations,
        };
        // A component of which nothing is chosen is no part of the answer.
        of.into_iter().map(part).filter(|part| !part.locations.is_empty()).collect()
    }

    /// The part of each track.
    fn rows_of_tracks(&self, parts: &[Part]) -> Vec<Option<usize>> {
        let x = self.session.experiment();
        let mut of_location: BTreeMap<LocationIdx, usize> = BTreeMap::new();
        for (row, part) in parts.iter().enumerate() {
            of_location.extend(part.locations.iter().map(|&location| (location, row)));
        }
        let tracks = x.traces.as_deref().map(TraceStore::tracks).unwrap_or_default();
        tracks.iter().map(|track| of_location.get(&track.location).copied()).collect()
    }

    fn component_rows(
        &self,
        parts: &[Part],
        window: TimeWindow,
        origin: u64,
        control: &Control,
    ) -> Result<Vec<WorkflowComponentRow>, ServiceError> {
        let x = self.session.experiment();
        let recorded = Recorded::of(x);
        let activities = Activities::new(&x.contexts);
        let mut out = Vec::new();
        for part in parts {
            let rank = |&location: &LocationIdx| x.locations.identity(location, IdentityKind::Rank);
            let ranks: BTreeSet<u64> = part.locations.iter().filter_map(rank).collect();
            let mut components = x.metadata.components.iter();
            let component = components.find(|one| Some(one.application) == part.application);
            let span = match (component, &x.traces) {
                (Some(component), _) => component.span,
                (None, Some(traces)) => Some((traces.span().start_nanos, traces.span().end_nanos)),
                (None, None) => None,
            };
            let hosts = recorded.hosts(part.application);
            let more = hosts.len().saturating_sub(SHOWN_HOSTS);
            let shown = hosts.iter().take(SHOWN_HOSTS).cloned().collect::<Vec<_>>().join(", ");
            let needed = component.map(|one| one.depends_on.as_slice()).unwrap_or_default();
            out.push(WorkflowComponentRow {
                component: part.name.clone(),
                application: part.application,
                ranks: ranks.len() as u64,
                locations: part.locations.len() as u64,
                start_ns: span.map(|span| since(span.0, origin)),
                end_ns: span.map(|span| since(span.1, origin)),
                busy_percent: self.busy_percent(part, &activities, window, control)?,
                hosts: (!hosts.is_empty())
                    .then(|| if more == 0 { shown } else { format!("{shown} and {more} more") }),
                command: recorded.command(part.application),
                depends_on: needed.join(", "),
            });
        }
        Ok(out)
    }

    /// Share of the time of a part's locations in which they compute: in their traces, or by the
    /// time of their profiles.
    fn busy_percent(
        &self,
        part: &Part,
        activities: &Activities,
        window: TimeWindow,
        control: &Control,
    ) -> Result<Option<f64>, ServiceError> {
        let tree = self.session.tree();
        let chosen = LocationChoice::Some(part.locations.clone());
        let times: Vec<f64> = if self.session.experiment().traces.is_some() {
            let sums = self.session.context_sums(&chosen, window, control)?;
            sums.nanos.iter().map(|&nanos| nanos as f64).collect()
        } else {
            let Ok(default) = self.session.default_metric(control) else { return Ok(None) };
            if !self.session.experiment().metrics.get(default.metric).unit.is_time() {
                return Ok(None);
            }
            let column =
                self.session.column(default.metric, &Scope::Exclusive, &chosen, control)?;
            column.to_vec()
        };
        let all: f64 = times.iter().sum();
        let computing = tree
            .iter()
            .filter(|&context| activities.of(context) == Activity::Computing)
            .filter_map(|context| times.get(context.idx()));
        let busy: f64 = computing.sum();
        Ok((all > 0.0).then(|| (busy / all * 100.0).clamp(0.0, 100.0)))
    }

    /// Files of profiles: TAU counts what each thread writes to a file and reads from it.
    fn files_of_profiles(
        &self,
        parts: &[Part],
        found: &mut ExchangeList,
        notes: &mut Vec<String>,
        control: &Control,
    ) -> Result<(), ServiceError> {
        let mut files: BTreeMap<&str, [FileUses; 2]> = BTreeMap::new();
        for event in self.session.experiment().metrics.user_events() {
            let Some((file, is_write)) = file_of_counter(&event.name) else { continue };
            let uses = files.entry(file).or_default();
            for (row, part) in parts.iter().enumerate() {
                let used = self.file_use(event, part, control)?;
                if used.count > 0 {
                    uses[usize::from(!is_write)].insert(row, used);
                }
            }
        }
        let mut several = 0;
        for (file, [writers, readers]) in &files {
            for (&to, read) in readers {
                let others: Vec<_> = writers.iter().filter(|(row, _)| **row != to).collect();
                // Of whom the data is that a component reads of a file of its own is not known.
                let is_known = others.len() == 1 && !writers.contains_key(&to);
                several += usize::from(!others.is_empty() && !is_known);
                for (&from, written) in others {
                    let through = Through::of_file(&Arc::from(*file));
                    let sums = is_known.then_some((read.count, read.bytes));
                    found.profiled(
                        parts,
                        (from, to),
                        &through,
                        sums,
                        (written.locations, read.locations),
                    );
                }
            }
        }
        if several > 0 {
            notes.push(format!(
                "{several} read files are written by several components; how much is of which is \
                 not known."
            ));
        }
        Ok(())
    }

    fn file_use(
        &self,
        event: &UserEvent,
        part: &Part,
        control: &Control,
    ) -> Result<FileUse, ServiceError> {
        let values = user_event_by_location(&self.session, event, None, &part.locations, control)?;
        let mut out = FileUse::default();
        for values in values.iter().filter(|values| !values.is_empty()) {
            out.count += saturated_u64(values.count.round());
            out.bytes += u128::from(saturated_u64(values.sum.round()));
            out.locations += 1;
        }
        Ok(out)
    }

    /// What a description of the workflow says about data that nobody recorded.
    fn described(
        &self,
        parts: &[Part],
        found: &mut ExchangeList,
        control: &Control,
    ) -> Result<(), ServiceError> {
        let x = self.session.experiment();
        let row = |name: &str| {
            let mut all = x.metadata.components.iter();
            let number = all.find(|one| &*one.name == name)?.application;
            parts.iter().position(|part| part.application == Some(number))
        };
        for writer in &x.metadata.components {
            let Some(from) = row(&writer.name) else { continue };
            let adios: Vec<_> =
                writer.outputs.iter().filter(|name| adios_stream(name).is_some()).collect();
            for reader in &x.metadata.components {
                let Some(to) = row(&reader.name).filter(|&to| to != from) else { continue };
                for name in writer.outputs.iter().filter(|name| reader.inputs.contains(name)) {
                    let through = Through::of_file(name);
                    if found.has(from, to, Some(&through)) {
                        continue;
                    }
                    // All that the writer writes by ADIOS is in its only stream.
                    let is_only = matches!(through, Through::Adios(_)) && adios.len() == 1;
                    let bytes = match parts.get(from).filter(|_| is_only) {
                        Some(part) => self.adios_bytes(part, control)?,
                        None => None,
                    };
                    found.named(parts, (from, to), &through, bytes);
                }
                let needs = reader.depends_on.contains(&writer.name);
                if needs && !found.has(from, to, None) {
                    found.dependency(parts, (from, to));
                }
            }
        }
        Ok(())
    }

    /// What a component wrote by ADIOS; `None` where TAU did not count it.
    fn adios_bytes(&self, part: &Part, control: &Control) -> Result<Option<u64>, ServiceError> {
        let mut events = self.session.experiment().metrics.user_events().iter();
        let Some(event) = events.find(|event| &*event.name == ADIOS_DATA) else { return Ok(None) };
        let used = self.file_use(event, part, control)?;
        Ok((used.count > 0).then(|| in_64_bits(used.bytes)))
    }
}

/// Uses of a file by component.
type FileUses = BTreeMap<usize, FileUse>;

/// How the locations of a component use a file.
#[derive(Debug, Clone, Copy, Default)]
struct FileUse {
    count: u64,
    bytes: u128,
    locations: u64,
}

/// Number and bytes by the part of the window.
type OverTime = BTreeMap<u32, (u64, u128)>;

/// Exchanges as they are found, with what comes when.
#[derive(Default)]
struct ExchangeList {
    rows: Vec<(ExchangeKey, ExchangeRow, OverTime)>,
    /// Of messages, how many have one side only.
    outside: u64,
}

impl ExchangeList {
    /// Whether there is an exchange of two parts: by a file or stream, or by anything.
    fn has(&self, from: usize, to: usize, through: Option<&Through>) -> bool {
        self.rows.iter().any(|(key, ..)| {
            (key.from(), key.to()) == (Some(from), Some(to))
                && through.is_none_or(|through| key.through == *through)
        })
    }

    fn recorded(&mut self, parts: &[Part], key: &ExchangeKey, exchange: &Exchange, origin: u64) {
        if key.from().is_none() || key.to().is_none() {
            self.outside += exchange.count;
        }
        let row = ExchangeRow {
            count: Some(exchange.count),
            bytes: Some(in_64_bits(exchange.bytes)),
            senders: Some(exchange.senders.len() as u64),
            receivers: Some(exchange.receivers.len() as u64),
            first_ns: exchange.first_nanos.map(|nanos| since(nanos, origin)),
            last_ns: exchange.last_nanos.map(|nanos| since(nanos, origin)),
            ..row(parts, key, ExchangeEvidence::Recorded)
        };
        self.rows.push((key.clone(), row, exchange.over_time.clone()));
    }

    fn profiled(
        &mut self,
        parts: &[Part],
        (from, to): (usize, usize),
        through: &Through,
        sums: Option<(u64, u128)>,
        (senders, receivers): (u64, u64),
    ) {
        let key = ExchangeKey::new(Some(from), Some(to), through.clone());
        // The files of one stream of ADIOS are one.
        if let Some((_, known, _)) = self.rows.iter_mut().find(|(known, ..)| *known == key) {
            let add = |known: Option<u64>, more: Option<u64>| Some(known?.saturating_add(more?));
            known.count = add(known.count, sums.map(|sums| sums.0));
            known.bytes = add(known.bytes, sums.map(|sums| in_64_bits(sums.1)));
            known.senders = known.senders.max(Some(senders));
            known.receivers = known.receivers.max(Some(receivers));
            return;
        }
        let row = ExchangeRow {
            count: sums.map(|sums| sums.0),
            bytes: sums.map(|sums| in_64_bits(sums.1)),
            senders: Some(senders),
            receivers: Some(receivers),
            ..row(parts, &key, ExchangeEvidence::Recorded)
        };
        self.rows.push((key, row, BTreeMap::new()));
    }

    fn named(
        &mut self,
        parts: &[Part],
        (from, to): (usize, usize),
        through: &Through,
        bytes: Option<u64>,
    ) {
        let key = ExchangeKey::new(Some(from), Some(to), through.clone());
        let row = ExchangeRow { bytes, ..row(parts, &key, ExchangeEvidence::Described) };
        self.rows.push((key, row, BTreeMap::new()));
    }

    fn dependency(&mut self, parts: &[Part], (from, to): (usize, usize)) {
        let key = ExchangeKey::new(Some(from), Some(to), Through::Messages);
        let by = ExchangeBy::Dependency.value().name;
        let row = ExchangeRow { by, ..row(parts, &key, ExchangeEvidence::Described) };
        self.rows.push((key, row, BTreeMap::new()));
    }

    fn tables(mut self) -> (ExchangeTable, ExchangeBinTable) {
        self.rows.sort_by(|(a, a_row, _), (b, b_row, _)| {
            let pair = |key: &ExchangeKey| {
                let side = |row: Option<usize>| (row.is_none(), row);
                (side(key.from()), side(key.to()))
            };
            let most = b_row.bytes.unwrap_or(0).cmp(&a_row.bytes.unwrap_or(0));
            pair(a).cmp(&pair(b)).then(most).then_with(|| a.through.cmp(&b.through))
        });
        let mut bins = Vec::new();
        for (exchange, (.., over_time)) in (0_u32..).zip(&self.rows) {
            bins.extend(over_time.iter().map(|(&bin, &(count, bytes))| ExchangeBinRow {
                exchange,
                bin,
                count,
                bytes: in_64_bits(bytes),
            }));
        }
        (self.rows.into_iter().map(|(_, row, _)| row).collect(), bins.into_iter().collect())
    }
}

/// What an exchange is, without its numbers.
fn row(parts: &[Part], key: &ExchangeKey, evidence: ExchangeEvidence) -> ExchangeRow {
    let name = |row: Option<usize>| {
        row.and_then(|row| parts.get(row))
            .map_or_else(|| ABSENT.to_owned(), |part| part.name.clone())
    };
    let number = |row: Option<usize>| row.and_then(|row| u32::try_from(row).ok());
    let (by, file) = match &key.through {
        Through::Messages => (ExchangeBy::Message, None),
        Through::File(name) => (ExchangeBy::File, Some(name.to_string())),
        Through::Adios(name) => (ExchangeBy::Adios, Some(name.to_string())),
    };
    ExchangeRow {
        from: name(key.from()),
        to: name(key.to()),
        from_row: number(key.from()),
        to_row: number(key.to()),
        by: by.value().name,
        name: file,
        count: None,
        bytes: None,
        senders: None,
        receivers: None,
        first_ns: None,
        last_ns: None,
        evidence: evidence.value().name,
    }
}

fn remarks(parts: &[Part], found: &ExchangeList, has_trace: bool) -> Vec<String> {
    let mut out = Vec::new();
    if parts.len() == 1 {
        out.push(
            "There is one component; traces of several that are converted together become one \
             archive with all of them."
                .to_owned(),
        );
    }
    if found.rows.is_empty() {
        out.push(if has_trace {
            "No messages and no file transfers in this window.".to_owned()
        } else {
            "Profiles have no messages, and no file is known that one component writes and another \
             one reads."
                .to_owned()
        });
    }
    if found.outside > 0 {
        let s = if found.outside == 1 { "message has" } else { "messages have" };
        out.push(format!("{} {s} one side that is not in the trace.", found.outside));
    }
    out
}

fn in_64_bits(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
