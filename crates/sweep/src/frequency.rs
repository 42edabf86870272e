//! Clock frequencies of the processors during a run, by the files of the kernel (cpufreq).
//!
//! `cpuN/cpufreq` has the limits of a processor (`cpuinfo_min_freq`, `cpuinfo_max_freq`, in kHz), its
//! governor, and with the governor `userspace` the frequency (`scaling_setspeed`). Drivers without
//! that governor are held between equal limits (`scaling_min_freq`, `scaling_max_freq`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::SweepError;

/// What a frequency is set by.
const USERSPACE: &str = "userspace";

/// What is wanted during a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The folder with the processors.
    pub(crate) system: PathBuf,
    /// In kHz; `None`: what the governor chooses.
    pub(crate) kilohertz: Option<u64>,
    /// `None`: `userspace` or the present one.
    pub(crate) governor: Option<String>,
}

/// The processors' settings while they are other than they were; dropping it puts them back.
#[derive(Debug)]
pub(crate) struct Held {
    /// Files and what they had, in the order in which they were written.
    before: Vec<(PathBuf, String)>,
}

impl Wanted {
    /// Whether this can be had here. Writes to each file what it has, to see whether it may.
    ///
    /// # Errors
    /// Says what is missing: the files, the right to write them, the governor, the frequency.
    pub(crate) fn check(&self) -> Result<(), SweepError> {
        for folder in self.folders()? {
            for (file, _) in self.settings(&folder)? {
                let now = read(&file)?;
                // A frequency that nobody has set is no number, and cannot be written.
                if !now.starts_with('<') {
                    write(&file, &now)?;
                }
            }
        }
        Ok(())
    }

    /// Sets all processors.
    ///
    /// # Errors
    /// As [`Wanted::check`]; what was set until then is put back.
    pub(crate) fn hold(&self) -> Result<Held, SweepError> {
        let mut held = Held { before: Vec::new() };
        for folder in self.folders()? {
            for (file, text) in self.settings(&folder)? {
                let now = read(&file)?;
                write(&file, &text)?;
                held.before.push((file, now));
            }
        }
        Ok(held)
    }

    /// The folders of all processors.
    fn folders(&self) -> Result<Vec<PathBuf>, SweepError> {
        let entries = fs::read_dir(&self.system).into_iter().flatten().filter_map(Result::ok);
        let is_processor = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.strip_prefix("cpu").is_some_and(|number| number.parse::<u32>().is_ok())
        };
        let folders = entries.map(|entry| entry.path()).filter(is_processor);
        let mut folders: Vec<PathBuf> =
            folders.map(|path| path.join("cpufreq")).filter(|path| path.is_dir()).collect();
        folders.sort();
        if folders.is_empty() {
            return Err(SweepError::Plan(format!(
                "frequencies of this machine cannot be chosen (no processor in {} has cpufreq); \
                 measure without --frequencies and --governor, or on the machine itself instead of \
                 a virtual one",
                self.system.display()
            )));
        }
        Ok(folders)
    }

    /// The files of a processor that are written, with what.
    fn settings(&self, folder: &Path) -> Result<Vec<(PathBuf, String)>, SweepError> {
        let governors = fs::read_to_string(folder.join("scaling_available_governors"));
        let governors = governors.unwrap_or_default();
        let has = |name: &str| governors.split_whitespace().any(|known| known == name);
        let governor = match (&self.governor, self.kilohertz) {
            (Some(name), _) if !has(name) => {
                return Err(SweepError::Plan(format!(
                    "there is no governor {name}: {} has {}",
                    folder.display(),
                    governors.trim()
                )));
            }
            (Some(name), _) => Some(name.clone()),
            (None, Some(_)) if has(USERSPACE) => Some(USERSPACE.to_owned()),
            (None, _) => None,
        };
        let mut out = Vec::new();
        let is_userspace = governor.as_deref() == Some(USERSPACE);
        out.extend(governor.map(|name| (folder.join("scaling_governor"), name)));
        let Some(wanted) = self.kilohertz else { return Ok(out) };
        let limit = |name: &str| {
            let file = folder.join(name);
            let text = read(&file)?;
            text.parse::<u64>().map_err(|_| {
                SweepError::Plan(format!("{} is no frequency: {text}", file.display()))
            })
        };
        let (low, high) = (limit("cpuinfo_min_freq")?, limit("cpuinfo_max_freq")?);
        let steps = fs::read_to_string(folder.join("scaling_available_frequencies"));
        let steps = steps.unwrap_or_default();
        let is_step = |step: &str| step.parse() == Ok(wanted);
        if !(low..=high).contains(&wanted)
            || !(steps.trim().is_empty() || steps.split_whitespace().any(is_step))
        {
            let known = match steps.trim() {
                "" => format!("{low} to {high}"),
                steps => steps.to_owned(),
            };
            return Err(SweepError::Plan(format!(
                "{} cannot run at {wanted} kHz; it can at {known}",
                folder.display()
            )));
        }
        let text = wanted.to_string();
        if is_userspace {
            out.push((folder.join("scaling_setspeed"), text));
            return Ok(out);
        }
        // The limits may not cross while they are written.
        let mut limits = ["scaling_min_freq", "scaling_max_freq"];
        if wanted > limit("scaling_max_freq")? {
            limits.reverse();
        }
        out.extend(limits.map(|name| (folder.join(name), text.clone())));
        Ok(out)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // The other way round, so that limits do not cross.
        for (file, text) in self.before.iter().rev() {
            let _ = fs::write(file, text);
        }
    }
}

fn read(file: &Path) -> Result<String, SweepError> {
    let text = fs::read_to_string(file);
    let text = text.map_err(|error| denied(file, &error))?;
    Ok(text.trim().to_owned())
}

