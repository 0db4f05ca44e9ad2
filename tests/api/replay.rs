//! Decisions of orders are kept with their money, replayed bit for bit, and tried with other versions.

use caudal::db::decisions::{self, Period};
use caudal::decision::kept;
use caudal::decision::{Decision, Role};
use caudal::domain::model::ModelKind;
use caudal::domain::risk::Enforcement;
use caudal::ledger::receipt::Receipt;
use caudal::ledger::store::proof;
use caudal::models::{Embedded, LoadedComponent};
use caudal::wasm::Runtime;
use futures_util::TryStreamExt as _;
use serde_json::{Value, json};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::admin::version;
use crate::assistance::risk;
use crate::fixtures::misbehaving;
use crate::harness::{CLABE, Client, Options, PAYEE_CLABE, TestApp, ledger_key, registry};
use crate::reviews::assert_same;
use crate::swap::register;

impl TestApp {
    /// What is wrong with the ledger's batches.
    pub(crate) async fn breaks(&self) -> Vec<String> {
        let proof = proof::prove(&mut self.db.acquire().await.unwrap(), &ledger_key()).await.unwrap();
        proof.breaks.into_iter().map(|it| it.what).collect()
    }

    /// The decisions of a kind that are kept, in the order of their batches.
    pub(crate) async fn decisions(&self, kind: ModelKind) -> Vec<Decision> {
        let mut db = self.db.acquire().await.unwrap();
        let batches = decisions::in_period(&mut db, Period::since(OffsetDateTime::UNIX_EPOCH));
        let mut batches: Vec<_> = batches.try_collect().await.unwrap();
        batches.sort_by_key(|it| it.seq);
        batches.into_iter().flat_map(|it| it.decisions).filter(|it| it.by.kind == kind).collect()
    }
}

const RULES: ModelKind = ModelKind::TransferRules;

/// A host that scores orders, follows deployments and has its components registered.
async fn keeping(db: PgPool) -> (TestApp, crate::harness::Follower) {
    let options = Options { risk_enforcement: Enforcement::Shadow, ..Options::default() };
    let app = TestApp::with(db, options).await;
    let follower = app.follow().await;
    (app, follower)
}

fn ops(app: &TestApp) -> Client {
    app.operator(Some("models:admin"))
}

