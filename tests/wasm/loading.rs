//! What loads and what does not, and whether a person can tell why.

use caudal::domain::model::ModelKind;
use caudal::wasm::{AccessibilityScorer, Identity, LoadError, NudgeScorer, RiskScorer, TransferRules};
use sha2::{Digest as _, Sha256};
use wasmparser::Validator;

use crate::built::{component, hostile, runtime, told};

/// Loads bytes as one kind.
fn load(kind: ModelKind, bytes: &[u8]) -> Result<Identity, LoadError> {
    match kind {
        ModelKind::Risk => RiskScorer::load(runtime(), bytes).map(|it| it.identity().clone()),
        ModelKind::Nudge => NudgeScorer::load(runtime(), bytes).map(|it| it.identity().clone()),
        ModelKind::Accessibility => AccessibilityScorer::load(runtime(), bytes).map(|it| it.identity().clone()),
        ModelKind::TransferRules => TransferRules::load(runtime(), bytes).map(|it| it.identity().clone()),
    }
}

/// The error of loading `bytes` as every kind, each told the same way.
#[track_caller]
fn refused(bytes: &[u8]) -> (LoadError, String) {
    let errors = ModelKind::ALL.iter().map(|&kind| load(kind, bytes).unwrap_err());
    let told: Vec<_> = errors.map(|error| { let text = told(&error); (error, text) }).collect();
    for (_, text) in &told { println!("{text}"); }
    told.into_iter().next().unwrap()
}

#[test]
fn explore() {
    let risk = component("risk");
    refused(b"");
    refused(b"\0asm");
    refused(&risk[..risk.len()/2]);
    refused(&risk[..risk.len()-1]);
    refused(b"(component)");
    refused(b"hello world, this is text");
    refused(b"\0asm\x01\0\0\0");
    refused(b"\0asm\x0d\0\x01\0");
    for name in ["risk","nudge","accessibility","transfer-rules"] {
    for k in ModelKind::ALL { println!("{name} as {k}: {:?}", load(*k, &component(name)).map_err(|e| format!("{e:?}"))); }}
    println!("{:?}", load(ModelKind::Nudge, &hostile()));
    let _ = Sha256::digest(b"");
    let _ = Validator::new();
}
