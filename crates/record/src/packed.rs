//! Names from debug information that is packed, one unit at a time.
//!
//! Distributions pack the debug information of libraries. A program is seen in a few functions of the
//! C library, and to unpack and parse all four thousand units of that would take longer than anything
//! else at the start of a recording. A table, `.debug_aranges`, says which unit has an address; the
//! units are unpacked as far as that one, and it alone is parsed.
//!
//! What this says is what all units together would say. Where that is not sure, it says nothing.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use addr2line::{Context, LookupResult};
use flate2::read::ZlibDecoder;
use gimli::{EndianArcSlice, LittleEndian, Reader as _, SectionId};
use object::read::ReadCache;
use object::{CompressionFormat, Object as _, ObjectKind, ObjectSection as _, ReadRef};

/// Most bytes of a section; larger ones are damaged.
const MOST_BYTES: u64 = 1 << 30;

/// What a unit is read with, together with `.debug_info`.
const SECTIONS: [SectionId; 8] = [
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
];

type Bytes = EndianArcSlice<LittleEndian>;

/// A function that is active at an address, and where in it that is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Active {
    pub(crate) name: String,
    /// The file in which it was, or empty.
    pub(crate) file: String,
    /// 0 where that is not known, as the column.
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl Active {
    /// `None` where it has no name.
    pub(crate) fn of<R: gimli::Reader>(frame: &addr2line::Frame<'_, R>) -> Option<Self> {
        let name = frame.function.as_ref()?.demangle().ok()?.into_owned();
        let at = frame.location.as_ref();
        let file = at.and_then(|at| at.file).unwrap_or_default().to_owned();
        let number = |of: fn(&addr2line::Location<'_>) -> Option<u32>| at.and_then(of).unwrap_or(0);
        Some(Self { name, file, line: number(|at| at.line), column: number(|at| at.column) })
    }

    /// Where it is.
    pub(crate) fn place(&self) -> (&str, u32, u32) {
        (&self.file, self.line, self.column)
    }
}

/// The debug information of one file.
pub(crate) struct Packed {
    symbols: Vec<Symbol>,
    ranges: Vec<Owned>,
    info: Unpacked,
    sections: HashMap<SectionId, Bytes>,
    /// By offset; `None` where a unit says something with others only.
    units: HashMap<usize, Option<Context<Bytes>>>,
}

/// Addresses that a unit has; they are in order of their starts.
struct Owned {
    range: Range<u64>,
    /// The offset of the unit.
    unit: usize,
    /// The last end of this and all before.
    reach: u64,
}

struct Symbol {
    address: u64,
    len: u64,
    name: Box<str>,
}

impl Packed {
    /// `None` where the file has no packed debug information, or has it in another way than this
    /// reads it.
    pub(crate) fn open(path: &str) -> Option<Self> {
        let file = File::open(path).ok()?;
        let cache = ReadCache::new(BufReader::new(file.try_clone().ok()?));
        let object = object::File::parse(&cache).ok()?;
        // Sections of other kinds have to be relocated.
        let is_linked = matches!(object.kind(), ObjectKind::Executable | ObjectKind::Dynamic);
        if !is_linked || !object.is_little_endian() {
            return None;
        }
        let info = object.section_by_name(SectionId::DebugInfo.name())?;
        let stored = info.compressed_file_range().ok()?;
        if stored.format != CompressionFormat::Zlib || stored.uncompressed_size > MOST_BYTES {
            return None;
        }
        let part = Part { file, at: stored.offset, left: stored.compressed_size };
        let info = Unpacked::new(part, usize::try_from(stored.uncompressed_size).ok()?);
        let ranges = ranges(&section(&object, SectionId::DebugAranges)?)?;
        let sections = SECTIONS.iter().filter_map(|id| Some((*id, section(&object, *id)?)));
        let sections = sections.collect();
        let symbols = object.symbol_map();
        let symbols = symbols.symbols().iter().map(|symbol| Symbol {
            address: symbol.address(),
            len: symbol.size(),
            name: symbol.name().into(),
        });
        Some(Self { symbols: symbols.collect(), ranges, info, sections, units: HashMap::new() })
    }

    /// The symbol that an address is in: where it begins, and its name.
    pub(crate) fn symbol(&self, address: u64) -> Option<(u64, &str)> {
        let end = self.symbols.partition_point(|symbol| symbol.address <= address);
        let symbol = self.symbols.get(end.checked_sub(1)?)?;
        let is_inside = symbol.len == 0 || address - symbol.address < symbol.len;
        is_inside.then_some((symbol.address, &*symbol.name))
    }

    /// The functions that are active at an address, the innermost first; none where the unit names
    /// none. `None` where all units have to be asked.
    pub(crate) fn active(&mut self, address: u64) -> Option<Vec<Active>> {
        let LookupResult::Output(frames) = self.unit(address)?.find_frames(address) else {
            return None;
        };
        let mut frames = frames.ok()?;
        let mut found = Vec::new();
        let mut is_known = false;
        while let Some(frame) = frames.next().ok()? {
            is_known = true;
            found.extend(Active::of(&frame));
        }
        is_known.then_some(found)
    }

    /// The file and line of an address. `None` where all units have to be asked.
    pub(crate) fn line(&mut self, address: u64) -> Option<(String, u32)> {
        let found = self.unit(address)?.find_location(address).ok()??;
        Some((found.file?.to_owned(), found.line.unwrap_or(0)))
    }

    /// The unit that has an address, where exactly one does.
    fn unit(&mut self, address: u64) -> Option<&Context<Bytes>> {
        let end = self.ranges.partition_point(|own| own.range.start <= address);
        let before = self.ranges.get(..end)?.iter().rev();
        let around = before.take_while(|own| own.reach > address);
        let mut owners = around.filter(|own| own.range.contains(&address)).map(|own| own.unit);
        let offset = owners.next()?;
        if owners.any(|other| other != offset) {
            return None;
        }
        if !self.units.contains_key(&offset) {
            let unit = self.parse(offset);
            self.units.insert(offset, unit);
        }
        self.units.get(&offset)?.as_ref()
    }

    fn parse(&mut self, offset: usize) -> Option<Context<Bytes>> {
        // A unit begins with its length, in one of two forms.
        let head = self.info.up_to(offset.checked_add(12)?)?.get(offset..)?;
        let (short, long) = (head.get(..4)?.try_into().ok()?, head.get(4..12)?.try_into().ok()?);
        let len = match u32::from_le_bytes(short) {
            u32::MAX => u64::from_le_bytes(long).checked_add(12)?,
            len => u64::from(len) + 4,
        };
        let end = offset.checked_add(usize::try_from(len).ok()?)?;
        let own = reader(Arc::from(self.info.up_to(end)?.get(offset..end)?));
        let dwarf = gimli::Dwarf::load(|id| {
            let known =
                if id == SectionId::DebugInfo { Some(&own) } else { self.sections.get(&id) };
            Ok::<_, gimli::Error>(known.cloned().unwrap_or_else(|| reader(Arc::from([]))))
        });
        let dwarf = dwarf.ok()?;
        let header = dwarf.units().next().ok()??;
        let abbreviations = self.sections.get(&SectionId::DebugAbbrev)?.clone();
        if refers_to_others(abbreviations, header.debug_abbrev_offset().0).ok()? {
            return None;
        }
        // What it says may be in another file.
        if dwarf.unit(header).ok()?.dwo_id.is_some() {
            return None;
        }
        Context::from_dwarf(dwarf).ok()
    }
}

/// Whether a unit with these abbreviations may refer to what is outside of it.
fn refers_to_others(mut abbreviations: Bytes, offset: usize) -> gimli::Result<bool> {
    use gimli::constants as dw;

    let outside =
        [dw::DW_FORM_ref_addr, dw::DW_FORM_ref_sup4, dw::DW_FORM_ref_sup8, dw::DW_FORM_GNU_ref_alt];
    abbreviations.skip(offset)?;
    // Each has a number, a tag, whether there are children, and attributes to the first without name.
    while abbreviations.read_uleb128()? != 0 {
        abbreviations.read_uleb128()?;
        abbreviations.read_u8()?;
        loop {
            let (name, form) = (abbreviations.read_uleb128()?, abbreviations.read_uleb128()?);
            if (name, form) == (0, 0) {
                break;
            }
            if outside.iter().any(|own| u64::from(own.0) == form) {
                return Ok(true);
            }
            if form == u64::from(dw::DW_FORM_implicit_const.0) {
                abbreviations.read_sleb128()?;
            }
        }
    }
    Ok(false)
}

/// Which unit has which addresses.
fn ranges(table: &Bytes) -> Option<Vec<Owned>> {
    let mut found = Vec::new();
    let mut sets = gimli::DebugAranges::from(table.clone()).headers();
    while let Some(set) = sets.next().ok()? {
        let mut entries = set.entries();
        while let Some(entry) = entries.next().ok()? {
            let gimli::Range { begin, end } = entry.range();
            found.push(Owned { range: begin..end, unit: set.debug_info_offset().0, reach: 0 });
        }
    }
    found.sort_by_key(|own| own.range.start);
    let mut reach = 0;
    for own in &mut found {
        reach = own.range.end.max(reach);
        own.reach = reach;
    }
    Some(found)
}

fn reader(bytes: Arc<[u8]>) -> Bytes {
    EndianArcSlice::new(bytes, LittleEndian)
}

/// A section, unpacked. `None` where there is none or it is damaged.
fn section<'d, R: ReadRef<'d>>(object: &object::File<'d, R>, id: SectionId) -> Option<Bytes> {
    let found = object.section_by_name(id.name())?;
    if found.compressed_file_range().ok()?.uncompressed_size > MOST_BYTES {
        return None;
    }
    Some(reader(Arc::from(found.uncompressed_data().ok()?.as_ref())))
}

/// A part of a file.
struct Part {
    file: File,
    at: u64,
    left: u64,
}

impl Read for Part {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).map_or(into.len(), |left| into.len().min(left));
        let count = self.file.read_at(into.get_mut(..most).unwrap_or_default(), self.at)?;
        self.at += count as u64;
        self.left -= count as u64;
        Ok(count)
    }
}

