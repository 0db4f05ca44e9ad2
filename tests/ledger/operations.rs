//! Holds, freezes, issued numbers and transfers on us, decided by `apply`; and locks after a lost race, in Postgres.

use std::collections::BTreeSet;
use std::time::Duration as StdDuration;

use caudal::domain::clabe::SANDBOX_RANGE;
use caudal::domain::hold::Status;
use caudal::domain::money::Money;
use caudal::domain::remittance::Remittance;
use caudal::domain::transfer::RailName;
use caudal::ledger::apply::apply;
use caudal::ledger::batch::{Context, Row, State, Terms};
use caudal::ledger::store::{CommitError, Postgres, Store as _};
use caudal::ledger::{
    CUSTOMER_STRIPE, Command, Freeze, Fund, OpenAccount, Order, Outcome, PlaceHold, Refusal, ReleaseHold, Risk,
    SPEI_ACCOUNT,
};
use sqlx::PgPool;
use time::Duration;
use tokio::time::timeout;
use uuid::Uuid;

use crate::model::{CONTEXT, STRIPE, account, commit, key, lenient, payee, world};
use crate::tamper::write;

const ON_US: Context = Context { terms: Terms { on_us: Some(SANDBOX_RANGE), ..Terms::OPEN }, ..CONTEXT };

/// From Ana's first account, which has 100, to her first payee.
fn order(id: u128, amount: i64) -> Order {
    Order {
        transfer_id: Uuid::from_u128(id),
        owner: "ana".to_owned(),
        key: None,
        from_account_id: account(0),
        to_beneficiary_id: payee(0),
        amount: Money::from_minor(amount),
        remittance: Remittance::NONE,
        risk: Risk::NotEnforced,
        risk_decisions: None,
        hold_id: None,
        device: None,
        may_record_refusal: true,
    }
}

fn hold(id: u128, amount: i64) -> Command {
    Command::Hold(PlaceHold { order: order(id, amount), lifetime: Duration::hours(1) })
}

fn capture(id: u128, hold: u128, amount: i64) -> Command {
    Command::Transfer(Order { hold_id: Some(Uuid::from_u128(hold)), ..order(id, amount) })
}

fn release(hold: u128, owner: Option<&str>) -> Command {
    let (hold_id, owner) = (Uuid::from_u128(hold), owner.map(str::to_owned));
    Command::Release(ReleaseHold { hold_id, account_id: account(0), owner })
}

fn freeze(frozen: bool) -> Command {
    let (actor, reason) = ("ops".to_owned(), "a court order".to_owned());
    Command::Freeze(Freeze { account_id: account(0), frozen, actor, reason })
}

fn fund(id: u128, amount: i64) -> Command {
    let (transfer_id, amount) = (Uuid::from_u128(id), Money::from_minor(amount));
    Command::Fund(Fund { transfer_id, account_id: account(0), amount })
}

/// Decides and commits one command.
fn decide(state: &mut State, command: Command, context: &Context) -> Outcome {
    let (batch, mut outcomes) = apply(&mut state.clone(), &[command], context, &lenient());
    commit(state, &batch);
    let ends = batch.hold_ends.iter().map(|(id, end)| (*id, end.status));
    state.holds.extend(batch.holds.iter().map(|owned| (owned.hold.hold_id, owned.clone())));
    ends.for_each(|(id, status)| state.holds.get_mut(&id).unwrap().hold.status = status);
    outcomes.remove(0)
}

fn funded() -> State {
    let mut state = world();
    assert_eq!(decide(&mut state, fund(1, 100), &CONTEXT), Outcome::Funded(Money::from_minor(100)));
    state
}

fn figures(state: &State) -> (i64, i64) {
    let balance = &state.balances[&(account(0), CUSTOMER_STRIPE)];
    (balance.posted.minor(), balance.held.minor())
}

#[test]
fn held_money_leaves_only_by_its_own_capture() {
    let mut state = funded();
    assert!(matches!(decide(&mut state, hold(2, 70), &CONTEXT), Outcome::Held { replayed: false, .. }));
    assert_eq!(figures(&state), (100, 70));
    for command in [Command::Transfer(order(3, 31)), hold(4, 31)] {
        let outcome = decide(&mut state, command, &CONTEXT);
        assert!(matches!(&outcome, Outcome::Rejected { violations, .. } if violations[0].code == "insufficient-funds"));
    }
    assert!(matches!(decide(&mut state, Command::Transfer(order(5, 30)), &CONTEXT), Outcome::Sent { .. }));
    assert!(matches!(decide(&mut state, capture(6, 2, 71), &CONTEXT), Outcome::Refused(Refusal::HoldExceeded(_))));
    assert!(matches!(decide(&mut state, capture(7, 2, 50), &CONTEXT), Outcome::Sent { .. }));
    assert_eq!(figures(&state), (20, 0), "what was not captured is free again");
}

