//! Compares the ledger with the clients' log, in SQL that shares nothing with the ledger or `caudal verify`. Transfers
//! are found by account and amount, not by key.

use sqlx::postgres::PgConnection;
use sqlx::{Connection as _, raw_sql};

use super::clients::OPENING_CREDIT;
use super::orders::{Log, OrderLog, Reply};

/// The clients' log as temporary tables, until the transaction ends.
///
/// Nested loops are off because after a crash Postgres has no statistics and would scan whole tables for each row.
const TABLES: &str = "
    set local enable_nestloop = off;
    create temp table sent (number bigint primary key, owner text, key text, account uuid, payee uuid, amount bigint,
        sends bigint) on commit drop;
    create temp table reply (number bigint, result text, transfer_id uuid) on commit drop;
    create temp table opening (credit bigint) on commit drop;
    create temp view found as select s.number, t.transfer_id
        from sent s join transfer t on t.debit_account_id = s.account and t.amount = s.amount and t.kind = 'spei';
    create temp view settled as select number, bool_or(result = 'made') as made from reply
        where result in ('made', 'refused', 'bound') group by number;
";

struct Check {
    rule: &'static str,
    /// Counts violations.
    breaches: &'static str,
    /// Statements that violate the rule, to test the check itself.
    sabotage: &'static str,
}

const CHECKS: [Check; 16] = [
    Check {
        rule: "every acknowledged transfer exists as it was sent",
        breaches: "select count(*) from reply join sent s using (number) left join transfer t
            on t.transfer_id = reply.transfer_id and t.kind = 'spei' and t.owner = s.owner
            and t.debit_account_id = s.account and t.beneficiary_id = s.payee and t.amount = s.amount
            where result = 'made' and t.transfer_id is null",
        sabotage: "delete from transfer
            where transfer_id = (select transfer_id from reply where result = 'made' limit 1)",
    },
    Check {
        rule: "every acknowledged transfer exists exactly once",
        breaches: "select count(*) from settled
            left join (select number, count(*) as rows from found group by number) as f using (number)
            where made and rows is distinct from 1",
        sabotage: "create temp table copy on commit drop as
                select t.* from transfer t join reply using (transfer_id) limit 1;
            update copy set transfer_id = gen_random_uuid(), spei_reference = 'COPY';
            insert into transfer select * from copy",
    },
    Check {
        rule: "no unacknowledged transfer exists twice",
        breaches: "select count(*) from (select number from found
            where not exists (select from reply where reply.number = found.number and result = 'made')
            group by number having count(*) > 1) as twice",
        sabotage: "create temp table copy on commit drop as
                select t.* from transfer t join reply using (transfer_id) limit 1;
            delete from reply where transfer_id = (select transfer_id from copy);
            update copy set transfer_id = gen_random_uuid(), spei_reference = 'COPY';
            insert into transfer select * from copy",
    },
    Check {
        rule: "all acknowledgements of an order, and of a key, name the same transfer",
        breaches: "select count(*) from (select 1 from reply join sent using (number) where result = 'made'
            group by owner, coalesce(key, number::text) having count(distinct transfer_id) > 1) as several",
        sabotage: "insert into reply select number, 'made', gen_random_uuid() from reply where result = 'made' limit 1",
    },
    Check {
        rule: "a key moves money once, whatever was sent with it",
        breaches: "select count(*) from (select 1 from found join sent using (number) where key is not null
            group by owner, key having count(*) > 1) as several",
        sabotage: "update sent set owner = 'one', key = 'one'
            where number in (select number from settled where made limit 2)",
    },
    Check {
        rule: "a key is bound to the transfer that was acknowledged with it",
        breaches: "select count(*) from reply join sent s using (number)
            left join idempotency i on i.owner = s.owner and i.key = s.key
            where result = 'made' and s.key is not null and i.transfer_id is distinct from reply.transfer_id",
        sabotage: "delete from idempotency where transfer_id is not null",
    },
    Check {
        rule: "a key is bound to the refusal that was returned for it",
        breaches: "select count(*) from reply join sent s using (number)
            left join idempotency i on i.owner = s.owner and i.key = s.key
            where result = 'refused' and s.key is not null and (i.key is null or i.transfer_id is not null)",
        sabotage: "delete from idempotency where transfer_id is null",
    },
    Check {
        rule: "a key that was reported as used is used",
        breaches: "select count(*) from reply join sent s using (number)
            left join idempotency i on i.owner = s.owner and i.key = s.key where result = 'bound' and i.key is null",
        sabotage: "delete from idempotency
            where key in (select key from reply join sent using (number) where result = 'bound')",
    },
    Check {
        rule: "refused orders moved nothing, then or later",
        breaches: "select count(distinct number) from reply join found using (number)
            where result in ('refused', 'bound')",
        sabotage: "insert into reply select number, 'refused' from settled where made limit 1",
    },
    Check {
        rule: "if every reply said that nothing changed, nothing did",
        breaches: "select count(*) from found join sent using (number)
            left join (select number, count(*) as times from reply where result = 'untouched' group by number) as u
            using (number) where sends = coalesce(times, 0)",
        sabotage: "update sent set sends = (select count(*) from reply where reply.number = sent.number)
                where number = (select min(number) from settled where made);
            update reply set result = 'untouched' where number = (select min(number) from settled where made)",
    },
    Check {
        rule: "there is no transfer that nobody sent",
        breaches: "select count(*) from transfer t left join found using (transfer_id)
            where t.kind = 'spei' and found.number is null",
        sabotage: "delete from sent where number = (select min(number) from settled where made)",
    },
    Check {
        rule: "no customer's balance is negative",
        breaches: "select count(*) from account_balance join account using (account_id)
            where kind = 'customer' and posted < 0",
        sabotage: "alter table account_balance drop constraint no_overdraft;
            update account_balance set posted = -1 where account_id = (select account from sent limit 1)",
    },
    Check {
        rule: "debits equal credits, in total and for each transfer",
        breaches: "select count(*) from (select sum(delta) from entry group by grouping sets ((), (transfer_id))
            having sum(delta) <> 0) as odd",
        sabotage: "update entry set delta = delta - 1
            where transfer_id = (select min(transfer_id::text)::uuid from found) and delta < 0",
    },
    Check {
        rule: "all balances add up to zero",
        breaches: "select (sum(posted) <> 0)::int::bigint from account_balance",
        sabotage: "update account_balance set posted = posted + 1
            where account_id = (select account from sent limit 1)",
    },
    Check {
        rule: "each balance is the account's credits less its debits",
        breaches: "select count(*) from account join account_balance using (account_id) left join (
                select account_id, sum(change) as put from (
                    select credit_account_id as account_id, amount as change from transfer
                    union all select debit_account_id, -amount from transfer
                ) as changes group by account_id
            ) as s using (account_id) where kind = 'customer' and posted <> coalesce(put, 0)",
        sabotage: "update account_balance set posted = posted + 1
            where account_id = (select account from sent limit 1)",
    },
    Check {
        rule: "each balance is the opening credit less acknowledged transfers and at most those without a final reply",
        breaches: "select count(*) from account_balance b join (
                select account, sum(amount) filter (where made) as moved,
                    sum(amount) filter (where made is null) as unclear
                from sent left join settled using (number) group by account
            ) as s on b.account_id = s.account cross join opening
            where b.posted > credit - coalesce(moved, 0)
                or b.posted < credit - coalesce(moved, 0) - coalesce(unclear, 0)",
        sabotage: "update account_balance set posted = posted + 1000000
            where account_id = (select account from sent limit 1)",
    },
];

