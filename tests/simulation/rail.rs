//! The rail's side of a run: what is pending goes to the simulated rail, and its news to any host.

use std::time::Duration;

use caudal::domain::transfer::{Reason, Report};
use caudal::ledger::{Command, Outcome, PaymentReport};
use caudal::rail::simulated::{Behaviour, Simulated};
use caudal::rail::{News, Payment, Push, Rail as _};
use tokio::sync::mpsc;
use tokio::time::sleep;
use uuid::Uuid;

use crate::world::{HOSTS, World};

impl World {
    /// The rail: takes what is pending, and its news go to any host until one takes them in.
    pub(crate) async fn settle_payments(self) {
        let (pushes, mut news) = mpsc::channel::<Push>(1024);
        let behaviour = Behaviour {
            delay: Duration::from_secs(2),
            rejected: 25,
            returned: 20,
            twice: 30,
            late: 10,
            silent: 0,
            disordered: 20,
        };
        let rail = Simulated::new(behaviour, pushes);
        let take_in = async {
            while let Some(Push { tracking_key, news }) = news.recv().await {
                let told = self.clone().tell(tracking_key, news);
                tokio::spawn(told);
            }
        };
        let hand_over = async {
            loop {
                sleep(Duration::from_millis(250)).await;
                for payment in self.pending() {
                    // Taken twice is the same as once.
                    let _ = rail.send(&payment).await;
                }
            }
        };
        tokio::join!(take_in, hand_over);
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
                sender_number: String::new(),
                sender: new.owner.clone(),
                payee_name: String::new(),
                payee_number: number,
                payee_bank: bank,
            }
        };
        tables.payments.iter().map(payment).collect()
    }

    async fn tell(self, tracking_key: String, news: News) {
        let (report, reason) = match news {
            News::Taken => return,
            News::Settled => (Report::Settled, None),
            News::Rejected(reason) => (Report::Rejected, reason),
            News::Returned(reason) => (Report::Returned, reason),
        };
        let transfer = {
            let tables = self.store.model.tables();
            let mut all = tables.transfers.values().map(|kept| &kept.new.transfer);
            all.find(|transfer| transfer.spei_reference.as_ref() == Some(&tracking_key)).cloned()
        };
        let Some(transfer) = transfer else { return };
        loop {
            let report = PaymentReport {
                transfer_id: transfer.transfer_id,
                account_id: transfer.from_account_id,
                report,
                reason: reason.as_deref().and_then(Reason::parse),
                return_id: self.new_id(),
            };
            match self.submit(self.chance.pick(HOSTS), Command::Report(report)).await {
                Ok(Outcome::Moved(_) | Outcome::Returned | Outcome::Unmoved(_)) => return,
                _ => sleep(self.chance.time(Duration::from_secs(2))).await,
            }
        }
    }
}
