//! The states of an order at STP, and the payment status that each maps to.

use serde_json::Value;

use crate::rail::PaymentStatus;

enum State {
    Pending,
    Settled,
    Rejected,
    Returned,
}

/// States of outgoing orders, in `consultaOrden` and in notices. STP has others, for incoming orders and
/// confirmations, and some whose outcome is uncertain; those need manual resolution.
const STATES: [(&str, State); 22] = [
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
    ("CR", State::Rejected),
    ("TCL", State::Rejected),
    ("CANCELACION", State::Rejected),
    // The ledger knows whether the order settled before.
    ("D", State::Returned),
    ("DEVOLUCION", State::Returned),
];

/// `None` for an unknown state.
pub(super) fn status(state: &str, cause: &Value) -> Option<PaymentStatus> {
    let (_, state) = STATES.iter().find(|(name, _)| *name == state)?;
    Some(match state {
        State::Pending => PaymentStatus::Accepted,
        State::Settled => PaymentStatus::Settled,
        State::Rejected => PaymentStatus::Rejected(reason(cause)),
        State::Returned => PaymentStatus::Returned(reason(cause)),
    })
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
    fn every_state_is_listed_once_and_unknown_states_have_no_status() {
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
        assert_eq!([status("lq"), status(""), status("CCO"), status("RB")], [None, None, None, None]);
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
