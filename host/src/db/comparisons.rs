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

/// Adds counts. With each the hash of the user by whose decisions rollouts go; 0 for what is only reported.
pub(crate) async fn add(db: &mut PgConnection, counts: &[(Count, i64)]) -> Result<(), sqlx::Error> {
    // All hosts lock rows in the same order, so that they cannot deadlock.
    let mut counts: Vec<_> = counts.iter().collect();
    counts.sort_by_key(|(it, user)| (it.kind, it.epoch, it.digest.0, &it.measure, it.bucket, user));
    let users: Vec<_> = counts.iter().map(|(_, user)| *user).collect();
    let counts = || counts.iter().map(|(it, _)| it);
    let kinds: Vec<_> = counts().map(|it| it.kind.as_str().to_owned()).collect();
    let epochs: Vec<_> = counts().map(|it| it.epoch).collect();
    let digests: Vec<_> = counts().map(|it| it.digest.0.to_vec()).collect();
    let measures: Vec<_> = counts().map(|it| it.measure.clone()).collect();
    let buckets: Vec<_> = counts().map(|it| it.bucket).collect();
    let numbers: Vec<_> = counts().map(|it| it.count).collect();
    sqlx::query!(
        r#"
        insert into comparison as c (kind, epoch, sha256, measure, bucket, count, user_hash)
        select * from unnest($1::text[], $2::bigint[], $3::bytea[], $4::text[], $5::integer[], $6::bigint[], $7::bigint[])
        on conflict (kind, epoch, sha256, measure, bucket, user_hash) do update set count = c.count + excluded.count
        "#,
        &kinds,
        &epochs,
        &digests,
        &measures,
        &buckets,
        &numbers,
        &users,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// All counts of a deployment, or only those that are evidence for a rollout.
pub(crate) async fn of_epoch(
    db: &mut PgConnection,
    kind: ModelKind,
    epoch: i64,
    only_evidence: bool,
) -> Result<Vec<Count>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select sha256, measure, bucket, sum(count)::bigint as "count!"
        from comparison
        where kind = $1 and epoch = $2 and (user_hash <> 0 or not $3)
        group by sha256, measure, bucket
        "#,
        kind.as_str(),
        epoch,
        only_evidence,
    );
    let count = rows.fetch_all(db).await?.into_iter().map(|row| {
        let digest = digest_of(&row.sha256)?;
        Ok(Count { kind, epoch, digest, measure: row.measure, bucket: row.bucket, count: row.count })
    });
    count.collect()
}
