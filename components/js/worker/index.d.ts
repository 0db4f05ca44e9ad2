// Types of the edge worker.

/** Bindings that choose among the models of the package; a kind without one uses its default. */
export interface Env {
  /** For example `risk-1`. */
  RISK_MODEL?: string;
  NUDGE_MODEL?: string;
  ACCESSIBILITY_MODEL?: string;
  /** Address of a Caudal host. The health report fails while a kind's model is not the one in service there. */
  CAUDAL_HOST?: string;
}

/** The assistance API of a Caudal host: the scores and the health report. */
declare const worker: { fetch(request: Request, env: Env): Promise<Response> };
export default worker;
