//! Recorders that are killed: what they had recorded until a moment before becomes an archive, and
//! damage of what they left is reported.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;
#[path = "common/recorded.rs"]
mod recorded;

use std::fs;
use std::ops::Deref;
use std::path::Path;
use std::process::Output;
use std::thread;
use std::time::Duration;

use common::{answer, files_in, rows};
use recorded::{Recorded, Running, wait_for};

/// Three quarters of its time are in `long_part`, one quarter in `short_part`, for each ten or so
/// milliseconds, until there is a file `stop`.
const SHARES: &str = r#"
#include <unistd.h>
#define NOINLINE __attribute__((noinline, noclone))
volatile unsigned long sink;
static inline __attribute__((always_inline)) void work(long count) {
    unsigned long x = 88172645463325252ul;
    for (long i = 0; i < count; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; }
    sink = x;
}
NOINLINE void long_part(void) { work(3000000l); sink++; }
NOINLINE void short_part(void) { work(1000000l); sink++; sink++; }
int main(void) {
    alarm(120);
    while (access("stop", F_OK) != 0) { long_part(); short_part(); }
    return 0;
}
"#;

/// How often a recorder is killed.
const KILLS: u64 = 8;

struct Place(Recorded);

impl Deref for Place {
    type Target = Recorded;

    fn deref(&self) -> &Recorded {
        &self.0
    }
}

impl Place {
    fn new() -> Option<Self> {
        Recorded::new(SHARES).map(Self)
    }

    fn said(&self, arguments: &[&str]) -> (Option<i32>, String) {
        said(&self.tool(arguments).output().unwrap())
    }

    /// Records `run.parallax`, and kills the recorder so long after it has made `snapshots` snapshots.
    fn killed(&self, snapshots: usize, after: Duration) {
        let _ = fs::remove_file(self.path("stop"));
        let known = self.hidden();
        let arguments = ["record", "-o", "run.parallax", "--", "./app"];
        let mut recorder = Running::new(&mut self.tool(&arguments));
        let mut last = None;
        for _ in 0..snapshots {
            last = Some(wait_for(|| {
                let folder = self.hidden().into_iter().find(|folder| !known.contains(folder))?;
                let at = fs::metadata(folder.join("snapshot")).ok()?.modified().unwrap();
                (Some(at) != last).then_some(at)
            }));
        }
        thread::sleep(after);
        recorder.child().kill().unwrap();
        recorder.child().wait().unwrap();
        self.say("stop");
    }
}

