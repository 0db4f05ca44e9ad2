//! Runs the program and talks to it.

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// Longest time that anything here may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A data folder that is deleted when dropped.
pub(crate) struct DataDir(pub(crate) PathBuf);

impl DataDir {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Short, because a socket's path is.
        let name = format!("/tmp/caudal-cli.{}.{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        fs::create_dir_all(&name).unwrap();
        fs::set_permissions(&name, Permissions::from_mode(0o711)).unwrap();
        Self(name.into())
    }

    /// The private server's process, if it runs.
    pub(crate) fn postgres(&self) -> Option<i32> {
        let text = fs::read_to_string(self.0.join("postgres/data/postmaster.pid")).ok()?;
        let pid = text.lines().next()?.parse().ok()?;
        is_running(pid).then_some(pid)
    }

    /// The program with this data folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(arguments);
        command.env("CAUDAL_DATA_DIR", &self.0);
        command
    }

    /// Runs a command to completion.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs an operator's command against a service.
    pub(crate) fn ask(&self, service: &Service, arguments: &[&str]) -> Output {
        self.command(arguments).env("CAUDAL_ADMIN_URL", &service.assist).output().unwrap()
    }

    /// Writes a file that only its owner can read, and returns its path.
    pub(crate) fn file(&self, name: &str, contents: &str) -> String {
        fs::write(self.0.join(name), contents).unwrap();
        fs::set_permissions(self.0.join(name), Permissions::from_mode(0o600)).unwrap();
        self.name(name)
    }

    pub(crate) fn name(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }

    /// Names of the files in the folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// The clone.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[track_caller]
pub(crate) fn code(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
}

/// The program without settings from the environment of the test run.
pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
    for setting in ["CAUDAL_ADMIN_URL", "CAUDAL_CONFIG", "CAUDAL_DATA_DIR", "CAUDAL_LEDGER_KEY", "DATABASE_URL"] {
        command.env_remove(setting);
    }
    command.args(arguments).env("CAUDAL_LOG", "warn");
    command
}

impl Drop for DataDir {
    fn drop(&mut self) {
        if let Some(pid) = self.postgres() {
            let _ = kill(Pid::from_raw(pid), Signal::SIGQUIT);
        }
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Whether a process runs; one that only waits to be reaped does not.
pub(crate) fn is_running(pid: i32) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|command_line| !command_line.is_empty())
}

/// What a finished command printed.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

/// A running service.
pub(crate) struct Service {
    child: Child,
    pub(crate) ledger: String,
    pub(crate) assist: String,
    pub(crate) token: String,
    /// Up to the last line of the banner.
    pub(crate) printed: Vec<String>,
}

impl Service {
    /// Starts the sandbox on free ports and waits until it prints its addresses.
    pub(crate) fn start(data: &DataDir) -> Self {
        Self::start_with(data, Stdio::inherit())
    }

    /// The same, logging to `log`.
    pub(crate) fn start_with(data: &DataDir, log: Stdio) -> Self {
        let arguments = ["serve", "--sandbox", "--ledger-addr", "127.0.0.1:0", "--assist-addr", "127.0.0.1:0"];
        let mut command = data.command(&arguments);
        command.stderr(log);
        Self::start_command(command)
    }

    /// The same, with a command that has more settings.
    pub(crate) fn start_command(command: Command) -> Self {
        let mut service = Self::printing(command, "export TOKEN=");
        service.token = service.token.trim_start_matches("export TOKEN=").to_owned();
        service
    }

    /// Starts a host and reads what it prints up to the line with `last`, which it keeps as the token.
    pub(crate) fn printing(mut command: Command, last: &str) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = Vec::new();
        let mut printed = BufReader::new(child.stdout.take().unwrap());
        while lines.last().is_none_or(|line: &String| !line.contains(last)) {
            let mut line = String::new();
            assert!(printed.read_line(&mut line).unwrap() > 0, "no {last} in {lines:#?}");
            lines.push(line);
        }
        // A pipe without a reader would end the host.
        std::thread::spawn(move || std::io::copy(&mut printed, &mut std::io::sink()));
        let after = |mark: &str| {
            let line = lines.iter().find_map(|line| line.split(mark).nth(1));
            line.and_then(|rest| rest.split_whitespace().next()).unwrap_or_default().to_owned()
        };
        let token = lines.last().map(|line| line.trim().to_owned()).unwrap_or_default();
        Self { child, ledger: after("ledger API"), assist: after("assistance API"), token, printed: lines }
    }

    /// Sends a request with the printed token; returns status and body.
    pub(crate) fn call(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let (status, text) = self.send(method, path, &body, &self.token);
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    /// Sends any body with any token, to the listener that has the path.
    pub(crate) fn send(&self, method: &str, path: &str, body: &str, token: &str) -> (u16, String) {
        let is_internal = ["/ai", "/admin", "/rails"].iter().any(|it| path.starts_with(it));
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", if is_internal { &self.assist } else { &self.ledger }))
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json")
            .body(body.to_owned())
            .unwrap();
        let config = ureq::config::Config::builder().http_status_as_error(false).timeout_global(Some(PATIENCE)).build();
        let mut response = ureq::Agent::new_with_config(config).run(request).unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        (response.status().as_u16(), text)
    }

    /// The same; panics unless it succeeds.
    pub(crate) fn must(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        let (status, answer) = self.call(method, path, body);
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    /// The service's process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.pid()).unwrap()), signal).unwrap();
    }

    /// Waits for the exit code, `None` after a signal.
    pub(crate) fn wait(&mut self) -> Option<i32> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(start.elapsed() < PATIENCE, "the service does not exit");
            sleep(Duration::from_millis(10));
        }
    }

    /// Stops as an operator does.
    pub(crate) fn stop(mut self) {
        self.signal(Signal::SIGTERM);
        assert_eq!(self.wait(), Some(0));
    }
}

impl Drop for Service {
    /// A failed test leaves nothing running.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something holds.
pub(crate) fn eventually(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "not in time: {what}");
        sleep(Duration::from_millis(2));
    }
}