/// Checks every rule; with `try_checks`, also that each check detects its sabotage. Returns the number of rules and of
/// transfers checked.
pub(crate) async fn prove(url: &str, log: &Log, try_checks: bool) -> (usize, i64) {
    let mut db = PgConnection::connect(url).await.unwrap();
    // Rolled back at the end.
    let mut db = db.begin().await.unwrap();
    raw_sql(TABLES).execute(&mut *db).await.unwrap();
    load(&mut db, log).await;
    for Check { rule, breaches, .. } in CHECKS {
        assert_eq!(count(&mut db, breaches).await, 0, "{rule}");
    }
    if try_checks {
        for Check { rule, breaches, sabotage } in CHECKS {
            let mut sabotaged = db.begin().await.unwrap();
            raw_sql(sabotage).execute(&mut *sabotaged).await.unwrap();
            assert_ne!(count(&mut sabotaged, breaches).await, 0, "sabotage not detected: {rule}");
            sabotaged.rollback().await.unwrap();
        }
    }
    let transfers = count(&mut db, "select count(*) from transfer where kind = 'spei'").await;
    db.rollback().await.unwrap();
    (CHECKS.len(), transfers)
}

async fn count(db: &mut PgConnection, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(db).await.unwrap()
}

/// Copies the clients' log into the temporary tables.
async fn load(db: &mut PgConnection, log: &Log) {
    let orders = || log.orders.iter().map(|it| &it.order);
    let number = |number: usize| i64::try_from(number).unwrap();
    sqlx::query(
        "insert into sent select * from
            unnest($1::bigint[], $2::text[], $3::text[], $4::uuid[], $5::uuid[], $6::bigint[], $7::bigint[])",
    )
    .bind(orders().map(|order| number(order.number)).collect::<Vec<_>>())
    .bind(orders().map(|order| order.sender.owner.clone()).collect::<Vec<_>>())
    .bind(orders().map(|order| order.key.clone()).collect::<Vec<_>>())
    .bind(orders().map(|order| order.sender.account).collect::<Vec<_>>())
    .bind(orders().map(|order| order.payee).collect::<Vec<_>>())
    .bind(orders().map(|order| order.amount).collect::<Vec<_>>())
    .bind(log.orders.iter().map(|it| it.sends).collect::<Vec<_>>())
    .execute(&mut *db)
    .await
    .unwrap();
    let replies_to = |it: &OrderLog| it.replies.iter().map(|reply| (it.order.number, *reply)).collect::<Vec<_>>();
    let replies: Vec<(usize, Reply)> = log.orders.iter().flat_map(replies_to).collect();
    let made = |reply| if let Reply::Made(transfer) = reply { Some(transfer) } else { None };
    sqlx::query("insert into reply select * from unnest($1::bigint[], $2::text[], $3::uuid[])")
        .bind(replies.iter().map(|(order, _)| number(*order)).collect::<Vec<_>>())
        .bind(replies.iter().map(|(_, reply)| reply.name()).collect::<Vec<_>>())
        .bind(replies.iter().map(|(_, reply)| made(*reply)).collect::<Vec<_>>())
        .execute(&mut *db)
        .await
        .unwrap();
    sqlx::query("insert into opening values ($1)").bind(OPENING_CREDIT).execute(&mut *db).await.unwrap();
    raw_sql("analyze sent; analyze reply").execute(db).await.unwrap();
}
