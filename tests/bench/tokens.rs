//! Checks of a provider's access tokens without HTTP: the first of a token, and a repeated one, which the service
//! remembers.
//!
//! The rival is the crate alone: the signature, `exp`, `iss` and `aud`, with its keys parsed before.

use std::hint::black_box;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use caudal::auth::claims::TokenConfig;
use caudal::auth::provider::{Provider, Source};
use caudal::auth::token::Verifier;
use caudal::clock::Clock;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde_json::{Value, json};

use crate::figures::median;
use crate::report::{self, Target, say};

/// Turns of each side; the median counts.
const TURNS: usize = 5;
/// Different tokens of one turn; fewer than the service remembers.
const TOKENS: usize = 1_000;
/// Checks of one token in a turn.
const REPEATED: usize = 100_000;

const ISSUER: &str = "https://login.bank.example";
const AUDIENCE: &str = "caudal";

pub(crate) async fn run() {
    say!("{TURNS} turns of {TOKENS} tokens, and of {REPEATED} checks of one token");
    for (name, algorithm) in [("RS256", Algorithm::RS256), ("ES256", Algorithm::ES256)] {
        let key = generate(algorithm);
        let jwk = Jwk::from_encoding_key(&key, algorithm).unwrap();
        let verifier = verifier(&jwk).await;
        let decoding = DecodingKey::from_jwk(&jwk).unwrap();
        let mut validation = Validation::new(algorithm);
        validation.set_issuer(&[ISSUER]);
        validation.set_audience(&[AUDIENCE]);
        let (mut first, mut repeated, mut alone) = (Vec::new(), Vec::new(), Vec::new());
        for turn in 0..TURNS {
            let tokens: Vec<String> = (0..TOKENS).map(|number| sign(&key, algorithm, turn * TOKENS + number)).collect();
            let now = Clock::system().now();
            let begun = Instant::now();
            for token in &tokens {
                black_box(decode::<Value>(token, &decoding, &validation).unwrap());
            }
            alone.push(begun.elapsed().as_secs_f64() * 1e6 / TOKENS as f64);
            let begun = Instant::now();
            for token in &tokens {
                black_box(verifier.verify(token, now).await.unwrap());
            }
            first.push(begun.elapsed().as_secs_f64() * 1e6 / TOKENS as f64);
            let begun = Instant::now();
            for _ in 0..REPEATED {
                black_box(verifier.verify(black_box(&tokens[0]), now).await.unwrap());
            }
            repeated.push(begun.elapsed().as_secs_f64() * 1e6 / REPEATED as f64);
        }
        let [first, repeated, alone] = [first, repeated, alone].map(median);
        say!("{name}: the crate alone {alone:.1} us, first {first:.1} us, repeated {repeated:.2} us");
        report::result(&format!("a repeated token, {name}, us"), repeated, Target::AtMost(1.0, "us"));
    }
}

/// A verifier that has read its keys.
async fn verifier(jwk: &Jwk) -> Verifier {
    let file = std::env::temp_dir().join(format!("caudal-bench.{}.jwks", std::process::id()));
    let mut key = json!(jwk);
    (key["kid"], key["use"]) = (json!("k"), json!("sig"));
    std::fs::write(&file, json!({"keys": [key]}).to_string()).unwrap();
    let provider = Arc::new(Provider::new(Source::File(file.clone())).unwrap());
    let reader = tokio::spawn(Arc::clone(&provider).run());
    let config = TokenConfig {
        user_claim: "sub".to_owned(),
        audience: Some(AUDIENCE.to_owned()),
        issuer: Some(ISSUER.to_owned()),
    };
    let verifier = Verifier::with_provider(provider, config, "at+jwt".to_owned(), time::Duration::HOUR);
    while !verifier.is_ready() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    reader.abort();
    std::fs::remove_file(file).unwrap();
    verifier
}

fn sign(key: &EncodingKey, algorithm: Algorithm, number: usize) -> String {
    let now = Clock::system().now().unix_timestamp();
    let claims = json!({
        "sub": "user-1", "iss": ISSUER, "aud": AUDIENCE, "iat": now, "exp": now + 3_000, "jti": number.to_string(),
        "scope": "accounts:read transfers:write",
    });
    let mut header = Header::new(algorithm);
    (header.typ, header.kid) = (Some("at+jwt".to_owned()), Some("k".to_owned()));
    encode(&header, &claims, key).unwrap()
}

fn generate(algorithm: Algorithm) -> EncodingKey {
    let rsa = "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 | openssl rsa -traditional -outform DER";
    let ec =
        "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 | openssl pkcs8 -topk8 -nocrypt -outform DER";
    let (command, read): (_, fn(&[u8]) -> EncodingKey) = match algorithm {
        Algorithm::RS256 => (rsa, EncodingKey::from_rsa_der),
        _ => (ec, EncodingKey::from_ec_der),
    };
    let output = Command::new("sh").args(["-c", command]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    read(&output.stdout)
}
