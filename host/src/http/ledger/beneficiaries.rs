//! `/api/ledger/beneficiaries`

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use unicode_normalization::UnicodeNormalization as _;
use uuid::Uuid;

use crate::app::App;
use crate::auth::User;
use crate::db::Position;
use crate::db::beneficiaries::{self as table, Beneficiary, Edit, Listed};
use crate::domain::account_number::{self, Kind};
use crate::domain::banks;
use crate::domain::text::is_blank;
use crate::http::error::Error;
use crate::http::extract::{Cursor, LedgerBody, Page, PathId, Place};
use crate::http::ledger::accounts::{ACCOUNT_NUMBER_CHARS_MAX, ID_EXAMPLE};
use crate::http::ledger::list::{self, Item};
use crate::schema::{Shape, TextForm, answer, request};

pub(crate) const NAME_CHARS_MAX: usize = 200;

/// Longest alias or bank name.
const LABEL_CHARS_MAX: usize = 100;

const PATH: &str = "/api/ledger/beneficiaries";

/// Beneficiaries of one user, but for a few that are saved at the same time: far more than anybody pays, and few enough
/// to list at once.
const BENEFICIARIES_MAX: i64 = 10_000;

request! {
    /// A payee to save.
    pub(crate) struct BeneficiaryRequest in camelCase {
        /// Name of the person or company.
        name: String { chars_max: NAME_CHARS_MAX, example: "\"Luisa Gómez\"" },
        alias: Option<String> { chars_max: LABEL_CHARS_MAX, example: "\"Lu\"" },
        account_number: String {
            chars_max: ACCOUNT_NUMBER_CHARS_MAX,
            form: TextForm::AccountNumber,
            example: "\"032180000118359719\""
        },
        bank_name: String { chars_max: LABEL_CHARS_MAX, example: "\"IXE\"" },
    }
}

request! {
    /// What to change about a payee; what is left out stays.
    pub(crate) struct BeneficiaryEditRequest as "BeneficiaryEdit" in camelCase {
        /// Transfers already made keep the name they were made with.
        name: Option<String> { chars_max: NAME_CHARS_MAX, form: TextForm::NotBlank, example: "\"Luisa Gómez\"" },
        /// A blank one removes the alias.
        alias: Option<String> { chars_max: LABEL_CHARS_MAX, example: "\"Lu\"" },
        is_favorite: Option<bool> { example: "true" },
    }
}

/// What identifies the account that is paid. Another one is another payee, with a waiting period of its own.
const FIXED: [&str; 2] = ["accountNumber", "bankName"];

answer! {
    /// A payee. Fields derived from its number are omitted if unknown.
    pub(crate) struct BeneficiaryJson as "Beneficiary" in camelCase {
        id: Uuid { example: ID_EXAMPLE },
        name: String { example: "\"Luisa Gómez\"" },
        alias: Option<String> { example: "\"Lu\"" },
        account_number: String { example: "\"032180000118359719\"" },
        bank_name: String { example: "\"IXE\"" },
        is_favorite: bool { example: "false" },
        account_number_type: Option<&'static str> { example: "\"clabe\"" },
        /// The bank that the number belongs to.
        derived_bank: Option<&'static str> { example: "\"IXE\"" },
        /// Possible mistakes.
        warnings: Option<Vec<&'static str>> { items: &WARNINGS, example: "[\"bank-name-differs\"]" },
        place: Listed = _,
    }
}

/// Possible mistakes in a payee.
const WARNINGS: Shape = Shape::texts(&["clabe-check-digit", "bank-name-differs"]);

impl Item for BeneficiaryJson {
    type Cursor = ListedPlace;

    fn cursor(&self) -> ListedPlace {
        ListedPlace(self.place)
    }
}

/// A position among the favourites or among the other payees.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListedPlace(Listed);

impl Cursor for ListedPlace {
    fn to_text(self) -> String {
        let Self((is_favorite, position)) = self;
        if is_favorite { Place::<'f'>(position).to_text() } else { Place::<'b'>(position).to_text() }
    }

    fn parse(text: &str) -> Option<Self> {
        let favorite = Place::<'f'>::parse(text).map(|Place(position)| (true, position));
        favorite.or_else(|| Place::<'b'>::parse(text).map(|Place(position)| (false, position))).map(Self)
    }
}

