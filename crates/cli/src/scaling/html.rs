//! The answer as one HTML file: no scripts, nothing from elsewhere, readable offline.

use std::fmt::Write as _;

use parallax_base::escaped_markup;
use parallax_service::Severity;
use parallax_service::scaling::ScalingAnswer;

use super::args::Mode;
use super::heat::heat_maps;
use super::svg;

/// Regions with maps at most; the others are in the table.
const MAX_REGIONS: usize = 60;
/// Rows of the table of losses at most.
const MAX_LOSSES: usize = 40;

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1b1b1f;--soft:#5d5d66;--page:#fff;--card:#f5f5f7;--line:#d9d9de}\
@media (prefers-color-scheme:dark){:root{--ink:#e6e6ea;--soft:#a0a0aa;--page:#17171a;--card:#212126;--line:#3a3a42}}\
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);margin:0 auto;max-width:1500px;padding:1.5rem}\
h1{font-size:1.6rem;margin:0}h2{font-size:1.15rem;margin:2rem 0 .5rem}.soft{color:var(--soft)}\
ul.verdict{background:var(--card);border-left:4px solid #35978f;padding:.8rem 1rem .8rem 2rem;border-radius:4px}\
.maps{display:flex;flex-wrap:wrap;gap:1.2rem;overflow-x:auto}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}td,th{padding:.2rem .7rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}\
td.number,th.number{text-align:right}details{border-top:1px solid var(--line);padding:.4rem 0}\
summary{cursor:pointer}summary code,td code{font:13px ui-monospace,monospace}.scroll{overflow-x:auto}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .8rem}dt{color:var(--soft)}dd{margin:0}";

/// The whole page.
pub(super) fn page(answer: &ScalingAnswer, mode: Mode, is_smooth: bool) -> String {
    let title = escaped_markup(&answer.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>Scaling of {title}</title><style>{STYLE}</style></head>\n<body>\
         <h1>Scaling of {title}</h1><p class=\"soft\">{}</p>\n",
        escaped_markup(&answer.source)
    );
    verdict(answer, &mut out);
    legend(answer, &mut out);
    out.push_str("<h2>Whole program</h2>\n");
    maps(answer, 0, mode, is_smooth, &mut out);
    losses(answer, &mut out);
    regions(answer, mode, is_smooth, &mut out);
    remarks(answer, &mut out);
    out.push_str(
        "<p class=\"soft\">Hover over a cell for its exact value. Columns are inputs, rows are \
         core counts. Efficiency is speedup per core, relative to the baseline; the other maps are \
         differences of efficiency on one scale, green where it is better.</p></body></html>\n",
    );
    out
}

fn verdict(answer: &ScalingAnswer, out: &mut String) {
    for warning in answer.warnings() {
        let _ = write!(out, "<p><strong>Warning:</strong> {}</p>", escaped_markup(&warning));
    }
    out.push_str("<ul class=\"verdict\">");
    for sentence in answer.verdict() {
        let _ = write!(out, "<li>{}</li>", escaped_markup(sentence));
    }
    out.push_str("</ul>\n");
}

fn legend(answer: &ScalingAnswer, out: &mut String) {
    out.push_str("<dl>");
    for (at, input) in answer.inputs.iter().enumerate().filter(|(_, input)| !input.is_empty()) {
        let _ = write!(out, "<dt>i{}</dt><dd><code>{}</code></dd>", at + 1, escaped_markup(input));
    }
    out.push_str("</dl>\n");
}

fn maps(answer: &ScalingAnswer, region: usize, mode: Mode, is_smooth: bool, out: &mut String) {
    let Some(found) = answer.maps(region) else { return };
    out.push_str("<div class=\"maps\">");
    for heat in heat_maps(found, mode, &answer.rows) {
        out.push_str(&svg::map(&heat, is_smooth));
    }
    out.push_str("</div>\n");
}

