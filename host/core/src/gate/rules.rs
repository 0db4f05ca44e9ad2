//! The checks of transfer rules. Their policy is not judged; what no rules may permit, the ledger refuses.

use crate::domain::rules::{Facts, Verdict};
use crate::domain::transfer::{RailEvent, Status};
use crate::gate::faults::{Faults, error_chain};
use crate::gate::report::CheckOutcome::Passed;
use crate::gate::report::{Refusal, Report};
use crate::gate::timing;
use crate::scoring::facts::{grid, plain_transfer};
use crate::wasm::TransferRules;

pub(super) fn check(rules: &TransferRules, report: &mut Report) -> Result<(), Refusal> {
    check_answers(rules, report)?;
    check_policy(rules, report)?;
    let class = rules.identity().class;
    let decide = |facts: &Facts| {
        // The answer was checked above.
        let _ = rules.decide(facts);
    };
    timing::check(&[plain_transfer()], class, decide, report)
}

/// Every answer must be usable and repeatable.
fn check_answers(rules: &TransferRules, report: &mut Report) -> Result<(), Refusal> {
    let grid = grid();
    let mut faults = Faults::default();
    for facts in &grid {
        match (rules.decide(facts), rules.decide(facts)) {
            (Ok(first), Ok(second)) if first == second => {}
            (Ok(_), Ok(_)) => {
                faults.add(format!("the same facts, {} of {}, get two verdicts", facts.amount, facts.available));
            }
            (Err(error), _) | (_, Err(error)) => faults.add(error_chain(error)),
        }
    }
    if !faults.is_empty() {
        return Err(report.refuse("answers", faults.summary(grid.len())));
    }
    report.add("answers", Passed, format!("{} decisions are usable and repeatable", grid.len()));
    Ok(())
}

/// Rules that reject everything, or under which a pending transfer cannot settle, would stop all transfers.
fn check_policy(rules: &TransferRules, report: &mut Report) -> Result<(), Refusal> {
    match rules.decide(&plain_transfer()) {
        Ok(Verdict::Accepted) => {}
        Ok(verdict) => return Err(report.refuse("policy", format!("a plain transfer of 1.00 gets {verdict:?}"))),
        Err(error) => return Err(report.refuse("policy", error_chain(error))),
    }
    for &status in Status::ALL {
        for &event in RailEvent::ALL {
            match rules.transition(status, event) {
                Ok(next) if next == status.after(event) => {}
                Ok(next) => {
                    let next = next.map_or("no change", Status::as_str);
                    return Err(report.refuse("policy", format!("{status} and then {event} leads to {next}")));
                }
                Err(error) => return Err(report.refuse("policy", error_chain(error))),
            }
        }
    }
    let detail = "a plain transfer is accepted; pending can only become completed or failed";
    report.add("policy", Passed, detail);
    Ok(())
}
