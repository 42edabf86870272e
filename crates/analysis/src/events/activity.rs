//! What a track does while a context is active, and which routine of MPI it is in.

use parallax_base::ContextIdx;
use parallax_model::{CollectiveOperation, ContextTree};

use crate::taxonomy::classes::Classes;
use crate::taxonomy::gpu::RuntimeCall;
use crate::taxonomy::{CostClass, GpuOperation};
use crate::taxonomy::{MpiClass, is_collective_kernel, mpi_routine};

/// What a track does at a moment.
///
/// The sorts are disjoint and cover all time. What is called below a routine of MPI counts as the
/// routine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Activity {
    /// Anything that is none of the others.
    Computing,
    /// In a routine of MPI that does not wait for another process, such as `MPI_Isend`.
    Communicating,
    /// In a function that ends only when another one has acted: `MPI_Recv`, `MPI_Probe`,
    /// `MPI_Sendrecv`, `MPI_Wait` and its kin, blocking collectives and barriers, `MPI_Win_fence`
    /// and `MPI_Win_wait`; waiting in OpenMP, locks, sleeping, and waiting for a GPU. The routines
    /// whose time Pipit's `idle_time` adds up, and more of their kind.
    Waiting,
    /// In no function, or ready to run without a core.
    Outside,
}

impl Activity {
    /// How many there are.
    pub(super) const COUNT: usize = 4;

    /// Number from 0.
    pub(super) const fn index(self) -> u32 {
        self as u32
    }
}

/// How data moves in a collective operation, which decides who waits for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pattern {
    /// No rank leaves before the last has come, and no data moves.
    Barrier,
    /// No rank leaves before the last has come.
    AllToAll,
    /// No rank leaves before the root has come.
    OneToAll,
    /// The root does not leave before the last has come.
    AllToOne,
    /// No rank leaves before those of lower rank have come.
    Prefix,
}

impl Pattern {
    /// Of an operation that a trace recorded; `None` for operations that need not wait for each
    /// other, such as creating handles.
    pub(super) const fn of_operation(operation: CollectiveOperation) -> Option<Self> {
        use CollectiveOperation as Op;
        Some(match operation {
            Op::Barrier => Self::Barrier,
            Op::Bcast | Op::Scatter | Op::Scatterv => Self::OneToAll,
            Op::Gather | Op::Gatherv | Op::Reduce => Self::AllToOne,
            Op::Allgather
            | Op::Allgatherv
            | Op::Alltoall
            | Op::Alltoallv
            | Op::Alltoallw
            | Op::Allreduce
            | Op::ReduceScatter
            | Op::ReduceScatterBlock => Self::AllToAll,
            Op::Scan | Op::Exscan => Self::Prefix,
            Op::Unknown | Op::Other(_) => return None,
        })
    }

    fn of_routine(routine: &str) -> Option<Self> {
        Some(match routine {
            "MPI_Barrier" => Self::Barrier,
            "MPI_Bcast" | "MPI_Scatter" | "MPI_Scatterv" => Self::OneToAll,
            "MPI_Gather" | "MPI_Gatherv" | "MPI_Reduce" => Self::AllToOne,
            "MPI_Allgather"
            | "MPI_Allgatherv"
            | "MPI_Alltoall"
            | "MPI_Alltoallv"
            | "MPI_Alltoallw"
            | "MPI_Allreduce"
            | "MPI_Reduce_scatter"
            | "MPI_Reduce_scatter_block" => Self::AllToAll,
            "MPI_Scan" | "MPI_Exscan" => Self::Prefix,
            _ => return None,
        })
    }
}

/// What a routine of MPI has to do with messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Ends when a message has come.
    Receive,
    /// Ends when the message may be overwritten, which may mean: when it is received.
    Send,
    /// Both.
    SendReceive,
    /// Ends when all operations are complete that were started before.
    CompleteAll,
    /// Ends when at least one of them is complete.
    CompleteAny,
    /// A blocking collective operation of which is known who waits for whom.
    Collective(Pattern),
    /// Any other.
    Other,
}

