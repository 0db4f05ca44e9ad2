//! Payments that a restored ledger lost: an operator books them, and retries of the lost requests pay nothing twice.

use std::collections::{BTreeMap, BTreeSet};

use caudal::domain::money::Money;
use caudal::domain::transfer::{RailName, Status};
use caudal::ledger::apply::apply;
use caudal::ledger::batch::{Batch, Context, State};
use caudal::ledger::store::{Postgres, Store as _};
use caudal::ledger::writer::Writer;
use caudal::ledger::{ByHand, Command, Freeze, LostPayee, Order, Outcome, Recover, Refusal, is_own_tracking_key};
use sqlx::PgPool;
use time::Duration;
use uuid::Uuid;

use crate::model::{CONTEXT, key, lenient};
use crate::tamper::{ACCOUNT, PAYEE, complaints, fill, new_order};

const RECOVERED: Uuid = Uuid::from_u128(0xF001);

struct World {
    db: PgPool,
    store: Postgres,
    writer: Writer,
}

impl World {
    async fn new(db: PgPool) -> Self {
        fill(&db).await;
        let store = Postgres::open(db.clone(), &key(), CONTEXT.now).await.unwrap();
        let writer = store.acquire(Uuid::from_u128(9), CONTEXT.now).await.unwrap();
        Self { db, store, writer }
    }

    fn context(&self, days: i64) -> Context {
        Context { now: CONTEXT.now + Duration::days(days), stripe: self.writer.stripe, ..CONTEXT }
    }

    async fn decide(&self, days: i64, command: &Command) -> (State, Batch, Outcome) {
        let (commands, context) = (std::slice::from_ref(command), self.context(days));
        let before = self.store.lookup(commands, &self.writer, &context, &BTreeSet::new()).await.unwrap();
        let (batch, mut outcomes) = apply(&mut before.clone(), commands, &context, &lenient());
        (before, batch, outcomes.remove(0))
    }

    /// Decides and commits, and decides again what was stored.
    async fn run(&mut self, days: i64, command: &Command) -> Outcome {
        let (mut before, batch, outcome) = self.decide(days, command).await;
        assert!(!batch.is_empty(), "{outcome:?}");
        let context = self.context(days);
        let seal = key().seal(&batch, Uuid::new_v4(), &self.writer, &context);
        let (_, stored) = seal.decided().unwrap();
        let stored: Vec<_> = stored.into_iter().map(|it| it.command).collect();
        let (again, _) = apply(&mut before, &stored, &context, &lenient());
        let again = key().seal(&again, seal.header.batch_id, &self.writer, &context);
        assert_eq!(again.hash, seal.hash, "it is decided again as it was");
        self.store.commit(&batch, &seal, &context).await.unwrap();
        (self.writer.next_seq, self.writer.head) = (self.writer.next_seq + 1, seal.hash);
        outcome
    }

    async fn balance(&self) -> i64 {
        let posted = "select posted from account_balance where account_id = $1";
        sqlx::query_scalar(posted).bind(ACCOUNT).fetch_one(&self.db).await.unwrap()
    }
}

fn recover(tracking_key: &str, amount: i64) -> Recover {
    Recover {
        transfer_id: RECOVERED,
        account_id: ACCOUNT,
        tracking_key: tracking_key.to_owned(),
        amount: Money::from_minor(amount),
        rail: RailName::Stp,
        payee: LostPayee {
            beneficiary_id: PAYEE,
            name: "Luis".to_owned(),
            bank: "BBVA".to_owned(),
            number: "012".to_owned(),
        },
        by_hand: ByHand { actor: "ops".to_owned(), note: "lost in a restore".to_owned() },
    }
}

