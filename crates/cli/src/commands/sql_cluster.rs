//! `sql-cluster`: processes on several machines that compute parts of statements.

use std::path::{Path, PathBuf};
#[cfg(feature = "cluster")]
use std::sync::Arc;

use clap::{Args, Subcommand};
#[cfg(feature = "cluster")]
use parallax_cluster::Readers;
use parallax_service::OpenExperiment;

use super::Context;
use crate::args::Size;
use crate::open;

const EXAMPLES: &str = "\
Examples:
  parallax sql-cluster scheduler --token-file token                on one machine
  parallax sql-cluster executor --scheduler node1:7272 --token-file token --root /scratch/runs
                                                                   on each of the other machines
  parallax sql-cluster status --scheduler node1:7272 --token-file token
  parallax sql DB \"SELECT ...\" --cluster node1:7272 --token-file token
  parallax report DB --cluster node1:7272 --token-file token
                                                                   also flat, balance, convert

Starting a cluster by hand and with Slurm, limits and security: docs/cluster.md.";

/// What `sql-cluster` starts or shows.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SqlClusterArgs {
    #[command(subcommand)]
    role: Role,
}

#[derive(Debug, Subcommand)]
enum Role {
    /// Starts the scheduler, which distributes parts of statements to executors.
    Scheduler(SchedulerArgs),
    /// Starts an executor, which computes parts of statements over databases below its roots.
    Executor(ExecutorArgs),
    /// Shows the executors of a scheduler.
    Status(StatusArgs),
}

/// The cluster that a command uses.
#[derive(Debug, Clone, Args)]
pub(crate) struct ClusterArgs {
    /// Distribute reading and computing to the executors of the scheduler at this address.
    #[arg(long, value_name = "ADDRESS:PORT", requires = "token_file", help_heading = "Cluster")]
    pub(super) cluster: Option<String>,
    /// File with the token of the cluster.
    #[arg(long, value_name = "FILE", env = "PARALLAX_TOKEN_FILE", help_heading = "Cluster")]
    pub(super) token_file: Option<PathBuf>,
}

/// The same, and how large its parts are.
#[derive(Debug, Clone, Args)]
pub(crate) struct ClusterPartsArgs {
    #[command(flatten)]
    pub(super) members: ClusterArgs,
    /// Minimum number of rows of a part; smaller reads are not distributed.
    #[arg(long, value_name = "NUMBER", default_value = "1000000", help_heading = "Cluster")]
    pub(super) part_rows: u64,
}

/// The file with the token that all members of a cluster share.
#[derive(Debug, Clone, Args)]
struct TokenArgs {
    /// File with the token of the cluster; only its owner may have access (mode 600).
    #[arg(long, value_name = "FILE", env = "PARALLAX_TOKEN_FILE")]
    token_file: PathBuf,
}

#[derive(Debug, Args)]
struct SchedulerArgs {
    /// Address to listen on; port 0 selects a free port.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7272")]
    bind: String,
    /// File with the token of the cluster; created if it does not exist.
    #[arg(long, value_name = "FILE", env = "PARALLAX_TOKEN_FILE")]
    token_file: PathBuf,
    /// How long an executor may stay silent while it computes before its part is given to another one.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = clap::value_parser!(u64).range(2..=3600))]
    stall_limit: u64,
}

#[derive(Debug, Args)]
struct ExecutorArgs {
    /// Address of the scheduler, which may be started later.
    #[arg(long, value_name = "ADDRESS:PORT")]
    scheduler: String,
    /// Folder below which databases may be read, or s3://BUCKET/PREFIX; can be repeated.
    #[arg(long, value_name = "FOLDER", required = true)]
    root: Vec<PathBuf>,
    /// Number of parts computed concurrently [default: number of cores].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=1024))]
    lanes: Option<u64>,
    /// Name of this executor in messages [default: host name and process id].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Memory for grouping and joining, shared by all parts, such as 2GB.
    #[arg(long, value_name = "SIZE")]
    memory_limit: Option<Size>,
    #[command(flatten)]
    token: TokenArgs,
}

#[derive(Debug, Args)]
struct StatusArgs {
    /// Address of the scheduler.
    #[arg(long, value_name = "ADDRESS:PORT")]
    scheduler: String,
    #[command(flatten)]
    token: TokenArgs,
    /// Wait until this many executors are connected, for at most five minutes.
    #[arg(long, value_name = "EXECUTORS")]
    wait: Option<usize>,
}

/// What builds without clusters say about `--cluster`.
#[cfg(not(feature = "cluster"))]
const WITHOUT: &str =
    "this parallax was built without the feature `cluster`; build it with `--features cluster`";

/// An experiment that may be read by a cluster.
pub(super) struct OpenOver {
    pub(super) opened: OpenExperiment,
    #[cfg(feature = "cluster")]
    pub(super) readers: Option<Arc<Readers>>,
}

