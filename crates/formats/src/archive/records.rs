//! The tables of an archive and their rows: one struct each, a field a column.

use super::table::{Batch, ColumnData, ColumnKind, Layout};

/// A number column that has nothing to say for a row: no parent, no rank, not matched.
pub const NONE_32: u32 = u32::MAX;
/// As [`NONE_32`], for wide columns.
pub const NONE_64: u64 = u64::MAX;

/// A row of a table.
pub trait Record: Sized {
    /// The table.
    const LAYOUT: &'static Layout;

    /// Rows as columns to be written.
    fn columns(rows: Vec<Self>) -> Vec<ColumnData>;

    /// The rows of a batch of the table.
    fn rows(batch: &Batch<'_>) -> Vec<Self>;
}

macro_rules! column {
    (U8, $b:expr, $c:expr) => {
        $b.u8s($c)
    };
    (U16, $b:expr, $c:expr) => {
        $b.u16s($c)
    };
    (U32, $b:expr, $c:expr) => {
        $b.u32s($c)
    };
    (U64, $b:expr, $c:expr) => {
        $b.u64s($c)
    };
    (I64, $b:expr, $c:expr) => {
        $b.i64s($c)
    };
    (F64, $b:expr, $c:expr) => {
        $b.f64s($c)
    };
    (Text, $b:expr, $c:expr) => {
        $b.texts($c).map(str::to_owned)
    };
}

macro_rules! record {
    ($(#[$doc:meta])* $name:ident in $file:literal { $($(#[$field_doc:meta])* $field:ident: $kind:ident $type:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)+
        }

        impl Record for $name {
            const LAYOUT: &'static Layout = {
                static LAYOUT: Layout = Layout {
                    file: $file,
                    columns: &[$((stringify!($field), ColumnKind::$kind)),+],
                };
                &LAYOUT
            };

            fn columns(rows: Vec<Self>) -> Vec<ColumnData> {
                $(let mut $field: Vec<$type> = Vec::with_capacity(rows.len());)+
                for row in rows {
                    $($field.push(row.$field);)+
                }
                vec![$(ColumnData::$kind($field)),+]
            }

            #[allow(unused_assignments)]
            fn rows(batch: &Batch<'_>) -> Vec<Self> {
                let mut at = 0;
                $(let mut $field = { let column = at; at += 1; column!($kind, batch, column) };)+
                let mut rows = Vec::with_capacity(batch.rows());
                loop {
                    $(let Some($field) = $field.next() else { break };)+
                    rows.push(Self { $($field),+ });
                }
                rows
            }
        }
    };
}

record! {
    /// A fact about the archive or the execution. Written last: an archive without it was not
    /// written to its end.
    Fact in "manifest.arrow" {
        /// What it is about.
        key: Text String,
        /// What is known.
        value: Text String,
    }
}

record! {
    /// A line of the timeline: a thread, a GPU stream, or what does not nest in one of them.
    TrackRow in "tracks.arrow" {
        /// The display name.
        name: Text String,
        /// 0 thread, 1 stream of a GPU, 2 intervals that overlap those of the track before.
        kind: U8 u8,
        /// Which of several coupled applications; all-ones where there is one.
        application: U64 u64,
        /// Host id; all-ones where unknown, as in the columns that follow.
        node: U64 u64,
        /// Rank in the application's own numbering.
        rank: U64 u64,
        /// Thread of the rank.
        thread: U64 u64,
        /// GPU.
        gpudevice: U64 u64,
        /// Context on the GPU.
        gpucontext: U64 u64,
        /// Stream on the GPU.
        gpustream: U64 u64,
        /// Records of entering something, as the source has them.
        enters: U64 u64,
        /// Records of leaving something.
        leaves: U64 u64,
        /// Records of sending a message.
        sends: U64 u64,
        /// Records of receiving a message.
        receives: U64 u64,
        /// Records of a metric's value.
        metrics: U64 u64,
        /// Other records.
        others: U64 u64,
        /// Records that the source says there are; all-ones where it does not say.
        declared: U64 u64,
        /// Intervals.
        intervals: U64 u64,
        /// Time of the first record; all-ones where there is none.
        first_nanos: U64 u64,
        /// Time of the last record.
        last_nanos: U64 u64,
    }
}

