//! Saved beneficiaries.

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::Position;

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

pub(crate) async fn insert_beneficiary(
    db: &mut PgConnection,
    owner: &str,
    beneficiary: &Beneficiary,
) -> Result<(), sqlx::Error> {
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
    .execute(db)
    .await?;
    Ok(())
}

/// Oldest first, after `position`.
pub(crate) async fn list_beneficiaries(
    db: &mut PgConnection,
    owner: &str,
    position: Option<Position>,
    limit: i64,
) -> Result<Vec<Beneficiary>, sqlx::Error> {
    sqlx::query_as!(
        Beneficiary,
        r#"
        select beneficiary_id, name, alias, account_number, bank_name, is_favorite, created_at
        from beneficiary
        where owner = $1
            and (created_at, beneficiary_id) > (
                coalesce($2::timestamptz, '-infinity'), coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')
            )
        order by created_at, beneficiary_id
        limit $4
        "#,
        owner,
        position.map(|position| position.created_at),
        position.map(|position| position.id),
        limit,
    )
    .fetch_all(db)
    .await
}

/// `None` if the beneficiary does not exist or is another user's.
pub(crate) async fn find_beneficiary(
    db: &mut PgConnection,
    owner: &str,
    beneficiary_id: Uuid,
) -> Result<Option<Beneficiary>, sqlx::Error> {
    sqlx::query_as!(
        Beneficiary,
        r#"
        select beneficiary_id, name, alias, account_number, bank_name, is_favorite, created_at
        from beneficiary where owner = $1 and beneficiary_id = $2
        "#,
        owner,
        beneficiary_id,
    )
    .fetch_optional(db)
    .await
}

/// False if the user has no such beneficiary.
pub(crate) async fn delete_beneficiary(
    db: &mut PgConnection,
    owner: &str,
    beneficiary_id: Uuid,
) -> Result<bool, sqlx::Error> {
    let deleted =
        sqlx::query!("delete from beneficiary where owner = $1 and beneficiary_id = $2", owner, beneficiary_id)
            .execute(db)
            .await?;
    Ok(deleted.rows_affected() == 1)
}
