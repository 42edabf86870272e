//! Recording programs of MPI whose messages, wait states and shares are known.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use common::{compile, printed, rows, takes_samples};
use parallax_testkit::needs::{self, Without};
use serde_json::{Map, Value};

/// What all programs begin with.
const PRELUDE: &str = r"
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline, noclone))
#define WORLD MPI_COMM_WORLD
#define NONE MPI_STATUS_IGNORE
volatile unsigned long sink;
NOINLINE void work(int amount) {
    unsigned long x = 88172645463325252ul;
    for (long i = 0; i < amount * 1000l; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; }
    sink = x;
}
int rank, ranks;
double a[1000], b[1000];
void program(void);
int main(int count, char **words) {
    MPI_Init(&count, &words);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &ranks);
    program();
    MPI_Finalize();
    return 0;
}
";

struct Program(tempfile::TempDir);

impl Program {
    /// `None` where there is no MPI, or where the kernel does not let anybody take samples.
    fn new(text: &str) -> Option<Self> {
        if !needs::program("mpicc", Without::Test) || !needs::program("mpirun", Without::Test) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("app.c");
        fs::write(&source, format!("{PRELUDE}{text}")).unwrap();
        let mut compiler = Command::new("mpicc");
        compiler.args(["-O1", "-g", "-Wall", "-Werror", "-o"]);
        compile(compiler.arg(folder.path().join("app")).arg(source));
        let program = Self(folder);
        takes_samples(&program.record(&["-o", "tried.parallax"], &["true"])).then_some(program)
    }

    fn record(&self, options: &[&str], command: &[&str]) -> Output {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_parallax"));
        tool.current_dir(self.0.path()).arg("record").args(options).arg("--").args(command);
        // Open MPI refuses the super-user, who runs tests in containers.
        tool.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        tool.output().unwrap()
    }

    /// The archive of a run with so many ranks.
    fn recorded(&self, ranks: &str) -> String {
        self.recorded_by("auto", ranks)
    }

    /// The archive of a run with so many ranks, sampled in one way.
    fn recorded_by(&self, sampler: &str, ranks: &str) -> String {
        let command = ["mpirun", "--oversubscribe", "-n", ranks, "./app"];
        let name = format!("{sampler}.parallax");
        let options = ["--mpi", "--sampler", sampler, "-F", "999", "-o", &name];
        let output = self.record(&options, &command);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let path: PathBuf = self.0.path().join(name);
        let path = path.to_str().unwrap().to_owned();
        let info = printed(&["info", &path]);
        assert!(!info.contains("it is moved"), "events are not in order: {info}");
        path
    }
}

fn text<'r>(row: &'r Map<String, Value>, field: &str) -> &'r str {
    row[field].as_str().unwrap()
}

fn number(row: &Map<String, Value>, field: &str) -> f64 {
    row[field].as_f64().unwrap_or_default()
}

