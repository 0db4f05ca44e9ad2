//! Registered components.

use sha2::{Digest as _, Sha256};
use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;

use super::records::{self, Change, Subject};
use super::unknown_text;
use crate::domain::card::Card;
use crate::domain::model::{Digest, ModelKind, ModelVersion, PolicyClass};
use crate::schema::parse;
use crate::sealing::ChainKey;

#[derive(Debug)]
pub struct NewComponent<'a> {
    pub digest: Digest,
    pub kind: ModelKind,
    /// The component's own semantic version.
    pub version: &'a str,
    pub model_version: &'a ModelVersion,
    pub class: PolicyClass,
    pub bytes: &'a [u8],
    /// The gate's report as JSON; `None` for a component embedded in a host.
    pub report: Option<serde_json::Value>,
    /// What it answered to the cases, in short.
    pub answers: &'a str,
    /// In base64.
    pub signature: Option<&'a str>,
    /// The operator who registered it.
    pub by: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registered {
    New,
    /// The same bytes are already registered.
    Known,
    /// Other bytes are registered under this version.
    VersionTaken,
}

pub async fn register(
    db: &mut PgConnection,
    key: &ChainKey,
    new: &NewComponent<'_>,
    now: OffsetDateTime,
) -> Result<Registered, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let inserted = sqlx::query!(
        r#"
        insert into component
            (sha256, kind, version, model_version, class, bytes, report, registered_by, registered_at, answers,
             signature, signature_added_by, signature_added_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
        on conflict do nothing
        "#,
        &new.digest.0[..],
        new.kind.as_str(),
        new.version,
        new.model_version.as_str(),
        new.class.as_str(),
        new.bytes,
        new.report,
        new.by,
        now,
        new.answers,
        new.signature,
        new.signature.map(|_| new.by),
        new.signature.map(|_| now),
    )
    .execute(&mut *transaction)
    .await?;
    if inserted.rows_affected() == 1 {
        let change = Change::new(Subject::Component, new.digest, "register", new.by);
        records::append(&mut transaction, key, change, now).await?;
        transaction.commit().await?;
        return Ok(Registered::New);
    }
    transaction.commit().await?;
    if !is_registered(db, new.digest).await? {
        return Ok(Registered::VersionTaken);
    }
    if let Some(signature) = new.signature {
        sign(db, key, new.digest, signature, new.by, now).await?;
    }
    Ok(Registered::Known)
}

/// Adds the signature of a registered component, or replaces an earlier one.
///
/// # Errors
/// When the database fails.
pub(crate) async fn sign(
    db: &mut PgConnection,
    key: &ChainKey,
    digest: Digest,
    signature: &str,
    by: &str,
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    let signed = sqlx::query!(
        r#"
        update component set signature = $2, signature_added_by = $3, signature_added_at = $4
        where sha256 = $1 and signature is distinct from $2
        "#,
        &digest.0[..],
        signature,
        by,
        now,
    );
    if signed.execute(&mut *transaction).await?.rows_affected() == 1 {
        let change = Change::new(Subject::Component, digest, "sign", by);
        records::append(&mut transaction, key, change, now).await?;
    }
    transaction.commit().await
}

/// A stored signature.
#[derive(Debug)]
pub struct Signature {
    /// In base64.
    pub signature: String,
    pub added_by: String,
    pub added_at: OffsetDateTime,
}

pub async fn signature_of(db: &mut PgConnection, digest: Digest) -> Result<Option<Signature>, sqlx::Error> {
    let signature = sqlx::query_as!(
        Signature,
        r#"
        select signature as "signature!", signature_added_by as "added_by!", signature_added_at as "added_at!"
        from component where sha256 = $1 and signature is not null
        "#,
        &digest.0[..],
    );
    signature.fetch_optional(db).await
}

/// Sets the card of a registered component, or replaces an earlier one.
///
/// # Errors
/// When the database fails.
pub async fn set_card(
    db: &mut PgConnection,
    key: &ChainKey,
    digest: Digest,
    card: &Card,
    by: &str,
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    let card = serde_json::to_value(card).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let mut transaction = db.begin().await?;
    let set = sqlx::query!(
        "update component set card = $2 where sha256 = $1 and card is distinct from $2",
        &digest.0[..],
        card,
    );
    if set.execute(&mut *transaction).await?.rows_affected() == 1 {
        let change = Change::new(Subject::Component, digest, "card", by);
        records::append(&mut transaction, key, change, now).await?;
    }
    transaction.commit().await
}

