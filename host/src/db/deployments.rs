//! What is deployed of each kind of component, and the history of changes.

use sqlx::postgres::{PgListener, PgPool};
use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;

use super::components::{digest_of, kind_of};
use super::records::{self, Subject};
use crate::domain::model::{Digest, ModelKind};
use crate::sealing::ChainKey;

/// Channel that notifies hosts of changes. They also poll, in case a notification is lost.
const CHANNEL: &str = "caudal_deployment";

/// A challenger that serves a share of the users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canary {
    pub digest: Digest,
    /// Percentage of users, 1 to 99.
    pub percent: u8,
    /// Percentage of compared answers that may differ in class from the champion's, 1 to 100.
    pub max_flip_percent: u8,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployment {
    pub kind: ModelKind,
    /// Number of changes so far.
    pub epoch: i64,
    pub champion: Digest,
    /// The champion before. A rollback returns to it, unless it is on trial as a challenger.
    pub previous: Digest,
    pub canary: Option<Canary>,
    /// Compared with the champion without serving anyone.
    pub shadows: Vec<Digest>,
    /// Whether `previous` answers when the champion fails.
    pub stands_in: bool,
    /// Whether the champion came by a rollback.
    pub is_rolled_back: bool,
    /// The oldest version that may be deployed, such as `2.0.0`.
    pub minimum_release: Option<String>,
    /// The operator's reason for the last change.
    pub reason: String,
    pub changed_by: String,
    pub changed_at: OffsetDateTime,
}

impl Deployment {
    /// The state before the first deployment.
    pub fn nothing(kind: ModelKind, champion: Digest) -> Self {
        let (reason, changed_by) = (String::new(), String::new());
        let (canary, shadows, changed_at) = (None, Vec::new(), OffsetDateTime::UNIX_EPOCH);
        Self {
            kind,
            epoch: 0,
            champion,
            previous: champion,
            canary,
            shadows,
            stands_in: false,
            is_rolled_back: false,
            minimum_release: None,
            reason,
            changed_by,
            changed_at,
        }
    }

    pub fn has_challenger(&self, version: Digest) -> bool {
        self.canary.is_some_and(|canary| canary.digest == version) || self.shadows.contains(&version)
    }

    /// Everything that a host must load.
    pub fn components(&self) -> impl Iterator<Item = Digest> {
        let canary = self.canary.map(|canary| canary.digest);
        [self.champion, self.previous].into_iter().chain(canary).chain(self.shadows.iter().copied())
    }
}

/// A row of `deployment` or `deployment_history`.
struct Row {
    kind: String,
    epoch: i64,
    champion: Vec<u8>,
    previous: Vec<u8>,
    canary: Option<Vec<u8>>,
    canary_percent: Option<i16>,
    canary_max_flip_percent: Option<i16>,
    shadows: Vec<Vec<u8>>,
    stands_in: bool,
    minimum_release: Option<String>,
    reason: String,
    changed_by: String,
    changed_at: OffsetDateTime,
    /// Whether the history says the same.
    is_in_history: bool,
}

impl Row {
    fn read(self) -> Result<Deployment, sqlx::Error> {
        let percent = |value: Option<i16>| value.and_then(|it| u8::try_from(it).ok()).unwrap_or_default();
        let canary = self.canary.map(|digest| {
            Ok::<_, sqlx::Error>(Canary {
                digest: digest_of(&digest)?,
                percent: percent(self.canary_percent),
                max_flip_percent: percent(self.canary_max_flip_percent),
            })
        });
        Ok(Deployment {
            kind: kind_of(&self.kind)?,
            epoch: self.epoch,
            champion: digest_of(&self.champion)?,
            previous: digest_of(&self.previous)?,
            canary: canary.transpose()?,
            shadows: self.shadows.iter().map(|digest| digest_of(digest)).collect::<Result<_, _>>()?,
            stands_in: self.stands_in && self.previous != self.champion,
            is_rolled_back: !self.stands_in,
            minimum_release: self.minimum_release,
            reason: self.reason,
            changed_by: self.changed_by,
            changed_at: self.changed_at,
        })
    }
}

