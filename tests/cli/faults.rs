//! An error at startup is one sentence that says what to do, and nothing is left behind.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use caudal::domain::model::ModelKind;
use caudal::models::{Embedded, Registry};
use caudal::wasm::Runtime;

use crate::process::{DataDir, Service, text};

/// Starts the service and expects it to exit with one line that contains `advice`.
#[track_caller]
fn refuses(data: &DataDir, arguments: &[&str], environment: &[(&str, &str)], advice: &str) {
    let output = data.command(arguments).envs(environment.iter().copied()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    let printed = text(&output.stderr);
    assert!(printed.contains(advice), "{arguments:?}: {printed}");
    assert_eq!(printed.lines().count(), 1, "{arguments:?}: {printed}");
    assert_eq!(data.postgres(), None, "{arguments:?}");
}

#[test]
fn errors_at_startup_say_what_to_do() {
    let data = DataDir::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let free = ["--ledger-addr", "127.0.0.1:0", "--assist-addr", "127.0.0.1:0"];
    let serve = |extra: &[&'static str]| [&["serve"], &free[..], extra].concat();

    refuses(&data, &["serve", "--sandbox", "--ledger-addr", &taken], &[], "choose another address with --ledger-addr");
    let arguments = ["serve", "--sandbox", "--ledger-addr", "127.0.0.1:0", "--assist-addr", &taken];
    refuses(&data, &arguments, &[], "choose another address with --assist-addr");
    refuses(&data, &serve(&["--rail", "stp"]), &[], "caudal policy set --rail=stp");
    refuses(&data, &serve(&[]), &[], "caudal token --signing-key FILE --print-keys");
    refuses(&data, &serve(&["--approvals"]), &[], "caudal policy set --approvals=true");
    refuses(&data, &serve(&["--sandbox"]), &[("CAUDAL_LEDGER_KEY", "short")], "use at least 32");
    let exposed = ["--ledger-key", "a key that every user of the machine can see"];
    refuses(&data, &serve(&[&["--sandbox"], &exposed[..]].concat()), &[], "--ledger-key-file");
    refuses(&data, &["serve", "--sandbox", "--ledger-addr", "0.0.0.0:0"], &[], "loopback addresses");
    refuses(
        &data,
        &serve(&["--sandbox", "--otlp-url", "http://collector.example:4318"]),
        &[],
        "needs an https:// address",
    );
    let nowhere = [&["--postgres-bin", "/nonexistent"], &serve(&["--sandbox"])[..]].concat();
    refuses(&data, &nowhere, &[], "apt-get install postgresql");
    refuses(
        &data,
        &serve(&["--sandbox"]),
        &[("DATABASE_URL", "nonsense")],
        "DATABASE_URL does not have the form postgres://",
    );
    let away = [("DATABASE_URL", "postgres://nobody@127.0.0.1:1/none")];
    refuses(&data, &serve(&["--sandbox"]), &away, "start it, or correct DATABASE_URL");
    refuses(&data, &["token", "--user", " "], &[], "--user must have 1 to 255 characters");
    refuses(&data, &["--log", "a=b=c", "token", "--user", "ana"], &[], "--log is not a filter");

    refuses(&data, &["token", "--signing-key", &data.file("text", "no key"), "--print-keys"], &[], "openssl genpkey");
    let signing = data.file("signing-key", include_str!("tls/server-key.pem"));
    refuses(&data, &["token", "--signing-key", &signing, "--user", "ana"], &[], "set --jwt-issuer and --jwt-audience");

    let secret = data.path().join("ledger-key");
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o644)).unwrap();
    refuses(&data, &["token", "--user", "ana"], &[], "chmod 600");
}

#[test]
fn keys_that_others_can_read_are_refused() {
    let data = DataDir::new();
    let key = data.file("key", "a key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let stp = ["--rail", "stp", "--stp-url", "http://127.0.0.1:1", "--stp-company", "BANCO", "--stp-account", "0"];
    let serve =
        ["serve", "--sandbox", "--ledger-addr", "127.0.0.1:0", "--assist-addr", "127.0.0.1:0", "--stp-key-file", &key];
    let advice = format!("chmod 600 {key}");
    refuses(&data, &[&serve[..], &stp].concat(), &[], &advice);
    refuses(&data, &["models", "list", "--operator-token-file", &key], &[], &advice);
    refuses(&data, &["models", "list", "--admin-cert", &key, "--admin-key", &key], &[], &advice);
}

#[test]
fn a_user_claim_that_may_pass_to_others_is_warned_about() {
    for (claim, is_warned) in [("sub", false), ("oid", false), ("email", true)] {
        let output = DataDir::new().run(&["serve", "--jwt-user-claim", claim]);
        assert_eq!(text(&output.stderr).contains("gets that person's accounts"), is_warned, "{claim}");
    }
}

#[test]
fn replicated_durability_needs_replicas() {
    let data = DataDir::new();
    let free = ["--ledger-addr", "127.0.0.1:0", "--assist-addr", "127.0.0.1:0"];
    let serve = [&["serve", "--sandbox", "--durability", "replicated", "--log", "error"], &free[..]].concat();
    refuses(&data, &serve, &[], "set synchronous_standby_names in Postgres");
}

#[test]
fn a_second_service_in_the_same_folder_is_refused() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let arguments = ["serve", "--sandbox", "--ledger-addr", "127.0.0.1:0", "--assist-addr", "127.0.0.1:0"];
    let second = data.run(&arguments);
    assert_eq!(second.status.code(), Some(1));
    assert!(text(&second.stderr).contains("choose another --data-dir"), "{}", text(&second.stderr));
    service.must("GET", "/api/ledger/accounts", None);
    service.stop();
}

#[test]
fn a_component_that_does_not_load_is_named() {
    let runtime = Runtime::new().unwrap();
    let truncated = &Embedded::find("nudge").unwrap().bytes[..1_000];
    let error = Registry::load(&runtime, [(ModelKind::Nudge, truncated)]).err().unwrap();
    let error = anyhow::Error::from(error);
    let printed = format!("{error:#}");
    assert!(
        printed.starts_with("the nudge component does not load: the bytes do not compile as a component"),
        "{printed}"
    );
}
