//! wrk against one side of a comparison, and what the side needs for each request.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::process::Command;

use serde_json::Value;

use crate::figures::{Spread, median};
use crate::processor::Process;

/// Connections of each side.
pub(crate) const CONNECTIONS: usize = 32;

/// What wrk sends. With several authorization headers it sends them in turn.
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) body: String,
    pub(crate) authorizations: Vec<String>,
}

impl Request {
    /// In wrk's language; prints its own figures as JSON at the end.
    fn script(&self) -> String {
        let Self { method, path, body, authorizations } = self;
        let mut script = "local requests, next = {}, 0\nwrk.headers['Content-Type'] = 'application/json'\n".to_owned();
        let _ = writeln!(script, "function init()");
        for authorization in authorizations.iter().map(String::as_str).chain(authorizations.is_empty().then_some("")) {
            let value = authorization.trim().trim_start_matches("authorization: ");
            let header =
                if value.is_empty() { String::new() } else { format!("wrk.headers.Authorization = '{value}'; ") };
            let body = if body.is_empty() { "nil".to_owned() } else { format!("[[{body}]]") };
            let _ = writeln!(script, "  {header}table.insert(requests, wrk.format('{method}', '{path}', nil, {body}))");
        }
        script
            + "end\n\
            function request() next = next % #requests + 1; return requests[next] end\n\
            function done(summary, latency, _)\n\
              local errors = summary.errors\n\
              local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout\n\
              print(string.format('{\"requests\": %d, \"seconds\": %f, \"failed\": %d, \"p99_ms\": %f}',\n\
                summary.requests, summary.duration / 1e6, failed, latency:percentile(99) / 1e3))\n\
            end\n"
    }
}

/// One side and its turns.
pub(crate) struct Side {
    title: &'static str,
    pid: u32,
    address: SocketAddr,
    rates: Vec<f64>,
    tails: Vec<f64>,
    processor: Vec<f64>,
    switches: Vec<f64>,
}

impl Side {
    pub(crate) const HEAD: &'static str =
        "                              side         requests a second   p99 ms   processor us   switches each";

    pub(crate) fn new(title: &'static str, pid: u32, address: SocketAddr) -> Self {
        Self { title, pid, address, rates: vec![], tails: vec![], processor: vec![], switches: vec![] }
    }

    pub(crate) fn turn(&mut self, request: &Request, seconds: u64) {
        let script = std::env::temp_dir().join(format!("caudal-bench.{}.lua", std::process::id()));
        std::fs::write(&script, request.script()).unwrap();
        let before = Process::now(self.pid);
        let output = Command::new("wrk")
            .args(["--threads", "1", "--connections", &CONNECTIONS.to_string()])
            .args(["--duration", &format!("{seconds}s"), "--script"])
            .arg(&script)
            .arg(format!("http://{}", self.address))
            .output()
            .expect("run `make bench`: it installs wrk");
        let used = Process::now(self.pid).since(&before);
        let _ = std::fs::remove_file(&script);
        let text = String::from_utf8(output.stdout).unwrap();
        let figures: Value = serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap();
        let of = |name: &str| figures[name].as_f64().unwrap();
        assert_eq!(of("failed"), 0.0, "{}: {text}", self.title);
        self.rates.push(of("requests") / of("seconds"));
        self.tails.push(of("p99_ms"));
        self.processor.push(used.seconds * 1e6 / of("requests"));
        self.switches.push(used.switches / of("requests"));
    }

    pub(crate) fn rate(&self) -> f64 {
        median(self.rates.clone())
    }

    /// In milliseconds.
    pub(crate) fn p99(&self) -> f64 {
        median(self.tails.clone())
    }

    pub(crate) fn line(&self, path: &str) -> String {
        format!(
            "{path:29} {:8} {:>24} {:8.2} {:14.1} {:17.2}",
            self.title,
            Spread::of(&self.rates).to_string(),
            median(self.tails.clone()),
            median(self.processor.clone()),
            median(self.switches.clone()),
        )
    }
}
