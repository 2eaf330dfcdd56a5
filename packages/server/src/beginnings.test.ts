import { createId } from "@banyan/core";
import { scriptedModel, until } from "@banyan/core/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { lateServer } from "./testing/mcp-servers.fixture.ts";
import { talking } from "./testing/talking.fixture.ts";

const say = (words: string) => [{ type: "text", text: words }] as const;

/** A conversation with one turn, and a server that has just been asked for another turn and is not ready. */
async function notReady() {
  const site = await talking({ model: scriptedModel(["One.", "Two.", "Three."]) });
  const { client, conversation, host, ended } = site;
  await client.ask("turn.say", { conversation, parts: say("hello") });
  await ended(1);
  const ready = Promise.withResolvers<void>();
  const given = host.ready;
  host.ready = () => ready.promise.then(given);
  return { ...site, becomesReady: ready.resolve };
}

const NOT_BEGUN = {
  type: "failed",
  error: { code: "invalid", message: "The turn was interrupted before it started. Nothing was written." },
};

describe("T1: an interruption between a command and its run", () => {
  const commands = [
    ["turn.say", { parts: say("bye") }],
    ["turn.retry", { parts: say("hi") }],
    ["turn.retry", {}],
    ["branch.compact", {}],
  ] as const;
  test.each(commands)("stops %s %j, and nothing is written", async (type, input) => {
    const { client, conversation, said, becomesReady, ended } = await notReady();
    const before = said();
    // At once: both commands arrive in one packet.
    const asked = client.send(type, { conversation, ...input } as never);
    const interrupted = client.send("run.interrupt", { conversation });
    expect(await client.outcome(interrupted)).toMatchObject({ result: { interrupted: 1 } });
    becomesReady();
    expect(await client.outcome(asked)).toMatchObject(NOT_BEGUN);
    expect(said()).toEqual(before);
    // A later turn begins.
    await client.ask("turn.say", { conversation, parts: say("go on") });
    await ended(2);
    expect(said().at(-1)?.text).toBe("Two.");
  });

  test("stops what waits for its branch, and is no defect of the server", async () => {
    const model = scriptedModel(["One.", "Two.", [until(new Promise(() => {}))]]);
    const { client, conversation, ended, log } = await talking({ model });
    await client.ask("turn.say", { conversation, parts: say("hello") });
    await ended(1);
    // Two messages alone are not compacted (F96).
    await client.ask("turn.say", { conversation, parts: say("go on") });
    await ended(2);
    const first = client.send("branch.compact", { conversation });
    await expect.poll(() => model.asked).toBe(3);
    const second = client.send("branch.compact", { conversation });
    await client.ask("conversation.list", {});
    await client.ask("run.interrupt", { conversation });
    expect(await client.outcome(first)).toMatchObject({ type: "done" });
    expect(await client.outcome(second)).toMatchObject(NOT_BEGUN);
    expect(log).toEqual([]);
  });

  test("affects only the command with the given id", async () => {
    const { client, conversation, said, becomesReady, ended } = await notReady();
    const [stopped, other] = [createId(), createId()];
    client.send("turn.retry", { id: stopped, conversation });
    client.send("turn.say", { id: other, conversation, parts: say("bye") });
    expect(await client.ask("run.interrupt", { conversation, run: stopped })).toEqual({ interrupted: 1 });
    expect(await client.ask("run.interrupt", { conversation, run: stopped })).toEqual({ interrupted: 0 });
    becomesReady();
    expect(await client.outcome(stopped)).toMatchObject(NOT_BEGUN);
    expect(await client.outcome(other)).toMatchObject({ type: "done" });
    await ended(2);
    expect(said().map(({ text }) => text)).toEqual(["hello", "One.", "bye", "Two."]);
  });
});

describe("B83: a first turn that waits for an MCP server", () => {
  async function waiting() {
    const site = await talking({ model: scriptedModel(["Without."]) });
    const late = await lateServer(site.host);
    onTestFinished(() => late[Symbol.asyncDispose]());
    const { client, conversation } = site;
    const asked = client.send("turn.say", { conversation, parts: say("add") });
    const told = () => client.items.filter(({ type }) => type === "turn.waiting");
    await client.until(() => told().length > 0);
    const reason = "Waiting for the MCP server late, for at most 30 s.";
    expect(told()).toEqual([{ type: "turn.waiting", command: asked, waits: true, reason }]);
    return { ...site, asked, told };
  }

  test("tells watching clients, and on a user's command begins without the server's tools, with a notice", async () => {
    const { client, conversation, asked, told, ended, said } = await waiting();
    expect(await client.ask("turn.hasten", { conversation, run: createId() })).toEqual({ hastened: 0 });
    expect(await client.ask("turn.hasten", { conversation })).toEqual({ hastened: 1 });
    expect(await client.outcome(asked)).toMatchObject({ type: "done" });
    await ended(1);
    expect(said().at(-1)?.text).toBe("Without.");
    const reason = "The MCP server late is still starting. Its tools will be available with a later message.";
    expect(told().slice(1)).toEqual([{ type: "turn.waiting", command: asked, waits: false, reason }]);
    // The notice comes during the turn, because before the turn a client would not look for it.
    const types = client.items.map(({ type }) => type);
    expect(types.lastIndexOf("turn.waiting")).toBeGreaterThan(types.indexOf("run.started"));
    expect(await client.ask("turn.hasten", { conversation })).toEqual({ hastened: 0 });
  });

  test("ends at once when it is interrupted, and nothing is written", async () => {
    const { client, conversation, asked, told, said } = await waiting();
    expect(await client.ask("run.interrupt", { conversation, run: asked })).toEqual({ interrupted: 1 });
    expect(await client.outcome(asked)).toMatchObject(NOT_BEGUN);
    await client.until(() => told().length > 1);
    expect(told().at(-1)).toMatchObject({ waits: false });
    expect(said()).toEqual([]);
  });
});
