//! A small world for the ledger's tests: two users, three accounts, four payees, no transfers.

use caudal::clock::Clock;
use caudal::db::funding;
use caudal::domain::money::Money;
use caudal::domain::remittance::Remittance;
use caudal::domain::rules::{Facts, Verdict};
use caudal::domain::transfer::{RailEvent, Status};
use caudal::ledger::batch::{
    AccountFacts, Answer, Balance, Batch, Context, NoVerdict, Payee, Policy, State, Terms, UserFacts,
};
use caudal::ledger::chain::ChainKey;
use caudal::ledger::store::Postgres;
use caudal::ledger::{
    CUSTOMER_STRIPE, Command, FUNDING_ACCOUNT, Fund, IN_TRANSIT_ACCOUNT, Ledger, LedgerConfig, OpenAccount, Order,
    Risk, SPEI_ACCOUNT,
};
use caudal::models::{Models, Registry};
use sqlx::PgPool;
use time::macros::datetime;
use uuid::Uuid;

/// The writer's stripe.
pub(crate) const STRIPE: i16 = 3;

pub(crate) const CONTEXT: Context =
    Context { now: datetime!(2026-11-21 18:00 UTC), stripe: STRIPE, terms: Terms::OPEN };

/// Rules that accept everything, so that only the core's own checks remain.
pub(crate) fn lenient() -> Policy<'static> {
    fn decide(_: &str, _: Uuid, _: &Facts) -> Result<Verdict, NoVerdict> {
        Ok(Verdict::Accepted)
    }
    fn transition(_: Status, event: RailEvent) -> Result<Option<Status>, NoVerdict> {
        Ok(Some(if event == RailEvent::Settled { Status::Completed } else { Status::Failed }))
    }
    Policy { decide: &decide, transition: &transition }
}

pub(crate) fn account(index: u8) -> Uuid {
    Uuid::from_u128(0xA000 + u128::from(index))
}

pub(crate) fn payee(index: u8) -> Uuid {
    Uuid::from_u128(0xB000 + u128::from(index))
}

fn owner(index: u8) -> String {
    if index < 2 { "ana" } else { "luis" }.to_owned()
}

pub(crate) fn key() -> ChainKey {
    ChainKey::new(b"a key of thirty-two bytes at least").unwrap()
}

/// A running ledger without rules and with a fixed clock.
pub(crate) async fn start(db: PgPool) -> Ledger {
    let models = Models::new(Registry::default());
    let store = Postgres::open(db, &key(), CONTEXT.now).await.unwrap();
    let config = LedgerConfig::new(Terms::OPEN, key());
    Ledger::start(store, models, Clock::fixed(CONTEXT.now), config).await.unwrap().0
}

/// Accounts 0 and 1 are Ana's, 2 is Luis'; payees 0 and 1 are Ana's, 2 and 3 are Luis'.
pub(crate) fn world() -> State {
    let mut state = State::default();
    for index in 0..3 {
        let facts = AccountFacts { owner: Some(owner(index)), number: format!("account {index}"), is_issued: false };
        state.accounts.insert(account(index), facts);
        state.balances.insert((account(index), CUSTOMER_STRIPE), Balance::empty(Money::ZERO));
    }
    for index in 0..4 {
        let facts = Payee {
            owner: owner(index),
            name: format!("payee {index}"),
            bank: "BBVA".to_owned(),
            number: format!("number {index}"),
            created_at: CONTEXT.now,
        };
        state.payees.insert(payee(index), facts);
    }
    for account in [FUNDING_ACCOUNT, SPEI_ACCOUNT, IN_TRANSIT_ACCOUNT] {
        state.balances.insert((account, STRIPE), Balance::empty(Money::from_minor(i64::MIN + 1)));
    }
    state
}

/// A command in a few small numbers, so that failing cases are readable.
#[derive(Debug, Clone)]
pub(crate) enum Small {
    Fund { account: u8, amount: i64 },
    Transfer { user: u8, account: u8, payee: u8, amount: i64, key: Option<u8> },
}

