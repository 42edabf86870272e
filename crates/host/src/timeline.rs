//! Answers about what happened when.

use parallax_base::Control;
use parallax_service::{
    Answer, CallsQuestion, LinksRequest, MessagesBy, MessagesRequest, Opened, StacksBy,
    StacksRequest, StatsBy, StatsRequest, TileRequest, TimeWindow, TraceKind, TrackRange,
    tile_table,
};
use parallax_wire::protocol::{
    CallsAsk, CallsReply, ComponentReply, CounterBinsAsk, CounterBinsReply, CounterReply,
    ErrorReply, FindAsk, FindReply, LinkBinsAsk, LinkBinsReply, LinksAsk, LinksReply, MarkersAsk,
    MarkersReply, MessagesAsk, PathAtAsk, PathAtReply, StacksAsk, StacksReply, StatsAsk,
    TableOnlyReply, TileAsk, TileReply, TimelineAsk, TimelineReply, TrackRangeAsk, WindowAsk,
    tracks_choice,
};

use crate::errors::service_error;
use crate::profile::unknown;
use crate::response::{Response, with_tables};

type Answered = Result<Response, ErrorReply>;

/// Parts that are told apart unless a request says otherwise.
const PARTS: u32 = 12;

/// Bins, calls, messages and rows of one answer at most, whatever a request asks for.
const MOST: u32 = 1 << 20;

/// Most cells of a picture: more than screens have points, and less than a gigabyte.
const MOST_CELLS: usize = 1 << 24;

/// The first record of a trace, from which times of the protocol are counted.
pub(crate) fn origin(opened: &Opened) -> Result<u64, ErrorReply> {
    let span = opened.trace_span().map_err(|error| service_error(&error))?;
    Ok(span.start_nanos)
}

fn window(origin: u64, from: u64, to: u64) -> TimeWindow {
    TimeWindow::new(origin.saturating_add(from), origin.saturating_add(to))
}

/// The window as people type it; both of its ends belong to it.
pub(crate) fn expression(origin: u64, window: WindowAsk) -> Result<Option<String>, ErrorReply> {
    let end = |nanos: u64| origin.saturating_add(nanos);
    match (window.from_ns, window.to_ns) {
        (None, None) => Ok(None),
        (from, Some(to)) if to <= from.unwrap_or(0) => {
            Err(ErrorReply::new("misuse", "the stretch of time is empty".to_owned())
                .with_hint("choose a stretch that ends after it begins"))
        }
        (from, to) => {
            let from = from.map(|nanos| end(nanos).to_string()).unwrap_or_default();
            let to = to.map(|nanos| (end(nanos) - 1).to_string()).unwrap_or_default();
            Ok(Some(format!("{from}..{to}")))
        }
    }
}

fn ranges(list: &[TrackRangeAsk]) -> Vec<TrackRange> {
    list.iter().copied().map(Into::into).collect()
}

fn most(number: u32) -> usize {
    number.min(MOST) as usize
}

/// Where bins begin, since the first record.
fn first_bin(first: u64, exponent: u8, origin: u64) -> f64 {
    let start = first << exponent;
    if start >= origin { (start - origin) as f64 } else { -((origin - start) as f64) }
}

pub(crate) fn timeline(opened: &Opened, ask: &TimelineAsk, control: &Control) -> Answered {
    let answer = opened.timeline(control).map_err(|error| service_error(&error))?;
    let reply = TimelineReply {
        has_calls: answer.kind == TraceKind::Calls,
        origin_ns: answer.span.start_nanos.to_string(),
        span_ns: answer.span.nanos(),
        sends: answer.records.sends,
        receives: answer.records.receives,
        counters: (answer.counters.iter())
            .map(|counter| CounterReply {
                name: counter.name.to_string(),
                unit: counter.unit.to_string(),
            })
            .collect(),
        components: (answer.components.iter())
            .map(|component| ComponentReply {
                application: component.application,
                name: component.name.to_string(),
                depends_on: component.depends_on.iter().map(ToString::to_string).collect(),
            })
            .collect(),
    };
    let tables = [
        ("tracks", &answer.tracks),
        ("functions", &answer.functions),
        ("groups", &answer.groups),
        ("contexts", &answer.contexts),
    ];
    with_tables(ask, &reply, &tables)
}

