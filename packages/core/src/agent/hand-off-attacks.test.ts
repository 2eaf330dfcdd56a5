import { describe, expect, test } from "vitest";
import type { Event } from "../conversation/event.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Memory } from "../ports/memory.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { collect } from "../testing/collect.ts";
import { call, type Script, scriptedModel } from "../testing/scripted-model.ts";
import { storeOf } from "../turn/store-of.fixture.ts";
import { Agent, type AgentOptions } from "./agent.ts";
import { handOff } from "./control/hand-off.ts";
import { launchAgent } from "./control/launch-agent.ts";
import { resume, say } from "./directive.ts";

const toWriter = call("hand_off_to_writer");

function toolOf(name: string, ran: string[] = []) {
  return defineTool({
    name,
    description: "Works.",
    input: { type: "object" },
    effects: "external",
    execute: (_, { agent }) => {
      ran.push(`${agent}: ${name}`);
      return `${name} ran`;
    },
  });
}

/** A desk whose first response is `scene`, and a writer. */
function deskAndWriter(
  writing: Partial<AgentOptions> & { readonly script?: Script },
  { script = [[toWriter]], tools = [], ...options }: Partial<AgentOptions> & { readonly script?: Script } = {},
) {
  const { script: writes = () => "Once upon a time.", ...more } = writing;
  const writerModel = scriptedModel(writes);
  const deskModel = scriptedModel(script);
  const writer = new Agent({ name: "writer", description: "Writes.", model: writerModel, ...more });
  const desk = new Agent({ name: "desk", model: deskModel, ...options, tools: [handOff(writer), ...tools] });
  return { desk, writer, deskModel, writerModel };
}

describe("a hand-off beside a question", () => {
  const ask: AgentOptions["permission"] = ({ tool }) => ({ decision: tool.name === "send" ? "ask" : "allow" });

  test.each([1, 2])("L3: waits for the question of the same response, over %s processes", async (times) => {
    const events: Event[] = [];
    const ran: string[] = [];
    const open = () => Session.open(storeOf(events), "story", { create: true });
    const agents = () =>
      deskAndWriter({}, { script: [[toWriter, call("send")]], tools: [toolOf("send", ran)], permission: ask });
    const first = await open();
    const { reason, questions } = await agents().desk.send("A story.", { session: first, untilAsked: true });
    expect([reason, questions.length]).toEqual(["waiting", 1]);
    await first.close();
    for (let time = 1; time < times; time++) {
      const again = await open();
      const waiting = collect(agents().desk.chat(resume(), { session: again })).catch(() => {});
      await expect.poll(() => again.state.runs.size).toBe(1);
      await again.close();
      await waiting;
    }
    await using session = await open();
    const turn = await agents().desk.answer(session.openQuestions[0]?.id ?? "", { decision: "allow" }, { session });
    expect([turn.reason, turn.text, ran]).toEqual(["answered", "Once upon a time.", ["desk: send"]]);
    expect(checkConversation(session.state, events)).toEqual([]);
  });
});

