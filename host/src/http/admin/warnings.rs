//! `/admin/warnings`: which customers see which variant of the page's warnings, and what became of them. For operators, with
//! a token of scope `ledger:operate`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use time::{Duration, OffsetDateTime};

use crate::analytics::RETENTION_DAYS;
use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::LedgerOperator;
use crate::db::warnings::{self, Decided, Outcome};
use crate::domain::experiment::{Experiment, NAME_CHARS_MAX, Portion};
use crate::http::error::Error;
use crate::http::extract::{AssistBody, Parameters};
use crate::http::ledger::accounts::INSTANT_EXAMPLE;
use crate::http::ledger::warnings::{ExperimentJson, PortionJson, VARIANTS_MAX};
use crate::models::deploying::catalog::REASON_CHARS_MAX;
use crate::models::observing::report::Share;
use crate::schema::{answer, request};

const DAYS_DEFAULT: u32 = 30;

request! {
    /// The time to report on.
    pub(crate) struct WarningsQuery {
        /// How many days back; 30 by default.
        days: Option<u32> { at_least: 1.0, at_most: RETENTION_DAYS as f64, example: "30" },
    }
}

request! {
    /// An experiment with the page's warnings.
    pub(crate) struct ExperimentRequest as "WarningExperimentRequest" {
        /// Another name assigns every customer anew, and counts apart.
        experiment: String { chars_max: NAME_CHARS_MAX, example: "\"order-of-advice\"" },
        reason: String { chars_max: REASON_CHARS_MAX, example: "\"people read one line\"" },
        /// Their percentages add up to 100.
        variants: Vec<PortionJson> { length_min: 1, length_max: VARIANTS_MAX },
    }
}

answer! {
    /// The present experiment, and what became of every variant that was shown.
    pub(crate) struct WarningsJson as "Warnings" {
        present: ExperimentJson,
        /// Null until an operator decides on an experiment.
        changed_at: Option<OffsetDateTime> { nullable: true, example: INSTANT_EXAMPLE },
        changed_by: Option<String> { nullable: true, example: "\"ops\"" },
        reason: Option<String> { nullable: true, example: "\"people read one line\"" },
        outcomes: Vec<OutcomeJson>,
    }
}

answer! {
    /// What became of a variant's warnings, among customers who consented to analytics. Everyone counts once.
    pub(crate) struct OutcomeJson as "WarningOutcome" {
        /// Experiment and variant.
        variant: String { example: "\"order-of-advice/why-first\"" },
        /// Customers who were warned.
        customers: i64 { example: "263" },
        /// Warnings that they were shown.
        warnings: i64 { example: "300" },
        /// Customers who sent none of the payments.
        sent_nothing: Share,
        /// Customers who chose not to send.
        chose_not_to: Share,
        /// Customers who sent a payment and later looked up what to do about a fraud.
        sought_help: Share,
    }
}

impl From<Outcome> for OutcomeJson {
    fn from(Outcome { variant, customers, shown, kept, stopped, regretted }: Outcome) -> Self {
        let share = |part| Share::of(part, customers);
        Self {
            variant,
            customers,
            warnings: shown,
            sent_nothing: share(kept),
            chose_not_to: share(stopped),
            sought_help: share(regretted),
        }
    }
}

async fn report(app: &App, days: u32) -> Result<Json<WarningsJson>, Error> {
    let mut db = app.db.acquire().await?;
    let outcomes = warnings::outcomes(&mut db, app.clock.now() - Duration::days(days.into())).await?;
    let outcomes = outcomes.into_iter().map(OutcomeJson::from).collect();
    let decided = warnings::present(&mut db).await?;
    let (changed_at, changed_by, reason, present) = match decided {
        Some(Decided { experiment, reason, by, at, .. }) => (Some(at), Some(by), Some(reason), experiment),
        None => (None, None, None, Experiment::default()),
    };
    Ok(Json(WarningsJson { present: present.into(), changed_at, changed_by, reason, outcomes }))
}

pub(crate) async fn get_report(
    State(app): State<App>,
    _: LedgerOperator,
    Parameters(mut fields): Parameters,
) -> Result<Json<WarningsJson>, Error> {
    let WarningsQuery { days } = fields.read();
    fields.finish()?;
    report(&app, days.unwrap_or(DAYS_DEFAULT)).await
}

/// Holds from each customer's next payment on.
pub(crate) async fn put_warnings(
    State(app): State<App>,
    operator: LedgerOperator,
    AssistBody(mut fields): AssistBody,
) -> Result<Json<WarningsJson>, Error> {
    let ExperimentRequest { experiment: name, reason, variants } = fields.read();
    fields.finish()?;
    let experiment = Experiment { name, portions: variants.into_iter().map(Portion::from).collect() };
    if let Some((field, detail)) = experiment.fault() {
        return Err(Error::invalid(StatusCode::UNPROCESSABLE_ENTITY, field, "unknown-value", detail));
    }
    let (id, by, at) = (app.clock.new_id(), operator.person.name, app.clock.now());
    let decided = Decided { id, experiment, reason, by, at };
    warnings::decide(&mut *app.db.acquire().await?, &app.key, &decided).await?;
    audit::done(Event::WarningsChanged, &decided.by, &decided.experiment.name);
    report(&app, DAYS_DEFAULT).await
}
