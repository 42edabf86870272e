//! What holds for every tree and every text.

use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use parallax_model::IdentityKind;

use super::super::*;
use super::{CONTEXTS, METRICS, PROFILES, WINDOW};

fn range() -> impl Strategy<Value = Range> {
    let number = || prop_oneof![0_u64..20, any::<u64>(), Just(u64::MAX)];
    (number(), number(), prop_oneof![Just(1_u64), 1_u64..9, any::<u64>()])
        .prop_filter_map("a range", |(a, b, step)| Range::new(a.min(b), a.max(b), step))
}

fn ranges() -> impl Strategy<Value = RangeList> {
    vec(range(), 1..5).prop_map(RangeList::new)
}

fn regex() -> impl Strategy<Value = RegexMatch> {
    let pattern =
        select(vec!["^a", "/", "a/b\\\\", "\\d+[/]", "x|y(z)", "\"", "'", "[\\]\\[,]", ""]);
    (pattern, any::<bool>()).prop_filter_map("a regex", |(p, i)| RegexMatch::new(p, i).ok())
}

/// Texts that hold much of what the language gives a meaning to.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,6}",
        any::<String>(),
        "[a-c<>(),|:.*?\"'\\\\/\\[\\] 0-9-]{0,8}",
        Just("glob\"a\"".to_owned()),
        Just("a.c:12".to_owned()),
        Just("0x12".to_owned()),
    ]
}

fn name() -> impl Strategy<Value = NameMatch> {
    prop_oneof![
        text().prop_map(NameMatch::Exact),
        text()
            .prop_filter("every name is no name", |glob| {
                glob.is_empty() || glob.chars().any(|c| c != '*')
            })
            .prop_map(|glob| NameMatch::Glob(Glob::new(&glob))),
        regex().prop_map(NameMatch::Regex),
    ]
}

fn profiles() -> impl Strategy<Value = ProfileExpr> {
    let field = (select(IdentityKind::ALL.to_vec()), option::of(ranges()))
        .prop_map(|(field, values)| ProfileExpr::Field { field, values });
    let leaf = prop_oneof![
        Just(ProfileExpr::All),
        Just(ProfileExpr::Summary),
        field,
        ranges().prop_map(ProfileExpr::Index),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|part| ProfileExpr::Not(Box::new(part))),
            vec(inner.clone(), 2..4).prop_map(|parts| {
                let open = |part| match part {
                    ProfileExpr::And(inner) => inner,
                    part => vec![part],
                };
                ProfileExpr::And(parts.into_iter().flat_map(open).collect())
            }),
            vec(inner, 2..4).prop_map(|parts| {
                let open = |part| match part {
                    ProfileExpr::Or(inner) => inner,
                    part => vec![part],
                };
                ProfileExpr::Or(parts.into_iter().flat_map(open).collect())
            }),
        ]
    })
}

fn selector() -> impl Strategy<Value = MetricSelector> {
    let reserved = ["time", "gpu", "not"].into_iter().chain(ATTRIBUTES).collect::<Vec<_>>();
    let word = "[a-z_*?][a-z0-9_*?]{0,5}(::?[x-z%@.-]{1,3})?"
        .prop_filter("a name", move |word| word != "*" && !reserved.contains(&word.as_str()));
    let name = prop_oneof![
        Just(MetricName::All),
        Just(MetricName::DefaultTime),
        Just(MetricName::Gpu),
        word.prop_map(|word| MetricName::Word(NameMatch::from_bare(&word))),
        text().prop_map(MetricName::Exact),
        regex().prop_map(MetricName::Regex),
    ];
    let aggregations = subsequence(Aggregation::ALL.to_vec(), 0..4).prop_shuffle();
    let scopes = subsequence(MetricScope::ALL.to_vec(), 0..4).prop_shuffle();
    (name, aggregations, scopes).prop_map(|(name, aggregations, scopes)| MetricSelector {
        name,
        aggregations,
        scopes,
    })
}

fn number() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    prop_oneof![(0_i32..1000).prop_map(f64::from), NORMAL | SUBNORMAL | ZERO | POSITIVE | NEGATIVE]
}

fn compare() -> impl Strategy<Value = CompareOp> {
    use CompareOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    select(vec![Greater, GreaterEqual, Less, LessEqual, Equal, NotEqual])
}

