//! Every operation of the ledger's document, tried on one user's data by another. A new operation fails here until it
//! is said how.

use std::time::Duration;

use axum::body::Body;
use caudal::http::LEDGER;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgPool};

use crate::harness::{Client, TestApp};
use crate::scopes::operations;

/// Ana's payee, whom she found herself.
const PAYEE: (&str, &str) = ("Casero de Ana", "002180700845612349");

/// How long nothing may have come from a stream until that was all.
const QUIET: Duration = Duration::from_millis(500);

/// What a user has, one of each.
struct Holdings {
    account: String,
    payee: String,
    transfer: String,
    hold: String,
    schedule: String,
}

impl Holdings {
    /// Two of each, so that lists have a second page.
    async fn of(user: &Client, (name, number): (&str, &str)) -> Self {
        let (account, _) = user.issued_account().await;
        user.issued_account().await;
        let payee = user.save_payee(name, number).await;
        user.save_payee(&format!("{name}, casa"), number).await;
        let order = json!({"fromAccountId": account, "toBeneficiaryId": payee, "amount": 10});
        let keyed = user.with("idempotency-key", "rent");
        let transfer = keyed.post("/api/ledger/transactions", order.clone()).await.id();
        user.post("/api/ledger/transactions", order.clone()).await.assert_status(200);
        let hold = user.with("idempotency-key", "deposit").post("/api/ledger/holds", order.clone()).await.id();
        user.post("/api/ledger/holds", order.clone()).await.assert_status(201);
        let keyed = user.with("idempotency-key", "plan");
        let schedule = keyed.post("/api/ledger/schedules", planned(order.clone())).await.id();
        user.post("/api/ledger/schedules", planned(order)).await.assert_status(201);
        Self { account, payee, transfer, hold, schedule }
    }
}

/// The order, for tomorrow.
fn planned(mut order: Value) -> Value {
    order["recurrence"] = json!("once");
    order["firstDate"] = json!("2026-11-22");
    order
}

/// A request of Luis.
struct Attempt {
    path: String,
    body: Option<Value>,
    key: Option<&'static str>,
    /// Whether it is about Ana's data, so that it must fail. Otherwise it must show nothing of it.
    is_refused: bool,
}

fn refused(path: impl Into<String>, body: Option<Value>) -> Attempt {
    Attempt { path: path.into(), body, key: None, is_refused: true }
}

fn own(path: impl Into<String>, body: Option<Value>) -> Attempt {
    Attempt { path: path.into(), body, key: None, is_refused: false }
}

/// Both users' data, and where Ana's second pages begin.
struct Scene {
    ana: Client,
    theirs: Holdings,
    mine: Holdings,
}

impl Scene {
    /// A list from its beginning, and from where Ana read on.
    async fn pages(&self, path: &str, ana_asks: &str) -> Vec<Attempt> {
        let first = self.ana.get(&format!("{ana_asks}?limit=1")).await;
        let link = first.header("link").unwrap_or_else(|| panic!("a second page: {first:?}")).to_owned();
        let cursor = link.split(['<', '>']).nth(1).unwrap().split_once('?').unwrap().1.to_owned();
        let of_ana = format!("{path}?userId=ana&user=ana&owner=ana");
        vec![own(path, None), own(of_ana, None), own(format!("{path}?{cursor}"), None)]
    }

