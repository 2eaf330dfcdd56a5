import { describe, expect, test } from "vitest";
import { Agent, type AgentOptions } from "../agent/agent.ts";
import { launchAgent } from "../agent/control/launch-agent.ts";
import { say } from "../agent/directive.ts";
import { allText, isSummaryRequest, type LimitedOptions, limitedModel } from "../context/limited-model.fixture.ts";
import type { Event } from "../conversation/event.ts";
import type { FeedItem } from "../conversation/feed-item.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ModelRequest } from "../ports/model.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { collect } from "../testing/collect.ts";
import { type Beat, call } from "../testing/scripted-model.ts";
import { launch, resultsIn } from "./launch.fixture.ts";
import { storeOf } from "./store-of.fixture.ts";

/** A text of many tokens with distinct words at both ends. */
const paste = (tokens: number) => `BEGINNING ${"lorem ipsum ".repeat((tokens * 4) / 12)} END`;

const WINDOW = 4_000;

function answering(
  options: Partial<LimitedOptions> = {},
  answer: (request: ModelRequest) => string | readonly Beat[] = () => "Well.",
) {
  return limitedModel((request) => (isSummaryRequest(request) ? "What matters." : answer(request)), {
    window: WINDOW,
    ...options,
  });
}

const known: Partial<AgentOptions> = { compaction: { contextSize: WINDOW } };

describe("F93: a message that exceeds the window", () => {
  test.each([
    ["known", known, 0],
    ["unknown", {}, 1],
  ] as const)("of %s size is refused with advice, and the next small message works", async (_, options, refusals) => {
    const model = answering();
    const session = Session.inMemory();
    const agent = new Agent({ model, ...options });
    await agent.send("Hello.", { session });
    const sent = agent.send(paste(9_000), { session });
    await expect(sent).rejects.toMatchObject({
      code: "context-overflow",
      message: expect.stringMatching(
        /^Your message has about 9,\d\d\d tokens, but scripted\/model accepts at most .*it was not sent\. Write a shorter message/,
      ),
    });
    expect(model.refused.length).toBeLessThanOrEqual(refusals + 1);
    const before = model.refused.length;
    expect(await agent.send("And now?", { session })).toMatchObject({ text: "Well." });
    expect(model.refused).toHaveLength(before);
    const last = allText(model.requests.at(-1) as ModelRequest);
    expect(last).toContain("Hello.");
    expect(last).toContain("too large for your context");
    expect(last).not.toContain("BEGINNING");
    // The tree still has the whole message.
    expect([...session.state.messages.values()].some((message) => JSON.stringify(message).includes("BEGINNING"))).toBe(
      true,
    );
    expect(checkConversation(session.state)).toEqual([]);
  });

  test.each([
    ["tells the window", {}],
    ["tells no window", { words: () => "Too long." }],
  ] as const)("is refused at once from the second time on, when the refusal %s", async (_, options) => {
    const model = answering(options);
    const session = Session.inMemory();
    const agent = new Agent({ model });
    await agent.send(paste(9_000), { session }).catch(() => {});
    const { length } = model.refused;
    expect(length).toBeLessThanOrEqual(2);
    // The second message alone is smaller than the refused request, but not with the messages before it.
    for (const size of [9_000, 8_980]) {
      await expect(agent.send(paste(size), { session })).rejects.toMatchObject({ code: "context-overflow" });
      expect(model.refused).toHaveLength(length);
    }
  });

  test("is whole again on a branch from the message itself, for a model with more room", async () => {
    const session = Session.inMemory();
    const small = new Agent({ model: answering(), ...known });
    await small.send(paste(9_000), { session, id: "large" }).catch(() => {});
    const large = answering({ window: 100_000 });
    await new Agent({ model: large }).send("Read it.", { session, at: "large" });
    expect(allText(large.requests[0] as ModelRequest)).toContain("BEGINNING");
  });

  test("in a task, and as the task of a sub-agent, ends with the reason", async () => {
    const model = answering({}, (request) =>
      allText(request).includes("Delegate.") && !allText(request).includes("accepts at most")
        ? [launch(paste(9_000))]
        : "Well.",
    );
    const session = Session.inMemory();
    const agent = new Agent({ model, tools: [launchAgent()], compaction: { contextSize: WINDOW } });
    await expect(agent.with({ mode: "task" }).send(paste(9_000))).rejects.toMatchObject({ code: "context-overflow" });
    const wide = answering({ window: 100_000 }, (request) =>
      allText(request).startsWith("Delegate.")
        ? resultsIn(session).length === 0
          ? [launch(paste(9_000))]
          : "Well."
        : "?",
    );
    const parent = agent.with({ model: wide, compaction: { contextSize: WINDOW, hint: 1, threshold: 1 } });
    await parent.send("Delegate.", { session }).catch(() => {});
    expect(resultsIn(session).join()).toMatch(/Your message has about 9,\d\d\d tokens/);
  });

  test("a window without room for the tools blames no message, and the provider decides", async () => {
    const model = answering({ window: 100_000, counts: () => 10 });
    const session = Session.inMemory();
    const agent = new Agent({ model, instructions: paste(500), compaction: { contextSize: 200 } });
    for (const text of ["One.", "Two.", "Three."]) await agent.send(text, { session });
    expect(model.requests.filter(isSummaryRequest)).toEqual([]);
    expect(model.asked).toBe(3);
  });

  test("a short message that a provider calls too long is not set aside", async () => {
    let refuses = true;
    const model = answering({ refuses: () => refuses, words: () => "prompt is too long" });
    const session = Session.inMemory();
    await expect(new Agent({ model }).send("Hello.", { session })).rejects.toThrow("prompt is too long");
    refuses = false;
    await new Agent({ model }).send("And now?", { session });
    expect(allText(model.requests.at(-1) as ModelRequest)).toContain("Hello.");
  });

  test("without compaction no message is counted, and the provider reports the overflow", async () => {
    const model = answering();
    const sent = new Agent({ model, compaction: false }).send(paste(9_000));
    await expect(sent).rejects.toMatchObject({ code: "context-overflow" });
    expect(model.refused).toHaveLength(1);
  });
});