/// Ids are derived from the position.
pub(crate) fn command(position: usize, small: &Small) -> Command {
    let transfer_id = Uuid::from_u128(0xC000 + position as u128);
    match small {
        Small::Fund { account: index, amount } => {
            Command::Fund(Fund { transfer_id, account_id: account(*index), amount: Money::from_minor(*amount) })
        }
        Small::Transfer { user, account: from, payee: to, amount, key } => Command::Transfer(Order {
            transfer_id,
            owner: owner(*user),
            key: key.map(|key| key.to_string()),
            from_account_id: account(*from),
            to_beneficiary_id: payee(*to),
            amount: Money::from_minor(*amount),
            remittance: Remittance::NONE,
            risk: Risk::NotEnforced,
            risk_decisions: None,
            hold_id: None,
            device: None,
            may_record_refusal: true,
        }),
    }
}

/// What a store holds after a batch, implemented independently of `apply`.
pub(crate) fn commit(state: &mut State, batch: &Batch) {
    for (key, change) in &batch.balances {
        let balance = state.balances.get_mut(key).unwrap();
        assert_eq!(*balance, change.before, "as it was read");
        *balance = change.after;
    }
    for ((owner, key), answer) in &batch.answers {
        let answer = Answer { fingerprint: answer.fingerprint, outcome: answer.outcome.clone() };
        assert!(state.answers.insert((owner.clone(), key.clone()), answer).is_none(), "a key is written once");
    }
    for new in &batch.transfers {
        if new.transfer.payee.is_some() {
            let user: &mut UserFacts = state.users.entry(new.owner.clone()).or_default();
            user.day_total = user.day_total.checked_add(new.transfer.amount).unwrap();
        }
    }
}

/// Records a credit by the bank, as the admin API does before it.
pub(crate) async fn put_on_record(db: &PgPool, key: &ChainKey, command: &Command) {
    let Command::Fund(Fund { transfer_id, account_id, amount }) = command else { return };
    let mut db = db.acquire().await.unwrap();
    funding::record(&mut db, key, (*transfer_id, *account_id, *amount), "ops", CONTEXT.now).await.unwrap();
}

pub(crate) fn open_account() -> OpenAccount {
    OpenAccount {
        account_id: account(0),
        owner: "ana".to_owned(),
        account_number: "1".to_owned(),
        issued: None,
        account_type: "checking".to_owned(),
        opening_credit: Money::from_minor(1_000),
        transfer_id: Uuid::from_u128(0xE000),
    }
}

/// Ana's, once a week.
const SCHEDULE: Uuid = Uuid::from_u128(0xF1);

/// An order as a host sends the occurrence of a date.
pub(crate) fn scheduled(order: Order, date: &str) -> Command {
    Command::Transfer(Order { key: Some(format!("schedule {SCHEDULE} {date}")), ..order })
}

/// A schedule whose first occurrence was sent, as this order, and whose second one was refused.
pub(crate) async fn plan(db: &PgPool, sent: &Order) {
    let schedule = "insert into schedule values ($1, 'ana', 'key', jsonb_build_object('fromAccountId', $2, \
                    'toBeneficiaryId', $3, 'amount', 0.07), 'Luis', 'weekly', '2026-11-22', '2027-11-22', null, $4, \
                    'active', 2, '2026-12-06', $4, $4, false, 0)";
    let planned = sqlx::query(schedule).bind(SCHEDULE).bind(sent.from_account_id).bind(sent.to_beneficiary_id);
    planned.bind(CONTEXT.now).execute(db).await.unwrap();
    let over = "insert into occurrence values ($1, 0, '2026-11-22', 'sent', $3, null, $2), \
                ($1, 1, '2026-11-29', 'refused', null, 'insufficient-funds', $2)";
    sqlx::query(over).bind(SCHEDULE).bind(CONTEXT.now).bind(sent.transfer_id).execute(db).await.unwrap();
}