    /// Orders that name something of Ana's.
    fn orders(&self) -> Vec<Value> {
        let Self { theirs, mine, .. } = self;
        let pairs = [(&theirs.account, &mine.payee), (&mine.account, &theirs.payee), (&theirs.account, &theirs.payee)];
        let order = |(from, to)| json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 1});
        pairs.into_iter().map(order).collect()
    }

    /// Orders that name something of Ana's, and an own one under the key that she used.
    fn keyed(&self, path: &str, key: &'static str) -> Vec<Attempt> {
        let orders = self.orders().into_iter().map(|order| refused(path, Some(order)));
        let order = json!({"fromAccountId": self.mine.account, "toBeneficiaryId": self.mine.payee, "amount": 10,
            "id": self.theirs.transfer, "userId": "ana", "owner": "ana"});
        orders.chain([Attempt { key: Some(key), ..own(path, Some(order)) }]).collect()
    }

    /// What Luis tries with an operation.
    async fn attempts(&self, method: &str, path: &str) -> Vec<Attempt> {
        let Self { theirs, mine, .. } = self;
        let at = |id: &str| path.replace("{id}", id);
        let of_ana = |mut body: Value| {
            for (name, value) in [("userId", "ana"), ("user", "ana"), ("owner", "ana"), ("id", &theirs.payee)] {
                body[name] = json!(value);
            }
            vec![own(path, Some(body.clone())), own(format!("{path}?userId=ana&user=ana"), Some(body))]
        };
        let pairs = || self.orders().into_iter().map(|it| (it["fromAccountId"].clone(), it["toBeneficiaryId"].clone()));
        match (method, path) {
            ("GET", "/api/ledger/accounts" | "/api/ledger/beneficiaries" | "/api/ledger/transactions")
            | ("GET", "/api/ledger/holds" | "/api/ledger/schedules") => self.pages(path, path).await,
            ("GET", "/api/ledger/accounts/{id}") | ("GET", "/api/ledger/accounts/{id}/balance") => {
                vec![refused(at(&theirs.account), None)]
            }
            ("GET", "/api/ledger/accounts/{id}/statement") => {
                vec![refused(format!("{}?date=2026-11-20", at(&theirs.account)), None)]
            }
            ("GET", "/api/ledger/accounts/{id}/entries") => {
                let mut attempts = self.pages(&at(&mine.account), &at(&theirs.account)).await;
                attempts.push(refused(at(&theirs.account), None));
                attempts
            }
            ("POST", "/api/ledger/accounts") => of_ana(json!({"accountType": "savings"})),
            ("POST", "/api/ledger/beneficiaries") => {
                of_ana(json!({"name": "Eva", "accountNumber": "012180004643051249", "bankName": "BBVA"}))
            }
            ("DELETE", "/api/ledger/beneficiaries/{id}") => vec![refused(at(&theirs.payee), None)],
            ("PATCH", "/api/ledger/beneficiaries/{id}") => {
                vec![refused(at(&theirs.payee), Some(json!({"name": "Luis"})))]
            }
            ("POST", "/api/ledger/payee-checks") => of_ana(json!({"name": "Eva", "accountNumber": PAYEE.1})),
            ("GET", "/api/ledger/transactions/{id}" | "/api/ledger/transactions/{id}/receipt") => {
                vec![refused(at(&theirs.transfer), None)]
            }
            ("POST", "/api/ledger/transactions/{id}/report") => {
                vec![refused(at(&theirs.transfer), Some(json!({"freeze": true})))]
            }
            ("POST", "/api/ledger/schedules") => {
                let orders = self.keyed(path, "plan").into_iter();
                orders.map(|it| Attempt { body: it.body.map(planned), ..it }).collect()
            }
            ("GET", "/api/ledger/schedules/{id}") => vec![refused(at(&theirs.schedule), None)],
            ("POST", "/api/ledger/schedules/{id}/cancel") => vec![refused(at(&theirs.schedule), Some(json!({})))],
            ("POST", "/api/ledger/schedules/{id}/confirm") | ("POST", "/api/ledger/schedules/{id}/skip") => {
                vec![refused(at(&theirs.schedule), Some(json!({"date": "2026-11-22"})))]
            }
            ("POST", "/api/ledger/transactions") => self.keyed(path, "rent"),
            ("POST", "/api/ledger/transactions/bulk") => {
                let orders = self.orders().into_iter().enumerate().map(|(index, mut order)| {
                    order["idempotencyKey"] = json!(format!("bulk-{index}"));
                    order
                });
                vec![refused(path, Some(json!({"transfers": orders.collect::<Vec<_>>()})))]
            }
            ("POST", "/api/ledger/holds") => self.keyed(path, "deposit"),
            ("GET", "/api/ledger/holds/{id}") => vec![refused(at(&theirs.hold), None)],
            ("POST", "/api/ledger/holds/{id}/capture") => {
                let body = || Some(json!({"amount": 1}));
                let again = Attempt { key: Some("rent"), ..refused(at(&theirs.hold), body()) };
                vec![refused(at(&theirs.hold), body()), again]
            }
            ("POST", "/api/ledger/holds/{id}/void") => vec![refused(at(&theirs.hold), None)],
            ("GET", "/api/ledger/events") => {
                let (_, body) = self.ana.stream("/api/ledger/events?from=").await;
                let heard = hear(body).await;
                let cursor = heard.lines().find_map(|line| line.strip_prefix("id: ")).expect("an event of Ana's");
                vec![own(format!("{path}?from="), None), own(format!("{path}?from={cursor}"), None)]
            }
            ("GET", "/api/ledger/risk-context") => pairs()
                .map(|(from, to)| {
                    let (from, to) = (from.as_str().unwrap().to_owned(), to.as_str().unwrap().to_owned());
                    refused(format!("{path}?fromAccountId={from}&toBeneficiaryId={to}&amount=1"), None)
                })
                .collect(),
            ("POST", "/api/analytics/events") => {
                of_ana(json!({"eventType": "opened", "screen": "home", "timestamp": "2026-11-21T18:00:00Z"}))
            }
            ("GET", "/api/ledger/terms" | "/api/analytics/consent" | "/api/profile/accessibility") => {
                vec![own(path, None), own(format!("{path}?userId=ana&user=ana"), None)]
            }
            ("PUT", "/api/analytics/consent") => of_ana(json!({"granted": false})),
            ("PUT", "/api/profile/accessibility") => of_ana(json!({"theme": "standard-accessible",
                "screenReaderMode": false, "fontScale": 1.0, "nudgingLevel": "low", "voiceFeedback": false})),
            _ => panic!("{method} {path}: say here what a user can try on another's data with it, and that it fails"),
        }
    }
}

