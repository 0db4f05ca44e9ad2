//! TLS to Postgres, against a server of our own that accepts nothing else.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use crate::process::{DataDir, PATIENCE, program, text};

/// A Postgres that speaks TLS on a loopback port.
struct Server {
    process: Child,
    folder: DataDir,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn certificate(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cli/tls").join(name)
}

impl Server {
    fn start() -> Self {
        let folder = DataDir::new();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let data = folder.0.join("data");
        fs::set_permissions(&folder.0, Permissions::from_mode(0o777)).unwrap();
        let run = |script: &str| {
            let mut command = Command::new("bash");
            command.args(["-euc", script]).current_dir("/").env("DATA", &data);
            // Postgres refuses root.
            if nix::unistd::Uid::effective().is_root() {
                let user = nix::unistd::User::from_name("postgres").unwrap().expect("the user postgres");
                command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
            }
            command.env("PORT", port.to_string());
            command
        };
        let bin = r#"bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1 || true); bin=${bin:-$(pg_config --bindir)}"#;
        // The certificates may be where that user cannot read.
        for name in ["server.pem", "server-key.pem"] {
            let copy = folder.0.join(name);
            fs::copy(certificate(name), &copy).unwrap();
            fs::set_permissions(&copy, Permissions::from_mode(0o644)).unwrap();
        }
        let create = format!(
            r#"{bin}; "$bin/initdb" -D "$DATA" -U caudal --auth=trust >/dev/null
            cp "$DATA/../server.pem" "$DATA/../server-key.pem" "$DATA"; chmod 600 "$DATA/server-key.pem"
            echo 'hostssl all all 127.0.0.1/32 trust' > "$DATA/pg_hba.conf""#
        );
        assert!(run(&create).status().unwrap().success());
        let serve = format!(
            r#"{bin}; exec "$bin/postgres" -D "$DATA" -p "$PORT" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
            -c ssl=on -c ssl_cert_file=server.pem -c ssl_key_file=server-key.pem"#
        );
        let process = run(&serve).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let server = Self { process, folder, port };
        let begun = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < PATIENCE, "Postgres does not listen");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        server
    }

    /// What a command that uses the database says; empty if it succeeds.
    fn verify(&self, host: &str, parameters: &str) -> String {
        let url = format!("postgres://caudal@{host}:{}/postgres?{parameters}", self.port);
        let mut command = program(&["--create", "verify"]);
        command.env("DATABASE_URL", url).env("CAUDAL_DATA_DIR", self.folder.0.join("caudal"));
        let output = command.output().unwrap();
        if output.status.success() { String::new() } else { text(&output.stderr) }
    }
}

#[test]
fn postgres_is_reached_with_tls_and_under_its_own_name() {
    let server = Server::start();
    let root = |name: &str| format!("sslmode=verify-full&sslrootcert={}", certificate(name).display());
    for (host, parameters) in [("localhost", root("authority.pem")), ("127.0.0.1", "sslmode=require".to_owned())] {
        let said = server.verify(host, &parameters);
        assert!(said.contains("the ledger is empty"), "{host} {parameters}: {said}");
    }
    for (host, parameters) in [
        ("127.0.0.1", root("authority.pem")),
        ("localhost", root("stranger.pem")),
        ("localhost", "sslmode=verify-full".to_owned()),
        ("localhost", "sslmode=disable".to_owned()),
    ] {
        let said = server.verify(host, &parameters);
        assert!(said.contains("cannot connect to Postgres"), "{host} {parameters}: {said}");
    }
}
