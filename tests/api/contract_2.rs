//! Components of contract 2 in service: swapped with those of contract 1, and models that abstain. That is no failure: the
//! predecessor answers, and no order passes because of it.

use std::time::Duration;

use caudal::decision::Decision;
use caudal::domain::model::ModelKind;
use caudal::domain::risk::{Enforcement, Request};
use caudal::models::{Embedded, LoadedComponent, Models};
use caudal::scoring::Risk;
use caudal::wasm::Runtime;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::assistance::{risk, with};
use crate::enforcement::{REQUIRED, app, send};
use crate::fixtures::misbehaving;
use crate::harness::{TestApp, refused, registry};
use crate::swap::{deploy, digest_of, register, serves};

/// A risk scorer of contract 2 with a certain misbehaviour.
pub(crate) fn hostile_risk_2(behaviour: &str) -> Vec<u8> {
    misbehaving("hostile-risk-2.wasm", behaviour)
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn requests_never_notice_a_swap_between_contracts(db: PgPool) {
    let app = app(db.clone(), Enforcement::Shadow).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let _follower = app.follow().await;
    // Built for 1.0.0 when that was frozen, and for 2.0.0.
    let components = [std::fs::read("../tests/wit/risk-1.0.0.wasm").unwrap(), hostile_risk_2("sane")];
    register(&db, ModelKind::Risk, "6.6.6", &components[1]).await;
    // The answer of each version to the same request.
    let asked = with(risk(), &json!({"amount": 1234.56, "is_new_beneficiary": true}));
    let of_version = async |bytes: &[u8]| {
        let loaded = LoadedComponent::load(&Runtime::new().unwrap(), ModelKind::Risk, bytes).unwrap();
        let models = Models::new(registry().with(loaded));
        let swapped = TestApp::serving(db.clone(), models).await;
        let answer = swapped.ai().post("/ai/risk", asked.clone()).await.assert_status(200).json();
        (answer["model_version"].clone(), answer["result"]["risk_score"].clone())
    };
    let expected = [of_version(&components[0]).await, of_version(&components[1]).await];
    assert_ne!(expected[0].1, expected[1].1);

    let clients = (0..8).map(|_| {
        let (ai, asked, expected) = (app.ai(), asked.clone(), expected.clone());
        tokio::spawn(async move {
            let mut seen = [0, 0];
            while seen.iter().any(|&count| count < 20) {
                let answer = ai.post("/ai/risk", asked.clone()).await.assert_status(200).json();
                let got = (answer["model_version"].clone(), answer["result"]["risk_score"].clone());
                let place = expected.iter().position(|it| *it == got);
                seen[place.unwrap_or_else(|| panic!("a version with another's score: {answer}"))] += 1;
                tokio::task::yield_now().await;
            }
        })
    });
    let clients: Vec<_> = clients.collect();
    let mut epoch = 0;
    while !clients.iter().all(tokio::task::JoinHandle::is_finished) {
        let champion = digest_of(&components[(epoch % 2) as usize]);
        epoch = deploy(&db, ModelKind::Risk, champion, epoch).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        ana.transfer(&from, &to, "1").await.assert_status(200);
        assert!(epoch < 500, "the clients do not see both versions");
    }
    for client in clients {
        client.await.unwrap();
    }
    for (component, version) in components.iter().zip(["risk-2.0.0", "risk-6.6.6"]) {
        epoch = deploy(&db, ModelKind::Risk, digest_of(component), epoch).await.unwrap();
        serves(&app.models, version).await;
        ana.transfer(&from, &to, "1").await.assert_status(200);
    }
    let replay = json!({"kind": "risk", "days": 1, "limit": 1000});
    let replayed = app.operator(Some("models:admin")).post("/admin/replay", replay).await.assert_status(200).json();
    assert_eq!((&replayed["different"], &replayed["replayed"]), (&json!([]), &json!(epoch)));
    let decisions = app.decisions(ModelKind::Risk).await;
    assert!(components.iter().all(|it| decisions.iter().any(|decision| decision.by.digest == digest_of(it))));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_previous_version_answers_where_the_champion_abstains(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    let champion = hostile_risk_2("abstains-new");
    register(&db, ModelKind::Risk, "6.6.6", &champion).await;
    deploy(&db, ModelKind::Risk, digest_of(&champion), 0).await.unwrap();
    serves(&app.models, "risk-6.6.6").await;
    let answered = async |is_new: bool| {
        let asked = with(risk(), &json!({"is_new_beneficiary": is_new}));
        app.ai().post("/ai/risk", asked).await.assert_status(200).json()["model_version"].as_str().unwrap().to_owned()
    };
    for _ in 0..20 {
        assert!(answered(true).await.starts_with("risk-2."));
    }
    assert!(answered(false).await.starts_with("risk-6.6.6"), "it did not fail");
    let asked = with(risk(), &json!({"is_new_beneficiary": true}));
    let told = app.ai().post("/ai/risk/explain", asked.clone()).await.assert_status(200).json();
    assert!(told["model_version"].as_str().unwrap().starts_with("risk-2."), "{told}");

    // Without a predecessor there is no answer.
    let alone = LoadedComponent::load(&Runtime::new().unwrap(), ModelKind::Risk, &champion).unwrap();
    let alone = TestApp::serving(db, Models::new(registry().with(alone))).await;
    for path in ["/ai/risk", "/ai/risk/explain"] {
        refused(&alone, alone.ai().post(path, asked.clone()), 503, "model-unavailable", None).await;
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_weighed_adds_up_to_the_predictor_in_both_contracts(db: PgPool) {
    let app = TestApp::new(db).await;
    let changes = json!({"user_id": "ana", "amount": 50_000, "is_new_beneficiary": true, "hour_of_day": 3, "is_new_device": true});
    let asked = with(risk(), &changes);
    // The same.
    let request = Request {
        amount: 50_000.0,
        is_new_beneficiary: true,
        hour_of_day: 3,
        num_past_transactions: 10,
        avg_transaction_amount: 100.0,
        max_transaction_amount: 200.0,
        num_transactions_to_beneficiary: 5,
        is_new_device: true,
        ..Request::default()
    };
    let contract_2 = LoadedComponent::load(&Runtime::new().unwrap(), ModelKind::Risk, &hostile_risk_2("sane")).unwrap();
    let mut last = Value::Null;
    for registry in [registry(), registry().with(contract_2)] {
        let explanation = registry.route::<Risk>().unwrap().champion.scorer.explain(&request).unwrap().unwrap();
        app.models.activate(registry);
        let told = app.ai().post("/ai/risk/explain", asked.clone()).await.assert_status(200).json();
        let weighed: Vec<_> =
            told["weighed"].as_array().unwrap().iter().map(|it| it["contribution"].as_f64().unwrap()).collect();
        assert!((2..=5).contains(&weighed.len()) && weighed.is_sorted_by(|a, b| a.abs() >= b.abs()), "{told}");
        let sum = ["base", "rest"].map(|name| told[name].as_f64().unwrap()).iter().chain(&weighed).sum::<f64>();
        assert!((sum - explanation.predictor).abs() < 2.0_f64.powi(-20), "{sum} instead of {}", explanation.predictor);
        let answer = app.ai().post("/ai/risk", asked.clone()).await.assert_status(200).json();
        assert!(answer.as_object().unwrap().iter().all(|(name, value)| told[name] == *value), "{told}: {answer}");
        last = told;
    }
    assert_eq!((&last["base"], &last["rest"]), (&json!(0.125), &json!(0.0)));
    let words = json!({"es": "si el beneficiario es nuevo", "en": "whether the payee is new"});
    assert_eq!(last["weighed"][0], json!({"fact": "is_new_beneficiary", "contribution": 0.25, "words": words}));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_model_that_abstains_lets_nothing_pass(db: PgPool) {
    let app = app(db, Enforcement::Enforce).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let way = (from.as_str(), to.as_str());
    let load = |behaviour| {
        let bytes = hostile_risk_2(behaviour);
        registry().with(LoadedComponent::load(&Runtime::new().unwrap(), ModelKind::Risk, &bytes).unwrap())
    };
    app.models.activate(load("abstains-new"));
    refused(&app, send(&ana, way, 100.0, true, None), 400, REQUIRED, None).await;
    // An eighth and a quarter: a medium risk, which needs no acknowledgment.
    app.models.activate(load("sane"));
    send(&ana, way, 100.0, true, None).await.assert_status(200);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn no_transfer_fails_while_rules_of_both_contracts_are_swapped(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let _follower = app.follow().await;
    let components =
        [Embedded::default_of(ModelKind::TransferRules).bytes.to_vec(), misbehaving("hostile-rules-2.wasm", "sane")];
    register(&db, ModelKind::TransferRules, "6.6.7", &components[1]).await;
    let mut clients = Vec::new();
    for user in ["ana", "eva", "luz", "paz"] {
        let user = app.user(user);
        let (from, to) = user.account_and_payee().await;
        clients.push(tokio::spawn(async move {
            for at in 0..40 {
                let keyed = user.with("idempotency-key", &format!("k{at}"));
                let refused = keyed.transfer(&from, &to, "99999").await;
                let refused = refused.assert_problem(400, "insufficient-funds", None).json();
                assert!(refused["detail"].as_str().unwrap().contains(" MXN"), "{refused}");
                user.transfer(&from, &to, "1.00").await.assert_status(200);
                tokio::time::sleep(Duration::from_millis(at % 7)).await;
            }
        }));
    }
    let mut epoch = 0;
    while !clients.iter().all(tokio::task::JoinHandle::is_finished) {
        let next = ((epoch + 1) % 2) as usize;
        epoch = deploy(&db, ModelKind::TransferRules, digest_of(&components[next]), epoch).await.unwrap();
        serves(&app.models, ["transfer-rules-1.0.0", "transfer-rules-6.6.7"][next]).await;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    for client in clients {
        client.await.unwrap();
    }
    let decisions = app.decisions(ModelKind::TransferRules).await;
    let is_of_2 = |it: &&Decision| it.by.digest == digest_of(&components[1]);
    let (all, of_2) = (decisions.len(), decisions.iter().filter(is_of_2).count());
    assert!(all == 320 && (40..280).contains(&of_2), "{of_2} of {all} decisions under contract 2, after {epoch} swaps");
    let replay = json!({"kind": "transfer-rules", "days": 1, "limit": 1000});
    let replayed = app.operator(Some("models:admin")).post("/admin/replay", replay).await.assert_status(200).json();
    assert!(replayed["equal"] == replayed["replayed"] && replayed["equal"] == 320, "{replayed}");
    assert_eq!(app.sum_of_balances().await, 0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn rules_of_contract_2_get_their_acknowledgment_from_the_host(db: PgPool) {
    let app = app(db, Enforcement::Enforce).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let load = |kind, bytes: &[u8]| LoadedComponent::load(&Runtime::new().unwrap(), kind, bytes).unwrap();
    let risky = load(ModelKind::Risk, &hostile_risk_2("high"));
    let of = |behaviour| {
        let rules = load(ModelKind::TransferRules, &misbehaving("hostile-rules-2.wasm", behaviour));
        registry().with(risky.clone()).with(rules)
    };
    app.models.activate(of("sane"));
    refused(&app, send(&ana, (&from, &to), 100.0, true, None), 400, REQUIRED, None).await;
    let path = format!(
        "/api/ledger/risk-context?fromAccountId={from}&toBeneficiaryId={to}&amount=100&isNewDevice=false&geolocationChanged=false"
    );
    let context = ana.get(&path).await.assert_status(200).json();
    send(&ana, (&from, &to), 100.0, true, Some(&context["acknowledgmentToken"])).await.assert_status(200);
    // A minute, and an answer that means nothing.
    app.models.activate(of("refuses"));
    let wait =
        send(&ana, (&from, &to), 100.0, true, None).await.assert_problem(400, "beneficiary-cooling", None).json();
    assert!(wait["detail"].as_str().unwrap().contains("It is too early: wait 1 more minute."), "{wait}");
    app.models.activate(of("position"));
    refused(&app, send(&ana, (&from, &to), 100.0, true, None), 503, "model-unavailable", None).await;
}
