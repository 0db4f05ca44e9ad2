//! `caudal models`: what there is to know about the models of this program.

use std::process::ExitCode;

use anyhow::{Result, bail};

use super::print;
use crate::config::Models;
use crate::models::Embedded;

pub(super) fn run(models: &Models) -> Result<ExitCode> {
    let Models::Card { model, json } = models;
    let Some(embedded) = Embedded::find(model) else {
        let names: Vec<_> = Embedded::ALL.iter().map(|it| it.name).collect();
        bail!("there is no model '{model}'; there are {}", names.join(", "));
    };
    let Some(card) = embedded.card else {
        bail!("{} has no card: rules are written, not trained", embedded.name);
    };
    print(if *json { card.json } else { card.markdown }.trim_end())?;
    Ok(ExitCode::SUCCESS)
}
