//! What names, places, ranges and windows choose.

use parallax_model::IdentityKind;

use super::super::ProfileExpr;
use super::super::{
    ContextExpr, ContextSelector, MetricName, NameMatch, Range, RangeList, RegexMatch, near_names,
    normalised_name, parse_contexts, parse_metrics, parse_profiles, parse_window, split_unit,
};

#[test]
fn names_are_normalised_as_hpcanalysis_does() {
    let table = [
        ("main", "main"),
        ("MPI_Send", "MPI_Send"),
        ("PMPI_Send", "MPI_Send"),
        ("PMPI_Send.localalias", "MPI_Send"),
        ("MPI_Init_thread@plt", "MPI_Init_thread"),
        ("MPI_Type_create_f90_real", "MPI_Type_create_f"),
        ("MPI_", "MPI_"),
        ("MPI_3", "MPI_3"),
        ("PMPIR_Reduce", "PMPIR_Reduce"),
        ("_stext [vmlinux]", "_stext"),
        ("hypre_ParMatmul._omp_fn.3", "hypre_ParMatmul"),
        ("memcpy@@GLIBC_2.14", "memcpy"),
        ("std::vector<int, std::allocator<int> >::~vector()", "std::vector"),
        ("miniFE::driver<double, int, int>(Box const&)", "miniFE::driver"),
        ("operator<", "operator"),
        ("<omp idle>", "<omp idle>"),
        ("<gpu kernel>", "<gpu kernel>"),
        ("<unknown procedure> 0x47b150 [libm.so.6]", "<unknown procedure> 0x47b150"),
        ("(anonymous namespace)::f(int)", "(anonymous namespace)::f(int)"),
        (".hidden", ".hidden"),
        ("", ""),
        ("Größe(int)", "Größe"),
    ];
    for (name, expected) in table {
        assert_eq!(normalised_name(name), expected, "of {name}");
        assert_eq!(normalised_name(expected), expected, "twice");
    }
}

#[test]
fn functions_match_in_full_or_in_normal_form() {
    let name = |text: &str| match parse_contexts(text) {
        Ok(ContextExpr::Select(ContextSelector::Function(names))) => names[0].clone(),
        other => panic!("{other:?}"),
    };
    assert!(name("function(MPI_*)").matches_function("PMPI_Send"));
    assert!(name("function(PMPI_*)").matches_function("PMPI_Send"));
    assert!(name("function(resize)").matches_function("resize(unsigned long)"));
    assert!(name("function(resize(unsigned long))").matches_function("resize(unsigned long)"));
    assert!(!name("function(resize(int))").matches_function("resize(unsigned long)"));
    assert!(name("function(<omp *>)").matches_function("<omp idle>"));
    assert!(!name("function(omp*)").matches_function("<omp idle>"));
    assert!(!name("function(\"MPI_*\")").matches_function("MPI_Send"));
    assert!(
        name("function(/^hypre_.*setup$/i)").matches_function("hypre_BoomerAMGSetup._omp_fn.1")
    );
}

#[test]
fn globs_cover_the_whole_name() {
    let table: [(&str, &[&str], &[&str]); 6] = [
        ("MPI_*", &["MPI_", "MPI_Send"], &["PMPI_Send", "MPI"]),
        ("*Setup", &["Setup", "hypre_Setup", "SetupSetup"], &["Setup_", "setup"]),
        ("a?c", &["abc", "aöc", "a*c"], &["ac", "abbc"]),
        ("*a*b*", &["ab", "xaybz", "aab"], &["ba", ""]),
        ("**", &["", "anything"], &[]),
        ("a.*[b]", &["a.x[b]"], &["axb", "a.b"]),
    ];
    for (glob, matching, other) in table {
        let glob = NameMatch::from_bare(glob);
        for name in matching {
            assert!(glob.matches(name), "{glob:?} {name}");
        }
        for name in other {
            assert!(!glob.matches(name), "{glob:?} {name}");
        }
    }
}

#[test]
fn files_match_by_whole_path_or_by_its_end() {
    let Ok(ContextExpr::Select(ContextSelector::Line(places))) =
        parse_contexts("line(src/solver.c:10-20)")
    else {
        panic!("no line");
    };
    let place = &places[0];
    assert!(place.matches("/home/me/src/solver.c", 10));
    assert!(place.matches("src/solver.c", 20));
    assert!(!place.matches("/home/me/src/solver.c", 21));
    assert!(!place.matches("/home/me/mysrc/solver.c", 10));
    assert!(!place.matches("/home/me/src/solver.cc", 10));
    assert!(NameMatch::from_bare("a.c").matches_path("C:\\src\\a.c"));
    assert!(NameMatch::from_bare("*.c").matches_path("/x/y/a.c"));
}

