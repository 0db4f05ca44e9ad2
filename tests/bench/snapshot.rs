//! Transfers while an old snapshot is open, as `pg_dump` keeps one, compared with the same without.
//!
//! No version of a row that is newer than the snapshot can be removed, so updates of busy rows take longer and longer.

use std::sync::Arc;

use sqlx::{Connection as _, Executor as _};

use crate::database::Server;
use crate::figures::{Figures, median};
use crate::host::Host;
use crate::processor::Used;
use crate::report::say;
use crate::senders::{self, Sender, Spread, Until};
use crate::{ACCOUNTS, CLIENTS, Settings};

/// Turns of each side; the median counts.
const TURNS: usize = 3;

pub(crate) async fn run(server: &Server, settings: &Settings) {
    // Long enough for the versions to add up.
    let time = settings.time * 3;
    let database = server.database("snapshot").await;
    let host = Host::start(&database);
    let senders: Arc<[Sender]> = senders::open(&host, ACCOUNTS).await.into();
    say!("{CLIENTS} clients, {ACCOUNTS} accounts, {TURNS} turns of {} s each", time.as_secs());
    say!("{}", Figures::HEAD);
    let mut rates = [Vec::new(), Vec::new()];
    for _ in 0..TURNS {
        for (side, name) in ["without", "with an old snapshot"].into_iter().enumerate() {
            let mut db = database.connect().await;
            if side == 1 {
                db.execute("begin isolation level repeatable read; select from transfer limit 1").await.unwrap();
            }
            let before = Used::now(&[host.pid()], server.pid());
            let figures = senders::load(&[host.address()], &senders, CLIENTS, Spread::Uniform, Until::Time(time)).await;
            say!("{}", figures.line(name, &Used::now(&[host.pid()], server.pid()).since(&before)));
            rates[side].push(figures.per_second());
            db.close().await.unwrap();
            database.connect().await.execute("vacuum").await.unwrap();
        }
    }
    let [without, with] = rates.map(median);
    say!("with an old snapshot / without: {:.2}", with / without);
    host.stop();
    say!("{}", Host::verify(&database));
    server.drop(database).await;
}
