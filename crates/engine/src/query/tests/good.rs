//! Expressions and their canonical forms.

use super::{CONTEXTS, Canonical, METRICS, PROFILES, WINDOW};

/// Every canonical form is the same once more.
fn check(read: Canonical, table: &[(&str, &str)]) {
    for (given, expected) in table {
        match read(given) {
            Ok(canonical) => assert_eq!(&canonical, expected, "of {given}"),
            Err(error) => panic!("{given}: {error}"),
        }
        assert_eq!(read(expected).as_deref(), Ok(*expected));
    }
}

#[test]
fn profiles() {
    check(
        PROFILES,
        &[
            ("*", "*"),
            (" summary ", "summary"),
            ("rank", "rank"),
            ("rank(*)", "rank"),
            ("rank(0)", "rank(0)"),
            ("rank(0-100000:100)", "rank(0-100000:100)"),
            ("rank(0-99:2).thread(0)", "rank(0-99:2).thread(0)"),
            ("rank(0).thread(1,5-7)", "rank(0).thread(1,5-7)"),
            ("rank( 7, 5 - 6 , 1 )", "rank(1,5-7)"),
            ("rank(1-4,3-9,10)", "rank(1-10)"),
            ("rank(0-8:2,1-3:2)", "rank(0-8:2,1-3:2)"),
            ("rank(5-7:9)", "rank(5)"),
            ("rank(5-)", "rank(5-)"),
            ("rank(5-:10, 1)", "rank(1,5-:10)"),
            ("RANK(3) . Thread", "rank(3).thread"),
            ("node(0x2a803c80)", "node(0x2a803c80)"),
            ("node(713047168)", "node(0x2a803c80)"),
            ("node(7)", "node(7)"),
            ("gpudevice(0).gpucontext.gpustream(1-2)", "gpudevice(0).gpucontext.gpustream(1-2)"),
            ("core(0-3)", "core(0-3)"),
            ("application(2).rank", "application(2).rank"),
            ("profile(3, 7-9)", "profile(3,7-9)"),
            ("rank(0) | rank(2)", "rank(0) | rank(2)"),
            ("rank(0), rank(2)", "rank(0) | rank(2)"),
            ("rank(0) or rank(2) or summary", "rank(0) | rank(2) | summary"),
            ("(rank(0)|rank(2)).thread(0)", "(rank(0) | rank(2)).thread(0)"),
            ("rank(0) | rank(2) and thread(0)", "rank(0) | rank(2).thread(0)"),
            ("rank & !thread(0)", "rank.!thread(0)"),
            ("not (rank.thread)", "!(rank.thread)"),
            ("!!rank", "!!rank"),
            ("((rank))", "rank"),
            ("rank(18446744073709551615)", "rank(18446744073709551615)"),
            ("rank(18446744073709551615-)", "rank(18446744073709551615)"),
        ],
    );
}

