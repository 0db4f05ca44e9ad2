//! Opens the configured rail, and lets a simulated one send orders to the bank.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::app::start::RailHandle;
use crate::cli::admin::{AdminApi, found};
use crate::cli::output::print;
use crate::cli::secret;
use crate::cli::table::text;
use crate::config::{self, Common, ReceiveOrder};
use crate::domain::banks;
use crate::domain::money::Money;
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
        answered: rail.simulated_answered,
        ..Behaviour::ORDINARY
    }
}

/// Sends an order to a sandbox's bank.
pub(super) async fn receive(common: &Common, order: ReceiveOrder) -> Result<ExitCode> {
    let ReceiveOrder { to, amount, from_name, from_number, from_bank, concept, admin } = order;
    let amount = Money::parse_amount(&amount).map_err(|error| anyhow!("--amount {amount}: {error}"))?;
    let unknown = || anyhow!("--from-bank names no institution, or several");
    let bank = from_bank.map(|name| banks::code(&name).and_then(banks::institution).ok_or_else(unknown)).transpose()?;
    // An amount is a JSON number with two decimals.
    let amount: Value = serde_json::from_str(&amount.to_string()).context("an amount is not a number")?;
    let mut body = json!({"accountNumber": to, "amount": amount});
    let optional = [
        ("payerName", from_name.map(Value::from)),
        ("payerAccountNumber", from_number.map(Value::from)),
        ("payerInstitution", bank.map(Value::from)),
        ("concept", concept.map(Value::from)),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            body[name] = value;
        }
    }
    let answer = AdminApi::new(common, &admin)?.post("/admin/rails/simulated/orders", &body).await;
    let Some(sent) = found(answer, || "the host has no simulated rail".to_owned())?.done()? else {
        return Ok(ExitCode::SUCCESS);
    };
    let tracking_key = text(&sent["trackingKey"]);
    if sent["isIssued"] != true {
        bail!("the bank has issued no account with the number {to}: {tracking_key} is sent back");
    }
    print(&tracking_key)?;
    Ok(ExitCode::SUCCESS)
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
