//! The answer of `report`: findings in one order, and where the cost is.

use parallax_analysis::report::{
    Bound, Evidence, Finding, FindingKind as Kind, NextAction as Next, Report, Verdict,
};
use parallax_base::{ContextIdx, Control};
use parallax_protocol::{
    Answer, BoundKind, EvidenceReply, FindingKind, FindingReply, NextAction, PotentialReply,
    ReportClassRow, ReportFunctionRow, ReportGpuRow, ReportHotPathRow, ReportMetricRow,
    ReportReply, ReportRequest, ReportRoutineRow, ReportTables, VerdictReply,
};

use crate::{Answers, OpenExperiment, ServiceError};

impl Answers<ReportRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &ReportRequest,
        control: &Control,
    ) -> Result<Answer<ReportRequest>, ServiceError> {
        let crate::Answer { value, notes } = self.diagnose(request.metric.as_deref(), control)?;
        Ok(self.report_answer(&value, notes))
    }
}

impl OpenExperiment {
    /// A report of this experiment and the notes on it, as they are answered.
    #[must_use]
    pub fn report_answer(&self, report: &Report, notes: Vec<String>) -> Answer<ReportRequest> {
        let reply = ReportReply {
            title: report.title.clone(),
            metric: report.metric.map(|_| report.metric_name.clone()),
            unit: report.unit.to_string(),
            reason: report.reason.clone(),
            total: report.total,
            helper_total: report.helper_total,
            program_total: report.program_total,
            samples: report.num_samples,
            ranks: report.num_ranks as u64,
            locations: report.num_locations as u64,
            verdict: verdict(&Verdict::of(report)),
            findings: report.findings.iter().map(|finding| self.finding(finding)).collect(),
            notes,
        };
        let unit = reply.unit.clone();
        Answer { unit, ..Answer::new(reply, self.report_tables(report)) }
    }

    fn finding(&self, finding: &Finding) -> FindingReply {
        let tree = self.session.tree();
        let ids = |contexts: &[ContextIdx]| {
            let ids: Vec<String> =
                contexts.iter().map(|&context| tree.source_id(context).to_string()).collect();
            (!ids.is_empty()).then(|| format!("context({})", ids.join(",")))
        };
        let potential = finding.potential.as_ref().map(|potential| PotentialReply {
            amount: potential.amount,
            unit: potential.unit.to_string(),
            percent: potential.percent,
            condition: potential.condition.to_owned(),
        });
        FindingReply {
            kind: kind(finding.kind),
            title: finding.title.clone(),
            text: finding.text.clone(),
            percent: finding.percent,
            potential,
            evidence: evidence(&finding.evidence),
            context_id: finding.context.map(|context| tree.source_id(context)),
            action: action(finding.next.action),
            contexts: ids(&finding.next.contexts),
            function: finding.next.function.clone(),
            iteration: finding.next.iteration,
            value: finding.next.value,
            next: None,
        }
    }

    fn report_tables(&self, report: &Report) -> ReportTables {
        let share =
            |cost: f64| (report.program_total > 0.0).then(|| cost / report.program_total * 100.0);
        let categories = report.categories.iter().map(|row| ReportClassRow {
            group: row.class.major(),
            class: row.class.minor(),
            cost: row.cost,
            percent: row.percent,
            contexts: row.num_contexts as u64,
        });
        let routines = report.routines.iter().map(|row| ReportRoutineRow {
            routine: row.name.clone(),
            group: row.class.major(),
            class: row.class.minor(),
            cost: row.cost,
            percent: row.percent,
            contexts: row.num_contexts as u64,
        });
        let functions = report.top_functions.iter().map(|row| ReportFunctionRow {
            function: row.name.clone(),
            module: row.place.clone(),
            exclusive: row.exclusive,
            percent: share(row.exclusive),
            inclusive: row.inclusive,
            contexts: row.num_contexts,
        });
        let gpu = report.gpu.iter().map(|row| ReportGpuRow {
            what: row.what,
            metric: row.metric.clone(),
            value: row.value,
            unit: row.unit.to_string(),
            percent: row.percent,
        });
        let hot_path = report.hot_path.iter().map(|row| ReportHotPathRow {
            context_id: self.session.tree().source_id(row.context),
            context: row.name.clone(),
            inclusive: row.inclusive,
            percent: row.percent,
        });
        let metrics = report.metrics.iter().map(|row| ReportMetricRow {
            metric: row.name.clone(),
            total: row.total,
            unit: row.unit.to_string(),
        });
        ReportTables {
            categories: categories.collect(),
            routines: routines.collect(),
            functions: functions.collect(),
            gpu: gpu.collect(),
            hot_path: hot_path.collect(),
            metrics: metrics.collect(),
        }
    }
}

