//! `caudal models build`: makes a component of a trained model or of a decision table.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, ensure};
use caudal_convert::{Built, File, Kind, RulesCatalogue, RulesFact};

use crate::cli::output::print;
use crate::config::BuildModel;
use crate::domain::fact::{Direction, FACTS, Fact, Measure};
use crate::domain::model::is_semantic_version;
use crate::domain::rules::fact::RULES_FACTS;
use crate::domain::rules::requirement::REASONS;
use crate::models::{DECISION_TABLE, INTERPRETER};

pub(super) fn run(build: &BuildModel) -> Result<ExitCode> {
    let BuildModel { from, rules, facts, output } = build;
    let model = fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    let facts = facts.as_deref().unwrap_or(Path::new(""));
    let built = match rules {
        Some(version) => of_table(&model, version)?,
        None => {
            let map =
                fs::read_to_string(facts).with_context(|| format!("cannot read the facts {}", facts.display()))?;
            let catalogue: Vec<_> = FACTS.iter().map(known).collect();
            caudal_convert::build(&model, &map, &catalogue, INTERPRETER)
        }
    };
    let built = built.map_err(|error| {
        let file = match error.file {
            File::Model => from.display().to_string(),
            File::Map => facts.display().to_string(),
            File::Interpreter => "the interpreter".to_owned(),
        };
        anyhow!("{}: {}", [file.as_str(), &error.place].join(" ").trim_end(), error.problem)
    })?;
    fs::write(output, &built.component).with_context(|| format!("cannot write {}", output.display()))?;
    let it = built.summary;
    let trees = match it.trees {
        _ if rules.is_some() => format!(", {} rows", it.nodes),
        0 => String::new(),
        trees => format!(", {trees} trees of {} nodes", it.nodes),
    };
    let bytes = built.component.len();
    print(&format!("{}: {}, {} facts{trees}, {bytes} bytes", output.display(), it.format, it.features))?;
    Ok(ExitCode::SUCCESS)
}

fn of_table(table: &[u8], version: &str) -> Result<Result<Built, caudal_convert::Error>> {
    ensure!(is_semantic_version(version), "'{version}' is not a version such as 1.1.0");
    let fact = |fact: &crate::domain::rules::fact::RulesFact| RulesFact {
        name: fact.name,
        kind: if fact.kind == "flag" { Kind::Flag } else { Kind::Integer },
        unit: fact.unit,
        is_always_known: fact.is_always_known,
    };
    let facts: Vec<_> = RULES_FACTS.iter().map(fact).collect();
    let catalogue = RulesCatalogue { facts: &facts, reasons: &REASONS };
    Ok(caudal_convert::build_rules(table, version, catalogue, DECISION_TABLE))
}

/// A row of the catalogue, as the converter knows it.
fn known(fact: &Fact) -> caudal_convert::Fact {
    caudal_convert::Fact {
        name: fact.name,
        kind: if fact.measure == Measure::Flag { caudal_convert::Kind::Flag } else { caudal_convert::Kind::Integer },
        unit: fact.measure.unit(),
        direction: match fact.direction {
            Direction::Rises => caudal_convert::Direction::Rises,
            Direction::Falls => caudal_convert::Direction::Falls,
            Direction::Free => caudal_convert::Direction::Free,
        },
    }
}
