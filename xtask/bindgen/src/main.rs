//! `xtask-bindgen INPUT.wasm OUT_DIR`: what the program `wasm-bindgen` does, without installing it.
//!
//! The library and the crate of the same name must be of one version; here the lock file sees to
//! it. It is a program of its own because few commands of `xtask` need it and it takes a while to
//! compile.

use anyhow::{Context as _, Result, bail};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, out] = arguments.as_slice() else {
        bail!("usage: xtask-bindgen INPUT.wasm OUT_DIR")
    };
    wasm_bindgen_cli_support::Bindgen::new()
        .input_path(input)
        .web(true)?
        .typescript(true)
        .remove_name_section(std::env::var_os("PARALLAX_WASM_NAMES").is_none())
        .remove_producers_section(true)
        .generate(out)
        .with_context(|| format!("cannot write the JavaScript side of {input} into {out}"))
}