#[test]
fn every_kind_of_message_has_its_sides_and_its_size() {
    // The tag of each is the number of messages; ten doubles each.
    let Some(program) = Program::new(
        r"
void program(void) {
    MPI_Request some[12];
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, which, done, flag;
    int found[12];
    /* Blocking, of all modes, and to none. */
    if (rank == 0) {
        MPI_Send(a, 10, MPI_DOUBLE, 1, 2, WORLD);
        MPI_Ssend(a, 10, MPI_DOUBLE, 1, 2, WORLD);
        MPI_Send(a, 10, MPI_DOUBLE, MPI_PROC_NULL, 99, WORLD);
    }
    for (int i = 0; rank == 1 && i < 2; i++) MPI_Recv(b, 1000, MPI_DOUBLE, 0, 2, WORLD, NONE);
    /* All exchange with their neighbours, three times: nine with three ranks. */
    for (int i = 0; i < 3; i++) {
        MPI_Sendrecv(a, 10, MPI_DOUBLE, next, 9, b, 1000, MPI_DOUBLE, before, 9, WORLD, NONE);
    }
    /* Not blocking, completed in four ways. */
    for (int i = 0; i < 4; i++) {
        if (rank == 1) MPI_Isend(a, 10, MPI_DOUBLE, 2, 12, WORLD, &some[i]);
        if (rank == 2) MPI_Irecv(b + 10 * i, 10, MPI_DOUBLE, MPI_ANY_SOURCE, 12, WORLD, &some[i]);
    }
    if (rank > 0) MPI_Waitall(4, some, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++) {
        if (rank == 1) MPI_Issend(a, 10, MPI_DOUBLE, 2, 12, WORLD, &some[i]);
        if (rank == 2) MPI_Irecv(b + 10 * i, 10, MPI_DOUBLE, 1, MPI_ANY_TAG, WORLD, &some[i]);
    }
    if (rank == 1) for (int i = 0; i < 4; i++) MPI_Waitany(4, some, &which, NONE);
    if (rank == 2) {
        for (int left = 4; left > 0; left -= done) {
            MPI_Waitsome(4, some, &done, found, MPI_STATUSES_IGNORE);
        }
    }
    for (int i = 0; i < 4; i++) {
        if (rank == 1) MPI_Isend(a, 10, MPI_DOUBLE, 2, 12, WORLD, &some[i]);
        if (rank == 2) MPI_Irecv(b + 10 * i, 10, MPI_DOUBLE, 1, 12, WORLD, &some[i]);
    }
    if (rank == 1) for (int i = 0; i < 4; i++) MPI_Wait(&some[i], NONE);
    if (rank == 2) {
        for (int i = 0; i < 4; i++) {
            do MPI_Test(&some[i], &flag, NONE); while (!flag);
        }
    }
    /* Persistent. */
    if (rank == 2) MPI_Send_init(a, 10, MPI_DOUBLE, 0, 5, WORLD, &some[0]);
    if (rank == 0) MPI_Recv_init(b, 10, MPI_DOUBLE, 2, 5, WORLD, &some[0]);
    for (int i = 0; rank != 1 && i < 5; i++) {
        if (i % 2) MPI_Start(&some[0]); else MPI_Startall(1, some);
        MPI_Wait(&some[0], NONE);
    }
    if (rank != 1) MPI_Request_free(&some[0]);
    /* Cancelled: there is none. */
    MPI_Irecv(b, 10, MPI_DOUBLE, before, 98, WORLD, &some[0]);
    MPI_Cancel(&some[0]);
    MPI_Wait(&some[0], NONE);
    /* In communicators whose ranks are others, and in two with the same ranks. */
    MPI_Comm outer, copy;
    MPI_Comm_split(WORLD, rank == 1, -rank, &outer);
    MPI_Comm_dup(outer, &copy);
    if (rank == 0) {
        MPI_Isend(a, 10, MPI_DOUBLE, 0, 3, copy, &some[0]);
        MPI_Isend(a, 10, MPI_DOUBLE, 0, 3, outer, &some[1]);
        MPI_Isend(a, 10, MPI_DOUBLE, 0, 3, outer, &some[2]);
        MPI_Waitall(3, some, MPI_STATUSES_IGNORE);
    } else if (rank == 2) {
        MPI_Recv(b, 10, MPI_DOUBLE, 1, 3, outer, NONE);
        MPI_Recv(b, 10, MPI_DOUBLE, 1, 3, outer, NONE);
        MPI_Recv(b, 10, MPI_DOUBLE, 1, 3, copy, NONE);
    }
    MPI_Bcast(a, 10, MPI_DOUBLE, 0, outer);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&outer);
}",
    ) else {
        return;
    };
    let path = program.recorded("3");
    let found: Vec<(String, [f64; 4])> = rows(&["messages", &path, "--by", "tag"])
        .iter()
        .map(|row| {
            let of = ["messages", "bytes", "unmatched", "backwards"].map(|f| number(row, f));
            (text(row, "tag").to_owned(), of)
        })
        .collect();
    let wanted = ["2", "3", "5", "9", "12"].map(|tag| {
        let count: f64 = tag.parse().unwrap();
        (tag.to_owned(), [count, 80.0 * count, 0.0, 0.0])
    });
    assert_eq!(found, wanted);
    // Rank 0 sends all of those with tag 3 to rank 2, whatever numbers they have there.
    let single = rows(&["messages", &path, "--by", "message"]);
    let of_tag = single.iter().filter(|row| row["tag"].to_string().trim_matches('"') == "3");
    for row in of_tag {
        let sides = (text(row, "sender"), text(row, "receiver"));
        assert_eq!(sides, ("rank 0 thread 0", "rank 2 thread 0"), "{row:?}");
    }
}

