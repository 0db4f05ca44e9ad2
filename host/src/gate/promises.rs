//! Many requests at random, and each again with something in it worse: no answer may be unusable, and no
//! score may fall. What happens on one input in a thousand is found here and not by cases.

use std::fmt::Display;

use crate::cli::scorers::Scorer;
use crate::domain::{nudge, risk};
use crate::gate::faults::{Faults, error_chain};
use crate::gate::report::Outcome::Passed;
use crate::gate::report::{Refusal, Report};
use crate::wasm::{AccessibilityScorer, NudgeScorer, RiskScorer};

/// Requests at random. With what is made worse of each there are some ten thousand, so that what happens
/// on one input in a thousand is missed once in thousands of examinations.
const REQUESTS: usize = 1500;

/// Requests in one instance: their answers stay far within what one call may return.
const BATCH: usize = 250;

/// A scorer that promises something.
pub(crate) trait Promised: Scorer {
    /// What a scorer is asked, without what is echoed.
    type Facts;

    /// Facts at random; none when nothing is promised of this kind.
    fn at_random(random: &mut Random) -> Option<Self::Facts>;

    /// The same facts with one thing worse, by name: the score must not fall.
    fn worse(facts: &Self::Facts, random: &mut Random) -> Vec<(&'static str, Self::Facts)>;

    /// The facts as a row.
    fn row(facts: Self::Facts) -> Self::Row;

    /// The score.
    fn figure(assessment: &Self::Assessment) -> f64;
}

/// Asks.
pub(crate) fn check<S: Promised>(scorer: &S, report: &mut Report) -> Result<(), Refusal> {
    // Others at every examination: a component must not know what it will be asked.
    let seed = getrandom::u64().map_err(|error| report.refuse("random", error_chain(error)))?;
    let mut random = Random(seed);
    let mut labels = Vec::new();
    let mut rows = Vec::new();
    for at in 0..REQUESTS {
        let Some(facts) = S::at_random(&mut random) else { return Ok(()) };
        let worse = S::worse(&facts, &mut random);
        labels.push((at, None));
        rows.push(S::row(facts));
        for (name, facts) in worse {
            labels.push((at, Some(name)));
            rows.push(S::row(facts));
        }
    }
    let (mut unusable, mut falls) = (Faults::default(), Faults::default());
    let mut before = None;
    let count = rows.len();
    for (labels, rows) in labels.chunks(BATCH).zip(rows.chunks(BATCH)) {
        let answers = scorer.score(rows).map_err(|error| report.refuse("random", error_chain(error)))?;
        for ((at, worse), answer) in labels.iter().zip(answers) {
            let score = match answer {
                Ok(answer) => Some(S::figure(&answer)),
                Err(error) => {
                    unusable.add(format!("request {at}: {}", error_chain(error)));
                    None
                }
            };
            match worse {
                None => before = score,
                Some(name) => note_fall(*at, name, before, score, &mut falls),
            }
        }
    }
    if !unusable.is_empty() {
        return Err(report.refuse("random", unusable.summary(count)));
    }
    report.add(
        "random",
        Passed,
        format!("{count} requests at random (seed {seed:016x}) answered: in range, fitting, explained"),
    );
    if !falls.is_empty() {
        return Err(report.refuse("monotone", falls.summary(count - REQUESTS)));
    }
    report.add("monotone", Passed, format!("in {} pairs no score falls when something gets worse", count - REQUESTS));
    Ok(())
}

fn note_fall(at: usize, name: impl Display, was: Option<f64>, is: Option<f64>, falls: &mut Faults) {
    if let (Some(was), Some(is)) = (was, is)
        && is < was
    {
        falls.add(format!("request {at} with {name} scores {is} instead of {was} or more"));
    }
}

/// Numbers that look random and are the same everywhere: SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `end`, which is small.
    fn below(&mut self, end: u32) -> u32 {
        u32::try_from(self.next() % u64::from(end)).unwrap_or_default()
    }

    fn flag(&mut self) -> bool {
        self.next() & 1 == 1
    }

