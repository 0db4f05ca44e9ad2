//! `/api/ledger/schedules`: transfers that the bank sends on their dates, once.

use caudal::domain::schedule::{SCHEDULES_MAX, TIMES_MAX};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Answer, Client, Options, TestApp, refused};

pub(crate) const PATH: &str = "/api/ledger/schedules";

/// An id that is nobody's.
const NOBODY: &str = "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b";

/// Ana, her account and her payee. It is 12:00 on Saturday 2026-11-21 in Mexico City.
pub(crate) struct Ana {
    pub(crate) app: TestApp,
    pub(crate) client: Client,
    pub(crate) from: String,
    pub(crate) to: String,
}

pub(crate) async fn ana(db: PgPool, options: Options) -> Ana {
    let app = TestApp::with(db, options).await;
    let client = app.user("ana");
    let (from, to) = client.account_and_payee().await;
    Ana { app, client, from, to }
}

impl Ana {
    pub(crate) fn body(&self, amount: f64, more: Value) -> Value {
        let mut body = json!({
            "fromAccountId": self.from, "toBeneficiaryId": self.to, "amount": amount, "recurrence": "once",
            "firstDate": "2026-11-22", "isNewDevice": false, "geolocationChanged": false,
        });
        more.as_object().unwrap().iter().for_each(|(name, value)| body[name] = value.clone());
        body
    }

    /// Returns its id.
    pub(crate) async fn plan(&self, amount: f64, more: Value) -> String {
        let planned = self.client.post(PATH, self.body(amount, more)).await;
        planned.assert_status(201);
        planned.id()
    }

    pub(crate) async fn get(&self, id: &str) -> Value {
        self.client.get(&format!("{PATH}/{id}")).await.assert_status(200).json()
    }

    pub(crate) async fn act(&self, id: &str, action: &str, body: Value) -> Answer {
        self.client.post(&format!("{PATH}/{id}/{action}"), body).await
    }

    /// What became of each occurrence, the newest first: its date, then its outcome or problem.
    pub(crate) async fn over(&self, id: &str) -> Vec<String> {
        let shown = self.get(id).await;
        let over = shown["occurrences"].as_array().unwrap().iter().map(|it| {
            let what = it["problem"].as_str().or(it["outcome"].as_str()).unwrap();
            format!("{} {what}", it["date"].as_str().unwrap())
        });
        over.collect()
    }

    pub(crate) async fn transfers(&self) -> Vec<Value> {
        self.client.get("/api/ledger/transactions").await.assert_status(200).json().as_array().unwrap().clone()
    }

    /// Sets the clock to an instant, then sends what is due.
    pub(crate) async fn at(&self, instant: &str) {
        self.set_clock(instant);
        self.app.scheduler.send_due().await.unwrap();
    }

    pub(crate) fn set_clock(&self, instant: &str) {
        let format = &time::format_description::well_known::Rfc3339;
        let instant = time::OffsetDateTime::parse(instant, format).unwrap();
        self.app.clock.advance(instant - self.app.clock.now());
    }

