//! Options that take one of the names of a choice of the protocol.

use std::ffi::OsStr;
use std::marker::PhantomData;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use parallax_protocol::Choice;

/// Reads the names of `C`, written with `-` for `_`, and describes them in the help.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names<C>(PhantomData<C>);

/// The names of `C`.
pub(crate) const fn names<C: Choice>() -> Names<C> {
    Names(PhantomData)
}

/// How the command line writes the name of a choice.
fn written<C: Choice>(choice: C) -> String {
    choice.value().name.replace('_', "-")
}

fn values<C: Choice>() -> impl Iterator<Item = PossibleValue> {
    C::ALL.iter().map(|&choice| {
        let help = choice.value().doc.trim();
        PossibleValue::new(written(choice)).help(help.strip_suffix('.').unwrap_or(help))
    })
}

impl<C: Choice + Send + Sync> TypedValueParser for Names<C> {
    type Value = C;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<C, clap::Error> {
        let known = PossibleValuesParser::new(values::<C>());
        let name = known.parse_ref(command, argument, value)?;
        let found = C::ALL.iter().copied().find(|&choice| written(choice) == name);
        Ok(found.unwrap_or_default())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(values::<C>()))
    }
}