record! {
    /// A function, or a loop or a line of one.
    FunctionRow in "functions.arrow" {
        /// Its name; empty for loops and lines.
        name: Text String,
        /// What it belongs to, such as `MPI`; empty where the source has no groups.
        group: Text String,
        /// Source file; empty when unknown.
        file: Text String,
        /// First line of a function, line of a loop or the line itself; 0 when unknown.
        line: U32 u32,
        /// [`FunctionRow::FUNCTION`], [`FunctionRow::LOOP`] or [`FunctionRow::LINE`].
        kind: U8 u8,
    }
}

impl FunctionRow {
    /// It is called, and returns.
    pub const FUNCTION: u8 = 0;
    /// A loop in the code of the function above it.
    pub const LOOP: u8 = 1;
    /// A line of the code of the function above it.
    pub const LINE: u8 = 2;

    /// Whether it is a part of the code of the function above it, and not called by that.
    #[must_use]
    pub const fn is_lexical(&self) -> bool {
        matches!(self.kind, Self::LOOP | Self::LINE)
    }
}

record! {
    /// [`FunctionRow`] as versions before 6 of archives have it: all of them are functions.
    FunctionRow5 in "functions.arrow" {
        /// As in version 6, and so are all others.
        name: Text String,
        /// Group.
        group: Text String,
        /// Source file.
        file: Text String,
        /// First line.
        line: U32 u32,
    }
}

impl From<FunctionRow5> for FunctionRow {
    fn from(FunctionRow5 { name, group, file, line }: FunctionRow5) -> Self {
        Self { name, group, file, line, kind: Self::FUNCTION }
    }
}

record! {
    /// A context: a function, loop or line under another context. Row 0 is the root, under which
    /// everything happens and in which time is spent outside all functions.
    ContextRow in "contexts.arrow" {
        /// Row of the context above; all-ones for the root. Always an earlier row.
        parent: U32 u32,
        /// Row of the function; all-ones for the root.
        function: U32 u32,
    }
}

record! {
    /// From entering a context to leaving it. A batch is ordered by track and end, and has one node
    /// of each track at most.
    IntervalRow in "intervals.arrow" {
        /// Row of the track.
        track: U32 u32,
        /// Row of the context.
        context: U32 u32,
        /// When it was entered.
        start_nanos: U64 u64,
        /// When it was left.
        end_nanos: U64 u64,
    }
}

record! {
    /// A time window of a track, with the sums of [`SumRow`]. Nodes of level 0 are batches of
    /// intervals; a node of a higher level covers several of the level below. Ordered by level,
    /// track and time.
    NodeRow in "nodes.arrow" {
        /// Row of the track.
        track: U32 u32,
        /// 0 for a batch of intervals.
        level: U8 u8,
        /// Its bins are 2^exponent nanoseconds long and begin at multiples of that.
        exponent: U8 u8,
        /// Number of its first bin: its start is this times 2^exponent.
        first_bin: U64 u64,
        /// From the end of the node before, or the first time that the track enters something.
        from_nanos: U64 u64,
        /// To the last end inside; not included.
        to_nanos: U64 u64,
        /// Row of the first node below; number of the batch of intervals for level 0.
        first_child: U32 u32,
        /// Nodes below; 1 for level 0.
        children: U32 u32,
        /// Number of its batch of sums; all-ones for a small node of level 0, whose calls say it.
        sums: U32 u32,
        /// Rows in the batch of intervals; 0 for higher levels.
        intervals: U32 u32,
        /// Context that is active at `to_nanos`; level 0 only.
        open_context: U32 u32,
        /// Contexts entered and not yet left at `to_nanos`; their starts are in `open.arrow`, in
        /// the order of the nodes of level 0 and there from the outermost.
        open_depth: U32 u32,
    }
}

