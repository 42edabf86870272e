//! Writes events as `otf2-print` does, so that the two can be compared word for word.

use std::fmt::Write as _;

use parallax_base::Issues;
use parallax_formats::otf2::{
    Archive, Attribute, CallingContextId, CommId, Definitions, Event, IoFileId, IoFileKind,
    IoHandleId, IoParadigmId, LocationId, MetricId, MetricValue, Paradigm, ParameterId, Ranks,
    Record, RegionId, RmaWinId, SourceCodeLocationId, StringId, Value,
};

/// The events of `location`: kind, time and fields, as the lines of `otf2-print`.
pub(crate) fn events(archive: &Archive, location: LocationId, issues: &mut Issues) -> Vec<String> {
    let names = Names::new(archive.definitions());
    let mut lines = Vec::new();
    let Some(file) = archive.events(location, issues).unwrap() else { return lines };
    let mut reader = file.reader().unwrap();
    while let Some(record) = reader.next(issues).unwrap() {
        let (kind, fields) = names.event(&record, location);
        lines.push(format!("{kind} {} {fields}", record.ticks).trim_end().to_owned());
        if !record.attributes.is_empty() {
            let list = record.attributes.iter().map(|attribute| names.attribute(*attribute));
            let list: Vec<String> = list.collect();
            lines.push(format!("ADDITIONAL ATTRIBUTES: {}", list.join(", ")));
        }
    }
    lines
}

/// Finds the names of what ids name.
pub(crate) struct Names<'d> {
    pub(crate) d: &'d Definitions,
    ranks: Ranks<'d>,
}

impl<'d> Names<'d> {
    pub(crate) fn new(d: &'d Definitions) -> Self {
        Self { d, ranks: Ranks::new(d) }
    }

    pub(crate) fn string(&self, id: StringId) -> String {
        named(self.d.strings.get(id).map(|text| &**text), id.0.into())
    }

    pub(crate) fn region(&self, id: RegionId) -> String {
        named(self.d.regions.get(id).map(|region| self.d.string(region.name)), id.0.into())
    }

    pub(crate) fn comm(&self, id: CommId) -> String {
        let name = self.d.comms.get(id).map(|comm| comm.name);
        let name = name.or_else(|| self.d.inter_comms.get(id).map(|comm| comm.name));
        named(name.map(|name| self.d.string(name)), id.0.into())
    }

    pub(crate) fn location(&self, id: LocationId) -> String {
        named(self.d.locations.get(id).map(|location| self.d.string(location.name)), id.0)
    }

    pub(crate) fn parameter(&self, id: ParameterId) -> String {
        named(self.d.parameters.get(id).map(|p| self.d.string(p.name)), id.0.into())
    }

    fn win(&self, id: RmaWinId) -> String {
        named(self.d.rma_wins.get(id).map(|win| self.d.string(win.name)), id.0.into())
    }

    pub(crate) fn handle(&self, id: IoHandleId) -> String {
        named(self.d.io_handles.get(id).map(|handle| self.d.string(handle.name)), id.0.into())
    }

    pub(crate) fn io_paradigm(&self, id: IoParadigmId) -> String {
        named(self.d.io_paradigms.get(id).map(|p| self.d.string(p.name)), id.0.into())
    }

    pub(crate) fn paradigm(&self, paradigm: Paradigm) -> String {
        match self.d.paradigm_name(paradigm) {
            Some(name) => format!("\"{name}\" <{}>", paradigm.0),
            None => paradigm.to_string(),
        }
    }

    pub(crate) fn file(&self, id: IoFileId) -> String {
        let name = self.d.io_files.get(id).map(|file| {
            let scheme = match file.kind {
                IoFileKind::Regular => "file",
                IoFileKind::Directory => "directory",
            };
            format!("{scheme}://{}", self.d.string(file.fields.name))
        });
        named(name.as_deref(), id.0.into())
    }

    fn place(&self, id: SourceCodeLocationId) -> Option<String> {
        let place = self.d.source_code_locations.get(id)?;
        Some(format!("{}:{}", self.d.string(place.file), place.line))
    }

    pub(crate) fn source_code_location(&self, id: SourceCodeLocationId) -> String {
        named(self.place(id).as_deref(), id.0.into())
    }

