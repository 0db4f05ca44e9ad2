//! Checks of holds, freezes and issued numbers.

use sqlx::PgConnection;

use super::finding::Finding;

/// Reads every hold and account event: there are few of them, compared with transfers.
pub(super) async fn prove(db: &mut PgConnection) -> Result<Vec<Finding>, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select
            (select count(*) from account_balance b left join (
                select account_id, sum(amount) as amount from hold where status = 'placed' group by account_id
            ) as h on h.account_id = b.account_id and b.stripe = 0
                where b.held <> coalesce(h.amount, 0)
            ) as "unexplained_holds!",
            (select count(*) from account_balance b where b.frozen <> (b.stripe = 0 and coalesce((
                select event = 'frozen' from account_event v where v.account_id = b.account_id order by ordinal desc limit 1
            ), false))) as "odd_freezes!",
            (select count(*) from (
                select account_id from account_event left join account a using (account_id) group by account_id
                having min(ordinal) <> 0 or max(ordinal) <> count(*) - 1
                    or bool_or((event = 'frozen') <> (ordinal % 2 = 0)) or bool_or(a.kind is distinct from 'customer')
            ) as odd) as "odd_events!",
            (select count(*) from hold h full join hold_end e using (hold_id)
                where h.status is distinct from coalesce(e.status, 'placed')
            ) as "odd_ends!",
            (select count(*) from hold h where not exists (
                select from account a where a.account_id = h.account_id and a.owner = h.owner
            )) as "holds_of_others!",
            (select count(*) from hold_end e join hold h using (hold_id) left join transfer t using (transfer_id)
                where e.status = 'captured' and (
                    (t.kind, t.owner, t.debit_account_id, t.beneficiary_id)
                        is distinct from ('spei'::text, h.owner, h.account_id, h.beneficiary_id)
                    or t.amount > h.amount or (t.chain_id, t.seq) <> (e.chain_id, e.seq)
                )
            ) + (select count(*) from (
                select transfer_id from hold_end where transfer_id is not null group by transfer_id having count(*) > 1
            ) as twice) as "odd_captures!",
            (select count(*) from account where left(number_key, 17) <> lpad(issued::text, 17, '0')) as "odd_numbers!"
        "#
    )
    .fetch_one(db)
    .await?;
    let finding = |rule, broken| Finding { rule, broken };
    Ok(vec![
        finding("each balance sets aside what its open holds add up to", row.unexplained_holds),
        finding("each account is frozen exactly if it was frozen last", row.odd_freezes),
        finding("each customer account was frozen and unfrozen in turn", row.odd_events),
        finding("each hold's status is how it ended", row.odd_ends),
        finding("each hold is on an account of its owner", row.holds_of_others),
        finding("each captured hold covers one transfer of its account and beneficiary", row.odd_captures),
        finding("each issued number is its account's", row.odd_numbers),
    ])
}

/// Reads the whole history.
pub(super) async fn prove_history(db: &mut PgConnection) -> Result<Vec<Finding>, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select
            (select count(*) from transfer t left join account a on a.account_id = t.credit_account_id
                where t.rail = 'on-us' and (a.issued is null or a.number_key <> t.payee_key or t.status <> 'completed')
            ) as "odd_on_us!",
            (select count(*) from idempotency i where i.hold_id is not null and not exists (
                select from hold h where h.hold_id = i.hold_id and h.owner = i.owner
            )) as "stray_keys!",
            (select count(*) from ledger_batch b full join (
                select chain_id, seq, count(*) as n from (
                    select chain_id, seq from hold union all select chain_id, seq from hold_end
                    union all select chain_id, seq from account_event
                ) as rows group by chain_id, seq
            ) as o using (chain_id, seq)
                where b.operations_written is distinct from coalesce(o.n, 0) or b.operations_meant <> b.operations_written
            ) as "odd_batches!",
            (select count(*) from payee_total p full join (
                select owner, payee_key, count(*) as transfers, sum(amount) as amount, max(amount) as largest
                from transfer where kind = 'spei' and status = 'completed' group by owner, payee_key
            ) as t using (owner, payee_key)
                where (p.transfers, p.amount, p.largest) is distinct from (t.transfers, t.amount, t.largest)
            ) as "odd_totals!"
        "#
    )
    .fetch_one(db)
    .await?;
    let finding = |rule, broken| Finding { rule, broken };
    Ok(vec![
        finding("each on-us transfer went to the account with the issued number", row.odd_on_us),
        finding("each idempotency key refers to a hold of its owner", row.stray_keys),
        finding("each batch has exactly the holds and account events that it wrote", row.odd_batches),
        finding("each payee's total is what completed transfers add up to", row.odd_totals),
    ])
}
