//! The life of a transfer.

super::text_enum! {
    /// Where a transfer stands. `Completed` and `Failed` are final.
    Status {
        /// Accepted, not settled.
        Pending = "pending",
        /// Settled.
        Completed = "completed",
        /// Refused by the rail; the money went back.
        Failed = "failed",
    }
}

super::text_enum! {
    /// What a payment rail reports.
    RailEvent {
        /// The payment settled.
        Settled = "settled",
        /// The payment was refused.
        Rejected = "rejected",
    }
}

super::text_enum! {
    /// The rails that a payment may take.
    RailName {
        /// Settles in the moment in which it is made: the bank's own books and nothing else.
        Instant = "instant",
        /// A stand-in for SPEI with its delays, refusals and returns.
        Simulated = "simulated",
        /// SPEI by a participant's API.
        Stp = "stp",
    }
}

impl RailName {
    /// Whether a payment is settled when it is made.
    pub fn is_instant(self) -> bool {
        self == Self::Instant
    }
}

/// What became of a payment, as its rail tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Report {
    /// It settled.
    Settled,
    /// It was refused before it settled.
    Rejected,
    /// It came back: after it had settled, if it had.
    Returned,
}

/// Two digits of SPEI's list of reasons for sending money back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason([u8; 2]);

impl Reason {
    /// From its digits; none when they are not two.
    pub fn parse(text: &str) -> Option<Self> {
        let digits: [u8; 2] = text.as_bytes().try_into().ok()?;
        digits.iter().all(u8::is_ascii_digit).then_some(Self(digits))
    }

    /// Its digits.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl Status {
    /// Whether a transfer may ever move from `self` to `next`, whatever the rules component says.
    pub fn may_become(self, next: Self) -> bool {
        self == Self::Pending && next != Self::Pending
    }
}

/// What a transfer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A user's transfer through SPEI.
    Spei,
    /// The credit that opens an account.
    Opening,
    /// A credit by the bank's operator.
    Funding,
    /// Money that came back after its transfer had settled.
    Return,
}

impl Kind {
    /// As stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Spei => "spei",
            Self::Opening => "opening",
            Self::Funding => "funding",
            Self::Return => "return",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pending_moves_and_only_to_an_end() {
        for &from in Status::ALL {
            for &to in Status::ALL {
                let moves = from == Status::Pending && to != Status::Pending;
                assert_eq!(from.may_become(to), moves, "{from} -> {to}");
            }
        }
    }
}
