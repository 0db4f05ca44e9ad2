//! Weights of models, and components that operators upload.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use caudal::domain::model::ModelKind;
use caudal::scoring::{Nudge, Scorer};
use caudal::wasm::{Runtime, digest_of};
use caudal_model::weights::WEIGHT_MAX;
use caudal_model::{accessibility, nudge, risk};

use crate::{ACCEPTED, Outcome, Target, refused};

pub(crate) const WEIGHTS: Target = Target {
    name: "weights",
    run: weights,
    words: &[
        b"CDLMODEL",
        b"1.0.0",
        b"\x01\x00",
        b"\x64\x00",
        b"\0\0\0\0\0\0\xf0\x7f",
        b"\0\0\0\0\0\0\xf8\x7f",
        b"\0\0\0\0\0\0\x59\x40",
        b"\0\0\0\0\0\0\0\x80",
        b"\x01\0\0\0\0\0\0\0",
        b"\xff\xff\xff\xff\xff\xff\xef\x7f",
    ],
    bytes_max: 1_000,
    seeds: shipped_weights,
};

pub(crate) const COMPONENTS: Target = Target {
    name: "components",
    run: component,
    words: &[
        b"\0asm\x0d\0\x01\0",
        b"\0asm\x01\0\0\0",
        b"assess",
        b"describe",
        b"\x0b",
        b"\x03\x40\x0c\0\x0b",
        b"\xff\xff\xff\xff\x0f",
    ],
    bytes_max: 64 << 10,
    seeds: small_components,
};

fn shipped_weights() -> Vec<Vec<u8>> {
    let models =
        ["risk/models/risk-1", "risk/models/risk-2", "nudge/models/nudge-1", "accessibility/models/accessibility-2"];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../components");
    models.iter().map(|model| fs::read(folder.join(model).join("weights.bin")).unwrap()).collect()
}

fn small_components() -> Vec<Vec<u8>> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/components");
    let built = ["nudge", "transfer-rules"].map(|name| fs::read(built.join(name).with_extension("wasm")));
    let texts =
        ["(component)", "(component (core module (func (export \"a\") (loop br 0))))", "(module (memory 1 65536))"];
    let texts = texts.map(|text| wat::parse_str(text).unwrap());
    built.into_iter().map(|it| it.expect("run `make components` first")).chain(texts).collect()
}

fn is_probability(score: f64) -> bool {
    (0.0..=1.0).contains(&score)
}

/// Extremes of what a scorer may be asked.
fn risk_requests() -> impl Iterator<Item = risk::Request> {
    let amounts = [0.0, 0.01, 1_500.5, 1e12, f64::MAX];
    let counts = [0, 1, u32::MAX];
    amounts.into_iter().flat_map(move |amount| {
        counts.into_iter().flat_map(move |count| {
            [false, true].into_iter().map(move |flag| risk::Request {
                amount,
                is_new_beneficiary: flag,
                hour_of_day: if flag { 3 } else { 12 },
                num_past_transactions: count,
                avg_transaction_amount: if flag { 0.0 } else { amount },
                max_transaction_amount: amount,
                num_transactions_to_beneficiary: count,
                is_new_device: flag,
                geolocation_changed: !flag,
                beneficiary_saved_minutes: flag.then_some(count),
            })
        })
    })
}

fn nudge_requests() -> impl Iterator<Item = nudge::Request<'static>> {
    [0, 1, 7, u32::MAX].into_iter().map(|count| nudge::Request {
        screen: "confirm",
        num_validation_errors: count,
        time_on_screen_seconds: count,
        num_back_navigations: count,
        steps_total: count.max(1),
        current_step: 1,
    })
}

/// Weights that are accepted are finite, and whatever they are asked, they answer with a probability.
fn weights(bytes: &[u8]) -> Outcome {
    let is_weight = |weight: f64| weight.is_finite() && weight.abs() <= WEIGHT_MAX;
    let risk = risk::Weights::parse(bytes);
    if let Ok(weights) = &risk {
        let all = weights.coefficients.iter().flatten().chain(&weights.cutpoints).chain([&weights.base]);
        assert!(all.copied().all(is_weight), "{weights:?}");
        for request in risk_requests() {
            let score = risk::assess(weights, &request).unwrap_or_else(|_| panic!("{request:?} is refused")).score;
            assert!(is_probability(score), "{score} for {request:?} with {weights:?}");
        }
        return "accepted for risk".into();
    }
    let nudge = nudge::Weights::parse(bytes);
    if let Ok(weights) = &nudge {
        assert!(weights.coefficients.iter().chain([&weights.base]).copied().all(is_weight), "{weights:?}");
        for request in nudge_requests() {
            let score = nudge::assess(weights, &request).unwrap_or_else(|_| panic!("{request:?} is refused")).score;
            assert!(is_probability(score), "{score} for {request:?} with {weights:?}");
        }
        return "accepted for nudge".into();
    }
    let accessibility = accessibility::Weights::parse(bytes);
    if let Ok(weights) = &accessibility {
        for count in [0, 1, 3, u32::MAX] {
            for flag in [false, true] {
                let request = accessibility::Request {
                    can_read_small_text: flag,
                    uses_screen_reader: count == 3,
                    feels_confident_with_apps: accessibility::AppConfidence::Low,
                    age_range: accessibility::AgeRange::Over60,
                    avg_time_per_screen_seconds: count,
                    total_validation_errors: count,
                    requested_help_count: count,
                    behaviour_observed: flag,
                    language: accessibility::Language::EsMx,
                };
                let confidence = accessibility::assess(weights, &request).confidence;
                assert!(is_probability(confidence), "{confidence} for {request:?} with {weights:?}");
            }
        }
        return "accepted for accessibility".into();
    }
    format!("{:?} {:?} {:?}", risk.err(), nudge.err(), accessibility.err()).into()
}

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// A component that loads is identified by its bytes, and describes itself as what it was loaded for.
fn component(bytes: &[u8]) -> Outcome {
    match Scorer::<Nudge>::load(&RUNTIME, bytes) {
        Ok(scorer) => {
            let identity = scorer.identity();
            assert_eq!((identity.kind, identity.digest), (ModelKind::Nudge, digest_of(bytes)));
            ACCEPTED
        }
        Err(error) => refused(&std::mem::discriminant(&error)),
    }
}
