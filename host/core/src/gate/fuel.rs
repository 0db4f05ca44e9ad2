//! What a call costs: in instructions, since its time also depends on the machine and on what else it does.

use crate::domain::model::{ModelKind, PolicyClass};
use crate::gate::faults::error_chain;
use crate::gate::nans::requests;
use crate::gate::report::CheckOutcome::Passed;
use crate::gate::report::{Refusal, Report};
use crate::scoring::{Kind, Scorer};
use crate::wasm::{Runtime, digest_of};

/// Requests that are measured, each in an instance of its own: a tenth of a second of work for our scorers.
const REQUESTS: usize = 1_000;

/// Measures a component and, to compare it with, the built-in ones of its kind.
pub(super) fn measure<K: Kind>(
    scorer: &Scorer<K>,
    bytes: &[u8],
    built_in: &[(ModelKind, &[u8])],
    report: &mut Report,
) -> Result<(), Refusal> {
    if scorer.identity().class != PolicyClass::Pure {
        return Ok(());
    }
    let runtime = Runtime::with_fuel().map_err(|error| report.refuse("fuel", error_chain(error)))?;
    let of = |bytes: &[u8]| {
        let scorer = Scorer::<K>::load(&runtime, bytes).map_err(error_chain)?;
        let requests = requests::<K>(scorer.identity().manifest.as_deref())?;
        let each = requests.len().div_ceil(REQUESTS).max(1);
        let mut most = 0;
        for request in requests.iter().step_by(each) {
            most = most.max(scorer.fuel(request).map_err(error_chain)?);
        }
        Ok::<_, String>(most)
    };
    let fuel = of(bytes).map_err(|fault| report.refuse("fuel", fault))?;
    report.fuel.insert(digest_of(bytes).to_string(), fuel);
    for (_, bytes) in built_in.iter().filter(|(kind, _)| *kind == K::KIND) {
        let fuel = of(bytes).map_err(|fault| report.refuse("fuel", fault))?;
        report.fuel.insert(digest_of(bytes).to_string(), fuel);
    }
    report.add("fuel", Passed, format!("at most {fuel} instructions a call"));
    Ok(())
}
