//! `/api/analytics/warnings`: what share of the customers sees each variant of the page's warnings.

use axum::Json;
use axum::extract::State;

use crate::app::App;
use crate::auth::User;
use crate::db::warnings;
use crate::domain::experiment::{Experiment, NAME_CHARS_MAX, Portion, VARIANTS};
use crate::http::error::Error;
use crate::schema::{answer, record};

record! {
    /// A variant of the page's warnings.
    pub(crate) struct PortionJson as "WarningVariant" {
        variant: String { chars_max: NAME_CHARS_MAX, example: "\"why-first\"" },
        /// Percentage of the customers who see it.
        percent: u8 { at_least: 0.0, at_most: 100.0, example: "50" },
    }
}

answer! {
    /// An experiment with the page's warnings. The page assigns each customer a variant, always the same.
    pub(crate) struct ExperimentJson as "WarningExperiment" {
        experiment: String { example: "\"order-of-advice\"" },
        variants: Vec<PortionJson>,
    }
}

/// Most variants, each named once.
pub(crate) const VARIANTS_MAX: usize = VARIANTS.len();

impl From<PortionJson> for Portion {
    fn from(PortionJson { variant, percent }: PortionJson) -> Self {
        Self { variant, percent }
    }
}

impl From<Portion> for PortionJson {
    fn from(Portion { variant, percent }: Portion) -> Self {
        Self { variant, percent }
    }
}

impl From<Experiment> for ExperimentJson {
    fn from(Experiment { name, portions }: Experiment) -> Self {
        Self { experiment: name, variants: portions.into_iter().map(PortionJson::from).collect() }
    }
}

pub(crate) async fn get_warnings(State(app): State<App>, _: User) -> Result<Json<ExperimentJson>, Error> {
    let decided = warnings::present(&mut *app.db.acquire().await?).await?;
    Ok(Json(decided.map_or_else(Experiment::default, |it| it.experiment).into()))
}
