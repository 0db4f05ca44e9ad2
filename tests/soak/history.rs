//! A ledger with a long history, written through the ledger's own decisions, seals and commits, so that it can be
//! proven.

use caudal::domain::money::Money;
use caudal::domain::remittance::Remittance;
use caudal::domain::rules::{Facts, Verdict};
use caudal::domain::transfer::{Kind, RailEvent, RailName, Report, Status, Transfer};
use caudal::ledger::apply::apply;
use caudal::ledger::batch::{Balance, Batch, Context, NoVerdict, Payee, Policy, ReportedTransfer, State, Terms};
use caudal::ledger::chain::ChainKey;
use caudal::ledger::store::{Postgres, Store as _};
use caudal::ledger::writer::Writer;
use caudal::ledger::{
    Command, FUNDING_ACCOUNT, IN_TRANSIT_ACCOUNT, OpenAccount, Order, PaymentReport, Risk, SPEI_ACCOUNT,
};
use sqlx::PgPool;
use time::macros::datetime;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::random::Random;

/// When the history begins.
const BEGINNING: OffsetDateTime = datetime!(2020-01-01 18:00 UTC);

/// Time between the batches of a writer.
const STEP: Duration = Duration::HOUR;

/// Transfers in a batch: larger than a busy host's, so that years of history are written in minutes.
const BATCH: usize = 2_000;

/// Batches between those whose payments settle later.
const PENDING_EVERY: u64 = 10;

/// The first bits of account and payee ids.
const ACCOUNTS: u128 = 0xA << 64;
const PAYEES: u128 = 0xB << 64;

/// A writer with a chain and users of its own, so that writers never wait for each other.
pub(crate) struct Author {
    db: PgPool,
    store: Postgres,
    key: ChainKey,
    writer: Writer,
    state: State,
    random: Random,
    number: u128,
    accounts: u64,
    /// Batches so far.
    batches: u64,
    now: OffsetDateTime,
}

impl Author {
    /// Opens `accounts` accounts, with a payee each and money for the whole history.
    pub(crate) async fn new(db: PgPool, key: &ChainKey, number: u16, accounts: u64) -> Self {
        let store = Postgres::open(db.clone(), key, BEGINNING).await.unwrap();
        let writer = store.acquire(Uuid::from_u128(number.into()), BEGINNING).await.unwrap();
        let random = Random::new(number.into());
        let (number, now) = (u128::from(number), BEGINNING);
        let key = key.clone();
        let mut author =
            Self { db, store, key, writer, state: State::default(), random, number, accounts, batches: 0, now };
        let stripe = writer.stripe;
        for account in [FUNDING_ACCOUNT, SPEI_ACCOUNT, IN_TRANSIT_ACCOUNT] {
            let overdraft = Balance::empty(Money::from_minor(i64::MIN + 1));
            author.state.balances.insert((account, stripe), overdraft);
        }
        let all: Vec<u64> = (0..accounts).collect();
        for chunk in all.chunks(BATCH) {
            let commands: Vec<_> = chunk.iter().map(|account| author.open(*account)).collect();
            author.commit(&commands, RailName::Instant).await;
        }
        author
    }

    /// `owner`, account and payee of a user.
    fn user(&self, account: u64) -> (String, Uuid, Uuid) {
        let id = |space: u128| Uuid::from_u128(space | self.number << 32 | u128::from(account));
        (format!("user-{}-{account}", self.number), id(ACCOUNTS), id(PAYEES))
    }

    fn open(&mut self, account: u64) -> Command {
        let (owner, account_id, payee_id) = self.user(account);
        let payee = Payee {
            owner: owner.clone(),
            name: "Luis".to_owned(),
            bank: "BBVA".to_owned(),
            number: "012180004643051249".to_owned(),
            created_at: self.now,
        };
        self.state.payees.insert(payee_id, payee);
        Command::Open(OpenAccount {
            account_id,
            owner,
            account_number: format!("N{account}"),
            issued: None,
            account_type: "checking".to_owned(),
            opening_credit: Money::from_minor(1_000_000_000),
            transfer_id: self.id(account),
        })
    }

    /// Ordered by time, as the host's ids are, and unique.
    fn id(&self, number: u64) -> Uuid {
        let millis = u128::try_from(self.now.unix_timestamp_nanos() / 1_000_000).unwrap();
        let low = self.number << 56 | u128::from(self.batches) << 16 | u128::from(number);
        Uuid::from_u128(millis << 80 | 7 << 76 | 2 << 62 | low)
    }

