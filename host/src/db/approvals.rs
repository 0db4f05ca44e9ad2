//! Actions that take two operators. What may be carried out is what the audit records say, not the row alone.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::records::{self, Change, Covered, Recorded, Subject};
use crate::domain::approval::{Approval, Decision, Person, Verdict};
use crate::sealing::ChainKey;
use crate::sealing::digest::{Digest, Hash};

/// How long only one request carries an action out: no request takes longer, and what it sent to the database is over.
const CLAIM: Duration = Duration::from_secs(60);

/// What happened to an approval, in the records.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    Propose,
    Approve,
    Withdraw,
    /// Somebody goes on with an action whose outcome is unknown.
    Resume,
    /// Carrying it out changed nothing.
    Refuse,
    Execute,
}

impl Step {
    fn as_str(self) -> &'static str {
        match self {
            Self::Propose => "propose",
            Self::Approve => "approve",
            Self::Withdraw => "withdraw",
            Self::Resume => "resume",
            Self::Refuse => "refuse",
            Self::Execute => "execute",
        }
    }
}

fn state(key: &ChainKey, it: &Approval) -> Hash {
    fn person(digest: &mut Digest, Person { name, issuer, .. }: &Person) {
        digest.text(name);
        digest.optional_bytes(issuer.as_deref().map(str::as_bytes));
    }
    let mut digest = Subject::Approval.state();
    digest.uuid(it.approval_id);
    digest.text(&it.action);
    digest.text(&it.reason);
    person(&mut digest, &it.proposed_by);
    digest.time(it.proposed_at);
    digest.time(it.expires_at);
    digest.int(it.decision.is_some().into());
    if let Some(Decision { verdict, by, at }) = &it.decision {
        digest.text(verdict.as_str());
        person(&mut digest, by);
        digest.time(*at);
    }
    digest.int(it.executed_at.is_some().into());
    it.executed_at.iter().for_each(|at| digest.time(*at));
    key.seal_digest(digest)
}

/// Inserts a new one, or replaces `before`; `None` if that changed meanwhile, or is claimed. Approving and resuming claim
/// it.
pub(crate) async fn save(
    db: &mut PgConnection,
    key: &ChainKey,
    before: Option<&Approval>,
    it: &Approval,
    (step, by): (Step, &Person),
    now: OffsetDateTime,
) -> Result<Option<Approval>, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let Approval { approval_id, action, reason, proposed_by, proposed_at, expires_at, decision, executed_at, .. } = it;
    let claims = matches!(step, Step::Approve | Step::Resume);
    let decided = |it: &Option<Decision>| it.as_ref().map(|it| it.at);
    let saved = sqlx::query_scalar!(
        r#"
        insert into approval as a (approval_id, action, reason, proposed_by, proposed_issuer, proposed_at, expires_at,
            verdict, decided_by, decided_issuer, decided_at, executed_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        on conflict (approval_id) do update
            set verdict = excluded.verdict, decided_by = excluded.decided_by, decided_issuer = excluded.decided_issuer,
                decided_at = excluded.decided_at, executed_at = excluded.executed_at,
                claimed_until = case when $15 then clock_timestamp() + make_interval(secs => $16) end
            where $13 and a.executed_at is null and a.decided_at is not distinct from $14
                and a.claimed_until is not distinct from $17
                and (not $15 or a.claimed_until is null or a.claimed_until <= clock_timestamp())
        returning claimed_until
        "#,
        approval_id,
        action,
        reason,
        proposed_by.name,
        proposed_by.issuer,
        proposed_at,
        expires_at,
        decision.as_ref().map(|it| it.verdict.as_str()),
        decision.as_ref().map(|it| &it.by.name),
        decision.as_ref().and_then(|it| it.by.issuer.as_ref()),
        decided(decision),
        *executed_at,
        before.is_some(),
        before.and_then(|it| decided(&it.decision)),
        claims,
        CLAIM.as_secs_f64(),
        before.and_then(|it| it.claimed_until),
    );
    let Some(claimed_until) = saved.fetch_optional(&mut *transaction).await? else { return Ok(None) };
    let (action, actor) = (step.as_str(), by.name.clone());
    let change =
        Change { subject: Subject::Approval, key: approval_id.to_string(), action, actor, state: Some(state(key, it)) };
    records::append(&mut transaction, key, change, now).await?;
    transaction.commit().await?;
    Ok(Some(Approval { claimed_until, ..it.clone() }))
}

/// Nobody else decides on it until the transaction ends.
pub(crate) async fn lock(db: &mut PgConnection, approval_id: Uuid) -> Result<(), sqlx::Error> {
    let lock = sqlx::query!("select approval_id from approval where approval_id = $1 for update", approval_id);
    lock.fetch_optional(db).await.map(drop)
}

