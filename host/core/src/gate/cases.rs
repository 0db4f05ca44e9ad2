//! The cases that every scorer of a kind must answer.
//!
//! They were derived by hand from the specification, so their expectations hold for every model of the
//! kind rather than for one. Each answer is checked as in service (in range, consistent, explained).
//! An answer that only differs from the specification's models, such as in the band of difficulty, is noted.

use std::collections::HashMap;

use serde_json::Value;

use crate::gate::faults::{Faults, error_chain};
use crate::gate::report::CheckOutcome::{Noted, Passed};
use crate::gate::report::{Refusal, Report};
use crate::gate::timing;
use crate::gate::{explanations, invariants};
use crate::scoring::cases::{Case, read};
use crate::scoring::{Kind, Scored, Scorer};
use crate::wasm::{Identity, ScoreError};

/// What the answers got wrong.
#[derive(Default)]
struct Findings {
    unusable: Faults,
    wrong: Faults,
    order: Faults,
    differs: Faults,
    repeats: Faults,
    /// Whether scores may be in any order.
    is_free: bool,
    /// Whether a case names another whose score is higher.
    is_ordered: bool,
    /// By case.
    scores: HashMap<String, f64>,
}

pub(super) fn check<K: Kind>(scorer: &Scorer<K>, report: &mut Report) -> Result<(), Refusal> {
    let cases = read::<K>(K::CASES).map_err(|fault| report.refuse("cases", fault))?;
    let requests: Vec<_> = cases.iter().map(|(_, envelope)| envelope.request.clone()).collect();
    let batch = scorer.assess_batch(&requests).map_err(|error| report.refuse("batch", error_chain(error)))?;
    let Identity { version, manifest, .. } = scorer.identity();
    // In contract 2, levels and order depend on the cut-offs and on what the model has learned.
    let required = if manifest.is_some() { &["risk_factors"] } else { K::REQUIRED };
    let mut found = Findings { is_free: manifest.is_some(), ..Findings::default() };
    for ((case, envelope), batched) in cases.iter().zip(batch) {
        let mut answers = Vec::new();
        for answer in [scorer.assess(&envelope.request), scorer.assess(&envelope.request), batched] {
            match answer {
                Ok(assessment) => {
                    let score = K::score(&assessment);
                    let scored = Scored { assessment, version: version.clone() };
                    let response = K::response(envelope.clone(), scored);
                    answers.push((score, serde_json::to_value(response).unwrap_or_default()));
                }
                Err(ScoreError::Abstained(_)) => {}
                Err(error) => found.unusable.add(format!("{}: {}", case.name, error_chain(error))),
            }
        }
        if let [first, second, batched] = &answers[..] {
            if first != second || first != batched {
                found.repeats.add(case.name.clone());
            }
            found.compare(case, required, first);
        }
    }
    found.report(cases.len(), report)?;
    invariants::check::<K>(scorer, report)?;
    explanations::check::<K>(scorer, &requests, report)?;
    let call = |request: &K::Request| {
        // The answer was checked above.
        let _ = scorer.assess(request);
    };
    timing::check(&requests, scorer.identity().class, call, report)
}

impl Findings {
    /// Compares an answer with what its case requires, and notes where it only differs from the specification's
    /// models.
    fn compare(&mut self, case: &Case<'_>, required: &[&str], (score, answer): &(f64, Value)) {
        let result = answer.get("result").or_else(|| answer.get("recommendation")).unwrap_or(answer);
        let may_hint = may_hint(case.request.get());
        let mut differs = false;
        for (field, expected) in &case.expect {
            let holds = match field.as_str() {
                "not_type" => result["recommended_nudge_type"] != *expected,
                "confidence_min" => answer["confidence"].as_f64() >= expected.as_f64(),
                "confidence_max" => answer["confidence"].as_f64() <= expected.as_f64(),
                _ => result[field] == *expected,
            };
            if !holds && required.contains(&field.as_str()) && !may_hint {
                self.wrong.add(format!("{} {field} is {}", case.name, result[field]));
            } else {
                differs |= !holds;
            }
        }
        if differs {
            self.differs.add(case.name.clone());
        }
        let above = |other: &&String| self.scores.get(*other).is_some_and(|other| score > other);
        for other in case.score_below.iter().chain(&case.score_at_most).filter(|_| !self.is_free) {
            self.is_ordered = true;
            if above(&other) {
                self.order.add(format!("{} above {other}", case.name));
            }
        }
        self.scores.insert(case.name.clone(), *score);
    }

