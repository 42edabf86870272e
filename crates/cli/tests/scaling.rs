//! `scaling`, `model`, `compare` and `merge` as the user runs them.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const COLUMNS: [&str; 17] = [
    "region",
    "input",
    "cores",
    "repetitions",
    "time",
    "time_min",
    "time_max",
    "speedup",
    "efficiency",
    "scalability_abs",
    "strong_abs",
    "weak_abs",
    "scalability_rel",
    "strong_rel",
    "weak_rel",
    "imbalance",
    "estimated",
];

fn corpus() -> Option<PathBuf> {
    parallax_testkit::needs::corpus_path("data")
}

fn parallax(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_parallax"))
        .args(arguments)
        .env("LC_ALL", "C.UTF-8")
        .current_dir(folder)
        .output()
        .unwrap()
}

fn text(arguments: &[&str], folder: &Path) -> (String, String) {
    let output = parallax(arguments, folder);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    (String::from_utf8(output.stdout).unwrap(), stderr)
}

fn json(arguments: &[&str], folder: &Path) -> serde_json::Value {
    serde_json::from_str(&text(arguments, folder).0).unwrap()
}

/// Sixteen runs of a program of two inputs; the second does not gain from the fourth core.
const TABLE: &str = "\
input,cores,time\n\
small,1,8.0\nsmall,1,8.4\nsmall,2,4.2\nsmall,2,4.0\nsmall,4,2.5\nsmall,4,2.7\n\
large,1,80\nlarge,1,82\nlarge,2,41\nlarge,2,40.5\nlarge,4,41\nlarge,4,43\n";

fn folder_with_table() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("runs.csv"), TABLE).unwrap();
    folder
}

#[test]
fn maps_have_core_counts_in_the_order_of_the_file_when_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("runs.csv"), "cores,time\n4,2\n1,8\n2,5\n").unwrap();
    let rows = |options: &[&str]| {
        let (out, _) = text(&[&["scaling", "runs.csv"], options].concat(), folder.path());
        let map = out.lines().skip_while(|line| !line.trim_start().starts_with("cores"));
        let numbers = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        map.skip(1).take(3).map(numbers).collect::<Vec<_>>()
    };
    assert_eq!(rows(&[]), ["1 100.0", "2 80.0", "4 100.0"]);
    assert_eq!(rows(&["--order", "file"]), ["4 100.0", "1 100.0", "2 80.0"]);
    let svg = folder.path().join("maps.svg");
    let name = svg.to_str().unwrap();
    text(&["scaling", "runs.csv", "--order", "file", "--svg", name], folder.path());
    let drawn = std::fs::read_to_string(&svg).unwrap();
    let first = |what: &str| drawn.find(what).unwrap();
    // 80 % stands in the last row of the first map, next to 2 cores.
    assert!(first("cores: 4") < first("cores: 1") && first("cores: 1") < first("cores: 2"));
    assert!(drawn.contains("80 %\ncores: 2"), "{drawn}");
}

#[test]
fn json_has_exactly_the_promised_columns_and_null_where_nothing_is_defined() {
    let folder = folder_with_table();
    let answer = json(&["scaling", "runs.csv", "--format", "json"], folder.path());
    let names: Vec<&str> = answer["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| column["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, COLUMNS);
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    let row = |input: &str, cores: u64| {
        rows.iter().find(|row| row[1] == input && row[2] == cores).unwrap()
    };
    assert!(rows.iter().all(|row| row[0] == "0"));
    let small = row("small", 1);
    assert_eq!((small[3].as_u64(), small[4].as_f64()), (Some(2), Some(8.2)));
    assert_eq!((small[5].as_f64(), small[6].as_f64()), (Some(8.0), Some(8.4)));
    assert_eq!(small[8].as_f64(), Some(1.0));
    assert!(small[12].is_null() && small[13].is_null() && small[14].is_null());
    let large = row("large", 4);
    let efficiency = 81.0 / (4.0 * 42.0);
    assert!((large[8].as_f64().unwrap() - efficiency).abs() < 1e-12);
    let first = 8.2 / (4.0 * 2.6);
    assert!((large[9].as_f64().unwrap() - (efficiency - first)).abs() < 1e-12);
}

