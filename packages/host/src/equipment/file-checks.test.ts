import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, scriptedModel } from "@banyan/core/testing";
import { openSandbox } from "@banyan/tools/sandbox";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openHost } from "../host/open-host.ts";

let home: string;
let cwd: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-checks-")));
  cwd = join(home, "project");
  mkdirSync(join(home, "own/config"), { recursive: true });
  mkdirSync(cwd);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** A server that leaves a file, and ends. */
const OAK = {
  command: [process.execPath, "-e", `require("fs").writeFileSync("started", "")`],
  files: { ".oak": "oak" },
};

/** Writes a file with an agent of a host. Resolves with whether the language server started. */
async function startsServer(settings: object, trusted: boolean): Promise<boolean> {
  const all = { languageServers: { servers: { oak: OAK } }, permissions: { allow: ["write"] }, ...settings };
  writeFileSync(join(home, "own/config/settings.json"), JSON.stringify(all));
  const env = { ...process.env, BANYAN_HOME: join(home, "own"), BANYAN_NO_DISCOVERY: "1" };
  const host = await openHost({ cwd, home, env, flags: { model: "demo/offline" }, canAsk: false, trusted });
  const model = scriptedModel([[call("write", { path: "a.oak", content: "x\n" })], ...Array(3).fill("Done.")]);
  await host.agent.with({ model }).send("Go.");
  await host.close();
  expect(existsSync(join(cwd, "a.oak"))).toBe(true);
  return existsSync(join(cwd, "started"));
}

const folder = mkdtempSync(join(tmpdir(), "banyan-checks-"));
const opening = await openSandbox({ root: folder });
if (opening.available) await opening.sandbox[Symbol.asyncDispose]();
rmSync(folder, { recursive: true });

describe.skipIf(!opening.available)("E2, S16: where there is a sandbox, a language server", () => {
  test("E2: starts in a trusted folder", async () => {
    expect(await startsServer({}, true)).toBe(true);
  });

  test("E2, S16: does not start in a folder without trust", async () => {
    expect(await startsServer({}, false)).toBe(false);
  });

  test.each([
    ["checks are switched off", { enabled: false, servers: { oak: OAK } }],
    ["the server is switched off", { servers: { oak: { ...OAK, enabled: false } } }],
  ])("E2: does not start if %s", async (_, languageServers) => {
    expect(await startsServer({ languageServers }, true)).toBe(false);
  });
});

test("E2, S16: without a sandbox, no language server starts, even in a trusted folder", async () => {
  expect(await startsServer({ sandbox: { enabled: "off" } }, true)).toBe(false);
});
