//! Decision tables: what their rows require, and what is said of a cell that means nothing.

use caudal_convert::{Built, Error, Kind, RulesCatalogue, RulesFact, build_rules};
use caudal_ensemble::table::Table;

use crate::common::interpreter;

pub(crate) const TABLE: &str = include_str!("../../../transfer-rules/rules.csv");

pub(crate) const FACTS: [RulesFact; 10] = [
    fact("amount", "centavos", true),
    fact("available", "centavos", true),
    fact("day_total", "centavos", true),
    fact("per_transfer_limit", "centavos", false),
    fact("per_day_limit", "centavos", false),
    fact("beneficiary_saved_seconds", "seconds", true),
    fact("cooling_seconds", "seconds", true),
    RulesFact { name: "same_account", kind: Kind::Flag, unit: "", is_always_known: true },
    fact("hour_of_day", "", true),
    fact("risk_level", "", false),
];
const REASONS: [&str; 3] = ["same-account", "insufficient-funds", "limit-exceeded"];

const fn fact(name: &'static str, unit: &'static str, is_always_known: bool) -> RulesFact {
    RulesFact { name, kind: Kind::Integer, unit, is_always_known }
}

pub(crate) fn built(table: &[u8]) -> Result<Built, Error> {
    build_rules(table, "1.2.3", RulesCatalogue { facts: &FACTS, reasons: &REASONS }, &interpreter())
}

pub(crate) fn table(built: &Built) -> Table<'_> {
    let start = built.component.windows(8).position(|window| window == b"CDLTABLE").expect("the component has a table");
    Table::read(&built.component[start..start + built.summary.bytes]).expect("the table can be read")
}

/// What a table with the columns hour_of_day, risk_level and amount requires, as names and parameters.
#[track_caller]
fn required(row: &str, values: &[(&str, f64)]) -> Vec<(&'static str, i64)> {
    let text = format!("hour_of_day,risk_level,amount,requirement,parameter\n{row}\n");
    let built = built(text.as_bytes()).unwrap_or_else(|error| panic!("{row}: {error}"));
    let table = table(&built);
    let value = |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    let values: Vec<_> = table.facts().map(|(name, ..)| value(name)).collect();
    let names: Vec<_> = table.requirements().collect();
    let required = table.decide(&values).expect("the table is whole");
    required.into_iter().map(|(code, parameter)| (names[usize::from(code)], parameter)).collect()
}

#[test]
fn a_row_applies_if_all_of_its_conditions_hold() {
    let evening = [("hour_of_day", 22.0), ("amount", 500.0), ("available", 400.0), ("day_total", 100.0)];
    for (cells, applies) in [
        ("10..22,,", true),
        ("10..21,,", false),
        (">= 22,,>= 500", true),
        ("> 22,,>= 500", false),
        ("<= 22,,< 500", false),
        ("= 22,unknown,= 500", true),
        (",= 0,", false),
        (",,> available", true),
        (",,<=available-day_total", false),
        (",,= available - -100", true),
        (",,= 600 - day_total", true),
        (",,available..available-  -100", true),
        // A limit that is not known is none.
        (",,> per_day_limit - day_total", false),
        ("\"= 22\",,", true),
    ] {
        let expected = if applies { vec![("acknowledge", 0)] } else { Vec::new() };
        assert_eq!(required(&format!("{cells},acknowledge,"), &evening), expected, "{cells}");
    }
    let rows = ",,,wait,60\n,unknown,,reject,limit-exceeded\n,,,wait,cooling_seconds - 5\n,,,reject,same-account";
    assert_eq!(required(rows, &[("cooling_seconds", 5.0)]), [("wait", 60), ("reject", 0), ("reject", 1)]);
    assert_eq!(required(",,,wait,cooling_seconds - 5", &[("cooling_seconds", 7.0)]), [("wait", 2)]);
}

