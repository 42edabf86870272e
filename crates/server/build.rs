//! Packs the application into the program: every file of `web/dist`, and the page of reports, each
//! compressed. A build without them is a server that says how to get them.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

/// What a served page never asks for: its engine is the server, its data is the server's.
const LEFT_OUT: [&str; 2] = ["sw.js", "samples/"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PARALLAX_WEB_DIST");
    let web = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("../../web");
    // Cargo takes a watched path that is absent for changed, every time. The stamp that each build
    // of the page leaves lies in a folder that is always there.
    watch(&web.join("build"));
    let dist =
        std::env::var_os("PARALLAX_WEB_DIST").map_or_else(|| web.join("dist"), PathBuf::from);
    let report = dist.with_file_name("dist-single").join("index.html");
    watch(&dist);
    watch(&report);

    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let packed = out.join("packed");
    // What an earlier build packed is of no use any more; there may be nothing.
    let _ = fs::remove_dir_all(&packed);
    fs::create_dir_all(&packed)?;
    let mut code = String::from("const EMBEDDED: &[(&str, &[u8])] = &[\n");
    for (number, path) in below(&dist).into_iter().enumerate() {
        let is_engine = path.ends_with(".wasm");
        if is_engine || LEFT_OUT.iter().any(|left_out| path.starts_with(left_out)) {
            continue;
        }
        // A page that is being rebuilt at this moment loses files; the next build has them.
        let Ok(bytes) = fs::read(dist.join(&path)) else { continue };
        let to = packed.join(number.to_string());
        fs::write(&to, compressed(&bytes)?)?;
        writeln!(code, "    ({path:?}, include_bytes!({to:?})),")?;
    }
    code.push_str("];\n");
    code.push_str("const EMBEDDED_REPORT: Option<&[u8]> = ");
    match fs::read(&report) {
        Ok(bytes) => {
            let to = packed.join("report");
            fs::write(&to, compressed(&bytes)?)?;
            writeln!(code, "Some(include_bytes!({to:?}));")?;
        }
        Err(_) => code.push_str("None;\n"),
    }
    fs::write(out.join("embedded.rs"), code)?;
    Ok(())
}

fn watch(path: &Path) {
    if path.exists() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

/// The files below `folder` as sorted paths relative to it; none where there is no folder.
fn below(folder: &Path) -> Vec<String> {
    let mut out = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if let Some(path) = path.strip_prefix(folder).ok().and_then(Path::to_str) {
                out.push(path.replace('\\', "/"));
            }
        }
    }
    out.sort();
    out
}

fn compressed(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(7));
    encoder.write_all(bytes)?;
    encoder.finish()
}
