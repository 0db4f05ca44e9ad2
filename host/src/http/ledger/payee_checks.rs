//! `/api/ledger/payee-checks`: whether a number belongs to the person whom the user names.

use axum::Json;
use axum::extract::State;

use crate::app::App;
use crate::auth::User;
use crate::http::error::Error;
use crate::http::extract::LedgerBody;
use crate::http::ledger::accounts::ACCOUNT_NUMBER_CHARS_MAX;
use crate::http::ledger::beneficiaries::NAME_CHARS_MAX;
use crate::payees::{self, Finding};
use crate::schema::{TextForm, answer, request};

request! {
    /// A name and the number that it is said to have.
    pub(crate) struct PayeeCheckRequest in camelCase {
        name: String { chars_max: NAME_CHARS_MAX, example: "\"Rosa Martínez Luna\"" },
        account_number: String {
            chars_max: ACCOUNT_NUMBER_CHARS_MAX,
            form: TextForm::AccountNumber,
            example: "\"723010123456789019\""
        },
    }
}

answer! {
    /// Whether the name is the account holder's.
    pub(crate) struct PayeeCheckJson as "PayeeCheck" in camelCase {
        result: &'static str { one_of: &["match", "close-match", "no-match", "unavailable"], example: "\"close-match\"" },
        /// The holder's, for a close match of two names or more.
        initials: Option<String> { example: "\"R. M. L.\"" },
    }
}

impl From<Finding> for PayeeCheckJson {
    fn from(finding: Finding) -> Self {
        let (result, initials) = match finding {
            Finding::Match => ("match", None),
            Finding::CloseMatch(initials) => ("close-match", initials),
            Finding::NoMatch => ("no-match", None),
            Finding::Unavailable => ("unavailable", None),
        };
        Self { result, initials }
    }
}

/// Checks a payee before it is saved or paid. A check stores nothing, and each user has few of them.
pub(crate) async fn create_payee_check(
    State(app): State<App>,
    User(owner): User,
    LedgerBody(mut fields): LedgerBody,
) -> Result<Json<PayeeCheckJson>, Error> {
    let PayeeCheckRequest { name, account_number } = fields.read();
    fields.finish()?;
    if !app.rates.count_check(&owner) {
        return Err(Error::TooManyChecks);
    }
    let issued = app.settings.clabe_range;
    let finding = payees::check((&app.db, &app.key), issued, app.payee_check.as_ref(), &name, &account_number).await?;
    Ok(Json(finding.into()))
}