pub(crate) fn tile(opened: &Opened, ask: &TileAsk, control: &Control) -> Answered {
    let origin = origin(opened)?;
    let max_bins = most(ask.bins);
    if ask.rows.len().saturating_mul(max_bins) > MOST_CELLS {
        let what = format!(
            "a picture of {} rows by {max_bins} bins has more than {MOST_CELLS} cells",
            ask.rows.len()
        );
        let hint = "ask for fewer bins, or for rows that add several tracks up";
        return Err(ErrorReply::new("misuse", what).with_hint(hint));
    }
    let request = TileRequest {
        rows: ranges(&ask.rows),
        window: window(origin, ask.from_ns, ask.to_ns),
        max_bins,
        by: ask.by.into(),
        max_depth: ask.max_depth,
        hidden: ask.hidden.clone(),
    };
    let tile = opened.tile(&request, control).map_err(|error| service_error(&error))?;
    let reply = TileReply {
        first_ns: first_bin(tile.bins.first, tile.bins.exponent, origin),
        bin_ns: tile.bins.nanos(),
        bins: u32::try_from(tile.bins.len).unwrap_or(u32::MAX),
    };
    with_tables(ask, &reply, &[("cells", &tile_table(&tile))])
}

pub(crate) fn calls(opened: &Opened, ask: &CallsAsk, control: &Control) -> Answered {
    let origin = origin(opened)?;
    let tracks = ranges(&ask.tracks);
    let question = CallsQuestion {
        tracks: &tracks,
        window: window(origin, ask.from_ns, ask.to_ns),
        max_calls: most(ask.max_calls),
        shortest_nanos: ask.shortest_ns,
    };
    let answer = opened.calls(&question, control).map_err(|error| service_error(&error))?;
    let reply = CallsReply {
        is_complete: answer.is_complete,
        calls: answer.num_calls,
        shorter: answer.num_shorter,
    };
    with_tables(ask, &reply, &[("calls", &answer.table)])
}

pub(crate) fn path_at(opened: &Opened, ask: &PathAtAsk, control: &Control) -> Answered {
    let at = origin(opened)?.saturating_add(ask.at_ns);
    let table = opened.path_at(ask.track, at, control).map_err(|error| service_error(&error))?;
    with_tables(ask, &PathAtReply {}, &[("path", &table)])
}

pub(crate) fn links(opened: &Opened, ask: &LinksAsk, control: &Control) -> Answered {
    let request = LinksRequest {
        tracks: tracks_choice(&ask.tracks),
        window: window(origin(opened)?, ask.from_ns, ask.to_ns),
        flows: ask.flows,
    };
    let answer = opened
        .links(&request, most(ask.max_links), control)
        .map_err(|error| service_error(&error))?;
    with_tables(ask, &LinksReply { total: answer.total }, &[("links", &answer.table)])
}

pub(crate) fn link_bins(opened: &Opened, ask: &LinkBinsAsk, control: &Control) -> Answered {
    let origin = origin(opened)?;
    let request = LinksRequest {
        tracks: tracks_choice(&ask.tracks),
        window: window(origin, ask.from_ns, ask.to_ns),
        flows: ask.flows,
    };
    let answer = opened
        .link_bins(&request, most(ask.bins), control)
        .map_err(|error| service_error(&error))?;
    let reply = LinkBinsReply {
        first_ns: first_bin(answer.bins.first, answer.bins.exponent, origin),
        bin_ns: answer.bins.nanos(),
    };
    with_tables(ask, &reply, &[("bins", &answer.table)])
}

