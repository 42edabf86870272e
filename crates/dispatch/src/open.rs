//! Opening roots, and making ensembles of what is open.

use std::sync::{Arc, PoisonError};

use parallax_base::{Control, Folder, MemorySink, Remedy};
use parallax_protocol::{
    CombineRequest, EnsembleChoice, ErrorReply, ExcludedReply, ItemReply, OpenReply, OpenRequest,
};
use parallax_service::scaling::{
    Ensemble, EnsembleOptions, ScalingContent, ScalingSource, assemble_measurements,
    measure_one_program, open_ensemble, open_ensembles,
};
use parallax_service::{
    ConvertOptions, DataContent, TraceInput, convert, discover, open, open_file_in,
};

use crate::Dispatcher;
use crate::errors::{conversion_error, read_error, service_error};
use crate::items::{Content, Item};

/// Longest trace that is converted in memory, where nothing can be kept on a disk.
const MAX_CONVERTED_BYTES: u64 = 1 << 30;

impl Dispatcher {
    pub(crate) fn open(
        &self,
        ask: &OpenRequest,
        control: &Control,
    ) -> Result<OpenReply, ErrorReply> {
        let (name, folder) = self.root(&ask.root)?;
        // All that is opened is of one state.
        let folder = folder.frozen().unwrap_or(folder);
        let found = discover(&folder).map_err(|error| read_error(&error, &name))?;
        if found.data.is_empty() {
            return Err(ErrorReply::new("open", found.nothing(&name).to_string()));
        }
        let mut reply = OpenReply::default();
        reply.notes.extend(found.notes());
        reply.excluded.extend(found.not_used.iter().map(|file| ExcludedReply {
            path: file.path.clone(),
            reason: file.reason.to_string(),
        }));
        let (mut databases, mut measurements) = (Vec::new(), Vec::new());
        for data in &found.data {
            match (&data.content, ScalingSource::of(data)) {
                (DataContent::Trace(trace), _) => {
                    match self.archive(&ask.root, &data.name, trace, control) {
                        Ok(archive) => databases.push(archive),
                        Err(error) if error.kind == "cancelled" => return Err(error),
                        Err(error) => reply.errors.push(error),
                    }
                }
                (_, Some(source)) if data.is_experiment() => databases.push(source),
                (_, Some(source)) => measurements.push(source),
                (_, None) => {}
            }
        }
        self.open_databases(&folder, &databases, &ask.ensemble, control, &mut reply)?;
        self.open_files(&measurements, ask, control, &mut reply)?;
        match (reply.items.is_empty(), reply.errors.first()) {
            (true, Some(first)) => Err(first.clone()),
            _ => Ok(reply),
        }
    }

    pub(crate) fn combine(
        &self,
        ask: &CombineRequest,
        control: &Control,
    ) -> Result<OpenReply, ErrorReply> {
        let mut sources = Vec::new();
        let mut size = 0;
        for key in &ask.items {
            let item = self.item(key)?;
            sources.extend(item.sources.iter().cloned());
            size += item.size_bytes;
        }
        let mut reply = OpenReply::default();
        let made = ensemble(&sources, &ask.ensemble, control, &mut reply)?;
        self.keep_ensemble(made, &sources, ask.items.clone(), size, &mut reply);
        Ok(reply)
    }

    /// A trace as an archive: by whoever converts for this dispatcher, else in memory.
    fn archive(
        &self,
        root: &str,
        path: &str,
        trace: &TraceInput,
        control: &Control,
    ) -> Result<ScalingSource, ErrorReply> {
        let Some(archives) = &self.archives else { return self.convert(path, trace, control) };
        let folder = archives.archive(root, trace.path(), control)?;
        Ok(ScalingSource { name: path.to_owned(), content: ScalingContent::Folder(folder) })
    }

    /// Converts a trace into an archive in memory.
    fn convert(
        &self,
        path: &str,
        trace: &TraceInput,
        control: &Control,
    ) -> Result<ScalingSource, ErrorReply> {
        let size = trace.size_bytes().map_err(|error| read_error(&error, path))?;
        if size > MAX_CONVERTED_BYTES {
            let what = format!("{path} is a trace of {size} bytes, too long to convert in memory");
            let hint = format!("{} and open that", Remedy::Convert);
            return Err(ErrorReply::new("open", what).with_hint(hint));
        }
        let options = ConvertOptions { limits: self.limits, ..ConvertOptions::default() };
        let sink = MemorySink::new();
        let title = path.rsplit('/').next().unwrap_or(path);
        convert(trace, title, Arc::new(sink.clone()), &options, control)
            .map_err(|error| conversion_error(&error))?;
        let folder: Arc<dyn Folder> = Arc::new(sink.into_folder(path));
        Ok(ScalingSource { name: path.to_owned(), content: ScalingContent::Folder(folder) })
    }