#[test]
fn text_says_the_verdict_before_it_shows_the_maps() {
    let folder = folder_with_table();
    let (out, _) = text(&["scaling", "runs.csv", "--width", "120"], folder.path());
    let verdict = out.find("Strong scaling ends at 2 cores for input i2").unwrap();
    let maps = out.find("Efficiency (%)").unwrap();
    assert!(verdict < maps, "{out}");
    assert!(out.contains("   i1: small\n   i2: large\n"), "{out}");
    assert!(out.contains("Scalability") && out.contains("Strong scaling"), "{out}");
    assert!(!out.contains('\x1b') && out.lines().all(|line| line.chars().count() <= 120), "{out}");
    let (coloured, _) = text(&["scaling", "runs.csv", "--color", "always"], folder.path());
    assert!(coloured.contains("\x1b[97;48;2;0;0;4m"), "an efficiency of 100 % is black");
    let (relative, _) = text(&["scaling", "runs.csv", "--mode", "relative"], folder.path());
    assert!(relative.contains("Relative scalability"), "{relative}");
}

#[test]
fn what_makes_the_data_doubtful_stands_above_the_verdict() {
    // The second run ends before it can have done anything.
    let runs = [(1, "8.0"), (2, "0.004"), (4, "2.5")].map(|(threads, seconds)| {
        format!(
            "-----> Execution number 1 for ./a:\n\n\
             \t--> Result for {threads} threads, application ./a, arguments: x,\n\n\
             \t\t Parallel execution time of the region 1, lines 1 to 9 on file a.c: {seconds} \
             seconds\n\t\t Total time of execution: {seconds} seconds\n"
        )
    });
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("report.txt"), runs.concat()).unwrap();
    let (out, _) = text(&["scaling", "report.txt"], folder.path());
    let warning = "warning: 1 of 3 runs took less than 10 ms: the program may have failed at its";
    let at = out.find(warning).unwrap_or_else(|| panic!("no warning in:\n{out}"));
    let verdict = out.find('•').unwrap();
    assert!(at < verdict, "{out}");
    // Files without anything doubtful say nothing.
    let fine = folder_with_table();
    assert!(!text(&["scaling", "runs.csv"], fine.path()).0.contains("warning"));
    let page = folder.path().join("page.html");
    text(&["scaling", "report.txt", "--html", page.to_str().unwrap()], folder.path());
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("<strong>Warning:</strong> 1 of 3 runs"), "{page}");
}

#[test]
fn svg_and_html_stand_alone_and_carry_exact_values() {
    let folder = folder_with_table();
    let arguments = ["scaling", "runs.csv", "--svg", "m.svg", "--html", "m.html", "--smooth"];
    text(&arguments, folder.path());
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let exact = format!("Efficiency: {} %", 100.0 * (81.0 / 42.0 / 4.0));
    for (name, start) in [("m.svg", "<svg xmlns="), ("m.html", "<!doctype html>")] {
        let page = read(name);
        assert!(page.starts_with(start), "{name}");
        assert!(page.contains(&exact), "{name} lacks {exact}");
        assert!(page.contains("prefers-color-scheme:dark"), "{name} has one colour scheme only");
        for foreign in ["<script", "<link", "src=", "url(", "@import"] {
            assert!(!page.contains(foreign), "{name} has {foreign}");
        }
        // The only address is the name of the SVG language.
        let addresses = page.matches("http").count();
        assert_eq!(addresses, page.matches("http://www.w3.org/2000/svg").count(), "{name}");
    }
    // Names from files cannot become markup.
    let hostile = "input,cores,time\n<script>alert(1)</script>,1,2\n<b>,2,1\n";
    std::fs::write(folder.path().join("h.csv"), hostile).unwrap();
    text(&["scaling", "h.csv", "--html", "h.html", "--svg", "h.svg"], folder.path());
    for name in ["h.html", "h.svg"] {
        let page = read(name);
        assert!(!page.contains("<script") && !page.contains("<b>,"), "{page}");
        assert!(page.contains("&lt;script&gt;"), "{page}");
    }
}

#[test]
fn regions_that_the_page_does_not_list_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let page = |regions: usize| {
        let mut table = "region,cores,time\n".to_owned();
        for (cores, time) in [(1, 100.0), (2, 70.0)] {
            table.push_str(&format!(",{cores},{time}\n"));
            for region in 1..=regions {
                let time = time / (2.0 * region as f64);
                table.push_str(&format!("{region},{cores},{time}\n"));
            }
        }
        std::fs::write(folder.path().join("many.csv"), table).unwrap();
        text(&["scaling", "many.csv", "--html", "many.html"], folder.path());
        std::fs::read_to_string(folder.path().join("many.html")).unwrap()
    };
    let few = page(30);
    assert!(!few.contains("less overhead") && !few.contains("regions are shown"), "{few}");
    let many = page(70);
    assert!(many.contains("<p class=\"soft\">31 more regions have less overhead.</p>"), "{many}");
    assert!(many.contains("60 of 70 regions are shown"), "{many}");
}

