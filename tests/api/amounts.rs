//! Exact money: which amounts are valid, and that no centavo is lost or created.

use sqlx::PgPool;

use crate::harness::{Options, TestApp, refused};
use caudal::domain::money::Money;

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn amounts_have_their_exact_value(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    for (amount, sent, left) in [
        ("0.01", "0.01", "9999.99"),
        ("0.1", "0.10", "9999.89"),
        ("0.2", "0.20", "9999.69"),
        ("1.500", "1.50", "9998.19"),
        ("1e2", "100.00", "9898.19"),
        ("98.19", "98.19", "9800.00"),
        ("9.8E+3", "9800.00", "0.00"),
    ] {
        let answer = ana.transfer(&from, &to, amount).await;
        answer.assert_status(200);
        assert!(answer.text.contains(&format!("\"amount\":{sent},")), "{amount}: {}", answer.text);
        assert_eq!(ana.balance().await, left, "{amount}");
    }
    assert_eq!(app.sum_of_balances().await, 0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn invalid_amounts_are_refused_and_change_nothing(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    for amount in [
        "0.30000000000000004",
        "0.005",
        "1e-3",
        "\"5\"",
        "-1",
        "1e400",
        "0",
        "0.00",
        "-0.01",
        "1.001",
        "true",
        "[]",
        "{}",
        "90071992547409.92",
        "1e99999999999999999999",
    ] {
        refused(&app, ana.transfer(&from, &to, amount), 400, "invalid-amount", Some("amount")).await;
    }
    for amount in ["NaN", "Infinity", "01", "1.", ".5", "+1", "0x10", "1_000", ""] {
        refused(&app, ana.transfer(&from, &to, amount), 400, "malformed-json", None).await;
    }
    refused(&app, ana.transfer(&from, &to, "null"), 400, "validation-failed", Some("amount")).await;
    assert_eq!(ana.balance().await, "10000.00");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_amount_of_fifteen_digits_is_exact_or_not_covered(db: PgPool) {
    let opening_credit = Money::from_minor(123_456_789_012_345);
    let app = TestApp::with(db, Options { opening_credit, ..Options::default() }).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let too_much = ana.transfer(&from, &to, "1234567890123.46");
    refused(&app, too_much, 400, "insufficient-funds", Some("amount")).await;
    let answer = ana.transfer(&from, &to, "1234567890123.45").await;
    answer.assert_status(200);
    assert!(answer.text.contains("\"amount\":1234567890123.45,"), "{}", answer.text);
    assert_eq!(ana.balance().await, "0.00");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_largest_amount_is_valid_but_not_covered(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    refused(&app, ana.transfer(&from, &to, "90071992547409.91"), 400, "insufficient-funds", Some("amount")).await;
}
