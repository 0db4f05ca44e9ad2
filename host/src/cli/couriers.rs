//! Sets up the rail that is configured, and its courier.

use std::fs;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use sqlx::PgPool;
use tokio::sync::mpsc;

use crate::clock::Clock;
use crate::config::{self, RailKind};
use crate::domain::transfer::RailName;
use crate::ledger::Ledger;
use crate::rail::courier::{Courier, PUSHES_MAX};
use crate::rail::simulated::{Behaviour, Simulated};
use crate::rail::stp::{Settings, Stp};
use crate::rail::{Push, Rail};

/// A rail that takes payments, and where its news come out.
pub(super) struct Way {
    rail: Arc<dyn Rail>,
    news: mpsc::Receiver<Push>,
}

/// What new transfers' rail is called.
pub(super) fn name(rail: &config::Rail) -> RailName {
    match rail.kind {
        RailKind::Instant => RailName::Instant,
        RailKind::Simulated => RailName::Simulated,
        RailKind::Stp => RailName::Stp,
    }
}

/// The rail, unless payments settle without one. Nothing is sent yet.
pub(super) fn open(rail: &config::Rail) -> Result<Option<Way>> {
    let (pushes, news) = mpsc::channel(PUSHES_MAX);
    let rail: Arc<dyn Rail> = match rail.kind {
        RailKind::Instant => return Ok(None),
        RailKind::Simulated => Arc::new(Simulated::new(behaviour(rail), pushes)),
        // What STP tells by itself comes over HTTP.
        RailKind::Stp => Arc::new(stp(rail).context("--rail stp cannot be used")?),
    };
    Ok(Some(Way { rail, news }))
}

/// A courier for the rail, and what to run for as long as it works.
pub(super) fn employ(
    Way { rail, news }: Way,
    name: RailName,
    db: &PgPool,
    ledger: &Ledger,
    clock: &Clock,
) -> (Courier, impl Future<Output = ()> + Send + use<>) {
    let courier = Courier { db: db.clone(), ledger: ledger.clone(), rail, name, clock: clock.clone() };
    (courier.clone(), courier.run(news))
}

fn behaviour(rail: &config::Rail) -> Behaviour {
    Behaviour {
        delay: rail.simulated_delay,
        rejected: rail.simulated_rejected,
        returned: rail.simulated_returned,
        ..Behaviour::ORDINARY
    }
}

fn stp(rail: &config::Rail) -> Result<Stp> {
    let file = rail.stp_key_file.clone().context("--stp-key-file is missing")?;
    let key_pem = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let settings = Settings {
        url: rail.stp_url.clone().context("--stp-url is missing")?,
        company: rail.stp_company.clone().context("--stp-company is missing")?,
        account: rail.stp_account.clone().context("--stp-account is missing")?,
        institution: rail.stp_institution,
        key_pem,
    };
    Ok(Stp::new(settings)?)
}
