//! How long a host takes to start, and the memory that it and idle connections need.

use std::time::Instant;

use crate::client::Client;
use crate::database::Server;
use crate::figures::median;
use crate::host::Host;
use crate::processor::resident;
use crate::report::{self, Target, say};

/// Starts; the median counts.
const TURNS: usize = 5;
/// Idle connections, fewer than one address may have.
const IDLE: usize = 1_000;

pub(crate) async fn run(server: &Server) {
    let database = server.database("start").await;
    // Compiles the components and migrates the database.
    let folder = format!("/tmp/caudal-bench-start.{}", std::process::id());
    Host::start_in(&database, &folder).stop();
    let mut times = Vec::new();
    for _ in 0..TURNS {
        let begun = Instant::now();
        let host = Host::start_in(&database, &folder);
        let (status, _) = Client::connect(host.assist()).await.unwrap().send("GET", "/readyz", "", "").await.unwrap();
        times.push(begun.elapsed().as_secs_f64() * 1e3);
        assert_eq!(status, 200);
        host.stop();
    }
    say!("{TURNS} starts on an existing database, with components already compiled; {IDLE} idle connections");
    report::result("start until ready, ms", median(times), Target::AtMost(200.0, "ms"));

    let host = Host::start_in(&database, &folder);
    let idle = resident(host.pid());
    report::result("resident memory when idle, MB", idle as f64 / 1e3, Target::AtMost(60.0, "MB"));
    let mut connections = Vec::new();
    for _ in 0..IDLE {
        let mut connection = Client::connect(host.assist()).await.unwrap();
        connection.send("GET", "/livez", "", "").await.unwrap();
        connections.push(connection);
    }
    let each = resident(host.pid()).saturating_sub(idle) as f64 / IDLE as f64;
    report::result("resident memory of an idle connection, KiB", each, Target::AtMost(10.0, "KiB"));
    drop(connections);
    host.stop();
    let _ = std::fs::remove_dir_all(&folder);
    server.drop(database).await;
}
