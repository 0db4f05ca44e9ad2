//! Postgres and the model that the simulation runs on agree: on what is read, what is written, what is refused and by
//! which constraint.

use std::collections::{BTreeMap, BTreeSet};

use caudal::domain::clabe::{Clabe, ClabeRange};
use caudal::domain::money::Money;
use caudal::domain::remittance::Remittance;
use caudal::domain::risk::Level;
use caudal::domain::transfer::{RailName, Reason, Report};
use caudal::ledger::apply::apply;
use caudal::ledger::batch::{Batch, Context, Payee, State, Terms};
use caudal::ledger::chain::Seal;
use caudal::ledger::store::{CommitError, Postgres, Store as _, proof};
use caudal::ledger::writer::{LEASE, Writer};
use caudal::ledger::{
    Command, Freeze, Fund, OpenAccount, Order, PaymentReport, PlaceHold, Receive, ReleaseHold, Risk, SPEI_ACCOUNT,
};
use sqlx::PgPool;
use time::Duration;
use uuid::Uuid;

use crate::chance::Chance;
use crate::leases::NO_HEAD;
use crate::model::{CONTEXT, key, lenient, put_on_record};
use crate::tables::{Lease, Model, Refusal, Tables};

const SEEDS: u64 = 500;
const STEPS: usize = 12;
/// Numbers to issue.
const RANGE_LENGTH: usize = 1_000;

fn range() -> ClabeRange {
    "99918000000000000-99918000000000999".parse().unwrap()
}

/// Both stores, and two writers that take turns.
struct Pair {
    postgres: Postgres,
    model: Model,
    writers: [Writer; 2],
}

#[derive(Debug, PartialEq)]
enum CommitResult {
    Committed,
    LostRace,
    LostChain,
    Refused(String),
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_model_and_postgres_agree(db: PgPool) {
    let postgres = Postgres::open(db.clone(), &key(), CONTEXT.now).await.unwrap();
    let acquire = async |holder| postgres.acquire(Uuid::from_u128(holder), CONTEXT.now).await.unwrap();
    let writers = [acquire(1).await, acquire(2).await];
    let model = Model::default();
    for writer in &writers {
        let until = CONTEXT.now + LEASE;
        let lease = Lease { stripe: writer.stripe, holder: writer.holder, until };
        model.tables().writers.insert(writer.chain_id, lease);
        model.tables().add_stripe(writer.stripe);
    }
    let mut pair = Pair { postgres, model, writers };
    let (mut seen, mut at) = (BTreeMap::<String, usize>::new(), CONTEXT.now);
    for seed in 0..SEEDS {
        let (transfers, holds) = (Vec::new(), Vec::new());
        let (chance, accounts) = (Chance::new(seed), [Uuid::nil(); 3]);
        let mut run = Run { seed, chance, at, ids: 0, accounts, issued: None, transfers, holds };
        run.insert_payees(&mut pair, &db).await;
        for _ in 0..STEPS {
            for event in run.step(&mut pair).await {
                *seen.entry(event).or_default() += 1;
            }
        }
        at = run.at;
    }
    println!("{seen:?}");
    for kind in [
        "Committed",
        "LostRace",
        "LostChain",
        "no_overdraft",
        "batch_balanced",
        "batch_explained",
        "settled: Committed",
        "settled: Never",
        "settled: LostChain",
        "leased",
    ] {
        assert!(seen.keys().any(|event| event.contains(kind)), "{kind} never happened: {seen:?}");
    }
    let credits = "select transfer_id, credit_account_id, amount from transfer where kind = 'funding'";
    for (transfer_id, account_id, amount) in sqlx::query_as(credits).fetch_all(&db).await.unwrap() {
        let amount = Money::from_minor(amount);
        put_on_record(&db, &key(), &Command::Fund(Fund { transfer_id, account_id, amount })).await;
    }
    // As its courier hands a payment over.
    let orders = "insert into rail_order (transfer_id, rail, operating_date, seal) \
                  select transfer_id, rail, created_at, sha256('') from transfer where rail = 'simulated'";
    sqlx::query(orders).execute(&db).await.unwrap();
    let proof = caudal::ledger::store::proof::prove(&mut db.acquire().await.unwrap(), &key()).await.unwrap();
    assert!(proof.breaks.is_empty(), "{:?}", proof.breaks);
    assert!(proof.findings.iter().all(|finding| finding.broken == 0), "{:?}", proof.findings);
}

struct Run {
    seed: u64,
    chance: Chance,
    at: time::OffsetDateTime,
    ids: u64,
    /// The last account opened, or attempted, under each number.
    accounts: [Uuid; 3],
    /// The last number issued, or attempted.
    issued: Option<Clabe>,
    transfers: Vec<(Uuid, Uuid)>,
    holds: Vec<(Uuid, Uuid)>,
}

impl Run {
    fn id(&self, number: u64) -> Uuid {
        Uuid::from_u128((u128::from(self.seed + 1) << 64) + u128::from(number))
    }

