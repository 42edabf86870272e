//! Where nodes stand: coordinates, and the systems whose names have them.

use super::Xname;

/// Parts of a machine, from the largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Racks whose switches are connected all to all.
    Group,
    /// A rack, or cabinet.
    Rack,
    /// A switch with nodes.
    Switch,
    /// A chassis of a rack.
    Chassis,
    /// A slot of a chassis, with one or several nodes.
    Slot,
}

impl Level {
    /// All levels.
    pub const ALL: [Self; 5] = [Self::Group, Self::Rack, Self::Switch, Self::Chassis, Self::Slot];

    /// The display name, in the singular.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Rack => "rack",
            Self::Switch => "switch",
            Self::Chassis => "chassis",
            Self::Slot => "slot",
        }
    }

    /// The same in the plural.
    #[must_use]
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Group => "groups",
            Self::Rack => "racks",
            Self::Switch => "switches",
            Self::Chassis => "chassis",
            Self::Slot => "slots",
        }
    }
}

/// Where a node stands. Each name is that of the whole machine: a chassis has that of its rack in
/// front.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct NodePosition {
    /// By [`Level`].
    levels: [Option<String>; 5],
    /// Number of the chassis in its rack, where there is one.
    pub chassis: Option<u32>,
    /// Number of the slot in its chassis.
    pub slot: Option<u32>,
    /// Number of the node in its slot: boards times a thousand, and nodes.
    pub node: u32,
}

impl NodePosition {
    /// The name of the part that the node is in.
    #[must_use]
    pub fn level(&self, level: Level) -> Option<&str> {
        self.levels.get(level as usize)?.as_deref()
    }

    /// Sets the name of a part.
    pub fn set(&mut self, level: Level, name: impl Into<String>) {
        if let Some(slot) = self.levels.get_mut(level as usize) {
            *slot = Some(name.into());
        }
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.levels.iter().all(Option::is_none)
    }

    /// Adds what is not known yet.
    pub(super) fn fill(&mut self, other: Self) {
        for (own, other) in self.levels.iter_mut().zip(other.levels) {
            if own.is_none() {
                *own = other;
            }
        }
        self.chassis = self.chassis.or(other.chassis);
        self.slot = self.slot.or(other.slot);
        self.node = self.node.max(other.node);
    }
}

/// A system whose node names say where they stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum System {
    /// Racks, chassis and slots of xnames; nothing about groups of switches.
    #[default]
    Xname,
    /// Aurora (ALCF): 166 racks of 8 chassis of 8 blades of one node; a rack is a group of the
    /// dragonfly.
    Aurora,
    /// Frontier (OLCF): 74 cabinets of 8 chassis of 8 blades of two nodes; a cabinet is a group of
    /// the dragonfly. Its host names (`frontier00001`) say nothing: it needs a table of xnames.
    Frontier,
    /// Polaris (ALCF): 40 racks of 14 nodes in rows 30, 31 and 32; four neighbouring racks of a row
    /// are a group, g0 (x3001 to x3004) to g9 (x3209 to x3212).
    Polaris,
    /// As the user describes it.
    Described(Description),
}

/// A part of a pattern of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternPart {
    /// These letters.
    Literal(String),
    /// The number of a part of the machine.
    Number(Level),
    /// A number that does not matter, or that distinguishes nodes of a slot.
    Node,
}

/// How the names of a system say where its nodes stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    /// What it is called.
    pub name: String,
    /// Patterns of whole names; the first one that fits counts.
    pub patterns: Vec<Vec<PatternPart>>,
    /// Racks that make a group, by their number from 0.
    pub racks_per_group: Option<u32>,
    /// Slots of a chassis, for drawings.
    pub slots_per_chassis: Option<u32>,
}

impl System {
    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Xname => "xname",
            Self::Aurora => "aurora",
            Self::Frontier => "frontier",
            Self::Polaris => "polaris",
            Self::Described(description) => &description.name,
        }
    }

    /// The system of a name, in any case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let known = [Self::Xname, Self::Aurora, Self::Frontier, Self::Polaris];
        known.into_iter().find(|system| system.name().eq_ignore_ascii_case(name))
    }

    /// Slots of a chassis, where all of them are drawn whether the run has nodes there or not.
    #[must_use]
    pub const fn slots_per_chassis(&self) -> Option<u32> {
        match self {
            Self::Aurora | Self::Frontier => Some(8),
            Self::Xname | Self::Polaris => None,
            Self::Described(description) => description.slots_per_chassis,
        }
    }

    /// Where a name says that its node stands; `None` when it says nothing.
    #[must_use]
    pub fn place(&self, name: &str) -> Option<NodePosition> {
        let Self::Described(description) = self else {
            let xname = Xname::parse(name)?;
            let mut place = of_xname(xname);
            match self {
                Self::Aurora | Self::Frontier => {
                    place.set(Level::Group, format!("x{}", xname.cabinet));
                }
                Self::Polaris => {
                    if let Some(group) = polaris_group(xname.cabinet) {
                        place.set(Level::Group, format!("g{group}"));
                    }
                }
                Self::Xname | Self::Described(_) => {}
            }
            return Some(place);
        };
        let own = name.split('.').next().unwrap_or_default();
        description.patterns.iter().find_map(|pattern| described(description, pattern, own))
    }
}

fn of_xname(xname: Xname) -> NodePosition {
    let mut place = NodePosition::default();
    let rack = format!("x{}", xname.cabinet);
    if let Some(chassis) = xname.chassis {
        let name = format!("{rack}c{chassis}");
        if let Some(slot) = xname.slot {
            place.set(Level::Slot, format!("{name}s{slot}"));
        }
        place.set(Level::Chassis, name);
    }
    place.set(Level::Rack, rack);
    place.chassis = xname.chassis.map(u32::from);
    place.slot = xname.slot.map(u32::from);
    place.node = u32::from(xname.board.unwrap_or(0)) * 1000 + u32::from(xname.node.unwrap_or(0));
    place
}