impl Role {
    fn of(routine: &str) -> Self {
        match routine {
            "MPI_Recv" | "MPI_Mrecv" => Self::Receive,
            // Of a buffered send (MPI_Bsend) the sender does not wait for the receiver.
            "MPI_Send" | "MPI_Ssend" | "MPI_Rsend" => Self::Send,
            "MPI_Sendrecv" | "MPI_Sendrecv_replace" => Self::SendReceive,
            "MPI_Wait" | "MPI_Waitall" => Self::CompleteAll,
            "MPI_Waitany" | "MPI_Waitsome" => Self::CompleteAny,
            other => Pattern::of_routine(other).map_or(Self::Other, Self::Collective),
        }
    }

    /// Whether it waits for messages that it receives.
    pub(super) const fn receives(self) -> bool {
        matches!(self, Self::Receive | Self::SendReceive) || self.completes()
    }

    /// Whether it waits for the receiver of what it sends.
    pub(super) const fn sends(self) -> bool {
        matches!(self, Self::Send | Self::SendReceive)
    }

    /// Whether it waits for what was started before.
    pub(super) const fn completes(self) -> bool {
        matches!(self, Self::CompleteAll | Self::CompleteAny)
    }
}

/// Whether a routine waits for another process.
fn waits(routine: &str, class: MpiClass) -> bool {
    let Some(name) = routine.strip_prefix("MPI_") else { return false };
    match class {
        MpiClass::PointToPoint => {
            Role::of(routine).receives() || matches!(name, "Probe" | "Mprobe")
        }
        MpiClass::Collective => {
            let is_local = name.starts_with("Op_") || name == "Reduce_local";
            !is_local && !name.starts_with('I') && !name.ends_with("_init")
        }
        MpiClass::Rma => matches!(name, "Win_fence" | "Win_wait" | "Win_start" | "Win_complete"),
        _ => false,
    }
}

/// A routine of MPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Routine {
    /// Equal for all spellings of its name; an index into [`Activities::names`].
    pub(super) number: u32,
    pub(super) role: Role,
}

/// What every context of a tree is about.
#[derive(Debug)]
pub struct Activities {
    of_context: Vec<Activity>,
    /// Contexts that are routines of MPI themselves.
    routines: Vec<Option<Routine>>,
    names: Vec<String>,
}

impl Activities {
    /// Of the contexts of `tree`.
    #[must_use]
    pub fn new(tree: &ContextTree) -> Self {
        let classes = Classes::new(tree);
        let mut names: Vec<String> = Vec::new();
        let of_function: Vec<Option<(Routine, Activity)>> = tree
            .functions()
            .iter()
            .map(|function| {
                let (routine, class) = mpi_routine(&function.name)?;
                let number = names.iter().position(|known| *known == routine);
                let number = number.unwrap_or_else(|| {
                    names.push(routine.clone().into_owned());
                    names.len() - 1
                });
                let number = u32::try_from(number).unwrap_or(u32::MAX);
                let is_waiting = waits(&routine, class);
                let activity = if is_waiting { Activity::Waiting } else { Activity::Communicating };
                Some((Routine { number, role: Role::of(&routine) }, activity))
            })
            .collect();
        let mut of_context = vec![Activity::Outside; tree.len()];
        let mut routines = vec![None; tree.len()];
        // Within MPI, what was called from outside of it decides.
        let mut is_within = vec![false; tree.len()];
        for context in tree.iter().skip(1) {
            let own = tree.function(context).and_then(|f| *of_function.get(f.idx())?);
            let above = tree.parent(context).map_or(0, ContextIdx::idx);
            let is_below = is_within.get(above) == Some(&true);
            let activity = match own {
                _ if is_below => of_context.get(above).copied().unwrap_or(Activity::Outside),
                Some((_, activity)) => activity,
                None => match classes.of_context.get(context.idx()) {
                    Some(
                        CostClass::OpenMpIdle
                        | CostClass::OpenMpWait
                        | CostClass::Locks
                        | CostClass::Sleeping
                        | CostClass::HelperThreads
                        | CostClass::Gpu(GpuOperation::Sync),
                    ) => Activity::Waiting,
                    Some(CostClass::Preempted) => Activity::Outside,
                    _ if is_collective_kernel(tree.function_name(context).unwrap_or("")) => {
                        Activity::Communicating
                    }
                    _ if RuntimeCall::of(tree.function_name(context).unwrap_or(""))
                        == Some(RuntimeCall::Synchronise) =>
                    {
                        Activity::Waiting
                    }
                    _ => Activity::Computing,
                },
            };
            if let Some(slot) = of_context.get_mut(context.idx()) {
                *slot = activity;
            }
            if let Some(slot) = is_within.get_mut(context.idx()) {
                *slot = is_below || own.is_some();
            }
            if let Some(slot) = routines.get_mut(context.idx()) {
                *slot = own.map(|(routine, _)| routine);
            }
        }
        Self { of_context, routines, names }
    }

