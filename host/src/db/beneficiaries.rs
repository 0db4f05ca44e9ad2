//! Saved beneficiaries.

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::Position;
use super::records::{self, Change, OWNER, Subject};
use super::schedules::changes::end_of_payee;
use crate::sealing::ChainKey;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Beneficiary {
    pub(crate) beneficiary_id: Uuid,
    pub(crate) name: String,
    pub(crate) alias: Option<String>,
    /// A CLABE or any other identifier, as the user typed it.
    pub(crate) account_number: String,
    pub(crate) bank_name: String,
    pub(crate) is_favorite: bool,
    pub(crate) created_at: OffsetDateTime,
}

fn change(beneficiary_id: Uuid, action: &'static str) -> Change {
    Change::new(Subject::Beneficiary, beneficiary_id, action, OWNER)
}

/// Whether a row is as its last record says.
pub(crate) fn is_recorded(key: &ChainKey, id: Uuid, content: Option<&str>, recorded: Option<&[u8]>) -> bool {
    records::is_recorded(key, (Subject::Beneficiary, &id.to_string()), content, recorded)
}

/// How many beneficiaries a user has, up to `limit`.
pub(crate) async fn count(db: &mut PgConnection, owner: &str, limit: i64) -> Result<i64, sqlx::Error> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from (select from beneficiary where owner = $1 limit $2) as first"#,
        owner,
        limit,
    );
    count.fetch_one(db).await
}

pub(crate) async fn insert_beneficiary(
    db: &mut PgConnection,
    key: &ChainKey,
    owner: &str,
    beneficiary: &Beneficiary,
) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    sqlx::query!(
        r#"
        insert into beneficiary (beneficiary_id, owner, name, alias, account_number, bank_name, is_favorite, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        "#,
        beneficiary.beneficiary_id,
        owner,
        beneficiary.name,
        beneficiary.alias,
        beneficiary.account_number,
        beneficiary.bank_name,
        beneficiary.is_favorite,
        beneficiary.created_at,
    )
    .execute(&mut *transaction)
    .await?;
    let saved = change(beneficiary.beneficiary_id, "save");
    records::append(&mut transaction, key, saved, beneficiary.created_at).await?;
    transaction.commit().await
}

/// What to change; `None` leaves it.
#[derive(Debug, Clone)]
pub(crate) struct Edit {
    pub(crate) name: Option<String>,
    /// `Some(None)` removes it.
    pub(crate) alias: Option<Option<String>>,
    pub(crate) is_favorite: Option<bool>,
}

/// Changes a beneficiary and returns it; `None` if the user has no such one. The number and the bank stay, and so do
/// the time that its waiting period counts from and the name in transfers. Of two edits at once, each changes its own
/// fields, and the later one those that both change.
pub(crate) async fn edit_beneficiary(
    db: &mut PgConnection,
    key: &ChainKey,
    owner: &str,
    beneficiary_id: Uuid,
    edit: Edit,
    now: OffsetDateTime,
) -> Result<Option<Beneficiary>, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let lock = sqlx::query!(
        "select from beneficiary where owner = $1 and beneficiary_id = $2 for update",
        owner,
        beneficiary_id,
    );
    lock.fetch_optional(&mut *transaction).await?;
    // What somebody altered is not recorded as if it were the user's.
    let Some(before) = find_beneficiary(&mut transaction, key, owner, beneficiary_id).await? else { return Ok(None) };
    let after = Beneficiary {
        name: edit.name.unwrap_or_else(|| before.name.clone()),
        alias: edit.alias.unwrap_or_else(|| before.alias.clone()),
        is_favorite: edit.is_favorite.unwrap_or(before.is_favorite),
        ..before.clone()
    };
    if after == before {
        return Ok(Some(after));
    }
    sqlx::query!(
        "update beneficiary set name = $3, alias = $4, is_favorite = $5 where owner = $1 and beneficiary_id = $2",
        owner,
        beneficiary_id,
        after.name,
        after.alias,
        after.is_favorite,
    )
    .execute(&mut *transaction)
    .await?;
    // Payments are sent under the name, so a new one is recorded as such.
    let action = if after.name == before.name { "edit" } else { "rename" };
    records::append(&mut transaction, key, change(beneficiary_id, action), now).await?;
    transaction.commit().await?;
    Ok(Some(after))
}

