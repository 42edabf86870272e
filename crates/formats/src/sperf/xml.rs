//! SPERF's XML: `<regiao><l>first</l><l>last</l><p>file</p><execucoes><item><arg>a b</arg>
//! <execucao><n>threads</n><t>time</t>...</execucao>...</item>...</execucoes>...</regiao>`.
//!
//! The format has no attributes, no namespaces and no XML header, so a walk over the tags is
//! enough. Each `execucoes` is one repetition.

use parallax_base::{Severity, Unit};

use crate::FormatError;
use crate::pascal::region_by_lines;
use crate::scaling_data::{
    Builder, Measurements, Nesting, ReadOptions, Report, ScalingFormat, metric_names, number,
    parameter_names, whole,
};
use crate::stream::ByteStream;

/// A tag and the text before it.
struct Tag<'a> {
    text: &'a str,
    name: &'a str,
    closes: bool,
    offset: usize,
}

/// The tags of `xml` in order; comments and declarations are passed over. The error is the place
/// of a tag that does not end.
fn tags(xml: &str) -> impl Iterator<Item = Result<Tag<'_>, usize>> {
    let mut at = 0;
    let mut broken = false;
    std::iter::from_fn(move || {
        loop {
            let rest = xml.get(at..).filter(|_| !broken)?;
            let open = rest.find('<')?;
            let (text, tag) = (rest.get(..open)?, rest.get(open + 1..)?);
            let end = if tag.starts_with("!--") { "-->" } else { ">" };
            let Some(close) = tag.find(end) else {
                broken = true;
                return Some(Err(at + open));
            };
            let offset = at + open;
            at = offset + 1 + close + end.len();
            let name = tag.get(..close)?;
            if name.starts_with(['!', '?']) {
                continue;
            }
            let closes = name.starts_with('/');
            let name = name.trim_start_matches('/').trim();
            return Some(Ok(Tag { text: text.trim(), name, closes, offset }));
        }
    })
}

fn unescape(text: &str) -> String {
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// Reads a SPERF XML file. One that ends early gives the runs before.
///
/// # Errors
/// When there is no complete run.
pub(crate) fn read(
    stream: &mut dyn ByteStream,
    options: &ReadOptions<'_>,
    report: &mut Report<'_>,
) -> Result<Measurements, FormatError> {
    let bytes = whole(stream, options)?;
    let xml = String::from_utf8_lossy(&bytes);
    let mut builder = Builder::new(ScalingFormat::SperfXml, Nesting::Lines, options.limits);
    builder.program();
    let (cores, inputs) =
        (builder.parameter(parameter_names::CORES), builder.parameter(parameter_names::INPUT));
    let time = builder.metric(metric_names::TIME, &Unit::Seconds);
    let (mut lines, mut file, mut argument) = (Vec::new(), String::new(), String::new());
    let (mut threads, mut seconds) = (None, None);
    let mut repetition = 0;
    let mut closed = false;
    for tag in tags(&xml) {
        let tag = match tag {
            Ok(tag) => tag,
            Err(offset) => {
                report.at(Severity::Error, "bad-tag", offset as u64, || {
                    "a tag does not end; what follows is not read".to_owned()
                });
                break;
            }
        };
        match (tag.name, tag.closes) {
            // The first and the last line; a region has no more.
            ("l", true) if lines.len() < 2 => lines.push(tag.text.to_owned()),
            ("p", true) => file = unescape(tag.text),
            ("arg", true) => argument = unescape(tag.text),
            ("n", true) => threads = number(tag.text).filter(|n| *n > 0.0),
            ("t", true) => seconds = number(tag.text).filter(|s| *s >= 0.0),
            ("execucoes", false) => repetition += 1,
            ("execucao", false) => (threads, seconds) = (None, None),
            ("execucao", true) => {
                let (Some(count), Some(value)) = (threads, seconds) else {
                    report.at(Severity::Error, "bad-run", tag.offset as u64, || {
                        "a run has no threads and time; it is omitted".to_owned()
                    });
                    continue;
                };
                let region = region_by_lines(&mut builder, &lines.join(", "), &file);
                let count = builder.value_of_number(cores, count);
                let input = builder.value(inputs, &argument, None);
                let coordinate = builder.coordinate(vec![count, input]);
                let run = builder.run(coordinate, repetition.max(1));
                builder.push(time, region, run, value);
            }
            ("regiao", true) => closed = true,
            _ => {}
        }
    }
    if builder.num_samples() == 0 {
        return Err(FormatError::malformed(options.file, 0, "the file has no complete run"));
    }
    if !closed {
        report.whole(Severity::Error, "file-ends-early", || {
            "the file ends before </regiao>; the runs before its end are kept".to_owned()
        });
    }
    Ok(builder.finish(report))
}
