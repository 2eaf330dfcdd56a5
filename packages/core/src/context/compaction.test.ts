import { describe, expect, test } from "vitest";
import { Agent, type AgentOptions } from "../agent/agent.ts";
import { shortenConversation } from "../agent/control/shorten-conversation.ts";
import { say } from "../agent/directive.ts";
import { type SummaryMessage, textOf } from "../conversation/message.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ModelDriver, ModelRequest, PromptMessage } from "../ports/model.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { collect, readUntil } from "../testing/collect.ts";
import { type Beat, call, end, fail, pause, scriptedModel, spend, stall, text } from "../testing/scripted-model.ts";

let acted = 0;
const act = defineTool({
  name: "act",
  description: "Acts.",
  input: { type: "object" },
  effects: "none",
  // Always different: repeated results would get a warning (C10).
  execute: () => String(++acted).padStart(400, "x"),
});

/** The text of a prompt. */
function said(messages: readonly PromptMessage[]): string {
  return messages
    .flatMap((message) => [
      ...message.parts.map((part) => ("text" in part ? part.text : "")),
      ...(message.role === "assistant" ? message.results.map(({ output }) => output) : []),
    ])
    .join("\n");
}

/** A summary that is long enough. */
const SUM = "All that counts of it is summed up.";

const isSummary = ({ messages }: ModelRequest) => said(messages.slice(-1)).startsWith("Sum up the conversation");
const length = ({ messages }: ModelRequest) => said(messages).length / 4;

function play(
  scene: (request: ModelRequest, index: number) => string | readonly Beat[],
  options: Partial<AgentOptions> = {},
) {
  const session = Session.inMemory();
  const model = scriptedModel((request, index) => {
    const beats = scene(request, index);
    const own = typeof beats === "string" ? [text(beats)] : beats;
    return [spend({ input: Math.ceil(length(request)), output: 5 }), ...own];
  });
  const agent = new Agent({ model, tools: [act], compaction: { contextSize: 1_000, background: false }, ...options });
  return { session, model, agent };
}

const summaries = ({ state }: Session) => [...state.messages.values()].filter(({ role }) => role === "summary");

