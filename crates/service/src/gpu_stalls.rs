//! The answer of `gpu-stalls`.

use parallax_analysis::gpu_stalls::{StallRow, Stalls, StallsBy, gpu_stalls, has_samples};
use parallax_base::{Control, Remedy};
use parallax_engine::query::{MAX_LENGTH, NameMatch, QueryError, near_names};
use parallax_protocol::{
    Answer, GpuStallPartRow, GpuStallPartTable, GpuStallReasonRow, GpuStallReasonTable,
    GpuStallRow, GpuStallTable, GpuStallsBy, GpuStallsReply, GpuStallsRequest, GpuStallsTables,
};

use crate::options::locations;
use crate::{Answers, OpenExperiment, ServiceError};

/// Fewer samples than this say little.
const FEW_SAMPLES: f64 = 1000.0;
/// More dropped samples than this are told, in per cent.
const MANY_DROPPED_PERCENT: f64 = 1.0;

impl Answers<GpuStallsRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &GpuStallsRequest,
        control: &Control,
    ) -> Result<Answer<GpuStallsRequest>, ServiceError> {
        let mut notes = Vec::new();
        let locations = locations(&self.session, request.profiles.as_deref(), &mut notes)?;
        let by = match request.by {
            GpuStallsBy::Kernel => StallsBy::Kernel,
            GpuStallsBy::Function => StallsBy::Function,
            GpuStallsBy::Line => StallsBy::Line,
            GpuStallsBy::Instruction => StallsBy::Instruction,
        };
        let mut found = gpu_stalls(&self.session, by, &locations, control)?;
        if let Some(name) = &request.kernel {
            only(&mut found, name)?;
        }
        notes.extend(remarks(&found, request.by));
        let whole = &found.whole;
        let percent = |part: Option<f64>| part.map(|part| whole.percent(part));
        let reply = GpuStallsReply {
            cycles: whole.cycles,
            issue_percent: percent(whole.issued),
            hidden_percent: percent(whole.hidden),
            exposed_percent: percent(whole.exposed),
            samples: found.samples(whole.cycles),
            kernel_s: found.seconds,
            notes,
        };
        let tables = GpuStallsTables {
            rows: self.rows(&found),
            reasons: reasons(&found),
            stalls: parts(&found),
        };
        Ok(Answer::new(reply, tables))
    }
}

impl OpenExperiment {
    /// Whether instructions of GPUs were sampled.
    #[must_use]
    pub fn has_gpu_stalls(&self) -> bool {
        has_samples(&self.session)
    }

    fn rows(&self, found: &Stalls) -> GpuStallTable {
        let tree = self.session.tree();
        let row = |row: &StallRow| {
            let sampled = &row.sampled;
            let percent = |part: Option<f64>| part.map(|part| sampled.percent(part));
            let first = sampled.first_reason();
            let reason = first.and_then(|(at, _)| found.reasons.get(at));
            GpuStallRow {
                kernel: row.kernel.clone(),
                function: row.function.clone(),
                file: row.file.clone(),
                line: Some(row.line).filter(|line| *line > 0),
                instruction: row.instruction.clone(),
                cycles: sampled.cycles,
                cycles_percent: found.whole.percent(sampled.cycles),
                issue_percent: percent(sampled.issued),
                hidden_percent: percent(sampled.hidden),
                exposed_percent: percent(sampled.exposed),
                reason: reason.map(|reason| reason.name),
                reason_percent: first.map(|(_, cycles)| sampled.percent(cycles)),
                samples: found.samples(sampled.cycles),
                kernel_s: row.seconds,
                context_id: tree.source_id(row.context),
            }
        };
        found.rows.iter().map(row).collect()
    }
}

