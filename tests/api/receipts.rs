//! `/api/ledger/transactions/{id}/receipt`: the decisions about a transfer, for everybody to check.

use caudal::domain::model::ModelKind;
use caudal::domain::risk::Enforcement;
use caudal::ledger::receipt::Receipt;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Answer, Client, Options, TestApp};

async fn receipt(user: &Client, transfer: &str) -> Answer {
    user.get(&format!("/api/ledger/transactions/{transfer}/receipt")).await
}

fn read(answer: &Value) -> Receipt {
    serde_json::from_value(answer["receipt"].clone()).unwrap()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_transfer_and_what_captured_a_hold_have_one_and_nobody_elses(db: PgPool) {
    let options = Options { risk_enforcement: Enforcement::Shadow, ..Options::default() };
    let app = TestApp::with(db, options).await;
    let _follower = app.follow().await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let sent = ana.transfer(&from, &to, "1.50").await.assert_status(200).id();
    let answer = receipt(&ana, &sent).await.assert_status(200).json();
    let found = read(&answer);
    let (decisions, _) = found.proven().unwrap();
    assert_eq!(found.id.to_string(), sent);
    assert_eq!(found.decisions.iter().map(|it| &*it.kind).collect::<Vec<_>>(), ["risk", "transfer-rules"]);
    let kept = [app.decisions(ModelKind::Risk).await, app.decisions(ModelKind::TransferRules).await].concat();
    assert_eq!(decisions, kept);
    // The rules are told to those whom they decided on, and what a page runs them with is there.
    let rules = decisions[1].by.digest.to_string();
    let glue = answer["glue"][&rules].as_str().unwrap();
    app.anon().get(glue).await.assert_status(200);
    app.anon().get(&format!("/models/component/{rules}.wasm")).await.assert_status(200);

    let order = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 20.0});
    let hold = ana.post("/api/ledger/holds", order).await.assert_status(201).id();
    let captured = ana.post(&format!("/api/ledger/holds/{hold}/capture"), json!({})).await.assert_status(200).id();
    let of_capture = read(&receipt(&ana, &captured).await.assert_status(200).json());
    assert_eq!((of_capture.id.to_string(), of_capture.proven().is_ok()), (captured, true));

    receipt(&app.user("eva"), &sent).await.assert_problem(404, "not-found", None);
    // What is not as it was sealed has none.
    for change in
        ["update decision set decisions = set_byte(decisions, 40, get_byte(decisions, 40) # 1)", "delete from decision"]
    {
        sqlx::query(change).execute(&app.db).await.unwrap();
        receipt(&ana, &sent).await.assert_problem(404, "not-found", None);
    }
}