fn evidence(numbers: &[Evidence]) -> Vec<EvidenceReply> {
    let reply = |one: &Evidence| EvidenceReply {
        what: one.what.clone(),
        value: one.value,
        unit: one.unit.clone(),
    };
    numbers.iter().map(reply).collect()
}

fn verdict(verdict: &Verdict) -> VerdictReply {
    VerdictReply {
        bound: verdict.bound.map(bound),
        percent: verdict.percent,
        reason: verdict.reason.clone(),
        line: verdict.line(),
        evidence: evidence(&verdict.evidence),
    }
}

const fn bound(bound: Bound) -> BoundKind {
    match bound {
        Bound::Compute => BoundKind::Compute,
        Bound::Memory => BoundKind::Memory,
        Bound::ComputeOrMemory => BoundKind::ComputeOrMemory,
        Bound::Communication => BoundKind::Communication,
        Bound::Imbalance => BoundKind::Imbalance,
        Bound::Synchronisation => BoundKind::Synchronisation,
        Bound::Io => BoundKind::Io,
        Bound::Allocation => BoundKind::Allocation,
        Bound::Gpu => BoundKind::Gpu,
        Bound::Latency => BoundKind::Latency,
    }
}

const fn kind(kind: Kind) -> FindingKind {
    match kind {
        Kind::FewSamples => FindingKind::FewSamples,
        Kind::Mpi => FindingKind::Mpi,
        Kind::Imbalance => FindingKind::Imbalance,
        Kind::OpenMp => FindingKind::OpenMp,
        Kind::Io => FindingKind::Io,
        Kind::Memory => FindingKind::Memory,
        Kind::Locks => FindingKind::Locks,
        Kind::Sleeping => FindingKind::Sleeping,
        Kind::Gpu => FindingKind::Gpu,
        Kind::GpuHost => FindingKind::GpuHost,
        Kind::HotFunction => FindingKind::HotFunction,
        Kind::Waiting => FindingKind::Waiting,
        Kind::CriticalPath => FindingKind::CriticalPath,
        Kind::IdleGpu => FindingKind::IdleGpu,
        Kind::BusyGpu => FindingKind::BusyGpu,
        Kind::GpuStalls => FindingKind::GpuStalls,
        Kind::Iterations => FindingKind::Iterations,
        Kind::Stall => FindingKind::Stall,
        Kind::Groups => FindingKind::Groups,
        Kind::Slower => FindingKind::Slower,
        Kind::Caution => FindingKind::Caution,
        Kind::Leak => FindingKind::Leak,
        Kind::WrappedMetric => FindingKind::WrappedMetric,
    }
}

const fn action(action: Next) -> NextAction {
    match action {
        Next::Info => NextAction::Info,
        Next::Balance => NextAction::Balance,
        Next::Callers => NextAction::Callers,
        Next::Idleness => NextAction::Idleness,
        Next::GpuBlame => NextAction::GpuBlame,
        Next::GpuStalls => NextAction::GpuStalls,
        Next::Iterations => NextAction::Iterations,
        Next::Stall => NextAction::Stall,
        Next::RankClusters => NextAction::RankClusters,
        Next::NodeClusters => NextAction::NodeClusters,
        Next::RankRacks => NextAction::RankRacks,
        Next::NodeRacks => NextAction::NodeRacks,
        Next::Waits => NextAction::Waits,
        Next::LateLaunches => NextAction::LateLaunches,
        Next::CriticalPath => NextAction::CriticalPath,
        Next::Differences => NextAction::Differences,
    }
}
