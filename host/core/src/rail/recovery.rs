//! Payments that the ledger lost, in a restore for example, and that the rail has settled: an operator books them.

use time::Date;
use uuid::Uuid;

use super::courier::{Courier, REPLY_TIME_MAX};
use super::reconciliation::id_of;
use super::{Payment, PaymentStatus};
use crate::db::payments::{SeenPayment, seals};
use crate::db::reconciliations::cases::{self, Case};
use crate::db::reconciliations::difference::{Difference, Direction, Finding, Side};
use crate::db::session::within;
use crate::domain::account_number::normalise;
use crate::domain::banks;
use crate::domain::clabe::Clabe;
use crate::domain::money::Money;
use crate::domain::remittance::Remittance;
use crate::ledger::{ByHand, Command, LedgerError, LostPayee, Outcome, Recover, is_own_tracking_key};

/// A lost payment, and the account that it left.
pub struct Lost {
    pub account_id: Uuid,
    tracking_key: String,
    operating_date: Date,
    amount: Money,
    payee: LostPayee,
}

/// Why a payment was not booked.
#[derive(Debug, thiserror::Error)]
pub enum RecoveryError {
    /// Of this case, or now.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

fn refused<T>(why: &str) -> Result<T, RecoveryError> {
    Err(RecoveryError::Refused(why.to_owned()))
}

impl Courier {
    /// What a case says was lost. The account is that of the sender's number, unless an operator names it.
    ///
    /// # Errors
    /// If the case is of another kind, or does not tell whose payment it was.
    pub async fn lost(&self, case: &Case, account_id: Option<Uuid>) -> Result<Lost, RecoveryError> {
        let Difference { direction, finding, tracking_key, there, sender_number, payee_name, .. } = &*case.difference;
        let Some(Side { amount, payee_number, .. }) = there else { return refused("The rail does not have it.") };
        if (*direction, *finding) != (Direction::Sent, Finding::MissingHere) || case.rail != self.name.as_str() {
            return refused("Only a payment of this rail that the ledger does not have can be booked.");
        }
        if !is_own_tracking_key(tracking_key) {
            return refused("Its tracking key is not one of this bank's ledger.");
        }
        let Ok(amount) = Money::parse_amount(amount) else { return refused("Its amount is not valid.") };
        let mut db = self.db.acquire().await?;
        let issued = sender_number.as_deref().and_then(Clabe::read).map(Clabe::body);
        let senders = match issued {
            Some(issued) => cases::account_with(&mut db, issued).await?,
            None => None,
        };
        if account_id.zip(senders).is_some_and(|(named, senders)| named != senders) {
            return refused("The sender's number is another account's.");
        }
        let account_id = account_id.or(senders);
        let Some(account_id) = account_id else {
            return refused("The bank issued no account with the sender's number: name the account.");
        };
        let number = normalise(payee_number);
        let saved = cases::beneficiary_with(&mut db, account_id, &number).await?;
        let (beneficiary_id, name, bank) = saved.unwrap_or_else(|| {
            let bank = number.get(..3).and_then(banks::name).unwrap_or("SPEI");
            (Uuid::nil(), payee_name.clone().unwrap_or_else(|| number.clone()), bank.to_owned())
        });
        Ok(Lost {
            account_id,
            tracking_key: tracking_key.clone(),
            operating_date: case.operating_date,
            amount,
            payee: LostPayee { beneficiary_id, name, bank, number },
        })
    }

    /// Books a lost payment if the rail says that it has settled, and closes its case. Repeating it changes nothing more.
    /// The caller has obtained a second person's approval, where one is required.
    ///
    /// # Errors
    /// If the rail says otherwise, or the ledger refuses: the account may be frozen or not cover it.
    pub async fn recover(
        &self,
        case: &Case,
        lost: Lost,
        by_hand: ByHand,
    ) -> Result<Result<Uuid, Outcome>, RecoveryError> {
        let Lost { account_id, tracking_key, operating_date, amount, payee } = lost;
        let transfer_id = id_of(&format!("caudal recovered 1|{}|{tracking_key}", self.name));
        let mut payment = Payment {
            transfer_id,
            tracking_key: tracking_key.clone(),
            amount,
            created_at: self.clock.now(),
            operating_date,
            sender_number: None,
            sender_name: None,
            payee_name: payee.name.clone(),
            payee_number: payee.number.clone(),
            payee_bank: payee.bank.clone(),
            remittance: Remittance::NONE,
        };
        match self.rail.find(&payment).await {
            Ok(Some(PaymentStatus::Settled)) => {}
            Ok(Some(status)) => return refused(&format!("The rail says that it is {status:?}, not settled.")),
            Ok(None) => return refused("The rail does not have it any more."),
            Err(error) => return refused(&format!("The rail does not confirm it: {:#}.", anyhow::Error::new(error))),
        }
        let (actor, note) = (by_hand.actor.clone(), by_hand.note.clone());
        let rail = self.name;
        let recover = Recover { transfer_id, account_id, tracking_key, amount, rail, payee, by_hand };
        match self.ledger.submit(Command::Recover(recover)).await? {
            Outcome::Recovered(transfer) => payment.created_at = transfer.created_at,
            // Booked by an earlier attempt.
            Outcome::IdTaken => {}
            outcome => return Ok(Err(outcome)),
        }
        let close = async |db: &mut sqlx::PgConnection| {
            if let Some(sender) = cases::sender(db, transfer_id).await? {
                (payment.created_at, payment.sender_number) = (sender.created_at, sender.number);
                let seal = seals::of(&self.key, rail.as_str(), (&sender.owner, sender.account_id), &payment, false);
                cases::remember_order(db, transfer_id, (rail, operating_date), &seal).await?;
            }
            let booked = (case.case_id, Some(transfer_id));
            cases::close(db, &self.key, booked, (&actor, &note), self.clock.now()).await
        };
        let close = async { within(self.db.acquire().await?, REPLY_TIME_MAX, close).await };
        self.barrier.confirmed(close).await?;
        Ok(Ok(transfer_id))
    }
}

impl Lost {
    /// As operators who decide on it see it.
    pub fn seen(&self) -> SeenPayment {
        SeenPayment {
            payer: None,
            created_at: None,
            amount: self.amount.to_string(),
            payee: self.payee.name.clone(),
            payee_number: self.payee.number.clone(),
            tracking_key: self.tracking_key.clone(),
            status: "settled".to_owned(),
            is_incoming: false,
            last_answer: None,
        }
    }
}