#[test]
fn contexts() {
    check(
        CONTEXTS,
        &[
            ("*", "*"),
            ("application", "application"),
            ("function", "function"),
            ("function(*)", "function"),
            ("function(main)", "function(main)"),
            ("function(MPI_*)", "function(MPI_*)"),
            ("function(<omp *>)", "function(<omp *>)"),
            ("function(<omp idle>)", "function(<omp idle>)"),
            ("function(main).function(MPI_*)", "function(main).function(MPI_*)"),
            ("function(foo).line(foo.c:12)", "function(foo).line(foo.c:12)"),
            ("function(a, b|c)", "function(a|b|c)"),
            ("function(\"operator()(int)\")", "function(operator()(int))"),
            ("function(operator()(int, long))", "function(\"operator()(int, long)\")"),
            ("function(f(int, int), g)", "function(\"f(int, int)\"|g)"),
            (
                "function(std::vector<int, std::allocator<int> >::~vector())",
                "function(\"std::vector<int, std::allocator<int> >::~vector()\")",
            ),
            (
                "function(operator<, operator<<, main)",
                "function(\"operator<\"|\"operator<<\"|main)",
            ),
            ("function(std::pair<int>::first(), main)", "function(std::pair<int>::first()|main)"),
            ("function((anonymous namespace)::f)", "function((anonymous namespace)::f)"),
            ("function(\"MPI_*\")", "function(\"MPI_*\")"),
            ("function(glob\"f(int, *)\")", "function(glob\"f(int, *)\")"),
            ("function(glob'main')", "function(glob\"main\")"),
            ("function('say \"x\"')", "function(\"say \\\"x\\\"\")"),
            ("function(/^hypre_.*Setup$/i)", "function(/^hypre_.*Setup$/i)"),
            ("function(/a\\/b[0-9]{2}(x|y)/)", "function(/a\\/b[0-9]{2}(x|y)/)"),
            ("entry", "entry"),
            ("entry(main thread)", "entry(main thread)"),
            ("any", "any"),
            ("node", "any"),
            ("context(12, 30-40)", "context(12,30-40)"),
            ("loop", "loop"),
            ("loop(solver.c)", "loop(solver.c)"),
            ("loop(solver.c:120)", "loop(solver.c:120)"),
            ("loop( src/solver.c : 120 - 140 )", "loop(src/solver.c:120-140)"),
            ("line(solver.c:10-20, 30, main.c:5)", "line(solver.c:10-20,30|main.c:5)"),
            ("line(solver.c:10-20:2)", "line(solver.c:10-20:2)"),
            ("line(*:7)", "line(*:7)"),
            ("line(/home/me/a.c:7)", "line(\"/home/me/a.c\":7)"),
            ("line(/par_.*\\.c$/i:1-50)", "line(/par_.*\\.c$/i:1-50)"),
            ("line(\"C:\\src\\a.c\":12)", "line(\"C:\\\\src\\\\a.c\":12)"),
            ("line(\"7\")", "line(\"7\")"),
            ("instruction(libm.so:0x1176)", "instruction(libm.so:0x1176)"),
            (
                "instruction(libm.so.6:0x11760, 0x20000-0x2ffff)",
                "instruction(libm.so.6:0x11760,0x20000-0x2ffff)",
            ),
            ("function(main) > loop", "function(main) > loop"),
            ("function(main)>loop.line", "function(main) > loop.line"),
            ("(function(a).function(b)).loop", "function(a).function(b).loop"),
            ("function(a).(function(b).loop)", "function(a).(function(b).loop)"),
            ("(function(a) | function(b)) . loop", "(function(a) | function(b)).loop"),
            ("!function(MPI_*)", "!function(MPI_*)"),
            ("not function(MPI_*) and function", "!function(MPI_*) & function"),
            ("!(loop & function(a).loop)", "!(loop & function(a).loop)"),
            (
                "subtree(function(solve)) & function(MPI_*)",
                "subtree(function(solve)) & function(MPI_*)",
            ),
            ("ancestors( loop(a.c:3) )", "ancestors(loop(a.c:3))"),
            ("function(a), loop", "function(a) | loop"),
        ],
    );
}

