//! The states of an order at STP, in answers and in notices, and what they mean here.

use serde_json::Value;

use super::super::News;

/// Where an order stands.
enum State {
    Underway,
    Settled,
    Rejected,
    Returned,
}

/// States of an order that was sent, in `consultaOrden` and in notices. STP has more, for orders that came
/// and for confirmations, and some whose end is not certain; a person has to look at those.
const STATES: [(&str, State); 22] = [
    // Captured, released, authorised, sent; to be released, to be authorised; with SPEI's adapter.
    ("C", State::Underway),
    ("L", State::Underway),
    ("A", State::Underway),
    ("E", State::Underway),
    ("PL", State::Underway),
    ("PA", State::Underway),
    ("EA", State::Underway),
    // Between two accounts at STP: captured, released, authorised.
    ("TC", State::Underway),
    ("TL", State::Underway),
    ("TA", State::Underway),
    // To be cancelled, to be returned.
    ("XC", State::Underway),
    ("XD", State::Underway),
    ("LQ", State::Settled),
    ("TLQ", State::Settled),
    ("LIQUIDACION", State::Settled),
    // Cancelled: by the sender, by SPEI's adapter, between two accounts at STP.
    ("CN", State::Rejected),
    ("CA", State::Rejected),
    ("CR", State::Rejected),
    ("TCL", State::Rejected),
    ("CANCELACION", State::Rejected),
    // The ledger knows whether it settled before.
    ("D", State::Returned),
    ("DEVOLUCION", State::Returned),
];

/// What a state means; none for one that is not in the table.
pub(super) fn news(state: &str, cause: &Value) -> Option<News> {
    let (_, meaning) = STATES.iter().find(|(name, _)| *name == state)?;
    Some(match meaning {
        State::Underway => News::Taken,
        State::Settled => News::Settled,
        State::Rejected => News::Rejected(reason(cause)),
        State::Returned => News::Returned(reason(cause)),
    })
}

/// Two digits of SPEI's list from a number or a text; 0 and anything else is no reason.
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
    fn every_state_has_one_meaning_and_strangers_have_none() {
        let mut names: Vec<_> = STATES.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STATES.len());
        let news = |state| news(state, &Value::Null);
        assert_eq!(news("XD"), Some(News::Taken));
        assert_eq!((news("TLQ"), news("LIQUIDACION")), (Some(News::Settled), Some(News::Settled)));
        assert_eq!((news("TCL"), news("CANCELACION")), (Some(News::Rejected(None)), Some(News::Rejected(None))));
        assert_eq!((news("D"), news("DEVOLUCION")), (Some(News::Returned(None)), Some(News::Returned(None))));
        assert_eq!([news("lq"), news(""), news("CCO"), news("RB")], [None, None, None, None]);
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
