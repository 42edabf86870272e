//! `trace --by` and `devices`: groups of samples are those of the samples, on every device.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn parallax(arguments: &[&str]) -> Output {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reactor");
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    command.args(arguments).current_dir(place).env_remove("PARALLAX_DEVICE").output().unwrap()
}

/// The rows of a table, each with its values by the names of the columns.
fn rows(arguments: &[&str]) -> Vec<BTreeMap<String, Value>> {
    let output = parallax(&[arguments, &["--format", "jsonl"]].concat());
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(row: &BTreeMap<String, Value>, name: &str) -> u64 {
    row[name].as_u64().unwrap()
}

/// Number, sum, minimum and maximum by location and context.
type Groups = BTreeMap<(u64, u64), (u64, u64, u64, u64)>;

fn of_samples(shortest: u64) -> Groups {
    let mut groups = Groups::new();
    for row in rows(&["trace", "n1024-p8", "--raw"]) {
        let duration = number(&row, "end_ns") - number(&row, "start_ns");
        if duration >= shortest {
            let key = (number(&row, "profile_id"), number(&row, "context_id"));
            let group = groups.entry(key).or_insert((0, 0, u64::MAX, 0));
            *group =
                (group.0 + 1, group.1 + duration, group.2.min(duration), group.3.max(duration));
        }
    }
    groups
}

fn of_groups(arguments: &[&str]) -> Groups {
    let table = rows(&[&["trace", "n1024-p8", "--by", "both"], arguments].concat());
    assert!(table.is_sorted_by_key(|row| std::cmp::Reverse(number(row, "total_ns"))));
    let of = |row: &BTreeMap<String, Value>| {
        let key = (number(row, "profile_id"), number(row, "context_id"));
        let [samples, total, min, max] =
            ["samples", "total_ns", "min_ns", "max_ns"].map(|name| number(row, name));
        assert!((row["mean_ns"].as_f64().unwrap() - total as f64 / samples as f64).abs() < 1e-6);
        (key, (samples, total, min, max))
    };
    table.iter().map(of).collect()
}

#[test]
fn groups_of_samples_are_those_of_the_samples() {
    let all = of_samples(0);
    assert_eq!(all.values().map(|of| of.0).sum::<u64>(), 28_539);
    assert_eq!(of_groups(&["--device", "cpu"]), all);
    assert_eq!(of_groups(&[]), all);
    let long = of_samples(20_000_000);
    assert!(!long.is_empty() && long.len() < all.len());
    assert_eq!(of_groups(&["--min-duration", "20ms"]), long);
    let by_context = rows(&["trace", "n1024-p8", "--by", "context"]);
    let total: u64 = by_context.iter().map(|row| number(row, "total_ns")).sum();
    assert_eq!(total, all.values().map(|of| of.1).sum::<u64>());
    assert!(!by_context[0].contains_key("profile_id"));
    assert_eq!(rows(&["trace", "n1024-p8", "--by", "location"]).len(), 24);
}

#[test]
fn samples_are_cut_at_the_window() {
    let of = |window: &str| {
        let rows = rows(&["trace", "n1024-p8", "--by", "context", "--window", window]);
        rows.iter().map(|row| number(row, "total_ns")).sum::<u64>()
    };
    let (first, second) = (of("0%..40%"), of("40%..100%"));
    assert!(first > 0 && second > 0);
    // Both ends belong to a window: a nanosecond of each of the 24 locations is in both.
    assert_eq!(first + second, of("0%..100%") + 24);
}

#[cfg(feature = "gpu")]
#[test]
fn a_gpu_gives_the_same_groups() {
    use parallax_testkit::needs::{Without, skip};
    if parallax_gpu::devices().is_empty() {
        return skip(Without::Test, "no driver for Vulkan");
    }
    assert_eq!(of_groups(&["--device", "gpu"]), of_samples(0));
    let output = parallax(&["trace", "n1024-p8", "--by", "both", "--device", "gpu", "--stats"]);
    let said = String::from_utf8(output.stderr).unwrap();
    let name = &parallax_gpu::devices()[0].name;
    assert!(said.contains("28,539 samples grouped on") && said.contains(name.as_str()), "{said}");
}

#[test]
fn devices_are_listed_and_wrong_ones_are_errors() {
    let listed = rows(&["devices"]);
    assert_eq!((&listed[0]["device"], &listed[0]["kind"]), (&"cpu".into(), &"processor".into()));
    let error = |device: &str| {
        let output = parallax(&["trace", "n1024-p8", "--by", "context", "--device", device]);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = error("gpu:99");
    assert!(code == Some(1) && said.contains("gpu:99"), "{said}");
    let (code, said) = error("tpu");
    assert!(code == Some(2) && said.contains("auto, cpu, gpu or gpu:N"), "{said}");
    let output = parallax(&["trace", "n1024-p8", "--by", "context", "--stats"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("28,539 samples grouped on cpu"), "{said}");
}

#[test]
fn a_device_is_accepted_before_and_after_a_command() {
    let groups = ["trace", "n1024-p8", "--by", "location"];
    let all = rows(&groups);
    assert_eq!(rows(&[&["--device", "cpu"], &groups[..]].concat()), all);
    let orders: [&[&str]; 3] = [
        &["--device", "gpu:99", "trace", "n1024-p8", "--by", "location"],
        &["trace", "--device", "gpu:99", "n1024-p8", "--by", "location"],
        &["sql", "n1024-p8", "SELECT 1", "--device", "gpu:99"],
    ];
    for arguments in &orders[..if cfg!(feature = "sql") { 3 } else { 2 }] {
        let output = parallax(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && said.contains("cannot use gpu:99"), "{said}");
    }
}

#[test]
fn a_command_without_work_for_a_device_says_so() {
    let said_by = |arguments: &[&str]| {
        let output = parallax(arguments);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    // A device that is not there is an error of every command, and no device is used otherwise.
    let (code, said) = said_by(&["info", "n1024-p8", "--device", "gpu:99"]);
    assert!(code == Some(1) && said.contains("cannot use gpu:99"), "{said}");
    for device in ["auto", "cpu"] {
        let (code, said) = said_by(&["info", "n1024-p8", "--device", device]);
        assert!(code == Some(0) && !said.contains("computes on"), "{said}");
    }
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reactor");
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    command.args(["info", "n1024-p8"]).current_dir(place).env("PARALLAX_DEVICE", "gpu:99");
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && !said.contains("gpu:99"), "{said}");
}

#[cfg(feature = "gpu")]
#[test]
fn a_gpu_without_work_gets_one_note() {
    use parallax_testkit::needs::{Without, skip};
    if parallax_gpu::devices().is_empty() {
        return skip(Without::Test, "no driver for Vulkan");
    }
    for arguments in
        [&["--device", "gpu:0", "info", "n1024-p8"][..], &["trace", "n1024-p8", "--device", "gpu"]]
    {
        let output = parallax(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        assert_eq!(said.matches("it has no work for gpu:0").count(), 1, "{said}");
    }
}

#[test]
fn devices_are_listed_without_remarks_of_drivers_where_there_is_no_desktop() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    for name in ["XDG_RUNTIME_DIR", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "DISPLAY"] {
        command.env_remove(name);
    }
    let output = command.arg("devices").output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    // The same are found where a desktop is named that does not answer.
    let unanswered = command.env("XDG_RUNTIME_DIR", "/nonexistent").output().unwrap();
    assert_eq!(output.stdout, unanswered.stdout);
}
