//! `/api/profile/accessibility`

use axum::body::Body;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::assistance::{accessibility, with};
use crate::assistance_limits::{in_case, with_raw};
use crate::harness::{TestApp, refused};

const PATH: &str = "/api/profile/accessibility";

fn large() -> Value {
    json!({"theme": "large-text-high-contrast", "screenReaderMode": false, "fontScale": 1.6, "nudgingLevel": "high",
        "voiceFeedback": false})
}

/// The same profile in snake_case.
const SPELLINGS: [(&str, &str); 4] = [
    ("screenReaderMode", "screen_reader_mode"),
    ("fontScale", "font_scale"),
    ("nudgingLevel", "nudging_level"),
    ("voiceFeedback", "voice_feedback"),
];

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn each_user_has_the_default_profile_until_one_is_stored(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let default = json!({"theme": "standard-accessible", "screenReaderMode": false, "fontScale": 1.0,
        "nudgingLevel": "medium", "voiceFeedback": false, "updatedAt": null});
    assert_eq!(ana.get(PATH).await.assert_status(200).json(), default);
    assert_eq!(app.count("select count(*) from profile").await, 0);

    let stored = ana.put(PATH, large()).await.assert_status(200).json();
    assert_eq!(stored, with(large(), &json!({"updatedAt": "2026-11-21T18:00:00.000Z"})));
    assert_eq!(ana.get(PATH).await.assert_status(200).json(), stored);
    assert_eq!(luis.get(PATH).await.assert_status(200).json(), default);

    // A second one replaces it, and a response may be sent back unchanged.
    app.clock.advance(time::Duration::milliseconds(61_001));
    let voice = json!({"theme": "voice-assisted", "screenReaderMode": true, "fontScale": 1.2, "nudgingLevel": "low",
        "voiceFeedback": true});
    let stored = ana.put(PATH, with(voice.clone(), &json!({"surprise": 1}))).await.assert_status(200).json();
    assert_eq!(stored, with(voice, &json!({"updatedAt": "2026-11-21T18:01:01.001Z"})));
    let stored = with(stored, &json!({"updatedAt": "2026-11-21T18:01:01.002Z"}));
    assert_eq!(ana.put(PATH, stored.clone()).await.assert_status(200).json(), stored, "later, by the least");
    assert_eq!(ana.get(PATH).await.json(), stored);
    assert_eq!(app.count("select count(*) from profile").await, 1);
    let luiss = luis.put(PATH, large()).await.assert_status(200).json();
    assert_eq!((ana.get(PATH).await.json(), luis.get(PATH).await.json()), (stored, luiss));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn of_concurrent_profiles_the_one_with_the_latest_time_is_stored(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let puts = (0..20).map(|at| {
        let (ana, profile) = (ana.clone(), with(large(), &json!({"fontScale": 1.0 + f64::from(at) / 100.0})));
        tokio::spawn(async move { ana.put(PATH, profile).await })
    });
    let puts: Vec<_> = puts.collect();
    let mut stored = Vec::new();
    for put in puts {
        stored.push(put.await.unwrap().assert_status(200).json());
    }
    stored.sort_by_key(|it| it["updatedAt"].as_str().unwrap().to_owned());
    assert_eq!(ana.get(PATH).await.json(), stored[19]);
    // A clock that runs behind the one of another host changes nothing about that.
    app.clock.advance(time::Duration::seconds(-1));
    let last = ana.put(PATH, large()).await.assert_status(200).json();
    assert!(last["updatedAt"].as_str() > stored[19]["updatedAt"].as_str(), "{last}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_recommendation_can_be_stored_unchanged(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    for changes in [json!({}), json!({"can_read_small_text": false}), json!({"uses_screen_reader": true})] {
        let answer =
            app.ai().post("/ai/accessibility", with(accessibility(), &changes)).await.assert_status(200).json();
        let recommended = &answer["recommendation"];
        let stored = ana.put(PATH, recommended.clone()).await.assert_status(200).json();
        assert_eq!(stored["theme"], recommended["theme"], "{changes}");
        for (camel, snake) in SPELLINGS {
            assert_eq!(stored[camel], recommended[snake], "{changes} {camel}");
            assert_eq!(stored.get(snake), None, "{changes} {snake}");
        }
        assert_eq!(ana.get(PATH).await.json(), stored, "{changes}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn two_spellings_of_one_field_are_a_conflict(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    ana.put(PATH, large()).await.assert_status(200);
    for (camel, snake) in SPELLINGS {
        let both = with(large(), &json!({ (snake): large()[camel] }));
        let answer = async {
            let answer = in_case(snake, ana.put(PATH, both)).await;
            let errors = answer.json()["errors"].take();
            assert_eq!(errors[0]["code"], "conflict", "{answer:?}");
            assert_eq!(errors.as_array().unwrap().len(), 1, "{answer:?}");
            answer
        };
        refused(&app, answer, 400, "validation-failed", Some(snake)).await;
        // Null counts as absent.
        ana.put(PATH, with(large(), &json!({ (snake): null }))).await.assert_status(200);
        let swapped = with(large(), &json!({ (camel): null, (snake): large()[camel] }));
        ana.put(PATH, swapped).await.assert_status(200);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn every_field_is_required_and_checked(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    ana.put(PATH, large()).await.assert_status(200);
    let put = |text: String| {
        let ana = ana.clone();
        async move { in_case(&text, ana.send("PUT", PATH, Some("application/json"), Body::from(text.clone()))).await }
    };
    let fields = ["theme", "screenReaderMode", "fontScale", "nudgingLevel", "voiceFeedback"];
    for field in fields {
        let mut without = large();
        without.as_object_mut().unwrap().remove(field);
        refused(&app, put(without.to_string()), 400, "validation-failed", Some(field)).await;
        refused(&app, put(with_raw(&large(), field, "null")), 400, "validation-failed", Some(field)).await;
        refused(&app, put("{}".to_owned()), 400, "validation-failed", Some(field)).await;
    }
    let scales =
        ["0.79", "0.7999999999999999", "2.01", "2.0000000000000005", "0", "-1", "1e400", "\"1\"", "\"NaN\"", "true"];
    for (field, values) in [
        ("theme", &["\"dark\"", "\"Voice-Assisted\"", "\"\"", "1", "[]"][..]),
        ("fontScale", &scales[..]),
        ("nudgingLevel", &["\"none\"", "\"HIGH\"", "\"\"", "2"][..]),
        ("screenReaderMode", &["\"true\"", "1", "\"\"", "{}"][..]),
        ("voiceFeedback", &["\"false\"", "0", "\"\"", "[]"][..]),
    ] {
        for raw in values {
            refused(&app, put(with_raw(&large(), field, raw)), 400, "validation-failed", Some(field)).await;
        }
    }
    for raw in ["NaN", "Infinity", "+1", "1."] {
        refused(&app, put(with_raw(&large(), "fontScale", raw)), 400, "malformed-json", None).await;
    }
    refused(&app, put("[]".to_owned()), 400, "validation-failed", None).await;
    refused(&app, app.anon().put(PATH, large()), 401, "unauthorized", None).await;
    refused(&app, app.anon().get(PATH), 401, "unauthorized", None).await;
    for (raw, scale) in
        [("0.8", 0.8), ("2", 2.0), ("2.0", 2.0), ("1.25e0", 1.25), ("0.8500000000000001", 0.8500000000000001)]
    {
        let stored = put(with_raw(&large(), "fontScale", raw)).await.assert_status(200).json();
        assert_eq!(stored["fontScale"].as_f64(), Some(scale), "{raw}");
        assert_eq!(ana.get(PATH).await.json(), stored, "{raw}");
    }
}