#[test]
fn planted_waiting_is_found_with_its_length_and_its_callers() {
    let Some(program) = Program::new(
        r"
NOINLINE void late(void) { usleep(200000); }
NOINLINE void receive(void) { MPI_Recv(b, 1, MPI_DOUBLE, 1, 7, WORLD, NONE); sink++; }
NOINLINE void meet(void) { MPI_Barrier(WORLD); sink++; }
void program(void) {
    meet();
    if (rank == 1) { late(); MPI_Send(a, 1, MPI_DOUBLE, 0, 7, WORLD); }
    if (rank == 0) receive();
    if (rank == 0) { late(); late(); }
    meet();
}",
    ) else {
        return;
    };
    for sampler in ["auto", "ptrace"] {
        let path = program.recorded_by(sampler, "2");
        let waits = rows(&["waits", &path]);
        let waiting = |kind: &str, function: &str| {
            let is_it = |row: &&Map<String, Value>| {
                text(row, "kind") == kind && text(row, "function") == function
            };
            waits.iter().find(is_it).map_or(0.0, |row| number(row, "waiting_s"))
        };
        // At least what was slept; a machine that is busy adds to it.
        let late_sender = waiting("late sender", "MPI_Recv");
        let barrier = waiting("wait at barrier", "MPI_Barrier");
        assert!((0.19..2.0).contains(&late_sender), "late sender {late_sender} s, planted 0.2");
        assert!((0.38..2.0).contains(&barrier), "barrier {barrier} s, planted 0.4");
        // The time of the calls is in the call paths that they have.
        let tree = rows(&["tree", &path, "--all", "--metric", "realtime"]);
        let below = |caller: &str, called: &str| {
            let at = tree.iter().position(|row| text(row, "name") == caller).unwrap();
            assert_eq!(text(&tree[at + 1], "name"), called, "below {caller}");
            number(&tree[at + 1], "inclusive")
        };
        assert!((late_sender..2.0).contains(&below("receive", "MPI_Recv")), "{tree:?}");
        assert!((barrier..3.0).contains(&below("meet", "MPI_Barrier")), "{tree:?}");
        // The path is that of who is waited for: mostly asleep in `late`, and never in the launcher.
        let steps = rows(&["critical-path", &path, "--segments"]);
        assert!(steps.iter().all(|row| text(row, "location").starts_with("rank ")), "{steps:?}");
    }
}

#[test]
fn functions_between_many_calls_have_their_planted_shares() {
    // Each call of MPI comes long before the next sample: most times between two have none.
    let Some(program) = Program::new(
        r"
NOINLINE void small(void) { work(5); sink++; }
NOINLINE void large(void) { work(15); sink++; }
void program(void) {
    int flag;
    for (int i = 0; i < 8000; i++) {
        small();
        MPI_Iprobe(MPI_ANY_SOURCE, 1, WORLD, &flag, NONE);
        large();
        MPI_Iprobe(MPI_ANY_SOURCE, 1, WORLD, &flag, NONE);
    }
}",
    ) else {
        return;
    };
    for sampler in ["auto", "ptrace"] {
        let path = program.recorded_by(sampler, "1");
        let tree = rows(&["tree", &path, "--all", "--metric", "cputime"]);
        let time = |name: &str| {
            let own = tree.iter().filter(|row| text(row, "name") == name);
            own.map(|row| number(row, "inclusive")).sum::<f64>()
        };
        let (small, large) = (time("small"), time("large"));
        assert!(small + large > 0.1, "too little was recorded: {small} and {large}");
        let share = large / (small + large);
        assert!((share - 0.75).abs() < 0.08, "{share} of the time in `large`, planted 0.75");
    }
}