#[test]
fn a_hold_ends_once() {
    let later = Context { now: CONTEXT.now + Duration::hours(1), ..CONTEXT };
    let mut state = funded();
    for id in 2..5 {
        decide(&mut state, hold(id, 10), &CONTEXT);
    }
    assert_eq!(decide(&mut state, release(2, None), &CONTEXT), Outcome::HoldNotDue);
    assert_eq!(decide(&mut state, release(2, Some("luis")), &CONTEXT), Outcome::Refused(Refusal::HoldNotFound));
    decide(&mut state, capture(10, 2, 10), &CONTEXT);
    assert!(
        matches!(decide(&mut state, release(3, Some("ana")), &CONTEXT), Outcome::Released(hold) if hold.status == Status::Voided)
    );
    assert!(
        matches!(decide(&mut state, capture(11, 4, 10), &later), Outcome::Refused(Refusal::HoldEnded(_))),
        "its time is over"
    );
    assert!(
        matches!(decide(&mut state, release(4, None), &later), Outcome::Released(hold) if hold.status == Status::Expired)
    );
    let before = figures(&state);
    for (id, again) in
        [(2, release(2, Some("ana"))), (2, capture(12, 2, 10)), (3, capture(13, 3, 10)), (4, release(4, Some("ana")))]
    {
        assert!(
            matches!(decide(&mut state, again, &CONTEXT), Outcome::Refused(Refusal::HoldEnded(hold)) if hold.hold_id == Uuid::from_u128(id))
        );
    }
    assert!(matches!(decide(&mut state, release(3, Some("ana")), &CONTEXT), Outcome::Released(_)), "a repetition");
    assert_eq!(figures(&state), before);
    let unknown = Order { to_beneficiary_id: payee(1), ..order(14, 10) };
    let of_another = Command::Transfer(Order { hold_id: Some(Uuid::from_u128(2)), ..unknown });
    assert_eq!(
        decide(&mut state, of_another, &CONTEXT),
        Outcome::Refused(Refusal::HoldNotFound),
        "for another beneficiary"
    );
}

#[test]
fn no_money_leaves_a_frozen_account() {
    let mut state = funded();
    decide(&mut state, hold(2, 10), &CONTEXT);
    assert_eq!(decide(&mut state, freeze(true), &CONTEXT), Outcome::Frozen { frozen: true, changed: true });
    assert_eq!(decide(&mut state, freeze(true), &CONTEXT), Outcome::Frozen { frozen: true, changed: false });
    let keyed = Order { key: Some("k".to_owned()), ..order(3, 1) };
    for command in [Command::Transfer(keyed.clone()), hold(4, 1), capture(5, 2, 10)] {
        assert_eq!(decide(&mut state, command, &CONTEXT), Outcome::Refused(Refusal::AccountFrozen));
    }
    assert!(matches!(decide(&mut state, fund(6, 5), &CONTEXT), Outcome::Funded(_)), "it still receives");
    assert!(matches!(decide(&mut state, release(2, Some("ana")), &CONTEXT), Outcome::Released(_)));
    decide(&mut state, freeze(false), &CONTEXT);
    let sent = decide(&mut state, Command::Transfer(keyed), &CONTEXT);
    assert!(matches!(sent, Outcome::Sent { replayed: false, .. }), "the key was not bound: {sent:?}");
    let bank = Freeze { account_id: SPEI_ACCOUNT, frozen: true, actor: String::new(), reason: String::new() };
    assert_eq!(decide(&mut state, Command::Freeze(bank), &CONTEXT), Outcome::Refused(Refusal::AccountNotFound));
}

#[test]
fn only_an_issued_number_is_on_us_and_only_where_that_is_on() {
    let issued = SANDBOX_RANGE.pick(3);
    let mut state = funded();
    state.payees.get_mut(&payee(0)).unwrap().number = issued.to_string();
    let rail_of = |state: &State, context: &Context| {
        let (batch, _) = apply(&mut state.clone(), &[Command::Transfer(order(2, 10))], context, &lenient());
        (batch.transfers[0].rail.unwrap(), batch.transfers[0].credit_account_id)
    };
    // Luis typed it.
    state.accounts.get_mut(&account(2)).unwrap().number = issued.to_string();
    assert_eq!(rail_of(&state, &CONTEXT), (RailName::Instant, SPEI_ACCOUNT));
    let outcome = decide(&mut state.clone(), Command::Transfer(order(2, 10)), &ON_US);
    assert!(
        matches!(&outcome, Outcome::Rejected { violations, .. } if violations[0].code == "unknown-account"),
        "{outcome:?}"
    );
    state.issued.insert(issued, account(2));
    assert_eq!(rail_of(&state, &ON_US), (RailName::OnUs, account(2)));
    assert_eq!(rail_of(&state, &CONTEXT), (RailName::Instant, SPEI_ACCOUNT));
    assert!(matches!(decide(&mut state, Command::Transfer(order(2, 10)), &ON_US), Outcome::Sent { .. }));
    assert_eq!(state.balances[&(account(2), CUSTOMER_STRIPE)].posted, Money::from_minor(10));
    assert_eq!(state.balances[&(SPEI_ACCOUNT, STRIPE)].posted, Money::ZERO);
    // Whatever the rules say.
    state.issued.insert(issued, account(0));
    let outcome = decide(&mut state, Command::Transfer(order(3, 10)), &ON_US);
    assert!(
        matches!(&outcome, Outcome::Rejected { violations, .. } if violations[0].code == "same-account"),
        "{outcome:?}"
    );
}

