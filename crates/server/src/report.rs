//! [`Report`]: the application and data in one self-contained file.

use std::io::{self, Write};

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use flate2::Compression;
use flate2::write::GzEncoder;
use parallax_base::{ByteSource, escaped_markup};

use crate::pages::report_page;
use crate::{Selection, ServerError};

/// Bytes of a file that are held at a time.
const BLOCK: usize = 1 << 20;

/// Where a page takes data: the build of the page writes it, once.
const DATA: &str = "<!--parallax-data-->";

/// The title of a page that has no data.
const UNTITLED: &str = "<title>Parallax</title>";

/// A page that brings its engine and its data along, and shows them from a disk, without a network.
#[derive(Debug, Clone)]
pub struct Report {
    /// The page up to where data goes, and from there on.
    halves: (String, String),
    title: String,
}

impl Report {
    /// A report with this title, as the user reads it.
    ///
    /// # Errors
    /// When this program was built without the page.
    pub fn new(title: &str) -> Result<Self, ServerError> {
        let page = report_page().ok_or(ServerError::NoPage)?;
        Self::of_page(&page, title)
    }

    /// A report on another page than that of this program.
    ///
    /// # Errors
    /// When the page has no place for data.
    pub fn of_page(page: &str, title: &str) -> Result<Self, ServerError> {
        let escaped = escaped_markup(title);
        let page = page.replacen(UNTITLED, &format!("<title>{escaped} – Parallax</title>"), 1);
        // Scripts may talk about the mark; the last one is the mark itself.
        let (before, after) = page.rsplit_once(DATA).ok_or(ServerError::NoPage)?;
        let halves = (before.to_owned(), after.to_owned());
        Ok(Self { halves, title: title.to_owned() })
    }

    /// Length of the page with `selection` in it at most, in bytes: that of data which cannot be
    /// compressed.
    #[must_use]
    pub fn most_bytes(&self, selection: &Selection) -> u64 {
        let page = self.halves.0.len() + self.halves.1.len();
        selection.bytes().saturating_mul(4) / 3 + page as u64
    }

    /// Writes the page with `selection` in it, which the page names after the report's title.
    ///
    /// # Errors
    /// When a file cannot be read any more, or `out` takes no more.
    pub fn write(&self, selection: &Selection, out: &mut dyn Write) -> Result<(), ServerError> {
        out.write_all(self.halves.0.as_bytes())?;
        let root = escaped_markup(&self.title);
        for (path, source) in selection.files() {
            let name = escaped_markup(path);
            writeln!(
                out,
                "<script type=\"application/x-parallax-file\" data-root=\"{root}\" data-path=\"{name}\">"
            )?;
            pack(&**source, path, out)?;
            out.write_all(b"\n</script>\n")?;
        }
        out.write_all(self.halves.1.as_bytes())?;
        Ok(())
    }
}

/// Writes a file as gzip in base64, holding a block of it at a time.
fn pack(source: &dyn ByteSource, path: &str, out: &mut dyn Write) -> Result<(), ServerError> {
    let mut packer = GzEncoder::new(EncoderWriter::new(out, &STANDARD), Compression::default());
    let mut buffer = vec![0; BLOCK];
    let mut offset = 0;
    while offset < source.len() {
        let rest = usize::try_from(source.len() - offset).unwrap_or(usize::MAX);
        let length = rest.min(BLOCK);
        let Some(block) = buffer.get_mut(..length) else { break };
        source
            .read_at(offset, block)
            .map_err(|cause| ServerError::Read { file: path.to_owned(), cause })?;
        packer.write_all(block)?;
        offset += length as u64;
    }
    let mut encoder = packer.finish()?;
    encoder.finish().map(drop).map_err(io::Error::into)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::sync::Arc;

    use base64::Engine as _;
    use flate2::read::GzDecoder;
    use parallax_base::MemoryFolder;

    use super::*;
    use crate::DataRoot;

    const PAGE: &str = "<head><title>Parallax</title></head>\
        <script>const mark = '<!--parallax-data-->';</script><!--parallax-data--></body>";

    fn place(files: &[(&str, &[u8])]) -> DataRoot {
        let files = files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec()));
        let folder = Arc::new(MemoryFolder::new("run", files));
        DataRoot { key: "k".to_owned(), name: "run".to_owned(), folder, parts: Vec::new() }
    }

    fn written(place: &DataRoot, has_traces: bool, title: &str) -> String {
        let selection = Selection::of(place, has_traces).unwrap();
        let mut out = Vec::new();
        Report::of_page(PAGE, title).unwrap().write(&selection, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// The file at `path`, as a browser would unpack it.
    fn unpacked(page: &str, path: &str) -> Vec<u8> {
        let (_, rest) = page.split_once(&format!("data-path=\"{path}\">")).unwrap();
        let (text, _) = rest.split_once("</script>").unwrap();
        let packed = STANDARD.decode(text.trim()).unwrap();
        let mut out = Vec::new();
        GzDecoder::new(&packed[..]).read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn a_report_has_every_byte_of_the_database_and_nothing_else() {
        let large: Vec<u8> = (0..BLOCK * 2 + 7).map(|n| (n % 251) as u8).collect();
        let files: [(&str, &[u8]); 4] = [
            ("db/meta.db", b"HPCTOOLKITmeta"),
            ("db/src/a&b.c", b"int"),
            ("db/trace.db", &large),
            ("junk", b"x"),
        ];
        let page = written(&place(&files), true, "A <b> & \"c\"");
        assert_eq!(unpacked(&page, "db/meta.db"), b"HPCTOOLKITmeta");
        assert_eq!(unpacked(&page, "db/src/a&amp;b.c"), b"int");
        assert_eq!(unpacked(&page, "db/trace.db"), large);
        assert!(!page.contains("junk"));
        assert!(page.contains("<title>A &lt;b&gt; &amp; &quot;c&quot; – Parallax</title>"));
        assert!(page.contains("data-root=\"A &lt;b&gt; &amp; &quot;c&quot;\""));
        assert!(page.contains("const mark = '<!--parallax-data-->'"), "scripts stay as they are");
        assert!(page.ends_with("</script>\n</body>"));
    }

    #[test]
    fn traces_stay_out_when_they_are_not_wanted() {
        let files: [(&str, &[u8]); 2] = [("meta.db", b"HPCTOOLKITmeta"), ("trace.db", b"t")];
        let page = written(&place(&files), false, "run");
        assert_eq!(unpacked(&page, "meta.db"), b"HPCTOOLKITmeta");
        assert!(!page.contains("trace.db"));
    }

    #[test]
    fn a_page_without_a_place_for_data_is_none() {
        assert!(matches!(Report::of_page("<html></html>", "t"), Err(ServerError::NoPage)));
    }
}
