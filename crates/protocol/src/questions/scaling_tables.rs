//! The tables of an ensemble.

use std::sync::Arc;

use crate::macros::{one_of, table};

one_of! {
    /// A table of an ensemble.
    pub enum ScalingTable {
        "maps" => Maps(ScalingMapTable),
        "regions" => Regions(ScalingRegionTable),
        "losses" => Losses(ScalingLossTable),
        "laws" => Laws(ScalingLawTable),
        "dispersion" => Dispersion(DispersionTable),
        "energy" => Energy(EnergyTable),
        "pop" => Pop(PopTable),
    }
}

table! {
    /// One row for each region, input and core count of the whole answer, in this nesting: row
    /// `(region * inputs + input) * cores + core`.
    pub columns ScalingCellTable {
        /// Runs measured.
        repetitions: Vec<u32>,
        /// Statistic of the repetitions.
        time: Vec<Option<f64>> [metric],
        /// Shortest repetition.
        time_min: Vec<Option<f64>> [metric],
        /// Longest repetition.
        time_max: Vec<Option<f64>> [metric],
        /// Time of the baseline over the time.
        speedup: Vec<Option<f64>>,
        /// Speedup per core of the baseline.
        efficiency: Vec<Option<f64>>,
        /// Efficiency less that of the first input.
        scalability_abs: Vec<Option<f64>>,
        /// Efficiency less that of the baseline.
        strong_abs: Vec<Option<f64>>,
        /// Efficiency less that at the diagonal's start.
        weak_abs: Vec<Option<f64>>,
        /// Efficiency less that of the input before.
        scalability_rel: Vec<Option<f64>>,
        /// Efficiency less that on fewer cores.
        strong_rel: Vec<Option<f64>>,
        /// Efficiency less that one step up the diagonal.
        weak_rel: Vec<Option<f64>>,
        /// Load imbalance of threads or ranks, (max - mean) / max; 0 is balanced.
        imbalance: Vec<Option<f64>>,
        /// Cost beyond the baseline.
        loss: Vec<Option<f64>> [core metric],
        /// Without what regions inside lose.
        own_loss: Vec<Option<f64>> [core metric],
        /// How many of the runs were ended after their first iterations, so that their times are
        /// estimates.
        estimated: Vec<u32>,
    }
}

table! {
    /// One row for each region and configuration: the exact columns that other programs rely on.
    /// Configurations that were not measured are omitted where they would be too many.
    pub struct ScalingMapRow => ScalingMapTable {
        /// Region; 0 is the whole program.
        region: Arc<str>,
        /// Program arguments.
        input: Arc<str>,
        /// Cores used.
        cores: u32,
        /// Runs measured.
        repetitions: u32,
        /// Statistic of the repetitions.
        time: Option<f64> [metric],
        /// Shortest repetition.
        time_min: Option<f64> [metric],
        /// Longest repetition.
        time_max: Option<f64> [metric],
        /// Time of the baseline over the time.
        speedup: Option<f64>,
        /// Speedup per core of the baseline.
        efficiency: Option<f64>,
        /// Efficiency less that of the first input.
        scalability_abs: Option<f64>,
        /// Efficiency less that of the baseline.
        strong_abs: Option<f64>,
        /// Efficiency less that at the diagonal's start.
        weak_abs: Option<f64>,
        /// Efficiency less that of the input before.
        scalability_rel: Option<f64>,
        /// Efficiency less that on fewer cores.
        strong_rel: Option<f64>,
        /// Efficiency less that one step up the diagonal.
        weak_rel: Option<f64>,
        /// Load imbalance of threads or ranks, (max - mean) / max; 0 is balanced.
        imbalance: Option<f64>,
        /// How many of the runs were ended after their first iterations, so that their times are
        /// estimates.
        estimated: u32,
    }
}

table! {
    /// One row for each region: its place, share, imbalance and verdict.
    pub struct ScalingRegionRow => ScalingRegionTable {
        /// Id; 0 is the whole program.
        region: String,
        /// Region around it.
        parent: Option<String>,
        /// What it is.
        kind: &'static str,
        /// Name.
        name: String,
        /// Call path.
        path: String,
        /// Source file.
        file: Option<String>,
        /// First line.
        first_line: Option<u32>,
        /// Last line.
        last_line: Option<u32>,
        /// Smallest share of its parent's time.
        share_min: Option<f64> ["%"],
        /// Largest share of its parent's time.
        share_max: Option<f64> ["%"],
        /// Mean load imbalance over the configurations.
        imbalance_mean: Option<f64>,
        /// Largest load imbalance.
        imbalance_max: Option<f64>,
        /// Verdict, in sentences.
        verdict: String,
    }
}

table! {
    /// Regions that lose where the whole program loses most, the worst first.
    pub struct ScalingLossRow => ScalingLossTable {
        /// Id of the region.
        region: String,
        /// What it is called.
        name: String,
        /// Program arguments.
        input: String,
        /// Cores used.
        cores: u32,
        /// Core-seconds beyond the baseline, with everything inside.
        loss: f64 [core metric],
        /// The same without what the regions inside lose.
        own_loss: f64 [core metric],
        /// Own loss as a share of the program's loss.
        share: Option<f64> ["%"],
        /// Why, where that can be seen.
        cause: Option<String>,
    }
}

