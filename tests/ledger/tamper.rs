//! Whatever somebody without the key changes is detected: every column of every row, and whole rows. A column that is
//! neither tried nor excused makes the test fail.

use std::collections::{BTreeMap, BTreeSet};

use caudal::db::components::{self, NewComponent};
use caudal::db::deployments::{self, Canary, Deployment};
use caudal::domain::clabe::SANDBOX_RANGE;
use caudal::domain::model::{Digest, ModelKind, ModelVersion, PolicyClass};
use caudal::domain::money::Money;
use caudal::domain::remittance::Remittance;
use caudal::domain::risk::CutOffs;
use caudal::domain::rules::{Facts, Verdict, Violation};
use caudal::domain::transfer::{RailName, Reason, Report};
use caudal::ledger::apply::apply;
use caudal::ledger::batch::{Context, Policy, Terms};
use caudal::ledger::chain::ChainKey;
use caudal::ledger::store::proof::{self, Head, Proof};
use caudal::ledger::store::{self, Loss, Postgres, Store as _};
use caudal::ledger::writer::Writer;
use caudal::ledger::{ByHand, Command, Freeze, Fund, OpenAccount, Order, PaymentReport, PlaceHold, ReleaseHold, Risk};
use sha2::{Digest as _, Sha256};
use sqlx::{PgConnection, PgPool};
use time::Duration;
use uuid::Uuid;

use crate::model::{CONTEXT, key, lenient, open_account, plan, put_on_record, scheduled};
use crate::received;

pub(crate) const ACCOUNT: Uuid = Uuid::from_u128(0xA000);
pub(crate) const PAYEE: Uuid = Uuid::from_u128(0xB000);

/// Luis', with a number that the bank issued; Ana's payee for it.
const ISSUED_ACCOUNT: Uuid = Uuid::from_u128(0xA001);
const ISSUED_PAYEE: Uuid = Uuid::from_u128(0xB001);

pub(crate) fn new_order(number: u128, amount: i64) -> Order {
    Order {
        transfer_id: Uuid::from_u128(0xC000 + number),
        owner: "ana".to_owned(),
        key: Some(number.to_string()),
        from_account_id: ACCOUNT,
        to_beneficiary_id: PAYEE,
        amount: Money::from_minor(amount),
        remittance: Remittance::NONE,
        risk: Risk::NotEnforced,
        risk_decisions: None,
        hold_id: None,
        device: None,
        may_record_refusal: true,
    }
}

fn a_remittance() -> Remittance {
    Remittance { concept: Some("Renta".to_owned()), reference: Some(7) }
}

fn order(number: u128, amount: i64) -> Command {
    Command::Transfer(new_order(number, amount))
}

fn hold(number: u128) -> Command {
    Command::Hold(PlaceHold { order: new_order(number, 9), lifetime: Duration::hours(1) })
}

/// Captures a hold, voids one, leaves one open; freezes an account.
fn operations() -> Vec<Command> {
    let number = |number: u128| Some(Uuid::from_u128(0xC000 + number));
    let freeze = |frozen| Freeze {
        account_id: ISSUED_ACCOUNT,
        frozen,
        actor: "ops".to_owned(),
        reason: "a court order".to_owned(),
    };
    let (hold_id, account_id, owner) = (Uuid::from_u128(0xC000 + 21), ACCOUNT, Some("ana".to_owned()));
    vec![
        Command::Transfer(Order { to_beneficiary_id: ISSUED_PAYEE, ..new_order(10, 8) }),
        hold(20),
        hold(21),
        hold(22),
        Command::Transfer(Order { hold_id: number(20), ..new_order(11, 6) }),
        Command::Release(ReleaseHold { hold_id, account_id, owner }),
        Command::Freeze(freeze(true)),
        Command::Freeze(freeze(false)),
        Command::Freeze(freeze(true)),
    ]
}

pub(crate) fn report(number: u128, report: Report) -> Command {
    Command::Report(PaymentReport {
        transfer_id: Uuid::from_u128(0xC000 + number),
        account_id: ACCOUNT,
        payee_account_id: None,
        report,
        reason: Reason::parse("02"),
        return_id: Uuid::from_u128(0xD000 + number),
        by_hand: (report == Report::Rejected)
            .then(|| ByHand { actor: "ops".to_owned(), note: "STP says so on the phone".to_owned() }),
    })
}

