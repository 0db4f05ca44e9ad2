//! `/api/ledger/beneficiaries`

use caudal::ledger::store::proof;
use serde_json::json;
use sqlx::PgPool;

use crate::harness::{CLABE, Options, PAYEE_CLABE, TestApp, ledger_key, refused};

const PATH: &str = "/api/ledger/beneficiaries";

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_saved_payee_is_returned_and_listed(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    assert_eq!(ana.get(PATH).await.assert_status(200).json(), json!([]));
    let body = json!({"name": "Luis Pérez", "alias": "Luis", "accountNumber": PAYEE_CLABE, "bankName": "BBVA México", "isFavorite": true});
    let saved = ana.post(PATH, body).await.assert_status(201).json();
    let want = json!({
        "id": saved["id"], "name": "Luis Pérez", "alias": "Luis", "accountNumber": PAYEE_CLABE, "bankName": "BBVA México",
        "isFavorite": false, "accountNumberType": "clabe", "derivedBank": "BBVA",
    });
    assert_eq!(saved, want);
    app.clock.advance(time::Duration::MILLISECOND);
    let plain = ana.post(PATH, json!({"name": "Eva", "alias": null, "accountNumber": "ABC", "bankName": "Otro"})).await;
    let plain = plain.assert_status(201).json();
    let want =
        json!({"id": plain["id"], "name": "Eva", "accountNumber": "ABC", "bankName": "Otro", "isFavorite": false});
    assert_eq!(plain, want);
    assert_eq!(ana.get(PATH).await.assert_status(200).json(), json!([saved, plain]));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn suspicious_numbers_get_warnings(db: PgPool) {
    let (_app, ana) = TestApp::with_user(db).await;
    for (number, bank, kind, warnings) in [
        ("012180004643051240", "BBVA", json!("clabe"), json!(["clabe-check-digit"])),
        (PAYEE_CLABE, "Banorte", json!("clabe"), json!(["bank-name-differs"])),
        ("0121 8000 4643 0512 49", "bbva", json!("clabe"), json!(null)),
        ("030180000012345672", "BanBajío", json!("clabe"), json!(null)),
        ("166180000012345672", "Banco del Bienestar", json!("clabe"), json!(null)),
        ("4111111111111111", "BBVA", json!("card"), json!(null)),
        ("55-1234-5678", "BBVA", json!("phone"), json!(null)),
    ] {
        let body = json!({"name": "Luis", "accountNumber": number, "bankName": bank});
        let saved = ana.post(PATH, body).await.assert_status(201).json();
        assert_eq!(saved["accountNumber"], number);
        assert_eq!((&saved["accountNumberType"], &saved["warnings"]), (&kind, &warnings), "{number}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_strict_bank_refuses_wrong_check_digits(db: PgPool) {
    let app = TestApp::with(db, Options { enforce_clabe: true, ..Options::default() }).await;
    let ana = app.user("ana");
    let body = |number: &str| json!({"name": "Luis", "accountNumber": number, "bankName": "BBVA"});
    refused(&app, ana.post(PATH, body("012180004643051240")), 400, "validation-failed", Some("accountNumber")).await;
    ana.post(PATH, body(PAYEE_CLABE)).await.assert_status(201);
    ana.post(PATH, body("5512345678")).await.assert_status(201);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn invalid_payees_are_refused_and_change_nothing(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let good = json!({"name": "Luis", "alias": "L", "accountNumber": PAYEE_CLABE, "bankName": "BBVA"});
    let without = |field: &str| {
        let mut body = good.clone();
        body.as_object_mut().unwrap().remove(field);
        body
    };
    let with = |field: &str, value: serde_json::Value| {
        let mut body = good.clone();
        body[field] = value;
        body
    };
    for field in ["name", "accountNumber", "bankName"] {
        refused(&app, ana.post(PATH, without(field)), 400, "validation-failed", Some(field)).await;
        for value in
            [json!(null), json!(5), json!(""), json!("  "), json!("a\u{0}b"), json!(["x"]), json!("x".repeat(201))]
        {
            refused(&app, ana.post(PATH, with(field, value)), 400, "validation-failed", Some(field)).await;
        }
    }
    for value in [json!(5), json!("a".repeat(101)), json!("\u{0}")] {
        refused(&app, ana.post(PATH, with("alias", value)), 400, "validation-failed", Some("alias")).await;
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_name_can_be_seen_and_reads_as_it_is_written(db: PgPool) {
    let (_app, ana) = TestApp::with_user(db).await;
    let body = |field: &str, text: &str| {
        let mut body = json!({"name": "Luis", "accountNumber": PAYEE_CLABE, "bankName": "BBVA", "alias": "Lu"});
        body[field] = json!(text);
        body
    };
    for field in ["name", "bankName", "accountNumber"] {
        for blank in ["\u{200b}", "\u{feff}", "\u{2800}", "\u{3164}", " \u{ad}\u{2060}", "\u{e0020}"] {
            let refused = ana.post(PATH, body(field, blank)).await;
            refused.assert_problem(400, "validation-failed", Some(field));
            assert_eq!(refused.json()["errors"][0]["code"], "blank", "{refused:?}");
        }
    }
    for field in ["name", "bankName", "alias", "accountNumber"] {
        for text in ["Luis\u{202e}zereP", "\u{1b}[31mLuis 1", "Lu\u{7}is 1", "\u{2066}Luis 1", "Luis\u{9b} 1"] {
            let refused = ana.post(PATH, body(field, text)).await;
            refused.assert_problem(400, "validation-failed", Some(field));
            assert_eq!(refused.json()["errors"][0]["code"], "invalid-characters", "{refused:?}");
        }
    }
    for name in ["O’Neil & Söhne", "محمد می\u{200c}خواهم", "👩\u{200d}💻", "Ñandú\tdel\nSur"] {
        ana.post(PATH, body("name", name)).await.assert_status(201);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn invisible_characters_do_not_hide_ones_own_account(db: PgPool) {
    let app = TestApp::new(db).await;
    let ana = app.user("ana");
    let from = ana.open_account(PAYEE_CLABE).await;
    let hidden = format!("{}\u{200b}{}", &PAYEE_CLABE[..6], &PAYEE_CLABE[6..]);
    let body = json!({"name": "Me", "accountNumber": hidden, "bankName": "BBVA"});
    refused(&app, ana.post(PATH, body), 400, "validation-failed", Some("accountNumber")).await;
    // One that was saved before they were refused.
    let to = ana.save_payee("Me", "1").await;
    app.write(&format!("update beneficiary set account_number = '{hidden}'")).await;
    let sent = ana.transfer(&from, &to, "1").await;
    sent.assert_problem(400, "same-account", Some("toBeneficiaryId"));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_payee_may_be_saved_twice(db: PgPool) {
    let (_app, ana) = TestApp::with_user(db).await;
    let (first, second) = (ana.save_payee("Luis", PAYEE_CLABE).await, ana.save_payee("Luis", PAYEE_CLABE).await);
    assert_ne!(first, second);
    assert_eq!(ana.get(PATH).await.json().as_array().unwrap().len(), 2);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn deleting_a_payee_keeps_its_transfers(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let from = ana.open_account(CLABE).await;
    let to = ana.save_payee("Luis Pérez", PAYEE_CLABE).await;
    ana.transfer(&from, &to, "10").await.assert_status(200);

    let path = format!("{PATH}/{to}");
    let deleted = ana.delete(&path).await;
    deleted.assert_status(204);
    assert_eq!(deleted.text, "");
    assert_eq!(ana.get(PATH).await.json(), json!([]));
    refused(&app, ana.delete(&path), 404, "not-found", None).await;
    refused(&app, ana.transfer(&from, &to, "10"), 400, "beneficiary-not-found", Some("toBeneficiaryId")).await;
    let history = ana.get("/api/ledger/transactions").await.json();
    assert_eq!((&history[0]["beneficiaryName"], &history[0]["toBeneficiaryId"]), (&json!("Luis Pérez"), &json!(to)));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn unknown_ids_are_not_found(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    ana.save_payee("Luis", PAYEE_CLABE).await;
    for id in ["00000000-0000-0000-0000-000000000000", "not-a-uuid", "%FF", "1", "{}"] {
        refused(&app, ana.delete(&format!("{PATH}/{}", id.replace(['{', '}'], "%7B"))), 404, "not-found", None).await;
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_payee_is_as_recorded_and_stays_deleted(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let ana = app.user("ana");
    let complaints = async || {
        let proof = proof::prove(&mut db.acquire().await.unwrap(), &ledger_key()).await.unwrap();
        proof.records.complaints
    };
    let body = json!({"name": "Luis", "accountNumber": PAYEE_CLABE, "bankName": "BBVA"});
    let id = ana.post(PATH, body).await.assert_status(201).json()["id"].as_str().unwrap().to_owned();
    assert_eq!(complaints().await, Vec::<String>::new());
    sqlx::query("create table kept as select * from beneficiary").execute(&db).await.unwrap();
    ana.delete(&format!("{PATH}/{id}")).await.assert_status(204);
    assert_eq!(complaints().await, Vec::<String>::new());
    // The record of it holds nothing that tells who it was.
    let records = "select string_agg(r::text, ' ') from audit_record r where subject = 'beneficiary'";
    let records: String = sqlx::query_scalar(records).fetch_one(&db).await.unwrap();
    assert!(!records.contains("Luis") && !records.contains(PAYEE_CLABE) && !records.contains("ana"), "{records}");
    sqlx::query("insert into beneficiary select * from kept").execute(&db).await.unwrap();
    assert_eq!(complaints().await, [format!("beneficiary {id}: exists although its deletion is recorded")]);
}
