// The model console: who is signed in, which kind is shown, when it is refreshed, and what each button does.

/** @import { Child } from "../shared/dom.js" */
/** @import { Draft } from "./dialog.js" */
/** @import { Failure } from "./types.js" */
import { at, button, h } from "../shared/dom.js";
import * as api from "./api.js";
import { drawApprovals, isOpenApproval } from "./approvals.js";
import { CHANGES } from "./changes.js";
import { drawComparisonChoice, openComparison } from "./compare.js";
import { copy } from "./copy.js";
import { forgetCustomer, openCustomers } from "./customers.js";
import { decide } from "./decide.js";
import { confirmChange, isDialogOpen } from "./dialog.js";
import { drawEvidence } from "./evidence.js";
import { drawHistory } from "./history.js";
import { drawHosts } from "./hosts.js";
import { drawKinds, KINDS, kindOf } from "./kinds.js";
import { update } from "./patch.js";
import { asFailure, drawFailure } from "./problems.js";
import { openPush } from "./push.js";
import { drawReport } from "./report.js";
import { actOn, drawReviews } from "./reviews.js";
import { drawRollout } from "./rollout.js";
import { drawService } from "./service.js";
import { drawEnding, isSignedIn, openSession } from "./session.js";
import { forgetAll, known, looksUpCustomers, mayReplay, readsModels, refreshKind, refreshWaiting } from "./state.js";
import { markScrollable } from "./table.js";
import { forgetTraffic, openTraffic, refreshTraffic } from "./traffic.js";
import { drawVersions, openDetails } from "./versions.js";
import { drawPayments } from "./waiting.js";
import { isTried, openWhatIf } from "./what-if.js";
import { sentence, timeOfDay, zone } from "./words.js";

/** Hosts follow a change within about a second, so refreshing more often would show no more. */
const REFRESH_MS = 2_000;
/** How long it is news that the host responds again. */
const SAID_MS = 10_000;

let isPaused = false;
/** The time of the last refresh. @type {Date | null} */
let refreshed = null;
/** Why refreshing has failed since. @type {Failure | null} */
let failure = null;
/** What is shown of a kind. */
const PARTS = ["service", "rollout", "report", "hosts", "versions", "history"];
/** What was typed for changes that were not made, by kind, change and version. @type {Map<string, Draft>} */
const drafts = new Map();

/** The kind in the address, or one that the token allows to read. */
function shownKind() {
  const { kind } = kindOf(location.hash.slice(1));
  const readable = KINDS.filter((it) => known.versions.has(it.kind));
  return readable.length === 0 || known.versions.has(kind) ? kind : readable[0].kind;
}

/** The host decides; this only hides what it would refuse. @param {string} kind */
function mayChange(kind) {
  const { scopes } = api.claims();
  return !scopes || scopes.includes(kindOf(kind).scope);
}

// ---- refreshing ----

/** Refreshes run one at a time, so that a slow answer cannot replace a newer one. */
let queue = Promise.resolve();

function refresh() {
  queue = queue.then(async () => {
    if (!isSignedIn()) return;
    const session = api.sessionNow();
    try {
      await Promise.all([refreshKind(shownKind()), refreshWaiting()]);
      failure = null;
      refreshed = new Date();
      draw();
      if (readsModels()) await refreshTraffic(shownKind());
    } catch (error) {
      if (session.aborted) return;
      failure = asFailure(error);
      // Keep showing the last data, with its time.
      drawFreshness();
      drawHostsNow();
      reportFailure();
    }
  });
  return queue;
}

setInterval(() => {
  drawEnding();
  drawFreshness();
  // Nothing moves behind a dialog, and an invisible page sends no requests.
  if (isSignedIn() && !isPaused && !isDialogOpen() && !document.hidden) refresh();
}, REFRESH_MS);
document.addEventListener("visibilitychange", () => !document.hidden && !isPaused && refresh());

// ---- drawing ----

function drawFreshness() {
  const time = refreshed ? timeOfDay(refreshed) : "never";
  const held = isDialogOpen() ? "Paused by the dialog, as of" : isPaused && "Paused, as of";
  const state = failure ? "Not refreshed since" : held || "Refreshed";
  at("freshness").className = failure ? "freshness failing" : "freshness";
  update(at("freshness"), `${state} `, h("span.clock", time));
}

function drawHostsNow() {
  const [kind, asOf] = [shownKind(), failure && refreshed];
  const now = known.deployments.get(kind);
  if (now) update(at("hosts"), drawHosts(kind, known.versions.get(kind)?.hosts ?? [], now.epoch, asOf));
}