/// Fills a ledger with every kind of row, one batch for each command.
pub(crate) async fn fill(db: &PgPool) {
    let issued = SANDBOX_RANGE.pick(7);
    let payee = "insert into beneficiary (beneficiary_id, owner, name, bank_name, account_number, created_at) \
                 values ($1, 'ana', 'Luis', 'Caudal', $2, $3)";
    for (id, number) in [(PAYEE, "012".to_owned()), (ISSUED_PAYEE, issued.to_string())] {
        sqlx::query(payee).bind(id).bind(number).bind(CONTEXT.now).execute(db).await.unwrap();
    }
    fill_rollout(db).await;
    for sql in [
        "insert into approval values (gen_random_uuid(), '{}', 'a test', 'ana', 'https://login', $1, $1, 'approved', \
         'eva', 'https://login', $1, $1)",
        "insert into app_user (owner, per_transfer_limit, per_day_limit, holder_name, created_at) \
         values ('eva', 5, 6, 'Eva', $1)",
        "insert into reconciliation values (gen_random_uuid(), 'stp', '2026-11-20', 'ops', $1, null, $1, 1, 2, 3, 4, 5, '[{}]')",
        "insert into payment_case values (gen_random_uuid(), 'stp', '2026-11-20', '{}', $1, $1, 'ops', 'a test', \
         gen_random_uuid())",
        "insert into outcome values (gen_random_uuid(), gen_random_uuid(), 'reported', 'customer', $1, 'ana', $1)",
        "insert into sink values (gen_random_uuid(), 'webhook', 'https://bank', '{}', false, 'ops', $1)",
        "insert into policy values ('settings', '--rail=stp', 'ana', $1), ('replicas', 'replicated', 'host', $1)",
    ] {
        sqlx::query(sql).bind(CONTEXT.now).execute(db).await.unwrap();
    }
    plan(db, &new_order(4, 40)).await;
    let store = Postgres::open(db.clone(), &key(), CONTEXT.now).await.unwrap();
    proof::record_all(&mut db.acquire().await.unwrap(), &key(), CONTEXT.now).await.unwrap();
    fill_registry(db).await;
    let mut writer = store.acquire(Uuid::from_u128(1), CONTEXT.now).await.unwrap();
    let open_issued = OpenAccount {
        account_id: ISSUED_ACCOUNT,
        owner: "luis".to_owned(),
        account_number: issued.to_string(),
        issued: Some(issued),
        opening_credit: Money::ZERO,
        transfer_id: Uuid::from_u128(0xE002),
        ..open_account()
    };
    let fund = Fund { transfer_id: Uuid::from_u128(0xE001), account_id: ACCOUNT, amount: Money::from_minor(5) };
    let (instant, simulated) = (RailName::Instant, RailName::Simulated);
    let commands = [
        (instant, Command::Open(open_account())),
        (instant, Command::Fund(fund)),
        (instant, Command::Transfer(Order { remittance: a_remittance(), ..new_order(1, 10) })),
        (simulated, order(2, 20)),
        (simulated, order(3, 30)),
        (simulated, scheduled(new_order(4, 40), "2026-11-22")),
        (simulated, report(2, Report::Settled)),
        (simulated, report(3, Report::Rejected)),
        (simulated, report(2, Report::Returned)),
        (simulated, order(8, 1)),
        (instant, order(5, 999_999)),
        (instant, Command::Open(open_issued)),
    ];
    let operations = operations().into_iter().chain([order(6, 7)]).map(|command| (instant, command));
    for (rail, command) in commands.into_iter().chain(received::commands(issued)).chain(operations) {
        let terms = Terms { rail, on_us: Some(SANDBOX_RANGE), ..Terms::OPEN };
        let context = Context { now: CONTEXT.now + Duration::seconds(writer.next_seq), stripe: writer.stripe, terms };
        put_on_record(db, &key(), &command).await;
        write(&store, &mut writer, &[command], &context).await;
        // As a courier hands payments over.
        let hand_over = "insert into rail_order (transfer_id, rail, operating_date, seal) \
                         select transfer_id, rail, $1, seal from rail_payment on conflict do nothing";
        sqlx::query(hand_over).bind(CONTEXT.now.date()).execute(db).await.unwrap();
    }
}

