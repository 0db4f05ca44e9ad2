//! Two hosts send for one user with a limit for a day, compared with the same user without one.
//!
//! A limit is decided on the user's row, so all of the user's batches want that row. The others may not notice.

use std::sync::Arc;

use crate::Settings;
use crate::database::Server;
use crate::figures::{Figures, Sorted, median};
use crate::host::Host;
use crate::processor::Used;
use crate::report::{self, Target, say};
use crate::senders::{self, Sender, Spread, Until};

const HOSTS: usize = 2;

/// Of the user with the limit, who has two accounts.
const CLIENTS: usize = 12;

/// Turns of each side; the median counts.
const TURNS: usize = 15;

/// Never reached, in MXN. The user may send more than 1,000 requests a second.
const LIMIT: [&str; 4] = ["--day-limit", "900000000", "--requests-per-user", "20000"];

/// Hosts with the same terms, on a database of their own.
struct Side {
    name: &'static str,
    hosts: Vec<Host>,
    user: Arc<[Sender]>,
    other: Arc<[Sender]>,
    rates: Vec<f64>,
    /// The other user's 99th percentiles.
    p99: Vec<f64>,
}

pub(crate) async fn run(server: &Server, settings: &Settings) {
    say!("{HOSTS} hosts, one user with two accounts and {CLIENTS} clients beside another user with one for each host");
    say!("{TURNS} turns of {} s each, {}", settings.time.as_secs(), LIMIT.join(" "));
    say!("{}", Figures::HEAD);
    let (mut sides, mut databases) = (Vec::new(), Vec::new());
    for (name, arguments) in [("no limit", &LIMIT[2..]), ("day limit", &LIMIT[..])] {
        let database = server.database(&name.replace(' ', "_")).await;
        let hosts: Vec<Host> = (0..HOSTS).map(|_| Host::start_with(&database, arguments)).collect();
        let mut opened = senders::open(&hosts[0], 6).await;
        // The sixth account is the second user's.
        let (other, user) = (vec![opened.remove(5)].into(), opened.drain(..2).collect::<Vec<_>>().into());
        sides.push(Side { name, hosts, user, other, rates: Vec::new(), p99: Vec::new() });
        let deadlocks = database.deadlocks().await;
        databases.push((database, deadlocks));
    }
    let mut alone = Vec::new();
    for _ in 0..TURNS {
        for side in &mut sides {
            side.turn(server, settings).await;
        }
        alone.push(sides[1].others_p99(settings).await);
    }
    let [none, limit] = [&sides[0], &sides[1]].map(|side| (median(side.rates.clone()), median(side.p99.clone())));
    say!(
        "the other user's p99: {:.2} ms alone, {:.2} beside no limit, {:.2} beside a limit",
        median(alone),
        none.1,
        limit.1
    );
    report::result("transfers with a day limit / without", limit.0 / none.0, Target::AtLeast(0.8));
    report::result("another user's p99 beside a day limit / none", limit.1 / none.1, Target::AtMost(2.0, ""));
    sides.into_iter().flat_map(|side| side.hosts).for_each(Host::stop);
    for (database, before) in databases {
        let deadlocks = database.deadlocks().await - before;
        say!("deadlocks: {deadlocks}; {}", Host::verify(&database));
        assert_eq!(deadlocks, 0);
        server.drop(database).await;
    }
}

impl Side {
    async fn turn(&mut self, server: &Server, settings: &Settings) {
        let pids: Vec<u32> = self.hosts.iter().map(Host::pid).collect();
        let addresses: Vec<_> = self.hosts.iter().map(Host::address).collect();
        let before = Used::now(&pids, server.pid());
        let load = senders::load(&addresses, &self.user, CLIENTS, Spread::Uniform, Until::Time(settings.time));
        let (figures, p99) = tokio::join!(load, self.others_p99(settings));
        say!("{}", figures.line(self.name, &Used::now(&pids, server.pid()).since(&before)));
        assert_eq!(figures.failed, 0, "nobody is turned away");
        self.rates.push(figures.per_second());
        self.p99.push(p99);
    }

    async fn others_p99(&self, settings: &Settings) -> f64 {
        let addresses: Vec<_> = self.hosts.iter().map(Host::address).collect();
        let figures = senders::load(&addresses, &self.other, HOSTS, Spread::Uniform, Until::Time(settings.time)).await;
        Sorted::new(figures.took).at(0.99)
    }
}