    /// Money from a centavo to a million, as often of each length.
    fn money(&mut self) -> f64 {
        let exponent = f64::from(self.below(8001)) / 1000.0 - 2.0;
        (10.0_f64.powf(exponent) * 100.0).round() / 100.0
    }
}

impl Promised for RiskScorer {
    type Facts = risk::Request;

    fn at_random(random: &mut Random) -> Option<risk::Request> {
        let avg_transaction_amount = if random.below(10) == 0 { 0.0 } else { random.money() };
        Some(risk::Request {
            amount: random.money(),
            is_new_beneficiary: random.flag(),
            hour_of_day: u8::try_from(random.below(24)).unwrap_or_default(),
            num_past_transactions: random.below(60),
            avg_transaction_amount,
            max_transaction_amount: avg_transaction_amount * f64::from(1 + random.below(5)),
            num_transactions_to_beneficiary: random.below(10),
            is_new_device: random.flag(),
            geolocation_changed: random.flag(),
            beneficiary_saved_minutes: random.flag().then(|| random.below(2000)),
        })
    }

    fn worse(facts: &risk::Request, random: &mut Random) -> Vec<(&'static str, risk::Request)> {
        let facts = facts.clone();
        let more = facts.amount * (1.0 + f64::from(random.below(3000)) / 1000.0);
        let fewer = random.below(facts.num_transactions_to_beneficiary + 1);
        vec![
            ("a larger amount", risk::Request { amount: more, ..facts.clone() }),
            ("a new beneficiary", risk::Request { is_new_beneficiary: true, ..facts.clone() }),
            ("a new device", risk::Request { is_new_device: true, ..facts.clone() }),
            ("another place", risk::Request { geolocation_changed: true, ..facts.clone() }),
            (
                "fewer transfers to the beneficiary",
                risk::Request { num_transactions_to_beneficiary: fewer, ..facts.clone() },
            ),
            ("a beneficiary of unknown age", risk::Request { beneficiary_saved_minutes: None, ..facts }),
        ]
    }

    fn row(facts: risk::Request) -> Self::Row {
        facts.into()
    }

    fn figure(assessment: &risk::Assessment) -> f64 {
        assessment.score
    }
}

impl Promised for NudgeScorer {
    type Facts = nudge::Request;

    fn at_random(random: &mut Random) -> Option<nudge::Request> {
        let steps_total = 1 + random.below(8);
        Some(nudge::Request {
            screen: ["login", "home", "transfer_amount", "beneficiary_form"][random.below(4) as usize].to_owned(),
            num_validation_errors: random.below(8),
            time_on_screen_seconds: random.below(400),
            num_back_navigations: random.below(6),
            steps_total,
            current_step: 1 + random.below(steps_total),
        })
    }

    fn worse(facts: &nudge::Request, random: &mut Random) -> Vec<(&'static str, nudge::Request)> {
        let facts = facts.clone();
        let (errors, seconds, backs) = (random.below(5), random.below(300), random.below(5));
        vec![
            (
                "more errors",
                nudge::Request { num_validation_errors: facts.num_validation_errors + errors, ..facts.clone() },
            ),
            (
                "more time",
                nudge::Request { time_on_screen_seconds: facts.time_on_screen_seconds + seconds, ..facts.clone() },
            ),
            ("more steps back", nudge::Request { num_back_navigations: facts.num_back_navigations + backs, ..facts }),
        ]
    }

    fn row(facts: nudge::Request) -> Self::Row {
        facts.into()
    }

    fn figure(assessment: &nudge::Assessment) -> f64 {
        assessment.difficulty_score
    }
}

/// What is recommended follows from answers that cases hold; nothing in it is more or less.
impl Promised for AccessibilityScorer {
    type Facts = Self::Row;

    fn at_random(_: &mut Random) -> Option<Self::Row> {
        None
    }

    fn worse(_: &Self::Row, _: &mut Random) -> Vec<(&'static str, Self::Row)> {
        Vec::new()
    }

    fn row(facts: Self::Row) -> Self::Row {
        facts
    }

    fn figure(assessment: &crate::domain::accessibility::Assessment) -> f64 {
        assessment.confidence
    }
}
