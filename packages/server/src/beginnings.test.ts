import { createId } from "@banyan/core";
import { scriptedModel, until } from "@banyan/core/testing";
import { describe, expect, test } from "vitest";
import { talking } from "./testing/talking.fixture.ts";

const say = (words: string) => [{ type: "text", text: words }] as const;

/** A conversation with one turn, at a server that has just been asked for another one and is not ready for it. */
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
  error: { code: "invalid", message: "It was interrupted before it began; nothing was written." },
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
    // At once: both come with one packet.
    const asked = client.send(type, { conversation, ...input } as never);
    const interrupted = client.send("run.interrupt", { conversation });
    expect(await client.outcome(interrupted)).toMatchObject({ result: { interrupted: 1 } });
    becomesReady();
    expect(await client.outcome(asked)).toMatchObject(NOT_BEGUN);
    expect(said()).toEqual(before);
    // What is asked for afterwards begins.
    await client.ask("turn.say", { conversation, parts: say("go on") });
    await ended(2);
    expect(said().at(-1)?.text).toBe("Two.");
  });

  test("stops what waits for its branch, and is no defect of the server", async () => {
    const model = scriptedModel(["One.", [until(new Promise(() => {}))]]);
    const { client, conversation, ended, log } = await talking({ model });
    await client.ask("turn.say", { conversation, parts: say("hello") });
    await ended(1);
    const first = client.send("branch.compact", { conversation });
    await expect.poll(() => model.asked).toBe(2);
    const second = client.send("branch.compact", { conversation });
    await client.ask("conversation.list", {});
    await client.ask("run.interrupt", { conversation });
    expect(await client.outcome(first)).toMatchObject({ type: "done" });
    expect(await client.outcome(second)).toMatchObject(NOT_BEGUN);
    expect(log).toEqual([]);
  });

  test("means the command whose id it names, and no other", async () => {
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
