//! Scheduled transfers when they are due: each is sent once, waits, or is recorded as not sent.

use caudal::domain::risk::Enforcement;
use serde_json::{Value, json};
use sqlx::PgPool;
use time::Duration;

use crate::approvals::assert_found;
use crate::harness::{CLABE, Options, PAYEE_CLABE, TestApp, refused};
use crate::schedules::{Ana, ana};

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn two_hosts_send_an_occurrence_once(db: PgPool) {
    let ana = ana(db, Options::default()).await;
    for _ in 0..20 {
        ana.plan(1.0, json!({})).await;
    }
    let other = TestApp::new(ana.app.db.clone()).await;
    ana.set_clock("2026-11-22T15:00:00Z");
    other.clock.advance(ana.app.clock.now() - other.clock.now());
    let (ours, theirs) = tokio::join!(ana.app.scheduler.send_due(), other.scheduler.send_due());
    ours.and(theirs).unwrap();
    assert_eq!((ana.transfers().await.len(), ana.client.balance().await), (20, "9980.00".to_owned()));
    assert_eq!(ana.app.count("select count(*) from occurrence where outcome = 'sent'").await, 20);
    // Nor if both believe that they have the same claim.
    let id = ana.plan(1.0, json!({"firstDate": "2026-11-23"})).await;
    ana.set_clock("2026-11-23T15:00:00Z");
    other.clock.advance(ana.app.clock.now() - other.clock.now() + Duration::minutes(2));
    let (ours, theirs) = tokio::join!(ana.app.scheduler.send_due(), other.scheduler.send_due());
    ours.and(theirs).unwrap();
    assert_eq!((ana.transfers().await.len(), ana.over(&id).await), (21, vec!["2026-11-23 sent".to_owned()]));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_crash_between_sending_and_recording_sends_nothing_twice(db: PgPool) {
    let ana = ana(db, Options::default()).await;
    let again = ana.plan(1.0, json!({})).await;
    let cancelled = ana.plan(2.0, json!({})).await;
    let late = ana.plan(4.0, json!({})).await;
    let crash = "alter table occurrence add constraint crash check (outcome <> 'sent') not valid";
    ana.execute(crash).await;
    ana.set_clock("2026-11-22T15:00:00Z");
    assert!(ana.app.scheduler.send_due().await.is_err());
    assert_eq!((ana.transfers().await.len(), ana.over(&again).await.len()), (3, 0), "sent, but not recorded");
    // What may have been sent cannot be cancelled until that is known.
    refused(&ana.app, ana.act(&again, "cancel", json!({})), 409, "schedule-under-way", None).await;
    ana.execute("alter table occurrence drop constraint crash").await;
    ana.at("2026-11-22T15:02:59Z").await;
    assert_eq!(ana.over(&again).await.len(), 0, "the claim is not over");
    ana.set_clock("2026-11-22T15:03:00Z");
    ana.act(&cancelled, "cancel", json!({})).await.assert_status(200);
    ana.execute(
        "update schedule set attempt_at = attempt_at + interval '30 minutes' where request @> '{\"amount\": 4}'",
    )
    .await;
    ana.at("2026-11-22T15:03:01Z").await;
    for id in [&again, &cancelled] {
        assert_eq!(ana.over(id).await, ["2026-11-22 sent"]);
    }
    assert_eq!(ana.get(&cancelled).await["status"], "cancelled");
    // Even when it would be too late to send it.
    ana.at("2026-11-29T15:00:00Z").await;
    assert_eq!(ana.over(&late).await, ["2026-11-22 sent"]);
    assert_eq!((ana.transfers().await.len(), ana.client.balance().await), (3, "9993.00".to_owned()));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_is_refused_is_recorded_with_its_problem(db: PgPool) {
    let ana = ana(db, Options::default()).await;
    let poor = ana.plan(10_000.01, json!({"recurrence": "weekly"})).await;
    let own = ana.client.save_payee("Ana", CLABE).await;
    let same = ana.plan(1.0, json!({"toBeneficiaryId": own})).await;
    ana.at("2026-11-22T15:00:00Z").await;
    assert_eq!(ana.over(&poor).await, ["2026-11-22 insufficient-funds"]);
    assert_eq!(ana.over(&same).await, ["2026-11-22 same-account"]);
    let shown = ana.get(&poor).await;
    assert_eq!((&shown["status"], &shown["nextDate"]), (&json!("active"), &json!("2026-11-29")));
    // That was final; the next one is decided on its own.
    ana.at("2026-11-22T20:00:00Z").await;
    assert_eq!(ana.transfers().await.len(), 0);
    ana.at("2026-11-29T15:00:00Z").await;
    assert_eq!(ana.over(&poor).await[0], "2026-11-29 insufficient-funds");
    assert!(ana.app.ai().get("/metrics").await.text.contains("scheduled_transfers_total{outcome=\"refused\"} 3"));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn deleting_a_payee_ends_their_schedules(db: PgPool) {
    let ana = ana(db, Options::default()).await;
    let other = ana.client.save_payee("Eva", PAYEE_CLABE).await;
    let (ended, stays) = (ana.plan(1.0, json!({})).await, ana.plan(1.0, json!({"toBeneficiaryId": other})).await);
    ana.client.delete(&format!("/api/ledger/beneficiaries/{}", ana.to)).await.assert_status(204);
    assert_eq!((&ana.get(&ended).await["status"], ana.get(&ended).await.get("nextDate")), (&json!("ended"), None));
    refused(&ana.app, ana.act(&ended, "cancel", json!({})), 409, "schedule-ended", None).await;
    // Without its host knowing.
    sqlx::query("delete from beneficiary where beneficiary_id = $1::uuid")
        .bind(&other)
        .execute(&ana.app.db)
        .await
        .unwrap();
    ana.at("2026-11-22T15:00:00Z").await;
    assert_eq!(
        (ana.over(&ended).await.len(), ana.over(&stays).await),
        (0, vec!["2026-11-22 beneficiary-not-found".to_owned()])
    );
    assert_eq!((&ana.get(&stays).await["status"], ana.transfers().await.len()), (&json!("ended"), 0));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_fails_for_a_while_is_sent_the_same_day(db: PgPool) {
    let ana = ana(db, Options { risk_enforcement: Enforcement::Enforce, ..Options::default() }).await;
    let (id, other) = (ana.plan(1.0, json!({})).await, ana.plan(2.0, json!({})).await);
    ana.execute("alter table decision add constraint full_disk check (false) not valid").await;
    ana.at("2026-11-22T15:00:00Z").await;
    ana.at("2026-11-22T15:01:59Z").await;
    assert_eq!((ana.over(&id).await.len(), &ana.get(&id).await["status"]), (0, &json!("active")));
    // Nothing was sent, so it can be cancelled.
    ana.act(&other, "cancel", json!({})).await.assert_status(200);
    ana.execute("alter table decision drop constraint full_disk").await;
    ana.at("2026-11-22T15:02:00Z").await;
    assert_eq!((ana.over(&id).await, ana.transfers().await.len()), (vec!["2026-11-22 sent".to_owned()], 1));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_host_that_was_down_sends_late_or_records_what_it_missed(db: PgPool) {
    let ana = ana(db, Options::default()).await;
    let once = ana.plan(1.0, json!({})).await;
    let weekly = ana.plan(2.0, json!({"recurrence": "weekly"})).await;
    ana.at("2026-11-25T14:59:59Z").await;
    assert_eq!(
        (ana.over(&once).await, ana.over(&weekly).await),
        (vec!["2026-11-22 sent".to_owned()], vec!["2026-11-22 sent".to_owned()])
    );
    // Two weeks go by: one occurrence is too old, the other is not.
    let once = ana.plan(4.0, json!({"firstDate": "2026-11-26"})).await;
    ana.at("2026-12-08T15:00:00Z").await;
    assert_eq!(ana.over(&once).await, ["2026-11-26 missed"]);
    assert_eq!(ana.over(&weekly).await[..2], ["2026-12-06 sent", "2026-11-29 missed"]);
    // Exactly three days late is too late.
    let once = ana.plan(8.0, json!({"firstDate": "2026-12-09"})).await;
    ana.at("2026-12-12T15:00:00Z").await;
    assert_eq!((ana.over(&once).await, ana.transfers().await.len()), (vec!["2026-12-09 missed".to_owned()], 3));
}

async fn high_risk(db: PgPool) -> (Ana, String) {
    let ana = ana(db, Options { risk_enforcement: Enforcement::Enforce, ..Options::default() }).await;
    let more = json!({"recurrence": "weekly", "isNewDevice": true, "geolocationChanged": true});
    let id = ana.plan(5_000.0, more).await;
    ana.at("2026-11-22T15:00:00Z").await;
    (ana, id)
}

impl Ana {
    async fn acknowledgment(&self, amount: f64) -> Value {
        let query = format!("fromAccountId={}&toBeneficiaryId={}&amount={amount}", self.from, self.to);
        let query = format!("/api/ledger/risk-context?{query}&isNewDevice=true&geolocationChanged=true");
        self.client.get(&query).await.assert_status(200).json()["acknowledgmentToken"].clone()
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_high_risk_waits_for_its_owner(db: PgPool) {
    let (ana, id) = high_risk(db).await;
    let waiting = ana.get(&id).await;
    assert_eq!(
        (&waiting["nextDate"], &waiting["waitingUntil"]),
        (&json!("2026-11-22"), &json!("2026-11-25T15:00:00.000Z"))
    );
    assert_eq!((waiting["occurrences"].clone(), ana.transfers().await.len()), (json!([]), 0));
    ana.at("2026-11-23T15:00:00Z").await;
    assert_eq!(ana.get(&id).await, waiting, "nothing sends it by itself");
    let date = "2026-11-22";
    let required = "risk-acknowledgment-required";
    ana.act(&id, "confirm", json!({"date": date})).await.assert_problem(400, required, None);
    assert_eq!(ana.get(&id).await, waiting, "it goes on waiting");
    let other = json!({"date": date, "acknowledgmentToken": ana.acknowledgment(5_000.01).await});
    ana.act(&id, "confirm", other).await.assert_problem(400, required, None);
    let token = ana.acknowledgment(5_000.0).await;
    for wrong in ["2026-11-23", "2026-11-29", "1999-01-01"] {
        let body = json!({"date": wrong, "acknowledgmentToken": token});
        refused(&ana.app, ana.act(&id, "confirm", body), 409, "not-waiting", None).await;
    }
    let body = json!({"date": date, "acknowledgmentToken": token});
    let sent = ana.act(&id, "confirm", body.clone()).await;
    assert_eq!(sent.assert_status(200).json()["amount"], 5_000.0);
    assert_eq!(
        (ana.over(&id).await, &ana.get(&id).await["nextDate"]),
        (vec!["2026-11-22 sent".to_owned()], &json!("2026-11-29"))
    );
    let by_owner =
        "select count(*) from audit_record where subject = 'schedule' and action = 'sent' and actor = 'owner'";
    assert_eq!(ana.app.count(by_owner).await, 1);
    // A retry repeats the answer.
    let again = ana.act(&id, "confirm", body).await;
    assert_eq!((again.assert_status(200).id(), again.header("idempotency-replayed")), (sent.id(), Some("true")));
    assert_eq!(ana.transfers().await.len(), 1);
    refused(&ana.app, ana.act(&id, "skip", json!({"date": date})), 409, "not-waiting", None).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn two_confirmations_send_once(db: PgPool) {
    let (ana, id) = high_risk(db).await;
    let body = json!({"date": "2026-11-22", "acknowledgmentToken": ana.acknowledgment(5_000.0).await});
    let both = tokio::join!(ana.act(&id, "confirm", body.clone()), ana.act(&id, "confirm", body));
    assert!([&both.0, &both.1].iter().any(|answer| answer.status == 200), "{both:?}");
    assert!([&both.0, &both.1].iter().all(|answer| [200, 409].contains(&answer.status.as_u16())), "{both:?}");
    assert_eq!((ana.transfers().await.len(), ana.over(&id).await), (1, vec!["2026-11-22 sent".to_owned()]));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_owner_skips_what_waits_or_lets_it_lapse(db: PgPool) {
    let (ana, id) = high_risk(db).await;
    let skipped = ana.act(&id, "skip", json!({"date": "2026-11-22"})).await;
    assert_eq!(skipped.assert_status(200).json()["occurrences"][0]["outcome"], "skipped");
    ana.at("2026-11-29T15:00:00Z").await;
    assert_eq!(ana.get(&id).await["waitingUntil"], "2026-12-02T15:00:00.000Z");
    ana.at("2026-12-02T14:59:59Z").await;
    assert_eq!(ana.over(&id).await.len(), 1);
    let token = ana.acknowledgment(5_000.0).await;
    ana.set_clock("2026-12-02T15:00:00Z");
    let body = json!({"date": "2026-11-29", "acknowledgmentToken": token});
    refused(&ana.app, ana.act(&id, "confirm", body), 409, "not-waiting", None).await;
    ana.at("2026-12-02T15:00:00Z").await;
    assert_eq!(ana.over(&id).await, ["2026-11-29 lapsed", "2026-11-22 skipped"]);
    ana.at("2026-12-06T15:00:00Z").await;
    let cancelled = ana.act(&id, "cancel", json!({})).await.assert_status(200).json();
    assert_eq!((&cancelled["status"], cancelled.get("waitingUntil")), (&json!("cancelled"), None));
    ana.at("2027-01-01T15:00:00Z").await;
    assert_eq!((ana.over(&id).await.len(), ana.transfers().await.len()), (2, 0));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_confirmed_occurrence_that_was_not_recorded_is_found(db: PgPool) {
    let (ana, id) = high_risk(db).await;
    let body = json!({"date": "2026-11-22", "acknowledgmentToken": ana.acknowledgment(5_000.0).await});
    ana.execute("alter table occurrence add constraint crash check (false) not valid").await;
    ana.act(&id, "confirm", body).await.assert_status(200);
    ana.execute("alter table occurrence drop constraint crash").await;
    refused(&ana.app, ana.act(&id, "skip", json!({"date": "2026-11-22"})), 409, "schedule-under-way", None).await;
    ana.at("2026-11-22T15:03:00Z").await;
    assert_eq!((ana.over(&id).await, ana.transfers().await.len()), (vec!["2026-11-22 sent".to_owned()], 1));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_was_altered_is_not_sent(db: PgPool) {
    let ana = ana(db, Options::default()).await;
    let id = ana.plan(1.0, json!({"recurrence": "weekly"})).await;
    ana.at("2026-11-22T15:00:00Z").await;
    for alteration in [
        "update schedule set request = request || '{\"amount\": 9999.99}'",
        "update schedule set next_date = '2026-11-22', ordinal = 0",
        "update occurrence set outcome = 'skipped', transfer_id = null",
        "delete from occurrence",
        "update schedule set request = request || jsonb_build_object('toBeneficiaryId', gen_random_uuid())",
        "update schedule set request = '{\"amount\": 1}'",
    ] {
        let keep = "create table kept as select * from schedule; create table kept_over as select * from occurrence";
        let restore = "delete from occurrence; delete from schedule; insert into schedule select * from kept; \
                       insert into occurrence select * from kept_over; drop table kept, kept_over";
        for statements in [keep, alteration] {
            sqlx::raw_sql(statements).execute(&ana.app.db).await.unwrap();
        }
        ana.at("2026-11-29T15:00:00Z").await;
        assert_eq!(ana.transfers().await.len(), 1, "{alteration}");
        sqlx::raw_sql(restore).execute(&ana.app.db).await.unwrap();
    }
    assert!(ana.app.ai().get("/metrics").await.text.contains("scheduled_transfers_total{outcome=\"forged\"}"));
    // Put off for longer than any host would.
    ana.execute("update schedule set attempt_at = '2100-01-01'").await;
    ana.at("2026-11-29T15:00:00Z").await;
    assert_eq!(ana.over(&id).await[0], "2026-11-29 sent");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn rules_and_freezes_apply_when_it_is_sent(db: PgPool) {
    let ana = ana(db, Options { cooling_seconds: 86_400 * 7, ..Options::default() }).await;
    let (cooling, frozen) = (ana.plan(1.0, json!({})).await, ana.plan(1.0, json!({"firstDate": "2026-12-01"})).await);
    ana.at("2026-11-22T15:00:00Z").await;
    assert_eq!(ana.over(&cooling).await, ["2026-11-22 beneficiary-cooling"]);
    ana.set_clock("2026-12-01T15:00:00Z");
    let operator = ana.app.operator(Some("ledger:operate"));
    let freeze = format!("/admin/accounts/{}/freeze", ana.from);
    operator.post(&freeze, json!({"reason": "a court order"})).await.assert_status(200);
    ana.at("2026-12-01T15:00:00Z").await;
    assert_eq!(
        (ana.over(&frozen).await, ana.transfers().await.len()),
        (vec!["2026-12-01 account-frozen".to_owned()], 0)
    );
}

/// A client's key cannot stand for an occurrence: it has no spaces.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn no_client_can_take_the_key_of_an_occurrence(db: PgPool) {
    let ana = ana(db, Options::default()).await;
    let id = ana.plan(1.0, json!({})).await;
    for key in [format!("schedule {id} 2026-11-22"), format!("\"schedule {id} 2026-11-22\"")] {
        let client = ana.client.with("idempotency-key", &key);
        refused(&ana.app, client.transfer(&ana.from, &ana.to, "1.0"), 400, "validation-failed", None).await;
    }
}

/// Hides the record of a cancellation until a host has sent what was cancelled.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_cancellation_that_was_hidden_for_a_while_is_found(db: PgPool) {
    let ana = ana(db, Options::default()).await;
    let id = ana.plan(1.0, json!({})).await;
    ana.act(&id, "cancel", json!({})).await.assert_status(200);
    ana.execute("update audit_record set subject_key = subject_key || '#' where action = 'cancel'").await;
    ana.execute("update schedule set status = 'active', next_date = '2026-11-22'").await;
    ana.at("2026-11-22T15:00:00Z").await;
    assert_eq!(ana.over(&id).await, ["2026-11-22 sent"]);
    ana.execute("update audit_record set subject_key = rtrim(subject_key, '#') where action = 'cancel'").await;
    assert_found(&ana.app, &["does not follow the record before it"]).await;
}
