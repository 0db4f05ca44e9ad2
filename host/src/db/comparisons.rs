//! What was seen of challengers: counts, to which every host adds.

use sqlx::PgConnection;

use super::components::digest_of;
use crate::domain::model::{Digest, ModelKind};

/// How often something was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// Which kind.
    pub kind: ModelKind,
    /// Under which deployment.
    pub epoch: i64,
    /// Of which component.
    pub digest: Digest,
    /// What.
    pub measure: String,
    /// Which part of it.
    pub bucket: i32,
    /// How often.
    pub count: i64,
}

/// Adds to what was seen.
///
/// # Errors
/// When the database fails.
pub async fn add(db: &mut PgConnection, counts: &[Count]) -> Result<(), sqlx::Error> {
    // One order for all hosts, so that two of them never wait for each other in a circle.
    let mut counts: Vec<_> = counts.iter().collect();
    counts.sort_by_key(|it| (it.kind, it.epoch, it.digest.0, &it.measure, it.bucket));
    let kinds: Vec<_> = counts.iter().map(|it| it.kind.as_str().to_owned()).collect();
    let epochs: Vec<_> = counts.iter().map(|it| it.epoch).collect();
    let digests: Vec<_> = counts.iter().map(|it| it.digest.0.to_vec()).collect();
    let measures: Vec<_> = counts.iter().map(|it| it.measure.clone()).collect();
    let buckets: Vec<_> = counts.iter().map(|it| it.bucket).collect();
    let numbers: Vec<_> = counts.iter().map(|it| it.count).collect();
    sqlx::query!(
        r#"
        insert into comparison as c (kind, epoch, sha256, measure, bucket, count)
        select * from unnest($1::text[], $2::bigint[], $3::bytea[], $4::text[], $5::integer[], $6::bigint[])
        on conflict (kind, epoch, sha256, measure, bucket) do update set count = c.count + excluded.count
        "#,
        &kinds,
        &epochs,
        &digests,
        &measures,
        &buckets,
        &numbers,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// What was seen under a deployment.
///
/// # Errors
/// When the database fails.
pub async fn of_epoch(db: &mut PgConnection, kind: ModelKind, epoch: i64) -> Result<Vec<Count>, sqlx::Error> {
    let rows = sqlx::query!(
        "select sha256, measure, bucket, count from comparison where kind = $1 and epoch = $2",
        kind.as_str(),
        epoch,
    );
    let count = rows.fetch_all(db).await?.into_iter().map(|row| {
        let digest = digest_of(&row.sha256)?;
        Ok(Count { kind, epoch, digest, measure: row.measure, bucket: row.bucket, count: row.count })
    });
    count.collect()
}