function draw() {
  if (!isSignedIn()) return;
  const kind = shownKind();
  const { name, summary, hasCanaries } = kindOf(kind);
  const focused = document.activeElement;
  const part = focused?.closest(".part, .waiting");

  if (!holds()) clearNotice();
  document.title = `${name} – Model console – Caudal`;
  drawFreshness();
  reportFailure();
  update(at("kinds"), drawKinds(known.deployments, kind));
  update(at("kind-title"), name);
  update(at("kind-summary"), summary);
  at("customers-part").hidden = !looksUpCustomers();
  for (const place of ["kinds", "models"]) at(place).hidden = !readsModels();
  at("rollout-part").hidden = !hasCanaries;
  const isOperator = mayChange(kind);
  update(
    at("push-place"),
    isTried(kind) &&
      mayReplay() &&
      h("button", { type: "button", "data-key": "what-if", "data-what-if": true }, "Try on past orders"),
    isOperator && h("button", { type: "button", "data-key": "push", "data-push": kind }, "Push a component"),
  );
  const now = known.deployments.get(kind);
  if (now) {
    const history = known.histories.get(kind);
    update(at("service"), drawService(now, isOperator, history?.data ?? []));
    drawHostsNow();
    drawChoice(known.versions.get(kind)?.versions.map((it) => it.model_version) ?? []);
    update(at("versions"), drawVersions(known.versions.get(kind)?.versions ?? [], now, isOperator));
    update(at("rollout"), hasCanaries && drawRollout(known.rollouts.get(kind), isOperator));
    const report = known.reports.get(kind);
    update(at("report"), drawReport(kind, now.epoch, report, at("report").clientWidth, history?.data ?? []));
    const shown = history?.failure
      ? h("div.notice.bad", drawFailure(history.failure))
      : drawHistory(history?.data ?? [], known.rollouts.get(kind)?.data ?? []);
    update(at("history"), shown);
  } else {
    for (const place of PARTS) update(at(place), h("p", "Loading…"));
  }
  for (const [place, drawn] of /** @type {[string, Child][]} */ ([
    ["approvals", drawApprovals(known.approvals.get("all"))],
    ["reviews", drawReviews(known.reviews.get("all"))],
    ["payments", drawPayments(known.payments.get("all"))],
  ])) {
    at(`${place}-part`).hidden = drawn === null;
    update(at(place), drawn);
  }
  markScrollable(at("console"));
  // The focused element may be gone, such as the button of a change that was made.
  if (focused && !focused.isConnected)
    /** @type {HTMLElement | null | undefined} */ (part?.querySelector("[tabindex='-1']"))?.focus();
}

/** Only when the versions change, so that a choice stays. @param {string[]} names */
function drawChoice(names) {
  const place = at("compare");
  if (place.dataset.names === names.join()) return;
  place.dataset.names = names.join();
  place.replaceChildren(drawComparisonChoice(names) ?? "");
  const two = /** @type {HTMLSelectElement | null} */ (place.querySelector("#compare-two"));
  if (two) two.selectedIndex = 1;
}

function compare() {
  const kind = shownKind();
  const names = ["compare-one", "compare-two"].map((id) => /** @type {HTMLSelectElement} */ (at(id)).value);
  openComparison(kind, names, known.deployments.get(kind), known.reports.get(kind));
}

/** The failure in the notice, so that it is announced once and not every two seconds. */
let reported = "";

function reportFailure() {
  const text = failure ? `${failure.status} ${failure.title} ${failure.detail}` : "";
  if (text === reported) return;
  reported = text;
  if (failure) notify("bad", drawFailure(failure));
  else {
    const at = Date.now();
    notify("good", h("p", "The host is responding again."), () => Date.now() - at < SAID_MS);
  }
}

/** Whether the notice is still true. */
let holds = () => true;

/** @param {"good" | "bad"} mood @param {Child} parts @param {() => boolean} isTrue until when it is shown */
function notify(mood, parts, isTrue = () => true) {
  holds = isTrue;
  const dismiss = () => {
    clearNotice();
    at("main").focus();
  };
  const notice = h(`div.notice.${mood}`, h("div", parts), button("Dismiss", dismiss, { class: "quiet" }));
  at("notice").replaceChildren(notice);
}

function clearNotice() {
  at("notice").replaceChildren();
}

// ---- signing in and out ----

openSession({
  load: async () => {
    try {
      const wanted = shownKind();
      await Promise.all([refreshKind(wanted), refreshWaiting()]);
      if (shownKind() !== wanted) await refreshKind(shownKind());
    } catch (error) {
      forgetAll();
      throw error;
    }
  },
  begin: () => {
    refreshed = new Date();
    // A token for customers only has nothing else to show.
    /** @type {HTMLDetailsElement} */ (at("customers-look-up")).open = !readsModels();
    draw();
    at(readsModels() ? "kind-title" : "customers-title").focus({ preventScroll: true });
    refresh();
  },
  end: () => {
    forgetAll();
    forgetTraffic();
    forgetCustomer();
    failure = null;
    reported = "";
    drafts.clear();
    for (const place of ["kinds", "approvals", "reviews", "payments", ...PARTS]) update(at(place));
    clearNotice();
  },
});

