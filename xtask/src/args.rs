//! The few words of a command line, taken one by one; what is left over is an error.

use std::str::FromStr;

use anyhow::{Context as _, Result, bail};

/// The words after the name of a command.
pub(crate) struct Args {
    usage: &'static str,
    words: Vec<String>,
}

impl Args {
    pub(crate) fn new(usage: &'static str, words: Vec<String>) -> Self {
        Self { usage, words }
    }

    /// Takes `--name`; true when it was there.
    pub(crate) fn take_flag(&mut self, name: &str) -> bool {
        let before = self.words.len();
        self.words.retain(|word| word != name);
        self.words.len() != before
    }

    /// Takes `--name VALUE` or `--name=VALUE`.
    pub(crate) fn take_value<T: FromStr>(&mut self, name: &str) -> Result<Option<T>>
    where
        T::Err: std::error::Error + Send + Sync + 'static,
    {
        let Some(at) = self.words.iter().position(|word| {
            word.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        }) else {
            return Ok(None);
        };
        let word = self.words.remove(at);
        let text = match word.split_once('=') {
            Some((_, text)) => text.to_owned(),
            None if at < self.words.len() => self.words.remove(at),
            None => bail!("{name} needs a value\nusage: cargo xtask {}", self.usage),
        };
        text.parse().map(Some).with_context(|| format!("{name}: `{text}` is not a value it takes"))
    }

    /// Everything that was not taken, for a command that hands it on to another program.
    pub(crate) fn rest(self) -> Vec<String> {
        self.words
    }

    /// The words that are not options; an unknown option is an error.
    pub(crate) fn positional(self) -> Result<Vec<String>> {
        if let Some(option) = self.words.iter().find(|word| word.starts_with('-')) {
            bail!("unknown option {option}\nusage: cargo xtask {}", self.usage);
        }
        Ok(self.words)
    }

    /// Ends the command line: nothing may be left.
    pub(crate) fn finish(self) -> Result<()> {
        let usage = self.usage;
        match self.positional()?.first() {
            Some(word) => bail!("unexpected `{word}`\nusage: cargo xtask {usage}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Args {
        Args::new("x", line.split_whitespace().map(str::to_owned).collect())
    }

    #[test]
    fn values_are_taken_in_both_spellings() {
        let mut args = args("meta --seconds 5 trace --jobs=2");
        assert_eq!(args.take_value::<u64>("--seconds").unwrap(), Some(5));
        assert_eq!(args.take_value::<u64>("--jobs").unwrap(), Some(2));
        assert_eq!(args.take_value::<u64>("--absent").unwrap(), None);
        assert_eq!(args.positional().unwrap(), ["meta", "trace"]);
    }

    #[test]
    fn wrong_words_are_named() {
        assert!(args("--seconds").take_value::<u64>("--seconds").is_err());
        assert!(args("--seconds many").take_value::<u64>("--seconds").is_err());
        assert!(args("--what").finish().unwrap_err().to_string().contains("--what"));
        assert!(args("what").finish().is_err());
    }
}