async fn replay(app: &TestApp, kind: ModelKind) -> Value {
    let asked = json!({"kind": kind.as_str(), "days": 1, "limit": 1000});
    ops(app).post("/admin/replay", asked).await.assert_status(200).json()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn answers_of_two_versions_replay_identically(db: PgPool) {
    let (app, _follower) = keeping(db).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    for index in 0..40 {
        if index == 20 {
            let first = Embedded::find("risk-1").unwrap().bytes;
            let first = LoadedComponent::load(&Runtime::new().unwrap(), ModelKind::Risk, first);
            app.models.activate(registry().with(first.unwrap()));
        }
        let (amount, is_new) = (1.0 + 0.1 * f64::from(index * index), index % 3 == 0);
        let order = json!({
            "fromAccountId": from, "toBeneficiaryId": to, "amount": (amount * 100.0).round() / 100.0, "isNewDevice": is_new,
        });
        let sent = ana.post("/api/ledger/transactions", order).await;
        sent.assert_status(200);
        assert_eq!(sent.header("decision-id"), sent.json()["id"].as_str());
        app.clock.advance(time::Duration::SECOND);
    }
    for kind in [ModelKind::Risk, RULES] {
        assert_eq!(replay(&app, kind).await, json!({"replayed": 40, "equal": 40, "different": []}), "{kind}");
    }
    let versions: std::collections::BTreeSet<_> =
        app.decisions(ModelKind::Risk).await.iter().map(|it| it.by.digest.to_string()).collect();
    assert_eq!(versions.len(), 2);
    app.assert_sound().await;

    // One answer altered in its last byte is found by the replay, and by who verifies the ledger.
    const LATEST: &str = "select decisions from decision order by seq desc limit 1";
    let batch: Vec<u8> = sqlx::query_scalar(LATEST).fetch_one(&app.db).await.unwrap();
    let (mut decisions, salt) = kept::decode(&batch).unwrap();
    let altered = decisions.iter_mut().find(|it| it.by.kind == ModelKind::Risk).unwrap();
    altered.answer[3] ^= 1;
    let subject = altered.subject.to_string();
    let store = async |bytes: Vec<u8>| {
        let update = "update decision set decisions = $1 where seq = (select max(seq) from decision)";
        sqlx::query(update).bind(bytes).execute(&app.db).await.unwrap();
    };
    store(kept::encode(&decisions, salt)).await;
    let found = replay(&app, ModelKind::Risk).await;
    assert_eq!((&found["equal"], &found["different"][0]["id"]), (&json!(39), &json!(subject)), "{found}");
    assert!(found["different"][0]["differences"][0].as_str().unwrap().starts_with("was Scored"), "{found}");
    assert_eq!(app.breaks().await, ["its decisions were altered"]);
    // Old ones may go, and the latest may not.
    store(batch).await;
    let delete = async |which: &str| {
        let delete = format!("delete from decision where seq = (select {which}(seq) from decision)");
        sqlx::query(sqlx::AssertSqlSafe(delete)).execute(&app.db).await.unwrap();
    };
    delete("min").await;
    app.assert_sound().await;
    delete("max").await;
    assert_eq!(app.breaks().await, ["its decisions are gone, though older ones are kept"]);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_a_sender_acknowledged_is_kept_with_the_order(db: PgPool) {
    let options = Options { risk_enforcement: Enforcement::Enforce, ..Options::default() };
    let app = TestApp::with(db, options).await;
    let _follower = app.follow().await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let path = format!("/api/ledger/risk-context?fromAccountId={from}&toBeneficiaryId={to}&amount=5000");
    let [token, unused] = [ana.get(&path).await, ana.get(&path).await]
        .map(|it| it.assert_status(200).json()["acknowledgmentToken"].as_str().unwrap().to_owned());
    assert!(unused.len() < 400, "a bulk has room for a thousand of 400: {}", unused.len());
    // What is known has changed by the time of the order.
    app.clock.advance(time::Duration::minutes(3));
    let order = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 5_000, "acknowledgmentToken": token});
    let sent = ana.post("/api/ledger/transactions", order).await.assert_status(200).id();

    let on_risk = app.decisions(ModelKind::Risk).await;
    let roles: Vec<_> = on_risk.iter().map(|it| (it.subject.to_string(), it.by.role)).collect();
    assert_eq!(roles, [(sent.clone(), Role::Shown), (sent.clone(), Role::Champion)]);
    let saved = |it: &Decision| it.request().beneficiary_saved_minutes.unwrap();
    assert_eq!(saved(&on_risk[1]) - saved(&on_risk[0]), 3);
    // Nor is it kept with an order that does not use it: a token is for one.
    let path = path.replace("=5000", "=1");
    let token = ana.get(&path).await.assert_status(200).json()["acknowledgmentToken"].clone();
    for roles in [&[Role::Shown, Role::Champion][..], &[Role::Champion]] {
        let before = app.decisions(ModelKind::Risk).await.len();
        let order = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 1, "acknowledgmentToken": token});
        ana.post("/api/ledger/transactions", order).await.assert_status(200);
        let now = app.decisions(ModelKind::Risk).await;
        assert_eq!(now[before..].iter().map(|it| it.by.role).collect::<Vec<_>>(), roles);
    }
    // It is sealed, shown in the receipt and replayed like the order's own, and counts for nothing else.
    app.assert_sound().await;
    assert_same(&app, None).await;
    let receipt = ana.get(&format!("/api/ledger/transactions/{sent}/receipt")).await.assert_status(200).json();
    let receipt: Receipt = serde_json::from_value(receipt["receipt"].clone()).unwrap();
    let proven = receipt.proven().unwrap().0.iter().map(|it| it.by.role).collect::<Vec<_>>();
    assert_eq!(proven, [Role::Shown, Role::Champion, Role::Champion]);
    assert_eq!(replay(&app, ModelKind::Risk).await, json!({"replayed": 5, "equal": 5, "different": []}));
    let report = ops(&app).get("/admin/outcomes/report").await.assert_status(200).json();
    let slices = report["slices"].as_array().unwrap().iter().filter(|it| it["by"] == "role");
    assert_eq!(slices.map(|it| it["slice"].clone()).collect::<Vec<_>>(), ["champion"], "{report}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_orders_rest_on_is_kept_and_nothing_else(db: PgPool) {
    let (app, _follower) = keeping(db).await;
    let ana = app.user("ana");
    let account = ana.open_account(CLABE).await;
    let (payee, own) = (ana.save_payee("Luis", PAYEE_CLABE).await, ana.save_payee("Ana", CLABE).await);
    ana.transfer(&account, &payee, "1.50").await.assert_status(200);
    // Without a key nothing of a refusal is recorded.
    let refused = ana.transfer(&account, &payee, "999999.00").await;
    assert_eq!(refused.assert_problem(400, "insufficient-funds", None).header("decision-id"), None);
    let keyed = ana.with("idempotency-key", "k");
    let ids = [keyed.transfer(&account, &own, "1.00").await, keyed.transfer(&account, &own, "1.00").await]
        .map(|it| it.assert_problem(400, "same-account", None).header("decision-id").map(str::to_owned));
    let path = format!("/api/ledger/risk-context?fromAccountId={account}&toBeneficiaryId={payee}&amount=5");
    ana.get(&path).await.assert_status(200);
    app.ai().post("/ai/risk", risk()).await.assert_status(200);
    app.ai().post("/ai/nudge", crate::harness::on_screen("home")).await.assert_status(200);

    let kept = app.decisions(RULES).await;
    assert_eq!(kept.len(), 2);
    let reasons: Vec<_> = kept.iter().map(|it| it.ruling().unwrap().codes().collect::<Vec<_>>()).collect();
    assert_eq!(reasons, [vec![], vec!["same-account"]]);
    assert_eq!(ids, [Some(kept[1].subject.to_string()), Some(kept[1].subject.to_string())], "also repeated");
    let on_risk = app.decisions(ModelKind::Risk).await;
    assert_eq!(on_risk.iter().map(|it| it.subject).collect::<Vec<_>>(), [kept[0].subject, kept[1].subject]);
    assert!(on_risk.iter().all(|it| it.by.role == Role::Champion));
    let claimed: Vec<_> = on_risk[0].facts.iter().filter(|it| it.is_claimed).map(|it| it.place).collect();
    assert_eq!(claimed, [7, 8], "the device and the location, but not the hour, which is the host's own");
    assert_eq!(replay(&app, RULES).await["equal"], 2);
    app.assert_sound().await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn candidates_are_tried_on_past_orders(db: PgPool) {
    let (app, _follower) = keeping(db.clone()).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    for amount in ["1", "2", "3"] {
        ana.transfer(&from, &to, amount).await.assert_status(200);
    }
    let other = misbehaving("hostile-rules-2.wasm", "refuses");
    register(&db, RULES, "6.6.7", &other).await;
    let both = app.operator(Some("models:admin rules:admin"));
    let [deployed, refusing] = [version(&both, "transfer-rules-1").await, version(&both, "transfer-rules-6").await];
    let before = app.rows().await;
    let try_with = async |body: Value| ops(&app).post("/admin/what-if", body).await;
    let same = json!({"rules": &deployed, "days": 1, "limit": 100});
    let found = try_with(same).await.assert_status(200).json();
    assert_eq!(
        (&found["orders"], &found["rules"]["decisions"], &found["rules"]["different"]),
        (&json!(3), &json!(3), &json!(0))
    );
    let refusing = json!({"rules": refusing, "days": 1, "limit": 100});
    let found = try_with(refusing).await.assert_status(200).json();
    let change = &found["rules"]["changes"][0];
    assert_eq!((&change["was"], &change["is"]), (&json!("accepted"), &json!("beneficiary-cooling")), "{found}");
    assert_eq!((&change["count"], &change["amount"]), (&json!(3), &json!(600)));
    assert_eq!(change["by_payee"], json!({"saved today": 3}));
    for (body, field) in [
        (json!({"days": 1, "limit": 1}), ""),
        (json!({"rules": "transfer-rules-9", "days": 1, "limit": 1}), "rules"),
        (json!({"risk": &deployed, "days": 1, "limit": 1}), "risk"),
        (json!({"rules": &deployed, "days": 401, "limit": 1}), "days"),
        (json!({"rules": &deployed, "days": 1, "limit": 100_001}), "limit"),
        (json!({"rules": &deployed, "days": 1, "limit": 1, "since": "1d"}), "since"),
    ] {
        try_with(body).await.assert_problem(422, "validation-failed", Some(field));
    }
    app.ai().post("/admin/what-if", json!({})).await.assert_problem(401, "unauthorized", None);
    assert_eq!(app.rows().await, before);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_order_whose_decisions_cannot_be_kept_moves_nothing(db: PgPool) {
    let (app, _follower) = keeping(db).await;
    let ana = app.user("ana");
    let (account, payee) = ana.account_and_payee().await;
    let full = "alter table decision add constraint full_disk check (false) not valid";
    sqlx::query(full).execute(&app.db).await.unwrap();
    ana.transfer(&account, &payee, "1.50").await.assert_status(500);
    app.ai().post("/ai/risk", risk()).await.assert_status(200);
    sqlx::query("alter table decision drop constraint full_disk").execute(&app.db).await.unwrap();
    ana.transfer(&account, &payee, "1.50").await.assert_status(200);
    assert_eq!(app.count("select count(*) from transfer where kind = 'spei'").await, 1);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn requests_to_replay_are_strict(db: PgPool) {
    let (app, _follower) = keeping(db).await;
    let admin = ops(&app);
    let before = app.rows().await;
    app.ai().post("/admin/replay", json!({})).await.assert_problem(401, "unauthorized", None);
    for (body, field) in [
        (json!({"kind": "nudge", "days": 1, "limit": 1}), "kind"),
        (json!({"kind": "risk", "days": 0, "limit": 1}), "days"),
        (json!({"kind": "risk", "days": 1, "limit": 10_001}), "limit"),
        (json!({"kind": "risk", "days": 1, "limit": 1, "since": "24h"}), "since"),
        (json!({"kind": "risk", "limit": 1}), "days"),
    ] {
        admin.post("/admin/replay", body).await.assert_problem(422, "validation-failed", Some(field));
    }
    admin.post_text("/admin/replay", "{").await.assert_problem(400, "malformed-json", None);
    assert_eq!(app.rows().await, before);
}
