//! `/admin/warnings`: which customers see which variant of the page's warnings, and what became of them. For operators,
//! with a token of scope `ledger:operate`.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use time::{Duration, OffsetDateTime};

use crate::analytics::{RETENTION_DAYS, redact};
use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::LedgerOperator;
use crate::db::warnings::{self, Decided, Outcome};
use crate::domain::experiment::{Experiment, NAME_CHARS_MAX, Portion};
use crate::http::admin::deployment::etag;
use crate::http::admin::if_match::IfMatch;
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
        /// Another name reassigns every customer and is counted separately.
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
        /// How often operators decided: in quotes, the ETag.
        change: i64 { at_least: 0.0, example: "1" },
        /// Null until an operator decides on an experiment.
        changed_at: Option<OffsetDateTime> { nullable: true, example: INSTANT_EXAMPLE },
        changed_by: Option<String> { nullable: true, example: "\"ops\"" },
        reason: Option<String> { nullable: true, example: "\"people read one line\"" },
        /// Left out after a change.
        outcomes: Option<Vec<OutcomeJson>>,
    }
}

answer! {
    /// What became of a variant's warnings, among customers who consented to analytics. Everyone counts once per
    /// variant.
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

fn respond(json: WarningsJson) -> Result<Response, Error> {
    let etag = HeaderValue::from_str(&etag(json.change)).map_err(|error| Error::Internal(error.into()))?;
    Ok(([(header::ETAG, etag)], Json(json)).into_response())
}

impl WarningsJson {
    fn new(decided: Option<Decided>, outcomes: Option<Vec<Outcome>>) -> Self {
        let change = decided.as_ref().map_or(0, |it| it.change);
        let (changed_at, changed_by, reason, present) = match decided {
            Some(Decided { experiment, reason, by, at, .. }) => (Some(at), Some(by), Some(reason), experiment),
            None => (None, None, None, Experiment::default()),
        };
        let outcomes = outcomes.map(|outcomes| outcomes.into_iter().map(OutcomeJson::from).collect());
        Self { present: present.into(), change, changed_at, changed_by, reason, outcomes }
    }
}

pub(crate) async fn get_report(
    State(app): State<App>,
    _: LedgerOperator,
    Parameters(mut fields): Parameters,
) -> Result<Response, Error> {
    let WarningsQuery { days } = fields.read();
    fields.finish()?;
    let since = app.clock.now() - Duration::days(days.unwrap_or(DAYS_DEFAULT).into());
    let mut db = app.db.acquire().await?;
    let outcomes = warnings::outcomes(&mut db, since).await?;
    respond(WarningsJson::new(warnings::present(&mut db).await?, Some(outcomes)))
}

/// Holds from each customer's next payment on.
pub(crate) async fn put_warnings(
    State(app): State<App>,
    operator: LedgerOperator,
    headers: HeaderMap,
    AssistBody(mut fields): AssistBody,
) -> Result<Response, Error> {
    let if_match = IfMatch::read(&headers)?;
    let ExperimentRequest { experiment: name, reason, variants } = fields.read();
    fields.finish()?;
    let invalid = |field, detail| Error::invalid(StatusCode::UNPROCESSABLE_ENTITY, field, "unknown-value", detail);
    let asked = Experiment { name, portions: variants.into_iter().map(Portion::from).collect() };
    if let Some((field, detail)) = asked.fault() {
        return Err(invalid(field, detail));
    }
    if redact(&asked.name) != asked.name {
        return Err(invalid("experiment", "must not look like an amount, a date or a number of a person"));
    }
    let experiment = Experiment::complete(asked.name, &asked.portions);
    let mut db = app.db.acquire().await?;
    let seen = warnings::present(&mut db).await?.map_or(0, |it| it.change);
    if !if_match.matches(&etag(seen)) {
        return Err(Error::Stale);
    }
    let (change, by, at) = (seen + 1, operator.person.name, app.clock.now());
    let decided = Decided { change, experiment, reason, by, at };
    if !warnings::decide(&mut db, &app.key, &decided).await? {
        return Err(Error::Stale);
    }
    audit::done(Event::WarningsChanged, &decided.by, &decided.change);
    respond(WarningsJson::new(Some(decided), None))
}
