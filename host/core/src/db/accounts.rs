//! Accounts and their balances, read-only: the ledger writes them.

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::Position;
use crate::domain::clabe::{Clabe, ClabeRange};
use crate::domain::money::Money;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub account_id: Uuid,
    pub account_number: String,
    pub account_type: String,
    pub balance: Money,
    pub held: Money,
    pub frozen: bool,
    /// Always `MXN`.
    pub currency: String,
    pub created_at: OffsetDateTime,
}

/// A user's accounts, oldest first, after a position.
pub async fn list_accounts(
    db: &mut PgConnection,
    owner: &str,
    after: Option<Position>,
    limit: i64,
) -> Result<Vec<Account>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select account_id, account_number, account_type, posted, held, frozen, currency, created_at
        from account join account_balance using (account_id)
        where owner = $1
            and (created_at, account_id) > (
                coalesce($2::timestamptz, '-infinity'), coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')
            )
        order by created_at, account_id
        limit $4
        "#,
        owner,
        after.map(|position| position.created_at),
        after.map(|position| position.id),
        limit,
    );
    Ok(rows.fetch_all(db).await?.into_iter().map(Account::from).collect())
}

/// `None` if the account does not exist or is another user's.
pub async fn find_account(
    db: &mut PgConnection,
    owner: &str,
    account_id: Uuid,
) -> Result<Option<Account>, sqlx::Error> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select account_id, account_number, account_type, posted, held, frozen, currency, created_at
        from account join account_balance using (account_id)
        where owner = $1 and account_id = $2
        "#,
        owner,
        account_id,
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(Account::from))
}

/// A customer's account as operators who decide on a credit see it.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SeenAccount {
    owner: String,
    account_number: String,
    /// In pesos.
    balance: String,
}

pub async fn see(db: &mut PgConnection, account_id: Uuid) -> Result<Option<SeenAccount>, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select owner as "owner!", account_number, posted
        from account join account_balance using (account_id)
        where account_id = $1 and owner is not null
        "#,
        account_id,
    );
    Ok(row.fetch_optional(db).await?.map(|row| SeenAccount {
        owner: row.owner,
        account_number: row.account_number,
        balance: Money::from_minor(row.posted).to_string(),
    }))
}

/// How many accounts a user has, up to `limit`.
pub async fn count(db: &mut PgConnection, owner: &str, limit: i64) -> Result<i64, sqlx::Error> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from (select from account where owner = $1 limit $2) as first"#,
        owner,
        limit,
    );
    count.fetch_one(db).await
}

/// The lowest free number of a range.
pub async fn first_free(db: &mut PgConnection, range: ClabeRange) -> Result<Option<Clabe>, sqlx::Error> {
    let free = sqlx::query_scalar!(
        r#"
        select min(body) as body from (
            select $1::bigint as body
            union all
            select issued + 1 from account where issued between $1 and $2::bigint - 1
        ) as candidates
        where not exists (select from account where issued = body)
        "#,
        range.first().body(),
        range.last().body(),
    );
    Ok(free.fetch_one(db).await?.and_then(Clabe::from_body))
}

struct Row {
    account_id: Uuid,
    account_number: String,
    account_type: String,
    posted: i64,
    held: i64,
    frozen: bool,
    currency: String,
    created_at: OffsetDateTime,
}

impl From<Row> for Account {
    fn from(row: Row) -> Self {
        Self {
            account_id: row.account_id,
            account_number: row.account_number,
            account_type: row.account_type,
            balance: Money::from_minor(row.posted),
            held: Money::from_minor(row.held),
            frozen: row.frozen,
            currency: row.currency,
            created_at: row.created_at,
        }
    }
}
