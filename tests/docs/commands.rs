//! Runs the blocks marked `sh run`, in order and in one shell per document, against a sandbox of the test's own.
//!
//! A shell starts in the root of the clone; a block marked `sh run=empty` starts in a new, empty folder. The service's
//! addresses, its data folder and the folder of the binaries are replaced by the test's own.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::process::{DataDir, Service};
use crate::{read, root};

/// Longer than all commands of a document take together.
const SECONDS_MAX: &str = "600";

#[test]
fn readme() {
    // As somebody does who tries again.
    run_times("README.md", 2);
}

#[test]
fn operating() {
    run("host/OPERATING.md");
}

#[test]
fn components() {
    run("components/README.md");
}

#[track_caller]
fn run(document: &str) {
    run_times(document, 1);
}

#[track_caller]
fn run_times(document: &str, times: usize) {
    let script = script(document).repeat(times);
    let data = DataDir::new();
    let service = Service::start(&data);
    let binaries = Path::new(env!("CARGO_BIN_EXE_caudal")).parent().unwrap();
    let script = script
        .replace("http://127.0.0.1:8080", &service.ledger)
        .replace("http://127.0.0.1:8081", &service.assist)
        .replace("$PWD/.caudal", data.0.to_str().unwrap())
        .replace("$PWD/target/debug", binaries.to_str().unwrap());
    let mut shell = Command::new("timeout");
    shell.args([SECONDS_MAX, "bash", "-euo", "pipefail", "-c", &script]).current_dir(root());
    for setting in ["CAUDAL_DATA_DIR", "CAUDAL_LEDGER_KEY", "DATABASE_URL"] {
        shell.env_remove(setting);
    }
    // Crates are those that this build downloaded.
    shell.env("CARGO_NET_OFFLINE", "true");
    let scratch = DataDir::new();
    shell.env("CAUDAL_ADMIN_URL", &service.assist);
    let output = shell.env("TOKEN", &service.token).env("TMPDIR", &scratch.0).output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{document}: {}\n{stdout}\n{stderr}", output.status);
    service.stop();
}

/// The marked blocks as one script, which says on standard error which block runs.
fn script(document: &str) -> String {
    let text = read(document);
    let mut script = String::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```sh run") else { continue };
        writeln!(script, "echo '== {document}, line {}' >&2", at + 1).unwrap();
        match info {
            "" => {}
            "=empty" => script.push_str("cd \"$(mktemp -d)\"\n"),
            other => panic!("{document}, line {}: unknown mark `run{other}`", at + 1),
        }
        lines.by_ref().take_while(|(_, line)| *line != "```").for_each(|(_, line)| {
            script.push_str(line);
            script.push('\n');
        });
    }
    assert!(!script.is_empty(), "{document} has no block marked `sh run`");
    script
}