    /// Every database becomes an experiment, and several of them an ensemble too.
    fn open_databases(
        &self,
        root: &Arc<dyn Folder>,
        sources: &[ScalingSource],
        ask: &EnsembleChoice,
        control: &Control,
        reply: &mut OpenReply,
    ) -> Result<(), ErrorReply> {
        // Calls that a detector chose say nothing about a run.
        let mut chosen = Vec::new();
        let mut experiments = Vec::new();
        let mut opened_sources = Vec::new();
        for source in sources {
            let opened = match &source.content {
                ScalingContent::Folder(folder) => open(folder, &self.limits),
                ScalingContent::File(file) => open_file_in(root, file, &source.name, &self.limits),
            };
            match opened {
                Ok(opened) => {
                    let bytes = source_length(source);
                    let is_chosen = opened.chosen_calls().is_some();
                    let (key, item) = self.keep(Item {
                        name: source.name.clone(),
                        size_bytes: bytes,
                        sources: vec![source.clone()],
                        members: Vec::new(),
                        content: Content::Experiment(Arc::new(opened)),
                    });
                    if is_chosen {
                        chosen.push(item_reply(&key, &item));
                        continue;
                    }
                    experiments.push(item_reply(&key, &item));
                    opened_sources.push(source.clone());
                }
                Err(error) => reply.errors.push(service_error(&error)),
            }
        }
        if opened_sources.len() > 1 {
            match open_ensembles(&opened_sources, &options(ask)?, control) {
                Ok(made) => {
                    for (ensemble, members) in made.ensembles {
                        let own = |&at: &usize| {
                            Some((opened_sources.get(at)?.clone(), experiments.get(at)?))
                        };
                        let (sources, items): (Vec<ScalingSource>, Vec<&ItemReply>) =
                            members.iter().filter_map(own).unzip();
                        let keys = items.iter().map(|item| item.item.clone()).collect();
                        let size = items.iter().map(|item| item.size_bytes).sum();
                        reply.notes.extend(ensemble.notes);
                        self.keep_ensemble(ensemble.value, &sources, keys, size, reply);
                    }
                    // Experiments that have nothing in common are no ensemble with gaps.
                    let has_ensemble = !reply.items.is_empty();
                    for (at, reason) in made.left_out.into_iter().filter(|_| has_ensemble) {
                        if let Some(source) = opened_sources.get(at) {
                            let reason = format!("is not in the ensemble: {reason}");
                            reply
                                .excluded
                                .push(ExcludedReply { path: source.name.clone(), reason });
                        }
                    }
                }
                Err(error) if error.is_cancelled() => return Err(service_error(&error.into())),
                // The runs are there all the same; why they do not belong together is said.
                Err(error) => reply.errors.push(service_error(&error.into())),
            }
        }
        reply.items.append(&mut experiments);
        reply.items.append(&mut chosen);
        Ok(())
    }

    /// Files that hold several configurations each are ensembles of their own; files of a single
    /// configuration each are the runs of one.
    fn open_files(
        &self,
        sources: &[ScalingSource],
        OpenRequest { root, ensemble: ask }: &OpenRequest,
        control: &Control,
        reply: &mut OpenReply,
    ) -> Result<(), ErrorReply> {
        let mut opened: Vec<(&ScalingSource, Ensemble)> = Vec::new();
        let usual = options(ask)?;
        for source in sources {
            let read = match self.take_parts(root, source, &usual) {
                Some((file, parts)) => assemble_measurements(&file, &source.name, &parts, &usual)
                    .map(|made| made.value)
                    .map_err(|error| service_error(&error.into())),
                None => ensemble(std::slice::from_ref(source), ask, control, reply),
            };
            match read {
                Ok(made) => opened.push((source, made)),
                Err(error) if error.kind == "cancelled" => return Err(error),
                Err(error) => reply.errors.push(error),
            }
        }
        for group in runs_of_one_program(opened) {
            let are_single = group.iter().all(|(_, made)| made.coordinates().len() == 1);
            if !are_single || group.len() == 1 {
                for (source, made) in group {
                    let size = source_length(source);
                    self.keep_ensemble(made, std::slice::from_ref(source), Vec::new(), size, reply);
                }
                continue;
            }
            let sources: Vec<ScalingSource> =
                group.into_iter().map(|(source, _)| source.clone()).collect();
            let made = ensemble(&sources, ask, control, reply)?;
            let size = sources.iter().map(source_length).sum();
            self.keep_ensemble(made, &sources, Vec::new(), size, reply);
        }
        Ok(())
    }

