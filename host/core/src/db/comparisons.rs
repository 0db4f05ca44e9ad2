//! What each host says of canaries, for rollouts to go by.

use sqlx::PgConnection;
use uuid::Uuid;

use super::components::{digest_of, kind_of};
use super::counts::Count;
use crate::domain::model::{Digest, ModelKind};
use crate::sealing::ChainKey;
use crate::sealing::digest::{self, Hash};

/// What one host saw of a canary since the deployment began, for rollouts to go by.
#[derive(Debug)]
pub(crate) struct Testimony {
    pub(crate) kind: ModelKind,
    pub(crate) epoch: i64,
    pub(crate) digest: Digest,
    pub(crate) host_id: Uuid,
    /// Measure, bucket and count.
    pub(crate) counts: Vec<(String, i32, i64)>,
}

/// A row of `rollout_evidence`.
struct TestimonyRow {
    kind: String,
    epoch: i64,
    sha256: Vec<u8>,
    host_id: Uuid,
    counts: String,
    seal: Vec<u8>,
}

impl TestimonyRow {
    fn sealed(&self, key: &ChainKey) -> Hash {
        let mut digest = digest::Digest::new(b"caudal rollout evidence 1");
        digest.text(&self.kind);
        digest.int(self.epoch);
        digest.bytes(&self.sha256);
        digest.uuid(self.host_id);
        digest.text(&self.counts);
        key.seal_digest(digest)
    }

    fn is_authentic(&self, key: &ChainKey) -> bool {
        self.sealed(key)[..] == self.seal[..]
    }

    fn read(&self) -> Result<Vec<Count<i64>>, sqlx::Error> {
        let counts: Vec<(String, i32, i64)> =
            serde_json::from_str(&self.counts).map_err(|error| sqlx::Error::Decode(error.into()))?;
        let (kind, epoch, digest) = (kind_of(&self.kind)?, self.epoch, digest_of(&self.sha256)?);
        let count = |(measure, bucket, count)| Count { kind, at: epoch, digest, measure, bucket, count };
        Ok(counts.into_iter().map(count).collect())
    }
}

/// Replaces what a host said before.
pub(crate) async fn testify(db: &mut PgConnection, key: &ChainKey, it: &Testimony) -> Result<(), sqlx::Error> {
    let counts = serde_json::to_string(&it.counts).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let (kind, sha256, seal) = (it.kind.as_str().to_owned(), it.digest.0.to_vec(), Vec::new());
    let row = TestimonyRow { kind, epoch: it.epoch, sha256, host_id: it.host_id, counts, seal };
    sqlx::query!(
        r#"
        insert into rollout_evidence as e (kind, epoch, sha256, host_id, counts, seal) values ($1, $2, $3, $4, $5, $6)
        on conflict (kind, epoch, sha256, host_id) do update set counts = excluded.counts, seal = excluded.seal
            where (e.counts, e.seal) is distinct from (excluded.counts, excluded.seal)
        "#,
        row.kind,
        row.epoch,
        row.sha256,
        row.host_id,
        row.counts,
        &row.sealed(key),
    )
    .execute(db)
    .await
    .map(drop)
}

/// What each host saw of a canary, without what somebody wrote who has no key.
pub async fn evidence(
    db: &mut PgConnection,
    key: &ChainKey,
    (kind, epoch, digest): (ModelKind, i64, Digest),
) -> Result<Vec<Vec<Count<i64>>>, sqlx::Error> {
    let rows = sqlx::query_as!(
        TestimonyRow,
        r#"
        select kind, epoch, sha256, host_id, counts, seal from rollout_evidence
        where kind = $1 and epoch = $2 and sha256 = $3
        "#,
        kind.as_str(),
        epoch,
        &digest.0[..],
    );
    let mut hosts = Vec::new();
    for row in rows.fetch_all(db).await? {
        if row.is_authentic(key) {
            hosts.push(row.read()?);
        } else {
            tracing::error!(%kind, epoch, host = %row.host_id, "evidence for a rollout was forged: run `caudal verify`");
        }
    }
    Ok(hosts)
}

/// Testimony that no host wrote, for a verification.
pub(super) async fn forged(db: &mut PgConnection, key: &ChainKey) -> Result<Vec<String>, sqlx::Error> {
    let rows = sqlx::query_as!(
        TestimonyRow,
        "select kind, epoch, sha256, host_id, counts, seal from rollout_evidence order by kind, epoch, sha256, host_id"
    );
    let forged = rows.fetch_all(db).await?.into_iter().filter(|row| !row.is_authentic(key));
    Ok(forged
        .map(|row| format!("rollout evidence {}/{} by {}: was altered", row.kind, row.epoch, row.host_id))
        .collect())
}