pub(crate) fn stats(opened: &Opened, ask: &StatsAsk, control: &Control) -> Answered {
    let request = StatsRequest {
        profiles: None,
        tracks: tracks_choice(&ask.tracks),
        window: expression(origin(opened)?, ask.window)?,
        by: match ask.by.as_deref() {
            None | Some("function") => StatsBy::Function,
            Some("group") => StatsBy::Group,
            Some("context") => StatsBy::Context,
            Some(word) => return Err(unknown("by", word, "function, group, context")),
        },
    };
    let answer = opened.stats(&request, control).map_err(|error| service_error(&error))?;
    with_tables(ask, &TableOnlyReply { notes: answer.notes }, &[("rows", &answer.value)])
}

pub(crate) fn messages(opened: &Opened, ask: &MessagesAsk, control: &Control) -> Answered {
    let request = MessagesRequest {
        profiles: None,
        tracks: tracks_choice(&ask.tracks),
        window: expression(origin(opened)?, ask.window)?,
        by: match ask.by.as_deref() {
            None | Some("pair") => MessagesBy::Pair,
            Some("message") => MessagesBy::Message,
            Some("size") => MessagesBy::Size,
            Some("tag") => MessagesBy::Tag,
            Some("component") => MessagesBy::Component,
            Some("file") => MessagesBy::File,
            Some(word) => {
                return Err(unknown("by", word, "pair, message, size, tag, component, file"));
            }
        },
        flows: ask.flows,
    };
    let answer = opened.messages(&request, control).map_err(|error| service_error(&error))?;
    with_tables(ask, &TableOnlyReply { notes: answer.notes }, &[("rows", &answer.value)])
}

pub(crate) fn find(opened: &Opened, ask: &FindAsk, control: &Control) -> Answered {
    let mut request = ask.request();
    request.max_rows = request.max_rows.min(MOST as usize);
    request.window = expression(origin(opened)?, ask.window)?;
    let Answer { value, notes } =
        opened.find(&request, control).map_err(|error| service_error(&error))?;
    let reply = FindReply { total: value.total, total_ns: value.total_nanos, notes };
    with_tables(ask, &reply, &[("rows", &value.rows), ("histogram", &value.histogram)])
}

pub(crate) fn counter_bins(opened: &Opened, ask: &CounterBinsAsk, control: &Control) -> Answered {
    let origin = origin(opened)?;
    let window = window(origin, ask.from_ns, ask.to_ns);
    let tracks = tracks_choice(&ask.tracks);
    let answer = opened
        .counter_bins(ask.counter, &tracks, window, most(ask.bins), control)
        .map_err(|error| service_error(&error))?;
    let reply = CounterBinsReply {
        first_ns: first_bin(answer.bins.first, answer.bins.exponent, origin),
        bin_ns: answer.bins.nanos(),
        bins: u32::try_from(answer.bins.len).unwrap_or(u32::MAX),
    };
    with_tables(ask, &reply, &[("values", &answer.table)])
}

pub(crate) fn markers(opened: &Opened, ask: &MarkersAsk) -> Answered {
    let window = window(origin(opened)?, ask.from_ns, ask.to_ns);
    let (total, table) =
        opened.markers(window, most(ask.max_markers)).map_err(|error| service_error(&error))?;
    with_tables(ask, &MarkersReply { total }, &[("markers", &table)])
}

pub(crate) fn stacks(opened: &Opened, ask: &StacksAsk, control: &Control) -> Answered {
    let request = StacksRequest {
        metric: ask.metric.clone(),
        profiles: ask.profiles.clone(),
        by: match ask.by.as_deref() {
            None | Some("function") => StacksBy::Function,
            Some("group") => StacksBy::Group,
            Some(word) => return Err(unknown("by", word, "function, group")),
        },
        top: most(ask.top.unwrap_or(PARTS)),
    };
    let Answer { value, notes } =
        opened.stacks(&request, control).map_err(|error| service_error(&error))?;
    let reply = StacksReply {
        metric: value.metric,
        unit: value.unit.to_string(),
        reason: value.reason,
        parts: value.parts,
        notes,
    };
    with_tables(ask, &reply, &[("locations", &value.locations), ("stack", &value.stack)])
}
