//! Is all there that clients were told, and nothing else? SQL of its own, on a copy of what they wrote down: it
//! shares nothing with the ledger or `caudal verify`, and finds a transfer by account and amount, not by its key.

use sqlx::postgres::PgConnection;
use sqlx::{Connection as _, raw_sql};

use super::clients::OPENING_CREDIT;
use super::orders::{Log, Logged, Said};

/// What clients sent and were told, beside the ledger's tables until the transaction ends.
///
/// After a crash Postgres knows nothing of how large tables are, and would go through them once for each row.
const TABLES: &str = "
    set local enable_nestloop = off;
    create temp table sent (number bigint primary key, owner text, key text, account uuid, payee uuid, amount bigint,
        sends bigint) on commit drop;
    create temp table said (number bigint, what text, transfer_id uuid) on commit drop;
    create temp table opening (credit bigint) on commit drop;
    create temp view found as select s.number, t.transfer_id
        from sent s join transfer t on t.debit_account_id = s.account and t.amount = s.amount and t.kind = 'spei';
    create temp view settled as select number, bool_or(what = 'made') as made from said
        where what in ('made', 'refused', 'bound') group by number;
";

/// What has to hold.
struct Check {
    rule: &'static str,
    /// Counts what breaks it.
    breaches: &'static str,
    /// Statements that break it, to see that it sees.
    broken_by: &'static str,
}

const CHECKS: [Check; 16] = [
    Check {
        rule: "every acknowledged transfer is there as it was sent",
        breaches: "select count(*) from said join sent s using (number) left join transfer t
            on t.transfer_id = said.transfer_id and t.kind = 'spei' and t.owner = s.owner
            and t.debit_account_id = s.account and t.beneficiary_id = s.payee and t.amount = s.amount
            where what = 'made' and t.transfer_id is null",
        broken_by: "delete from transfer
            where transfer_id = (select transfer_id from said where what = 'made' limit 1)",
    },
    Check {
        rule: "every acknowledged transfer is there exactly once",
        breaches: "select count(*) from settled
            left join (select number, count(*) as rows from found group by number) as f using (number)
            where made and rows is distinct from 1",
        broken_by: "create temp table copy on commit drop as
                select t.* from transfer t join said using (transfer_id) limit 1;
            update copy set transfer_id = gen_random_uuid(), spei_reference = 'COPY';
            insert into transfer select * from copy",
    },
    Check {
        rule: "nothing unacknowledged is there twice",
        breaches: "select count(*) from (select number from found
            where not exists (select from said where said.number = found.number and what = 'made')
            group by number having count(*) > 1) as twice",
        broken_by: "create temp table copy on commit drop as
                select t.* from transfer t join said using (transfer_id) limit 1;
            delete from said where transfer_id = (select transfer_id from copy);
            update copy set transfer_id = gen_random_uuid(), spei_reference = 'COPY';
            insert into transfer select * from copy",
    },
    Check {
        rule: "all acknowledgements of one order, and of one key, name one transfer",
        breaches: "select count(*) from (select 1 from said join sent using (number) where what = 'made'
            group by owner, coalesce(key, number::text) having count(distinct transfer_id) > 1) as several",
        broken_by: "insert into said select number, 'made', gen_random_uuid() from said where what = 'made' limit 1",
    },
    Check {
        rule: "a key moves money once, whatever was sent under it",
        breaches: "select count(*) from (select 1 from found join sent using (number) where key is not null
            group by owner, key having count(*) > 1) as several",
        broken_by: "update sent set owner = 'one', key = 'one'
            where number in (select number from settled where made limit 2)",
    },
    Check {
        rule: "a key is bound to the transfer that was acknowledged under it",
        breaches: "select count(*) from said join sent s using (number)
            left join idempotency i on i.owner = s.owner and i.key = s.key
            where what = 'made' and s.key is not null and i.transfer_id is distinct from said.transfer_id",
        broken_by: "delete from idempotency where transfer_id is not null",
    },
    Check {
        rule: "a key is bound to the refusal that was told under it",
        breaches: "select count(*) from said join sent s using (number)
            left join idempotency i on i.owner = s.owner and i.key = s.key
            where what = 'refused' and s.key is not null and (i.key is null or i.transfer_id is not null)",
        broken_by: "delete from idempotency where transfer_id is null",
    },
    Check {
        rule: "a key that was said to be used is",
        breaches: "select count(*) from said join sent s using (number)
            left join idempotency i on i.owner = s.owner and i.key = s.key where what = 'bound' and i.key is null",
        broken_by: "delete from idempotency
            where key in (select key from said join sent using (number) where what = 'bound')",
    },
    Check {
        rule: "what was refused moved nothing, then or later",
        breaches: "select count(distinct number) from said join found using (number)
            where what in ('refused', 'bound')",
        broken_by: "insert into said select number, 'refused' from settled where made limit 1",
    },
    Check {
        rule: "where every answer was that nothing changed, nothing did",
        breaches: "select count(*) from found join sent using (number)
            left join (select number, count(*) as times from said where what = 'untouched' group by number) as u
            using (number) where sends = coalesce(times, 0)",
        broken_by: "update sent set sends = (select count(*) from said where said.number = sent.number)
                where number = (select min(number) from settled where made);
            update said set what = 'untouched' where number = (select min(number) from settled where made)",
    },
    Check {
        rule: "nothing is there that nobody sent",
        breaches: "select count(*) from transfer t left join found using (transfer_id)
            where t.kind = 'spei' and found.number is null",
        broken_by: "delete from sent where number = (select min(number) from settled where made)",
    },
    Check {
        rule: "no customer's balance is negative",
        breaches: "select count(*) from account_balance join account using (account_id)
            where kind = 'customer' and posted < 0",
        broken_by: "alter table account_balance drop constraint no_overdraft;
            update account_balance set posted = -1 where account_id = (select account from sent limit 1)",
    },
    Check {
        rule: "debits equal credits, over all entries and of each transfer",
        breaches: "select count(*) from (select sum(delta) from entry group by grouping sets ((), (transfer_id))
            having sum(delta) <> 0) as odd",
        broken_by: "update entry set delta = delta - 1
            where transfer_id = (select min(transfer_id::text)::uuid from found) and delta < 0",
    },
    Check {
        rule: "all balances add up to zero",
        breaches: "select (sum(posted) <> 0)::int::bigint from account_balance",
        broken_by: "update account_balance set posted = posted + 1
            where account_id = (select account from sent limit 1)",
    },
    Check {
        rule: "each balance is what transfers put into the account less what they took from it",
        breaches: "select count(*) from account join account_balance using (account_id) left join (
                select account_id, sum(change) as put from (
                    select credit_account_id as account_id, amount as change from transfer
                    union all select debit_account_id, -amount from transfer
                ) as changes group by account_id
            ) as s using (account_id) where kind = 'customer' and posted <> coalesce(put, 0)",
        broken_by: "update account_balance set posted = posted + 1
            where account_id = (select account from sent limit 1)",
    },
    Check {
        rule: "each balance is the opening credit less what was acknowledged, and less at most what has no clear answer",
        breaches: "select count(*) from account_balance b join (
                select account, sum(amount) filter (where made) as moved,
                    sum(amount) filter (where made is null) as unclear
                from sent left join settled using (number) group by account
            ) as s on b.account_id = s.account cross join opening
            where b.posted > credit - coalesce(moved, 0)
                or b.posted < credit - coalesce(moved, 0) - coalesce(unclear, 0)",
        broken_by: "update account_balance set posted = posted + 1000000
            where account_id = (select account from sent limit 1)",
    },
];