impl OpenOver {
    /// Fails where the cluster was lost, because answers then miss something.
    #[cfg(feature = "cluster")]
    pub(super) fn check(&self) -> anyhow::Result<()> {
        match self.readers.as_ref().and_then(|readers| readers.failure()) {
            Some(why) => Err(anyhow::anyhow!(why)),
            None => Ok(()),
        }
    }

    /// See the one of builds with clusters.
    #[cfg(not(feature = "cluster"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with clusters")]
    pub(super) fn check(&self) -> anyhow::Result<()> {
        Ok(())
    }
}

#[cfg(not(feature = "cluster"))]
pub(super) fn open_over(
    context: &Context,
    path: &Path,
    members: &ClusterArgs,
    _: u64,
) -> anyhow::Result<OpenOver> {
    anyhow::ensure!(members.cluster.is_none(), "--cluster: {WITHOUT}");
    Ok(OpenOver { opened: open::database(path, &context.control)? })
}

/// Opens a database; a cluster reads it, where one is named, in parts of so many rows at least.
#[cfg(feature = "cluster")]
pub(super) fn open_over(
    context: &Context,
    path: &Path,
    members: &ClusterArgs,
    part_rows: u64,
) -> anyhow::Result<OpenOver> {
    let readers = match (&members.cluster, &members.token_file) {
        (Some(address), Some(token)) => Some(Readers::new(over(address, token, path)?, part_rows)),
        _ => None,
    };
    let opened = open::database(path, &context.control)?;
    let opened = match &readers {
        Some(readers) => readers.over(opened),
        None => opened,
    };
    Ok(OpenOver { opened, readers })
}

#[cfg(not(feature = "cluster"))]
pub(super) fn sql_cluster(_: &Context, arguments: SqlClusterArgs) -> anyhow::Result<()> {
    drop(arguments);
    anyhow::bail!(WITHOUT)
}

#[cfg(feature = "cluster")]
pub(super) use members::{over, sql_cluster};

#[cfg(feature = "cluster")]
mod members {
    use std::io::Write as _;
    use std::path::{Path, PathBuf};
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::{Duration, Instant};

    use anyhow::Context as _;
    use parallax_base::LocationIdx;
    use parallax_base::quantity::counted;
    use parallax_cluster::{
        Cluster, ClusterError, Databases, Executor, Scheduler, SchedulerOptions, Secret,
    };
    use parallax_places::{canonical, fingerprint as fingerprint_at, is_in_store};
    use parallax_service::{Control, DataContent, OpenExperiment};
    use parallax_sql::{SqlLimits, SqlSession};

    use super::{ExecutorArgs, Role, SchedulerArgs, SqlClusterArgs, StatusArgs};
    use crate::commands::{Context, convert_tables};
    use crate::open;

    pub(in crate::commands) fn sql_cluster(
        context: &Context,
        arguments: SqlClusterArgs,
    ) -> anyhow::Result<()> {
        match arguments.role {
            Role::Scheduler(arguments) => scheduler(arguments),
            Role::Executor(arguments) => executor(context, arguments),
            Role::Status(arguments) => status(&arguments),
        }
    }

    fn scheduler(arguments: SchedulerArgs) -> anyhow::Result<()> {
        let secret = Secret::read_or_make(&arguments.token_file)?;
        let options = SchedulerOptions {
            bind: arguments.bind,
            stall: Duration::from_secs(arguments.stall_limit),
            grace: Duration::from_secs(10),
        };
        let scheduler = Scheduler::bind(options, secret)?;
        // For programs that start it on a port that is free.
        let mut out = std::io::stdout().lock();
        writeln!(out, "listening on {}", scheduler.address())?;
        out.flush()?;
        drop(out);
        Ok(scheduler.run()?)
    }

    fn executor(context: &Context, arguments: ExecutorArgs) -> anyhow::Result<()> {
        let secret = Secret::read(&arguments.token.token_file)?;
        let root = |root: PathBuf| {
            canonical(&root).with_context(|| format!("the root {}", root.display()))
        };
        let roots = arguments.root.into_iter().map(root).collect::<anyhow::Result<Vec<_>>>()?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let lanes = arguments.lanes.and_then(|lanes| usize::try_from(lanes).ok());
        let limits = SqlLimits {
            memory_bytes: arguments.memory_limit.map(|size| size.0),
            ..Default::default()
        };
        let executor = Executor {
            scheduler: arguments.scheduler,
            name: arguments.name.unwrap_or_else(name_of_process),
            lanes: lanes.unwrap_or(cores),
            secret,
            databases: Arc::new(BelowRoots { roots, limits, opened: Mutex::default() }),
        };
        // `context` is of one thread.
        let (style, is_quiet) = (context.stderr, context.is_quiet);
        executor.run(&move |text: &str| {
            if !is_quiet {
                crate::text::Notice::new(crate::text::Level::Note, text).print(&style);
            }
        })?;
        Ok(())
    }

