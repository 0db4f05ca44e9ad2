//! `caudal models build`: makes a component of a trained model.

use std::fs;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow};
use caudal_convert::File;

use crate::cli::output::print;
use crate::config::BuildModel;
use crate::domain::fact::{Direction, FACTS, Fact, Measure};
use crate::models::INTERPRETER;

pub(super) fn run(build: &BuildModel) -> Result<ExitCode> {
    let BuildModel { from, facts, output } = build;
    let model = fs::read(from).with_context(|| format!("cannot read the model {}", from.display()))?;
    let map = fs::read_to_string(facts).with_context(|| format!("cannot read the facts {}", facts.display()))?;
    let catalogue: Vec<_> = FACTS.iter().map(known).collect();
    let built = caudal_convert::build(&model, &map, &catalogue, INTERPRETER).map_err(|error| {
        let file = match error.file {
            File::Model => from.display().to_string(),
            File::Map => facts.display().to_string(),
            File::Interpreter => "the interpreter".to_owned(),
        };
        anyhow!("{}: {}", [file.as_str(), &error.place].join(" ").trim_end(), error.problem)
    })?;
    fs::write(output, &built.component).with_context(|| format!("cannot write {}", output.display()))?;
    let it = built.summary;
    let trees = if it.trees > 0 { format!(", {} trees of {} nodes", it.trees, it.nodes) } else { String::new() };
    let bytes = built.component.len();
    print(&format!("{}: {}, {} facts{trees}, {bytes} bytes", output.display(), it.format, it.features))?;
    Ok(ExitCode::SUCCESS)
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
