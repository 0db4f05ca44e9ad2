//! Orders of other banks in numbers, with notices that are doubled, late, out of order and lost, while the hosts' couriers are
//! killed: each order is credited or sent back once. `CAUDAL_INCOMING_ORDERS=100000` is the long form.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use caudal::clock::Clock;
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::task::JoinSet;

use crate::harness::{Client, Options, TestApp};
use crate::rails::StpAt;
use crate::random::Random;
use crate::reconciliation::compare;
use crate::stand_in::{Incoming, RETURN, StandIn};

const ORDERS: usize = 300;
const ACCOUNTS: usize = 20;
const SENDERS: usize = 16;
/// Of each host. Its claims end soon after.
const KILLS: usize = 3;
const CLAIM: Duration = Duration::from_secs(4);
/// Notices a second, in the part whose answers are timed.
const PACE: u32 = 200;

/// Each of a kind's percent of the orders.
const DOUBLED: usize = 20;
const LOST: usize = 10;
const UNKNOWN: usize = 2;

async fn start(db: &PgPool, stp: &StandIn) -> TestApp {
    let stp = StpAt { url: stp.stub.url.clone(), claim: CLAIM };
    TestApp::running(db.clone(), Options { stp: Some(stp), ..Options::default() }).await
}

fn order(number: usize, payee: &str) -> Incoming {
    Incoming {
        tracking_key: format!("BBVA{number:08}"),
        institution: 40_012,
        amount: format!("{}.{:02}", 1 + number % 50, number % 100),
        payer: "012180001234567897".to_owned(),
        payee: payee.to_owned(),
        state: "LQ".to_owned(),
        cause: Value::Null,
    }
}