/// A place in the list, which a change of the favourite mark moves: whether it is among the favourites, and where.
pub(crate) type Listed = (bool, Position);

/// Favourites first, each part oldest first, after `place`.
pub(crate) async fn list_beneficiaries(
    db: &mut PgConnection,
    owner: &str,
    place: Option<Listed>,
    limit: i64,
) -> Result<Vec<Beneficiary>, sqlx::Error> {
    sqlx::query_as!(
        Beneficiary,
        r#"
        select beneficiary_id, name, alias, account_number, bank_name, is_favorite, created_at
        from beneficiary
        where owner = $1
            and (not is_favorite, created_at, beneficiary_id) > (
                not coalesce($2::boolean, true), coalesce($3::timestamptz, '-infinity'),
                coalesce($4::uuid, '00000000-0000-0000-0000-000000000000')
            )
        order by not is_favorite, created_at, beneficiary_id
        limit $5
        "#,
        owner,
        place.map(|(is_favorite, _)| is_favorite),
        place.map(|(_, position)| position.created_at),
        place.map(|(_, position)| position.id),
        limit,
    )
    .fetch_all(db)
    .await
}

/// `None` if the beneficiary does not exist, is another user's, or somebody altered it.
pub(crate) async fn find_beneficiary(
    db: &mut PgConnection,
    key: &ChainKey,
    owner: &str,
    beneficiary_id: Uuid,
) -> Result<Option<Beneficiary>, sqlx::Error> {
    Ok(find_beneficiaries(db, key, owner, &[beneficiary_id]).await?.pop())
}

/// Those that the user has and nobody altered.
pub(crate) async fn find_beneficiaries(
    db: &mut PgConnection,
    key: &ChainKey,
    owner: &str,
    beneficiary_ids: &[Uuid],
) -> Result<Vec<Beneficiary>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select beneficiary_id, name, alias, account_number, bank_name, is_favorite, created_at,
            jsonb_strip_nulls(to_jsonb(b))::text as content, (
                select state from audit_record where subject = 'beneficiary' and subject_key = beneficiary_id::text
                order by seq desc limit 1
            ) as recorded
        from beneficiary b where owner = $1 and beneficiary_id = any($2)
        "#,
        owner,
        beneficiary_ids,
    );
    let found = rows.fetch_all(db).await?.into_iter().filter_map(|row| {
        let is_recorded = is_recorded(key, row.beneficiary_id, row.content.as_deref(), row.recorded.as_deref());
        is_recorded.then_some(Beneficiary {
            beneficiary_id: row.beneficiary_id,
            name: row.name,
            alias: row.alias,
            account_number: row.account_number,
            bank_name: row.bank_name,
            is_favorite: row.is_favorite,
            created_at: row.created_at,
        })
    });
    Ok(found.collect())
}

/// Ends the schedules of that beneficiary. False if the user has none such.
pub(crate) async fn delete_beneficiary(
    db: &mut PgConnection,
    key: &ChainKey,
    owner: &str,
    beneficiary_id: Uuid,
    now: OffsetDateTime,
) -> Result<bool, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let deleted =
        sqlx::query!("delete from beneficiary where owner = $1 and beneficiary_id = $2", owner, beneficiary_id)
            .execute(&mut *transaction)
            .await?;
    let is_deleted = deleted.rows_affected() == 1;
    if is_deleted {
        let ended = end_of_payee(&mut transaction, key, (owner, beneficiary_id), now).await?;
        let deleted = change(beneficiary_id, "delete");
        records::append_all(&mut transaction, key, &[vec![deleted], ended].concat(), now).await?;
    }
    transaction.commit().await?;
    Ok(is_deleted)
}
