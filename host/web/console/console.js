// The model console: what serves of each kind, and changing it. This file holds the page together: who is
// signed in, which kind is shown, when it is refreshed, which button does what.

import * as api from "./api.js";
import { CHANGES } from "./changes.js";
import { confirmChange, isDialogOpen } from "./dialog.js";
import { h, markScrollable, show } from "./dom.js";
import { drawHistory } from "./history.js";
import { drawKinds, KINDS, kindOf } from "./kinds.js";
import { asProblem, drawProblem } from "./problems.js";
import { openPush } from "./push.js";
import { drawReport } from "./report.js";
import { drawService } from "./service.js";
import { ask, forgetAll, known } from "./state.js";
import { drawVersions, openDetails } from "./versions.js";
import { sentence, timeOfDay, when, zone } from "./words.js";

/** A change shows on every host within about a second; looking more often would show no more. */
const REFRESH_MS = 2_000;

const at = (id) => document.getElementById(id);

let isSignedIn = false;
let isPaused = false;
/** When all was asked for last, and why it could not be since. */
let refreshed = null;
let failure = null;
/** Reasons that were typed for changes that were not made, by kind. */
const drafts = new Map();

const chosen = () => kindOf(location.hash.slice(1)).kind;

function mayChange(kind) {
  const scopes = api.claims()?.scopes;
  // A token that this page cannot read may allow it: then the host says so.
  return !scopes || scopes.includes(kindOf(kind).scope);
}

// ---- asking ----

// One after the other: an answer that was slow must not hide a newer one.
let line = Promise.resolve();

function refresh() {
  line = line.then(async () => {
    if (!isSignedIn) return;
    try {
      await ask(chosen());
      failure = null;
      refreshed = new Date();
      draw();
    } catch (error) {
      // What is shown stays: it was true at the time that stands above it.
      const problem = asProblem(error);
      if (problem.status === 401) {
        signOut(problem);
        return;
      }
      failure = problem;
      drawFreshness();
      drawFailure();
    }
  });
  return line;
}

setInterval(() => {
  // A page that nobody sees asks nothing, and behind a dialog nothing moves.
  if (isSignedIn && !isPaused && !isDialogOpen() && !document.hidden) refresh();
}, REFRESH_MS);
document.addEventListener("visibilitychange", () => !document.hidden && !isPaused && refresh());

// ---- drawing ----

function drawFreshness() {
  const time = refreshed ? timeOfDay(refreshed) : "never";
  const state = failure ? "Not refreshed since" : isPaused ? "Paused, as of" : "Refreshed";
  at("freshness").className = failure ? "freshness failing" : "freshness";
  show(at("freshness"), `${state} `, h("span", { class: "clock" }, time));
}

function draw() {
  if (!isSignedIn) return;
  const kind = chosen();
  const now = known.deployments.get(kind);
  const { name, summary, hasChallengers } = kindOf(kind);
  const focused = document.activeElement;
  const part = focused?.closest(".part");

  document.title = `${name} – Model console – Caudal`;
  drawFreshness();
  drawFailure();
  show(at("kinds"), drawKinds(known.deployments, kind));
  show(at("kind-title"), name);
  show(at("kind-summary"), summary);
  at("report-part").hidden = !hasChallengers;
  const may = mayChange(kind);
  const push = h("button", { type: "button", "data-push": kind }, "Push a component");
  show(at("push-place"), may && push);
  if (now) {
    const history = known.histories.get(kind);
    show(at("service"), drawService(now, may));
    show(at("versions"), drawVersions(known.versions.get(kind)?.versions ?? [], now, may));
    show(
      at("report"),
      hasChallengers && drawReport(kind, now.epoch, known.reports.get(kind), at("report").clientWidth),
    );
    show(
      at("history"),
      history?.problem
        ? h("div", { class: "notice bad" }, drawProblem(history.problem))
        : drawHistory(history?.history ?? []),
    );
  } else {
    ["service", "versions", "report", "history"].forEach((place) => show(at(place), h("p", null, "Loading…")));
  }
  markScrollable(at("console"));
  // What had the focus may be gone, such as the button of a change that was made.
  if (focused && !focused.isConnected) part?.querySelector("h3").focus();
}

// The failure that the notice shows, so that it is said once and not every two seconds.
let failureShown = "";

function drawFailure() {
  const failing = failure ? `${failure.status} ${failure.title} ${failure.detail}` : "";
  if (failing === failureShown) return;
  failureShown = failing;
  if (failure) notify("bad", drawProblem(failure));
  else notify("good", h("p", null, "The host answers again."));
}

/** Says something in the one place that is announced. */
function notify(mood, parts) {
  const dismiss = h("button", { type: "button", class: "quiet", "data-dismiss": true }, "Dismiss");
  at("notice").replaceChildren(
    ...(parts ? [h("div", { class: `notice ${mood}` }, h("div", null, parts), dismiss)] : []),
  );
}

