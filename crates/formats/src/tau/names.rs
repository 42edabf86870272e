//! What names of timers and user events say: call paths, places in the source, kinds.

/// What TAU appends to the name of a timer that it stopped timing because it was too short.
pub const THROTTLED: &str = "[THROTTLED]";

/// What one part of a call path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementKind {
    /// A timer: a function, a phase, a loop, a parameter.
    Timer,
    /// `[CONTEXT]`: samples follow that were taken while the timer before it ran.
    Context,
    /// `[SUMMARY]`: a function in which samples were taken.
    Summary,
    /// `[UNWIND]`: a caller found by unwinding the stack at a sample.
    Unwind,
    /// `[SAMPLE]`: where a sample was taken.
    Sample,
}

/// One part of a call path, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element<'n> {
    /// What it is.
    pub kind: ElementKind,
    /// The name without its mark and its place in the source.
    pub name: &'n str,
    /// The file of `[{file} {line,column}-{line,column}]`; a binary where the line is 0.
    pub file: Option<&'n str>,
    /// The line; 0 when unknown.
    pub line: u32,
    /// What follows the place, such as the value of a parameter: `[ <size> = <100> ]`.
    pub suffix: &'n str,
}

/// The parts of a call path `A => B => C`, without blanks at their ends; one part for any other
/// name. Blanks around the arrow keep operators such as `operator<=>` whole.
pub fn call_path(name: &str) -> impl Iterator<Item = &str> + Clone {
    name.split(" => ").map(|part| {
        let part = part.trim();
        part.strip_suffix(THROTTLED).map_or(part, str::trim_end)
    })
}

/// Takes one part of a call path apart.
#[must_use]
pub fn element(part: &str) -> Element<'_> {
    const MARKS: [(&str, ElementKind); 4] = [
        ("[CONTEXT]", ElementKind::Context),
        ("[SUMMARY]", ElementKind::Summary),
        ("[UNWIND]", ElementKind::Unwind),
        ("[SAMPLE]", ElementKind::Sample),
    ];
    let marked = MARKS.iter().find_map(|&(mark, kind)| Some((part.strip_prefix(mark)?, kind)));
    let (rest, kind) = marked.unwrap_or((part, ElementKind::Timer));
    let rest = rest.trim();
    let whole = Element { kind, name: rest, file: None, line: 0, suffix: "" };
    let Some((name, place)) = rest.split_once("[{") else { return whole };
    // A loop or region may have its place in the middle of its name: only what ends it is cut.
    let Some((file, after)) = place.split_once('}') else { return whole };
    let Some((lines, suffix)) = after.split_once(']') else { return whole };
    let line = lines
        .trim_start()
        .strip_prefix('{')
        .map_or("", |lines| lines.split([',', '}']).next().unwrap_or_default())
        .trim();
    Element {
        kind,
        name: name.trim_end(),
        file: Some(file.trim()).filter(|file| !file.is_empty()),
        line: line.parse().unwrap_or(0),
        suffix: suffix.trim(),
    }
}

/// Cuts the name of a context event into the event and the call path it happened in:
/// `Bytes : A => B`. `is_path` says whether a text is a call path of the profile, because names of
/// events may contain ` : ` themselves. `None` for events without a path.
pub fn cut_event(name: &str, is_path: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
    const BETWEEN: &str = " : ";
    name.match_indices(BETWEEN).find_map(|(at, _)| {
        let (event, path) = (name.get(..at)?, name.get(at + BETWEEN.len()..)?);
        is_path(path).then(|| (event.trim(), path.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cut_at_arrows_with_blanks() {
        let parts: Vec<&str> =
            call_path("main [{a.c} {1,0}]  => MPI_Init()   => x [THROTTLED]").collect();
        assert_eq!(parts, ["main [{a.c} {1,0}]", "MPI_Init()", "x"]);
        let one: Vec<&str> = call_path("bool A::operator<=>(A const&)  ").collect();
        assert_eq!(one, ["bool A::operator<=>(A const&)"]);
    }

    #[test]
    fn places_are_taken_apart() {
        for (part, kind, name, file, line, suffix) in [
            ("MPI_Init()", ElementKind::Timer, "MPI_Init()", None, 0, ""),
            (
                "int main(int, char **) C [{main.c} {5,1}-{17,1}]",
                ElementKind::Timer,
                "int main(int, char **) C",
                Some("main.c"),
                5,
                "",
            ),
            (
                "[SAMPLE] f.omp_fn.2 [{/a/m.c} {93}]",
                ElementKind::Sample,
                "f.omp_fn.2",
                Some("/a/m.c"),
                93,
                "",
            ),
            ("[SUMMARY] f [{/a/m.c}]", ElementKind::Summary, "f", Some("/a/m.c"), 0, ""),
            ("[CONTEXT]  MPI_Wait()", ElementKind::Context, "MPI_Wait()", None, 0, ""),
            (
                "dgemm C [{wb.c} {5,1}-{11,1}]   [ <size> = <100> ]",
                ElementKind::Timer,
                "dgemm C",
                Some("wb.c"),
                5,
                "[ <size> = <100> ]",
            ),
            ("addr=<5f> [{/a/b} {0,0}]", ElementKind::Timer, "addr=<5f>", Some("/a/b"), 0, ""),
            ("cut [{m.c", ElementKind::Timer, "cut [{m.c", None, 0, ""),
        ] {
            assert_eq!(element(part), Element { kind, name, file, line, suffix }, "{part}");
        }
    }

    #[test]
    fn events_with_colons_are_cut_where_a_path_begins() {
        let known = |path: &str| path.trim() == "ADIOS group size";
        assert_eq!(
            cut_event("[GROUP=MIN] data : ADIOS group size : ADIOS group size  ", known),
            Some(("[GROUP=MIN] data : ADIOS group size", "ADIOS group size"))
        );
        assert_eq!(cut_event("Heap : KB", known), None);
    }
}
