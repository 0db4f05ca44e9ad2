//! Observations of challengers: counters that all hosts increment.

use sqlx::PgConnection;

use super::components::digest_of;
use crate::domain::model::{Digest, ModelKind};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) kind: ModelKind,
    /// Epoch of the deployment.
    pub(crate) epoch: i64,
    /// Digest of the component.
    pub(crate) digest: Digest,
    pub(crate) measure: String,
    /// Bucket of the measure's histogram.
    pub(crate) bucket: i32,
    pub(crate) count: i64,
}

pub(crate) async fn add(db: &mut PgConnection, counts: &[Count]) -> Result<(), sqlx::Error> {
    // All hosts lock rows in the same order, so that they cannot deadlock.
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

pub(crate) async fn of_epoch(db: &mut PgConnection, kind: ModelKind, epoch: i64) -> Result<Vec<Count>, sqlx::Error> {
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
