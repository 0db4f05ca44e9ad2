//! `/ai/risk`, `/ai/nudge`, `/ai/accessibility`, `/ai/health`: what the scorers answer.

use caudal::domain::model::ModelKind;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Client, TestApp, registry};

/// Below this confidence a client presents a profile as a suggestion.
const SUGGESTION_BELOW: f64 = 0.7;

/// The required fields of a risk request: a usual transfer at noon, without any factor.
pub(crate) fn risk() -> Value {
    json!({
        "amount": 100, "is_new_beneficiary": false, "hour_of_day": 12, "num_past_transactions": 10,
        "avg_transaction_amount": 100, "max_transaction_amount": 200, "num_transactions_to_beneficiary": 5,
        "is_new_device": false, "geolocation_changed": false,
    })
}

/// The same for a nudge request, without difficulties.
pub(crate) fn nudge() -> Value {
    json!({
        "screen": "transfer_amount", "num_validation_errors": 0, "time_on_screen_seconds": 0,
        "num_back_navigations": 0, "steps_total": 4, "current_step": 2,
    })
}

/// The same for an accessibility request, without any special needs.
pub(crate) fn accessibility() -> Value {
    json!({
        "can_read_small_text": true, "uses_screen_reader": false, "feels_confident_with_apps": "high",
        "age_range": "18_30", "avg_time_per_screen_seconds": 0, "total_validation_errors": 0, "requested_help_count": 0,
    })
}

/// `body` with other fields.
pub(crate) fn with(mut body: Value, changes: &Value) -> Value {
    body.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    body
}

async fn ask(ai: &Client, path: &str, body: Value) -> Value {
    ai.post(path, body).await.assert_status(200).json()
}

