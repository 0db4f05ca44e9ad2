//! Native `caudal_model` and the same code in wasmtime give the same bits, contributions, codes and
//! sentences, for valid and for rejected requests, one by one and in a batch.

mod requests;

use caudal::domain::fact::explanation::FEATURES;
use caudal::domain::money::Money;
use caudal::domain::transfer::{RailEvent, Status};
use caudal::domain::{accessibility as a11y, nudge, profile, risk, rules};
use caudal::models::Registry;
use caudal::scoring::{Accessibility, Nudge, Risk};
use caudal::wasm::{ScoreError, TransferRules};
use caudal_model as native;
use proptest::prelude::*;
use std::sync::{LazyLock, OnceLock};
use wasmtime::component::{Component, Linker, Val};
use wasmtime::{Config, Engine, Store};

use crate::built::{component, root, runtime};
use crate::models::{ACCESSIBILITY_2, NUDGE_1, RISK_2};
use crate::tables;

/// Inputs for each kind in one run.
const CASES: u32 = 1024;

fn config() -> ProptestConfig {
    // A failing input belongs in a test of its own, not in a file.
    ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() }
}

fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| Registry::embedded(runtime()).unwrap())
}

/// An answer whose equality is that of its bits.
#[derive(Debug, PartialEq)]
enum Outcome<T> {
    Answer(T),
    Refusal { field: String, code: String },
}

/// Panics on anything but an answer or a rejection: that would be a failure of the component.
fn by_component<A, T>(answer: Result<A, ScoreError>, bits: impl FnOnce(A) -> T) -> Outcome<T> {
    match answer {
        Ok(answer) => Outcome::Answer(bits(answer)),
        Err(ScoreError::Refused { field, code }) => Outcome::Refusal { field, code },
        Err(error) => panic!("{error:?}"),
    }
}

fn by_native<A, T>(answer: Result<A, native::Invalid>, bits: impl FnOnce(A) -> T) -> Outcome<T> {
    match answer {
        Ok(answer) => Outcome::Answer(bits(answer)),
        Err(invalid) => Outcome::Refusal { field: invalid.field.into(), code: invalid.code.into() },
    }
}

/// A level, score bits, base bits, bits of the contributions, factors.
type RiskBits = (String, u64, u64, Vec<u64>, Vec<String>);

fn risk_by_component(request: &risk::Request) -> Outcome<RiskBits> {
    let scorer = &registry().route::<Risk>().unwrap().champion.scorer;
    by_component(scorer.assess(request), |answer| {
        let explained = scorer.explain(request).unwrap().unwrap();
        let contributions = explained.contributions.into_iter().map(f64::to_bits).collect();
        (answer.level.to_string(), answer.score.to_bits(), explained.base.to_bits(), contributions, answer.factors)
    })
}

#[test]
fn the_host_knows_of_which_fact_each_feature_is_made() {
    let features = native::risk::features::FEATURES.map(|it| it.name);
    assert_eq!(features, FEATURES.map(|(feature, _)| feature));
}

fn risk_by_native(request: &risk::Request) -> Outcome<RiskBits> {
    by_native(native::risk::assess(&RISK_2, &requests::native_risk(request)), |answer| {
        let level = match answer.level {
            native::risk::Level::Low => "low",
            native::risk::Level::Medium => "medium",
            native::risk::Level::High => "high",
        };
        let contributions = answer.contributions.iter().map(|it| it.weight.to_bits()).collect();
        let factors = answer.factors.into_iter().map(Into::into).collect();
        (level.into(), answer.score.to_bits(), answer.base.to_bits(), contributions, factors)
    })
}

/// Whether help is needed, score bits, nudge type, reason.
type NudgeBits = (bool, u64, String, String);

fn nudge_by_component(request: &nudge::Request) -> Outcome<NudgeBits> {
    by_component(registry().route::<Nudge>().unwrap().champion.scorer.assess(request), |answer| {
        (answer.needs_help, answer.difficulty_score.to_bits(), answer.nudge_type.to_string(), answer.reason)
    })
}