    pub(crate) fn context(&self, id: CallingContextId) -> String {
        let name = self.d.calling_contexts.get(id).map(|context| {
            let region = self.d.regions.get(context.region).unwrap();
            let region = self.d.string(region.name);
            match self.place(context.source_code_location) {
                Some(place) => format!("{region}@{place}"),
                None => region.to_owned(),
            }
        });
        named(name.as_deref(), id.0.into())
    }

    pub(crate) fn rank(&self, comm: CommId, rank: u32, own: LocationId) -> String {
        if rank == u32::MAX {
            return "NONE".into();
        }
        match self.ranks.location(comm, rank, own) {
            Some(location) => format!("{rank} ({})", self.location(location)),
            None => format!("{rank} (INVALID)"),
        }
    }

    fn remote(&self, win: RmaWinId, rank: u32, own: LocationId) -> String {
        let comm = self.d.rma_wins.get(win).map_or(CommId::UNDEFINED, |win| win.comm);
        self.rank(comm, rank, own)
    }

    fn metric(&self, metric: MetricId, values: &[MetricValue]) -> String {
        let plural = if values.len() == 1 { "" } else { "s" };
        let mut text = format!("Metric: {}, {} Value{plural}: ", metric.0, values.len());
        let class = self.d.metric_class(metric).unwrap();
        for (i, (member, value)) in class.members.iter().zip(values).enumerate() {
            let name = self.d.metric_members.get(*member).unwrap().name;
            let (kind, value) = match value {
                MetricValue::Unsigned(n) => ("UINT64", n.to_string()),
                MetricValue::Signed(n) => ("INT64", n.to_string()),
                MetricValue::Real(n) => ("DOUBLE", n.to_string()),
            };
            let before = if i == 0 { "" } else { ", " };
            let name = named(Some(self.d.string(name)), member.0.into());
            write!(text, "{before}({name}; {kind}; {value})").unwrap();
        }
        text
    }

    fn attribute(&self, attribute: Attribute) -> String {
        let id = attribute.attribute;
        let name = self.d.attributes.get(id).map(|record| self.d.string(record.name));
        let (kind, value) = self.value(attribute.value);
        format!("({}; {kind}; {value})", named(name, id.0.into()))
    }

    /// The type and the text of a value.
    pub(crate) fn value(&self, value: Value) -> (&'static str, String) {
        let d = self.d;
        match value {
            Value::U8(n) => ("UINT8", n.to_string()),
            Value::U16(n) => ("UINT16", n.to_string()),
            Value::U32(n) => ("UINT32", n.to_string()),
            Value::U64(n) => ("UINT64", n.to_string()),
            Value::I8(n) => ("INT8", n.to_string()),
            Value::I16(n) => ("INT16", n.to_string()),
            Value::I32(n) => ("INT32", n.to_string()),
            Value::I64(n) => ("INT64", n.to_string()),
            Value::F32(n) => ("FLOAT", n.to_string()),
            Value::F64(n) => ("DOUBLE", n.to_string()),
            Value::String(id) => ("STRING", self.string(id)),
            Value::Attribute(id) => {
                let name = d.attributes.get(id).map(|record| d.string(record.name));
                ("ATTRIBUTE", named(name, id.0.into()))
            }
            Value::Location(id) => ("LOCATION", self.location(id)),
            Value::Region(id) => ("REGION", self.region(id)),
            Value::Group(id) => ("GROUP", self.group(id)),
            Value::Metric(id) => ("METRIC", id.0.to_string()),
            Value::Comm(id) => ("COMM", self.comm(id)),
            Value::Parameter(id) => ("PARAMETER", self.parameter(id)),
            Value::RmaWin(id) => ("RMA_WIN", self.win(id)),
            Value::SourceCodeLocation(id) => {
                ("SOURCE_CODE_LOCATION", self.source_code_location(id))
            }
            Value::CallingContext(id) => ("CALLING_CONTEXT", self.context(id)),
            Value::InterruptGenerator(id) => ("INTERRUPT_GENERATOR", self.generator(id)),
            Value::IoFile(id) => ("IO_FILE", self.file(id)),
            Value::IoHandle(id) => ("IO_HANDLE", self.handle(id)),
            Value::LocationGroup(id) => ("LOCATION_GROUP", self.location_group(id)),
            Value::Other { .. } => panic!("{value:?}"),
        }
    }

