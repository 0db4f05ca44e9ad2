//! How long files may be.

use regex::Regex;

use crate::source::{Source, all_rust, all_scripts, assert_clean, assert_each_breaks, files};

const LINES_MAX: usize = 400;

/// Longest glue between a model and its component.
const GLUE_LINES_MAX: usize = 100;

const MEDIAN_LINES_MAX: usize = 120;

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

fn median(sources: &[Source]) -> usize {
    let mut lengths: Vec<_> = sources.iter().map(|source| source.text.lines().count()).collect();
    lengths.sort_unstable();
    lengths[lengths.len() / 2]
}

#[test]
fn files_are_short() {
    assert_clean(lengths(&all_rust()));
    assert_clean(lengths(&all_scripts()));
    let other = [".sh", ".ts", ".html", ".sql", ".wit"];
    let folders = ["host", "components", "tests", "migrations", "wit"];
    assert_clean(other.iter().flat_map(|ending| lengths(&files(&folders, ending))).collect());
    assert_each_breaks(
        lengths,
        &[
            ("tests/a.rs", "//! A.\n\n\n".repeat(134).leak()),
            ("components/risk/src/lib.rs", "//! A.\n".repeat(101).leak()),
        ],
    );
}

#[test]
#[expect(clippy::print_stdout, reason = "shown with --nocapture")]
fn the_median_file_is_short() {
    let report = |area: &str, sources: &[Source]| {
        let lines: usize = sources.iter().map(|source| source.text.lines().count()).sum();
        println!("{area}: {} Rust files, {lines} lines, median {}", sources.len(), median(sources));
    };
    for area in ["host", "components", "tests"] {
        report(area, &files(&[area], ".rs"));
    }
    let all = all_rust();
    report("all", &all);
    assert!(median(&all) <= MEDIAN_LINES_MAX, "the median file has {} lines", median(&all));
}
