//! A program in a folder of its own, which is recorded while a test looks on.

#![allow(dead_code, reason = "each test uses some of this")]

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use parallax_testkit::needs::{self, Without};

use crate::common::{compile, takes_samples};

/// Longest time that something may take that comes.
pub(crate) const LONGEST: Duration = Duration::from_secs(60);

/// A folder with the program, `app`.
pub(crate) struct Recorded(tempfile::TempDir);

impl Recorded {
    /// `None` where there is no compiler, or where the kernel does not let anybody take samples.
    pub(crate) fn new(source: &str) -> Option<Self> {
        if !needs::program("cc", Without::Test) {
            return None;
        }
        let place = Self(tempfile::tempdir().unwrap());
        fs::write(place.path("app.c"), source).unwrap();
        let flags = ["-O1", "-g", "-fno-omit-frame-pointer", "-o"];
        let mut compiler = Command::new("cc");
        compile(compiler.args(flags).arg(place.path("app")).arg(place.path("app.c")));
        let tried = place.tool(&["record", "-o", "tried.parallax", "--", "true"]).output().unwrap();
        takes_samples(&tried).then_some(place)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Makes an empty file, for which the program waits.
    pub(crate) fn say(&self, what: &str) {
        fs::write(self.path(what), "").unwrap();
    }

    pub(crate) fn tool(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        command.args(arguments).current_dir(self.0.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// What lies next to archives and is hidden.
    pub(crate) fn hidden(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|end| end == "partial")).collect()
    }
}

/// A process that ends with the test.
pub(crate) struct Running(Option<Child>);

impl Running {
    pub(crate) fn new(command: &mut Command) -> Self {
        Self(Some(command.spawn().unwrap()))
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }

    pub(crate) fn ended(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

pub(crate) fn wait_for<T>(mut found: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(begun.elapsed() < LONGEST, "it does not come");
        thread::sleep(Duration::from_millis(20));
    }
}