fn order(id: u128, amount: i64) -> Command {
    Command::Transfer(Order { transfer_id: Uuid::from_u128(0xC700 + id), ..new_order(70, amount) })
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_lost_payment_is_booked_once_and_a_retry_on_any_day_gets_it(db: PgPool) {
    let mut world = World::new(db).await;
    // Decided, and lost.
    let (_, _, Outcome::Sent { transfer: lost, .. }) = world.decide(0, &order(1, 25)).await else { panic!() };
    let tracking_key = lost.spei_reference.unwrap();
    let before = world.balance().await;
    let booking = Command::Recover(recover(&tracking_key, 25));
    let Outcome::Recovered(booked) = world.run(3, &booking).await else { panic!() };
    assert_eq!((booked.status, booked.spei_reference.as_ref()), (Status::Completed, Some(&tracking_key)));
    assert_eq!(world.balance().await, before - 25);
    let (_, batch, outcome) = world.decide(4, &booking).await;
    assert!(batch.is_empty() && outcome == Outcome::IdTaken, "{outcome:?}");

    // The first retry binds the key.
    let Outcome::Sent { transfer, replayed: true } = world.run(5, &order(2, 25)).await else { panic!() };
    assert_eq!(transfer, booked);
    let (_, batch, outcome) = world.decide(6, &order(3, 25)).await;
    assert!(batch.is_empty(), "{outcome:?}");
    assert_eq!(outcome, Outcome::Sent { transfer: booked, replayed: true });
    let (_, _, outcome) = world.decide(6, &order(4, 26)).await;
    assert_eq!(outcome, Outcome::Refused(Refusal::KeyReused));
    assert_eq!(world.balance().await, before - 25);
    let none = BTreeMap::new();
    assert_eq!(complaints(&mut world.db.acquire().await.unwrap(), &key(), &none).await, Vec::<String>::new());
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_was_sent_on_another_day_exceeds_no_limit_of_the_day_on_which_it_is_booked(db: PgPool) {
    let mut world = World::new(db).await;
    let limits = "update app_user set per_day_limit = 30 where owner = 'ana'";
    sqlx::query(limits).execute(&world.db).await.unwrap();
    caudal::ledger::store::proof::record_all(&mut world.db.acquire().await.unwrap(), &key(), CONTEXT.now)
        .await
        .unwrap();
    let (_, _, Outcome::Sent { transfer: lost, .. }) = world.decide(0, &order(1, 25)).await else { panic!() };
    assert!(matches!(world.run(3, &order(2, 20)).await, Outcome::Sent { replayed: false, .. }));
    let booking = Command::Recover(recover(&lost.spei_reference.unwrap(), 25));
    assert!(matches!(world.run(3, &booking).await, Outcome::Recovered(_)));
    let none = BTreeMap::new();
    assert_eq!(complaints(&mut world.db.acquire().await.unwrap(), &key(), &none).await, Vec::<String>::new());
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_booking_that_the_account_cannot_bear_changes_nothing(db: PgPool) {
    let mut world = World::new(db).await;
    let tracking_key = "CAUD20261120ABCDEFGH0123456789";
    assert!(is_own_tracking_key(tracking_key) && !is_own_tracking_key("CAUD2026112OABCDEFGH0123456789"));
    let too_much = recover(tracking_key, world.balance().await + 1);
    let unknown = Recover { account_id: Uuid::from_u128(1), ..recover(tracking_key, 1) };
    let nothing = recover(tracking_key, 0);
    for (booking, refusal) in
        [(too_much, Refusal::NotCovered), (unknown, Refusal::AccountNotFound), (nothing, Refusal::NotCovered)]
    {
        let (_, batch, outcome) = world.decide(1, &Command::Recover(booking)).await;
        assert!(batch.is_empty());
        assert_eq!(outcome, Outcome::Refused(refusal));
    }
    let (actor, reason) = ("ops".to_owned(), "a court order".to_owned());
    world.run(1, &Command::Freeze(Freeze { account_id: ACCOUNT, frozen: true, actor, reason })).await;
    let (_, batch, outcome) = world.decide(1, &Command::Recover(recover(tracking_key, 1))).await;
    assert!(batch.is_empty());
    assert_eq!(outcome, Outcome::Refused(Refusal::AccountFrozen));
}
