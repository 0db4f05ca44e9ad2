//! Which module each path in the host's code leads to: `use` trees, and paths written where they are used.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use regex::Regex;

use crate::source::{Source, block_end, in_host, line_of};

static CHILD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bmod (\w+)\s*;").unwrap());
static INLINE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bmod (\w+)\s*\{").unwrap());
static USE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\buse\s+([^;]+);").unwrap());
/// A path that restricts visibility imports nothing.
static VISIBILITY: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bpub\(in [^)]*\)").unwrap());
/// A path with `$crate` in a macro is imported where the macro is used.
static PATH: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?:^|[^$:\w.])(\w+(?:::\w+)+)").unwrap());
static TOKEN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bas\s+(\w+)|\w+|\*|[{},]").unwrap());

/// A path from the root of the crate, and the line that contains it.
pub(crate) struct Import {
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
    /// The name that it gets by `use`; none where the path is written in the code.
    name: Option<String>,
}

/// `["http", "error"]` for `host/src/http/error.rs`; none for the binary, which is another crate.
pub(crate) fn module_path(path: &str) -> Option<Vec<String>> {
    let path = in_host(path)?.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    match path {
        "main" => None,
        "lib" => Some(Vec::new()),
        path => Some(path.split('/').map(str::to_owned).collect()),
    }
}

/// What the shipped code of a file names of its own crate, itself and its children included.
pub(crate) fn imports(source: &Source) -> Vec<Import> {
    let Some(file) = module_path(&source.path) else { return Vec::new() };
    let code = VISIBILITY.replace_all(&source.shipped_code(), "pub").into_owned();
    let inline = inline_modules(&code);
    let mut aliases: HashMap<String, Vec<String>> = HashMap::new();
    for child in CHILD.captures_iter(&code) {
        aliases.insert(child[1].to_owned(), joined(&file, &[child[1].to_owned()]));
    }
    let mut found = Vec::new();
    let mut rest = code.clone();
    for tree in USE.captures_iter(&code) {
        let (whole, tree) = (tree.get(0).unwrap(), tree.get(1).unwrap());
        let here = module_at(&file, &inline, whole.start());
        for (place, path, name) in leaves(tree.as_str()) {
            let Some(path) = absolute(&here, &aliases, &path) else { continue };
            aliases.insert(name.clone(), path.clone());
            found.push(Import { path, line: line_of(&code, tree.start() + place), name: Some(name) });
        }
        let blank: String = whole.as_str().chars().map(|it| if it == '\n' { it } else { ' ' }).collect();
        rest.replace_range(whole.range(), &blank);
    }
    for path in PATH.captures_iter(&rest) {
        let path = path.get(1).unwrap();
        let here = module_at(&file, &inline, path.start());
        let segments: Vec<_> = path.as_str().split("::").map(str::to_owned).collect();
        let line = line_of(&code, path.start());
        found.extend(absolute(&here, &aliases, &segments).map(|path| Import { path, line, name: None }));
    }
    found
}

/// The modules that are files, with what each re-exports.
pub(crate) struct Modules(BTreeMap<Vec<String>, BTreeMap<String, Vec<String>>>);

impl Modules {
    pub(crate) fn new(sources: &[Source]) -> Self {
        let exports =
            |source: &Source| imports(source).into_iter().filter_map(|it| Some((it.name?, it.path))).collect();
        Self(sources.iter().filter_map(|source| Some((module_path(&source.path)?, exports(source)))).collect())
    }

    /// The file that defines what a path names, or from which a macro or a method provides it.
    pub(crate) fn defining(&self, path: &[String]) -> Option<Vec<String>> {
        let mut path = path.to_vec();
        let mut seen = BTreeSet::new();
        while seen.insert(path.clone()) {
            let known = (0..=path.len()).rev().find(|length| self.0.contains_key(&path[..*length]))?;
            let exported = path.get(known).and_then(|name| self.0[&path[..known]].get(name));
            let Some(exported) = exported else { break };
            path = joined(exported, &path[known + 1..]);
        }
        let known = (0..=path.len()).rev().find(|length| self.0.contains_key(&path[..*length]))?;
        // The root itself defines exported macros only.
        (known > 0 || path.is_empty()).then(|| path[..known].to_vec())
    }
}

