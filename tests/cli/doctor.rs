//! `caudal doctor` names each planted mistake with its fix, and no longer once that is applied.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::process::{DataDir, text};
use crate::server::{SET, Server};

type Settings<'a> = &'a [(&'a str, &'a str)];

/// Settings with a mistake, the same without it, state and name of the finding, and what it says.
type Case<'a> = (Vec<(&'a str, &'a str)>, Vec<(&'a str, &'a str)>, (&'a str, &'a str), &'a [&'a str]);

const SERVE: &str = "caudal_serve";
const OWNER: &str = "caudal_owner";
const KEY: &str = "CAUDAL_LEDGER_KEY_FILE";

/// A host outside the sandbox with nothing wrong, once its database is set up.
struct Host {
    server: Server,
    folder: DataDir,
    /// On another file system than data folders.
    elsewhere: PathBuf,
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.elsewhere);
    }
}

impl Host {
    fn new() -> Self {
        let (server, folder) = (Server::start(), DataDir::new());
        let elsewhere = Path::new("/dev/shm").join(folder.0.file_name().unwrap());
        fs::create_dir_all(&elsewhere).unwrap();
        folder.file("key", &"k".repeat(40));
        Self { server, folder, elsewhere }
    }

    fn command(&self, role: &str, arguments: &[&str]) -> Command {
        let mut command = self.server.command(role, &self.folder, arguments);
        command.env("CAUDAL_LEDGER_KEY_FILE", self.folder.name("key"));
        command.env("CAUDAL_HEADS_COPY", self.elsewhere.join("heads.json"));
        command
    }

    fn doctor(&self, role: &str, settings: Settings<'_>) -> Output {
        self.command(role, &["doctor"]).envs(settings.iter().copied()).output().unwrap()
    }

    #[track_caller]
    fn must(&self, role: &str, arguments: &[&str]) {
        let output = self.command(role, arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    }

    /// Expects a check to end so, with `advice` in what it says or in the line below, and the exit code that follows.
    #[track_caller]
    fn finds(&self, role: &str, settings: Settings<'_>, (state, check): (&str, &str), advice: &[&str]) {
        let output = self.doctor(role, settings);
        let printed = text(&output.stdout);
        let found = findings(&printed).into_iter().find(|(found, name, _)| (&**found, &**name) == (state, check));
        let (_, _, said) =
            found.unwrap_or_else(|| panic!("no {state} of {check}:\n{printed}\n{}", text(&output.stderr)));
        for part in advice {
            assert!(said.contains(part), "{part} is not in: {said}");
        }
        let has_failed = findings(&printed).iter().any(|(state, ..)| state == "fail");
        assert_eq!(output.status.code(), Some(i32::from(has_failed)), "{printed}");
    }

    #[track_caller]
    fn is_well(&self, role: &str, settings: Settings<'_>, check: &str) {
        let printed = text(&self.doctor(role, settings).stdout);
        let of_check: Vec<_> = findings(&printed).into_iter().filter(|(_, name, _)| name == check).collect();
        assert!(!of_check.is_empty() && of_check.iter().all(|(state, ..)| state == "ok"), "{check}:\n{printed}");
    }
}

/// State, name and text of each check, with the line below if there is one.
#[track_caller]
fn findings(printed: &str) -> Vec<(String, String, String)> {
    let mut found: Vec<(String, String, String)> = Vec::new();
    for line in printed.lines() {
        match (line.strip_prefix("      "), found.last_mut()) {
            (Some(fix), Some((state, _, said))) => {
                assert!(["warn", "fail"].contains(&&**state), "{printed}");
                said.push('\n');
                said.push_str(fix);
            }
            _ if line.starts_with("skip  ") => {
                let (why, names) = line[6..].rsplit_once(": ").unwrap();
                found.extend(names.split(", ").map(|name| ("skip".to_owned(), name.to_owned(), why.to_owned())));
            }
            _ => {
                let (state, rest) = line.split_at(6);
                let (name, said) = rest.split_once("  ").unwrap();
                found.push((state.trim().to_owned(), name.to_owned(), said.trim().to_owned()));
            }
        }
    }
    for (state, name, said) in &found {
        assert!(["ok", "warn", "fail", "skip"].contains(&&**state), "{printed}");
        assert_eq!(said.contains('\n'), state == "warn" || state == "fail", "{name}: {printed}");
    }
    found
}

fn openssl(arguments: &[&str]) {
    let output = Command::new("openssl").args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
}

/// A key, and for `assist.bank` a certificate that is valid and one that has expired: their paths.
fn certificates(folder: &DataDir) -> [String; 3] {
    let [key, request, valid, expired] =
        ["key.pem", "request.pem", "valid.pem", "expired.pem"].map(|it| folder.name(it));
    let name = ["-subj", "/CN=assist.bank", "-addext", "subjectAltName=DNS:assist.bank"];
    openssl(&["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", &key]);
    openssl(&[&["req", "-new", "-key", &key, "-out", &request], &name[..]].concat());
    for (days, file) in [("90", &valid), ("0", &expired)] {
        let sign = ["x509", "-req", "-in", &request, "-signkey", &key, "-copy_extensions", "copy", "-days", days];
        openssl(&[&sign[..], &["-out", file]].concat());
    }
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    [key, valid, expired]
}

/// Settings of the assistance API's certificate and of the name that it has to be for.
fn tls<'a>(certificate: &'a str, key: &'a str, name: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![("CAUDAL_ASSIST_TLS_CERT", certificate), ("CAUDAL_ASSIST_TLS_KEY", key), ("CAUDAL_ASSIST_HOSTS", name)]
}

