//! `cluster` and `topology`: groups of locations that cost alike, and where their nodes stand.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use parallax_protocol::{
    BalanceBy, Choice as _, ClusterChoice, ClusterMethod, NodeNames, TextFile, TopologyRequest,
    TypedTable as _,
};
use parallax_service::{Answer, ClusterAnswer, TopologyAnswer, node_names};

use super::Context;
use crate::args::Database;
use crate::choice::names;
use crate::text::{KeyValues, Role, Show, Style, TextTable, printable};

/// What groups are made of, and how.
#[derive(Debug, Args)]
pub(crate) struct GroupArgs {
    #[command(flatten)]
    database: Database,
    /// Contexts to use as features, such as 'function(MPI_Allreduce)' (default: the innermost
    /// functions with at least 1 % of the total and the largest imbalance).
    #[arg(long, short, value_name = "CONTEXTS")]
    context: Option<String>,
    /// Metric, such as cputime; can be repeated.
    #[arg(long, short, value_name = "METRIC")]
    metric: Vec<String>,
    /// Locations to include, such as 'rank(0-9).thread(0)'; ranges include their end.
    #[arg(long, short, value_name = "PROFILES")]
    profiles: Option<String>,
    /// Use exclusive instead of inclusive values.
    #[arg(long)]
    exclusive: bool,
    /// Members to cluster.
    #[arg(long, value_enum, default_value = "location")]
    by: By,
    /// Clustering method.
    #[arg(long, value_parser = names::<ClusterMethod>(), default_value_t)]
    method: ClusterMethod,
    /// Number of clusters for k-means (default: chosen from the data).
    #[arg(short, long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=64))]
    k: Option<u32>,
    /// Radius eps for DBSCAN, in standard deviations (default: chosen from the data).
    #[arg(long, value_name = "EPS", value_parser = positive)]
    eps: Option<f64>,
    /// Minimum number of members within eps of a core point (default: chosen from the data).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    neighbours: Option<u32>,
    /// Include helper threads, which MPI, network libraries, drivers or the measurement tool start
    /// for their own use.
    #[arg(long)]
    helpers: bool,
}

/// What is put into groups.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum By {
    /// Individual locations: threads, ranks, GPU streams.
    #[value(alias = "profile")]
    Location,
    /// Ranks: sum over their threads.
    Rank,
    /// Nodes: mean over their ranks.
    Node,
}

/// What `cluster` shows.
#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    #[command(flatten)]
    groups: GroupArgs,
    /// Show this table in full instead of the summary (default for formats other than text:
    /// members).
    #[arg(long, value_enum)]
    table: Option<ClusterTable>,
}

/// Tables of `cluster`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ClusterTable {
    /// Members, with their clusters and features.
    Members,
    /// Clusters and features: mean, range and standard deviation.
    Groups,
    /// Effect sizes of features.
    Features,
    /// Nodes shared between clusters, for k-means with k = 2 to 5.
    Stability,
    /// Clustering quality for each k.
    Scores,
    /// Results of DBSCAN for each eps.
    Steps,
}

/// What `topology` shows.
#[derive(Debug, Args)]
pub(crate) struct TopologyArgs {
    #[command(flatten)]
    groups: GroupArgs,
    #[command(flatten)]
    place: PlaceArgs,
    /// Show clusters instead of values on the map.
    #[arg(long = "groups")]
    show_groups: bool,
    /// Show this table in full instead of the map (default for formats other than text: nodes).
    #[arg(long, value_enum)]
    table: Option<TopologyTable>,
}

/// Where nodes stand.
#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// Host table: lines of hostid,xname; /etc/hosts; output of pbsnodes -F json; or Slurm's
    /// topology.conf. Can be repeated; tables are combined.
    #[arg(long, value_name = "FILE")]
    hosts: Vec<PathBuf>,
    /// Naming scheme of nodes: aurora, frontier, polaris, xname, or a file that describes the
    /// scheme.
    #[arg(long, value_name = "SYSTEM")]
    system: Option<String>,
}

impl PlaceArgs {
    /// The files, read.
    pub(super) fn request(&self, clusters: ClusterChoice) -> anyhow::Result<TopologyRequest> {
        let is_named = |name: &str| {
            NodeNames::ALL.iter().any(|own| own.value().name.eq_ignore_ascii_case(name))
        };
        let system = self.system.as_deref();
        let file = system.filter(|name| !is_named(name) && Path::new(name).exists());
        let named = system.filter(|_| file.is_none()).map(node_names).transpose()?;
        Ok(TopologyRequest {
            clusters,
            hosts: self.hosts.iter().map(|path| read(path)).collect::<anyhow::Result<_>>()?,
            description: file.map(|name| read(Path::new(name))).transpose()?,
            system: named.unwrap_or_default(),
        })
    }

