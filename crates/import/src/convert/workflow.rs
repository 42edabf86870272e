//! The traces of several coupled applications as one archive.

use std::io::{self, Write};
use std::sync::Arc;

use parallax_base::{Control, FolderSink, Issues, Place, Severity, Source, Stage};
use parallax_formats::archive::keys;

use super::align::{Alignment, align};
use super::{ConvertOptions, TraceInput, read};
use crate::events::{ComponentPlan, Conversion, ConversionError, InputPlan, SCRATCH};

/// One trace of a workflow.
#[derive(Clone)]
pub struct WorkflowInput {
    /// The trace.
    pub trace: TraceInput,
    /// Its component, or several that have their own ranks of it.
    pub components: Vec<ComponentPlan>,
    /// Nanoseconds that are added to its times beyond what brings the clocks together.
    pub offset_nanos: i64,
}

impl WorkflowInput {
    fn name(&self) -> &str {
        self.components.first().map_or("", |plan| plan.name.as_str())
    }
}

/// Converts the traces of coupled applications into one archive in `sink`, on one clock.
///
/// Traces are read twice where their clocks must be compared: the first time nothing is written.
///
/// # Errors
/// As [`super::convert`]; also when clocks cannot be brought together as it was asked.
pub fn convert_workflow(
    inputs: &[WorkflowInput],
    title: &str,
    alignment: Alignment,
    sink: Arc<dyn FolderSink>,
    options: &ConvertOptions,
    control: &Control,
) -> Result<Issues, ConversionError> {
    let mut plans: Vec<InputPlan> = inputs
        .iter()
        .map(|input| InputPlan { components: input.components.clone(), shift_nanos: 0 })
        .collect();
    let mut aligned = None;
    if inputs.len() > 1 {
        let nowhere = Arc::new(Nowhere { scratch: Arc::clone(&sink) });
        let mut survey = Conversion::within(nowhere, options.memory_bytes, &options.limits)?;
        for (input, plan) in inputs.iter().zip(&plans) {
            survey.begin_input(plan.clone());
            read(&input.trace, &mut survey, &options.limits, control)?;
        }
        let (_, survey) = survey.finish_with_survey()?;
        let names: Vec<&str> = inputs.iter().map(WorkflowInput::name).collect();
        let offsets: Vec<i64> = inputs.iter().map(|input| input.offset_nanos).collect();
        let found = align(&survey, &names, &offsets, alignment)?;
        for (plan, shift) in plans.iter_mut().zip(&found.shifts) {
            plan.shift_nanos = *shift;
        }
        aligned = Some(found);
    } else if let (Some(plan), Some(input)) = (plans.first_mut(), inputs.first()) {
        plan.shift_nanos = input.offset_nanos;
    }
    let mut conversion = Conversion::within(sink, options.memory_bytes, &options.limits)?;
    conversion.fact(keys::TITLE, title);
    if let Some(aligned) = aligned {
        if let Some(epoch) = aligned.epoch_offset_nanos {
            conversion.fact(keys::EPOCH_OFFSET_NANOS, epoch.to_string());
        }
        for remark in aligned.remarks {
            let severity = if remark.is_guess { Severity::Warning } else { Severity::Note };
            let place = Place::File { file: remark.component };
            let message = || remark.message.clone();
            conversion.issues.report(severity, Stage::Import, "clocks", place, message);
        }
    }
    for (input, plan) in inputs.iter().zip(plans) {
        conversion.begin_input(plan);
        read(&input.trace, &mut conversion, &options.limits, control)?;
    }
    conversion.finish()
}

/// Takes files and forgets them, but for those that are read back.
struct Nowhere {
    scratch: Arc<dyn FolderSink>,
}

impl Nowhere {
    /// The place for a file that is read back; archives have none of that name.
    fn scratch(&self, path: &str) -> Option<&dyn FolderSink> {
        path.ends_with(SCRATCH).then_some(&*self.scratch)
    }
}

impl FolderSink for Nowhere {
    fn create(&self, path: &str) -> io::Result<Box<dyn Write + Send>> {
        match self.scratch(path) {
            Some(scratch) => scratch.create(path),
            None => Ok(Box::new(io::sink())),
        }
    }

    fn reopen(&self, path: &str) -> io::Result<Option<Source>> {
        self.scratch(path).map_or(Ok(None), |scratch| scratch.reopen(path))
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.scratch(path).map_or(Ok(()), |scratch| scratch.remove(path))
    }
}
