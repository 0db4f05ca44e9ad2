//! `/api/ledger/accounts/{id}/entries` and `/balance`: an account's statement and its balance at any time.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::app::App;
use crate::auth::User;
use crate::clock::timestamp;
use crate::db::accounts::find_account;
use crate::db::connections::Connections;
use crate::db::entries::{self as table, Entry, Span};
use crate::domain::incoming::Payer;
use crate::domain::money::Money;
use crate::http::error::Error;
use crate::http::extract::{Cursor, Page, Parameters, PathId};
use crate::http::ledger::accounts::{CURRENCY, ID_EXAMPLE, INSTANT_EXAMPLE};
use crate::http::ledger::list::{self, Item};
use crate::schema::{answer, parse_uuid, request};

/// The number of a page's last entry, and the account whose list that is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number(i64, Uuid);

impl Cursor for Number {
    fn to_text(self) -> String {
        format!("e{}_{}", self.0, self.1)
    }

    fn parse(text: &str) -> Option<Self> {
        let (number, account_id) = text.strip_prefix('e')?.split_once('_')?;
        let is_plain = number.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.parse().ok().filter(|number| is_plain && *number > 0)?;
        Some(Self(number, parse_uuid(account_id)?))
    }
}

request! {
    /// The entries to list.
    pub(crate) struct EntriesQuery {
        /// Booked at this instant or later.
        from: Option<OffsetDateTime> { example: INSTANT_EXAMPLE },
        /// Booked before this instant.
        to: Option<OffsetDateTime> { example: INSTANT_EXAMPLE },
    }
}

answer! {
    /// An entry of an account's statement.
    pub(crate) struct EntryJson as "Entry" in camelCase {
        /// Position in the account's history, from 1.
        number: i64 { example: "2" },
        created_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        kind: &'static str {
            named: "type",
            one_of: &["opening", "funding", "received", "deposit", "reversal", "return", "transfer", "refund"],
            example: "\"transfer\""
        },
        /// Negative if money left the account.
        amount: Money { unit: CURRENCY, example: "-1500.50" },
        /// Balance after the entry.
        balance: Money { unit: CURRENCY, example: "8499.50" },
        transaction_id: Option<Uuid> { example: ID_EXAMPLE },
        beneficiary_name: Option<String> { example: "\"Luisa Gómez\"" },
        /// Who sent money from another bank, as that bank says.
        payer_name: Option<String> { example: "\"Jorge Ruiz\"" },
        payer_account_number: Option<String> { example: "\"012180001234567897\"" },
        /// Name of the institution, or SPEI's code for it.
        payer_bank: Option<String> { example: "\"BBVA\"" },
        spei_reference: Option<String> { example: "\"CAUD202611218K3M5P7R9T2V4X6Z0B\"" },
        /// Concepto de pago, as its sender typed it.
        concept: Option<String> { example: "\"Renta de noviembre\"" },
        /// Referencia numérica.
        numeric_reference: Option<u32> { example: "202611" },
        account_id: Uuid = _,
    }
}

impl Item for EntryJson {
    type Cursor = Number;

    fn cursor(&self) -> Number {
        Number(self.number, self.account_id)
    }
}

pub(super) fn kind_of(entry: &Entry) -> &'static str {
    match entry.kind.as_deref() {
        // Another customer of this bank sent it, or got it back.
        None if entry.delta.minor() < 0 => "reversal",
        None => "deposit",
        Some("opening") => "opening",
        Some("funding") => "funding",
        Some("return") => "return",
        Some("received") => "received",
        _ if entry.delta.minor() < 0 => "transfer",
        // The transfer was rejected after its amount had been debited.
        _ => "refund",
    }
}

