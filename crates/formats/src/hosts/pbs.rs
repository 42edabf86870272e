//! `pbsnodes -F json`: an object whose `nodes` has one object for each virtual node.

use super::{HostError, HostFile, HostFormat, HostRecord, push};
use crate::json::{Event, JsonError, JsonLimits, JsonReader, Value};
use crate::stream::SliceStream;

/// A node's attributes are some hundred short values.
const LIMITS: JsonLimits = JsonLimits { depth: 32, token_bytes: 1 << 20, values: 1 << 16 };

pub(super) fn read(text: &str, file: &str) -> Result<HostFile, HostError> {
    let broken = |error: &JsonError| {
        let offset = usize::try_from(error.offset).unwrap_or(usize::MAX);
        let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count() as u64;
        HostError::line(file, line, error.to_string())
    };
    let mut reader = JsonReader::new(SliceStream::new(text.as_bytes()), LIMITS);
    let mut nodes: Option<Vec<HostRecord>> = None;
    reader.next_event().map_err(|error| broken(&error))?;
    while let Some(key) = reader.next_key().map_err(|error| broken(&error))? {
        if key != "nodes" {
            reader.skip_value().map_err(|error| broken(&error))?;
            continue;
        }
        if reader.next_event().map_err(|error| broken(&error))? != Event::BeginObject {
            break;
        }
        let list = nodes.get_or_insert_default();
        while let Some(name) = reader.next_key().map_err(|error| broken(&error))? {
            let value = reader.read_value().map_err(|error| broken(&error))?;
            push(list, host(name, &value), file)?;
        }
    }
    // Text after the object is an error, too.
    reader.next_event().map_err(|error| broken(&error))?;
    match nodes {
        Some(hosts) => Ok(HostFile { format: HostFormat::PbsNodes, hosts, notes: Vec::new() }),
        None => Err(HostError::Unknown {
            file: file.to_owned(),
            what: "it is JSON without an object \"nodes\"".into(),
        }),
    }
}

fn host(name: String, value: &Value) -> HostRecord {
    let available = value.get("resources_available");
    let text = |name: &str| available?.get(name)?.as_str().map(str::to_owned);
    let mut host = HostRecord { names: vec![name], ..HostRecord::default() };
    let mom = value.get("Mom").and_then(Value::as_str).map(str::to_owned);
    for name in [mom, text("host"), text("vnode")].into_iter().flatten() {
        if !host.names.contains(&name) {
            host.names.push(name);
        }
    }
    // Tiers are what a site makes of them: `x4519` and `x4519c3` on Aurora, `x3101-g4` and `g4` on
    // Polaris.
    for tier in [text("tier0"), text("tier1")].into_iter().flatten() {
        for part in tier.split('-') {
            let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            if part.strip_prefix('g').is_some_and(digits) {
                host.place.group.get_or_insert_with(|| part.to_owned());
            } else if part.strip_prefix('x').is_some_and(digits) {
                host.place.rack.get_or_insert_with(|| part.to_owned());
            }
        }
    }
    host
}
