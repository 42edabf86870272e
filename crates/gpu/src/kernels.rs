//! Sources of the kernels, as the device needs them.

use std::fmt::Write as _;

use crate::SortShape;

/// The sizes that kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Invocations of a workgroup.
    pub(crate) workgroup: u32,
    /// Subgroups of a workgroup, at most.
    pub(crate) warps: u32,
    /// Whether sets of the invocations of a subgroup are one word.
    pub(crate) is_narrow: bool,
    /// Whether a subgroup can wait for its own accesses to memory.
    pub(crate) has_barrier: bool,
    /// Whether loops over the elements of an invocation are written out.
    pub(crate) is_unrolled: bool,
    /// Elements of each invocation.
    pub(crate) items: u32,
    /// Bits that one pass of a sort orders by.
    pub(crate) digit_bits: u32,
}

/// Tiles whose digits are summed by one workgroup.
pub(crate) const CHUNK: u32 = 64;

impl Shape {
    /// For subgroups of these sizes.
    pub(crate) fn of(smallest: u32, largest: u32) -> Self {
        Self::new(smallest, largest, (8 * smallest).clamp(64.max(largest), 256))
    }

    /// For subgroups of these sizes.
    pub(crate) fn new(smallest: u32, largest: u32, workgroup: u32) -> Self {
        Self {
            workgroup,
            warps: workgroup.div_ceil(smallest.max(1)),
            is_narrow: largest <= 32,
            has_barrier: false,
            is_unrolled: true,
            items: 16,
            digit_bits: 8,
        }
    }

    /// For sorts on the same device; none where workgroups do not consist of whole subgroups.
    pub(crate) fn sorting(
        self,
        (smallest, largest): (u32, u32),
        chosen: SortShape,
    ) -> Option<Self> {
        let SortShape { digit_bits, workgroup, items } = chosen;
        let Self { is_narrow, has_barrier, is_unrolled, .. } = self;
        let shape = Self::new(smallest, largest, workgroup);
        let is_whole = workgroup > 0 && workgroup.is_multiple_of(largest);
        (is_whole && (1..=8).contains(&digit_bits) && (1..=32).contains(&items)).then_some(Self {
            is_narrow,
            has_barrier,
            is_unrolled,
            items,
            digit_bits,
            ..shape
        })
    }

    /// Whether a device with these limits runs all kernels.
    pub(crate) fn fits(self, limits: &wgpu::Limits) -> bool {
        self.shared_bytes() <= limits.max_compute_workgroup_storage_size
            && self.workgroup <= limits.max_compute_invocations_per_workgroup
            && self.workgroup <= limits.max_compute_workgroup_size_x
    }

    /// Elements of a workgroup.
    pub(crate) fn tile(self) -> u32 {
        self.workgroup * self.items
    }

    /// Values that a digit can have.
    pub(crate) fn radix(self) -> u32 {
        1 << self.digit_bits
    }

    /// Shared memory of the largest kernel, in bytes.
    pub(crate) fn shared_bytes(self) -> u32 {
        let words = self.tile().max(self.radix() * self.warps);
        4 * (words + 2 * self.radix() + (self.items * self.warps).max(64) + 8)
    }
}

/// A file of kernels, with what it stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Module {
    Scan,
    FilterU32,
    FilterU64,
    FilterI64,
    HeadsOfOne,
    HeadsOfTwo,
    Digits,
    DigitSums,
    Radix,
    Gather,
    Numbers,
    GroupOfOne,
    GroupOfTwo,
    Join,
    Starts,
    Histogram,
    Nearest,
    Cells,
    Products,
}