/// Proves every rule; with `try_checks`, also that each check sees what breaks its rule. Gives the number of rules and
/// of transfers that it looked at.
pub(crate) async fn prove(url: &str, log: &Log, try_checks: bool) -> (usize, i64) {
    let mut db = PgConnection::connect(url).await.unwrap();
    // All of it is undone at the end.
    let mut db = db.begin().await.unwrap();
    raw_sql(TABLES).execute(&mut *db).await.unwrap();
    load(&mut db, log).await;
    for Check { rule, breaches, .. } in CHECKS {
        assert_eq!(count(&mut db, breaches).await, 0, "{rule}");
    }
    if try_checks {
        for Check { rule, breaches, broken_by } in CHECKS {
            let mut sabotage = db.begin().await.unwrap();
            raw_sql(broken_by).execute(&mut *sabotage).await.unwrap();
            assert_ne!(count(&mut sabotage, breaches).await, 0, "not seen to be broken: {rule}");
            sabotage.rollback().await.unwrap();
        }
    }
    let transfers = count(&mut db, "select count(*) from transfer where kind = 'spei'").await;
    db.rollback().await.unwrap();
    (CHECKS.len(), transfers)
}

async fn count(db: &mut PgConnection, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(db).await.unwrap()
}

/// Copies what clients wrote down.
async fn load(db: &mut PgConnection, log: &Log) {
    let orders = || log.orders.iter().map(|logged| &logged.order);
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
    .bind(log.orders.iter().map(|logged| logged.sends).collect::<Vec<_>>())
    .execute(&mut *db)
    .await
    .unwrap();
    let of = |Logged { order, said, .. }: &Logged| said.iter().map(|said| (order.number, *said)).collect::<Vec<_>>();
    let said: Vec<(usize, Said)> = log.orders.iter().flat_map(of).collect();
    let made = |said| if let Said::Made(transfer) = said { Some(transfer) } else { None };
    sqlx::query("insert into said select * from unnest($1::bigint[], $2::text[], $3::uuid[])")
        .bind(said.iter().map(|(order, _)| number(*order)).collect::<Vec<_>>())
        .bind(said.iter().map(|(_, said)| said.name()).collect::<Vec<_>>())
        .bind(said.iter().map(|(_, said)| made(*said)).collect::<Vec<_>>())
        .execute(&mut *db)
        .await
        .unwrap();
    sqlx::query("insert into opening values ($1)").bind(OPENING_CREDIT).execute(&mut *db).await.unwrap();
    raw_sql("analyze sent; analyze said").execute(db).await.unwrap();
}