fn nudge_by_native(request: &nudge::Request) -> Outcome<NudgeBits> {
    by_native(native::nudge::assess(&NUDGE_1, &requests::native_nudge(request)), |answer| {
        let nudge_type = match answer.band.nudge {
            native::nudge::Nudge::Assist => "assist",
            native::nudge::Nudge::Info => "info",
            native::nudge::Nudge::Warning => "warning",
        };
        (answer.band.needs_help, answer.score.to_bits(), nudge_type.into(), answer.band.reason.into())
    })
}

/// Everything but the numbers, font scale bits, confidence bits, explanation.
type ProfileBits = ((profile::Theme, bool, profile::NudgingLevel, bool), u64, u64, Vec<String>);

fn accessibility_by_component(request: &a11y::Request) -> ProfileBits {
    let answer = registry().route::<Accessibility>().unwrap().champion.scorer.assess(request).unwrap();
    let profile = answer.profile;
    (
        (profile.theme, profile.screen_reader_mode, profile.nudging_level, profile.voice_feedback),
        profile.font_scale.to_bits(),
        answer.confidence.to_bits(),
        answer.explanation,
    )
}

fn accessibility_by_native(request: &a11y::Request) -> ProfileBits {
    use native::accessibility::{NudgingLevel, Theme, assess};
    let answer = assess(&ACCESSIBILITY_2, &requests::native_accessibility(request));
    let theme = match answer.theme {
        Theme::StandardAccessible => profile::Theme::StandardAccessible,
        Theme::LargeTextHighContrast => profile::Theme::LargeTextHighContrast,
        Theme::VoiceAssisted => profile::Theme::VoiceAssisted,
    };
    let nudging_level = match answer.nudging_level {
        NudgingLevel::Medium => profile::NudgingLevel::Medium,
        NudgingLevel::High => profile::NudgingLevel::High,
    };
    (
        (theme, answer.screen_reader_mode, nudging_level, answer.voice_feedback),
        answer.font_scale.to_bits(),
        answer.confidence.to_bits(),
        answer.explanation.into_iter().map(Into::into).collect(),
    )
}