    fn new_id(&mut self) -> Uuid {
        self.ids += 1;
        self.id(1_000 + self.ids)
    }

    fn owner(&self, index: usize) -> String {
        format!("{}-{}", self.seed, index % 2)
    }

    async fn insert_payees(&self, pair: &mut Pair, db: &PgPool) {
        for index in 0..2 {
            let insert = "insert into beneficiary (beneficiary_id, owner, name, bank_name, account_number, is_favorite, \
                          created_at) values ($1, $2, 'Eva', 'BBVA', $4, false, $3)";
            let (id, owner) = (self.id(index), self.owner(usize::try_from(index).unwrap()));
            let number = if index == 0 { "payee".to_owned() } else { range().pick(u128::from(self.seed)).to_string() };
            sqlx::query(insert).bind(id).bind(&owner).bind(self.at).bind(&number).execute(db).await.unwrap();
            let (bank, name) = ("BBVA".to_owned(), "Eva".to_owned());
            pair.model.tables().payees.insert(id, Payee { owner, name, bank, number, created_at: self.at });
        }
        proof::record_all(&mut db.acquire().await.unwrap(), &key(), self.at).await.unwrap();
    }

    fn command(&mut self) -> Command {
        let index = self.chance.pick(3);
        let account_id = self.accounts[index];
        let amount = Money::from_minor(1 + self.chance.pick(20) as i64);
        match self.chance.pick(14) {
            0 | 1 => {
                self.accounts[index] = self.new_id();
                // A range as small as this one soon has no number left.
                let issued = (index == 2).then(|| range().pick(self.chance.pick(RANGE_LENGTH) as u128));
                self.issued = issued.or(self.issued);
                Command::Open(OpenAccount {
                    account_id: self.accounts[index],
                    owner: self.owner(index),
                    account_number: issued.map_or_else(|| format!("{index}"), |issued| issued.to_string()),
                    issued,
                    account_type: "checking".to_owned(),
                    opening_credit: Money::from_minor(self.chance.pick(30) as i64),
                    transfer_id: self.new_id(),
                })
            }
            2 => Command::Fund(Fund { transfer_id: self.new_id(), account_id, amount }),
            3 | 4 if !self.transfers.is_empty() => {
                let (transfer_id, account_id) = self.transfers[self.chance.pick(self.transfers.len())];
                let report = [Report::Settled, Report::Rejected, Report::Returned][self.chance.pick(3)];
                let reason = self.chance.happens(500).then(|| Reason::parse("03")).flatten();
                let (return_id, by_hand) = (self.new_id(), None);
                // That of a transfer on us, perhaps.
                let payee_account_id = self.chance.happens(300).then(|| self.accounts[2]);
                Command::Report(PaymentReport {
                    transfer_id,
                    account_id,
                    payee_account_id,
                    report,
                    reason,
                    return_id,
                    by_hand,
                })
            }
            5 if !self.holds.is_empty() => {
                let (hold_id, account_id) = self.holds[self.chance.pick(self.holds.len())];
                let owner = self.chance.happens(500).then(|| self.owner(index));
                Command::Release(ReleaseHold { hold_id, account_id, owner })
            }
            6 => {
                let (frozen, actor, reason) = (self.chance.happens(300), "ops".to_owned(), "an order".to_owned());
                Command::Freeze(Freeze { account_id, frozen, actor, reason })
            }
            8 => {
                let number = range().pick(self.chance.pick(RANGE_LENGTH) as u128).to_string();
                let open = self.issued.filter(|_| self.chance.happens(500)).map(|issued| issued.to_string());
                let key = format!("K{}S{}", self.chance.pick(9), self.seed);
                let order = crate::received::order(key, amount, open.unwrap_or(number));
                self.transfers.push((order.transfer_id(), SPEI_ACCOUNT));
                Command::Receive(Receive { rail: RailName::Simulated, order })
            }
            7 => {
                let order = self.order(index, amount);
                self.holds.push((order.transfer_id, account_id));
                let lifetime = Duration::seconds(1 + self.chance.pick(100) as i64);
                Command::Hold(PlaceHold { order, lifetime })
            }
            _ => {
                let mut order = self.order(index, amount);
                if self.chance.happens(200) && !self.holds.is_empty() {
                    let (hold_id, account_id) = self.holds[self.chance.pick(self.holds.len())];
                    (order.hold_id, order.from_account_id) = (Some(hold_id), account_id);
                }
                self.transfers.push((order.transfer_id, account_id));
                Command::Transfer(order)
            }
        }
    }

