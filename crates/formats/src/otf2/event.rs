//! [`Event`]: what a location recorded, one variant for each kind of record.

use super::codes::{
    CollectiveOp, IoAccessMode, IoCreationFlags, IoOperationFlags, IoOperationMode, IoSeekOption,
    IoStatusFlags, LockType, MeasurementMode, Paradigm, RmaAtomicType, RmaSyncLevels, RmaSyncType,
};
use super::fields::Fields;
use super::ids::{
    CallingContextId, CommId, GroupId, InterruptGeneratorId, IoFileId, IoHandleId, IoParadigmId,
    MetricId, ParameterId, RegionId, RmaWinId, StringId,
};

macro_rules! events {
    ($($number:literal $(#[$doc:meta])* $name:ident {
        $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
    })*) => {
        /// One event. Ids are those of the trace, whatever the location's own numbers were.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub enum Event {
            $($(#[$doc])* $name { $($(#[$field_doc])* $field: $type,)* },)*
            /// The measurement stopped to write its buffer to the file.
            BufferFlush {
                /// When it went on, in corrected ticks.
                stop_ticks: u64,
            },
            /// Metrics were read; the values come with the record.
            Metric {
                /// The metric class or instance.
                metric: MetricId,
            },
            /// The program begins; its arguments come with the record.
            ProgramBegin {
                /// Its name.
                name: StringId,
            },
            /// A kind of event that this reader does not know.
            Unknown {
                /// The number of the kind.
                kind: u8,
            },
        }

        impl Event {
            /// The number that files store for this kind of event.
            #[must_use]
            pub const fn kind(&self) -> u8 {
                match self {
                    $(Self::$name { .. } => $number,)*
                    Self::BufferFlush { .. } => 10,
                    Self::Metric { .. } => 31,
                    Self::ProgramBegin { .. } => 83,
                    Self::Unknown { kind } => *kind,
                }
            }

            /// The event of a kind with a fixed number of fields; `None` when they end early.
            pub(super) fn read(kind: u8, f: &mut Fields<'_>) -> Option<Self> {
                Some(match kind {
                    10 => Self::BufferFlush { stop_ticks: f.time()? },
                    $($number => Self::$name { $($field: f.get()?,)* },)*
                    kind => Self::Unknown { kind },
                })
            }
        }
    };
}

/// Whether an event of this kind is its kind and one compressed number, without a length.
pub(super) const fn is_bare(kind: u8) -> bool {
    matches!(kind, 12 | 13 | 16 | 17 | 20 | 21 | 24 | 28 | 29 | 30)
}

events! {
    11
    /// The measurement was switched on or off.
    MeasurementOnOff {
        /// To which state.
        mode: MeasurementMode,
    }
    12
    /// A region begins.
    Enter {
        /// The region.
        region: RegionId,
    }
    13
    /// A region ends.
    Leave {
        /// The region.
        region: RegionId,
    }
    14
    /// A message is sent, and the call waits.
    MpiSend {
        /// Rank of the receiver in `comm`.
        receiver: u32,
        /// The communicator.
        comm: CommId,
        /// The tag.
        tag: u32,
        /// Size of the message.
        length_bytes: u64,
    }
    15
    /// A message starts to be sent.
    MpiIsend {
        /// Rank of the receiver in `comm`.
        receiver: u32,
        /// The communicator.
        comm: CommId,
        /// The tag.
        tag: u32,
        /// Size of the message.
        length_bytes: u64,
        /// Names the request.
        request: u64,
    }
    16
    /// A message that started to be sent is sent.
    MpiIsendComplete {
        /// Names the request.
        request: u64,
    }
    17
    /// A message is asked for.
    MpiIrecvRequest {
        /// Names the request.
        request: u64,
    }
    18
    /// A message arrived.
    MpiRecv {
        /// Rank of the sender in `comm`.
        sender: u32,
        /// The communicator.
        comm: CommId,
        /// The tag.
        tag: u32,
        /// Size of the message.
        length_bytes: u64,
    }
    19
    /// A requested message arrived.
    MpiIrecv {
        /// Rank of the sender in `comm`.
        sender: u32,
        /// The communicator.
        comm: CommId,
        /// The tag.
        tag: u32,
        /// Size of the message.
        length_bytes: u64,
        /// Names the request.
        request: u64,
    }
    20
    /// A request was not complete yet.
    MpiRequestTest {
        /// Names the request.
        request: u64,
    }
    21
    /// A request was cancelled.
    MpiRequestCancelled {
        /// Names the request.
        request: u64,
    }
    22
    /// A collective operation begins.
    MpiCollectiveBegin {
    }
    23
    /// A collective operation ends.
    MpiCollectiveEnd {
        /// Which.
        op: CollectiveOp,
        /// The communicator.
        comm: CommId,
        /// Rank of the root; all ones where there is none.
        root: u32,
        /// Size of what was sent.
        sent_bytes: u64,
        /// Size of what was received.
        received_bytes: u64,
    }
    24
    /// A team of threads begins (old).
    OmpFork {
        /// How many were requested.
        requested_threads: u32,
    }
    25
    /// A team of threads ends (old).
    OmpJoin {
    }
    26
    /// A lock is taken (old).
    OmpAcquireLock {
        /// Names the lock.
        lock: u32,
        /// How often it was taken.
        order: u32,
    }
    27
    /// A lock is given back (old).
    OmpReleaseLock {
        /// Names the lock.
        lock: u32,
        /// How often it was taken.
        order: u32,
    }
    28
    /// A task is made (old).
    OmpTaskCreate {
        /// Names the task.
        task: u64,
    }
    29
    /// The thread goes on with another task (old).
    OmpTaskSwitch {
        /// Names the task.
        task: u64,
    }
    30
    /// A task ends (old).
    OmpTaskComplete {
        /// Names the task.
        task: u64,
    }
    32
    /// A parameter has a text as value.
    ParameterString {
        /// The parameter.
        parameter: ParameterId,
        /// Its value.
        value: StringId,
    }
    33
    /// A parameter has a number with sign as value.
    ParameterInt {
        /// The parameter.
        parameter: ParameterId,
        /// Its value.
        value: i64,
    }
    34
    /// A parameter has a number as value.
    ParameterUnsignedInt {
        /// The parameter.
        parameter: ParameterId,
        /// Its value.
        value: u64,
    }
    35
    /// A window is made.
    RmaWinCreate {
        /// The window.
        win: RmaWinId,
    }
    36
    /// A window is given back.
    RmaWinDestroy {
        /// The window.
        win: RmaWinId,
    }
    37
    /// A collective operation on windows begins.
    RmaCollectiveBegin {
    }
    38
    /// A collective operation on windows ends.
    RmaCollectiveEnd {
        /// Which.
        op: CollectiveOp,
        /// What it synchronises.
        sync: RmaSyncLevels,
        /// The window.
        win: RmaWinId,
        /// Rank of the root; all ones where there is none.
        root: u32,
        /// Size of what was sent.
        sent_bytes: u64,
        /// Size of what was received.
        received_bytes: u64,
    }
    39
    /// Some processes synchronise.
    RmaGroupSync {
        /// What is synchronised.
        sync: RmaSyncLevels,
        /// The window.
        win: RmaWinId,
        /// The processes.
        group: GroupId,
    }
    40
    /// A lock is requested.
    RmaRequestLock {
        /// The window.
        win: RmaWinId,
        /// Rank of the other process.
        remote: u32,
        /// Names the lock.
        lock: u64,
        /// Its kind.
        lock_type: LockType,
    }
    41
    /// A lock is taken.
    RmaAcquireLock {
        /// The window.
        win: RmaWinId,
        /// Rank of the other process.
        remote: u32,
        /// Names the lock.
        lock: u64,
        /// Its kind.
        lock_type: LockType,
    }
    42
    /// A lock could not be taken.
    RmaTryLock {
        /// The window.
        win: RmaWinId,
        /// Rank of the other process.
        remote: u32,
        /// Names the lock.
        lock: u64,
        /// Its kind.
        lock_type: LockType,
    }
    43
    /// A lock is given back.
    RmaReleaseLock {
        /// The window.
        win: RmaWinId,
        /// Rank of the other process.
        remote: u32,
        /// Names the lock.
        lock: u64,
    }
    44
    /// One process synchronises with another.
    RmaSync {
        /// The window.
        win: RmaWinId,
        /// Rank of the other process.
        remote: u32,
        /// How.
        sync_type: RmaSyncType,
    }
    45
    /// A change of a window is waited for.
    RmaWaitChange {
        /// The window.
        win: RmaWinId,
    }
    46
    /// Bytes are written to another process.
    RmaPut {
        /// The window.
        win: RmaWinId,
        /// Rank of the other process.
        remote: u32,
        /// How many.
        bytes: u64,
        /// Names the operation.
        matching: u64,
    }
    47
    /// Bytes are read from another process.
    RmaGet {
        /// The window.
        win: RmaWinId,
        /// Rank of the other process.
        remote: u32,
        /// How many.
        bytes: u64,
        /// Names the operation.
        matching: u64,
    }
    48
    /// An atomic operation on another process's memory.
    RmaAtomic {
        /// The window.
        win: RmaWinId,
        /// Rank of the other process.
        remote: u32,
        /// Which.
        op: RmaAtomicType,
        /// Size of what was sent.
        sent_bytes: u64,
        /// Size of what was received.
        received_bytes: u64,
        /// Names the operation.
        matching: u64,
    }
    49
    /// An operation is complete, and the call waited.
    RmaOpCompleteBlocking {
        /// The window.
        win: RmaWinId,
        /// Names the operation.
        matching: u64,
    }
    50
    /// An operation is complete on this side.
    RmaOpCompleteNonBlocking {
        /// The window.
        win: RmaWinId,
        /// Names the operation.
        matching: u64,
    }
    51
    /// An operation was not complete yet.
    RmaOpTest {
        /// The window.
        win: RmaWinId,
        /// Names the operation.
        matching: u64,
    }
    52
    /// An operation is complete on the other side.
    RmaOpCompleteRemote {
        /// The window.
        win: RmaWinId,
        /// Names the operation.
        matching: u64,
    }
    53
    /// A team of threads begins.
    ThreadFork {
        /// The threading model.
        model: Paradigm,
        /// How many were requested.
        requested_threads: u32,
    }
    54
    /// A team of threads ends.
    ThreadJoin {
        /// The threading model.
        model: Paradigm,
    }
    55
    /// The thread's part in a team begins.
    ThreadTeamBegin {
        /// The team.
        team: CommId,
    }
    56
    /// The thread's part in a team ends.
    ThreadTeamEnd {
        /// The team.
        team: CommId,
    }
    57
    /// A lock is taken.
    ThreadAcquireLock {
        /// The threading model.
        model: Paradigm,
        /// Names the lock.
        lock: u32,
        /// How often it was taken.
        order: u32,
    }
    58
    /// A lock is given back.
    ThreadReleaseLock {
        /// The threading model.
        model: Paradigm,
        /// Names the lock.
        lock: u32,
        /// How often it was taken.
        order: u32,
    }
    59
    /// A task is made.
    ThreadTaskCreate {
        /// The team.
        team: CommId,
        /// Rank of the thread that makes it.
        creator: u32,
        /// Number of the task among its creator's.
        generation: u32,
    }
    60
    /// The thread goes on with another task.
    ThreadTaskSwitch {
        /// The team.
        team: CommId,
        /// Rank of the thread that made it.
        creator: u32,
        /// Number of the task among its creator's.
        generation: u32,
    }
    61
    /// A task ends.
    ThreadTaskComplete {
        /// The team.
        team: CommId,
        /// Rank of the thread that made it.
        creator: u32,
        /// Number of the task among its creator's.
        generation: u32,
    }
    62
    /// A thread is made.
    ThreadCreate {
        /// The threads that were made this way.
        contingent: CommId,
        /// Number of the thread.
        sequence: u64,
    }
    63
    /// The thread begins.
    ThreadBegin {
        /// The threads that were made this way.
        contingent: CommId,
        /// Number of the thread.
        sequence: u64,
    }
    64
    /// A thread was waited for.
    ThreadWait {
        /// The threads that were made this way.
        contingent: CommId,
        /// Number of the thread.
        sequence: u64,
    }
    65
    /// The thread ends.
    ThreadEnd {
        /// The threads that were made this way.
        contingent: CommId,
        /// Number of the thread.
        sequence: u64,
    }
    66
    /// A calling context begins.
    CallingContextEnter {
        /// The context.
        context: CallingContextId,
        /// How many contexts began or changed since the last such event.
        unwind_distance: u32,
    }
    67
    /// A calling context ends.
    CallingContextLeave {
        /// The context.
        context: CallingContextId,
    }
    68
    /// A sample of the calling context.
    CallingContextSample {
        /// The context.
        context: CallingContextId,
        /// How many contexts began or changed since the last such event.
        unwind_distance: u32,
        /// What took the sample.
        generator: InterruptGeneratorId,
    }
    69
    /// A handle is opened.
    IoCreateHandle {
        /// The handle.
        handle: IoHandleId,
        /// What it may do.
        mode: IoAccessMode,
        /// How it was made.
        creation: IoCreationFlags,
        /// Its state.
        status: IoStatusFlags,
    }
    70
    /// A handle is closed.
    IoDestroyHandle {
        /// The handle.
        handle: IoHandleId,
    }
    71
    /// A handle is made from another.
    IoDuplicateHandle {
        /// The other.
        old_handle: IoHandleId,
        /// The new one.
        new_handle: IoHandleId,
        /// Its state.
        status: IoStatusFlags,
    }
    72
    /// The place in a file changes.
    IoSeek {
        /// The handle.
        handle: IoHandleId,
        /// The requested offset.
        requested_bytes: i64,
        /// What it counts from.
        whence: IoSeekOption,
        /// The place from the start of the file.
        result_bytes: u64,
    }
    73
    /// The state of a handle changes.
    IoChangeStatusFlags {
        /// The handle.
        handle: IoHandleId,
        /// Its state.
        status: IoStatusFlags,
    }
    74
    /// A file is deleted.
    IoDeleteFile {
        /// The way to do input and output.
        paradigm: IoParadigmId,
        /// The file.
        file: IoFileId,
    }
    75
    /// An operation begins.
    IoOperationBegin {
        /// The handle.
        handle: IoHandleId,
        /// What it does.
        mode: IoOperationMode,
        /// Its marks.
        flags: IoOperationFlags,
        /// How many bytes were requested; all ones where that means nothing.
        requested_bytes: u64,
        /// Names the operation.
        matching: u64,
    }
    76
    /// An operation was not complete yet.
    IoOperationTest {
        /// The handle.
        handle: IoHandleId,
        /// Names the operation.
        matching: u64,
    }
    77
    /// An operation was handed over.
    IoOperationIssued {
        /// The handle.
        handle: IoHandleId,
        /// Names the operation.
        matching: u64,
    }
    78
    /// An operation is complete.
    IoOperationComplete {
        /// The handle.
        handle: IoHandleId,
        /// How many bytes; all ones where that means nothing.
        result_bytes: u64,
        /// Names the operation.
        matching: u64,
    }
    79
    /// An operation was cancelled.
    IoOperationCancelled {
        /// The handle.
        handle: IoHandleId,
        /// Names the operation.
        matching: u64,
    }
    80
    /// A lock on a file is taken.
    IoAcquireLock {
        /// The handle.
        handle: IoHandleId,
        /// Its kind.
        lock_type: LockType,
    }
    81
    /// A lock on a file is given back.
    IoReleaseLock {
        /// The handle.
        handle: IoHandleId,
        /// Its kind.
        lock_type: LockType,
    }
    82
    /// A lock on a file could not be taken.
    IoTryLock {
        /// The handle.
        handle: IoHandleId,
        /// Its kind.
        lock_type: LockType,
    }
    84
    /// The program ends.
    ProgramEnd {
        /// What it returned; the smallest number where unknown.
        exit_status: i64,
    }
    85
    /// A collective operation starts.
    NonBlockingCollectiveRequest {
        /// Names the request.
        request: u64,
    }
    86
    /// A collective operation that was started is complete.
    NonBlockingCollectiveComplete {
        /// Which.
        op: CollectiveOp,
        /// The communicator.
        comm: CommId,
        /// Rank of the root; all ones where there is none.
        root: u32,
        /// Size of what was sent.
        sent_bytes: u64,
        /// Size of what was received.
        received_bytes: u64,
        /// Names the request.
        request: u64,
    }
    87
    /// A communicator is made.
    CommCreate {
        /// The communicator.
        comm: CommId,
    }
    88
    /// A communicator is given back.
    CommDestroy {
        /// The communicator.
        comm: CommId,
    }
    89
    /// A message was found, before it is received.
    MpiProbe {
        /// Rank of the sender in `comm`.
        sender: u32,
        /// The communicator.
        comm: CommId,
        /// The tag.
        tag: u32,
        /// Names the message.
        message: u64,
    }
    90
    /// A message that was found arrived.
    MpiMrecv {
        /// Names the message.
        message: u64,
        /// Size of the message.
        length_bytes: u64,
    }
    91
    /// A message that was found is asked for.
    MpiImrecvRequest {
        /// Names the message.
        message: u64,
        /// Names the request.
        request: u64,
    }
    92
    /// A message that was found and asked for arrived.
    MpiImrecv {
        /// Names the request.
        request: u64,
        /// Size of the message.
        length_bytes: u64,
    }
}