    fn keep(&self, item: Item) -> (String, Arc<Item>) {
        self.items.write().unwrap_or_else(PoisonError::into_inner).add(item)
    }

    fn keep_ensemble(
        &self,
        ensemble: Ensemble,
        sources: &[ScalingSource],
        members: Vec<String>,
        size_bytes: u64,
        reply: &mut OpenReply,
    ) {
        let (key, item) = self.keep(Item {
            name: ensemble.metadata.origin.clone(),
            size_bytes,
            sources: sources.to_vec(),
            members,
            content: Content::Ensemble(Arc::new(ensemble)),
        });
        reply.items.push(item_reply(&key, &item));
    }
}

/// Files of measurements by program, in the order of the first file of each.
fn runs_of_one_program(
    opened: Vec<(&ScalingSource, Ensemble)>,
) -> Vec<Vec<(&ScalingSource, Ensemble)>> {
    let mut groups: Vec<Vec<(&ScalingSource, Ensemble)>> = Vec::new();
    for (source, made) in opened {
        let is_of = |group: &&mut Vec<(&ScalingSource, Ensemble)>| {
            group.first().is_some_and(|(_, first)| measure_one_program(first, &made))
        };
        match groups.iter_mut().find(is_of) {
            Some(group) => group.push((source, made)),
            None => groups.push(vec![(source, made)]),
        }
    }
    groups
}

fn ensemble(
    sources: &[ScalingSource],
    ask: &EnsembleChoice,
    control: &Control,
    reply: &mut OpenReply,
) -> Result<Ensemble, ErrorReply> {
    let made = open_ensemble(sources, &options(ask)?, control)
        .map_err(|error| service_error(&error.into()))?;
    reply.notes.extend(made.notes);
    Ok(made.value)
}

fn options(choice: &EnsembleChoice) -> Result<EnsembleOptions, ErrorReply> {
    EnsembleOptions::of(choice).map_err(|error| service_error(&error.into()))
}

fn item_reply(key: &str, item: &Item) -> ItemReply {
    let metadata = match &item.content {
        Content::Experiment(opened) => &opened.session().experiment().metadata,
        Content::Ensemble(ensemble) => &ensemble.metadata,
    };
    let experiment = match &item.content {
        Content::Experiment(opened) => Some(opened),
        Content::Ensemble(_) => None,
    };
    let holds = experiment.map(|opened| opened.holds()).unwrap_or_default();
    ItemReply {
        item: key.to_owned(),
        kind: item.kind(),
        title: metadata.title.clone(),
        name: item.name.clone(),
        format: metadata.format.clone(),
        size_bytes: item.size_bytes,
        issues: item.issues().len() as u64,
        members: item.members.clone(),
        has_trace: holds.has_trace,
        has_calls: holds.has_calls,
        has_waits: holds.has_waits,
        has_chosen_calls: holds.has_chosen_calls,
        components: holds.components,
        has_activations: holds.has_activations,
        has_user_events: holds.has_user_events,
        has_gpu_stalls: holds.has_gpu_stalls,
        has_links: holds.has_links,
        has_counters: holds.has_counters,
        has_gpus: holds.has_gpus,
        locations: holds.locations,
        nodes: holds.nodes,
    }
}

fn length(folder: &Arc<dyn Folder>) -> u64 {
    folder.entries().unwrap_or_default().iter().map(|entry| entry.len).sum()
}

fn source_length(source: &ScalingSource) -> u64 {
    match &source.content {
        ScalingContent::File(file) => file.len(),
        ScalingContent::Folder(folder) => length(folder),
    }
}
