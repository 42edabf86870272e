//! The three views of a tree, pruning and the choice of costs, on drawn databases whose answers can
//! be computed by hand.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod drawn;

use drawn::{drawn, printed};
use parallax_protocol::{
    CallersRequest, CorrelationsRequest, CostChoice, FlatRequest, PruneChoice,
};
use parallax_service::{Control, TreeRequest};

const SOLVER: &str = "
    main                        1.0  1.0
      loop solver.c:10          0.5  0.5
        line solver.c:12        0.5  0.5
          solve                 2.0  1.0
            PMPI_Allreduce      0.25 1.25
              psm_progress      0.25 0.25
      MPI_Barrier               .    0.5
";

fn tree(drawing: &str, request: &TreeRequest) -> String {
    printed(&drawn(drawing).tree(request, &Control::new()).unwrap())
}

fn whole() -> TreeRequest {
    TreeRequest { hot_percent: 50.0, ..TreeRequest::default() }
}

#[test]
fn a_tree_is_sorted_by_cost_and_marks_the_hot_path() {
    assert_eq!(
        tree(SOLVER, &whole()),
        "\
<main thread>* 9.5 0
  main* 9.5 4
    loop at solver.c:10* 7 2
      solver.c:12* 6 1
        solve* 5 3
          PMPI_Allreduce 2 1.5
            psm_progress 0.5 0.5
    MPI_Barrier 0.5 0.5
"
    );
}

#[test]
fn costs_over_chosen_ranks_are_sums_over_these_only() {
    let cost = CostChoice { profiles: Some("rank(1)".into()), ..CostChoice::default() };
    let answer = drawn(SOLVER).tree(&TreeRequest { cost, ..whole() }, &Control::new()).unwrap();
    assert_eq!(answer.header.total, 5.0);
    assert_eq!(answer.header.locations, 1);
    assert!(printed(&answer).contains("PMPI_Allreduce* 1.5 1.25\n"), "{}", printed(&answer));
}

#[test]
fn pruning_moves_the_cost_of_what_is_hidden_to_the_code_above() {
    let prune = PruneChoice { mpi: true, lines: true, ..PruneChoice::default() };
    assert_eq!(
        tree(SOLVER, &TreeRequest { prune, ..whole() }),
        "\
<main thread>* 9.5 0
  main* 9.5 4
    solve* 5 3
      PMPI_Allreduce 2 2
    MPI_Barrier 0.5 0.5
"
    );
    let prune = PruneChoice { hide: vec!["solve".into()], ..PruneChoice::default() };
    assert_eq!(
        tree(SOLVER, &TreeRequest { prune, ..whole() }),
        "\
<main thread>* 9.5 0
  main* 9.5 7
    loop at solver.c:10* 7 5
      solver.c:12* 6 4
        PMPI_Allreduce 2 1.5
          psm_progress 0.5 0.5
    MPI_Barrier 0.5 0.5
"
    );
    let prune = PruneChoice { below_percent: Some(25.0), ..PruneChoice::default() };
    assert_eq!(
        tree(SOLVER, &TreeRequest { prune, ..whole() }),
        "\
<main thread>* 9.5 0
  main* 9.5 4.5
    loop at solver.c:10* 7 2
      solver.c:12* 6 1
        solve* 5 5
"
    );
}

#[test]
fn openmp_runtimes_are_hidden_and_the_code_they_run_stays() {
    let drawing = "
        main                      1.0
          __kmpc_fork_call        0.25
            __kmp_invoke          0.25
              main.omp_outlined   4.0
          <omp-idle>              0.5
    ";
    let prune = PruneChoice { openmp: true, ..PruneChoice::default() };
    assert_eq!(
        tree(drawing, &TreeRequest { prune, ..whole() }),
        "\
<main thread>* 6 0
  main* 6 1.5
    main.omp_outlined* 4 4
    <omp-idle> 0.5 0.5
"
    );
}

#[test]
fn a_tree_can_begin_anywhere_and_end_early() {
    let request =
        TreeRequest { from: Some("function(solve)".into()), max_depth: Some(1), ..whole() };
    let answer = drawn(SOLVER).tree(&request, &Control::new()).unwrap();
    assert_eq!(printed(&answer), "solve* 5 3\n  PMPI_Allreduce 2 1.5\n");
    assert_eq!(answer.rows[1].num_hidden, 1);
}