    fn order(&mut self, index: usize, amount: Money) -> Order {
        Order {
            transfer_id: self.new_id(),
            owner: self.owner(index),
            key: self.chance.happens(700).then(|| self.chance.pick(6).to_string()),
            from_account_id: self.accounts[index],
            to_beneficiary_id: self.id(self.chance.pick(2) as u64),
            amount,
            remittance: Remittance::NONE,
            risk: self.risk(),
            risk_decisions: None,
            hold_id: None,
            device: None,
            may_record_refusal: true,
        }
    }

    /// Acknowledged, perhaps with what an earlier order used.
    fn risk(&mut self) -> Risk {
        if self.chance.happens(700) {
            return Risk::NotEnforced;
        }
        let id = if self.chance.happens(500) { self.new_id() } else { self.id(100 + self.chance.pick(5) as u64) };
        Risk::Assessed { level: Level::High, acknowledged: Some(id) }
    }

    /// Writes one or two batches that were decided on the same state. Returns what happened.
    async fn step(&mut self, pair: &mut Pair) -> Vec<String> {
        self.at += Duration::milliseconds(self.chance.pick(100_000) as i64);
        let (count, first) = (if self.chance.happens(300) { 2 } else { 1 }, self.chance.pick(2));
        let mut decided = Vec::new();
        for turn in 0..count {
            let writer = (first + turn) % 2;
            let commands: Vec<_> = (0..=self.chance.pick(4)).map(|_| self.command()).collect();
            let rail = if self.chance.happens(500) { RailName::Instant } else { RailName::Simulated };
            let per_day_limit = self.chance.happens(300).then_some(Money::from_minor(50));
            let on_us = self.chance.happens(700).then(range);
            let terms = Terms { rail, per_day_limit, on_us, ..Terms::OPEN };
            let context = Context { now: self.at, stripe: pair.writers[writer].stripe, terms };
            let mut state = pair.look_up(self.seed, &commands, writer, &context).await;
            let (batch, _) = apply(&mut state, &commands, &context, &lenient());
            decided.push((writer, batch, context));
        }
        let mut events = Vec::new();
        for (writer, mut batch, context) in decided {
            if batch.is_empty() {
                continue;
            }
            self.sabotage(&mut batch);
            let mut seal = key().seal(&batch, Uuid::new_v4(), &pair.writers[writer], &context);
            if self.chance.happens(30) && seal.header.seq > 0 {
                seal.header.seq -= 1;
            }
            events.push(pair.commit(self.seed, &batch, &seal, &context, writer).await);
            if events.last().is_some_and(|event| event == "LostChain") || self.chance.happens(50) {
                events.push(pair.change_lease(writer, self.at, self.chance.pick(3)).await);
                self.at += LEASE * 20;
            }
            if self.chance.happens(80) {
                let batch_id = if self.chance.happens(500) { seal.header.batch_id } else { Uuid::new_v4() };
                events.push(pair.settle(batch_id, writer, self.chance.happens(500), &context).await);
            }
        }
        events
    }