// ---- buttons ----

/** @param {string} name @param {string} version @returns {Promise<void>} */
async function makeChange(name, version) {
  const session = api.sessionNow();
  const kind = shownKind();
  const now = known.deployments.get(kind);
  if (!now) return;
  const [past, report] = [known.histories.get(kind)?.data ?? [], known.reports.get(kind)];
  const change = CHANGES[name](now, version, { past, report: report?.data });
  const evidence = change.about?.map((name) => name && drawEvidence(name, now, past, report));
  const draft = `${kind} ${name} ${version}`;
  const result = await confirmChange(change, kindOf(kind).name, drafts.get(draft), evidence);
  // Discard what was typed: somebody else may have signed in.
  if (session.aborted) return;
  const isSent = result.outcome === "done" || result.outcome === "proposed";
  if (isSent) drafts.delete(draft);
  else drafts.set(draft, result.draft);
  await refresh();
  if (result.outcome === "cancelled" || session.aborted) return;
  const latest = known.deployments.get(kind);
  const isLatest = () => known.deployments.get(kind)?.epoch === latest?.epoch;
  if (result.outcome === "proposed") {
    notify("good", h("p", result.notice ?? ""), () => isPending(result.approval));
  } else if (result.outcome === "done") {
    const number = !change.keepsDeployment && ` This is change ${latest?.epoch ?? ""}.`;
    notify("good", h("p", sentence(result.message ?? ""), number), isLatest);
    if (change.next) await makeChange(change.next, version);
  } else {
    notify(
      "bad",
      [
        h("p.title", "Nothing was changed: the deployment is no longer the one you saw"),
        h(
          "p",
          `Change ${latest?.epoch ?? ""} was made in the meantime by ${latest?.changed_by ?? "an unknown operator"}`,
          latest?.reason && [": ", h("q", latest.reason)],
          ". The page now shows it. Review it and try again; what you typed is kept.",
        ),
      ],
      isLatest,
    );
  }
}

/** @param {string | undefined} id */
const isPending = (id) => known.approvals.get("all")?.data?.some((it) => it.id === id && isOpenApproval(it)) ?? false;

/** @param {string} id */
async function decideOn(id) {
  const approval = known.approvals.get("all")?.data?.find((it) => it.id === id);
  if (!approval) return;
  const session = api.sessionNow();
  const done = await decide(approval);
  await refresh();
  if (done && !session.aborted) notify("good", h("p", done));
}

/** @param {string} act @param {string} id */
async function review(act, id) {
  const it = known.reviews.get("all")?.data?.find(({ transactionId }) => transactionId === id);
  if (!it) return;
  const session = api.sessionNow();
  const key = `review ${act} ${id}`;
  /** @type {[ "good" | "bad", Child ] | null} */
  let said = null;
  try {
    const { done, draft } = await actOn(act, it, drafts.get(key));
    if (session.aborted) return;
    if (draft) drafts.set(key, draft);
    if (done) said = ["good", h("p", done)];
  } catch (error) {
    said = ["bad", drawFailure(asFailure(error))];
  }
  await refresh();
  if (said && !session.aborted) notify(...said);
}

document.addEventListener("click", (event) => {
  const clicked = event.target instanceof Element && event.target.closest("button");
  if (!clicked) return;
  const { change, version = "", details, push } = clicked.dataset;
  if (clicked.dataset.copy !== undefined) copy(clicked);
  else if (change) makeChange(change, version);
  else if (details) openDetails(shownKind(), details, known.deployments.get(shownKind()));
  else if (clicked.dataset.decide) decideOn(clicked.dataset.decide);
  else if (clicked.dataset.review) review(clicked.dataset.review, clicked.dataset.id ?? "");
  else if (clicked.dataset.compare !== undefined) compare();
  else if (push) openPush(push, refresh);
  else if (clicked.dataset.whatIf !== undefined) openWhatIf();
});

at("skip").addEventListener("click", (event) => {
  // Following the link would replace the kind in the address.
  event.preventDefault();
  at("main").focus();
});
at("pause").addEventListener("click", () => {
  isPaused = !isPaused;
  update(at("pause"), isPaused ? "Resume refresh" : "Pause refresh");
  drawFreshness();
  if (!isPaused) refresh();
});
window.addEventListener("hashchange", () => {
  if (!isSignedIn()) return;
  clearNotice();
  draw();
  at("kind-title").focus();
  refresh();
});
// Plots are drawn at the available width.
window.addEventListener("resize", draw);

openTraffic(refresh);
openCustomers();
update(at("zone"), zone());
if (!KINDS.some((it) => `#${it.kind}` === location.hash)) history.replaceState(null, "", `#${KINDS[0].kind}`);
