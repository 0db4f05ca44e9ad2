//! What files have to contain, and which may exist.

use std::fs;

use regex::Regex;

use crate::source::{Source, all_scripts, assert_clean, assert_each_breaks, files, host, root};

/// What the top level may contain besides dotfiles.
const TOP_LEVEL: [&str; 12] = [
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "Makefile",
    "README.md",
    "components",
    "host",
    "migrations",
    "target",
    "tests",
    "wit",
];

/// What may come before a file's first comment.
const INTERPRETER: &str = "#!/usr/bin/env node\n";

fn headers(sources: &[Source]) -> Vec<String> {
    without_header(sources, "//!")
}

fn without_header(sources: &[Source], start: &str) -> Vec<String> {
    let bare = sources.iter().filter(|source| !source.text.trim_start_matches(INTERPRETER).starts_with(start));
    bare.map(|source| source.at(1, "does not start with a comment that says what it is for")).collect()
}

/// Declarations of a WIT file without a `///`.
fn undocumented(sources: &[Source]) -> Vec<String> {
    let no_declaration = Regex::new(r"^(//|}|use |import |export |include |$)").unwrap();
    let mut complaints = Vec::new();
    for source in sources {
        let mut before = "";
        for (index, line) in source.text.lines().map(str::trim).enumerate() {
            if !no_declaration.is_match(line) && !before.starts_with("///") {
                complaints.push(source.at(index + 1, &format!("`{line}` has no documentation")));
            }
            before = line;
        }
    }
    complaints
}

/// Prepared queries, by path and text, that no source contains any more.
fn orphans(prepared: &[(String, String)], sources: &[Source]) -> Vec<String> {
    // On one line, and without the backslashes of quotes and of continued lines.
    let flat = |text: &str| text.replace('\\', "").split_whitespace().collect::<Vec<_>>().join(" ");
    let code: Vec<_> = sources.iter().map(|source| flat(&source.text)).collect();
    let orphan = |query: &str| !code.iter().any(|code| code.contains(&flat(query)));
    let orphans = prepared.iter().filter(|(_, query)| orphan(query));
    orphans.map(|(path, _)| format!("{path}:1: no query of the host has this text; run `make prepare`")).collect()
}

fn strangers(names: &[String]) -> Vec<String> {
    let stranger = |name: &&String| !name.starts_with('.') && !TOP_LEVEL.contains(&name.as_str());
    names.iter().filter(stranger).map(|name| format!("{name}:1: does not belong to the top level")).collect()
}

#[test]
fn files_say_what_they_are_for() {
    assert_clean(headers(&host()));
    assert_clean(without_header(&all_scripts(), "/"));
    assert_each_breaks(headers, &[("host/src/a.rs", "use std::fs;\n")]);
}

#[test]
fn every_wit_item_is_documented() {
    let wit = files(&["wit"], ".wit");
    assert!(wit.len() >= 5, "only {} files in wit", wit.len());
    assert_clean(undocumented(&wit));
    assert_each_breaks(undocumented, &[("wit/a.wit", "/// A.\nrecord a {\n    b: bool,\n}\n")]);
}

#[test]
fn every_prepared_query_is_used() {
    let query = |source: Source| {
        let json: serde_json::Value = serde_json::from_str(&source.text).unwrap();
        (source.path, json["query"].as_str().unwrap().to_owned())
    };
    let prepared: Vec<_> = files(&[".sqlx"], ".json").into_iter().map(query).collect();
    assert!(!prepared.is_empty(), "nothing is prepared in .sqlx");
    assert_clean(orphans(&prepared, &host()));
    let old = [(".sqlx/a.json".to_owned(), "select 2".to_owned())];
    assert_eq!(orphans(&old, &[Source::new("host/src/db/a.rs", "query!(\"select 1\")")]).len(), 1);
}

#[test]
fn the_top_level_contains_only_what_belongs_there() {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    assert_clean(strangers(&fs::read_dir(root()).unwrap().map(name).collect::<Vec<_>>()));
    assert_eq!(strangers(&["scripts".to_owned(), ".ci".to_owned(), "wit".to_owned()]).len(), 1);
}
