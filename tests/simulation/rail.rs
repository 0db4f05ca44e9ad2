//! The rail of a run: pending payments go to the simulated rail, and its notifications to any host.

use std::time::Duration;

use caudal::domain::money::Money;
use caudal::domain::remittance::Remittance;
use caudal::domain::transfer::{Kind, RailName, Reason, Report};
use caudal::ledger::{Command, Outcome, PaymentReport, Receive, SPEI_ACCOUNT};
use caudal::rail::simulated::{Behaviour, Simulated};
use caudal::rail::{IncomingOrder, Notification, Payment, PaymentStatus, Rail as _};
use tokio::sync::mpsc;
use tokio::time::sleep;
use uuid::Uuid;

use crate::tables::Tables;
use crate::world::{HOSTS, World, range};

impl World {
    /// Sends pending payments, and delivers each notification until a host accepts it.
    pub(crate) async fn settle_payments(self) {
        let (sender, mut notifications) = mpsc::channel(1024);
        let behaviour = Behaviour {
            delay: Duration::from_secs(2),
            rejected: 25,
            returned: 20,
            twice: 30,
            late: 10,
            silent: 0,
            disordered: 20,
            answered: 0,
        };
        let rail = Simulated::new(behaviour, sender);
        let receive = async {
            while let Some(notification) = notifications.recv().await {
                tokio::spawn(self.clone().deliver(notification));
            }
        };
        let send = async {
            loop {
                sleep(Duration::from_millis(250)).await;
                for payment in self.pending() {
                    // Sending is idempotent.
                    let _ = rail.send(&payment).await;
                }
                self.send_orders_back().await;
            }
        };
        tokio::join!(receive, send);
    }

    fn pending(&self) -> Vec<Payment> {
        let tables = self.store.model.tables();
        let payment = |id: &Uuid| {
            let new = &tables.transfers[id].new;
            let payee = new.transfer.payee.clone().unwrap();
            Payment {
                transfer_id: *id,
                tracking_key: new.transfer.spei_reference.clone().unwrap(),
                amount: new.transfer.amount,
                created_at: new.transfer.created_at,
                operating_date: new.transfer.created_at.date(),
                sender_number: None,
                sender_name: None,
                payee_name: String::new(),
                payee_number: payee.number,
                payee_bank: payee.bank,
                remittance: new.transfer.remittance.clone(),
            }
        };
        let is_payment = |id: &&Uuid| {
            let stored = &tables.transfers[*id];
            stored.new.kind == Kind::Spei && !stored.is_under_review()
        };
        tables.payments.iter().filter(is_payment).map(payment).collect()
    }

    /// One attempt for each.
    async fn send_orders_back(&self) {
        let is_return = |tables: &Tables, id: &Uuid| tables.transfers[id].new.kind == Kind::Received;
        let returns: Vec<Uuid> = {
            let tables = self.store.model.tables();
            tables.payments.iter().filter(|id| is_return(&tables, id)).copied().collect()
        };
        for transfer_id in returns {
            let report = PaymentReport {
                transfer_id,
                account_id: SPEI_ACCOUNT,
                payee_account_id: None,
                report: Report::Returned,
                reason: Reason::parse("01"),
                return_id: self.new_id(),
                by_hand: None,
            };
            let _ = self.submit(self.chance.pick(HOSTS), Command::Report(report)).await;
        }
    }

    /// Orders of other banks, some of them several times and with another amount, to accounts, to a number that a user typed
    /// and to numbers that nobody has, or not yet.
    pub(crate) async fn receive_orders(self) {
        loop {
            self.chance.pause(Duration::from_secs(2)).await;
            let order = IncomingOrder {
                tracking_key: format!("K{}", self.chance.pick(20)),
                operating_date: self.now().date(),
                institution: 40_012,
                amount: Money::from_minor(1 + self.chance.pick(3) as i64),
                payer_name: None,
                payer_number: None,
                payee_name: None,
                payee_number: range().pick(self.chance.pick(20) as u128).to_string(),
                remittance: Remittance::NONE,
            };
            let receive = Receive { rail: RailName::Simulated, order };
            let _ = self.submit(self.chance.pick(HOSTS), Command::Receive(receive)).await;
        }
    }

    async fn deliver(self, notification: Notification) {
        let Notification::Payment { tracking_key, status } = notification else { return };
        let (report, reason) = match status {
            PaymentStatus::Accepted => return,
            PaymentStatus::Settled => (Report::Settled, None),
            PaymentStatus::Rejected(reason) => (Report::Rejected, reason),
            PaymentStatus::Returned(reason) => (Report::Returned, reason),
        };
        let transfer = {
            let tables = self.store.model.tables();
            let mut all = tables.transfers.values().map(|stored| &stored.new.transfer);
            all.find(|transfer| transfer.spei_reference.as_ref() == Some(&tracking_key)).cloned()
        };
        let Some(transfer) = transfer else { return };
        loop {
            let report = PaymentReport {
                transfer_id: transfer.transfer_id,
                account_id: transfer.from_account_id,
                payee_account_id: None,
                report,
                reason: reason.as_deref().and_then(Reason::parse),
                return_id: self.new_id(),
                by_hand: None,
            };
            match self.submit(self.chance.pick(HOSTS), Command::Report(report)).await {
                Ok(Outcome::StatusChanged(_) | Outcome::Returned | Outcome::StatusUnchanged(_)) => return,
                _ => sleep(self.chance.duration(Duration::from_secs(2))).await,
            }
        }
    }
}
