//! Opens the configured rail.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use tokio::sync::mpsc;

use crate::app::start::RailHandle;
use crate::cli::secret;
use crate::config;
use crate::domain::transfer::RailName;
use crate::rail::Rail;
use crate::rail::courier::{CLAIM, NOTIFICATIONS_MAX};
use crate::rail::simulated::{Behaviour, Simulated};
use crate::rail::stp::{Settings, Stp};

/// `None` for the instant rail, where payments settle at once. Nothing is sent until a courier runs.
pub(super) fn open(kind: RailName, rail: &config::Rail) -> Result<Option<RailHandle>> {
    let (sender, notifications) = mpsc::channel(NOTIFICATIONS_MAX);
    let rail: Arc<dyn Rail> = match kind {
        RailName::Instant | RailName::OnUs => return Ok(None),
        RailName::Simulated => Arc::new(Simulated::new(behaviour(rail), sender)),
        // STP's notices arrive over HTTP.
        RailName::Stp => Arc::new(stp(rail).context("the rail stp cannot be used")?),
    };
    Ok(Some(RailHandle { rail, notifications, claim: CLAIM }))
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
    let key_pem = secret::read_private(&file)?;
    let settings = Settings {
        url: rail.stp_url.clone().context("--stp-url is missing")?,
        company: rail.stp_company.clone().context("--stp-company is missing")?,
        account: rail.stp_account.clone().context("--stp-account is missing")?,
        institution: rail.stp_institution,
        form: rail.stp_form,
        indirect: rail.stp_indirect.clone(),
        key_pem,
    };
    Ok(Stp::new(settings)?)
}
