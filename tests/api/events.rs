//! The user's stream of events: each exactly once, in order, and never another user's.

use std::time::Duration;

use axum::body::Body;
use caudal::auth::minter::Minter;
use caudal::ledger::store::Loss;
use caudal::outbox::{LISTENERS_EACH_MAX, LISTENERS_MAX};
use http_body_util::BodyExt as _;
use serde_json::Value;
use sqlx::PgPool;
use uuid::Uuid;

use crate::harness::{CLABE, Client, PAYEE_CLABE, SECRET, TestApp, ledger_key, token_config};

/// The messages of a stream.
pub(crate) struct Listener {
    body: Body,
    text: String,
}

impl Listener {
    pub(crate) async fn new(client: &Client, query: &str) -> Self {
        let (status, body) = client.stream(&format!("/api/ledger/events{query}")).await;
        assert_eq!(status, 200);
        Self { body, text: String::new() }
    }

    /// The next message's id and events, or `None` after a timeout.
    pub(crate) async fn next(&mut self) -> Option<(String, Vec<Value>)> {
        loop {
            if let Some((message, rest)) = self.text.split_once("\n\n").map(|(a, b)| (a.to_owned(), b.to_owned())) {
                self.text = rest;
                let field = |name: &str| message.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned));
                let Some(data) = field("data: ") else { continue };
                assert_eq!(field("event: ").as_deref(), Some("transfers"));
                return Some((field("id: ").unwrap(), serde_json::from_str(&data).unwrap()));
            }
            let frame = tokio::time::timeout(Duration::from_secs(2), self.body.frame()).await.ok()??;
            self.text += std::str::from_utf8(&frame.unwrap().into_data().unwrap()).unwrap();
        }
    }

    async fn collect(&mut self, count: usize) -> (String, Vec<Value>) {
        let (mut id, mut all) = (String::new(), Vec::new());
        while all.len() < count {
            let (next, events) = self.next().await.expect("more events");
            id = next;
            all.extend(events);
        }
        (id, all)
    }
}