    /// What a track does while `context` is active.
    #[must_use]
    pub fn of(&self, context: ContextIdx) -> Activity {
        self.of_context.get(context.idx()).copied().unwrap_or(Activity::Outside)
    }

    /// Whether a context is a routine of MPI itself.
    #[must_use]
    pub fn is_mpi(&self, context: ContextIdx) -> bool {
        self.routine(context).is_some()
    }

    /// By position in the tree, for [`super::bins`]: the number of the activity.
    pub(super) fn keys(&self) -> Vec<Option<u32>> {
        self.of_context.iter().map(|activity| Some(activity.index())).collect()
    }

    /// The routine of MPI that a context is.
    pub(super) fn routine(&self, context: ContextIdx) -> Option<Routine> {
        self.routines.get(context.idx()).copied().flatten()
    }

    /// Whether the program has any routine of MPI.
    pub(super) fn has_mpi(&self) -> bool {
        !self.names.is_empty()
    }

    /// What a routine is called.
    pub(super) fn name(&self, routine: u32) -> &str {
        self.names.get(routine as usize).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_what_ends_when_others_act() {
        let is_waiting = |name: &str| {
            let (routine, class) = mpi_routine(name).unwrap();
            waits(&routine, class)
        };
        for name in ["MPI_Recv()", "mpi_waitall_", "MPI_Barrier", "MPI_Allreduce", "MPI_Sendrecv"] {
            assert!(is_waiting(name), "{name}");
        }
        for name in ["MPI_Isend", "MPI_Iallreduce", "MPI_Test", "MPI_Op_create", "MPI_Init"] {
            assert!(!is_waiting(name), "{name}");
        }
    }

    #[test]
    fn operations_and_routines_agree_on_who_waits() {
        for (operation, routine) in [
            (CollectiveOperation::Barrier, "MPI_Barrier"),
            (CollectiveOperation::Bcast, "MPI_Bcast"),
            (CollectiveOperation::Gatherv, "MPI_Gatherv"),
            (CollectiveOperation::Scatterv, "MPI_Scatterv"),
            (CollectiveOperation::Alltoallw, "MPI_Alltoallw"),
            (CollectiveOperation::Allreduce, "MPI_Allreduce"),
            (CollectiveOperation::Reduce, "MPI_Reduce"),
            (CollectiveOperation::Exscan, "MPI_Exscan"),
            (CollectiveOperation::ReduceScatterBlock, "MPI_Reduce_scatter_block"),
        ] {
            let pattern = Pattern::of_operation(operation);
            assert!(pattern.is_some() && pattern == Pattern::of_routine(routine), "{routine}");
        }
        assert_eq!(Pattern::of_operation(CollectiveOperation::Other(17)), None);
        assert_eq!(Pattern::of_operation(CollectiveOperation::Unknown), None);
    }
}
