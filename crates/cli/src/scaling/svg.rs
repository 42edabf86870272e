//! Maps as SVG: cells with exact values in their tooltips.

use std::fmt::Write as _;

use parallax_base::escaped_markup;
use parallax_service::analysis::scaling::interpolate;
use parallax_service::scaling::ScalingAnswer;

use super::args::Mode;
use super::heat::{HeatMap, heat_maps};

const CELL_WIDTH: usize = 58;
const CELL_HEIGHT: usize = 26;
const LEFT: usize = 56;
const TOP: usize = 46;
/// Steps between neighbours in smooth maps, as in the PaScal viewers.
const STEPS: usize = 4;

/// The title of a map with its unit.
fn title(map: &HeatMap) -> String {
    format!("{} ({})", map.title, map.scale.unit())
}

/// Width and height of a drawing.
fn size(map: &HeatMap) -> (usize, usize) {
    // About what a bold letter of this size takes.
    const LETTER: usize = 8;
    let title = title(map).chars().count() * LETTER;
    let width = (LEFT + map.inputs.len() * CELL_WIDTH + 8).max(title);
    (width, TOP + map.cores.len() * CELL_HEIGHT + 8)
}

/// One map as an `svg` element; texts take the colour of the page.
pub(super) fn map(map: &HeatMap, is_smooth: bool) -> String {
    // Steps between cells of very large maps are invisible, and they would be many.
    const MOST_SMOOTH: usize = 100_000;
    let is_smooth = is_smooth && map.inputs.len().saturating_mul(map.cores.len()) <= MOST_SMOOTH;
    let (width, height) = size(map);
    let mut out = String::new();
    let title = escaped_markup(&title(map));
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}\" \
         font-family=\"system-ui,sans-serif\" font-size=\"12\" fill=\"currentColor\">\
         <text x=\"0\" y=\"14\" font-weight=\"600\">{title}</text>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"end\" opacity=\"0.7\">cores</text>",
        LEFT - 8,
        TOP - 8,
    );
    for (at, input) in map.inputs.iter().enumerate() {
        let x = LEFT + at * CELL_WIDTH + CELL_WIDTH / 2;
        let _ = write!(
            out,
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">i{}<title>{}</title></text>",
            TOP - 8,
            at + 1,
            escaped_markup(input)
        );
    }
    for (at, cores) in map.cores.iter().enumerate() {
        let y = TOP + at * CELL_HEIGHT + CELL_HEIGHT / 2 + 4;
        let _ =
            write!(out, "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\">{cores}</text>", LEFT - 8);
    }
    if is_smooth {
        smooth(map, &mut out);
    }
    for (input, core_idx, value) in map.map.iter() {
        if let Some((label, cores)) = map.inputs.get(input).zip(map.cores.get(core_idx)) {
            let (x, y) = (LEFT + input * CELL_WIDTH, TOP + core_idx * CELL_HEIGHT);
            let colour = map.scale.colour(value);
            let fill = if is_smooth { "transparent".to_owned() } else { colour.hex() };
            let front = if colour.is_light() { "#000" } else { "#fff" };
            let mark = map.mark(input, core_idx).map(String::from).unwrap_or_default();
            let _ = write!(
                out,
                "<g><rect x=\"{x}\" y=\"{y}\" width=\"{CELL_WIDTH}\" height=\"{CELL_HEIGHT}\" \
                 fill=\"{fill}\"/><text x=\"{}\" y=\"{}\" text-anchor=\"middle\" \
                 fill=\"{front}\">{}{mark}</text><title>{}: {}\ncores: {cores}\ni{}: {}</title></g>",
                x + CELL_WIDTH / 2,
                y + CELL_HEIGHT / 2 + 4,
                map.scale.short(value),
                escaped_markup(&map.title),
                map.scale.exact(value),
                input + 1,
                escaped_markup(label),
            );
        }
    }
    out.push_str("</svg>");
    out
}

