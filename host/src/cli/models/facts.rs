//! `caudal models facts`: what a risk model may ask about a transfer.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use crate::cli::output::print;
use crate::cli::table::{Column, print_json, table};
use crate::domain::fact::{FACTS, Fact};

pub(super) fn run(json: bool) -> Result<ExitCode> {
    if json {
        let all = FACTS.iter().map(|it| {
            json!({
                "name": it.name,
                "kind": it.measure.kind(),
                "unit": it.measure.unit(),
                "direction": it.direction.as_str(),
                "source": it.source.as_str(),
                "always_known": it.is_always_known,
                "about": it.about(),
            })
        });
        print_json(&all.collect())?;
        return Ok(ExitCode::SUCCESS);
    }
    let columns: [Column<Fact>; 6] = [
        ("FACT", |it| it.name.to_owned()),
        ("KIND", |it| it.measure.kind().to_owned()),
        ("UNIT", |it| it.measure.unit().to_owned()),
        ("SCORE", |it| it.direction.as_str().to_owned()),
        ("SOURCE", |it| it.source.as_str().to_owned()),
        ("", |it| it.about().to_owned()),
    ];
    print(&table(&columns, FACTS))?;
    Ok(ExitCode::SUCCESS)
}
