//! Recording programs whose call paths and shares are known.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;
#[path = "common/planted.rs"]
mod planted;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{printed, rows};
use parallax_testkit::needs::{self, Without};
use planted::{Program, WORK, assert_path, end_all, paths, sent, time_of, times};
use serde_json::Value;

/// A quarter of the time is in `small`, and the rest in `large`.
fn assert_planted_shares(archive: &Path) {
    let times = times(archive, "cputime", "inclusive");
    let (small, large) = (time_of(&times, "small"), time_of(&times, "large"));
    assert!(small + large > 0.1, "too little was recorded: {times:?}");
    let share = large / (small + large);
    assert!((share - 0.75).abs() < 0.08, "{share} of the time in `large`, planted 0.75: {times:?}");
}

#[test]
fn a_program_with_planted_shares_has_them_in_the_flat_view() {
    let text = r"
        NOINLINE void small(void) { work(5); sink++; }
        NOINLINE void large(void) { work(15); sink++; }
        int main(void) {
            for (int i = 0; i < 300; i++) { small(); large(); }
            return 0;
        }";
    let Some(program) = Program::new("cc", &["-O1", "-g", "-fno-omit-frame-pointer"], text) else {
        return;
    };
    for archive in program.recorded(&["./app"]) {
        assert_planted_shares(&archive);
        let flat = printed(&["flat", archive.to_str().unwrap()]);
        assert!(flat.starts_with("Functions by CPUTIME"), "{flat}");
    }
}

#[test]
fn names_and_shares_are_there_where_no_processor_was_free() {
    let text = r"
        NOINLINE void small(void) { work(5); sink++; }
        NOINLINE void large(void) { work(15); sink++; }
        int main(int count, char **words) {
            (void)words;
            if (count > 1) alarm(30);
            for (int i = 0; count > 1 || i < 300; i++) { small(); large(); }
            return 0;
        }";
    let Some(program) = Program::new("cc", &["-O1", "-g"], text) else { return };
    let processors = std::thread::available_parallelism().unwrap().get();
    let busy = |_| Command::new(program.folder.path().join("app")).arg("on").spawn().unwrap();
    let mut others: Vec<_> = (0..processors).map(busy).collect();
    let archives = program.recorded(&["./app"]);
    for other in &mut others {
        other.kill().unwrap();
        other.wait().unwrap();
    }
    for archive in archives {
        assert_planted_shares(&archive);
        assert_path(&paths(&archive, &["main", "large", "work"]), "main > large > work");
    }
}

#[test]
fn optimised_code_without_frame_pointers_has_its_callers_recursion_and_inlined_functions() {
    let text = r"
        NOINLINE void leaf(int n) { char buffer[200 + n]; memset(buffer, n, sizeof buffer);
            work(10); sink += buffer[n]; }
        NOINLINE void down(int n) { if (n > 0) { down(n - 1); sink++; } else { leaf(3); sink++; } }
        static inline __attribute__((always_inline)) void inlined(void) { work(10); }
        NOINLINE void outer(void) { inlined(); sink++; }
        int main(void) {
            for (int i = 0; i < 200; i++) { down(3); outer(); }
            return 0;
        }";
    let flags = ["-O2", "-g", "-fomit-frame-pointer"];
    let Some(program) = Program::new("cc", &flags, text) else { return };
    for archive in program.recorded(&["./app"]) {
        let known = ["main", "leaf", "down", "inlined", "outer", "work"];
        let paths = paths(&archive, &known);
        assert_path(&paths, "main > down > down > down > down > leaf > work");
        assert_path(&paths, "main > outer > inlined > work");
    }
}

#[test]
fn threads_and_forked_processes_have_locations_of_their_own() {
    let text = r#"
        #include <pthread.h>
        #include <sys/wait.h>
        NOINLINE void *in_thread(void *x) {
            pthread_setname_np(pthread_self(), "helper");
            for (int i = 0; i < 100; i++) { work(10); sink++; }
            return x;
        }
        NOINLINE void in_child(void) { for (int i = 0; i < 100; i++) { work(10); sink++; } }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, in_thread, 0);
            pthread_join(thread, 0);
            if (fork() == 0) { in_child(); _exit(0); }
            wait(0);
            return 0;
        }"#;
    let Some(program) = Program::new("cc", &["-O2"], text) else { return };
    for archive in program.recorded(&["./app"]) {
        let known = ["main", "in_thread", "in_child"];
        let paths = paths(&archive, &known);
        assert_path(&paths, "in_thread");
        assert_path(&paths, "main > in_child");
        let locations = rows(&["locations", archive.to_str().unwrap()]);
        let text = format!("{locations:?}");
        assert!(text.contains("helper") && text.contains("process"), "{text}");
    }
}

