//! `/api/ledger/payee-checks`

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{CLABE, Client, Options, PAYEE_CLABE, TestApp, refused};

const PATH: &str = "/api/ledger/payee-checks";

/// A documented number of the sandbox's other banks.
const ROSA: &str = "723010123456789019";

/// More than one user may check at once.
const TOO_MANY: usize = 40;

async fn check(user: &Client, name: &str, number: &str) -> Value {
    user.post(PATH, json!({"name": name, "accountNumber": number})).await.assert_status(200).json()
}

/// Luis has an account whose number the bank issued, and a verified name.
async fn luis(app: &TestApp, name: Option<&str>) -> String {
    let (_, number) = app.user("luis").issued_account().await;
    if let Some(name) = name {
        app.write(&format!("update app_user set holder_name = '{name}' where owner = 'luis'")).await;
    }
    number
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_bank_knows_its_own_holders_and_names_none(db: PgPool) {
    let app = TestApp::new(db).await;
    let number = luis(&app, Some("Luis Alberto Pérez Gómez")).await;
    let ana = app.user("ana");
    let rows = app.rows().await;
    for (name, want) in [
        ("Luis Pérez", json!({"result": "match"})),
        ("LUIS ALBERTO PEREZ GOMEZ", json!({"result": "match"})),
        ("Luis Péres", json!({"result": "close-match", "initials": "L. A. P. G."})),
        ("Luis", json!({"result": "close-match"})),
        ("Cuenta Segura", json!({"result": "no-match"})),
    ] {
        assert_eq!(check(&ana, name, &number).await, want, "{name}");
    }
    // However the number is written.
    let spelled = format!("{}-{} {}", &number[..3], &number[3..6], &number[6..]);
    assert_eq!(check(&ana, "Luis Pérez", &spelled).await, json!({"result": "match"}));
    assert_eq!(app.rows().await, rows, "a check stores nothing");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn guessing_tells_nothing_of_numbers_and_holders(db: PgPool) {
    let app = TestApp::new(db).await;
    let number = luis(&app, Some("Luis Alberto Pérez Gómez")).await;
    let ana = app.user("ana");
    // A number of this bank without an account, and one that its user typed, look like a wrong name.
    let free = caudal::domain::clabe::SANDBOX_RANGE.first().to_string();
    app.user("eva").open_account(&free).await;
    app.write("update app_user set holder_name = 'Eva Ruiz' where owner = 'eva'").await;
    let wrong = check(&ana, "Pedro Páramo", &number).await;
    assert_eq!(wrong, json!({"result": "no-match"}));
    assert_eq!(check(&ana, "Eva Ruiz", &free).await, wrong);
    // Parts, letters and repetitions of a name get no further than initials.
    for name in ["L A P G", "Luis Luis", "a b c d e f g h i j k l m n o p q r s t u v w x y z", "%", "Luis' or 1=1 --"]
    {
        let found = check(&ana, name, &number).await.to_string();
        assert!(!found.contains("Alberto") && !found.contains("Pérez"), "{name}: {found}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn whom_nobody_vouches_for_is_unavailable(db: PgPool) {
    let app = TestApp::new(db).await;
    let number = luis(&app, None).await;
    let ana = app.user("ana");
    for number in [&number, PAYEE_CLABE, CLABE, ROSA, "5512345678", "4111111111111111", "ABC", "723010123456789010"] {
        assert_eq!(check(&ana, "Rosa Martínez Luna", number).await, json!({"result": "unavailable"}), "{number}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_sandbox_has_documented_holders_at_other_banks(db: PgPool) {
    let app = TestApp::with(db, Options { sandbox: true, ..Options::default() }).await;
    let ana = app.user("ana");
    for (name, number, want) in [
        ("Rosa Martínez", ROSA, json!({"result": "match"})),
        ("Rosa Martinez Lunna", ROSA, json!({"result": "close-match", "initials": "R. M. L."})),
        ("Cuenta Segura", ROSA, json!({"result": "no-match"})),
        ("Comercial del Norte", "738180793822290063", json!({"result": "match"})),
        ("Luis Pérez", PAYEE_CLABE, json!({"result": "unavailable"})),
    ] {
        assert_eq!(check(&ana, name, number).await, want, "{name}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_user_who_guesses_names_is_refused_alone(db: PgPool) {
    let app = TestApp::new(db).await;
    let number = luis(&app, Some("Luis Alberto Pérez Gómez")).await;
    let (ana, eva) = (app.user("ana"), app.user("eva"));
    let mut answered = 0;
    for guess in 0..TOO_MANY {
        let answer = ana.post(PATH, json!({"name": format!("Luis {guess}"), "accountNumber": number})).await;
        if answer.status == 200 {
            answered += 1;
            continue;
        }
        answer.assert_problem(429, "too-many-requests", None);
        assert_eq!(answer.header("retry-after"), Some("120"));
    }
    assert_eq!(answered, 20);
    assert_eq!(check(&eva, "Luis Pérez", &number).await, json!({"result": "match"}));
    // Everything else goes on.
    ana.save_payee("Luis", &number).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn invalid_checks_are_refused_and_use_nothing_up(db: PgPool) {
    let app = TestApp::new(db).await;
    let number = luis(&app, Some("Luis Pérez")).await;
    let ana = app.user("ana");
    for _ in 0..10 {
        for (body, field) in [
            (json!({"accountNumber": number}), "name"),
            (json!({"name": "", "accountNumber": number}), "name"),
            (json!({"name": "x".repeat(201), "accountNumber": number}), "name"),
            (json!({"name": "Luis", "accountNumber": 5}), "accountNumber"),
            (json!({"name": "Luis", "accountNumber": "--"}), "accountNumber"),
        ] {
            refused(&app, ana.post(PATH, body), 400, "validation-failed", Some(field)).await;
        }
    }
    assert_eq!(check(&ana, "Luis Pérez", &number).await, json!({"result": "match"}));
    refused(&app, ana.post_text(PATH, "{"), 400, "malformed-json", None).await;
    let body = json!({"name": "Luis", "accountNumber": number});
    refused(&app, app.anon().post(PATH, body), 401, "unauthorized", None).await;
}
