//! How a host listens outside the sandbox, with curl as a client.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::process::{DataDir, Service, text};
use crate::server::{Server, accepted, start, token};

/// A copy of a certificate or key that only its owner can read.
fn pem(data: &DataDir, name: &str) -> String {
    let copy = data.path().join(name);
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/api/tls").join(name), &copy).unwrap();
    fs::set_permissions(&copy, Permissions::from_mode(0o600)).unwrap();
    copy.to_str().unwrap().to_owned()
}

/// The head of an answer in lower case, or nothing.
fn curl(arguments: &[&str]) -> String {
    let output = Command::new("curl").args(["-sS", "-D", "-", "-o", "/dev/null"]).args(arguments).output().unwrap();
    if output.status.success() { text(&output.stdout).to_lowercase() } else { String::new() }
}

#[test]
fn plain_http_is_for_loopback_and_proxies() {
    let data = DataDir::new();
    let (certificate, key) = (pem(&data, "server.pem"), pem(&data, "server-key.pem"));
    let other = pem(&data, "renewed-key.pem");
    let readable = data.path().join("readable.pem");
    fs::copy(&key, &readable).unwrap();
    fs::set_permissions(&readable, Permissions::from_mode(0o644)).unwrap();
    let cases: [(&[&str], &[&str]); 7] = [
        (
            &["--ledger-addr", "0.0.0.0:0", "--assist-addr", "127.0.0.1:0"],
            &["--ledger-tls-cert", "--behind-proxy", "--ledger-addr"],
        ),
        (
            &["--ledger-addr", "127.0.0.1:0", "--assist-addr", "[::]:0"],
            &["--assist-tls-cert", "--behind-proxy", "--assist-addr"],
        ),
        (&["--ledger-addr", "0.0.0.0:0", "--assist-addr", "127.0.0.1:0", "--behind-proxy"], &["--trusted-proxies"]),
        (&["--ledger-addr", "127.0.0.1:0", "--ledger-tls-cert", &certificate], &["--ledger-tls-key"]),
        (&["--assist-addr", "127.0.0.1:0", "--assist-client-ca", &certificate], &["--assist-tls-cert"]),
        (&["--ledger-addr", "0.0.0.0:0", "--ledger-tls-cert", &certificate, "--ledger-tls-key", &other], &["key"]),
        (
            &[
                "--ledger-addr",
                "0.0.0.0:0",
                "--ledger-tls-cert",
                &certificate,
                "--ledger-tls-key",
                readable.to_str().unwrap(),
            ],
            &["chmod 600"],
        ),
    ];
    for (arguments, advice) in cases {
        let serve = [&["serve"], arguments].concat();
        let output = data.command(&serve).envs(accepted(&data)).output().unwrap();
        let said = text(&output.stderr);
        assert!(!output.status.success(), "{arguments:?}");
        for part in advice {
            assert!(said.contains(part), "{arguments:?}: {said}");
        }
    }
}

#[test]
fn a_host_speaks_tls_on_both_listeners() {
    let data = DataDir::new();
    let paths = [
        "server.pem",
        "server-key.pem",
        "authority.pem",
        "client.pem",
        "client-key.pem",
        "foreign.pem",
        "foreign-key.pem",
    ];
    let [certificate, key, authority, client, client_key, foreign, foreign_key] = paths.map(|name| pem(&data, name));
    let arguments = [
        ["--ledger-addr", "0.0.0.0:0"],
        ["--assist-addr", "127.0.0.1:0"],
        ["--ledger-tls-cert", &certificate],
        ["--ledger-tls-key", &key],
        ["--assist-tls-cert", &certificate],
        ["--assist-tls-key", &key],
        ["--assist-client-ca", &authority],
    ];
    let server = Server::with_roles(&data);
    let serve = [&["serve"], arguments.as_flattened()].concat();
    let service = start(server.command("caudal_serve", &data, &serve));
    let ledger = format!("{}/livez", service.ledger.replace("0.0.0.0", "localhost"));
    assert!(ledger.starts_with("https://"), "{ledger}");
    let answer = curl(&["--cacert", &authority, &ledger]);
    assert!(answer.starts_with("http/1.1 200") && answer.contains("strict-transport-security:"), "{answer}");
    assert_eq!(curl(&[&ledger]), "", "the system does not know this authority");
    assert_eq!(curl(&[&ledger.replace("https", "http")]), "");

    let metrics = format!("{}/metrics", service.assist);
    let with =
        |certificate: &str, key: &str| curl(&["--cacert", &authority, "--cert", certificate, "--key", key, &metrics]);
    assert!(with(&client, &client_key).starts_with("http/1.1 200"));
    assert_eq!(with(&foreign, &foreign_key), "");
    assert_eq!(curl(&["--cacert", &authority, &metrics]), "");
    // An operator's command has a certificate too.
    let operator = token(&data, "rosa", "models:admin");
    let list = |identity: &[&str], token: Option<&str>| {
        let mut command = data.command(&[&["models", "list", "--admin-url", &service.assist], identity].concat());
        command.envs(token.map(|it| ("CAUDAL_OPERATOR_TOKEN", it))).env("SSL_CERT_FILE", &authority).output().unwrap()
    };
    let identity = ["--admin-cert", &client, "--admin-key", &client_key];
    let listed = list(&identity, Some(&operator));
    assert!(text(&listed.stdout).contains("risk-2."), "{}", text(&listed.stderr));
    assert!(!list(&[], Some(&operator)).status.success());
    // Without a token it signs one of the sandbox with the key in its data folder, which this host does not accept.
    let refused = text(&list(&identity, None).stderr);
    assert!(refused.contains("outside the sandbox, set CAUDAL_OPERATOR_TOKEN_FILE"), "{refused}");
    let mut unknown = data.command(&["models", "list", "--admin-url", &service.assist]);
    let stderr = text(&unknown.env("CAUDAL_OPERATOR_TOKEN", &operator).output().unwrap().stderr);
    assert!(stderr.contains("does not trust") && stderr.contains("SSL_CERT_FILE"), "{stderr}");
    service.stop();
}

#[test]
fn a_proxy_may_terminate_tls() {
    let data = DataDir::new();
    let serve = [
        "serve",
        "--behind-proxy",
        "--trusted-proxies",
        "10.0.0.0/8",
        "--ledger-addr",
        "0.0.0.0:0",
        "--assist-addr",
        "127.0.0.1:0",
    ];
    let server = Server::with_roles(&data);
    let service = start(server.command("caudal_serve", &data, &serve));
    let answer = curl(&[&format!("{}/livez", service.ledger.replace("0.0.0.0", "127.0.0.1"))]);
    assert!(answer.starts_with("http/1.1 200") && answer.contains("strict-transport-security:"), "{answer}");
    service.stop();
}

#[test]
fn the_sandbox_does_not_pin_browsers_to_tls() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let answer = curl(&[&format!("{}/livez", service.ledger)]);
    assert!(answer.starts_with("http/1.1 200") && !answer.contains("strict-transport-security"), "{answer}");
    service.stop();
}
