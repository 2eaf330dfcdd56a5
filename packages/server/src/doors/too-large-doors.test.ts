import type { AgentOptions } from "@banyan/core";
import { type ScriptedModel, scriptedModel } from "@banyan/core/testing";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { AgUiClient } from "../testing/ag-ui-client.fixture.ts";
import { editor } from "../testing/editor.fixture.ts";
import { serving, TOKEN } from "../testing/serving.fixture.ts";
import { Chat, textOf } from "../testing/ui-chat.fixture.ts";

const LARGE = `BEGINNING ${"lorem ipsum dolor ".repeat(1_000)}END`;

/** An agent with a small window, its model, and the texts that it stored as files. */
function small(...says: readonly string[]) {
  const stored: string[] = [];
  const model = scriptedModel([...says]);
  const options: AgentOptions = {
    model,
    compaction: { contextSize: 3_000 },
    async storeText(text) {
      stored.push(text);
      return "message-1.txt";
    },
  };
  return { model, stored, options };
}

const shown = (model: ScriptedModel) => JSON.stringify(model.requests.at(-1)?.messages);

describe("F93: a message that is larger than the window", () => {
  test("is asked about over AG-UI, stored if the user agrees, and kept back if not", async () => {
    const { model, stored, options } = small("I read it.", "Hello.");
    const { server } = await serving(options);
    const client = new AgUiClient(server.address, "large");
    const resume = (approved: boolean) =>
      client.runAgent({
        resume: [{ interruptId: client.pendingInterrupts[0]?.id ?? "", status: "resolved", payload: { approved } }],
      });
    await client.say(LARGE);
    expect(client.pendingInterrupts).toMatchObject([
      { reason: "confirmation", message: expect.stringContaining("Store the message as a file") },
    ]);
    await resume(true);
    expect([client.told.at(-1), stored]).toEqual(["assistant: I read it.", [LARGE]]);
    expect(shown(model)).toContain("stored as the file message-1.txt");

    await client.say(`${LARGE} again`);
    await resume(false).catch(() => {});
    expect(client.seen.findLast(({ type }) => type === "RUN_ERROR")).toMatchObject({
      message: expect.stringContaining("but scripted/model accepts at most"),
    });
    await client.say("And now?", {
      resume: [{ interruptId: client.pendingInterrupts[0]?.id ?? "", status: "cancelled" }],
    });
    expect(client.told.at(-1)).toBe("assistant: Hello.");
    expect([model.asked, stored.length]).toEqual([2, 1]);
  });

  test("is asked about with useChat, stored if the user agrees, and kept back if not", async () => {
    const { model, stored, options } = small("I read it.", "Hello.");
    const { server } = await serving(options);
    const kept = new Chat(server.address, "large");
    const open = () =>
      (kept.last?.parts ?? []).flatMap((part) =>
        part.type === "data-question" && !(part.data as { answered?: true }).answered ? [part] : [],
      );
    const give = (decision: "allow" | "deny") =>
      kept.sendMessage(undefined, {
        body: { answers: open().map(({ id: question }) => ({ question, answer: { decision } })) },
      });
    await kept.sendMessage({ text: LARGE });
    expect(open()).toMatchObject([{ data: { text: expect.stringContaining("Store the message as a file") } }]);
    await give("allow");
    expect([kept.status, textOf(kept.last), stored]).toEqual(["ready", "I read it.", [LARGE]]);
    expect(shown(model)).toContain("stored as the file message-1.txt");

    await kept.sendMessage({ text: `${LARGE} again` });
    await give("deny");
    expect([kept.status, kept.error?.message]).toEqual([
      "error",
      expect.stringContaining("but scripted/model accepts at most"),
    ]);
    kept.clearError();
    await kept.sendMessage({ text: "And now?" });
    expect([textOf(kept.last), model.asked, stored.length]).toEqual(["Hello.", 2, 1]);
  });

  test("is refused over /v1 before it is sent, with advice, and the next message works", async () => {
    const { model, stored, options } = small("Hello.", "Hello again.");
    const { server } = await serving(options);
    const client = new OpenAI({ baseURL: `${server.address}/v1`, apiKey: TOKEN, maxRetries: 0 });
    const messages = [{ role: "user" as const, content: LARGE }];
    for (const ask of [
      () => client.chat.completions.create({ model: "banyan", messages }),
      () => client.responses.create({ model: "banyan", input: LARGE }),
    ])
      await expect(ask()).rejects.toMatchObject({
        status: 400,
        code: "context_length_exceeded",
        message: expect.stringMatching(/but scripted\/model accepts at most.*Write a shorter message/),
      });
    expect([model.asked, stored]).toEqual([0, []]);
    const next = await client.responses.create({ model: "banyan", input: "And now?" });
    expect(next.output_text).toBe("Hello.");
    expect(shown(model)).not.toContain("BEGINNING");
  });

  test.each([true, false])("is asked about in an editor; agreed: %s", async (agrees) => {
    const { model, stored, options } = small("I read it.", "Hello.");
    const asked: unknown[] = [];
    const at = await editor(options, {
      async permit({ toolCall, options: [more, enough] }) {
        asked.push([toolCall.title, more?.name, enough?.name]);
        return { outcome: { outcome: "selected", optionId: (agrees ? more : enough)?.optionId ?? "" } };
      },
    });
    const session = await at.begin();
    const said = at.say(session, LARGE);
    if (agrees) expect(await said).toEqual({ stopReason: "end_turn" });
    else
      await expect(said).rejects.toMatchObject({
        message: expect.stringContaining("but scripted/model accepts at most"),
      });
    expect(asked).toEqual([[expect.stringContaining("Store the message as a file"), "Store as a file", "Do not send"]]);
    expect(stored).toEqual(agrees ? [LARGE] : []);
    await at.say(session, "And now?");
    expect(model.asked).toBe(agrees ? 2 : 1);
    expect(shown(model).includes("stored as the file message-1.txt")).toBe(agrees);
  });
});
