import {
  methods,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from "@agentclientprotocol/sdk/unstable";
import { connect } from "@banyan/client/node";
import { askClient, defineTool, launchAgent, type PermitRequest } from "@banyan/core";
import { updatePlan } from "@banyan/core/hosts";
import { call, type Scene, scriptedModel, stall, text, until } from "@banyan/core/testing";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { type Editor, editor, editorAt, WORKSPACE } from "../../testing/editor.fixture.ts";
import { served } from "../../testing/served.fixture.ts";
import { serving, TOKEN, temporaryDirectory } from "../../testing/serving.fixture.ts";
import { asker, writer } from "./door.fixture.ts";

const { session } = methods.agent;

const eventually = (look: () => unknown) => vi.waitFor(look, { timeout: 60_000 });

const asking = { permission: () => ({ decision: "ask" as const }) };

const choose = (optionId: string) => async (): Promise<RequestPermissionResponse> => ({
  outcome: { outcome: "selected", optionId },
});

test("A3: a cancelled prompt answers cancelled, never an error: while it streams, and while a permission waits", async () => {
  const { tool, did } = writer();
  const model = scriptedModel([[text("It"), stall()], [call("note", { path: "a" })], "On."]);
  const withdrawn: boolean[] = [];
  let asked = 0;
  const at = await editor(
    { model, tools: [tool], ...asking },
    {
      permit: (_asked, signal) =>
        new Promise((_resolve, reject) => {
          asked++;
          signal.addEventListener("abort", () => {
            withdrawn.push(true);
            reject(signal.reason);
          });
        }),
    },
  );
  const sessionId = await at.begin();
  const first = at.say(sessionId, "talk");
  await eventually(() => expect(at.told("agent_message_chunk")).toBe("It"));
  await at.agent.notify(session.cancel, { sessionId });
  expect(await first).toEqual({ stopReason: "cancelled" });

  const second = at.say(sessionId, "note");
  await eventually(() => expect([at.of("tool_call").length, asked]).toEqual([1, 1]));
  await at.agent.notify(session.cancel, { sessionId });
  expect(await second).toEqual({ stopReason: "cancelled" });
  await eventually(() => expect(withdrawn).toEqual([true]));
  expect(did).toEqual([]);

  // A `$/cancel_request` also cancels the turn, and the session continues.
  const leaving = new AbortController();
  leaving.abort();
  const { agent } = at;
  const prompt = [{ type: "text" as const, text: "late" }];
  const late = await agent
    .request(session.prompt, { sessionId, prompt }, { cancellationSignal: leaving.signal })
    .catch((error: unknown) => error);
  expect(late).toMatchObject({ stopReason: "cancelled" });
  expect((await at.say(sessionId, "still there?")).stopReason).toBe("end_turn");
});

/** The kind of question, the user's option, and the model's continuation. The last question is a message: a prompt answers. */
const waits: readonly (readonly [what: string, before: readonly Scene[], option: string, after: readonly Scene[]])[] = [
  ["an approval", [[call("note", { path: "a.txt" })]], "once", ["Done."]],
  [
    "an approval of a sub-agent",
    [[call("launch_agent", { task: "Note it.", expected_output: "words" })], [call("note", { path: "a.txt" })]],
    "once",
    [[call("finish_task", { result: "noted" })], "Done."],
  ],
  [
    "a plan",
    [[call("update_plan", { steps: [{ title: "mend it", status: "pending" }], hand_in: true })]],
    "ask",
    ["Done."],
  ],
  ["a question with choices", [[call("wonder")]], "1", ["Done."]],
  ["a limit", Array.from({ length: 4 }, () => [call("look")]), "more", ["Done."]],
  ["a question in words", [[call("ask_client", { question: "Which colour?" })]], "words", ["Done."]],
];

test.each(waits)(
  "F72: %s waits when the connection ends, is asked again when the session is loaded, and the turn goes on",
  async (_what, before, option, rest) => {
    const { tool, did } = writer();
    const look = defineTool({
      name: "look",
      description: "Looks.",
      effects: "none",
      input: z.object({}),
      execute: () => "seen",
    });
    const agent = {
      tools: [tool, look, asker(["red", "blue"]), askClient(), updatePlan(), launchAgent()],
      limits: { steps: 4, policy: "ask" } as const,
      permission: ({ tool: { name, about }, input }: PermitRequest) =>
        ({ decision: name === "note" || about?.(input).handsIn ? "ask" : "allow" }) as const,
    };
    const directory = temporaryDirectory();
    const asked: RequestPermissionRequest[] = [];
    const first = await editor(
      { ...agent, model: scriptedModel(before) },
      {
        directory,
        permit: (given) => {
          asked.push(given);
          return new Promise(() => {});
        },
      },
    );
    const sessionId = await first.begin();
    first.say(sessionId, "go").catch(() => {}); // The connection ends first.
    const inWords = option === "words";
    await eventually(() =>
      inWords ? expect(first.told("agent_message_chunk")).toBe("Which colour?\n") : expect(asked).toHaveLength(1),
    );
    await first.end();
    const second = await editor(
      { ...agent, model: scriptedModel(rest) },
      {
        directory,
        permit: (given) => {
          asked.push(given);
          return choose(option)();
        },
      },
    );
    await second.agent.request(session.load, { sessionId, cwd: WORKSPACE, mcpServers: [] });
    if (inWords) {
      await eventually(() => expect(second.told("agent_message_chunk")).toBe("Which colour?\n"));
      expect(await second.say(sessionId, "blue")).toEqual({ stopReason: "end_turn" });
    }
    await eventually(() => expect(second.told("agent_message_chunk")).toMatch(/Done\.$/));
    const [one, two] = asked;
    expect([two?.toolCall.toolCallId, two?.options]).toEqual([one?.toolCall.toolCallId, one?.options]);
    const ended = second.of("tool_call_update").filter(({ status }) => status === "completed");
    expect(new Set(ended.map(({ toolCallId }) => toolCallId)).size).toBe(option === "more" ? 4 : 1);
    expect(did).toEqual(option === "once" ? ["a.txt"] : []);
    await eventually(async () => expect((await second.page.ask("question.list", {})).waiting).toEqual([]));
  },
);

test("F72: a cancel in a loaded session ends its earlier waiting question", async () => {
  const { tool, did } = writer();
  const directory = temporaryDirectory();
  const permit = () => new Promise<never>(() => {});
  const options = { tools: [tool], ...asking };
  const note = [call("note", { path: "a.txt" })];
  const first = await editor({ ...options, model: scriptedModel([note]) }, { directory, permit });
  const sessionId = await first.begin();
  first.say(sessionId, "note it").catch(() => {}); // The connection ends first.
  await eventually(async () => expect((await first.page.ask("question.list", {})).waiting).toHaveLength(1));
  await first.end();
  const second = await editor({ ...options, model: scriptedModel([]) }, { directory, permit });
  await second.agent.request(session.load, { sessionId, cwd: WORKSPACE, mcpServers: [] });
  await second.agent.notify(session.cancel, { sessionId });
  await eventually(async () => expect((await second.page.ask("question.list", {})).waiting).toEqual([]));
  await eventually(() => expect(second.of("tool_call_update").at(-1)).toMatchObject({ status: "failed" }));
  expect(did).toEqual([]);
});

test("F72: an editor at a server is asked once, answers the server that was started since, and its prompt ends with the turn", async () => {
  const { tool, did } = writer();
  const directory = temporaryDirectory();
  const options = { tools: [tool], ...asking };
  const first = await served({ ...options, model: scriptedModel([[call("note", { path: "a.txt" })]]) }, { directory });
  const { address } = first.server;
  const asked = Promise.withResolvers<RequestPermissionRequest>();
  const answered = Promise.withResolvers<RequestPermissionResponse>();
  let count = 0;
  const at = await editorAt(
    { connect: async (events) => connect({ address, token: TOKEN, client: "a test" }, events) },
    {
      permit(given) {
        count += 1;
        asked.resolve(given);
        return answered.promise;
      },
    },
  );
  const sessionId = await at.begin();
  const prompt = at.say(sessionId, "note it");
  await asked.promise;
  await first[Symbol.asyncDispose]();
  const second = await serving(
    { ...options, model: scriptedModel(["Done."]) },
    { directory, port: Number(new URL(address).port) },
  );
  // The editor's user answers late, as during a deployment.
  await eventually(async () => expect((await at.page.ask("question.list", {})).waiting).toHaveLength(1));
  answered.resolve(await choose("once")());
  expect(await prompt).toEqual({ stopReason: "end_turn" });
  expect([did, count, at.told("agent_message_chunk")]).toEqual([["a.txt"], 1, "Done."]);
  expect(second.log).toEqual([]);
});

test("a second prompt waits for its own turn, steering is heard in the one that works, and cancelling takes back what waits", async () => {
  const gate = Promise.withResolvers<void>();
  const { tool } = writer();
  const model = scriptedModel([
    [until(gate.promise), call("note", { path: "a" })],
    "One.",
    "Two.",
    [text("Three"), stall()],
  ]);
  const at = await editor({ model, tools: [tool] });
  const sessionId = await at.begin();
  const one = at.say(sessionId, "one");
  await eventually(() => expect(model.requests).toHaveLength(1));
  const two = at.say(sessionId, "two");
  const prompt = [{ type: "text", text: "and mind the gap" }];
  expect(await at.agent.request("_session/steering", { sessionId, prompt })).toEqual({ outcome: "injected" });
  gate.resolve();
  expect(await Promise.all([one, two])).toEqual([{ stopReason: "end_turn" }, { stopReason: "end_turn" }]);
  const said = model.requests.map((request) => JSON.stringify(request).includes("mind the gap"));
  expect(said.slice(0, 2)).toEqual([false, true]);
  expect(at.told("agent_message_chunk")).toBe("One.Two.");
  expect(await at.agent.request("_session/steering", { sessionId, prompt })).toMatchObject({
    outcome: "promptRequired",
  });

  const three = at.say(sessionId, "three");
  await eventually(() => expect(at.told("agent_message_chunk")).toContain("Three"));
  const four = at.say(sessionId, "four");
  await queued(at, sessionId);
  await at.agent.notify(session.cancel, { sessionId });
  expect(await Promise.all([three, four])).toEqual([{ stopReason: "cancelled" }, { stopReason: "cancelled" }]);
  expect(model.requests).toHaveLength(4);
});

/** Resolves when a message is queued. */
async function queued({ page }: Editor, sessionId: string): Promise<void> {
  const { state } = await page.watch(sessionId).loaded;
  await eventually(() => expect(state.inbox).toHaveLength(1));
}

test("A5: close stops the turn and waits for it, and the session is not known any more", async () => {
  const at = await editor({ model: scriptedModel([[text("It"), stall()], "Again."]) });
  const sessionId = await at.begin();
  const saying = at.say(sessionId, "talk");
  await eventually(() => expect(at.told("agent_message_chunk")).toBe("It"));
  await at.agent.request(session.close, { sessionId });
  expect(await saying).toEqual({ stopReason: "cancelled" });
  await expect(at.say(sessionId, "more")).rejects.toMatchObject({ code: -32_002 });
  await at.agent.request(session.load, { sessionId, cwd: WORKSPACE, mcpServers: [] });
  expect((await at.say(sessionId, "more")).stopReason).toBe("end_turn");
});
