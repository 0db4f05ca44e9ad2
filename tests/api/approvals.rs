//! `/admin/approvals`: what takes two operators, and how an approval can be got wrong.

use std::time::Duration;

use caudal::app::ApprovalPolicy;
use caudal::domain::money::Money;
use caudal::ledger::store::proof::prove;
use serde_json::{Value, json};
use sqlx::PgPool;
use uuid::Uuid;

use crate::harness::{Answer, CLABE, Client, Options, PAYEE_CLABE, TestApp, ledger_key, refused};

const OPERATE: &str = "ledger:operate";

pub(crate) async fn app(db: PgPool) -> TestApp {
    let policy = ApprovalPolicy { lifetime: Duration::from_secs(3_600), limit: Money::from_minor(100_000) };
    TestApp::with(db, Options { approvals: Some(policy), ..Options::default() }).await
}

/// Asks for a credit of 100.00.
async fn propose(ops: &Client, account: &str, id: Uuid) -> Answer {
    propose_amount(ops, account, id, json!(100)).await
}

/// Asks for one that will be refused, because its id is another credit's.
async fn propose_in_vain(app: &TestApp, (ops, eva): (&Client, &Client)) -> Value {
    let (account, id) = (app.user("luis").open_account(CLABE).await, Uuid::now_v7());
    approve(eva, &propose(ops, &account, id).await.json()).await.assert_status(200);
    propose_amount(ops, &account, id, json!(200)).await.assert_status(202).json()
}

async fn propose_amount(ops: &Client, account: &str, id: Uuid, amount: Value) -> Answer {
    let credit = json!({"amount": amount, "reason": "case 4711", "transactionId": id});
    ops.post(&format!("/admin/accounts/{account}/fund"), credit).await
}

fn place(proposed: &Value) -> String {
    format!("/admin/approvals/{}", proposed["id"].as_str().unwrap())
}

pub(crate) async fn approve(by: &Client, proposed: &Value) -> Answer {
    by.post(&format!("{}/approve", place(proposed)), json!({"digest": proposed["digest"]})).await
}

pub(crate) async fn assert_sound(app: &TestApp) {
    let proof = prove(&mut app.db.acquire().await.unwrap(), &ledger_key()).await.unwrap();
    assert!(proof.breaks.is_empty() && proof.records.complaints.is_empty(), "{:?}", proof.records.complaints);
}

