//! Names that say where a part of a Cray EX or Shasta system stands.
//!
//! ```text
//! xname   = cabinet [ chassis [ slot [ board [ node ] ] ] ]
//! cabinet = "x" digit{1,4}     rack; decimal, says nothing about the floor by itself
//! chassis = "c" ( 0 .. 7 )     0 in standard racks
//! slot    = "s" digit+         blade in a chassis of EX, or the height in a standard rack
//! board   = "b" digit+         board controller of the blade
//! node    = "n" digit+
//! digit   = "0" .. "9"
//! ```
//!
//! (Naming of `hms-xname`, Cray-HPE; the paper on hpcanalysis calls the numbers hexadecimal, they
//! are decimal.) What follows a node after a dot or a dash, as in `x4109c0s0b0n0-hsn0` or a domain,
//! is not part of the name.

/// Where a part stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Xname {
    /// Cabinet, 0 to 9999.
    pub cabinet: u16,
    /// Chassis, 0 to 7.
    pub chassis: Option<u8>,
    /// Slot.
    pub slot: Option<u16>,
    /// Board.
    pub board: Option<u16>,
    /// Node.
    pub node: Option<u16>,
}

impl Xname {
    /// The parts that a text names, in any case; `None` when it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let lower = text.trim().to_ascii_lowercase();
        let mut rest = lower.split(['.', '-']).next().unwrap_or_default();
        let cabinet = part(&mut rest, 'x')?;
        let mut out = Self { cabinet, chassis: None, slot: None, board: None, node: None };
        if cabinet > 9999 {
            return None;
        }
        if !rest.is_empty() {
            out.chassis = Some(u8::try_from(part(&mut rest, 'c')?).ok().filter(|c| *c < 8)?);
        }
        for (letter, slot) in [('s', &mut out.slot), ('b', &mut out.board), ('n', &mut out.node)] {
            if !rest.is_empty() {
                *slot = Some(part(&mut rest, letter)?);
            }
        }
        rest.is_empty().then_some(out)
    }
}

impl std::fmt::Display for Xname {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "x{}", self.cabinet)?;
        let chassis = self.chassis.map(u16::from);
        for (letter, number) in
            [('c', chassis), ('s', self.slot), ('b', self.board), ('n', self.node)]
        {
            if let Some(number) = number {
                write!(f, "{letter}{number}")?;
            }
        }
        Ok(())
    }
}

/// A letter and its number, taken from the front.
fn part(rest: &mut &str, letter: char) -> Option<u16> {
    let after = rest.strip_prefix(letter)?;
    let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    let number = after.get(..end)?.parse().ok()?;
    *rest = after.get(end..)?;
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_far_as_they_go() {
        for text in ["x4109c0s0b0n0", "x3001c0s37b1n0", "x4109c7", "x1000", "x1000c0s7b1"] {
            assert_eq!(Xname::parse(text).unwrap().to_string(), text);
        }
        let found = Xname::parse("X4109C3S5B0N0-hsn0.hsn.cm.aurora").unwrap();
        assert_eq!(found.to_string(), "x4109c3s5b0n0");
        for text in ["x", "x1c8", "x1s0", "x10000c0", "y1", "x1c0s", "x1c0s0b0n0j", "x1c0s99999999"]
        {
            assert_eq!(Xname::parse(text), None, "{text}");
        }
    }
}
