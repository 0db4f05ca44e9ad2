//! Finds the components that the host embeds, and rebuilds it when they or the migrations change.

use std::path::Path;
use std::process::exit;

#[expect(clippy::print_stderr, reason = "a build script has nowhere else to say what is missing")]
fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let components = root.join("target/components");
    println!("cargo::rerun-if-changed=../migrations");
    for name in ["risk", "risk-1", "nudge", "accessibility", "transfer-rules"] {
        let path = components.join(name).with_extension("wasm");
        println!("cargo::rerun-if-changed={}", path.display());
        if !path.is_file() {
            eprintln!("the component {name}.wasm is missing: run `make components` first");
            exit(1);
        }
    }
    println!("cargo::rustc-env=CAUDAL_COMPONENTS={}", components.display());
}