fn predicate() -> impl Strategy<Value = Predicate> {
    let metric = (selector(), compare(), number(), select(Unit::ALL.to_vec())).prop_map(
        |(metric, op, value, unit)| Predicate::Number {
            attribute: NumberAttribute::Metric(metric),
            op,
            threshold: Threshold { value, unit },
        },
    );
    let plain = [NumberAttribute::Depth, NumberAttribute::Children, NumberAttribute::Line];
    let plain = (select(plain.to_vec()), compare(), number()).prop_map(|(attribute, op, value)| {
        Predicate::Number { attribute, op, threshold: Threshold { value, unit: Unit::None } }
    });
    let texts = [TextAttribute::Name, TextAttribute::File, TextAttribute::Module];
    let texts = (select(texts.to_vec()), any::<bool>(), name())
        .prop_map(|(attribute, negated, pattern)| Predicate::Text { attribute, negated, pattern });
    let leaf = prop_oneof![metric, plain, texts, Just(Predicate::Leaf)];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|part| Predicate::Not(Box::new(part))),
            vec(inner.clone(), 2..4).prop_map(Predicate::all),
            vec(inner, 2..4).prop_map(|parts| {
                let open = |part| match part {
                    Predicate::Or(inner) => inner,
                    part => vec![part],
                };
                Predicate::Or(parts.into_iter().flat_map(open).collect())
            }),
        ]
    })
}

fn context_selector() -> impl Strategy<Value = ContextSelector> {
    let source =
        (name(), option::of(ranges())).prop_map(|(file, lines)| SourcePlace { file, lines });
    let module = (name(), option::of(ranges()))
        .prop_map(|(module, offsets)| ModulePlace { module, offsets });
    let sources = vec(source, 0..3).boxed();
    prop_oneof![
        Just(ContextSelector::Any),
        vec(name(), 0..4).prop_map(ContextSelector::Entry),
        vec(name(), 0..4).prop_map(ContextSelector::Function),
        sources.clone().prop_map(ContextSelector::Loop),
        sources.prop_map(ContextSelector::Line),
        vec(module, 0..3).prop_map(ContextSelector::Instruction),
        ranges().prop_map(ContextSelector::Ids),
    ]
}

fn contexts() -> impl Strategy<Value = ContextExpr> {
    let leaf = prop_oneof![
        1 => Just(ContextExpr::All),
        1 => Just(ContextExpr::Root),
        6 => context_selector().prop_map(ContextExpr::Select),
    ];
    leaf.prop_recursive(4, 20, 3, |inner| {
        let relation = select(vec![Relation::Child, Relation::Descendant]);
        let step = (relation, inner.clone()).prop_map(|(relation, to)| ChainStep { relation, to });
        prop_oneof![
            inner.clone().prop_map(|part| ContextExpr::Not(Box::new(part))),
            inner.clone().prop_map(|part| ContextExpr::Subtree(Box::new(part))),
            inner.clone().prop_map(|part| ContextExpr::Ancestors(Box::new(part))),
            (inner.clone(), vec(step, 1..3)).prop_map(|(head, steps)| match head {
                ContextExpr::Chain { head, steps: before } =>
                    ContextExpr::Chain { head, steps: before.into_iter().chain(steps).collect() },
                head => ContextExpr::Chain { head: Box::new(head), steps },
            }),
            (inner.clone(), predicate()).prop_map(|(of, predicate)| match of {
                ContextExpr::Filter { of, predicate: before } =>
                    ContextExpr::Filter { of, predicate: Predicate::all(vec![before, predicate]) },
                of => ContextExpr::Filter { of: Box::new(of), predicate },
            }),
            vec(inner.clone(), 2..4).prop_map(|parts| {
                let open = |part| match part {
                    ContextExpr::And(inner) => inner,
                    part => vec![part],
                };
                ContextExpr::And(parts.into_iter().flat_map(open).collect())
            }),
            vec(inner, 2..4).prop_map(|parts| {
                let open = |part| match part {
                    ContextExpr::Or(inner) => inner,
                    part => vec![part],
                };
                ContextExpr::Or(parts.into_iter().flat_map(open).collect())
            }),
        ]
    })
}

