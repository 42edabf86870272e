//! Which format a file has, from its first bytes.

use crate::json::{Event, JsonLimits, JsonReader};

/// A format of scaling measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScalingFormat {
    /// PaScal Analyzer JSON: `config` and `data`.
    PascalAnalyzer,
    /// The region list of the 2018 viewer.
    PascalViewer2018,
    /// SPERF JSON, one region per file.
    SperfJson,
    /// SPERF XML, one region per file.
    SperfXml,
    /// SPERF CSV: efficiencies only.
    SperfCsv,
    /// SPERF and sprof text reports.
    SperfText,
    /// Extra-P text.
    ExtrapText,
    /// Extra-P JSON, with names or with id tables.
    ExtrapJson,
    /// Extra-P JSON Lines.
    ExtrapJsonLines,
    /// Talpas: JSON-like lines with `;`.
    ExtrapTalpas,
    /// `.extra-p`: a ZIP with `experiment.json`.
    ExtrapExperiment,
    /// TALP JSON of DLB, one run per file.
    TalpJson,
    /// POP metrics of basicanalysis (rows) or pypop (columns).
    PopCsv,
    /// A table with named columns.
    PlainCsv,
}

impl ScalingFormat {
    /// Display name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PascalAnalyzer => "PaScal Analyzer JSON",
            Self::PascalViewer2018 => "PaScal Viewer 2018 JSON",
            Self::SperfJson => "SPERF JSON",
            Self::SperfXml => "SPERF XML",
            Self::SperfCsv => "SPERF CSV",
            Self::SperfText => "SPERF text report",
            Self::ExtrapText => "Extra-P text",
            Self::ExtrapJson => "Extra-P JSON",
            Self::ExtrapJsonLines => "Extra-P JSON Lines",
            Self::ExtrapTalpas => "Talpas",
            Self::ExtrapExperiment => "Extra-P experiment",
            Self::TalpJson => "TALP JSON",
            Self::PopCsv => "POP metrics CSV",
            Self::PlainCsv => "CSV table",
        }
    }
}

/// Most bytes that [`sniff`] looks at.
pub(super) const PREFIX: usize = 64 << 10;

/// The format of a file, from the first bytes of its (decompressed) content; `None` for anything
/// that holds no scaling measurements.
///
/// The content decides. The name is a hint only for tables, which look alike: a table whose
/// columns are not telling is taken for [`ScalingFormat::PlainCsv`] when it is called `.csv` or
/// `.tsv`.
#[must_use]
pub fn sniff(prefix: &[u8], name: &str) -> Option<ScalingFormat> {
    let prefix = prefix.get(..PREFIX).unwrap_or(prefix);
    if prefix.starts_with(b"PK\x03\x04") {
        let has = |part: &[u8]| prefix.windows(part.len()).any(|window| window == part);
        return has(b"experiment.json").then_some(ScalingFormat::ExtrapExperiment);
    }
    let body = prefix.strip_prefix(b"\xef\xbb\xbf").unwrap_or(prefix);
    let start = body.iter().position(|b| !b.is_ascii_whitespace())?;
    let body = body.get(start..)?;
    match body.first()? {
        b'{' | b'[' => sniff_json(body),
        b'<' => {
            let head = body.get(..4096).unwrap_or(body);
            head.windows(7).any(|w| w == b"<regiao").then_some(ScalingFormat::SperfXml)
        }
        _ => sniff_text(prefix.get(..prefix.len().min(16 << 10))?, name),
    }
}

/// Names near the top of a JSON text.
#[derive(Default)]
struct Names {
    list: bool,
    /// Names of the outermost object, or of the first element of the outermost list.
    outer: Vec<String>,
    /// Names one level deeper, with the number of their outer name.
    inner: Vec<(usize, String)>,
    /// The outermost value is complete.
    complete: bool,
}

impl Names {
    fn of(text: &[u8]) -> Self {
        let mut names = Self::default();
        let mut reader =
            JsonReader::from_slice(text, JsonLimits { depth: 64, ..JsonLimits::default() });
        names.list = matches!(reader.next_event(), Ok(Event::BeginArray));
        let base = if names.list { 2 } else { 1 };
        while reader.depth() > 0 {
            let depth = reader.depth();
            match reader.next_event() {
                Ok(Event::Key(name)) if depth == base => names.outer.push(name.to_owned()),
                Ok(Event::Key(name)) if depth == base + 1 && names.inner.len() < 1000 => {
                    names.inner.push((names.outer.len(), name.to_owned()));
                }
                Ok(Event::EndObject) if names.list && depth == base => return names,
                Ok(_) => {}
                Err(_) => return names,
            }
        }
        names.complete = true;
        names
    }

