//! Tokens that are bound to a key of their bearer (DPoP).

use std::time::Duration;

use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use caudal::auth::proof::Proofs;
use caudal::auth::token::Verifier;
use jsonwebtoken::Algorithm;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::harness::{Answer, Options, TestApp};
use crate::identity::{with, with_header};
use crate::provider::{NOW, Pair, TestProvider};

const ORIGIN: &str = "https://bank.example";
const ACCOUNTS: &str = "/api/ledger/accounts";

fn proofs() -> Proofs {
    Proofs::new(&[ORIGIN.to_owned(), "http://127.0.0.1:8080".to_owned()], b"what all hosts have").unwrap()
}

fn verifier(provider: &TestProvider) -> Verifier {
    provider.verifier().with_proofs(proofs())
}

/// What hosts handed out at a time.
fn nonce(at: i64) -> Value {
    json!(proofs().nonce(OffsetDateTime::from_unix_timestamp(at).unwrap()))
}

async fn start(db: PgPool, provider: &TestProvider) -> TestApp {
    TestApp::with(db, Options { tokens: Some(verifier(provider)), ..Options::default() }).await
}

/// The public key as a proof carries it.
fn jwk(pair: &Pair) -> Value {
    let mut jwk = pair.public();
    let public = jwk.as_object_mut().unwrap();
    ["kid", "use", "alg"].iter().for_each(|name| drop(public.remove(*name)));
    jwk
}

fn thumbprint(pair: &Pair) -> String {
    // serde_json sorts names, and a proof's key has no others.
    URL_SAFE_NO_PAD.encode(Sha256::digest(jwk(pair).to_string()))
}

fn bound(provider: &TestProvider, signer: &Pair, key: &Pair) -> String {
    signer.sign(&with(&provider.claims(), json!({"cnf": {"jkt": thumbprint(key)}})))
}

fn header(pair: &Pair) -> Value {
    json!({"typ": "dpop+jwt", "alg": pair.algorithm, "jwk": jwk(pair)})
}

fn claims(id: &str, token: &str) -> Value {
    let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(token));
    json!({"jti": id, "htm": "GET", "htu": format!("{ORIGIN}{ACCOUNTS}"), "iat": NOW, "ath": hash, "nonce": nonce(NOW)})
}

