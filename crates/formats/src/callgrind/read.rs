//! Text to tables.

use std::collections::HashMap;

use parallax_base::{ByteSource, Issues, Limits, Place, Severity, Stage, read_range};

use super::names::Names;
use super::records::{CallRow, CallgrindProfile, CostRow, EventName, FunctionName, Part, Spot};
use crate::FormatError;
use crate::stream::{BorrowedStream, LineReader};

/// The line that new files begin with.
const MARK: &str = "# callgrind format";

/// Bytes that may come before the `events:` line; command lines can be long.
const HEAD_BYTES: u64 = 16 << 10;

/// Keys of head lines.
const KEYS: [&str; 12] = [
    "version",
    "creator",
    "pid",
    "thread",
    "part",
    "cmd",
    "desc",
    "positions",
    "event",
    "events",
    "summary",
    "totals",
];

/// Whether a file is a profile of Callgrind or Cachegrind. Looks at its head.
#[must_use]
pub fn is_callgrind(source: &dyn ByteSource) -> bool {
    let Ok(head) = read_range(source, 0, source.len().min(HEAD_BYTES)) else { return false };
    let text = String::from_utf8_lossy(&head);
    if text.starts_with(MARK) {
        return true;
    }
    // Older files and those of Cachegrind have no mark, but nothing except known keys up to the
    // line that every file must have.
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.split_once(':') {
            _ if line.starts_with('#') => {}
            Some(("events", _)) => return true,
            Some((key, _)) if KEYS.contains(&key) => {}
            _ => return false,
        }
    }
    false
}

/// The command line that the head of a profile names; `None` where it names none.
#[must_use]
pub fn command(source: &dyn ByteSource) -> Option<String> {
    let head = read_range(source, 0, source.len().min(HEAD_BYTES)).ok()?;
    let text = String::from_utf8_lossy(&head);
    let command = text.lines().find_map(|line| line.trim().strip_prefix("cmd:"))?;
    Some(command.trim().to_owned())
}

/// Reads a profile of Callgrind or Cachegrind.
///
/// # Errors
/// When the storage fails, there is no `events:` line before the first cost, or the file needs more
/// memory than `limits` allow. Lines that mean nothing are Issues.
pub fn read_callgrind(
    source: &dyn ByteSource,
    file: &str,
    limits: &Limits,
    issues: &mut Issues,
) -> Result<CallgrindProfile, FormatError> {
    // Each line of a file becomes at most one row.
    limits
        .metadata("the profile", source.len())
        .map_err(|cause| FormatError::Limit { file: file.to_owned(), cause })?;
    let mut reader = Reader::new(file, issues);
    let mut lines = LineReader::new(BorrowedStream::new(source));
    while let Some(line) = lines.next_line().map_err(|cause| FormatError::read(file, cause))? {
        reader.offset = line.offset;
        reader.line(&line.text())?;
    }
    reader.finish()
}

/// What the numbers at the front of a cost line mean.
#[derive(Debug, Clone, Copy)]
struct Positions {
    /// Which of them is the address, and which the line.
    address: Option<usize>,
    line: Option<usize>,
    count: usize,
}

impl Positions {
    const LINE: Self = Self { address: None, line: Some(0), count: 1 };

    fn of(text: &str) -> Self {
        let words: Vec<&str> = text.split_whitespace().collect();
        let at = |names: &[&str]| words.iter().position(|word| names.contains(word));
        Self { address: at(&["instr", "addr"]), line: at(&["line"]), count: words.len() }
    }
}

/// The calls whose cost the next line says.
#[derive(Debug, Clone, Copy)]
struct Pending {
    callee: u32,
    count: u64,
}

struct Reader<'i> {
    file: &'i str,
    issues: &'i mut Issues,
    offset: u64,
    out: CallgrindProfile,
    part: Part,
    cost_rows: HashMap<Spot, usize>,
    call_rows: HashMap<(Spot, u32), usize>,
    objects: Names,
    files: Names,
    names: Names,
    functions: HashMap<FunctionName, u32>,
    /// Positions of this part's events in those of the file; empty before its `events:` line.
    events: Vec<usize>,
    positions: Positions,
    last: [u64; 3],
    object: Option<u32>,
    source: Option<u32>,
    function: Option<u32>,
    called_object: Option<u32>,
    called_source: Option<u32>,
    called_name: Option<u32>,
    pending: Option<Pending>,
    is_jump: bool,
    formulas: Vec<(EventName, String)>,
}

