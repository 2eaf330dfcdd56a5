import { describe, expect, test } from "vitest";
import { Agent, type AgentOptions } from "../agent/agent.ts";
import { launchAgent } from "../agent/control/launch-agent.ts";
import { resume, say } from "../agent/directive.ts";
import type { Event } from "../conversation/event.ts";
import { type AssistantMessage, textOf } from "../conversation/message.ts";
import { pathTo } from "../conversation/tree/path.ts";
import type { Tool, ToolContext } from "../ports/tool.ts";
import type { Effects } from "../ports/tool-values.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { collect, readUntil } from "../testing/collect.ts";
import { call, end, pause, type Script, scriptedModel, spend, stall, text } from "../testing/scripted-model.ts";
import { storeOf } from "../turn/store-of.fixture.ts";

function tool(
  name: string,
  execute: (context: ToolContext) => unknown,
  more: { effects?: Effects; timeout?: number; eager?: boolean; parallel?: boolean } = {},
): Tool {
  const { effects = "none", ...others } = more;
  return {
    name,
    description: name,
    input: { type: "object" },
    effects,
    ...others,
    execute: (_, context) => execute(context),
  };
}

function agentOf(script: Script, tools: readonly Tool[], options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(script);
  return { model, agent: new Agent({ model, tools, retry: { delay: 1 }, ...options }) };
}

function outputs(session: Session): (string | undefined)[] {
  const answers = [...session.state.messages.values()].filter((m): m is AssistantMessage => m.role === "assistant");
  return answers.flatMap(({ calls }) => calls.map(({ output }) => output));
}