    /// The same as it is typed, with a space before it.
    pub(super) fn words(&self) -> String {
        let hosts = self.hosts.iter().map(|path| format!(" --hosts {}", path.display()));
        let system = self.system.iter().map(|name| format!(" --system {name}"));
        hosts.chain(system).collect()
    }
}

/// Tables of `topology`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum TopologyTable {
    /// Nodes: host id, address, name, cluster, value, rack, chassis and slot.
    Nodes,
    /// Racks, chassis and switches, with their nodes by cluster.
    Units,
    /// Concentration of clusters, by level.
    Concentration,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("give a number above 0".into()),
    }
}

impl GroupArgs {
    fn request(&self) -> ClusterChoice {
        let is_kmeans = self.k.is_some() && self.eps.is_none();
        ClusterChoice {
            metrics: self.metric.clone(),
            contexts: self.context.clone(),
            profiles: self.profiles.clone(),
            is_exclusive: self.exclusive,
            by: match self.by {
                By::Location => BalanceBy::Profile,
                By::Rank => BalanceBy::Rank,
                By::Node => BalanceBy::Node,
            },
            method: if is_kmeans { ClusterMethod::KMeans } else { self.method },
            k: self.k,
            eps: self.eps,
            min_points: self.neighbours,
            helpers: self.helpers,
        }
    }
}

pub(super) fn cluster(context: &Context, arguments: &ClusterArgs) -> anyhow::Result<()> {
    let opened = context.open(&arguments.groups.database)?;
    let request = arguments.groups.request();
    let Answer { value: answer, mut notes } = opened.clusters(&request, &context.control)?;
    notes.extend(answer.reason.clone());
    let tables = answer.tables.clone();
    let table = match arguments.table.unwrap_or(ClusterTable::Members) {
        ClusterTable::Members => tables.members.into_table(),
        ClusterTable::Groups => tables.groups.into_table(),
        ClusterTable::Features => tables.features.into_table(),
        ClusterTable::Stability => tables.stability.into_table(),
        ClusterTable::Scores => tables.scores.into_table(),
        ClusterTable::Steps => tables.steps.into_table(),
    };
    context.output.emit_with(&table, |style, out| match arguments.table {
        Some(_) => TextTable::new(&table).write(style, out),
        None => summary(&answer, style, out),
    })?;
    context.finish(&opened, &notes);
    Ok(())
}

fn summary(answer: &ClusterAnswer, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    sentences(&answer.findings, style, out)?;
    let clusters = &answer.clusters;
    let tables = answer.tables.clone();
    let is_wide = style.width >= 120;
    let mut columns = vec!["group", "members", "nodes", "feature", "mean", "min", "max", "unit"];
    if is_wide {
        columns.insert(7, "std_dev");
    }
    writeln!(out)?;
    TextTable::new(&tables.groups.into_table())
        .title("Clusters by feature, largest cluster first")
        .columns(&columns)
        .show("group", Show::Id)
        .head("group", "cluster")
        .show("unit", Show::Text)
        .write(style, out)?;
    writeln!(out)?;
    let mut columns = vec!["feature", "eta_squared", "cohens_d", "auc", "balance_ratio"];
    if is_wide {
        columns.push("context");
    }
    TextTable::new(&tables.features.into_table())
        .title(match clusters.sizes.len() {
            0 | 1 => "Features examined",
            _ => "Features that separate the clusters",
        })
        .columns(&columns)
        .head("eta_squared", "eta²")
        .head("cohens_d", "Cohen's d")
        .head("auc", "AUC")
        .head("balance_ratio", "balance")
        .write(style, out)?;
    if clusters.sizes.len() > 1 {
        writeln!(out)?;
        KeyValues::new()
            .section("Columns")
            .pair("eta²", "fraction of the variance between the clusters")
            .pair(
                "Cohen's d",
                "effect size of the two clusters farthest apart: difference / \
                                standard deviation",
            )
            .pair("AUC", "probability that a member of one has more than a member of the other")
            .pair("balance", "mean / maximum over all members; 1 is balanced")
            .write(style, out)?;
    }
    let num_nodes = answer.measured.members.iter().filter_map(|member| member.node);
    let num_nodes = num_nodes.collect::<BTreeSet<u64>>().len();
    let stability = || clusters.stability.iter().chain(&clusters.stability_inside);
    if num_nodes > 1 && stability().all(|one| one.split_nodes == 0) && stability().count() > 0 {
        let text =
            "k-means with k = 2 to 5, of all members and of cluster 1 alone, leaves every node in \
             one cluster"
                .to_owned();
        writeln!(out)?;
        sentences(&[text], style, out)?;
    } else if num_nodes > 1 && !tables.stability.k.is_empty() {
        writeln!(out)?;
        TextTable::new(&tables.stability.into_table())
            .title(
                "Nodes shared between clusters by k-means, of all members and of cluster 1 alone",
            )
            .show("of", Show::Text)
            .head("shared_nodes", "shared nodes")
            .head("split_nodes", "in several clusters")
            .write(style, out)?;
    }
    writeln!(out)?;
    TextTable::new(&tables.scores.into_table())
        .title("Quality of k clusters")
        .columns(&["k", "explained_percent", "silhouette", "gap", "gap_error"])
        .show("k", Show::Id)
        .head("explained_percent", "between clusters")
        .head("gap_error", "±")
        .write(style, out)?;
    writeln!(out)?;
    KeyValues::new()
        .section("Columns")
        .pair("between clusters", "fraction of the variance between the k clusters")
        .pair("silhouette", "separation of the clusters: 1 is perfect, 0 is none")
        .pair("gap, ±", "gap statistic against uniformly distributed members")
        .write(style, out)
}