impl<'i> Reader<'i> {
    fn new(file: &'i str, issues: &'i mut Issues) -> Self {
        Self {
            file,
            issues,
            offset: 0,
            out: CallgrindProfile::default(),
            part: Part::default(),
            cost_rows: HashMap::new(),
            call_rows: HashMap::new(),
            objects: Names::default(),
            files: Names::default(),
            names: Names::default(),
            functions: HashMap::new(),
            events: Vec::new(),
            positions: Positions::LINE,
            last: [0; 3],
            object: None,
            source: None,
            function: None,
            called_object: None,
            called_source: None,
            called_name: None,
            pending: None,
            is_jump: false,
            formulas: Vec::new(),
        }
    }

    fn report(&mut self, severity: Severity, kind: &'static str, message: impl FnOnce() -> String) {
        let place = Place::Byte { file: self.file.to_owned(), offset: self.offset };
        self.issues.report(severity, Stage::Read, kind, place, message);
    }

    fn line(&mut self, line: &str) -> Result<(), FormatError> {
        let text = line.trim();
        match text.as_bytes().first() {
            None | Some(b'#') => Ok(()),
            Some(b'0'..=b'9' | b'+' | b'-' | b'*') => self.cost_line(text),
            Some(_) => {
                let equals = text.find('=');
                let colon = text.find(':');
                // `fn=a::b` has both; `event: Sum = Ir` too, and there the colon comes first.
                match (equals, colon) {
                    (Some(e), c) if c.is_none_or(|c| e < c) => {
                        let (key, value) = text.split_at(e);
                        self.body_line(key, value.get(1..).unwrap_or_default().trim());
                    }
                    (_, Some(c)) => {
                        let (key, value) = text.split_at(c);
                        self.head_line(key.trim(), value.get(1..).unwrap_or_default().trim());
                    }
                    _ => self.unknown(text),
                }
                Ok(())
            }
        }
    }

    fn unknown(&mut self, text: &str) {
        let text: String = text.chars().take(60).collect();
        self.report(Severity::Warning, "line-unknown", || {
            format!("a line that the format does not have is omitted: {text}")
        });
    }

    fn head_line(&mut self, key: &str, value: &str) {
        if !KEYS.contains(&key) {
            self.unknown(key);
            return;
        }
        if !matches!(key, "totals" | "summary") && self.part.has_body() {
            self.end_part();
        }
        match key {
            "creator" => self.out.creator = value.to_owned(),
            "cmd" => self.out.command = value.to_owned(),
            "pid" => self.part.process = value.parse().ok(),
            "thread" => self.part.thread = value.parse().ok(),
            "part" => self.part.number = value.parse().ok(),
            "desc" => {
                let (kind, text) = value.split_once(':').unwrap_or((value, ""));
                let text = text.trim();
                if !text.is_empty() {
                    self.part.descriptions.push((kind.trim().to_owned(), text.to_owned()));
                }
            }
            "positions" => self.positions = Positions::of(value),
            "event" => self.event(value),
            "events" => {
                let names: Vec<&str> = value.split_whitespace().collect();
                self.events = names.iter().map(|name| self.event_row(name)).collect();
            }
            "summary" => self.part.summary = Some(self.numbers(value)),
            "totals" => self.part.totals = Some(self.numbers(value)),
            _ => {}
        }
    }

    fn event_row(&mut self, name: &str) -> usize {
        let events = &mut self.out.events;
        if let Some(at) = events.iter().position(|event| &*event.name == name) {
            return at;
        }
        let blank = EventName { name: name.into(), long_name: "".into(), terms: Vec::new() };
        events.push(blank);
        events.len() - 1
    }

    /// `Ir : Instruction Fetches`, or `Sum = Ir + 2 Dr : All`.
    fn event(&mut self, value: &str) {
        let (left, long_name) = value.split_once(':').unwrap_or((value, ""));
        let (name, formula) = left.split_once('=').unwrap_or((left, ""));
        let event = EventName {
            name: name.trim().into(),
            long_name: long_name.trim().into(),
            terms: Vec::new(),
        };
        if !self.formulas.iter().any(|(known, _)| known.name == event.name) {
            self.formulas.push((event, formula.trim().to_owned()));
        }
    }

    /// Numbers of a head line, by position in the events of the file.
    fn numbers(&mut self, value: &str) -> Vec<u64> {
        let words = value.split_whitespace();
        let numbers: Vec<u64> = words.map(|word| number(word).unwrap_or(0)).collect();
        self.spread(numbers)
    }

    /// Costs in the order of this part's events, in the order of the file's.
    fn spread(&self, costs: Vec<u64>) -> Vec<u64> {
        let is_same = self.events.iter().enumerate().all(|(at, &event)| at == event);
        if is_same {
            return costs;
        }
        let mut out = vec![0; self.out.events.len()];
        for (&event, cost) in self.events.iter().zip(costs) {
            if let Some(slot) = out.get_mut(event) {
                *slot = cost;
            }
        }
        out
    }

