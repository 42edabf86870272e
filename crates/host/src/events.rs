//! Answers about who waits for whom, and how a trace changes over time.

use parallax_base::Control;
use parallax_service::{
    CriticalPathBy, CriticalPathRequest, Opened, OverTimeBy, OverTimeRequest, OverTimeWhat,
    WaitsBy, WaitsKind, WaitsRequest,
};
use parallax_wire::protocol::{
    CriticalPathAsk, CriticalPathReply, ErrorReply, OverTimeAsk, OverTimeReply, TableOnlyReply,
    WaitsAsk,
};

use crate::errors::service_error;
use crate::profile::unknown;
use crate::response::{Response, with_tables};
use crate::timeline::{expression, origin};

type Answered = Result<Response, ErrorReply>;

/// Bins unless a request says otherwise, and at most.
const BINS: u32 = 200;
const MOST_BINS: u32 = 1 << 16;

pub(crate) fn waits(opened: &Opened, ask: &WaitsAsk, control: &Control) -> Answered {
    let request = WaitsRequest {
        profiles: ask.profiles.clone(),
        window: expression(origin(opened)?, ask.window)?,
        kind: match ask.kind.as_deref() {
            None => None,
            Some("late_sender") => Some(WaitsKind::LateSender),
            Some("late_receiver") => Some(WaitsKind::LateReceiver),
            Some("collective") => Some(WaitsKind::Collective),
            Some("late_launch") => Some(WaitsKind::LateLaunch),
            Some("for_gpu") => Some(WaitsKind::ForGpu),
            Some(word) => {
                let known = "late_sender, late_receiver, collective, late_launch, for_gpu";
                return Err(unknown("kind", word, known));
            }
        },
        by: match ask.by.as_deref() {
            None | Some("function") => WaitsBy::Function,
            Some("context") => WaitsBy::Context,
            Some("track") => WaitsBy::Track,
            Some("pair") => WaitsBy::Pair,
            Some(word) => return Err(unknown("by", word, "function, context, track, pair")),
        },
    };
    let answer = opened.waits(&request, control).map_err(|error| service_error(&error))?;
    with_tables(ask, &TableOnlyReply { notes: answer.notes }, &[("rows", &answer.value)])
}

pub(crate) fn critical_path(opened: &Opened, ask: &CriticalPathAsk, control: &Control) -> Answered {
    let request = CriticalPathRequest {
        profiles: ask.profiles.clone(),
        window: expression(origin(opened)?, ask.window)?,
        by: match ask.by.as_deref() {
            None | Some("function") => CriticalPathBy::Function,
            Some("group") => CriticalPathBy::Group,
            Some("context") => CriticalPathBy::Context,
            Some("track") => CriticalPathBy::Track,
            Some(word) => return Err(unknown("by", word, "function, group, context, track")),
        },
        segments: ask.segments,
    };
    let answer = opened.critical_path(&request, control).map_err(|error| service_error(&error))?;
    let reply = CriticalPathReply {
        length_s: answer.value.length_seconds,
        segments: answer.value.num_segments as u64,
        locations: answer.value.num_locations as u64,
        notes: answer.notes,
    };
    with_tables(ask, &reply, &[("rows", &answer.value.table)])
}

pub(crate) fn over_time(opened: &Opened, ask: &OverTimeAsk, control: &Control) -> Answered {
    let request = OverTimeRequest {
        profiles: ask.profiles.clone(),
        window: expression(origin(opened)?, ask.window)?,
        what: match ask.what.as_deref() {
            None | Some("profile") => OverTimeWhat::Profile,
            Some("imbalance") => OverTimeWhat::Imbalance,
            Some("idle") => OverTimeWhat::Idle,
            Some("lateness") => OverTimeWhat::Lateness,
            Some("overlap") => OverTimeWhat::Overlap,
            Some(word) => {
                let known = "profile, imbalance, idle, lateness, overlap";
                return Err(unknown("what", word, known));
            }
        },
        by: match ask.by.as_deref() {
            None | Some("function") => OverTimeBy::Function,
            Some("group") => OverTimeBy::Group,
            Some(word) => return Err(unknown("by", word, "function, group")),
        },
        bins: ask.bins.unwrap_or(BINS).min(MOST_BINS) as usize,
    };
    let answer = opened.over_time(&request, control).map_err(|error| service_error(&error))?;
    let reply = OverTimeReply {
        bin_ns: answer.value.bin_nanos,
        bins: u32::try_from(answer.value.num_bins).unwrap_or(u32::MAX),
        notes: answer.notes,
    };
    let tables = [("rows", &answer.value.by_bin), ("totals", &answer.value.totals)];
    with_tables(ask, &reply, &tables)
}
