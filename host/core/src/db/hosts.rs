//! What each host serves, as reported by the host.

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::components::{digest_of, kind_of};
use super::unknown_text;
use crate::domain::model::{Digest, ModelKind};

/// A host's progress with the deployment of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostState {
    /// The champion and its challengers are in service.
    Serving,
    Loading,
    /// The reason.
    Failed(String),
}

impl HostState {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Serving => "serving",
            Self::Loading => "loading",
            Self::Failed(_) => "failed",
        }
    }

    /// Why it failed.
    pub fn detail(&self) -> Option<&str> {
        if let Self::Failed(reason) = self { Some(reason) } else { None }
    }
}

/// A process that serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    pub id: Uuid,
    /// The name of its machine.
    pub machine: String,
}

/// One host and one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostStatus {
    pub kind: ModelKind,
    /// Epoch of the deployment that the host follows; 0 if nothing was deployed.
    pub epoch: i64,
    pub state: HostState,
    /// The champion that currently answers on this host.
    pub champion: Option<Digest>,
    /// When this state began, by the host's clock.
    pub since: OffsetDateTime,
}

/// Reports what a host serves, and marks its champions as having served. The time is the database's, so that
/// all hosts agree on it.
pub async fn report(db: &mut PgConnection, host: &Host, statuses: &[HostStatus]) -> Result<(), sqlx::Error> {
    let kinds: Vec<String> = statuses.iter().map(|it| it.kind.as_str().to_owned()).collect();
    let epochs: Vec<i64> = statuses.iter().map(|it| it.epoch).collect();
    let states: Vec<String> = statuses.iter().map(|it| it.state.as_str().to_owned()).collect();
    let champions: Vec<Option<Vec<u8>>> = statuses.iter().map(|it| Some(it.champion?.0.to_vec())).collect();
    let details: Vec<Option<String>> = statuses.iter().map(|it| Some(it.state.detail()?.to_owned())).collect();
    let since: Vec<OffsetDateTime> = statuses.iter().map(|it| it.since).collect();
    sqlx::query!(
        r#"
        with reported as (
            insert into host_status (host_id, machine, kind, epoch, state, champion, detail, since, seen_at)
            select $1, $8, kind, epoch, state, champion, detail, since, now()
            from unnest($2::text[], $3::bigint[], $4::text[], $5::bytea[], $6::text[], $7::timestamptz[])
                as status (kind, epoch, state, champion, detail, since)
            on conflict (host_id, kind) do update
                set epoch = excluded.epoch, state = excluded.state, champion = excluded.champion,
                    detail = excluded.detail, since = excluded.since, seen_at = excluded.seen_at
            returning kind, epoch, champion
        )
        update deployment_history as history set served_at = now()
        from reported
        where history.kind = reported.kind and history.epoch = reported.epoch
            and history.champion = reported.champion and history.served_at is null
        "#,
        host.id,
        &kinds,
        &epochs,
        &states,
        &champions as _,
        &details as _,
        &since,
        host.machine,
    )
    .execute(db)
    .await
    .map(drop)
}

/// The reports of live hosts: those seen within the last ten seconds.
pub async fn live(db: &mut PgConnection) -> Result<Vec<(Host, HostStatus)>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select host_id, machine, kind, epoch, state, champion, detail, since
        from host_status where seen_at > now() - interval '10 seconds' order by kind, host_id
        "#,
    );
    let status = rows.fetch_all(db).await?.into_iter().map(|row| {
        let state = match row.state.as_str() {
            "serving" => HostState::Serving,
            "loading" => HostState::Loading,
            "failed" => HostState::Failed(row.detail.unwrap_or_default()),
            other => return Err(unknown_text("state", other)),
        };
        let champion = row.champion.map(|digest| digest_of(&digest)).transpose()?;
        let status = HostStatus { kind: kind_of(&row.kind)?, epoch: row.epoch, state, champion, since: row.since };
        Ok((Host { id: row.host_id, machine: row.machine }, status))
    });
    status.collect()
}

/// Removes a host that is shutting down.
pub async fn leave(db: &mut PgConnection, host: Uuid) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from host_status where host_id = $1", host).execute(db).await.map(drop)
}

/// Removes hosts that crashed long ago.
pub async fn purge(db: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from host_status where seen_at < now() - interval '1 day'").execute(db).await.map(drop)
}
