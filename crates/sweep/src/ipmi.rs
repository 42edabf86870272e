//! Power of the machine by its management controller, which the program `ipmitool` asks.
//!
//! It is asked by the tool and not by the process that starts the program: the processor time of
//! what that starts is the program's, and it runs on the program's processors.

use std::io::{self, Read as _};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::SweepError;

/// The program that knows the protocol.
const PROGRAM: &str = "ipmitool";

/// The variable in which the password is: on a command line all users of the machine could read it.
pub(crate) const PASSWORD: &str = "IPMI_PASSWORD";

/// What stands for the controller of this machine.
pub(crate) const LOCAL: &str = "local";

/// Controllers have a new number about once a second.
pub(crate) const SHORTEST: Duration = Duration::from_secs(1);

/// The longest that an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Which controller is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Controller {
    /// The host that answers for it; `None`: it is asked by the driver of this machine.
    pub server: Option<String>,
    /// The user there; `None`: as `ipmitool` has it.
    pub user: Option<String>,
}

impl Controller {
    /// From `local`, `SERVER` or `USER@SERVER`.
    ///
    /// # Errors
    /// When a part of it is missing.
    pub fn parse(text: &str) -> Result<Self, SweepError> {
        if text == LOCAL {
            return Ok(Self { server: None, user: None });
        }
        let (user, server) = match text.rsplit_once('@') {
            Some((user, server)) => (Some(user), server),
            None => (None, text),
        };
        if server.is_empty() || user.is_some_and(str::is_empty) || text.starts_with('-') {
            return Err(SweepError::Plan(format!(
                "{text:?} is no management controller; write local, SERVER or USER@SERVER"
            )));
        }
        Ok(Self { server: Some(server.to_owned()), user: user.map(str::to_owned) })
    }

    /// As [`Controller::parse`] reads it.
    pub(crate) fn text(&self) -> String {
        match (&self.server, &self.user) {
            (None, _) => LOCAL.to_owned(),
            (Some(server), None) => server.clone(),
            (Some(server), Some(user)) => format!("{user}@{server}"),
        }
    }

    /// Whether it answers now.
    ///
    /// # Errors
    /// Says what is missing: the program, the password, the right to ask, an answer.
    pub(crate) fn check(&self) -> Result<(), SweepError> {
        if self.server.is_some() && std::env::var_os(PASSWORD).is_none() {
            return Err(SweepError::Plan(format!(
                "--ipmi {} needs a password: set the variable {PASSWORD}",
                self.text()
            )));
        }
        self.read().map(drop).map_err(|error| {
            let hint = match (error.kind(), &self.server) {
                (io::ErrorKind::NotFound, _) => "install the package ipmitool",
                (_, Some(_)) => "check the server, the user and the password",
                (_, None) => "this needs root and the kernel's module ipmi_devintf, or a server",
            };
            SweepError::Plan(format!("cannot read the power by {PROGRAM} ({error}); {hint}"))
        })
    }

    /// Watts at this moment.
    ///
    /// # Errors
    /// With what the program said.
    pub(crate) fn read(&self) -> io::Result<f64> {
        let mut command = Command::new(PROGRAM);
        if let Some(server) = &self.server {
            command.args(["-I", "lanplus", "-H", server]);
            if let Some(user) = &self.user {
                command.args(["-U", user]);
            }
            // The password is in the environment.
            command.arg("-E");
        }
        command.args(["dcmi", "power", "reading"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let deadline = Instant::now() + PATIENCE;
        // What it writes is shorter than what a pipe holds.
        while child.try_wait()?.is_none() {
            if Instant::now() > deadline {
                let _ = child.kill();
                let _ = child.wait();
                return Err(io::Error::other(format!("no answer in {} s", PATIENCE.as_secs())));
            }
            thread::sleep(Duration::from_millis(20));
        }
        let (mut out, mut said) = (String::new(), String::new());
        if let (Some(mut stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take()) {
            stdout.read_to_string(&mut out)?;
            stderr.read_to_string(&mut said)?;
        }
        watts(&out).ok_or_else(|| {
            let last = |text: &str| {
                text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
            };
            let said = last(&said).or_else(|| last(&out));
            io::Error::other(said.unwrap_or_else(|| "it said nothing".to_owned()))
        })
    }
}

/// The number of a line such as `Instantaneous power reading:   236 Watts`.
fn watts(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.trim_start().starts_with("Instantaneous power"))?;
    let (_, value) = line.split_once(':')?;
    let watts: f64 = value.split_whitespace().next()?.parse().ok()?;
    (watts.is_finite() && watts >= 0.0).then_some(watts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controllers_are_named_as_people_write_them() {
        for text in ["local", "bmc7", "admin@bmc7", "a@b@bmc7"] {
            assert_eq!(Controller::parse(text).unwrap().text(), text);
        }
        assert_eq!(Controller::parse("a@b@bmc7").unwrap().server.as_deref(), Some("bmc7"));
        for text in ["", "@bmc", "admin@", "-H"] {
            assert!(Controller::parse(text).unwrap_err().is_misuse(), "{text}");
        }
    }

    #[test]
    fn the_reading_of_this_moment_is_taken() {
        let text = "\n    Instantaneous power reading:                   236 Watts\n    \
                    Minimum during sampling period:                  4 Watts\n    \
                    Power reading state is:                   activated\n";
        assert_eq!(watts(text), Some(236.0));
        assert_eq!(watts("    Minimum during sampling period:  4 Watts"), None);
        assert_eq!(watts("Instantaneous power reading: none"), None);
    }
}
