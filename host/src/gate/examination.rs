//! `caudal gate`: the examination itself, in a process of its own. Reads a component from standard
//! input and writes a report to standard output. `models::gate` starts it.

use std::io::{self, Read as _};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result};
use nix::sys::resource::{Resource, setrlimit};
use rustix::process::nice;

use crate::cli::print;
use crate::domain::model::{ModelKind, PolicyClass};
use crate::gate::cases;
use crate::gate::report::{COMPONENT_BYTES_MAX, Outcome, Report};
use crate::scoring::{Kind, Scorer as _, Visitor, with_kind};
use crate::wasm::{Compiled, Format, Identity, PURE_BYTES_MAX, Runtime, TransferRules};
use Outcome::{Noted, Passed, Refused};

/// Seconds of processor time for components that could be pure: ours take half of one.
const CPU_SECONDS_MAX: u64 = 20;
/// Seconds of processor time for larger ones. Compiling 12 MB takes about twenty, asking it all about
/// ten.
const CPU_SECONDS_MAX_LARGE: u64 = 100;
/// Bytes of writable memory. Compiling one of ours takes a few tens of megabytes, and one of 12 MB
/// some hundreds.
const DATA_BYTES_MAX: u64 = 2 << 30;
/// Bytes of one file: the engine keeps the first image of a memory in a file without a name.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// Open files: the engine opens one for each module with a first image of its memory.
const FILES_MAX: u64 = 64;
/// How much this process gives way to others; 19 is the most.
const NICENESS: i32 = 19;
/// Imports that are named in a refusal.
const IMPORTS_TOLD_MAX: usize = 5;

pub(crate) fn run() -> Result<ExitCode> {
    // Whoever answers requests goes first. Refused, it is only less polite.
    let _ = nice(NICENESS);
    let mut bytes = Vec::new();
    io::stdin().take(COMPONENT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).context("cannot read the component")?;
    limit_this_process(bytes.len()).context("cannot limit this process")?;
    let mut report = Report { bytes: bytes.len(), ..Report::default() };
    // A refusal stands in the report and ends the examination.
    let _ = examine(&bytes, &mut report);
    print(&serde_json::to_string(&report)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Time and memory end with the process, and there is no core dump of a stranger's bytes.
fn limit_this_process(bytes: usize) -> Result<()> {
    let seconds = if bytes <= PURE_BYTES_MAX { CPU_SECONDS_MAX } else { CPU_SECONDS_MAX_LARGE };
    for (resource, limit) in [
        (Resource::RLIMIT_CPU, seconds),
        (Resource::RLIMIT_DATA, DATA_BYTES_MAX),
        (Resource::RLIMIT_FSIZE, FILE_BYTES_MAX),
        (Resource::RLIMIT_NOFILE, FILES_MAX),
        (Resource::RLIMIT_CORE, 0),
    ] {
        setrlimit(resource, limit, limit)?;
    }
    Ok(())
}

/// The examination was ended by a refusal, which stands in the report.
pub(crate) struct Ended;

pub(crate) fn refuse(report: &mut Report, name: &str, detail: impl Into<String>) -> Ended {
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
    let compiled = runtime.compile(bytes).map_err(|error| refuse(report, "compiles", told(error)))?;
    report.add("compiles", Passed, format!("in {} ms", start.elapsed().as_millis()));
    check_imports(&compiled, report)?;
    let exports = compiled.exports();
    let Some(kind) = kind_of(&exports) else {
        let offered = if exports.is_empty() { "nothing".to_owned() } else { exports.join(", ") };
        return Err(refuse(report, "world", format!("offers {offered}, which is no world of caudal:scoring@1.0.0")));
    };
    report.kind = Some(kind.as_str().to_owned());
    if let Some(examined) = with_kind(kind, Examination { compiled: &compiled, report: &mut *report }) {
        return examined;
    }
    let rules = TransferRules::link(&compiled).map_err(|error| refuse(report, "world", told(error)))?;
    identified(rules.identity(), report);
    cases::of_rules(&rules, report)
}

struct Examination<'a> {
    compiled: &'a Compiled,
    report: &'a mut Report,
}

impl Visitor for Examination<'_> {
    type Output = Result<(), Ended>;

    fn visit<K: Kind>(self) -> Self::Output {
        let Self { compiled, report } = self;
        let scorer = K::Scorer::link(compiled).map_err(|error| refuse(report, "world", told(error)))?;
        identified(scorer.identity(), report);
        cases::of_scorer::<K>(&scorer, report)
    }
}

/// Pure components ask for nothing; others may ask for WASI, and get an empty one.
fn check_imports(compiled: &Compiled, report: &mut Report) -> Result<(), Ended> {
    let class = compiled.class();
    report.class = Some(class.as_str().to_owned());
    if compiled.unknown_import().is_some() {
        let imports = compiled.imports();
        let mut named = imports.iter().take(IMPORTS_TOLD_MAX).cloned().collect::<Vec<_>>().join(", ");
        if imports.len() > IMPORTS_TOLD_MAX {
            named += &format!(" and {} more", imports.len() - IMPORTS_TOLD_MAX);
        }
        let offered = "a component may ask for nothing, or for WASI, which will be empty";
        return Err(refuse(report, "imports", format!("asks its host for {named}; {offered}")));
    }
    match (class, compiled.imports().len()) {
        (PolicyClass::Pure, _) => report.add("imports", Passed, "none: all it can do is answer"),
        (PolicyClass::DenyAll, 0) => {
            report.add("imports", Noted, "none, but it is large: it runs on threads of its own");
        }
        (PolicyClass::DenyAll, count) => report.add(
            "imports",
            Noted,
            format!(
                "{count} interfaces of WASI: it gets no file, network, environment, time or randomness, and runs on \
                 threads of its own"
            ),
        ),
    }
    Ok(())
}

/// The kind whose interface is among the exports.
fn kind_of(exports: &[String]) -> Option<ModelKind> {
    let interface = |kind: &ModelKind| format!("caudal:scoring/{kind}@1.0.0");
    ModelKind::ALL.iter().copied().find(|kind| exports.contains(&interface(kind)))
}

fn identified(identity: &Identity, report: &mut Report) {
    report.version = Some(identity.version.semantic_version().to_owned());
    report.model_version = Some(identity.version.to_string());
    report.summary = Some(identity.summary.clone());
    report.add("world", Passed, format!("{}: every function is there, with its types", identity.kind));
    report.add("identity", Passed, format!("{}, sha256 {}", identity.version, identity.digest));
}

/// An error and its causes, on one line.
pub(crate) fn told(error: impl Into<anyhow::Error>) -> String {
    format!("{:#}", error.into()).replace('\n', " ")
}
