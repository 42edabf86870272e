//! The report as one HTML file: no scripts, nothing from elsewhere, readable offline.

use std::fmt::Write as _;

use parallax_base::escaped_markup;
use parallax_protocol::ReportReply;
use parallax_service::analysis::report::Report;

use super::report::saving;
use crate::text::{Style, quantity, with_options};

/// Functions that are listed at most.
const MAX_FUNCTIONS: usize = 20;

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1b1b1f;--soft:#5d5d66;--page:#fff;--card:#f5f5f7;--line:#d9d9de;--bar:#35978f}\
@media (prefers-color-scheme:dark){:root{--ink:#e6e6ea;--soft:#a0a0aa;--page:#17171a;--card:#212126;--line:#3a3a42}}\
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);margin:0 auto;max-width:1000px;padding:1.5rem}\
h1{font-size:1.6rem;margin:0}h2{font-size:1.15rem;margin:2rem 0 .5rem}.soft{color:var(--soft)}\
ol{padding-left:1.4rem}li{background:var(--card);border-radius:4px;padding:.6rem .9rem;margin:.5rem 0}li p{margin:.2rem 0}\
.bar{background:var(--line);border-radius:2px;height:6px;margin:.3rem 0}.bar i{display:block;background:var(--bar);height:6px;border-radius:2px}\
code{font:13px ui-monospace,monospace;overflow-wrap:anywhere}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}td,th{padding:.2rem .7rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}\
td.number,th.number{text-align:right}.scroll{overflow-x:auto}";

/// The whole page; `against` is another execution and what changed since then.
pub(super) fn page(
    report: &Report,
    reply: &ReportReply,
    against: Option<(&str, &[String])>,
    style: &Style,
) -> String {
    let title = escaped_markup(&report.title);
    let unit = report.unit.to_string();
    let amount = |value: f64| escaped_markup(&quantity(value, &unit, style));
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>Report on {title}</title><style>{STYLE}</style></head>\n<body><main>\
         <h1>Report on {title}</h1>\n<p class=\"soft\">Metric {}; total {}; {} of {} locations with \
         values. {}</p>\n<p>Verdict: {}.</p>\n<h2>Top findings</h2>\n",
        escaped_markup(&report.metric_name),
        amount(report.program_total),
        report.num_sampled,
        report.num_locations,
        escaped_markup(&report.reason),
        escaped_markup(&reply.verdict.line),
    );
    if reply.findings.is_empty() {
        out.push_str("<p>No findings.</p>\n");
    }
    out.push_str("<ol>");
    for finding in &reply.findings {
        let width = finding.percent.clamp(0.0, 100.0);
        let saving = saving(finding, style).map_or_else(String::new, |text| format!(" {text}."));
        let _ = write!(
            out,
            "<li><p><b>{}.</b> {}{}</p><div class=\"bar\" role=\"img\" aria-label=\"Impact {width:.1} %\">\
             <i style=\"width:{width:.1}%\"></i></div><p class=\"soft\">Impact {width:.1} %; details: \
             <code>{}</code></p></li>",
            escaped_markup(&finding.title),
            escaped_markup(&with_options(&finding.text)),
            escaped_markup(&saving),
            escaped_markup(finding.next.as_deref().unwrap_or_default())
        );
    }
    out.push_str("</ol>\n");
    if !reply.notes.is_empty() {
        out.push_str("<h2>Notes</h2>\n<ul>");
        for note in &reply.notes {
            let _ = write!(out, "<li>{}</li>", escaped_markup(note));
        }
        out.push_str("</ul>\n");
    }
    if let Some((other, sentences)) = against {
        let _ = write!(out, "<h2>Compared with {}</h2>\n<ul>", escaped_markup(other));
        for sentence in sentences {
            let _ = write!(out, "<li>{}</li>", escaped_markup(sentence));
        }
        out.push_str("</ul>\n");
    }
    let what = if report.unit.is_time() { "time" } else { "value" };
    let _ = write!(
        out,
        "<h2>{}</h2>\n<div class=\"scroll\"><table><tr><th>Class</th>\
         <th class=\"number\">{}</th><th class=\"number\">Share</th></tr>",
        escaped_markup(&super::report::by_class(report)),
        if report.unit.is_time() { "Time" } else { "Value" },
    );
    for category in &report.categories {
        let share = category.percent.map_or_else(String::new, |percent| format!("{percent:.1} %"));
        let name = format!("{}: {}", category.class.major(), category.class.minor());
        row(&mut out, &name, &amount(category.cost), &share);
    }
    let _ = write!(
        out,
        "</table></div>\n<h2>Functions by exclusive {what}</h2>\n<div class=\"scroll\"><table>\
         <tr><th>Function</th><th class=\"number\">Exclusive {what}</th>\
         <th class=\"number\">Share</th></tr>",
    );
    for function in report.top_functions.iter().take(MAX_FUNCTIONS) {
        let share = if report.program_total > 0.0 {
            format!("{:.1} %", function.exclusive / report.program_total * 100.0)
        } else {
            String::new()
        };
        row(&mut out, &function.name, &amount(function.exclusive), &share);
    }
    out.push_str("</table></div>\n");
    if report.top_functions.len() > MAX_FUNCTIONS {
        let _ = write!(
            out,
            "<p class=\"soft\">The {MAX_FUNCTIONS} functions with the largest exclusive {what}.</p>"
        );
    }
    out.push_str("</main></body></html>\n");
    out
}

fn row(out: &mut String, name: &str, cost: &str, share: &str) {
    let _ = write!(
        out,
        "<tr><td>{}</td><td class=\"number\">{cost}</td><td class=\"number\">{share}</td></tr>",
        escaped_markup(name)
    );
}