async fn get(app: &TestApp, scheme: &str, token: &str, proofs: &[&str]) -> Answer {
    let client = app.anon().with("authorization", &format!("{scheme} {token}"));
    let client = proofs.iter().fold(client, |client, proof| client.with("dpop", proof));
    client.send("GET", ACCOUNTS, None, Body::empty()).await
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_bound_token_counts_with_a_proof_by_its_key_once(db: PgPool) {
    let signer = Pair::ec("e", 0);
    let provider = TestProvider::start(&[&signer]).await;
    let app = start(db, &provider).await;
    for key in [Pair::ec("k", 1), Pair::ed("k", 1), Pair::rsa("k", Algorithm::PS256, 2_048)] {
        let token = bound(&provider, &signer, &key);
        let proof = with_header(&key, &claims("1", &token), &header(&key));
        get(&app, "DPoP", &token, &[&proof]).await.assert_status(200);
        for _ in 0..2 {
            let again = get(&app, "DPoP", &token, &[&proof]).await;
            let again = again.assert_problem(401, "unauthorized", None);
            assert!(again.header("www-authenticate").unwrap().starts_with(r#"DPoP error="invalid_dpop_proof""#));
        }
        let local = with(&claims("2", &token), json!({"htu": format!("http://127.0.0.1:8080{ACCOUNTS}?a=b#c")}));
        get(&app, "dpop", &token, &[&with_header(&key, &local, &header(&key))]).await.assert_status(200);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_stolen_token_or_a_forged_proof_is_refused(db: PgPool) {
    let (signer, key, thief) = (Pair::ec("e", 0), Pair::ec("k", 1), Pair::ed("t", 0));
    let provider = TestProvider::start(&[&signer]).await;
    let app = start(db, &provider).await;
    let (token, other) = (bound(&provider, &signer, &key), signer.sign(&provider.claims()));
    let sound = claims("1", &token);
    let proof = |extra: Value| with_header(&key, &with(&sound, extra), &header(&key));
    let headed = |pair: &Pair, extra: Value| with_header(pair, &sound, &with(&header(&key), extra));
    let good = proof(json!({}));
    let (signed, _) = good.rsplit_once('.').unwrap();
    let mut private = jwk(&key);
    private["d"] = json!("AAAA");
    for (name, proofs) in [
        ("none", vec![]),
        ("two", vec![good.clone(), proof(json!({"jti": "2"}))]),
        ("empty", vec![String::new()]),
        ("not a token", vec!["a.b.c".to_owned()]),
        ("too long", vec![proof(json!({"filler": "x".repeat(5_000)}))]),
        ("another key", vec![with_header(&thief, &sound, &header(&thief))]),
        ("another key under its name", vec![headed(&thief, json!({}))]),
        ("unsigned", vec![format!("{signed}.")]),
        ("alg none", vec![headed(&key, json!({"alg": "none"}))]),
        ("symmetric", vec![headed(&key, json!({"alg": "HS256"}))]),
        ("algorithm of another key", vec![headed(&key, json!({"alg": "EdDSA"}))]),
        ("type of access tokens", vec![headed(&key, json!({"typ": "at+jwt"}))]),
        ("no type", vec![headed(&key, json!({"typ": null}))]),
        ("critical extension", vec![headed(&key, json!({"crit": ["b64"]}))]),
        ("no key", vec![headed(&key, json!({"jwk": null}))]),
        ("private key", vec![headed(&key, json!({"jwk": private}))]),
        ("another method", vec![proof(json!({"htm": "POST"}))]),
        ("no method", vec![proof(json!({"htm": null}))]),
        ("another path", vec![proof(json!({"htu": format!("{ORIGIN}/api/ledger/beneficiaries")}))]),
        ("another host", vec![proof(json!({"htu": format!("https://evil.example{ACCOUNTS}")}))]),
        ("without TLS", vec![proof(json!({"htu": format!("http://bank.example{ACCOUNTS}")}))]),
        ("no host", vec![proof(json!({"htu": ACCOUNTS}))]),
        ("of another token", vec![proof(json!({"ath": claims("1", &other)["ath"]}))]),
        ("of no token", vec![proof(json!({"ath": null}))]),
        ("without time", vec![proof(json!({"iat": null}))]),
        ("without id", vec![proof(json!({"jti": null}))]),
        ("empty id", vec![proof(json!({"jti": ""}))]),
        ("long id", vec![proof(json!({"jti": "x".repeat(257)}))]),
    ] {
        let proofs: Vec<_> = proofs.iter().map(String::as_str).collect();
        let answer = get(&app, "DPoP", &token, &proofs).await;
        assert_eq!(answer.status, 401, "{name}: {answer:?}");
    }
    assert_eq!(get(&app, "Bearer", &token, &[&good]).await.status, 401, "a bound token is no bearer token");
    assert_eq!(get(&app, "DPoP", &other, &[&good]).await.status, 401, "a bearer token is not bound");
    assert_eq!(get(&app, "DPoP", &token, &[&good]).await.status, 200, "nothing of that used the proof up");
    let certificate = signer.sign(&with(&provider.claims(), json!({"cnf": {"x5t#S256": "AAAA"}})));
    assert_eq!(get(&app, "Bearer", &certificate, &[]).await.status, 401, "a confirmation that nobody checks");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_proof_without_a_recent_nonce_is_answered_with_one(db: PgPool) {
    let (signer, key) = (Pair::ec("e", 0), Pair::ec("k", 1));
    let provider = TestProvider::start(&[&signer]).await;
    let app = start(db.clone(), &provider).await;
    let token = bound(&provider, &signer, &key);
    let prove = |extra: Value| with_header(&key, &with(&claims("1", &token), extra), &header(&key));
    for (name, nonce) in [
        ("none", Value::Null),
        ("invented", json!("nonce")),
        ("old", nonce(NOW - 60)),
        ("of the future", nonce(NOW + 30)),
    ] {
        let answer = get(&app, "DPoP", &token, &[&prove(json!({"nonce": nonce}))]).await;
        answer.assert_problem(401, "unauthorized", None);
        assert_eq!(answer.header("www-authenticate"), Some(r#"DPoP error="use_dpop_nonce""#), "{name}");
        assert_eq!(json!(answer.header("dpop-nonce")), self::nonce(NOW), "{name}");
    }
    // Nothing of that used the proof's id up, and the client's clock does not matter.
    let proof = prove(json!({"nonce": nonce(NOW - 30), "iat": NOW - 86_400}));
    get(&app, "DPoP", &token, &[&proof]).await.assert_status(200);
    assert_eq!(get(&app, "DPoP", &token, &[&proof]).await.status, 401);
    // Another host, or this one after a restart, takes nonces of before.
    let other = start(db, &provider).await;
    get(&other, "DPoP", &token, &[&prove(json!({"jti": "2"}))]).await.assert_status(200);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_read_that_is_repeated_in_an_outage_takes_one_proof(db: PgPool) {
    let (signer, key) = (Pair::ec("e", 0), Pair::ec("k", 1));
    let provider = TestProvider::start(&[&signer]).await;
    // A statement that waits for a table fails like one that finds no server.
    let impatient =
        "do $$ begin execute format('alter database %I set lock_timeout = 200', current_database()); end $$";
    sqlx::query(impatient).execute(&db).await.unwrap();
    let failover_wait = Duration::from_secs(30);
    let options = Options { tokens: Some(verifier(&provider)), failover_wait, ..Options::default() };
    let app = TestApp::with(db.clone(), options).await;
    let (token, bearer) = (bound(&provider, &signer, &key), signer.sign(&provider.claims()));
    let proof = with_header(&key, &claims("1", &token), &header(&key));
    let mut lock = db.begin().await.unwrap();
    sqlx::query("lock table account in access exclusive mode").execute(&mut *lock).await.unwrap();
    // Two repetitions, at least.
    let outage = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        lock.rollback().await.unwrap();
    };
    let with_proof = [proof.as_str()];
    let (bound, plain) = (get(&app, "DPoP", &token, &with_proof), get(&app, "Bearer", &bearer, &[]));
    let (read, plain, ()) = futures_util::future::join3(bound, plain, outage).await;
    read.assert_status(200);
    plain.assert_status(200);
    assert_eq!(get(&app, "DPoP", &token, &with_proof).await.status, 401, "another request with the same proof");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn bound_tokens_can_be_required_and_are_refused_where_nobody_expects_them(db: PgPool) {
    let (signer, key) = (Pair::ec("e", 0), Pair::ec("k", 1));
    let provider = TestProvider::start(&[&signer]).await;
    let token = bound(&provider, &signer, &key);
    let proof = with_header(&key, &claims("1", &token), &header(&key));
    let options = Options { tokens: Some(verifier(&provider)), require_proof: true, ..Options::default() };
    let strict = TestApp::with(db.clone(), options).await;
    let bearer = get(&strict, "Bearer", &signer.sign(&provider.claims()), &[]).await;
    let bearer = bearer.assert_problem(401, "unauthorized", None);
    assert!(bearer.header("www-authenticate").unwrap().starts_with("DPoP "));
    get(&strict, "DPoP", &token, &[&proof]).await.assert_status(200);

    let unaware = TestApp::with(db, Options { tokens: Some(provider.verifier()), ..Options::default() }).await;
    assert_eq!(get(&unaware, "DPoP", &token, &[&proof]).await.status, 401);
    assert_eq!(get(&unaware, "Bearer", &token, &[]).await.status, 401);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_device_is_new_until_something_was_sent_with_its_key(db: PgPool) {
    let (signer, keys) = (Pair::ec("e", 0), [Pair::ec("k", 1), Pair::ed("k", 1)]);
    let provider = TestProvider::start(&[&signer]).await;
    let app = start(db, &provider).await;
    let mut proofs_made = 0;
    let mut send = async |key: &Pair, method: &str, path: &str, body: Option<Value>| {
        let token = bound(&provider, &signer, key);
        proofs_made += 1;
        let target = json!({"htm": method, "htu": format!("{ORIGIN}{}", path.split('?').next().unwrap())});
        let claims = with(&claims(&proofs_made.to_string(), &token), target);
        let client = app.anon().with("authorization", &format!("DPoP {token}"));
        let client = client.with("dpop", &with_header(key, &claims, &header(key)));
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        client.send(method, path, Some("application/json"), body).await.json()
    };
    let account = json!({"accountNumber": "646180110400000007", "accountType": "checking", "currency": "MXN"});
    let from = send(&keys[0], "POST", ACCOUNTS, Some(account)).await["id"].as_str().unwrap().to_owned();
    let payee = json!({"name": "Eva", "bankName": "BBVA", "accountNumber": "012180004643051249"});
    let to = send(&keys[0], "POST", "/api/ledger/beneficiaries", Some(payee)).await["id"].as_str().unwrap().to_owned();
    for (key, is_new) in [(0, true), (0, false), (1, true), (0, false)] {
        for claimed in [true, false] {
            let query = format!("fromAccountId={from}&toBeneficiaryId={to}&amount=1&isNewDevice={claimed}");
            let context = send(&keys[key], "GET", &format!("/api/ledger/risk-context?{query}"), None).await;
            assert_eq!(context["request"]["is_new_device"], is_new, "key {key}, claimed {claimed}: {context}");
        }
        if key == 0 {
            let transfer = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 1});
            assert_eq!(send(&keys[0], "POST", "/api/ledger/transactions", Some(transfer)).await["status"], "completed");
        }
    }
    app.assert_sound().await;
}