pub async fn card_of(db: &mut PgConnection, digest: Digest) -> Result<Option<Card>, sqlx::Error> {
    let card = sqlx::query_scalar!(r#"select card::text as "card?" from component where sha256 = $1"#, &digest.0[..]);
    let card = card.fetch_optional(db).await?.flatten();
    card.map(parse).transpose().map_err(|error| sqlx::Error::Decode(error.into()))
}

/// What a registered component answered to the cases, in short.
pub async fn answers_of(db: &mut PgConnection, digest: Digest) -> Result<Option<String>, sqlx::Error> {
    let answers = sqlx::query_scalar!("select answers from component where sha256 = $1", &digest.0[..]);
    answers.fetch_optional(db).await
}

pub async fn is_registered(db: &mut PgConnection, digest: Digest) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(r#"select exists (select from component where sha256 = $1) as "known!""#, &digest.0[..],)
        .fetch_one(db)
        .await
}

/// A registered component, without its bytes.
#[derive(Debug, Clone)]
pub struct Component {
    pub digest: Digest,
    pub kind: ModelKind,
    pub model_version: String,
    pub class: PolicyClass,
    /// In bytes.
    pub size: i32,
    /// Whether it is built into a host rather than pushed by an operator.
    pub is_embedded: bool,
    pub registered_by: String,
    pub registered_at: OffsetDateTime,
}

/// The name of a registered component.
pub fn name_of(digest: Digest, registered: &[Component]) -> Option<String> {
    registered.iter().find(|it| it.digest == digest).map(|it| it.model_version.clone())
}

/// The name, or the digest of what is no longer registered.
pub fn named(digest: Digest, registered: &[Component]) -> String {
    name_of(digest, registered).unwrap_or_else(|| digest.to_string())
}

/// By kind, newest first.
pub async fn list(db: &mut PgConnection) -> Result<Vec<Component>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select sha256, kind, model_version, class, octet_length(bytes) as "size!", report is null as "is_embedded!",
               registered_by, registered_at
        from component order by kind, registered_at desc, model_version
        "#,
    )
    .fetch_all(db)
    .await?;
    let component = rows.into_iter().map(|row| {
        Ok(Component {
            digest: digest_of(&row.sha256)?,
            kind: kind_of(&row.kind)?,
            model_version: row.model_version,
            class: PolicyClass::parse(&row.class).ok_or_else(|| unknown_text("class", &row.class))?,
            size: row.size,
            is_embedded: row.is_embedded,
            registered_by: row.registered_by,
            registered_at: row.registered_at,
        })
    });
    component.collect()
}

/// Fails if the bytes are not those that were registered: what the gate examined must be what serves.
pub async fn bytes_of(db: &mut PgConnection, digest: Digest) -> Result<Option<Vec<u8>>, sqlx::Error> {
    let bytes = sqlx::query_scalar!("select bytes from component where sha256 = $1", &digest.0[..]);
    bytes.fetch_optional(db).await?.map(|bytes| unaltered(digest, bytes)).transpose()
}

/// Fails like [`bytes_of`].
pub async fn by_version(
    db: &mut PgConnection,
    model_version: &str,
) -> Result<Option<(ModelKind, Vec<u8>)>, sqlx::Error> {
    let row = sqlx::query!("select kind, sha256, bytes from component where model_version = $1", model_version);
    let row = row.fetch_optional(db).await?;
    row.map(|row| Ok((kind_of(&row.kind)?, unaltered(digest_of(&row.sha256)?, row.bytes)?))).transpose()
}

fn unaltered(digest: Digest, bytes: Vec<u8>) -> Result<Vec<u8>, sqlx::Error> {
    if Sha256::digest(&bytes)[..] == digest.0[..] {
        return Ok(bytes);
    }
    let altered = format!("the stored bytes of component {digest} were altered: run `caudal verify`");
    Err(sqlx::Error::Decode(altered.into()))
}

/// The gate's report; `None` for an embedded or unknown component.
pub async fn report_of(db: &mut PgConnection, digest: Digest) -> Result<Option<serde_json::Value>, sqlx::Error> {
    let report = sqlx::query_scalar!("select report from component where sha256 = $1", &digest.0[..]);
    Ok(report.fetch_optional(db).await?.flatten())
}

pub(super) fn digest_of(bytes: &[u8]) -> Result<Digest, sqlx::Error> {
    let digest = bytes.try_into().map_err(|_| sqlx::Error::Decode("a stored SHA-256 has the wrong length".into()))?;
    Ok(Digest(digest))
}

pub(super) fn kind_of(text: &str) -> Result<ModelKind, sqlx::Error> {
    ModelKind::parse(text).ok_or_else(|| unknown_text("kind", text))
}