/// Leaves the kernel of a name, or those that match it.
fn only(found: &mut Stalls, name: &str) -> Result<(), ServiceError> {
    if name.len() > MAX_LENGTH {
        return Err(QueryError::unknown_name(name, name, "the name is too long").into());
    }
    let is_exact = found.rows.iter().any(|row| row.kernel == name);
    let pattern = NameMatch::from_bare(name);
    let is_asked = |kernel: &str| if is_exact { kernel == name } else { pattern.matches(kernel) };
    if !found.rows.iter().any(|row| is_asked(&row.kernel)) {
        let kernels = found.rows.iter().map(|row| row.kernel.as_str());
        let near = near_names(name, kernels, 3);
        let error = QueryError::unknown_name(name, name, format!("no kernel is called {name}"));
        return Err(match near.as_slice() {
            [] => error.with_hint(Remedy::SeeGpuStalls.to_string()),
            near => error.with_hint(format!("did you mean {}?", near.join(", "))),
        }
        .into());
    }
    found.retain(|row| is_asked(&row.kernel));
    Ok(())
}

fn remarks(found: &Stalls, by: GpuStallsBy) -> Vec<String> {
    let whole = &found.whole;
    let mut notes = Vec::new();
    match (whole.issued, whole.hidden) {
        (None, _) => notes.push(
            "Only cycles were recorded: this sampling does not say whether instructions were \
             issued or stalled."
                .into(),
        ),
        (Some(_), None) => notes.push(
            "Hidden stalls count as issued: while the sampled instruction stalled, the scheduler \
             issued another one."
                .into(),
        ),
        (Some(_), Some(_)) => {}
    }
    if let Some((lost, taken)) = found.dropped {
        let percent = lost / (lost + taken).max(1.0) * 100.0;
        if percent >= MANY_DROPPED_PERCENT {
            notes.push(format!(
                "{percent:.1} % of the samples were dropped: shares of kernels may be wrong."
            ));
        }
    }
    if let Some(samples) = found.samples(whole.cycles).filter(|samples| *samples < FEW_SAMPLES) {
        let uncertain = 100.0 / samples.max(1.0).sqrt();
        notes.push(format!(
            "There are only about {samples:.0} samples: a share of one half is uncertain by \
             {uncertain:.0} %."
        ));
    }
    if found.unplaced > 0.0 {
        let what = match by {
            GpuStallsBy::Kernel => "kernel",
            GpuStallsBy::Function => "function",
            GpuStallsBy::Line => "source line",
            GpuStallsBy::Instruction => "instruction",
        };
        notes.push(format!(
            "{:.1} % of the cycles have no known {what}.",
            whole.percent(found.unplaced)
        ));
    }
    notes
}

fn reasons(found: &Stalls) -> GpuStallReasonTable {
    let whole = &found.whole;
    let stalls = whole.exposed.unwrap_or(0.0);
    let mut rows: Vec<GpuStallReasonRow> = found
        .reasons
        .iter()
        .zip(&whole.by_reason)
        .filter(|(_, cycles)| **cycles > 0.0)
        .map(|(reason, &cycles)| GpuStallReasonRow {
            reason: reason.name,
            code: reason.code,
            group: reason.group.name(),
            cycles,
            cycles_percent: whole.percent(cycles),
            stalls_percent: if stalls > 0.0 { cycles / stalls * 100.0 } else { 0.0 },
            meaning: reason.meaning,
            remedy: reason.remedy,
        })
        .collect();
    rows.sort_by(|a, b| b.cycles.total_cmp(&a.cycles));
    rows.into_iter().collect()
}

fn parts(found: &Stalls) -> GpuStallPartTable {
    let mut all = Vec::new();
    for (number, row) in (0..).zip(&found.rows) {
        let reasons = found.reasons.iter().zip(&row.sampled.by_reason);
        let mut own: Vec<GpuStallPartRow> = reasons
            .filter(|(_, cycles)| **cycles > 0.0)
            .map(|(reason, &cycles)| GpuStallPartRow {
                row: number,
                reason: reason.name,
                group: reason.group.name(),
                cycles,
                cycles_percent: row.sampled.percent(cycles),
            })
            .collect();
        own.sort_by(|a, b| b.cycles.total_cmp(&a.cycles));
        all.extend(own);
    }
    all.into_iter().collect()
}
