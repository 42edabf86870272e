//! Programs that record their calls, loops and accesses without marks.
//!
//! [`compile`] runs a compiler so that it puts a call before every access and around every function
//! (`-fsanitize=thread`), and links `parallax_instrument.c` in place of the library that finds races.
//! Such a program writes a recording with addresses in place of names; at its end it has the tool
//! call [`add_names`].

mod names;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use parallax_base::StableHash;

pub use names::add_names;

const SOURCE: &str = include_str!("../../../measure/include/parallax_instrument.c");
const OPENMP: &str = include_str!("../../../measure/include/parallax_instrument_openmp.h");
const HEADER: &str = include_str!("../../../measure/include/parallax.h");

/// Why a program was not compiled, or a recording has no names.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstrumentError {
    /// The compiler cannot be started.
    #[error("cannot run {compiler}: {cause}")]
    NotStarted {
        /// The compiler.
        compiler: String,
        /// Why.
        cause: io::Error,
    },
    /// Another compiler.
    #[error("{compiler} is neither gcc nor clang, as its -v says; name one of them")]
    UnknownCompiler {
        /// The compiler.
        compiler: String,
    },
    /// What orders threads there is not seen.
    #[error(
        "{option}: what orders the threads of OpenMP is recorded with gcc only, and with clang \
         everything that they share would look like a race; compile with gcc"
    )]
    OpenMp {
        /// The option of the compiler.
        option: String,
    },
    /// The runtime cannot be compiled.
    #[error("{compiler} cannot compile the runtime that is linked to the program:\n{said}")]
    Runtime {
        /// The compiler.
        compiler: String,
        /// What it said.
        said: String,
    },
    /// A folder or file cannot be written.
    #[error("cannot write {}: {cause}", path.display())]
    Write {
        /// Which one.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A file is no recording, or cannot be read.
    #[error("cannot give names to addresses of {}: {why}", path.display())]
    Recording {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// Which family a compiler is of: they differ in how a runtime is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Gcc,
    Clang,
}

/// Runs the compiler that `words` begin with, with options that make the program record itself.
/// Objects that are linked are kept below `cache`; `tool` is started by such a program at its end.
///
/// # Errors
/// When the compiler cannot be run or the runtime not be compiled. What the compiler itself says is
/// not an error: its exit status is returned.
pub fn compile(words: &[String], cache: &Path, tool: &Path) -> Result<ExitStatus, InstrumentError> {
    let (compiler, arguments) = match words {
        [compiler, arguments @ ..] => (compiler, arguments),
        [] => return Err(InstrumentError::UnknownCompiler { compiler: "nothing".to_owned() }),
    };
    let family = family(compiler)?;
    let is_openmp = |word: &&String| word.starts_with("-fopenmp") && *word != "-fopenmp-simd";
    if family == Family::Clang
        && let Some(option) = arguments.iter().find(is_openmp)
    {
        return Err(InstrumentError::OpenMp { option: option.clone() });
    }
    let mut command = Command::new(compiler);
    command.args(compile_options(family)).args(arguments);
    if links(arguments) {
        let folder = runtime(compiler, cache, tool)?;
        command.args(link_options(family, &folder));
    }
    command.status().map_err(|cause| not_started(compiler, cause))
}

fn not_started(compiler: &str, cause: io::Error) -> InstrumentError {
    InstrumentError::NotStarted { compiler: compiler.to_owned(), cause }
}

fn family(compiler: &str) -> Result<Family, InstrumentError> {
    // What clang says begins with its version, and goes on about the gcc whose files it uses.
    let output = Command::new(compiler).arg("-v").stdin(Stdio::null()).output();
    let output = output.map_err(|cause| not_started(compiler, cause))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("clang version") {
        Ok(Family::Clang)
    } else if said.contains("gcc version") {
        Ok(Family::Gcc)
    } else {
        Err(InstrumentError::UnknownCompiler { compiler: compiler.to_owned() })
    }
}

/// Frame pointers tell where the part of the stack ends that a function has. A variable outside of
/// functions is accessed where the source accesses it, and not once for a whole loop.
fn compile_options(family: Family) -> Vec<&'static str> {
    let mut options = vec!["-g", "-fsanitize=thread", "-fno-omit-frame-pointer", "-DPARALLAX_OFF"];
    match family {
        Family::Gcc => {
            options.extend(["-fsanitize-coverage=trace-pc", "-Wno-tsan"]);
            options.extend(["-fno-tree-loop-im", "-fno-tree-pre"]);
        }
        // Without this, a read before a write to the same variable is not seen.
        Family::Clang => {
            options.push("-fsanitize-coverage=bb,no-prune,trace-pc");
            options.extend(["-mllvm", "-tsan-instrument-read-before-write=1"]);
            options.extend(["-mllvm", "-disable-licm-promotion"]);
        }
    }
    options
}

/// Whether a compiler with these arguments links a program or library.
fn links(arguments: &[String]) -> bool {
    const STOPS: [&str; 6] = ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"];
    let asks = |word: &String| word.starts_with("--") || word == "-v" || word.starts_with("-print");
    let is_file = |word: &String| !word.starts_with('-');
    !arguments.iter().any(|word| STOPS.contains(&word.as_str()))
        && (arguments.iter().any(is_file) || !arguments.iter().any(asks))
}

fn link_options(family: Family, folder: &Path) -> Vec<String> {
    let folder = folder.display();
    let mut options = match family {
        // gcc asks the linker for `tsan`, and looks for it here first.
        Family::Gcc => vec![format!("-B{folder}/")],
        Family::Clang => {
            vec!["-fno-sanitize-link-runtime".to_owned(), format!("{folder}/parallax.o")]
        }
    };
    options.extend(wrapped().into_iter().map(|name| format!("-Wl,--wrap={name}")));
    options.extend(["-pthread".to_owned(), "-ldl".to_owned()]);
    options
}