table! {
    /// The laws of scaling, fitted to each region and input. Gustafson's law is about the diagonal,
    /// on which work grows in proportion to cores: it is the same for all inputs of a region.
    pub struct ScalingLawRow => ScalingLawTable {
        /// Region; 0 is the whole program.
        region: String,
        /// What it is called.
        name: String,
        /// Program arguments.
        input: String,
        /// Core counts with a time.
        points: u32,
        /// Serial fraction by Amdahl's law.
        amdahl_serial: Option<f64>,
        /// Speedup that Amdahl's law allows at most.
        amdahl_max_speedup: Option<f64>,
        /// Time on one core by Amdahl's law.
        amdahl_time: Option<f64> [metric],
        /// Relative error of times, root mean square.
        amdahl_error: Option<f64> ["%"],
        /// Sigma of the universal scalability law.
        usl_contention: Option<f64>,
        /// Kappa of the universal scalability law.
        usl_coherency: Option<f64>,
        /// Cores beyond which more make it slower.
        usl_peak_cores: Option<f64>,
        /// Relative error of times, root mean square.
        usl_error: Option<f64> ["%"],
        /// Serial fraction on the fewest cores.
        karp_flatt_first: Option<f64>,
        /// Serial fraction on the most cores.
        karp_flatt_last: Option<f64>,
        /// Serial fraction where work grows in proportion to cores.
        gustafson_serial: Option<f64>,
        /// Error of efficiency, root mean square.
        gustafson_error: Option<f64> ["%"],
    }
}

table! {
    /// How far the repetitions of each region and measured configuration lie apart.
    pub struct DispersionRow => DispersionTable {
        /// Region; 0 is the whole program.
        region: Arc<str>,
        /// Program arguments.
        input: Arc<str>,
        /// Cores used.
        cores: u32,
        /// Runs measured.
        repetitions: u32,
        /// Arithmetic mean.
        mean: f64 [metric],
        /// Middle repetition.
        median: f64 [metric],
        /// Shortest repetition.
        min: f64 [metric],
        /// Longest repetition.
        max: f64 [metric],
        /// Sample standard deviation.
        std_dev: Option<f64> [metric],
        /// Standard deviation over the mean.
        variation: Option<f64> ["%"],
        /// Start of the 95 % interval of the mean.
        mean_low: Option<f64> [metric],
        /// End of the 95 % interval of the mean.
        mean_high: Option<f64> [metric],
        /// Repetitions far from the others (of four or more).
        outliers: u32,
    }
}

table! {
    /// Energy of each region at each configuration where it was measured, one row for each meter.
    pub struct EnergyRow => EnergyTable {
        /// Region; 0 is the whole program.
        region: String,
        /// Program arguments.
        input: String,
        /// Cores used.
        cores: u32,
        /// What measured it.
        meter: String,
        /// Runs with an energy.
        repetitions: u32,
        /// Statistic of the repetitions.
        energy: Option<f64> ["J"],
        /// Smallest repetition.
        energy_min: Option<f64> ["J"],
        /// Largest repetition.
        energy_max: Option<f64> ["J"],
        /// Energy over time.
        power: Option<f64> ["W"],
        /// Energy-delay product.
        edp: Option<f64> ["J s"],
        /// Standard deviation over the mean.
        variation: Option<f64> ["%"],
        /// Largest difference from the independent total.
        error: Option<f64> ["%"],
        /// Whether it passes all gates: yes, no, unknown.
        valid: &'static str,
        /// Gates that it does not pass.
        note: String,
    }
}

table! {
    /// Efficiencies of the POP methodology for each region and configuration. The reference of
    /// computation, global efficiency and speedup is the smallest core count on which the same
    /// input was measured.
    pub struct PopRow => PopTable {
        /// Region; 0 is the whole program.
        region: Arc<str>,
        /// What it is called.
        name: Arc<str>,
        /// Program arguments.
        input: Arc<str>,
        /// Cores used.
        cores: u32,
        /// Parallel efficiency: mean useful time over the runtime.
        parallel: Option<f64>,
        /// Mean useful time over the longest.
        load_balance: Option<f64>,
        /// Longest useful time over the runtime.
        communication: Option<f64>,
        /// The same on an ideal network.
        serialisation: Option<f64>,
        /// Communication over serialisation: the cost of moving data.
        transfer: Option<f64>,
        /// Parallel efficiency of OpenMP, as reported.
        openmp_parallel: Option<f64>,
        /// Load balance of OpenMP, as reported.
        openmp_load_balance: Option<f64>,
        /// Scheduling efficiency of OpenMP, as reported.
        openmp_scheduling: Option<f64>,
        /// Total useful time of the reference over the own.
        computation: Option<f64>,
        /// Instructions of the reference over the own.
        instructions: Option<f64>,
        /// Instructions per cycle over those of the reference.
        ipc: Option<f64> => "IPC",
        /// Cycles per useful time over those of the reference.
        frequency: Option<f64>,
        /// Parallel efficiency times computation.
        global: Option<f64>,
        /// Runtime of the reference over the own.
        speedup: Option<f64>,
        /// Reported by the file, or computed from time in MPI.
        origin: &'static str,
    }
}