impl EntryJson {
    fn new(entry: Entry, account_id: Uuid) -> Self {
        Self {
            number: entry.number,
            created_at: entry.created_at,
            kind: kind_of(&entry),
            amount: entry.delta,
            balance: entry.balance_after,
            transaction_id: entry.transfer_id,
            beneficiary_name: entry.beneficiary_name,
            payer_bank: entry.payer.as_ref().and_then(Payer::bank),
            payer_account_number: entry.payer.as_ref().and_then(|payer| payer.number.clone()),
            payer_name: entry.payer.and_then(|payer| payer.name),
            spei_reference: entry.spei_reference,
            concept: entry.remittance.concept,
            numeric_reference: entry.remittance.reference,
            account_id,
        }
    }
}

/// The account's entries, newest first, booked from `from` (inclusive) to `to` (exclusive).
pub(crate) async fn list_entries(
    State(app): State<App>,
    User(owner): User,
    id: Result<PathId, Error>,
    Parameters(mut fields): Parameters,
) -> Result<Response, Error> {
    let EntriesQuery { from, to } = fields.read();
    let page = Page::<Number>::read(&mut fields);
    let id = id.ok();
    if page.after.is_some_and(|Number(_, list)| id.as_ref().is_none_or(|PathId(id)| *id != list)) {
        fields.refuse("cursor", "unknown-value", "must come from a Link header of this list");
    }
    fields.finish()?;
    let account_id = own_account(&app.db, &owner, id.ok_or(Error::NotFound)?).await?;

    let mut db = app.db.acquire().await?;
    let mut span = Span::ALL;
    if let Some(from) = from {
        span.after = table::count_before(&mut db, account_id, from).await?;
    }
    if let Some(to) = to {
        span.up_to = table::count_before(&mut db, account_id, to).await?;
    }
    drop(db);
    let bounds = [("from", from), ("to", to)];
    let bounds: Vec<_> = bounds.iter().filter_map(|(name, at)| Some(format!("{name}={}", timestamp((*at)?)))).collect();
    let path = format!("/api/ledger/accounts/{account_id}/entries?{}", bounds.join("&"));
    list::answer(path.trim_end_matches('?'), page, move |seen, limit| {
        let pool = app.db.clone();
        let up_to = seen.map_or(span.up_to, |Number(seen, _)| span.up_to.min(seen - 1));
        async move {
            let mut db = pool.acquire().await?;
            let entries = table::list_entries(&mut db, account_id, Span { up_to, ..span }, limit).await?;
            Ok(entries.into_iter().map(|entry| EntryJson::new(entry, account_id)).collect())
        }
    })
    .await
}

request! {
    /// The instant of a balance.
    pub(crate) struct BalanceQuery {
        /// Defaults to now.
        at: Option<OffsetDateTime> { example: INSTANT_EXAMPLE },
    }
}

answer! {
    /// An account's balance at an instant.
    pub(crate) struct BalanceJson as "Balance" in camelCase {
        account_id: Uuid { example: ID_EXAMPLE },
        at: OffsetDateTime { example: INSTANT_EXAMPLE },
        balance: Money { unit: CURRENCY, example: "8499.50" },
        currency: &'static str { one_of: &[CURRENCY], example: "\"MXN\"" },
    }
}

/// The account's balance at a time, by default now.
pub(crate) async fn get_balance(
    State(app): State<App>,
    User(owner): User,
    id: Result<PathId, Error>,
    Parameters(mut fields): Parameters,
) -> Result<Json<BalanceJson>, Error> {
    let BalanceQuery { at } = fields.read();
    fields.finish()?;
    let account_id = own_account(&app.db, &owner, id?).await?;
    let mut db = app.db.acquire().await?;
    let (balance, at) = match at {
        Some(at) => (table::balance_at(&mut db, account_id, at).await?, at),
        None => {
            // Not what this host's clock makes of the history: it may be behind.
            let (balance, changed_at) = table::current_balance(&mut db, account_id).await?;
            (balance, app.clock.now().max(changed_at))
        }
    };
    Ok(Json(BalanceJson { account_id, at, balance, currency: CURRENCY }))
}

async fn own_account(db: &Connections, owner: &str, PathId(id): PathId) -> Result<Uuid, Error> {
    let mut db = db.acquire().await?;
    find_account(&mut db, owner, id).await?.ok_or(Error::NotFound)?;
    Ok(id)
}
