//! Whether answers depend on the sign of a NaN. Machine code that a browser makes of the same component leaves it as the
//! processor computes it, which is negative on x86 and positive on ARM; this host makes it positive.

use crate::domain::fact::manifest::Manifest;
use crate::domain::model::PolicyClass;
use crate::gate::faults::{Faults, error_chain};
use crate::gate::invariants::{BATCH, random_requests};
use crate::gate::report::CheckOutcome::Passed;
use crate::gate::report::{Refusal, Report};
use crate::scoring::cases::read;
use crate::scoring::{Kind, Scorer};
use crate::wasm::{Runtime, ScoreError};

/// Seeds the random requests. A dependence on NaNs does not hide from a known one.
const SEED: u64 = 1;

/// The cases of a kind and its random requests, the same in every examination.
pub(super) fn requests<K: Kind>(manifest: Option<&Manifest>) -> Result<Vec<K::Request>, String> {
    let mut requests: Vec<_> = read::<K>(K::CASES)?.into_iter().map(|(_, envelope)| envelope.request).collect();
    requests.extend(random_requests::<K>(SEED, manifest).unwrap_or_default().1);
    Ok(requests)
}

/// Compares the answers with those of an engine that leaves NaNs as they are. On ARM it computes the same ones.
pub(super) fn check<K: Kind>(scorer: &Scorer<K>, bytes: &[u8], report: &mut Report) -> Result<(), Refusal> {
    // Others never run in browsers, and take long to compile again.
    if scorer.identity().class != PolicyClass::Pure {
        return Ok(());
    }
    let raw = Runtime::with_raw_nans().and_then(|runtime| Scorer::<K>::load(&runtime, bytes));
    let raw = raw.map_err(|error| report.refuse("nan", error_chain(error)))?;
    let requests = requests::<K>(scorer.identity().manifest.as_deref());
    let requests = requests.map_err(|fault| report.refuse("nan", fault))?;
    let mut differ = Faults::default();
    for requests in requests.chunks(BATCH) {
        let answers = |scorer: &Scorer<K>| {
            let answers = scorer.assess_batch(requests)?;
            Ok::<Vec<_>, ScoreError>(answers.into_iter().map(|it| format!("{:?}", it.ok())).collect())
        };
        let both = answers(scorer).and_then(|canonical| Ok((canonical, answers(&raw)?)));
        let (canonical, raw) = both.map_err(|error| report.refuse("nan", error_chain(error)))?;
        for (request, _) in requests.iter().zip(canonical.iter().zip(&raw)).filter(|(_, (one, other))| one != other) {
            differ.add(format!("{request:?}"));
        }
    }
    if !differ.is_empty() {
        let detail = "answers depend on the sign or the bits of a NaN, which differ in browsers; test for NaN instead";
        return Err(report.refuse("nan", format!("{detail}: {}", differ.summary(requests.len()))));
    }
    report.add("nan", Passed, format!("{} answers depend on no sign of a NaN", requests.len()));
    Ok(())
}
