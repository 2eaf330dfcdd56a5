import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { say } from "@banyan/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConversationError } from "./conversations.ts";
import { type HostFlags, openHost } from "./host.ts";

let home: string;
let cwd: string;
let settings: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-host-")));
  cwd = join(home, "project");
  settings = join(home, "own", "config", "settings.json");
  mkdirSync(cwd);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function open(flags: HostFlags = {}, canAsk = true) {
  return openHost({ cwd, home, env: { BANYAN_HOME: join(home, "own"), BANYAN_NO_DISCOVERY: "1" }, flags, canAsk });
}

function set(content: object): void {
  mkdirSync(join(home, "own", "config"), { recursive: true });
  writeFileSync(settings, JSON.stringify(content));
}

async function permitOf(host: Awaited<ReturnType<typeof open>>, command: string) {
  const tool = host.agent.options.tools?.find(({ name }) => name === "shell");
  const session = await host.newSession();
  const permit = await host.agent.options.permission?.({
    call: "1",
    tool: tool!,
    input: { command },
    conversation: session.state,
    signal: new AbortController().signal,
  });
  await session.close();
  return permit?.decision;
}

describe("a host", () => {
  test("B65: takes the model of the flag before that of the settings, and says why", async () => {
    set({ model: "ollama/llama", temperature: 0.5 });
    const byFlag = await open({ model: "demo/offline" });
    expect(byFlag.model).toEqual({ name: "demo/offline", reason: "Using demo/offline, as the command line says." });
    expect((await open()).model).toEqual({ name: "ollama/llama", reason: "Using ollama/llama, as the settings say." });
  });

  test("B5: takes a flag before a setting, and each where there is no other", async () => {
    set({ temperature: 0.5, maxTokens: 100, approval: "edits" });
    const host = await open({ temperature: 0 });
    expect(host.agent.options.settings).toEqual({ temperature: 0, maxTokens: 100 });
    expect(host.approval).toBe("edits");
  });

  test("B63: puts the rules of settings, file and flags together", async () => {
    set({ permissions: { allow: ["shell(echo settings)"] } });
    writeFileSync(join(home, "rules.json"), '{"permissions": {"allow": ["shell(echo file)"]}}');
    const host = await open({ rules: join(home, "rules.json"), allow: ["shell(echo flag)"], deny: ["shell(echo no)"] });
    const decisions = [];
    for (const word of ["settings", "file", "flag", "no", "other"])
      decisions.push(await permitOf(host, `echo ${word}`));
    expect(decisions).toEqual(["allow", "allow", "allow", "deny", "ask"]);
  });

  test("B63: denies what would be asked where nobody can be", async () => {
    expect(await permitOf(await open({}, false), "echo other")).toBe("deny");
  });

  test("B23: a rule that is remembered counts at once, and in later hosts", async () => {
    const host = await open();
    expect(await permitOf(host, "echo more")).toBe("ask");
    host.remember("shell(echo *)");
    expect(await permitOf(host, "echo more")).toBe("allow");
    expect(await permitOf(await open(), "echo more")).toBe("allow");
  });

  test("makes nothing on disk before something is to be kept", async () => {
    await (await open()).close();
    expect(() => readFileSync(join(home, "own"))).toThrow("ENOENT");
  });

  test("keeps a model that is changed for later conversations, and leaves all as it is when it cannot be used", async () => {
    set({ temperature: 0.5 });
    const host = await open({ model: "demo/offline" });
    await expect(host.changeModel("nobody/nothing")).rejects.toMatchObject({ code: "unknown-provider" });
    expect(host.model.name).toBe("demo/offline");
    await host.changeModel("ollama/llama");
    expect(host.agent.options.model).toMatchObject({ id: "ollama/llama" });
    expect(JSON.parse(readFileSync(settings, "utf8"))).toEqual({ temperature: 0.5, model: "ollama/llama" });
  });

  test("names what can be used, and why the rest cannot", async () => {
    const providers = await (await open()).listProviders();
    expect(providers.filter(({ usable }) => usable).map(({ name }) => name)).toEqual(["demo"]);
    expect(providers.find(({ name }) => name === "anthropic")?.reason).toContain("ANTHROPIC_API_KEY");
  });

  test("knows the user's short names, prices and context sizes", async () => {
    const price = { input: 0.1, output: 0.2 };
    set({
      model: "local:low",
      aliases: { local: "ollama/llama", demo2: "demo/offline" },
      models: { "ollama/llama": { price, contextSize: 4_096 } },
    });
    const host = await open();
    expect(host.agent.options.model).toMatchObject({ id: "ollama/llama:low", price, contextSize: 4_096 });
    expect((await host.useModel("demo2")).options.model).toMatchObject({ id: "demo/offline" });
    expect(await host.listModels("ollama")).toEqual([{ name: "ollama/llama", price, contextSize: 4_096 }]);
  });
});

describe("conversations", () => {
  async function spoken(text: string): Promise<string> {
    const host = await open({ model: "demo/offline" });
    const session = await host.newSession();
    for await (const _ of host.agent.chat(say(text), { session }));
    const { id } = session;
    await session.close();
    await host.close();
    return id;
  }

  test("are found by id, by the beginning of it and by title", async () => {
    const id = await spoken("What can you do?");
    await spoken("And what else?");
    const host = await open();
    for (const name of [id, id.toUpperCase(), id.slice(0, 18), "what can you do?", "can you"]) {
      const session = await host.openSession(name);
      expect(session.id).toBe(id);
      await session.close();
    }
  });

  test("are not guessed at", async () => {
    const ids = [await spoken("What can you do?"), await spoken("What can I do?")];
    const host = await open();
    const refusal = await host.openSession("what can").catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ConversationError);
    expect(refusal).toMatchObject({ code: "ambiguous" });
    for (const id of ids) expect((refusal as Error).message).toContain(id);
    for (const name of ["nothing", "", "../../etc/passwd", "%"]) {
      await expect(host.openSession(name)).rejects.toMatchObject({ code: "not-found" });
    }
  });

  test("the last one is that of the directory", async () => {
    const id = await spoken("What can you do?");
    const here = cwd;
    cwd = join(home, "elsewhere");
    mkdirSync(cwd);
    expect(await (await open()).lastConversation()).toBeUndefined();
    await spoken("Elsewhere?");
    cwd = here;
    expect(await (await open()).lastConversation()).toMatchObject({ id, labels: { cwd: here, agent: "banyan" } });
  });
});
