//! Actions that take two operators. What may be carried out is what the audit records say, not the row alone.

mod action;

pub use action::{Action, OtherCutOffs, OwnLimits, Start, Versions};

use std::time::Duration;

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::records::{self, Change, Subject};
use crate::domain::approval::{Approval, Person, Resolution, Resolved};
use crate::sealing::ChainKey;

/// How long only one request carries an action out: no request takes longer, and what it sent to the database is over.
const CLAIM: Duration = Duration::from_secs(60);

/// What happened to an approval, in the records.
#[derive(Debug, Clone, Copy)]
pub enum Step {
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

/// Stores an action for a second person.
pub async fn propose(
    db: &mut PgConnection,
    key: &ChainKey,
    (approval_id, action, reason): (Uuid, &Action, &str),
    by: &Person,
    (now, lifetime): (OffsetDateTime, Duration),
) -> Result<Approval, sqlx::Error> {
    let proposed = Approval {
        approval_id,
        action: serde_json::to_string(action).map_err(|error| sqlx::Error::Encode(error.into()))?,
        reason: reason.to_owned(),
        proposed_by: by.clone(),
        proposed_at: now,
        expires_at: now + lifetime,
        decision: None,
        executed_at: None,
        claimed_until: None,
    };
    save(db, key, None, &proposed, (Step::Propose, by), now).await?;
    Ok(proposed)
}

/// Inserts a new one, or replaces `before`; `None` if that changed meanwhile, or is claimed. Approving and resuming claim
/// it.
pub async fn save(
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
    let decided = |it: &Option<Resolution>| it.as_ref().map(|it| it.at);
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
                -- What somebody altered since it was read must not be put on record.
                and (a.action, a.reason, a.proposed_by, a.proposed_issuer, a.proposed_at, a.expires_at) is not distinct from
                    (excluded.action, excluded.reason, excluded.proposed_by, excluded.proposed_issuer,
                    excluded.proposed_at, excluded.expires_at)
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
    let change = Change::new(Subject::Approval, approval_id, step.as_str(), &by.name);
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
pub async fn find(db: &mut PgConnection, key: &ChainKey, approval_id: Uuid) -> Result<Option<Approval>, sqlx::Error> {
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
    let is_sound = records::is_sound(&mut transaction, key, Subject::Approval, &approval_id.to_string()).await?;
    transaction.commit().await?;
    if is_sound {
        return Ok(Some(found));
    }
    tracing::error!(%approval_id, "an approval does not match its audit record and is ignored: run `caudal verify`");
    Ok(None)
}

/// Newest first.
pub async fn list(db: &mut PgConnection, limit: i64) -> Result<Vec<Approval>, sqlx::Error> {
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
                    Resolved::parse(&verdict).ok_or_else(|| super::unknown_text("approval.verdict", &verdict))?;
                Some(Resolution {
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
