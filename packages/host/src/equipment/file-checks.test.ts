import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { call, scriptedModel } from "@banyan/core/testing";
import { openSandbox } from "@banyan/tools/sandbox";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { undoableCalls } from "../conversations/changes.ts";
import { goalOfUser } from "../goals/host-goal.ts";
import type { Host } from "../host/host.ts";
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

function openHostWith(settings: object, trusted: boolean, notice?: (sentence: string) => void): Promise<Host> {
  const all = { languageServers: { servers: { oak: OAK } }, permissions: { allow: ["write"] }, ...settings };
  writeFileSync(join(home, "own/config/settings.json"), JSON.stringify(all));
  const env = { ...process.env, BANYAN_HOME: join(home, "own"), BANYAN_NO_DISCOVERY: "1" };
  const flags = { model: "demo/offline" };
  return openHost({ cwd, home, env, flags, canAsk: false, trusted, ...(notice && { notice }) });
}

/** Writes a file with an agent of a host. Resolves with whether the language server started. */
async function startsServer(settings: object, trusted: boolean): Promise<boolean> {
  const host = await openHostWith(settings, trusted);
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

  test("E2: is named by the state of the host, and its failure is one notice", async () => {
    const notices: string[] = [];
    const host = await openHostWith({}, true, (sentence) => notices.push(sentence));
    const { checks } = await host.ready();
    expect(await checks?.states()).toContainEqual({ name: "oak", status: "waiting" });
    const calls = ["a", "b", "c"].map((name) => [call("write", { path: `${name}.oak`, content: "x\n" })]);
    await host.agent.with({ model: scriptedModel([...calls, ...Array(3).fill("Done.")]) }).send("Go.");
    await vi.waitFor(async () => {
      const states = await checks?.states();
      expect(states?.find(({ name }) => name === "oak")).toMatchObject({ status: "failed" });
    });
    await host.close();
    expect(notices).toEqual([expect.stringMatching(/^The language server for oak does not check files: .*[^.]\.$/)]);
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

describe.skipIf(!opening.available)("E5: the tools diagnostics and symbol", () => {
  const toolsOf = ({ agent }: Host) =>
    agent.options.tools?.flatMap(({ name }) => (["diagnostics", "symbol"].includes(name) ? [name] : []));
  const SERVER = fileURLToPath(new URL("../../../tools/src/language-servers/oak-server.fixture.ts", import.meta.url));
  const working = { languageServers: { servers: { oak: { ...OAK, command: [process.execPath, SERVER] } } } };

  test.each([
    ["a server for a file of the workspace is installed", "a.oak", {}, true, ["diagnostics", "symbol"]],
    ["no file of the workspace has a server", "a.elm", {}, true, []],
    ["nobody trusts the folder", "a.oak", {}, false, []],
    ["checks are switched off", "a.oak", { languageServers: { enabled: false } }, true, []],
    ["there is no sandbox", "a.oak", { sandbox: { enabled: "off" } }, true, []],
  ] as const)("E5, E6: if %s", async (_, file, settings, trusted, expected) => {
    writeFileSync(join(cwd, file), "one\n");
    const host = await openHostWith(settings, trusted);
    await host.ready();
    expect(toolsOf(host)).toEqual(expected);
    await host.close();
  });

  test("E5: look without a question, and rename only with permission, undone by one undo", async () => {
    writeFileSync(join(cwd, "a.oak"), "has leaf\nbad one\n");
    writeFileSync(join(cwd, "b.oak"), "uses leaf\n");
    const place = { path: "b.oak", line: 1, name: "leaf" };
    const script = [
      [call("diagnostics", { path: "." }), call("symbol", place)],
      [call("symbol", { ...place, rename_to: "bough" })],
      "Done.",
    ];
    const results = async (settings: object) => {
      const host = await openHostWith({ ...working, ...settings }, true);
      const session = await host.newSession();
      await host.agent.with({ model: scriptedModel(script) }).send("Go.", { session });
      const calls = [...session.state.messages.values()].flatMap((message) =>
        "calls" in message ? message.calls : [],
      );
      const undone = undoableCalls(session.state, session.state.leaf ?? "");
      await session.close();
      await host.close();
      return { outputs: calls.map(({ output = "" }) => output), undone };
    };
    const asked = await results({ permissions: {} });
    expect(asked.outputs.slice(0, 2)).toEqual(["a.oak:2: error: one is bad [oak bad]", "a.oak:1: has leaf"]);
    expect(asked.outputs[2]).toContain("needs a user's approval");
    expect(readFileSync(join(cwd, "b.oak"), "utf8")).toBe("uses leaf\n");
    const allowed = await results({ permissions: { allow: ["symbol"] } });
    expect(allowed.outputs[2]).toMatch(/^Renamed leaf to bough in 2 files\./);
    expect(readFileSync(join(cwd, "b.oak"), "utf8")).toBe("uses bough\n");
    expect(allowed.undone).toHaveLength(1);
  });
});

describe.skipIf(!opening.available)("E12: the goal of a user without new problems", () => {
  const SERVER = fileURLToPath(new URL("../../../tools/src/language-servers/oak-server.fixture.ts", import.meta.url));
  const working = { languageServers: { servers: { oak: { ...OAK, command: [process.execPath, SERVER] } } } };

  async function pursue(trusted: boolean) {
    writeFileSync(join(cwd, "a.oak"), "one\n");
    const host = await openHostWith(working, trusted);
    const script = [[call("write", { path: "a.oak", content: "bad one\n" })], ...Array(4).fill("Done.")];
    const agent = host.agent.with({ model: scriptedModel(script), goal: goalOfUser(host, ["no new problems"]) });
    const error = await agent.send("Go.").catch((failure: unknown) => failure);
    await host.close();
    return error;
  }

  test("E12: language servers of the workspace check the goal in the sandbox", async () => {
    const message = expect.stringContaining("a.oak:1: error: one is bad");
    expect(await pursue(true)).toMatchObject({ code: "goal", message });
  });

  test("E12, S16: in a folder that nobody trusts, no server starts, and the goal does not begin", async () => {
    expect(await pursue(false)).toMatchObject({ message: expect.stringContaining("run only in a trusted folder") });
  });
});

describe.skipIf(!opening.available)("E4, S16: a formatter that the project names", () => {
  const SCRIPT = `#!${process.execPath}
    let text = "";
    process.stdin.on("data", (bytes) => { text += bytes; });
    process.stdin.on("end", () => process.stdout.write(text.replaceAll(/ +$/gm, "")));`;

  test.each([
    ["formats a written file in a trusted folder", {}, true, "one\n"],
    ["does not start in a folder that nobody trusts", {}, false, "one  \n"],
    ["does not start without a sandbox", { sandbox: { enabled: "off" } }, true, "one  \n"],
    ["does not start if the settings switch formatters off", { formatters: { enabled: false } }, true, "one  \n"],
  ] as const)("E4: %s", async (_, settings, trusted, expected) => {
    mkdirSync(join(cwd, "node_modules/.bin"), { recursive: true });
    writeFileSync(join(cwd, "node_modules/.bin/prettier"), SCRIPT, { mode: 0o755 });
    writeFileSync(join(cwd, ".prettierrc"), "{}");
    const host = await openHostWith(settings, trusted);
    const model = scriptedModel([[call("write", { path: "a.json", content: "one  \n" })], "Done."]);
    await host.agent.with({ model }).send("Go.");
    await host.close();
    expect(readFileSync(join(cwd, "a.json"), "utf8")).toBe(expected);
  });

  test("E4: is one notice in a conversation if it fails, and a failure in the state of the host", async () => {
    mkdirSync(join(cwd, "node_modules/.bin"), { recursive: true });
    writeFileSync(join(cwd, "node_modules/.bin/prettier"), `#!${process.execPath}\nprocess.exit(2);`, { mode: 0o755 });
    writeFileSync(join(cwd, ".prettierrc"), "{}");
    const notices: string[] = [];
    const host = await openHostWith({}, true, (sentence) => notices.push(sentence));
    const calls = ["a", "b"].map((name) => [call("write", { path: `${name}.json`, content: "1\n" })]);
    await host.agent.with({ model: scriptedModel([...calls, "Done."]) }).send("Go.");
    const { checks } = await host.ready();
    expect(await checks?.failedFormatters()).toMatchObject([{ name: "prettier", path: "b.json" }]);
    await host.close();
    // The start of the sandbox may take longer than a formatter may.
    expect(notices).toEqual([
      expect.stringMatching(/^a\.json was not formatted, because prettier failed: it (?:ended|took) .*[^.]\.$/),
    ]);
  });
});