describe("a conversation that grows too long", () => {
  test("B42: continues for 200 steps in a small context, and the first message is still known", async () => {
    const { session, model, agent } = play(
      (request, index) => {
        if (isSummary(request)) return "The password is mellon. The person wants 200 steps.";
        return index < 250 ? [call("act")] : said(request.messages).includes("mellon") ? "It is mellon." : "I forgot.";
      },
      { limits: { steps: 500 } },
    );
    const turn = await agent.send("The password is mellon. Take 200 steps, then say it.", { session });
    expect(turn.steps).toBeGreaterThan(200);
    expect(turn.text).toBe("It is mellon.");
    expect(Math.max(...model.requests.filter((request) => !isSummary(request)).map(length))).toBeLessThan(1_000);
    expect(summaries(session).length).toBeGreaterThan(10);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("B42: everything older stays in the tree, the last messages stay word for word, and the cost is counted", async () => {
    const { session, model, agent } = play((request, index) =>
      isSummary(request)
        ? [text("All that matters is this."), spend({ input: 7, output: 3 })]
        : index < 9
          ? [call("act")]
          : "end",
    );
    const turn = await agent.send("Begin.", { session });
    const [summary] = summaries(session);
    expect(summary).toMatchObject({ usage: { input: 7, output: 3 } });
    expect(session.state.usage).toEqual(turn.usage);
    const path = pathTo(session.state, session.state.leaf);
    expect(path[0]).toMatchObject({ role: "user", parts: [{ text: "Begin." }] });
    const after = model.requests[model.requests.findIndex(isSummary) + 1]?.messages ?? [];
    expect(said(after.slice(0, 1))).toContain("All that matters is this.");
    expect(said(after.slice(1))).not.toContain("Begin.");
    expect(after.length).toBeGreaterThan(1);
  });

  test("B42: gives one hint first to an agent that can shorten the conversation itself", async () => {
    const { session, model, agent } = play(
      (request, index) => {
        const hinted = said(request.messages).includes("Call shorten_conversation");
        if (isSummary(request)) return "By force.";
        if (!hinted && summaries(session).length === 0) return [call("act")];
        return summaries(session).length === 0
          ? [call("shorten_conversation", { summary: "Short and sweet." }), call("act")]
          : index > 99
            ? "too many"
            : "end";
      },
      { tools: [act, shortenConversation()], limits: { steps: 30 } },
    );
    const turn = await agent.send("Begin.", { session });
    expect(turn.text).toBe("end");
    const [summary] = summaries(session);
    expect(summary && textOf(summary)).toBe("Short and sweet.");
    expect(summaries(session)).toHaveLength(1);
    const last = model.requests.at(-1)?.messages ?? [];
    expect(said(last.slice(0, 1))).toContain("Short and sweet.");
    // The other call of that step keeps its result.
    expect(last.some((m) => m.role === "assistant" && m.results.some(({ tool }) => tool === "act"))).toBe(true);
    const hints = [...session.state.messages.values()].filter((m) => m.role === "user" && m.author === "system");
    expect(hints).toHaveLength(1);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("F99: has no hint in the request after a summary", async () => {
    let summed = 0;
    const { session, model, agent } = play(
      (request, index) => {
        if (isSummary(request)) return `${SUM} ${++summed}`;
        return index < 12 ? [call("act")] : "end";
      },
      { tools: [act, shortenConversation()] },
    );
    await agent.send("Begin.", { session });
    expect(summed).toBeGreaterThan(0);
    const hinted = model.requests.map(({ messages }) => said(messages).includes("Call shorten_conversation"));
    const first = model.requests.findIndex(isSummary);
    expect(hinted[first - 1]).toBe(true);
    expect(hinted[first + 1]).toBe(false);
  });

  /** Results of `shorten_conversation`, and the feed's notices about it. */
  async function shortens(before: number, summary: string, options: Partial<AgentOptions> = {}) {
    const session = Session.inMemory();
    const model = scriptedModel((_, index) =>
      index < before ? [call("act")] : index === before ? [call("shorten_conversation", { summary })] : "end",
    );
    const agent = new Agent({ model, tools: [act, shortenConversation()], ...options });
    const items = await collect(agent.chat(say("Begin."), { session }));
    const [ended] = items.flatMap((item) =>
      (item.type === "call.completed" || item.type === "call.failed") && item.tool === "shorten_conversation"
        ? [item]
        : [],
    );
    const notices = items.flatMap((item) => (item.type === "context.not-shortened" ? [item.reason] : []));
    return { session, model, ended, notices };
  }

  test.each([
    ["a known context", { contextSize: 10_000 }],
    ["a context of unknown size", {}],
    ["compaction switched off", false],
  ] as const)(
    "B66: with %s shorten_conversation says how many messages the summary stands for, and what that frees",
    async (_, compaction) => {
      const { session, model, ended, notices } = await shortens(12, "Short.", { compaction });
      const [, messages = "", tokens = ""] =
        /replaces (\d+) messages and frees about ([\d,]+) tokens/.exec(ended?.output ?? "") ?? [];
      expect(ended?.type).toBe("call.completed");
      expect(notices).toEqual([]);
      const [summary] = summaries(session);
      const path = pathTo(session.state, session.state.leaf);
      expect(Number(messages)).toBe(path.findIndex(({ id }) => id === (summary as SummaryMessage).covers) + 1);
      const length = (request: ModelRequest | undefined) => JSON.stringify(request?.messages).length;
      expect(length(model.requests.at(-1))).toBeLessThan(length(model.requests.at(-2)));
      expect(Number(tokens.replace(",", ""))).toBeGreaterThan(0);
    },
  );

  test.each([
    ["there is nothing earlier", 0, "Short.", /too few messages come before those/],
    ["it is empty", 12, "  ", /summary is empty/],
    [
      "it is longer than what it stands for",
      12,
      "long ".repeat(5_000),
      /longer than the messages that it would replace/,
    ],
  ])("B66: model, user and log learn why a summary failed: %s", async (_, before, summary, why) => {
    const { session, model, ended, notices } = await shortens(before, summary);
    expect(ended).toMatchObject({ type: "call.failed", output: expect.stringMatching(why) });
    expect(notices).toEqual([expect.stringMatching(why)]);
    expect(said(model.requests.at(-1)?.messages ?? [])).toMatch(why);
    expect(summaries(session)).toEqual([]);
  });

  test("B66: gets a summary of long messages too if the context size is unknown", async () => {
    const { session, ended } = await shortens(3, "Short.");
    expect(ended?.output).toMatch(/replaces \d+ messages/);
    expect(summaries(session)).toHaveLength(1);
  });

  test("B42: a model that calls a tool instead of a summary gets the request again, and the call does not run", async () => {
    const before = acted;
    const { session, model, agent } = play((request, index) => {
      if (!isSummary(request)) return index < 12 ? [call("act")] : "end";
      return request.toolChoice === "none" ? SUM : [text("Let me look."), call("act")];
    });
    await agent.send("Begin.", { session });
    const [first, again] = model.requests.filter(isSummary);
    expect([first?.toolChoice, again?.toolChoice]).toEqual(["auto", "none"]);
    expect(first?.instructions).toBe(model.requests[0]?.instructions);
    expect(summaries(session)[0]).toMatchObject({ parts: [{ text: SUM }], usage: { output: 10 } });
    expect(acted - before).toBe(model.requests.filter((request) => !isSummary(request)).length - 1);
  });

  test("invariant 9: the tokens of a model that called a tool count, also if the second request fails", async () => {
    const { session, agent } = play((request, index) => {
      if (!isSummary(request)) return index < 12 ? [call("act")] : "end";
      return request.toolChoice === "none" ? [fail("quota")] : [call("act")];
    });
    await agent.send("Begin.", { session });
    expect(summaries(session)[0]).toMatchObject({ usage: { output: 5 } });
    expect(checkConversation(session.state)).toEqual([]);
  });

  test.each<[string, string | readonly Beat[], RegExp]>([
    ["empty", "  ", /empty/],
    ["too short", "Ok.", /too short/],
    ["refused", [text("I"), end("filtered")], /refused/],
    ["a call, twice", [call("act")], /called a tool twice/],
    ["broken off", [fail("quota")], /quota/],
  ])(
    "F15, F91: has a summary by the program in place of %s; the model is asked twice in a turn at most",
    async (_, answer, reason) => {
      const { session, model, agent } = play(
        (request, index) => (isSummary(request) ? answer : index < 60 ? [call("act")] : "end"),
        { limits: { steps: 100 } },
      );
      const items = await collect(agent.chat(say("Begin."), { session }));
      const texts = summaries(session).map(textOf);
      expect(texts.length).toBeGreaterThan(3);
      expect(texts[0]).toMatch(/^No summary could be made of \d+ messages\. /);
      expect(texts[0]).toMatch(reason);
      expect(texts.at(-1)).toMatch(/so Banyan does not ask again/);
      const asked = model.requests.filter(isSummary).filter(({ toolChoice }) => toolChoice === "auto");
      expect(asked).toHaveLength(2);
      expect(items.filter((item) => item.type === "context.not-shortened")).toEqual([]);
      // The user's words stay in the request, and all messages stay in the tree.
      expect(said(model.requests.at(-1)?.messages ?? [])).toContain("Begin.");
      expect(pathTo(session.state, session.state.leaf)[0]).toMatchObject({ parts: [{ text: "Begin." }] });
      expect(Math.max(...model.requests.map(length))).toBeLessThan(1_000);
      expect(items.at(-1)).toMatchObject({ type: "chat.ended", reason: "answered" });
      expect(checkConversation(session.state)).toEqual([]);
    },
  );

  test("F91: has a summary by the program in place of one that is longer than the covered messages", async () => {
    const answers = ["b".repeat(100), "d".repeat(1_150), "e".repeat(3_200), "Yes."];
    const model = scriptedModel((request) => (isSummary(request) ? "long ".repeat(300) : (answers.shift() ?? "end")));
    const agent = new Agent({ model, compaction: { contextSize: 4_000, background: false } });
    const session = Session.inMemory();
    for (const size of [100, 100, 40, 9_000]) await agent.send("a".repeat(size), { session });
    const texts = summaries(session).map(textOf);
    expect(texts).toEqual([
      expect.stringMatching(/^No summary could be made of 4 messages\. The summary is longer than /),
    ]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("F15: an interrupt while a summary is written changes nothing", async () => {
    const { session, agent } = play((request) => (isSummary(request) ? [text("half"), stall()] : [call("act")]));
    const chat = agent.chat(say("Begin."), { session })[Symbol.asyncIterator]();
    await readUntil(chat, (item) => item.type === "context.shortening");
    session.interrupt();
    expect(await readUntil(chat, (item) => item.type === "chat.ended")).toMatchObject({ reason: "interrupted" });
    expect(summaries(session)).toEqual([]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("B22: an interrupt does not wait for a count, nor for a model that ignores the interrupt", async () => {
    const begun = Promise.withResolvers<void>();
    const never = () => {
      begun.resolve();
      return new Promise<never>(() => {});
    };
    const { session, agent } = play(() => "end", { compaction: { contextSize: 10, count: never } });
    const turn = agent.send("Go on and on and on.", { session });
    await begun.promise;
    session.interrupt();
    expect(await turn).toMatchObject({ reason: "interrupted", steps: 0 });

    const full = play((request) => (isSummary(request) ? [stall()] : [call("act")]));
    const { stream } = full.model;
    const deaf: ModelDriver = {
      ...full.model,
      stream: (request, sink) => stream(request, sink, new AbortController().signal),
    };
    const chat = full.agent.with({ model: deaf }).chat(say("Begin."), { session: full.session });
    const items = chat[Symbol.asyncIterator]();
    await readUntil(items, (item) => item.type === "context.shortening");
    full.session.interrupt();
    expect(await readUntil(items, (item) => item.type === "chat.ended")).toMatchObject({ reason: "interrupted" });
  });

  test("F15: a summary may take its time where silence has no limit", async () => {
    const { session, agent } = play(
      (request, index) => (isSummary(request) ? [pause(20), text(SUM)] : index < 12 ? [call("act")] : "end"),
      { retry: { idle: Number.POSITIVE_INFINITY } },
    );
    await agent.send("Begin.", { session });
    expect(summaries(session).map(textOf)).toEqual([SUM]);
  });

  test.each([4, 6])("F15: retries once with a summary if the provider reports an overflow at step %i", async (step) => {
    let refused = 0;
    const { session, model, agent } = play(
      (request, index) => {
        if (isSummary(request)) return SUM;
        if (index === step && refused++ === 0) return [fail("context-overflow")];
        return index < step + 2 ? [call("act")] : "end";
      },
      { compaction: { contextSize: 1_000_000 } },
    );
    expect((await agent.send("One.", { session })).text).toBe("end");
    expect(summaries(session).map(textOf)).toEqual([SUM]);
    const [stands, ...newest] = model.requests.at(-1)?.messages ?? [];
    expect(said(stands ? [stands] : [])).toMatch(/summed up\.[\s\S]*<message>\nOne\.\n/);
    expect(said(newest)).not.toContain("One.");
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("F15: the provider's report of an overflow is final if nothing is left to cut", async () => {
    const { session, agent } = play(
      (request, index) => (isSummary(request) ? SUM : index < 3 ? [call("act")] : [fail("context-overflow")]),
      { compaction: { contextSize: 1_000_000 } },
    );
    await expect(agent.send("One.", { session })).rejects.toMatchObject({ code: "context-overflow" });
    // The other summary messages only cut results.
    expect(summaries(session).filter((message) => "covers" in message)).toHaveLength(1);
  });

  test("B42: is counted by `count` where no provider has counted, and only if the count matters", async () => {
    let asked = 0;
    const count = async (text: string) => {
      asked++;
      return text.length;
    };
    const { session, agent } = play((request) => (isSummary(request) ? SUM : "Well, well, well, well. ".repeat(5)), {
      compaction: { contextSize: 1_000, count },
    });
    for (const said of ["One.", "Two.", "Three.", "Four."]) await agent.send(said, { session });
    expect(asked).toBe(0);
    // Each of these characters is a token; a quarter of them would not require a summary.
    await agent.send("木".repeat(900), { session });
    expect(summaries(session).map(textOf)).toEqual([SUM]);
    expect(asked).toBeGreaterThan(0);
  });

  test("is left alone when the size of its model's context is unknown, or when compaction is off", async () => {
    for (const compaction of [{}, false] as const) {
      const { session, agent } = play((_, index) => (index < 20 ? [call("act")] : "end"), { compaction });
      await agent.send("Begin.", { session });
      expect(summaries(session)).toEqual([]);
    }
  });

  test("is shortened on request, or gives the reason against it", async () => {
    const { session, agent } = play(
      (request, index) => (isSummary(request) ? SUM : index < 9 ? [call("act")] : "end"),
      {
        compaction: false,
      },
    );
    expect(await agent.compact({ session })).toBe("There is nothing to compact yet.");
    await agent.send("Begin.", { session });
    expect(await agent.compact({ session })).toBeUndefined();
    expect(summaries(session).map(textOf)).toEqual([SUM]);
    await agent.send("Go on.", { session });
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("an option that makes no sense is refused", async () => {
    const { agent } = play(() => "ok", { compaction: { threshold: 80 } });
    await expect(agent.send("Hi")).rejects.toThrow(/compaction.threshold is 80/);
  });
});

test("F77: gets its summary in time although an earlier summary is unreadable, and the turn answers", async () => {
  const { session, model, agent } = play((request) => (isSummary(request) ? "All that matters is this." : "Hm."));
  await agent.send("a".repeat(1_200), { session });
  await agent.send("b".repeat(1_200), { session });
  const wrong = [{ type: "text", text: 5 }] as unknown as [];
  const { leaf } = session.state;
  const at = { parentId: leaf, covers: leaf ?? "", run: "r" } as const;
  await session.commit([{ type: "message.added", message: "wrong", role: "summary", parts: wrong, ...at }]);
  expect(model.requests.filter(isSummary)).toEqual([]);
  const turn = await agent.send("c".repeat(1_200), { session });
  expect(turn.text).toBe("Hm.");
  expect(model.requests.filter(isSummary)).toHaveLength(1);
  expect(said(model.requests.at(-1)?.messages ?? [])).toContain("All that matters is this.");
  expect(pathTo(session.state, session.state.leaf).find(({ id }) => id === "wrong")).toMatchObject({ parts: [] });
});
