//! Sets up the configured rail and its courier.

use std::fs;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use sqlx::PgPool;
use tokio::sync::mpsc;

use crate::clock::Clock;
use crate::config;
use crate::domain::transfer::RailName;
use crate::ledger::Ledger;
use crate::rail::courier::{Courier, NOTIFICATIONS_MAX};
use crate::rail::simulated::{Behaviour, Simulated};
use crate::rail::stp::{Settings, Stp};
use crate::rail::{Notification, Rail};

/// A rail and its notifications.
pub(super) struct RailHandle {
    rail: Arc<dyn Rail>,
    notifications: mpsc::Receiver<Notification>,
}

/// `None` for the instant rail, which needs no courier. Sends nothing yet.
pub(super) fn open(rail: &config::Rail) -> Result<Option<RailHandle>> {
    let (sender, notifications) = mpsc::channel(NOTIFICATIONS_MAX);
    let rail: Arc<dyn Rail> = match rail.kind {
        RailName::Instant => return Ok(None),
        RailName::Simulated => Arc::new(Simulated::new(behaviour(rail), sender)),
        // STP's notifications arrive over HTTP.
        RailName::Stp => Arc::new(stp(rail).context("--rail stp cannot be used")?),
    };
    Ok(Some(RailHandle { rail, notifications }))
}

/// A courier for the rail, and the future that runs it.
pub(super) fn employ(
    RailHandle { rail, notifications }: RailHandle,
    name: RailName,
    db: &PgPool,
    ledger: &Ledger,
    clock: &Clock,
) -> (Courier, impl Future<Output = ()> + Send + use<>) {
    let courier = Courier { db: db.clone(), ledger: ledger.clone(), rail, name, clock: clock.clone() };
    (courier.clone(), courier.run(notifications))
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