#[test]
fn libraries_that_are_loaded_later_exceptions_and_signals_have_their_callers() {
    let text = r#"
        #include <dlfcn.h>
        #include <signal.h>
        #include <stdexcept>
        NOINLINE void handler(int) { work(400); sink = sink + 1; }
        struct Guard { NOINLINE ~Guard() { work(400); sink = sink + 1; } };
        NOINLINE void throwing() { Guard guard; throw std::runtime_error("on purpose"); }
        NOINLINE void catching() {
            for (int i = 0; i < 5; i++) { try { throwing(); } catch (std::exception &) { sink = sink + 1; } }
        }
        NOINLINE void sending() { for (int i = 0; i < 5; i++) { raise(SIGUSR1); sink = sink + 1; } }
        int main(int, char **argv) {
            signal(SIGUSR1, handler);
            void *library = dlopen(argv[1], RTLD_NOW);
            void (*late)(int) = (void (*)(int))dlsym(library, "late");
            late(2000);
            catching();
            sending();
            return 0;
        }"#;
    let Some(program) = Program::new("c++", &["-O2", "-g", "-fomit-frame-pointer"], text) else {
        return;
    };
    if !needs::program("cc", Without::Test) {
        return;
    }
    let source = program.folder.path().join("late.c");
    fs::write(&source, format!("{WORK} NOINLINE void late(int n) {{ work(n); sink++; }}")).unwrap();
    let library = program.folder.path().join("liblate.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    assert!(compiler.status().unwrap().success());
    for archive in program.recorded(&["./app", library.to_str().unwrap()]) {
        let known = [
            "main",
            "late",
            "catching()",
            "throwing()",
            "Guard::~Guard()",
            "sending()",
            "handler(int)",
        ];
        let paths = paths(&archive, &known);
        assert_path(&paths, "main > late");
        assert_path(&paths, "main > catching() > throwing() > Guard::~Guard()");
        assert_path(&paths, "main > sending() > handler(int)");
    }
}

#[test]
fn a_stack_deeper_than_what_is_kept_is_said_to_be_cut() {
    let text = r"
        NOINLINE void down(int n) { char room[400]; memset(room, n, sizeof room);
            if (n > 0) down(n - 1); else work(3000); sink += room[n & 7]; }
        int main(void) { down(100); return 0; }";
    let Some(program) = Program::new("cc", &["-O1"], text) else { return };
    for sampler in program.samplers() {
        let folder = program.folder.path();
        let record = |name: &str, stack: &str| {
            let _ = fs::remove_dir_all(folder.join(name));
            let options = ["--sampler", sampler, "-o", name, "--stack", stack];
            let output = program.record(&options, &["./app"]);
            assert!(output.status.success());
            String::from_utf8_lossy(&output.stderr).into_owned()
        };
        let said = record("cut.parallax", "4");
        assert!(said.contains("longer than the 4096 bytes"), "{said}");
        let cut = folder.join("cut.parallax");
        assert_path(&paths(&cut, &["<partial call paths>", "main"]), "<partial call paths>");
        let said = record("whole.parallax", "63");
        assert!(!said.contains("longer than"), "{said}");
    }
}

#[test]
fn time_off_the_processor_is_waiting_where_it_was_given_away() {
    let text = r"
        NOINLINE void sleeping(void) { usleep(20000); sink++; }
        NOINLINE void working(void) { work(100); sink++; }
        int main(void) {
            for (int i = 0; i < 20; i++) { working(); sleeping(); }
            return 0;
        }";
    let Some(program) = Program::new("cc", &["-O2"], text) else { return };
    for archive in program.recorded(&["./app"]) {
        let waiting = time_of(&times(&archive, "realtime", "exclusive"), "<waiting>");
        assert!((0.39..6.0).contains(&waiting), "{waiting} s of waiting, planted 0.4 s");
        let cpu = time_of(&times(&archive, "cputime", "exclusive"), "<waiting>");
        assert!(cpu == 0.0, "{cpu} s of waiting are on a processor");
        // What was sampled has samples, and neither calls nor events.
        let path = archive.to_str().unwrap();
        let info: Value = serde_json::from_str(&printed(&["info", path, "--json"])).unwrap();
        assert!(info["events"].is_null(), "{info}");
        let samples = info["samples"].as_u64().unwrap();
        assert!((100..20_000).contains(&samples), "{samples} samples");
        let report = printed(&["report", path, "--width", "200"]);
        let counted = report.lines().find(|line| line.contains(" samples")).unwrap_or_default();
        assert!(counted.replace(',', "").contains(&format!("about {samples} samples")), "{report}");
        let idle = rows(&["idleness", path]);
        let waits = idle[0]["other_wait"].as_f64().unwrap();
        assert!((0.39..6.0).contains(&waits), "{waits} s of waiting, planted 0.4 s: {idle:?}");
    }
}

#[test]
fn the_exit_status_is_that_of_the_program_and_what_cannot_be_run_leaves_nothing() {
    let Some(program) = Program::new("cc", &[], "int main(void) { work(1); return 7; }") else {
        return;
    };
    for sampler in program.samplers() {
        let name = |end: &str| format!("{sampler}-{end}");
        let record = |command: &[&str], end: &str| {
            program.record(&["--sampler", sampler, "-o", &name(end)], command)
        };
        let status = |command: &[&str], end: &str| {
            let code = record(command, end).status.code();
            (code, program.folder.path().join(name(end)).exists())
        };
        assert_eq!(status(&["./app"], "a"), (Some(7), true));
        assert_eq!(status(&["sh", "-c", "kill -TERM $$"], "b"), (Some(128 + 15), true));
        assert_eq!(status(&["./absent"], "c"), (Some(127), false));
        let again = record(&["./app"], "a");
        assert!(String::from_utf8_lossy(&again.stderr).contains("exists already"));
    }
}

#[test]
fn a_recorded_sweep_is_an_ensemble_in_which_every_function_has_maps() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/openmp/serial_part.c");
    let text = fs::read_to_string(source).unwrap();
    let Some(program) = Program::new("cc", &["-O2", "-fopenmp"], &text) else { return };
    let output = Command::new(env!("CARGO_BIN_EXE_parallax"))
        .current_dir(program.folder.path())
        .args(["measure", "-c", "1,2", "-i", "100 20", "-i", "200 20", "--record", "runs"])
        .args(["-o", "sweep.json", "--", "./app"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("scaling runs/*.parallax --param cores=meta:cores"), "{said}");
    let runs = program.folder.path().join("runs");
    let mut archives: Vec<String> = fs::read_dir(&runs)
        .unwrap()
        .map(|entry| entry.unwrap().path().to_string_lossy().into_owned())
        .collect();
    archives.sort();
    assert_eq!(archives.len(), 4, "{archives:?}");
    assert!(archives[0].ends_with("cores1-input0-run1.parallax"), "{archives:?}");
    let parameters = ["--param", "cores=meta:cores", "--param", "input=meta:input"];
    let archives: Vec<&str> = archives.iter().map(String::as_str).collect();
    let arguments = [&["scaling"], &archives[..], &parameters, &["--table", "regions"]].concat();
    let regions = format!("{:?}", rows(&arguments));
    assert!(regions.contains("main._omp_fn.0"), "{regions}");
}

#[test]
fn processes_that_a_launcher_numbers_are_ranks() {
    let text = r"
        #include <pthread.h>
        NOINLINE void *in_thread(void *x) { work(500); sink++; return x; }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, in_thread, 0);
            work(500);
            pthread_join(thread, 0);
            return 0;
        }";
    let Some(program) = Program::new("cc", &["-O2"], text) else { return };
    let launcher = "for r in 0 1 2; do OMPI_COMM_WORLD_RANK=$r ./app & done; wait";
    for archive in program.recorded(&["sh", "-c", launcher]) {
        let locations = rows(&["locations", archive.to_str().unwrap()]);
        let text = |value: Option<&Value>| {
            value.and_then(Value::as_u64).map_or_else(String::new, |number| number.to_string())
        };
        let mut who: Vec<String> = locations
            .iter()
            .map(|row| format!("{}.{}", text(row.get("rank")), text(row.get("thread"))))
            .filter(|who| !who.starts_with('.'))
            .collect();
        who.sort();
        assert_eq!(who, ["0.0", "0.1", "1.0", "1.1", "2.0", "2.1"], "{locations:?}");
        // The shell that starts them is no part of the program.
        let of_shell =
            locations.iter().find(|row| row.get("rank").is_none_or(Value::is_null)).unwrap();
        assert_ne!(of_shell["role"], "application", "{of_shell:?}");
        let of_ranks = locations.iter().filter(|row| row.get("rank").is_some_and(Value::is_u64));
        assert!(of_ranks.clone().all(|row| row["role"] == "application"), "{locations:?}");
        assert_eq!(of_ranks.count(), 6);
    }
}