impl Module {
    fn parts(self, shape: Shape) -> &'static [&'static str] {
        const FILTER: &str = include_str!("kernels/filter.wgsl");
        const GROUP: &str = include_str!("kernels/group.wgsl");
        const PLACES: &str = include_str!("kernels/digit_places.wgsl");
        const RADIX: &str = include_str!("kernels/radix.wgsl");
        const HEADS_1: &str = include_str!("kernels/keep_heads_1.wgsl");
        const HEADS_2: &str = include_str!("kernels/keep_heads_2.wgsl");
        match self {
            Self::Scan => &[include_str!("kernels/scan.wgsl")],
            Self::FilterU32 => &[include_str!("kernels/keep_u32.wgsl"), FILTER],
            Self::FilterU64 => &[include_str!("kernels/keep_u64.wgsl"), FILTER],
            Self::FilterI64 => &[include_str!("kernels/keep_i64.wgsl"), FILTER],
            Self::HeadsOfOne => &[HEADS_1, FILTER],
            Self::HeadsOfTwo => &[HEADS_2, FILTER],
            Self::Digits => &[include_str!("kernels/digits.wgsl")],
            Self::DigitSums => &[PLACES, include_str!("kernels/digit_sums.wgsl")],
            Self::Radix if shape.has_barrier => {
                &[PLACES, include_str!("kernels/words_plain.wgsl"), RADIX]
            }
            Self::Radix => &[PLACES, include_str!("kernels/words_atomic.wgsl"), RADIX],
            Self::Gather => &[include_str!("kernels/gather.wgsl")],
            Self::Numbers => &[include_str!("kernels/numbers.wgsl")],
            Self::GroupOfOne => &[HEADS_1, GROUP],
            Self::GroupOfTwo => &[HEADS_2, GROUP],
            Self::Join => &[include_str!("kernels/join.wgsl")],
            Self::Starts => &[include_str!("kernels/starts.wgsl")],
            Self::Histogram => &[include_str!("kernels/histogram.wgsl")],
            Self::Cells => &[include_str!("kernels/cells.wgsl")],
            Self::Products => &[include_str!("kernels/products.wgsl")],
            Self::Nearest => &[include_str!("kernels/nearest.wgsl")],
        }
    }

    /// Whether it is of a sort, whose tiles have a size of their own.
    pub(crate) fn is_of_sort(self) -> bool {
        matches!(self, Self::Digits | Self::DigitSums | Self::Radix)
    }

    /// What a kernel is called in lists of times.
    pub(crate) fn kernel(self, entry: &'static str) -> &'static str {
        match (self, entry) {
            (Self::FilterU32 | Self::FilterU64 | Self::FilterI64, "count") => "filter: count",
            (Self::FilterU32 | Self::FilterU64 | Self::FilterI64, "emit") => "filter: emit",
            (Self::HeadsOfOne | Self::HeadsOfTwo, "count") => "group: count runs",
            (Self::HeadsOfOne | Self::HeadsOfTwo, "emit") => "group: begin runs",
            (Self::GroupOfOne | Self::GroupOfTwo, _) => "group: sums",
            (Self::Digits, _) => "sort: count",
            (Self::DigitSums, _) => "sort: sums of digits",
            (Self::Radix, _) => "sort: scatter",
            (Self::Join, "count") => "join: count",
            (Self::Join, _) => "join: emit",
            (Self::Scan, _) => "prefix sum",
            _ => entry,
        }
    }

    /// The source for a shape.
    pub(crate) fn source(self, shape: Shape) -> String {
        let mask = if shape.is_narrow {
            include_str!("kernels/mask_32.wgsl")
        } else {
            include_str!("kernels/mask_128.wgsl")
        };
        let Shape { workgroup, warps, items, digit_bits, .. } = shape;
        let mut out = String::new();
        for (name, value) in [
            ("WG", workgroup),
            ("ITEMS", items),
            ("WARPS", warps),
            ("DIGIT_BITS", digit_bits),
            ("RADIX", shape.radix()),
            ("CHUNK", CHUNK),
        ] {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "const {name} = {value}u;");
        }
        let parts = [include_str!("kernels/prelude.wgsl"), mask]
            .into_iter()
            .chain(self.parts(shape).iter().copied());
        for part in parts {
            expand(part, shape.is_unrolled.then_some(items), &mut out);
        }
        out
    }
}

/// How a kernel begins that does something for each element: its name, and what it knows.
const EACH: (&str, &str) = (
    "@compute @workgroup_size(WG)\nfn ",
    "(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let tile = tile_of(workgroup, grid);
    if (tile >= P.tiles) {
        return;
    }
    let base = tile * TILE + local;
",
);

