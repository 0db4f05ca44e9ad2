//! Orders of other banks, for the tests.

use caudal::domain::clabe::Clabe;
use caudal::domain::incoming::IncomingOrder;
use caudal::domain::money::Money;
use caudal::domain::remittance::Remittance;
use caudal::domain::transfer::{RailName, Reason, Report};
use caudal::ledger::{Command, PaymentReport, Receive, SPEI_ACCOUNT};
use uuid::Uuid;

use crate::model::CONTEXT;

pub(crate) fn order(tracking_key: String, amount: Money, payee_number: String) -> IncomingOrder {
    IncomingOrder {
        tracking_key,
        operating_date: CONTEXT.now.date(),
        institution: 40_012,
        amount,
        payer_name: Some("Jorge".to_owned()),
        payer_number: Some("012180001234567897".to_owned()),
        payee_name: Some("Luis".to_owned()),
        payee_number,
        remittance: Remittance { concept: Some("Renta".to_owned()), reference: Some(7) },
    }
}

/// One is credited, one is to be sent back and one was.
pub(crate) fn commands(issued: Clabe) -> [(RailName, Command); 4] {
    let order = |number: u8, payee: String| order(format!("BBVA{number}"), Money::from_minor(50), payee);
    let receive = |order| Command::Receive(Receive { rail: RailName::Simulated, order });
    let sent_back = Command::Report(PaymentReport {
        transfer_id: order(3, String::new()).transfer_id(),
        account_id: SPEI_ACCOUNT,
        payee_account_id: None,
        report: Report::Rejected,
        reason: Some(Reason::NO_SUCH_ACCOUNT),
        return_id: Uuid::nil(),
        by_hand: None,
    });
    let orders = [order(1, issued.to_string()), order(2, "012".to_owned()), order(3, "012".to_owned())].map(receive);
    let [first, second, third] = orders;
    [first, second, third, sent_back].map(|command| (RailName::Simulated, command))
}
