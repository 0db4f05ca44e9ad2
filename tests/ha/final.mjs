// The state of the ledger after everything, read from the server that leads.

/**
 * @param {{ rows: (query: string) => Promise<any[]> }} server
 * @param {string[]} drained streams that were read to their end
 * @returns {Promise<import("./checker.mjs").Final>}
 */
export async function finalState(server, drained = []) {
  const accounts = await server.rows(`select account_id as id, owner as "user" from account where kind = 'customer'`);
  // What brings a rejected transfer's money back is not the transfer's own entry.
  const entries = await server.rows(`select e.account_id, e.version as number, e.delta as amount,
      e.balance_after as balance, case when t.kind = 'spei' and e.delta < 0 then e.transfer_id end as transfer
    from entry e join account a on a.account_id = e.account_id and a.kind = 'customer' join transfer t using (transfer_id)
    order by e.account_id, e.version`);
  const transfers = await server.rows(`select transfer_id as id, debit_account_id as account, owner as "user", amount,
      created_at as "createdAt",
      (select json_agg(status order by ordinal) from transfer_event s where s.transfer_id = t.transfer_id) as statuses
    from transfer t where kind = 'spei'`);
  const byAccount = Map.groupBy ? Map.groupBy(entries, (it) => it.account_id) : group(entries);
  return {
    accounts: accounts.map((it) => ({
      ...it,
      entries: (byAccount.get(it.id) ?? []).map(({ account_id, ...rest }) => rest),
    })),
    transfers: transfers.map((it) => ({ ...it, statuses: it.statuses ?? [] })),
    drained,
  };
}

function group(entries) {
  const groups = new Map();
  for (const entry of entries) {
    if (!groups.has(entry.account_id)) groups.set(entry.account_id, []);
    groups.get(entry.account_id).push(entry);
  }
  return groups;
}