impl NodeRow {
    /// Whether it has a batch of sums.
    #[must_use]
    pub const fn has_sums(&self) -> bool {
        self.sums != NONE_32
    }
}

record! {
    /// When a context was entered that was not yet left at the end of a node.
    OpenRow in "open.arrow" {
        /// Time.
        start_nanos: U64 u64,
    }
}

record! {
    /// Time of one context itself in one bin of a node. A batch belongs to one node and is ordered
    /// by bin.
    SumRow in "summary.arrow" {
        /// Bin, counted from the node's first.
        bin: U16 u16,
        /// Row of the context.
        context: U32 u32,
        /// How often it was entered in the bin.
        calls: U32 u32,
        /// Time in it and in nothing below it.
        nanos: U64 u64,
    }
}

record! {
    /// What a track spent in a context in all. Ordered by track over all batches; all rows of a
    /// track are in one batch, and no batch is empty.
    ProfileRow in "profile.arrow" {
        /// Row of the track.
        track: U32 u32,
        /// Row of the context.
        context: U32 u32,
        /// How often it was entered.
        calls: U64 u64,
        /// Time in it and in nothing below it.
        exclusive_nanos: U64 u64,
        /// Time in it and below.
        inclusive_nanos: U64 u64,
    }
}

record! {
    /// How often an event happened in a context of a track in all. Ordered by track over all batches;
    /// all rows of a track are in one batch, and no batch is empty.
    CountRow in "counts.arrow" {
        /// Row of the track.
        track: U32 u32,
        /// Row of the context.
        context: U32 u32,
        /// Row of the counter that names the event.
        counter: U32 u32,
        /// How often it happened in the context and in nothing below it.
        count: U64 u64,
    }
}

record! {
    /// A message, or another link between two moments of two tracks.
    MessageRow in "messages.arrow" {
        /// 0 message, 1 flow (a cause and its effect, as Chrome traces have them), 2 transfer (what
        /// one component wrote to a file and another one read from it).
        kind: U8 u8,
        /// Sum of 1: no receive was found; 2: no send was found; 4: received before it was sent;
        /// 8: the two sides disagree about its size.
        flags: U8 u8,
        /// Row of the sending track; all-ones when it is not in the trace.
        sender: U32 u32,
        /// Row of the receiving track; all-ones when it is not in the trace.
        receiver: U32 u32,
        /// Communicator.
        communicator: U32 u32,
        /// Tag; the number of a flow; the file of a transfer, as a row of the function table.
        tag: I64 i64,
        /// Size in bytes, as the sender says where there is one.
        bytes: U64 u64,
        /// When it was sent; the time of the receive where no send was found.
        send_nanos: U64 u64,
        /// When it was received; the time of the send where no receive was found.
        receive_nanos: U64 u64,
        /// When the receive was posted, where it does not block; all-ones for blocking receives,
        /// where the source does not say, and for other links.
        posted_nanos: U64 u64,
        /// When the request of the send was complete, where it does not block; all-ones for
        /// blocking sends, where the source does not say, and for other links.
        completed_nanos: U64 u64,
    }
}

record! {
    /// [`MessageRow`] as version 2 of archives has it.
    MessageRow2 in "messages.arrow" {
        /// As in version 3, and so are all others.
        kind: U8 u8,
        /// Flags.
        flags: U8 u8,
        /// Sending track.
        sender: U32 u32,
        /// Receiving track.
        receiver: U32 u32,
        /// Communicator.
        communicator: U32 u32,
        /// Tag.
        tag: I64 i64,
        /// Size in bytes.
        bytes: U64 u64,
        /// When it was sent.
        send_nanos: U64 u64,
        /// When it was received.
        receive_nanos: U64 u64,
    }
}

impl From<MessageRow2> for MessageRow {
    fn from(row: MessageRow2) -> Self {
        let MessageRow2 { kind, flags, sender, receiver, communicator, tag, bytes, .. } = row;
        Self {
            kind,
            flags,
            sender,
            receiver,
            communicator,
            tag,
            bytes,
            send_nanos: row.send_nanos,
            receive_nanos: row.receive_nanos,
            posted_nanos: NONE_64,
            completed_nanos: NONE_64,
        }
    }
}