    fn body_line(&mut self, key: &str, value: &str) {
        match key {
            "ob" => self.object = self.name(|reader| &mut reader.objects, value),
            "fl" | "fi" | "fe" => self.source = self.name(|reader| &mut reader.files, value),
            "fn" => {
                let name = self.name(|reader| &mut reader.names, value);
                self.function = name.map(|name| self.function(self.object, self.source, name));
            }
            "cob" => self.called_object = self.name(|reader| &mut reader.objects, value),
            "cfi" | "cfl" => self.called_source = self.name(|reader| &mut reader.files, value),
            "cfn" => self.called_name = self.name(|reader| &mut reader.names, value),
            "calls" => self.calls(value),
            // Targets of jumps may define names; jumps themselves are not kept.
            "jfi" | "jfl" => _ = self.name(|reader| &mut reader.files, value),
            "jfn" => _ = self.name(|reader| &mut reader.names, value),
            "job" => _ = self.name(|reader| &mut reader.objects, value),
            "jump" | "jcnd" => self.is_jump = true,
            _ => self.unknown(key),
        }
    }

    fn name(&mut self, names: impl Fn(&mut Self) -> &mut Names, spec: &str) -> Option<u32> {
        let found = names(self).resolve(spec);
        if found.is_none() {
            self.report(Severity::Error, "name-undefined", || {
                format!("the number {spec} stands for a name that is defined nowhere before")
            });
            return Some(names(self).intern("???"));
        }
        found
    }

    fn function(&mut self, object: Option<u32>, file: Option<u32>, name: u32) -> u32 {
        let (object, file) = (self.objects.known(object), self.files.known(file));
        let key = FunctionName { object, file, name };
        let next = u32::try_from(self.out.functions.len()).unwrap_or(u32::MAX);
        let at = *self.functions.entry(key).or_insert(next);
        if at == next {
            self.out.functions.push(key);
        }
        at
    }

    fn calls(&mut self, value: &str) {
        let count = value.split_whitespace().next().and_then(number);
        let Some(name) = self.called_name.take() else {
            self.report(Severity::Error, "call-without-callee", || {
                "calls= comes without cfn=; the calls are omitted".to_owned()
            });
            self.is_jump = true;
            return;
        };
        // What is not said of the callee is as it is here.
        let object = self.called_object.take().or(self.object);
        let file = self.called_source.take().or(self.source);
        let callee = self.function(object, file, name);
        self.pending = Some(Pending { callee, count: count.unwrap_or(0) });
    }

    fn cost_line(&mut self, text: &str) -> Result<(), FormatError> {
        if self.events.is_empty() {
            let what = "costs come before the line that names the events";
            return Err(FormatError::malformed(self.file, self.offset, what));
        }
        let mut words = text.split_whitespace();
        let mut is_broken = false;
        for slot in self.last.iter_mut().take(self.positions.count) {
            match words.next().and_then(|word| moved(*slot, word)) {
                Some(value) => *slot = value,
                None => is_broken = true,
            }
        }
        let mut costs = Vec::with_capacity(self.events.len());
        for word in words {
            match number(word) {
                Some(cost) => costs.push(cost),
                None => is_broken = true,
            }
        }
        if is_broken || costs.len() > self.events.len() {
            self.report(Severity::Error, "cost-line-broken", || {
                let text: String = text.chars().take(60).collect();
                format!("a line of costs has words that are no numbers, or too many: {text}")
            });
        }
        costs.truncate(self.events.len());
        if std::mem::take(&mut self.is_jump) {
            return Ok(());
        }
        let costs = self.spread(costs);
        let pending = self.pending.take();
        let Some(spot) = self.spot() else { return Ok(()) };
        match pending {
            Some(Pending { callee, count }) => {
                let next = self.part.calls.len();
                let at = *self.call_rows.entry((spot, callee)).or_insert(next);
                if at == next {
                    self.part.calls.push(CallRow {
                        from: spot,
                        callee,
                        count: 0,
                        costs: Vec::new(),
                    });
                }
                if let Some(row) = self.part.calls.get_mut(at) {
                    row.count = row.count.saturating_add(count);
                    add(&mut row.costs, &costs);
                }
            }
            None if costs.iter().all(|&cost| cost == 0) => {}
            None => {
                let next = self.part.costs.len();
                let at = *self.cost_rows.entry(spot).or_insert(next);
                if at == next {
                    self.part.costs.push(CostRow { spot, costs: Vec::new() });
                }
                if let Some(row) = self.part.costs.get_mut(at) {
                    add(&mut row.costs, &costs);
                }
            }
        }
        Ok(())
    }

    fn spot(&mut self) -> Option<Spot> {
        let Some(function) = self.function else {
            self.report(Severity::Error, "cost-without-function", || {
                "costs come before the first function; they are omitted".to_owned()
            });
            return None;
        };
        let at = |position: Option<usize>| position.and_then(|at| self.last.get(at)).copied();
        let line = at(self.positions.line).and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
        let address = if self.positions.line.is_some() { None } else { at(self.positions.address) };
        let file = self.files.known(self.source);
        Some(Spot { function, file, line, address: address.unwrap_or(0) })
    }