describe("the other agent of a hand-off", () => {
  test("L3: with invalid options rejects the turn, and the conversation stays usable", async () => {
    const session = Session.inMemory();
    const { desk } = deskAndWriter({ settings: { temperature: 9 } });
    await expect(desk.send("A story.", { session })).rejects.toThrow("settings.temperature is 9");
    const other = new Agent({ model: scriptedModel(["Hello."]) });
    expect((await other.send("Hi", { session })).text).toBe("Hello.");
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("L3: has the limits of the first agent that it does not set, and the lower depth", async () => {
    const loop: Script = ({ toolChoice }) => (toolChoice === "none" ? "Enough." : [call("work")]);
    const steps = deskAndWriter(
      { script: loop, tools: [toolOf("work")], limits: { cost: 9 } },
      { limits: { steps: 3 } },
    );
    const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    Object.assign(steps.writerModel, { price: free });
    Object.assign(steps.deskModel, { price: free });
    expect((await steps.desk.send("A story.")).limit).toBe("the limit of 3 steps");
    const launches: Script = [[call("launch_agent", { task: "Look.", expected_output: "a fact" })], "Done."];
    const deep = deskAndWriter(
      { script: launches, tools: [launchAgent()], limits: { depth: 2 } },
      { limits: { depth: 0 } },
    );
    await deep.desk.send("A story.");
    expect(JSON.stringify(deep.writerModel.requests.at(-1))).toContain("sub-agents are switched off");
  });

  test("L6: makes the forced call of its own toolChoice", async () => {
    const { desk, writerModel } = deskAndWriter(
      { script: [[call("work")], "Done."], tools: [toolOf("work")], toolChoice: "required" },
      { toolChoice: { tool: "hand_off_to_writer" } },
    );
    expect((await desk.send("A story.")).text).toBe("Done.");
    expect(writerModel.requests.map(({ toolChoice }) => toolChoice)).toEqual(["required", "auto"]);
  });

  test("L6: cites the memory that the first agent recalled", async () => {
    const store: Memory = {
      recall: async () => [{ text: "Ada likes figs.", source: "notes", kind: "fact" as never }],
      remember: async () => {},
    };
    const { desk } = deskAndWriter({ script: ["Figs are for Ada [m1]."] }, { memory: { store, cite: true } });
    expect((await desk.send("A story.")).citations.map(({ text }) => text)).toEqual(["Ada likes figs."]);
  });

  test("L6: has its request counted by countTokens", async () => {
    const session = Session.inMemory();
    const { desk, writerModel } = deskAndWriter({});
    const counted: string[] = [];
    Object.assign(writerModel, { countTokens: async () => counted.push("writer") });
    await desk.send("A story.", { session });
    expect(await desk.countTokens("One more.", { session })).toEqual({ tokens: 1, source: "provider" });
    expect(counted).toEqual(["writer"]);
  });
});

describe("an interrupt during a hand-off", () => {
  /** A desk whose hand-off is done while another call of the same response still runs. */
  function slowDesk(running: () => unknown, writing: Partial<AgentOptions> = {}) {
    const slow = defineTool({
      name: "slow",
      description: "Takes long.",
      input: { type: "object" },
      effects: "external",
      async execute(_, { signal }) {
        running();
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    });
    return deskAndWriter(writing, { script: [[toWriter, call("slow")]], tools: [slow] });
  }

  test("L3: ends the turn, and `resume` continues with the other agent", async () => {
    const session = Session.inMemory();
    const { desk, writerModel } = slowDesk(() => session.interrupt());
    expect(await desk.send("A story.", { session })).toMatchObject({ reason: "interrupted", text: "" });
    expect(writerModel.asked).toBe(0);
    expect(checkConversation(session.state)).toEqual([]);
    await collect(desk.chat(resume(), { session }));
    expect(writerModel.asked).toBe(1);
  });

  test("L3: by a new message gives the message to the other agent", async () => {
    const session = Session.inMemory();
    const { desk, writerModel } = slowDesk(() => void session.say("A short one.", { delivery: "interrupt" }));
    await collect(desk.chat(say("A story."), { session }));
    expect(writerModel.requests.map(({ messages }) => JSON.stringify(messages).includes("A short one."))).toEqual([
      true,
    ]);
    expect(session.state.inbox).toEqual([]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("L3: ends the sub-agent that hands over", async () => {
    const session = Session.inMemory();
    const { desk, writerModel } = slowDesk(() => session.interrupt());
    const model = scriptedModel([[call("desk", { task: "A story." })]]);
    const main = new Agent({ model, tools: [desk.asTool({ description: "Sorts." })] });
    expect(await main.send("Go", { session })).toMatchObject({ reason: "interrupted" });
    expect(writerModel.asked).toBe(0);
    expect(checkConversation(session.state)).toEqual([]);
  });
});