record! {
    /// What a batch of messages, collectives, counter values or markers covers.
    SpanRow in "spans.arrow" {
        /// 0 messages, 1 collectives, 2 counter values, 3 markers, 4 arguments.
        table: U8 u8,
        /// Row of the track, for counter values, and for arguments of one track; all-ones
        /// otherwise.
        track: U32 u32,
        /// Row of the counter, for counter values; all-ones otherwise.
        counter: U32 u32,
        /// Earliest time.
        from_nanos: U64 u64,
        /// Latest time; included.
        to_nanos: U64 u64,
        /// Rows of the batch.
        rows: U64 u64,
        /// Smallest value of a counter.
        min: F64 f64,
        /// Largest value of a counter.
        max: F64 f64,
    }
}

record! {
    /// A track's part in a collective operation.
    CollectiveRow in "collectives.arrow" {
        /// Row of the track.
        track: U32 u32,
        /// Operation, as OTF2 numbers them: 0 barrier, 1 bcast, 2 gather, ... 255 unknown.
        operation: U8 u8,
        /// Communicator; all-ones for one that has this rank only.
        communicator: U32 u32,
        /// Rank of the root; all-ones where there is none.
        root: U64 u64,
        /// Bytes sent.
        sent: U64 u64,
        /// Bytes received.
        received: U64 u64,
        /// When the track came.
        start_nanos: U64 u64,
        /// When it went on.
        end_nanos: U64 u64,
    }
}

record! {
    /// A metric whose value changes over time.
    CounterRow in "counters.arrow" {
        /// Its name.
        name: Text String,
        /// Its unit; empty when unknown.
        unit: Text String,
    }
}

record! {
    /// A value of a counter, valid until the next one of the same track and counter.
    ValueRow in "values.arrow" {
        /// Row of the track.
        track: U32 u32,
        /// Row of the counter.
        counter: U32 u32,
        /// When.
        nanos: U64 u64,
        /// The value.
        value: F64 f64,
    }
}

record! {
    /// Something that happened at one moment.
    MarkerRow in "markers.arrow" {
        /// Row of the track.
        track: U32 u32,
        /// Row of the function table that names it.
        name: U32 u32,
        /// When.
        nanos: U64 u64,
    }
}

record! {
    /// The names of the arguments of some calls.
    ArgumentNamesRow in "argument_names.arrow" {
        /// Names, separated by line feeds.
        names: Text String,
    }
}

record! {
    /// What the source recorded with a call. Calls without arguments have no row.
    ArgumentRow in "arguments.arrow" {
        /// Row of the track.
        track: U32 u32,
        /// Row of the context.
        context: U32 u32,
        /// When the call was entered.
        start_nanos: U64 u64,
        /// When it was left.
        end_nanos: U64 u64,
        /// Row of the names.
        names: U32 u32,
        /// Values as JSON, separated by line feeds, as many as there are names.
        values: Text String,
    }
}

record! {
    /// One of several coupled applications.
    ComponentRow in "components.arrow" {
        /// Number, as in the tracks.
        application: U64 u64,
        /// Name.
        name: Text String,
        /// Names of the components it takes data from, separated by line feeds.
        depends_on: Text String,
        /// What its ranks are counted from in the one space of ranks of all components.
        first_rank: U64 u64,
        /// Nanoseconds that were added to the times of its own clock.
        shift_nanos: I64 i64,
    }
}

record! {
    /// What was repaired, dropped or guessed while the archive was written.
    IssueRow in "issues.arrow" {
        /// 0 note, 1 warning, 2 error.
        severity: U8 u8,
        /// Short stable name of the kind.
        kind: Text String,
        /// Where the first one is.
        place: Text String,
        /// What is wrong and what was done.
        message: Text String,
        /// How many of the kind there are.
        count: U64 u64,
    }
}
