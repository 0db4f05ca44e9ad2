//! Transfers between two customers of this bank: credited at once, and only under numbers that it issued.

use caudal::domain::clabe::SANDBOX_RANGE;
use caudal::domain::risk::Enforcement;
use caudal::ledger::batch::Terms;
use caudal::rail::simulated::Behaviour;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::events::Listener;
use crate::harness::{CLABE, Client, Options, TestApp, refused};

/// A host on which payments through SPEI stay pending.
async fn app(db: PgPool, on_us: bool) -> TestApp {
    let delay = std::time::Duration::from_secs(3_600);
    let slow = Behaviour { delay, rejected: 0, returned: 0, twice: 0, late: 0, silent: 0, disordered: 0, answered: 0 };
    let terms = Terms { on_us: on_us.then_some(SANDBOX_RANGE), ..Terms::OPEN };
    TestApp::with(db, Options { rail: Some(slow), terms, ..Options::default() }).await
}

/// Waits until the courier has handed over what is pending: then nothing changes by itself.
async fn handed_over(app: &TestApp) {
    loop {
        let before = app.rows().await;
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        if app.count("select count(*) from rail_order").await > 0 && app.rows().await == before {
            return;
        }
    }
}

async fn newest_entry(user: &Client, account: &str) -> Value {
    user.get(&format!("/api/ledger/accounts/{account}/entries?limit=1")).await.assert_status(200).json()[0].clone()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_receiver_is_credited_at_once_and_learns_who_paid_and_not_their_own_nickname(db: PgPool) {
    let app = app(db, true).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let ((from, own), (theirs, number)) = (ana.issued_account().await, luis.issued_account().await);
    app.operator(Some("ledger:operate"))
        .put("/admin/users/ana/holder", json!({"name": "Ana López"}))
        .await
        .assert_status(200);
    // However the payee's number is written.
    let spelled = format!("{}-{} {}", &number[..3], &number[3..6], &number[6..]);
    let to = ana.save_payee("Mi casero gruñón", &spelled).await;
    let mut events = Listener::new(&luis, "").await;
    let sent = ana.transfer(&from, &to, "100").await.assert_status(200).json();
    assert_eq!(sent["status"], "completed");
    assert_eq!((ana.balance().await, luis.balance().await), ("9900.00".to_owned(), "10100.00".to_owned()));

    let (_, told) = events.next().await.unwrap();
    assert_eq!(
        (&told[0]["type"], &told[0]["accountId"], told[0].get("beneficiaryName")),
        (&json!("deposit"), &json!(theirs), None)
    );
    let received = newest_entry(&luis, &theirs).await;
    let want = json!({
        "number": 2, "createdAt": "2026-11-21T18:00:00.000Z", "type": "deposit", "amount": 100.0, "balance": 10_100.0,
        "speiReference": sent["speiReference"], "payerName": "Ana López", "payerAccountNumber": own,
    });
    assert_eq!(received, want);
    let left = newest_entry(&ana, &from).await;
    assert_eq!((&left["type"], &left["amount"]), (&json!("transfer"), &json!(-100.0)));
    assert_eq!((&left["transactionId"], &left["beneficiaryName"]), (&sent["id"], &json!("Mi casero gruñón")));
    for (user, transfers) in [(&ana, json!([sent])), (&luis, json!([]))] {
        assert_eq!(user.get("/api/ledger/transactions").await.json(), transfers);
    }
    let at = luis.get(&format!("/api/ledger/accounts/{theirs}/balance")).await.json();
    assert_eq!(at["balance"], 10_100.0);
    assert_eq!(app.count("select count(*) from rail_payment").await, 0);
    assert_eq!(app.count("select count(*) from transfer where rail = 'on-us'").await, 1);
    assert_eq!(app.sum_of_balances().await, 0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn between_own_accounts_nobody_needs_a_payee(db: PgPool) {
    let terms = Terms { on_us: Some(SANDBOX_RANGE), cooling_seconds: 3_600, ..Terms::OPEN };
    let app = TestApp::with(db, Options { terms, risk_enforcement: Enforcement::Enforce, ..Options::default() }).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let ((from, _), (to, number), (theirs, _)) =
        (ana.issued_account().await, ana.issued_account().await, luis.issued_account().await);
    let sent = ana.transfer(&from, &to, "100").await.assert_status(200).json();
    assert_eq!(
        (&sent["status"], &sent["toBeneficiaryId"], &sent["beneficiaryAccountNumber"]),
        (&json!("completed"), &json!(to), &json!(number))
    );
    assert_eq!(newest_entry(&ana, &to).await["balance"], 10_100.0);
    // It says nothing of how they pay others.
    let payee = ana.save_payee("Luis", "012180004643051249").await;
    let path = format!("/api/ledger/risk-context?fromAccountId={from}&toBeneficiaryId={payee}&amount=1");
    let request = &ana.get(&path).await.assert_status(200).json()["request"];
    assert_eq!(
        (&request["num_past_transactions"], &request["avg_transaction_amount"], &request["max_transaction_amount"]),
        (&json!(0), &json!(0.0), &json!(0.0))
    );
    // To itself, to one that the user typed, and to another customer's.
    refused(&app, ana.transfer(&from, &from, "1"), 400, "same-account", Some("toBeneficiaryId")).await;
    let typed = ana.open_account(CLABE).await;
    for other in [typed, theirs] {
        refused(&app, ana.transfer(&from, &other, "1"), 400, "beneficiary-not-found", Some("toBeneficiaryId")).await;
    }
    app.assert_sound().await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn it_counts_as_history_with_the_payee(db: PgPool) {
    let app = app(db, true).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let ((from, _), (_, number)) = (ana.issued_account().await, luis.issued_account().await);
    let to = ana.save_payee("Luis", &number).await;
    ana.transfer(&from, &to, "100").await.assert_status(200);
    let path = format!("/api/ledger/risk-context?fromAccountId={from}&toBeneficiaryId={to}&amount=1");
    let request = &ana.get(&path).await.assert_status(200).json()["request"];
    assert_eq!(
        (&request["num_transactions_to_beneficiary"], &request["num_past_transactions"]),
        (&json!(1), &json!(1))
    );
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_typed_number_never_attracts_money(db: PgPool) {
    let app = app(db, true).await;
    let (ana, luis, eva) = (app.user("ana"), app.user("luis"), app.user("eva"));
    let ((from, _), (_, number)) = (ana.issued_account().await, luis.issued_account().await);
    // Eva claims the number that the bank issued to Luis, and one that nobody has.
    let free = SANDBOX_RANGE.first().to_string();
    assert_ne!(free, number);
    eva.open_account(&number).await;
    let claimed = eva.open_account(&free).await;
    eva.open_account(CLABE).await;
    let to = ana.save_payee("Luis", &number).await;
    ana.transfer(&from, &to, "100").await.assert_status(200);
    assert_eq!(luis.balance().await, "10100.00");
    let to = ana.save_payee("Eva", CLABE).await;
    assert_eq!(ana.transfer(&from, &to, "1").await.assert_status(200).json()["status"], "pending");
    handed_over(&app).await;
    // No rail would carry it to this bank.
    let to = ana.save_payee("Eva", &free).await;
    refused(&app, ana.transfer(&from, &to, "1"), 400, "unknown-account", Some("toBeneficiaryId")).await;
    let path = format!("/api/ledger/accounts/{claimed}");
    assert_eq!(eva.get(&path).await.json()["balance"], 10_000.0);
    let theirs = "select count(*) from account_balance join account using (account_id) where owner = 'eva' and posted <> 1000000";
    assert_eq!(app.count(theirs).await, 0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn unless_it_is_on_a_customer_is_paid_through_spei(db: PgPool) {
    let app = app(db, false).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let ((from, _), (theirs, number)) = (ana.issued_account().await, luis.issued_account().await);
    let to = ana.save_payee("Luis", &number).await;
    assert_eq!(ana.transfer(&from, &to, "100").await.assert_status(200).json()["status"], "pending");
    assert_eq!(luis.balance().await, "10000.00");
    assert_eq!(newest_entry(&luis, &theirs).await["type"], "opening");
    assert_eq!(app.count("select count(*) from rail_payment").await, 1);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_account_cannot_pay_itself_but_its_owner_can_pay_another(db: PgPool) {
    let app = app(db, true).await;
    let ana = app.user("ana");
    let ((from, number), (other, other_number)) = (ana.issued_account().await, ana.issued_account().await);
    let itself = ana.save_payee("Ana", &number).await;
    refused(&app, ana.transfer(&from, &itself, "1"), 400, "same-account", Some("toBeneficiaryId")).await;
    let savings = ana.save_payee("Savings", &other_number).await;
    let sent = ana.transfer(&from, &savings, "1").await.assert_status(200).json();
    let received = newest_entry(&ana, &other).await;
    assert_eq!((&received["type"], &received["amount"]), (&json!("deposit"), &json!(1.0)));
    assert_eq!(newest_entry(&ana, &from).await["transactionId"], sent["id"]);
    assert_eq!(app.sum_of_balances().await, 0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_frozen_account_receives_money_and_holds_are_captured_on_us(db: PgPool) {
    let app = app(db, true).await;
    let (ana, luis, ops) = (app.user("ana"), app.user("luis"), app.operator(Some("ledger:operate")));
    let ((from, _), (theirs, number)) = (ana.issued_account().await, luis.issued_account().await);
    let to = ana.save_payee("Luis", &number).await;
    let freeze = ops.post(&format!("/admin/accounts/{theirs}/freeze"), json!({"reason": "case 4711"})).await;
    freeze.assert_status(200);
    ana.transfer(&from, &to, "100").await.assert_status(200);
    let order = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 10});
    let hold = ana.post("/api/ledger/holds", order).await.assert_status(201).id();
    let captured = ana.post(&format!("/api/ledger/holds/{hold}/capture"), json!({})).await;
    assert_eq!(captured.assert_status(200).json()["status"], "completed");
    assert_eq!(luis.balance().await, "10110.00");
    let back = luis.save_payee("Ana", CLABE).await;
    refused(&app, luis.transfer(&theirs, &back, "1"), 403, "account-frozen", None).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn customers_who_pay_each_other_at_once_lose_nothing(db: PgPool) {
    let app = app(db, true).await;
    let mut customers = Vec::new();
    for name in ["ana", "luis", "eva"] {
        let client = app.user(name);
        let (account, number) = client.issued_account().await;
        customers.push((client, account, number));
    }
    let mut sent = tokio::task::JoinSet::new();
    for (from, (client, account, _)) in customers.iter().enumerate() {
        for (to, (_, _, number)) in customers.iter().enumerate().filter(|(to, _)| *to != from) {
            let payee = client.save_payee("Friend", number).await;
            for _ in 0..20 {
                let (client, account, payee, amount) =
                    (client.clone(), account.clone(), payee.clone(), (to + 1).to_string());
                sent.spawn(async move { client.transfer(&account, &payee, &amount).await.status.as_u16() });
            }
        }
    }
    assert!(sent.join_all().await.iter().all(|status| *status == 200));
    // Each receives its number twice twenty times, and sends the others' once.
    for ((client, ..), balance) in customers.iter().zip(["9940.00", "10000.00", "10060.00"]) {
        assert_eq!(client.balance().await, balance);
    }
    assert_eq!(app.sum_of_balances().await, 0);
}

/// The money comes back from where it went, if it is still there.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_reversal_takes_the_money_from_the_payee(db: PgPool) {
    let app = app(db, true).await;
    let (ana, luis, ops) = (app.user("ana"), app.user("luis"), app.operator(Some("ledger:operate")));
    let ((from, _), (theirs, number)) = (ana.issued_account().await, luis.issued_account().await);
    let to = ana.save_payee("Mi casero gruñón", &number).await;
    let sent = ana.transfer(&from, &to, "100").await.assert_status(200).json();
    let path = format!("/admin/transactions/{}/reverse", sent["id"].as_str().unwrap());
    let reverse = async || ops.post(&path, json!({"reason": "a mistake"})).await;

    let elsewhere = luis.save_payee("Eva", crate::harness::PAYEE_CLABE).await;
    luis.transfer(&theirs, &elsewhere, "10050").await.assert_status(200);
    handed_over(&app).await;
    refused(&app, reverse(), 409, "not-covered", None).await;
    let fund = json!({"amount": 50, "reason": "a test", "transactionId": uuid::Uuid::now_v7()});
    ops.post(&format!("/admin/accounts/{theirs}/fund"), fund).await.assert_status(200);
    let freeze = format!("/admin/accounts/{theirs}");
    ops.post(&format!("{freeze}/freeze"), json!({"reason": "a test"})).await.assert_status(200);
    refused(&app, reverse(), 403, "account-frozen", None).await;
    ops.post(&format!("{freeze}/unfreeze"), json!({"reason": "a test"})).await.assert_status(200);

    assert_eq!(reverse().await.assert_status(200).json()["changed"], true);
    assert_eq!((ana.balance().await.as_str(), luis.balance().await.as_str()), ("10000.00", "0.00"));
    assert_eq!(reverse().await.assert_status(200).json()["changed"], false);
    let taken = newest_entry(&luis, &theirs).await;
    let want = json!({
        "number": 5, "createdAt": "2026-11-21T18:00:00.000Z", "type": "reversal", "amount": -100.0, "balance": 0.0,
        "speiReference": sent["speiReference"],
    });
    assert_eq!(taken, want);
    let back = newest_entry(&ana, &from).await;
    assert_eq!(
        (&back["type"], &back["amount"], &back["transactionId"]),
        (&json!("return"), &json!(100.0), &sent["id"])
    );
    app.assert_sound().await;
}
