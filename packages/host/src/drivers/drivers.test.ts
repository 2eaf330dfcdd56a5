import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Answer, pathTo, type Session, say, textOf } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { undoableCalls, undoCall } from "../conversations/changes.ts";
import { type HostFlags, openHost } from "../host/open-host.ts";
import { projectOf } from "../places/project.ts";
import { redactor } from "../redaction/redactor.ts";
import { readConfiguration } from "../settings/index.ts";

const SAMPLE = fileURLToPath(new URL("../../../acp/src/testing/sample-agent.fixture.ts", import.meta.url));

/** A reference to a variable in settings. */
const CAN = ["$", "{CAN}"].join("");

let home: string;
let cwd: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-drivers-")));
  cwd = join(home, "project");
  mkdirSync(cwd);
  set({ acpAgents: { sample: { command: process.execPath, args: [SAMPLE], env: { SAMPLE_CAN: CAN } } } });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function set(content: object): void {
  mkdirSync(join(home, "own", "config"), { recursive: true });
  writeFileSync(join(home, "own", "config", "settings.json"), JSON.stringify(content));
}

function env(more: Readonly<Record<string, string>> = {}) {
  return { BANYAN_HOME: join(home, "own"), BANYAN_NO_DISCOVERY: "1", PATH: "/usr/bin:/bin", CAN: "embedded", ...more };
}

const open = (flags: HostFlags = { model: "acp/sample" }, variables = env()) =>
  openHost({ cwd, home, env: variables, flags, canAsk: true });

/** Lets the host's agent take a turn. Returns the number of questions to the user. */
async function turn(host: Awaited<ReturnType<typeof open>>, session: Session, text: string): Promise<number> {
  let asked = 0;
  const answer: Answer = { decision: "allow" };
  for await (const item of host.agent.chat(say(text), { session })) {
    if (item.type !== "call.approval-requested") continue;
    asked++;
    await session.answer(item.question, answer);
  }
  return asked;
}

const lastText = ({ state }: Session) => pathTo(state, state.leaf).map(textOf).at(-1);