#[test]
fn each_mistake_of_a_setup_is_named_until_it_is_repaired() {
    let host = Host::new();
    host.finds("caudal", &[], ("fail", "role"), &["caudal is a superuser", "caudal roles | psql", SERVE]);
    host.finds(SERVE, &[], ("fail", "database"), &["cannot connect", "DATABASE_URL"]);
    host.server.sql(&host.server.must("caudal", &host.folder, &["roles"]));
    host.is_well(SERVE, &[], "database");
    host.finds(OWNER, &[], ("fail", "role"), &["caudal_owner owns", SERVE]);
    host.is_well(SERVE, &[], "role");

    host.finds(SERVE, &[], ("fail", "tables"), &["lack migration", "\nrun `caudal migrate` as the owner"]);
    host.finds(SERVE, &[], ("skip", "policy"), &[]);
    host.must(OWNER, &["migrate"]);
    host.is_well(SERVE, &[], "tables");

    host.finds(SERVE, &[], ("fail", "policy"), &["\nrun `caudal policy set --rail"]);
    host.must(OWNER, &SET);
    host.is_well(SERVE, &[], "policy");

    let before = host.folder.names();
    let output = host.doctor(SERVE, &[]);
    assert!(output.status.success(), "{}", text(&output.stdout));
    assert_eq!(host.folder.names(), before, "it changes nothing");

    for (mistake, repair, check, advice) in [
        (
            "alter role caudal_serve set synchronous_commit = off",
            "alter role caudal_serve reset all",
            "durability",
            "synchronous_commit",
        ),
        ("alter role caudal_serve set search_path = mirror", "alter role caudal_serve reset all", "rights", "verify"),
        ("revoke insert on entry from caudal_serve", "grant insert on entry to caudal_serve", "rights", "migrate"),
    ] {
        host.server.sql(mistake);
        host.finds(SERVE, &[], ("fail", check), &[advice]);
        host.server.sql(repair);
        host.is_well(SERVE, &[], check);
    }
}