describe("the end of a turn ends the work of its calls:", () => {
  test("an abandoned sub-agent is stopped, and a window forgets nothing of the user's own path for it", async () => {
    const session = Session.inMemory({ window: 2 });
    const { agent } = agentOf(
      ({ messages }) => {
        const asked = messages.map(({ parts: [part] }) => (part?.type === "text" ? part.text : ""));
        if (asked[0] === "dig") return [text("digging"), stall()];
        return messages.at(-1)?.role === "user" ? [call("forget")] : "Off it goes.";
      },
      [tool("forget", (context) => void context.launch({ task: "dig" }).catch(() => {}))],
    );
    const turn = await agent.send("Go", { session });
    expect(turn.reason).toBe("answered");
    expect(session.state.runs.size).toBe(0);
    expect(pathTo(session.state, session.state.leaf).map(textOf)).toEqual(["Go", "", "Off it goes."]);
    await agent.send("And again", { session });
    expect(session.state.runs.size).toBe(0);
    expect(pathTo(session.state, session.state.leaf).map(textOf)).toEqual(["And again", "", "Off it goes."]);
  });

  test("a sub-agent of a call at its time limit is stopped too", async () => {
    const session = Session.inMemory();
    const { agent } = agentOf(
      ({ messages: [first, ...rest] }) => {
        const [part] = first?.parts ?? [];
        if (part?.type === "text" && part.text === "dig") return [text("digging"), stall()];
        return rest.length === 0 ? [call("hurry")] : "It took too long.";
      },
      [tool("hurry", (context) => context.launch({ task: "dig" }), { timeout: 20 })],
    );
    const turn = await agent.send("Go", { session });
    expect(turn.text).toBe("It took too long.");
    expect(outputs(session)[0]).toMatch(/ran longer than its limit of 20 ms/);
    const [child] = [...session.state.messages.values()].filter((m) => m.role === "assistant" && m.call !== undefined);
    expect(child).toMatchObject({ finish: "interrupted" });
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("an abandoned question is closed, also at the time limit of its call", async () => {
    const asking = (context: ToolContext) => context.ask({ text: "Which one?" });
    for (const [careless, result] of [
      [tool("ask", (context) => void asking(context).catch(() => {})), /^$/],
      [tool("ask", asking, { timeout: 20 }), /ran longer than its limit/],
    ] as const) {
      const session = Session.inMemory();
      const { agent } = agentOf([[call("ask")], "Never mind."], [careless]);
      await agent.send("Go", { session });
      expect(outputs(session)[0]).toMatch(result);
      expect(checkConversation(session.state)).toEqual([]);
    }
  });

  test("a tool that uses its context after the turn gets an error that says so", async () => {
    const session = Session.inMemory();
    let kept: ToolContext | undefined;
    const keep = tool("keep", (context) => {
      kept = context;
    });
    const { agent, model } = agentOf([[call("keep")], "Done."], [keep]);
    await agent.send("Go", { session });
    const late = "Too late: the turn of this call has ended.";
    expect(() => kept?.follow({})).toThrow(late);
    await expect(kept?.launch({ task: "dig" })).rejects.toThrow(late);
    await expect(kept?.ask({ text: "Which one?" })).rejects.toThrow(late);
    await expect(kept?.interject("Hello?")).rejects.toMatchObject({ code: "no-run" });
    kept?.progress("still here");
    kept?.draft({ index: 0, path: "a", text: "b" });
    expect(model.asked).toBe(2);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("a session that closes during sub-agents has ended all of them", async () => {
    const session = Session.inMemory();
    const { agent } = agentOf(
      ({ messages }) =>
        JSON.stringify(messages[0]).includes("Go") ? [launch("a"), launch("b")] : [text("hm"), stall()],
      [launchAgent()],
    );
    const chat = agent.chat(say("Go"), { session })[Symbol.asyncIterator]();
    let said = 0;
    await readUntil(chat, (item) => item.type === "text.delta" && ++said === 2);
    await session.close();
    expect(session.state.runs.size).toBe(0);
    expect(checkConversation(session.state)).toEqual([]);
  });
});

const launch = (task: string) => call("launch_agent", { task, expected_output: "words" });

describe("followers", () => {
  test("that begin again at the end of a message hear the next message", async () => {
    const heard: string[] = [];
    const session = Session.inMemory();
    const { agent } = agentOf(
      [[call("listen")], "one", "two"],
      [
        tool("listen", (context) =>
          context.follow({
            completed(message) {
              heard.push(textOf(message));
              context.follow({ completed: (next) => void heard.push(textOf(next)) });
              return { say: "Go on." };
            },
          }),
        ),
      ],
    );
    await agent.send("Go", { session });
    expect(heard).toEqual(["one", "two"]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("that begin again when the turn's end drops them do not listen", async () => {
    const session = Session.inMemory();
    const again = (context: ToolContext): void =>
      context.follow({ dropped: () => again(context), completed: () => ({ again: true }) });
    const { agent } = agentOf([[call("listen")], "one"], [tool("listen", again)]);
    expect((await agent.send("Go", { session })).reason).toBe("answered");
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("B22: an interrupt while one does its work keeps the next one from beginning", async () => {
    const session = Session.inMemory();
    const done: string[] = [];
    const { agent } = agentOf(
      [[call("listen"), call("listen")], "one"],
      [
        tool("listen", (context) =>
          context.follow({
            completed(message) {
              done.push(`completed ${textOf(message)}`);
              session.interrupt();
            },
            dropped: (reason) => void done.push(`dropped: ${reason}`),
          }),
        ),
      ],
    );
    await agent.send("Go", { session });
    expect(done).toEqual(["completed one", "dropped: interrupted by the user"]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("B32, B79: a steer during a follower's work comes after the follower's message and the message's calls, which run", async () => {
    const session = Session.inMemory();
    let acted = 0;
    const { agent } = agentOf(
      [[call("listen")], [text("one"), call("act")], "Done."],
      [
        tool("listen", (context) =>
          context.follow({
            async completed() {
              await session.say([{ type: "text", text: "Wait!" }]);
              return { say: "Applied." };
            },
          }),
        ),
        tool("act", () => void acted++, { effects: "external" }),
      ],
    );
    await agent.send("Go", { session });
    expect(acted).toBe(1);
    expect(pathTo(session.state, session.state.leaf).map(textOf)).toEqual([
      "Go",
      "",
      "one",
      "Applied.",
      "Wait!",
      "Done.",
    ]);
    expect(checkConversation(session.state)).toEqual([]);
  });
});

test("B62: at most ten calls that begin early run at once, like other calls", async () => {
  let now = 0;
  let most = 0;
  const look = tool(
    "look",
    async () => {
      most = Math.max(most, ++now);
      await new Promise(setImmediate);
      now--;
    },
    { eager: true },
  );
  const session = Session.inMemory();
  const { agent } = agentOf([[...Array(30).keys()].map(() => call("look")), "Seen."], [look]);
  await agent.send("Go", { session });
  expect(most).toBe(10);
  expect(outputs(session)).toHaveLength(30);
});

test("B62: the result of an early call does not count after a user changed the call", async () => {
  let asks = 0;
  const session = Session.inMemory();
  const look: Tool = {
    ...tool("look", () => "", { eager: true }),
    execute: (input) => `saw ${(input as { at: string }).at}`,
  };
  const { agent } = agentOf([[call("look", { at: "here" }), pause(5)], "Seen."], [look], {
    permission: () => ({ decision: asks++ === 0 ? "allow" : asks === 2 ? "ask" : "allow" }),
  });
  for await (const item of agent.chat(say("Go"), { session })) {
    if (item.type === "call.approval-requested") {
      await session.answer(item.question, { decision: "allow", input: { at: "there" } });
    }
  }
  expect(outputs(session)).toEqual(["saw there"]);
});

describe("invariant 10: the tokens of a tree of sub-agents are not exceeded", () => {
  const costly = (task: string, messages: number) => [
    ...(task === "act"
      ? [call("act")]
      : messages < 2
        ? Array.from({ length: Number(task) }, () => launch(task))
        : [call("act")]),
    spend({ input: 100 }),
  ];

  test.each([
    ["nested to the depth limit", "1", 3],
    ["four at once", "4", 1],
    ["two at once, nested", "2", 3],
  ])("%s", async (_, wide, depth) => {
    const session = Session.inMemory();
    const { agent } = agentOf(
      ({ messages }) => costly(wide, messages.length),
      [launchAgent(), tool("act", () => "done")],
      {
        limits: { tokens: 3_000, depth, steps: 100 },
      },
    );
    const turn = await agent.send("Go", { session });
    expect(turn.reason).toBe("limit");
    expect(turn.usage.input).toBeLessThanOrEqual(3_000);
    expect(turn.usage.input).toBeGreaterThan(1_000);
    expect(checkConversation(session.state)).toEqual([]);
  });
});

describe("the process stops", () => {
  const act = tool("act", () => "done");
  const finish = call("finish_task", { result: "all is well" });

  async function logOf(script: Script, tools: readonly Tool[], mode: "chat" | "task" = "task"): Promise<Event[]> {
    const events: Event[] = [];
    const session = await Session.open(storeOf(events));
    await collect(agentOf(script, tools, { mode }).agent.chat(say("Go"), { session }));
    return events;
  }

  test("B39: a stop at any place after the task's end was requested causes no further request to the model", async () => {
    const events = await logOf([[call("act", {}, "a"), finish]], [act]);
    const asked = events.findIndex(({ type }) => type === "call.executing");
    for (let length = asked + 1; length <= events.length; length++) {
      const session = await Session.open(storeOf(events.slice(0, length)), "c");
      const { agent, model } = agentOf([], [act], { mode: "task" });
      const turn = await agentTurn(agent, session);
      expect(model.asked, `cut after ${events[length - 1]?.type}`).toBe(0);
      if (turn) expect(turn).toMatchObject({ reason: "finished" });
      expect(checkConversation(session.state)).toEqual([]);
    }
  });

  test("B41: a sub-agent that called for its end beside another call comes to that end, and leaves no call open", async () => {
    const script: Script = ({ messages }) => {
      if (!JSON.stringify(messages[0]).includes("Go")) return [call("act", {}, "a"), finish];
      return messages.length === 1 ? [launch("dig")] : "All told.";
    };
    const tools = [launchAgent(), act];
    const events = await logOf(script, tools, "chat");
    const first = events.findIndex((event) => event.type === "call.executing" && event.call === "a");
    for (let length = first + 1; length <= events.length; length++) {
      const session = await Session.open(storeOf(events.slice(0, length)), "c");
      const { agent, model } = agentOf(script, tools);
      await agentTurn(agent, session);
      expect(model.requests.filter(({ messages }) => !JSON.stringify(messages[0]).includes("Go"))).toEqual([]);
      expect(outputs(session)).toContain("all is well");
      expect(checkConversation(session.state), `cut after ${events[length - 1]?.type}`).toEqual([]);
    }
  });

  test("B33: a call that may have applied an answer which the provider paused is reported as unknown", async () => {
    const listen = tool("listen", (context) => context.follow({ completed: () => {} }));
    const events = await logOf([[call("listen")], [text("one"), end("paused")], "two"], [listen], "chat");
    const paused = events.findIndex((event) => event.type === "message.completed" && event.finish === "paused");
    const session = await Session.open(storeOf(events.slice(0, paused + 1)), "c");
    expect(pathTo(session.state, session.state.leaf).map(textOf).at(-1)).toMatch(/unknown/);
    expect(session.state.following.size).toBe(0);
  });

  test("invariant 2: the report after a crash is the same message before and after it is written", async () => {
    const listen = tool("listen", (context) => context.follow({}));
    const events = await logOf([[call("listen")], "one"], [listen], "chat");
    const armed = events.findLastIndex((event) => event.type === "call.completed");
    const log = events.slice(0, armed + 1);
    const session = await Session.open(storeOf(log), "c");
    const note = session.state.leaf ?? "";
    const before = session.state.messages.get(note)?.createdAt;
    await new Promise((resolve) => setTimeout(resolve, 5));
    await collect(agentOf(["Fine."], [listen]).agent.chat(say("Go on"), { session }));
    const again = await Session.open(storeOf(log), "c");
    expect(again.state.messages.get(note)).toEqual(session.state.messages.get(note));
    expect(again.state.messages.get(note)?.createdAt).toBe(before);
  });

  async function agentTurn(agent: Agent, session: Session) {
    try {
      const items = await collect(agent.chat(resume(), { session }));
      return items.findLast((item) => item.type === "run.ended");
    } catch (error) {
      expect(error).toMatchObject({ code: "nothing-to-resume" });
      return undefined;
    }
  }
});

describe("a store that fails during a turn", () => {
  test("ends the turn, its sub-agents and its followers at any place", async () => {
    const script: Script = ({ messages }) => {
      if (!JSON.stringify(messages[0]).includes("Go"))
        return messages.length === 1 ? [call("act")] : [call("finish_task", { result: "ok" })];
      return messages.length === 1 ? [call("listen"), launch("a"), launch("b")] : "All told.";
    };
    const tools = [
      launchAgent(),
      tool("act", () => "done"),
      tool("listen", (context) => context.follow({ completed: () => ({ again: true }) })),
    ];
    let whole = Number.POSITIVE_INFINITY;
    for (let room = 1; room < whole; room++) {
      const events: Event[] = [];
      const session = await Session.open(storeOf(events, room));
      const ended = await collect(agentOf(script, tools).agent.chat(say("Go"), { session })).catch(
        (error: unknown) => error,
      );
      if (Array.isArray(ended)) whole = room;
      else expect(ended).toMatchObject({ code: "broken" });
      await session.close().catch(() => {});
      const again = await Session.open(storeOf(events), "c");
      expect(again.state.runs.size + again.state.following.size).toBe(0);
      if (events.length === 0) continue;
      await collect(agentOf(script, tools).agent.chat(say("Go on"), { session: again }));
      expect(checkConversation(again.state), `failed at append ${room}`).toEqual([]);
    }
    expect(whole).toBeGreaterThan(10);
  });
});
