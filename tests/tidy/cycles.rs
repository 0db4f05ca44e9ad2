//! No import cycles between files of the host. What a module re-exports belongs to the file that defines it.

use std::collections::{BTreeMap, BTreeSet};

use crate::imports::{Modules, imports, module_path};
use crate::source::{Source, assert_clean, host};

/// For each file, the files that it imports from, with the line of the first import.
type Graph<'a> = BTreeMap<&'a str, BTreeMap<&'a str, usize>>;

fn graph(sources: &[Source]) -> Graph<'_> {
    let paths: BTreeMap<_, _> =
        sources.iter().filter_map(|source| Some((module_path(&source.path)?, source.path.as_str()))).collect();
    let modules = Modules::new(sources);
    let mut graph = Graph::new();
    for source in sources {
        let edges = graph.entry(&source.path).or_default();
        for import in imports(source) {
            let Some(target) = modules.defining(&import.path).map(|module| paths[&module]) else { continue };
            if target != source.path {
                edges.entry(target).or_insert(import.line);
            }
        }
    }
    graph
}

/// All files that can be reached from a file.
fn reachable<'a>(graph: &Graph<'a>, from: &str) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut waiting: Vec<_> = graph[from].keys().copied().collect();
    while let Some(file) = waiting.pop() {
        if seen.insert(file) {
            waiting.extend(graph[file].keys().copied());
        }
    }
    seen
}

/// The imports within a cycle. Removing some of them breaks it.
fn cycles(sources: &[Source]) -> Vec<String> {
    let graph = graph(sources);
    let reachable: BTreeMap<_, _> = graph.keys().map(|file| (*file, reachable(&graph, file))).collect();
    let mut complaints = Vec::new();
    for source in sources {
        for (target, line) in &graph[source.path.as_str()] {
            if reachable[target].contains(source.path.as_str()) {
                complaints.push(source.at(*line, &format!("imports {target}, which leads back here")));
            }
        }
    }
    complaints.sort();
    complaints
}

#[test]
fn imports_form_no_cycle() {
    assert_clean(cycles(&host()));
}

#[test]
fn a_cycle_is_found() {
    let sources = [
        Source::new("host/src/a/mod.rs", "mod b;\npub use b::B;\n"),
        Source::new("host/src/a/b.rs", "use crate::c::C;\n"),
        Source::new("host/src/c.rs", "\nfn c() { crate::a::B::f() }\n#[cfg(test)]\nmod t { use crate::d::D; }\n"),
        Source::new("host/src/d.rs", "use crate::c::C;\nuse crate::d::E;\n"),
    ];
    assert_eq!(
        cycles(&sources),
        [
            "host/src/a/b.rs:1: imports host/src/c.rs, which leads back here",
            "host/src/c.rs:2: imports host/src/a/b.rs, which leads back here",
        ]
    );
}
