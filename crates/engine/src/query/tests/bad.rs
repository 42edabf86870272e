//! Mistakes and exactly what is said about them.

use super::super::{MAX_DEPTH, MAX_LENGTH, QueryError, QueryErrorKind, parse_profiles};
use super::{CONTEXTS, Canonical, METRICS, PROFILES, WINDOW};

/// `said` holds, for one expression after the other, `--- expression` and the error.
fn check(read: Canonical, said: &str) {
    let mut now = String::from("\n");
    for block in said.split("\n--- ").skip(1) {
        let expression = block.lines().next().unwrap_or("");
        let error = match read(expression) {
            Ok(canonical) => format!("accepted as {canonical}"),
            Err(error) => error.to_string(),
        };
        now.push_str(&format!("--- {expression}\n{error}\n"));
    }
    assert!(now == said, "it says now:{now}");
}

#[test]
fn nothing_at_all() {
    for (read, what, example) in [
        (PROFILES, "profile expression", "rank(0-9).thread(0)"),
        (CONTEXTS, "context expression", "function(main).function(MPI_*)"),
        (METRICS, "metric expression", "cputime:sum (i)"),
        (WINDOW, "time window", "1.5s..2s"),
    ] {
        let expected = format!(
            "the {what} is empty\nhint: write for example `{example}`, or `*` for everything"
        );
        for blank in ["", "   ", "\n\t"] {
            assert_eq!(read(blank).unwrap_err().to_string(), expected);
        }
    }
}