    /// The name of the event and its fields.
    fn event(&self, record: &Record<'_>, own: LocationId) -> (&'static str, String) {
        use Event as E;
        let rank = |comm, rank| self.rank(comm, rank, own);
        match record.event {
            E::BufferFlush { stop_ticks } => ("BUFFER_FLUSH", format!("Stop Time: {stop_ticks}")),
            E::MeasurementOnOff { mode } => ("MEASUREMENT_ON_OFF", format!("Mode: {mode}")),
            E::Enter { region } => ("ENTER", format!("Region: {}", self.region(region))),
            E::Leave { region } => ("LEAVE", format!("Region: {}", self.region(region))),
            E::MpiSend { receiver, comm, tag, length_bytes } => (
                "MPI_SEND",
                self.message("Receiver", &rank(comm, receiver), comm, tag, length_bytes),
            ),
            E::MpiIsend { receiver, comm, tag, length_bytes, request } => {
                let message =
                    self.message("Receiver", &rank(comm, receiver), comm, tag, length_bytes);
                ("MPI_ISEND", format!("{message}, Request: {request}"))
            }
            E::MpiIsendComplete { request } => {
                ("MPI_ISEND_COMPLETE", format!("Request: {request}"))
            }
            E::MpiIrecvRequest { request } => ("MPI_IRECV_REQUEST", format!("Request: {request}")),
            E::MpiRecv { sender, comm, tag, length_bytes } => {
                ("MPI_RECV", self.message("Sender", &rank(comm, sender), comm, tag, length_bytes))
            }
            E::MpiIrecv { sender, comm, tag, length_bytes, request } => {
                let message = self.message("Sender", &rank(comm, sender), comm, tag, length_bytes);
                ("MPI_IRECV", format!("{message}, Request: {request}"))
            }
            E::MpiRequestTest { request } => ("MPI_REQUEST_TEST", format!("Request: {request}")),
            E::MpiRequestCancelled { request } => {
                ("MPI_REQUEST_CANCELLED", format!("Request: {request}"))
            }
            E::MpiCollectiveBegin {} => ("MPI_COLLECTIVE_BEGIN", String::new()),
            E::MpiCollectiveEnd { op, comm, root, sent_bytes, received_bytes } => {
                let (name, root) = (self.comm(comm), rank(comm, root));
                let sizes = format!("Sent: {sent_bytes}, Received: {received_bytes}");
                let fields =
                    format!("Operation: {op}, Communicator: {name}, Root: {root}, {sizes}");
                ("MPI_COLLECTIVE_END", fields)
            }
            E::OmpFork { requested_threads } => {
                ("OMP_FORK", format!("# Requested Threads: {requested_threads}"))
            }
            E::OmpJoin {} => ("OMP_JOIN", String::new()),
            E::OmpAcquireLock { lock, order } => {
                ("OMP_ACQUIRE_LOCK", format!("Lock: {lock}, Acquisition Order: {order}"))
            }
            E::OmpReleaseLock { lock, order } => {
                ("OMP_RELEASE_LOCK", format!("Lock: {lock}, Acquisition Order: {order}"))
            }
            E::OmpTaskCreate { task } => ("OMP_TASK_CREATE", format!("Task: {task}")),
            E::OmpTaskSwitch { task } => ("OMP_TASK_SWITCH", format!("Task: {task}")),
            E::OmpTaskComplete { task } => ("OMP_TASK_COMPLETE", format!("Task: {task}")),
            E::Metric { metric } => ("METRIC", self.metric(metric, record.values)),
            E::ParameterString { parameter, value } => {
                let (parameter, value) = (self.parameter(parameter), self.string(value));
                ("PARAMETER_STRING", format!("Parameter: {parameter}, Value: {value}"))
            }
            E::ParameterInt { parameter, value } => {
                let parameter = self.parameter(parameter);
                ("PARAMETER_INT64", format!("Parameter: {parameter}, Value: {value}"))
            }
            E::ParameterUnsignedInt { parameter, value } => {
                let parameter = self.parameter(parameter);
                ("PARAMETER_UINT64", format!("Parameter: {parameter}, Value: {value}"))
            }
            E::ProgramBegin { name } => {
                let list: Vec<_> = record.arguments.iter().map(|id| self.string(*id)).collect();
                let plural = if list.len() == 1 { "" } else { "s" };
                let between = if list.is_empty() { "" } else { ": " };
                let (count, name, list) = (list.len(), self.string(name), list.join(", "));
                ("PROGRAM_BEGIN", format!("Name: {name}, {count} Argument{plural}{between}{list}"))
            }
            E::ProgramEnd { exit_status: i64::MIN } => {
                ("PROGRAM_END", "Exit status: UNDEFINED".into())
            }
            E::ProgramEnd { exit_status } => ("PROGRAM_END", format!("Exit status: {exit_status}")),
            E::NonBlockingCollectiveRequest { request } => {
                ("NON_BLOCKING_COLLECTIVE_REQUEST", format!("Request: {request}"))
            }
            E::NonBlockingCollectiveComplete {
                op,
                comm,
                root,
                sent_bytes,
                received_bytes,
                request,
            } => {
                let (name, root) = (self.comm(comm), rank(comm, root));
                let sizes = format!("Sent: {sent_bytes}, Received: {received_bytes}");
                let head = format!("Operation: {op}, Communicator: {name}, Root: {root}");
                ("NON_BLOCKING_COLLECTIVE_COMPLETE", format!("{head}, {sizes}, Request: {request}"))
            }
            E::CommCreate { comm } => ("COMM_CREATE", format!("Communicator: {}", self.comm(comm))),
            E::CommDestroy { comm } => {
                ("COMM_DESTROY", format!("Communicator: {}", self.comm(comm)))
            }
            // Newer than the otf2-print that the expectation was made with.
            E::MpiProbe { .. }
            | E::MpiMrecv { .. }
            | E::MpiImrecvRequest { .. }
            | E::MpiImrecv { .. } => ("UNKNOWN", String::new()),
            event => self
                .rma(event, own)
                .or_else(|| self.threads(event, own))
                .or_else(|| self.io(event))
                .unwrap_or_else(|| panic!("{event:?}")),
        }
    }

