//! Signed components: who may push, and what may serve.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use caudal::models::Embedded;
use caudal::models::signing::ModelKeys;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Answer, Client, Options, TestApp};
use crate::swap::serves;

const VERSIONS: &str = "/admin/models/risk/versions";

/// Somebody who signs.
struct Signer(EcdsaKeyPair);

impl Signer {
    fn new() -> Self {
        let (signing, random) = (&ECDSA_P256_SHA256_ASN1_SIGNING, SystemRandom::new());
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(signing, &random).unwrap();
        Self(EcdsaKeyPair::from_pkcs8(signing, pkcs8.as_ref(), &random).unwrap())
    }

    fn pem(&self) -> String {
        let prefix = STANDARD.decode("MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgA=").unwrap();
        let der = [&prefix[..], self.0.public_key().as_ref()].concat();
        format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", STANDARD.encode(der))
    }

    fn sign(&self, message: &[u8]) -> String {
        STANDARD.encode(self.0.sign(&SystemRandom::new(), message).unwrap())
    }
}

fn keys(signers: &[&Signer], is_required: bool) -> Arc<ModelKeys> {
    let pem: String = signers.iter().map(|signer| signer.pem()).collect();
    Arc::new(ModelKeys::parse(pem.as_bytes(), is_required).unwrap())
}

async fn app(db: &PgPool, model_keys: Arc<ModelKeys>) -> TestApp {
    TestApp::with(db.clone(), Options { model_keys, ..Options::default() }).await
}

fn operator(app: &TestApp) -> Client {
    app.operator(Some("models:admin"))
}

async fn push(app: &TestApp, bytes: &[u8], signature: Option<&str>) -> Answer {
    let operator = operator(app);
    let operator = signature.iter().fold(operator, |client, signature| client.with("model-signature", signature));
    operator.send("POST", VERSIONS, Some("application/wasm"), bytes.to_vec().into()).await
}

async fn pushed(app: &TestApp, bytes: &[u8], signature: Option<&str>) -> String {
    let answer = push(app, bytes, signature).await.assert_status(201).json();
    answer["model_version"].as_str().unwrap().to_owned()
}

async fn deploy(app: &TestApp, champion: &str) -> Answer {
    let etag = operator(app).get("/admin/models/risk/deployment").await.header("etag").unwrap().to_owned();
    let body = json!({"champion": champion, "reason": "a test"});
    operator(app).with("if-match", &etag).put("/admin/models/risk/deployment", body).await
}

async fn shown(app: &TestApp, version: &str) -> Value {
    operator(app).get(&format!("{VERSIONS}/{}", version.replace('+', "%2B"))).await.assert_status(200).json()
}

/// An acceptable component that is not part of the program: risk-1 with one more custom section.
fn component() -> Vec<u8> {
    [Embedded::find("risk-1").unwrap().bytes, &[0, 2, 1, b'x']].concat()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_component_without_a_valid_signature_is_not_registered(db: PgPool) {
    let (signer, stranger, component) = (Signer::new(), Signer::new(), component());
    let app = app(&db, keys(&[&signer], true)).await;
    let before = app.rows().await;
    push(&app, &component, None).await.assert_problem(422, "signature-required", None);
    let others = signer.sign(Embedded::find("risk-1").unwrap().bytes);
    let forged = [stranger.sign(&component), others, "A".repeat(96), "A".repeat(500), String::new(), "%%".to_owned()];
    for signature in &forged {
        push(&app, &component, Some(signature)).await.assert_problem(422, "signature-invalid", None);
    }
    assert_eq!(app.rows().await, before, "a refused request changes nothing");

    let version = pushed(&app, &component, Some(&signer.sign(&component))).await;
    let shown = shown(&app, &version).await;
    assert!(shown["signature"]["signed_by"].as_str().unwrap().starts_with("sha256:"), "{shown}");
    assert_eq!(shown["signature"]["added_by"], "ops");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_signature_that_arrives_during_the_examination_counts(db: PgPool) {
    let (signer, component) = (Signer::new(), component());
    let app = app(&db, keys(&[&signer], false)).await;
    let signature = signer.sign(&component);
    let (first, second) = tokio::join!(push(&app, &component, None), push(&app, &component, Some(&signature)));
    let version = first.assert_status(201).json()["model_version"].as_str().unwrap().to_owned();
    assert_eq!(second.assert_status(201).json()["model_version"], *version);
    let shown = shown(&app, &version).await;
    assert!(shown["signature"]["signed_by"].as_str().is_some_and(|by| by.starts_with("sha256:")), "{shown}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_signature_is_worth_nothing_without_keys(db: PgPool) {
    let (signer, component) = (Signer::new(), component());
    let app = app(&db, Arc::default()).await;
    push(&app, &component, Some(&signer.sign(&component))).await.assert_problem(422, "signature-invalid", None);
    let version = pushed(&app, &component, None).await;
    assert_eq!(shown(&app, &version).await["signature"], Value::Null);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_signature_is_verified_whenever_a_version_is_deployed_or_loaded(db: PgPool) {
    let (signer, next, component) = (Signer::new(), Signer::new(), component());
    let first = app(&db, keys(&[&signer], true)).await;
    let version = pushed(&first, &component, Some(&signer.sign(&component))).await;
    let _follower = first.follow().await;
    deploy(&first, &version).await.assert_status(200);
    serves(&first.models, &version).await;

    // Its key is no longer trusted: other hosts neither load nor deploy it.
    let second = app(&db, keys(&[&next], true)).await;
    let _follower = second.follow().await;
    serves(&second.models, "risk-2.0.0+").await;
    let listed = operator(&second).get("/admin/models").await.json();
    let risk = listed["models"].as_array().unwrap().iter().find(|it| it["kind"] == "risk").unwrap().clone();
    let detail = |host: &Value| host["detail"].as_str().is_some_and(|detail| detail.contains("--model-keys"));
    assert!(risk["hosts"].as_array().unwrap().iter().any(detail), "{risk}");
    assert_eq!(shown(&second, &version).await["signature"]["signed_by"], Value::Null);
    let risk_2 = risk["versions"].as_array().unwrap().iter().find(|it| it["built_in"] == true).unwrap();
    deploy(&second, risk_2["model_version"].as_str().unwrap()).await.assert_status(200);
    deploy(&second, &version).await.assert_problem(422, "signature-required", None);
    let etag = operator(&second).get("/admin/models/risk/deployment").await.header("etag").unwrap().to_owned();
    let back = json!({"from": risk_2["model_version"], "to": version, "reason": "a test"});
    let back = operator(&second).with("if-match", &etag).post("/admin/models/risk/rollback", back).await;
    back.assert_problem(422, "signature-required", None);

    // Signed again, with a key that counts.
    push(&second, &component, Some(&next.sign(&component))).await.assert_status(200);
    deploy(&second, &version).await.assert_status(200);
    let third = app(&db, keys(&[&signer, &next], true)).await;
    let _follower = third.follow().await;
    serves(&third.models, &version).await;
}