#[test]
fn what_cannot_be_recorded_is_said() {
    let Some(program) = Program::new("void program(void) {}") else { return };
    // No MPI in it.
    let output = program.record(&["--mpi", "-o", "none.parallax"], &["true"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("no process called MPI_Init"), "{said}");
    let path = program.0.path().join("none.parallax");
    assert!(printed(&["info", path.to_str().unwrap()]).contains("no process called MPI_Init"));
    // No compiler for it.
    let mut tool = Command::new(env!("CARGO_BIN_EXE_parallax"));
    tool.current_dir(program.0.path()).env("MPICC", "no-such-mpicc");
    let output = tool.args(["record", "--mpi", "--", "true"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot run no-such-mpicc") && said.contains("MPICC"), "{said}");
    assert!(!program.0.path().join("true.parallax").exists());
}

#[test]
fn runs_of_a_sweep_have_their_messages() {
    let source = "
        void program(void) {
            for (int i = 1; i < ranks; i++) {
                if (rank == 0) MPI_Send(a, 10, MPI_DOUBLE, i, 5, WORLD);
                if (rank == i) MPI_Recv(b, 10, MPI_DOUBLE, 0, 5, WORLD, NONE);
            }
            work(20000);
        }";
    let Some(program) = Program::new(source) else { return };
    let mut tool = Command::new(env!("CARGO_BIN_EXE_parallax"));
    tool.current_dir(program.0.path());
    tool.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    tool.args(["measure", "-c", "1,2", "--mpi", "mpirun --oversubscribe -n {p}"]);
    tool.args(["--record", "runs", "--record-mpi", "-o", "sweep.json", "--", "./app"]);
    // Writes down that it was called.
    let (compiler, log) = (program.0.path().join("compiler"), program.0.path().join("compiled"));
    let script = format!("#!/bin/sh\necho called >> {}\nexec mpicc \"$@\"\n", log.display());
    fs::write(&compiler, script).unwrap();
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
    tool.env("MPICC", &compiler);
    let output = tool.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let archive = program.0.path().join("runs/cores2-run1.parallax");
    let found = rows(&["messages", archive.to_str().unwrap(), "--by", "tag"]);
    let found: Vec<_> =
        found.iter().map(|row| (text(row, "tag"), number(row, "messages"))).collect();
    assert_eq!(found, [("5", 1.0)]);
    assert!(program.0.path().join("runs/cores1-run1.parallax").exists());
    // Both runs have the library that was compiled before the first one.
    assert_eq!(fs::read_to_string(log).unwrap(), "called\n");
}

#[test]
fn a_program_goes_on_where_its_records_have_no_room() {
    // The system grants no file more than two windows of records; a full disk says the same.
    let text = "
        #include <signal.h>
        #include <sys/resource.h>
        void program(void) {
            struct rlimit most = {1 << 19, 1 << 19};
            signal(SIGXFSZ, SIG_IGN);
            if (rank == 1 && setrlimit(RLIMIT_FSIZE, &most) != 0) MPI_Abort(WORLD, 3);
            for (int i = 0; i < 20000; i++) {
                int found;
                MPI_Iprobe(MPI_ANY_SOURCE, 77, WORLD, &found, NONE);
            }
            if (rank == 0) MPI_Send(a, 10, MPI_DOUBLE, 1, 5, WORLD);
            if (rank == 1) MPI_Recv(b, 10, MPI_DOUBLE, 0, 5, WORLD, NONE);
            work(100000);
        }";
    let Some(program) = Program::new(text) else { return };
    let command = ["mpirun", "--oversubscribe", "-n", "2", "./app"];
    let output = program.record(&["--mpi", "-o", "run.parallax"], &command);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let why = "not all calls of MPI were recorded: a thread had no room for them";
    assert!(said.contains(why), "{said}");
    let path = program.0.path().join("run.parallax");
    let path = path.to_str().unwrap();
    assert!(printed(&["info", path]).contains(why));
    assert!(printed(&["flat", path]).contains("work"), "samples are there as always");
    for question in ["messages", "waits", "critical-path"] {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_parallax"));
        let output = tool.args([question, path]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{question}: {said}");
    }
}

/// Point-to-point and collective communication by `use mpi`.
const FORTRAN: &str = "
program exchange
  use mpi
  implicit none
  integer :: ierr, rank, ranks, i, requests(2), outer, status(MPI_STATUS_SIZE)
  double precision :: a(100), b(100), total
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  a = rank
  do i = 1, 5
    call MPI_Irecv(b, 100, MPI_DOUBLE_PRECISION, mod(rank + ranks - 1, ranks), 10, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(a, 100, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 10, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  end do
  if (rank == 0) call MPI_Send(a, 10, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD, ierr)
  if (rank == 0) call MPI_Send(a, 10, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD, ierr)
  if (rank == 1) call MPI_Recv(b, 100, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  if (rank == 1) call MPI_Recv(b, 100, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, status, ierr)
  if (rank == 1 .and. status(MPI_SOURCE) /= 0) call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, outer, ierr)
  if (rank == 0) call sleep(1)
  call MPI_Allreduce(MPI_IN_PLACE, a, 100, MPI_DOUBLE_PRECISION, MPI_SUM, outer, ierr)
  total = a(1)
  if (total /= 1) call MPI_Abort(MPI_COMM_WORLD, 4, ierr)
  call MPI_Finalize(ierr)
end program
";

#[test]
fn programs_in_fortran_have_their_messages_and_waits() {
    let Some(program) = Program::new("void program(void) {}") else { return };
    if !needs::program("mpifort", Without::Test) || !needs::program("gfortran", Without::Test) {
        return;
    }
    assert_exchange(&program, FORTRAN);
    if is_open_mpi() {
        assert_exchange(&program, &modern(FORTRAN));
    }
}

/// MPICH passes descriptors of arrays in this module, of which the recorder knows nothing.
fn is_open_mpi() -> bool {
    let said = Command::new("mpirun").arg("--version").output().unwrap().stdout;
    String::from_utf8_lossy(&said).contains("Open MPI")
}

/// The same by `use mpi_f08`, which has types for handles and statuses, and whose errors may be left
/// out.
fn modern(text: &str) -> String {
    let text = text.replace("use mpi\n", "use mpi_f08\n").replace(", ierr)", ")");
    let text = text.replace("MPI_Init(ierr)", "MPI_Init()");
    let text = text.replace("MPI_Finalize(ierr)", "MPI_Finalize(ierr)\n  if (ierr /= 0) stop 5");
    let kinds = "integer :: ierr, rank, ranks, i\n  type(MPI_Request) :: requests(2)\n  \
                 type(MPI_Comm) :: outer\n  type(MPI_Status) :: status";
    let before = "integer :: ierr, rank, ranks, i, requests(2), outer, status(MPI_STATUS_SIZE)";
    assert!(text.contains(before));
    text.replace(before, kinds).replace("status(MPI_SOURCE)", "status%MPI_SOURCE")
}

fn assert_exchange(program: &Program, source: &str) {
    fs::write(program.0.path().join("app.f90"), source).unwrap();
    let mut compiler = Command::new("mpifort");
    compiler.current_dir(program.0.path()).args(["-O1", "-g", "-o", "app", "app.f90"]);
    compile(&mut compiler);
    let path = program.recorded("2");
    let found: Vec<(String, f64, f64, f64)> = rows(&["messages", &path, "--by", "tag"])
        .iter()
        .map(|row| {
            let of = |field| number(row, field);
            (text(row, "tag").to_owned(), of("messages"), of("bytes"), of("unmatched"))
        })
        .collect();
    assert_eq!(found, [("2".to_owned(), 2.0, 160.0, 0.0), ("10".to_owned(), 10.0, 8000.0, 0.0)]);
    let waits = rows(&["waits", &path]);
    let wait = waits.iter().find(|row| text(row, "function") == "MPI_Allreduce").unwrap();
    assert_eq!(text(wait, "kind"), "wait at all-to-all");
    assert!((0.95..3.0).contains(&number(wait, "waiting_s")), "planted 1 s: {wait:?}");
    fs::remove_dir_all(path).unwrap();
}

/// All kinds of messages, and collective operations, by either module. `ERROR` is the last argument.
const ALL_KINDS: &str = "
program wide
  use MODULE
  implicit none
  integer :: ierr, rank, ranks, i, which, done, idx(4), n, counts(4), displs(4), left, right
  logical :: flag
  DECLARATIONS
  double precision :: a(100), b(400), c(100)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  left = mod(rank + ranks - 1, ranks); right = mod(rank + 1, ranks)
  a = rank; counts = 10; displs = (/0, 10, 20, 30/)
  do i = 1, 3
    call MPI_Irecv(b, 100, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1) ERROR)
    call MPI_Issend(a, 20, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(2) ERROR)
    call MPI_Waitany(2, requests, which, status ERROR)
    call MPI_Waitany(2, requests, which, MPI_STATUS_IGNORE ERROR)
  end do
  call MPI_Irecv(b, 100, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, requests(1) ERROR)
  call MPI_Isend(a, 30, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, requests(2) ERROR)
  n = 0
  do while (n < 2)
    call MPI_Waitsome(2, requests, done, idx, statuses ERROR)
    n = n + done
  end do
  call MPI_Irecv(b, 100, MPI_DOUBLE_PRECISION, left, 3, MPI_COMM_WORLD, requests(1) ERROR)
  call MPI_Send(a, 5, MPI_DOUBLE_PRECISION, right, 3, MPI_COMM_WORLD ERROR)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(requests(1), flag, status ERROR)
  end do
  call MPI_Send_init(a, 7, MPI_DOUBLE_PRECISION, right, 4, MPI_COMM_WORLD, requests(1) ERROR)
  call MPI_Recv_init(b, 100, MPI_DOUBLE_PRECISION, left, 4, MPI_COMM_WORLD, requests(2) ERROR)
  do i = 1, 4
    call MPI_Startall(2, requests, ierr)
    call MPI_Waitall(2, requests, statuses ERROR)
  end do
  call MPI_Request_free(requests(1) ERROR)
  call MPI_Request_free(requests(2) ERROR)
  call MPI_Sendrecv(a, 11, MPI_DOUBLE_PRECISION, right, 5, b, 100, &
      MPI_DOUBLE_PRECISION, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERROR)
  call MPI_Sendrecv_replace(a, 12, MPI_DOUBLE_PRECISION, right, 6, left, 6, &
      MPI_COMM_WORLD, status ERROR)
  call MPI_Isend(a, 3, MPI_DOUBLE_PRECISION, right, 7, MPI_COMM_WORLD, requests(1) ERROR)
  call MPI_Probe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, status ERROR)
  call MPI_Recv(b, 100, MPI_DOUBLE_PRECISION, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERROR)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE ERROR)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, part ERROR)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, (/ranks/), (/.true./), .false., cart ERROR)
  call MPI_Bcast(a, 100, MPI_DOUBLE_PRECISION, 0, part ERROR)
  call MPI_Gather(a, 10, MPI_DOUBLE_PRECISION, b, 10, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD ERROR)
  call MPI_Gatherv(a, 10, MPI_DOUBLE_PRECISION, b, counts, displs, &
      MPI_DOUBLE_PRECISION, 0, cart ERROR)
  call MPI_Scatter(b, 10, MPI_DOUBLE_PRECISION, a, 10, MPI_DOUBLE_PRECISION, 0, &
      MPI_COMM_WORLD ERROR)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DOUBLE_PRECISION, b, 10, &
      MPI_DOUBLE_PRECISION, MPI_COMM_WORLD ERROR)
  call MPI_Alltoall(b, 5, MPI_DOUBLE_PRECISION, c, 5, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD ERROR)
  call MPI_Reduce(a, c, 9, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD ERROR)
  call MPI_Allreduce(MPI_IN_PLACE, a, 9, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD ERROR)
  call MPI_Scan(a, c, 9, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD ERROR)
  call MPI_Barrier(MPI_COMM_WORLD ERROR)
  call MPI_Finalize(ierr)