/// A packed section, unpacked as far as it was asked for.
struct Unpacked {
    packed: ZlibDecoder<BufReader<Part>>,
    bytes: Vec<u8>,
    len: usize,
}

impl Unpacked {
    fn new(part: Part, len: usize) -> Self {
        let packed = ZlibDecoder::new(BufReader::with_capacity(1 << 16, part));
        Self { packed, bytes: Vec::new(), len }
    }

    /// What is before `end`.
    fn up_to(&mut self, end: usize) -> Option<&[u8]> {
        if end > self.len {
            return None;
        }
        let missing = end.saturating_sub(self.bytes.len());
        if missing > 0 {
            Read::by_ref(&mut self.packed)
                .take(missing as u64)
                .read_to_end(&mut self.bytes)
                .ok()?;
        }
        self.bytes.get(..end)
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use addr2line::Loader;
    use parallax_testkit::needs::{self, Without};

    use super::*;

    /// A program of two units with packed debug information.
    fn program(folder: &Path) -> PathBuf {
        let first = "static inline int twice(int n) { return 2 * n + 1; }
             __attribute__((noinline)) int first(int n) { return twice(n) ^ twice(n + 3); }
             int second(int);
             int main(int argc, char **argv) { return first(argc) + second(argc) + !argv; }";
        let second = "static inline int half(int n) { volatile int m = n; return m / 2; }
             __attribute__((noinline)) int second(int n) { return half(n) + 7; }";
        for (name, text) in [("first.c", first), ("second.c", second)] {
            std::fs::write(folder.join(name), text).unwrap();
        }
        let made = Command::new("cc")
            .current_dir(folder)
            .args(["-O2", "-g", "-gz=zlib", "-o", "app", "first.c", "second.c"])
            .status();
        assert!(made.unwrap().success());
        folder.join("app")
    }

    fn of_all(all: &Loader, address: u64) -> Vec<Active> {
        let mut frames = all.find_frames(address).unwrap();
        let mut found = Vec::new();
        while let Some(frame) = frames.next().unwrap() {
            found.extend(Active::of(&frame));
        }
        found
    }

    /// Compares with what all units say, at the beginning of symbols and behind it. How often one
    /// unit was enough, and the longest list of functions.
    fn compare(path: &Path, step: usize, lens: &[u64]) -> (usize, usize) {
        let all = Loader::new(path).unwrap();
        let mut packed = Packed::open(path.to_str().unwrap()).unwrap();
        let starts: Vec<u64> =
            packed.symbols.iter().step_by(step).map(|symbol| symbol.address).collect();
        let (mut known, mut longest) = (0, 0);
        for address in starts.iter().flat_map(|start| lens.iter().map(move |len| start + len)) {
            let symbol = all.find_symbol_info(address);
            let symbol = symbol.as_ref().map(|symbol| (symbol.address(), symbol.name()));
            assert_eq!(packed.symbol(address), symbol, "{address:#x}");
            if let Some(found) = packed.active(address) {
                known += 1;
                longest = found.len().max(longest);
                assert_eq!(found, of_all(&all, address), "{address:#x}");
            }
            if let Some((file, line)) = packed.line(address) {
                let found = all.find_location(address).unwrap().unwrap();
                assert_eq!((found.file.unwrap(), found.line.unwrap_or(0)), (&*file, line));
            }
        }
        (known, longest)
    }

    #[test]
    fn one_unit_says_what_all_say() {
        if !needs::program("cc", Without::Test) {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = program(folder.path());
        let (known, longest) = compare(&path, 1, &[0, 1, 2, 4, 5, 7, 8, 11, 16]);
        assert!(known >= 20 && longest >= 2, "{known} {longest}");
    }

    #[test]
    fn packed_information_of_the_system_says_what_all_of_it_says() {
        let mut images = crate::images::Images::default();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let library = maps
            .lines()
            .find_map(|line| line.split_whitespace().nth(5).filter(|p| p.contains("libc.so")));
        let Some(library) = library else { return };
        let number = images.at(library);
        let Some(apart) = images.get(number).unwrap().debug_file() else { return };
        if Packed::open(&apart).is_none() {
            return;
        }
        let (known, _) = compare(Path::new(&apart), 16, &[0, 9]);
        assert!(known > 100, "{known}");
    }

    #[test]
    fn damaged_files_say_nothing_or_something_and_do_not_end_the_tool() {
        if !needs::program("cc", Without::Test) {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = program(folder.path());
        let whole = std::fs::read(&path).unwrap();
        let addresses: Vec<u64> = Packed::open(path.to_str().unwrap())
            .unwrap()
            .symbols
            .iter()
            .map(|symbol| symbol.address)
            .collect();
        let damaged = folder.path().join("damaged");
        let ask = |bytes: &[u8]| {
            std::fs::write(&damaged, bytes).unwrap();
            let Some(mut packed) = Packed::open(damaged.to_str().unwrap()) else { return };
            for address in &addresses {
                let begin = packed.symbol(*address).map(|(begin, _)| begin);
                let _ = (begin, packed.active(*address), packed.line(*address));
            }
        };
        for at in (0..whole.len()).step_by(97) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0xff;
            ask(&bytes);
        }
        for len in (0..whole.len()).step_by(997) {
            ask(&whole[..len]);
        }
    }
}
