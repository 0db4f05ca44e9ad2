//! Whose tokens count for operators, and who is a person.

use std::time::Duration;

use caudal::app::{ApprovalPolicy, SignIn};
use caudal::domain::money::Money;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Options, TestApp, refused};
use crate::identity::with;
use crate::provider::{Pair, TestProvider};

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn operators_have_clients_of_their_own(db: PgPool) {
    let pair = Pair::ec("e", 0);
    let provider = TestProvider::start(&[&pair]).await;
    let app = async |operator_clients: Vec<String>| {
        let [issuer, client_id, scope, resource] = ["", "page", "", ""].map(str::to_owned);
        let sign_in = Some(SignIn { issuer, client_id, scope, resource, binds_tokens: false });
        let options = Options { tokens: Some(provider.verifier()), operator_clients, sign_in, ..Options::default() };
        TestApp::with(db.clone(), options).await
    };
    let (open, named) = (app(Vec::new()).await, app(vec!["ops".to_owned()]).await);
    for (client, is_open, is_named) in [
        (json!({"client_id": "ops"}), true, true),
        (json!({"client_id": "other", "azp": "ops"}), true, false),
        (json!({"azp": "page"}), false, false),
        (json!({}), true, false),
    ] {
        let scope = json!({"scope": "api:read models:admin ledger:operate"});
        let bearer = format!("Bearer {}", pair.sign(&with(&with(&provider.claims(), scope), client.clone())));
        for (app, counts) in [(&open, is_open), (&named, is_named)] {
            let operator = app.ai().with("authorization", &bearer);
            for path in ["/admin/models", "/admin/payments", "/admin/approvals"] {
                let answer = operator.get(path).await;
                if counts {
                    answer.assert_status(200);
                } else {
                    answer.assert_problem(403, "insufficient-scope", None);
                    assert!(answer.text.contains("--operator-client"), "{client}");
                }
            }
            app.anon().with("authorization", &bearer).get("/api/ledger/accounts").await.assert_status(200);
        }
    }
}

/// What it did would pass for what hosts do.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn no_operator_has_the_name_of_hosts(db: PgPool) {
    let app = TestApp::with(db, Options::default()).await;
    for path in ["/admin/models", "/admin/payments", "/admin/approvals"] {
        let get = async |name| app.operator_named(name, "models:admin ledger:operate").get(path).await;
        get("automatic").await.assert_problem(401, "unauthorized", None);
        get("automatic-1").await.assert_status(200);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn client_credentials_are_no_second_person(db: PgPool) {
    let pair = Pair::ec("e", 0);
    let provider = TestProvider::start(&[&pair]).await;
    let approvals = Some(ApprovalPolicy { lifetime: Duration::from_secs(3_600), limit: Money::ZERO });
    let options = Options { tokens: Some(provider.verifier()), approvals, ..Options::default() };
    let app = TestApp::with(db, options).await;
    let operator = |extra: Value| {
        let claims = with(&provider.claims(), json!({"scope": "models:admin ledger:operate"}));
        app.ai().with("authorization", &format!("Bearer {}", pair.sign(&with(&claims, extra))))
    };
    let (eva, batch) = (operator(json!({"client_id": "ops"})), operator(json!({"sub": "batch", "client_id": "batch"})));
    let (path, limits) = ("/admin/users/luis/limits", json!({"perDay": 10, "reason": "case 4711"}));
    refused(&app, batch.put(path, limits.clone()), 403, "insufficient-scope", None).await;
    let review = "/admin/reviews/01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b/claim";
    refused(&app, batch.post(review, json!({})), 403, "insufficient-scope", None).await;
    let rollout = json!({"canary": "risk-1", "reason": "x"});
    let started = batch.post("/admin/models/risk/rollouts", rollout);
    refused(&app, started, 403, "insufficient-scope", None).await;
    let proposed = eva.put(path, limits).await.assert_status(202).json();
    let place = format!("/admin/approvals/{}/approve", proposed["id"].as_str().unwrap());
    let digest = json!({"digest": proposed["digest"]});
    refused(&app, batch.post(&place, digest.clone()), 403, "insufficient-scope", None).await;
    operator(json!({"sub": "luz", "client_id": "ops"})).post(&place, digest).await.assert_status(200);
}