impl From<Beneficiary> for BeneficiaryJson {
    fn from(beneficiary: Beneficiary) -> Self {
        let reading = account_number::read(&beneficiary.account_number);
        let mut warnings = Vec::new();
        if !reading.check_digit_valid {
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
            warnings: (!warnings.is_empty()).then_some(warnings),
            place: (
                beneficiary.is_favorite,
                Position { created_at: beneficiary.created_at, id: beneficiary.beneficiary_id },
            ),
        }
    }
}

/// A name with fewer letters and digits does not identify a bank.
const BANK_NAME_CHARS_MIN: usize = 2;

/// Whether one name contains the other, as "BBVA México" contains "bbva" and, without its accent, "BanBajío" contains
/// "Bajio".
fn is_same_bank(derived: &str, typed: &str) -> bool {
    // Decomposed, an accent is a mark of its own.
    let plain = |name: &str| name.nfkd().filter(|it| it.is_alphanumeric()).collect::<String>().to_lowercase();
    let typed = plain(typed);
    let is_typed = |name: &str| {
        let name = plain(name);
        name.contains(&typed) || typed.contains(&name)
    };
    typed.chars().count() >= BANK_NAME_CHARS_MIN
        && (is_typed(derived) || banks::public_name(derived).is_some_and(is_typed))
}

/// The user's payees, favourites first, each part oldest first. One whose mark changes between two pages may be on both
/// or on neither.
pub(crate) async fn list_beneficiaries(
    State(app): State<App>,
    User(owner): User,
    page: Page<ListedPlace>,
) -> Result<Response, Error> {
    list(PATH, app, owner, page).await
}

/// The list of a user at `path`.
pub(crate) async fn list(path: &str, app: App, owner: String, page: Page<ListedPlace>) -> Result<Response, Error> {
    list::answer(path, page, move |after: Option<ListedPlace>, limit| {
        let (pool, owner) = (app.db.clone(), owner.clone());
        async move {
            let mut db = pool.acquire().await?;
            let beneficiaries =
                table::list_beneficiaries(&mut db, &owner, after.map(|ListedPlace(at)| at), limit).await?;
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
    let BeneficiaryRequest { name, alias, account_number, bank_name } = fields.read();
    let beneficiary = Beneficiary {
        beneficiary_id: app.clock.new_id(),
        name,
        alias,
        account_number,
        bank_name,
        is_favorite: false,
        created_at: app.clock.now(),
    };
    if app.settings.enforce_clabe && !account_number::read(&beneficiary.account_number).check_digit_valid {
        fields.refuse("accountNumber", "clabe-check-digit", "is a CLABE whose check digit is wrong");
    }
    fields.finish()?;
    app.rates.count_record(&owner)?;

    let mut db = app.db.acquire().await?;
    if table::count(&mut db, &owner, BENEFICIARIES_MAX).await? >= BENEFICIARIES_MAX {
        return Err(Error::TooMany(("beneficiaries", BENEFICIARIES_MAX)));
    }
    table::insert_beneficiary(&mut db, &app.key, &owner, &beneficiary).await?;
    Ok((StatusCode::CREATED, Json(BeneficiaryJson::from(beneficiary))).into_response())
}

/// Changes what the user calls a payee. Without a version to name, since every field is set on its own: of two edits at
/// once, the later one wins where both change the same field.
pub(crate) async fn edit_beneficiary(
    State(app): State<App>,
    User(owner): User,
    id: Result<PathId, Error>,
    LedgerBody(mut fields): LedgerBody,
) -> Result<Json<BeneficiaryJson>, Error> {
    let BeneficiaryEditRequest { name, alias, is_favorite } = fields.read();
    for fixed in FIXED {
        if fields.has(fixed) {
            fields.refuse(fixed, "not-editable", "cannot be changed: save another beneficiary instead");
        }
    }
    fields.finish()?;
    app.rates.count_record(&owner)?;
    let PathId(id) = id?;
    let alias = alias.map(|alias| Some(alias).filter(|alias| !is_blank(alias)));
    let edit = Edit { name, alias, is_favorite };
    let mut db = app.db.acquire().await?;
    let edited = table::edit_beneficiary(&mut db, &app.key, &owner, id, edit, app.clock.now()).await?;
    edited.map(|beneficiary| Json(beneficiary.into())).ok_or(Error::NotFound)
}

/// Deletes a payee permanently; transfers to it keep its name.
pub(crate) async fn delete_beneficiary(
    State(app): State<App>,
    User(owner): User,
    PathId(id): PathId,
) -> Result<StatusCode, Error> {
    app.rates.count_record(&owner)?;
    let mut db = app.db.acquire().await?;
    if table::delete_beneficiary(&mut db, &app.key, &owner, id, app.clock.now()).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Error::NotFound)
    }
}