#[test]
fn wrong_questions_exit_with_2_and_wrong_data_with_1() {
    let folder = folder_with_table();
    std::fs::write(folder.path().join("cut.json"), "{\"config\": {\"pkg\": \"a\"}, \"da").unwrap();
    std::fs::write(folder.path().join("notes.txt"), "hello").unwrap();
    for (arguments, code, part) in [
        (&["scaling", "runs.csv", "--region", "7.7"][..], 2, "known: 0"),
        (&["scaling", "runs.csv", "--param", "cores"][..], 2, "NAME=ranks"),
        (&["scaling", "runs.csv", "--cores", "gpus"][..], 2, "input, cores"),
        (&["scaling", "runs.csv", "--baseline", "none"][..], 2, "smallest"),
        (&["scaling"][..], 2, "PATH"),
        (&["scaling", "missing.json"][..], 1, "missing.json"),
        (&["scaling", "cut.json"][..], 1, "byte"),
        (&["scaling", "notes.txt"][..], 1, "notes.txt"),
    ] {
        let output = parallax(arguments, folder.path());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.contains(part), "{arguments:?}: {stderr}");
    }
}

#[test]
fn models_predict_where_they_are_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "PARAMETER n\nPOINTS 10 20 40 80 160\nREGION solve\nMETRIC time\n".to_owned();
    for n in [10.0_f64, 20.0, 40.0, 80.0, 160.0] {
        table += &format!("DATA {}\n", 2.0 + 0.5 * n * n);
    }
    std::fs::write(folder.path().join("grow.txt"), table).unwrap();
    let answer = json(&["model", "grow.txt", "--at", "n=1000", "--json"], folder.path());
    let names: Vec<&str> =
        answer["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    let at = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let row = &answer["rows"][0];
    assert!(row[at("model")].as_str().unwrap().contains("n^(2)"), "{row}");
    let predicted = row[at("prediction")].as_f64().unwrap();
    assert!((predicted / 500_002.0 - 1.0).abs() < 1e-6, "{predicted}");
}

#[test]
fn merged_files_open_and_versions_compare() {
    let Some(data) = corpus() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = data.join("pascal/MiniCosta/escalabilidade_variavel.json");
    let file = file.to_str().unwrap();
    let (_, notes) = text(&["merge", file, file, "-o", "merged.json"], folder.path());
    assert!(notes.contains("runs of 3 inputs merged"), "{notes}");
    let once = json(&["scaling", file, "--json"], folder.path());
    let twice = json(&["scaling", "merged.json", "--json"], folder.path());
    let (once, twice) = (once["rows"].as_array().unwrap(), twice["rows"].as_array().unwrap());
    assert_eq!(once.len(), twice.len());
    for (a, b) in once.iter().zip(twice) {
        assert_eq!((&a[0], &a[1], &a[2], &a[4]), (&b[0], &b[1], &b[2], &b[4]));
        assert_eq!(2 * a[3].as_u64().unwrap(), b[3].as_u64().unwrap());
    }
    let (same, _) = text(&["compare", file, "merged.json"], folder.path());
    assert!(same.contains("no significant change"), "{same}");
    // Repetitions of each version in files of their own.
    let (same, _) = text(&["compare", file, file, "--vs", "merged.json"], folder.path());
    assert!(same.contains("no significant change"), "{same}");
    let pair = json(&["compare", file, "--vs", file, "--json"], folder.path());
    assert_eq!(pair, json(&["compare", file, file, "--json"], folder.path()));
    let versions = ["swaptions-openmp.json", "swaptions-pthreads.json"]
        .map(|name| data.join("pascal/swaptions").join(name).to_str().unwrap().to_owned());
    let answer = json(&["compare", &versions[0], &versions[1], "--json"], folder.path());
    assert_eq!(answer["rows"].as_array().unwrap().len(), 128);
}

