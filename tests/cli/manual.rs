//! What people and shells read about the commands: help, completions and manual pages.

use std::collections::BTreeSet;

use crate::process::{DataDir, program, text};

fn printed(arguments: &[&str]) -> String {
    let output = program(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn what_every_command_accepts_is_documented_once() {
    let all = printed(&["--help"]);
    assert!(all.contains("--data-dir") && all.contains("--database-url"), "{all}");
    for command in [&["models", "deploy"][..], &["serve"], &["payments", "list"]] {
        let help = printed(&[command, &["--help"]].concat());
        assert!(!help.contains("--data-dir <") && !help.contains("--postgres-bin"), "{help}");
        assert!(help.contains("`caudal --help` lists the options that every command accepts"), "{help}");
    }
    let help = printed(&["models", "deploy", "--help"]);
    assert!(help.contains("--end-canary") && help.contains("A canary always answers the same users"), "{help}");
    // They are accepted all the same, before and after the command.
    let data = DataDir::new();
    let folder = data.path().to_str().unwrap();
    for arguments in [["--data-dir", folder, "--create", "token"], ["--create", "token", "--data-dir", folder]] {
        printed(&[&arguments[..], &["--user", "ana"]].concat());
    }
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&["completions", shell]);
        for name in ["rollback", "despite-setback", "data-dir", "accept-loss"] {
            assert!(script.contains(name), "{shell} does not know {name}");
        }
    }
    let data = DataDir::new();
    let folder = data.path().join("man1");
    printed(&["man", folder.to_str().unwrap()]);
    let pages = folder.read_dir().unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
    let pages: BTreeSet<_> = pages.collect();
    for page in ["caudal.1", "caudal-serve.1", "caudal-models-deploy.1", "caudal-payments-list.1"] {
        assert!(pages.contains(page), "{pages:?}");
    }
    assert!(!pages.contains("caudal-gate.1"), "it is not for people");
    let page = std::fs::read_to_string(folder.join("caudal-models-deploy.1")).unwrap();
    assert!(page.contains("end\\-canary") && !page.contains("postgres\\-bin"), "{page}");
}
