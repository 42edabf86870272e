//! The tables and questions of ensembles.

use std::collections::BTreeMap;

use crate::common::{ask, ensemble, fixture, rows, source, try_ask};

#[test]
fn medians_of_runs_are_the_times_of_the_maps() {
    let runs = source(&fixture("pascal/solver-v1.json"));
    let maps = ask(
        &runs,
        "SELECT region, input, cores, repetitions, time FROM scaling_table(table => 'maps', min_percent => 0)
         WHERE time IS NOT NULL",
    );
    let medians = ask(
        &runs,
        "SELECT region, input, cores, count(time), median(time) FROM runs
         JOIN regions USING (region_id) GROUP BY region, input, cores",
    );
    let of = |rows: Vec<Vec<String>>| -> BTreeMap<Vec<String>, f64> {
        let row = |row: Vec<String>| (row[..4].to_vec(), row[4].parse().unwrap());
        rows.into_iter().map(row).collect()
    };
    let (maps, medians) = (of(rows(&maps)), of(rows(&medians)));
    assert!(maps.len() > 10, "{maps:?}");
    for (place, time) in &maps {
        let found = medians.get(place).unwrap_or_else(|| panic!("{place:?} in {medians:?}"));
        assert!((found - time).abs() <= 1e-12 * time, "{place:?}: {found} {time}");
    }
}

#[test]
fn regions_have_their_subtrees_at_consecutive_places() {
    let runs = ensemble(&[1, 2].map(|ranks| fixture(&format!("reactor/n256-p{ranks}"))));
    let inside = "SELECT a.region_id, count(*) FROM regions a JOIN regions b
                  ON b.region_id > a.region_id AND b.region_id <= a.last_region_id
                  GROUP BY a.region_id ORDER BY 1";
    let by_parents = "WITH RECURSIVE below AS (
                        SELECT parent_id AS above, region_id FROM regions WHERE parent_id IS NOT NULL
                        UNION ALL
                        SELECT regions.parent_id, below.region_id FROM below
                        JOIN regions ON regions.region_id = below.above
                        WHERE regions.parent_id IS NOT NULL)
                      SELECT above, count(*) FROM below GROUP BY above ORDER BY 1";
    let found = rows(&ask(&runs, inside));
    assert!(found.len() > 3, "{found:?}");
    assert_eq!(found, rows(&ask(&runs, by_parents)));
    let depths = "SELECT count(*) FROM regions c JOIN regions p ON c.parent_id = p.region_id
                  WHERE c.depth <> p.depth + 1";
    assert_eq!(rows(&ask(&runs, depths)), [["0"]]);
}

#[test]
fn an_ensemble_has_its_own_tables_and_questions() {
    let runs = source(&fixture("pascal/solver-v1.json"));
    let names = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'
                 ORDER BY 1";
    let expected =
        ["issues", "metrics", "parameters", "regions", "runs", "statistics", "table_functions"];
    assert_eq!(rows(&ask(&runs, names)).concat(), expected);
    let functions = rows(&ask(&runs, "SELECT DISTINCT question FROM table_functions ORDER BY 1"));
    assert_eq!(functions.concat(), ["models", "scaling", "scaling_table"]);
    let models = rows(&ask(&runs, "SELECT count(*) > 0 FROM models()"));
    assert_eq!(models, [["true"]]);
    let units = ask(&runs, "SELECT time FROM runs LIMIT 1");
    assert_eq!(units.columns[0].unit, "s");
    let error = try_ask(&runs, "SELECT * FROM contexts").unwrap_err().to_string();
    assert!(error.contains("contexts"), "{error}");
    let error = try_ask(&runs, "SELECT path(0)").unwrap_err().to_string();
    assert!(error.contains("path"), "{error}");
}