/// Kinds that were never deployed are absent.
pub async fn deployments(db: &mut PgConnection) -> Result<Vec<Deployment>, sqlx::Error> {
    rows(db).await?.into_iter().map(Row::read).collect()
}

async fn rows(db: &mut PgConnection) -> Result<Vec<Row>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select kind, epoch, champion, previous, canary, canary_percent, canary_max_flip_percent, shadows, stands_in,
               minimum_release, reason, changed_by, changed_at, exists (
                   select from deployment_history h
                   where h.kind = d.kind and h.epoch = d.epoch and to_jsonb(h) - 'served_at' = to_jsonb(d)
               ) as "is_in_history!"
        from deployment d order by kind
        "#,
    );
    rows.fetch_all(db).await
}

/// Each with whether a host recorded it.
pub async fn recorded_deployments(
    db: &mut PgConnection,
    key: &ChainKey,
) -> Result<Vec<(Deployment, bool)>, sqlx::Error> {
    let mut recorded = Vec::new();
    for row in rows(db).await? {
        let (name, is_in_history) = (format!("{}/{}", row.kind, row.epoch), row.is_in_history);
        let is_recorded = is_in_history && records::find(db, key, Subject::Deployment, &name).await?.is_some();
        recorded.push((row.read()?, is_recorded));
    }
    Ok(recorded)
}

/// `None` if this kind was never deployed.
pub async fn deployment_of(db: &mut PgConnection, kind: ModelKind) -> Result<Option<Deployment>, sqlx::Error> {
    Ok(deployments(db).await?.into_iter().find(|it| it.kind == kind))
}

/// Newest first.
pub async fn history_of(db: &mut PgConnection, kind: ModelKind, limit: i64) -> Result<Vec<Deployment>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select kind, epoch, champion, previous, canary, canary_percent, canary_max_flip_percent, shadows, stands_in,
               minimum_release, reason, changed_by, changed_at, true as "is_in_history!"
        from deployment_history where kind = $1 order by epoch desc limit $2
        "#,
        kind.as_str(),
        limit,
    );
    rows.fetch_all(db).await?.into_iter().map(Row::read).collect()
}

/// The latest champion that served on some host, other than the champion and the challengers of a deployment.
pub async fn served_before(db: &mut PgConnection, deployment: &Deployment) -> Result<Option<Digest>, sqlx::Error> {
    let canary = deployment.canary.map(|canary| canary.digest);
    let others = [deployment.champion].into_iter().chain(canary).chain(deployment.shadows.iter().copied());
    let others: Vec<Vec<u8>> = others.map(|digest| digest.0.to_vec()).collect();
    let found = sqlx::query_scalar!(
        r#"
        select champion from deployment_history
        where kind = $1 and served_at is not null and champion <> all($2)
        order by epoch desc limit 1
        "#,
        deployment.kind.as_str(),
        &others,
    );
    found.fetch_optional(db).await?.map(|digest| digest_of(&digest)).transpose()
}

/// A new deployment, which entirely replaces the current one.
#[derive(Debug)]
pub struct Change<'a> {
    pub kind: ModelKind,
    /// The epoch that the operator last saw; 0 if nothing was deployed.
    pub seen_epoch: i64,
    pub champion: Digest,
    /// Becomes `previous` if no other champion has ever served.
    pub default_previous: Digest,
    pub canary: Option<Canary>,
    /// At most four.
    pub shadows: &'a [Digest],
    /// Whether the previous champion becomes the fallback, if the champion changes.
    pub stands_in: bool,
    /// As before if there is none.
    pub minimum_release: Option<&'a str>,
    pub reason: &'a str,
    /// The operator who made the change.
    pub by: &'a str,
}

