//! An operating day compared with STP's list of it: what was missed is booked, and the rest waits for a person.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use caudal::app::ApprovalPolicy;
use caudal::domain::money::Money;
use caudal::domain::transfer::RailName;
use caudal::ledger::{ByHand, Command, LostPayee, Outcome, Recover, Refusal};
use caudal::rail::courier::CLAIM;
use serde_json::{Value, json};
use sqlx::PgPool;
use time::Date;
use time::macros::date;
use uuid::Uuid;

use crate::approvals::{approve, assert_sound};
use crate::harness::{Answer, Client, Options, PAYEE_CLABE, TestApp, refused};
use crate::incoming::order;
use crate::rails::StpAt;
use crate::stand_in::{INQUIRE, LIST, StandIn};
use crate::stp::{MONDAY, app, monday, status, wait};
use crate::stub::{Act, Request, Stub};

const SCOPE: Option<&str> = Some("ledger:operate");

/// A key that this bank's ledger derived.
const LOST: &str = "CAUD20261123ABCDEFGH0123456789";

/// Orders in the comparison of a whole day; a million in its long form.
const ORDERS: usize = 10_000;

/// Orders in a page of that day's list.
const PAGE: usize = 250;

/// The day before those tests begin, which is over.
const FRIDAY: &str = "20261120";

