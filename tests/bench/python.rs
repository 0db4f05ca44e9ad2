//! Risk scores over HTTP, compared with FastAPI and a model of the same kind (`python/app.py`).

use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::Settings;
use crate::client::Client;
use crate::database::Server;
use crate::host::Host;
use crate::load::{CONNECTIONS, Request, Side};
use crate::report::{self, Target, say};
use crate::scores;

/// Turns of each side; the median counts.
const TURNS: usize = 5;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/python");

/// FastAPI with two workers; stopped when dropped.
struct Python {
    child: Child,
    address: SocketAddr,
}

impl Python {
    async fn start(engine: &str) -> Self {
        let python = std::env::var("CAUDAL_BENCH_PYTHON").expect("run `make bench`: it installs FastAPI");
        // The port is free again at once.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let child = Command::new(python)
            .args(["-m", "uvicorn", "app:app", "--app-dir", FOLDER, "--workers", "2", "--loop", "uvloop"])
            .args(["--http", "httptools", "--no-access-log", "--log-level", "warning"])
            .args(["--port", &address.port().to_string()])
            .env("ENGINE", engine)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let python = Self { child, address };
        for _ in 0..300 {
            tokio::time::sleep(Duration::from_millis(200)).await;
            if let Ok(mut client) = Client::connect(address).await
                && client.send("GET", "/livez", "", "").await.is_ok()
            {
                // Both workers listen on one socket: the other one is ready soon, too.
                tokio::time::sleep(Duration::from_secs(3)).await;
                return python;
            }
        }
        panic!("FastAPI does not start");
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // It stops its workers.
        let _ = kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), Signal::SIGTERM);
        let _ = self.child.wait();
    }
}

pub(crate) async fn run(server: &Server, settings: &Settings) {
    let database = server.database("python").await;
    let host = Host::start(&database);
    let seconds = settings.time.as_secs().div_ceil(3);
    say!("wrk, {CONNECTIONS} connections, {TURNS} turns of {seconds} s for each side; two workers of uvicorn");
    say!("{}", Side::HEAD);
    let [(path, body), ..] = scores::requests();
    let request = Request { method: "POST", path, body: body.to_string(), authorizations: Vec::new() };
    for (engine, title, required) in [("onnx", "ONNX Runtime", 8.0), ("sklearn", "scikit-learn", 30.0)] {
        let python = Python::start(engine).await;
        let mut ours = Side::new("caudal", host.pid(), host.assist());
        let mut theirs = Side::new(engine, python.child.id(), python.address);
        for _ in 0..TURNS {
            ours.turn(&request, seconds);
            theirs.turn(&request, seconds);
        }
        say!("{}\n{}", ours.line(path), theirs.line(path));
        report::result(&format!("{path} / FastAPI, {title}"), ours.rate() / theirs.rate(), Target::AtLeast(required));
    }
    host.stop();
    server.drop(database).await;
}
