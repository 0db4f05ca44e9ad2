//! Locates the components, which the host embeds. Reruns when these or the migrations change.

use std::path::Path;
use std::process::exit;
use std::{env, fs, io};

/// Components of earlier models, built from the crates of the present ones.
const EARLIER: [&str; 1] = ["risk-1"];

#[expect(clippy::print_stderr, reason = "a build script reports errors on standard error")]
fn main() -> io::Result<()> {
    // Read when it runs: clones that share a target directory share this program as well.
    let root = Path::new(&env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?).join("../..");
    let components = root.join("target/components");
    println!("cargo::rerun-if-changed=../../migrations");
    for name in component_crates(&root.join("components"))?.into_iter().chain(EARLIER.map(str::to_owned)) {
        let path = components.join(&name).with_extension("wasm");
        println!("cargo::rerun-if-changed={}", path.display());
        if !path.is_file() {
            eprintln!("the component {name}.wasm is missing: run `make components` first");
            exit(1);
        }
    }
    println!("cargo::rustc-env=CAUDAL_COMPONENTS={}", components.display());
    Ok(())
}

/// The names of the crates in a folder that are components.
fn component_crates(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let manifest = entry.path().join("Cargo.toml");
        if fs::read_to_string(&manifest).is_ok_and(|text| text.contains("\"cdylib\"")) {
            println!("cargo::rerun-if-changed={}", manifest.display());
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}
