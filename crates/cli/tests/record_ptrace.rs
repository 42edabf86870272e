//! Recording by stopping threads: what the program must not notice, and what is known of it.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;
#[path = "common/planted.rs"]
mod planted;

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use common::{compile, printed, rows};
use planted::{Program, assert_path, end_all, paths, sent, time_of, times};
use serde_json::Value;

const PTRACE: [&str; 4] = ["--sampler", "ptrace", "-o", "run.parallax"];

impl Program {
    /// A program that may be sampled in this way.
    fn traced(flags: &[&str], text: &str) -> Option<Self> {
        let program = Self::new("cc", flags, text)?;
        let is_allowed = program.samplers().any(|sampler| sampler == "ptrace");
        is_allowed.then_some(program)
    }

    /// What the program prints, alone and while it is recorded by many stops: that must be the same.
    fn prints_the_same(&self, words: &[&str]) -> String {
        let app = self.folder.path().join("app");
        let alone = Command::new(&app).args(words).current_dir(&self.folder).output().unwrap();
        let command = [&["./app"], words].concat();
        let recorded = self.record(&[&PTRACE[..], &["-F", "2000"]].concat(), &command);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = text(&recorded.stderr);
        assert_eq!(text(&recorded.stdout), text(&alone.stdout), "{said}");
        // The tool's exit status is what a shell makes of a signal.
        let code = alone.status.code().or_else(|| Some(128 + alone.status.signal()?));
        assert_eq!(recorded.status.code(), code, "{said}");
        fs::remove_dir_all(self.folder.path().join("run.parallax")).unwrap();
        text(&alone.stdout)
    }
}

#[test]
fn calls_that_wait_are_interrupted_by_signals_of_the_program_and_by_nothing_else() {
    let text = r#"
        #include <errno.h>
        #include <pthread.h>
        #include <signal.h>
        #include <stdio.h>
        #include <sys/epoll.h>
        #include <sys/ipc.h>
        #include <sys/sem.h>
        #include <sys/socket.h>
        #include <sys/time.h>
        #include <sys/wait.h>
        #include <time.h>
        static int queue, count;
        static void handler(int s) { (void)s; count++; }
        /* Busy and waiting by turns, so that it is stopped while it begins to wait, too. */
        static int waits(int (*call)(void), int times) {
            int interrupted = 0;
            for (int i = 0; i < times; i++) {
                work(2 + i % 7);
                if (call() < 0 && errno == EINTR) interrupted++;
            }
            return interrupted;
        }
        static int by_epoll(void) { struct epoll_event e; return epoll_wait(queue, &e, 1, 3); }
        static int by_sleep(void) { struct timespec t = { 0, 2000000 }; return nanosleep(&t, 0); }
        static int by_signal(void) {
            sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR2);
            struct timespec t = { 0, 2000000 };
            return sigtimedwait(&set, 0, &t);
        }
        static int sems;
        static int by_sem(void) {
            struct sembuf op = { 0, -1, 0 };
            struct timespec t = { 0, 2000000 };
            return semtimedop(sems, &op, 1, &t);
        }
        static int pair[2];
        static int by_socket(void) { char c; return recv(pair[0], &c, 1, 0) < 0 ? -1 : 0; }
        static int by_child(void) {
            struct epoll_event e;
            if (fork() == 0) { usleep(500); _exit(0); }
            int found = epoll_wait(queue, &e, 1, 10);
            int why = errno;
            wait(0);
            errno = why;
            return found;
        }
        static pthread_t first;
        static void *sends(void *x) { usleep(500); pthread_kill(first, SIGURG); return x; }
        static int by_ignored(void) {
            struct epoll_event e;
            pthread_t sender;
            first = pthread_self();
            pthread_create(&sender, 0, sends, 0);
            int found = epoll_wait(queue, &e, 1, 10);
            int why = errno;
            pthread_join(sender, 0);
            errno = why;
            return found;
        }
        int main(void) {
            queue = epoll_create1(0);
            sems = semget(IPC_PRIVATE, 1, 0600);
            socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
            struct timeval longest = { 0, 3000 };
            setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
            printf("epoll %d\n", waits(by_epoll, 150));
            printf("sleep %d\n", waits(by_sleep, 100));
            printf("signal %d\n", waits(by_signal, 100));
            printf("semaphore %d\n", waits(by_sem, 100));
            printf("socket %d\n", waits(by_socket, 100));
            semctl(sems, 0, IPC_RMID);
            /* Nothing handles these signals: nothing is interrupted by them. */
            printf("children %d\n", waits(by_child, 50));
            printf("ignored %d\n", waits(by_ignored, 50));
            /* A handler without SA_RESTART interrupts each wait, which would last for ever. */
            struct sigaction action = { 0 };
            action.sa_handler = handler;
            sigaction(SIGALRM, &action, 0);
            int interrupted = 0;
            for (int i = 0; i < 100; i++) {
                struct itimerval once = { { 0, 0 }, { 0, 1000 + 97 * i } };
                struct epoll_event e;
                int before = count;
                setitimer(ITIMER_REAL, &once, 0);
                while (count == before)
                    if (epoll_wait(queue, &e, 1, 10000) < 0 && errno == EINTR) interrupted++;
            }
            printf("handled %d, epoll was interrupted: %d\n", count, interrupted > 90);
            return 5;
        }"#;
    let Some(program) = Program::traced(&["-O2"], text) else { return };
    let said = program.prints_the_same(&[]);
    let wanted = "epoll 0\nsleep 0\nsignal 0\nsemaphore 0\nsocket 0\nchildren 0\nignored 0\nhandled 100, epoll was interrupted: 1\n";
    assert_eq!(said, wanted);
}

