//! The bottom-up view of one function at a time, and its list of functions.

use parallax_protocol::{CallersRequest, FlatRequest};
use parallax_service::{Control, TreeAnswer, TreeRow};

use crate::databases::{each, fixture};
use crate::drawn::{drawn, printed};

fn callers(opened: &parallax_service::OpenExperiment, request: &CallersRequest) -> TreeAnswer {
    opened.callers(request, &Control::new()).unwrap()
}

#[test]
fn an_exact_name_is_neither_a_glob_nor_a_normal_form() {
    let opened = drawn(
        "
        main            1.0
          f*            2.0
          fast          4.0
          MPI_Send      8.0
          PMPI_Send     16.0
    ",
    );
    let of = |name: &str, is_exact| {
        let name = Some(name.to_owned());
        let request = match is_exact {
            true => CallersRequest { function: name, ..Default::default() },
            false => CallersRequest { matching: name, ..Default::default() },
        };
        printed(&callers(&opened, &request))
    };
    assert_eq!(of("f*", true), "f* 2 2\n  main 2 2\n");
    assert_eq!(of("f*", false), "fast 4 4\n  main 4 4\nf* 2 2\n  main 2 2\n");
    assert_eq!(of("MPI_Send", true), "MPI_Send 8 8\n  main 8 8\n");
    assert!(of("MPI_Send", false).starts_with("PMPI_Send 16 16\n"));
}

#[test]
fn functions_opened_one_by_one_give_the_whole_view() {
    let opened = fixture("n512-p4");
    let whole = callers(&opened, &CallersRequest::default());
    let list = callers(&opened, &CallersRequest { max_depth: Some(0), ..Default::default() });
    assert!(list.rows.iter().all(|row| row.depth == 0));
    let mut rows = Vec::new();
    for function in &list.rows {
        let function = Some(function.label.clone());
        let request = CallersRequest { function, ..Default::default() };
        rows.extend(callers(&opened, &request).rows);
    }
    assert_eq!(rows, whole.rows);
    // What the list hides at each function is what opening it shows directly below.
    let below = |i: usize| {
        let rest = whole.rows.iter().filter(|row| row.depth <= 1);
        let mut functions = 0;
        rest.filter(|row| {
            functions += usize::from(row.depth == 0);
            row.depth == 1 && functions == i + 1
        })
        .count()
    };
    for (i, row) in list.rows.iter().enumerate() {
        assert_eq!(row.num_hidden, below(i), "{}", row.label);
    }
}

#[test]
fn the_number_of_rows_is_bounded_and_said() {
    let opened = fixture("n512-p4");
    let whole = callers(&opened, &CallersRequest::default());
    let few = callers(&opened, &CallersRequest { max_rows: Some(7), ..Default::default() });
    let mut costs: Vec<f64> = whole.rows.iter().map(|row| row.exclusive).collect();
    costs.sort_by(|a, b| b.total_cmp(a));
    let mut shown: Vec<f64> = few.rows.iter().map(|row| row.exclusive).collect();
    shown.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(shown, costs[..7], "the most expensive ones");
    // In the order of the whole tree, and who calls whom is still to be seen.
    let mut rest = whole.rows.iter();
    for row in &few.rows {
        let key = |row: &TreeRow| (row.depth, row.context_id, row.label.clone());
        assert!(rest.any(|other| key(other) == key(row)), "{}", row.label);
    }
    assert!(few.header.notes[0].starts_with("Only the 7 rows with the largest values"));
    assert!(whole.header.notes.is_empty());
}

#[test]
fn the_list_of_functions_has_the_costs_of_the_flat_view() {
    each(|name, opened| {
        let request = FlatRequest::default();
        let Ok(flat) = opened.flat(&request, &Control::new()) else { return };
        let request = CallersRequest { max_depth: Some(0), ..Default::default() };
        let list = opened.callers(&request, &Control::new()).unwrap();
        // The flat view tells functions of the same name in different modules apart.
        let sum = |of: &str| -> f64 {
            flat.rows.iter().filter(|row| row.name == of).map(|row| row.exclusive).sum()
        };
        for row in &list.rows {
            let expected = sum(&row.label);
            let error = (row.exclusive - expected).abs();
            assert!(error <= expected.abs() * 1e-9, "{name}: {} {expected}", row.label);
        }
    });
}

#[test]
fn a_part_of_the_tree_is_looked_at_as_if_it_were_all() {
    let opened = drawn(
        "
        main          1.0
          f           2.0
            g         4.0
              f       8.0
          g          16.0
            h        32.0
    ",
    );
    let from = Some("function(g)".to_owned());
    let request = CallersRequest { from: from.clone(), ..Default::default() };
    // Chains end at g, and f is outermost although another f calls this g.
    let expected = "\
h 32 32
  g 32 32
g 60 20
f 8 8
  g 8 8
";
    assert_eq!(printed(&callers(&opened, &request)), expected);
    let request = FlatRequest { from, ..FlatRequest::default() };
    let flat = opened.flat(&request, &Control::new()).unwrap();
    let rows: Vec<_> =
        flat.rows.iter().map(|row| (&*row.name, row.exclusive, row.inclusive)).collect();
    assert_eq!(rows, [("h", 32.0, 32.0), ("g", 20.0, 60.0), ("f", 8.0, 8.0)]);
    let none = CallersRequest { from: Some("function(*nobody*)".into()), ..Default::default() };
    assert!(callers(&opened, &none).rows.is_empty());
}
