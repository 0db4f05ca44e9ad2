//! How long files may be.

use regex::Regex;

use crate::source::{Source, all_rust, all_scripts, assert_clean, assert_each_breaks, files};

const LINES_MAX: usize = 400;

/// Longest glue between a model and its component.
const GLUE_LINES_MAX: usize = 100;

fn lengths(sources: &[Source]) -> Vec<String> {
    let glue = Regex::new("^components/[a-z-]+/src/lib.rs$").unwrap();
    let mut complaints = Vec::new();
    for source in sources {
        let max = if glue.is_match(&source.path) { GLUE_LINES_MAX } else { LINES_MAX };
        let lines = source.text.lines().count();
        if lines > max {
            complaints.push(source.at(lines, &format!("a file of {lines} lines; the limit is {max}")));
        }
    }
    complaints
}

#[test]
fn files_are_short() {
    assert_clean(lengths(&all_rust()));
    assert_clean(lengths(&all_scripts()));
    let other = [".sh", ".ts", ".html", ".sql", ".wit"];
    let folders = ["host", "components", "tests", "migrations", "wit"];
    let is_written = |source: &Source| !source.text.contains("; generated from the host's declarations.");
    let written = |ending| files(&folders, ending).into_iter().filter(is_written).collect::<Vec<_>>();
    assert_clean(other.iter().flat_map(|ending| lengths(&written(ending))).collect());
    assert_each_breaks(
        lengths,
        &[
            ("tests/a.rs", "//! A.\n\n\n".repeat(134).leak()),
            ("components/risk/src/lib.rs", "//! A.\n".repeat(101).leak()),
        ],
    );
}
