//! Lets the share of canaries grow: each step is a deployment of its own, so what is compared in it is its evidence.
//!
//! Every host looks after every open rollout. A change locks the row and replaces the deployment that its host saw,
//! both in one transaction, so one host makes it, and a host that dies leaves nothing half done.
//!
//! A violated bound takes the canary from all users: held at its share, it would go on giving them worse answers until
//! somebody looks, which an operator may prefer. Canaries whose share an operator set keep the same bounds.

use std::time::Duration;

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::clock::Clock;
use crate::db::approvals::{self, Action, Step, Versions};
use crate::db::components::{self, name_of};
use crate::db::deployments::{self, AUTOMATIC, Canary, Deployment};
use crate::db::session::{checked_time, within};
use crate::db::{comparisons, rollouts};
use crate::domain::approval::{Person, State};
use crate::domain::model::{Digest, ModelKind};
use crate::domain::rollout::{Bounds, OnViolation, Rollout, RolloutState, WHOLE};
use crate::metrics::Metrics;
use crate::models::deploying::catalog::{present, shadows_after, with_champion};
use crate::models::deploying::loading::DATABASE_TIME_MAX;
use crate::models::deploying::withdrawal::withdraw_canary;
use crate::models::observing::evidence::{Evidence, Judgment};
use crate::models::serving::registry::FailedCanary;
use crate::sealing::ChainKey;

/// Stored as the operator who lets a canary grow.
pub const ROLLOUT: &str = "rollout";

/// Changes searched for the one that ended a rollout's step.
const HISTORY_MAX: i64 = 100;

/// What an operator does to an open rollout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Pause,
    Resume,
    Abort,
}

/// What became of an order.
#[derive(Debug, PartialEq, Eq)]
pub enum Ordered {
    Done(Box<Rollout>),
    /// It has ended, or is in a state for another order.
    Refused(RolloutState),
    /// A host or another operator was faster.
    Stale,
    NoRollout,
}

/// Starts a rollout with its first step, beside what is deployed. False if a rollout of the kind is open, or if the
/// deployment is no longer that one.
///
/// # Errors
/// When the database fails.
pub async fn start(
    db: &mut PgConnection,
    key: &ChainKey,
    rollout: &Rollout,
    deployed: &Deployment,
) -> Result<bool, sqlx::Error> {
    let mut transaction = sqlx::Connection::begin(db).await?;
    // Before the head of the records is locked: it may wait for another rollout of the kind.
    if !rollouts::insert(&mut transaction, rollout).await? {
        return Ok(false);
    }
    let next = first_step(rollout, deployed);
    if deployments::deploy(&mut transaction, key, &next).await?.is_none() {
        return Ok(false);
    }
    rollouts::record(&mut transaction, key, rollout, "start").await?;
    transaction.commit().await?;
    Ok(true)
}

/// The deployment that starts a rollout.
pub fn first_step(rollout: &Rollout, deployed: &Deployment) -> Deployment {
    let next = deployed.next(&step_reason(rollout, None), &rollout.changed_by, rollout.started_at);
    Deployment { canary: Some(Canary::from(rollout)), ..next }
}

fn step_reason(rollout: &Rollout, evidence: Option<&Evidence>) -> String {
    let (percent, last) = (rollout.percent(), rollout.steps.len());
    let evidence = evidence.map(|it| format!(" after {}", it.summary())).unwrap_or_default();
    format!("rollout, step {} of {last} ({percent}%){evidence}: {}", rollout.step + 1, rollout.reason)
}

/// Pauses, resumes or aborts the open rollout of a kind.
///
/// # Errors
/// When the database fails.
pub async fn order(
    db: &mut PgConnection,
    key: &ChainKey,
    kind: ModelKind,
    (order, reason, by): (Order, &str, &str),
    now: OffsetDateTime,
) -> Result<Ordered, sqlx::Error> {
    let Some(rollout) = rollouts::of_kind(db, kind, 1).await?.into_iter().next() else {
        return Ok(Ordered::NoRollout);
    };
    let detail = reason.to_owned();
    let next = match (order, rollout.state) {
        (Order::Pause, RolloutState::Running) => rollout.with_state(RolloutState::Paused, detail, by, now),
        (Order::Resume, RolloutState::Paused) => rollout.with_state(RolloutState::Running, detail, by, now),
        (Order::Abort, state) if state.is_open() => rollout.with_state(RolloutState::Aborted, detail, by, now),
        (_, state) => return Ok(Ordered::Refused(state)),
    };
    let action = match order {
        Order::Pause => "pause",
        Order::Resume => "resume",
        Order::Abort => "abort",
    };
    let deployed = present(&mut *db, key, kind).await?;
    if deployed.epoch != rollout.epoch {
        return Ok(Ordered::Stale);
    }
    let reason = format!("rollout aborted: {reason}");
    let ended = (order == Order::Abort).then(|| Deployment { canary: None, ..deployed.next(&reason, by, now) });
    let done = commit(db, key, (&rollout, &next), ended, action).await?;
    Ok(if done { Ordered::Done(Box::new(next)) } else { Ordered::Stale })
}