fn write(file: &Path, text: &str) -> Result<(), SweepError> {
    fs::write(file, text).map_err(|error| denied(file, &error))
}

fn denied(file: &Path, error: &io::Error) -> SweepError {
    SweepError::Plan(format!(
        "cannot set {} ({error}): frequencies and governors need root, and a driver that allows it",
        file.display()
    ))
}

/// Frequencies in kHz from a list such as `1200000,2300000`; ascending, each once.
///
/// # Errors
/// Says which part is no frequency.
pub fn frequencies(text: &str) -> Result<Vec<u64>, SweepError> {
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim) {
        // What is less is in another unit: no processor runs at 100 MHz or less.
        let kilohertz =
            part.parse().ok().filter(|kilohertz: &u64| (100_000..1 << 32).contains(kilohertz));
        all.push(kilohertz.ok_or_else(|| {
            SweepError::Plan(format!(
                "{part:?} is no frequency; write them in kHz, such as 1200000,2300000"
            ))
        })?);
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two processors as the kernel shows them.
    fn planted(governors: &str) -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        for cpu in 0..2 {
            let folder = place.path().join(format!("cpu{cpu}/cpufreq"));
            fs::create_dir_all(&folder).unwrap();
            for (name, text) in [
                ("scaling_available_governors", governors),
                ("scaling_governor", "powersave"),
                ("scaling_setspeed", "<unsupported>"),
                ("cpuinfo_min_freq", "1000000"),
                ("cpuinfo_max_freq", "3000000"),
                ("scaling_min_freq", "1000000"),
                ("scaling_max_freq", "3000000"),
            ] {
                fs::write(folder.join(name), format!("{text}\n")).unwrap();
            }
        }
        // What the kernel has there besides.
        fs::create_dir_all(place.path().join("cpufreq")).unwrap();
        place
    }

    fn wanted(place: &Path, kilohertz: Option<u64>, governor: Option<&str>) -> Wanted {
        let governor = governor.map(str::to_owned);
        Wanted { system: place.to_owned(), kilohertz, governor }
    }

    fn of(place: &Path, name: &str) -> [String; 2] {
        [0, 1].map(|cpu| read(&place.join(format!("cpu{cpu}/cpufreq/{name}"))).unwrap())
    }

    #[test]
    fn a_frequency_is_held_by_its_governor_and_given_back() {
        let place = planted("powersave userspace performance");
        let wanted = wanted(place.path(), Some(2_000_000), None);
        wanted.check().unwrap();
        assert_eq!(of(place.path(), "scaling_governor"), ["powersave"; 2]);
        let held = wanted.hold().unwrap();
        assert_eq!(of(place.path(), "scaling_governor"), ["userspace"; 2]);
        assert_eq!(of(place.path(), "scaling_setspeed"), ["2000000"; 2]);
        drop(held);
        assert_eq!(of(place.path(), "scaling_governor"), ["powersave"; 2]);
        assert_eq!(of(place.path(), "scaling_max_freq"), ["3000000"; 2]);
    }

    #[test]
    fn without_that_governor_the_limits_become_equal() {
        let place = planted("powersave performance");
        let held = wanted(place.path(), Some(1_500_000), Some("performance")).hold().unwrap();
        assert_eq!(of(place.path(), "scaling_governor"), ["performance"; 2]);
        assert_eq!(of(place.path(), "scaling_min_freq"), ["1500000"; 2]);
        assert_eq!(of(place.path(), "scaling_max_freq"), ["1500000"; 2]);
        drop(held);
        assert_eq!(of(place.path(), "scaling_governor"), ["powersave"; 2]);
        assert_eq!(of(place.path(), "scaling_min_freq"), ["1000000"; 2]);
        assert_eq!(of(place.path(), "scaling_max_freq"), ["3000000"; 2]);
    }

    #[test]
    fn what_cannot_be_had_is_said_before_anything_is_set() {
        let place = planted("powersave performance");
        let said = |wanted: Wanted| wanted.check().unwrap_err().to_string();
        let faster = said(wanted(place.path(), Some(4_000_000), None));
        assert!(
            faster.contains("4000000 kHz") && faster.contains("1000000 to 3000000"),
            "{faster}"
        );
        let other = said(wanted(place.path(), None, Some("ondemand")));
        assert!(other.contains("ondemand") && other.contains("powersave performance"), "{other}");
        for cpu in 0..2 {
            let steps =
                place.path().join(format!("cpu{cpu}/cpufreq/scaling_available_frequencies"));
            fs::write(steps, "1000000 2000000 3000000\n").unwrap();
        }
        let between = said(wanted(place.path(), Some(1_500_000), None));
        assert!(between.contains("1000000 2000000 3000000"), "{between}");
        assert_eq!(of(place.path(), "scaling_min_freq"), ["1000000"; 2]);
        let empty = tempfile::tempdir().unwrap();
        let absent = said(wanted(empty.path(), Some(2_000_000), None));
        assert!(absent.contains("cpufreq") && absent.contains("virtual"), "{absent}");
        // A file that cannot be written, whoever asks.
        let file = place.path().join("cpu1/cpufreq/scaling_governor");
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        let denied = said(wanted(place.path(), None, Some("performance")));
        assert!(denied.contains("scaling_governor") && denied.contains("root"), "{denied}");
    }

    #[test]
    fn frequencies_are_in_kilohertz() {
        assert_eq!(frequencies("2300000, 1200000,2300000").unwrap(), [1_200_000, 2_300_000]);
        for text in ["", "2.3", "2300", "fast", "1200000,"] {
            let error = frequencies(text).unwrap_err();
            assert!(error.is_misuse() && error.to_string().contains("kHz"), "{text}: {error}");
        }
    }
}
