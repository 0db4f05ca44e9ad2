//! What a component is asked at the gate, and what its answers have to hold.
//!
//! The cases are those that were derived by hand from the specification: what they expect holds for
//! every model of the kind, and is not one model's output. Each answer is checked as in service (in
//! range, fitting, explained). Bands of difficulty and confidences are a model's own and only noted.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::cli::scorers::Scorer;
use crate::domain::accessibility::Language;
use crate::domain::model::PolicyClass;
use crate::domain::money::Money;
use crate::domain::rules::{Facts, Verdict};
use crate::domain::transfer::{RailEvent, Status};
use crate::gate::examination::{Ended, refuse, told};
use crate::gate::promises::{self, Promised};
use crate::gate::report::Outcome::{Noted, Passed};
use crate::gate::report::Report;
use crate::schema::Fields;
use crate::wasm::TransferRules;

pub(crate) const RISK: &str = include_str!("../../../tests/golden/hand/risk.ndjson");
pub(crate) const NUDGE: &str = include_str!("../../../tests/golden/hand/nudge.ndjson");
pub(crate) const ACCESSIBILITY: &str = include_str!("../../../tests/golden/hand/accessibility.ndjson");

/// Expectations that follow from the specification alone, whatever the model.
const REQUIRED: [&str; 8] = [
    "risk_factors",
    "risk_level",
    "not_type",
    "theme",
    "screen_reader_mode",
    "font_scale",
    "voice_feedback",
    "nudging_level",
];
/// Failed cases that a refusal names.
const TOLD_MAX: usize = 3;
/// A call may take half of the time that it is given in service.
fn slow(class: PolicyClass) -> Duration {
    match class {
        PolicyClass::Pure => Duration::from_millis(5),
        PolicyClass::DenyAll => Duration::from_millis(125),
    }
}

/// Calls that are timed.
const TIMED: usize = 200;

#[derive(Deserialize)]
struct Case<'a> {
    case: String,
    #[serde(borrow)]
    request: &'a RawValue,
    expect: serde_json::Map<String, Value>,
    score_below: Option<String>,
    score_at_most: Option<String>,
}

/// Things that went wrong, of which only a few are told.
#[derive(Default)]
pub(crate) struct Faults {
    pub(crate) count: usize,
    told: Vec<String>,
}

impl Faults {
    pub(crate) fn add(&mut self, fault: String) {
        self.count += 1;
        if self.told.len() < TOLD_MAX {
            self.told.push(fault);
        }
    }

    pub(crate) fn sentence(&self, of: usize) -> String {
        format!("{} of {of}: {}", self.count, self.told.join("; "))
    }
}