    fn report(&self, count: usize, report: &mut Report) -> Result<(), Refusal> {
        let mut check = |name: &str, faults: &Faults, passed: String| {
            if !faults.is_empty() {
                return Err(report.refuse(name, faults.summary(count)));
            }
            report.add(name, Passed, passed);
            Ok(())
        };
        check("answers", &self.unusable, format!("{count} answers are in range, consistent and explained"))?;
        check("cases", &self.wrong, format!("{count} cases satisfy the specification"))?;
        if self.is_ordered {
            check("order", &self.order, format!("{} scores are in the required order", self.scores.len()))?;
        }
        check("repeats", &self.repeats, format!("{count} answers repeat bit for bit, alone and in a batch"))?;
        if !self.differs.is_empty() {
            let detail = "from what the specification's models answer to its cases, which is allowed, in";
            report.add("differs", Noted, format!("{detail} {}", self.differs.summary(count)));
        }
        Ok(())
    }
}

/// Whether a model may suggest a theme other than the expected one: age and behaviour may decide for a
/// person who reads small text and uses no screen reader.
fn may_hint(request: &str) -> bool {
    let request: Value = serde_json::from_str(request).unwrap_or_default();
    request["can_read_small_text"] == true && request["uses_screen_reader"] == false
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scoring::{Accessibility, Nudge, Risk};

    const REQUEST: &str = r#"{"screen": "home", "num_validation_errors": 0, "time_on_screen_seconds": 0,
        "num_back_navigations": 0, "steps_total": 1, "current_step": 1}"#;

    fn line(name: &str, request: &str, expect: &Value) -> String {
        format!(r#"{{"case": "{name}", "request": {}, "expect": {expect}}}"#, request.replace('\n', " "))
    }

    #[test]
    fn every_case_of_this_program_reads() {
        fn count<K: Kind>() -> usize {
            read::<K>(K::CASES).unwrap().len()
        }
        assert!(count::<Risk>() > 100 && count::<Nudge>() > 50 && count::<Accessibility>() > 50);
    }

    #[test]
    fn an_unreadable_case_is_an_error_and_does_not_shift_the_others() {
        let broken = line("broken", "{\"screen\": 7}", &json!({}));
        let good = line("good", REQUEST, &json!({}));
        assert_eq!(read::<Nudge>(&good).unwrap().len(), 1);
        let text = format!("{broken}\n{good}");
        let Err(fault) = read::<Nudge>(&text) else { panic!("the unreadable case was skipped") };
        assert!(fault.starts_with("this program's own case broken cannot be read: "), "{fault}");
    }

    /// Whether an answer with another theme than expected is a fault.
    fn is_wrong(request: &str) -> bool {
        let text = line("theme", request, &json!({"theme": "standard_accessible"}));
        let case: Case<'_> = serde_json::from_str(&text).unwrap();
        let mut found = Findings::default();
        found.compare(
            &case,
            Accessibility::REQUIRED,
            &(0.0, json!({"recommendation": {"theme": "large_text_high_contrast"}})),
        );
        assert_eq!(found.wrong.is_empty(), !found.differs.is_empty());
        !found.wrong.is_empty()
    }

    #[test]
    fn requests_are_compared_as_values_rather_than_as_text() {
        assert!(!is_wrong(r#"{"can_read_small_text":true,"uses_screen_reader":false}"#));
        assert!(!is_wrong(r#"{"uses_screen_reader" : false, "can_read_small_text" : true}"#));
        assert!(is_wrong(r#"{"can_read_small_text":false,"uses_screen_reader":false}"#));
        let nested = r#"{"can_read_small_text":false,"uses_screen_reader":true,
            "note":{"can_read_small_text":true,"uses_screen_reader":false}}"#;
        assert!(is_wrong(nested));
    }
}
