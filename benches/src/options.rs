//! The command line.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::data::HUGE_RANKS;

const USAGE: &str = "\
usage: cargo xtask bench [options]

  --ranks N[,N...]  sizes of the generated databases (100,1000,10000)
  --huge            100000 ranks x 97833 contexts too: about 11 GB of disk, made once
  --repeats N       warm runs of each measurement (15)
  --only TEXT       only measurements whose name contains TEXT; may be given more than once
  --no-peers        Parallax alone
  --against COMMIT  this build and the one of another commit, in turn; no peers
  --markdown        print tables for docs/performance.md

       cargo xtask bench traces [questions|otf2|json]   archives of traces, and their readers
       cargo xtask bench pascal [MEGABYTES]             PaScal files
       cargo xtask bench calls [MEGABYTES...]           databases of Parceive
       cargo xtask bench regions                        marks of regions for `parallax measure`
       cargo xtask bench record                         recording, beside perf and samply
       cargo xtask bench web                            the page, in a browser

Databases are kept in target/bench-data.";

/// How tables are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Markdown,
}

/// What the command line asks for.
pub(crate) struct Options {
    pub(crate) ranks: Vec<u32>,
    pub(crate) repeats: u32,
    pub(crate) with_peers: bool,
    pub(crate) format: Format,
    /// The folder of another build's programs: `cargo xtask bench` makes it from a commit.
    pub(crate) against: Option<PathBuf>,
    only: Vec<String>,
}

impl Options {
    /// `None` when only help was asked for, which is printed then.
    pub(crate) fn parse(words: &[String]) -> Result<Option<Self>> {
        let mut options = Self {
            ranks: vec![100, 1_000, 10_000],
            repeats: 15,
            with_peers: true,
            format: Format::Text,
            against: None,
            only: Vec::new(),
        };
        let mut is_huge = false;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || match words.next() {
                Some(value) => Ok(value.as_str()),
                None => bail!("{word} needs a value\n{USAGE}"),
            };
            match word.as_str() {
                "--ranks" => {
                    options.ranks = value()?.split(',').map(number).collect::<Result<_>>()?;
                }
                "--repeats" => options.repeats = number(value()?)?,
                "--against" => options.against = Some(PathBuf::from(value()?)),
                "--only" => options.only.push(value()?.to_owned()),
                "--huge" => is_huge = true,
                "--no-peers" => options.with_peers = false,
                "--markdown" => options.format = Format::Markdown,
                "--help" | "-h" => {
                    println!("{USAGE}");
                    return Ok(None);
                }
                other => bail!("unknown option {other}\n{USAGE}"),
            }
        }
        if is_huge {
            options.ranks.push(HUGE_RANKS);
        }
        Ok(Some(options))
    }

    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part.as_str()))
    }
}

fn number(text: &str) -> Result<u32> {
    match text.trim().parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => bail!("`{text}` is not a positive number\n{USAGE}"),
    }
}
