//! The planted answers, compared before anything is measured: a fast wrong answer has no speed.

use anyhow::{Result, bail, ensure};
use parallax_base::{Control, LocationIdx};
use parallax_engine::Session;
use parallax_model::{
    ContextChoice, IdentityKind, MetricChoice, Plan, Scope, SliceColumns, SliceRequest,
};

use crate::data::Database;
use crate::work;

/// Compares counts and the planted seconds of rank 0 in both plans.
pub(crate) fn check(database: &Database) -> Result<()> {
    let experiment = work::open(&database.folder)?;
    ensure!(experiment.issues.is_empty(), "issues while opening: {:?}", experiment.issues);
    let samples = experiment
        .traces
        .as_ref()
        .map_or(0, |traces| traces.tracks().iter().map(|track| track.num_samples).sum::<u64>());
    let values: u64 = experiment.locations.iter().map(|l| experiment.locations.num_values(l)).sum();
    for (what, found) in
        [("locations", experiment.locations.len() as u64), ("values", values), ("samples", samples)]
    {
        let planted = database.count(what);
        ensure!(found == planted, "{found} {what}, but {planted} were planted");
    }

    let is_rank_0 = |&location: &LocationIdx| {
        experiment.locations.identity(location, IdentityKind::Rank) == Some(0)
    };
    let Some(rank_0) = experiment.locations.iter().find(is_rank_0) else {
        bail!("no rank 0");
    };
    let time = experiment.metrics.iter().find(|(_, m)| &*m.source_name == "CPUTIME (sec)");
    let Some(inclusive) = time.and_then(|(_, metric)| metric.id_in(&Scope::Inclusive)) else {
        bail!("no inclusive CPUTIME");
    };
    let session = Session::with_cache(experiment, 0);
    let phases = database.planted["phases"].as_array().map(Vec::as_slice).unwrap_or_default();
    ensure!(!phases.is_empty(), "no phases were planted");
    for phase in phases {
        let (Some(id), Some(seconds)) =
            (phase["context_id"].as_u64(), phase["seconds_of_rank_0"].as_f64())
        else {
            bail!("planted.json: a phase without context or seconds");
        };
        for plan in [Plan::LocationMajor, Plan::ContextMajor] {
            let request = SliceRequest {
                locations: vec![rank_0],
                contexts: ContextChoice::Ids(vec![u32::try_from(id)?]),
                metrics: MetricChoice::Ids { values: vec![inclusive], statistics: Vec::new() },
                plan,
            };
            let columns: &SliceColumns = &*session.slice(&request, &Control::new())?;
            let found: f64 = columns.value.iter().sum();
            let name = &phase["name"];
            ensure!(
                (found - seconds).abs() <= 1e-9 * seconds.max(1.0),
                "phase {name} of rank 0: {found} s by {plan:?}, but {seconds} s were planted"
            );
        }
    }
    Ok(())
}