#[test]
fn signals_children_and_threads_behave_as_they_do_alone() {
    let text = r#"
        #include <errno.h>
        #include <pthread.h>
        #include <signal.h>
        #include <spawn.h>
        #include <stdio.h>
        #include <sys/wait.h>
        extern char **environ;
        static volatile int sum, faults;
        static void with_value(int s, siginfo_t *info, void *c) { (void)s; (void)c; sum += info->si_value.sival_int; }
        static void fault(int s) { (void)s; faults++; _exit(faults + 40); }
        static void *cancelled(void *x) { for (;;) { pthread_testcancel(); usleep(100); } return x; }
        static void *short_one(void *x) { sink += (long)x; return x; }
        static int status_of(pid_t pid) { int s; while (waitpid(pid, &s, 0) < 0); return s; }
        int main(void) {
            setvbuf(stdout, 0, _IOLBF, 0);
            struct sigaction action = { 0 };
            action.sa_sigaction = with_value;
            action.sa_flags = SA_SIGINFO | SA_RESTART;
            sigaction(SIGRTMIN + 3, &action, 0);
            for (int i = 1; i <= 100; i++) { union sigval v = { i }; sigqueue(getpid(), SIGRTMIN + 3, v); }
            printf("real-time signals %d\n", sum);
            pthread_t thread;
            void *result;
            pthread_create(&thread, 0, cancelled, 0);
            work(20);
            pthread_cancel(thread);
            pthread_join(thread, &result);
            printf("cancelled %d\n", result == PTHREAD_CANCELED);
            if (setuid(getuid()) == 0) printf("all threads have an identity\n");
            for (int i = 0; i < 200; i++) { pthread_create(&thread, 0, short_one, 0); pthread_join(thread, 0); }
            pid_t pid = vfork();
            if (pid == 0) _exit(7);
            printf("vfork %d\n", WEXITSTATUS(status_of(pid)));
            pid = vfork();
            if (pid == 0) { execl("/bin/sh", "sh", "-c", "exit 8", (char *)0); _exit(1); }
            printf("vfork and exec %d\n", WEXITSTATUS(status_of(pid)));
            char *words[] = { "sh", "-c", "sleep 0.05; exit 9", 0 };
            posix_spawn(&pid, "/bin/sh", 0, 0, words, environ);
            printf("spawn %d\n", WEXITSTATUS(status_of(pid)));
            printf("system %d\n", WEXITSTATUS(system("exit 10")));
            pid = fork();
            if (pid == 0) { signal(SIGSEGV, fault); *(volatile int *)8 = 1; }
            printf("fault %d\n", WEXITSTATUS(status_of(pid)));
            pid = fork();
            if (pid == 0) { for (;;) work(1); }
            int s;
            kill(pid, SIGSTOP);
            while (waitpid(pid, &s, WUNTRACED) < 0);
            printf("stopped %d\n", WIFSTOPPED(s) && WSTOPSIG(s) == SIGSTOP);
            usleep(20000);
            printf("still stopped %d\n", waitpid(pid, &s, WNOHANG) == 0);
            kill(pid, SIGCONT);
            while (waitpid(pid, &s, WCONTINUED) < 0);
            printf("goes on %d\n", WIFCONTINUED(s));
            work(20);
            kill(pid, SIGTERM);
            s = status_of(pid);
            printf("ended by %d\n", WIFSIGNALED(s) ? WTERMSIG(s) : 0);
            kill(getpid(), SIGABRT);
            return 0;
        }"#;
    let Some(program) = Program::traced(&["-O1"], text) else { return };
    let said = program.prints_the_same(&[]);
    assert!(said.starts_with("real-time signals 5050\ncancelled 1\n"), "{said}");
    assert!(said.ends_with("goes on 1\nended by 15\n"), "{said}");
}

