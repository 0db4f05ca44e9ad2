//! `caudal models facts`: what a component may ask about a transfer.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use crate::cli::output::print;
use crate::cli::table::{Column, print_json, table};
use crate::domain::fact::{FACTS, Fact};
use crate::domain::model::ModelKind;
use crate::domain::rules::fact::{RULES_FACTS, RulesFact};

pub(super) fn run(kind: ModelKind, json: bool) -> Result<ExitCode> {
    match kind {
        ModelKind::TransferRules if json => print_json(&RULES_FACTS.iter().map(of_rules).collect())?,
        _ if json => print_json(&FACTS.iter().map(of_risk).collect())?,
        ModelKind::TransferRules => {
            let columns: [Column<RulesFact>; 4] = [
                ("FACT", |it| it.name.to_owned()),
                ("KIND", |it| it.kind.to_owned()),
                ("UNIT", |it| it.unit.to_owned()),
                ("", |it| it.about.to_owned()),
            ];
            print(&table(&columns, RULES_FACTS))?;
        }
        _ => {
            let columns: [Column<Fact>; 7] = [
                ("FACT", |it| it.name.to_owned()),
                ("KIND", |it| it.measure.kind().to_owned()),
                ("UNIT", |it| it.measure.unit().to_owned()),
                ("RANGE", |it| it.range().map(|bound| bound.map(|it| it.to_string()).unwrap_or_default()).join("..")),
                ("SCORE", |it| it.direction.as_str().to_owned()),
                ("SOURCE", |it| it.source.as_str().to_owned()),
                ("", |it| it.about().to_owned()),
            ];
            print(&table(&columns, FACTS))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn of_risk(it: &Fact) -> serde_json::Value {
    let [at_least, at_most] = it.range();
    json!({
        "name": it.name,
        "kind": it.measure.kind(),
        "unit": it.measure.unit(),
        "at_least": at_least,
        "at_most": at_most,
        "direction": it.direction.as_str(),
        "source": it.source.as_str(),
        "always_known": it.is_always_known,
        "about": it.about(),
    })
}

fn of_rules(it: &RulesFact) -> serde_json::Value {
    json!({
        "name": it.name,
        "kind": it.kind,
        "unit": it.unit,
        "always_known": it.is_always_known,
        "about": it.about,
    })
}
