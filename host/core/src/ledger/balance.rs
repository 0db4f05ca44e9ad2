//! Balances, and changes of them.

use time::{Date, OffsetDateTime};
use uuid::Uuid;

use crate::domain::money::Money;

/// Account and stripe.
pub type BalanceKey = (Uuid, i16);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Balance {
    pub posted: Money,
    /// The sum of the open holds.
    pub held: Money,
    /// Whether no money may leave.
    pub frozen: bool,
    /// The lowest balance allowed, apart from holds.
    pub floor: Money,
    pub version: i64,
    /// Time of the last entry.
    pub changed_at: OffsetDateTime,
    /// The latest day, in Mexico City, on which a transfer debited this balance.
    pub sent_day: Date,
    /// Total sent on that day, minus what the rail rejected.
    pub sent: Money,
    pub sent_ever: Sent,
    /// That of the last batch which changed it or rested on it.
    pub moment: i64,
}

/// How many transfers an account ever sent, and their sum: also those that its rail rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sent {
    pub transfers: i64,
    pub total: Money,
}

impl Balance {
    pub fn empty(floor: Money) -> Self {
        let (changed_at, sent_day) = (OffsetDateTime::UNIX_EPOCH, OffsetDateTime::UNIX_EPOCH.date());
        let (posted, held, sent) = (Money::ZERO, Money::ZERO, Money::ZERO);
        let sent_ever = Sent::default();
        Self { posted, held, frozen: false, floor, version: 0, changed_at, sent_day, sent, sent_ever, moment: 0 }
    }

    /// What may leave a customer's account.
    pub fn available(&self) -> Money {
        self.posted.checked_sub(self.held).and_then(|free| free.checked_sub(self.floor)).unwrap_or(Money::ZERO)
    }
}

/// A balance to update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BalanceChange {
    /// As it was read. The update requires that no other batch changed it since.
    pub before: Balance,
    pub after: Balance,
}
