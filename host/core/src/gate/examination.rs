//! The examination itself, in the process that [`launcher`](crate::gate::launcher) started: reads a
//! component and writes a report.

use std::io::Read;
use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::domain::model::{ModelKind, PolicyClass};
use crate::gate::faults::error_chain;
use crate::gate::limits::{self, COMPONENT_BYTES_MAX};
use crate::gate::report::CheckOutcome::{Noted, Passed};
use crate::gate::report::{Refusal, Report};
use crate::gate::{cases, confinement, fuel, nans, rules};
use crate::scoring::answers::{answers_of, answers_of_rules};
use crate::scoring::{Kind, Scorer, Visitor, with_kind};
use crate::wasm::{Compiled, Format, Identity, Runtime, TransferRules, WIT};

/// Imports that a refusal names.
const IMPORTS_NAMED_MAX: usize = 5;

/// Limits and confines this process, and examines the component in `input`, in comparison with those that are built in.
///
/// # Errors
/// When the input cannot be read or the process cannot be limited.
pub fn run(input: impl Read, built_in: &[(ModelKind, &[u8])], may_be_unconfined: bool) -> Result<Report> {
    limits::lower_priority();
    let mut bytes = Vec::new();
    input.take(COMPONENT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).context("cannot read the component")?;
    limits::apply(bytes.len()).context("cannot limit this process")?;
    let mut report = Report { bytes: bytes.len(), ..Report::default() };
    // The report contains any refusal.
    let _ = confine(may_be_unconfined, &mut report).and_then(|()| examine(&bytes, built_in, &mut report));
    Ok(report)
}

fn confine(may_be_unconfined: bool, report: &mut Report) -> Result<(), Refusal> {
    match confinement::confine() {
        Ok(()) => report.add("confined", Passed, "to memory and processor time while it is examined"),
        Err(error) if may_be_unconfined => {
            report.add("confined", Noted, format!("not by the kernel, as it has to be in production: {error:#}"));
        }
        Err(error) => return Err(report.refuse("confined", format!("the host cannot examine safely: {error:#}"))),
    }
    Ok(())
}

fn examine(bytes: &[u8], built_in: &[(ModelKind, &[u8])], report: &mut Report) -> Result<(), Refusal> {
    if bytes.len() > COMPONENT_BYTES_MAX {
        return Err(report.refuse("size", format!("more than {COMPONENT_BYTES_MAX} bytes")));
    }
    report.add("size", Passed, format!("{} bytes of at most {COMPONENT_BYTES_MAX}", bytes.len()));
    match Format::of(bytes) {
        Format::Component => report.add("format", Passed, "a WebAssembly component"),
        Format::CoreModule => {
            return Err(report.refuse("format", "a core module, which has no world: build a component"));
        }
        Format::MachineCode => {
            return Err(report.refuse("format", "machine code: precompiled components are never accepted"));
        }
        Format::Unknown => return Err(report.refuse("format", "not a WebAssembly component")),
    }
    let runtime = Runtime::new().map_err(|error| report.refuse("engine", error_chain(error)))?;
    let start = Instant::now();
    let compiled = runtime.compile(bytes).map_err(|error| report.refuse("compiles", error_chain(error)))?;
    report.add("compiles", Passed, format!("in {} ms", start.elapsed().as_millis()));
    check_imports(&compiled, report)?;
    let kind = check_world(&compiled, report)?;
    report.kind = Some(kind.as_str().to_owned());
    let examination = ScorerExamination { bytes, built_in, compiled: &compiled, report: &mut *report };
    if let Some(examined) = with_kind(kind, examination) {
        return examined;
    }
    let rules = TransferRules::link(&compiled).map_err(|error| report.refuse("world", error_chain(error)))?;
    identify(rules.identity(), report);
    rules::check(&rules, report)?;
    report.answers = Some(answers_of_rules(&rules).map_err(|fault| report.refuse("answers", fault))?);
    Ok(())
}

struct ScorerExamination<'a> {
    bytes: &'a [u8],
    built_in: &'a [(ModelKind, &'a [u8])],
    compiled: &'a Compiled,
    report: &'a mut Report,
}

impl Visitor for ScorerExamination<'_> {
    type Output = Result<(), Refusal>;

    fn visit<K: Kind>(self) -> Self::Output {
        let Self { bytes, built_in, compiled, report } = self;
        let scorer = Scorer::<K>::link(compiled).map_err(|error| report.refuse("world", error_chain(error)))?;
        identify(scorer.identity(), report);
        cases::check::<K>(&scorer, report)?;
        nans::check::<K>(&scorer, bytes, report)?;
        fuel::measure::<K>(&scorer, bytes, built_in, report)?;
        report.answers = Some(answers_of::<K>(&scorer).map_err(|fault| report.refuse("answers", fault))?);
        Ok(())
    }
}

/// Pure components import nothing; others may import WASI, and get an empty one.
fn check_imports(compiled: &Compiled, report: &mut Report) -> Result<(), Refusal> {
    let class = compiled.class();
    report.class = Some(class.as_str().to_owned());
    let imports = compiled.imports();
    if compiled.unknown_import().is_some() {
        let mut named = imports.iter().take(IMPORTS_NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
        if imports.len() > IMPORTS_NAMED_MAX {
            named += &format!(" and {} more", imports.len() - IMPORTS_NAMED_MAX);
        }
        let detail = format!("imports {named}; a component may import nothing but WASI, and gets an empty one");
        return Err(report.refuse("imports", detail));
    }
    match (class, imports.len()) {
        (PolicyClass::Pure, _) => report.add("imports", Passed, "none: it can only answer"),
        (PolicyClass::DenyAll, 0) => {
            report.add("imports", Noted, "none, but it is large: it runs on dedicated threads");
        }
        (PolicyClass::DenyAll, count) => {
            let detail = format!(
                "{count} interfaces of WASI: it gets no files, network, environment, time or randomness, and runs \
                 on dedicated threads"
            );
            report.add("imports", Noted, detail);
        }
    }
    Ok(())
}

/// The kind whose world the component exports.
fn check_world(compiled: &Compiled, report: &mut Report) -> Result<ModelKind, Refusal> {
    let kind = compiled.kind().map_err(|error| report.refuse("world", error_chain(error)))?;
    kind.ok_or_else(|| {
        let exports = compiled.exports();
        let exports = if exports.is_empty() { "nothing".to_owned() } else { exports.join(", ") };
        report.refuse("world", format!("exports {exports}, which is not a world of {WIT}"))
    })
}

fn identify(identity: &Identity, report: &mut Report) {
    report.version = Some(identity.version.semantic_version().to_owned());
    report.model_version = Some(identity.version.to_string());
    report.summary = Some(identity.summary.clone());
    report.add("world", Passed, format!("{}: exports every function with its types", identity.kind));
    report.add("identity", Passed, format!("{}, sha256 {}", identity.version, identity.digest));
}
