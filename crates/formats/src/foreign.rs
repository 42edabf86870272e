//! Formats of other tools that are recognised by their first bytes, so that they can be named, and
//! are not read.

/// Length of a name, and where the mark is, in the header of a member of a tar archive (POSIX ustar).
const TAR_NAME: usize = 100;
const TAR_MARK: std::ops::Range<usize> = 257..262;

/// Whether `text`, the first bytes of a file, is of a CUBE file: CUBE 4 is a tar archive with the
/// members `anchor.xml`, `remapping.spec` and `N.data` or `N.index`, CUBE 3 an XML document.
#[must_use]
pub fn is_cube(text: &[u8]) -> bool {
    if text.get(TAR_MARK) == Some(b"ustar") {
        let name = text.get(..TAR_NAME).unwrap_or_default();
        let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
        let is_number = |digits: &[u8]| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        let parts = [&b".data"[..], b".index"];
        return matches!(name, b"anchor.xml" | b"remapping.spec")
            || parts.iter().any(|end| name.strip_suffix(*end).is_some_and(is_number));
    }
    let head = text.get(..512).unwrap_or(text);
    head.starts_with(b"<?xml") && has(head, b"<cube ") || head.starts_with(b"<cube ")
}

/// Whether `head` is of `perf.data` (`PERFFILE`, `PERFILE2`).
#[must_use]
pub fn is_perf_data(head: &[u8]) -> bool {
    head.starts_with(b"PERFILE2") || head.starts_with(b"PERFFILE") || head.starts_with(b"2ELIFREP")
}

/// Whether `head` is of `gmon.out`.
#[must_use]
pub fn is_gmon(head: &[u8]) -> bool {
    head.starts_with(b"gmon\x01\0\0\0") || head.starts_with(b"gmon\0\0\0\x01")
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tar_archive_is_a_cube_file_by_the_name_of_its_first_member() {
        let tar = |name: &[u8]| {
            let mut bytes = name.to_vec();
            bytes.resize(TAR_MARK.start, 0);
            bytes.extend(b"ustar");
            bytes.resize(512, 0);
            bytes
        };
        for name in [&b"anchor.xml"[..], b"remapping.spec", b"12.data", b"0.index"] {
            assert!(is_cube(&tar(name)));
        }
        for name in [&b"main.c"[..], b".data", b"x1.data", b""] {
            assert!(!is_cube(&tar(name)));
        }
        assert!(is_cube(b"<?xml version=\"1.0\"?>\n<cube version=\"3.0\">"));
        assert!(!is_cube(b"<?xml version=\"1.0\"?><svg>") && !is_cube(b""));
    }
}