/// Before there are components that it could refer to.
async fn fill_rollout(db: &PgPool) {
    let rollout = "insert into rollout values ($1, 'nudge', sha256('canary'), '{5,25,100}', 500, 600, 1, 10, 'withdraw', false, \
                   'a digest', 'a test', 'ana', 'https://login', $2, 'waiting', 1, 3, $2, 'it waits', $1, 'rollout', $2)";
    let mut transaction = db.begin().await.unwrap();
    sqlx::query("set local session_replication_role = replica").execute(&mut *transaction).await.unwrap();
    sqlx::query(rollout).bind(Uuid::from_u128(0xA1)).bind(CONTEXT.now).execute(&mut *transaction).await.unwrap();
    transaction.commit().await.unwrap();
}

/// Registers and deploys a component, and accepts a loss.
async fn fill_registry(db: &PgPool) {
    let (bytes, kind, version, class) = (b"a component", ModelKind::Risk, "1.0.0", PolicyClass::Pure);
    let digest = Digest(Sha256::digest(bytes).into());
    let model_version = &ModelVersion::new(kind, version, digest);
    let (report, answers, signature, by) = (Some(serde_json::json!({"checks": 1})), "none", Some("AA=="), "ops");
    let new = NewComponent { digest, kind, version, model_version, class, bytes, report, answers, signature, by };
    let mut db = db.acquire().await.unwrap();
    components::register(&mut db, &key(), &new, CONTEXT.now).await.unwrap();
    let deployment = Deployment {
        canary: Some(Canary { version: digest, percent: 5, max_flip_percent: 10 }),
        shadows: vec![digest],
        minimum_release: Some("1.0.0".to_owned()),
        cut_offs: CutOffs { medium_from: 0.2, high_from: 0.6 },
        ..Deployment::nothing(kind, digest).next("a test", by, CONTEXT.now)
    };
    assert_eq!(deployments::deploy(&mut db, &key(), &deployment).await.unwrap(), Some(deployment));
    let loss = Loss {
        chain_id: Uuid::from_u128(7),
        from_seq: 3,
        to_seq: 4,
        head_hashes: vec![[4; 32], [5; 32]],
        reason: "a failover".to_owned(),
        by: "ops".to_owned(),
        at: CONTEXT.now,
    };
    store::accept(&mut db, &key(), &[loss]).await.unwrap();
}

pub(crate) async fn write(store: &Postgres, writer: &mut Writer, commands: &[Command], context: &Context) {
    write_with(&key(), store, writer, commands, context).await;
}

pub(crate) async fn write_with(
    key: &ChainKey,
    store: &Postgres,
    writer: &mut Writer,
    commands: &[Command],
    context: &Context,
) {
    let reject_uncovered = |_: &str, id: Uuid, facts: &Facts| {
        let detail = "No.".to_owned();
        let violation = Violation { code: "insufficient-funds".to_owned(), detail };
        let sent = facts.day_total.checked_add(facts.amount).unwrap();
        let enough = facts.available >= facts.amount && facts.per_day_limit.is_none_or(|limit| sent <= limit);
        // The one that a person decides on.
        let accepted = if id == Uuid::from_u128(0xC008) { Verdict::Reviewed } else { Verdict::Accepted };
        Ok(if enough { accepted } else { Verdict::Rejected(vec![violation]) })
    };
    let mut state = store.lookup(commands, writer, context, &BTreeSet::new()).await.unwrap();
    let (batch, outcomes) = apply(&mut state, commands, context, &Policy { decide: &reject_uncovered, ..lenient() });
    assert!(!batch.is_empty(), "{outcomes:?}");
    let seal = key.seal(&batch, Uuid::new_v4(), writer, context);
    store.commit(&batch, &seal, context).await.unwrap();
    writer.next_seq += 1;
    writer.head = seal.hash;
}

/// Everything that `caudal verify` complains about.
pub(crate) async fn complaints(db: &mut PgConnection, key: &ChainKey, recorded: &BTreeMap<Uuid, Head>) -> Vec<String> {
    let proof = proof::prove(db, key).await.unwrap();
    complaints_of(db, key, proof, recorded).await
}