/// The group of a rack xRRPP, in rows of 16, 12 and 12 racks.
fn polaris_group(cabinet: u16) -> Option<u16> {
    let (row, number) = (cabinet / 100, cabinet % 100);
    let (first, racks) = match row {
        30 => (0, 16),
        31 => (4, 12),
        32 => (7, 12),
        _ => return None,
    };
    (1..=racks).contains(&number).then(|| first + (number - 1) / 4)
}

fn described(
    description: &Description,
    pattern: &[PatternPart],
    name: &str,
) -> Option<NodePosition> {
    let mut rest = name;
    let mut numbers: [Option<&str>; 5] = [None; 5];
    let mut node = None;
    for part in pattern {
        if let PatternPart::Literal(text) = part {
            rest = rest.strip_prefix(text.as_str())?;
            continue;
        }
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = rest.get(..end).filter(|digits| !digits.is_empty())?;
        rest = rest.get(end..)?;
        match part {
            PatternPart::Number(level) => *numbers.get_mut(*level as usize)? = Some(digits),
            _ => node = digits.parse().ok(),
        }
    }
    if !rest.is_empty() {
        return None;
    }
    let number = |level: Level| numbers.get(level as usize).copied().flatten();
    let mut place = NodePosition { node: node.unwrap_or(0), ..NodePosition::default() };
    let mut above = String::new();
    let rack = number(Level::Rack);
    let group = number(Level::Group).map(str::to_owned).or_else(|| {
        let rack: u32 = rack?.parse().ok()?;
        Some((rack / description.racks_per_group.filter(|n| *n > 0)?).to_string())
    });
    if let Some(group) = &group {
        place.set(Level::Group, format!("group {group}"));
    }
    for (level, letter) in [(Level::Rack, "rack "), (Level::Chassis, "c"), (Level::Slot, "s")] {
        if let Some(digits) = number(level) {
            above = if above.is_empty() && level != Level::Rack {
                format!("{} {digits}", level.name())
            } else {
                format!("{above}{letter}{digits}")
            };
            place.set(level, above.clone());
        }
    }
    place.chassis = number(Level::Chassis).and_then(|digits| digits.parse().ok());
    place.slot = number(Level::Slot).and_then(|digits| digits.parse().ok());
    Some(place)
}

/// Compares names with numbers by their numbers: x9 comes before x10.
#[must_use]
pub fn by_number(a: &str, b: &str) -> std::cmp::Ordering {
    let key = |text: &str| {
        let mut parts: Vec<(u64, char)> = Vec::new();
        let mut is_number = false;
        for letter in text.chars() {
            match letter.to_digit(10) {
                Some(digit) => match parts.last_mut().filter(|_| is_number) {
                    Some((number, _)) => {
                        *number = number.saturating_mul(10).saturating_add(u64::from(digit));
                    }
                    None => parts.push((u64::from(digit), '0')),
                },
                None => parts.push((0, letter)),
            }
            is_number = letter.is_ascii_digit();
        }
        parts.into_iter().map(|(number, letter)| (letter, number)).collect::<Vec<_>>()
    };
    key(a).cmp(&key(b)).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(place: &NodePosition, level: Level) -> &str {
        place.level(level).unwrap_or("-")
    }

    #[test]
    fn systems_place_their_nodes() {
        let aurora = System::Aurora.place("x4109c3s5b0n0").unwrap();
        let names = Level::ALL.map(|l| level(&aurora, l));
        assert_eq!(names, ["x4109", "x4109", "-", "x4109c3", "x4109c3s5"]);
        for (name, group) in [
            ("x3001c0s1b0n0", "g0"),
            ("x3016c0s37b1n0", "g3"),
            ("x3101c0s1b0n0", "g4"),
            ("x3112c0s1b0n0", "g6"),
            ("x3201c0s1b0n0", "g7"),
            ("x3212c0s1b0n0", "g9"),
            ("x3213c0s1b0n0", "-"),
        ] {
            assert_eq!(level(&System::Polaris.place(name).unwrap(), Level::Group), group, "{name}");
        }
        assert_eq!(System::Frontier.place("frontier00001"), None);
    }

    #[test]
    fn a_description_reads_names_by_its_pattern() {
        let literal = |text: &str| PatternPart::Literal(text.into());
        let description = Description {
            name: "my cluster".into(),
            patterns: vec![vec![
                literal("r"),
                PatternPart::Number(Level::Rack),
                literal("-s"),
                PatternPart::Number(Level::Slot),
                literal("n"),
                PatternPart::Node,
            ]],
            racks_per_group: Some(4),
            slots_per_chassis: None,
        };
        let place = System::Described(description.clone()).place("r05-s12n1.example.org").unwrap();
        let names = Level::ALL.map(|l| level(&place, l));
        assert_eq!(names, ["group 1", "rack 05", "-", "-", "rack 05s12"]);
        assert_eq!((place.slot, place.node), (Some(12), 1));
        for name in ["r5-s12", "r5-s12n1x", "login1", "r-s1n1"] {
            assert_eq!(System::Described(description.clone()).place(name), None, "{name}");
        }
    }

    #[test]
    fn names_are_sorted_by_their_numbers() {
        let mut names = ["x10", "x9c10", "x9c2", "a2", "x9"];
        names.sort_by(|a, b| by_number(a, b));
        assert_eq!(names, ["a2", "x9", "x9c2", "x9c10", "x10"]);
    }
}