#[test]
fn efficiencies_alone_give_maps_and_no_overhead() {
    let folder = tempfile::tempdir().unwrap();
    let written = ",1,2,4,8,\n,\n1,1,0.95,0.8,0.6,\n2,1,0.97,0.9,0.8,\n";
    std::fs::write(folder.path().join("sperf.csv"), written).unwrap();
    let answer = json(&["scaling", "sperf.csv", "--json"], folder.path());
    let at = COLUMNS.iter().position(|&name| name == "efficiency").unwrap();
    let rows = answer["rows"].as_array().unwrap();
    let efficiencies: Vec<f64> = rows.iter().map(|row| row[at].as_f64().unwrap()).collect();
    let expected = [1.0, 0.95, 0.8, 0.6, 1.0, 0.97, 0.9, 0.8];
    assert_eq!(efficiencies.len(), expected.len());
    let is_close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
    assert!(efficiencies.iter().zip(&expected).all(is_close), "{efficiencies:?}");
    let (out, notes) = text(&["scaling", "sperf.csv"], folder.path());
    assert!(out.contains("Strong scaling"), "{out}");
    assert!(!out.contains("core-seconds"), "{out}");
    assert!(notes.contains("efficiencies only"), "{notes}");
}

#[test]
fn databases_of_several_runs_get_maps_for_every_context() {
    let Some(data) = corpus() else { return };
    let folder = data.join("reactor/hpctoolkit");
    let arguments = ["scaling", "n512-p1", "n512-p2", "n512-p4", "n512-p8"];
    let (out, notes) = text(&[&arguments[..], &["--width", "150"]].concat(), &folder);
    assert!(out.contains("checkpoint") && out.contains("Parallel overhead by region"), "{out}");
    assert!(notes.contains("Cores are the number of ranks"), "{notes}");
    let chosen = [&arguments[..], &["--region", "checkpoint", "--param", "cores=ranks"]].concat();
    let answer = json(&[&chosen[..], &["--json"]].concat(), &folder);
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert!(rows[0][0].as_str().unwrap().starts_with("1.1"), "{}", rows[0]);
    assert_eq!(rows.iter().map(|row| row[2].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2, 4, 8]);
}

#[test]
fn tables_beside_the_maps_come_in_every_format_or_say_why_not() {
    let folder = folder_with_table();
    for (table, columns, rows) in [
        ("laws", &["amdahl_serial", "usl_contention", "karp_flatt_last"][..], 2),
        ("dispersion", &["repetitions", "std_dev", "outliers"][..], 6),
    ] {
        let arguments = ["scaling", "runs.csv", "--table", table];
        let answer = json(&[&arguments[..], &["--json"]].concat(), folder.path());
        let names: Vec<&str> = answer["columns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|column| column["name"].as_str().unwrap())
            .collect();
        assert!(columns.iter().all(|column| names.contains(column)), "{table}: {names:?}");
        assert_eq!(answer["rows"].as_array().unwrap().len(), rows, "{table}");
        let (csv, _) = text(&[&arguments[..], &["--format", "csv"]].concat(), folder.path());
        assert_eq!(csv.lines().count(), rows + 1, "{csv}");
        let (out, _) = text(&[&arguments[..], &["--width", "160"]].concat(), folder.path());
        assert!(out.contains("of runs.csv") && out.contains("large"), "{out}");
    }
    for (table, part) in [("energy", "no energy was measured"), ("pop", "time in MPI")] {
        let output = parallax(&["scaling", "runs.csv", "--table", table], folder.path());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{table}: {stderr}");
        assert!(stderr.contains(part), "{table}: {stderr}");
    }
    // Efficiencies need no times: these files have none.
    let pop = "Number of processes;1;2\nParallel efficiency;99.5;80\nLoad balance;100;90\n";
    std::fs::write(folder.path().join("pop.csv"), pop).unwrap();
    let answer = json(&["scaling", "pop.csv", "--table", "pop", "--json"], folder.path());
    let names = answer["columns"].as_array().unwrap();
    let at = names.iter().position(|column| column["name"] == "parallel").unwrap();
    assert_eq!(answer["rows"][1][at].as_f64(), Some(0.8), "{answer}");
}

#[test]
fn a_run_of_another_program_is_left_out_with_the_reason() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let runs = ["reactor/n256-p1", "callgrind", "reactor/n256-p2"];
    let output = parallax(&["scaling", runs[0], runs[1], runs[2]], &fixtures);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("callgrind is excluded: a run of orbit, not of reactor"), "{said}");
    let unrelated = parallax(&["scaling", runs[0], runs[1]], &fixtures);
    let said = String::from_utf8_lossy(&unrelated.stderr).into_owned();
    assert_eq!(unrelated.status.code(), Some(2), "{said}");
    assert!(said.contains("no two of these are runs of one program"), "{said}");
}