#[test]
fn ranges_include_their_end() {
    let Ok(ProfileExpr::Field { field: IdentityKind::Rank, values: Some(ranks) }) =
        parse_profiles("rank(0-8:2, 3, 20-30, 25-40, 100-)")
    else {
        panic!("no ranks");
    };
    let chosen: Vec<u64> = (0..=45).filter(|rank| ranks.contains(*rank)).collect();
    let expected: Vec<u64> = [0, 2, 3, 4, 6, 8].into_iter().chain(20..=40).collect();
    assert_eq!(chosen, expected);
    assert!(!ranks.contains(99) && ranks.contains(100) && ranks.contains(u64::MAX));
    assert_eq!(ranks.single(), None);
    let one = Range::new(7, 7, 1).map(|range| RangeList::new([range]));
    assert_eq!(one.and_then(|list| list.single()), Some(7));
    assert_eq!(Range::new(3, 2, 1), None);
    assert_eq!(Range::new(3, 5, 0), None);
    assert!(Range::new(0, u64::MAX, 3).is_some_and(|range| range.contains(u64::MAX)));
}

#[test]
fn metrics_match_with_or_without_their_unit() {
    let matches = |expression: &str, name: &str| {
        parse_metrics(expression).unwrap().selectors[0].name.matches(name)
    };
    assert!(matches("cputime", "CPUTIME (sec)"));
    assert!(!matches("cputime", "REALTIME (sec)"));
    assert!(matches("time", "REALTIME (sec)"));
    assert!(matches("time", "cycles"));
    assert!(matches("\"CPUTIME (sec)\"", "CPUTIME (sec)"));
    assert!(matches("\"CPUTIME\"", "CPUTIME (sec)"));
    assert!(!matches("\"cputime\"", "CPUTIME (sec)"));
    assert!(matches("gxcopy:h2d", "GXCOPY:H2D (B)"));
    assert!(!matches("gxcopy", "GXCOPY:H2D (B)"));
    assert!(matches("gxcopy*", "GXCOPY:H2D (B)"));
    assert!(matches("gpu", "GKER (sec)"));
    assert!(!matches("gpu", "GKER:COUNT"));
    assert!(matches("/STL_.*$/", "GINS:STL_ANY"));
    assert!(matches("perf::page-faults", "perf::PAGE-FAULTS"));
    assert!(matches!(parse_metrics("*").unwrap().selectors[0].name, MetricName::All));
    assert_eq!(split_unit("GXCOPY:H2D (B)"), ("GXCOPY:H2D", Some("B")));
    assert_eq!(split_unit("f (x) (sec)"), ("f (x)", Some("sec")));
    assert_eq!(split_unit("cycles"), ("cycles", None));
}

#[test]
fn windows_resolve_against_the_traces() {
    let resolve = |text: &str| parse_window(text).unwrap().resolve(1_000, 3_000);
    assert_eq!(resolve("*"), (1_000, 3_000));
    assert_eq!(resolve("(1200, 1500)"), (1_200, 1_500));
    assert_eq!(resolve("1us..1.5us"), (2_000, 2_500));
    assert_eq!(resolve("10%..20%"), (1_200, 1_400));
    assert_eq!(resolve("50%..100%"), (2_000, 3_000));
    let far = parse_window("0..18446744073709551615ns").unwrap();
    assert_eq!(far.resolve(u64::MAX - 5, u64::MAX), (0, u64::MAX));
}

#[test]
fn path_patterns_match_at_the_beginning() {
    let regex = RegexMatch::at_start("MPI_|PMPI_").unwrap();
    assert!(regex.matches("MPI_Send") && regex.matches("PMPI_Send"));
    assert!(!regex.matches("xMPI_Send"));
}

#[test]
fn near_names_are_found_by_edits_and_by_parts() {
    let names = ["rank", "thread", "core", "node", "gpustream", "gpucontext", "Rank"];
    assert_eq!(near_names("rnak", names.into_iter(), 3), ["Rank", "rank"]);
    assert_eq!(near_names("tread", names.into_iter(), 3), ["thread"]);
    assert_eq!(near_names("stream", names.into_iter(), 3), ["gpustream"]);
    assert_eq!(near_names("zzz", names.into_iter(), 3), [""; 0]);
    assert_eq!(near_names("", names.into_iter(), 3), [""; 0]);
    assert_eq!(near_names("gpu", names.into_iter(), 1), ["gpucontext"]);
}