    fn sabotage(&self, batch: &mut Batch) {
        match self.chance.pick(40) {
            0 => {
                if let Some(entry) = batch.entries.first_mut() {
                    entry.delta = Money::from_minor(entry.delta.minor() * 2);
                }
            }
            3 => batch.balances.values_mut().for_each(|change| {
                change.after.held = Money::from_minor(change.after.held.minor() + 1);
            }),
            4 => batch.balances.values_mut().for_each(|change| change.after.frozen = !change.after.frozen),
            5 => {
                batch.hold_ends.pop_first();
            }
            1 => {
                let customer = batch.balances.iter_mut().find(|(_, change)| change.after.posted.minor() >= 0);
                if let Some((_, change)) = customer {
                    change.after.posted = Money::from_minor(-change.after.posted.minor() - 1);
                }
            }
            2 => batch.balances.values_mut().for_each(|change| change.before.moment += 1),
            _ => {}
        }
    }
}

impl Pair {
    async fn look_up(&self, seed: u64, commands: &[Command], writer: usize, context: &Context) -> State {
        let writer = &self.writers[writer];
        let actual = self.postgres.lookup(commands, writer, context, &BTreeSet::new()).await.unwrap();
        let mut modelled = State::default();
        let loads = caudal::ledger::tables::loads::<Tables>();
        loads.iter().for_each(|load| load(&self.model.tables(), commands, writer, context, &mut modelled));
        assert_eq!(format!("{actual:#?}"), format!("{modelled:#?}"), "seed {seed}: {commands:?}");
        actual
    }

    async fn commit(&mut self, seed: u64, batch: &Batch, seal: &Seal, context: &Context, writer: usize) -> String {
        let actual = match self.postgres.commit(batch, seal, context).await {
            Ok(()) => CommitResult::Committed,
            Err(CommitError::LostRace) => CommitResult::LostRace,
            Err(CommitError::LostChain) => CommitResult::LostChain,
            Err(CommitError::Refused(error)) => {
                let constraint = error.as_database_error().and_then(|error| error.constraint());
                CommitResult::Refused(constraint.unwrap_or_else(|| panic!("{error:?}")).to_owned())
            }
            Err(CommitError::Unknown(error)) => panic!("seed {seed}: {error:?}"),
        };
        let modelled = match self.model.commit(batch, seal) {
            Ok(()) => CommitResult::Committed,
            Err(Refusal::Race) => CommitResult::LostRace,
            Err(Refusal::Chain) => CommitResult::LostChain,
            Err(Refusal::Constraint(name)) => CommitResult::Refused(name.to_owned()),
        };
        assert_eq!(actual, modelled, "seed {seed}: {batch:#?}");
        if actual == CommitResult::Committed {
            self.writers[writer].next_seq = seal.header.seq + 1;
            self.writers[writer].head = seal.hash;
        }
        format!("{actual:?}")
    }

    /// Renews a writer's lease, releases it or lets it expire; then leases again.
    async fn change_lease(&mut self, writer: usize, now: time::OffsetDateTime, action: usize) -> String {
        let old = self.writers[writer];
        match action {
            0 => {
                let renewed = self.postgres.renew(&old, now).await.unwrap();
                assert_eq!(renewed, self.model.renew(&old, now));
            }
            1 => {
                self.postgres.release(&old).await.unwrap();
                self.model.release(&old);
            }
            _ => {}
        }
        // Late enough for every lease to expire: a new chain would get a different id on each side.
        let later = now + LEASE * 10;
        let leased = self.postgres.acquire(old.holder, later).await.unwrap();
        let modelled = self.model.acquire(old.holder, later);
        // The first batch of a chain links to its announcement, which the model has not.
        let linked = Writer { head: if leased.next_seq > 0 { leased.head } else { NO_HEAD }, ..leased };
        assert_eq!(format!("{linked:?}"), format!("{modelled:?}"));
        self.writers[writer] = leased;
        "leased".to_owned()
    }

    /// Settles a batch at a writer's last sequence number, or at its next one.
    async fn settle(&mut self, batch_id: Uuid, writer: usize, at_last: bool, context: &Context) -> String {
        let mut place = self.writers[writer];
        if at_last && place.next_seq > 0 {
            place.next_seq -= 1;
        }
        let tombstone = key().seal_tombstone(Uuid::new_v4(), &place, context.now);
        let fate = self.postgres.settle(batch_id, &tombstone).await.unwrap();
        assert_eq!(fate, self.model.settle(batch_id, &tombstone));
        if fate == caudal::ledger::store::Fate::Never {
            self.writers[writer].next_seq = tombstone.header.seq + 1;
            self.writers[writer].head = tombstone.hash;
        }
        format!("settled: {fate:?}")
    }
}

#[test]
fn a_seed_repeats_its_choices_and_they_spread() {
    let draw = |seed| {
        let chance = Chance::new(seed);
        (0..100).map(|_| chance.fraction()).collect::<Vec<_>>()
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    let mean = draw(3).iter().sum::<f64>() / 100.0;
    assert!((0.4..0.6).contains(&mean), "{mean}");
}