    fn message(&self, peer: &str, rank: &str, comm: CommId, tag: u32, bytes: u64) -> String {
        let comm = self.comm(comm);
        format!("{peer}: {rank}, Communicator: {comm}, Tag: {tag}, Length: {bytes}")
    }

    fn rma(&self, event: Event, own: LocationId) -> Option<(&'static str, String)> {
        use Event as E;
        let window = |win| format!("Window: {}", self.win(win));
        let with =
            |win, remote| format!("{}, Remote: {}", window(win), self.remote(win, remote, own));
        Some(match event {
            E::RmaWinCreate { win } => ("RMA_WIN_CREATE", window(win)),
            E::RmaWinDestroy { win } => ("RMA_WIN_DESTROY", window(win)),
            E::RmaCollectiveBegin {} => ("RMA_COLLECTIVE_BEGIN", String::new()),
            E::RmaCollectiveEnd { op, sync, win, root, sent_bytes, received_bytes } => {
                let root = self.remote(win, root, own);
                let head =
                    format!("Operation: {op}, {}, Level of Synchronicity: {sync}", window(win));
                let tail = format!("Root: {root}, Sent: {sent_bytes}, Received: {received_bytes}");
                ("RMA_COLLECTIVE_END", format!("{head}, {tail}"))
            }
            E::RmaGroupSync { sync, win, group } => {
                let group = self.group(group);
                let fields =
                    format!("Level of Synchronicity: {sync}, {}, Group: {group}", window(win));
                ("RMA_GROUP_SYNC", fields)
            }
            E::RmaRequestLock { win, remote, lock, lock_type } => (
                "RMA_REQUEST_LOCK",
                format!("{}, Lock: {lock}, Type: {lock_type}", with(win, remote)),
            ),
            E::RmaAcquireLock { win, remote, lock, lock_type } => (
                "RMA_ACQUIRE_LOCK",
                format!("{}, Lock: {lock}, Type: {lock_type}", with(win, remote)),
            ),
            E::RmaTryLock { win, remote, lock, lock_type } => {
                ("RMA_TRY_LOCK", format!("{}, Lock: {lock}, Type: {lock_type}", with(win, remote)))
            }
            E::RmaReleaseLock { win, remote, lock } => {
                ("RMA_RELEASE_LOCK", format!("{}, Lock: {lock}", with(win, remote)))
            }
            E::RmaSync { win, remote, sync_type } => {
                ("RMA_SYNC", format!("{}, Sync Type: {sync_type}", with(win, remote)))
            }
            E::RmaWaitChange { win } => ("RMA_WAIT_CHANGE", window(win)),
            E::RmaPut { win, remote, bytes, matching } => {
                ("RMA_PUT", format!("{}, Bytes: {bytes}, Matching: {matching}", with(win, remote)))
            }
            E::RmaGet { win, remote, bytes, matching } => {
                ("RMA_GET", format!("{}, Bytes: {bytes}, Matching: {matching}", with(win, remote)))
            }
            E::RmaAtomic { win, remote, op, sent_bytes, received_bytes, matching } => {
                let sizes = format!("Sent: {sent_bytes}, Received: {received_bytes}");
                let fields =
                    format!("{}, Type: {op}, {sizes}, Matching: {matching}", with(win, remote));
                ("RMA_ATOMIC", fields)
            }
            E::RmaOpCompleteBlocking { win, matching } => {
                ("RMA_OP_COMPLETE_BLOCKING", format!("{}, Matching: {matching}", window(win)))
            }
            E::RmaOpCompleteNonBlocking { win, matching } => {
                ("RMA_OP_COMPLETE_NON_BLOCKING", format!("{}, Matching: {matching}", window(win)))
            }
            E::RmaOpTest { win, matching } => {
                ("RMA_OP_TEST", format!("{}, Matching: {matching}", window(win)))
            }
            E::RmaOpCompleteRemote { win, matching } => {
                ("RMA_OP_COMPLETE_REMOTE", format!("{}, Matching: {matching}", window(win)))
            }
            _ => return None,
        })
    }

