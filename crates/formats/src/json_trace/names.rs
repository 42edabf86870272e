//! [`NameTable`]: every name once, with a small number.

use std::borrow::Cow;

use parallax_base::casts::{low_u32, low_u64, position_u32};

/// The number of a name in a [`NameTable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(u32);

impl NameId {
    /// The number: names count from 0 in the order in which they were first met.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The number as an index.
    #[must_use]
    pub const fn idx(self) -> usize {
        self.0 as usize
    }
}

/// The names that a reader met, each once.
#[derive(Debug, Clone)]
pub struct NameTable {
    text: String,
    /// End of each name in `text`, and its hash.
    ends: Vec<(usize, u32)>,
    /// Numbers by hash with open addressing, 0 for none, else the number + 1; a power of two long.
    slots: Vec<u32>,
    most_bytes: usize,
}

/// What stands for all names that a table has no room for.
const OVERFLOW: &str = "(names beyond the limit)";

impl NameTable {
    /// An empty table that keeps at most `most_bytes` of text.
    #[must_use]
    pub(super) fn new(most_bytes: u64) -> Self {
        let most_bytes = usize::try_from(most_bytes).unwrap_or(usize::MAX);
        Self { text: String::new(), ends: Vec::new(), slots: vec![0; 64], most_bytes }
    }

    /// The text of a name; empty for a number of another table.
    #[must_use]
    pub fn get(&self, id: NameId) -> &str {
        self.nth(id.idx()).unwrap_or_default()
    }

    /// How many names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no name yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All names in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|i| self.nth(i).unwrap_or_default())
    }

    /// The number of a name, where it is in the table.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<NameId> {
        self.lookup(name.as_bytes(), hash(name.as_bytes())).ok()
    }

    fn nth(&self, i: usize) -> Option<&str> {
        let start = match i.checked_sub(1) {
            Some(before) => self.ends.get(before)?.0,
            None => 0,
        };
        self.text.get(start..self.ends.get(i)?.0)
    }

    /// The number of the text `raw`, as it stands between quotes, and whether the text had to be
    /// repaired to be kept.
    #[inline]
    pub(super) fn intern(&mut self, raw: &[u8], escaped: bool) -> (NameId, Kept) {
        if !escaped && let Ok(id) = self.lookup(raw, hash(raw)) {
            return (id, Kept::Whole);
        }
        self.insert(raw, escaped)
    }

    #[inline]
    fn lookup(&self, name: &[u8], hash: u32) -> Result<NameId, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let Some(number) = self.slots.get(slot).and_then(|n| n.checked_sub(1)) else {
                return Err(slot);
            };
            let same = self.ends.get(number as usize).is_some_and(|&(_, known)| known == hash);
            if same && self.nth(number as usize).is_some_and(|known| known.as_bytes() == name) {
                return Ok(NameId(number));
            }
            slot = (slot + 1) & mask;
        }
    }

    #[cold]
    #[inline(never)]
    fn insert(&mut self, raw: &[u8], escaped: bool) -> (NameId, Kept) {
        let (name, repaired) = if escaped { unescape(raw) } else { lossy(raw) };
        let mut kept = if repaired { Kept::Repaired } else { Kept::Whole };
        let mut name = &*name;
        if self.text.len() + name.len() > self.most_bytes || self.ends.len() >= u32::MAX as usize {
            if let Some(known) = self.find(name) {
                return (known, kept);
            }
            (name, kept) = (OVERFLOW, Kept::Overflow);
        }
        let hash = hash(name.as_bytes());
        let slot = match self.lookup(name.as_bytes(), hash) {
            Ok(id) => return (id, kept),
            Err(slot) => slot,
        };
        let number = position_u32(self.ends.len());
        self.text.push_str(name);
        self.ends.push((self.text.len(), hash));
        if let Some(slot) = self.slots.get_mut(slot) {
            *slot = number + 1;
        }
        if self.ends.len() * 2 > self.slots.len() {
            self.grow();
        }
        (NameId(number), kept)
    }

    fn grow(&mut self) {
        let len = self.slots.len() * 2;
        let mut slots = vec![0; len];
        for (number, &(_, hash)) in self.ends.iter().enumerate() {
            let mut slot = hash as usize & (len - 1);
            while slots.get(slot).is_some_and(|&taken| taken != 0) {
                slot = (slot + 1) & (len - 1);
            }
            if let Some(slot) = slots.get_mut(slot) {
                *slot = position_u32(number).saturating_add(1);
            }
        }
        self.slots = slots;
    }
}

/// How a text got into the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// As it stands.
    Whole,
    /// With U+FFFD for what is not text.
    Repaired,
    /// Not: the table is full.
    Overflow,
}