    fn end_part(&mut self) {
        let part = std::mem::take(&mut self.part);
        self.cost_rows.clear();
        self.call_rows.clear();
        self.check(&part);
        // A thread's parts follow each other; what a head does not repeat stays as it is.
        self.part.process = part.process;
        self.part.thread = part.thread;
        self.out.parts.push(part);
    }

    /// Compares what the part says of its sum with its sum.
    fn check(&mut self, part: &Part) {
        let mut sum = Vec::new();
        part.costs.iter().for_each(|row| add(&mut sum, &row.costs));
        let text = |costs: &[u64]| {
            let words: Vec<String> = costs.iter().map(u64::to_string).collect();
            words.join(" ")
        };
        if let Some(totals) = &part.totals
            && trimmed(totals) != trimmed(&sum)
        {
            self.report(Severity::Error, "totals-differ", || {
                format!(
                    "the file says that its costs add up to {}, but they add up to {}; lines may be \
                     missing",
                    text(totals),
                    text(&sum)
                )
            });
        }
        let Some(summary) = part.summary.as_deref().filter(|summary| !trimmed(summary).is_empty())
        else {
            return;
        };
        let pairs = || {
            (0..summary.len().max(sum.len())).map(|at| (at_or_0(summary, at), at_or_0(&sum, at)))
        };
        if pairs().any(|(said, found)| said < found) {
            self.report(Severity::Warning, "summary-smaller", || {
                let (said, found) = (text(summary), text(&sum));
                format!("the summary {said} is less than the sum of all costs, {found}")
            });
        } else if pairs().any(|(said, found)| said > found) {
            self.report(Severity::Note, "summary-larger", || {
                let (said, found) = (text(summary), text(&sum));
                format!("the run cost {said}, but only {found} of that is told by function")
            });
        }
    }

    fn finish(mut self) -> Result<CallgrindProfile, FormatError> {
        if self.events.is_empty() {
            let what = "there is no line that names the events";
            return Err(FormatError::malformed(self.file, self.offset, what));
        }
        self.end_part();
        for (event, formula) in std::mem::take(&mut self.formulas) {
            let known = self.out.events.iter_mut().find(|known| known.name == event.name);
            match (known, formula.as_str()) {
                (Some(known), _) => known.long_name = event.long_name,
                (None, "") => {}
                (None, formula) => match terms(formula, &self.out.events) {
                    Some(terms) => self.out.derived.push(EventName { terms, ..event }),
                    None => {
                        let formula = formula.to_owned();
                        self.report(Severity::Warning, "event-unknown", || {
                            format!("{} = {formula} names events that the file lacks", event.name)
                        });
                    }
                },
            }
        }
        self.out.objects = self.objects.list;
        self.out.files = self.files.list;
        self.out.names = self.names.list;
        Ok(self.out)
    }
}

fn at_or_0(numbers: &[u64], at: usize) -> u64 {
    numbers.get(at).copied().unwrap_or(0)
}

/// Numbers without the zeros at their end, which files leave out.
fn trimmed(numbers: &[u64]) -> &[u64] {
    let end = numbers.iter().rposition(|&n| n != 0).map_or(0, |at| at + 1);
    numbers.get(..end).unwrap_or_default()
}

/// Adds costs; a sum beyond 64 bits stays at the largest number.
fn add(sum: &mut Vec<u64>, costs: &[u64]) {
    if sum.len() < costs.len() {
        sum.resize(costs.len(), 0);
    }
    for (sum, &cost) in sum.iter_mut().zip(costs) {
        *sum = sum.saturating_add(cost);
    }
}

fn number(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

/// A position: a number, or a distance from the last one.
fn moved(last: u64, word: &str) -> Option<u64> {
    if let Some(distance) = word.strip_prefix('+') {
        return last.checked_add(number(distance)?);
    }
    if let Some(distance) = word.strip_prefix('-') {
        return last.checked_sub(number(distance)?);
    }
    if word == "*" { Some(last) } else { number(word) }
}

/// `Ir + 2 Dr`, `2*Ir`: factors and events.
fn terms(formula: &str, events: &[EventName]) -> Option<Vec<(u64, usize)>> {
    let term = |text: &str| {
        let text = text.replace('*', " ");
        let words: Vec<&str> = text.split_whitespace().collect();
        let (factor, name) = match words.as_slice() {
            [name] => (1, *name),
            [factor, name] => (factor.parse().ok()?, *name),
            _ => return None,
        };
        Some((factor, events.iter().position(|event| &*event.name == name)?))
    };
    formula.split('+').map(term).collect()
}
