//! What an operator has to name before a change that is easily made by mistake: the canary that it ends, and the
//! version that it promotes in spite of a setback.

use time::OffsetDateTime;

use crate::db::components::{Component, name_of, named};
use crate::db::deployments::Deployment;
use crate::domain::model::Digest;
use crate::http::admin::names::{find, unprocessable};
use crate::http::admin::versions::VERSION_EXAMPLE;
use crate::http::error::Error;
use crate::http::ledger::accounts::INSTANT_EXAMPLE;
use crate::models::deploying::catalog::Catalog;
use crate::models::deploying::setback::{Cause, Setback};
use crate::schema::record;

/// Fields of requests, and what the commands' flags are called.
const ENDS_CANARY: &str = "ends_canary";
pub(super) const DESPITE_SETBACK: &str = "despite_setback";

record! {
    /// Why a version should not simply be promoted.
    pub(crate) struct SetbackJson as "Setback" {
        pub(crate) version: Option<String> { nullable: true, example: VERSION_EXAMPLE },
        /// It was withdrawn as a canary, or rolled back as the champion.
        pub(crate) cause: Cause { example: "\"withdrawn\"" },
        /// The change that did it.
        pub(crate) epoch: i64 { example: "3" },
        /// Why.
        pub(crate) reason: String { example: "\"canary withdrawn: it failed for about 3 of 14 users\"" },
        pub(crate) changed_by: String { example: "\"automatic\"" },
        pub(crate) changed_at: OffsetDateTime { example: INSTANT_EXAMPLE },
    }
}

pub(super) fn to_json(it: Setback, registered: &[Component]) -> SetbackJson {
    SetbackJson {
        version: name_of(it.version, registered),
        cause: it.cause,
        epoch: it.epoch,
        reason: it.reason,
        changed_by: it.by,
        changed_at: it.at,
    }
}

/// Refuses a change that does more than its author has confirmed by naming `ends_canary` and `despite_setback`.
/// `promoted` is the version that it makes the champion, now or later.
pub(super) fn check(
    catalog: &Catalog,
    next: &Deployment,
    promoted: Option<Digest>,
    (ends_canary, despite_setback): (Option<&str>, Option<&str>),
) -> Result<(), Error> {
    let find = |field, version: Option<&str>| version.map(|it| find(catalog, field, it)).transpose();
    let (ends_canary, known) = (find(ENDS_CANARY, ends_canary)?, find(DESPITE_SETBACK, despite_setback)?);
    if let Some(ended) = catalog.deployed.canary_ended_by(next).filter(|ended| ends_canary != Some(*ended)) {
        let detail = format!("must name {}: this ends the canary", named(ended, &catalog.registered));
        return Err(unprocessable(ENDS_CANARY, "required", &detail));
    }
    match promoted.and_then(|version| catalog.setback(version, known)) {
        Some(setback) => Err(unconfirmed(&setback, &catalog.registered)),
        None => Ok(()),
    }
}

pub(super) fn unconfirmed(setback: &Setback, registered: &[Component]) -> Error {
    let Setback { version, cause, epoch, reason, .. } = setback;
    let (version, happened) = (named(*version, registered), cause.describe());
    let detail = format!("must name {version}: it {happened} by change {epoch} ({reason})");
    unprocessable(DESPITE_SETBACK, "required", &detail)
}