/// One change: of the deployment, if another is given, and of the rollout. False if either changed meanwhile.
async fn commit(
    db: &mut PgConnection,
    key: &ChainKey,
    (before, after): (&Rollout, &Rollout),
    next: Option<Deployment>,
    action: &'static str,
) -> Result<bool, sqlx::Error> {
    let Some(mut transaction) = rollouts::claim(db, key, before).await? else { return Ok(false) };
    // First, as a decision on the approval does: the head of the records is locked last.
    if let Some(approval_id) = before.approval_id {
        approvals::lock(&mut transaction, approval_id).await?;
    }
    if let Some(next) = next
        && deployments::deploy(&mut transaction, key, &next).await?.is_none()
    {
        return Ok(false);
    }
    rollouts::update(&mut transaction, after).await?;
    if after.approval_id.is_none() {
        withdraw(&mut transaction, key, before.approval_id, &after.changed_by, after.changed_at).await?;
    }
    rollouts::record(&mut transaction, key, after, action).await?;
    transaction.commit().await?;
    Ok(true)
}

/// Withdraws what still waits for a second operator: a rollout that does not wait any more is not to be promoted.
async fn withdraw(
    db: &mut PgConnection,
    key: &ChainKey,
    approval_id: Option<Uuid>,
    by: &str,
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    let Some(approval_id) = approval_id else { return Ok(()) };
    let found = approvals::find(&mut *db, key, approval_id).await?;
    let Some(pending) = found.filter(|it| it.state(now) == State::Pending) else { return Ok(()) };
    let by = Person { name: by.to_owned(), issuer: None, is_machine: false };
    if let Ok(withdrawn) = pending.withdraw(by.clone(), now) {
        approvals::save(db, key, Some(&pending), &withdrawn, (Step::Withdraw, &by), now).await?;
    }
    Ok(())
}

/// Looks after the open rollouts.
pub(super) struct Rollouts<'a> {
    pub(super) key: &'a ChainKey,
    /// How long a promotion of `risk` waits for a second operator; `None` if one is enough.
    pub(super) approval_lifetime: Option<Duration>,
    pub(super) clock: &'a Clock,
    pub(super) metrics: &'a Metrics,
}