#[test]
fn profiles() {
    check(
        PROFILES,
        r##"
--- rnak(0-3).thread(0)
there is no field `rnak` in a profile expression
  rnak(0-3).thread(0)
  ^^^^
hint: did you mean `rank`?
--- thraed
there is no field `thraed` in a profile expression
  thraed
  ^^^^^^
hint: did you mean `thread`?
--- rank(
expected a number, found the end
  rank(
       ^
--- rank()
expected a number, found `)`
  rank()
       ^
hint: a field without parentheses means every profile that has it
--- rank(0-3
this `(` is never closed
  rank(0-3
      ^
hint: add `)`
--- rank(0-3))
expected `.`, `|` or the end, found `)`
  rank(0-3))
           ^
hint: there is one `)` more than `(`
--- rank(3-1)
this range runs backwards
  rank(3-1)
       ^^^
hint: write `1-3`; ranges include their end here
--- rank(0-9:0)
the step of a range cannot be 0
  rank(0-9:0)
       ^^^^^
--- rank(-5)
this range has no beginning
  rank(-5)
       ^^
hint: numbers are never negative; for 0 to 5 write `0-5`
--- rank(0..9)
ranges are written with `-`
  rank(0..9)
        ^
hint: `0-9` is 0 to 9; the end is included
--- rank(a)
`a` is not a number
  rank(a)
       ^
--- rank(0x)
`0x` is not a number
  rank(0x)
       ^^
--- rank(12x)
`12x` is not a number
  rank(12x)
       ^^^
--- rank(99999999999999999999)
`99999999999999999999` is larger than 18446744073709551615
  rank(99999999999999999999)
       ^^^^^^^^^^^^^^^^^^^^
--- rank(1,)
expected a number, found `)`
  rank(1,)
         ^
--- rank(0).
expected a field such as `rank(0-9)`, found the end
  rank(0).
          ^
--- rank(0) thread(1)
expected `.`, `|` or the end, found `thread`
  rank(0) thread(1)
          ^
--- rank |
expected a field such as `rank(0-9)`, found the end
  rank |
        ^
--- function(main)
there is no field `function` in a profile expression
  function(main)
  ^^^^^^^^
hint: this looks like a context expression; it belongs in the other argument
--- profile
`profile` needs the indices of profiles
  profile
  ^^^^^^^
hint: write `profile(3,7-9)`, or `*` for every profile
--- (rank
this `(` is never closed
  (rank
  ^
hint: add `)`
--- ränk(0).öl
there is no field `ränk` in a profile expression
  ränk(0).öl
  ^^^^
hint: did you mean `rank`?
--- !
expected a field such as `rank(0-9)`, found the end
  !
   ^
--- "rank"
expected a field such as `rank(0-9)`, found `"`
  "rank"
  ^
--- rank(0-3:x)
`x` is not a step
  rank(0-3:x)
           ^
"##,
    );
}

#[test]
fn contexts() {
    check(
        CONTEXTS,
        r##"
--- fucntion(main)
there is no kind of context `fucntion`
  fucntion(main)
  ^^^^^^^^
hint: did you mean `function`?
--- main
there is no kind of context `main`
  main
  ^^^^
hint: a function is written `function(main)`; the kinds are function, loop, line, instruction, entry, any, context, application, subtree, ancestors, node
--- rank(0)
there is no kind of context `rank`
  rank(0)
  ^^^^
hint: this looks like a profile expression; it belongs in the other argument
--- function(main
this `(` is never closed
  function(main
          ^
hint: add `)`
--- function()
expected a name, found `)`
  function()
           ^
hint: `function` without parentheses means every function
--- function("main)
this `"` is never closed
  function("main)
           ^
--- function(/a
this regular expression is never closed
  function(/a
           ^
hint: end it with `/`; a `/` inside is written `\/`
--- function(/a(/)
this regular expression cannot be used: unclosed group
  function(/a(/)
           ^^^^
--- function(/a/x)
unknown flag `x` of a regular expression
  function(/a/x)
              ^
hint: the only flag is `i`: ignore case
--- function(a,,b)
expected a name, found `,`
  function(a,,b)
             ^
--- function(foo(int)
this `(` is never closed
  function(foo(int)
          ^
hint: add `)`
--- function(main).
expected a context such as `function(main)`, found the end
  function(main).
                 ^
--- function(main) >
expected a context such as `function(main)`, found the end
  function(main) >
                  ^
--- function(main)..loop
expected a context such as `function(main)`, found `.`
  function(main)..loop
                 ^
--- loop(120)
`120` is a line number without a name before it
  loop(120)
       ^^^
hint: write `loop(NAME:120)`, or quote the name
--- line(a.c:12x)
`12x` is not a line number
  line(a.c:12x)
           ^^^
hint: where it belongs to the name, put the name in quotes
--- line(a.c:9-3)
this range runs backwards
  line(a.c:9-3)
           ^^^
hint: write `3-9`; ranges include their end here
--- context
`context` needs the ids of contexts
  context
  ^^^^^^^
hint: write `context(12,30-40)`, or `any` for every context
--- context()
expected the id of a context, found `)`
  context()
          ^
--- context(x)
`x` is not the id of a context
  context(x)
          ^
--- subtree
`subtree` of what?
  subtree
  ^^^^^^^
hint: write `subtree(function(main))`
--- subtree(main)
there is no kind of context `main`
  subtree(main)
          ^^^^
hint: a function is written `function(main)`; the kinds are function, loop, line, instruction, entry, any, context, application, subtree, ancestors, node
--- ancestors()
expected a context such as `function(main)`, found `)`
  ancestors()
            ^
--- function(main) function(b)
expected `.`, `>`, `[`, `|` or the end, found `function`
  function(main) function(b)
                 ^
--- *[
expected a metric or an attribute such as `depth`, found the end
  *[
    ^
--- *[]
expected a metric or an attribute such as `depth`, found `]`
  *[]
    ^
--- *[depth]
expected a comparison of `depth`, found `]`
  *[depth]
         ^
hint: compare with >, >=, <, <=, == or !=: `cputime:sum (i) > 5%`
--- *[depth > ]
expected a number, found `]`
  *[depth > ]
            ^
--- *[depth > 5%]
`depth` is a plain number and has no unit
  *[depth > 5%]
            ^^
--- *[depth ~ 5]
expected a comparison of `depth`, found `~`
  *[depth ~ 5]
          ^
hint: `~` is for `name`, `file` and `module`
--- *[5% < cputime]
a comparison begins with a metric or an attribute
  *[5% < cputime]
    ^
hint: write `cputime:sum (i) > 5%`, the number on the right
--- *[cputime:sum (i) > 5 parsecs]
unknown unit `parsecs` in `5 parsecs`
  *[cputime:sum (i) > 5 parsecs]
                        ^^^^^^^
hint: the units are %, ns, us, ms, s, min, h, k, M, G, T, Ki, Mi, Gi, Ti
--- *[time > 5m]
unknown unit `m` in `5m`
  *[time > 5m]
            ^
hint: is it `ms`, `min` or `M` (a million)?
--- *[time > 1e999]
`1e999` is too large a number
  *[time > 1e999]
           ^^^^^
--- *[time > 5%
this `[` is never closed
  *[time > 5%
   ^
hint: add `]`
--- *[name > 5]
expected a comparison of `name`, found `>`
  *[name > 5]
         ^
hint: match with ~ or !~, compare with == or !=: `name ~ MPI_*`
--- *[name ~ ]
expected a text to match, found `]`
  *[name ~ ]
           ^
hint: put a text with blanks or brackets in quotes
--- *[cputime (sec) > 5]
there is no scope `sec`
  *[cputime (sec) > 5]
             ^^^
hint: write names without units: `cputime (i)`; or quote the full name: "CPUTIME (sec)"
--- [1
this `[` is never closed
  [1
  ^
hint: add `]`
--- ["x"]
this is no quantifier
  ["x"]
   ^^^
hint: the quantifiers are "." (one), "*", "+" and numbers
--- [("*", {"name": lambda x: x})]
expected a text or a number, found `lambda`
  [("*", {"name": lambda x: x})]
                  ^
hint: write a regular expression, a comparison such as "> 5", a number, or a list of them; Python functions cannot be used
--- [lambda x: x]
expected a quantifier or `{…}`, found `lambda`
  [lambda x: x]
   ^
hint: write `["*", {"name": "MPI_.*"}]`; Python functions cannot be used
--- [{name: "x"}]
expected a column in quotes, found `name`
  [{name: "x"}]
    ^
hint: columns are "name", "depth", "time (inc)", …
--- [{"name": "(?=x)"}]
this regular expression cannot be used: look-around, including look-ahead and look-behind, is not supported
  [{"name": "(?=x)"}]
            ^^^^^^^
--- MATCH
expected a step such as `("*", p)`, found the end
  MATCH
       ^
--- MATCH ("*", p)->(q
this `(` is never closed
  MATCH ("*", p)->(q
                  ^
hint: add `)`
--- MATCH (p) WHERE q."name" = "x"
there is no variable `q` in this pattern
  MATCH (p) WHERE q."name" = "x"
                  ^
hint: did you mean `p`?
--- MATCH (p) WHERE p."name" IS LEAF
expected `NONE`, `NAN` or `INF`, found `LEAF`
  MATCH (p) WHERE p."name" IS LEAF
                              ^
hint: `IS LEAF` is asked of a step, not of a column
--- MATCH (p) WHERE p IS NONE
expected `LEAF`, found `NONE`
  MATCH (p) WHERE p IS NONE
                       ^
hint: `IS NONE` and the like need a column: `p."time"`
--- MATCH (p)->(q) WHERE (p IS LEAF OR q IS LEAF)
conditions within parentheses must be on one variable
  MATCH (p)->(q) WHERE (p IS LEAF OR q IS LEAF)
                                     ^^^^^^^^^
hint: every step has its own conditions; join whole patterns with {MATCH …} OR {MATCH …}
--- MATCH (p) WHERE p."t" > "x"
expected a number, found a text
  MATCH (p) WHERE p."t" > "x"
                          ^^^
hint: texts are compared with =, !=, =~, STARTS WITH, ENDS WITH, CONTAINS
--- MATCH (p) WHERE p."t" STARTS "x"
expected `WITH`, found `"`
  MATCH (p) WHERE p."t" STARTS "x"
                               ^
--- {MATCH (p)} AND MATCH (q)
expected a pattern in braces, found `MATCH`
  {MATCH (p)} AND MATCH (q)
                  ^
hint: write `{MATCH …} AND {MATCH …}`
--- any(x)
expected `.`, `>`, `[`, `|` or the end, found `(`
  any(x)
     ^
--- loop(a.c:12):3
expected `.`, `>`, `[`, `|` or the end, found `:`
  loop(a.c:12):3
              ^
"##,
    );
}

#[test]
fn metrics() {
    check(
        METRICS,
        r##"
--- cputime (sec)
there is no scope `sec`
  cputime (sec)
           ^^^
hint: write names without units: `cputime (i)`; or quote the full name: "CPUTIME (sec)"
--- IO Bytes Read
expected `|` or the end, found `Bytes`
  IO Bytes Read
     ^
hint: names with blanks are written in quotes: "IO Bytes Read"
--- cputime:(sum
this `(` is never closed
  cputime:(sum
          ^
hint: add `)`
--- cputime:(sun)
there is no aggregation `sun`
  cputime:(sun)
           ^^^
hint: did you mean `sum`?
--- "CPUTIME":foo
there is no aggregation `foo`
  "CPUTIME":foo
            ^^^
hint: the aggregations are prop, sum, min, max, mean, count, sqr, stddev, cfvar
--- cputime (x)
there is no scope `x`
  cputime (x)
           ^
hint: the scopes are i (inclusive), e (exclusive), p (point), c (lexical)
--- cputime |
expected a metric such as `cputime:sum (i)`, found the end
  cputime |
           ^
--- cputime:
`cputime:` is not the name of a metric
  cputime:
  ^^^^^^^^
hint: write `name` or `name:aggregation`: `cputime:sum (i)`
--- (i)
expected a metric such as `cputime:sum (i)`, found `(`
  (i)
  ^
--- "abc
this `"` is never closed
  "abc
  ^
--- cputime:sum (i
this `(` is never closed
  cputime:sum (i
              ^
hint: add `)`
--- cputime (i) x
expected `|` or the end, found `x`
  cputime (i) x
              ^
hint: names with blanks are written in quotes: "IO Bytes Read"
"##,
    );
}

#[test]
fn window() {
    check(
        WINDOW,
        r##"
--- 1.5s
expected `..` and when the window ends, found the end
  1.5s
      ^
hint: a window has two ends: `1.5s..2s`, or `1.5s..` to the end
--- 2s..1s
this window ends before it begins
  2s..1s
  ^^^^^^
hint: write `1s..2s`
--- 10%..110%
this is more than 100%
  10%..110%
       ^^^^
--- -5..3
a time is never negative
  -5..3
  ^^
--- 1..2k
this is not a unit of time
  1..2k
     ^^
hint: the units are %, ns, us, ms, s, min and h; a plain number is a time stamp in ns
--- a..b
expected a number, found `a`
  a..b
  ^
--- (1, 2
this `(` is never closed
  (1, 2
  ^
hint: add `)`
--- 1..2..3
expected the end, found `.`
  1..2..3
      ^
--- 1e30s..
this time is too far away
  1e30s..
  ^^^^^
"##,
    );
}

#[test]
fn limits() {
    let long = "rank | ".repeat(MAX_LENGTH / 7 + 1);
    let error = parse_profiles(&long).unwrap_err();
    assert_eq!(error.kind, QueryErrorKind::TooLong);
    assert!(error.to_string().contains("1048579 bytes, more than 1048576"), "{error}");
    for open in ["(", "!", "not "] {
        let deep = |depth: usize| {
            format!(
                "{}rank{}",
                open.repeat(depth),
                if open == "(" { ")".repeat(depth) } else { String::new() }
            )
        };
        assert!(parse_profiles(&deep(MAX_DEPTH)).is_ok());
        let error = parse_profiles(&deep(MAX_DEPTH + 1)).unwrap_err();
        assert_eq!(error.kind, QueryErrorKind::TooDeep);
    }
    let nested = [
        ("", "("),
        ("", "!"),
        ("*[", "("),
        ("*[", "not "),
        ("", "{"),
        ("", "NOT "),
        ("{[2]} OR ", "NOT "),
        ("MATCH (p) WHERE ", "("),
        ("MATCH (p) WHERE ", "NOT "),
        ("", "subtree("),
    ];
    for (begin, text) in nested {
        let error = CONTEXTS(&format!("{begin}{}", text.repeat(50_000))).unwrap_err();
        assert_eq!(error.kind, QueryErrorKind::TooDeep, "{error}");
    }
}

#[test]
fn a_long_expression_is_shown_around_the_place() {
    let text = format!("{}rnak{}", "rank(1) | ".repeat(30), " | rank(2)".repeat(30));
    let error = parse_profiles(&text).unwrap_err();
    assert_eq!((error.column, error.length), (301, 4));
    let expected = r"there is no field `rnak` in a profile expression
  …nk(1) | rank(1) | rank(1) | rank(1) | rank(1) | rnak | rank(2) | rank(2) | rank(2) | rank(2) | r…
                                                   ^^^^
hint: did you mean `rank`?";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn an_unknown_name_is_shown_where_it_stands() {
    let expression = "function(main).function(MPI_Sned)";
    let error = QueryError::unknown_name(expression, "mpi_sned", "no function `MPI_Sned` was seen");
    assert_eq!((error.kind, error.column, error.length), (QueryErrorKind::UnknownName, 25, 8));
    let whole = QueryError::unknown_name(expression, "elsewhere", "nothing");
    assert_eq!((whole.column, whole.length), (1, 33));
    let empty = QueryError::unknown_name("", "", "nothing").to_string();
    assert_eq!(empty, "nothing");
}
