//! Instruction sampling of GPUs: where kernels issue instructions, where they stall, and why.
//!
//! A device samples its instructions in turns; each sample says which instruction it was, and
//! whether it was issued or why not. HPCToolkit multiplies samples by their period and writes them
//! as cycles, under two families of names:
//!
//! | | until 2024 | since |
//! |---|---|---|
//! | cycles | `GINS` | `GCYCLES` |
//! | an instruction was issued | the rest | `GCYCLES:ISU` |
//! | exposed stalls | `GINS:STL_ANY` | `GCYCLES:STL` |
//! | by reason | `GINS:STL_GMEM` | `GCYCLES:STL:GMEM` |
//!
//! A stall is *exposed* when nothing was issued in its cycle (CUPTI's latency samples; on AMD and
//! Intel devices, nothing to the same pipeline). It is *hidden* when another warp issued meanwhile:
//! then it costs nothing. The older family counts hidden stalls as issuing, because of the
//! scheduler's cycle that is what happened. The *issue rate* is the share of cycles in which an
//! instruction was issued: of the scheduler in the older family, of the sampled warp in the newer
//! one.
//!
//! Samples below one `<gpu kernel>` belong to the kernel that was launched there. Where GPU calling
//! contexts are not reconstructed, device functions are siblings of the kernel that calls them; the
//! kernel is the one with the time of execution.

mod read;
mod reasons;
mod rows;

use parallax_base::{ContextIdx, Control};
use parallax_engine::{EngineError, LocationChoice, Session};

pub use reasons::{REASONS, Reason, StallGroup};

/// What rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StallsBy {
    /// Kernels, with all that they call on the device.
    Kernel,
    /// Functions of kernels, each without what it calls.
    Function,
    /// Source lines, each without what it calls.
    Line,
    /// Machine instructions.
    Instruction,
}

/// What was sampled in one place.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sampled {
    /// Estimated cycles.
    pub cycles: f64,
    /// Of these, in which an instruction was issued; `None` where that was not recorded.
    pub issued: Option<f64>,
    /// Of these, in which it stalled while another one was issued; `None` where these count as
    /// issued, or nothing was recorded.
    pub hidden: Option<f64>,
    /// Of these, in which nothing was issued; `None` where that was not recorded.
    pub exposed: Option<f64>,
    /// Exposed cycles by reason, parallel to [`Stalls::reasons`].
    pub by_reason: Vec<f64>,
}

impl Sampled {
    /// The part of the cycles in per cent; 0 of nothing.
    #[must_use]
    pub fn percent(&self, part: f64) -> f64 {
        if self.cycles > 0.0 { part / self.cycles * 100.0 } else { 0.0 }
    }

    /// Position of the reason with most cycles, and these; `None` where nothing stalls.
    #[must_use]
    pub fn first_reason(&self) -> Option<(usize, f64)> {
        let reasons = self.by_reason.iter().copied().enumerate().filter(|(_, n)| *n > 0.0);
        reasons.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }
}

/// A kernel, function, line or instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct StallRow {
    /// The kernel.
    pub kernel: String,
    /// The function on the device; empty where it is not known, and for kernels.
    pub function: String,
    /// The source file; empty where it is not known.
    pub file: String,
    /// The line; 0 where it is not known.
    pub line: u32,
    /// Load module and offset, of instructions; else empty.
    pub instruction: String,
    /// The context with most cycles.
    pub context: ContextIdx,
    /// What was sampled there.
    pub sampled: Sampled,
    /// Of kernels, how long they took, in seconds; `None` where that was not measured.
    pub seconds: Option<f64>,
}

/// Stalls of all kernels.
#[derive(Debug, Clone, PartialEq)]
pub struct Stalls {
    /// Reasons with cycles anywhere, the most frequent first.
    pub reasons: Vec<&'static Reason>,
    /// What was sampled of all kernels.
    pub whole: Sampled,
    /// Kernels, functions, lines or instructions, from most cycles.
    pub rows: Vec<StallRow>,
    /// Cycles of `whole` that are in no row: the source says no function, line or instruction.
    pub unplaced: f64,
    /// Time of all kernels in seconds; `None` where it was not measured.
    pub seconds: Option<f64>,
    /// Cycles for which one sample stands; `None` where that is not known.
    pub period: Option<f64>,
    /// Samples lost, and samples taken; `None` where that is not known.
    pub dropped: Option<(f64, f64)>,
}

impl Stalls {
    /// Leaves out rows; the whole is that of the rest then.
    pub fn retain(&mut self, keep: impl Fn(&StallRow) -> bool) {
        let before = self.rows.len();
        self.rows.retain(keep);
        if self.rows.len() == before {
            return;
        }
        let mut all = self.rows.iter().map(|row| row.sampled.clone());
        let empty = || Sampled { by_reason: vec![0.0; self.reasons.len()], ..Sampled::default() };
        let first = all.next().unwrap_or_else(empty);
        self.whole = all.fold(first, |mut sum, next| {
            sum.add(&next);
            sum
        });
        self.unplaced = 0.0;
        let seconds = self.rows.iter().map(|row| row.seconds);
        self.seconds = seconds.sum::<Option<f64>>().filter(|_| !self.rows.is_empty());
    }

    /// About how many samples cycles stand for.
    #[must_use]
    pub fn samples(&self, cycles: f64) -> Option<f64> {
        self.period.map(|period| cycles / period)
    }
}

/// Whether the experiment has samples of instructions of GPUs.
#[must_use]
pub fn has_samples(session: &Session) -> bool {
    read::Family::of(&session.experiment().metrics).is_some()
}

/// Where instructions of GPUs stall, and why.
///
/// # Errors
/// When instructions of GPUs were not sampled, values cannot be read, or the question is withdrawn.
pub fn gpu_stalls(
    session: &Session,
    by: StallsBy,
    locations: &LocationChoice,
    control: &Control,
) -> Result<Stalls, EngineError> {
    let Some(family) = read::Family::of(&session.experiment().metrics) else {
        return Err(EngineError::Missing {
            what: "this experiment has no samples of GPU instructions".into(),
            hint: "measure with `hpcrun -e gpu=cuda,pc` (NVIDIA), `gpu=rocm,pc` (AMD) or \
                   `gpu=level0,pc` (Intel)"
                .into(),
        });
    };
    let columns = read::Columns::read(session, &family, locations, control)?;
    Ok(rows::stalls(session.tree(), &columns, by))
}
