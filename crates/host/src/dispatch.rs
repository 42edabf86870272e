//! Dispatch: from the name of a question to its answer, for every question of the protocol alike.

use std::sync::Arc;

use parallax_base::Control;
use parallax_protocol::{
    Ensemble, Experiment, ExperimentPair, Question, Subject, TableSet as _, for_each_question,
};
use parallax_service::{Answers, Opened, OpenedPair, scaling};
use parallax_wire::protocol::ErrorReply;
use serde_json::{Map, Value};

use crate::Host;
use crate::errors::service_error;
use crate::response::{Response, reply_with_tables};

/// Finds what a question is asked of among the items that are open.
trait Resolve: Subject {
    /// What answers.
    type Target;

    fn resolve(&self, host: &Host) -> Result<Arc<Self::Target>, ErrorReply>;
}

impl Resolve for Experiment {
    type Target = Opened;

    fn resolve(&self, host: &Host) -> Result<Arc<Opened>, ErrorReply> {
        host.experiment(&self.item)
    }
}

impl Resolve for ExperimentPair {
    type Target = OpenedPair;

    fn resolve(&self, host: &Host) -> Result<Arc<OpenedPair>, ErrorReply> {
        let (old, new) = (host.experiment(&self.old)?, host.experiment(&self.new)?);
        Ok(Arc::new(OpenedPair { old, new }))
    }
}

impl Resolve for Ensemble {
    type Target = scaling::Ensemble;

    fn resolve(&self, host: &Host) -> Result<Arc<scaling::Ensemble>, ErrorReply> {
        host.ensemble(&self.item)
    }
}

/// One arm for each question.
macro_rules! dispatch {
    ($($request:ident,)*) => {
        impl Host {
            /// The answer to the question called `name`; none where there is no such question.
            pub(crate) fn answer_question(
                &self,
                name: &str,
                fields: &Map<String, Value>,
                control: &Control,
            ) -> Option<Result<Response, ErrorReply>> {
                $(if name == <parallax_protocol::$request as Question>::SCHEMA.name {
                    return Some(self.ask::<parallax_protocol::$request>(fields, control));
                })*
                None
            }
        }
    };
}

for_each_question!(dispatch);

impl Host {
    fn ask<Q>(&self, fields: &Map<String, Value>, control: &Control) -> Result<Response, ErrorReply>
    where
        Q: Question,
        Q::Subject: Resolve,
        <Q::Subject as Resolve>::Target: Answers<Q>,
    {
        let (subject, request) = Q::parse(fields.clone())
            .map_err(|error| ErrorReply::new("misuse", error.to_string()))?;
        let target = subject.resolve(self)?;
        let answer = target.answer(&request, control).map_err(|error| service_error(&error))?;
        let tables = answer.tables.into_named(&answer.unit);
        reply_with_tables(&answer.reply, &tables)
    }
}
