//! Orders of other banks, as rows have them.

use super::TransferRow;
use crate::db::transfers::read_remittance;
use crate::domain::incoming::IncomingOrder;
use crate::domain::money::Money;
use crate::domain::transfer::Kind;

impl TransferRow {
    /// The order of one that came in.
    pub(crate) fn order(&self) -> Option<IncomingOrder> {
        (self.kind == Kind::Received.as_str()).then_some(())?;
        Some(IncomingOrder {
            tracking_key: self.spei_reference.clone()?,
            operating_date: self.operating_date?,
            institution: self.payer_institution?.try_into().ok()?,
            amount: Money::from_minor(self.amount),
            payer_name: self.payer_name.clone(),
            payer_number: self.payer_account_number.clone(),
            payee_name: self.beneficiary_name.clone(),
            payee_number: self.beneficiary_account_number.clone()?,
            remittance: read_remittance(self.concept.clone(), self.numeric_reference),
        })
    }
}