/// Sends a notice until a host takes it; returns how long the last answer took.
async fn notify(hosts: &Mutex<Vec<Client>>, host: usize, number: usize, today: &str) -> Duration {
    let notice =
        json!({"fechaOperacion": today, "institucionOrdenante": 40_012, "claveRastreo": format!("BBVA{number:08}")});
    loop {
        let client = hosts.lock().unwrap()[host].with("accept", "application/json");
        let sent = Instant::now();
        let answer = client.post("/rails/stp/order", notice.clone()).await;
        if answer.status == 200 {
            return sent.elapsed();
        }
        assert_eq!(answer.status, 503, "only what is busy asks to send it again");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Sends all notices, several at a time.
async fn notify_all(hosts: &Arc<Mutex<Vec<Client>>>, notices: &[usize], today: &str) {
    let parts = notices.chunks(notices.len().div_ceil(SENDERS).max(1)).map(<[usize]>::to_vec);
    let senders: JoinSet<()> = parts
        .map(|part| {
            let (hosts, today) = (Arc::clone(hosts), today.to_owned());
            async move {
                for number in part {
                    notify(&hosts, number % 2, number, &today).await;
                }
            }
        })
        .collect();
    senders.join_all().await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
#[expect(clippy::print_stdout, reason = "prints figures for the reader")]
async fn each_order_counts_once_while_couriers_are_killed(db: PgPool) {
    let count = std::env::var("CAUDAL_INCOMING_ORDERS").map_or(ORDERS, |count| count.parse().unwrap());
    let mut random = Random::new(7);
    let date = caudal::rail::operating_date(Clock::system().now());
    let today = format!("{:04}{:02}{:02}", date.year(), u8::from(date.month()), date.day());
    let stp = StandIn::start(&today).await;
    let mut apps = [start(&db, &stp).await, start(&db, &stp).await];
    let hosts = Arc::new(Mutex::new(apps.iter().map(TestApp::ai).collect::<Vec<_>>()));
    let mut numbers = Vec::new();
    for user in 0..ACCOUNTS {
        numbers.push(apps[0].user(&format!("user-{user}")).issued_account().await.1);
    }
    let percent = |number: usize, of: usize, share: usize| (number * 7 + of) % 100 < share;
    let unknown: BTreeSet<usize> = (0..count).filter(|number| percent(*number, 0, UNKNOWN)).collect();
    let mut amounts = [0_i64; 2];
    for number in 0..count {
        let payee = if unknown.contains(&number) { "999180000000000009" } else { &numbers[number % ACCOUNTS] };
        let order = order(number, payee);
        amounts[usize::from(unknown.contains(&number))] += order.amount.replace('.', "").parse::<i64>().unwrap();
        stp.receive(order);
    }
    let is_sent = |number: &usize| !percent(*number, 30, LOST);
    let doubled = (0..count).filter(|number| percent(*number, 50, DOUBLED));
    let mut notices: Vec<usize> = (0..count).filter(is_sent).chain(doubled).collect();
    notices.sort_by_cached_key(|_| random.next());

    let begun = Instant::now();
    let parts = notices.len().div_ceil(2 * KILLS);
    for (part, notices) in notices.chunks(parts).enumerate() {
        let sending = {
            let (hosts, notices, today) = (Arc::clone(&hosts), notices.to_vec(), today.clone());
            tokio::spawn(async move { notify_all(&hosts, &notices, &today).await })
        };
        // Somewhere between the first of those notices and what the last one led to.
        let share = u32::try_from(random.next() % 120).unwrap();
        tokio::time::sleep(notices.len() as u32 * Duration::from_millis(1) * share / 100).await;
        let victim = part % 2;
        apps[victim].stop_courier();
        apps[victim] = start(&db, &stp).await;
        hosts.lock().unwrap()[victim] = apps[victim].ai();
        sending.await.unwrap();
    }
    let settled = "select count(*) from transfer where kind = 'received' and status <> 'pending'";
    let known: BTreeSet<&usize> = notices.iter().collect();
    let known = i64::try_from(known.len()).unwrap();
    wait_long("all that were noticed are settled", async || apps[0].count(settled).await == known).await;
    let report = compare(&apps[0], &date.to_string()).await;
    let found = i64::try_from(count).unwrap() - known;
    assert_eq!((&report["missingHere"], report["due"] == false), (&json!(found), true), "{report}");
    let all = i64::try_from(count).unwrap();
    wait_long("all are settled", async || apps[0].count(settled).await == all).await;
    let seconds = begun.elapsed().as_secs_f64();

    let sum = "select coalesce(sum(amount), 0)::bigint from transfer where kind = 'received' and status = ";
    for (status, amount) in ["completed", "failed"].into_iter().zip(amounts) {
        let query = sqlx::AssertSqlSafe(format!("{sum}'{status}'"));
        assert_eq!(sqlx::query_scalar::<_, i64>(query).fetch_one(&db).await.unwrap(), amount, "{status}");
    }
    let credited: i64 = sqlx::query_scalar(
        "select sum(posted)::bigint - $1 * 1000000 from account_balance join account using (account_id) where owner is not null",
    )
    .bind(i64::try_from(ACCOUNTS).unwrap())
    .fetch_one(&db)
    .await
    .unwrap();
    assert_eq!(credited, amounts[0]);
    let returned: BTreeSet<String> =
        stp.requests(RETURN).iter().map(|it| it.body["claveRastreo"].as_str().unwrap().to_owned()).collect();
    assert_eq!(returned, unknown.iter().map(|number| format!("BBVA{number:08}")).collect());
    apps[0].assert_sound().await;
    println!("{count} orders, {} notices, {} kills: settled in {seconds:.1} s", notices.len(), 2 * KILLS);
    time_answers(&apps[0], &hosts, &stp, (&numbers[0], &today), count).await;
}

/// Prints how long answers to notices take at a steady pace, while transfers go out.
#[expect(clippy::print_stdout, reason = "prints figures for the reader")]
async fn time_answers(
    app: &TestApp,
    hosts: &Arc<Mutex<Vec<Client>>>,
    stp: &StandIn,
    (payee, today): (&str, &str),
    first: usize,
) {
    let ana = app.user("user-0");
    let (from, to) = ana.account_and_payee().await;
    let sender = tokio::spawn(async move {
        loop {
            ana.transfer(&from, &to, "0.01").await;
        }
    });
    let mut every = tokio::time::interval(Duration::from_secs(1) / PACE);
    let mut answers = JoinSet::new();
    for number in first..first + first.min(10 * PACE as usize) {
        stp.receive(order(number, payee));
        every.tick().await;
        let (hosts, today) = (Arc::clone(hosts), today.to_owned());
        answers.spawn(async move { notify(&hosts, number % 2, number, &today).await });
    }
    let mut times = answers.join_all().await;
    sender.abort();
    times.sort_unstable();
    println!(
        "{} notices at {PACE}/s: p50 {:?}, p99 {:?}",
        times.len(),
        times[times.len() / 2],
        times[times.len() * 99 / 100]
    );
}

async fn wait_long(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !is_so().await {
        assert!(begun.elapsed() < Duration::from_secs(1_800), "not yet: {what}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
