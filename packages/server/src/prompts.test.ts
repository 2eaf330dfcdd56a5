import type { CommandValues } from "@banyan/client";
import { createId } from "@banyan/core";
import { scriptedModel, stall, text } from "@banyan/core/testing";
import { expect, onTestFinished, test } from "vitest";
import { promptsOf } from "./testing/mcp-servers.fixture.ts";
import { talking } from "./testing/talking.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

const GUEST = "a-guest-of-a-test-0123456789-0123456789";

const FILES = [
  {
    name: "Port",
    description: "Ports a file",
    hint: "file language",
    model: "scripted/second",
    text: "Port $1 to $2.",
  },
  { name: "plain", description: "Look around.", hint: undefined, model: undefined, text: "Look around, not @at." },
] as const;

/** A conversation at a server with prompts of files and of the MCP server `trees`. */
async function prompting(lines: Parameters<typeof scriptedModel>[0], late = false) {
  const model = scriptedModel(lines);
  const second = scriptedModel(["By the second."]);
  const site = await talking({ model }, { models: { "scripted/second": second }, guestToken: GUEST });
  const brought = await promptsOf(site.host, FILES, { late });
  onTestFinished(() => brought[Symbol.asyncDispose]());
  const { client, conversation, state } = site;
  type Wanted = Omit<CommandValues<"prompt.say">, "conversation"> & { readonly id?: string };
  const sayPrompt = (wanted: Wanted) => client.ask("prompt.say", { conversation, ...wanted });
  const partsOf = (message: string) => {
    const found = state.messages.get(message);
    return found?.role === "user" ? found.parts : undefined;
  };
  return { ...site, model, second, sayPrompt, partsOf };
}

test("W65, W74: every client gets the prompts of files and MCP servers, with their arguments", async () => {
  const { client } = await prompting([]);
  const { prompts, starting } = await client.ask("prompt.list", {});
  expect(starting).toEqual([]);
  expect(prompts.slice(0, 3)).toEqual([
    { name: "port", description: "Ports a file", hint: "file language", arguments: [] },
    { name: "plain", description: "Look around.", arguments: [] },
    {
      name: "trees:show",
      description: "Shows a tree.",
      hint: "kind [how]",
      server: "trees",
      arguments: [
        { name: "kind", description: "Which tree.", required: true },
        { name: "how", description: "", required: false },
      ],
    },
  ]);
});

test("W65, W74: a prompt of a file is filled in at the server, and takes the turn with the model that it names", async () => {
  const { sayPrompt, partsOf, ended, model, second } = await prompting(["By the first."]);
  const { message } = await sayPrompt({ prompt: "port", argument: '"two files.ts" Go', model: "scripted/model" });
  await ended(1);
  expect(partsOf(message)).toEqual([{ type: "text", text: "Port two files.ts to Go." }]);
  expect([model.asked, second.asked]).toEqual([0, 1]);
  // The model applies to that turn only.
  await sayPrompt({ prompt: "PLAIN", argument: "quietly" });
  await ended(2);
  expect([model.asked, second.asked]).toEqual([1, 1]);
});

test("W65, W74, S10: the text of an MCP server's prompt is sent with its pictures and attachments, without secrets", async () => {
  const { sayPrompt, partsOf, ended } = await prompting(["One.", "Two.", "Three."]);
  const picture = { type: "file", mediaType: "image/png", data: expect.stringMatching(/^iVBOR/) } as const;
  const words = (kind: string, how: string) => ({
    type: "text",
    text: `Show ${kind} ${how} with @src/sum.ts and [redacted:key]`,
  });
  const typed = await sayPrompt({ prompt: "trees:show", argument: '"an ""old"" oak" in the wind' });
  expect(typed).toMatchObject({ waits: false, redacted: true, attached: [], problems: [] });
  expect(partsOf(typed.message)).toEqual([words('an "old" oak', "in the wind"), picture]);
  await ended(1);
  const along = { type: "file", mediaType: "text/plain", name: "a.txt", data: "YQ==" } as const;
  const named = await sayPrompt({ prompt: "trees:show", values: { kind: "a fig" }, parts: [along] });
  expect(partsOf(named.message)).toEqual([words("a fig", "plainly"), picture, along]);
  await ended(2);
  const alone = await sayPrompt({ prompt: "trees:show", argument: 'oak "at night"' });
  expect(partsOf(alone.message)?.[0]).toEqual(words("oak", "at night"));
  await ended(3);
});