fn amounts(events: &[Value]) -> Vec<f64> {
    events.iter().map(|event| event["amount"].as_f64().unwrap()).collect()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_listener_sees_its_users_events_and_resumes(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let (from, to) = ana.account_and_payee().await;
    let (theirs, payee) = luis.account_and_payee().await;

    // From the beginning: the opening credit, then events while it listens.
    let mut listener = Listener::new(&ana, "?from=").await;
    let (_, events) = listener.next().await.unwrap();
    assert_eq!(
        (&events[0]["type"], &events[0]["status"], &events[0]["accountId"]),
        (&"opening".into(), &"completed".into(), &from.as_str().into())
    );
    for amount in 1..=5 {
        ana.transfer(&from, &to, &amount.to_string()).await.assert_status(200);
        luis.transfer(&theirs, &payee, "77").await.assert_status(200);
    }
    let (_, events) = listener.collect(3).await;
    assert_eq!(amounts(&events), [1.0, 2.0, 3.0]);
    assert_eq!((&events[0]["type"], &events[0]["beneficiaryName"]), (&"transfer".into(), &"Luis".into()));
    let (id, events) = listener.next().await.unwrap();
    assert_eq!(amounts(&events), [4.0]);
    drop(listener);

    // It resumes after the last message it handled, on another host.
    ana.transfer(&from, &to, "6").await.assert_status(200);
    let other = TestApp::new(db).await;
    let mut again = Listener::new(&other.user("ana").with("last-event-id", &id), "").await;
    let (_, events) = again.collect(2).await;
    assert_eq!(amounts(&events), [5.0, 6.0]);
    other.clock.advance(time::Duration::SECOND);
    other.user("ana").transfer(&from, &to, "7").await.assert_status(200);
    app.clock.advance(time::Duration::SECOND * 2);
    ana.transfer(&from, &to, "8").await.assert_status(200);
    let (_, events) = again.collect(2).await;
    assert_eq!(amounts(&events), [7.0, 8.0]);
    // No duplicates, and none of Luis's events.
    assert!(again.next().await.is_none());

    // Without a cursor, the stream starts now.
    let mut now = Listener::new(&ana, "").await;
    assert!(now.next().await.is_none());
    ana.transfer(&from, &to, "9").await.assert_status(200);
    assert_eq!(amounts(&now.next().await.unwrap().1), [9.0]);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn nothing_is_lost_or_duplicated_where_history_meets_live_events(db: PgPool) {
    let (_app, ana) = TestApp::with_user(db).await;
    let to = ana.save_payee("Luis", PAYEE_CLABE).await;
    let (one, two) = (ana.open_account("11").await, ana.open_account("22").await);
    let sender = tokio::spawn({
        let (ana, accounts, to) = (ana.clone(), [one, two], to.clone());
        async move {
            for number in 0..150_u32 {
                let amount = format!("0.{:02}", 1 + number % 99);
                ana.transfer(&accounts[number as usize % 2], &to, &amount).await.assert_status(200);
            }
        }
    });
    // It reconnects after every few messages, from the id of the last one.
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    while seen.len() < 152 {
        let mut listener = Listener::new(&ana, &format!("?from={cursor}")).await;
        for _ in 0..7 {
            let Some((id, events)) = listener.next().await else { break };
            cursor = id;
            seen.extend(events.into_iter().map(|event| event["transactionId"].as_str().unwrap().to_owned()));
        }
    }
    sender.await.unwrap();
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!((count, seen.len()), (152, 152));
}

/// Accepts that batches of a chain were lost.
pub(crate) async fn accept_loss(db: &PgPool, chain_id: Uuid, (from_seq, to_seq): (i64, i64)) {
    let (reason, by, at) = ("a failover".to_owned(), "ops".to_owned(), time::OffsetDateTime::UNIX_EPOCH);
    let loss = Loss { chain_id, from_seq, to_seq, head_hashes: vec![[7; 32]], reason, by, at };
    caudal::ledger::store::accept(&mut db.acquire().await.unwrap(), &ledger_key(), &[loss]).await.unwrap();
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_cursor_of_another_history_is_refused(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let ana = app.user("ana");
    ana.open_account(CLABE).await;
    let mut listener = Listener::new(&ana, "?from=").await;
    let (cursor, _) = listener.next().await.unwrap();
    Listener::new(&ana, &format!("?from={cursor}")).await;
    let refused = async |cursor: &str| {
        let last = ana.with("last-event-id", cursor);
        last.get("/api/ledger/events").await.assert_problem(410, "cursor-expired", Some("from"));
    };
    // Ahead of the chain, as it is after a restore that nobody accepted.
    refused(&format!("{cursor}9")).await;
    accept_loss(&db, Uuid::from_u128(1), (0, 9)).await;
    let end = tokio::time::timeout(Duration::from_secs(5), listener.body.frame()).await;
    assert!(matches!(end, Ok(None)), "streams of the old history end");
    refused(&cursor).await;
    let (_, events) = Listener::new(&ana, "?from=").await.next().await.unwrap();
    assert_eq!(events[0]["type"], "opening");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_stream_opens_while_another_one_reads_its_backlog(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    ana.open_account(CLABE).await;
    luis.open_account(PAYEE_CLABE).await;
    let (cursor, _) = Listener::new(&luis, "?from=").await.next().await.unwrap();
    let mut transaction = db.begin().await.unwrap();
    sqlx::query("lock table transfer_event in access exclusive mode").execute(&mut *transaction).await.unwrap();
    let waiting = tokio::spawn(async move { ana.stream("/api/ledger/events?from=").await });
    // Without reading anything, now and after the last event.
    for query in [String::new(), format!("?from={cursor}")] {
        let open = Listener::new(&luis, &query);
        assert!(tokio::time::timeout(Duration::from_secs(1), open).await.is_ok(), "{query} waits");
    }
    assert!(!waiting.is_finished());
    transaction.rollback().await.unwrap();
    assert_eq!(waiting.await.unwrap().0, 200);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_backlog_is_bounded(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    ana.transfer(&from, &to, "1").await.assert_status(200);
    // So many numbers are left out as if there were a hundred thousand batches.
    let ends = "select chain_id, max(seq) from ledger_batch group by 1";
    let (chain_id, end): (Uuid, i64) = sqlx::query_as(ends).fetch_one(&db).await.unwrap();
    accept_loss(&db, chain_id, (end + 1, end + 100_000)).await;
    sqlx::query("update ledger_writer set leased_until = 'epoch'").execute(&db).await.unwrap();
    let app = TestApp::new(db.clone()).await;
    let ana = app.user("ana");
    ana.transfer(&from, &to, "2").await.assert_status(200);
    let seqs: Vec<i64> = sqlx::query_scalar("select seq from ledger_batch order by 1").fetch_all(&db).await.unwrap();
    assert_eq!(seqs, [0, 1, end + 100_001]);
    // The few transfers of a user are found among any number of batches.
    let (_, events) = Listener::new(&ana, "?from=").await.collect(3).await;
    assert_eq!(amounts(&events)[1..], [1.0, 2.0]);
    let many = "insert into transfer select (jsonb_populate_record(t, jsonb_build_object(
            'transfer_id', gen_random_uuid(), 'spei_reference', 'X' || n))).*
        from transfer t, generate_series(1, 10000) as n where amount = 100";
    sqlx::query(many).execute(&db).await.unwrap();
    let far = ana.get("/api/ledger/events?from=").await;
    far.assert_problem(400, "validation-failed", Some("from"));
    assert_eq!(far.json()["errors"][0]["code"], "out-of-range");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn concurrent_streams_of_a_user_are_limited(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let mut listeners = Vec::new();
    for _ in 0..LISTENERS_EACH_MAX {
        listeners.push(Listener::new(&ana, "").await);
    }
    ana.get("/api/ledger/events").await.assert_problem(429, "too-many-requests", None);
    assert_eq!(ana.get("/api/ledger/events").await.header("retry-after"), Some("1"));
    // Other users still get one, up to the host's limit; a closed stream frees its place.
    for user in 0..LISTENERS_MAX - LISTENERS_EACH_MAX {
        listeners.push(Listener::new(&app.user(&format!("user {user}")), "").await);
    }
    app.user("luis").get("/api/ledger/events").await.assert_problem(503, "overloaded", None);
    listeners.remove(0);
    Listener::new(&ana, "").await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn invalid_cursors_and_missing_tokens_are_refused(db: PgPool) {
    let app = TestApp::new(db).await;
    app.anon().get("/api/ledger/events").await.assert_problem(401, "unauthorized", None);
    let ana = app.user("ana");
    for cursor in ["x", "0", "0.1-0.2", "-1.1", "0.99999999999999999999", "5f3a9c01.0-0.1-0.2"] {
        ana.get(&format!("/api/ledger/events?from={cursor}")).await.assert_problem(
            400,
            "validation-failed",
            Some("from"),
        );
        let last = ana.with("last-event-id", cursor);
        last.get("/api/ledger/events").await.assert_problem(400, "validation-failed", Some("from"));
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_stream_ends_with_its_token(db: PgPool) {
    let app = TestApp::new(db).await;
    let now = app.clock.now();
    // With the leeway of a minute, valid for another second.
    let token = Minter::new(SECRET, token_config()).mint("ana", None, now, ::time::Duration::seconds(-59)).unwrap();
    let client = app.anon().with("authorization", &format!("Bearer {token}"));
    let (status, body) = client.stream("/api/ledger/events").await;
    assert_eq!(status, 200);
    let end = tokio::time::timeout(Duration::from_secs(30), body.collect()).await;
    assert!(end.is_ok(), "the stream outlives its token");
}
