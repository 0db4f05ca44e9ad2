//! The states of an order at STP, and the payment status that each maps to.

use serde_json::Value;

use crate::rail::{IncomingStatus, PaymentStatus};

enum State {
    Pending,
    Settled,
    Rejected,
    Returned,
    /// A person has to decide.
    Unclear,
}

/// Every state in STP's catalogue ("Estados de una orden"), in `consultaOrden` and in notices. A wrong guess would pay
/// twice or keep a sender's money, so a state counts as final only if its name leaves no doubt.
const STATES: [(&str, State); 36] = [
    // Captured, released, authorised, sent; to be released, to be authorised; with SPEI's adapter.
    ("C", State::Pending),
    ("L", State::Pending),
    ("A", State::Pending),
    ("E", State::Pending),
    ("PL", State::Pending),
    ("PA", State::Pending),
    ("EA", State::Pending),
    // Between two accounts at STP: captured, released, authorised.
    ("TC", State::Pending),
    ("TL", State::Pending),
    ("TA", State::Pending),
    // To be cancelled, to be returned.
    ("XC", State::Pending),
    ("XD", State::Pending),
    ("LQ", State::Settled),
    ("TLQ", State::Settled),
    ("LIQUIDACION", State::Settled),
    // Cancelled: by the sender, by SPEI's adapter, between two accounts at STP.
    ("CN", State::Rejected),
    ("CA", State::Rejected),
    ("TCL", State::Rejected),
    ("CANCELACION", State::Rejected),
    // The ledger knows whether the order settled before.
    ("D", State::Returned),
    ("DEVOLUCION", State::Returned),
    // Cancelled locally; "cancelled, rejected", which may be a cancellation that was refused.
    ("CL", State::Unclear),
    ("CR", State::Unclear),
    // Rejected locally, by SPEI's adapter, by Banco de México: whether STP tries again is not documented.
    ("RL", State::Unclear),
    ("RA", State::Unclear),
    ("RB", State::Unclear),
    // Deleted.
    ("EL", State::Unclear),
    // Of incoming orders: received, to be sent back, sent back; their confirmations: to be sent, sent, confirmed,
    // rejected.
    ("R", State::Unclear),
    ("XR", State::Unclear),
    ("RE", State::Unclear),
    ("CXO", State::Unclear),
    ("CCE", State::Unclear),
    ("CCO", State::Unclear),
    ("CCR", State::Unclear),
    // Exported, for operation from the alternative site and as a receipt.
    ("EP", State::Unclear),
    ("EC", State::Unclear),
];

/// `None` for an unclear or unknown state.
pub(super) fn status(state: &str, cause: &Value) -> Option<PaymentStatus> {
    let (_, state) = STATES.iter().find(|(name, _)| *name == state)?;
    match state {
        State::Pending => Some(PaymentStatus::Accepted),
        State::Settled => Some(PaymentStatus::Settled),
        State::Rejected => Some(PaymentStatus::Rejected(reason(cause))),
        State::Returned => Some(PaymentStatus::Returned(reason(cause))),
        State::Unclear => None,
    }
}

/// Of an order to this bank. SPEI hands it over once it has settled; what follows is its confirmation to the sender, and
/// for an order that the bank sends back, its return. `None` for an order that is about to be sent back, and for an unclear
/// or unknown state.
pub(super) fn incoming(state: &str, cause: &Value) -> Option<IncomingStatus> {
    match state {
        "R" | "LQ" | "TLQ" | "CXO" | "CCE" | "CCO" => Some(IncomingStatus::Received),
        "RE" | "D" => Some(IncomingStatus::Returned(reason(cause))),
        _ => None,
    }
}

/// A SPEI return reason as two digits, from a number or a text; `None` for 0 and anything else.
fn reason(cause: &Value) -> Option<String> {
    let number = match cause {
        Value::Number(number) => number.as_u64()?,
        Value::String(text) if text.trim().bytes().all(|byte| byte.is_ascii_digit()) => text.trim().parse().ok()?,
        _ => return None,
    };
    (1..=99).contains(&number).then(|| format!("{number:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_state_is_listed_once_and_unclear_states_have_no_status() {
        let mut names: Vec<_> = STATES.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STATES.len());
        let status = |state| status(state, &Value::Null);
        assert_eq!(status("XD"), Some(PaymentStatus::Accepted));
        assert_eq!(
            (status("TLQ"), status("LIQUIDACION")),
            (Some(PaymentStatus::Settled), Some(PaymentStatus::Settled))
        );
        assert_eq!(
            (status("TCL"), status("CANCELACION")),
            (Some(PaymentStatus::Rejected(None)), Some(PaymentStatus::Rejected(None)))
        );
        assert_eq!(
            (status("D"), status("DEVOLUCION")),
            (Some(PaymentStatus::Returned(None)), Some(PaymentStatus::Returned(None)))
        );
        for unclear in ["lq", "", "CCO", "RB", "CR", "EL"] {
            assert_eq!(status(unclear), None, "{unclear}");
        }
    }

    #[test]
    fn reasons_have_two_digits() {
        for (cause, want) in [
            (json!(1), Some("01")),
            (json!(17), Some("17")),
            (json!("6"), Some("06")),
            (json!(" 03 "), Some("03")),
            (json!(0), None),
            (json!("0"), None),
            (json!(100), None),
            (json!(-1), None),
            (json!(1.5), None),
            (json!(""), None),
            (json!("+1"), None),
            (json!("9".repeat(40)), None),
            (json!(["01"]), None),
            (json!(null), None),
        ] {
            assert_eq!(reason(&cause).as_deref(), want, "{cause}");
        }
    }
}
