// The bank's API: one function per request, a Problem for every failure. Amounts are converted here, so that the rest
// of the page only sees whole centavos.

/** @import { RiskAnswer, RiskRequest } from "../../../components/js/src/index.js" */
/** @import { Account, AnalyticsEvent, Circumstances, Consent, Device, Entry, EntryPage, Parties, Payee, PayeeCheck, Profile, Provider, Remittance, Terms, TransactionReceipt, Transfer, TransferPage } from "./types.js" */
import { fromPesos, toJson } from "./money.js";
import { call, change, get } from "./request.js";

/** Longer than for other requests: giving up early would only leave the transfer's outcome open. */
const TRANSFER_TIMEOUT_MS = 20_000;
/** Shorter, because the page can do without. */
export const CONTEXT_TIMEOUT_MS = 4_000;
const CHECK_TIMEOUT_MS = 3_000;

/** @param {any} account @returns {Account} */
const asAccount = ({ balance, held = 0, ...rest }) => ({
  ...rest,
  centavos: fromPesos(balance),
  available: fromPesos(balance) - fromPesos(held),
});
/** @param {any} transfer @returns {Transfer} */
const asTransfer = ({ amount, ...rest }) => ({ ...rest, centavos: fromPesos(amount) });
/** @param {any} entry @returns {Entry} */
const asEntry = ({ amount, balance, ...rest }) => ({
  ...rest,
  centavos: fromPesos(amount),
  balance: fromPesos(balance),
});

// ---- the ledger ----

/** @returns {Promise<Account[]>} */
export async function accounts() {
  return (await get("/api/ledger/accounts")).map(asAccount);
}

/** The bank assigns the number. @param {string} accountType */
export async function openAccount(accountType) {
  return asAccount(await change("POST", "/api/ledger/accounts", { accountType }));
}

/** @returns {Promise<Payee[]>} */
export function payees() {
  return get("/api/ledger/beneficiaries");
}

/** @param {Omit<Payee, "id">} fields @returns {Promise<Payee>} */
export function savePayee(fields) {
  return change("POST", "/api/ledger/beneficiaries", fields);
}

/** @param {string} id @param {Partial<Pick<Payee, "name" | "alias" | "isFavorite">>} changes @returns {Promise<Payee>} */
export function editPayee(id, changes) {
  return change("PATCH", `/api/ledger/beneficiaries/${encodeURIComponent(id)}`, changes);
}

/** @param {Pick<Payee, "name" | "accountNumber">} payee @returns {Promise<PayeeCheck>} */
export function checkPayee({ name, accountNumber }) {
  return change("POST", "/api/ledger/payee-checks", { name, accountNumber }, { timeoutMs: CHECK_TIMEOUT_MS });
}

/** @param {string} id */
export async function deletePayee(id) {
  await call("DELETE", `/api/ledger/beneficiaries/${encodeURIComponent(id)}`);
}

/** The address of the next page: only ever of the same list, wherever the header points. @param {Headers} headers @param {string} path */
function nextOf(headers, path) {
  const link = /<([^>]+)>;\s*rel="next"/.exec(headers.get("Link") ?? "")?.[1];
  return link?.startsWith(`${path}?`) ? link : null;
}

/**
 * A page of transfers, newest first: the first of `limit`, or the one at `next`.
 * @param {{ limit: number, next?: string | null, timeoutMs?: number }} page
 * @returns {Promise<TransferPage>}
 */
export async function transfers({ limit, next = null, timeoutMs }) {
  const path = "/api/ledger/transactions";
  const { json, headers } = await call("GET", next ?? `${path}?limit=${limit}`, { timeoutMs });
  return { transfers: json.map(asTransfer), next: nextOf(headers, path) };
}

/** One of the user's transfers. @param {string} id */
export async function transfer(id) {
  return asTransfer(await get(`/api/ledger/transactions/${encodeURIComponent(id)}`));
}

/** Says that a transfer is not the user's. @param {string} id @param {boolean} freeze @returns {Promise<{ frozen: boolean }>} */
export function reportTransfer(id, freeze) {
  return change("POST", `/api/ledger/transactions/${encodeURIComponent(id)}/report`, { freeze });
}

/** @param {string} id @returns {Promise<TransactionReceipt>} */
export function receipt(id) {
  return get(`/api/ledger/transactions/${encodeURIComponent(id)}/receipt`);
}