#[test]
fn a_program_that_gets_signals_all_the_time_is_sampled_all_the_time() {
    let text = r"
        #include <signal.h>
        #include <sys/time.h>
        static void handler(int s) { (void)s; }
        NOINLINE void first(void) { work(3000); sink++; }
        NOINLINE void second(void) { work(3000); sink++; }
        int main(void) {
            struct itimerval often = { { 0, 500 }, { 0, 500 } };
            signal(SIGALRM, handler);
            setitimer(ITIMER_REAL, &often, 0);
            first();
            second();
            return 0;
        }";
    let Some(program) = Program::traced(&["-O2"], text) else { return };
    let archive = program.recorded_by("ptrace", &["./app"]);
    let times = times(&archive, "cputime", "inclusive");
    let [first, second] = ["first", "second"].map(|name| time_of(&times, name));
    let share = second / (first + second);
    assert!((share - 0.5).abs() < 0.2, "{share} of the time in `second`, planted 0.5: {times:?}");
}

#[test]
fn ten_thousand_threads_that_end_at_once_are_all_there() {
    let text = r"
        #include <pthread.h>
        static void *short_one(void *x) { sink = (unsigned long)x; return x; }
        int main(void) {
            for (long i = 0; i < 5000; i++) {
                pthread_t two[2];
                for (int j = 0; j < 2; j++) if (pthread_create(&two[j], 0, short_one, 0)) return 1;
                for (int j = 0; j < 2; j++) pthread_join(two[j], 0);
            }
            return 0;
        }";
    let Some(program) = Program::traced(&["-O2"], text) else { return };
    let archive = program.recorded_by("ptrace", &["./app"]);
    let info = printed(&["info", archive.to_str().unwrap(), "--json"]);
    let info: Value = serde_json::from_str(&info).unwrap();
    assert_eq!(
        info["locations"]["total"].as_u64().or(info["locations"].as_u64()),
        Some(10_001),
        "{info}"
    );
}

