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
}

impl Kind {
    /// As stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Spei => "spei",
            Self::Opening => "opening",
            Self::Funding => "funding",
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