/// A verification finds just this.
pub(crate) async fn assert_found(app: &TestApp, expected: &[&str]) {
    let proof = prove(&mut app.db.acquire().await.unwrap(), &ledger_key()).await.unwrap();
    let found = proof.records.complaints;
    assert_eq!(found.len(), expected.len(), "{found:?}");
    assert!(found.iter().zip(expected).all(|(found, expected)| found.contains(expected)), "{found:?}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn money_moves_only_when_a_second_operator_agrees(db: PgPool) {
    let app = app(db).await;
    let (ana, eva, ops) = (app.user("ana"), app.operator_named("eva", OPERATE), app.operator(Some(OPERATE)));
    let (account, id) = (ana.open_account(CLABE).await, Uuid::now_v7());
    let answer = propose(&ops, &account, id).await;
    let proposed = answer.assert_status(202).json();
    assert_eq!(answer.header("location").unwrap(), place(&proposed));
    let seen = json!({"owner": "ana", "accountNumber": CLABE, "balance": "10000.00"});
    let want = json!({"type": "fund", "accountId": account, "account": seen, "amount": "100.00", "transactionId": id});
    assert_eq!(
        (&proposed["action"], &proposed["state"], &proposed["proposedBy"]),
        (&want, &json!("pending"), &json!("ops"))
    );
    assert_eq!(ana.balance().await, "10000.00");

    // Not by the operator who proposed it, nor without the scope, nor for another action.
    refused(&app, approve(&ops, &proposed), 403, "second-person-required", None).await;
    let models = app.operator_named("eva", "models:admin rules:admin");
    refused(&app, approve(&models, &proposed), 403, "insufficient-scope", None).await;
    refused(&app, models.get(&place(&proposed)), 403, "insufficient-scope", None).await;
    assert_eq!(models.get("/admin/approvals").await.json(), json!({"approvals": [], "unreadable": 0}));
    refused(&app, approve(&app.ai(), &proposed), 401, "unauthorized", None).await;
    let other = json!({"id": proposed["id"], "digest": "0".repeat(64)});
    refused(&app, approve(&eva, &other), 422, "validation-failed", Some("digest")).await;
    let unknown = json!({"id": Uuid::now_v7(), "digest": proposed["digest"]});
    refused(&app, approve(&eva, &unknown), 404, "not-found", None).await;

    let done = approve(&eva, &proposed).await.assert_status(200).json();
    assert_eq!(
        done,
        json!({"accountId": account, "transactionId": id, "amount": 100.0, "changed": true, "balance": 10_100.0})
    );
    assert_eq!(ana.balance().await, "10100.00");
    let seen = eva.get(&place(&proposed)).await.json();
    assert_eq!((&seen["state"], &seen["decidedBy"]), (&json!("executed"), &json!("eva")));
    refused(&app, approve(&eva, &proposed), 409, "approval-ended", None).await;
    refused(&app, eva.post(&format!("{}/withdraw", place(&proposed)), json!({})), 409, "approval-ended", None).await;
    // The same credit, proposed and approved again, moves nothing.
    let again = propose(&eva, &account, id).await.assert_status(202).json();
    assert_eq!(approve(&ops, &again).await.assert_status(200).json()["changed"], false);
    assert_eq!(ana.balance().await, "10100.00");
    let by = "select actor from audit_record where subject = 'funding'";
    assert_eq!(app.text(by).await, "ops, approved by eva");
    assert_sound(&app).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn proposals_expire_and_can_be_withdrawn(db: PgPool) {
    let app = app(db).await;
    let (ana, eva, ops) = (app.user("ana"), app.operator_named("eva", OPERATE), app.operator(Some(OPERATE)));
    let account = ana.open_account(CLABE).await;
    let withdrawn = propose(&ops, &account, Uuid::now_v7()).await.json();
    let answer = ops.post(&format!("{}/withdraw", place(&withdrawn)), json!({})).await.assert_status(200).json();
    assert_eq!((&answer["state"], &answer["decidedBy"]), (&json!("withdrawn"), &json!("ops")));
    let expired = propose(&ops, &account, Uuid::now_v7()).await.json();
    app.clock.advance(time::Duration::hours(1));
    for ended in [withdrawn, expired] {
        refused(&app, approve(&eva, &ended), 409, "approval-ended", None).await;
    }
    assert_eq!(ana.balance().await, "10000.00");
    assert_sound(&app).await;
}

/// Somebody who writes to the database can neither approve nor change what is approved.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_altered_approval_is_not_counted(db: PgPool) {
    let app = app(db).await;
    let (ana, eva, ops) = (app.user("ana"), app.operator_named("eva", OPERATE), app.operator(Some(OPERATE)));
    let account = ana.open_account(CLABE).await;
    for forgery in [
        "action = replace(action, '100.00', '9999.00')",
        "proposed_by = 'luis'",
        "expires_at = expires_at + interval '1 day'",
        "verdict = 'approved', decided_by = 'luis', decided_at = proposed_at",
    ] {
        let proposed = propose(&ops, &account, Uuid::now_v7()).await.json();
        let forge = format!("update approval set {forgery} where approval_id = '{}'", proposed["id"].as_str().unwrap());
        sqlx::query(sqlx::AssertSqlSafe(forge)).execute(&app.db).await.unwrap();
        refused(&app, approve(&eva, &proposed), 404, "not-found", None).await;
    }
    let proof = prove(&mut app.db.acquire().await.unwrap(), &ledger_key()).await.unwrap();
    assert_eq!(proof.records.complaints.len(), 4, "{:?}", proof.records.complaints);
    assert_eq!(ana.balance().await, "10000.00");
}

/// What is put on record is what was read, not what somebody made of it meanwhile.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_is_altered_while_it_is_carried_out_is_not_put_on_record(db: PgPool) {
    let app = app(db.clone()).await;
    let (ana, eva, ops) = (app.user("ana"), app.operator_named("eva", OPERATE), app.operator(Some(OPERATE)));
    let account = ana.open_account(CLABE).await;
    let proposed = propose_in_vain(&app, (&ops, &eva)).await;
    let mut attacker = db.begin().await.unwrap();
    sqlx::raw_sql("lock table transfer in access exclusive mode").execute(&mut *attacker).await.unwrap();
    let forge = async {
        // Other tests' databases are in the same server.
        let waits = "select exists (select from pg_locks where not granted and relation = 'transfer'::regclass \
                     and database = (select oid from pg_database where datname = current_database()))";
        while !sqlx::query_scalar::<_, bool>(waits).fetch_one(&mut *attacker).await.unwrap() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let forged = "update approval set action = jsonb_set(action::jsonb, '{accountId}', to_jsonb($1))::text, proposed_by = 'luis' where executed_at is null";
        sqlx::query(forged).bind(&account).execute(&mut *attacker).await.unwrap();
        attacker.commit().await.unwrap();
    };
    let (answer, ()) = tokio::join!(approve(&eva, &proposed), forge);
    answer.assert_problem(422, "validation-failed", Some("transactionId"));
    refused(&app, approve(&ops, &proposed), 404, "not-found", None).await;
    assert_eq!(ana.balance().await, "10000.00");
    assert_found(&app, &["approval"]).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn of_many_approvals_at_once_one_is_carried_out(db: PgPool) {
    let app = app(db).await;
    let (ana, ops) = (app.user("ana"), app.operator(Some(OPERATE)));
    let account = ana.open_account(CLABE).await;
    let proposed = propose(&ops, &account, Uuid::now_v7()).await.json();
    let operators: Vec<_> = (0..4).map(|at| app.operator_named(&format!("eva{at}"), OPERATE)).collect();
    let all = futures_util::future::join_all(operators.iter().map(|eva| approve(eva, &proposed))).await;
    assert_eq!(all.iter().filter(|answer| answer.status == 200).count(), 1);
    assert!(all.iter().all(|answer| matches!(answer.status.as_u16(), 200 | 409)), "{all:?}");
    assert_eq!(ana.balance().await, "10100.00");
}

/// Lets nobody record that an action was carried out.
async fn fail(app: &TestApp) {
    let function = "create function fail() returns trigger language plpgsql as 'begin raise exception ''no''; end'";
    let trigger = "create trigger fail before update on approval for each row when (new.executed_at is not null) \
                   execute function fail()";
    for statement in [function, trigger] {
        sqlx::query(statement).execute(&app.db).await.unwrap();
    }
}

/// As when its host died a minute ago.
async fn end_claim(app: &TestApp) {
    sqlx::query("drop trigger fail on approval").execute(&app.db).await.unwrap();
    sqlx::query("update approval set claimed_until = clock_timestamp()").execute(&app.db).await.unwrap();
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_may_have_been_carried_out_is_gone_on_with_and_not_withdrawn(db: PgPool) {
    let app = app(db).await;
    let (ana, eva, ops) = (app.user("ana"), app.operator_named("eva", OPERATE), app.operator(Some(OPERATE)));
    let account = ana.open_account(CLABE).await;
    let proposed = propose(&ops, &account, Uuid::now_v7()).await.json();
    fail(&app).await;
    approve(&eva, &proposed).await.assert_problem(503, "outcome-unknown", None);
    assert_eq!(ana.balance().await, "10100.00");
    let withdraw = format!("{}/withdraw", place(&proposed));
    refused(&app, ops.post(&withdraw, json!({})), 409, "approval-under-way", None).await;
    refused(&app, approve(&eva, &proposed), 409, "approval-under-way", None).await;
    end_claim(&app).await;
    app.clock.advance(time::Duration::hours(2));
    let luis = app.operator_named("luis", OPERATE);
    assert_eq!(approve(&luis, &proposed).await.assert_status(200).json()["changed"], false);
    assert_eq!(ana.balance().await, "10100.00");
    assert_eq!(eva.get(&place(&proposed)).await.json()["state"], "executed");
    assert_sound(&app).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_was_refused_waits_for_an_approval_again(db: PgPool) {
    let app = app(db).await;
    let (eva, ops) = (app.operator_named("eva", OPERATE), app.operator(Some(OPERATE)));
    let nobodys = propose(&ops, &Uuid::now_v7().to_string(), Uuid::now_v7()).await;
    nobodys.assert_problem(404, "not-found", None);
    let proposed = propose_in_vain(&app, (&ops, &eva)).await;
    approve(&eva, &proposed).await.assert_problem(422, "validation-failed", Some("transactionId"));
    assert_eq!(eva.get(&place(&proposed)).await.json()["state"], "pending");
    ops.post(&format!("{}/withdraw", place(&proposed)), json!({})).await.assert_status(200);
    assert_sound(&app).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn limits_that_somebody_set_later_stay(db: PgPool) {
    let app = app(db).await;
    let (eva, ops) = (app.operator_named("eva", OPERATE), app.operator(Some(OPERATE)));
    let path = "/admin/users/ana/limits";
    let proposed = ops.put(path, json!({"reason": "none", "perTransfer": 9_000})).await.assert_status(202).json();
    fail(&app).await;
    approve(&eva, &proposed).await.assert_problem(503, "outcome-unknown", None);
    let later = json!({"perTransfer": 1.0, "perDay": 1.0});
    ops.put(path, json!({"perTransfer": 1, "perDay": 1, "reason": "stolen"})).await.assert_status(200);
    end_claim(&app).await;
    assert_eq!(approve(&eva, &proposed).await.assert_status(200).json(), later);
    assert_eq!(ops.get(path).await.json(), later);
    assert_sound(&app).await;
}

/// Random ids must not tie up the database: any operator's token can send them.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn approving_what_does_not_exist_holds_nobody_up(db: PgPool) {
    let app = app(db).await;
    let models = app.operator_named("eva", "models:admin");
    let ids: Vec<_> = (0..32).map(|_| json!({"id": Uuid::now_v7(), "digest": "0".repeat(64)})).collect();
    let all = futures_util::future::join_all(ids.iter().map(|id| approve(&models, id)));
    let begun = std::time::Instant::now();
    let ana = app.user("ana");
    let (answers, read) = tokio::join!(all, ana.get("/api/ledger/accounts"));
    read.assert_status(200);
    for answer in answers {
        // Operators have few connections, and a queue of their own.
        assert!(answer.status == 404 || answer.status == 503, "{}", answer.status);
    }
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

/// Whether a request that was repeated at once, or another one with its id, comes first.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_credit_that_is_asked_for_often_at_once_is_made_once(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ana, ops) = (app.user("ana"), app.operator(Some(OPERATE)));
    let (account, id) = (ana.open_account(CLABE).await, Uuid::now_v7());
    let all = futures_util::future::join_all((0..16).map(|_| propose(&ops, &account, id))).await;
    let changed = all.iter().filter(|answer| answer.assert_status(200).json()["changed"] == true).count();
    assert_eq!((changed, ana.balance().await.as_str()), (1, "10100.00"));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn high_limits_take_two(db: PgPool) {
    let app = app(db).await;
    let (eva, ops) = (app.operator_named("eva", OPERATE), app.operator(Some(OPERATE)));
    let path = "/admin/users/auth0%7Cana/limits";
    let set = async |limits: Value| ops.put(path, limits).await;
    let low = json!({"perTransfer": 500, "perDay": 1_000, "reason": "a test"});
    let want = json!({"perTransfer": 500.0, "perDay": 1_000.0});
    assert_eq!(set(low.clone()).await.assert_status(200).json(), want);
    assert_eq!(set(low).await.assert_status(200).json(), want, "what changes nothing takes nobody");
    for high in [json!({"perTransfer": 500, "perDay": 1_000.01}), json!({"perTransfer": 500}), json!({})] {
        let mut limits = high.clone();
        limits["reason"] = json!("a test");
        set(limits).await.assert_status(202);
        assert_eq!(ops.get(path).await.json(), want);
    }
    let none = json!({"type": "set-limits", "user": "auth0|ana",
        "before": {"perTransfer": "500.00", "perDay": "1000.00"}, "limits": {"perTransfer": null, "perDay": null}});
    let listed = eva.get("/admin/approvals").await.json()["approvals"].take();
    let proposed = listed.as_array().unwrap().iter().find(|it| it["action"] == none).unwrap().clone();
    approve(&eva, &proposed).await.assert_status(200);
    assert_eq!(ops.get(path).await.json(), json!({}));
    assert_sound(&app).await;
}

/// Hides the record of a withdrawal until a second operator has approved what was withdrawn.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_withdrawal_that_was_hidden_for_a_while_is_found(db: PgPool) {
    let app = app(db.clone()).await;
    let (ana, eva, ops) = (app.user("ana"), app.operator_named("eva", OPERATE), app.operator(Some(OPERATE)));
    let account = ana.open_account(CLABE).await;
    let proposed = propose(&ops, &account, Uuid::now_v7()).await.assert_status(202).json();
    ops.post(&format!("{}/withdraw", place(&proposed)), json!({})).await.assert_status(200);
    let hide = "update audit_record set subject_key = subject_key || '#' where action = 'withdraw'";
    let revive = "update approval set verdict = null, decided_by = null, decided_issuer = null, decided_at = null";
    let show = "update audit_record set subject_key = rtrim(subject_key, '#') where action = 'withdraw'";
    for forge in [hide, revive] {
        sqlx::query(forge).execute(&db).await.unwrap();
    }
    approve(&eva, &proposed).await.assert_status(200);
    sqlx::query(show).execute(&db).await.unwrap();
    assert_found(&app, &["does not follow the record before it", "its action had ended"]).await;
}

/// What one operator proposes hides nobody else's proposals, nor do rows of another release.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_list_has_room_for_everybody(db: PgPool) {
    let app = app(db.clone()).await;
    let (ana, eva, ops) = (app.user("ana"), app.operator_named("eva", OPERATE), app.operator(Some(OPERATE)));
    let account = ana.open_account(CLABE).await;
    for _ in 0..100 {
        propose(&ops, &account, Uuid::now_v7()).await.assert_status(202);
    }
    refused(&app, propose(&ops, &account, Uuid::now_v7()), 429, "too-many-requests", None).await;
    let proposed = propose(&eva, &account, Uuid::now_v7()).await.assert_status(202).json();
    let newer =
        "update approval set action = '{\"type\": \"newer\"}' where approval_id = (select approval_id from approval
        where proposed_by = 'ops' limit 1)";
    assert_eq!(sqlx::query(newer).execute(&db).await.unwrap().rows_affected(), 1);
    let listed = ops.get("/admin/approvals").await.assert_status(200).json();
    assert_eq!((listed["approvals"].as_array().unwrap().len(), &listed["unreadable"]), (100, &json!(1)));
    assert!(listed["approvals"].as_array().unwrap().iter().any(|it| it["id"] == proposed["id"]));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_reversal_takes_two_and_happens_once(db: PgPool) {
    let app = app(db).await;
    let (ana, eva, ops) = (app.user("ana"), app.operator_named("eva", OPERATE), app.operator(Some(OPERATE)));
    let (from, to) = ana.account_and_payee().await;
    let sent = ana.transfer(&from, &to, "100").await.assert_status(200).id();
    let reverse = async || {
        let path = format!("/admin/transactions/{sent}/reverse");
        ops.post(&path, json!({"reason": "sent twice"})).await.assert_status(202).json()
    };
    let (first, second) = (reverse().await, reverse().await);
    // The second operator reads what they decide on.
    let mut payment = first["action"]["payment"].clone();
    assert!(payment["trackingKey"].as_str().is_some_and(|it| it.len() > 20), "{payment}");
    payment["trackingKey"].take();
    let seen = json!({"amount": "100.00", "payee": "Luis", "payeeNumber": PAYEE_CLABE, "status": "completed",
        "trackingKey": null, "payer": "ana", "createdAt": "2026-11-21T18:00:00.000Z"});
    assert_eq!(payment, seen);
    assert_eq!(ana.balance().await, "9900.00");
    let done = approve(&eva, &first).await.assert_status(200).json();
    assert_eq!((&done["transactionId"], &done["changed"]), (&json!(sent), &json!(true)));
    assert_eq!(ana.balance().await, "10000.00");
    let again = approve(&eva, &second).await.assert_status(200).json();
    assert_eq!((&again["reversalId"], &again["changed"]), (&done["reversalId"], &json!(false)));
    assert_eq!(ana.balance().await, "10000.00");
    let event = "select actor || ': ' || note from transfer_event where actor is not null";
    assert_eq!(app.text(event).await, "ops, approved by eva: sent twice");
    assert_sound(&app).await;
}
