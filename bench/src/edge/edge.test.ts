import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSandbox } from "@banyan/tools/sandbox";
import { afterAll, beforeAll, expect, test } from "vitest";
import { attempts, fixProject, make } from "./attempts.ts";
import { type Servers, startServers } from "./servers.ts";
import { chromiumPath, faultOf, textInChromium } from "./shown-text.ts";

const isLong = process.env.BANYAN_LONG === "1";

let root: string;
let servers: Servers;
let problem: string | undefined;

beforeAll(async () => {
  if (!isLong) return;
  root = realpathSync(mkdtempSync(join(tmpdir(), "banyan-servers-")));
  servers = await startServers(root);
  const opening = await openSandbox({ root });
  if (opening.available) await opening.sandbox[Symbol.asyncDispose]();
  else problem = opening.reason;
});

afterAll(async () => {
  await servers?.[Symbol.asyncDispose]();
  if (root) rmSync(root, { recursive: true, force: true });
});

test.runIf(isLong)("S38, S39: a fix that needs a new dependency, and its server in a browser", async ({ skip }) => {
  if (problem !== undefined || chromiumPath === undefined) skip(problem ?? "There is no Chromium.");
  const fix = await fixProject(servers, "ask", textInChromium);
  expect(faultOf(fix)).toBeUndefined();
  // The registry and the port; each of the five calls asks too.
  expect(fix.questions).toEqual({ calls: 5, addresses: 1, ports: 1, limits: 0 });
});

test.runIf(isLong).for(attempts)("S38: $shown works in the sandbox", async (attempt, { skip }) => {
  const outcome = problem ?? (await make(attempt, servers, "ask"));
  if (typeof outcome === "string") skip(outcome);
  else expect(outcome).toMatchObject({ works: true });
});
