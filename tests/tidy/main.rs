//! The layout's rules, read from the sources: who may name what; where SQL, time, the environment
//! and unsafe code may stand; how long files are; what is documented.
//!
//! A rule is a function from sources to complaints, `path:line: what is wrong`. The tests at the end
//! show each of them a text that breaks it. Comments and what is inside strings do not count.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Most lines of a Rust file.
const LINES_MAX: usize = 400;

/// Most lines of the glue between a model and its component.
const GLUE_LINES_MAX: usize = 100;

/// What may stand at the top level besides dotfiles.
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

/// Folders of what is made or fetched.
const MADE: [&str; 4] = ["/target", "/node_modules", "components/js/dist", "components/js/lib"];

/// What only some files of the host may name: the name, how it looks in code, where it may stand.
const FENCES: [(&str, &str, &[&str]); 7] = [
    ("wasmtime", r"\bwasmtime\b", &["host/src/wasm/"]),
    ("js_component_bindgen", r"\bjs_component_bindgen\b", &["host/src/wasm/portable.rs"]),
    ("axum", r"\baxum\b", &["host/src/http/", "host/src/app.rs", "host/src/lib.rs", "host/src/cli/serve.rs"]),
    ("caudal_model", r"\bcaudal_model\b", &[]),
    (
        "a query",
        r"\bquery(_[a-z]+)*!|\bsqlx::query|\b(raw_sql|AssertSqlSafe|QueryBuilder|Executor)\b",
        &[
            "host/src/db/",
            "host/src/ledger/store/",
            // Creates the database, so it runs before there is one to check queries against.
            "host/src/postgres/cluster.rs",
        ],
    ),
    ("the environment", r"(^|[^.\w])env\b([^!\w]|$)", &["host/src/config.rs", "host/src/config/"]),
    ("the time of day", r"\bnow_(utc|local|v7)\b|\b(SystemTime|UtcDateTime)::now\b", &["host/src/clock.rs"]),
];

/// Where unsafe code may stand: a guest's allocator, and the loading of machine code that was proven ours.
const MAY_BE_UNSAFE: [&str; 2] = ["components/guest/", "host/src/wasm/cache.rs"];

/// May name every module.
const TOP_MODULES: [&str; 4] = ["main", "lib", "app", "cli"];

/// What the other modules of the host may name besides themselves.
const IMPORTS: [(&str, &[&str]); 12] = [
    ("http", &["app", "clock", "domain", "db", "ledger", "models", "analytics", "outbox", "rail"]),
    ("ledger", &["clock", "domain", "db", "models"]),
    ("models", &["clock", "domain", "db", "wasm"]),
    ("analytics", &["clock", "domain", "db"]),
    ("outbox", &["db"]),
    ("rail", &["clock", "domain", "db", "ledger"]),
    ("db", &["domain"]),
    ("wasm", &["domain"]),
    ("postgres", &["config"]),
    ("domain", &[]),
    ("clock", &[]),
    ("config", &["domain", "outbox", "rail"]),
];

/// One file: its path from the root, its text, and its text without comments and strings.
struct Source {
    path: String,
    text: String,
    code: String,
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        // Raw strings first: a backslash means nothing in them. A quote after an apostrophe is a
        // character, one after `<` or `&` a lifetime, which the last part does not match.
        let noise = r##"(?s)//[^\n]*|/\*.*?\*/|\br#+".*?"#+|\br"[^"]*"|"(\\.|[^"\\])*"|'(\\'|\\[^']+|[^'\\])'"##;
        let blank = |noise: &regex::Captures<'_>| match noise[0].matches('\n').count() {
            0 if noise[0].starts_with('/') => String::new(),
            0 => "\"\"".to_owned(),
            lines => "\n".repeat(lines),
        };
        let code = Regex::new(noise).unwrap().replace_all(text, blank).into_owned();
        Self { path: path.to_owned(), text: text.to_owned(), code }
    }

    /// The code before the unit tests, which stand at the end.
    fn tested_code(&self) -> &str {
        self.code.split("#[cfg(test)]").next().unwrap_or_default()
    }

    /// A complaint for each place where `pattern` matches in `code`, part of this file's.
    fn find(&self, code: &str, pattern: &str, complaint: &str) -> Vec<String> {
        let pattern = Regex::new(&format!("(?m){pattern}")).unwrap();
        pattern.find_iter(code).map(|found| self.at(line_of(code, found.start()), complaint)).collect()
    }

    fn at(&self, line: usize, complaint: &str) -> String {
        format!("{}:{line}: {complaint}", self.path)
    }

    /// The module of the host that this file belongs to: `http` for `host/src/http/error.rs`.
    fn module(&self) -> Option<&str> {
        self.path.strip_prefix("host/src/")?.split(['/', '.']).next()
    }
}

