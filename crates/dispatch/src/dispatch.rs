//! Dispatch: from the name of a question to its answer, for every question of the protocol alike.

use std::sync::Arc;

use parallax_base::Control;
use parallax_protocol::{
    Answer, CloseReply, CloseRequest, CombineRequest, Engine, Ensemble, EnsemblePair, ErrorReply,
    Experiment, ExperimentPair, FingerprintRequest, HelloRequest, IssuesReply, IssuesRequest,
    OpenRequest, Question, SqlRequest, SqlSchemaRequest, Subject, TableSet as _, for_each_question,
};
use parallax_service::{Answers, OpenExperiment, OpenPair, ServiceError, issue_replies, scaling};
use serde_json::{Map, Value};

use crate::Dispatcher;
use crate::errors::service_error;
use crate::items::Item;
use crate::response::{AnswerTables, reply_with_tables};

/// Finds what a question is asked of among the items that are open.
trait Resolve: Subject {
    /// What answers.
    type Target;

    fn resolve(&self, dispatcher: &Dispatcher) -> Result<Arc<Self::Target>, ErrorReply>;
}

impl Resolve for Experiment {
    type Target = OpenExperiment;

    fn resolve(&self, dispatcher: &Dispatcher) -> Result<Arc<OpenExperiment>, ErrorReply> {
        dispatcher.experiment(&self.item)
    }
}

impl Resolve for ExperimentPair {
    type Target = OpenPair;

    fn resolve(&self, dispatcher: &Dispatcher) -> Result<Arc<OpenPair>, ErrorReply> {
        let (old, new) = (dispatcher.experiment(&self.old)?, dispatcher.experiment(&self.new)?);
        Ok(Arc::new(OpenPair { old, new }))
    }
}

impl Resolve for Ensemble {
    type Target = scaling::Ensemble;

    fn resolve(&self, dispatcher: &Dispatcher) -> Result<Arc<scaling::Ensemble>, ErrorReply> {
        dispatcher.ensemble(&self.item)
    }
}

impl Resolve for EnsemblePair {
    type Target = scaling::EnsemblePair;

    fn resolve(&self, dispatcher: &Dispatcher) -> Result<Arc<scaling::EnsemblePair>, ErrorReply> {
        let (old, new) = (dispatcher.ensemble(&self.old)?, dispatcher.ensemble(&self.new)?);
        Ok(Arc::new(scaling::EnsemblePair { old, new }))
    }
}

impl Resolve for parallax_protocol::Item {
    type Target = Item;

    fn resolve(&self, dispatcher: &Dispatcher) -> Result<Arc<Item>, ErrorReply> {
        dispatcher.item(&self.item)
    }
}

impl Answers<IssuesRequest> for Item {
    fn answer(
        &self,
        _: &IssuesRequest,
        _: &Control,
    ) -> Result<Answer<IssuesRequest>, ServiceError> {
        Ok(Answer::new(IssuesReply { issues: issue_replies(&self.issues()) }, ()))
    }
}

/// Passes a question to its subject.
trait Dispatch<Q: Question<Subject = Self>>: Subject {
    fn ask(
        &self,
        dispatcher: &Dispatcher,
        request: &Q,
        control: &Control,
    ) -> Result<Answer<Q>, ErrorReply>;
}

impl<S, Q> Dispatch<Q> for S
where
    Q: Question<Subject = S>,
    S: Resolve,
    S::Target: Answers<Q>,
{
    fn ask(
        &self,
        dispatcher: &Dispatcher,
        request: &Q,
        control: &Control,
    ) -> Result<Answer<Q>, ErrorReply> {
        let target = self.resolve(dispatcher)?;
        target.answer(request, control).map_err(|error| service_error(&error))
    }
}

impl Dispatch<HelloRequest> for Engine {
    fn ask(
        &self,
        dispatcher: &Dispatcher,
        _: &HelloRequest,
        _: &Control,
    ) -> Result<Answer<HelloRequest>, ErrorReply> {
        Ok(Answer::new(dispatcher.hello(), ()))
    }
}

impl Dispatch<FingerprintRequest> for Engine {
    fn ask(
        &self,
        dispatcher: &Dispatcher,
        request: &FingerprintRequest,
        _: &Control,
    ) -> Result<Answer<FingerprintRequest>, ErrorReply> {
        Ok(Answer::new(dispatcher.fingerprint(&request.root)?, ()))
    }
}

impl Dispatch<OpenRequest> for Engine {
    fn ask(
        &self,
        dispatcher: &Dispatcher,
        request: &OpenRequest,
        control: &Control,
    ) -> Result<Answer<OpenRequest>, ErrorReply> {
        Ok(Answer::new(dispatcher.open(request, control)?, ()))
    }
}

impl Dispatch<CombineRequest> for Engine {
    fn ask(
        &self,
        dispatcher: &Dispatcher,
        request: &CombineRequest,
        control: &Control,
    ) -> Result<Answer<CombineRequest>, ErrorReply> {
        Ok(Answer::new(dispatcher.combine(request, control)?, ()))
    }
}

impl Dispatch<CloseRequest> for Engine {
    fn ask(
        &self,
        dispatcher: &Dispatcher,
        request: &CloseRequest,
        _: &Control,
    ) -> Result<Answer<CloseRequest>, ErrorReply> {
        dispatcher.close(&request.item);
        Ok(Answer::new(CloseReply {}, ()))
    }
}

impl Dispatch<SqlRequest> for Engine {
    fn ask(
        &self,
        dispatcher: &Dispatcher,
        request: &SqlRequest,
        control: &Control,
    ) -> Result<Answer<SqlRequest>, ErrorReply> {
        dispatcher.sql(request, control)
    }
}

impl Dispatch<SqlSchemaRequest> for Engine {
    fn ask(
        &self,
        dispatcher: &Dispatcher,
        request: &SqlSchemaRequest,
        control: &Control,
    ) -> Result<Answer<SqlSchemaRequest>, ErrorReply> {
        dispatcher.sql_schema(request, control)
    }
}

/// One arm for each question.
macro_rules! dispatch {
    ($($request:ident,)*) => {
        impl Dispatcher {
            /// The answer to the question called `name`; none where there is no such question.
            pub(crate) fn answer_question(
                &self,
                name: &str,
                fields: &Map<String, Value>,
                control: &Control,
            ) -> Option<Result<AnswerTables, ErrorReply>> {
                $(if name == <parallax_protocol::$request as Question>::SCHEMA.name {
                    return Some(self.ask::<parallax_protocol::$request>(fields, control));
                })*
                None
            }
        }
    };
}

for_each_question!(dispatch);

impl Dispatcher {
    fn ask<Q>(
        &self,
        fields: &Map<String, Value>,
        control: &Control,
    ) -> Result<AnswerTables, ErrorReply>
    where
        Q: Question,
        Q::Subject: Dispatch<Q>,
    {
        let (subject, request) = Q::parse(fields.clone())
            .map_err(|error| ErrorReply::new("misuse", error.to_string()))?;
        let answer = subject.ask(self, &request, control)?;
        reply_with_tables(&answer.reply, answer.tables.into_named(&answer.unit))
    }
}
