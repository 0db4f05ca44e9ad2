//! Rules from a decision table: in the same words as the built-in ones, and no more than a file and a command.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::built::{component, root};
use crate::gate::examine;

/// The built-in rules as a table.
pub(crate) const RULES: &str = "components/transfer-rules/rules.csv";

/// What `caudal models build` says, and the component.
fn build(name: &str, table: &str) -> (Output, Vec<u8>) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [from, to] = ["csv", "wasm"].map(|extension| folder.join(format!("table-{name}.{extension}")));
    fs::write(&from, table).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
    command.args(["models", "build", "--rules", "1.0.0", "--from"]).arg(&from).arg("--output").arg(&to);
    (command.output().unwrap(), fs::read(to).unwrap_or_default())
}

/// The component of a table that means something.
pub(crate) fn built(name: &str, table: &str) -> Vec<u8> {
    let (output, component) = build(name, table);
    assert!(output.status.success(), "{output:?}");
    component
}

#[test]
fn the_gate_finds_no_difference_between_a_table_and_the_built_in_rules() {
    let table = built("gate", &fs::read_to_string(root().join(RULES)).unwrap());
    let reports = [examine(&table), examine(&component("transfer-rules"))];
    assert!(reports.iter().all(|report| report.is_accepted() && report.answers.is_some()), "{reports:#?}");
    assert_eq!(reports[0].answers, reports[1].answers);
    let closed = built("closed", "amount,requirement,parameter\n> 0,reject,limit-exceeded\n");
    assert!(!examine(&closed).is_accepted());
}

#[test]
fn a_cell_that_means_nothing_is_named() {
    let (output, _) = build("broken", "amount,requirement,parameter\n> 1000,reject,limit-exceeded\n> limit,wait,60\n");
    let said = String::from_utf8(output.stderr).unwrap();
    let expected = "table-broken.csv line 3, column 1: there is no fact \"limit\": `caudal models facts`";
    assert!(!output.status.success() && said.contains(expected), "{said}");
}

#[test]
fn a_table_as_large_as_possible_decides_in_time() {
    let row = "< available,0..23,unknown,unknown,> available - per_day_limit,wait,cooling_seconds - 1\n";
    let header = "amount,hour_of_day,risk_level,per_day_limit,day_total,requirement,parameter\n";
    let report = examine(&built("large", &format!("{header}{}", row.repeat(1000))));
    assert!(report.is_accepted(), "{report:#?}");
}
