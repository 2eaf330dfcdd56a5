import { describe, expect, test } from "vitest";
import type { Event } from "../conversation/event.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ToolContext } from "../ports/tool.ts";
import type { Effects } from "../ports/tool-values.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { checkLog } from "../testing/check-log.ts";
import { call, finishTask, type Script, scriptedModel } from "../testing/scripted-model.ts";
import { storeOf } from "../turn/store-of.fixture.ts";
import { Agent } from "./agent.ts";
import { launchAgent } from "./control/launch-agent.ts";

/** An agent that asks before each call with effects, in one stored conversation. `started`: the calls that ran. */
function site(script: Script, more: ConstructorParameters<typeof Agent>[0] | object = {}) {
  const events: Event[] = [];
  const started: string[] = [];
  const tool = (name: string, effects: Effects, run: (context: ToolContext) => unknown = () => "ok") =>
    defineTool({
      name,
      description: "",
      input: { type: "object" },
      effects,
      execute: async (_, context) => {
        started.push(name);
        return String(await run(context));
      },
    });
  const survey = tool("survey", "external", ({ ask }) => ask({ text: "Which?" }));
  const slow = tool("look", "none", () => new Promise((resolve) => setTimeout(resolve, 30, "seen")));
  const agent = new Agent({
    model: scriptedModel(script),
    tools: [tool("send", "external"), survey, slow, launchAgent()],
    permission: ({ tool: { name } }) => ({ decision: name === "send" ? "ask" : "allow" }),
    ...more,
  });
  /** Acts like each request of a web server: opens the conversation, does one thing, and closes it. */
  const request = async <Result>(work: (session: Session) => Promise<Result>): Promise<Result> => {
    await using session = await Session.open(storeOf(events), "order-7");
    const result = await work(session);
    const isOver = session.state.waiting.size === 0;
    expect(isOver ? checkConversation(session.state, events) : checkLog(events)).toEqual([]);
    return result;
  };
  const ask = () => request((session) => agent.send("Go", { session, untilAsked: true }));
  const allow = (question = "") => request((session) => agent.answer(question, { decision: "allow" }, { session }));
  return { agent, events, started, request, ask, allow };
}

describe("F73: one call returns a question, and another call answers it", () => {
  test("the turn is left when it can do nothing more: its other calls have their results, and both questions are there", async () => {
    const { started, ask, allow } = site([[call("send", { n: 1 }), call("look"), call("send", { n: 2 })], "Sent."]);
    const asked = await ask();
    expect(asked).toMatchObject({
      reason: "waiting",
      text: "",
      questions: [{ type: "approval" }, { type: "approval" }],
    });
    expect(started).toEqual(["look"]);
    const [first, second] = asked.questions;
    expect(await allow(first?.id)).toMatchObject({ reason: "waiting", questions: [{ id: second?.id }] });
    expect(await allow(second?.id)).toMatchObject({ reason: "answered", text: "Sent.", questions: [], steps: 2 });
    expect(started).toEqual(["look", "send", "send"]);
  });

  test("the turn returns a question of a sub-agent", async () => {
    const script: Script = ({ messages }) => {
      const task = JSON.stringify(messages[0]).includes("Send it.");
      if (task) return messages.length === 1 ? [call("look"), call("send")] : [finishTask("It is sent.")];
      return messages.length === 1 ? [call("launch_agent", { task: "Send it.", expected_output: "none" })] : "Done.";
    };
    const { started, ask, allow } = site(script);
    const { reason, questions } = await ask();
    expect([reason, questions.length, started]).toEqual(["waiting", 1, ["look"]]);
    expect((await allow(questions[0]?.id)).text).toBe("Done.");
    expect(started).toEqual(["look", "send"]);
  });

  test("the question whether a turn may continue beyond its limit", async () => {
    const { started, ask, allow } = site([[call("look")], "Done."], { limits: { steps: 1, policy: "ask" } });
    const { reason, questions } = await ask();
    expect([reason, questions]).toMatchObject(["waiting", [{ type: "limit" }]]);
    expect((await allow(questions[0]?.id)).text).toBe("Done.");
    expect(started).toEqual(["look"]);
  });

  test("a user who denies continues the turn too, and a second answer is refused", async () => {
    const { started, ask, request, agent } = site([[call("send")], "As you like."]);
    const [question] = (await ask()).questions;
    const deny = () =>
      request((session) => agent.answer(question?.id ?? "", { decision: "deny", reason: "Too much." }, { session }));
    expect((await deny()).text).toBe("As you like.");
    await expect(deny()).rejects.toMatchObject({ code: "no-question" });
    expect(started).toEqual([]);
  });

  test("a tool that could not run again is not left: the turn waits for the answer in its process", async () => {
    const { started, request, agent } = site([[call("survey")], "Thanks."]);
    const text = await request(async (session) => {
      const turn = agent.send("Go", { session, untilAsked: true });
      while (session.openQuestions.length === 0) await new Promise(setImmediate);
      const [question] = session.openQuestions;
      await expect(
        agent.answer(question?.id ?? "", { decision: "answer", text: "red" }, { session }),
      ).rejects.toMatchObject({
        code: "busy",
        message: `The turn that asks the question ${question?.id} still runs in a process. Answer the question with session.answer(...).`,
      });
      await session.answer(question?.id ?? "", { decision: "answer", text: "red" });
      return (await turn).text;
    });
    expect([text, started]).toEqual(["Thanks.", ["survey"]]);
  });

  test("a turn without a question ends as usual, and a misspelt option is refused", async () => {
    const { ask, request, agent } = site(["Hello."]);
    expect(await ask()).toMatchObject({ reason: "answered", text: "Hello.", questions: [] });
    const misspelt = { untilAskd: true } as object;
    await expect(request((session) => agent.send("Go", { session, ...misspelt }))).rejects.toThrow("untilAsked");
  });
});