    fn has(&self, name: &str) -> bool {
        self.outer.iter().any(|outer| outer == name)
    }

    fn below(&self, outer: &str) -> impl Iterator<Item = &str> {
        let nth = self.outer.iter().position(|name| name == outer).map(|at| at + 1);
        let inner = self.inner.iter().filter(move |(at, _)| Some(*at) == nth);
        inner.map(|(_, name)| name.as_str())
    }
}

fn sniff_json(body: &[u8]) -> Option<ScalingFormat> {
    let names = Names::of(body);
    if names.list {
        let fits = names.has("region") && names.has("executions");
        return fits.then_some(ScalingFormat::PascalViewer2018);
    }
    let config = |name: &str| {
        matches!(name, "data_descriptor" | "pkg" | "arguments" | "execdate" | "command")
    };
    let run_key = |key: &str| {
        key.contains(';') && key.split(';').all(|part| part.trim().parse::<f64>().is_ok())
    };
    if names.below("config").any(config) || names.below("data").any(run_key) {
        return Some(ScalingFormat::PascalAnalyzer);
    }
    if names.has("Region") && (names.has("Filename") || names.has("Execution 1")) {
        return Some(ScalingFormat::SperfJson);
    }
    if names.has("dlbVersion")
        || names.below("Application").next().is_some() && names.has("resources")
    {
        return Some(ScalingFormat::TalpJson);
    }
    if names.has("params") && names.has("value") {
        return Some(ScalingFormat::ExtrapJsonLines);
    }
    if names.has("parameters") && !names.has("measurements") && is_talpas(body, &names) {
        return Some(ScalingFormat::ExtrapTalpas);
    }
    let tables = ["parameters", "callpaths", "metrics", "coordinates", "measurements"];
    let known = names.outer.iter().filter(|name| tables.contains(&name.as_str())).count();
    let telling = names.has("coordinates") || names.has("callpaths") || names.has("Extra-P");
    let both = names.has("parameters") && names.has("measurements");
    (known > 0 && (both || telling)).then_some(ScalingFormat::ExtrapJson)
}

/// Whether the first line is one measurement of Talpas.
fn is_talpas(body: &[u8], names: &Names) -> bool {
    if names.complete {
        return names.has("value");
    }
    let line = body.split(|&b| b == b'\n').next().unwrap_or(body);
    let line = String::from_utf8_lossy(line);
    line.contains("\"value\"") && line.contains(';')
}

fn sniff_text(prefix: &[u8], name: &str) -> Option<ScalingFormat> {
    let text = String::from_utf8_lossy(prefix);
    if text.contains('\0') {
        return None;
    }
    let mut lines = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty());
    let mut first = lines.clone().find(|line| !line.trim_start().starts_with('#'))?;
    first = first.trim_start_matches('\u{feff}');
    let word = first.split_whitespace().next()?;
    if matches!(word, "PARAMETER" | "POINTS" | "METRIC" | "REGION" | "DATA") {
        return Some(ScalingFormat::ExtrapText);
    }
    if text.contains("-----> Execution number") || text.contains("--> Result for ") {
        return Some(ScalingFormat::SperfText);
    }
    let lowered = first.to_ascii_lowercase();
    if lowered.starts_with("number of processes;")
        || lowered.contains("parallel efficiency") && lowered.contains(',')
    {
        return Some(ScalingFormat::PopCsv);
    }
    let header = lines.next()?;
    let numbers = header.strip_prefix(',').map(|rest| rest.trim_end_matches(','));
    if numbers.is_some_and(|list| list.split(',').all(|n| n.trim().parse::<u32>().is_ok())) {
        return Some(ScalingFormat::SperfCsv);
    }
    let fields = crate::csv::split_header(first)?;
    let told = crate::csv_table::tells_scaling(&fields);
    let called = [".csv", ".tsv", ".csv.gz", ".csv.zst"]
        .iter()
        .any(|end| name.to_ascii_lowercase().ends_with(end));
    (told || called && fields.len() > 1).then_some(ScalingFormat::PlainCsv)
}
