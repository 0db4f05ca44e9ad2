//! What an operator has to name before a change that is easily made by mistake: the canary that it ends, and the
//! version that it promotes in spite of a setback.

use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::db::components::Component;
use crate::db::deployments::{self, Deployment};
use crate::domain::model::{Digest, ModelKind};
use crate::http::admin::names::{find, name_of, named, unprocessable};
use crate::http::admin::versions::VERSION_EXAMPLE;
use crate::http::error::Error;
use crate::http::ledger::accounts::INSTANT_EXAMPLE;
use crate::models::deploying::catalog::Plan;
use crate::models::deploying::setback::{Cause, Setback, setbacks};
use crate::schema::answer;

/// Fields of requests, and what the commands' flags are called.
pub(super) const ENDS_CANARY: &str = "ends_canary";
pub(super) const DESPITE_SETBACK: &str = "despite_setback";

answer! {
    /// Why a version should not simply be promoted.
    pub(crate) struct SetbackJson as "Setback" {
        version: Option<String> { nullable: true, example: VERSION_EXAMPLE },
        /// It was withdrawn as a canary, or rolled back as the champion.
        cause: Cause { example: "\"withdrawn\"" },
        /// The change that did it.
        epoch: i64 { example: "3" },
        /// Why.
        reason: String { example: "\"canary withdrawn: it failed for about 3 of 14 users\"" },
        changed_by: String { example: "\"automatic\"" },
        changed_at: OffsetDateTime { example: INSTANT_EXAMPLE },
    }
}

/// The setbacks of a kind's versions, newest first.
pub(super) async fn setbacks_of(db: &mut PgConnection, kind: ModelKind) -> Result<Vec<Setback>, sqlx::Error> {
    Ok(setbacks(&deployments::history_of(db, kind, i64::MAX).await?))
}

pub(super) fn shown(it: &Setback, registered: &[Component]) -> SetbackJson {
    SetbackJson {
        version: name_of(it.version, registered).map(str::to_owned),
        cause: it.cause,
        epoch: it.epoch,
        reason: it.reason.clone(),
        changed_by: it.by.clone(),
        changed_at: it.at,
    }
}

/// The versions that a request names to confirm what it does.
#[derive(Debug, Default)]
pub(super) struct Confirmed {
    ends_canary: Option<Digest>,
    despite_setback: Option<Digest>,
}

impl Confirmed {
    pub(super) fn find(
        kind: ModelKind,
        registered: &[Component],
        ends_canary: Option<&str>,
        despite_setback: Option<&str>,
    ) -> Result<Self, Error> {
        let find = |field, version: Option<&str>| version.map(|it| find(kind, registered, field, it)).transpose();
        Ok(Self {
            ends_canary: find(ENDS_CANARY, ends_canary)?,
            despite_setback: find(DESPITE_SETBACK, despite_setback)?,
        })
    }

    pub(super) fn knows_setback(&self, version: Digest) -> bool {
        self.despite_setback == Some(version)
    }

    /// Refuses a deployment that does more than its author has confirmed.
    pub(super) fn check(
        &self,
        deployed: &Deployment,
        plan: &Plan,
        setbacks: &[Setback],
        registered: &[Component],
    ) -> Result<(), Error> {
        if let Some(ended) = ended_canary(deployed, plan)
            && self.ends_canary != Some(ended)
        {
            let detail = format!("must name {}: this ends the canary", named(ended, registered));
            return Err(unprocessable(ENDS_CANARY, "required", &detail));
        }
        let is_promoted = deployed.champion != plan.champion && !self.knows_setback(plan.champion);
        match setbacks.iter().find(|it| is_promoted && it.version == plan.champion) {
            Some(setback) => Err(unconfirmed(setback, registered)),
            None => Ok(()),
        }
    }
}

/// The canary that would no longer answer anyone. One that becomes the champion is not ended.
fn ended_canary(deployed: &Deployment, plan: &Plan) -> Option<Digest> {
    let present = deployed.canary?.digest;
    let stays = plan.champion == present || plan.canary.is_some_and(|canary| canary.digest == present);
    (!stays).then_some(present)
}

pub(super) fn unconfirmed(setback: &Setback, registered: &[Component]) -> Error {
    let Setback { version, cause, epoch, reason, .. } = setback;
    let happened = match cause {
        Cause::Withdrawn => "it was withdrawn as a canary",
        Cause::RolledBack => "it was rolled back",
    };
    let version = named(*version, registered);
    let detail = format!("must name {version}: {happened} by change {epoch} ({reason})");
    unprocessable(DESPITE_SETBACK, "required", &detail)
}