#[test]
fn an_interrupt_ends_the_program_and_keeps_what_was_recorded() {
    let text = r#"
        #include <fcntl.h>
        int main(void) { work(1000); close(open("ready", O_CREAT | O_WRONLY, 0600)); for (;;) work(10); }"#;
    let Some(program) = Program::new("cc", &["-O2"], text) else { return };
    let path = program.folder.path().join("run.parallax");
    let ready = program.folder.path().join("ready");
    // Sends a signal to the tool when the program has worked for a while; the tool's exit status.
    let interrupted = |sampler: &str, signal: &str| {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_parallax"))
            .current_dir(program.folder.path())
            .args(["record", "--sampler", sampler, "-o", "run.parallax", "--", "./app"])
            .spawn()
            .unwrap();
        while !ready.exists() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        fs::remove_file(&ready).unwrap();
        assert!(sent(signal, &tool.id().to_string()));
        let code = tool.wait().unwrap().code();
        end_all(&program.folder.path().join("app"));
        code
    };
    for sampler in program.samplers() {
        interrupted(sampler, "-KILL");
        assert!(!path.exists(), "a tool that is killed leaves nothing under the name");
        assert_eq!(interrupted(sampler, "-TERM"), Some(128 + 15));
        let times = times(&path, "cputime", "inclusive");
        assert!(time_of(&times, "main") > 0.05, "{times:?}");
        fs::remove_dir_all(&path).unwrap();
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn code_that_a_program_makes_has_the_names_that_it_writes() {
    let text = r#"
        #include <stdio.h>
        #include <sys/mman.h>
        NOINLINE void inner(void) { work(2000); sink++; }
        int main(void) {
            /* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret */
            static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
            int how = PROT_READ | PROT_WRITE | PROT_EXEC;
            void *page = mmap(0, 4096, how, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            memcpy(page, code, sizeof code);
            char name[64];
            snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)getpid());
            FILE *list = fopen(name, "w");
            fprintf(list, "%lx %x made function\n", (unsigned long)page, (int)sizeof code);
            fclose(list);
            ((void (*)(void (*)(void)))page)(inner);
            sleep(1);
            unlink(name);
            return 0;
        }"#;
    let Some(program) = Program::new("cc", &["-O2", "-fno-omit-frame-pointer"], text) else {
        return;
    };
    for archive in program.recorded(&["./app"]) {
        assert_path(
            &paths(&archive, &["main", "made function", "inner"]),
            "main > made function > inner",
        );
    }
}

/// CPython gives each function a piece of code that calls the interpreter. No file says how it lies on
/// the stack: 3.12 makes room for a word there, later ones keep the frame pointer.
#[test]
#[cfg(target_arch = "x86_64")]
fn functions_of_python_are_in_the_middle_of_call_paths() {
    let codes = [
        // sub $8, %rsp; call *%rdi; add $8, %rsp; ret
        "0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3",
        // push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret
        "0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3",
    ];
    for code in codes {
        let text = r#"
            #include <stdio.h>
            #include <sys/mman.h>
            NOINLINE void inner(void) { work(2000); sink++; }
            static void *made;
            NOINLINE void evaluate(void) { ((void (*)(void (*)(void)))made)(inner); sink++; }
            int main(void) {
                static const unsigned char code[] = { CODE };
                int how = PROT_READ | PROT_WRITE | PROT_EXEC;
                made = mmap(0, 4096, how, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                memcpy(made, code, sizeof code);
                char name[64];
                snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)getpid());
                FILE *list = fopen(name, "w");
                fprintf(list, "%lx %x py::Model.step:/app/model.py\n", (unsigned long)made, (int)sizeof code);
                fclose(list);
                evaluate();
                sleep(1);
                unlink(name);
                return 0;
            }"#
        .replace("CODE", code);
        let Some(program) = Program::new("cc", &["-O2", "-fomit-frame-pointer"], &text) else {
            return;
        };
        for archive in program.recorded(&["./app"]) {
            let path = ["main", "evaluate", "Model.step", "inner"];
            assert_path(&paths(&archive, &path), "main > evaluate > Model.step > inner");
        }
    }
}

#[test]
fn python_is_asked_to_name_its_functions_only_where_that_is_wanted() {
    let Some(program) = Program::new("cc", &[], "int main(void) { return 0; }") else { return };
    let plain = ["-o", "plain.parallax"];
    let python = ["-o", "python.parallax", "--python"];
    for (options, expected) in [(&plain[..], "unset"), (&python[..], "1")] {
        let output = program.record(options, &["sh", "-c", "echo ${PYTHONPERFSUPPORT:-unset}"]);
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected);
    }
}
