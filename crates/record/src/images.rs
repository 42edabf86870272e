//! Files that are mapped as code: where their parts lie, and their tables for finding callers.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use framehop::ExplicitModuleSectionInfo;
use object::read::ReadCache;
use object::{Architecture, CompressionFormat, Object, ObjectSection, ObjectSegment, ReadRef};

/// The code that the kernel maps into every process.
pub(crate) const VDSO: &str = "[vdso]";

/// Most bytes of a section that is read; larger tables than these are damaged.
const MOST_BYTES: u64 = 1 << 30;

/// `mov $15, %rax; syscall`: the system call `rt_sigreturn`.
#[cfg(target_arch = "x86_64")]
const SIGNAL_RETURN: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
/// `mov x8, #139; svc #0`: the system call `rt_sigreturn`.
#[cfg(target_arch = "aarch64")]
const SIGNAL_RETURN: [u8; 8] = [0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4];

/// A file that is mapped as code, or something that has no file.
#[derive(Debug)]
pub(crate) struct Image {
    /// Where it is, as the kernel says.
    pub(crate) path: String,
    /// Its name without folders, which people know.
    pub(crate) name: String,
    /// The processor that its code is of.
    pub(crate) architecture: Architecture,
    /// Empty where it cannot be read.
    segments: Vec<Segment>,
    sections: Sections,
}

#[derive(Debug)]
struct Segment {
    offset: u64,
    len: u64,
    address: u64,
}

/// A section: where it is to be, and its bytes.
type Section = (std::ops::Range<u64>, Arc<[u8]>);

#[derive(Debug, Default)]
struct Sections {
    build_id: Option<Vec<u8>>,
    text: Option<std::ops::Range<u64>>,
    got: Option<std::ops::Range<u64>>,
    frames: Option<Section>,
    frames_index: Option<Section>,
    debug_frames: Option<Section>,
    /// The code, where it is not in a file.
    code: Option<Section>,
}

impl Image {
    /// What is to be added to addresses in the file when its byte `offset` lies at `start`.
    pub(crate) fn bias(&self, start: u64, offset: u64) -> u64 {
        let holds = |part: &&Segment| (part.offset..=part.offset + part.len).contains(&offset);
        // A mapping begins at a page, a segment need not.
        let near = |part: &&Segment| part.offset & !0xfff == offset & !0xfff;
        let part = self.segments.iter().find(near).or_else(|| self.segments.iter().find(holds));
        let address =
            part.map_or(offset, |part| part.address.wrapping_add(offset).wrapping_sub(part.offset));
        start.wrapping_sub(address)
    }

    /// What the unwinder wants to know.
    pub(crate) fn unwinding(&self) -> ExplicitModuleSectionInfo<Arc<[u8]>> {
        let range = |section: &Option<Section>| section.as_ref().map(|section| section.0.clone());
        let bytes =
            |section: &Option<Section>| section.as_ref().map(|section| Arc::clone(&section.1));
        let own = &self.sections;
        ExplicitModuleSectionInfo {
            base_svma: 0,
            text_svma: own.text.clone(),
            got_svma: own.got.clone(),
            eh_frame_svma: range(&own.frames),
            eh_frame: bytes(&own.frames),
            eh_frame_hdr_svma: range(&own.frames_index),
            eh_frame_hdr: bytes(&own.frames_index),
            debug_frame: bytes(&own.debug_frames),
            ..ExplicitModuleSectionInfo::default()
        }
    }

    /// Whether a handler of a signal returns to this address: what it interrupted called nothing.
    /// There is code that does nothing but tell the kernel so, in the C library or in a program that
    /// has it inside. This reads the file, and is for addresses that are seen for the first time.
    pub(crate) fn is_signal_return(&self, address: u64) -> bool {
        let mut found = [0; SIGNAL_RETURN.len()];
        self.code_at(address, &mut found).is_some() && found == SIGNAL_RETURN
    }

    /// Reads the code from this address on.
    pub(crate) fn code_at(&self, address: u64, into: &mut [u8]) -> Option<()> {
        if let Some((range, bytes)) = &self.sections.code {
            let at = usize::try_from(address.checked_sub(range.start)?).ok()?;
            into.copy_from_slice(bytes.get(at..at.checked_add(into.len())?)?);
            return Some(());
        }
        let within = |part: &Segment| address.checked_sub(part.address).filter(|at| *at < part.len);
        let mut parts = self.segments.iter();
        let offset = parts.find_map(|part| part.offset.checked_add(within(part)?))?;
        let file = self.is_file().then(|| File::open(&self.path).ok())??;
        file.read_exact_at(into, offset).ok()
    }

