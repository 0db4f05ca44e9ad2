//! Operators freeze accounts, unfreeze them, decide on transfers under review and reverse others. Every host looks for holds whose
//! time is over.

use std::sync::Mutex;
use std::time::Duration;

use caudal::domain::hold::Status;
use caudal::domain::transfer::{self, RailName, Report};
use caudal::ledger::batch::NewTransfer;
use caudal::ledger::{ByHand, Command, Freeze, Outcome, PaymentReport, ReleaseHold};
use tokio::time::sleep;
use uuid::Uuid;

use crate::world::{HOSTS, OWNERS, World, account};

impl World {
    pub(crate) async fn freeze_accounts(self) {
        loop {
            self.chance.pause(Duration::from_secs(3)).await;
            let account_id = account(self.chance.pick(OWNERS.len()));
            let _ = self.freeze(account_id, self.chance.happens(400)).await;
        }
    }

    pub(crate) async fn reverse_transfers(self) {
        loop {
            self.chance.pause(Duration::from_secs(3)).await;
            let picked = {
                let tables = self.store.model.tables();
                let sent = tables.transfers.values().filter(|it| it.new.rail.is_some());
                let sent: Vec<_> = sent.filter(|it| it.status() == transfer::Status::Completed).collect();
                if sent.is_empty() { None } else { Some(sent[self.chance.pick(sent.len())].new.clone()) }
            };
            let Some(new) = picked else { continue };
            self.report(&new, Report::Returned).await;
        }
    }

    /// Decides on what waits for a person, sometimes in both ways at once.
    pub(crate) async fn review_transfers(self) {
        loop {
            self.chance.pause(Duration::from_secs(2)).await;
            let waiting: Vec<_> = {
                let tables = self.store.model.tables();
                tables.transfers.values().filter(|it| it.is_under_review()).map(|it| it.new.clone()).collect()
            };
            for new in waiting {
                match self.chance.pick(10) {
                    0 => _ = tokio::join!(self.report(&new, Report::Released), self.report(&new, Report::Refused)),
                    1..4 => self.report(&new, Report::Refused).await,
                    _ => self.report(&new, Report::Released).await,
                }
            }
        }
    }

    async fn report(&self, new: &NewTransfer, report: Report) {
        let report = PaymentReport {
            transfer_id: new.transfer.transfer_id,
            account_id: new.transfer.from_account_id,
            payee_account_id: (new.rail == Some(RailName::OnUs)).then_some(new.credit_account_id),
            report,
            reason: None,
            return_id: self.new_id(),
            by_hand: Some(ByHand { actor: "ops".to_owned(), note: "a call".to_owned() }),
        };
        let _ = self.submit(self.chance.pick(HOSTS), Command::Report(report)).await;
    }

    async fn freeze(&self, account_id: Uuid, frozen: bool) -> Option<Outcome> {
        let (actor, reason) = ("ops".to_owned(), "a court order".to_owned());
        let freeze = Freeze { account_id, frozen, actor, reason };
        self.submit(self.chance.pick(HOSTS), Command::Freeze(freeze)).await.ok()
    }

    pub(crate) async fn unfreeze_accounts(&self, complaints: &Mutex<Vec<String>>) {
        for index in 0..OWNERS.len() {
            let outcome = self.freeze(account(index), false).await;
            if !matches!(outcome, Some(Outcome::Frozen { frozen: false, .. })) {
                complaints.lock().unwrap().push(format!("account {index} cannot be unfrozen: {outcome:?}"));
            }
        }
    }

    pub(crate) async fn expire_holds(self) {
        loop {
            sleep(Duration::from_secs(1)).await;
            let now = self.now();
            let due: Vec<_> = {
                let tables = self.store.model.tables();
                let due = tables.holds.values().map(|it| &it.hold);
                due.filter(|it| it.status == Status::Placed && it.expires_at <= now)
                    .map(|it| (it.hold_id, it.account_id))
                    .collect()
            };
            for (hold_id, account_id) in due {
                let release = ReleaseHold { hold_id, account_id, owner: None };
                let _ = self.submit(self.chance.pick(HOSTS), Command::Release(release)).await;
            }
        }
    }
}