    fn threads(&self, event: Event, own: LocationId) -> Option<(&'static str, String)> {
        use Event as E;
        let task = |team, creator, generation: u32| {
            let (name, creator) = (self.comm(team), self.rank(team, creator, own));
            format!(
                "Thread Team: {name}, Creating Thread: {creator}, Generation Number: {generation}"
            )
        };
        let thread = |comm, sequence: u64| {
            format!("Thread Contingent: {}, Sequence Count: {sequence}", self.comm(comm))
        };
        let lock = |model, lock: u32, order: u32| {
            let model = self.paradigm(model);
            format!("Model: {model}, Lock: {lock}, Acquisition Order: {order}")
        };
        Some(match event {
            E::ThreadFork { model, requested_threads } => {
                let model = self.paradigm(model);
                ("THREAD_FORK", format!("Model: {model}, # Requested Threads: {requested_threads}"))
            }
            E::ThreadJoin { model } => ("THREAD_JOIN", format!("Model: {}", self.paradigm(model))),
            E::ThreadTeamBegin { team } => {
                ("THREAD_TEAM_BEGIN", format!("Thread Team: {}", self.comm(team)))
            }
            E::ThreadTeamEnd { team } => {
                ("THREAD_TEAM_END", format!("Thread Team: {}", self.comm(team)))
            }
            E::ThreadAcquireLock { model, lock: id, order } => {
                ("THREAD_ACQUIRE_LOCK", lock(model, id, order))
            }
            E::ThreadReleaseLock { model, lock: id, order } => {
                ("THREAD_RELEASE_LOCK", lock(model, id, order))
            }
            E::ThreadTaskCreate { team, creator, generation } => {
                ("THREAD_TASK_CREATE", task(team, creator, generation))
            }
            E::ThreadTaskSwitch { team, creator, generation } => {
                ("THREAD_TASK_SWITCH", task(team, creator, generation))
            }
            E::ThreadTaskComplete { team, creator, generation } => {
                ("THREAD_TASK_COMPLETE", task(team, creator, generation))
            }
            E::ThreadCreate { contingent, sequence } => {
                ("THREAD_CREATE", thread(contingent, sequence))
            }
            E::ThreadBegin { contingent, sequence } => {
                ("THREAD_BEGIN", thread(contingent, sequence))
            }
            E::ThreadWait { contingent, sequence } => ("THREAD_WAIT", thread(contingent, sequence)),
            E::ThreadEnd { contingent, sequence } => ("THREAD_END", thread(contingent, sequence)),
            E::CallingContextEnter { context, unwind_distance } => {
                let context = self.context(context);
                let fields =
                    format!("Calling Context: {context}, Unwind Distance: {unwind_distance}");
                ("CALLING_CONTEXT_ENTER", fields)
            }
            E::CallingContextLeave { context } => {
                ("CALLING_CONTEXT_LEAVE", format!("Calling Context: {}", self.context(context)))
            }
            E::CallingContextSample { context, unwind_distance, generator } => {
                let (context, generator) = (self.context(context), self.generator(generator));
                let head =
                    format!("Calling Context: {context}, Unwind Distance: {unwind_distance}");
                ("CALLING_CONTEXT_SAMPLE", format!("{head}, Interrupt Generator: {generator}"))
            }
            _ => return None,
        })
    }

