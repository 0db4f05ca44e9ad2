//! Commands without a ledger fail, unless they are to create one.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use crate::process::{DataDir, Service, program, text};

const COMMANDS: [&[&str]; 4] = [&["token", "--user", "ana"], &["verify"], &["events"], &["replay"]];

/// Those that ask a running host.
const ASKING: [&[&str]; 9] = [
    &["fund", "--account", "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b", "--amount", "1"],
    &["freeze", "--account", "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b", "--reason", "x"],
    &["limits", "--user", "ana", "--per-day", "5"],
    &["holder", "--user", "ana"],
    &["payments", "list"],
    &["approvals", "list"],
    &["models", "list"],
    &["models", "deploy", "risk-1.0.0+00000000", "--reason", "x"],
    &["models", "report", "risk"],
];

const TOKEN: &str = "CAUDAL_OPERATOR_TOKEN_FILE";

/// Runs a command in a folder, expects one line that names `place` and `setting`, and nothing in the folder.
#[track_caller]
fn refuses(folder: &Path, arguments: &[&str], database_url: Option<&str>, place: &str, setting: &str) {
    let mut command = program(arguments);
    command.current_dir(folder).envs(database_url.map(|url| ("DATABASE_URL", url)));
    let output = command.output().unwrap();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stdout}{stderr}");
    assert_eq!(stdout, "", "{arguments:?}");
    assert!(stderr.contains(place) && stderr.contains(setting), "{arguments:?}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{arguments:?}: {stderr}");
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0, "{arguments:?} left files");
}

#[test]
fn in_an_empty_folder_every_command_names_the_folder_and_the_setting() {
    let empty = DataDir::new();
    let place = empty.path().join(".caudal");
    for arguments in COMMANDS {
        refuses(empty.path(), arguments, None, place.to_str().unwrap(), "CAUDAL_DATA_DIR");
    }
    for arguments in ASKING {
        refuses(empty.path(), arguments, None, TOKEN, "CAUDAL_DATA_DIR");
    }
}

/// Access to the database is no way around the admin API.
#[test]
fn without_a_running_host_nothing_is_asked() {
    let data = DataDir::new();
    Service::start(&data).stop();
    for arguments in ASKING {
        let output = data.command(arguments).env("CAUDAL_ADMIN_URL", "http://127.0.0.1:9").output().unwrap();
        let stderr = text(&output.stderr);
        assert!(
            stderr.contains("no host answers at http://127.0.0.1:9") && stderr.contains("CAUDAL_ADMIN_URL"),
            "{stderr}"
        );
        let output = data.command(arguments).env("CAUDAL_ADMIN_URL", "http://192.0.2.1").output().unwrap();
        assert!(text(&output.stderr).contains("must not cross a network"), "{}", text(&output.stderr));
    }
}

#[test]
fn an_empty_database_is_not_taken_for_a_ledger() {
    let (data, empty) = (DataDir::new(), DataDir::new());
    // A private Postgres without tables, alive while the commands run.
    let mut postgres = data.command(&["postgres", "--", "sh", "-c", "echo \"$DATABASE_URL\"; read -r _ || true"]);
    let mut postgres = postgres.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let url = BufReader::new(postgres.stdout.take().unwrap()).lines().next().unwrap().unwrap();
    for arguments in COMMANDS.into_iter().filter(|command| !["token", "verify"].contains(&command[0])) {
        refuses(empty.path(), arguments, Some(&url), "DATABASE_URL", "CAUDAL_DATA_DIR");
    }
    drop(postgres.stdin.take());
    assert!(postgres.wait().unwrap().success());
    let verify = data.command(&["verify"]).env("CAUDAL_LEDGER_KEY", "x".repeat(32)).output().unwrap();
    let stderr = text(&verify.stderr);
    assert!(!verify.status.success() && stderr.contains("has no ledger"), "{stderr}");
}

#[test]
fn an_empty_ledger_is_not_called_sound() {
    let data = DataDir::new();
    Service::start(&data).stop();
    let verify = data.run(&["verify"]);
    assert_eq!(verify.status.code(), Some(1));
    assert_eq!(text(&verify.stdout), "");
    assert!(text(&verify.stderr).contains("the ledger is empty"), "{}", text(&verify.stderr));
}
