//! Files that are there whole, and programs that are there at all.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use parallax_native::Unfinished;

use crate::SweepError;

/// Writes a file so that it is there in full or as it was before, whatever happens, and is on its disk
/// before the next program is measured.
pub(crate) fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let unfinished = Unfinished::new(path)?;
    let mut file = File::create(unfinished.content())?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    drop(file);
    unfinished.publish(path)
}

/// Writes the file of a sweep. When that fails, its runs are put elsewhere, so that none is lost.
pub(crate) fn save(path: &Path, text: &str, has_runs: bool) -> Result<(), SweepError> {
    write_whole(path, text).map_err(|cause| {
        let kept = if has_runs { save_elsewhere(path, text).ok() } else { None };
        SweepError::Write { path: path.to_owned(), kept, cause }
    })
}

fn save_elsewhere(path: &Path, text: &str) -> io::Result<PathBuf> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut file =
        tempfile::Builder::new().prefix(&format!("{stem}-")).suffix(".json").tempfile()?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    Ok(file.keep()?.1)
}

/// Whether a program can be executed that is named as on a command line.
pub(crate) fn check_program(program: &str) -> Result<(), SweepError> {
    let wrong = |why: String| SweepError::Program { program: program.to_owned(), why };
    if program.contains('/') {
        return match executable(Path::new(program)) {
            Ok(true) => Ok(()),
            Ok(false) => Err(wrong("it is no executable file".to_owned())),
            Err(error) => Err(wrong(error.to_string())),
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path)
        .any(|folder| executable(&folder.join(program)).unwrap_or(false));
    if is_there {
        return Ok(());
    }
    let here = if executable(Path::new(program)).unwrap_or(false) {
        format!("; the one in this folder is ./{program}")
    } else {
        String::new()
    };
    Err(wrong(format!("no folder of PATH has it{here}")))
}

fn executable(path: &Path) -> io::Result<bool> {
    let metadata = std::fs::metadata(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        Ok(metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    Ok(metadata.is_file())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn programs_that_cannot_be_run_are_named_with_the_reason() {
        check_program("sh").unwrap();
        check_program("/bin/sh").unwrap();
        let place = tempfile::tempdir().unwrap();
        let plain = place.path().join("plain");
        std::fs::write(&plain, "text").unwrap();
        let plain = plain.to_str().unwrap().to_owned();
        let absent = format!("{plain}-absent");
        for (program, expected) in [
            (plain.as_str(), "no executable file"),
            (place.path().to_str().unwrap(), "no executable file"),
            (absent.as_str(), "No such file"),
            ("no-such-program-here", "no folder of PATH has it"),
        ] {
            let error = check_program(program).unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains(program), "{error}");
        }
    }
}