    /// Where distributions put debug information that was taken out of the file.
    pub(crate) fn debug_file(&self) -> Option<String> {
        let id = self.sections.build_id.as_ref()?;
        let digits: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        let (folder, rest) = digits.split_at_checked(2)?;
        Some(format!("/usr/lib/debug/.build-id/{folder}/{rest}.debug"))
    }

    /// Whether there is a file to look names up in.
    pub(crate) fn is_file(&self) -> bool {
        !self.segments.is_empty() && self.path.starts_with('/')
    }
}

/// All images of a recording.
#[derive(Debug, Default)]
pub(crate) struct Images {
    images: Vec<Arc<Image>>,
    by_path: HashMap<String, u32>,
}

impl Images {
    /// The image with a number.
    pub(crate) fn get(&self, number: u32) -> Option<&Arc<Image>> {
        self.images.get(number as usize)
    }

    /// The number of the image at `path`, which is read when it is new. Nothing is wrong with a file
    /// that cannot be read: its functions have no names then.
    pub(crate) fn at(&mut self, path: &str) -> u32 {
        if let Some(&known) = self.by_path.get(path) {
            return known;
        }
        let (architecture, segments, sections) =
            read(path).unwrap_or((Architecture::Unknown, Vec::new(), Sections::default()));
        let name = match Path::new(path).file_name() {
            Some(name) if path.starts_with('/') => name.to_string_lossy().into_owned(),
            _ => path.to_owned(),
        };
        let number = u32::try_from(self.images.len()).unwrap_or(u32::MAX);
        let image = Image { path: path.to_owned(), name, architecture, segments, sections };
        self.images.push(Arc::new(image));
        self.by_path.insert(path.to_owned(), number);
        number
    }
}

/// What is known of an image.
type Parts = (Architecture, Vec<Segment>, Sections);

fn read(path: &str) -> Option<Parts> {
    if path == VDSO {
        let bytes = vdso()?;
        let (architecture, segments, mut sections) = parse(bytes.as_slice(), &|_, _| None)?;
        let first = segments.first()?.address;
        let end = first.checked_add(bytes.len() as u64)?;
        sections.code = Some((first..end, Arc::from(bytes)));
        return Some((architecture, segments, sections));
    }
    if !path.starts_with('/') {
        return None;
    }
    // Read where it is needed and not mapped: the file may be replaced while it is read.
    let file = File::open(path).ok()?;
    let len = file.metadata().ok()?.len();
    let cache = ReadCache::new(BufReader::new(&file));
    parse(&cache, &|offset, size| {
        let size = usize::try_from(size).ok().filter(|_| size <= len)?;
        let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, size).collect();
        file.read_exact_at(Arc::get_mut(&mut bytes)?, offset).ok()?;
        Some(bytes)
    })
}

/// Reads what is needed of a file. `whole` gives bytes from an offset on, without a copy that stays
/// in `data`, where it can.
fn parse<'d>(
    data: impl ReadRef<'d>,
    whole: &dyn Fn(u64, u64) -> Option<Arc<[u8]>>,
) -> Option<Parts> {
    let file = object::File::parse(data).ok()?;
    let segments = file.segments().map(|part| {
        let (offset, len) = part.file_range();
        Segment { offset, len, address: part.address() }
    });
    let segments = segments.collect();
    let range = |name: &str| {
        let section = file.section_by_name(name)?;
        Some(section.address()..section.address().checked_add(section.size())?)
    };
    let section = |name: &str| {
        let section = file.section_by_name(name).filter(|own| own.size() <= MOST_BYTES)?;
        let end = section.address().checked_add(section.size())?;
        let stored = section.compressed_file_range().ok()?;
        let plain = match stored.format {
            CompressionFormat::None => whole(stored.offset, stored.uncompressed_size),
            _ => None,
        };
        let bytes = plain.or_else(|| Some(Arc::from(section.uncompressed_data().ok()?.as_ref())));
        Some((section.address()..end, bytes?))
    };
    let sections = Sections {
        build_id: file.build_id().ok().flatten().map(<[u8]>::to_vec),
        text: range(".text"),
        got: range(".got"),
        frames: section(".eh_frame"),
        frames_index: section(".eh_frame_hdr"),
        debug_frames: section(".debug_frame"),
        code: None,
    };
    Some((file.architecture(), segments, sections))
}

/// The bytes of the kernel's code in this process, which are those in every other one.
fn vdso() -> Option<Vec<u8>> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.ends_with(VDSO))?;
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    let (start, end) = (number(start)?, number(end)?);
    let len = usize::try_from(end.checked_sub(start)?).ok().filter(|len| *len <= 1 << 20)?;
    let mut memory = File::open("/proc/self/mem").ok()?;
    memory.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = vec![0; len];
    memory.read_exact(&mut bytes).ok()?;
    Some(bytes)
}
