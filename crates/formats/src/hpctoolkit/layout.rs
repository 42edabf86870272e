//! Sizes and field offsets of the on-disk records: the only place where they stand in code.
//! `FORMAT.md` explains them, and a test compares the two.

pub(super) const MAGIC: &[u8; 10] = b"HPCTOOLKIT";
pub(super) const FOOTER_SIZE: u64 = FOOTER_BYTES as u64;
pub(super) const FOOTER_BYTES: usize = 8;
pub(super) const MAJOR: u8 = 4;

/// The fields of a record by offset, and its size: the smallest stride under which it still has
/// all fields of 4.0.
macro_rules! record {
    ($(#[$doc:meta])* $module:ident, $size:literal { $($field:ident: $offset:literal),* $(,)? }) => {
        $(#[$doc])*
        pub(super) mod $module {
            $(pub(in crate::hpctoolkit) const $field: u64 = $offset;)*
            #[allow(dead_code, reason = "sections are read field by field")]
            pub(in crate::hpctoolkit) const SIZE: u64 = $size;
            #[cfg(test)]
            pub(super) const RECORD: super::tests::Record =
                (stringify!($module), $size, &[$((stringify!($field), $offset)),*]);
        }
    };
}

record! {
    /// The start of each file.
    header, 0x10 { MAJOR: 0x0e, MINOR: 0x0f }
}
record! {
    /// Where a section lies; the length comes first.
    section_pair, 0x10 { LENGTH: 0x00, START: 0x08 }
}
record! {
    /// The General section.
    general, 0x10 { TITLE: 0x00, DESCRIPTION: 0x08 }
}
record! {
    /// The IdNames section.
    identifier_names, 0x09 { NAMES: 0x00, COUNT: 0x08 }
}
record! {
    /// The sections Modules, Files and Functions.
    table, 0x0e { START: 0x00, COUNT: 0x08, STRIDE: 0x0c }
}
record! {
    /// A load module.
    module, 0x10 { PATH: 0x08 }
}
record! {
    /// A source file.
    file, 0x10 { FLAGS: 0x00, PATH: 0x08 }
}
record! {
    /// A function.
    function, 0x28 { NAME: 0x00, MODULE: 0x08, OFFSET: 0x10, FILE: 0x18, LINE: 0x20 }
}
record! {
    /// The Metrics section.
    metrics, 0x1b {
        METRICS: 0x00,
        COUNT: 0x08,
        METRIC_STRIDE: 0x0c,
        INSTANCE_STRIDE: 0x0d,
        SUMMARY_STRIDE: 0x0e,
        SCOPES: 0x10,
        NUM_SCOPES: 0x18,
        SCOPE_STRIDE: 0x1a,
    }
}
record! {
    /// A metric.
    metric, 0x20 {
        NAME: 0x00,
        INSTANCES: 0x08,
        SUMMARIES: 0x10,
        NUM_INSTANCES: 0x18,
        NUM_SUMMARIES: 0x1a,
    }
}
record! {
    /// A metric in one scope.
    scope_instance, 0x10 { SCOPE: 0x00, PROP_METRIC_ID: 0x08 }
}
record! {
    /// A statistic over all profiles.
    summary, 0x18 { SCOPE: 0x00, FORMULA: 0x08, COMBINE: 0x10, STAT_METRIC_ID: 0x12 }
}
record! {
    /// A propagation scope.
    scope, 0x10 { NAME: 0x00, KIND: 0x08, PROPAGATION_INDEX: 0x09 }
}
record! {
    /// The Context section.
    contexts, 0x0b { ENTRIES: 0x00, COUNT: 0x08, STRIDE: 0x0a }
}
record! {
    /// An entry point.
    entry, 0x20 { CHILDREN_SIZE: 0x00, CHILDREN: 0x08, ID: 0x10, CODE: 0x14, NAME: 0x18 }
}
record! {
    /// The fixed part of a context; flexible words of eight bytes follow.
    context, 0x20 {
        CHILDREN_SIZE: 0x00,
        CHILDREN: 0x08,
        ID: 0x10,
        FLAGS: 0x14,
        RELATION: 0x15,
        LEXICAL_TYPE: 0x16,
        NUM_WORDS: 0x17,
        PROPAGATION: 0x18,
    }
}
record! {
    /// The sections ProfileInfos and CtxInfos.
    infos, 0x0d { START: 0x00, COUNT: 0x08, STRIDE: 0x0c }
}
record! {
    /// A profile.
    profile, 0x30 {
        NUM_VALUES: 0x00,
        VALUES: 0x08,
        NUM_CONTEXTS: 0x10,
        INDICES: 0x18,
        IDENTITY: 0x20,
        FLAGS: 0x28,
    }
}
record! {
    /// The start of an identity tuple; its identities follow.
    identity_tuple, 0x08 { COUNT: 0x00 }
}
record! {
    /// An element of an identity tuple.
    identity, 0x10 { KIND: 0x00, FLAGS: 0x02, LOGICAL: 0x04, PHYSICAL: 0x08 }
}
record! {
    /// The values of one context.
    context_info, 0x20 { NUM_VALUES: 0x00, VALUES: 0x08, NUM_METRICS: 0x10, INDICES: 0x18 }
}
record! {
    /// The CtxTraces section.
    traces, 0x20 { START: 0x00, COUNT: 0x08, STRIDE: 0x0c, MIN_NANOS: 0x10, MAX_NANOS: 0x18 }
}
record! {
    /// A trace.
    trace, 0x18 { PROFILE: 0x00, START: 0x08, END: 0x10 }
}

// The 2022 draft that carries the same version number.
record! {
    /// The Metrics section of the draft.
    draft_metrics, 0x10 {
        METRICS: 0x00,
        COUNT: 0x08,
        METRIC_STRIDE: 0x0c,
        SCOPE_STRIDE: 0x0d,
        SUMMARY_STRIDE: 0x0e,
    }
}
record! {
    /// A metric of the draft.
    draft_metric, 0x18 { NAME: 0x00, NUM_SCOPES: 0x08, SCOPES: 0x10 }
}
record! {
    /// A scope of one metric of the draft.
    draft_scope, 0x18 { NAME: 0x00, NUM_SUMMARIES: 0x08, PROP_METRIC_ID: 0x0a, SUMMARIES: 0x10 }
}
record! {
    /// A statistic of the draft.
    draft_summary, 0x10 { FORMULA: 0x00, COMBINE: 0x08, STAT_METRIC_ID: 0x0a }
}
record! {
    /// The Context section of the draft.
    draft_contexts, 0x10 { ROOTS_SIZE: 0x00, ROOTS: 0x08 }
}
record! {
    /// The fixed part of a context of the draft: [`context`] without the propagation mask.
    draft_context, 0x18 {}
}
record! {
    /// A profile of the draft: [`profile`] without the flags.
    draft_profile, 0x28 {}
}

// Array elements; these never grow. Their fields are taken apart where they are read.
pub(super) const VALUE_SIZE: usize = 10;
pub(super) const CONTEXT_INDEX_SIZE: usize = 12;
pub(super) const PROFILE_VALUE_SIZE: usize = 12;
pub(super) const METRIC_INDEX_SIZE: usize = 10;
pub(super) const SAMPLE_SIZE: usize = 12;

/// Context flags: which flexible words follow.
pub(super) const HAS_FUNCTION: u8 = 1;
pub(super) const HAS_SOURCE: u8 = 2;
pub(super) const HAS_POINT: u8 = 4;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Name, size, and fields with their offsets.
    pub(super) type Record = (&'static str, u64, &'static [(&'static str, u64)]);

    const RECORDS: [Record; 30] = [
        header::RECORD,
        section_pair::RECORD,
        general::RECORD,
        identifier_names::RECORD,
        table::RECORD,
        module::RECORD,
        file::RECORD,
        function::RECORD,
        metrics::RECORD,
        metric::RECORD,
        scope_instance::RECORD,
        summary::RECORD,
        scope::RECORD,
        contexts::RECORD,
        entry::RECORD,
        context::RECORD,
        infos::RECORD,
        profile::RECORD,
        identity_tuple::RECORD,
        identity::RECORD,
        context_info::RECORD,
        traces::RECORD,
        trace::RECORD,
        draft_metrics::RECORD,
        draft_metric::RECORD,
        draft_scope::RECORD,
        draft_summary::RECORD,
        draft_contexts::RECORD,
        draft_context::RECORD,
        draft_profile::RECORD,
    ];

    const ELEMENTS: [(&str, usize); 5] = [
        ("value", VALUE_SIZE),
        ("context_index", CONTEXT_INDEX_SIZE),
        ("profile_value", PROFILE_VALUE_SIZE),
        ("metric_index", METRIC_INDEX_SIZE),
        ("sample", SAMPLE_SIZE),
    ];

    /// A table of the document: its rows as (offset, type, name), and the offset of the END row.
    #[derive(Default)]
    struct Documented {
        rows: Vec<(u64, String, String)>,
        end: Option<u64>,
    }

    fn number(text: &str) -> Option<u64> {
        u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
    }

    /// The tables of `FORMAT.md` by the name in their heading, which stands in backquotes.
    fn documented() -> BTreeMap<&'static str, Documented> {
        let mut tables: BTreeMap<&str, Documented> = BTreeMap::new();
        let mut current = None;
        for line in include_str!("FORMAT.md").lines() {
            if line.starts_with('#') {
                current = line.split('`').nth(1);
            }
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let (Some(name), [_, offset, kind, field, ..]) = (current, cells.as_slice()) else {
                continue;
            };
            let Some(offset) = number(offset) else { continue };
            let table = tables.entry(name).or_default();
            if *kind == "END" {
                assert!(["fixed", "extendable"].contains(field), "{name}: END is {field}");
                table.end = Some(offset);
            } else {
                table.rows.push((offset, (*kind).to_owned(), (*field).to_owned()));
            }
        }
        tables
    }

    #[test]
    fn the_document_and_the_code_agree_on_every_offset_and_size() {
        let mut tables = documented();
        for (name, size, fields) in RECORDS {
            let table = tables.remove(name).unwrap_or_else(|| panic!("no table of `{name}`"));
            assert_eq!(table.end, Some(size), "size of {name}");
            // Fields in backquotes are read; the others are named for users only.
            let mut read: Vec<(String, u64)> = Vec::new();
            for (offset, _, field) in &table.rows {
                if let Some(field) = field.strip_prefix('`').and_then(|f| f.strip_suffix('`')) {
                    read.push((field.to_uppercase(), *offset));
                }
            }
            let in_code: Vec<_> = fields.iter().map(|&(f, o)| (f.to_owned(), o)).collect();
            assert_eq!(read, in_code, "fields of {name}");
        }
        for (name, size) in ELEMENTS {
            let table = tables.remove(name).unwrap_or_else(|| panic!("no table of `{name}`"));
            assert_eq!(table.end, Some(size as u64), "size of {name}");
        }
        assert!(tables.is_empty(), "documented but not in code: {:?}", tables.keys());
    }

    #[test]
    fn documented_fields_follow_each_other_without_overlap() {
        for (name, table) in documented() {
            let mut at = 0;
            for (offset, kind, field) in &table.rows {
                let size = match kind.trim_end_matches('*') {
                    _ if kind.ends_with('*') => 8,
                    "u8" => 1,
                    "u16" => 2,
                    "u32" => 4,
                    "u64" | "f64" => 8,
                    "u8[4]" => 4,
                    "u8[10]" => 10,
                    other => panic!("{name}.{field} has the unknown type {other}"),
                };
                assert!(*offset >= at, "{name}.{field} overlaps the field before it");
                at = offset + size;
            }
            assert!(table.end.is_some_and(|end| end >= at), "{name} ends before its last field");
        }
    }
}