    /// Writes a batch, and another one if its payments settle later; returns how many transfers.
    pub(crate) async fn write(&mut self) -> usize {
        let is_pending = self.batches.is_multiple_of(PENDING_EVERY);
        let orders: Vec<_> = (0..BATCH as u64).map(|number| self.order(number)).collect();
        let rail = if is_pending { RailName::Simulated } else { RailName::Instant };
        let batch = self.commit(&orders, rail).await;
        if is_pending {
            let reports: Vec<_> = batch.transfers.iter().map(|new| self.report(&new.transfer, &new.owner)).collect();
            // As a courier does before a rail decides.
            let hand_over = "insert into rail_order (transfer_id, rail, operating_date, seal) \
                             select transfer_id, rail, due_at, seal from rail_payment on conflict do nothing";
            sqlx::query(hand_over).execute(&self.db).await.unwrap();
            self.commit(&reports, rail).await;
            self.state.transfers.clear();
        }
        batch.transfers.len()
    }

    fn order(&mut self, number: u64) -> Command {
        let account = self.random.next() % self.accounts;
        let (owner, from_account_id, to_beneficiary_id) = self.user(account);
        let amount = Money::from_minor(1 + i64::try_from(self.random.next() % 10_000).unwrap());
        let transfer_id = self.id(number);
        let (key, risk) = (Some(format!("{}-{number}", self.batches)), Risk::NotEnforced);
        let hold_id = None;
        Command::Transfer(Order {
            transfer_id,
            owner,
            key,
            from_account_id,
            to_beneficiary_id,
            amount,
            remittance: Remittance::NONE,
            risk,
            risk_decisions: None,
            hold_id,
            device: None,
            may_record_refusal: true,
        })
    }

    /// One payment in ten is rejected.
    fn report(&mut self, transfer: &Transfer, owner: &str) -> Command {
        let reported = ReportedTransfer {
            kind: Kind::Spei,
            owner: owner.to_owned(),
            account_id: transfer.from_account_id,
            payee_account_id: None,
            amount: transfer.amount,
            status: Status::Pending,
            statuses: 1,
            under_review: None,
            returned: false,
            created_at: transfer.created_at,
            moment: 0,
        };
        self.state.transfers.insert(transfer.transfer_id, reported);
        let report = if self.random.next().is_multiple_of(10) { Report::Rejected } else { Report::Settled };
        let (transfer_id, account_id) = (transfer.transfer_id, transfer.from_account_id);
        Command::Report(PaymentReport {
            transfer_id,
            account_id,
            payee_account_id: None,
            report,
            reason: None,
            return_id: Uuid::nil(),
            by_hand: None,
        })
    }

    async fn commit(&mut self, commands: &[Command], rail: RailName) -> Batch {
        let context = Context { now: self.now, stripe: self.writer.stripe, terms: Terms { rail, ..Terms::OPEN } };
        let (batch, outcomes) = apply(&mut self.state, commands, &context, &lenient());
        assert!(!batch.is_empty(), "{:?}", outcomes.first());
        let batch_id = Uuid::from_u128(self.number << 64 | u128::from(self.batches));
        let seal = self.key.seal(&batch, batch_id, &self.writer, &context);
        self.store.commit(&batch, &seal, &context).await.unwrap();
        self.writer = self.writer.after(seal.header.seq, seal.hash);
        self.state.answers.clear();
        self.state.users.clear();
        self.batches += 1;
        self.now += STEP;
        batch
    }
}

/// Rules that accept everything.
fn lenient() -> Policy<'static> {
    fn decide(_: &str, _: Uuid, _: &Facts) -> Result<Verdict, NoVerdict> {
        Ok(Verdict::Accepted)
    }
    fn transition(_: Status, event: RailEvent) -> Result<Option<Status>, NoVerdict> {
        Ok(Some(if event == RailEvent::Settled { Status::Completed } else { Status::Failed }))
    }
    Policy { decide: &decide, transition: &transition }
}

/// Adds about `transfers` transfers, by all authors at once; returns how many.
pub(crate) async fn write(authors: &mut [Author], transfers: usize) -> usize {
    let share = transfers / authors.len();
    let writes = authors.iter_mut().map(async |author| {
        let mut written = 0;
        while written < share {
            written += author.write().await;
        }
        written
    });
    futures_util::future::join_all(writes).await.into_iter().sum()
}
