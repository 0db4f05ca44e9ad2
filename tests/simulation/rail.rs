//! The rail of a run: pending payments go to the simulated rail, and its notifications to any host.

use std::time::Duration;

use caudal::domain::transfer::{Reason, Report};
use caudal::ledger::{Command, Outcome, PaymentReport};
use caudal::rail::simulated::{Behaviour, Simulated};
use caudal::rail::{Notification, Payment, PaymentStatus, Rail as _};
use tokio::sync::mpsc;
use tokio::time::sleep;
use uuid::Uuid;

use crate::world::{HOSTS, World};

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
            }
        };
        tokio::join!(receive, send);
    }

    fn pending(&self) -> Vec<Payment> {
        let tables = self.store.model.tables();
        let payment = |id: &Uuid| {
            let new = &tables.transfers[id].new;
            let (number, bank) = new.payee.clone().unwrap();
            Payment {
                transfer_id: *id,
                tracking_key: new.transfer.spei_reference.clone().unwrap(),
                amount: new.transfer.amount,
                created_at: new.transfer.created_at,
                operating_date: new.transfer.created_at.date(),
                sender_number: None,
                sender_name: None,
                payee_name: String::new(),
                payee_number: number,
                payee_bank: bank,
                remittance: new.transfer.remittance.clone(),
            }
        };
        tables.payments.iter().map(payment).collect()
    }

    async fn deliver(self, Notification { tracking_key, status }: Notification) {
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