fn losses(answer: &ScalingAnswer, out: &mut String) {
    let ranked = answer.ranked();
    let Some((input, core_idx)) = answer.worst.filter(|_| ranked.len() > 1) else { return };
    let _ = write!(
        out,
        "<h2>Parallel overhead by region, input i{} on {} cores</h2><div \
         class=\"scroll\"><table><tr><th>region</th><th>name</th><th class=\"number\">exclusive \
         overhead (core-{})</th><th class=\"number\">share</th><th>cause</th></tr>",
        input + 1,
        answer.cores.get(core_idx).copied().unwrap_or(0),
        answer.unit
    );
    for loss in ranked.iter().take(MAX_LOSSES) {
        let Some(region) = answer.regions.get(loss.region) else { continue };
        // Adding zero takes the sign from a zero.
        let percent = |share: f64| (1000.0 * share).round() / 10.0 + 0.0;
        let share = loss.share.map(|share| format!("{:.1} %", percent(share))).unwrap_or_default();
        let name = answer.display_name(loss.region);
        let _ = write!(
            out,
            "<tr><td><code>{}</code></td><td title=\"{}\">{}</td>\
             <td class=\"number\" title=\"{}\">{:.4}</td><td class=\"number\">{share}</td>\
             <td>{}</td></tr>",
            escaped_markup(&region.region.id),
            escaped_markup(&region.region.path),
            escaped_markup(if name.is_empty() { &region.region.path } else { &name }),
            loss.own,
            loss.own,
            region.cause.as_ref().map(|cause| escaped_markup(&cause.words())).unwrap_or_default()
        );
    }
    out.push_str("</table></div>\n");
    match ranked.len().saturating_sub(MAX_LOSSES) {
        0 => {}
        1 => out.push_str("<p class=\"soft\">1 more region has less overhead.</p>"),
        more => {
            let _ = write!(out, "<p class=\"soft\">{more} more regions have less overhead.</p>");
        }
    }
}

fn regions(answer: &ScalingAnswer, mode: Mode, is_smooth: bool, out: &mut String) {
    let shown: Vec<usize> = answer.shown().filter(|&region| region != 0).collect();
    if shown.is_empty() {
        return;
    }
    // Of many regions, those that take the largest share; in the order of the tree.
    let mut chosen = shown.clone();
    if chosen.len() > MAX_REGIONS {
        let share = |at: usize| {
            let whole = answer.maps(0)?.time.min_max()?.1;
            Some(answer.maps(at)?.time.min_max()?.1 / whole)
        };
        chosen.sort_by(|&a, &b| share(b).unwrap_or(0.0).total_cmp(&share(a).unwrap_or(0.0)));
        chosen.truncate(MAX_REGIONS);
        chosen.sort_unstable();
    }
    out.push_str("<h2>Regions</h2>\n");
    for &at in &chosen {
        let Some(region) = answer.regions.get(at) else { continue };
        let share = region
            .share_of_parent
            .map(|(low, high)| format!("{low:.1} to {high:.1} % of its parent"))
            .unwrap_or_default();
        let name = answer.display_name(at);
        let thumbnail = answer
            .maps(at)
            .and_then(|maps| heat_maps(maps, mode, &answer.rows).first().map(svg::thumbnail))
            .unwrap_or_default();
        let _ = write!(
            out,
            "<details style=\"margin-left:{}rem\"><summary>{thumbnail} <code>{}</code> {} \
             <span class=\"soft\">{share}</span></summary><p class=\"soft\">{}</p>\
             <ul class=\"verdict\">",
            region.depth.saturating_sub(1).min(20),
            escaped_markup(&region.region.id),
            escaped_markup(&name),
            escaped_markup(&region.region.path),
        );
        for sentence in &region.verdict.sentences {
            let _ = write!(out, "<li>{}</li>", escaped_markup(sentence));
        }
        out.push_str("</ul>");
        maps(answer, at, mode, is_smooth, out);
        out.push_str("</details>\n");
    }
    if chosen.len() < shown.len() {
        let _ = write!(
            out,
            "<p class=\"soft\">{} of {} regions are shown: those with the largest time.</p>",
            chosen.len(),
            shown.len()
        );
    }
}

fn remarks(answer: &ScalingAnswer, out: &mut String) {
    if answer.notes.is_empty() && answer.issues.is_empty() {
        return;
    }
    out.push_str("<h2>Notes and issues</h2><ul>");
    for note in &answer.notes {
        let _ = write!(out, "<li>{}</li>", escaped_markup(note));
    }
    for issue in answer.issues.list() {
        let word = match issue.severity {
            Severity::Note => "Note",
            Severity::Warning => "Warning",
            Severity::Error => "Error",
        };
        let _ = write!(
            out,
            "<li><b>{word}</b> {}: {}",
            escaped_markup(&issue.place.to_string()),
            escaped_markup(&issue.message),
        );
        if issue.count > 1 {
            let _ = write!(out, " <span class=\"soft\">({} times)</span>", issue.count);
        }
        out.push_str("</li>");
    }
    out.push_str("</ul>\n");
}
