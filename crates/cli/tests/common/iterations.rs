//! A program whose iterations are marked.

use std::fs;
use std::path::Path;
use std::process::Command;

/// `app ITERATIONS MILLISECONDS MORE [LIMIT]`: iterations that sleep, each `MORE` microseconds longer
/// than the one before. Each is written down.
const APP: &str = r#"
    #include "pascalops.h"
    #include <unistd.h>
    int main(int count, char **words) {
        long iterations = atol(words[1]), pause = 1000 * atol(words[2]), more = atol(words[3]);
        FILE *log = fopen("log", "a");
        if (count < 4 || !log) return 3;
        for (long i = 0; i < iterations; i++) {
            pascal_start(1);
            pascal_start(2);
            usleep((unsigned)(pause + more * i));
            pascal_stop(2);
            pascal_stop(1);
            fprintf(log, "%s\n", words[1]);
            fflush(log);
        }
        return 0;
    }
"#;

/// Compiles it as `app` in a folder.
pub(crate) fn compile(folder: &Path) {
    fs::write(folder.join("app.c"), APP).unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../measure/include");
    let mut compiler = Command::new("cc");
    compiler.current_dir(folder).args(["-O2", "-pthread", "-o", "app", "app.c"]);
    assert!(compiler.arg("-I").arg(include).status().unwrap().success());
}