/// Exit status and standard error.
fn said(output: &Output) -> (Option<i32>, String) {
    let text = String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Processor time of a function, in seconds.
fn time_of(archive: &Path, name: &str) -> f64 {
    let rows = rows(&["flat", archive.to_str().unwrap(), "--all", "--metric", "cputime"]);
    let own = rows.iter().filter(|row| row["name"] == name);
    own.map(|row| row["inclusive"].as_f64().unwrap()).sum()
}

/// The seconds in `the first 1.2 s`.
fn first_seconds(text: &str) -> f64 {
    let (_, rest) = text.split_once("of its first ").unwrap();
    rest.split(' ').next().unwrap().parse().unwrap()
}

/// Recovers `run.parallax`, checks it, and takes it away. The processor time of the program in it.
fn recovered(place: &Place) -> f64 {
    let archive = place.path("run.parallax");
    assert!(!archive.exists());
    let (status, text) = place.said(&["record", "--recover", "run.parallax"]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("run.parallax has what its recorder had written"), "{text}");
    let reached = first_seconds(&text);
    let [long, short] = ["long_part", "short_part"].map(|name| time_of(&archive, name));
    assert!(long + short <= reached + 0.1, "{long} s and {short} s, {text}");
    // A second has a thousand samples of perf_event, and 250 by ptrace.
    let (share, time) = (long / (long + short), long + short);
    assert!(time < 0.4 || (share - 0.75).abs() < 0.15, "{long} s and {short} s, {text}");
    let info = answer(&["info", archive.to_str().unwrap()]);
    assert!(info["issue_list"].to_string().contains("recording-not-complete"), "{info}");
    assert!(place.hidden().is_empty(), "{:?}", place.hidden());
    fs::remove_dir_all(archive).unwrap();
    time
}

#[test]
fn what_was_recorded_until_a_moment_before_the_kill_is_an_archive_with_the_planted_shares() {
    let Some(place) = Place::new() else { return };
    let mut most = 0_f64;
    for kill in 0..KILLS {
        let snapshots = usize::try_from(kill % 3).unwrap() + 1;
        place.killed(snapshots, Duration::from_millis(kill * 137 % 700));
        most = most.max(recovered(&place));
    }
    // Where every processor is busy, names may be missing for ten seconds; then they are looked up.
    let mut snapshots = 4;
    while most < 0.4 {
        assert!(snapshots < 30, "nothing is kept");
        place.killed(snapshots, Duration::ZERO);
        most = most.max(recovered(&place));
        snapshots += 8;
    }
}

#[test]
fn what_can_be_recovered_stays_until_it_is_and_everybody_says_how() {
    let Some(place) = Place::new() else { return };
    let (status, text) = place.said(&["record", "--recover", "run.parallax"]);
    assert_eq!(status, Some(1));
    assert!(text.contains("no recording run.parallax was begun"), "{text}");
    // Before there is a snapshot, there is nothing.
    place.killed(0, Duration::from_millis(50));
    let (status, text) = place.said(&["record", "--recover", "run.parallax"]);
    assert_eq!(status, Some(1));
    let reasons = ["before it had written anything", "no recording run.parallax was begun"];
    assert!(reasons.iter().any(|reason| text.contains(reason)), "{text}");
    place.killed(1, Duration::ZERO);
    assert_eq!(place.hidden().len(), 1, "the other one is removed");
    let hidden = place.hidden().remove(0);
    let hidden = hidden.file_name().unwrap().to_str().unwrap();
    for path in ["run.parallax", hidden] {
        for command in ["info", "flat"] {
            let (status, text) = place.said(&[command, path]);
            assert_eq!(status, Some(1));
            let advice = format!("`parallax record --recover {path}`");
            assert!(text.contains("its recorder ended early") && text.contains(&advice), "{text}");
        }
    }
    // Others write next to it, and one even the same name.
    let (status, text) = place.said(&["record", "-o", "run.parallax", "--", "true"]);
    assert_eq!(status, Some(0), "{text}");
    let command = format!("parallax record --recover {hidden} -o OTHER.parallax");
    assert!(text.contains("an earlier recorder of run.parallax ended early"), "{text}");
    assert!(text.contains(&command), "{text}");
    let (status, text) = place.said(&["record", "--recover", hidden]);
    assert_eq!(status, Some(1));
    assert!(text.contains("exists already") && text.contains("--output"), "{text}");
    let (status, text) = place.said(&["record", "--recover", hidden, "-o", "other.parallax"]);
    assert_eq!(status, Some(0), "{text}");
    assert!(place.path("other.parallax").exists() && place.hidden().is_empty());
    let (status, text) = place.said(&["record", "--recover", "run.parallax"]);
    assert_eq!(status, Some(1));
    assert!(text.contains("run.parallax is complete"), "{text}");
}

#[test]
fn a_recording_that_goes_on_is_not_recovered() {
    let Some(place) = Place::new() else { return };
    let arguments = ["record", "-o", "run.parallax", "--", "./app"];
    let recorder = place.tool(&arguments).spawn().unwrap();
    wait_for(|| place.hidden().pop()?.join("snapshot").exists().then_some(()));
    let (status, text) = place.said(&["record", "--recover", "run.parallax"]);
    place.say("stop");
    assert_eq!(status, Some(1));
    assert!(text.contains("is being recorded") && text.contains("open --live"), "{text}");
    let output = recorder.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(time_of(&place.path("run.parallax"), "long_part") > 0.0);
    assert!(place.hidden().is_empty());
}

#[test]
fn a_sweep_that_records_a_run_again_removes_what_was_left_of_it() {
    let Some(place) = Place::new() else { return };
    place.killed(1, Duration::ZERO);
    let hidden = place.hidden().remove(0);
    fs::create_dir(place.path("runs")).unwrap();
    let rest = hidden.file_name().unwrap().to_str().unwrap().replace(".run.", ".cores1-run1.");
    fs::rename(&hidden, place.path("runs").join(&rest)).unwrap();
    // That of another run stays.
    let other = rest.replace("run1", "run2");
    fs::create_dir_all(place.path("runs").join(&other).join("content")).unwrap();
    fs::write(place.path("runs").join(&other).join("lock"), "").unwrap();
    fs::write(place.path("runs").join(&other).join("snapshot"), "").unwrap();
    let sweep = ["measure", "-c", "1", "--record", "runs", "-o", "sweep.json", "--", "./app"];
    let (status, text) = place.said(&sweep);
    assert_eq!(status, Some(0), "{text}");
    let entries = fs::read_dir(place.path("runs")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, [other.as_str(), "cores1-run1.parallax"]);
}

#[test]
fn what_was_left_and_is_damaged_is_recovered_or_reported() {
    let Some(place) = Place::new() else { return };
    place.killed(2, Duration::ZERO);
    let hidden = place.hidden().remove(0);
    let whole = files_in(&hidden);
    // The recorder may have been killed before a table had any rows.
    let content = whole.iter().filter(|(path, _)| path.parent().unwrap().ends_with("content"));
    let longest = content.max_by_key(|(_, bytes)| bytes.len()).unwrap().0.clone();
    let (mut recovered, mut refused) = (0, 0);
    for path in [hidden.join("snapshot"), longest] {
        let bytes = fs::read(&path).unwrap();
        // One length in each of so many parts, and some bytes that are others.
        let steps = (0..=24).map(|step| bytes.len() * step / 24);
        let cut = steps.clone().map(|len| bytes.get(..len).unwrap().to_vec());
        let changed = steps.map(|at| {
            let mut changed = bytes.clone();
            if let Some(byte) = changed.get_mut(at) {
                *byte ^= 0x55;
            }
            changed
        });
        for (at, damaged) in cut.chain(changed).enumerate() {
            fs::write(&path, damaged).unwrap();
            let (status, text) = place.said(&["record", "--recover", "run.parallax"]);
            assert!(matches!(status, Some(0 | 1)), "{at}: {text}");
            let archive = place.path("run.parallax");
            assert_eq!(archive.exists(), status == Some(0), "{at}: {text}");
            if status == Some(1) {
                refused += 1;
                assert!(text.contains("run.parallax left is damaged"), "{text}");
                assert!(hidden.exists());
            } else {
                recovered += 1;
                // An answer, or an error.
                let (status, text) = place.said(&["flat", "run.parallax"]);
                assert!(matches!(status, Some(0 | 1)), "{at}: {text}");
                fs::remove_dir_all(&archive).unwrap();
            }
            // As it was.
            let _ = fs::remove_dir_all(&hidden);
            for (file, bytes) in &whole {
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, bytes).unwrap();
            }
        }
    }
    assert!(recovered > 2 && refused > 20, "{recovered} and {refused}");
}