/// Else the order of events would depend on where a reader begins.
#[test]
fn moments_grow_along_a_chain_whatever_its_batches_touch() {
    let issued = SANDBOX_RANGE.pick(3);
    let mut state = funded();
    state.payees.get_mut(&payee(0)).unwrap().number = issued.to_string();
    state.issued.insert(issued, account(2));
    state.balances.get_mut(&(SPEI_ACCOUNT, STRIPE)).unwrap().moment = 50;
    for (number, moment) in [(2, 51), (3, 52)] {
        let (batch, _) = apply(&mut state, &[Command::Transfer(order(number, 10))], &ON_US, &lenient());
        assert_eq!((batch.transfers[0].rail, batch.moment), (Some(RailName::OnUs), moment));
    }
}

#[test]
fn a_number_is_issued_once() {
    let open = |id, owner: &str| {
        let issued = SANDBOX_RANGE.pick(5);
        Command::Open(OpenAccount {
            account_id: Uuid::from_u128(id),
            owner: owner.to_owned(),
            account_number: issued.to_string(),
            issued: Some(issued),
            account_type: "checking".to_owned(),
            opening_credit: Money::ZERO,
            transfer_id: Uuid::from_u128(id + 1),
        })
    };
    let (batch, outcomes) =
        apply(&mut world(), &[open(1, "ana"), open(3, "luis"), open(5, "ana")], &CONTEXT, &lenient());
    assert!(matches!(outcomes[0], Outcome::Opened(_)));
    assert_eq!(outcomes[1..], [Outcome::NumberTaken, Outcome::NumberTaken]);
    assert_eq!(batch.accounts.len(), 1);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_batch_with_locks_loses_no_race_and_lets_go_when_it_ends(db: PgPool) {
    let store = Postgres::open(db, &key(), CONTEXT.now).await.unwrap();
    let mut one = store.acquire(Uuid::from_u128(1), CONTEXT.now).await.unwrap();
    let mut two = store.acquire(Uuid::from_u128(2), CONTEXT.now).await.unwrap();
    let open = OpenAccount {
        account_id: account(0),
        owner: "ana".to_owned(),
        account_number: "1".to_owned(),
        issued: None,
        account_type: "checking".to_owned(),
        opening_credit: Money::from_minor(100),
        transfer_id: Uuid::from_u128(1),
    };
    let contexts = [Context { stripe: one.stripe, ..CONTEXT }, Context { stripe: two.stripe, ..CONTEXT }];
    write(&store, &mut one, &[Command::Open(open)], &contexts[0]).await;

    let (locking, other) = (store.clone(), store.clone());
    let (none, locked) = (BTreeSet::new(), BTreeSet::from([Row::Balance((account(0), CUSTOMER_STRIPE))]));
    let mut slow = locking.lookup(&[fund(2, 5)], &one, &contexts[0], &locked).await.unwrap();
    let mut quick = other.lookup(&[fund(3, 7)], &two, &contexts[1], &none).await.unwrap();
    let (batch, _) = apply(&mut quick, &[fund(3, 7)], &contexts[1], &lenient());
    let seal = key().seal(&batch, Uuid::new_v4(), &two, &contexts[1]);
    let rival = async { other.commit(&batch, &seal, &contexts[1]).await };
    tokio::pin!(rival);
    assert!(timeout(StdDuration::from_millis(300), &mut rival).await.is_err(), "it waits for the lock");
    let (ours, _) = apply(&mut slow, &[fund(2, 5)], &contexts[0], &lenient());
    let our_seal = key().seal(&ours, Uuid::new_v4(), &one, &contexts[0]);
    locking.commit(&ours, &our_seal, &contexts[0]).await.unwrap();
    assert!(matches!(rival.await, Err(CommitError::LostRace)));

    // A batch that turns out to be empty, and a batcher without work, keep nothing locked.
    for end in 0..3 {
        locking.lookup(&[fund(4, 5)], &one, &contexts[0], &locked).await.unwrap();
        match end {
            0 => locking.confirm().await.unwrap(),
            1 => locking.idle(),
            _ => drop(locking.lookup(&[fund(4, 5)], &one, &contexts[0], &none).await.unwrap()),
        }
        write(&other, &mut two, &[fund(10 + end, 1)], &contexts[1]).await;
    }
}