/// Findings, one below the other, wrapped.
fn sentences(findings: &[String], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mark = if style.is_unicode { "• " } else { "* " };
    for finding in findings {
        let mut line = mark.to_owned();
        let mut is_empty = true;
        for word in printable(finding).split(' ') {
            let is_full = line.chars().count() + 1 + word.chars().count() > style.width;
            if is_full && !is_empty {
                writeln!(out, "{}", line.trim_end())?;
                line = "  ".to_owned();
                is_empty = true;
            }
            if !is_empty {
                line.push(' ');
            }
            line.push_str(word);
            is_empty = false;
        }
        writeln!(out, "{line}")?;
    }
    Ok(())
}

pub(super) fn topology(context: &Context, arguments: &TopologyArgs) -> anyhow::Result<()> {
    let request = arguments.place.request(arguments.groups.request())?;
    let opened = context.open(&arguments.groups.database)?;
    let Answer { value: answer, mut notes } = opened.topology(&request, &context.control)?;
    notes.extend(answer.clusters.reason.clone());
    let (tables, unit) = (answer.tables.clone(), answer.feature.1.as_str());
    let table = match arguments.table.unwrap_or(TopologyTable::Nodes) {
        TopologyTable::Nodes => tables.nodes.into_table_in(unit),
        TopologyTable::Units => tables.units.into_table_in(unit),
        TopologyTable::Concentration => tables.concentration.into_table_in(unit),
    };
    context.output.emit_with(&table, |style, out| match arguments.table {
        Some(_) => TextTable::new(&table).write(style, out),
        None => overview(&answer, arguments.show_groups, style, out),
    })?;
    context.finish(&opened, &notes);
    Ok(())
}

fn read(path: &Path) -> anyhow::Result<TextFile> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let name =
        path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
    Ok(TextFile { name: name.into_owned(), text })
}

fn overview(
    answer: &TopologyAnswer,
    show_groups: bool,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    sentences(&answer.findings, style, out)?;
    writeln!(out)?;
    if answer.map.shelves.is_empty() {
        return nodes(answer, style, out);
    }
    map(answer, show_groups, style, out)
}

fn nodes(answer: &TopologyAnswer, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    TextTable::new(&answer.tables.nodes.clone().into_table_in(&answer.feature.1))
        .title(format!("Nodes with their mean of {}", printable(&answer.feature.0)))
        .columns(&["host_id", "address", "name", "group", "members", "value"])
        .head("group", "cluster")
        .show("host_id", Show::Text)
        .show("address", Show::Text)
        .show("group", Show::Id)
        .head("group", "cluster")
        .write(style, out)
}

/// How a node is drawn: a character, and whether it stands out.
type Glyph = (char, Role);

struct Glyphs<'a> {
    answer: &'a TopologyAnswer,
    show_groups: bool,
    range: (f64, f64),
    is_unicode: bool,
}

/// From little to much.
const SHADES: [char; 4] = ['░', '▒', '▓', '█'];
const PLAIN_SHADES: [char; 4] = ['.', ':', 'o', '#'];

impl Glyphs<'_> {
    fn empty(&self) -> char {
        if self.is_unicode && self.show_groups { '·' } else { ' ' }
    }

    fn of(&self, node: Option<usize>) -> Glyph {
        let Some(node) = node.and_then(|at| self.answer.nodes.get(at)) else {
            return (self.empty(), Role::Secondary);
        };
        if self.show_groups {
            return match node.group {
                Some(0) => ('1', Role::Plain),
                // More than 35 groups are not distinguished.
                Some(group) => (char::from_digit(group + 1, 36).unwrap_or('+'), Role::Hot),
                None => ('!', Role::Error),
            };
        }
        let (low, high) = self.range;
        let part = if high > low { (node.value - low) / (high - low) } else { 0.0 };
        let shade = ((part * 4.0) as usize).min(3);
        let shades = if self.is_unicode { SHADES } else { PLAIN_SHADES };
        let role = if shade == 3 { Role::Hot } else { Role::Plain };
        (shades.get(shade).copied().unwrap_or('?'), role)
    }
}