pub(crate) async fn complaints_of(
    db: &mut PgConnection,
    key: &ChainKey,
    proof: Proof,
    recorded: &BTreeMap<Uuid, Head>,
) -> Vec<String> {
    let broken = proof.findings.into_iter().filter(|finding| finding.broken > 0);
    let mut complaints: Vec<_> = broken.map(|finding| finding.rule).collect();
    complaints.extend(proof.breaks.iter().map(|it| format!("batch {}: {}", it.seq, it.what)));
    complaints.extend(proof.records.complaints);
    let missing = proof::missing(db, key, recorded).await.unwrap();
    complaints.extend(missing.iter().map(|it| format!("batch {} is missing", it.seq)));
    complaints
}

/// Tables that no proof covers, and why.
const EXEMPT_TABLES: [(&str, &str); 18] = [
    ("_sqlx_migrations", "sqlx compares it with the migrations in the program"),
    ("comparison", "counts of what challengers answered: advice to an operator"),
    ("consent", "personal data without money; a user may have it erased"),
    ("consent_history", "as consent"),
    ("decision", "kept for ninety days, to be run again; proves nothing"),
    ("event", "analytics"),
    ("event_queue", "analytics"),
    ("incoming_notice", "which orders a rail is asked about: only what it confirms is credited, once"),
    ("host_status", "what each host reports of itself, every few seconds"),
    (
        "rail_order",
        "what a rail is asked: before a payment is sent again, it is asked under every date it may have been sent for, and \
         nothing is asked or sent unless the seal is right",
    ),
    ("profile", "preferences of a page; a user may have them erased"),
    ("retired_chain", "tests/ledger/rotation.rs fills it and changes every column"),
    ("retired_key", "as retired_chain"),
    ("rollout_evidence", "tests/api/evidence.rs fills it and changes every column; a host restores its own row"),
    ("sink_progress", "how far a sink is: an event moves no money"),
    ("sink_undelivered", "what a sink did not accept: its content is read again from the ledger"),
    ("traffic", "counts of what versions answered: advice to an operator"),
    ("schema_compatibility", "which programs may start at all: it moves no money, and a wrong one stops them"),
];

/// Columns that no proof covers, and why.
const EXEMPT_COLUMNS: [(&str, &str, &str); 24] = [
    ("account_balance", "moment", "in which order batches are decided again: each seals its own"),
    ("app_user", "created_at", "nothing reads it"),
    ("app_user", "limits_seal", "with another one a host sends nothing for the user: what_was_altered_is_not_acted_on"),
    ("app_user", "version", "counts batches, so that two of them cannot both win a race"),
    ("approval", "claimed_until", "when another request may go on with an action, which then changes nothing twice"),
    ("deployment_history", "served_at", "when a host first served it: chooses among versions that the gate accepted"),
    ("ledger_key", "created_at", "nothing reads it"),
    ("ledger_key", "fingerprint", "compared with the key before anything else: a_host_with_another_key_is_refused"),
    ("ledger_key", "only_one", "a constant"),
    ("ledger_writer", "holder", "a lease is a hint: the key of ledger_batch keeps writers apart"),
    ("ledger_writer", "leased_until", "as holder"),
    ("policy", "only_one", "a constant"),
    ("rail_payment", "attempts", "how often a rail was asked"),
    ("rail_payment", "due_at", "when it is asked next"),
    ("rail_payment", "owner", "whose turn it is, and how many of theirs are pending"),
    ("rail_payment", "turn", "in which order a rail is asked"),
    ("rail_payment", "last_error", "why the last attempt failed: advice to an operator"),
    ("schedule", "attempt_at", "when a host tries next: a time that no host would write is ignored"),
    ("schedule", "is_claimed", "whether a host may be at it: its transfer's key keeps it from being sent twice"),
    ("reconciliation", "attempt_at", "when a host compares a day: null once it has, which is on record"),
    ("schedule", "turn", "in which order they are sent"),
    ("rail_payment", "parked_at", "whether a rail is asked: an old payment raises an alarm, and a seal ends a review"),
    ("review", "claimed_by", "who may decide: the ledger has who did"),
    ("review", "claimed_at", "when others may take it over"),
];

