//! Single transfers over HTTP, compared with pgbench.
//!
//! 64 clients send transfers over HTTP, each with its own key; 64 clients of pgbench make the same transfers with
//! hand-written SQL (`transfer.sql`), one transaction each, on the same server. The sides take turns.

use crate::Settings;
use crate::database::{Database, Server};
use crate::figures::{Figures, median};
use crate::host::Host;
use crate::peer::Peer;
use crate::processor::Used;
use crate::report::{self, Target, say};
use crate::senders::{Service, Spread, Until};
use crate::{ACCOUNTS, CLIENTS};

/// Turns of each side; the median counts.
const TURNS: usize = 5;

/// The hot account is one user's, who may make 1,000 requests a second by default: it would measure that limit.
const LIMIT: [&str; 2] = ["--requests-per-user", "20000"];

pub(crate) async fn run(server: &Server, settings: &Settings) {
    let time = settings.time;
    let mut peer = Peer::prepare(server).await;
    let database = server.database("transfers").await;
    let service = Service::new(Host::start_with(&database, &LIMIT)).await;
    let now = || Used::now(&[service.host.pid()], server.pid());
    say!("{CLIENTS} clients, {ACCOUNTS} accounts, {TURNS} turns of {} s each", time.as_secs());
    say!("  {} {}", Host::command_line(), LIMIT.join(" "));
    say!("  {}", peer.command_line(time));
    say!("{}", Figures::HEAD);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for spread in [Spread::Uniform, Spread::Zipf, Spread::Hot] {
        let mut rates = Vec::new();
        for _ in 0..TURNS {
            if spread == Spread::Uniform {
                let before = now();
                let figures = peer.run(time).await;
                theirs.push(figures.per_second());
                say!("{}", figures.line("pgbench uniform", &now().since(&before)));
            }
            let before = now();
            let figures = service.run(spread, Until::Time(time)).await;
            rates.push(figures.per_second());
            say!("{}", figures.line(&format!("caudal {spread}"), &now().since(&before)));
        }
        ours.push((spread, median(rates)));
    }
    let (_, uniform) = ours[0];
    report::result("transfers / pgbench", uniform / median(theirs), Target::AtLeast(2.5));
    for (spread, rate) in &ours[1..] {
        report::result(&format!("transfers, {spread} / uniform"), rate / uniform, Target::AtLeast(0.9));
    }
    service.host.stop();
    peer.check().await;
    check(&database).await;
    server.drop(peer.database).await;
    server.drop(database).await;
}

/// Money is conserved, on our side.
async fn check(database: &Database) {
    let (sum, transfers, debits): (i64, i64, i64) = sqlx::query_as(
        "select (select coalesce(sum(posted), 0)::bigint from account_balance),
            (select count(*) from transfer where kind = 'spei'),
            (select count(*) from entry join account using (account_id) where kind = 'customer' and delta < 0)",
    )
    .fetch_one(&mut database.connect().await)
    .await
    .unwrap();
    say!("{transfers} transfers, {debits} debits, sum of all balances {sum}");
    assert_eq!((sum, transfers), (0, debits));
}