/**
 * A page of an account's statement, newest first and not before `from`: the first of `limit`, or the one at `next`.
 * @param {string} accountId @param {{ limit: number, next?: string | null, from?: Date | null }} page
 * @returns {Promise<EntryPage>}
 */
export async function entries(accountId, { limit, next = null, from = null }) {
  const path = `/api/ledger/accounts/${encodeURIComponent(accountId)}/entries`;
  const since = from ? `&from=${from.toISOString()}` : "";
  const wanted = next?.replace(/\blimit=\d+/, `limit=${limit}`) ?? `${path}?limit=${limit}${since}`;
  const { json, headers } = await call("GET", wanted);
  return { entries: json.map(asEntry), next: nextOf(headers, path) };
}

/**
 * Sends a transfer. Repeating it with the same key gives the same answer and sends nothing twice, whatever the circumstances.
 * @param {Parties & Remittance & { centavos: number }} transfer @param {string} key @param {Circumstances} [circumstances]
 */
export async function send(
  { fromAccountId, toBeneficiaryId, centavos, concept, numericReference },
  key,
  circumstances,
) {
  const parties = JSON.stringify({
    fromAccountId,
    toBeneficiaryId,
    concept: concept ?? undefined,
    numericReference: numericReference ?? undefined,
    ...circumstances,
  });
  // Not through a double, which cannot hold every amount that the ledger accepts.
  const body = `${parties.slice(0, -1)},"amount":${toJson(centavos)}}`;
  const headers = { "Idempotency-Key": key };
  const { json } = await call("POST", "/api/ledger/transactions", { body, headers, timeoutMs: TRANSFER_TIMEOUT_MS });
  return asTransfer(json);
}

/**
 * The facts about a transfer from the ledger's own history, and the ledger's own score of them.
 * @param {Parties & Device & { centavos: number, hour: number }} transfer
 * @returns {Promise<{ request: RiskRequest, assessment: RiskAnswer, acknowledgmentToken?: string }>}
 */
export function riskContext({ fromAccountId, toBeneficiaryId, centavos, hour, isNewDevice, hasMoved }) {
  const query = new URLSearchParams({
    fromAccountId,
    toBeneficiaryId,
    amount: toJson(centavos),
    hourOfDay: String(hour),
    isNewDevice: String(isNewDevice),
    geolocationChanged: String(hasMoved),
  });
  return get(`/api/ledger/risk-context?${query}`, { timeoutMs: CONTEXT_TIMEOUT_MS });
}

/** What the next transfer is bound by. @returns {Promise<Terms>} */
export async function terms() {
  const { perTransfer, perDay, leftToday, ...rest } = await get("/api/ledger/terms", { timeoutMs: CONTEXT_TIMEOUT_MS });
  const read = (/** @type {number | undefined} */ amount) => (amount === undefined ? undefined : fromPesos(amount));
  return { ...rest, perTransfer: read(perTransfer), perDay: read(perDay), leftToday: read(leftToday) };
}

// ---- the person ----

/** @returns {Promise<Profile>} */
export function profile() {
  return get("/api/profile/accessibility");
}

/** @param {Profile} profile @returns {Promise<Profile>} */
export function saveProfile({ theme, screenReaderMode, fontScale, nudgingLevel, voiceFeedback }) {
  const sent = { theme, screenReaderMode, fontScale, nudgingLevel, voiceFeedback };
  return change("PUT", "/api/profile/accessibility", sent);
}

/** @returns {Promise<Consent>} */
export function consent() {
  return get("/api/analytics/consent");
}

/** @param {boolean} granted @param {string} noticeVersion @returns {Promise<Consent>} */
export function saveConsent(granted, noticeVersion) {
  return change("PUT", "/api/analytics/consent", { granted, noticeVersion });
}

/** @param {AnalyticsEvent} event */
export async function sendEvent(event) {
  await change("POST", "/api/analytics/events", event);
}

// ---- signing in ----

/** The bank's OpenID provider, or null if there is none. @returns {Promise<Provider | null>} */
export function provider() {
  return get("/sign-in", { isPublic: true });
}

/** Whether this is the sandbox, where anyone can sign in as any user. */
export async function isSandbox() {
  try {
    return (await get("/sandbox", { isPublic: true })).sandbox === true;
  } catch {
    return false;
  }
}

/** @param {string} user @returns {Promise<string>} */
export async function sandboxToken(user) {
  return (await change("POST", "/sandbox/token", { user }, { isPublic: true })).token;
}
