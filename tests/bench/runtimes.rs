//! The same component in Node, Chromium and workerd (`runtimes.mjs`); `calls` has wasmtime's figures.

use std::process::Command;

use serde_json::Value;

use crate::report::say;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/runtimes.mjs");

pub(crate) fn run() {
    say!("a risk call with JSON text, one at a time; for workerd, a request over HTTP");
    let output = Command::new("node").arg(SCRIPT).output().expect("run `make bench`: it installs Node");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let figure: Value = serde_json::from_str(line).unwrap();
        say!("{:20} {:8.1} us", figure["runtime"].as_str().unwrap(), figure["us"].as_f64().unwrap());
    }
}
