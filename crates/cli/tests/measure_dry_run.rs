//! What `measure --dry-run` shows is what runs are given: all variables, and the libraries that are
//! loaded first.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};

use parallax_testkit::needs::{self, Without};

/// Writes its variables down.
const APP: &str = "#!/bin/sh\nenv >> log\n";

fn measure(place: &tempfile::TempDir, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    command.current_dir(place.path()).arg("measure").args(options);
    command.args(["-c", "2", "-o", "sweep.json", "--", "./app"]).output().unwrap()
}

/// Standard output and error of what must not fail.
fn measured(place: &tempfile::TempDir, options: &[&str]) -> (String, String) {
    let output = measure(place, options);
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(output.status.success(), "{options:?}: {err}");
    (out, err)
}

fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let app = place.path().join("app");
    fs::write(&app, APP).unwrap();
    fs::set_permissions(&app, fs::Permissions::from_mode(0o755)).unwrap();
    place
}

/// Names of variables that neither this process nor the shell has by itself, nor the library for parallel
/// regions sets in the process that has loaded it.
fn names<'t>(words: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let names = words.filter_map(|word| word.split_once('=').map(|(name, _)| name));
    let is_new = |name: &&str| {
        !["PWD", "OLDPWD", "SHLVL", "_", "PARALLAX_REGIONS_SINK"].contains(name)
            && std::env::var_os(name).is_none()
    };
    let mut names: Vec<&str> = names.filter(is_new).collect();
    names.sort_unstable();
    names
}

#[test]
fn a_dry_run_shows_every_variable_that_a_run_has() {
    let mut cases = vec![
        (&["--env", "EXTRA=1"][..], "EXTRA=1"),
        (&["--estimate-from", "9", "--iterations", "90"], "PARALLAX_REGIONS_LIVE=1"),
    ];
    if needs::program("cc", Without::Part) {
        let options = &["--auto-regions", "--env", "LD_PRELOAD=libm.so.6"];
        cases.push((options, "LD_PRELOAD='libm.so.6:{temporary}/parallax_omp.so'"));
    }
    for (options, part) in cases {
        let place = place();
        let (dry, err) = measured(&place, &[options, &["--dry-run"]].concat());
        assert!(err.contains("nothing was executed; {temporary} stands for"), "{err}");
        assert!(dry.contains(part), "{dry}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing is made");
        measured(&place, options);
        let log = fs::read_to_string(place.path().join("log")).unwrap();
        // No value has a blank or a line break in it.
        let shown = dry.split(' ').take_while(|word| *word != "./app");
        assert_eq!(names(shown), names(log.lines()), "{dry}");
    }
}

#[test]
fn a_dry_run_shows_the_library_that_records_calls_of_mpi() {
    let place = place();
    let (dry, _) = measured(&place, &["--record", "runs", "--record-mpi", "--dry-run"]);
    assert!(dry.contains("--mpi --mpi-library '{temporary}/parallax_mpi.so'"), "{dry}");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing is made");
}

#[test]
fn a_dry_run_of_jobs_shows_where_the_nodes_write() {
    let place = place();
    let (dry, err) = measured(&place, &["--slurm", "--dry-run"]);
    let folder = place.path().canonicalize().unwrap().join("sweep.json.slurm/cores2-run1.regions");
    assert!(dry.contains(&format!("PARALLAX_REGIONS={}", folder.display())), "{dry}");
    assert!(!err.contains("{temporary}"), "{err}");
}
