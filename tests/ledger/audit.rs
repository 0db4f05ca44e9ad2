//! The audit detects tampering with any single row.

use caudal::domain::money::Money;
use caudal::ledger::store::proof;
use caudal::ledger::{Command, Fund, OpenAccount, Outcome};
use sqlx::PgPool;
use uuid::Uuid;

use crate::model::{key, put_on_record, start};

async fn broken_rules(db: &PgPool) -> Vec<String> {
    let proof = proof::prove(&mut db.acquire().await.unwrap(), &key()).await.unwrap();
    proof.findings.into_iter().filter(|finding| finding.broken > 0).map(|finding| finding.rule).collect()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn each_tampering_breaks_a_rule(db: PgPool) {
    let ledger = start(db.clone()).await;
    let account_id = Uuid::now_v7();
    let open = OpenAccount {
        account_id,
        owner: "ana".to_owned(),
        account_number: "1".to_owned(),
        issued: None,
        account_type: "checking".to_owned(),
        opening_credit: Money::from_minor(100),
        transfer_id: Uuid::now_v7(),
    };
    assert!(matches!(ledger.submit(Command::Open(open)).await.unwrap(), Outcome::Opened(_)));
    for _ in 0..3 {
        let fund = Fund { transfer_id: Uuid::now_v7(), account_id, amount: Money::from_minor(5) };
        let fund = Command::Fund(fund);
        put_on_record(&db, &key(), &fund).await;
        assert!(matches!(ledger.submit(fund).await.unwrap(), Outcome::Funded(_)));
    }
    assert!(broken_rules(&db).await.is_empty());

    for tampering in [
        "update account_balance set posted = posted + 1 where floor = 0 and posted > 0",
        "update account_balance set posted = posted + sign(posted) where posted <> 0",
        "update account_balance set version = version + 1 where floor = 0 and posted > 0",
        "update entry set delta = delta + 1 where version = 2",
        "update entry set balance_after = balance_after + 1 where version = 2",
        "update entry set version = version + 10 where version = 4",
        "delete from entry where version = 3",
        "update transfer set amount = amount + 1 where kind = 'opening'",
        "delete from transfer where kind = 'opening'",
        "update transfer set status = 'failed' where kind = 'opening'",
        "update transfer_event set status = 'pending'",
        "delete from ledger_batch where seq = 1",
        "update ledger_batch set debits = debits + 1, credits = credits + 1 where seq = 1",
        "update account_balance set floor = -100 where floor = 0",
        "update account set owner = 'eve' where kind = 'customer'",
        "delete from account where kind = 'customer'",
        "delete from account_balance where floor = 0 and posted > 0",
        "update transfer set credit_account_id = gen_random_uuid() where kind = 'opening'",
        "insert into idempotency (owner, key, fingerprint, rejection, chain_id, seq, created_at)
            select 'ana', 'forged', sha256(''), '[]', chain_id, seq, now() from ledger_batch where seq = 0 limit 1",
    ] {
        let mut transaction = db.begin().await.unwrap();
        let changed = sqlx::query(tampering).execute(&mut *transaction).await.unwrap().rows_affected();
        let findings = proof::prove(&mut transaction, &key()).await.unwrap().findings;
        transaction.rollback().await.unwrap();
        assert!(changed > 0, "{tampering} changes nothing");
        assert!(findings.iter().any(|finding| finding.broken > 0), "{tampering} is not detected");
    }
    assert!(broken_rules(&db).await.is_empty());
}