/// Which rows of a table hold something.
fn rows_of(table: &str) -> &'static str {
    match table {
        // Users without limits of their own.
        "app_user" => "where per_day_limit is not null",
        // Stripes of the bank that nothing used yet: they are zero, and made again if they are missing.
        "account_balance" => "where version > 0",
        _ => "",
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn every_column_of_every_row_is_covered(db: PgPool) {
    fill(&db).await;
    let none = BTreeMap::new();
    assert_eq!(complaints(&mut db.acquire().await.unwrap(), &key(), &none).await, Vec::<String>::new());
    let tables = "select table_name::text from information_schema.tables \
                  where table_schema = 'public' and table_type = 'BASE TABLE'";
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&db).await.unwrap();
    let is_exempt = |table: &String| EXEMPT_TABLES.iter().any(|(exempt, _)| exempt == table);
    let (mut tried, mut columns_tried) = (0, 0);
    for table in tables.iter().filter(|table| !is_exempt(table)) {
        let columns: Vec<(String, String)> = sqlx::query_as(
            "select column_name::text, udt_name::text from information_schema.columns where table_name = $1",
        )
        .bind(table)
        .fetch_all(&db)
        .await
        .unwrap();
        let rows = format!("select ctid::text from {table} {}", rows_of(table));
        let rows: Vec<String> = sqlx::query_scalar(sqlx::AssertSqlSafe(rows)).fetch_all(&db).await.unwrap();
        for (column, kind) in &columns {
            if EXEMPT_COLUMNS.iter().any(|(of, exempt, _)| of == table && exempt == column) {
                continue;
            }
            let value = match kind.as_str() {
                "text" => format!("coalesce({column}, '') || '7'"),
                "int8" | "int4" | "int2" | "numeric" | "float8" => format!("coalesce({column}, 0) + 1"),
                "bool" => format!("not {column}"),
                "uuid" => "gen_random_uuid()".to_owned(),
                "date" => format!("{column} + 1"),
                "timestamptz" => format!("{column} + interval '1 millisecond'"),
                "bytea" => format!("sha256(coalesce({column}, ''))"),
                "jsonb" => r#"'[{"code": "insufficient-funds", "detail": "No.", "more": 1}]'"#.to_owned(),
                "_int2" => format!("array_append({column}, 7::smallint)"),
                "_text" => format!("array_append({column}, '7')"),
                "_uuid" => format!("array_append({column}, gen_random_uuid())"),
                "_bytea" => format!("array_append({column}, sha256(''))"),
                other => panic!("{table}.{column} is of type {other}"),
            };
            let mut changed = 0;
            for row in &rows {
                let change = format!("update {table} set {column} = {value} where ctid = '{row}'");
                changed += usize::from(assert_detected(&db, table, &change).await);
            }
            assert!(changed > 0, "{table}.{column} was never changed: fill a row of it, or excuse it");
            (tried, columns_tried) = (tried + changed, columns_tried + 1);
        }
        for row in rows.iter().filter(|_| !["ledger_key"].contains(&table.as_str())) {
            assert_detected(&db, table, &format!("delete from {table} where ctid = '{row}'")).await;
        }
    }
    println!("{tried} changes of {columns_tried} columns were tried, all detected");
    assert!(tried > 1_400, "{tried} changes were tried");
}

/// Makes a change as a superuser without the key could. False if it changes nothing.
async fn assert_detected(db: &PgPool, table: &str, change: &str) -> bool {
    let mut transaction = db.begin().await.unwrap();
    let constraints: Vec<String> = sqlx::query_scalar(
        "select conname::text from pg_constraint where conrelid = $1::regclass and contype in ('c', 'u', 'p', 'f')",
    )
    .bind(table)
    .fetch_all(&mut *transaction)
    .await
    .unwrap();
    for constraint in constraints {
        let drop = format!("alter table {table} drop constraint if exists {constraint} cascade");
        sqlx::query(sqlx::AssertSqlSafe(drop)).execute(&mut *transaction).await.unwrap();
    }
    let copy = format!("create temp table before on commit drop as select * from {table}");
    sqlx::query(sqlx::AssertSqlSafe(copy)).execute(&mut *transaction).await.unwrap();
    sqlx::query(sqlx::AssertSqlSafe(change.to_owned())).execute(&mut *transaction).await.unwrap();
    let differs = format!("select exists (select * from before except select * from {table})");
    let differs: bool = sqlx::query_scalar(sqlx::AssertSqlSafe(differs)).fetch_one(&mut *transaction).await.unwrap();
    let complaints = complaints(&mut transaction, &key(), &BTreeMap::new()).await;
    transaction.rollback().await.unwrap();
    assert!(!differs || !complaints.is_empty(), "{change} is not detected");
    differs
}