/// What comes from a stream before it falls quiet.
async fn hear(mut body: Body) -> String {
    let mut heard = String::new();
    while let Ok(Some(Ok(frame))) = tokio::time::timeout(QUIET, body.frame()).await {
        heard += &String::from_utf8_lossy(&frame.into_data().unwrap_or_default());
    }
    heard
}

/// Every text by which something of a user's is recognised.
async fn marks(user: &Client, account: &str) -> Vec<String> {
    const NAMES: [&str; 8] = [
        "id",
        "accountNumber",
        "speiReference",
        "name",
        "beneficiaryName",
        "fromAccountId",
        "toBeneficiaryId",
        "transactionId",
    ];
    let mut marks = Vec::new();
    let entries = format!("accounts/{account}/entries");
    for list in ["accounts", "beneficiaries", "transactions", "holds", "schedules", &entries] {
        let items = user.get(&format!("/api/ledger/{list}")).await.assert_status(200).json();
        for item in items.as_array().unwrap() {
            marks.extend(NAMES.iter().filter_map(|name| item[name].as_str().map(str::to_owned)));
        }
    }
    marks.sort();
    marks.dedup();
    assert!(marks.len() > 12, "{marks:?}");
    marks
}

/// Every row that mentions Ana or something of hers.
async fn rows_of(app: &TestApp, marks: &[String]) -> Vec<String> {
    let tables = "select table_name::text from information_schema.tables where table_schema = 'public' \
        and table_type = 'BASE TABLE' order by 1";
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&app.db).await.unwrap();
    let mut rows = Vec::new();
    for table in tables {
        let query = format!(
            "select '{table} ' || t::text from {table} t \
             where t::text ~ '\\mana\\M' or exists (select from unnest($1::text[]) mark where position(mark in t::text) > 0) \
             order by 1"
        );
        let found: Vec<String> = sqlx::query_scalar(AssertSqlSafe(query)).bind(marks).fetch_all(&app.db).await.unwrap();
        rows.extend(found);
    }
    assert!(rows.len() > 12, "{rows:?}");
    rows
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn no_operation_reaches_another_users_data(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let theirs = Holdings::of(&ana, PAYEE).await;
    let mine = Holdings::of(&luis, ("Eva", "012180004643051249")).await;
    ana.put("/api/analytics/consent", json!({"granted": true})).await.assert_status(200);
    let profile = json!({"theme": "voice-assisted", "screenReaderMode": true, "fontScale": 1.75, "nudgingLevel": "high",
        "voiceFeedback": true});
    ana.put("/api/profile/accessibility", profile).await.assert_status(200);
    let mut marks = marks(&ana, &theirs.account).await;
    marks.extend(["\"fontScale\":1.75", "\"granted\":true"].map(str::to_owned));
    let of_ana = rows_of(&app, &marks).await;
    let scene = Scene { ana, theirs, mine };

    for operation in operations(&LEDGER) {
        let Some(_) = operation.scopes else { continue };
        for attempt in scene.attempts(&operation.method, &operation.path).await {
            let before = app.rows().await;
            let asked = format!("{} {} {:?}", operation.method, attempt.path, attempt.body);
            let client = attempt.key.map_or_else(|| luis.clone(), |key| luis.with("idempotency-key", key));
            let media_type = attempt.body.as_ref().map(|_| "application/json");
            let body = attempt.body.as_ref().map_or_else(Body::empty, |it| it.to_string().into());
            let response = client.open(&operation.method, &attempt.path, media_type, body).await;
            let (status, headers) = (response.status().as_u16(), format!("{:?}", response.headers()));
            let text = hear(response.into_body()).await;
            // A problem repeats the path, whatever it is.
            let text = text.replace(attempt.path.split('?').next().unwrap(), "");
            for mark in &marks {
                assert!(!text.contains(mark) && !headers.contains(mark), "{asked} tells of {mark}: {text}");
            }
            if attempt.is_refused {
                assert_refused(status, &text, &asked);
                assert_eq!(app.rows().await, before, "{asked} changed rows");
            } else if !attempt.path.contains("cursor=") {
                // So that it shows what there is to see. A cursor of another's list may be refused.
                assert!((200..300).contains(&status), "{asked}: {status} {text}");
            }
            assert_eq!(rows_of(&app, &marks).await, of_ana, "{asked} changed rows of Ana's");
        }
    }
}

/// As if it did not exist.
fn assert_refused(status: u16, text: &str, asked: &str) {
    const CODES: [&str; 3] = ["not-found", "account-not-found", "beneficiary-not-found"];
    let answer: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("{asked}: {status} {text}"));
    let problems = match answer["results"].as_array() {
        Some(results) => results.iter().map(|it| &it["problem"]).collect(),
        None => {
            assert!([400, 404].contains(&status), "{asked}: {status} {text}");
            vec![&answer]
        }
    };
    assert!(!problems.is_empty());
    for problem in problems {
        assert!(problem["code"].as_str().is_some_and(|code| CODES.contains(&code)), "{asked}: {text}");
    }
}