const RECURSION: &str = "
    main          1.0
      visit       2.0
        visit     4.0
          leaf    8.0
      other       .
        visit     16.0
";

#[test]
fn recursion_is_counted_once_in_flat_and_caller_views() {
    let opened = drawn(RECURSION);
    let request = FlatRequest::default();
    let flat = opened.flat(&request, &Control::new()).unwrap();
    let rows: Vec<_> =
        flat.rows.iter().map(|row| (row.name.as_str(), row.exclusive, row.inclusive)).collect();
    assert_eq!(
        rows,
        [("visit", 22.0, 30.0), ("leaf", 8.0, 8.0), ("main", 1.0, 31.0), ("other", 0.0, 16.0)]
    );
    let request = CallersRequest { matching: Some("visit".into()), ..CallersRequest::default() };
    let callers = opened.callers(&request, &Control::new()).unwrap();
    assert_eq!(
        printed(&callers),
        "\
visit 30 22
  other 16 16
    main 16 16
  visit 0 4
    main 0 4
  main 14 2
"
    );
}

#[test]
fn a_misspelt_function_is_an_error_that_names_near_ones() {
    let request = TreeRequest { from: Some("function(slove)".into()), ..whole() };
    let error = drawn(SOLVER).tree(&request, &Control::new()).unwrap_err();
    assert!(error.is_misuse());
    assert_eq!(
        error.to_string(),
        "\
this experiment has no function slove
  function(slove)
           ^^^^^
hint: did you mean solve?"
    );
}

#[test]
fn a_metric_that_was_not_measured_is_said_and_a_misspelt_one_is_an_error() {
    let cost = CostChoice { metric: Some("cptime".into()), ..CostChoice::default() };
    let error = drawn(SOLVER).tree(&TreeRequest { cost, ..whole() }, &Control::new()).unwrap_err();
    assert!(error.to_string().ends_with("did you mean CPUTIME?"), "{error}");
}

#[test]
fn a_withdrawn_question_ends_as_cancelled() {
    let opened = drawn(SOLVER);
    let control = Control::new();
    control.cancel();
    let request = CostChoice { profiles: Some("rank(0)".into()), ..CostChoice::default() };
    let error = opened.tree(&TreeRequest { cost: request, ..whole() }, &control).unwrap_err();
    assert!(error.is_cancelled(), "{error}");
    assert!(opened.tree(&whole(), &Control::new()).is_ok());
}

#[test]
fn correlation_keeps_the_most_expensive_functions_and_says_how_many_it_leaves_out() {
    // The last function of the tree has most of the time, and rises with the rank.
    let mut drawing = String::from("main 0.1 0.1 0.1 0.1 0.1 0.1\n");
    for at in 0..20 {
        drawing.push_str(&format!("  early{at} 1.0 1.1 1.0 1.2 1.1 1.0\n"));
    }
    drawing.push_str("  late 5.0 10.0 17.0 23.0 29.0 33.0\n");
    let opened = drawn(&drawing);
    let asked = |most_cells| {
        let with = vec!["rank".to_owned()];
        let request = CorrelationsRequest { with, top: 20, ..CorrelationsRequest::default() };
        opened.correlate(&request, most_cells, &Control::new()).unwrap()
    };
    // Two numbers for each of six locations: four rows, of which one is the whole program.
    let answer = asked(Some(4 * 2 * 6));
    let is_late = |at: usize| answer.value.columns[at].name().starts_with("late");
    let pair = answer.value.pairs.iter().find(|pair| is_late(pair.a) || is_late(pair.b)).unwrap();
    assert_eq!(pair.spearman.coefficient, 1.0);
    assert!((pair.spearman.p - 2.0 / 720.0).abs() < 1e-12, "{pair:?}");
    let told = |notes: &[String]| {
        notes.iter().find(|note| note.contains("omitted")).cloned().unwrap_or_default()
    };
    let note = told(&answer.notes);
    assert!(note.contains("of 21 functions with 1 % or more, the 3 largest"), "{note}");
    assert!(note.contains("18 are omitted; more would not fit in memory"), "{note}");
    assert_eq!(told(&asked(None).notes), "");
}
