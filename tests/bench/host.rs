//! One real host: `caudal serve` on a database that is given.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::client::Client;
use crate::database::Database;

/// What it is told: any free ports, and new accounts with 10,000.00 in them.
const ARGUMENTS: [&str; 6] = ["serve", "--sandbox", "--ledger-addr", "127.0.0.1:0", "--assist-addr", "127.0.0.1:0"];

/// Hosts of one ledger have the same secrets. These guard nothing.
const TOKEN_SECRET: &str = "a benchmark's tokens are signed with this";
const LEDGER_KEY: &str = "a benchmark's batches are chained with this";

/// A process that is gone with the measurement.
pub(crate) struct Host {
    child: Child,
    address: SocketAddr,
    data: String,
}

impl Host {
    /// Starts it and waits until it serves.
    pub(crate) fn start(database: &Database) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let data = format!("/tmp/caudal-bench.{}.{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
        let mut child = command(&data, database).args(ARGUMENTS).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let line = lines.find(|line| line.contains("ledger API")).unwrap();
        let address = line.rsplit("http://").next().unwrap().trim().parse().unwrap();
        Self { child, address, data }
    }

    /// As one could type it.
    pub(crate) fn command_line() -> String {
        format!("caudal {}", ARGUMENTS.join(" "))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// A user's header.
    pub(crate) async fn authorization(&self, user: &str) -> String {
        let mut client = Client::connect(self.address).await.unwrap();
        let token = client.make("/sandbox/token", "", &json!({"user": user})).await;
        format!("authorization: Bearer {}\r\n", token["token"].as_str().unwrap())
    }

    /// Stops as an operator does, so that all its sessions end.
    pub(crate) fn stop(mut self) {
        kill(Pid::from_raw(i32::try_from(self.pid()).unwrap()), Signal::SIGTERM).unwrap();
        assert!(self.child.wait().unwrap().success(), "the host does not stop as it should");
    }

    /// Has the program prove the ledger; gives its last line.
    pub(crate) fn verify(database: &Database) -> String {
        let data = format!("/tmp/caudal-bench.{}.verify", std::process::id());
        let output = command(&data, database).arg("verify").output().unwrap();
        let _ = std::fs::remove_dir_all(&data);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        text.lines().last().unwrap_or_default().to_owned()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // Also when a measurement fails half-way.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.data);
    }
}

fn command(data: &str, database: &Database) -> Command {
    let mut command = Command::new(std::env::args_os().nth(1).unwrap());
    command.args(["--data-dir", data, "--database-url", &database.url()]);
    command.env("CAUDAL_JWT_SECRET", TOKEN_SECRET).env("CAUDAL_LEDGER_KEY", LEDGER_KEY).env("CAUDAL_LOG", "warn");
    command
}

impl Client {
    /// Makes something, which has to succeed.
    pub(crate) async fn make(&mut self, path: &str, headers: &str, body: &Value) -> Value {
        let (status, answer) = self.send("POST", path, headers, &body.to_string()).await.unwrap();
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
        serde_json::from_str(&answer).unwrap()
    }
}
