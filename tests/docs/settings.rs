//! The tables in `host/OPERATING.md`: commands and settings come from the command line's declaration, metrics from
//! theirs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use caudal::config::Cli;
use caudal::metrics::{DEFINITIONS, Definition};
use clap::{Arg, Command, CommandFactory as _};

use crate::{read, root};

const DOCUMENT: &str = "host/OPERATING.md";

/// Renews the tables instead of comparing them.
const RENEW: &str = "RENEW";

#[test]
fn tables_match_the_declarations() {
    let document = read(DOCUMENT);
    let mut command = Cli::command();
    command.build();
    let renewed = replace(&document, "commands", &commands(&command));
    let renewed = replace(&renewed, "settings", &settings(&command));
    let renewed = replace(&renewed, "metrics", &metrics());
    if std::env::var_os(RENEW).is_some() {
        fs::write(root().join(DOCUMENT), renewed).unwrap();
    } else {
        assert!(
            document == renewed,
            "run `{RENEW}=1 cargo test --package caudal --test docs settings` to renew {DOCUMENT}"
        );
    }
}

#[test]
fn released_settings_keep_their_names() {
    let mut command = Cli::command();
    command.build();
    let serve = command.find_subcommand("serve").unwrap();
    let is_served = |variable: &str, flag: &str| {
        serve.get_arguments().any(|it| it.get_long() == Some(flag) && it.get_env().is_some_and(|it| it == variable))
    };
    for line in read("tests/docs/settings-1.0.0.txt").lines() {
        let (variable, flag) = line.split_once(' ').unwrap();
        assert!(is_served(variable, flag), "{line}: announce it in host/CHANGELOG.md for two releases before it goes");
    }
}

/// The document with new text between the markers of a table.
fn replace(document: &str, table: &str, text: &str) -> String {
    let [start, end] = [format!("<!-- {table}: generated -->\n"), format!("<!-- end of {table} -->")];
    let (before, rest) = document.split_once(&start).unwrap_or_else(|| panic!("{DOCUMENT} has no {start}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{DOCUMENT} has no {end}"));
    format!("{before}{start}\n{text}\n{end}{after}")
}

fn commands(root: &Command) -> String {
    let mut table = "| Command | |\n|---|---|\n".to_owned();
    let mut add = |name: &str, command: &Command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        writeln!(table, "| `caudal {name}` | {} |", cell(&about)).unwrap();
    };
    for command in root.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help") {
        let mut nested = command.get_subcommands().filter(|nested| nested.get_name() != "help").peekable();
        if nested.peek().is_none() {
            add(command.get_name(), command);
        }
        nested.for_each(|nested| add(&format!("{} {}", command.get_name(), nested.get_name()), nested));
    }
    table
}

fn metrics() -> String {
    let row = |Definition { name, kind, labels, help, .. }: &Definition| {
        let ending = if *kind == "counter" { "_total" } else { "" };
        let labels: Vec<_> = labels.iter().map(|label| format!("`{label}`")).collect();
        format!("| `caudal_{name}{ending}` | {kind} | {} | {} |\n", labels.join(", "), cell(help))
    };
    let rows: String = DEFINITIONS.iter().map(row).collect();
    format!("| Metric | | Labels | |\n|---|---|---|---|\n{rows}")
}

/// Every setting of `serve`, by heading and then in the order of declaration. Those of the policy have no variable.
fn settings(root: &Command) -> String {
    let serve = root.find_subcommand("serve").unwrap();
    let mut headings: Vec<&str> = Vec::new();
    let mut rows: BTreeMap<&str, String> = BTreeMap::new();
    for argument in serve
        .get_arguments()
        .filter(|it| it.get_env().is_some() || it.get_help_heading() == Some("Policy in the sandbox"))
    {
        let heading = argument.get_help_heading().unwrap_or("Service");
        if !headings.contains(&heading) {
            headings.push(heading);
        }
        rows.entry(heading).or_default().push_str(&row(argument));
    }
    let table = |heading: &&str| {
        format!("### {heading}\n\n| Variable | Flag | Default | |\n|---|---|---|---|\n{}", rows[heading])
    };
    headings.iter().map(table).collect::<Vec<_>>().join("\n")
}

fn row(argument: &Arg) -> String {
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    // A default that depends on other settings is described in the text.
    let (help, default) = match help.strip_suffix(']').and_then(|help| help.split_once(" [default: ")) {
        Some((help, default)) => (help.to_owned(), default.to_owned()),
        None => {
            let values = argument.get_default_values().iter().map(|value| value.to_string_lossy());
            let values: Vec<_> = values.map(|value| format!("`{value}`")).collect();
            let is_flag = !argument.get_action().takes_values();
            (help, if is_flag || values.is_empty() { "none".to_owned() } else { values.join(", ") })
        }
    };
    let values = argument.get_possible_values();
    let described = values.iter().filter_map(|value| Some((value.get_name(), value.get_help()?)));
    let values: Vec<_> = described.map(|(name, help)| format!("`{name}`: {help}")).collect();
    let values = if values.is_empty() { String::new() } else { format!(". {}", values.join("; ")) };
    let variable = argument.get_env().map_or_else(String::new, |name| format!("`{}`", name.to_string_lossy()));
    // A secret on the command line is refused.
    let flag = if argument.is_hide_set() { "none".to_owned() } else { format!("`--{}`", argument.get_long().unwrap()) };
    let default = if argument.get_action().takes_values() { default } else { "off".to_owned() };
    format!("| {variable} | {flag} | {} | {} |\n", cell(&default), cell(&format!("{help}{values}")))
}

fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}