pub(crate) async fn compare(app: &TestApp, date: &str) -> Value {
    let ops = app.operator(SCOPE);
    let body = json!({"operatingDate": date});
    ops.post("/admin/reconciliations", body).await.assert_status(200);
    let start = Instant::now();
    loop {
        let report = ops.get(&format!("/admin/reconciliations?operatingDate={date}")).await.assert_status(200).json();
        if report["due"] == false {
            return report;
        }
        assert!(start.elapsed() < Duration::from_secs(600), "{report}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Matched, missing here, missing there, different, duplicated.
fn counts(report: &Value) -> [i64; 5] {
    ["matched", "missingHere", "missingThere", "different", "duplicated"].map(|name| report[name].as_i64().unwrap())
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_no_notice_reported_is_booked(db: PgPool) {
    let (stp, app, ana) = monday(db).await;
    let (from, number) = ana.issued_account().await;
    let to = ana.save_payee("Luis", PAYEE_CLABE).await;
    ana.transfer(&from, &to, "30").await.assert_status(200);
    wait("STP has the order", async || stp.orders().len() == 1).await;
    stp.set_state("LQ", Value::Null);
    stp.receive(order("BBVA0001", &number));
    stp.receive(order("BBVA0002", "646180110499999990"));
    let report = compare(&app, "2026-11-23").await;
    assert_eq!(counts(&report), [0, 2, 0, 1, 0], "{report}");
    let remedies: Vec<_> = report["differences"].as_array().unwrap().iter().map(|it| &it["remedy"]).collect();
    assert_eq!(remedies, [&json!("inquiry"); 3]);
    wait("it settles", async || status(&ana).await == "completed").await;
    wait("one is credited", async || ana.balance().await == "10070.00").await;
    let report = compare(&app, "2026-11-23").await;
    assert_eq!(counts(&report), [3, 0, 0, 0, 0], "{report}");
    assert_eq!(app.operator(SCOPE).get("/admin/cases").await.json(), json!({"cases": []}));
    assert_sound(&app).await;
    app.assert_sound().await;
}

async fn book(ops: &Client, case: &Value) -> Answer {
    ops.post(&format!("/admin/cases/{}/book", case["id"].as_str().unwrap()), json!({"reason": "case 4711"})).await
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_forgotten_payment_is_booked_once_by_two_operators(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    let policy = ApprovalPolicy { lifetime: Duration::from_secs(3_600), limit: Money::from_minor(100_000) };
    let options = Options { approvals: Some(policy), stp: Some((&stp).into()), ..Options::default() };
    let app = TestApp::with(db, options).await;
    let (ana, ops, eva) = (app.user("ana"), app.operator(SCOPE), app.operator_named("eva", "ledger:operate"));
    let (account, number) = ana.issued_account().await;
    stp.keep(LOST, "100.00", &number, "LQ");
    let report = compare(&app, "2026-11-23").await;
    assert_eq!(counts(&report), [0, 1, 0, 0, 0], "{report}");
    let cases = ops.get("/admin/cases").await.assert_status(200).json();
    let case = &cases["cases"][0];
    assert_eq!((&case["operatingDate"], &case["difference"]), (&json!("2026-11-23"), &report["differences"][0]));
    let proposed = book(&ops, case).await.assert_status(202).json();
    assert_eq!(
        (&proposed["action"]["accountId"], &proposed["action"]["payment"]["amount"]),
        (&json!(account), &json!("100.00"))
    );
    assert_eq!(ana.balance().await, "10000.00");
    // STP changes its mind before it is approved.
    stp.set_state("A", Value::Null);
    refused(&app, approve(&ops, &proposed), 403, "second-person-required", None).await;
    approve(&eva, &proposed).await.assert_problem(409, "not-bookable", None);
    stp.set_state("LQ", Value::Null);
    let done = approve(&eva, &proposed).await.assert_status(200).json();
    assert_eq!(ana.balance().await, "9900.00");
    let list = ana.get("/api/ledger/transactions").await.json();
    assert_eq!(
        (&list[0]["id"], &list[0]["speiReference"], &list[0]["status"]),
        (&done["transactionId"], &json!(LOST), &json!("completed"))
    );
    let by = "select actor from transfer_event where note = 'case 4711'";
    assert_eq!(app.text(by).await, "ops, approved by eva");
    // A return that STP reports later is followed up on the day of the payment.
    stp.set_state("D", json!(16));
    crate::stp::notify(&app, LOST, "D").await;
    wait("it returns", async || ana.balance().await == "10000.00").await;
    let report = compare(&app, "2026-11-23").await;
    assert_eq!(counts(&report), [1, 0, 0, 0, 0], "{report}");
    assert_sound(&app).await;
    app.assert_sound().await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_cannot_be_booked_stays_a_case_until_a_person_closes_it(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    let app = app(db, &stp).await;
    let (ana, ops) = (app.user("ana"), app.operator(SCOPE));
    let (_, number) = ana.issued_account().await;
    for (key, amount, sender) in [
        ("CAUD20261123ABCDEFGH0123456780", "10000.01", &*number),
        ("CAUD20261123ABCDEFGH0123456781", "1.00", "646180110499999990"),
        ("OTHER1", "1.00", &*number),
    ] {
        stp.keep(key, amount, sender, "LQ");
    }
    assert_eq!(counts(&compare(&app, "2026-11-23").await), [0, 3, 0, 0, 0]);
    let cases = ops.get("/admin/cases").await.json()["cases"].as_array().unwrap().clone();
    assert_eq!(cases.len(), 3);
    for case in &cases {
        refused(&app, book(&ops, case), 409, "not-bookable", None).await;
        refused(&app, book(&app.operator(Some("models:admin")), case), 403, "insufficient-scope", None).await;
    }
    // Found again, they are the same cases; what is gone is closed, and what a person closed stays closed.
    let close = format!("/admin/cases/{}/close", cases[0]["id"].as_str().unwrap());
    ops.post(&close, json!({"reason": "settled by letter"})).await.assert_status(200);
    compare(&app, "2026-11-23").await;
    assert_eq!(ops.get("/admin/cases").await.json()["cases"].as_array().unwrap()[..], cases[1..]);
    refused(&app, book(&ops, &cases[0]), 409, "not-bookable", None).await;
    stp.set_state("CN", Value::Null);
    let report = compare(&app, "2026-11-23").await;
    assert!(report["differences"].as_array().unwrap().iter().all(|it| it["remedy"] == "none"), "{report}");
    assert_eq!(ops.get("/admin/cases").await.json(), json!({"cases": []}));
    // What closed by itself is open again with its difference.
    stp.set_state("LQ", Value::Null);
    compare(&app, "2026-11-23").await;
    assert_eq!(ops.get("/admin/cases").await.json()["cases"].as_array().unwrap()[..], cases[1..]);
    stp.set_state("CN", Value::Null);
    compare(&app, "2026-11-23").await;
    // Somebody who writes to the database decides on nothing.
    sqlx::query("update payment_case set closed_at = null, closed_by = null, note = null")
        .execute(&app.db)
        .await
        .unwrap();
    book(&ops, &cases[1]).await.assert_problem(404, "not-found", None);
    assert_eq!(ana.balance().await, "10000.00");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_payment_is_not_booked_on_another_customers_account_or_under_a_key_in_use(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    let app = app(db, &stp).await;
    let (ana, luis, ops) = (app.user("ana"), app.user("luis"), app.operator(SCOPE));
    let (account, number) = ana.issued_account().await;
    let (others, _) = luis.issued_account().await;
    stp.keep(LOST, "100.00", &number, "LQ");
    compare(&app, "2026-11-23").await;
    let case = ops.get("/admin/cases").await.json()["cases"][0].clone();
    let path = format!("/admin/cases/{}/book", case["id"].as_str().unwrap());
    let wrong = json!({"reason": "case 4711", "accountId": others});
    refused(&app, ops.post(&path, wrong), 409, "not-bookable", None).await;

    let to = ana.save_payee("Luis", PAYEE_CLABE).await;
    let sent = ana.transfer(&account, &to, "30").await.assert_status(200).json();
    let lost = Recover {
        transfer_id: Uuid::from_u128(41),
        account_id: account.parse().unwrap(),
        tracking_key: sent["speiReference"].as_str().unwrap().to_owned(),
        amount: Money::from_minor(100),
        rail: RailName::Stp,
        payee: LostPayee {
            beneficiary_id: Uuid::nil(),
            name: String::new(),
            bank: String::new(),
            number: String::new(),
        },
        by_hand: ByHand { actor: "ops".to_owned(), note: "case 4711".to_owned() },
    };
    // Beside a transfer, which must not fail with it.
    let (outcome, next) = tokio::join!(app.core.submit(Command::Recover(lost)), ana.transfer(&account, &to, "31"));
    assert!(matches!(outcome, Ok(Outcome::Refused(Refusal::KeyReused))), "{outcome:?}");
    next.assert_status(200);
    app.assert_sound().await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn days_without_a_host_are_compared_later(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    let first = app(db.clone(), &stp).await;
    first.stop_courier();
    let host = app(db, &stp).await;
    host.clock.advance(time::Duration::days(5));
    // The ledger began on the operating date before these.
    let want = [date!(2026 - 11 - 24), date!(2026 - 11 - 25)];
    crate::stp::wait("they are requested", async || {
        let days = "select operating_date from reconciliation where requested_by is null order by 1";
        sqlx::query_scalar::<_, Date>(days).fetch_all(&host.db).await.unwrap() == want
    })
    .await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn only_ledger_operators_reconcile_and_a_bad_date_changes_nothing(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    let app = app(db, &stp).await;
    let path = "/admin/reconciliations";
    refused(&app, app.ai().post(path, json!({})), 401, "unauthorized", None).await;
    refused(&app, app.operator(None).post(path, json!({})), 403, "insufficient-scope", None).await;
    let bad = json!({"operatingDate": "2026-02-30"});
    refused(&app, app.operator(SCOPE).post(path, bad), 422, "validation-failed", Some("operatingDate")).await;
    let report = app.operator(SCOPE).get(path).await.assert_status(200).json();
    assert_eq!((&report["operatingDate"], report.get("madeAt")), (&json!("2026-11-20"), None));
}

/// What is wrong with an order of the whole day.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Planted {
    Nothing,
    MissingHere,
    MissingThere,
    Amount,
    Status,
    Duplicated,
}

/// One of the orders of a direction: fifty of them are wrong, ten in each way.
fn planted(number: usize, of: usize) -> Planted {
    use Planted::{Amount, Duplicated, MissingHere, MissingThere, Nothing, Status};
    let every = of / 50;
    if number % every != every / 2 {
        return Nothing;
    }
    [MissingHere, MissingThere, Amount, Status, Duplicated][number / every % 5]
}

fn key_of(is_sent: bool, number: usize) -> String {
    if is_sent { format!("CAUD{FRIDAY}{number:018}") } else { format!("BBVA{number:010}") }
}

/// An order as STP has it.
fn listed(is_sent: bool, number: usize, planted: Planted) -> String {
    let amount = 1 + number % 1_000 + usize::from(planted == Planted::Amount);
    let state = match planted {
        Planted::Status if is_sent => "CN",
        Planted::Status => "RE",
        _ => "LQ",
    };
    format!(
        r#"{{"claveRastreo":"{}","estado":"{state}","empresa":"CAUDAL","fechaOperacion":{FRIDAY},
        "institucionContraparte":40012,"monto":{amount}.00,"cuentaOrdenante":"646180110400000007",
        "cuentaBeneficiario":"{PAYEE_CLABE}","causaDevolucion":null}}"#,
        key_of(is_sent, number)
    )
}

/// STP with a list of a whole day, which it makes up page by page.
fn answer(request: &Request, of: usize) -> Act {
    let body = &request.body;
    let is_sent = body["tipoOrden"] == "E";
    match request.target.as_str() {
        LIST => {
            let first = usize::try_from(body["page"].as_u64().unwrap()).unwrap() * PAGE;
            let numbers = (first..of.min(first + PAGE)).map(|number| (number, planted(number, of)));
            let lines =
                numbers.filter(|(_, planted)| *planted != Planted::MissingThere).flat_map(|(number, planted)| {
                    let times = if planted == Planted::Duplicated { 2 } else { 1 };
                    std::iter::repeat_n(listed(is_sent, number, planted), times)
                });
            let lines: Vec<_> = lines.collect();
            Act::Reply(200, format!(r#"{{"estado":0,"mensaje":"bien","datos":[{}]}}"#, lines.join(",")))
        }
        INQUIRE => {
            let number = body["claveRastreo"].as_str().unwrap().trim_start_matches("BBVA").parse().unwrap();
            let order = listed(is_sent, number, Planted::Nothing);
            Act::Reply(200, format!(r#"{{"estado":0,"mensaje":"bien","respuesta":{order}}}"#))
        }
        _ => Act::Reply(200, json!({"resultado": {"id": 7}}).to_string()),
    }
}

/// Fills the ledger with the orders of a day, as far as they are not missing.
async fn fill(app: &TestApp, of: usize) {
    let has = |number: &usize| planted(*number, of) != Planted::MissingHere;
    let numbers: Vec<i64> = (0..of).filter(has).map(|number| i64::try_from(number).unwrap()).collect();
    let sent = "insert into transfer (transfer_id, kind, owner, debit_account_id, credit_account_id, amount, status,
            beneficiary_id, beneficiary_name, beneficiary_bank, beneficiary_account_number, payee_key, spei_reference, rail,
            chain_id, seq, created_at)
        select gen_random_uuid(), 'spei', 'ana', gen_random_uuid(), gen_random_uuid(), 100 * (1 + n % 1000), 'completed',
            gen_random_uuid(), 'Luis', 'BBVA', $2, $2, 'CAUD' || $3 || lpad(n::text, 18, '0'), 'stp', gen_random_uuid(), 0,
            '2026-11-20'
        from unnest($1::bigint[]) as n";
    sqlx::query(sent).bind(&numbers).bind(PAYEE_CLABE).bind(FRIDAY).execute(&app.db).await.unwrap();
    let orders = "insert into rail_order (transfer_id, rail, operating_date)
        select transfer_id, 'stp', '2026-11-20' from transfer where kind = 'spei'";
    sqlx::query(orders).execute(&app.db).await.unwrap();
    let received = "insert into transfer (transfer_id, kind, owner, debit_account_id, credit_account_id, amount, status,
            beneficiary_account_number, spei_reference, rail, payer_institution, operating_date, chain_id, seq, created_at)
        select encode(set_byte(set_byte(b, 6, get_byte(b, 6) & 15 | 128), 8, get_byte(b, 8) & 63 | 128), 'hex')::uuid,
            'received', 'ana', gen_random_uuid(), gen_random_uuid(), 100 * (1 + n % 1000), 'completed', $2, key, 'stp', 40012,
            '2026-11-20', gen_random_uuid(), 0, '2026-11-20'
        from unnest($1::bigint[]) as n cross join lateral (select 'BBVA' || lpad(n::text, 10, '0') as key) as k
        cross join lateral (
            select substr(sha256(convert_to('caudal incoming 1|' || key || '|2026-11-20|40012', 'UTF8')), 1, 16) as b
        ) as h";
    sqlx::query(received).bind(&numbers).bind(PAYEE_CLABE).execute(&app.db).await.unwrap();
    sqlx::query("analyze").execute(&app.db).await.unwrap();
}

/// The largest memory of this process since it was last reset, in MB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1_024
}

/// `CAUDAL_RECONCILED=1000000` compares a million orders.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
#[expect(clippy::print_stdout, reason = "prints figures for the reader")]
async fn a_hundred_planted_differences_are_found_and_nothing_else(db: PgPool) {
    let orders = std::env::var("CAUDAL_RECONCILED").map_or(ORDERS, |text| text.parse().unwrap());
    let of = orders / 2;
    let stub = Stub::start(move |request| answer(request, of)).await;
    let stp = StpAt { url: stub.url.clone(), claim: CLAIM };
    let app = TestApp::with(db, Options { stp: Some(stp), ..Options::default() }).await;
    fill(&app, of).await;
    // Resets the peak.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let (before, start) = (peak(), Instant::now());
    let report = compare(&app, "2026-11-20").await;
    println!(
        "{orders} orders were compared in {:.1} s; memory grew from {before} MB to {} MB at most",
        start.elapsed().as_secs_f64(),
        peak()
    );
    let expected: BTreeSet<_> = (0..2 * of)
        .map(|it| (it < of, it % of, planted(it % of, of)))
        .filter(|(.., planted)| *planted != Planted::Nothing)
        .map(|(is_sent, number, planted)| {
            let finding = match planted {
                Planted::MissingHere => "missing-here",
                Planted::MissingThere => "missing-there",
                Planted::Duplicated => "duplicated",
                _ => "different",
            };
            (finding.to_owned(), key_of(is_sent, number))
        })
        .collect();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let found: BTreeSet<_> = report["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (text(&it["finding"]), text(&it["trackingKey"])))
        .collect();
    assert_eq!((expected.len(), &found), (100, &expected));
    // A duplicated order matches once.
    let matched = i64::try_from(orders - 80).unwrap();
    assert_eq!(counts(&report), [matched, 20, 20, 40, 20], "{report}");
}
