//! `caudal gate`: the examination itself, in a process of its own. Reads a component from standard
//! input and writes a report to standard output. `models::gate` starts it.

mod cases;

use std::io::{self, Read as _};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result};
use nix::sys::resource::{Resource, setrlimit};
use sha2::{Digest as _, Sha256};

use super::print;
use super::scorers::Scorer;
use crate::domain::model::ModelKind;
use crate::models::gate::{COMPONENT_BYTES_MAX, Outcome, Report};
use crate::wasm::{AccessibilityScorer, Format, Identity, Interface, NudgeScorer, RiskScorer, Runtime, TransferRules};
use Outcome::{Passed, Refused};

/// Seconds of processor time: twice what a component of the largest size needs.
const CPU_SECONDS_MAX: u64 = 20;
/// Bytes of writable memory. Compiling one of ours takes a few tens of megabytes, and one of 12 MB
/// some hundreds.
const DATA_BYTES_MAX: u64 = 2 << 30;
/// Bytes of one file: the engine keeps the first image of a memory in a file without a name.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// Imports that are named in a refusal.
const IMPORTS_TOLD_MAX: usize = 5;

pub(super) fn run() -> Result<ExitCode> {
    limit_this_process().context("cannot limit this process")?;
    let mut bytes = Vec::new();
    io::stdin().take(COMPONENT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).context("cannot read the component")?;
    let mut report = Report { bytes: bytes.len(), ..Report::default() };
    // A refusal stands in the report and ends the examination.
    let _ = examine(&bytes, &mut report);
    print(&serde_json::to_string(&report)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Time and memory end with the process, and there is no core dump of a stranger's bytes.
fn limit_this_process() -> Result<()> {
    for (resource, limit) in [
        (Resource::RLIMIT_CPU, CPU_SECONDS_MAX),
        (Resource::RLIMIT_DATA, DATA_BYTES_MAX),
        (Resource::RLIMIT_FSIZE, FILE_BYTES_MAX),
        (Resource::RLIMIT_CORE, 0),
    ] {
        setrlimit(resource, limit, limit)?;
    }
    Ok(())
}

/// The examination was ended by a refusal, which stands in the report.
struct Ended;

fn refuse(report: &mut Report, name: &str, detail: impl Into<String>) -> Ended {
    report.add(name, Refused, detail);
    Ended
}

fn examine(bytes: &[u8], report: &mut Report) -> Result<(), Ended> {
    if bytes.len() > COMPONENT_BYTES_MAX {
        return Err(refuse(report, "size", format!("more than {COMPONENT_BYTES_MAX} bytes")));
    }
    report.add("size", Passed, format!("{} bytes of at most {COMPONENT_BYTES_MAX}", bytes.len()));
    match Format::of(bytes) {
        Format::Component => report.add("format", Passed, "a WebAssembly component"),
        Format::CoreModule => {
            return Err(refuse(report, "format", "a core module, which has no world: build a component"));
        }
        Format::MachineCode => {
            return Err(refuse(report, "format", "machine code: precompiled components are never taken"));
        }
        Format::Unknown => return Err(refuse(report, "format", "no WebAssembly component")),
    }
    let runtime = Runtime::new().map_err(|error| refuse(report, "engine", told(error)))?;
    let start = Instant::now();
    let interface = runtime.interface(bytes).map_err(|error| refuse(report, "compiles", told(error)))?;
    report.add("compiles", Passed, format!("in {} ms", start.elapsed().as_millis()));
    let Interface { imports, exports } = interface;
    if !imports.is_empty() {
        let mut named = imports.iter().take(IMPORTS_TOLD_MAX).cloned().collect::<Vec<_>>().join(", ");
        if imports.len() > IMPORTS_TOLD_MAX {
            named += &format!(" and {} more", imports.len() - IMPORTS_TOLD_MAX);
        }
        return Err(refuse(report, "imports", format!("asks its host for {named}; a component may ask for nothing")));
    }
    report.add("imports", Passed, "none: all it can do is answer");
    let Some(kind) = kind_of(&exports) else {
        let offered = if exports.is_empty() { "nothing".to_owned() } else { exports.join(", ") };
        return Err(refuse(report, "world", format!("offers {offered}, which is no world of caudal:scoring@1.0.0")));
    };
    report.kind = Some(kind.as_str().to_owned());
    match kind {
        ModelKind::Risk => match RiskScorer::load(&runtime, bytes) {
            Ok(scorer) => of_scorer(&scorer, cases::RISK, bytes, report),
            Err(error) => Err(refuse(report, "world", told(error))),
        },
        ModelKind::Nudge => match NudgeScorer::load(&runtime, bytes) {
            Ok(scorer) => of_scorer(&scorer, cases::NUDGE, bytes, report),
            Err(error) => Err(refuse(report, "world", told(error))),
        },
        ModelKind::Accessibility => match AccessibilityScorer::load(&runtime, bytes) {
            Ok(scorer) => of_scorer(&scorer, cases::ACCESSIBILITY, bytes, report),
            Err(error) => Err(refuse(report, "world", told(error))),
        },
        ModelKind::TransferRules => match TransferRules::load(&runtime, bytes) {
            Ok(rules) => {
                identified(rules.identity(), bytes, report);
                cases::of_rules(&rules, report)
            }
            Err(error) => Err(refuse(report, "world", told(error))),
        },
    }
}

/// The kind whose interface is among the exports.
fn kind_of(exports: &[String]) -> Option<ModelKind> {
    let interface = |kind: &ModelKind| format!("caudal:scoring/{kind}@1.0.0");
    ModelKind::ALL.iter().copied().find(|kind| exports.contains(&interface(kind)))
}

fn identified(identity: &Identity, bytes: &[u8], report: &mut Report) {
    report.version = Some(identity.version.semantic_version().to_owned());
    report.model_version = Some(identity.version.to_string());
    report.summary = Some(identity.summary.clone());
    report.add("world", Passed, format!("{}: every function is there, with its types", identity.kind));
    let digest: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    report.add("identity", Passed, format!("{}, sha256 {digest}", identity.version));
}

fn of_scorer<S: Scorer>(scorer: &S, text: &str, bytes: &[u8], report: &mut Report) -> Result<(), Ended> {
    identified(scorer.identity(), bytes, report);
    cases::of_scorer(scorer, text, report)
}

/// An error and its causes, on one line.
fn told(error: impl Into<anyhow::Error>) -> String {
    format!("{:#}", error.into()).replace('\n', " ")
}
