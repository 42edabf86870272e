//! What happens on the lines of a source file: the answer of `lines`.

use std::collections::BTreeMap;

use parallax_base::{ActivationIdx, ContextIdx, Control, ReferenceIdx};
use parallax_engine::EngineError;
use parallax_model::{ActivationKind, Site};
use parallax_protocol::{Answer, LineRow, LinesRequest, LinesTables, NotesReply};

use crate::entities::{function_of, name};
use crate::source::find_file;
use crate::{Answers, OpenExperiment, ServiceError};

/// What happens on a line, in the order in which it is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Definition,
    Call,
    Loop,
    Read,
    Write,
    Allocation,
    Release,
}

impl What {
    const fn name(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::Call => "call",
            Self::Loop => "loop",
            Self::Read => "read",
            Self::Write => "write",
            Self::Allocation => "allocation",
            Self::Release => "release",
        }
    }
}

/// Line, what, and of what: a function or context by number, or a reference.
type Key = (u32, What, u32);

#[derive(Default)]
struct Times {
    times: u64,
    context: Option<ContextIdx>,
}

impl Answers<LinesRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &LinesRequest,
        control: &Control,
    ) -> Result<Answer<LinesRequest>, ServiceError> {
        let activations = self.activations()?;
        let contexts = self.session().tree();
        let run = crate::entities::Run { activations, contexts };
        let path = find_file(contexts, &request.path)?;
        let tree = &activations.tree;
        let is_here: Vec<bool> = contexts.files().iter().map(|file| *file.path == *path).collect();
        let in_file = |file: Option<parallax_base::FileIdx>| {
            file.and_then(|file| is_here.get(file.idx())).copied().unwrap_or(false)
        };
        // Whether the code of an activation is in the file: that of its function.
        let code_here = |activation: ActivationIdx| {
            let function = function_of(run, activation);
            let function = function.and_then(|one| contexts.functions().get(one.idx()));
            function.is_some_and(|function| in_file(function.file))
        };
        let mut found: BTreeMap<Key, Times> = BTreeMap::new();
        let mut add = |line: u32, what: What, of: u32, times: u64, context: Option<ContextIdx>| {
            if line > 0 {
                let entry = found.entry((line, what, of)).or_default();
                entry.times += times;
                entry.context = entry.context.or(context);
            }
        };
        for (number, function) in (0_u32..).zip(contexts.functions()) {
            if in_file(function.file) {
                add(function.line, What::Definition, number, 0, None);
            }
        }
        control.begin(tree.len() as u64);
        for activation in tree.iter() {
            control.advance(1).map_err(EngineError::from)?;
            let context = tree.context(activation);
            match tree.kind(activation) {
                ActivationKind::Call => {
                    let function = contexts.function(context);
                    let number = function.map_or(u32::MAX, parallax_base::FunctionIdx::get);
                    let defined = function.and_then(|one| contexts.functions().get(one.idx()));
                    if let Some(defined) = defined.filter(|one| in_file(one.file)) {
                        add(defined.line, What::Definition, number, 1, Some(context));
                    }
                    if tree.parent(activation).is_some_and(code_here) {
                        add(tree.line(activation), What::Call, number, 1, Some(context));
                    }
                }
                ActivationKind::LoopExecution => {
                    if in_file(contexts.file(context)) {
                        // One loop is one line, whatever its call path.
                        add(contexts.line(context), What::Loop, 0, 1, Some(context));
                    }
                }
                ActivationKind::Iteration => {}
            }
            let touches = activations.touches.of(activation);
            if touches.len() == 0 || !code_here(activation) {
                continue;
            }
            for touch in touches {
                let of = touch.reference.get();
                add(touch.read_line, What::Read, of, 1, Some(context));
                add(touch.write_line, What::Write, of, 1, Some(context));
            }
        }
        for (number, reference) in (0_u32..).zip(activations.references.iter()) {
            let mut site = |site: Option<Site>, what: What| {
                if let Some(site) = site.filter(|site| code_here(site.activation)) {
                    add(site.line, what, number, 1, Some(tree.context(site.activation)));
                }
            };
            site(reference.allocated, What::Allocation);
            site(reference.freed, What::Release);
        }
        let row = |((line, what, of), Times { times, context }): (Key, Times)| LineRow {
            line,
            what: what.name(),
            name: match what {
                What::Definition | What::Call => (contexts.functions().get(of as usize))
                    .map_or_else(|| "<unknown function>".to_owned(), |one| one.name.to_string()),
                What::Loop => context.map_or_else(String::new, |context| contexts.label(context)),
                _ => name(&activations.reference(ReferenceIdx::new(of))),
            },
            times,
            context_id: context.map(|context| u64::from(contexts.source_id(context))),
            reference: (what >= What::Read).then_some(u64::from(of)),
        };
        let rows = found.into_iter().map(row).collect();
        self.activations()?;
        Ok(Answer::new(NotesReply::default(), LinesTables { rows }))
    }
}