#[test]
fn a_manifest_names_what_the_table_uses() {
    let built = built(TABLE.as_bytes()).expect("it is our own");
    let table = table(&built);
    assert_eq!((table.version(), table.summary()), ("1.2.3", "Rules from a table of 7 rows."));
    assert_eq!(table.requirements().collect::<Vec<_>>(), ["reject", "acknowledge", "wait"]);
    assert_eq!(table.reasons().collect::<Vec<_>>(), REASONS);
    let mut facts: Vec<_> = table.facts().collect();
    facts.sort_by_key(|(name, ..)| FACTS.iter().position(|fact| fact.name == *name));
    let known = FACTS.iter().filter(|fact| fact.name != "hour_of_day");
    assert_eq!(facts, known.map(|it| (it.name, it.kind, it.unit, it.is_always_known)).collect::<Vec<_>>());
}

#[test]
fn an_error_names_line_and_column_and_what_was_expected() {
    const HEADER: &str = "amount,risk_level,requirement,parameter\n";
    let row = |row: &str| format!("# Comments count as lines.\n{HEADER}{row}\n");
    for (table, place, problem) in [
        (String::new(), "line 1, column 1", "the header names facts, and then requirement and parameter"),
        ("amount,requirement\n".to_owned(), "line 1, column 2", "the header names facts"),
        ("ammount,requirement,parameter\n".to_owned(), "line 1, column 1", "no fact \"ammount\": did you mean amount?"),
        (HEADER.to_owned(), "", "each row below the header is a rule"),
        (row("> 5,reject,same-account"), "line 3, column 3", "3 cells, and the header has 4"),
        (
            row("5,,reject,same-account"),
            "line 3, column 1",
            "\"5\" is no condition; leave the cell empty, or write >=, ",
        ),
        (
            row("> 5.50,,reject,same-account"),
            "line 3, column 1",
            "neither a whole number nor a fact; amounts are in centavos",
        ),
        (row("> 1e3,,reject,same-account"), "line 3, column 1", "\"1e3\" is neither"),
        (row("> 9007199254740993,,reject,same-account"), "line 3, column 1", "is neither a whole number"),
        (row(">,,reject,same-account"), "line 3, column 1", "\"\" is neither"),
        (row("> availible,,reject,same-account"), "line 3, column 1", "did you mean available?"),
        (
            row("> cooling_seconds,,reject,same-account"),
            "line 3, column 1",
            "has the unit seconds, and the unit centavos is",
        ),
        (row("unknown,,reject,same-account"), "line 3, column 1", "is known for every transfer"),
        (row("20..10,,reject,same-account"), "line 3, column 1", "20 is more than 10"),
        (
            row(",= 2,refuse,same-account"),
            "line 3, column 3",
            "\"refuse\" is no requirement; write reject, acknowledge, wait or review",
        ),
        (row(",= 2,reject,limits-exceeded"), "line 3, column 4", "did you mean limit-exceeded?"),
        (row(",= 2,acknowledge,1"), "line 3, column 4", "leave the cell empty"),
        (row(",= 2,review,1"), "line 3, column 4", "review has no parameter"),
        (row(",= 2,wait,"), "line 3, column 4", "\"\" is neither a whole number nor a fact"),
        (row(",= 2,wait,0"), "line 3, column 4", "at least 1 second"),
        (
            row(",= 2,wait,amount"),
            "line 3, column 4",
            "amount has the unit centavos, and the unit seconds is needed here",
        ),
        (format!("{HEADER}{}", ",,acknowledge,\n".repeat(1001)), "", "1001 rows, and at most 1000 are possible"),
        (format!("{HEADER}{}", " ".repeat(1 << 20)), "", "at most 1048576 are possible"),
    ] {
        let error = built(table.as_bytes()).expect_err(&table);
        assert!(error.place == place && error.problem.contains(problem), "{table}: {error}");
    }
    let error = built(b"amount,requirement,parameter\n> \xff,wait,1\n").expect_err("not text");
    assert!(error.place == "line 2" && error.problem.contains("not UTF-8"), "{error}");
}
