//! Settings agreed with STP.

use super::signature::Key;
use crate::domain::account_number::{is_clabe, normalise};

/// STP's own code at Banco de México, the usual `institution`.
pub const INSTITUTION: u32 = 90_646;

/// The longest name seen has 15 characters.
const COMPANY_LENGTH_MAX: usize = 40;

pub struct Settings {
    /// The API's base URL: `https://prod.stpmex.com`. Plain HTTP is accepted for loopback addresses only, because
    /// orders contain personal data.
    pub url: String,
    /// The bank's name at STP (`empresa`): at most 40 letters, digits, `_`, `-` and `.`.
    pub company: String,
    /// CLABE of the bank's own account. It is the sender's account (`cuentaOrdenante`) of users whose number is not a
    /// CLABE.
    pub account: String,
    /// The five-digit code of the sending participant (`institucionOperante`), usually [`INSTITUTION`].
    pub institution: u32,
    /// The private RSA key that signs, 2048 to 4096 bits: unencrypted PEM, PKCS#8 or PKCS#1.
    pub key_pem: Vec<u8>,
}

/// Why [`Settings`] are invalid. No message contains any part of the key.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("the URL must be https, or http on a loopback address, without a user, query or fragment")]
    Url,
    #[error("the company must be 1 to 40 letters, digits, underscores, hyphens or dots")]
    Company,
    #[error("the account must be a CLABE: 18 digits with a valid check digit")]
    Account,
    #[error("the institution must have five digits")]
    Institution,
    #[error("the key must be an unencrypted RSA key of 2048 to 4096 bits, in PEM format")]
    Key(#[source] anyhow::Error),
    /// Usually because the machine has no root certificates.
    #[error("TLS cannot be set up")]
    Tls(#[source] anyhow::Error),
}

/// The part of [`Settings`] that orders contain.
pub(super) struct Participant {
    pub(super) company: String,
    pub(super) account: String,
    pub(super) institution: u32,
}

impl Settings {
    pub(super) fn check(self) -> Result<(Participant, Key), SettingsError> {
        let Self { company, institution, .. } = self;
        let is_allowed = |letter: u8| letter.is_ascii_alphanumeric() || b"_-.".contains(&letter);
        if company.is_empty() || company.len() > COMPANY_LENGTH_MAX || !company.bytes().all(is_allowed) {
            return Err(SettingsError::Company);
        }
        let account = normalise(&self.account);
        if !is_clabe(&account) {
            return Err(SettingsError::Account);
        }
        if !(10_000..=99_999).contains(&institution) {
            return Err(SettingsError::Institution);
        }
        let key = Key::read(&self.key_pem).map_err(SettingsError::Key)?;
        Ok((Participant { company, account, institution }, key))
    }
}
