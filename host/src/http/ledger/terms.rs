//! `/api/ledger/terms`: what the user's next transfer is bound by, so that a form can say it before it is filled in.

use axum::Json;
use axum::extract::State;

use crate::app::App;
use crate::auth::User;
use crate::clock::mexico_city_date;
use crate::db::limits;
use crate::domain::money::Money;
use crate::domain::risk::Enforcement;
use crate::http::error::Error;
use crate::http::ledger::accounts::CURRENCY;
use crate::ledger::batch::Terms;
use crate::schema::answer;

answer! {
    /// What the user's next transfer is bound by. A limit that is left out does not apply.
    pub(crate) struct TermsJson as "Terms" in camelCase {
        per_transfer: Option<Money> { unit: CURRENCY, example: "5000.00" },
        per_day: Option<Money> { unit: CURRENCY, example: "20000.00" },
        /// Sent today, by Mexico City time, from all accounts.
        sent_today: Money { unit: CURRENCY, example: "1500.50" },
        /// What the limit of a day leaves for the rest of it.
        left_today: Option<Money> { unit: CURRENCY, example: "18499.50" },
        /// How long a new beneficiary has to wait.
        cooling_seconds: i64 { example: "1800" },
        /// Whether a high risk has to be acknowledged.
        risk_enforced: bool { example: "true" },
        /// First digits of the CLABEs that this bank issues, if it does.
        clabe_institution: Option<String> { example: "\"646\"" },
    }
}

pub(crate) async fn get_terms(State(app): State<App>, User(owner): User) -> Result<Json<TermsJson>, Error> {
    let Terms { per_transfer_limit, per_day_limit, cooling_seconds, .. } = app.terms;
    let mut db = app.db.acquire().await?;
    let own = limits::find(&mut db, &owner).await?.unwrap_or_default();
    let today = mexico_city_date(app.now(&mut db).await?);
    let sent_today = limits::sent_since(&mut db, &owner, today).await?;
    let per_day = own.per_day.or(per_day_limit);
    Ok(Json(TermsJson {
        per_transfer: own.per_transfer.or(per_transfer_limit),
        per_day,
        sent_today,
        left_today: per_day.map(|limit| limit.checked_sub(sent_today).unwrap_or_default().max(Money::ZERO)),
        cooling_seconds: i64::try_from(cooling_seconds).unwrap_or(i64::MAX),
        risk_enforced: app.settings.risk_enforcement == Enforcement::Enforce,
        clabe_institution: app.settings.clabe_range.map(|range| range.first().to_string()[..3].to_owned()),
    }))
}