end program
";

#[test]
fn both_modules_of_fortran_have_every_kind_of_message() {
    let Some(program) = Program::new("void program(void) {}") else { return };
    if !needs::program("mpifort", Without::Test) || !needs::program("gfortran", Without::Test) {
        return;
    }
    let integers = "integer :: requests(4), part, cart, status(MPI_STATUS_SIZE)\n  \
                    integer :: statuses(MPI_STATUS_SIZE, 4)";
    let types = "type(MPI_Request) :: requests(4)\n  type(MPI_Comm) :: part, cart\n  \
                 type(MPI_Status) :: status, statuses(4)";
    let modules = [("mpi", integers, ", ierr)"), ("mpi_f08", types, ")")];
    for (module, declarations, error) in modules.into_iter().take(1 + usize::from(is_open_mpi())) {
        let source = ALL_KINDS.replace("MODULE", module).replace(" ERROR)", error);
        let source = source.replace("DECLARATIONS", declarations);
        fs::write(program.0.path().join("app.f90"), source).unwrap();
        let mut compiler = Command::new("mpifort");
        compiler.current_dir(program.0.path()).args(["-O1", "-g", "-o", "app", "app.f90"]);
        compile(&mut compiler);
        let path = program.recorded("4");
        let found: Vec<(String, [f64; 3])> = rows(&["messages", &path, "--by", "tag"])
            .iter()
            .map(|row| {
                let fields = ["messages", "bytes", "unmatched"].map(|field| number(row, field));
                (text(row, "tag").to_owned(), fields)
            })
            .collect();
        // Each of four ranks sends 20 numbers three times, then 30, 5, 7 four times, 11, 12 and 3.
        let planted = [(3, 20), (1, 30), (1, 5), (4, 7), (1, 11), (1, 12), (1, 3)];
        let planted = (1..).zip(planted).map(|(tag, (times, count))| {
            let messages = f64::from(4 * times);
            (i32::to_string(&tag), [messages, messages * 8.0 * f64::from(count), 0.0])
        });
        assert_eq!(found, planted.collect::<Vec<_>>(), "{module}");
        let flat = rows(&["tree", &path, "--all", "--metric", "realtime"]);
        for operation in ["Waitsome", "Startall", "Gatherv", "Allgather", "Alltoall", "Scan"] {
            let name = format!("MPI_{operation}");
            assert!(flat.iter().any(|row| text(row, "name") == name), "no {name} with {module}");
        }
        fs::remove_dir_all(path).unwrap();
    }
}