#[test]
fn predicates() {
    check(
        CONTEXTS,
        &[
            ("function(*)[cputime:sum (i) > 5%]", "function[cputime:sum (i) > 5%]"),
            ("function(*)[cputime:sum(i)>5%]", "function[cputime:sum (i) > 5%]"),
            ("*[time > 10ms]", "*[time > 10ms]"),
            ("*[time (e) >= 1.5e-3 s]", "*[time (e) >= 0.0015s]"),
            ("*[gxcopy:h2d (i) > 5MB]", "*[gxcopy:h2d (i) > 5M]"),
            ("*[\"IO Bytes Read\" > 2 KiB]", "*[\"IO Bytes Read\" > 2Ki]"),
            ("*[depth<=3]", "*[depth <= 3]"),
            ("*[leaf]", "*[leaf]"),
            ("*[not leaf and children > 2]", "*[not leaf and children > 2]"),
            ("*[!leaf && (depth = 3 || depth == 5)]", "*[not leaf and (depth == 3 or depth == 5)]"),
            ("*[depth > 1][leaf]", "*[depth > 1 and leaf]"),
            ("*[line != 12]", "*[line != 12]"),
            ("any[name ~ MPI_*]", "any[name ~ \"MPI_*\"]"),
            ("any[name !~ /^MPI/i]", "any[name !~ /^MPI/i]"),
            (
                "any[file == solver.c or module ~ 'libm*']",
                "any[file == \"solver.c\" or module ~ \"libm*\"]",
            ),
            ("any[name != \"f(int)\"]", "any[name != \"f(int)\"]"),
            ("(function|loop)[time > 1%]", "(function | loop)[time > 1%]"),
            ("function(a).loop[time > 1%]", "function(a).loop[time > 1%]"),
            ("(function(a).loop)[time > 1%]", "(function(a).loop)[time > 1%]"),
            ("application[time > 1k]", "application[time > 1k]"),
            ("*[perf::page-faults:max > -1]", "*[perf::page-faults:max > -1]"),
            ("*[depth:x > 1]", "*[depth:x > 1]"),
            ("*[\"depth\" > 1]", "*[\"depth\" > 1]"),
            ("*[/^gins:stl/ (e) > 0]", "*[/^gins:stl/ (e) > 0]"),
        ],
    );
}

#[test]
fn metrics() {
    check(
        METRICS,
        &[
            ("*", "*"),
            ("time", "time"),
            ("TIME", "time"),
            ("cputime", "cputime"),
            ("cputime:sum (i)", "cputime:sum (i)"),
            ("cputime:prop (i)", "cputime:prop (i)"),
            ("time:sum(i,e)", "time:sum (i,e)"),
            ("time:(sum, min,max) (i)", "time:(sum,min,max) (i)"),
            ("time:avg", "time:mean"),
            ("time (inclusive, exclusive, point, lexical)", "time (i,e,p,c)"),
            ("time (execution,function)", "time (i,e)"),
            ("time (i,i)", "time (i)"),
            ("gpu:prop (i)", "gpu:prop (i)"),
            ("gxcopy:h2d", "gxcopy:h2d"),
            ("GXCOPY:H2D:sum (e)", "gxcopy:h2d:sum (e)"),
            ("gker:count", "gker:count"),
            ("gker:(count)", "gker:(count)"),
            ("gcycles:stl:*:sum", "gcycles:stl:*:sum"),
            ("perf::PAGE-FAULTS:max (i)", "perf::page-faults:max (i)"),
            ("\"perf::PAGE-FAULTS\":max (i)", "\"perf::PAGE-FAULTS\":max (i)"),
            ("'IO Bytes Read'", "\"IO Bytes Read\""),
            ("*:sum (i)", "*:sum (i)"),
            ("/^gins:stl_/i:sum", "/^gins:stl_/i:sum"),
            ("cputime, realtime | gpuop (e)", "cputime | realtime | gpuop (e)"),
            ("cputime or realtime", "cputime | realtime"),
            ("INST_RETIRED.ANY", "inst_retired.any"),
        ],
    );
}

#[test]
fn windows() {
    check(
        WINDOW,
        &[
            ("*", "*"),
            ("..", "*"),
            ("(100, 200)", "100..200"),
            ("100..200", "100..200"),
            ("1.5s..2s", "1500ms..2s"),
            ("1.5 s .. 2 s", "1500ms..2s"),
            ("10%..20.5%", "10%..20.5%"),
            ("..2min", "..120s"),
            ("50%..", "50%.."),
            ("[0.1us, 700ns]", "100ns..700ns"),
            ("18446744073709551615..", "18446744073709551615.."),
            ("1h..90%", "3600s..90%"),
        ],
    );
}