    pub(crate) async fn execute(&self, statement: &'static str) {
        sqlx::query(statement).execute(&self.app.db).await.unwrap();
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_transfer_is_sent_on_its_date_at_nine_in_mexico_city(db: PgPool) {
    let ana = ana(db, Options::default()).await;
    assert_eq!(ana.client.get(PATH).await.assert_status(200).json(), json!([]));
    let remittance = json!({"concept": " Renta ", "numericReference": 7});
    let planned = ana.client.post(PATH, ana.body(250.0, remittance)).await;
    let id = planned.id();
    let want = json!({
        "id": id, "fromAccountId": ana.from, "toBeneficiaryId": ana.to, "beneficiaryName": "Luis", "amount": 250.0,
        "concept": "Renta", "numericReference": 7, "recurrence": "once", "firstDate": "2026-11-22", "status": "active", "nextDate": "2026-11-22",
        "createdAt": "2026-11-21T18:00:00.000Z", "occurrences": [],
    });
    assert_eq!(planned.assert_status(201).json(), want);
    assert_eq!(planned.header("location"), Some(format!("{PATH}/{id}").as_str()));
    assert_eq!((ana.client.get(PATH).await.json(), ana.get(&id).await), (json!([want]), want));
    // Midnight in UTC and in Mexico City, and almost nine.
    for early in ["2026-11-22T00:00:00Z", "2026-11-22T06:00:00Z", "2026-11-22T14:59:59Z"] {
        ana.at(early).await;
        assert_eq!(ana.transfers().await, [] as [Value; 0], "{early}");
    }
    ana.at("2026-11-22T15:00:00Z").await;
    let transfers = ana.transfers().await;
    assert_eq!(
        (transfers.len(), &transfers[0]["amount"], &transfers[0]["status"]),
        (1, &json!(250.0), &json!("completed"))
    );
    assert_eq!((&transfers[0]["concept"], &transfers[0]["numericReference"]), (&json!("Renta"), &json!(7)));
    let shown = ana.get(&id).await;
    let occurrence = json!({
        "date": "2026-11-22", "outcome": "sent", "transactionId": transfers[0]["id"],
        "recordedAt": "2026-11-22T15:00:00.000Z",
    });
    assert_eq!((&shown["status"], &shown["occurrences"]), (&json!("finished"), &json!([occurrence])));
    assert_eq!((shown.get("nextDate"), shown.get("waitingUntil")), (None, None));
    assert_eq!(ana.client.get(PATH).await.json(), json!([shown]));
    for later in ["2026-11-22T15:00:05Z", "2026-11-23T15:00:00Z"] {
        ana.at(later).await;
    }
    assert_eq!((ana.transfers().await.len(), ana.client.balance().await), (1, "9750.00".to_owned()));
    assert_eq!(ana.app.sum_of_balances().await, 0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_schedule_recurs_until_it_ends(db: PgPool) {
    let ana = ana(db, Options::default()).await;
    let monthly = ana.plan(1.0, json!({"recurrence": "monthly", "firstDate": "2027-01-31", "times": 3})).await;
    let weekly = json!({"recurrence": "weekly", "firstDate": "2027-01-25", "lastDate": "2027-02-08"});
    let weekly = ana.plan(2.0, weekly).await;
    for day in ["2027-01-25", "2027-01-31", "2027-02-01", "2027-02-08", "2027-02-28"] {
        ana.at(&format!("{day}T15:00:00Z")).await;
    }
    assert_eq!(ana.over(&weekly).await, ["2027-02-08 sent", "2027-02-01 sent", "2027-01-25 sent"]);
    assert_eq!(ana.get(&weekly).await["status"], "finished");
    assert_eq!((&ana.get(&monthly).await["nextDate"], ana.transfers().await.len()), (&json!("2027-03-31"), 5));
    ana.at("2027-03-31T15:00:00Z").await;
    assert_eq!(ana.over(&monthly).await, ["2027-03-31 sent", "2027-02-28 sent", "2027-01-31 sent"]);
    assert_eq!(ana.get(&monthly).await["status"], "finished");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_cannot_be_planned_is_refused(db: PgPool) {
    let ana = ana(db, Options::default()).await;
    let weekly = |more: Value| {
        let mut body = json!({"recurrence": "weekly"});
        more.as_object().unwrap().iter().for_each(|(name, value)| body[name] = value.clone());
        body
    };
    for (more, code, field) in [
        (json!({"firstDate": "2026-11-21"}), "validation-failed", "firstDate"),
        (json!({"firstDate": "2020-01-01"}), "validation-failed", "firstDate"),
        (json!({"firstDate": "2027-11-23"}), "validation-failed", "firstDate"),
        (json!({"firstDate": "9999-12-31"}), "validation-failed", "firstDate"),
        (json!({"firstDate": "2027-02-29"}), "validation-failed", "firstDate"),
        (json!({"firstDate": "22/11/2026"}), "validation-failed", "firstDate"),
        (json!({"firstDate": "2026-11-22T00:00:00Z"}), "validation-failed", "firstDate"),
        (json!({"firstDate": 20_261_122}), "validation-failed", "firstDate"),
        (json!({"concept": "x".repeat(41)}), "validation-failed", "concept"),
        (json!({"numericReference": 10_000_000}), "validation-failed", "numericReference"),
        (json!({"recurrence": "daily"}), "validation-failed", "recurrence"),
        (json!({"times": 1}), "validation-failed", "times"),
        (json!({"lastDate": "2026-12-22"}), "validation-failed", "lastDate"),
        (weekly(json!({"lastDate": "2026-11-21"})), "validation-failed", "lastDate"),
        (weekly(json!({"lastDate": "2026-12-22", "times": 2})), "validation-failed", "times"),
        (weekly(json!({"times": 0})), "validation-failed", "times"),
        (weekly(json!({"times": TIMES_MAX + 1})), "validation-failed", "times"),
        (weekly(json!({"times": 1.5})), "validation-failed", "times"),
        (json!({"amount": 0}), "invalid-amount", "amount"),
        (json!({"amount": -1}), "invalid-amount", "amount"),
        (json!({"amount": 1.001}), "invalid-amount", "amount"),
        (json!({"amount": "1"}), "invalid-amount", "amount"),
        (json!({"fromAccountId": NOBODY}), "account-not-found", "fromAccountId"),
        (json!({"toBeneficiaryId": NOBODY}), "beneficiary-not-found", "toBeneficiaryId"),
        (json!({"isNewDevice": "no"}), "validation-failed", "isNewDevice"),
    ] {
        refused(&ana.app, ana.client.post(PATH, ana.body(1.0, more)), 400, code, Some(field)).await;
    }
    // Neither account nor payee of somebody else.
    let luis = ana.app.user("luis");
    refused(&ana.app, luis.post(PATH, ana.body(1.0, json!({}))), 400, "account-not-found", None).await;
    // The last day that may be planned, and the last number of times.
    ana.plan(1.0, json!({"firstDate": "2027-11-22"})).await;
    ana.plan(1.0, weekly(json!({"times": TIMES_MAX}))).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_user_has_a_limited_number_of_active_schedules(db: PgPool) {
    let ana = ana(db, Options::default()).await;
    let mut last = String::new();
    for _ in 0..SCHEDULES_MAX {
        last = ana.plan(1.0, json!({})).await;
    }
    refused(&ana.app, ana.client.post(PATH, ana.body(1.0, json!({}))), 409, "limit-reached", None).await;
    ana.act(&last, "cancel", json!({})).await.assert_status(200);
    ana.plan(1.0, json!({})).await;
    let page = ana.client.get(&format!("{PATH}?limit=60")).await;
    assert_eq!(page.assert_status(200).json().as_array().unwrap().len(), 60);
    let link = page.header("link").unwrap();
    let next = link.split(['<', '>']).nth(1).unwrap();
    assert_eq!(ana.client.get(next).await.json().as_array().unwrap().len(), 41);
    // All of them are sent, by the claims that it takes.
    ana.at("2026-11-22T15:00:00Z").await;
    assert_eq!(ana.transfers().await.len(), 100);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_schedules_of_others_do_not_exist(db: PgPool) {
    let ana = ana(db, Options::default()).await;
    let id = ana.plan(1.0, json!({})).await;
    let (luis, app) = (ana.app.user("luis"), &ana.app);
    assert_eq!(luis.get(PATH).await.json(), json!([]));
    for id in [id.as_str(), NOBODY, "none"] {
        refused(app, luis.get(&format!("{PATH}/{id}")), 404, "not-found", None).await;
        refused(app, luis.post(&format!("{PATH}/{id}/cancel"), json!({})), 404, "not-found", None).await;
        for action in ["confirm", "skip"] {
            let body = json!({"date": "2026-11-22"});
            refused(app, luis.post(&format!("{PATH}/{id}/{action}"), body), 404, "not-found", None).await;
        }
    }
    assert_eq!(ana.get(&id).await["status"], "active");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_schedule_takes_the_place_of_another_at_once_or_not_at_all(db: PgPool) {
    let ana = ana(db, Options::default()).await;
    let mut old = ana.plan(1.0, json!({})).await;
    for _ in 1..SCHEDULES_MAX {
        ana.plan(1.0, json!({})).await;
    }
    let instead_of = |id: &str| ana.body(2.0, json!({"replaces": id}));
    refused(&ana.app, ana.client.post(PATH, instead_of(NOBODY)), 404, "not-found", None).await;
    refused(&ana.app, ana.client.post(PATH, instead_of("none")), 400, "validation-failed", Some("replaces")).await;
    // As many as allowed are no obstacle, and a retry changes nothing.
    let keyed = ana.client.with("idempotency-key", "rent");
    let new = keyed.post(PATH, instead_of(&old)).await.assert_status(201).id();
    assert_eq!(keyed.post(PATH, instead_of(&old)).await.assert_status(201).id(), new);
    assert_eq!(
        (&ana.get(&old).await["status"], &ana.get(&new).await["status"]),
        (&json!("cancelled"), &json!("active"))
    );
    // What has ended, and what is another user's, stays as it is, and nothing is scheduled.
    refused(&ana.app, ana.client.post(PATH, instead_of(&old)), 409, "schedule-ended", None).await;
    let luis = ana.app.user("luis");
    let (from, to) = luis.account_and_payee().await;
    let of_luis = json!({"fromAccountId": from, "toBeneficiaryId": to, "replaces": new});
    refused(&ana.app, luis.post(PATH, ana.body(2.0, of_luis)), 404, "not-found", None).await;
    assert_eq!(ana.app.count("select count(*) from schedule").await, SCHEDULES_MAX + 1);
    // Of two at once, one.
    old = new;
    let both = tokio::join!(ana.client.post(PATH, instead_of(&old)), ana.client.post(PATH, instead_of(&old)));
    let mut statuses = [both.0.status, both.1.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409]);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_retry_makes_no_second_schedule(db: PgPool) {
    let ana = ana(db, Options::default()).await;
    let keyed = ana.client.with("idempotency-key", "rent");
    let first = keyed.post(PATH, ana.body(5.0, json!({}))).await;
    assert_eq!(
        (first.assert_status(201).header("idempotency-replayed"), first.header("location").is_some()),
        (None, true)
    );
    // Also when the first date is over.
    for instant in ["2026-11-21T18:00:00Z", "2026-11-22T15:00:00Z"] {
        ana.at(instant).await;
        let again = keyed.post(PATH, ana.body(5.0, json!({}))).await;
        assert_eq!((again.assert_status(201).id(), again.header("idempotency-replayed")), (first.id(), Some("true")));
    }
    refused(&ana.app, keyed.post(PATH, ana.body(6.0, json!({}))), 422, "idempotency-key-reused", None).await;
    let (body, keyed) = (ana.body(7.0, json!({"firstDate": "2026-12-01"})), ana.client.with("idempotency-key", "gas"));
    let both = tokio::join!(keyed.post(PATH, body.clone()), keyed.post(PATH, body));
    assert_eq!(both.0.assert_status(201).id(), both.1.assert_status(201).id());
    assert_eq!(ana.app.count("select count(*) from schedule").await, 2);
}