    fn io(&self, event: Event) -> Option<(&'static str, String)> {
        use Event as E;
        let handle = |id| format!("Handle: {}", self.handle(id));
        let matched = |id, matching: u64| format!("{}, Matching Id: {matching}", handle(id));
        Some(match event {
            E::IoCreateHandle { handle: id, mode, creation, status } => {
                let flags = format!("Creation Flags: {creation}, Status Flags: {status}");
                ("IO_CREATE_HANDLE", format!("{}, Access Mode: {mode}, {flags}", handle(id)))
            }
            E::IoDestroyHandle { handle: id } => ("IO_DESTROY_HANDLE", handle(id)),
            E::IoDuplicateHandle { old_handle, new_handle, status } => {
                let (old, new) = (self.handle(old_handle), self.handle(new_handle));
                let fields =
                    format!("Old Handle: {old}, New Handle: {new}, Status Flags: {status}");
                ("IO_DUPLICATE_HANDLE", fields)
            }
            E::IoSeek { handle: id, requested_bytes, whence, result_bytes } => {
                let offsets = format!("Offset Request: {requested_bytes}, Whence: {whence}");
                ("IO_SEEK", format!("{}, {offsets}, Offset Result: {result_bytes}", handle(id)))
            }
            E::IoChangeStatusFlags { handle: id, status } => {
                ("IO_CHANGE_FLAGS", format!("{}, Status Flags: {status}", handle(id)))
            }
            E::IoDeleteFile { paradigm, file } => {
                let (paradigm, file) = (self.io_paradigm(paradigm), self.file(file));
                ("IO_DELETE_FILE", format!("I/O Paradigm: {paradigm}, File: {file}"))
            }
            E::IoOperationBegin { handle: id, mode, flags, requested_bytes, matching } => {
                let head = format!("{}, Mode: {mode}, Operation Flags: {flags}", handle(id));
                let tail = format!("Bytes Request: {requested_bytes}, Matching Id: {matching}");
                ("IO_OPERATION_BEGIN", format!("{head}, {tail}"))
            }
            E::IoOperationTest { handle, matching } => {
                ("IO_OPERATION_TEST", matched(handle, matching))
            }
            E::IoOperationIssued { handle, matching } => {
                ("IO_OPERATION_ISSUED", matched(handle, matching))
            }
            E::IoOperationComplete { handle: id, result_bytes, matching } => {
                let fields = format!("{}, Bytes Result: {result_bytes}", handle(id));
                ("IO_OPERATION_COMPLETE", format!("{fields}, Matching Id: {matching}"))
            }
            E::IoOperationCancelled { handle, matching } => {
                ("IO_OPERATION_CANCELLED", matched(handle, matching))
            }
            E::IoAcquireLock { handle: id, lock_type } => {
                ("IO_ACQUIRE_LOCK", format!("{}, Type: {lock_type}", handle(id)))
            }
            E::IoReleaseLock { handle: id, lock_type } => {
                ("IO_RELEASE_LOCK", format!("{}, Type: {lock_type}", handle(id)))
            }
            E::IoTryLock { handle: id, lock_type } => {
                ("IO_TRY_LOCK", format!("{}, Type: {lock_type}", handle(id)))
            }
            _ => return None,
        })
    }
}

/// A name and a number, as `otf2-print` writes them.
pub(crate) fn named(name: Option<&str>, id: u64) -> String {
    match name {
        Some(name) => format!("\"{name}\" <{id}>"),
        None if id == u64::from(u32::MAX) || id == u64::MAX => "UNDEFINED".into(),
        None => format!("INVALID <{id}>"),
    }
}
