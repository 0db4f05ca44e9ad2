//! Authenticated reads over HTTP, compared with pgbench running the same statements.
//!
//! What favours pgbench: no token, no HTTP, no JSON, and it throws the rows away.

use std::process::Command;

use crate::Settings;
use crate::database::{Database, Server};
use crate::figures::{Spread, median};
use crate::fill::Filled;
use crate::host::Host;
use crate::load::{CONNECTIONS, Request, Side};
use crate::report::{self, Target, say};

/// Turns of each side; the median counts.
const TURNS: usize = 5;
/// In the database, shared by all users.
const TRANSFERS: i64 = 100_000;
/// Users whose pages are read in turn, so that no one reaches the limit of requests.
const USERS: usize = 200;

/// A path, and the statement behind it.
const READS: [(&str, &str); 2] = [
    (
        "/api/ledger/accounts",
        "select account_id, account_number, account_type, posted, held, frozen, currency, created_at
         from account join account_balance using (account_id)
         where owner = 'user-' || :user and (created_at, account_id) > (
             coalesce(null::timestamptz, '-infinity'), coalesce(null::uuid, '00000000-0000-0000-0000-000000000000'))
         order by created_at, account_id limit 1001;",
    ),
    (
        "/api/ledger/transactions?limit=20",
        "select transfer_id, debit_account_id, beneficiary_id, beneficiary_name, amount, status, spei_reference,
             concept, numeric_reference, created_at
         from transfer where owner = 'user-' || :user and kind = 'spei' and (created_at, transfer_id) < (
             coalesce(null::timestamptz, 'infinity'), coalesce(null::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
         order by created_at desc, transfer_id desc limit 21;",
    ),
];

pub(crate) async fn run(server: &Server, settings: &Settings) {
    let filled = Filled::new(server, "reads", TRANSFERS, 1_000).await;
    let host = Host::start(&filled.database);
    let mut authorizations = Vec::new();
    for user in 1..=USERS {
        authorizations.push(host.authorization(&format!("user-{user}")).await);
    }
    let seconds = settings.time.as_secs().div_ceil(3);
    say!(
        "{TRANSFERS} transfers; {CONNECTIONS} connections of {USERS} users, {TURNS} turns of {seconds} s for each side"
    );
    say!("{}", Side::HEAD);
    for (path, statement) in READS {
        let request = Request { method: "GET", path, body: String::new(), authorizations: authorizations.clone() };
        let mut ours = Side::new("caudal", host.pid(), host.address());
        let mut theirs = Vec::new();
        for _ in 0..TURNS {
            ours.turn(&request, seconds);
            theirs.push(pgbench(&filled.database, statement, seconds));
        }
        say!("{}", ours.line(path));
        say!("{path:29} pgbench  {:>24}", Spread::of(&theirs).to_string());
        report::result(&format!("GET {path} / pgbench"), ours.rate() / median(theirs), Target::AtLeast(0.5));
    }
    host.stop();
    server.drop(filled.database).await;
}

/// Its statements a second.
fn pgbench(database: &Database, statement: &str, seconds: u64) -> f64 {
    let script = std::env::temp_dir().join(format!("caudal-bench.{}.sql", std::process::id()));
    std::fs::write(&script, format!("\\set user random(1, {USERS})\n{}\n", statement.replace('\n', " "))).unwrap();
    let output = Command::new("pgbench")
        .args(["--no-vacuum", "--protocol=prepared", "--jobs=1", "--client", &CONNECTIONS.to_string()])
        .args(["--time", &seconds.to_string(), "--file"])
        .arg(&script)
        .args(["--host", database.options.get_socket().unwrap().to_str().unwrap()])
        .args(["--port", &database.options.get_port().to_string()])
        .args(["--username", database.options.get_username(), &database.name])
        .output()
        .unwrap();
    let _ = std::fs::remove_file(&script);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.strip_prefix("tps = "));
    line.unwrap_or_else(|| panic!("{text}")).split(' ').next().unwrap().parse().unwrap()
}
