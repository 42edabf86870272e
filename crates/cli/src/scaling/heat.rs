//! [`HeatMap`]: a map ready to be drawn, and how a terminal shows it.

use parallax_service::analysis::scaling::{Map, Maps, difference_range};

use super::args::Mode;
use super::colour::{self, Rgb};
use crate::text::Style;

/// What the values of a map are, which decides their colours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scale {
    /// Efficiencies, 0 to 1.
    Efficiency,
    /// Differences of efficiency, `-range` to `range`.
    Difference {
        /// The largest absolute value of the maps drawn together.
        range: f64,
    },
    /// Times in seconds, from the shortest to the longest.
    Time {
        /// Shortest and longest.
        range: (f64, f64),
    },
    /// Ratios of times, logarithmic around 1.
    Ratio {
        /// The largest absolute logarithm.
        range: f64,
    },
}

impl Scale {
    /// The colour of a value.
    pub(crate) fn colour(self, value: f64) -> Rgb {
        match self {
            Self::Efficiency => colour::of_efficiency(value),
            Self::Difference { range } => colour::of_difference(value, range),
            Self::Time { range } => colour::of_time(value, range),
            // Slower is worse: brown.
            Self::Ratio { range } => colour::of_difference(-value.ln(), range),
        }
    }

    /// A value as a cell shows it.
    pub(crate) fn short(self, value: f64) -> String {
        match self {
            Self::Efficiency => format!("{:.1}", 100.0 * value),
            Self::Difference { .. } => {
                // Rounding must not leave a minus before a zero.
                let text = format!("{:+.1}", 100.0 * value);
                if matches!(text.as_str(), "-0.0" | "+0.0") { "0.0".to_owned() } else { text }
            }
            Self::Time { .. } => match value.abs() {
                size if size >= 1000.0 => format!("{value:.0}"),
                size if size >= 10.0 => format!("{value:.2}"),
                size if size >= 0.01 => format!("{value:.4}"),
                0.0 => "0".to_owned(),
                _ => format!("{value:.1e}"),
            },
            Self::Ratio { .. } => format!("{value:.3}"),
        }
    }

    /// A value with all its digits, for tooltips.
    pub(crate) fn exact(self, value: f64) -> String {
        match self {
            Self::Efficiency | Self::Difference { .. } => format!("{} %", 100.0 * value),
            Self::Time { .. } => format!("{value} s"),
            Self::Ratio { .. } => format!("{value}"),
        }
    }

    /// The unit, for titles.
    pub(crate) const fn unit(self) -> &'static str {
        match self {
            Self::Efficiency => "%",
            Self::Difference { .. } => "points of efficiency",
            Self::Time { .. } => "s",
            Self::Ratio { .. } => "new / old",
        }
    }
}

/// A map ready to be drawn: columns are inputs, rows are core counts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HeatMap {
    pub(crate) title: String,
    pub(crate) scale: Scale,
    pub(crate) map: Map,
    pub(crate) cores: Vec<u32>,
    pub(crate) inputs: Vec<String>,
    /// A mark after the value of a cell, row by row (input by input): what changed for sure.
    pub(crate) marks: Vec<Option<char>>,
}

impl HeatMap {
    pub(crate) fn new(title: &str, scale: Scale, map: &Map, maps: &Maps) -> Self {
        Self {
            title: title.to_owned(),
            scale,
            map: map.clone(),
            cores: maps.cores.to_vec(),
            inputs: maps.inputs.to_vec(),
            marks: Vec::new(),
        }
    }

    pub(crate) fn mark(&self, input: usize, core_idx: usize) -> Option<char> {
        self.marks.get(input * self.cores.len() + core_idx).copied().flatten()
    }
}

/// The maps of a region by mode: efficiency and the three differences, on one scale as in the
/// PaScal viewers. Maps that nothing is known of are omitted; without a baseline the times are
/// what there is. `rows` is the order of core counts from the top.
pub(crate) fn heat_maps(maps: &Maps, mode: Mode, rows: &[usize]) -> Vec<HeatMap> {
    let in_order = |mut heat: HeatMap| {
        heat.map = heat.map.with_cores(rows);
        heat.cores = rows.iter().filter_map(|&at| heat.cores.get(at).copied()).collect();
        heat
    };
    ascending(maps, mode).into_iter().map(in_order).collect()
}