/// Writes the beginning of a kernel for `#each KERNEL`.
///
/// Writes the lines between `#for NAME` and `#end` once for each element of an invocation, with its
/// number for the name: arrays that are indexed by constants stay in registers. Without a number of
/// elements, as a loop.
fn expand(source: &str, items: Option<u32>, out: &mut String) {
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        if let Some(kernel) = line.strip_prefix("#each ") {
            let (front, back) = EACH;
            out.extend([front, kernel, back]);
            continue;
        }
        let Some(name) = line.strip_prefix("#for ") else {
            out.push_str(line);
            out.push('\n');
            continue;
        };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "#end").collect();
        let Some(items) = items else {
            let _ = writeln!(
                out,
                "for (var {name} = 0u; {name} < ITEMS; {name}++) {{\n{}\n}}",
                body.join("\n")
            );
            continue;
        };
        for item in 0..items {
            let _ = writeln!(out, "{{");
            for line in &body {
                replace_name(line, name, item, out);
            }
            let _ = writeln!(out, "}}");
        }
    }
}

/// `line` with a number for each word `name`.
fn replace_name(line: &str, name: &str, number: u32, out: &mut String) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = line;
    while !rest.is_empty() {
        let len = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if len == 0 {
            let other = rest.find(is_word).unwrap_or(rest.len());
            out.push_str(&rest[..other]);
            rest = &rest[other..];
            continue;
        }
        let _ = if rest[..len] == *name {
            write!(out, "{number}u")
        } else {
            write!(out, "{}", &rest[..len])
        };
        rest = &rest[len..];
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_written_out() {
        let mut out = String::new();
        expand("a\n#for J\nx[J] = J1 + J;\n#end\nb", Some(16), &mut out);
        assert!(out.starts_with("a\n{\nx[0u] = J1 + 0u;\n}\n{\nx[1u]"), "{out}");
        assert!(out.ends_with("}\nb\n") && out.matches("J1").count() == 16, "{out}");
    }

    #[test]
    fn shapes_fit_their_subgroups() {
        for (smallest, largest) in [(4, 4), (8, 8), (8, 32), (32, 32), (32, 64), (64, 64), (4, 128)]
        {
            let shape = Shape::of(smallest, largest);
            assert_eq!(shape.workgroup % largest, 0, "{smallest} {largest}");
            assert!(shape.workgroup >= 64 && shape.warps * smallest >= shape.workgroup);
        }
        assert!(Shape::of(32, 32).shared_bytes() <= 32 << 10);
    }

    const MODULES: [Module; 19] = [
        Module::Scan,
        Module::FilterU32,
        Module::FilterU64,
        Module::FilterI64,
        Module::HeadsOfOne,
        Module::HeadsOfTwo,
        Module::Digits,
        Module::DigitSums,
        Module::Radix,
        Module::Gather,
        Module::Numbers,
        Module::GroupOfOne,
        Module::GroupOfTwo,
        Module::Join,
        Module::Starts,
        Module::Histogram,
        Module::Nearest,
        Module::Cells,
        Module::Products,
    ];

    /// No machine has subgroups of all sizes: kernels run on one, and are right WGSL for the others.
    #[test]
    fn kernels_are_valid_for_subgroups_of_all_sizes() {
        use wgpu::naga::front::wgsl::parse_str;
        use wgpu::naga::valid::{Capabilities, ShaderStages, SubgroupOperationSet};
        use wgpu::naga::valid::{ValidationFlags, Validator};

        let needs = Capabilities::SUBGROUP | Capabilities::SUBGROUP_BARRIER;
        let mut validator = Validator::new(ValidationFlags::all(), needs);
        validator.subgroup_stages(ShaderStages::COMPUTE);
        validator.subgroup_operations(SubgroupOperationSet::all());
        for (smallest, largest) in [(4, 4), (8, 32), (32, 32), (64, 64), (4, 128)] {
            for (has_barrier, is_unrolled) in [(true, true), (false, false)] {
                let shape = Shape { has_barrier, is_unrolled, ..Shape::of(smallest, largest) };
                for module in MODULES {
                    let source = module.source(shape);
                    let parsed = parse_str(&source)
                        .unwrap_or_else(|error| panic!("{}", error.emit_to_string(&source)));
                    if let Err(error) = validator.validate(&parsed) {
                        panic!("{module:?} for {shape:?}: {}", error.emit_to_string(&source));
                    }
                }
            }
        }
    }
}