fn line_of(text: &str, place: usize) -> usize {
    text[..place].matches('\n').count() + 1
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files with this extension below folders of the root.
fn files(folders: &[&str], extension: &str) -> Vec<Source> {
    let mut waiting: Vec<_> = folders.iter().map(|&folder| folder.to_owned()).collect();
    let mut sources = Vec::new();
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                waiting.extend(Some(path).filter(|path| !MADE.iter().any(|made| path.ends_with(made))));
            } else if path.ends_with(extension) {
                sources.push(Source::new(&path, &fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
    sources
}

fn host() -> Vec<Source> {
    let sources = files(&["host/src"], ".rs");
    assert!(sources.len() > 40, "only {} files below host/src", sources.len());
    sources
}

fn all_rust() -> Vec<Source> {
    files(&["host", "components", "tests"], ".rs")
}

/// Modules and style sheets of the pages, the package and their tests.
fn all_scripts() -> Vec<Source> {
    let folders = ["host/web", "components/js", "tests"];
    let scripts: Vec<_> = [".js", ".mjs", ".css"].iter().flat_map(|it| files(&folders, it)).collect();
    assert!(scripts.len() > 40, "only {} scripts", scripts.len());
    scripts
}

#[track_caller]
fn assert_clean(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// Names that stand outside their [`FENCES`].
fn fences(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for (name, pattern, places) in FENCES {
        let complaint = format!("names {name}, which may stand only in {places:?}");
        for source in sources.iter().filter(|source| !places.iter().any(|place| source.path.starts_with(place))) {
            complaints.extend(source.find(&source.code, pattern, &complaint));
        }
    }
    complaints
}

/// Imports of the host's modules that the table does not allow.
fn imports(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources {
        let Some(module) = source.module() else { continue };
        if TOP_MODULES.contains(&module) {
            continue;
        }
        let Some((_, allowed)) = IMPORTS.iter().find(|(name, _)| *name == module) else {
            complaints.push(source.at(1, &format!("the module {module} is not in the table of imports")));
            continue;
        };
        for (line, name) in crate_names(&source.code) {
            if name != module && !allowed.contains(&name.as_str()) {
                complaints
                    .push(source.at(line, &format!("{module} names crate::{name}, and may name only {allowed:?}")));
            }
        }
        // `super` often enough is `crate`; in the root of a module once is.
        let depth = source.path.trim_end_matches("/mod.rs").matches('/').count() - 1;
        let climb = format!(r"\b(super::){{{depth}}}");
        complaints.extend(source.find(source.tested_code(), &climb, "climbs to the crate's root by super::"));
    }
    complaints
}

/// What follows `crate::`, also in braces, with its line.
fn crate_names(code: &str) -> Vec<(usize, String)> {
    let mut names = Vec::new();
    for found in Regex::new(r"\bcrate::(\w+|\{)").unwrap().captures_iter(code) {
        let name = found.get(1).unwrap();
        let line = line_of(code, name.start());
        if name.as_str() != "{" {
            names.push((line, name.as_str().to_owned()));
            continue;
        }
        let mut depth = 0;
        let mut group = String::new();
        for letter in code[name.start()..].chars() {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            match depth {
                0 => break,
                1 => group.push(letter),
                _ => {}
            }
        }
        let first = |item: &str| item.trim().split("::").next().unwrap_or_default().trim().to_owned();
        names.extend(group[1..].split(',').map(first).filter(|name| !name.is_empty()).map(|name| (line, name)));
    }
    names
}

/// Places where the domain names another crate than std and those of its value types.
fn pure_domain(sources: &[Source]) -> Vec<String> {
    let manifest = fs::read_to_string(root().join("host/Cargo.toml")).unwrap();
    let dependencies = Regex::new(r"(?m)^([a-z][a-z0-9_-]*)(\.workspace)? = ").unwrap();
    let section = manifest.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    let is_value_type = |name: &str| matches!(name, "time" | "uuid");
    let names = dependencies.captures_iter(section).map(|found| found[1].replace('-', "_"));
    let names: Vec<_> = names.filter(|name| !is_value_type(name)).collect();
    assert!(names.iter().any(|name| name == "axum") && names.len() > 10, "dependencies of host/Cargo.toml: {names:?}");
    let pattern = format!(r"(^|[^:\w])({0})::|\b(use|extern crate) ({0})\b", names.join("|"));
    let domain = sources.iter().filter(|source| source.module() == Some("domain"));
    domain
        .flat_map(|source| {
            source.find(source.tested_code(), &pattern, "the domain names more than std and value types")
        })
        .collect()
}

fn unsafe_code(sources: &[Source]) -> Vec<String> {
    let sources = sources.iter().filter(|source| !MAY_BE_UNSAFE.iter().any(|it| source.path.starts_with(it)));
    let complaint = format!("unsafe code, which may stand only in {MAY_BE_UNSAFE:?}");
    sources.flat_map(|it| it.find(&it.code, r"\bunsafe\b", &complaint)).collect()
}

fn lengths(sources: &[Source]) -> Vec<String> {
    let glue = Regex::new("^components/(risk|nudge|accessibility|transfer-rules)/src/lib.rs$").unwrap();
    let mut complaints = Vec::new();
    for source in sources {
        let max = if glue.is_match(&source.path) { GLUE_LINES_MAX } else { LINES_MAX };
        let lines = source.text.lines().count();
        if lines > max {
            complaints.push(source.at(lines, &format!("a file of {lines} lines, {max} is the limit")));
        }
    }
    complaints
}

fn headers(sources: &[Source]) -> Vec<String> {
    bare(sources, "//!")
}

fn bare(sources: &[Source], start: &str) -> Vec<String> {
    let bare = sources.iter().filter(|source| !source.text.trim_start_matches(INTERPRETER).starts_with(start));
    bare.map(|source| source.at(1, "does not start with a comment that says what it is and is not for")).collect()
}

/// Lines of a WIT file that declare something and follow no `///`.
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

/// Prepared queries, by path and text, that the host no longer makes.
fn orphans(prepared: &[(String, String)], sources: &[Source]) -> Vec<String> {
    // As one line, and without the backslashes of quotes and of continued lines.
    let flat = |text: &str| text.replace('\\', "").split_whitespace().collect::<Vec<_>>().join(" ");
    let code: Vec<_> = sources.iter().map(|source| flat(&source.text)).collect();
    let orphan = |query: &str| !code.iter().any(|code| code.contains(&flat(query)));
    let orphans = prepared.iter().filter(|(_, query)| orphan(query));
    orphans.map(|(path, _)| format!("{path}:1: no query of host/src has this text; run `make prepare`")).collect()
}

fn strangers(names: &[String]) -> Vec<String> {
    let stranger = |name: &&String| !name.starts_with('.') && !TOP_LEVEL.contains(&name.as_str());
    names.iter().filter(stranger).map(|name| format!("{name}:1: does not belong to the top level")).collect()
}

#[test]
fn names_stay_inside_their_fences() {
    assert_clean(fences(&host()));
}

#[test]
fn modules_import_what_the_layout_allows() {
    assert_clean(imports(&host()));
}

#[test]
fn the_domain_is_std_only() {
    assert_clean(pure_domain(&host()));
}

#[test]
fn unsafe_code_stands_in_the_guest_crate_and_where_machine_code_is_loaded() {
    assert_clean(unsafe_code(&all_rust()));
}

#[test]
fn files_are_short() {
    assert_clean(lengths(&all_rust()));
    assert_clean(lengths(&all_scripts()));
}

#[test]
fn files_of_the_host_say_what_they_are() {
    assert_clean(headers(&host()));
    assert_clean(bare(&all_scripts(), "/"));
}

#[test]
fn every_wit_item_is_documented() {
    let wit = files(&["wit"], ".wit");
    assert!(wit.len() >= 5, "only {} files in wit", wit.len());
    assert_clean(undocumented(&wit));
}

#[test]
fn every_prepared_query_is_still_made() {
    let query = |source: Source| {
        let json: serde_json::Value = serde_json::from_str(&source.text).unwrap();
        (source.path, json["query"].as_str().unwrap().to_owned())
    };
    let prepared: Vec<_> = files(&[".sqlx"], ".json").into_iter().map(query).collect();
    assert!(!prepared.is_empty(), "nothing is prepared in .sqlx");
    assert_clean(orphans(&prepared, &host()));
}

#[test]
fn the_top_level_holds_only_what_belongs_there() {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    assert_clean(strangers(&fs::read_dir(root()).unwrap().map(name).collect::<Vec<_>>()));
}

#[test]
fn each_rule_sees_a_text_that_breaks_it() {
    type Rule = fn(&[Source]) -> Vec<String>;
    let cases: [(Rule, &str, &str); 21] = [
        (fences, "host/src/http/a.rs", "//! A.\nfn a() { wasmtime::a(); }\n"),
        (fences, "host/src/db/a.rs", "//! A.\nuse axum::Router;\n"),
        (fences, "host/src/models/a.rs", "//! A.\nuse caudal_model as model;\n"),
        (fences, "host/src/http/a.rs", "//! A.\nlet a = sqlx::query(text);\n"),
        (fences, "host/src/cli/a.rs", "//! A.\nlet a = query_scalar!(\"select 1\");\n"),
        (fences, "host/src/ledger/apply.rs", "//! A.\nuse sqlx::Executor as _;\n"),
        (fences, "host/src/cli/a.rs", "//! A.\nuse std::{env, fs};\n"),
        (fences, "host/src/cli/a.rs", "//! A.\nlet a = std::env::var(name);\n"),
        (fences, "host/src/http/a.rs", "//! A.\nlet a = OffsetDateTime::now_utc();\n"),
        (fences, "host/src/db/a.rs", "//! A.\nlet a = SystemTime::now();\n"),
        (imports, "host/src/db/a.rs", "//! A.\nuse crate::http::error::Error;\n"),
        (imports, "host/src/http/a.rs", "//! A.\nuse crate::{domain::{risk, money}, app::App, wasm::ScoreError};\n"),
        (imports, "host/src/domain/a.rs", "//! A.\nfn a(b: crate::clock::Clock) {}\n"),
        (imports, "host/src/ledger/store/a.rs", "//! A.\nuse super::super::super::http;\n"),
        (imports, "host/src/helpers.rs", "//! A.\n"),
        (pure_domain, "host/src/domain/a.rs", "//! A.\nuse serde::Serialize;\n"),
        (unsafe_code, "components/model/src/a.rs", "//! A.\nlet a = unsafe { b() };\n"),
        (lengths, "tests/a.rs", "//! A.\n\n\n".repeat(134).leak()),
        (lengths, "components/risk/src/lib.rs", "//! A.\n".repeat(101).leak()),
        (headers, "host/src/a.rs", "use std::fs;\n"),
        (undocumented, "wit/a.wit", "/// A.\nrecord a {\n    b: bool,\n}\n"),
    ];
    for (rule, path, text) in cases {
        let complaints = rule(&[Source::new(path, text)]);
        assert_eq!(complaints.len(), 1, "{path} with {text:?}: {complaints:?}");
        assert!(complaints[0].starts_with(&format!("{path}:")), "{complaints:?}");
    }
    assert_eq!(fences(&[Source::new("host/src/db/a.rs", "//! A.\n\nuse axum::A;\n")])[0].find(":3: "), Some(16));
    let old = [(".sqlx/a.json".to_owned(), "select 2".to_owned())];
    assert_eq!(orphans(&old, &[Source::new("host/src/db/a.rs", "query!(\"select 1\")")]).len(), 1);
    assert_eq!(strangers(&["scripts".to_owned(), ".ci".to_owned(), "wit".to_owned()]).len(), 1);
}

#[test]
fn comments_strings_and_look_alikes_break_no_rule() {
    let text = "//! Not wasmtime.\nlet a = \"axum // \\\" sqlx::query\"; /* unsafe\n */ let b = '\"'; // env::var\n\
        let c: &'static str = r#\"say \"now_utc\" \\\"#; let d = command.env(A, B); let e = env!(\"X\"); let f = std::time::A;\n";
    let source = [Source::new("host/src/domain/a.rs", text)];
    let complaints = [fences(&source), imports(&source), pure_domain(&source), unsafe_code(&source), headers(&source)];
    assert_clean(complaints.concat());
    assert_eq!(source[0].code.lines().count(), text.lines().count(), "{}", source[0].code);
}