fn joined(path: &[String], more: &[String]) -> Vec<String> {
    [path, more].concat()
}

/// A path from the crate's root, if the path leads into this crate.
fn absolute(here: &[String], aliases: &HashMap<String, Vec<String>>, path: &[String]) -> Option<Vec<String>> {
    let climbs = path.iter().take_while(|segment| *segment == "super").count();
    if climbs > 0 {
        let above = here.len().checked_sub(climbs)?;
        return Some(joined(&here[..above], &path[climbs..]));
    }
    match path[0].as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some(joined(here, &path[1..])),
        first => aliases.get(first).map(|known| joined(known, &path[1..])),
    }
}

/// The paths of a `use` tree: where each ends in the text, its segments, and the name that it gets.
fn leaves(tree: &str) -> Vec<(usize, Vec<String>, String)> {
    let mut found = Vec::new();
    let mut stack: Vec<Vec<String>> = vec![Vec::new()];
    let mut path: Vec<String> = Vec::new();
    for part in TOKEN.captures_iter(tree) {
        let (text, place) = (part.get(0).unwrap().as_str(), part.get(0).unwrap().start());
        match text {
            "{" => stack.push(std::mem::take(&mut path)),
            "}" => {
                stack.pop();
                path.clear();
            }
            "," => path.clear(),
            _ if part.get(1).is_some() => {
                if let Some((_, _, name)) = found.last_mut() {
                    *name = part[1].to_owned();
                }
            }
            _ => {
                path.push(text.to_owned());
                let next = tree[place + text.len()..].trim_start();
                if !next.starts_with("::") {
                    let mut whole = stack.concat();
                    whole.extend(path.iter().filter(|it| *it != "*").cloned());
                    if whole.len() > 1 && whole.last().is_some_and(|it| it == "self") {
                        whole.pop();
                    }
                    let name = whole.last().cloned().unwrap_or_default();
                    found.push((place, whole, name));
                }
            }
        }
    }
    found
}

/// Modules inside of a file, with the range of their code.
fn inline_modules(code: &str) -> Vec<(String, std::ops::Range<usize>)> {
    let range = |found: &regex::Captures<'_>| {
        let whole = found.get(0).unwrap();
        (found[1].to_owned(), whole.start()..block_end(code, whole.end() - 1))
    };
    INLINE.captures_iter(code).map(|found| range(&found)).collect()
}

fn module_at(file: &[String], inline: &[(String, std::ops::Range<usize>)], place: usize) -> Vec<String> {
    let names = inline.iter().filter(|(_, range)| range.contains(&place)).map(|(name, _)| name.clone());
    file.iter().cloned().chain(names).collect()
}

#[test]
fn every_way_to_name_a_module_is_understood() {
    let text = "//! A.\nmod c;\nuse crate::{x::{self, y as z}, w};\nuse super::b::B;\nuse c::C;\nuse std::fs;\n\
        pub(in crate::v) fn f() { z::d(); crate::k::g(); super::h(); c::i(); fs::read(); a.b(); }\nmod e { use super::c::J; }\n";
    let found = imports(&Source::new("host/src/a/m.rs", text));
    let found: Vec<_> = found.iter().map(|it| (it.line, it.path.join("::"))).collect();
    let expected = [
        (3, "x"),
        (3, "x::y"),
        (3, "w"),
        (4, "a::b::B"),
        (5, "a::m::c::C"),
        (8, "a::m::c::J"),
        (7, "x::y::d"),
        (7, "k::g"),
        (7, "a::h"),
        (7, "a::m::c::i"),
    ];
    assert_eq!(found, expected.map(|(line, path)| (line, path.to_owned())));
}