fn path_condition() -> impl Strategy<Value = PathCondition> {
    let column = prop_oneof![
        text().prop_map(PathColumn::Name),
        any::<u64>().prop_map(PathColumn::Number),
        vec(text(), 1..3).prop_map(PathColumn::Tuple),
    ];
    let pattern = select(vec!["MPI_.*", "a\\\\\"", "/", "[0-9]+"]);
    let test = prop_oneof![
        text().prop_map(|text| PathTest::Equals(PathValue::Text(text))),
        number().prop_map(|number| PathTest::Equals(PathValue::Number(number))),
        (compare().prop_filter("not equal", |op| *op != CompareOp::Equal), number())
            .prop_map(|(op, number)| PathTest::Compare(op, number)),
        pattern.prop_filter_map("a regex", |p| RegexMatch::at_start(p).ok().map(PathTest::Matches)),
        text().prop_map(PathTest::StartsWith),
        text().prop_map(PathTest::EndsWith),
        text().prop_map(PathTest::Contains),
        Just(PathTest::IsNone),
        Just(PathTest::IsNan),
        Just(PathTest::IsInf),
    ];
    let leaf = prop_oneof![
        1 => Just(PathCondition::Leaf),
        5 => (column, test).prop_map(|(column, test)| PathCondition::Column { column, test }),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let two = || (inner.clone(), inner.clone());
        prop_oneof![
            inner.clone().prop_map(|part| PathCondition::Not(Box::new(part))),
            two().prop_map(|(a, b)| a.join(path::Join::And, b)),
            two().prop_map(|(a, b)| a.join(path::Join::Or, b)),
            two().prop_map(|(a, b)| a.join(path::Join::Xor, b)),
        ]
    })
}

fn paths() -> impl Strategy<Value = PathQuery> {
    let quantifier = prop_oneof![
        select(vec![Quantifier::One, Quantifier::Any, Quantifier::Some]),
        any::<u64>().prop_map(Quantifier::Exactly),
    ];
    let condition = option::of(path_condition());
    let step = (quantifier, condition).prop_map(|(quantifier, condition)| PathStep {
        quantifier,
        condition: condition.unwrap_or(PathCondition::Always),
    });
    let leaf = vec(step, 1..4).prop_map(|steps| PathQuery::Pattern(PathPattern { steps }));
    leaf.prop_recursive(3, 6, 2, |inner| {
        let two = || (inner.clone(), inner.clone());
        prop_oneof![
            inner.clone().prop_map(|part| PathQuery::Not(Box::new(part))),
            two().prop_map(|(a, b)| a.join(path::Join::And, b)),
            two().prop_map(|(a, b)| a.join(path::Join::Or, b)),
            two().prop_map(|(a, b)| a.join(path::Join::Xor, b)),
        ]
    })
}

fn window() -> impl Strategy<Value = TimeWindow> {
    let point = || {
        prop_oneof![
            Just(TimePoint::Open),
            any::<u64>().prop_map(TimePoint::Absolute),
            any::<u64>().prop_map(TimePoint::AfterStart),
            (0_u64..100_000).prop_map(|us| TimePoint::AfterStart(us * 1_000)),
            (0.0_f64..=100.0).prop_map(TimePoint::Percent),
        ]
    };
    (point(), point()).prop_map(|(start, end)| {
        let swap = match (start, end) {
            (TimePoint::Absolute(a), TimePoint::Absolute(b))
            | (TimePoint::AfterStart(a), TimePoint::AfterStart(b)) => b < a,
            (TimePoint::Percent(a), TimePoint::Percent(b)) => b < a,
            _ => false,
        };
        if swap { TimeWindow { start: end, end: start } } else { TimeWindow { start, end } }
    })
}

/// Words and marks of the language in any order: most are wrong, but few at once.
fn soup() -> impl Strategy<Value = String> {
    let words = "rank thread node profile summary function loop line instruction context subtree \
                 application any MATCH WHERE AND OR NOT IS LEAF and or not cputime time gpu sum i e \
                 depth leaf name file main MPI_* solver.c 0 7 12 3-9 0x1f 5% 1.5s 10ms ( ) ( ) [ ] { } < > \
                 >= == =~ ~ = . .. , | & ! : -> / /a/ /b/i \" ' \\ * ? \"*\" \".\" \"name\" glob\" ö 𝔘";
    let words: Vec<&'static str> = words.split(' ').collect();
    let blank = select(vec!["", "", " "]);
    vec((select(words), blank), 0..14)
        .prop_map(|parts| parts.into_iter().flat_map(|(word, blank)| [word, blank]).collect())
}

