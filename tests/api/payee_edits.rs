//! `PATCH /api/ledger/beneficiaries/{id}`: what the user calls a payee.

use caudal::ledger::store::proof;
use serde_json::{Value, json};
use sqlx::PgPool;
use time::Duration;

use crate::harness::{CLABE, Options, PAYEE_CLABE, TestApp, ledger_key, refused};

const PATH: &str = "/api/ledger/beneficiaries";

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn name_alias_and_mark_change_one_by_one(db: PgPool) {
    let (_app, ana) = TestApp::with_user(db).await;
    let id = ana.save_payee("Luis", PAYEE_CLABE).await;
    let path = format!("{PATH}/{id}");
    let mut want = ana.get(PATH).await.json()[0].clone();
    for (change, field, value) in [
        (json!({"alias": "Lu"}), "alias", json!("Lu")),
        (json!({"isFavorite": true}), "isFavorite", json!(true)),
        (json!({"name": "Luis Pérez"}), "name", json!("Luis Pérez")),
        (json!({"name": null, "isFavorite": false}), "isFavorite", json!(false)),
        // Nothing to change, and nothing that this service knows.
        (json!({}), "name", json!("Luis Pérez")),
        (json!({"owner": "eva", "id": CLABE}), "name", json!("Luis Pérez")),
    ] {
        want[field] = value;
        assert_eq!(ana.patch(&path, change).await.assert_status(200).json(), want);
        assert_eq!(ana.get(PATH).await.json(), json!([want]));
    }
    want.as_object_mut().unwrap().remove("alias");
    assert_eq!(ana.patch(&path, json!({"alias": " \u{200b}"})).await.assert_status(200).json(), want);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_would_make_it_another_payee_is_refused(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let path = format!("{PATH}/{}", ana.save_payee("Luis", PAYEE_CLABE).await);
    for (change, field, code) in [
        (json!({"accountNumber": CLABE}), "accountNumber", "not-editable"),
        (json!({"accountNumber": PAYEE_CLABE, "alias": "Lu"}), "accountNumber", "not-editable"),
        (json!({"bankName": "Banorte"}), "bankName", "not-editable"),
        (json!({"name": " "}), "name", "blank"),
        (json!({"name": ""}), "name", "blank"),
        (json!({"name": "Luis\u{202e}zereP"}), "name", "invalid-characters"),
        (json!({"name": "x".repeat(201)}), "name", "too-long"),
        (json!({"name": 7}), "name", "wrong-type"),
        (json!({"alias": "x".repeat(101)}), "alias", "too-long"),
        (json!({"alias": "a\u{0}"}), "alias", "invalid-characters"),
        (json!({"isFavorite": "yes"}), "isFavorite", "wrong-type"),
    ] {
        refused(&app, ana.patch(&path, change.clone()), 400, "validation-failed", Some(field)).await;
        assert_eq!(ana.patch(&path, change).await.json()["errors"][0]["code"], code);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_payee_is_changed_by_its_user_only(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let path = format!("{PATH}/{}", ana.save_payee("Luis", PAYEE_CLABE).await);
    let change = json!({"name": "Eva"});
    refused(&app, app.user("luis").patch(&path, change.clone()), 404, "not-found", None).await;
    refused(&app, app.anon().patch(&path, change.clone()), 401, "unauthorized", None).await;
    for id in ["00000000-0000-0000-0000-000000000000", "x"] {
        refused(&app, ana.patch(&format!("{PATH}/{id}"), change.clone()), 404, "not-found", None).await;
    }
    ana.delete(&path).await.assert_status(204);
    refused(&app, ana.patch(&path, change), 404, "not-found", None).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_waiting_period_and_past_transfers_stay(db: PgPool) {
    let options = Options { cooling_seconds: 1_800, ..Options::default() };
    let app = TestApp::with(db, options).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    app.clock.advance(Duration::minutes(29));
    ana.patch(&format!("{PATH}/{to}"), json!({"name": "Eva"})).await.assert_status(200);
    refused(&app, ana.transfer(&from, &to, "1"), 400, "beneficiary-cooling", Some("toBeneficiaryId")).await;
    app.clock.advance(Duration::minutes(2));
    ana.transfer(&from, &to, "1").await.assert_status(200);
    ana.patch(&format!("{PATH}/{to}"), json!({"name": "Luis"})).await.assert_status(200);
    let transfers = ana.get("/api/ledger/transactions").await.json();
    assert_eq!(transfers[0]["beneficiaryName"], "Eva");
    let context = format!("/api/ledger/risk-context?fromAccountId={from}&toBeneficiaryId={to}&amount=1");
    let known = ana.get(&context).await.assert_status(200).json();
    assert_eq!(known["request"]["num_transactions_to_beneficiary"], 1, "history goes by number");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn every_change_is_recorded(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let ana = app.user("ana");
    let id = ana.save_payee("Luis", PAYEE_CLABE).await;
    let path = format!("{PATH}/{id}");
    for change in [json!({"alias": "Lu"}), json!({"alias": "Lu"}), json!({"name": "Eva"}), json!({"isFavorite": true})]
    {
        ana.patch(&path, change).await.assert_status(200);
    }
    let actions = "select string_agg(action, ' ' order by seq) from audit_record where subject = 'beneficiary'";
    assert_eq!(app.text(actions).await, "save edit rename edit");
    let complaints = async || {
        let proof = proof::prove(&mut db.acquire().await.unwrap(), &ledger_key()).await.unwrap();
        proof.records.complaints.len()
    };
    assert_eq!(complaints().await, 0);
    for tampered in ["name = 'Luis'", "alias = 'Lo'", "alias = null", "is_favorite = false"] {
        sqlx::query("create table kept as select * from beneficiary").execute(&db).await.unwrap();
        let change = sqlx::AssertSqlSafe(format!("update beneficiary set {tampered}"));
        sqlx::query(change).execute(&db).await.unwrap();
        assert_eq!(complaints().await, 1, "{tampered}");
        sqlx::query("delete from beneficiary").execute(&db).await.unwrap();
        sqlx::query("insert into beneficiary select * from kept").execute(&db).await.unwrap();
        sqlx::query("drop table kept").execute(&db).await.unwrap();
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn edits_at_once_change_their_own_fields(db: PgPool) {
    let (_app, ana) = TestApp::with_user(db).await;
    let path = format!("{PATH}/{}", ana.save_payee("Luis", PAYEE_CLABE).await);
    for round in 0..5 {
        let (name, alias) = (format!("Luis {round}"), format!("Lu {round}"));
        let (one, two, three) = tokio::join!(
            ana.patch(&path, json!({"name": name})),
            ana.patch(&path, json!({"alias": alias})),
            ana.patch(&path, json!({"isFavorite": round % 2 == 0})),
        );
        [one, two, three].iter().for_each(|it| {
            it.assert_status(200);
        });
        let payee = ana.get(PATH).await.json()[0].clone();
        let want = (json!(name), json!(alias), json!(round % 2 == 0));
        assert_eq!((payee["name"].clone(), payee["alias"].clone(), payee["isFavorite"].clone()), want);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn favourites_come_first_on_every_page(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    for number in 0..7 {
        let id = ana.save_payee(&format!("payee {number}"), PAYEE_CLABE).await;
        app.clock.advance(Duration::MILLISECOND);
        if number % 3 == 1 {
            ana.patch(&format!("{PATH}/{id}"), json!({"isFavorite": true})).await.assert_status(200);
        }
    }
    let names = |list: &Value| {
        let names = list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()[6..].to_owned());
        names.collect::<Vec<_>>()
    };
    let want = ["1", "4", "0", "2", "3", "5", "6"];
    assert_eq!(names(&ana.get(PATH).await.json()), want);
    for limit in 1..=7 {
        let (mut path, mut listed) = (format!("{PATH}?limit={limit}"), Vec::new());
        loop {
            let page = ana.get(&path).await;
            listed.extend(names(&page.assert_status(200).json()));
            let Some(link) = page.header("link") else { break };
            path = link.split(['<', '>']).nth(1).unwrap().to_owned();
        }
        assert_eq!(listed, want, "{limit} to a page");
    }
    // Of another list, and past the favourites.
    refused(
        &app,
        ana.get(&format!("{PATH}?limit=1&cursor=t0_{}", uuid::Uuid::nil())),
        400,
        "validation-failed",
        Some("cursor"),
    )
    .await;
    let old = ana.get(&format!("{PATH}?limit=9&cursor=b0_{}", uuid::Uuid::nil())).await;
    assert_eq!(names(&old.assert_status(200).json()), want[2..]);
}