test("W65: the error of a wrong prompt is one sentence, and the conversation stays empty", async () => {
  const { sayPrompt, state } = await prompting([]);
  for (const [wanted, sentence] of [
    [{ prompt: "prot" }, "There is no prompt /prot. Did you mean /port?"],
    [{ prompt: "off:show" }, "There is no prompt /off:show: the MCP server off is switched off."],
    [{ prompt: "trees:show" }, "/trees:show needs kind: Which tree."],
    [{ prompt: "trees:show", values: { how: "x" } }, "/trees:show needs kind: Which tree."],
    [{ prompt: "trees:show", values: { kind: "x", hwo: "y" } }, "/trees:show has no argument hwo. Did you mean how?"],
    [{ prompt: "port", values: { file: "x" } }, "/port has no argument file: put the whole text in `argument`."],
    [{ prompt: "trees:empty" }, "/trees:empty is empty: the MCP server trees sent no text."],
    [{ prompt: "trees:refuse" }, /^The MCP server "trees" failed: .*Not with \[redacted:key\]/],
    [{ prompt: "trees:leave" }, /^The MCP server "trees" failed: its connection broke off/],
  ] as const)
    await expect(sayPrompt(wanted)).rejects.toMatchObject({ code: "invalid", message: sentenceLike(sentence) });
  expect(state.messages.size).toBe(0);
});

function sentenceLike(sentence: string | RegExp) {
  return typeof sentence === "string" ? sentence : expect.stringMatching(sentence);
}

test("W65: an interrupt ends the wait for a hanging MCP server, and no message is sent", async () => {
  const { client, conversation, state } = await prompting([]);
  const id = client.send("prompt.say", { conversation, prompt: "trees:hang" });
  expect(await client.ask("run.interrupt", { conversation, run: id })).toEqual({ interrupted: 1 });
  expect(await client.outcome(id)).toMatchObject({ type: "failed", error: { code: "invalid" } });
  expect(state.messages.size).toBe(0);
});

test("W65: a server that is starting is named, and who asks for the list may wait for it", async () => {
  const { client } = await prompting([], true);
  const soon = await client.ask("prompt.list", {});
  expect(soon.starting).toContain("late");
  expect(soon.prompts.map(({ name }) => name)).toEqual(["port", "plain"]);
  await expect
    .poll(async () => (await client.ask("prompt.list", { wait: 50 })).prompts.map(({ name }) => name))
    .toContain("trees:show");
});

test("W65: a prompt sent while the agent works reaches the running turn", async () => {
  const { client, conversation, sayPrompt, state } = await prompting([[text("One"), stall()]]);
  await client.ask("turn.say", { conversation, parts: [{ type: "text", text: "hello" }] });
  const run = await client.until(() => [...state.runs.keys()][0]);
  const { message, waits } = await sayPrompt({ prompt: "plain", run, delivery: "queue" });
  expect(waits).toBe(true);
  expect(state.inbox).toMatchObject([{ id: message, parts: [{ text: "Look around, not @at." }] }]);
});

test("B59: a prompt that is said twice is said once, also when its server is gone by then", async () => {
  const { host, sayPrompt, state, ended } = await prompting(["One."]);
  const id = createId();
  await sayPrompt({ id, prompt: "trees:show", argument: "oak" });
  await ended(1);
  host.ready = async () => ({ agents: [] }) as never;
  await sayPrompt({ id, prompt: "trees:show", argument: "oak" });
  expect(state.messages.size).toBe(2);
});

test("S28: a guest can neither list nor send prompts", async () => {
  const { server, conversation } = await prompting([]);
  const guest = await TestClient.connect(server, GUEST);
  await expect(guest.ask("prompt.list", {})).rejects.toMatchObject({ code: "forbidden" });
  await expect(guest.ask("prompt.say", { conversation, prompt: "plain" })).rejects.toMatchObject({
    code: "forbidden",
  });
});

test("C19, S10: clients that may act are told what the server left out, without secrets; a guest is not", async () => {
  const { host, server } = await prompting([]);
  const welcomed = async (token: string) => {
    const client = await TestClient.connect(server, token);
    return client.frame("welcome");
  };
  expect((await welcomed(server.token)).notices).toBeUndefined();
  Object.assign(host, { notices: ["odd.md:2:14: this is no YAML; it was read line by line.", "key: sk-ofthetrees"] });
  expect((await welcomed(server.token)).notices).toEqual([
    "odd.md:2:14: this is no YAML; it was read line by line.",
    expect.not.stringContaining("sk-ofthetrees"),
  ]);
  expect((await welcomed(GUEST)).notices).toBeUndefined();
});
