//! Saved beneficiaries.

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::Position;
use super::records::{self, Change, OWNER, Subject};
use super::schedules::changes::end_of_payee;
use crate::sealing::ChainKey;
use crate::sealing::digest::{Digest, Hash};

/// Beneficiaries in a statement when all are sealed.
const CHUNK: i64 = 1_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beneficiary {
    pub beneficiary_id: Uuid,
    pub name: String,
    pub alias: Option<String>,
    /// A CLABE or any other identifier, as the user typed it.
    pub account_number: String,
    pub bank_name: String,
    pub is_favorite: bool,
    pub created_at: OffsetDateTime,
}

fn change(beneficiary_id: Uuid, action: &'static str) -> Change {
    Change::new(Subject::Beneficiary, beneficiary_id, action, OWNER)
}

impl Beneficiary {
    /// Of the whole row, with which hosts need no look at the records.
    fn seal(&self, key: &ChainKey, owner: &str) -> Hash {
        let Self { beneficiary_id, name, alias, account_number, bank_name, is_favorite, created_at } = self;
        let mut digest = Digest::new(b"caudal beneficiary 1");
        digest.uuid(*beneficiary_id);
        [owner, name, account_number, bank_name].iter().for_each(|text| digest.text(text));
        digest.optional_text(alias.as_deref());
        digest.int((*is_favorite).into());
        digest.time(*created_at);
        key.seal_digest(digest)
    }
}

/// A row.
pub(crate) struct Sealed {
    pub(crate) owner: String,
    pub(crate) beneficiary: Beneficiary,
    pub(crate) seal: Option<Vec<u8>>,
}

impl Sealed {
    /// `None` for one that somebody altered, as if it were not there; logs an error then.
    pub(crate) fn open(self, key: &ChainKey) -> Option<Beneficiary> {
        let Self { owner, beneficiary, seal } = self;
        let is_same = seal.as_deref() == Some(&beneficiary.seal(key, &owner)[..]);
        let name = beneficiary.beneficiary_id.to_string();
        records::is_same((Subject::Beneficiary, &name), is_same).then_some(beneficiary)
    }
}

/// Seals all of them.
pub(crate) async fn renew_seals(db: &mut PgConnection, key: &ChainKey) -> Result<(), sqlx::Error> {
    let mut after = Uuid::nil();
    loop {
        let rows = sqlx::query!(
            r#"
            select beneficiary_id, owner, name, alias, account_number, bank_name, is_favorite, created_at
            from beneficiary where beneficiary_id > $1 order by beneficiary_id limit $2
            "#,
            after,
            CHUNK,
        );
        let rows = rows.fetch_all(&mut *db).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.beneficiary_id;
        let seals = rows.into_iter().map(|row| {
            let beneficiary = Beneficiary {
                beneficiary_id: row.beneficiary_id,
                name: row.name,
                alias: row.alias,
                account_number: row.account_number,
                bank_name: row.bank_name,
                is_favorite: row.is_favorite,
                created_at: row.created_at,
            };
            (row.beneficiary_id, beneficiary.seal(key, &row.owner).to_vec())
        });
        let (ids, seals): (Vec<_>, Vec<_>) = seals.unzip();
        let renew = sqlx::query!(
            r#"
            update beneficiary b set seal = n.seal
            from unnest($1::uuid[], $2::bytea[]) as n (beneficiary_id, seal) where b.beneficiary_id = n.beneficiary_id
            "#,
            &ids,
            &seals,
        );
        renew.execute(&mut *db).await?;
    }
}

/// How many beneficiaries a user has, up to `limit`.
pub async fn count(db: &mut PgConnection, owner: &str, limit: i64) -> Result<i64, sqlx::Error> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from (select from beneficiary where owner = $1 limit $2) as first"#,
        owner,
        limit,
    );
    count.fetch_one(db).await
}

pub async fn insert_beneficiary(
    db: &mut PgConnection,
    key: &ChainKey,
    owner: &str,
    beneficiary: &Beneficiary,
) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    sqlx::query!(
        r#"
        insert into beneficiary
            (beneficiary_id, owner, name, alias, account_number, bank_name, is_favorite, created_at, seal)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        "#,
        beneficiary.beneficiary_id,
        owner,
        beneficiary.name,
        beneficiary.alias,
        beneficiary.account_number,
        beneficiary.bank_name,
        beneficiary.is_favorite,
        beneficiary.created_at,
        &beneficiary.seal(key, owner)[..],
    )
    .execute(&mut *transaction)
    .await?;
    let saved = change(beneficiary.beneficiary_id, "save");
    records::append(&mut transaction, key, saved, beneficiary.created_at).await?;
    transaction.commit().await
}

/// What to change; `None` leaves it.
#[derive(Debug, Clone)]
pub struct Edit {
    pub name: Option<String>,
    /// `Some(None)` removes it.
    pub alias: Option<Option<String>>,
    pub is_favorite: Option<bool>,
}

/// Changes a beneficiary and returns it; `None` if the user has no such one. The number and the bank stay, and so do
/// the time that its waiting period counts from and the name in transfers. Of two edits at once, each changes its own
/// fields, and the later one those that both change.
pub async fn edit_beneficiary(
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
        r#"
        update beneficiary set name = $3, alias = $4, is_favorite = $5, seal = $6
        where owner = $1 and beneficiary_id = $2
        "#,
        owner,
        beneficiary_id,
        after.name,
        after.alias,
        after.is_favorite,
        &after.seal(key, owner)[..],
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
pub type Listed = (bool, Position);

/// Favourites first, each part oldest first, after `place`.
pub async fn list_beneficiaries(
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
pub async fn find_beneficiary(
    db: &mut PgConnection,
    key: &ChainKey,
    owner: &str,
    beneficiary_id: Uuid,
) -> Result<Option<Beneficiary>, sqlx::Error> {
    Ok(find_beneficiaries(db, key, owner, &[beneficiary_id]).await?.pop())
}

/// Those that the user has and nobody altered.
pub async fn find_beneficiaries(
    db: &mut PgConnection,
    key: &ChainKey,
    owner: &str,
    beneficiary_ids: &[Uuid],
) -> Result<Vec<Beneficiary>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select beneficiary_id, owner, name, alias, account_number, bank_name, is_favorite, created_at, seal
        from beneficiary where owner = $1 and beneficiary_id = any($2)
        "#,
        owner,
        beneficiary_ids,
    );
    let found = rows.fetch_all(db).await?.into_iter().filter_map(|row| {
        let beneficiary = Beneficiary {
            beneficiary_id: row.beneficiary_id,
            name: row.name,
            alias: row.alias,
            account_number: row.account_number,
            bank_name: row.bank_name,
            is_favorite: row.is_favorite,
            created_at: row.created_at,
        };
        Sealed { owner: row.owner, beneficiary, seal: row.seal }.open(key)
    });
    Ok(found.collect())
}

/// Ends the schedules of that beneficiary. False if the user has none such.
pub async fn delete_beneficiary(
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