#[test]
fn a_thread_that_becomes_another_program_and_a_process_without_its_first_thread_are_followed() {
    let text = r#"
        #include <pthread.h>
        #include <stdio.h>
        NOINLINE void after(void) { work(2000); sink++; }
        NOINLINE void other(void) { work(1000); sink++; }
        static char *own;
        static void *rest(void *x) { other(); execl(own, own, "again", (char *)0); return x; }
        int main(int count, char **words) {
            own = words[0];
            if (count > 1) { after(); return 6; }
            pthread_t thread;
            pthread_create(&thread, 0, rest, 0);
            pthread_exit(0);
        }"#;
    let Some(program) = Program::traced(&["-O2"], text) else { return };
    let output = program.record(&PTRACE, &["./app"]);
    assert_eq!(output.status.code(), Some(6), "{}", String::from_utf8_lossy(&output.stderr));
    let archive = program.folder.path().join("run.parallax");
    let found = paths(&archive, &["main", "rest", "other", "after"]);
    assert_path(&found, "rest > other");
    assert_path(&found, "main > after");
}

#[test]
fn a_static_program_has_its_call_paths() {
    let text = r"
        NOINLINE void leaf(void) { work(10); sink++; }
        NOINLINE void outer(void) { leaf(); sink++; }
        int main(void) { for (int i = 0; i < 200; i++) outer(); return 0; }";
    let Some(program) = Program::traced(&["-O2", "-static"], text) else { return };
    let archive = program.recorded_by("ptrace", &["./app"]);
    assert_path(&paths(&archive, &["main", "outer", "leaf"]), "main > outer > leaf");
}

/// What a thread says of its time on a processor is what the recording says, however often it waits and
/// however many others there are.
#[test]
fn processor_time_of_threads_is_what_the_kernel_says() {
    let text = r#"
        #include <pthread.h>
        #include <stdio.h>
        #include <time.h>
        static double own(clockid_t clock) {
            struct timespec t; clock_gettime(clock, &t); return t.tv_sec + t.tv_nsec / 1e9;
        }
        static double found[3];
        NOINLINE void steady(void) { work(4000); sink++; }
        NOINLINE void bursts(void) { for (int i = 0; i < 150; i++) { work(10); usleep(3000); } sink++; }
        NOINLINE void rare(void) { for (int i = 0; i < 40; i++) { work(3); usleep(15000); } sink++; }
        static void *in_thread(void *which) {
            if (which == (void *)0) steady();
            if (which == (void *)1) bursts();
            if (which == (void *)2) rare();
            found[(long)which] = own(CLOCK_THREAD_CPUTIME_ID);
            return 0;
        }
        int main(void) {
            pthread_t threads[3];
            for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, in_thread, (void *)i);
            for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
            printf("%f %f %f\n", found[0], found[1], found[2]);
            return 0;
        }"#;
    let Some(program) = Program::traced(&["-O2"], text) else { return };
    for sampler in program.samplers() {
        let name = format!("{sampler}.parallax");
        let output = program.record(&["--sampler", sampler, "-o", &name], &["./app"]);
        let own = String::from_utf8_lossy(&output.stdout).into_owned();
        let own: Vec<f64> = own.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let recorded = times(&program.folder.path().join(&name), "cputime", "inclusive");
        for (function, own) in ["steady", "bursts", "rare"].iter().zip(own) {
            let recorded = time_of(&recorded, function);
            // A start and an end without a sample may be elsewhere.
            let allowed = 0.1 * own + 0.012;
            let difference = (recorded - own).abs();
            assert!(
                difference < allowed,
                "{sampler}: {function} {recorded} s, by its own clock {own} s"
            );
        }
    }
}