/// `None` if there is none, or it is not as recorded: somebody altered it.
pub(crate) async fn find(
    db: &mut PgConnection,
    key: &ChainKey,
    approval_id: Uuid,
) -> Result<Option<Approval>, sqlx::Error> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select approval_id, action, reason, proposed_by, proposed_issuer, proposed_at, expires_at, verdict, decided_by,
            decided_issuer, decided_at, executed_at, claimed_until
        from approval where approval_id = $1 for share
        "#,
        approval_id,
    );
    // Nobody changes the row, and so adds a record, between the two.
    let mut transaction = db.begin().await?;
    let found = row.fetch_optional(&mut *transaction).await?.map(Row::read).transpose()?;
    let Some(found) = found else { return Ok(None) };
    let record = records::find(&mut transaction, key, Subject::Approval, &approval_id.to_string()).await?;
    transaction.commit().await?;
    let recorded = record.and_then(|record| record.state);
    if recorded.as_deref() == Some(&state(key, &found)[..]) {
        return Ok(Some(found));
    }
    tracing::error!(%approval_id, "an approval does not match its audit record and is ignored: run `caudal verify`");
    Ok(None)
}

/// Newest first.
pub(crate) async fn list(db: &mut PgConnection, limit: i64) -> Result<Vec<Approval>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select approval_id, action, reason, proposed_by, proposed_issuer, proposed_at, expires_at, verdict, decided_by,
            decided_issuer, decided_at, executed_at, claimed_until
        from approval order by proposed_at desc, approval_id desc limit $1
        "#,
        limit,
    );
    rows.fetch_all(db).await?.into_iter().map(Row::read).collect()
}

/// Every approval, or only these, beside its last record.
pub(super) async fn covered(
    db: &mut PgConnection,
    key: &ChainKey,
    only: Option<&[Uuid]>,
    mut visit: impl FnMut(Covered),
) -> Result<(), sqlx::Error> {
    let mut rows = sqlx::query!(
        r#"
        select a.approval_id, a.action, a.reason, a.proposed_by, a.proposed_issuer, a.proposed_at, a.expires_at, a.verdict,
            a.decided_by, a.decided_issuer, a.decided_at, a.executed_at, a.claimed_until,
            r.seq is not null as "is_recorded!", r.state as "state?"
        from approval a left join lateral (
            select seq, state from audit_record
            where subject = 'approval' and subject_key = a.approval_id::text order by seq desc limit 1
        ) as r on true
        where $1::uuid[] is null or a.approval_id = any($1)
        order by a.approval_id
        "#,
        only,
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        let recorded = Recorded::new(row.is_recorded, row.state);
        let row = Row {
            approval_id: row.approval_id,
            action: row.action,
            reason: row.reason,
            proposed_by: row.proposed_by,
            proposed_issuer: row.proposed_issuer,
            proposed_at: row.proposed_at,
            expires_at: row.expires_at,
            verdict: row.verdict,
            decided_by: row.decided_by,
            decided_issuer: row.decided_issuer,
            decided_at: row.decided_at,
            executed_at: row.executed_at,
            claimed_until: row.claimed_until,
        };
        let id = row.approval_id;
        // What cannot even be read was altered, and is found like anything else.
        let state = row.read().map_or([0; 32], |it| state(key, &it));
        visit(Covered { key: id.to_string(), state, recorded });
    }
    Ok(())
}

struct Row {
    approval_id: Uuid,
    action: String,
    reason: String,
    proposed_by: String,
    proposed_issuer: Option<String>,
    proposed_at: OffsetDateTime,
    expires_at: OffsetDateTime,
    verdict: Option<String>,
    decided_by: Option<String>,
    decided_issuer: Option<String>,
    decided_at: Option<OffsetDateTime>,
    executed_at: Option<OffsetDateTime>,
    claimed_until: Option<OffsetDateTime>,
}

impl Row {
    fn read(self) -> Result<Approval, sqlx::Error> {
        let decision = match (self.verdict, self.decided_by, self.decided_at) {
            (Some(verdict), Some(name), Some(at)) => {
                let known =
                    Verdict::parse(&verdict).ok_or_else(|| super::unknown_text("approval.verdict", &verdict))?;
                Some(Decision {
                    verdict: known,
                    by: Person { name, issuer: self.decided_issuer, is_machine: false },
                    at,
                })
            }
            _ => None,
        };
        Ok(Approval {
            approval_id: self.approval_id,
            action: self.action,
            reason: self.reason,
            proposed_by: Person { name: self.proposed_by, issuer: self.proposed_issuer, is_machine: false },
            proposed_at: self.proposed_at,
            expires_at: self.expires_at,
            decision,
            executed_at: self.executed_at,
            claimed_until: self.claimed_until,
        })
    }
}