/// Asks a scorer every case.
pub(crate) fn of_scorer<S: Promised>(scorer: &S, text: &str, report: &mut Report) -> Result<(), Ended> {
    let broken = |report: &mut Report, detail: String| refuse(report, "cases", detail);
    let cases: Result<Vec<Case<'_>>, _> = text.lines().map(serde_json::from_str).collect();
    let cases = cases.map_err(|error| broken(report, format!("this program's own cases do not read: {error}")))?;
    let row = |case: &Case<'_>| {
        let mut fields = Fields::from_row(case.request.get()).ok()?;
        let row = S::read(&mut fields, Language::Spanish);
        fields.into_faults().is_empty().then_some(row)
    };
    let rows: Vec<_> = cases.iter().filter_map(row).collect();

    let mut scores = HashMap::new();
    let (mut unusable, mut wrong, mut order, mut notes, mut repeats) =
        (Faults::default(), Faults::default(), Faults::default(), Faults::default(), Faults::default());
    let together = scorer.score(&rows).map_err(|error| refuse(report, "batch", told(error)))?;
    for ((case, asked), batched) in cases.iter().zip(rows).zip(together) {
        let answers = [scorer.score_one(&asked), scorer.score_one(&asked), batched];
        let mut told_answers = Vec::new();
        for answer in answers {
            match answer {
                Ok(answer) => {
                    let Some(row) = row(case) else { continue };
                    told_answers.push(serde_json::to_value(scorer.answer(row, answer).json).unwrap_or_default());
                }
                Err(error) => unusable.add(format!("{}: {}", case.case, told(error))),
            }
        }
        let [first, again, batched] = &told_answers[..] else { continue };
        if first != again || first != batched {
            repeats.add(case.case.clone());
        }
        compare(case, first, &mut wrong, &mut notes);
        let score = ["/result/risk_score", "/result/difficulty_score"].iter().find_map(|path| first.pointer(path));
        if let Some(score) = score.and_then(Value::as_f64) {
            let above = |other: &&String| scores.get(*other).is_some_and(|other| score > *other);
            let promised = case.score_below.iter().chain(&case.score_at_most);
            promised.filter(above).for_each(|other| order.add(format!("{} above {other}", case.case)));
            scores.insert(case.case.clone(), score);
        }
    }
    let count = cases.len();
    let mut verdict = |name: &str, faults: &Faults, fine: String| {
        if faults.count > 0 {
            return Err(refuse(report, name, faults.sentence(count)));
        }
        report.add(name, Passed, fine);
        Ok(())
    };
    verdict("answers", &unusable, format!("{count} requests answered: in range, fitting, explained"))?;
    verdict("cases", &wrong, format!("{count} cases hold what the specification says of every model"))?;
    if !scores.is_empty() {
        verdict("order", &order, format!("{} scores keep the promised order", scores.len()))?;
    }
    verdict("repeats", &repeats, format!("{count} answers are the same again and in a batch, bit for bit"))?;
    if notes.count > 0 {
        report.add("differs", Noted, format!("from the models in force in {}", notes.sentence(count)));
    }
    promises::check(scorer, report)?;
    time(scorer, &cases.iter().filter_map(row).collect::<Vec<_>>(), report)
}

/// Compares what has to hold, and notes what only the models in force do.
fn compare(case: &Case<'_>, answer: &Value, wrong: &mut Faults, notes: &mut Faults) {
    let part = answer.get("result").or_else(|| answer.get("recommendation")).unwrap_or(answer);
    // Age and signs may suggest another theme to somebody without a need; that is a model's own.
    let asked = case.request.get();
    let hint = asked.contains("\"can_read_small_text\":true") && asked.contains("\"uses_screen_reader\":false");
    let mut differs = false;
    for (field, wanted) in &case.expect {
        let holds = match field.as_str() {
            "not_type" => part["recommended_nudge_type"] != *wanted,
            "confidence_min" => answer["confidence"].as_f64() >= wanted.as_f64(),
            "confidence_max" => answer["confidence"].as_f64() <= wanted.as_f64(),
            _ => part[field] == *wanted,
        };
        if !holds && REQUIRED.contains(&field.as_str()) && !hint {
            wrong.add(format!("{} {field} is {}", case.case, part[field]));
        } else {
            differs |= !holds;
        }
    }
    if differs {
        notes.add(case.case.clone());
    }
}

/// Times single calls.
fn time<S: Scorer>(scorer: &S, rows: &[S::Row], report: &mut Report) -> Result<(), Ended> {
    let mut times = Vec::with_capacity(TIMED);
    for row in rows.iter().cycle().take(TIMED) {
        let start = Instant::now();
        // Its answer was checked above.
        let _ = scorer.score_one(row);
        times.push(start.elapsed());
    }
    tell_times(&mut times, slow(scorer.identity().class), report)
}

fn tell_times(times: &mut [Duration], slow: Duration, report: &mut Report) -> Result<(), Ended> {
    times.sort();
    let (median, slowest) = (times[TIMED / 2], times[TIMED * 99 / 100]);
    let detail = format!("{} µs a call, {} µs for the slowest of a hundred", median.as_micros(), slowest.as_micros());
    // The median decides: a busy machine makes one call in a hundred slow.
    if median > slow {
        return Err(refuse(report, "time", format!("{detail}; at most {} µs are allowed", slow.as_micros())));
    }
    report.add("time", Passed, detail);
    Ok(())
}

