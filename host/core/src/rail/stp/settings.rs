//! Settings agreed with STP.

use super::signature::Key;
use super::text;
use crate::domain::account_number::{is_clabe, normalise};

/// STP's own code at Banco de México, the usual `institution`.
pub const INSTITUTION: u32 = 90_646;

/// The longest name seen has 15 characters.
const COMPANY_LENGTH_MAX: usize = 40;

/// Which fields of an order are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Form {
    /// 37 fields, the last three about an indirect participant
    #[default]
    Current,
    /// 34 fields
    Older,
}

/// Lengths of a tax id (RFC), of a company and of a person.
const TAX_ID_LENGTHS: std::ops::RangeInclusive<usize> = 12..=13;

pub struct Settings {
    /// The API's base URL: `https://prod.stpmex.com`. Plain HTTP is accepted for loopback addresses only, because
    /// orders contain personal data.
    pub url: String,
    /// The bank's name at STP (`empresa`): at most 40 letters, digits, `_`, `-` and `.`.
    pub company: String,
    /// CLABE of the bank's own account. It is the sender's account (`cuentaOrdenante`) where the bank did not issue the
    /// debited account's number.
    pub account: String,
    /// The five-digit code of the sending participant (`institucionOperante`), usually [`INSTITUTION`].
    pub institution: u32,
    /// Which fields are signed.
    pub form: Form,
    /// Name, CLABE and tax id under which the bank takes part in SPEI through another one; `None` if it does itself.
    pub indirect: Option<[String; 3]>,
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
    #[error(
        "an indirect participant must have a name of letters and digits, a CLABE and a tax id, which only the current form signs"
    )]
    Indirect,
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
    pub(super) form: Form,
    /// Name, account and tax id; blank for a direct participant.
    pub(super) indirect: [String; 3],
}

impl Settings {
    pub(super) fn check(self) -> Result<(Participant, Key), SettingsError> {
        let Self { company, institution, form, .. } = self;
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
        let indirect = match self.indirect {
            None => Default::default(),
            Some([name, clabe, tax_id]) => {
                let clabe = normalise(&clabe);
                let is_tax_id =
                    TAX_ID_LENGTHS.contains(&tax_id.len()) && tax_id.bytes().all(|it| it.is_ascii_alphanumeric());
                if form != Form::Current || text::plain(&name) != name || !is_clabe(&clabe) || !is_tax_id {
                    return Err(SettingsError::Indirect);
                }
                [name, clabe, tax_id]
            }
        };
        let key = Key::read(&self.key_pem).map_err(SettingsError::Key)?;
        Ok((Participant { company, account, institution, form, indirect }, key))
    }
}