/// A map of a few pixels, for lists of regions. Of a large one it has cells at equal distances, from
/// the first to the last.
pub(super) fn thumbnail(map: &HeatMap) -> String {
    const CELL: usize = 5;
    const MOST: usize = 24;
    let (columns, rows) = (map.inputs.len().min(MOST), map.cores.len().min(MOST));
    let spread = |at: usize, shown: usize, len: usize| match shown {
        0 | 1 => 0,
        _ => at * len.saturating_sub(1) / (shown - 1),
    };
    let (width, height) = (columns * CELL, rows * CELL);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         aria-hidden=\"true\">"
    );
    for input in 0..columns {
        for core_idx in 0..rows {
            let place =
                (spread(input, columns, map.inputs.len()), spread(core_idx, rows, map.cores.len()));
            let Some(value) = map.map.get(place.0, place.1) else { continue };
            let _ = write!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{}\"/>",
                input * CELL,
                core_idx * CELL,
                map.scale.colour(value).hex()
            );
        }
    }
    out.push_str("</svg>");
    out
}

/// The refined map behind the cells: from the middle of the first cell to that of the last.
fn smooth(map: &HeatMap, out: &mut String) {
    let fine = interpolate(&map.map, STEPS);
    let (rows, columns) = (fine.num_cores(), fine.num_inputs());
    let (width, height) =
        ((map.inputs.len() * CELL_WIDTH) as f64, (map.cores.len() * CELL_HEIGHT) as f64);
    let (step_x, step_y) = (width / columns.max(1) as f64, height / rows.max(1) as f64);
    for input in 0..columns {
        for core_idx in 0..rows {
            let Some(value) = fine.get(input, core_idx) else { continue };
            let _ = write!(
                out,
                "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{}\"/>",
                LEFT as f64 + input as f64 * step_x,
                TOP as f64 + core_idx as f64 * step_y,
                // A little overlap hides the seams that antialiasing leaves.
                step_x + 0.5,
                step_y + 0.5,
                map.scale.colour(value).hex(),
            );
        }
    }
}

/// The maps of the regions shown (of the whole program when none was requested) in one drawing.
pub(super) fn document(answer: &ScalingAnswer, mode: Mode, is_smooth: bool) -> String {
    let shown: Vec<usize> = if answer.regions.iter().all(|region| region.is_shown) {
        vec![0]
    } else {
        answer.shown().collect()
    };
    let mut body = String::new();
    let (mut width, mut y) = (0, 8);
    for region in shown {
        let (Some(maps), Some(place)) = (answer.maps(region), answer.regions.get(region)) else {
            continue;
        };
        let head = format!("{} {}", place.region.id, answer.display_name(region));
        y += 20;
        let _ = write!(
            body,
            "<text x=\"8\" y=\"{y}\" font-size=\"15\" font-weight=\"700\">{}</text>",
            escaped_markup(head.trim_end())
        );
        y += 12;
        let (mut x, mut tallest) = (8, 0);
        for heat in heat_maps(maps, mode, &answer.rows) {
            let (w, h) = size(&heat);
            let _ =
                write!(body, "<g transform=\"translate({x},{y})\">{}</g>", map(&heat, is_smooth));
            x += w + 16;
            tallest = tallest.max(h);
        }
        width = width.max(x);
        y += tallest;
    }
    for (at, input) in answer.inputs.iter().enumerate() {
        y += 18;
        let _ =
            write!(body, "<text x=\"8\" y=\"{y}\">i{}: {}</text>", at + 1, escaped_markup(input));
    }
    let (width, height) = (width.max(320), y + 16);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"system-ui,sans-serif\" font-size=\"12\" \
         fill=\"currentColor\"><style>svg{{color:#1b1b1f;background:#fff}}\
         @media (prefers-color-scheme:dark){{svg{{color:#e6e6ea;background:#17171a}}}}</style>\
         {body}</svg>\n"
    )
}