// ---- signing in and out ----

function signOut(problem) {
  isSignedIn = false;
  api.forget();
  forgetAll();
  failure = null;
  failureShown = "";
  drafts.clear();
  document.querySelectorAll("dialog[open]").forEach((dialog) => dialog.close());
  for (const place of ["kinds", "service", "report", "versions", "history"]) show(at(place));
  notify();
  showSession();
  faultToken(problem ? `${problem.title}. ${problem.detail} Sign in again with a new token.` : "");
  at("token").focus();
}

function showSession() {
  at("session").hidden = !isSignedIn;
  at("console").hidden = !isSignedIn;
  at("bottom").hidden = !isSignedIn;
  at("sign-in").hidden = isSignedIn;
  const claims = api.claims();
  if (!isSignedIn) document.title = "Sign in – Model console – Caudal";
  show(
    at("who"),
    isSignedIn && claims?.user && ["Signed in as ", h("strong", null, claims.user)],
    isSignedIn && claims?.expires && [", until ", untilWhen(claims.expires)],
  );
}

/** The time alone where that says it: a token seldom lasts for longer than a day. */
function untilWhen(date) {
  return date.toDateString() === new Date().toDateString() ? timeOfDay(date) : when(date.toISOString());
}

function faultToken(text) {
  show(at("token-fault"), text);
  if (text) at("token").setAttribute("aria-invalid", "true");
  else at("token").removeAttribute("aria-invalid");
}

/** The token in what was pasted: alone, after "Bearer", or in `export TOKEN=...`. */
function tokenIn(text) {
  return text.match(/[\w-]+\.[\w-]+\.[\w-]+/)?.[0] ?? text.trim();
}

async function signIn(event) {
  event.preventDefault();
  const token = tokenIn(at("token").value);
  // A header takes no other characters.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    faultToken(token === "" ? "Paste a token first." : "This is no token: it has spaces or letters that no token has.");
    at("token").focus();
    return;
  }
  api.hold(token);
  const button = at("sign-in-button");
  show(button, "Signing in…");
  try {
    await ask(chosen());
  } catch (error) {
    api.forget();
    forgetAll();
    const { title, detail, status } = asProblem(error);
    const advice = status === 401 ? " Make a new one with the command above." : "";
    faultToken(`${title}. ${detail}${advice}`);
    at("token").focus();
    return;
  } finally {
    show(button, "Sign in");
  }
  at("token").value = "";
  faultToken("");
  isSignedIn = true;
  refreshed = new Date();
  showSession();
  draw();
  at("kind-title").focus();
}

// ---- what buttons do ----

async function makeChange(name, version) {
  const kind = chosen();
  const now = known.deployments.get(kind);
  const change = CHANGES[name](now, version);
  const { outcome, said, problem, draft } = await confirmChange(change, kindOf(kind).name, drafts.get(kind) ?? "");
  drafts.set(kind, outcome === "done" ? "" : draft);
  if (problem?.status === 401) return signOut(problem);
  if (outcome === "cancelled") return refresh();
  await refresh();
  const latest = known.deployments.get(kind);
  if (outcome === "done") {
    notify("good", h("p", null, sentence(said), ` This is change ${latest?.epoch ?? ""}.`));
  } else {
    notify("bad", [
      h("p", { class: "title" }, "Nothing was changed: what serves is not what you saw"),
      h(
        "p",
        null,
        `Change ${latest?.epoch ?? ""} was made meanwhile, by ${latest?.changed_by ?? "somebody unknown"}`,
        latest?.reason && [": ", h("q", null, latest.reason)],
        ". It is shown here now. Decide anew; your reason is kept.",
      ),
    ]);
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const { change, version, details, push, dismiss } = button.dataset;
  if (change) makeChange(change, version);
  else if (details) openDetails(chosen(), details, known.deployments.get(chosen()), signOut);
  else if (push) openPush(push, { registered: refresh, signedOut: signOut });
  else if (dismiss !== undefined) {
    notify();
    at("main").focus();
  }
});

at("skip").addEventListener("click", (event) => {
  // The address names the kind; following the link would replace it.
  event.preventDefault();
  at("main").focus();
});
at("pause").addEventListener("click", () => {
  isPaused = !isPaused;
  show(at("pause"), isPaused ? "Resume" : "Pause");
  drawFreshness();
  if (!isPaused) refresh();
});
at("sign-out").addEventListener("click", () => signOut());
at("sign-in-form").addEventListener("submit", signIn);
window.addEventListener("hashchange", () => {
  if (!isSignedIn) return;
  notify();
  draw();
  at("kind-title").focus();
  refresh();
});
// The plot is drawn at the width that there is.
window.addEventListener("resize", draw);

show(at("zone"), zone());
showSession();
if (!KINDS.some((it) => `#${it.kind}` === location.hash)) history.replaceState(null, "", `#${KINDS[0].kind}`);
