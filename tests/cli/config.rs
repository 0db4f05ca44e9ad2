//! The file of settings: what it can say, what is wrong with one, and what wins over it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use serde_json::json;

use crate::process::{DataDir, Service, code, program, text};

fn check(data: &DataDir, contents: &str) -> Output {
    program(&["config", "check", &data.file("caudal.toml", contents)]).output().unwrap()
}

#[test]
fn a_mistake_is_named_with_its_place() {
    let data = DataDir::new();
    for (contents, place, what) in [
        ("[service]\nledger-adr = \"x\"", "2:1", "[service] has no setting ledger-adr: did you mean ledger-addr?"),
        ("\n[servise]\n", "2:2", "there is no section [servise]: did you mean service?"),
        ("[service]\nstp-url = \"x\"", "2:1", "[service] has no setting stp-url: it belongs in [payment-rail]"),
        ("ledger-addr = \"127.0.0.1:1\"", "1:1", "ledger-addr stands in no section: it belongs in [service]"),
        ("[service]\nledger-addr = \"nowhere\"", "2:15", "invalid value 'nowhere' for 'ledger-addr <LEDGER_ADDR>'"),
        ("[service]\nrequests-per-user = -1", "2:21", "invalid value '-1'"),
        ("[service]\nsandbox = \"yes\"", "2:11", "sandbox must be true or false"),
        ("[service]\nassist-host = [\"a,b\"]", "2:15", "assist-host must be a list of strings without commas"),
        ("[payment-rail]\nstp-form = \"newest\"", "2:12", "[possible values: current, older]"),
        ("[transfers]\nbeneficiary-cooling = 1.5", "2:23", "must be a string or a whole number"),
        ("[service]\nsandbox = true\nsandbox = false", "3:1", "duplicate key"),
        ("[service]\nledger-addr = ", "2:15", ""),
        ("[service]\nCAUDAL_LEDGER_ADDR = \"x\"", "2:1", "write ledger-addr in [service]"),
        ("[payment-rail]\nrail = \"stp\"", "2:1", "all hosts share it, so it is set with `caudal policy set --rail`"),
        (
            "[database]\nledger-key = \"0123456789abcdef0123456789abcdef\"",
            "2:1",
            "it is a secret, for which ledger-key-file names a file",
        ),
    ] {
        let checked = check(&data, contents);
        code(&checked, 1);
        let said = text(&checked.stderr);
        let place = format!("caudal.toml:{place}: ");
        assert!(said.contains(&place) && said.contains(what), "{contents}: {said}");
        assert!(checked.stdout.is_empty());
    }
    // All of them at once, and none of a command that reads the file passes over them.
    let file = data.file("caudal.toml", "[service]\na = 1\n[transfers]\npending-payments = 0\n");
    for arguments in
        [&["config", "check", &file][..], &["--config", &file, "config", "show"], &["serve", "--config", &file]]
    {
        let said = text(&program(arguments).output().unwrap().stderr);
        assert!(said.contains("caudal.toml:2:1: ") && said.contains("caudal.toml:4:20: "), "{arguments:?}: {said}");
    }
}

#[test]
fn what_does_not_go_together_is_named() {
    let data = DataDir::new();
    for (contents, what) in [
        ("[certificates]\nledger-tls-cert = \"cert.pem\"", "--ledger-tls-key"),
        ("[service]\nsandbox = true\nledger-addr = \"0.0.0.0:8080\"", "--sandbox gives money away"),
        ("[service]\nledger-addr = \"0.0.0.0:8080\"", "plain HTTP on 0.0.0.0:8080 can be read in transit"),
        ("[openid-provider]\nconsole-client = \"console\"", "use --jwt-keys discover"),
    ] {
        let checked = check(&data, contents);
        code(&checked, 1);
        assert!(text(&checked.stderr).contains(what), "{contents}: {}", text(&checked.stderr));
    }
    let password = "[database]\ndatabase-url = \"postgres://ana:secret@db/bank\"";
    for (mode, status) in [(0o644, 1), (0o660, 1), (0o640, 0), (0o600, 0)] {
        let file = data.file("caudal.toml", password);
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        let checked = program(&["config", "check", &file]).output().unwrap();
        code(&checked, status);
        let is_named = text(&checked.stderr).contains(":2:1: others can read the password in database-url: put it");
        assert_eq!(is_named, status == 1, "{mode:o}: {checked:?}");
    }
    code(&program(&["config", "check"]).output().unwrap(), 1);
    let missing = program(&["config", "check", "/nonexistent/caudal.toml"]).output().unwrap();
    assert!(text(&missing.stderr).contains("cannot read /nonexistent/caudal.toml"), "{missing:?}");
}

#[test]
fn the_example_has_every_setting_with_its_default() {
    let data = DataDir::new();
    let example = text(&program(&["config", "example"]).output().unwrap().stdout);
    code(&check(&data, &example), 0);
    let is_default = |line: &&str| line.starts_with('#') && !line.starts_with("# ") && !line.ends_with("= \"\"");
    let count = example.lines().filter(is_default).count();
    assert!(count > 30, "{count}");
    let all: String =
        example.lines().map(|line| format!("{}\n", if is_default(&line) { &line[1..] } else { line })).collect();
    let checked = check(&data, &all);
    code(&checked, 0);
    assert!(text(&checked.stdout).contains(&format!("{count} settings, all of them valid")), "{checked:?}");
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let data = DataDir::new();
    let contents = "[service]\nrequests-per-user = 1\nrequests-per-address = 2\nassist-host = [\"a\", \"b\"]\n\
                    [transfers]\npending-payments = 3\n[database]\ndatabase-url = \"postgres://ana:secret@db/bank\"\n";
    let file = data.file("caudal.toml", contents);
    let mut command = program(&["config", "show", "--requests-per-user", "7"]);
    let shown = command.env("CAUDAL_CONFIG", &file).env("CAUDAL_REQUESTS_PER_ADDRESS", "8").output().unwrap();
    code(&shown, 0);
    let shown = text(&shown.stdout);
    let row = |name: &str| {
        let mut cells = shown.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        cells.find(|cells| cells[1] == name).unwrap()[2..].join(" ")
    };
    assert_eq!(row("requests-per-user"), "7 command line");
    assert_eq!(row("requests-per-address"), "8 CAUDAL_REQUESTS_PER_ADDRESS");
    assert_eq!(row("assist-host"), format!("a,b {file}:4"));
    assert_eq!(row("pending-payments"), format!("3 {file}:6"));
    assert_eq!(row("database-url"), format!("postgres://ana:***@db/bank {file}:8"));
    assert_eq!(row("failover-wait"), "35s default");
    assert!(!shown.contains("secret"), "{shown}");
}

#[test]
fn a_host_and_commands_take_their_settings_from_it() {
    let data = DataDir::new();
    let contents = format!(
        "[service]\nsandbox = true\nledger-addr = \"127.0.0.1:0\"\nassist-addr = \"127.0.0.1:0\"\n\
         [database]\ndata-dir = \"{}\"\n",
        data.path().display(),
    );
    let file = data.file("caudal.toml", &contents);
    let service = Service::start_command(program(&["serve", "--config", &file]));
    service.must("POST", "/api/ledger/accounts", Some(json!({"accountType": "checking"})));
    code(&program(&["--config", &file, "verify"]).output().unwrap(), 0);
    // What follows is the other program's.
    let psql = program(&["postgres", "--config", &file, "--", "sh", "-c", "echo $# $DATABASE_URL"]).output().unwrap();
    assert!(text(&psql.stdout).starts_with("0 postgres://"), "{psql:?}");
}