/// The score of a risk answer after its level was checked.
fn score(answer: &Value) -> f64 {
    let result = &answer["result"];
    let score = result["risk_score"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&score), "{answer}");
    let level = if score >= 0.75 { "high" } else { "medium" };
    let level = if score < 0.25 { "low" } else { level };
    assert_eq!(result["risk_level"], level, "{answer}");
    assert!(level == "low" || result["risk_factors"] != json!([]), "a warning without a reason: {answer}");
    score
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn answers_have_the_specifications_shape_and_echo_what_was_sent(db: PgPool) {
    let app = TestApp::new(db).await;
    let ai = app.ai();
    let models = ai.get("/ai/health").await.assert_status(200).json()["models"].take();
    let version = |kind: &str| models[kind]["version"].clone();

    let plain = ask(&ai, "/ai/risk", risk()).await;
    let result = json!({"risk_level": "low", "risk_score": score(&plain), "risk_factors": []});
    assert_eq!(plain, json!({"model_version": version("risk"), "result": result}));
    let ids = json!({"user_id": "ana", "session_id": "s-1"});
    let named = ask(&ai, "/ai/risk", with(risk(), &ids)).await;
    assert_eq!(named, json!({"user_id": "ana", "model_version": version("risk"), "result": result}));

    let calm = ask(&ai, "/ai/nudge", nudge()).await;
    let difficulty = calm["result"]["difficulty_score"].as_f64().unwrap();
    let result = json!({
        "needs_help": false, "difficulty_score": difficulty, "recommended_nudge_type": "warning", "reason": "low_difficulty",
    });
    assert!((0.0..=0.40).contains(&difficulty), "{calm}");
    let want = json!({"screen": "transfer_amount", "model_version": version("nudge"), "result": result});
    assert_eq!(calm, want);
    assert_eq!(ask(&ai, "/ai/nudge", with(nudge(), &ids)).await, with(want, &ids));

    let profile = ask(&ai, "/ai/accessibility", accessibility()).await;
    let recommendation = json!({
        "theme": "standard-accessible", "screen_reader_mode": false, "font_scale": 1.2, "nudging_level": "medium",
        "voice_feedback": false,
    });
    let want = json!({
        "model_version": version("accessibility"), "recommendation": recommendation,
        "confidence": profile["confidence"].as_f64().unwrap(), "explanation": profile["explanation"].as_array().unwrap(),
    });
    assert_eq!(profile, want);
    let user = json!({"user_id": "ana"});
    assert_eq!(ask(&ai, "/ai/accessibility", with(accessibility(), &ids)).await, with(want, &user));

    // Null counts as absent, and unknown fields are ignored.
    let noise = json!({"user_id": null, "session_id": null, "beneficiary_saved_minutes": null, "app_confidence": null,
        "surprise": {"deep": [1, null]}});
    for (path, body, want) in
        [("/ai/risk", risk(), plain), ("/ai/nudge", nudge(), calm), ("/ai/accessibility", accessibility(), profile)]
    {
        assert_eq!(ask(&ai, path, with(body, &noise)).await, want, "{path}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn each_factor_fires_exactly_on_its_condition(db: PgPool) {
    let app = TestApp::new(db).await;
    let ai = app.ai();
    let much = "AMOUNT_MUCH_HIGHER_THAN_AVERAGE";
    let all = json!({"amount": 1000, "is_new_beneficiary": true, "hour_of_day": 3, "num_past_transactions": 1,
        "num_transactions_to_beneficiary": 0, "is_new_device": true, "geolocation_changed": true});
    let in_order = [much, "NEW_BENEFICIARY", "UNUSUAL_TIME", "NEW_DEVICE", "LOCATION_CHANGED", "LOW_HISTORY"];
    for (changes, factors) in [
        (json!({}), json!([])),
        (json!({"amount": 0}), json!([])),
        (json!({"amount": 200}), json!([])),
        (json!({"amount": 200.01}), json!([much])),
        (json!({"amount": 0.3, "avg_transaction_amount": 0.15}), json!([])),
        (json!({"amount": 1e6, "avg_transaction_amount": 0, "max_transaction_amount": 0}), json!([])),
        (json!({"is_new_beneficiary": true}), json!(["NEW_BENEFICIARY"])),
        (json!({"num_transactions_to_beneficiary": 0}), json!([])),
        (json!({"hour_of_day": 0}), json!(["UNUSUAL_TIME"])),
        (json!({"hour_of_day": 5}), json!(["UNUSUAL_TIME"])),
        (json!({"hour_of_day": 6}), json!([])),
        (json!({"hour_of_day": 22}), json!([])),
        (json!({"hour_of_day": 23}), json!(["UNUSUAL_TIME"])),
        (json!({"is_new_device": true}), json!(["NEW_DEVICE"])),
        (json!({"geolocation_changed": true}), json!(["LOCATION_CHANGED"])),
        (json!({"num_past_transactions": 0}), json!(["LOW_HISTORY"])),
        (json!({"num_past_transactions": 2}), json!(["LOW_HISTORY"])),
        (json!({"num_past_transactions": 3}), json!([])),
        // Every fact as bad as it can be without triggering a factor.
        (
            json!({"amount": 200, "max_transaction_amount": 100, "hour_of_day": 22, "num_past_transactions": 3,
                "num_transactions_to_beneficiary": 0}),
            json!([]),
        ),
        (all, json!(in_order)),
    ] {
        let answer = ask(&ai, "/ai/risk", with(risk(), &changes)).await;
        assert_eq!(answer["result"]["risk_factors"], factors, "{changes}");
        score(&answer);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn levels_rise_with_the_factors(db: PgPool) {
    let app = TestApp::new(db).await;
    let ai = app.ai();
    let mut levels = Vec::new();
    let mut last = -1.0;
    let mut changes = json!({});
    for change in [
        json!({}),
        json!({"is_new_beneficiary": true, "num_transactions_to_beneficiary": 0}),
        json!({"num_past_transactions": 2}),
        json!({"hour_of_day": 23}),
        json!({"is_new_device": true}),
        json!({"geolocation_changed": true}),
        json!({"amount": 1000}),
    ] {
        changes = with(changes, &change);
        let answer = ask(&ai, "/ai/risk", with(risk(), &changes)).await;
        assert!(score(&answer) > last, "{changes}: {answer} is not above {last}");
        last = score(&answer);
        levels.push(answer["result"]["risk_level"].as_str().unwrap().to_owned());
    }
    levels.dedup();
    assert_eq!(levels, ["low", "medium", "high"]);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn knowing_or_having_saved_the_payee_never_raises_the_score(db: PgPool) {
    let app = TestApp::new(db).await;
    let ai = app.ai();
    let first = json!({"is_new_beneficiary": true, "num_transactions_to_beneficiary": 0});
    let night = json!({"amount": 900, "hour_of_day": 2, "is_new_device": true});
    for context in [risk(), with(risk(), &night), with(risk(), &json!({"num_past_transactions": 0}))] {
        let ask = async |changes: Value| score(&ask(&ai, "/ai/risk", with(context.clone(), &changes)).await);
        let mut last = ask(first.clone()).await;
        for count in [0_u64, 1, 2, 3, 10, 100, 4_294_967_295, 99_999_999_999] {
            let known = ask(json!({"num_transactions_to_beneficiary": count})).await;
            assert!(known <= last, "{context} {count}: {known} is above {last}");
            last = known;
        }

        let unknown = ask(first.clone()).await;
        let mut last = unknown;
        for minutes in [0, 30, 31, 60, 1_440, 43_200, 4_294_967_295_u32] {
            let saved = ask(with(first.clone(), &json!({"beneficiary_saved_minutes": minutes}))).await;
            assert!(saved <= last, "{context} {minutes}: {saved} is above {last}");
            assert_eq!(saved < unknown, minutes > 30, "{context} {minutes}: {saved}, without it {unknown}");
            last = saved;
        }
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn whole_numbers_are_integers_and_huge_counts_saturate(db: PgPool) {
    let app = TestApp::new(db).await;
    let ai = app.ai();
    let history = ["num_past_transactions", "num_transactions_to_beneficiary", "beneficiary_saved_minutes"];
    let seen =
        ["num_validation_errors", "time_on_screen_seconds", "num_back_navigations", "steps_total", "current_step"];
    let behaviour = ["avg_time_per_screen_seconds", "total_validation_errors", "requested_help_count"];
    for (path, body, counts) in [
        ("/ai/risk", risk(), &history[..]),
        ("/ai/nudge", nudge(), &seen[..]),
        ("/ai/accessibility", accessibility(), &behaviour[..]),
    ] {
        for count in counts {
            let ask = async |value: Value| ask(&ai, path, with(body.clone(), &json!({ (*count): value }))).await;
            assert_eq!(ask(json!(3.0)).await, ask(json!(3)).await, "{path} {count}");
            let most = ask(json!(u32::MAX)).await;
            for huge in [json!(4_294_967_296_u64), json!(99_999_999_999_u64), json!(1e300)] {
                assert_eq!(ask(huge.clone()).await, most, "{path} {count} {huge}");
            }
        }
    }
    let noon = ask(&ai, "/ai/risk", with(risk(), &json!({"hour_of_day": 12.0}))).await;
    assert_eq!(noon, ask(&ai, "/ai/risk", risk()).await);
    // A step past the last one is the last one.
    let last = ask(&ai, "/ai/nudge", with(nudge(), &json!({"current_step": 4}))).await;
    assert_eq!(ask(&ai, "/ai/nudge", with(nudge(), &json!({"current_step": 9}))).await, last);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_nudge_is_a_function_of_the_difficulty(db: PgPool) {
    let app = TestApp::new(db).await;
    let ai = app.ai();
    let nudge_for = async |changes: Value| ask(&ai, "/ai/nudge", with(nudge(), &changes)).await["result"].take();
    // 30 seconds are usual on a screen for amounts: excessive is more than 67.2.
    for (changes, kind) in [
        (json!({}), "warning"),
        (json!({"num_validation_errors": 1}), "warning"),
        (json!({"num_validation_errors": 2}), "info"),
        (json!({"num_validation_errors": 5}), "assist"),
        (json!({"time_on_screen_seconds": 67}), "warning"),
        (json!({"time_on_screen_seconds": 68}), "info"),
        (json!({"num_validation_errors": 5, "time_on_screen_seconds": 600}), "assist"),
        (json!({"num_back_navigations": 1e300}), "warning"),
    ] {
        assert_eq!(nudge_for(changes.clone()).await["recommended_nudge_type"], kind, "{changes}");
    }
    for errors in [0, 1, 2, 3, 4, 5, 100] {
        let mut last = -1.0;
        for seconds in [0, 30, 45, 67, 68, 120, 600] {
            for backs in [0, 3, 50] {
                let changes = json!({"num_validation_errors": errors, "time_on_screen_seconds": seconds,
                    "num_back_navigations": backs});
                let result = nudge_for(changes.clone()).await;
                let score = result["difficulty_score"].as_f64().unwrap();
                let (kind, reason) = match score {
                    score if score > 0.75 => ("assist", "high_error_rate_or_time"),
                    score if score > 0.40 => ("info", "moderate_difficulty"),
                    _ => ("warning", "low_difficulty"),
                };
                let want = json!({"needs_help": score > 0.40, "difficulty_score": score,
                    "recommended_nudge_type": kind, "reason": reason});
                assert_eq!(result, want, "{changes}");
                assert!((0.0..=1.0).contains(&score), "{changes}: {score}");
                if backs == 0 {
                    assert!(score >= last, "{changes}: {score} is below {last}");
                    last = score;
                }
            }
        }
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn answers_choose_the_theme_and_low_confidence_raises_nudging(db: PgPool) {
    let app = TestApp::new(db).await;
    let ai = app.ai();
    let (standard, large, voice) = ("standard-accessible", "large-text-high-contrast", "voice-assisted");
    let trouble = json!({"total_validation_errors": 5, "requested_help_count": 3});
    for (changes, theme, scale, level) in [
        (json!({}), standard, 1.2, "medium"),
        (json!({"can_read_small_text": false}), large, 1.6, "medium"),
        (json!({"uses_screen_reader": true}), voice, 1.2, "medium"),
        (json!({"uses_screen_reader": true, "can_read_small_text": false}), voice, 1.2, "medium"),
        (json!({"feels_confident_with_apps": "medium"}), standard, 1.2, "medium"),
        (json!({"feels_confident_with_apps": "low"}), standard, 1.2, "high"),
        (json!({"feels_confident_with_apps": "low", "can_read_small_text": false}), large, 1.6, "high"),
        (json!({"age_range": "31_50"}), standard, 1.2, "medium"),
        (json!({"age_range": "51_60"}), large, 1.6, "medium"),
        (json!({"age_range": "60_plus"}), large, 1.6, "medium"),
        (with(trouble.clone(), &json!({"age_range": "18_30"})), standard, 1.2, "high"),
        (with(trouble.clone(), &json!({"age_range": "51_60"})), large, 1.6, "high"),
        (with(trouble.clone(), &json!({"age_range": "60_plus"})), large, 1.6, "high"),
        (with(trouble, &json!({"age_range": "60_plus", "uses_screen_reader": true})), voice, 1.2, "high"),
    ] {
        let answer = ask(&ai, "/ai/accessibility", with(accessibility(), &changes)).await;
        let want = json!({"theme": theme, "screen_reader_mode": theme == voice, "font_scale": scale,
            "nudging_level": level, "voice_feedback": theme == voice});
        assert_eq!(answer["recommendation"], want, "{changes}");
        assert!((0.0..=1.0).contains(&answer["confidence"].as_f64().unwrap()), "{changes}: {answer}");
        let english = ai.with("accept-language", "en-US, en;q=0.9");
        let english = ask(&english, "/ai/accessibility", with(accessibility(), &changes)).await;
        for (answer, words, others) in
            [(&answer, ["Te recomendamos", "uizá te sirva"], "We "), (&english, ["We recommend", "may help"], "Te ")]
        {
            let sentences: Vec<&str> =
                answer["explanation"].as_array().unwrap().iter().map(|sentence| sentence.as_str().unwrap()).collect();
            assert!(sentences.iter().all(|sentence| !sentence.trim().is_empty()), "{changes}: {sentences:?}");
            let text = sentences.join(" ");
            assert!(words.iter().any(|word| text.contains(word)) && !text.contains(others), "{changes}: {text}");
        }
        assert_eq!(english["recommendation"], want, "{changes}");
        assert_eq!(english["confidence"], answer["confidence"], "{changes}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn age_alone_suggests_large_text_and_a_no_or_difficulty_raises_the_confidence(db: PgPool) {
    let app = TestApp::new(db).await;
    let ai = app.ai();
    for age in ["51_60", "60_plus"] {
        let person = with(accessibility(), &json!({"age_range": age}));
        let confidence = async |changes: Value| {
            let answer = ask(&ai, "/ai/accessibility", with(person.clone(), &changes)).await;
            assert_eq!(answer["recommendation"]["theme"], "large-text-high-contrast", "{age} {changes}");
            answer["confidence"].as_f64().unwrap()
        };
        let calm = confidence(json!({})).await;
        let one_sign = confidence(json!({"total_validation_errors": 5})).await;
        let two_signs = confidence(json!({"total_validation_errors": 5, "requested_help_count": 3})).await;
        let no = confidence(json!({"can_read_small_text": false})).await;
        assert!(calm < one_sign && one_sign < SUGGESTION_BELOW, "{age}: {calm}, {one_sign}");
        assert!(SUGGESTION_BELOW <= two_signs && two_signs < no, "{age}: {two_signs}, {no}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_short_name_of_confidence_works_without_behaviour(db: PgPool) {
    let app = TestApp::new(db).await;
    let ai = app.ai();
    for (level, small_text) in [("low", true), ("medium", false), ("high", true)] {
        let answers = json!({"can_read_small_text": small_text});
        let named = with(with(accessibility(), &answers), &json!({"feels_confident_with_apps": level}));
        let short = json!({"can_read_small_text": small_text, "uses_screen_reader": false, "app_confidence": level,
            "age_range": "18_30"});
        let full = ask(&ai, "/ai/accessibility", named.clone()).await;
        let bare = ask(&ai, "/ai/accessibility", short.clone()).await;
        assert_eq!(bare["recommendation"], full["recommendation"], "{short}");
        let drop = full["confidence"].as_f64().unwrap() - bare["confidence"].as_f64().unwrap();
        assert!((drop - 0.1).abs() < 1e-9, "{short}: the confidence drops by {drop}");

        // With behaviour, or beside the full name, it changes nothing.
        let behaviour =
            json!({"avg_time_per_screen_seconds": 0, "total_validation_errors": 0, "requested_help_count": 0});
        assert_eq!(ask(&ai, "/ai/accessibility", with(short, &behaviour)).await, full);
        assert_eq!(ask(&ai, "/ai/accessibility", with(named, &json!({"app_confidence": level}))).await, full);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn health_says_which_models_are_loaded(db: PgPool) {
    let app = TestApp::new(db).await;
    let ai = app.ai();
    let health = ai.get("/ai/health").await.assert_status(200).json();
    let kinds = ["risk", "nudge", "accessibility", "transfer-rules"];
    for kind in kinds {
        let model = &health["models"][kind];
        let (version, sha256) = (model["version"].as_str().unwrap(), model["sha256"].as_str().unwrap());
        assert_eq!(*model, json!({"loaded": true, "version": version, "sha256": sha256}), "{kind}");
        let is_hex = sha256.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        assert!(sha256.len() == 64 && is_hex, "{kind}: {sha256}");
        let number = if ["risk", "accessibility"].contains(&kind) { "2.0.0" } else { "1.0.0" };
        assert_eq!(version, format!("{kind}-{number}+{}", &sha256[..8]), "{kind}");
    }
    assert_eq!(health["models"].as_object().unwrap().len(), kinds.len());
    let want = json!({"status": "ok", "model_loaded": true, "model_version": health["models"]["nudge"]["version"],
        "models": health["models"], "uptime_seconds": 0});
    assert_eq!(health, want);
    app.clock.advance(time::Duration::seconds(90));
    assert_eq!(ai.get("/ai/health").await.json()["uptime_seconds"], 90);

    app.models.activate(registry().without(ModelKind::Nudge));
    let ill = ai.get("/ai/health").await;
    assert_eq!(ill.assert_status(503).header("content-type"), Some("application/json"));
    let mut models = health["models"].clone();
    models["nudge"] = json!({"loaded": false});
    let want =
        json!({"status": "fail", "model_loaded": false, "model_version": null, "models": models, "uptime_seconds": 90});
    assert_eq!(ill.json(), want);
}
