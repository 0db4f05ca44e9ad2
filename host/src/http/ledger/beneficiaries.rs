//! `/api/ledger/beneficiaries`

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use uuid::Uuid;

use crate::app::App;
use crate::auth::User;
use crate::db::Position;
use crate::db::beneficiaries::{self as table, Beneficiary};
use crate::domain::account_number::{self, Kind};
use crate::http::error::Error;
use crate::http::extract::{LedgerBody, Page, PathId};
use crate::http::ledger::accounts::ACCOUNT_NUMBER_CHARS_MAX;
use crate::http::ledger::list::{self, Item};

const NAME_CHARS_MAX: usize = 200;

/// Longest alias or bank name.
const LABEL_CHARS_MAX: usize = 100;

const PATH: &str = "/api/ledger/beneficiaries";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BeneficiaryJson {
    id: Uuid,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    alias: Option<String>,
    account_number: String,
    bank_name: String,
    is_favorite: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    account_number_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    derived_bank: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<&'static str>,
    #[serde(skip)]
    position: Position,
}

impl Item for BeneficiaryJson {
    type Cursor = Position;

    fn cursor(&self) -> Position {
        self.position
    }
}

impl From<Beneficiary> for BeneficiaryJson {
    fn from(beneficiary: Beneficiary) -> Self {
        let reading = account_number::read(&beneficiary.account_number);
        let mut warnings = Vec::new();
        if !reading.checks {
            warnings.push("clabe-check-digit");
        }
        if reading.bank.is_some_and(|bank| !is_same_bank(bank, &beneficiary.bank_name)) {
            warnings.push("bank-name-differs");
        }
        Self {
            id: beneficiary.beneficiary_id,
            name: beneficiary.name,
            alias: beneficiary.alias,
            account_number: beneficiary.account_number,
            bank_name: beneficiary.bank_name,
            is_favorite: beneficiary.is_favorite,
            account_number_type: (reading.kind != Kind::Other).then_some(reading.kind.as_str()),
            derived_bank: reading.bank,
            warnings,
            position: Position { created_at: beneficiary.created_at, id: beneficiary.beneficiary_id },
        }
    }
}

/// A bank name with fewer letters and digits identifies no bank.
const BANK_NAME_CHARS_MIN: usize = 2;

/// Whether one name contains the other, as "BBVA México" contains "bbva".
fn is_same_bank(derived: &str, typed: &str) -> bool {
    let plain = |name: &str| name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    let (derived, typed) = (plain(derived), plain(typed));
    typed.chars().count() >= BANK_NAME_CHARS_MIN && (derived.contains(&typed) || typed.contains(&derived))
}

/// The user's payees, oldest first.
pub(crate) async fn list_beneficiaries(
    State(app): State<App>,
    User(owner): User,
    page: Page,
) -> Result<Response, Error> {
    list::answer(PATH, page, move |after, limit| {
        let (pool, owner) = (app.db.clone(), owner.clone());
        async move {
            let mut db = pool.acquire().await?;
            let beneficiaries = table::list_beneficiaries(&mut db, &owner, after, limit).await?;
            Ok(beneficiaries.into_iter().map(BeneficiaryJson::from).collect())
        }
    })
    .await
}

/// Saves a payee. Duplicates are allowed.
pub(crate) async fn create_beneficiary(
    State(app): State<App>,
    User(owner): User,
    LedgerBody(mut fields): LedgerBody,
) -> Result<Response, Error> {
    let beneficiary = Beneficiary {
        beneficiary_id: app.clock.new_id(),
        name: fields.text("name", NAME_CHARS_MAX),
        alias: fields.optional_text("alias", LABEL_CHARS_MAX),
        account_number: fields.account_number("accountNumber", ACCOUNT_NUMBER_CHARS_MAX),
        bank_name: fields.text("bankName", LABEL_CHARS_MAX),
        is_favorite: false,
        created_at: app.clock.now(),
    };
    if app.settings.enforce_clabe && !account_number::read(&beneficiary.account_number).checks {
        fields.refuse("accountNumber", "clabe-check-digit", "is a CLABE whose check digit is wrong");
    }
    fields.finish()?;

    let mut db = app.db.acquire().await?;
    table::insert_beneficiary(&mut db, &owner, &beneficiary).await?;
    Ok((StatusCode::CREATED, Json(BeneficiaryJson::from(beneficiary))).into_response())
}

/// Deletes a payee permanently; transfers to it keep its name.
pub(crate) async fn delete_beneficiary(
    State(app): State<App>,
    User(owner): User,
    PathId(id): PathId,
) -> Result<StatusCode, Error> {
    let mut db = app.db.acquire().await?;
    if table::delete_beneficiary(&mut db, &owner, id).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Error::NotFound)
    }
}