/// Multiplies and folds eight bytes at a time.
#[inline]
fn hash(bytes: &[u8]) -> u32 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(FACTOR);
        low_u64(product) ^ low_u64(product >> 64)
    };
    let mut state = fold(FACTOR, bytes.len() as u64);
    for word in bytes.as_chunks::<8>().0 {
        state = fold(state, u64::from_le_bytes(*word));
    }
    // The last bytes again, or what few there are: a copy of a length that is not known would
    // cost more than all of this.
    let last = if let Some(last) = bytes.last_chunk::<8>() {
        u64::from_le_bytes(*last)
    } else if let (Some(front), Some(back)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        u64::from(u32::from_le_bytes(*front)) << 32 | u64::from(u32::from_le_bytes(*back))
    } else {
        bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte))
    };
    state = fold(state, last);
    low_u32(state ^ state >> 32)
}

fn lossy(raw: &[u8]) -> (Cow<'_, str>, bool) {
    let text = String::from_utf8_lossy(raw);
    let repaired = matches!(text, Cow::Owned(_));
    (text, repaired)
}

/// The text between quotes without its escapes, and whether anything in it was no text. A bad
/// escape stays as it stands.
pub(crate) fn unescape(raw: &[u8]) -> (Cow<'_, str>, bool) {
    if !raw.contains(&b'\\') {
        return lossy(raw);
    }
    let mut out: Vec<u8> = Vec::with_capacity(raw.len());
    let mut repaired = false;
    let mut rest = raw;
    let unit = |text: &[u8]| -> Option<u32> {
        let digits = std::str::from_utf8(text.get(..4)?).ok()?;
        (!digits.starts_with('+')).then(|| u32::from_str_radix(digits, 16).ok())?
    };
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some((&letter, after)) = rest.split_first() else {
            repaired = true;
            break;
        };
        let plain = match letter {
            b'"' | b'\\' | b'/' => Some(letter),
            b'b' => Some(8),
            b'f' => Some(12),
            b'n' => Some(b'\n'),
            b'r' => Some(b'\r'),
            b't' => Some(b'\t'),
            _ => None,
        };
        if let Some(plain) = plain {
            out.push(plain);
            rest = after;
            continue;
        }
        let Some(high) = unit(after).filter(|_| letter == b'u') else {
            out.push(b'\\');
            repaired = true;
            continue;
        };
        rest = after.get(4..).unwrap_or_default();
        let mut code = high;
        if (0xd800..0xdc00).contains(&high)
            && let Some(after) = rest.strip_prefix(b"\\u")
            && let Some(low) = unit(after).filter(|low| (0xdc00..0xe000).contains(low))
        {
            code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
            rest = after.get(4..).unwrap_or_default();
        }
        let c = char::from_u32(code).unwrap_or_else(|| {
            repaired = true;
            char::REPLACEMENT_CHARACTER
        });
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    let text = String::from_utf8(out).unwrap_or_else(|fault| {
        repaired = true;
        String::from_utf8_lossy(fault.as_bytes()).into_owned()
    });
    (Cow::Owned(text), repaired)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number_however_it_is_written() {
        let mut table = NameTable::new(1 << 20);
        let (a, _) = table.intern(b"MPI_Send()", false);
        let (b, _) = table.intern(br"MPI\u005fSend()", true);
        assert_eq!((a, table.len()), (b, 1));
        for i in 0..10_000 {
            let name = format!("function {i} of the file");
            let (id, kept) = table.intern(name.as_bytes(), false);
            assert_eq!((table.get(id), kept), (name.as_str(), Kept::Whole));
        }
        assert_eq!(table.len(), 10_001);
        assert_eq!(table.find("function 77 of the file").map(NameId::get), Some(78));
        assert_eq!(table.iter().next(), Some("MPI_Send()"));
    }

    #[test]
    fn what_is_no_text_is_kept_with_a_mark() {
        let mut table = NameTable::new(1 << 20);
        let (id, kept) = table.intern(b"caf\xe9", false);
        assert_eq!((table.get(id), kept), ("caf\u{fffd}", Kept::Repaired));
        assert_eq!(table.intern(b"caf\xe9", false).0, id);
        assert_eq!(unescape(br#"a\"\n\ud83d\ude00\x"#), ("a\"\n\u{1f600}\\x".into(), true));
        assert_eq!(unescape(br"\ud83d!"), ("\u{fffd}!".into(), true));
    }

    #[test]
    fn a_full_table_says_so() {
        let mut table = NameTable::new(8);
        let (a, _) = table.intern(b"12345678", false);
        let (b, kept) = table.intern(b"9", false);
        assert_eq!((table.get(b), kept), (OVERFLOW, Kept::Overflow));
        assert_eq!(table.intern(b"10", false), (b, Kept::Overflow));
        assert_eq!(table.intern(b"12345678", false), (a, Kept::Whole));
    }
}
