//! Hostile tokens: each gets 401.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{SECRET, TestApp, refused};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};

/// The harness's time, 2026-11-21T18:00:00Z, in seconds.
const NOW: i64 = 1_795_284_000;

fn claims(extra: Value) -> Value {
    let mut claims = json!({"sub": "ana", "exp": NOW + 3_600});
    for (name, value) in extra.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims
}

fn sign(claims: &Value, secret: &[u8], algorithm: Algorithm) -> String {
    encode(&Header::new(algorithm), claims, &EncodingKey::from_secret(secret)).unwrap()
}

/// A token with a header of our choice, signed as HS256 whatever the header says.
fn with_header(header: &Value) -> String {
    let encoded = |value: &Value| base64(value.to_string().as_bytes());
    let signed = sign(&claims(json!({})), SECRET, Algorithm::HS256);
    let parts: Vec<&str> = signed.split('.').collect();
    format!("{}.{}.{}", encoded(header), parts[1], parts[2])
}

/// URL-safe base64 without padding.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let digit = |chunk: &[u8], position: usize| {
        let bits = chunk.iter().chain([&0, &0]).take(3).fold(0_usize, |bits, byte| bits << 8 | *byte as usize);
        char::from(ALPHABET[bits >> (18 - 6 * position) & 63])
    };
    bytes.chunks(3).flat_map(|chunk| (0..=chunk.len()).map(move |position| digit(chunk, position))).collect()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn hostile_tokens_are_refused(db: PgPool) {
    let app = TestApp::new(db).await;
    let good = sign(&claims(json!({})), SECRET, Algorithm::HS256);
    let none = format!("{}.{}.", base64(br#"{"alg":"none","typ":"JWT"}"#), good.split('.').nth(1).unwrap());
    let token = |extra: Value| sign(&claims(extra), SECRET, Algorithm::HS256);
    let hostile = [
        ("garbage", "garbage".to_owned()),
        ("empty", String::new()),
        ("dots", "..".to_owned()),
        ("many dots", ".".repeat(2_000)),
        ("cut", good[..good.len() - 1].to_owned()),
        ("changed", good.replacen('e', "f", 1)),
        ("expired", token(json!({"exp": NOW - 61}))),
        ("expired long ago", token(json!({"exp": 0}))),
        ("negative expiry", token(json!({"exp": -1}))),
        ("expiry that is a string", token(json!({"exp": "9999999999"}))),
        ("no expiry", sign(&json!({"sub": "ana"}), SECRET, Algorithm::HS256)),
        ("not yet valid", token(json!({"nbf": NOW + 61}))),
        ("nbf that is a string", token(json!({"nbf": "0"}))),
        ("alg none", none),
        ("alg None", with_header(&json!({"alg": "None", "typ": "JWT"}))),
        ("another key", sign(&claims(json!({})), b"another secret of more than 32 bytes", Algorithm::HS256)),
        ("RS256 header", with_header(&json!({"alg": "RS256", "typ": "JWT"}))),
        ("ES256 header", with_header(&json!({"alg": "ES256", "typ": "JWT"}))),
        ("HS512", sign(&claims(json!({})), SECRET, Algorithm::HS512)),
        ("header without alg", with_header(&json!({"typ": "JWT"}))),
        ("header that is a list", with_header(&json!([]))),
        ("empty subject", token(json!({"sub": ""}))),
        ("blank subject", token(json!({"sub": " \n"}))),
        ("subject with NUL", token(json!({"sub": "an\u{0}a"}))),
        ("subject that is a number", token(json!({"sub": 7}))),
        ("subject that is null", token(json!({"sub": null}))),
        ("long subject", token(json!({"sub": "a".repeat(256)}))),
        ("no subject", sign(&json!({"exp": NOW + 60}), SECRET, Algorithm::HS256)),
        ("claims that are a list", sign(&json!([1]), SECRET, Algorithm::HS256)),
    ];
    for (name, token) in &hostile {
        let client = app.anon().with("authorization", &format!("Bearer {token}"));
        let answer = client.get("/api/ledger/accounts").await;
        assert_eq!(answer.status, 401, "{name}: {answer:?}");
        answer.assert_problem(401, "unauthorized", None);
        assert_eq!(answer.header("www-authenticate"), Some(r#"Bearer error="invalid_token""#), "{name}");
        let body = json!({"accountNumber": "1", "accountType": "x"});
        refused(&app, client.post("/api/ledger/accounts", body), 401, "unauthorized", None).await;
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn other_credentials_are_refused(db: PgPool) {
    let app = TestApp::new(db).await;
    let good = sign(&claims(json!({})), SECRET, Algorithm::HS256);
    for header in
        [format!("Basic {good}"), good.clone(), "Bearer".to_owned(), format!("Bearer{good}"), "\u{e9} x".to_owned()]
    {
        let answer = app.anon().with("authorization", &header).get("/api/ledger/accounts").await;
        answer.assert_problem(401, "unauthorized", None);
    }
    let two =
        app.anon().with("authorization", &format!("Bearer {good}")).with("authorization", &format!("Bearer {good}"));
    two.get("/api/ledger/accounts").await.assert_problem(401, "unauthorized", None);
    let missing = app.anon().get("/api/ledger/accounts").await;
    missing.assert_problem(401, "unauthorized", None);
    assert_eq!(missing.header("www-authenticate"), Some("Bearer"));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn valid_tokens_have_a_minute_of_leeway(db: PgPool) {
    let app = TestApp::new(db).await;
    for (name, extra) in [
        ("plain", json!({})),
        ("just expired", json!({"exp": NOW - 59})),
        ("valid in a moment", json!({"nbf": NOW + 60})),
        ("fractional expiry", json!({"exp": NOW as f64 + 0.5})),
        ("far future", json!({"exp": 1e15})),
        ("an audience that is not required", json!({"aud": ["x"], "iss": "y", "scope": "z"})),
        ("a long name", json!({"sub": "ñ".repeat(255)})),
    ] {
        let token = sign(&claims(extra), SECRET, Algorithm::HS256);
        for scheme in ["Bearer", "bearer", "BEARER"] {
            let client = app.anon().with("authorization", &format!("{scheme} {token}"));
            let answer = client.get("/api/ledger/accounts").await;
            assert_eq!(answer.status, 200, "{name}: {answer:?}");
        }
    }
}