describe("F93: with a user", () => {
  const stored: { text: string; message: string }[] = [];
  const storeText: AgentOptions["storeText"] = async (text, { message }) => {
    stored.push({ text, message });
    return `${message}.txt`;
  };

  /** Sends a message and answers each question about it. */
  async function asked(agent: Agent, session: Session, text: string, decision: "allow" | "deny") {
    const items: FeedItem[] = [];
    for await (const item of agent.chat(say(text), { session })) {
      items.push(item);
      if (item.type === "run.paused") await session.answer(item.question, { decision });
    }
    return items;
  }

  test.each([
    ["known", known],
    ["unknown", {}],
  ] as const)("the message is stored as a file, which the model is told of (window %s)", async (_, options) => {
    stored.length = 0;
    const model = answering();
    const session = Session.inMemory();
    const text = paste(9_000);
    const items = await asked(new Agent({ model, storeText, ...options }), session, text, "allow");
    expect(items.filter(({ type }) => type === "run.paused")).toMatchObject([
      {
        offers: "file",
        survives: false,
        reason: expect.stringMatching(/Store the message as a file that the model reads in parts\?$/),
      },
    ]);
    expect(items.findLast(({ type }) => type === "run.ended")).toMatchObject({ reason: "answered" });
    const [message = ""] = session.state.messages.keys();
    expect(stored.map((file) => [file.message, file.text === text])).toEqual([[message, true]]);
    const last = allText(model.requests.at(-1) as ModelRequest);
    expect(last).toContain(`stored as the file ${message}.txt. Read the file in parts. The message begins:\nBEGINNING`);
    expect(last).not.toContain("END");
    expect(model.repeated).toEqual([]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("a user who declines holds the message back", async () => {
    stored.length = 0;
    const model = answering();
    const session = Session.inMemory();
    const agent = new Agent({ model, storeText, ...known });
    const items = await asked(agent, session, paste(9_000), "deny");
    expect(items.findLast(({ type }) => type === "run.ended")).toMatchObject({
      reason: "failed",
      error: { code: "context-overflow" },
    });
    expect([stored, model.asked]).toEqual([[], 0]);
    expect(await agent.send("And now?", { session })).toMatchObject({ text: "Well." });
  });

  test("a file that cannot be written is reported, and the message is not sent", async () => {
    const model = answering();
    const full = () => Promise.reject(new Error("The disk is full."));
    const items = await asked(
      new Agent({ model, storeText: full, ...known }),
      Session.inMemory(),
      paste(9_000),
      "allow",
    );
    expect(items.findLast(({ type }) => type === "run.ended")).toMatchObject({
      error: { message: expect.stringContaining("could not be stored: The disk is full.") },
    });
  });

  test("an unattended agent asks no user", async () => {
    stored.length = 0;
    const agent = new Agent({ model: answering(), storeText, unattended: true, ...known });
    await expect(agent.send(paste(9_000))).rejects.toMatchObject({ code: "context-overflow" });
    expect(stored).toEqual([]);
  });

  test("an interrupt ends the question, and the next turn asks again", async () => {
    const session = Session.inMemory();
    const agent = new Agent({ model: answering(), storeText, ...known });
    const reading = collect(agent.chat(say(paste(9_000)), { session }));
    while (session.state.questions.size === 0) await new Promise((resolve) => setImmediate(resolve));
    session.interrupt();
    expect((await reading).findLast(({ type }) => type === "run.ended")).toMatchObject({ reason: "interrupted" });
    expect(session.state.questions.size).toBe(0);
  });
});

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  effects: "none",
  execute: () => paste(9_000),
});

describe("F89: results that are too large", () => {
  test.each([
    ["known", known],
    ["unknown", {}],
  ] as const)(
    "the running turn keeps its message and its call, with the result cut (window %s)",
    async (_, options) => {
      let looked = false;
      const model = answering({}, () => {
        if (looked) return "Seen.";
        looked = true;
        return [call("look", { at: "the garden" })];
      });
      const session = Session.inMemory();
      const agent = new Agent({ model, tools: [look], ...options });
      expect(await agent.send("Look at the garden.", { session })).toMatchObject({ text: "Seen." });
      expect(model.refused.length).toBeLessThanOrEqual(options === known ? 0 : 1);
      const last = model.requests.at(-1) as ModelRequest;
      expect(allText(last)).toContain("Look at the garden.");
      expect(allText(last)).toMatch(/BEGINNING.*characters were cut here to fit your context.*END/s);
      expect(last.messages.some(({ parts }) => parts.some((part) => part.type === "call"))).toBe(true);
      // Another process sends the model the same bytes.
      expect(checkConversation(session.state)).toEqual([]);
    },
  );
});

describe("F89, F93: cut or set-aside content", () => {
  test("is shown with the same bytes after a restart, and on another branch", async () => {
    const events: Event[] = [];
    let looked = false;
    const model = answering({}, () => {
      if (looked) return "Seen.";
      looked = true;
      return [call("look")];
    });
    const agent = new Agent({ model, tools: [look], ...known });
    const session = await Session.open(storeOf(events));
    await agent.send(paste(9_000), { session }).catch(() => {});
    const { leaf } = session.state;
    await agent.send("Look at the garden.", { session });
    const before = model.requests.at(-1)?.messages ?? [];
    await session.close();
    const again = await Session.open(storeOf(events), session.id);
    await agent.send("And now?", { session: again });
    expect(model.requests.at(-1)?.messages.slice(0, before.length)).toEqual(before);
    // Two branches at once: each shows only its own path.
    looked = false;
    const beside = { session: again, at: leaf ?? undefined };
    const [one, two] = await Promise.all([agent.send("One.", beside), agent.send("Two.", beside)]);
    expect([one.reason, two.reason]).toEqual(["answered", "answered"]);
    for (const request of model.requests) expect(allText(request)).not.toContain("lorem ipsum ".repeat(2_000));
    expect([model.refused, checkConversation(again.state)]).toEqual([[], []]);
  });
});
