//! `/admin/customers` and what else operators read of a customer: what is found, what is refused, and that every look-up is
//! on record.

use serde_json::json;
use sqlx::PgPool;

use crate::harness::{PAYEE_CLABE, TestApp, refused};

const SCOPE: Option<&str> = Some("ledger:read");

/// The records of look-ups: customer or what was looked up in vain, data, and who.
async fn records(app: &TestApp) -> Vec<(String, String, String)> {
    let records = "select subject_key, action, actor from audit_record where subject = 'look-up' order by seq";
    sqlx::query_as(records).fetch_all(&app.db).await.unwrap()
}

fn record(key: &str, action: &str) -> (String, String, String) {
    (key.to_owned(), action.to_owned(), "ops".to_owned())
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_customer_is_found_by_what_they_quote(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ana, luis, ops) = (app.user("ana"), app.user("luis"), app.operator(SCOPE));
    let (issued, number) = ana.issued_account().await;
    // Luis claims that number.
    let (typed, to) = (luis.open_account(&number).await, ana.save_payee("Luis", PAYEE_CLABE).await);
    let sent = ana.transfer(&issued, &to, "1.50").await.assert_status(200).json();
    let key = sent["speiReference"].as_str().unwrap();
    let find = async |query: &str| ops.get(&format!("/admin/customers?{query}")).await.assert_status(200).json();
    let accounts = ana.get("/api/ledger/accounts").await.json();
    let ana_is = json!({"user": "ana", "accounts": accounts, "limits": {}, "freezes": [], "payments": []});
    let spaced = number.replacen('9', "9%20", 1);
    for query in ["user=ana", &format!("accountNumber={number}"), &format!("accountNumber={spaced}")] {
        assert_eq!(find(query).await, ana_is, "{query}: the one that the bank issued");
    }
    assert_eq!(find("user=luis").await["accounts"][0]["id"], json!(typed));
    let payment = json!([{
        "id": sent["id"], "type": "transfer", "accountId": issued, "amount": 1.5, "status": "completed", "name": "Luis",
        "speiReference": key, "createdAt": sent["createdAt"],
    }]);
    for quoted in [key.to_owned(), format!("{}%20-{}", key[..5].to_lowercase(), &key[5..])] {
        let found = find(&format!("trackingKey={quoted}")).await;
        assert_eq!((&found["user"], &found["payments"]), (&json!("ana"), &payment), "{quoted}");
    }
    let found = ["user", "account-number", "account-number"].map(|action| record("ana", action));
    let rest = [record("luis", "user"), record("ana", "tracking-key"), record("ana", "tracking-key")];
    assert_eq!(records(&app).await, [&found[..], &rest[..]].concat());
    app.assert_sound().await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn limits_freezes_and_lists_are_those_of_the_customer(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ana, ops) = (app.user("ana"), app.operator(SCOPE));
    let (from, to) = ana.account_and_payee().await;
    for amount in 1..=21 {
        ana.transfer(&from, &to, &amount.to_string()).await.assert_status(200);
    }
    let order = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 10});
    ana.post("/api/ledger/holds", order).await.assert_status(201);
    let operator = app.operator(Some("ledger:operate"));
    let limits = json!({"perDay": 5000, "reason": "asked for"});
    operator.put("/admin/users/ana/limits", limits).await.assert_status(200);
    operator.put("/admin/users/ana/holder", json!({"name": "Ana López"})).await.assert_status(200);
    for action in ["freeze", "unfreeze"] {
        let reason = json!({"reason": format!("to {action}")});
        operator.post(&format!("/admin/accounts/{from}/{action}"), reason).await.assert_status(200);
    }
    let customer = ops.get("/admin/customers?user=ana").await.assert_status(200).json();
    assert_eq!((&customer["limits"], &customer["holder"]), (&json!({"perDay": 5000.0}), &json!("Ana López")));
    let events = customer["freezes"].as_array().unwrap().iter().map(|it| (&it["event"], &it["by"], &it["reason"]));
    let [frozen, unfrozen, by] = [json!("frozen"), json!("unfrozen"), json!("ops")];
    let reasons = [json!("to unfreeze"), json!("to freeze")];
    assert_eq!(events.collect::<Vec<_>>(), [(&unfrozen, &by, &reasons[0]), (&frozen, &by, &reasons[1])]);

    for (list, length) in [("transactions", 20), ("beneficiaries", 1), ("holds", 1)] {
        let own = ana.get(&format!("/api/ledger/{list}")).await.assert_status(200).json();
        let page = ops.get(&format!("/admin/users/ana/{list}")).await;
        let items = page.assert_status(200).json();
        assert_eq!(items.as_array().unwrap()[..], own.as_array().unwrap()[..length], "{list}");
        if list == "transactions" {
            let next = page.header("link").unwrap().split(['<', '>']).nth(1).unwrap();
            assert_eq!(ops.get(next).await.assert_status(200).json(), json!([own[20]]));
        }
        let limit = format!("/admin/users/ana/{list}?limit=1001");
        refused(&app, ops.get(&limit), 400, "validation-failed", Some("limit")).await;
    }
    let actions: Vec<_> = records(&app).await.into_iter().map(|(_, action, _)| action).collect();
    assert_eq!(actions, ["user", "transactions", "transactions", "beneficiaries", "holds"]);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_is_not_found_is_recorded_and_what_cannot_be_found_is_refused(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    ana.issued_account().await;
    let ops = app.operator(SCOPE);
    let nobody = "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b";
    let statement = format!("/admin/accounts/{nobody}/statement?date=2026-11-21");
    let misses = [
        ("/admin/customers?user=eva", "eva"),
        ("/admin/customers?user='%20or%20true--", "' or true--"),
        (&format!("/admin/customers?accountNumber={PAYEE_CLABE}"), PAYEE_CLABE),
        ("/admin/customers?trackingKey=CAUDAL1", "CAUDAL1"),
        ("/admin/users/eva/holds", "eva"),
        (&statement, nobody),
    ];
    for (path, _) in misses {
        let answer = ops.get(path).await;
        answer.assert_problem(404, "not-found", None);
        assert_eq!(answer.json()["title"], "There is no such customer");
    }
    assert_eq!(records(&app).await, misses.map(|(_, sought)| record(sought, "not-found")));
    let long = "a".repeat(256);
    for (query, field) in [
        ("", "user"),
        ("user=", "user"),
        ("user=%20", "user"),
        ("user=%00", "user"),
        (&format!("user={long}"), "user"),
        ("accountNumber=646180110400000008", "accountNumber"),
        ("accountNumber=5512345678", "accountNumber"),
        ("trackingKey=A%2FB", "trackingKey"),
        ("trackingKey=%C3%B1", "trackingKey"),
        ("trackingKey=-", "trackingKey"),
        (&format!("trackingKey={}", &long[..31]), "trackingKey"),
        ("user=ana&trackingKey=A1", "trackingKey"),
    ] {
        let path = format!("/admin/customers?{query}");
        refused(&app, ops.get(&path), 400, "validation-failed", Some(field)).await;
    }
    for scope in [None, Some("models:admin audit:read")] {
        let ask = async || app.operator(scope).get("/admin/customers?user=ana").await;
        refused(&app, ask(), 403, "insufficient-scope", None).await;
    }
}
