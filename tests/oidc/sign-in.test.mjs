// Signing in with a real OpenID provider, in Chromium, in front of the real host: one of each for all tests.
//
//   CAUDAL             the program under test
//   CAUDAL_WEB_SHOTS   a folder outside the repository for screenshots; without it none are taken

import { after, before, describe } from "node:test";

import { looks } from "./looks.mjs";
import { operators } from "./operators.mjs";
import { outages } from "./outages.mjs";
import { renewals } from "./renewals.mjs";
import { setUp, tearDown } from "./stage.mjs";
import { ways } from "./ways.mjs";

/** Lifetime of access tokens in seconds while tests wait for renewals: a few of them pass. */
const SHORT = 8;

const stage = {};

before(async () => Object.assign(stage, await setUp()));
after(() => tearDown(stage));

describe("in and out", { concurrency: 1 }, () => ways(stage));

describe("while time passes", { concurrency: 4 }, () => {
  before(() => stage.issuer.tell("/lifetimes", { access: SHORT }));
  renewals(stage);
  looks(stage);
});

// It forgets everybody meanwhile.
describe("at the console", { concurrency: 1 }, () => operators(stage));

describe("when the provider changes or fails", { concurrency: 1 }, () => outages(stage));