/// Replaces the deployment, records the change and notifies every host. Returns the new epoch, or `None` if the
/// deployment changed since `seen_epoch`. `previous` changes only with the champion: it becomes the latest other
/// champion that served on some host.
///
/// # Errors
/// When the database fails, or a component is not registered.
pub async fn deploy(
    db: &mut PgConnection,
    key: &ChainKey,
    change: &Change<'_>,
    now: OffsetDateTime,
) -> Result<Option<i64>, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let shadows: Vec<Vec<u8>> = change.shadows.iter().map(|digest| digest.0.to_vec()).collect();
    let deployed = sqlx::query_as!(
        Row,
        r#"
        with changed as (
            insert into deployment as d (kind, epoch, champion, previous, reason, changed_by, changed_at, canary,
                canary_percent, canary_max_flip_percent, shadows, stands_in, minimum_release)
            select $1, $2::bigint + 1, $3, $4, $5, $6, $7, $9, $10, $11, $12, $13, $14
            where $2::bigint = 0 or exists (select from deployment where kind = $1)
            on conflict (kind) do update
                set epoch = excluded.epoch, champion = excluded.champion,
                    -- A rollback returns to a champion that served, not to one that was only deployed.
                    previous = case when d.champion = excluded.champion then d.previous else coalesce(
                        (select served.champion from deployment_history served
                            where served.kind = $1 and served.served_at is not null and served.champion <> $3
                            order by served.epoch desc limit 1),
                        excluded.previous) end,
                    reason = excluded.reason, changed_by = excluded.changed_by, changed_at = excluded.changed_at,
                    canary = excluded.canary, canary_percent = excluded.canary_percent,
                    canary_max_flip_percent = excluded.canary_max_flip_percent, shadows = excluded.shadows,
                    -- After a rollback the version that was left must not become the fallback.
                    stands_in = case when d.champion = excluded.champion then d.stands_in else excluded.stands_in end,
                    minimum_release = coalesce(excluded.minimum_release, d.minimum_release)
                where d.epoch = $2::bigint
            returning kind, epoch, champion, previous, reason, changed_by, changed_at, canary, canary_percent,
                canary_max_flip_percent, shadows, stands_in, minimum_release
        ), history as (
            insert into deployment_history (kind, epoch, champion, previous, reason, changed_by, changed_at, canary,
                canary_percent, canary_max_flip_percent, shadows, stands_in, minimum_release)
            select * from changed
        )
        select kind as "kind!", epoch as "epoch!", champion as "champion!", previous as "previous!", canary,
            canary_percent, canary_max_flip_percent, shadows as "shadows!", stands_in as "stands_in!", minimum_release,
            reason as "reason!", changed_by as "changed_by!", changed_at as "changed_at!", true as "is_in_history!"
        from changed, lateral (select pg_notify($8, kind)) as notified
        "#,
        change.kind.as_str(),
        change.seen_epoch,
        &change.champion.0[..],
        &change.default_previous.0[..],
        change.reason,
        change.by,
        now,
        CHANNEL,
        change.canary.as_ref().map(|canary| &canary.digest.0[..]),
        change.canary.map(|canary| i16::from(canary.percent)),
        change.canary.map(|canary| i16::from(canary.max_flip_percent)),
        &shadows,
        change.stands_in,
        change.minimum_release,
    )
    .fetch_optional(&mut *transaction)
    .await?;
    if let Some(row) = &deployed {
        let name = format!("{}/{}", row.kind, row.epoch);
        let change = records::Change::new(Subject::Deployment, name, "deploy", change.by);
        records::append(&mut transaction, key, change, now).await?;
    }
    transaction.commit().await?;
    Ok(deployed.map(|row| row.epoch))
}

/// Listens for changes. The connection never returns to the pool.
pub async fn listen(pool: &PgPool) -> Result<PgListener, sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}

/// Whether the current deployments are the last ones of the history, which records cover.
pub(super) async fn present_is_latest(db: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        select not exists (
            select from deployment d full join (
                select distinct on (kind) * from deployment_history order by kind, epoch desc
            ) as h using (kind)
            where to_jsonb(d) is distinct from to_jsonb(h) - 'served_at'
        ) as "is_latest!"
        "#
    )
    .fetch_one(db)
    .await
}
