//! A real host: `caudal serve` on a given database.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::client::Client;
use crate::database::Database;

/// Free ports; new accounts open with 10,000.00.
const ARGUMENTS: [&str; 6] = ["serve", "--sandbox", "--ledger-addr", "127.0.0.1:0", "--assist-addr", "127.0.0.1:0"];

/// Shared by the hosts of one ledger. They protect nothing.
pub(crate) const LEDGER_KEY: &str = "a benchmark's batches are chained with this";

/// Killed when dropped.
pub(crate) struct Host {
    child: Child,
    address: SocketAddr,
    assist: SocketAddr,
    data: String,
    is_temporary: bool,
}

impl Host {
    /// Waits until the host serves.
    pub(crate) fn start(database: &Database) -> Self {
        Self::start_with(database, &[])
    }

    /// With more arguments.
    pub(crate) fn start_with(database: &Database, arguments: &[&str]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let data = format!("/tmp/caudal-bench.{}.{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
        let mut host = Self::start_with_data(database, &data, arguments);
        host.is_temporary = true;
        host
    }

    /// Of another build.
    pub(crate) fn start_program(program: &str, database: &Database) -> Self {
        let data = format!("/tmp/caudal-bench.{}.program", std::process::id());
        let mut host = Self::spawn(command_of(program.as_ref(), &data, database), &data, &[]);
        host.is_temporary = true;
        host
    }

    /// With a data folder that stays.
    pub(crate) fn start_in(database: &Database, data: &str) -> Self {
        Self::start_with_data(database, data, &[])
    }

    fn start_with_data(database: &Database, data: &str, arguments: &[&str]) -> Self {
        Self::spawn(command(data, database), data, arguments)
    }

    fn spawn(mut command: Command, data: &str, arguments: &[&str]) -> Self {
        let mut child = command.args(ARGUMENTS).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut after = |title: &str| {
            let line = lines.find(|line| line.contains(title)).unwrap();
            let address = line.rsplit("http://").next().unwrap().split_whitespace().next().unwrap();
            address.parse().unwrap()
        };
        let (address, assist) = (after("ledger API"), after("assistance API"));
        Self { child, address, assist, data: data.to_owned(), is_temporary: false }
    }

    /// For display.
    pub(crate) fn command_line() -> String {
        format!("caudal {}", ARGUMENTS.join(" "))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn assist(&self) -> SocketAddr {
        self.assist
    }

    /// The user's authorization header.
    pub(crate) async fn authorization(&self, user: &str) -> String {
        let mut client = Client::connect(self.address).await.unwrap();
        let token = client.create("/sandbox/token", "", &json!({"user": user})).await;
        format!("authorization: Bearer {}\r\n", token["token"].as_str().unwrap())
    }

    /// The authorization header of an operator.
    pub(crate) fn operator(&self, database: &Database, scope: &str) -> String {
        let token = self.run(database, &["token", "--user", "operator", "--scope", scope]);
        format!("authorization: Bearer {}\r\n", token.trim())
    }

    /// Runs a command of the binary with this host's admin API; returns what it prints.
    pub(crate) fn run(&self, database: &Database, arguments: &[&str]) -> String {
        let mut command = command(&self.data, database);
        let output =
            command.args(arguments).env("CAUDAL_ADMIN_URL", format!("http://{}", self.assist)).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Stops gracefully, so that all database sessions end.
    pub(crate) fn stop(mut self) {
        kill(Pid::from_raw(i32::try_from(self.pid()).unwrap()), Signal::SIGTERM).unwrap();
        assert!(self.child.wait().unwrap().success(), "the host does not stop cleanly");
    }

    /// Runs a command; returns its last line, how long it took and its most resident memory.
    pub(crate) fn measure(database: &Database, name: &str) -> String {
        let data = format!("/tmp/caudal-bench.{}.measure", std::process::id());
        let start = Instant::now();
        let mut child = command(&data, database).arg(name).stdout(Stdio::piped()).spawn().unwrap();
        let status = format!("/proc/{}/status", child.id());
        let peak = std::thread::spawn(move || {
            let mut peak = String::new();
            while let Some(line) = peak_in(&status) {
                peak = line;
                std::thread::sleep(Duration::from_millis(20));
            }
            peak
        });
        let text = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
        let took = start.elapsed();
        assert!(child.wait().unwrap().success(), "{text}");
        let _ = std::fs::remove_dir_all(&data);
        let last = text.lines().last().unwrap_or_default();
        format!("caudal {name}: {took:.1?}, at most {}: {last}", peak.join().unwrap())
    }

    /// Runs `caudal verify` and returns its last line.
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
        // Also after a panic.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if self.is_temporary {
            let _ = std::fs::remove_dir_all(&self.data);
        }
    }
}

/// Of a process that runs.
fn peak_in(status: &str) -> Option<String> {
    let text = std::fs::read_to_string(status).ok()?;
    Some(text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().to_owned())
}

fn command(data: &str, database: &Database) -> Command {
    command_of(&std::env::args_os().nth(1).unwrap(), data, database)
}

fn command_of(program: &OsStr, data: &str, database: &Database) -> Command {
    let mut command = Command::new(program);
    command.args(["--data-dir", data, "--database-url", &database.url()]);
    command.env("CAUDAL_LEDGER_KEY", LEDGER_KEY).env("CAUDAL_LOG", "info");
    command
}

impl Client {
    /// Creates a resource; panics on failure.
    pub(crate) async fn create(&mut self, path: &str, headers: &str, body: &Value) -> Value {
        let (status, answer) = self.send("POST", path, headers, &body.to_string()).await.unwrap();
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
        serde_json::from_str(&answer).unwrap()
    }
}