#[test]
fn a_program_goes_on_when_its_recorder_is_killed() {
    let text = r#"
        #include <fcntl.h>
        #include <pthread.h>
        static void *busy(void *x) { for (;;) work(1); return x; }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, busy, 0);
            work(500);
            close(open("ready", O_CREAT | O_WRONLY, 0600));
            while (access("go", F_OK) != 0) usleep(1000);
            close(open("done", O_CREAT | O_WRONLY, 0600));
            return 0;
        }"#;
    let Some(program) = Program::traced(&["-O2"], text) else { return };
    let folder = program.folder.path();
    let mut tool = Command::new(env!("CARGO_BIN_EXE_parallax"))
        .current_dir(folder)
        .args(["record", "-F", "1000"])
        .args(PTRACE)
        .args(["--", "./app"])
        .spawn()
        .unwrap();
    await_file(&folder.join("ready"));
    assert!(sent("-KILL", &tool.id().to_string()));
    tool.wait().unwrap();
    fs::write(folder.join("go"), "").unwrap();
    await_file(&folder.join("done"));
    end_all(&folder.join("app"));
    assert!(!folder.join("run.parallax").exists());
}

fn await_file(path: &Path) {
    let begun = Instant::now();
    while !path.exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{} does not come", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs a program without some system calls, as containers do.
const FORBID: &str = r#"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int count, char **words) {
    (void)count;
    unsigned first = (unsigned)atoi(words[1]), second = (unsigned)atoi(words[2]);
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, second, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof *code, code };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 90;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 91;
    execv(words[3], words + 3);
    return 92;
}
"#;

#[test]
fn where_the_kernel_gives_no_samples_the_program_is_recorded_and_the_tool_says_how() {
    let text = r"
        NOINLINE void leaf(void) { work(10); sink++; }
        int main(void) { for (int i = 0; i < 200; i++) leaf(); return 0; }";
    let Some(program) = Program::traced(&["-O2", "-g"], text) else { return };
    let folder = program.folder.path();
    fs::write(folder.join("forbid.c"), FORBID).unwrap();
    compile(Command::new("cc").arg("-o").arg(folder.join("forbid")).arg(folder.join("forbid.c")));
    let [perf_event, ptrace] = match std::env::consts::ARCH {
        "x86_64" => ["298", "101"],
        _ => ["241", "117"],
    };
    let tool = env!("CARGO_BIN_EXE_parallax");
    let run = |forbidden: [&str; 2], words: &[&str]| {
        let mut forbid = Command::new(folder.join("forbid"));
        forbid.args(forbidden).arg(tool).args(words).current_dir(folder);
        let output = forbid.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let no_counters = [perf_event, perf_event];
    let (code, said) = run(no_counters, &["record", "-o", "run.parallax", "--", "./app"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("ptrace at 250 Hz") && said.contains("PERFMON"), "{said}");
    let archive = folder.join("run.parallax");
    assert_path(&paths(&archive, &["main", "leaf"]), "main > leaf");
    let info = printed(&["info", archive.to_str().unwrap()]);
    assert!(info.contains("ptrace at 250 Hz") && info.contains("sampler"), "{info}");
    // Only the kernel counts events.
    let counts = ["record", "--counters", "page-faults", "-o", "counts", "--", "./app"];
    let (code, said) = run(no_counters, &counts);
    assert!(code == Some(1) && said.contains("page-faults"), "{code:?} {said}");
    // Neither: nothing is run, and both ways out are said.
    let (code, said) = run([perf_event, ptrace], &["record", "-o", "none", "--", "./app"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("PERFMON") && said.contains("SYS_PTRACE"), "{said}");
    assert!(!folder.join("none").exists() && !folder.join("counts").exists());
    // A sweep goes the same way.
    let sweep = ["measure", "-c", "1", "--record", "runs", "-o", "sweep.json", "--", "./app"];
    let (code, said) = run(no_counters, &sweep);
    assert_eq!(code, Some(0), "{said}");
    let runs: Vec<_> = fs::read_dir(folder.join("runs")).unwrap().flatten().collect();
    assert_eq!(runs.len(), 1);
    assert_path(&paths(&runs[0].path(), &["main", "leaf"]), "main > leaf");
    let locations = rows(&["locations", runs[0].path().to_str().unwrap()]);
    assert_eq!(locations.len(), 1, "{locations:?}");
}
