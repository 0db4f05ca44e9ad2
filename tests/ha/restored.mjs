// What a ledger holds, by place in its chains, and what commands say about places that are gone. A place is a chain and a
// number in it, as text.

/** What the chain of operators' audit records is called, whose messages do not name it. */
const RECORDS = "00000000-0000-0000-0000-000000000000";

/** @typedef {{ rows: (query: string) => Promise<any[]> }} Rows */

/** The places of all batches and audit records. @param {Rows} server @returns {Promise<Set<string>>} */
export async function places(server) {
  const rows = await server.rows(
    "select chain_id as chain, seq from ledger_batch union all select chain_id, seq from audit_record",
  );
  return new Set(rows.map(({ chain, seq }) => `${chain} ${seq}`));
}

/** The transfers that each batch has a status of. @param {Rows} server @returns {Promise<Map<string, string[]>>} */
export async function batches(server) {
  const rows = await server.rows("select chain_id as chain, seq, transfer_ids as ids from ledger_batch");
  return new Map(rows.map(({ chain, seq, ids }) => [`${chain} ${seq}`, ids]));
}

/**
 * Every payment, with its tracking key, its statuses, and how often the rail was asked if it is pending.
 * @param {Rows} server
 */
export async function payments(server) {
  const rows =
    await server.rows(`select transfer_id as id, spei_reference as key, attempts, r.transfer_id is not null as pending,
      (select json_agg(status order by ordinal) from transfer_event s where s.transfer_id = t.transfer_id) as statuses
    from transfer t left join rail_payment r using (transfer_id) where kind = 'spei'`);
  return new Map(rows.map(({ id, ...rest }) => [id, rest]));
}

/** First and last number of each chain's places. @param {Set<string>} places */
export function ranges(places) {
  /** @type {Map<string, { from: number, to: number }>} */
  const found = new Map();
  for (const place of places) {
    const [chain, number] = place.split(" ");
    const seq = Number(number);
    const { from, to } = found.get(chain) ?? { from: seq, to: seq };
    found.set(chain, { from: Math.min(from, seq), to: Math.max(to, seq) });
  }
  return found;
}

/** The places that `caudal verify` calls missing. @param {string} text */
export function missing(text) {
  const found = text.matchAll(/(?:batch|audit record) (\d+)(?: of chain (\S+))? is missing/g);
  return new Set([...found].map(([, seq, chain]) => `${chain ?? RECORDS} ${seq}`));
}

/** The ranges that `caudal accept-loss` accepted, by chain. @param {string} text @returns {[string, { from: number, to: number }][]} */
export function accepted(text) {
  const found = text.matchAll(/(batches|audit records) (\d+) to (\d+)(?: of chain ([0-9a-f-]+))?/g);
  return [...found].map(([, , from, to, chain]) => [chain ?? RECORDS, { from: Number(from), to: Number(to) }]);
}