    /// How long executors of an allocation may take to start.
    const LONGEST_WAIT: Duration = Duration::from_secs(300);

    fn status(arguments: &StatusArgs) -> anyhow::Result<()> {
        let secret = Secret::read(&arguments.token.token_file)?;
        let begun = Instant::now();
        let executors = loop {
            let found = Cluster::status(&arguments.scheduler, &secret);
            let Some(wanted) = arguments.wait else { break found? };
            let there = match found {
                Ok(found) if found.len() >= wanted => break found,
                Ok(found) => found.len(),
                // It may be about to start.
                Err(ClusterError::NoScheduler { .. }) if begun.elapsed() < LONGEST_WAIT => 0,
                Err(error) => return Err(error.into()),
            };
            anyhow::ensure!(
                begun.elapsed() < LONGEST_WAIT,
                "{there} of {wanted} executors have connected after {} s; check the output of the others",
                LONGEST_WAIT.as_secs()
            );
            std::thread::sleep(Duration::from_millis(200));
        };
        let mut out = std::io::stdout().lock();
        for executor in executors {
            let parallax_cluster::ExecutorStatus { name, address, lanes, busy, done } = executor;
            let parts = counted(done, "part");
            writeln!(out, "{name}  {address}  {busy} of {lanes} busy, {parts} completed")?;
        }
        Ok(())
    }

    /// The cluster for statements over the database at a path.
    pub(in crate::commands) fn over(
        address: &str,
        token_file: &Path,
        database: &Path,
    ) -> anyhow::Result<Cluster> {
        let secret = Secret::read(token_file)?;
        let path =
            canonical(database).with_context(|| format!("cannot open {}", database.display()))?;
        let fingerprint = fingerprint(&path)?;
        Ok(Cluster::new(address, secret, path, fingerprint)?)
    }

    /// A number made of the names, sizes and times of the files of a database, or of what a store
    /// calls their contents.
    fn fingerprint(path: &Path) -> anyhow::Result<u64> {
        if !path.is_dir()
            && !is_in_store(path)
            && let DataContent::Folder { folder, .. } = open::data_at(path)?.content
        {
            return Ok(folder.fingerprint()?);
        }
        fingerprint_at(path).with_context(|| format!("cannot open {}", path.display()))
    }

    /// Databases that an executor keeps open.
    const MOST_OPEN: usize = 4;

    /// Databases below some folders.
    struct BelowRoots {
        roots: Vec<PathBuf>,
        limits: SqlLimits,
        /// The last ones, with their fingerprints; the latest is the last.
        opened: Mutex<Vec<(PathBuf, u64, Arc<SqlSession>)>>,
    }

    impl Databases for BelowRoots {
        fn session(&self, path: &Path, expected: u64) -> Result<Arc<SqlSession>, String> {
            let shown = path.display();
            let path = canonical(path).map_err(|error| {
                format!("{shown} cannot be opened here: {error}; it must be at the same path on all machines")
            })?;
            if !self.roots.iter().any(|root| path.starts_with(root)) {
                return Err(format!("{shown} is below none of the roots that it was started with"));
            }
            let found = fingerprint(&path).map_err(|error| format!("{shown}: {error:#}"))?;
            if found != expected {
                return Err(format!(
                    "the files of {shown} differ from those on the client (names, sizes or \
                     modification times); retry once they are the same on all machines"
                ));
            }
            let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
            let known = opened.iter().position(|(at, is, _)| *at == path && *is == found);
            let session = match known {
                Some(known) => opened.remove(known).2,
                None => {
                    // Others who want the same one wait, and find it open.
                    let open = open::database(&path, &Control::new());
                    let open = open.map_err(|error| format!("{shown}: {error:#}"))?;
                    let session = SqlSession::new(Arc::new(open), self.limits);
                    Arc::new(session.map_err(|error| error.to_string())?)
                }
            };
            opened.retain(|(at, _, _)| *at != path);
            if opened.len() >= MOST_OPEN {
                opened.remove(0);
            }
            opened.push((path, found, Arc::clone(&session)));
            Ok(session)
        }

        fn table(
            &self,
            opened: &OpenExperiment,
            name: &str,
            locations: &[LocationIdx],
            control: &Control,
        ) -> Result<Vec<u8>, String> {
            let table = convert_tables::part_of(opened, name, locations, control);
            table.map_err(|error| format!("{error:#}"))
        }
    }

    /// The machine and the process, which messages need to tell executors of several machines apart.
    fn name_of_process() -> String {
        let process = std::process::id().to_string();
        match std::fs::read_to_string("/proc/sys/kernel/hostname") {
            Ok(host) => format!("{}:{process}", host.trim()),
            Err(_) => process,
        }
    }
}
