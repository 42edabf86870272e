//! A sweep whose runs are jobs: all are submitted at once, and taken over as they end.

use std::collections::{BTreeMap, HashSet};
use std::thread;
use std::time::{Duration, Instant};

use crate::SweepError;
use crate::files::save;
use crate::job::Order;
use crate::plan::{Key, Plan};
use crate::record::{Record, Run};
use crate::schedule::Schedule;
use crate::slurm::{Element, Folder, Left, Slurm};
use crate::sweeping::{
    Choices, Event, Iterated, Jobs, Summary, ending, name, read_regions, write_table,
};

/// How often the folder is looked into.
const LOOK: Duration = Duration::from_millis(200);

/// How often Slurm is asked, which has others to serve.
const ASK: Duration = Duration::from_secs(5);

/// How long Slurm may be out of reach.
const PATIENCE: Duration = Duration::from_secs(600);

/// Submits the runs that are neither in the file nor in the queue nor done already, and waits for
/// all of them.
///
/// # Errors
/// When the file cannot be written, Slurm refuses or is out of reach, a node cannot measure, or jobs
/// ended without an outcome.
pub(crate) fn by_slurm(
    (plan, slurm): (&Plan, &Slurm),
    choices: &Choices,
    jobs: &Jobs<'_>,
    mut record: Record,
    mut schedule: Schedule<'_>,
    tell: &mut dyn FnMut(&Event<'_>),
) -> Result<Summary, SweepError> {
    let folder = Folder::of(&choices.output);
    if folder.path().exists() && !choices.resume {
        return Err(SweepError::Exists { path: folder.path().to_owned() });
    }
    folder.make()?;
    let mut pending: BTreeMap<String, Key> =
        schedule.rest().into_iter().map(|key| (name(key, None), key)).collect();
    let known: HashSet<String> = folder.queued()?.into_iter().chain(folder.done()).collect();
    let mut elements = Vec::new();
    for (name, &key) in pending.iter().filter(|(name, _)| !known.contains(*name)) {
        let mut job = jobs.job(key, None)?;
        job.prepare()?;
        folder.forget(name);
        job.record_regions(&folder.regions(name));
        if let Some(ending) = ending(plan, &record, key) {
            job.end_after(ending);
        }
        let order = Order { lock: String::new(), ..job.order };
        elements.push(Element { name: name.clone(), cores: key.cores, order });
    }
    elements.sort_by_key(|element| element.cores);
    let submitted = folder.submit(slurm, &plan.program, plan.launcher.is_some(), &elements);
    if submitted.is_err() && known.is_empty() {
        folder.remove_unless_submitted();
    }
    submitted?;
    let mut numbers = record.numbers();
    let mut lost = HashSet::new();
    // Not in the queue when it was asked the last time.
    let mut missing = HashSet::new();
    let (mut asked, mut answered) = (Instant::now(), Instant::now());
    loop {
        let done = folder.done();
        let ended: Vec<(String, Key)> = pending
            .iter()
            .filter(|(name, _)| done.contains(*name))
            .map(|(name, &key)| (name.clone(), key))
            .collect();
        for (name, key) in ended {
            let (mut outcome, node) = match folder.left(&name) {
                Some(Left::Outcome(outcome, node)) => (outcome, node),
                Some(Left::Failed(why)) => {
                    folder.forget(&name);
                    return Err(SweepError::Slurm(format!("a node cannot measure: {why}")));
                }
                None => continue,
            };
            let of = ending(plan, &record, key).map(|ending| ending.of);
            let regions =
                read_regions(&folder.regions(&name), &mut numbers, of, plan, &mut outcome)?;
            let iterated = plan.estimate.as_ref().map(|_| Iterated::of(&regions, &outcome));
            let run = Run::new(key, &outcome, regions, plan);
            schedule.add(key, run.is_success, run.seconds, run.spent);
            record.add(run);
            record.add_node(&node);
            save(&choices.output, &record.text(), true)?;
            write_table(plan, &record)?;
            folder.forget(&name);
            pending.remove(&name);
            missing.remove(&name);
            let (done, left) = (record.runs().len(), (pending.len() as u64, None));
            tell(&Event::Ran { key, is_warmup: false, outcome: &outcome, iterated, done, left });
        }
        if pending.is_empty() {
            break;
        }
        thread::sleep(LOOK);
        if asked.elapsed() < ASK {
            continue;
        }
        asked = Instant::now();
        match folder.queued() {
            Ok(queued) => {
                answered = asked;
                // What was not there twice has had the time to leave an outcome.
                for name in pending.keys().filter(|name| !queued.contains(*name)) {
                    if !missing.insert(name.clone()) {
                        lost.insert(name.clone());
                    }
                }
                pending.retain(|name, _| !lost.contains(name) || folder.left(name).is_some());
                lost.retain(|name| !pending.contains_key(name));
            }
            Err(error) if answered.elapsed() > PATIENCE => return Err(error),
            Err(_) => {}
        }
    }
    if !lost.is_empty() {
        let folder = folder.path().to_owned();
        return Err(SweepError::Lost { number: lost.len(), folder });
    }
    folder.remove();
    let mut summary = Summary::default();
    summary.count(&record);
    Ok(summary)
}
