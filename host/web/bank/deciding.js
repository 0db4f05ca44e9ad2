// "How was this decided?": on request its decisions are fetched and checked here.

/** @import { Transfer } from "./types.js" */
import { h, show } from "../shared/dom.js";
import { asProblem } from "../shared/problem.js";
import * as api from "./api.js";
import { download } from "./csv.js";
import { problemNotice } from "./drawing.js";
import { languageNow, t } from "./words.js";

const WHY = "/bank/why.js";

/** @param {Transfer} transfer */
export function drawDeciding({ id }) {
  const place = h("div.flow", { role: "status" });
  const drawn = h("details.more", h("summary", t("why.ask")), place);
  const save = (/** @type {string} */ text) => download(`${id}.json`, text, "application/json");
  let isShown = false;
  drawn.addEventListener("toggle", async () => {
    if (!drawn.open || isShown) return;
    try {
      /** @type {[typeof import("./why.js"), Awaited<ReturnType<typeof api.receipt>>]} */
      const [{ drawWhy }, receipt] = await Promise.all([import(WHY), api.receipt(id)]);
      show(place, await drawWhy(receipt, languageNow(), { h, save }));
      isShown = true;
    } catch (error) {
      show(place, problemNotice(asProblem(error)));
    }
  });
  return drawn;
}