/// Racks side by side, each with its chassis from the top.
fn map(
    answer: &TopologyAnswer,
    show_groups: bool,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    const GAP: usize = 2;
    let values = || answer.nodes.iter().map(|node| node.value);
    let range =
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let glyphs = Glyphs { answer, show_groups, range, is_unicode: style.is_unicode };
    legend(&glyphs, style, out)?;
    let shelves = &answer.map.shelves;
    let rows = || shelves.iter().flat_map(|shelf| &shelf.rows);
    let label_width = rows().map(|row| row.label.chars().count()).max().unwrap_or(0);
    let label_width = if label_width > 0 { label_width + 1 } else { 0 };
    let cells_width = rows().map(|row| row.cells.len()).max().unwrap_or(0);
    let title_of = |shelf: &parallax_service::analysis::topology::Shelf| match &shelf.group {
        Some(group) => format!("{} {group}", printable(&shelf.name)),
        None => printable(&shelf.name).into_owned(),
    };
    let titles = shelves.iter().map(|shelf| title_of(shelf).chars().count()).max().unwrap_or(0);
    let width = (label_width + cells_width).max(titles);
    let per_line = ((style.width + GAP) / (width + GAP)).max(1);
    for line in shelves.chunks(per_line) {
        writeln!(out)?;
        let mut text = String::new();
        for shelf in line {
            let title = title_of(shelf);
            text.push_str(&style.paint(Role::Head, &title));
            text.push_str(&" ".repeat(width - title.chars().count() + GAP));
        }
        writeln!(out, "{}", text.trim_end())?;
        let height = line.iter().map(|shelf| shelf.rows.len()).max().unwrap_or(0);
        for at in 0..height {
            let mut text = String::new();
            for shelf in line {
                let mut used = 0;
                if let Some(row) = shelf.rows.get(at) {
                    let label = format!("{:<label_width$}", row.label);
                    text.push_str(&style.paint(Role::Secondary, &label));
                    for cell in &row.cells {
                        let (glyph, role) = glyphs.of(*cell);
                        text.push_str(&style.paint(role, glyph.encode_utf8(&mut [0; 4])));
                    }
                    used = label_width + row.cells.len();
                }
                text.push_str(&" ".repeat(width.saturating_sub(used) + GAP));
            }
            writeln!(out, "{}", text.trim_end())?;
        }
    }
    let unplaced = answer.map.unplaced.len();
    if unplaced > 0 {
        writeln!(out, "\n{unplaced} nodes without a known rack")?;
    }
    Ok(())
}

fn legend(glyphs: &Glyphs<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let answer = glyphs.answer;
    let (name, unit) = (printable(&answer.feature.0), &answer.feature.1);
    let mut parts: Vec<String> = Vec::new();
    if glyphs.show_groups {
        for group in 0..answer.clusters.clusters.sizes.len() {
            let those = || {
                answer.nodes.iter().filter(move |n| n.group.is_some_and(|g| g as usize == group))
            };
            let number = those().count();
            let mean = those().map(|node| node.value).sum::<f64>() / (number as f64).max(1.0) + 0.0;
            parts.push(format!("{} {number} nodes, {mean:.3} {unit}", group + 1));
        }
        if answer.nodes.iter().any(|node| node.group.is_none()) {
            parts.push("! outlier".to_owned());
        }
        parts.push(format!("{} no node of this run", glyphs.empty()));
        writeln!(out, "Clusters by rack; means are of {name}")?;
    } else {
        let (low, high) = glyphs.range;
        let shades = if glyphs.is_unicode { SHADES } else { PLAIN_SHADES };
        let step = (high - low) / 4.0;
        for (at, shade) in shades.iter().enumerate() {
            let from = low + step * at as f64;
            parts.push(format!("{shade} {from:.3} to {:.3} {unit}", from + step));
        }
        writeln!(out, "Nodes by rack: {name}, mean over the members of each node")?;
    }
    let mut line = String::new();
    for part in parts {
        if !line.is_empty() && line.chars().count() + 3 + part.chars().count() > style.width {
            writeln!(out, "{line}")?;
            line.clear();
        }
        if !line.is_empty() {
            line.push_str("   ");
        }
        line.push_str(part.trim_end());
    }
    writeln!(out, "{line}")
}
