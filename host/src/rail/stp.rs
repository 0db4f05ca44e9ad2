//! Payments through STP, a participant of SPEI that sends for others: each order is signed and put to
//! `registra`, and asked after with `consultaOrden`.
//!
//! Says what STP said of one payment at a time. When to send, to ask or to give up is for whoever holds
//! the rail; what follows for accounts is for the ledger.

mod answers;
mod client;
mod inquiry;
mod order;
mod payee;
mod signature;
mod state;
mod text;
mod webhook;

pub use webhook::{WEBHOOK_BYTES_MAX, WebhookError, read_webhook};

use std::time::Duration;

use self::client::{Client, Method};
use self::inquiry::Inquiry;
use self::order::Order;
use self::payee::Unsendable;
use self::signature::Key;
use super::calendar::operating_date;
use super::{Answer, News, Payment, Rail};
use crate::clock::Clock;
use crate::domain::account_number::{self, Kind};

/// STP's own code at Banco de México: what `institution` usually is.
pub const INSTITUTION: u32 = 90_646;

/// Longest name of a company: room to spare, none seen is longer than 15.
const COMPANY_LENGTH_MAX: usize = 40;

/// Where orders go.
const REGISTER: &str = "/speiws/rest/ordenPago/registra";

/// Where orders are asked after.
const INQUIRE: &str = "/efws/API/consultaOrden";

/// What STP and the bank have agreed on.
pub struct Settings {
    /// Where the API is, without the paths of its operations: `https://prod.stpmex.com`. Plain HTTP is for
    /// this machine only, as orders name people.
    pub url: String,
    /// The bank's name at STP (`empresa`): letters, digits, `_`, `-` and `.`, at most 40.
    pub company: String,
    /// CLABE of the bank's own account: the sender's account (`cuentaOrdenante`) in orders of users whose
    /// number is no CLABE.
    pub account: String,
    /// Five digits of the participant that sends (`institucionOperante`), usually [`INSTITUTION`].
    pub institution: u32,
    /// The private RSA key that signs, 2048 to 4096 bits: PEM, PKCS#8 or PKCS#1, not encrypted.
    pub key_pem: Vec<u8>,
}

/// What is wrong with [`Settings`]. No text contains a part of the key.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// No place to send orders to.
    #[error("the URL must be https, or http to this machine, without user, query and fragment")]
    Url,
    /// Not a name that STP gives.
    #[error("the company must have 1 to 40 letters, digits, underscores, hyphens and dots")]
    Company,
    /// Not a CLABE.
    #[error("the account must be a CLABE: 18 digits of which the last checks the others")]
    Account,
    /// Not a participant's code.
    #[error("the institution must have five digits")]
    Institution,
    /// Not a key that can sign.
    #[error("the key must be an unencrypted RSA key of 2048 to 4096 bits in PEM")]
    Key(#[source] anyhow::Error),
    /// TLS cannot be used on this machine, mostly because it has no certificates of authorities.
    #[error("TLS cannot be set up")]
    Tls(#[source] anyhow::Error),
}

/// Who sends: the parts of [`Settings`] that orders name.
struct Participant {
    company: String,
    account: String,
    institution: u32,
}

/// The rail.
pub struct Stp {
    participant: Participant,
    key: Key,
    client: Client,
    clock: Clock,
}

impl Stp {
    /// Checks the settings; nothing is sent yet. For `https` it reads the machine's certificates of
    /// authorities, or the file that `SSL_CERT_FILE` names.
    ///
    /// # Errors
    /// See [`SettingsError`].
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        let Settings { url, company, account, institution, key_pem } = settings;
        let is_named = |letter: u8| letter.is_ascii_alphanumeric() || b"_-.".contains(&letter);
        if company.is_empty() || company.len() > COMPANY_LENGTH_MAX || !company.bytes().all(is_named) {
            return Err(SettingsError::Company);
        }
        let account = account_number::normalise(&account);
        if !is_clabe(&account) {
            return Err(SettingsError::Account);
        }
        if !(10_000..=99_999).contains(&institution) {
            return Err(SettingsError::Institution);
        }
        let key = Key::read(&key_pem).map_err(SettingsError::Key)?;
        let client = Client::new(&url)?;
        Ok(Self { participant: Participant { company, account, institution }, key, client, clock: Clock::system() })
    }

    /// The same with another clock, by which it tells an order of today from an older one.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// The same with another patience: how long an answer may take as a whole, 15 seconds otherwise.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.client.patience = patience;
        self
    }
}

/// 18 digits with a check digit that is right.
fn is_clabe(number: &str) -> bool {
    let reading = account_number::read(number);
    reading.kind == Kind::Clabe && reading.checks
}

impl Rail for Stp {
    /// One order. The tracking key and the operating date stay what they are for the same payment, so STP
    /// refuses to take it twice, which counts as taken here.
    fn send<'a>(&'a self, payment: &'a Payment) -> Answer<'a, News> {
        Box::pin(async move {
            let order = match Order::new(payment, &self.participant) {
                Ok(order) => order,
                Err(Unsendable(reason)) => return Ok(News::Rejected(reason.map(str::to_owned))),
            };
            let body = order.signed(&self.key)?;
            let reply = self.client.exchange(Method::PUT, REGISTER, body).await?;
            answers::registered(&reply)
        })
    }

    fn find<'a>(&'a self, payment: &'a Payment) -> Answer<'a, Option<News>> {
        Box::pin(async move {
            // The present day's orders are asked after without a date.
            let date = operating_date(payment.created_at);
            let is_past = date < operating_date(self.clock.now());
            let inquiry = Inquiry::new(&self.participant.company, &payment.tracking_key, is_past.then_some(date));
            let reply = self.client.exchange(Method::POST, INQUIRE, inquiry.signed(&self.key)?).await?;
            answers::found(&reply, payment)
        })
    }
}
