//! The sources, without their comments, strings and unit tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

/// Folders whose files are generated, downloaded or someone else's.
const GENERATED: [&str; 6] =
    ["/target", "/node_modules", "/vendor", "web/vendored", "components/js/dist", "components/js/lib"];

/// Comments and strings. Raw strings come first, because a backslash means nothing in them; the last alternative
/// matches characters, but no lifetimes.
static NOISE: LazyLock<Regex> = LazyLock::new(|| {
    let noise = r##"(?s)//[^\n]*|/\*.*?\*/|\br#+".*?"#+|\br"[^"]*"|"(\\.|[^"\\])*"|'(\\'|\\[^']+|[^'\\])'"##;
    Regex::new(noise).unwrap()
});

/// One file: its path from the root, its text, and its text without comments and the contents of strings.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) code: String,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let blank = |noise: &regex::Captures<'_>| match noise[0].matches('\n').count() {
            0 if noise[0].starts_with('/') => String::new(),
            0 => "\"\"".to_owned(),
            lines => "\n".repeat(lines),
        };
        let code = NOISE.replace_all(text, blank).into_owned();
        Self { path: path.to_owned(), text: text.to_owned(), code }
    }

    /// The code without items under `#[cfg(test)]`, on the same lines.
    pub(crate) fn shipped_code(&self) -> String {
        const TEST: &str = "#[cfg(test)]";
        if self.path.ends_with("/tests.rs") {
            return String::new();
        }
        let mut shipped = String::new();
        let mut rest = self.code.as_str();
        while let Some(start) = rest.find(TEST) {
            let (before, item) = rest.split_at(start);
            let end = item.find(['{', ';']).map_or(item.len(), |place| match item.as_bytes()[place] {
                b'{' => block_end(item, place),
                _ => place + 1,
            });
            shipped.push_str(before);
            shipped.push_str(&"\n".repeat(item[..end].matches('\n').count()));
            rest = &item[end..];
        }
        shipped + rest
    }

    /// A complaint for each match of `pattern` in `code`, which has the lines of this file.
    pub(crate) fn find(&self, code: &str, pattern: &str, complaint: &str) -> Vec<String> {
        let pattern = Regex::new(&format!("(?m){pattern}")).unwrap();
        pattern.find_iter(code).map(|found| self.at(line_of(code, found.start()), complaint)).collect()
    }

    pub(crate) fn at(&self, line: usize, complaint: &str) -> String {
        format!("{}:{line}: {complaint}", self.path)
    }

    /// The top-level module of the host: `http` for `host/src/http/error.rs`, `db` for `host/core/src/db/sql.rs`.
    pub(crate) fn module(&self) -> Option<&str> {
        in_host(&self.path)?.split(['/', '.']).next()
    }
}

/// The end of the block that opens at `open`, after its brace.
pub(crate) fn block_end(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (place, byte) in code.bytes().enumerate().skip(open) {
        depth += i32::from(byte == b'{') - i32::from(byte == b'}');
        if depth == 0 {
            return place + 1;
        }
    }
    code.len()
}

pub(crate) fn line_of(text: &str, place: usize) -> usize {
    text[..place].matches('\n').count() + 1
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files with this extension below folders of the root.
pub(crate) fn files(folders: &[&str], ending: &str) -> Vec<Source> {
    let mut waiting: Vec<_> = folders.iter().map(|&folder| folder.to_owned()).collect();
    let mut sources = Vec::new();
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                waiting.extend(Some(path).filter(|path| !GENERATED.iter().any(|it| path.ends_with(it))));
            } else if path.ends_with(ending) {
                sources.push(Source::new(&path, &fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
    sources
}

/// What follows the folder of one of the host's crates. Modules of the lower one are also modules of the upper.
pub(crate) fn in_host(path: &str) -> Option<&str> {
    path.strip_prefix("host/src/").or_else(|| path.strip_prefix("host/core/src/"))
}

pub(crate) fn host() -> Vec<Source> {
    let sources = files(&["host/src", "host/core/src"], ".rs");
    assert!(sources.len() > 40, "only {} files of the host", sources.len());
    sources
}

pub(crate) fn all_rust() -> Vec<Source> {
    files(&["host", "components", "tests"], ".rs")
}

/// Modules and style sheets of the pages, the package and their tests.
pub(crate) fn all_scripts() -> Vec<Source> {
    let folders = ["host/web", "components/js", "tests"];
    let scripts: Vec<_> = [".js", ".mjs", ".css"].iter().flat_map(|it| files(&folders, it)).collect();
    assert!(scripts.len() > 40, "only {} scripts", scripts.len());
    scripts
}

#[track_caller]
pub(crate) fn assert_clean(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// Asserts that the rule complains once about each text, and about the right file.
#[track_caller]
pub(crate) fn assert_each_breaks(rule: fn(&[Source]) -> Vec<String>, cases: &[(&str, &str)]) {
    for (path, text) in cases {
        let complaints = rule(&[Source::new(path, text)]);
        assert_eq!(complaints.len(), 1, "{path} with {text:?}: {complaints:?}");
        assert!(complaints[0].starts_with(&format!("{path}:")), "{complaints:?}");
    }
}

#[test]
fn comments_strings_and_unit_tests_are_left_out() {
    let text =
        "//! A.\nlet a = \"axum // \\\" b\"; /* c\n */ let b = '\"'; // d\nlet c: &'static str = r#\"e \"f\" \\\"#;\n";
    let source = Source::new("host/src/a.rs", text);
    assert_eq!(source.code, "\nlet a = \"\"; \n let b = \"\"; \nlet c: &'static str = \"\";\n");
    let source = Source::new("host/src/a.rs", "a\n#[cfg(test)]\nmod b {\n{ c }\n}\nd\n#[cfg(test)]\nuse e;\nf\n");
    assert_eq!(source.shipped_code(), "a\n\n\n\n\nd\n\n\nf\n");
}