fn ascending(maps: &Maps, mode: Mode) -> Vec<HeatMap> {
    if maps.efficiency.is_undefined() {
        let range = maps.time.min_max().unwrap_or((0.0, 0.0));
        return vec![HeatMap::new("Time", Scale::Time { range }, &maps.time, maps)];
    }
    let named: [(&str, &Map); 3] = match mode {
        Mode::Absolute => [
            ("Scalability", &maps.scalability_abs),
            ("Strong scaling", &maps.strong_abs),
            ("Weak scaling", &maps.weak_abs),
        ],
        Mode::Relative => [
            ("Relative scalability", &maps.scalability_rel),
            ("Relative strong scaling", &maps.strong_rel),
            ("Relative weak scaling", &maps.weak_rel),
        ],
    };
    let all: Vec<&Map> = named.iter().map(|(_, map)| *map).collect();
    let range = difference_range(&all).unwrap_or(0.0);
    let mut out = vec![HeatMap::new("Efficiency", Scale::Efficiency, &maps.efficiency, maps)];
    for (title, map) in named {
        // With one input there is nothing to compare across inputs.
        let says_nothing = maps.inputs.len() < 2 && !title.to_lowercase().contains("strong");
        if !map.is_undefined() && !says_nothing {
            out.push(HeatMap::new(title, Scale::Difference { range }, map, maps));
        }
    }
    out
}

/// Cells of one map that text has room for.
const MOST_CELLS: usize = 100_000;

const CELL: usize = 8;
const LABEL: usize = 7;

/// Maps as lines of text, side by side where they fit.
pub(crate) fn lines(maps: &[HeatMap], style: &Style) -> Vec<String> {
    const GAP: usize = 3;
    let mut out = Vec::new();
    let mut row: Vec<Vec<(String, usize)>> = Vec::new();
    let mut used = 0;
    let flush = |row: &mut Vec<Vec<(String, usize)>>, out: &mut Vec<String>| {
        let height = row.iter().map(Vec::len).max().unwrap_or(0);
        for at in 0..height {
            let mut line = String::new();
            for (idx, block) in row.iter().enumerate() {
                let width = block.iter().map(|(_, width)| *width).max().unwrap_or(0);
                let (text, shown) =
                    block.get(at).map_or(("", 0), |(text, shown)| (text.as_str(), *shown));
                line.push_str(text);
                if idx + 1 < row.len() {
                    line.push_str(&" ".repeat(width - shown + GAP));
                }
            }
            out.push(line.trim_end().to_owned());
        }
        row.clear();
    };
    for map in maps {
        let (inputs, cores) = (map.inputs.len(), map.cores.len());
        if inputs.saturating_mul(cores) > MOST_CELLS {
            flush(&mut row, &mut out);
            used = 0;
            out.push(format!(
                "{}: {inputs} inputs x {cores} core counts are too many cells for text; --format \
                 csv lists the measured ones, --fix NAME=VALUE selects a part",
                map.title
            ));
            continue;
        }
        for block in blocks(map, style) {
            let width = block.iter().map(|(_, width)| *width).max().unwrap_or(0);
            if !row.is_empty() && used + GAP + width > style.width {
                flush(&mut row, &mut out);
                out.push(String::new());
                used = 0;
            }
            used += width + if row.is_empty() { 0 } else { GAP };
            row.push(block);
        }
    }
    flush(&mut row, &mut out);
    out
}

/// One map as blocks of lines with the columns they take; more than one where it is wider than
/// the terminal.
fn blocks(map: &HeatMap, style: &Style) -> Vec<Vec<(String, usize)>> {
    let per_block = style.width.saturating_sub(LABEL).checked_div(CELL).unwrap_or(1).max(1);
    let all: Vec<usize> = (0..map.inputs.len()).collect();
    all.chunks(per_block)
        .map(|columns| {
            let title = format!("{} ({})", map.title, map.scale.unit());
            let shown = title.chars().count();
            let mut block =
                vec![(style.paint(crate::text::Role::Head, &title).into_owned(), shown)];
            let heads: String = columns
                .iter()
                .map(|input| format!("{:>CELL$}", format!("i{}", input + 1)))
                .collect();
            let width = LABEL + columns.len() * CELL;
            block.push((format!("{:>LABEL$}{heads}", "cores"), width));
            for (core_idx, cores) in map.cores.iter().enumerate() {
                let mut line = format!("{cores:>LABEL$}");
                for &input in columns {
                    line.push_str(&cell(map, input, core_idx, style));
                }
                block.push((line, width));
            }
            block
        })
        .collect()
}

fn cell(map: &HeatMap, input: usize, core_idx: usize, style: &Style) -> String {
    let Some(value) = map.map.get(input, core_idx) else {
        return format!("{:>CELL$}", style.nothing());
    };
    let mark = map.mark(input, core_idx).unwrap_or(' ');
    let text = format!("{:>width$}{mark}", map.scale.short(value), width = CELL - 2);
    if style.is_colour {
        format!(" {}", map.scale.colour(value).behind(&text))
    } else {
        format!(" {text}")
    }
}