fn verdict_by_native(facts: &rules::Facts) -> rules::Verdict {
    match native::rules::decide(&requests::native_facts(facts)) {
        native::rules::Verdict::Accepted => rules::Verdict::Accepted,
        native::rules::Verdict::Rejected(broken) => {
            let violation = |it: native::rules::Violation| rules::Violation { code: it.code.into(), detail: it.detail };
            rules::Verdict::Rejected(broken.into_iter().map(violation).collect())
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn risk_scores_have_the_same_bits(request in requests::risk()) {
        prop_assert_eq!(risk_by_component(&request), risk_by_native(&request));
    }

    #[test]
    fn a_batch_answers_as_its_rows_do_alone(requests in proptest::collection::vec(requests::risk(), 0..20)) {
        let scorer = &registry().route::<Risk>().unwrap().champion.scorer;
        let together = scorer.assess_batch(&requests).unwrap();
        prop_assert_eq!(together.len(), requests.len());
        for (request, answer) in requests.iter().zip(together) {
            let together = by_component(answer, |answer| answer.score.to_bits());
            let alone = by_native(native::risk::assess(&RISK_2, &requests::native_risk(request)), |it| it.score.to_bits());
            prop_assert_eq!(together, alone, "{:?}", request);
        }
    }

    #[test]
    fn nudges_have_the_same_bits(request in requests::nudge()) {
        prop_assert_eq!(nudge_by_component(&request), nudge_by_native(&request));
    }

    #[test]
    fn accessibility_profiles_have_the_same_bits_and_sentences(request in requests::accessibility()) {
        prop_assert_eq!(accessibility_by_component(&request), accessibility_by_native(&request));
    }

    #[test]
    fn transfer_rules_give_the_same_verdicts(facts in requests::facts()) {
        prop_assert_eq!(registry().rule(&facts).unwrap().verdict, verdict_by_native(&facts));
    }

    #[test]
    fn a_table_of_the_transfer_rules_gives_the_same_verdicts(facts in requests::facts()) {
        static TABLE: LazyLock<TransferRules> = LazyLock::new(|| {
            let table = std::fs::read_to_string(root().join(tables::RULES)).unwrap();
            TransferRules::load(runtime(), &tables::built("parity", &table)).unwrap()
        });
        let facts = within_contract_2(facts);
        prop_assert_eq!(TABLE.decide(&facts).unwrap(), verdict_by_native(&facts));
    }
}

/// In contract 2 numbers end at 2^53, which no account of this bank will hold.
fn within_contract_2(facts: rules::Facts) -> rules::Facts {
    const MOST: i64 = 1 << 51;
    let money = |it: Money| Money::from_minor(it.minor().clamp(-MOST, MOST));
    rules::Facts {
        amount: money(facts.amount),
        available: money(facts.available),
        day_total: money(facts.day_total),
        per_transfer_limit: facts.per_transfer_limit.map(money),
        per_day_limit: facts.per_day_limit.map(money),
        beneficiary_age_seconds: facts.beneficiary_age_seconds.min(MOST.unsigned_abs()),
        cooling_seconds: facts.cooling_seconds.min(MOST.unsigned_abs()),
        ..facts
    }
}

/// The host does not read these names, so a plain engine asks for them.
#[test]
fn contributions_have_the_names_of_their_features() {
    let engine = Engine::new(Config::new().gc_support(false)).unwrap();
    let mut store = Store::new(&engine, ());
    let risk = Component::new(&engine, component("risk")).unwrap();
    let instance = Linker::new(&engine).instantiate(&mut store, &risk).unwrap();
    let interface = instance.get_export_index(&mut store, None, "caudal:scoring/risk@1.0.0").unwrap();
    let assess = instance.get_export_index(&mut store, Some(&interface), "assess").unwrap();
    let assess = instance.get_func(&mut store, assess).unwrap();
    let request = [
        ("amount", Val::Float64(1500.0)),
        ("is-new-beneficiary", Val::Bool(true)),
        ("hour-of-day", Val::U8(14)),
        ("num-past-transactions", Val::U32(25)),
        ("avg-transaction-amount", Val::Float64(800.0)),
        ("max-transaction-amount", Val::Float64(4000.0)),
        ("num-transactions-to-beneficiary", Val::U32(0)),
        ("is-new-device", Val::Bool(false)),
        ("geolocation-changed", Val::Bool(false)),
        ("beneficiary-saved-minutes", Val::Option(None)),
    ];
    let mut answer = [Val::Bool(false)];
    let request = Val::Record(request.map(|(name, value)| (name.to_owned(), value)).into());
    assess.call(&mut store, &[request], &mut answer).unwrap();

    let [Val::Result(Ok(Some(assessment)))] = answer else { panic!("{answer:?}") };
    let Val::List(contributions) = field(&assessment, "contributions") else { panic!("no list") };
    let names = contributions.iter().map(|it| field(it, "feature").clone());
    let request = native::risk::Request {
        amount: 1500.0,
        is_new_beneficiary: true,
        hour_of_day: 14,
        num_past_transactions: 25,
        avg_transaction_amount: 800.0,
        max_transaction_amount: 4000.0,
        num_transactions_to_beneficiary: 0,
        is_new_device: false,
        geolocation_changed: false,
        beneficiary_saved_minutes: None,
    };
    let expected = native::risk::assess(&RISK_2, &request).unwrap().contributions;
    let expected = expected.iter().map(|it| Val::String(it.feature.to_owned()));
    assert_eq!(names.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

fn field<'a>(record: &'a Val, name: &str) -> &'a Val {
    let Val::Record(fields) = record else { panic!("{record:?}") };
    fields.iter().find(|(it, _)| it == name).map(|(_, value)| value).unwrap()
}

#[test]
fn statuses_move_the_same_way() {
    for &status in Status::ALL {
        for &event in RailEvent::ALL {
            let next = registry().transition(status, event).unwrap();
            let native = native::rules::transition(status.as_str(), event.as_str());
            assert_eq!(next.map(Status::as_str), native, "{status} on {event}");
        }
    }
}
