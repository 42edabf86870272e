//! Small profiles drawn as text.
//!
//! One context per line, two spaces of indentation per level, then the cost of the context itself
//! in each profile, a column each, `.` for none:
//!
//! ```
//! use parallax_testkit::drawn::draw;
//! use parallax_testkit::hpctoolkit::WriteOptions;
//!
//! let database = draw(
//!     "CPUTIME (sec)",
//!     "
//!     main                        .    .
//!       loop main.c:10            .    .
//!         line main.c:12          0.5  0.25
//!           solve                 2.0  1.0
//!           inlined dot           .    0.5
//!       MPI_Barrier               .    1.25
//!     ",
//! );
//! assert_eq!(database.profiles.len(), 2);
//! let whole_rank_1 = database.scope_values(&database.profiles[1])[&(0, 0)].execution;
//! assert_eq!(whole_rank_1, 3.0);
//! assert!(database.to_files(&WriteOptions::default()).get("cct.db").ends_with(b"__ctx.db"));
//! ```
//!
//! A plain name is a called function, `inlined NAME` a function inlined into its parent, `loop
//! FILE:LINE`, `line FILE:LINE` and `instruction MODULE+OFFSET` are parts of their parent.
//! Names must not contain spaces.
//! The first line stands below an entry `main thread`, whose context id is 1; the ids of the lines
//! follow from 2 on, from top to bottom.
//! Column `i` is the profile of rank `i`, thread 0, on one node.

use crate::hpctoolkit::{
    ContextKind, Database, Id, LexicalType, Metric, Point, Profile, Relation, kind,
};

/// The database that a drawing describes, with one metric.
///
/// # Panics
/// When the drawing has a line that is no context, a level that is skipped, or columns that differ
/// in number.
#[must_use]
pub fn draw(metric: &str, drawing: &str) -> Database {
    let mut database = Database { metrics: vec![Metric::new(metric)], ..Database::default() };
    let entry = ContextKind::Entry { entry_point: 1, name: "main thread".into() };
    let root = database.add_context(None, entry);
    // Positions of the contexts that are open, the entry first.
    let mut open = vec![root];
    let mut margin = None;
    for line in drawing.lines().filter(|line| !line.trim().is_empty()) {
        let indent = line.len() - line.trim_start().len();
        let margin = *margin.get_or_insert(indent);
        assert!(indent >= margin && (indent - margin) % 2 == 0, "uneven indentation: {line:?}");
        let depth = (indent - margin) / 2 + 1;
        assert!(depth <= open.len(), "a level is skipped before {line:?}");
        open.truncate(depth);

        let mut words = line.split_whitespace().peekable();
        let first = words.next().unwrap_or_default();
        let kind = match first {
            "inlined" | "loop" | "line" | "instruction" => {
                let what = words.next();
                assert!(what.is_some(), "{first} of what? {line:?}");
                context(&mut database, first, what.unwrap_or_default())
            }
            name => context(&mut database, "call", name),
        };
        let position = database.add_context(open.last().copied(), kind);
        open.push(position);
        let id = database.contexts[position].id;
        let costs: Vec<&str> = words.collect();
        if database.profiles.is_empty() {
            database.profiles = (0..costs.len()).map(rank).collect();
        }
        assert_eq!(costs.len(), database.profiles.len(), "columns differ in number: {line:?}");
        for (profile, cost) in database.profiles.iter_mut().zip(costs) {
            if cost != "." {
                let value = cost.parse::<f64>();
                assert!(value.is_ok(), "{cost:?} is not a number: {line:?}");
                profile.points.push(Point { context: id, metric: 0, value: value.unwrap_or(0.0) });
            }
        }
    }
    database
}

fn rank(number: usize) -> Profile {
    let number = number as u32;
    let tuple =
        vec![Id::node(0x0100_007f), Id::logical(kind::RANK, number), Id::logical(kind::THREAD, 0)];
    Profile { tuple, ..Profile::default() }
}

fn context(database: &mut Database, what: &str, name: &str) -> ContextKind {
    let (relation, lexical) = match what {
        "call" => (Relation::Call, LexicalType::Function),
        "inlined" => (Relation::Inlined, LexicalType::Function),
        "loop" => (Relation::Lexical, LexicalType::Loop),
        "line" => (Relation::Lexical, LexicalType::Line),
        _ => (Relation::Lexical, LexicalType::Instruction),
    };
    let (mut function, mut source, mut point) = (None, None, None);
    match lexical {
        LexicalType::Function => function = Some(database.function(name)),
        LexicalType::Loop | LexicalType::Line => {
            let (file, line) = name.rsplit_once(':').unwrap_or((name, ""));
            let line = line.parse::<u32>();
            assert!(line.is_ok(), "{name:?} is not FILE:LINE");
            source = Some((database.file(file), line.unwrap_or(0)));
        }
        LexicalType::Instruction => {
            let (module, offset) = name.rsplit_once('+').unwrap_or((name, ""));
            let offset = u64::from_str_radix(offset.trim_start_matches("0x"), 16);
            assert!(offset.is_ok(), "{name:?} is not MODULE+OFFSET");
            point = Some((database.module(module), offset.unwrap_or(0)));
        }
    }
    ContextKind::Node { relation, lexical, function, source, point }
}