#[test]
fn hatchet_objects() {
    check(
        CONTEXTS,
        &[
            ("[\"*\"]", "MATCH (\"*\")"),
            ("[{\"name\": \"MPI_.*\"}]", "MATCH (\".\", n1) WHERE n1.\"name\" =~ \"MPI_.*\""),
            (
                "[(\"*\", {\"name\": \"solve\", \"time (inc)\": \"> 5\"}), 2, ['+', {'depth': 3}], '.']",
                "MATCH (\"*\", n1)->(2)->(\"+\", n3)->(\".\") WHERE n1.\"name\" =~ \"solve\" AND \
                 n1.\"time (inc)\" > 5 AND n3.\"depth\" = 3",
            ),
            (
                "[(\"*\", {\"time\": [\">= 1\", \"< 2e3\"]},),]",
                "MATCH (\"*\", n1) WHERE n1.\"time\" >= 1 AND n1.\"time\" < 2000",
            ),
            (
                "[{(\"time\", \"rank\"): \"== -4\", 7: 0.5}]",
                "MATCH (\".\", n1) WHERE n1.(\"time\", \"rank\") = -4 AND n1.7 = 0.5",
            ),
            ("[(\"+\", {})]", "MATCH (\"+\")"),
        ],
    );
}

#[test]
fn hatchet_strings() {
    check(
        CONTEXTS,
        &[
            (
                "MATCH (\"*\")->(p) WHERE p.\"name\" = \"main\"",
                "MATCH (\"*\")->(\".\", n2) WHERE n2.\"name\" = \"main\"",
            ),
            (
                "match (\"*\", p)->(\".\", q)->(2, r)->(s) where p.\"name\" = \"main\" and not \
                 q.\"time (inc)\" > 5 or r is leaf",
                "MATCH (\"*\", n1)->(\".\", n2)->(2, n3)->(\".\") WHERE n1.\"name\" = \"main\" AND \
                 NOT n2.\"time (inc)\" > 5 AND n3 IS LEAF",
            ),
            (
                "MATCH (\".\", p) WHERE p.\"a\" STARTS WITH \"x\" OR p.\"a\" ENDS WITH 'y' AND p.\"b\" \
                 CONTAINS \"z\" XOR p.\"c\" IS NOT NONE",
                "MATCH (\".\", n1) WHERE (((n1.\"a\" STARTS WITH \"x\" OR n1.\"a\" ENDS WITH \"y\") AND \
                 n1.\"b\" CONTAINS \"z\") XOR NOT n1.\"c\" IS NONE)",
            ),
            (
                "MATCH (\".\", p) WHERE p.\"a\" IS NAN OR p.\"a\" IS INF",
                "MATCH (\".\", n1) WHERE (n1.\"a\" IS NAN OR n1.\"a\" IS INF)",
            ),
            (
                "MATCH (\".\", p) WHERE p.\"name\" != \"x\" AND p.\"n\" =~ \"a/b\\\\d\"",
                "MATCH (\".\", n1) WHERE NOT n1.\"name\" = \"x\" AND n1.\"n\" =~ \"a/b\\\\d\"",
            ),
            ("MATCH ()->(\"+\")", "MATCH (\".\")->(\"+\")"),
            (
                "{MATCH (\"*\")->(p) WHERE p IS LEAF} AND NOT {[{\"name\": \"x\"}]} OR {[\"+\"]}",
                "{{MATCH (\"*\")->(\".\", n2) WHERE n2 IS LEAF} AND NOT {MATCH (\".\", n1) WHERE \
                 n1.\"name\" =~ \"x\"}} OR {MATCH (\"+\")}",
            ),
            ("NOT {[\"*\"]}", "NOT {MATCH (\"*\")}"),
            (
                "{[\"*\"]} XOR {{[\"+\"]} XOR {[2]}}",
                "{MATCH (\"*\")} XOR {MATCH (\"+\")} XOR {MATCH (2)}",
            ),
        ],
    );
}