impl Rollouts<'_> {
    pub(super) async fn settle(&self, pool: &PgPool) -> Result<(), sqlx::Error> {
        let db = pool.acquire().await?;
        let read = async |db: &mut PgConnection| {
            Ok((rollouts::open(db).await?, deployments::recorded_deployments(db, self.key).await?))
        };
        let (open, deployed) = within(db, DATABASE_TIME_MAX, read).await?;
        for (deployment, _) in deployed.iter().filter(|(it, is_recorded)| *is_recorded && it.canary.is_some()) {
            if open.iter().all(|it| it.kind != deployment.kind) {
                let db = pool.acquire().await?;
                within(db, DATABASE_TIME_MAX, async |db| self.watch(db, deployment).await).await?;
            }
        }
        for rollout in open {
            let db = pool.acquire().await?;
            let done = within(db, DATABASE_TIME_MAX, async |db| self.settle_one(db, &rollout).await).await;
            if let Err(error) = done {
                tracing::warn!(kind = %rollout.kind, %error, "cannot process a rollout; will retry in a second");
            }
        }
        Ok(())
    }

    async fn settle_one(&self, db: &mut PgConnection, rollout: &Rollout) -> Result<(), sqlx::Error> {
        let Rollout { kind, epoch, canary, ref bounds, .. } = *rollout;
        let deployed = present(&mut *db, self.key, kind).await?;
        if deployed.epoch != epoch {
            return self.end(db, rollout).await;
        }
        let evidence = self.evidence(db, (kind, epoch, canary)).await?;
        let seconds = (checked_time(db, self.clock).await? - rollout.step_at).whole_seconds();
        match evidence.judge(bounds, seconds) {
            Judgment::Violated(why) if rollout.on_violation == OnViolation::Withdraw => {
                self.stop(db, rollout, &deployed, &why).await
            }
            Judgment::Violated(why) if rollout.state != RolloutState::Paused => self.pause(db, rollout, why).await,
            Judgment::Ready if rollout.state == RolloutState::Running => {
                self.advance(db, rollout, &deployed, &evidence).await
            }
            _ if rollout.state == RolloutState::Waiting => self.follow_approval(db, rollout).await,
            _ => Ok(()),
        }
    }

    async fn evidence(
        &self,
        db: &mut PgConnection,
        (kind, epoch, canary): (ModelKind, i64, Digest),
    ) -> Result<Evidence, sqlx::Error> {
        let hosts = comparisons::evidence(db, self.key, (kind, epoch, canary)).await?;
        Ok(Evidence::of(kind, &hosts, canary))
    }

    /// Withdraws a canary whose share an operator set, if it violates a bound.
    async fn watch(&self, db: &mut PgConnection, deployed: &Deployment) -> Result<(), sqlx::Error> {
        let Some(canary) = deployed.canary else { return Ok(()) };
        let Deployment { kind, epoch, .. } = *deployed;
        let bounds = Bounds { max_flip_percent: canary.max_flip_percent, ..Bounds::default() };
        let Judgment::Violated(reason) = self.evidence(db, (kind, epoch, canary.version)).await?.judge(&bounds, 0)
        else {
            return Ok(());
        };
        withdraw_canary(db, self.key, &FailedCanary { kind, epoch, reason }, (self.metrics, self.clock)).await
    }

    /// Leaves the canary at its share, until an operator aborts or resumes.
    async fn pause(&self, db: &mut PgConnection, rollout: &Rollout, why: String) -> Result<(), sqlx::Error> {
        let after = rollout.with_state(RolloutState::Paused, why, ROLLOUT, self.clock.now());
        if commit(db, self.key, (rollout, &after), None, "pause").await? {
            self.tell_stopped(rollout, &after.detail, "its canary keeps its share");
        }
        Ok(())
    }

    async fn stop(
        &self,
        db: &mut PgConnection,
        rollout: &Rollout,
        deployed: &Deployment,
        why: &str,
    ) -> Result<(), sqlx::Error> {
        let now = self.clock.now();
        let after = rollout.with_state(RolloutState::Stopped, why.to_owned(), AUTOMATIC, now);
        let reason = format!("rollout stopped at {}%: {why}", rollout.percent());
        let next = Deployment { canary: None, ..deployed.next(&reason, AUTOMATIC, now) };
        if commit(db, self.key, (rollout, &after), Some(next), "stop").await? {
            self.tell_stopped(rollout, why, "the champion answers everybody");
        }
        Ok(())
    }

    fn tell_stopped(&self, rollout: &Rollout, why: &str, now: &str) {
        let (kind, percent) = (rollout.kind, rollout.percent());
        tracing::warn!(%kind, percent, why, "a rollout stopped; {now}");
        self.metrics.model_rollouts_stopped.of([kind.as_str()]).inc();
    }

    async fn advance(
        &self,
        db: &mut PgConnection,
        rollout: &Rollout,
        deployed: &Deployment,
        evidence: &Evidence,
    ) -> Result<(), sqlx::Error> {
        let (now, percent) = (self.clock.now(), rollout.next_percent());
        if percent == WHOLE
            && rollout.kind == ModelKind::Risk
            && let Some(lifetime) = self.approval_lifetime
        {
            return self.propose(db, rollout, deployed, lifetime).await;
        }
        let (step, epoch, step_at) = (rollout.step + 1, rollout.epoch + 1, now);
        let state = if percent == WHOLE { RolloutState::Completed } else { RolloutState::Running };
        let after = Rollout { step, epoch, step_at, ..rollout.with_state(state, evidence.summary(), ROLLOUT, now) };
        let reason = step_reason(&after, Some(evidence));
        let next = deployed.next(&reason, ROLLOUT, now);
        let next = if percent == WHOLE {
            let shadows = shadows_after(deployed);
            with_champion(Deployment { canary: None, shadows, ..next }, rollout.canary, true)
        } else {
            Deployment { canary: Some(Canary::from(&after)), ..next }
        };
        if commit(db, self.key, (rollout, &after), Some(next), "advance").await? {
            tracing::info!(kind = %rollout.kind, percent, reason, "a rollout advanced");
        }
        Ok(())
    }

    /// Proposes the promotion in the name of who started the rollout, so somebody else has to approve it.
    async fn propose(
        &self,
        db: &mut PgConnection,
        rollout: &Rollout,
        deployed: &Deployment,
        lifetime: Duration,
    ) -> Result<(), sqlx::Error> {
        let registered = components::list(&mut *db).await?;
        let name = |digest: Digest| name_of(digest, &registered);
        let Some(champion) = name(rollout.canary) else { return Ok(()) };
        let versions = Versions {
            epoch: rollout.epoch,
            despite_setback: rollout.despite_setback.then(|| champion.clone()),
            champion,
            canary: None,
            shadows: shadows_after(deployed).into_iter().filter_map(name).collect(),
            minimum_release: None,
            cut_offs: None,
            ends_canary: None,
            fork_report: rollout.fork_report.clone(),
        };
        let action = Action::Deploy { kind: rollout.kind.to_string(), versions };
        let (now, approval_id) = (self.clock.now(), self.clock.new_id());
        let detail = format!("its promotion waits for a second operator: approval {approval_id}");
        let waiting = rollout.with_state(RolloutState::Waiting, detail, ROLLOUT, now);
        let after = Rollout { approval_id: Some(approval_id), ..waiting };
        let Some(mut transaction) = rollouts::claim(db, self.key, rollout).await? else { return Ok(()) };
        rollouts::update(&mut transaction, &after).await?;
        let reason = format!("last step of the rollout: {}", rollout.reason);
        let proposal = (approval_id, &action, &*reason);
        approvals::propose(&mut transaction, self.key, proposal, &rollout.started_by, (now, lifetime)).await?;
        rollouts::record(&mut transaction, self.key, &after, "propose").await?;
        transaction.commit().await?;
        tracing::info!(kind = %rollout.kind, approval = %approval_id, "a promotion waits for a second operator");
        Ok(())
    }

    /// An approval that is carried out replaces the deployment; one that ends otherwise leaves the canary at its share.
    async fn follow_approval(&self, db: &mut PgConnection, rollout: &Rollout) -> Result<(), sqlx::Error> {
        let now = checked_time(db, self.clock).await?;
        let found = match rollout.approval_id {
            Some(id) => approvals::find(db, self.key, id).await?,
            None => None,
        };
        let state = found.map(|it| it.state(now));
        if matches!(state, Some(State::Pending | State::Approved | State::Executed)) {
            return Ok(());
        }
        let state = state.map_or("not as recorded", State::as_str);
        let detail = format!("the approval of its promotion is {state}: resume to propose it again");
        let after = rollout.with_state(RolloutState::Paused, detail, ROLLOUT, now);
        commit(db, self.key, (rollout, &after), None, "pause").await.map(drop)
    }

    /// Something else replaced the deployment of the present step.
    async fn end(&self, db: &mut PgConnection, rollout: &Rollout) -> Result<(), sqlx::Error> {
        let Rollout { kind, epoch, canary, .. } = *rollout;
        let history = deployments::history_of(db, kind, HISTORY_MAX).await?;
        let Some(next) = history.into_iter().rev().find(|it| it.epoch > epoch) else { return Ok(()) };
        let state = match &next {
            it if it.champion == canary => RolloutState::Completed,
            it if it.changed_by == AUTOMATIC && it.canary.is_none() => RolloutState::Stopped,
            _ => RolloutState::Replaced,
        };
        let after = rollout.with_state(state, next.reason.clone(), &next.changed_by, self.clock.now());
        let action = if state == RolloutState::Stopped { "stop" } else { "end" };
        if commit(db, self.key, (rollout, &after), None, action).await? && state == RolloutState::Stopped {
            self.tell_stopped(rollout, &after.detail, "the champion answers everybody");
        }
        Ok(())
    }
}