describe("an agent of another program as a model", () => {
  test("runs the turns of a conversation, and /undo undoes its changes", async () => {
    writeFileSync(join(cwd, "a.txt"), "old");
    await using host = closing(await open());
    const session = await host.newSession();
    expect(await turn(host, session, "edit a.txt new\noverwrite b.txt made")).toBe(1);
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("new");
    const { backups } = await host.ready();
    const place = { folderOf: async () => cwd, backups, redact: redactor({ env: {} }) };
    for (const found of undoableCalls(session.state, session.state.leaf ?? "")) {
      const { problems } = await undoCall(session, place, { ...found, leaf: session.state.leaf });
      expect(problems).toEqual([]);
    }
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("old");
    expect(() => readFileSync(join(cwd, "b.txt"))).toThrow("ENOENT");
    await session.close();
  });

  test("is judged by the rules on commands, and asked about even where nothing else is: it runs in no sandbox", async () => {
    await using host = closing(await open({ model: "acp/sample", deny: ["shell(rm *)"], allow: ["shell(ls *)"] }));
    const session = await host.newSession();
    expect(await turn(host, session, "run ls -l\nrun rm -r x\nrun date")).toBe(1);
    const calls = pathTo(session.state, session.state.leaf).flatMap((message) =>
      message.role === "assistant" ? message.calls.map(({ status }) => status) : [],
    );
    expect(calls).toEqual(["completed", "denied", "completed"]);
    await session.close();
    const all = { model: "acp/sample", approval: "all" as const, unconfined: false };
    await using unasked = closing(await open(all));
    const other = await unasked.newSession();
    expect(await turn(unasked, other, "run date")).toBe(1);
    await other.close();
    await using told = closing(await open({ ...all, unconfined: true }));
    const last = await told.newSession();
    expect(await turn(told, last, "run date")).toBe(0);
    await last.close();
  });

  test("S43: obeys rules and hooks on acts, whatever its calls' names, and fails the turn if it acts without asking", async () => {
    const rules = { model: "acp/sample", approval: "edits", deny: ["write", "edit"] } as const;
    await using host = closing(await open(rules));
    const session = await host.newSession();
    const lie = { kind: "read", rawInput: { file_path: "b.txt", content: "x" }, does: "echo x > b.txt" };
    expect(await turn(host, session, `edit a.txt new\ncall ${JSON.stringify(lie)}`)).toBe(0);
    expect(readdirSync(cwd)).toEqual([]);
    const unasked = host.agent.send(`call ${JSON.stringify({ ...lie, asks: false })}`, { session });
    await expect(unasked).rejects.toThrow("sample_edit ran without asking: b.txt. The rule 'write' forbids this call.");
    await session.close();

    const { settings } = readConfiguration({ env: env(), home });
    const hook = { matcher: "Bash", hooks: [{ type: "command", command: "exit 2" }] };
    set({ acpAgents: settings.acpAgents, hooks: { PreToolUse: [hook] } });
    await using hooked = closing(await open());
    const other = await hooked.newSession();
    const run = { kind: "read", rawInput: { cmd: ["touch", "ran"] }, does: "touch ran" };
    expect(await turn(hooked, other, `call ${JSON.stringify(run)}`)).toBe(0);
    expect(readdirSync(cwd)).toEqual(["b.txt"]);
    await other.close();
  });

  test("S10: loses secrets from its reported calls", async () => {
    const secret = `sk-ant-${"a1B2".repeat(20)}`;
    await using host = closing(await open({ model: "acp/sample" }, env({ ANTHROPIC_API_KEY: secret })));
    const session = await host.newSession();
    await turn(host, session, `overwrite a.txt ${secret}\nrun date`);
    const calls = JSON.stringify(
      pathTo(session.state, session.state.leaf).flatMap((message) =>
        message.role === "assistant" ? message.calls.map(({ output, changes }) => ({ output, changes })) : [],
      ),
    );
    expect(calls).toContain("a.txt");
    expect(calls).not.toContain(secret);
    await session.close();
  });

  test("runs the task of one sub-agent that the user defined", async () => {
    const sample = { sample: { command: process.execPath, args: [SAMPLE], env: { SAMPLE_CAN: "embedded" } } };
    const agents = { helper: { description: "Helps.", instructions: "Be kind.", model: "acp/sample" } };
    const launch = { task: "told", expected_output: "words" };
    set({ acpAgents: sample, agents });
    await using host = closing(await open({ model: "demo/offline" }));
    await host.ready();
    const agent = host.agent.with({
      model: scriptedModel([[call("launch_agent", { ...launch, agent: "helper" })], "Done."]),
    });
    const session = await host.newSession();
    await agent.send("Go", { session });
    const first = pathTo(session.state, session.state.leaf).find(({ role }) => role === "assistant");
    expect(first).toMatchObject({ calls: [{ status: "completed", output: expect.stringContaining("Be kind.") }] });
    await session.close();
    set({ acpAgents: sample });
    await using other = closing(await open({ model: "demo/offline" }));
    await other.ready();
    const chosen = scriptedModel([[call("launch_agent", { ...launch, model: "acp/sample" })], "Done."]);
    const refused = await other.newSession();
    await other.agent.with({ model: chosen }).send("Go", { session: refused });
    const call1 = pathTo(refused.state, refused.state.leaf).find(({ role }) => role === "assistant");
    expect(call1).toMatchObject({
      calls: [{ status: "failed", output: expect.stringContaining("and only a user can choose it") }],
    });
    await refused.close();
  });

  test("is taken by another name too, and changed for a model in the same conversation", async () => {
    const { acpAgents } = readConfiguration({ env: env(), home }).settings;
    set({ acpAgents, aliases: { mine: "acp/sample" } });
    await using host = closing(await open({ model: "mine" }));
    const session = await host.newSession();
    await turn(host, session, "say Hello");
    expect(lastText(session)).toBe("Hello");
    await host.useModel("demo/offline");
    await turn(host, session, "hello");
    const models = pathTo(session.state, session.state.leaf).flatMap((message) =>
      message.role === "assistant" ? [message.model] : [],
    );
    expect(models).toEqual(["acp/sample", "demo/offline"]);
    await session.close();
  });

  test("that is missing, not installed, or lacks a variable, is an error before anything starts", async () => {
    await expect(open({ model: "acp/sampel" })).rejects.toThrow(
      /There is no agent "sampel"\. Did you mean acp\/sample\?/,
    );
    await expect(open({ model: "acp/codex" })).rejects.toThrow(
      'The agent acp/codex is not installed: there is no program "codex-acp". To install it: npm install --global @agentclientprotocol/codex-acp',
    );
    const { CAN: _, ...without } = env();
    await expect(open({ model: "acp/sample" }, without as ReturnType<typeof env>)).rejects.toThrow(
      'Your settings require the variable CAN for the agent "sample". Set the variable and start again.',
    );
  });

  test("is in the list of models if it is installed", async () => {
    await using host = closing(await open({ model: "demo/offline" }));
    const acp = (await host.listProviders()).find(({ name }) => name === "acp");
    expect(acp).toMatchObject({ usable: true, models: ["acp/sample"], known: 4 });
    expect((await host.listModels("acp")).map(({ name }) => name)).toContain("acp/claude");
  });

  test("gets the effort, also behind a short name", async () => {
    set({
      acpAgents: { sample: { command: process.execPath, args: [SAMPLE], env: { SAMPLE_CAN: "embedded,effort" } } },
      aliases: { mine: "acp/sample:low" },
    });
    for (const [model, thinks] of [
      ["mine:high", "high"],
      ["mine", "low"],
    ] as const) {
      await using host = closing(await open({ model }));
      const session = await host.newSession();
      const { text } = await host.agent.send("effort", { session });
      expect(text).toBe(`thinks ${thinks}`);
      await session.close();
    }
  });

  test("S16: a program of the workspace is no agent, and a relative path is refused", async () => {
    const bin = join(cwd, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "codex-acp"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    const variables = env({ PATH: `${bin}:bin:/usr/bin` });
    await expect(open({ model: "acp/codex" }, variables)).rejects.toThrow("is not installed");
    set({ acpAgents: { near: { command: "./agent" } } });
    const { faults } = readConfiguration({ env: env(), home });
    expect(faults).toHaveLength(1);
  });

  test("S5: a project sets no command, trusted or not", async () => {
    mkdirSync(join(cwd, ".banyan"));
    writeFileSync(
      join(cwd, ".banyan", "settings.json"),
      JSON.stringify({ acpAgents: { evil: { command: "/bin/sh" } } }),
    );
    const { settings, faults } = readConfiguration({ env: env(), home, project: projectOf(cwd) });
    expect(Object.keys(settings.acpAgents ?? {})).toEqual(["sample"]);
    expect(faults.length).toBeGreaterThan(0);
  });
});

function closing<Closed extends { close(): Promise<void> }>(host: Closed): Closed & AsyncDisposable {
  return Object.assign(host, { [Symbol.asyncDispose]: () => host.close() });
}