/// Asks transfer rules a grid of facts: every answer has to be usable, and the same again. What they
/// allow is their own; what no rules may do is refused by the ledger.
pub(crate) fn of_rules(rules: &TransferRules, report: &mut Report) -> Result<(), Ended> {
    let money = [1, 100, 1_000_000, i64::MAX].map(Money::from_minor);
    let limits = [None, Some(Money::from_minor(500))];
    let (mut faults, mut count) = (Faults::default(), 0);
    for (&amount, &available) in money.iter().flat_map(|amount| money.iter().map(move |available| (amount, available)))
    {
        for (per_transfer_limit, same_account) in limits.into_iter().flat_map(|limit| [(limit, false), (limit, true)]) {
            for (beneficiary_age_seconds, cooling_seconds) in [(0, 0), (59, 60), (u64::MAX, 60)] {
                let facts = Facts {
                    amount,
                    available,
                    day_total: Money::ZERO,
                    per_transfer_limit,
                    per_day_limit: per_transfer_limit,
                    beneficiary_age_seconds,
                    cooling_seconds,
                    same_account,
                    local_hour: 12,
                    risk_level: None,
                    acknowledged: false,
                };
                count += 1;
                match (rules.decide(&facts), rules.decide(&facts)) {
                    (Ok(first), Ok(again)) if first == again => {}
                    (Ok(_), Ok(_)) => faults.add(format!("{amount} of {available} is decided in two ways")),
                    (Err(error), _) | (_, Err(error)) => faults.add(told(error)),
                }
            }
        }
    }
    if faults.count > 0 {
        return Err(refuse(report, "answers", faults.sentence(count)));
    }
    report.add("answers", Passed, format!("{count} decisions are usable, and the same again"));
    check_policy(rules, report)?;
    time_rules(rules, report)
}

/// A transfer of 1.00 of 100.00 to a payee of old, to which no rule objects.
fn plain_transfer() -> Facts {
    Facts {
        amount: Money::from_minor(100),
        available: Money::from_minor(10_000),
        day_total: Money::ZERO,
        per_transfer_limit: None,
        per_day_limit: None,
        beneficiary_age_seconds: u64::MAX,
        cooling_seconds: 0,
        same_account: false,
        local_hour: 12,
        risk_level: None,
        acknowledged: false,
    }
}

/// Rules that refuse everybody, or know no way from pending to settled, would stop all transfers.
fn check_policy(rules: &TransferRules, report: &mut Report) -> Result<(), Ended> {
    match rules.decide(&plain_transfer()) {
        Ok(Verdict::Accepted) => {}
        Ok(verdict) => return Err(refuse(report, "policy", format!("a plain transfer of 1.00 ends as {verdict:?}"))),
        Err(error) => return Err(refuse(report, "policy", told(error))),
    }
    for &status in Status::ALL {
        for &event in RailEvent::ALL {
            let wanted = match (status, event) {
                (Status::Pending, RailEvent::Settled) => Some(Status::Completed),
                (Status::Pending, RailEvent::Rejected) => Some(Status::Failed),
                _ => None,
            };
            match rules.transition(status, event) {
                Ok(next) if next == wanted => {}
                Ok(next) => {
                    let next = next.map_or("nothing", Status::as_str);
                    return Err(refuse(report, "policy", format!("{status} and then {event} leads to {next}")));
                }
                Err(error) => return Err(refuse(report, "policy", told(error))),
            }
        }
    }
    report.add(
        "policy",
        Passed,
        "a plain transfer is accepted, and pending becomes completed or failed and nothing else",
    );
    Ok(())
}

/// Times decisions: the ledger makes them one after the other.
fn time_rules(rules: &TransferRules, report: &mut Report) -> Result<(), Ended> {
    let facts = plain_transfer();
    let mut times: Vec<_> = (0..TIMED)
        .map(|_| {
            let start = Instant::now();
            // Its answer was checked above.
            let _ = rules.decide(&facts);
            start.elapsed()
        })
        .collect();
    tell_times(&mut times, slow(rules.identity().class), report)
}