/// Every reader on one text: what is accepted prints to something that is accepted and prints the
/// same; every error has its place within the text.
fn read_all(text: &str) -> Result<(), TestCaseError> {
    for read in [PROFILES, CONTEXTS, METRICS, WINDOW] {
        match read(text) {
            Ok(canonical) => prop_assert_eq!(read(&canonical), Ok(canonical.clone())),
            Err(error) => {
                prop_assert!(error.column >= 1);
                prop_assert!(error.column <= error.expression.chars().count() + 1);
                prop_assert!(error.length >= 1);
                let shown = error.to_string();
                if error.kind == QueryErrorKind::Empty {
                    prop_assert!(text.trim().is_empty());
                    continue;
                }
                prop_assert!(shown.lines().count() >= 3, "{}", shown);
                let caret = shown.lines().nth(2).unwrap_or("").trim();
                prop_assert!(!caret.is_empty() && caret.bytes().all(|b| b == b'^'), "{}", shown);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn profile_trees_survive_printing(tree in profiles()) {
        prop_assert_eq!(parse_profiles(&tree.to_string()), Ok(tree));
    }

    #[test]
    fn context_trees_survive_printing(tree in contexts()) {
        prop_assert_eq!(parse_contexts(&tree.to_string()), Ok(tree));
    }

    #[test]
    fn metric_trees_survive_printing(selectors in vec(selector(), 1..4)) {
        let tree = MetricExpr { selectors };
        prop_assert_eq!(parse_metrics(&tree.to_string()), Ok(tree));
    }

    #[test]
    fn path_trees_survive_printing(tree in paths()) {
        let text = tree.to_string();
        prop_assert_eq!(parse_contexts(&text), Ok(ContextExpr::Paths(tree)), "{}", text);
    }

    #[test]
    fn windows_survive_printing(window in window()) {
        prop_assert_eq!(parse_window(&window.to_string()), Ok(window));
    }

    #[test]
    fn any_text_is_read_or_refused_with_a_place(text in any::<String>()) {
        read_all(&text)?;
    }

    #[test]
    fn any_mix_of_words_is_read_or_refused_with_a_place(text in soup()) {
        read_all(&text)?;
    }

    #[test]
    fn lists_contain_what_their_ranges_contain(all in vec(range(), 0..6), value in any::<u64>()) {
        let list = RangeList::new(all.clone());
        let near = all.iter().flat_map(|range| {
            [range.first(), range.last(), range.last().wrapping_add(1), range.first().wrapping_add(range.step())]
        });
        for value in near.chain([value, 0, 1, 2, 3, 5, 7, 11]) {
            prop_assert_eq!(list.contains(value), all.iter().any(|range| range.contains(value)));
        }
        prop_assert_eq!(list.is_empty(), all.is_empty());
    }

    #[test]
    fn globs_agree_with_regular_expressions(glob in "[ab*?]{0,7}", name in "[abc]{0,8}") {
        let pattern = glob.replace('*', ".*").replace('?', ".");
        let regex = RegexMatch::new(&format!("^{pattern}$"), false).unwrap();
        prop_assert_eq!(Glob::new(&glob).matches(&name), regex.matches(&name));
    }

    #[test]
    fn normal_forms_are_beginnings(name in any::<String>()) {
        prop_assert!(name.strip_prefix('P').is_some_and(|name| name.starts_with(&*normalised_name(name)))
            || name.starts_with(&*normalised_name(&name)));
    }
}

#[test]
fn long_texts_take_linear_time() {
    let shapes = [
        "(",
        "!",
        "[",
        "{",
        "not ",
        "rank(",
        "function(",
        "rank(1).",
        "rank(1)|",
        "function(a).",
        "function(<,a).",
        "function(operator<, b) > ",
        "function(/a",
        "loop(/a, ",
        "a:",
        "1:",
        "1,",
        "line(a:1:",
        "*[depth > 1",
        "*[depth > 1]",
        "*[depth > 1 and ",
        " ",
        "\"",
        "\\",
        "x",
        "9",
        "gxcopy:h2d:",
        "a | ",
        "MATCH (",
        "[\"*\",",
        "{",
        "NOT {",
        "ö",
        "1 - ",
        "-",
        "function(a,",
        "function(<",
        "loop(a:1,",
        "loop(a: ",
        ".",
        "'\\",
        "glob\"",
        "p IS LEAF AND ",
        "p IS LEAF OR NOT ",
        "(a)->",
        "{[2]} AND ",
    ];
    let begins = [
        "",
        "function(",
        "loop(",
        "rank(",
        "*[name ~ ",
        "[{\"a\": [",
        "MATCH (p) WHERE ",
        "MATCH (p)->",
        "*[",
    ];
    for shape in shapes {
        for begin in begins {
            let text = format!("{begin}{}", shape.repeat(200_000 / shape.len()));
            let began = Instant::now();
            for read in [PROFILES, CONTEXTS, METRICS, WINDOW] {
                if let Err(error) = read(&text) {
                    assert!(error.to_string().len() < 2_000, "{error}");
                }
            }
            // Some milliseconds where time is linear, many seconds where it is quadratic.
            assert!(
                began.elapsed() < Duration::from_secs(3),
                "{begin}{shape}… {:?}",
                began.elapsed()
            );
        }
    }
    let unknown = format!("MATCH ({}) WHERE {} IS LEAF", "a".repeat(400_000), "b".repeat(400_000));
    assert!(parse_contexts(&unknown).is_err());
}
