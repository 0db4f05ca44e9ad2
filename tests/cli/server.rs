//! A Postgres for hosts outside the sandbox.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Output, Stdio};

use crate::process::{DataDir, Service, program, text};

/// Whose tokens hosts accept, and for what.
const ISSUER: [(&str, &str); 2] = [("CAUDAL_JWT_ISSUER", "https://test.example"), ("CAUDAL_JWT_AUDIENCE", "caudal")];

/// A policy with which hosts start.
pub(crate) const SET: [&str; 8] = ["policy", "set", "--create", "--rail", "instant", CLABES, "--by", "a test"];

const CLABES: &str = "--clabe-range=64618011040000000-64618011049999999";

/// A Postgres whose superuser is `caudal`; any role may log in without a password.
pub(crate) struct Server {
    process: Child,
    url: String,
    _data: DataDir,
}

impl Server {
    pub(crate) fn start() -> Self {
        let data = DataDir::new();
        let mut command = data.command(&["postgres", "--", "sh", "-c", "echo \"$DATABASE_URL\"; read -r _ || true"]);
        // As in production, where a server waits for its disk.
        command.env_remove("CAUDAL_POSTGRES_BIN");
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let url = BufReader::new(process.stdout.take().unwrap()).lines().next().unwrap().unwrap();
        Self { process, url, _data: data }
    }

    /// With the roles, tables and a policy that hosts need.
    pub(crate) fn with_roles(folder: &DataDir) -> Self {
        let server = Self::start();
        server.sql(&server.must("caudal", folder, &["roles"]));
        server.must("caudal_owner", folder, &SET);
        server
    }

    pub(crate) fn url(&self, role: &str) -> String {
        self.url.replace("user=caudal", &format!("user={role}"))
    }

    /// A command as a role, on a host that has `folder`.
    pub(crate) fn command(&self, role: &str, folder: &DataDir, arguments: &[&str]) -> Command {
        let mut command = program(arguments);
        command.env("DATABASE_URL", self.url(role)).env("CAUDAL_DATA_DIR", &folder.0);
        command.envs(accepted(folder));
        command.env("CAUDAL_OPERATOR_TOKEN", token(folder, "operator", SCOPES));
        command
    }

    pub(crate) fn run(&self, role: &str, folder: &DataDir, arguments: &[&str]) -> Output {
        self.command(role, folder, arguments).output().unwrap()
    }

    #[track_caller]
    pub(crate) fn must(&self, role: &str, folder: &DataDir, arguments: &[&str]) -> String {
        let output = self.run(role, folder, arguments);
        assert!(output.status.success(), "{arguments:?} as {role}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    #[track_caller]
    pub(crate) fn refuses(&self, role: &str, folder: &DataDir, arguments: &[&str], advice: &[&str]) {
        let output = self.run(role, folder, arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?} as {role}: {said}");
        // A new key makes no use of components that were compiled under the old one.
        assert_eq!(said.lines().filter(|line| !line.contains("compiling it")).count(), 1, "{said}");
        for part in advice {
            assert!(said.contains(part), "{arguments:?} as {role}: {said}");
        }
    }

    /// Runs SQL as the superuser.
    pub(crate) fn sql(&self, sql: &str) -> String {
        let output = self.psql("caudal", sql);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    }

    pub(crate) fn psql(&self, role: &str, sql: &str) -> Output {
        let url = self.url(role);
        Command::new("psql").args(["-XqAt", "-v", "ON_ERROR_STOP=1", &url, "-c", sql]).output().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

const SCOPES: &str = "models:admin rules:admin ledger:operate ledger:read audit:read";

fn signed(folder: &DataDir, arguments: &[&str]) -> String {
    let key = folder.file("signing-key.pem", include_str!("tls/server-key.pem"));
    let output = program(&[&["token", "--signing-key", &key], arguments].concat()).envs(ISSUER).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Settings of a host that accepts such tokens.
pub(crate) fn accepted(folder: &DataDir) -> [(&'static str, String); 3] {
    let keys = folder.file("keys.json", &signed(folder, &["--print-keys"]));
    let [issuer, audience] = ISSUER.map(|(name, value)| (name, value.to_owned()));
    [("CAUDAL_JWT_KEYS", keys), issuer, audience]
}

/// A token that hosts accept.
pub(crate) fn token(folder: &DataDir, user: &str, scope: &str) -> String {
    signed(folder, &["--user", user, "--scope", scope])
}

/// Starts a host that prints no token.
pub(crate) fn start(command: Command) -> Service {
    Service::printing(command, "assistance API")
}