/// Macros of the runtime that make one, from its name.
const MACROS: [&str; 14] = [
    "LOCK(",
    "LOCK_FOR(",
    "UNLOCK(",
    "WAIT(",
    "NEW(",
    "DELETE(",
    "PARALLEL(",
    "PARALLEL_LOOP(",
    "PARALLEL_LOOP_WHOLE(",
    "BARRIER(",
    "BARRIER_OR_CANCEL(",
    "OPENS(",
    "CLOSES(",
    "TASK_LOOP(",
];

/// The functions of the library for which the runtime has `__wrap_NAME`: by their definitions, and
/// by the macros that make one.
fn wrapped() -> Vec<&'static str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name =
        |rest: &'static str| rest.split(|c| !is_name(c)).next().filter(|name| !name.is_empty());
    let mut names: Vec<&str> = Vec::new();
    let lines = SOURCE.lines().chain(OPENMP.lines());
    for line in lines.filter(|line| !line.starts_with([' ', '#', '/', '*'])) {
        let defined = line.split_once("__wrap_").and_then(|(_, rest)| name(rest));
        let made = MACROS.iter().find_map(|made| line.strip_prefix(made)).and_then(name);
        names.extend(defined.or(made));
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// The folder with the runtime for a compiler, which is made when there is none.
fn runtime(compiler: &str, cache: &Path, tool: &Path) -> Result<PathBuf, InstrumentError> {
    let tool = tool.to_string_lossy();
    let hash = [SOURCE, OPENMP, HEADER, compiler, &tool]
        .iter()
        .fold(StableHash::default(), |hash, text| hash.with(text.as_bytes()).with(&[0]));
    let folder = cache.join(format!("instrument-{:016x}", hash.bits()));
    // Written last, so that the others are there with it.
    let failed = |path: &Path| {
        let path = path.to_owned();
        |cause| InstrumentError::Write { path, cause }
    };
    if folder.join("libtsan.so").exists() {
        return folder.canonicalize().map_err(failed(&folder));
    }
    fs::create_dir_all(&folder).map_err(failed(&folder))?;
    let folder = folder.canonicalize().map_err(failed(&folder))?;
    // Several compilers may be at it at once: each makes its own files, and the last one counts.
    let own = |name: &str| folder.join(format!("{}-{name}", std::process::id()));
    let put = |name: &str, text: &str| fs::write(own(name), text).map_err(failed(&own(name)));
    let header = folder.join("parallax.h");
    put("parallax.h", HEADER)?;
    fs::rename(own("parallax.h"), &header).map_err(failed(&header))?;
    let openmp = folder.join("parallax_instrument_openmp.h");
    put("parallax_instrument_openmp.h", OPENMP)?;
    fs::rename(own("parallax_instrument_openmp.h"), &openmp).map_err(failed(&openmp))?;
    put("runtime.c", SOURCE)?;
    put("nothing.c", "")?;
    let quoted = tool.replace('\\', "\\\\").replace('"', "\\\"");
    for (source, object) in [("runtime.c", "parallax.o"), ("nothing.c", "libtsan_preinit.o")] {
        let output = Command::new(compiler)
            .args(["-O2", "-fPIC", "-fno-omit-frame-pointer", "-w", "-x", "c", "-c"])
            .arg(format!("-DPARALLAX_TOOL=\"{quoted}\""))
            .arg(own(source))
            .arg("-o")
            .arg(own(object))
            .output()
            .map_err(|cause| not_started(compiler, cause))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(InstrumentError::Runtime { compiler: compiler.to_owned(), said });
        }
        fs::rename(own(object), folder.join(object)).map_err(failed(&own(object)))?;
        let _ = fs::remove_file(own(source));
    }
    // What the linker takes for a library is a list of objects.
    let list = format!("INPUT({}/parallax.o)\n", folder.display());
    for name in ["libtsan.a", "libtsan.so"] {
        put(name, &list)?;
        fs::rename(own(name), folder.join(name)).map_err(failed(&own(name)))?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_runtime_that_stand_for_others_are_found_in_it() {
        let names = wrapped();
        for name in [
            "malloc",
            "free",
            "_Znwm",
            "_ZdaPvm",
            "pthread_mutex_lock",
            "pthread_mutex_unlock",
            "pthread_mutex_timedlock",
            "pthread_cond_wait",
            "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE",
            "memcpy",
            "sem_wait",
            "thrd_create",
            "GOMP_parallel",
            "GOMP_barrier",
            "GOMP_taskloop_ull",
        ] {
            assert!(names.contains(&name), "{name}: {names:?}");
        }
        let has = |text: &str| SOURCE.contains(text) || OPENMP.contains(text);
        let is_real = |name: &&&str| !has(&format!("__real_{name}"));
        let is_made = |name: &str| MACROS.iter().any(|made| has(&format!("{made}{name}")));
        let unknown: Vec<_> = names.iter().filter(is_real).filter(|name| !is_made(name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn only_what_is_linked_gets_the_runtime() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for text in ["-O1 a.c -o a", "a.o b.o", "-shared a.o -o liba.so"] {
            assert!(links(&words(text)), "{text}");
        }
        for text in ["-c a.c", "-E a.c", "-O2 -S a.c -o a.s", "--version", "-v"] {
            assert!(!links(&words(text)), "{text}");
        }
    }
}