#[test]
fn each_wrong_setting_is_named_until_it_is_corrected() {
    let host = Host::new();
    host.server.sql(&host.server.must("caudal", &host.folder, &["roles"]));
    host.must(OWNER, &SET);
    let [key, valid, expired] = certificates(&host.folder);
    let (readable, other) = (host.folder.file("readable", &"k".repeat(40)), host.folder.file("other", &"o".repeat(40)));
    fs::set_permissions(&readable, Permissions::from_mode(0o644)).unwrap();
    let stranger = host.folder.file("stranger.pem", include_str!("tls/server-key.pem"));
    let (here, own) = (host.folder.name("copy.json"), host.folder.name("key"));
    let there = host.elsewhere.join("copy.json").to_str().unwrap().to_owned();
    let keys = host.folder.name("keys.json");
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    let collector = format!("http://{}", collector.local_addr().unwrap());
    let closed = "http://127.0.0.1:1";

    let sound = || tls(&valid, &key, "assist.bank");
    let set = |name, value| vec![(name, value)];
    let of_key = ["is readable by others", "\nrun `chmod 600 ", &*readable];
    let certificate = ("fail", "assist certificate");
    let (stp, later) = ("CAUDAL_STP_KEY_FILE", "/run/credentials/caudal.service/keys_stp");
    let cases: [Case<'_>; 12] = [
        (set(KEY, &*readable), set(KEY, &*own), ("fail", "ledger key"), &of_key),
        (set(KEY, &*other), set(KEY, &*own), ("fail", "bound key"), &["\nconfigure the key that the other hosts"]),
        (
            set(stp, "/none"),
            set(stp, &*own),
            ("fail", "STP key"),
            &["cannot read /none", "\nset it to the private key"],
        ),
        (set(stp, later), set(stp, &*own), ("fail", "STP key"), &["\nstart the service"]),
        (tls(&expired, &key, "assist.bank"), sound(), certificate, &["expired", "--assist-tls-cert"]),
        (tls(&valid, &key, "other.bank"), sound(), certificate, &["not for other.bank", "subjectAltName"]),
        (tls(&valid, &stranger, "assist.bank"), sound(), certificate, &["belong together", "--assist-tls-key"]),
        (tls(&valid, "/none", "assist.bank"), sound(), certificate, &["cannot read /none", "--assist-tls-key"]),
        (
            set("CAUDAL_HEADS_COPY", &*here),
            set("CAUDAL_HEADS_COPY", &*there),
            ("warn", "copy of heads"),
            &["same file system", "--heads-copy"],
        ),
        (
            set("CAUDAL_JWT_KEYS", closed),
            set("CAUDAL_JWT_KEYS", &*keys),
            ("fail", "provider"),
            &["unreachable", "--jwt-keys"],
        ),
        (
            set("CAUDAL_OTLP_URL", closed),
            set("CAUDAL_OTLP_URL", &*collector),
            ("fail", "collector"),
            &["refused", "--otlp-url"],
        ),
        (
            set("CAUDAL_LEDGER_ADDR", "0.0.0.0:8080"),
            set("CAUDAL_LEDGER_ADDR", "127.0.0.1:8080"),
            ("fail", "settings"),
            &["plain HTTP", "\nset --ledger-tls-cert"],
        ),
    ];
    for (mistake, repair, finding, advice) in cases {
        host.finds(SERVE, &mistake, finding, advice);
        host.is_well(SERVE, &repair, finding.1);
    }
}

#[test]
fn a_sandbox_that_is_not_there_yet_is_well_and_stays_away() {
    let folder = DataDir::new();
    let output = folder.run(&["doctor", "--sandbox"]);
    assert!(output.status.success(), "{}", text(&output.stdout));
    assert!(findings(&text(&output.stdout)).iter().any(|(state, name, _)| (&**state, &**name) == ("skip", "database")));
    assert_eq!(folder.names(), Vec::<String>::new());
    let refused = folder.run(&["doctor"]);
    let printed = text(&refused.stdout);
    assert!(refused.status.code() == Some(1) && printed.contains("DATABASE_URL"), "{printed}");
    assert_eq!(folder.names(), Vec::<String>::new());
}
