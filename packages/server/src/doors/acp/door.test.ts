import {
  type CreateElicitationRequest,
  methods,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from "@agentclientprotocol/sdk/unstable";
import { connect } from "@banyan/client/node";
import { askClient, defineTool, launchAgent, type PermitRequest } from "@banyan/core";
import type { Json } from "@banyan/core/conversation";
import { updatePlan } from "@banyan/core/hosts";
import {
  call,
  fail,
  pause,
  reasoning,
  type Scene,
  scriptedModel,
  spend,
  stall,
  text,
  until,
} from "@banyan/core/testing";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { type Editor, editor, editorAt, WORKSPACE } from "../../testing/editor.fixture.ts";
import { served } from "../../testing/served.fixture.ts";
import { serving, TOKEN, temporaryDirectory } from "../../testing/serving.fixture.ts";

const { session } = methods.agent;
const eventually = (look: () => unknown) => vi.waitFor(look, { timeout: 20_000 });
const asking = { permission: () => ({ decision: "ask" as const }) };

/** A tool that acts, and the record of its effects. */
function writer() {
  const did: string[] = [];
  const tool = defineTool({
    name: "note",
    description: "Writes a note.",
    input: z.object({ path: z.string() }),
    effects: "external",
    about: ({ path }) => ({ paths: [{ path, access: "write" }] }),
    execute({ path }) {
      did.push(path);
      return `noted ${path}`;
    },
  });
  return { tool, did };
}

/** A tool that asks the user in words. */
function asker(choices?: readonly string[]) {
  return defineTool({
    name: "wonder",
    description: "Asks.",
    input: z.object({}),
    effects: "none",
    execute: (_input, context) => context.ask({ text: "Which colour?", ...(choices && { choices }) }),
  });
}

const choose = (optionId: string) => async (): Promise<RequestPermissionResponse> => ({
  outcome: { outcome: "selected", optionId },
});

test("A1: load: the whole conversation comes as updates before the answer: user, thought, answer, each call with what came of it", async () => {
  const { tool } = writer();
  const model = scriptedModel([
    [reasoning("I note it."), text("Yes."), call("note", { path: "a.txt" }, "c1"), spend({ input: 10, output: 5 })],
    "Done.",
    "Fine.",
  ]);
  const at = await editor({ model, tools: [tool] });
  const sessionId = await at.begin();
  expect(await at.say(sessionId, "note it")).toEqual({ stopReason: "end_turn" });
  expect(await at.say(sessionId, "thanks")).toEqual({ stopReason: "end_turn" });
  // The editor already shows its own messages.
  expect(at.told("user_message_chunk")).toBe("");

  const other = await at.another();
  await other.agent.request(session.load, { sessionId, cwd: WORKSPACE, mcpServers: [] });
  const seen = [...other.updates];
  expect(seen.map(({ update }) => update.sessionUpdate)).toEqual([
    ...["user_message_chunk", "agent_thought_chunk", "agent_message_chunk", "tool_call", "tool_call_update"],
    ...["agent_message_chunk", "user_message_chunk", "agent_message_chunk"],
  ]);
  expect(other.told("user_message_chunk")).toBe("note itthanks");
  expect(other.told("agent_message_chunk")).toBe(at.told("agent_message_chunk"));
  expect(other.of("tool_call_update")[0]).toMatchObject({ toolCallId: "c1", status: "completed" });
  expect(other.of("tool_call")[0]).toMatchObject({
    title: "note: a.txt",
    name: "note",
    kind: "edit",
    status: "pending",
    rawInput: { path: "a.txt" },
    locations: [{ path: `${WORKSPACE}/a.txt` }],
  });

  await other.agent.request(session.resume, { sessionId, cwd: WORKSPACE });
  expect(other.told("user_message_chunk")).toBe("note itthanks");
});

test("A2, A8: what is advertised has a handler, and what a session does not know of is the protocol's error", async () => {
  const at = await editor({ model: scriptedModel(["Yes."]) });
  const gone = { sessionId: "none", cwd: WORKSPACE, mcpServers: [] };
  for (const method of [session.load, session.resume, session.fork])
    await expect(at.agent.request(method, gone)).rejects.toMatchObject({ code: -32_002 });
  await expect(at.say("none", "hello")).rejects.toMatchObject({ code: -32_002, data: { sessionId: "none" } });
  await at.agent.notify(session.cancel, { sessionId: "none" });
  await at.agent.request(session.close, { sessionId: "none" });

  const sessionId = await at.begin();
  await at.say(sessionId, "hello");
  await expect(at.agent.request(session.new, { cwd: "here", mcpServers: [] })).rejects.toMatchObject({ code: -32_602 });
  const bad = [{ type: "image" as const, mimeType: "image/png", data: "this is no base 64" }];
  await expect(at.agent.request(session.prompt, { sessionId, prompt: bad })).rejects.toMatchObject({ code: -32_602 });
  await expect(at.say(sessionId, "  ")).rejects.toMatchObject({ code: -32_602 });
  await expect(at.agent.request("session/nothing", {})).rejects.toMatchObject({ code: -32_601 });
  await expect(at.agent.request(session.list, { cursor: "x" })).rejects.toMatchObject({ code: -32_602 });
  const { sessions } = await at.agent.request(session.list, { cwd: WORKSPACE });
  expect(sessions).toMatchObject([{ sessionId, cwd: WORKSPACE, title: "hello" }]);
  await at.agent.request(session.delete, { sessionId });
  expect(await at.agent.request(session.list, {})).toEqual({ sessions: [] });
});

test("S31: a question names the folder of its call, where that is not the session's, and its files are found there", async () => {
  const { tool } = writer();
  const diff = "@@ -0,0 +1 @@\n+new\n";
  const change = { path: "b.txt", kind: "created" as const, before: null, after: "1", added: 1, removed: 0, diff };
  const placed = (folder: string) => ({ ...tool, folder: () => folder, preview: () => ({ changes: [change] }) });
  const asked: RequestPermissionRequest["toolCall"][] = [];
  const permit = async ({ toolCall }: RequestPermissionRequest) => {
    asked.push(toolCall);
    return choose("no")();
  };
  for (const folder of ["/a/worktree", WORKSPACE]) {
    const model = scriptedModel([[call("note", { path: "a.txt" })], [call("note", { path: "/etc/b" })], "Done."]);
    const at = await editor({ model, tools: [placed(folder)], ...asking }, { permit });
    await at.say(await at.begin(), "note it");
  }
  const shown = asked.map(({ content = [], locations }) => [
    (content ?? []).flatMap((each) =>
      each.type === "content" && each.content.type === "text" ? [each.content.text] : [],
    ),
    (content ?? []).flatMap((each) => (each.type === "diff" ? [each.path] : [])),
    (locations ?? []).map(({ path }) => path),
  ]);
  expect(shown).toEqual([
    [["In /a/worktree"], ["/a/worktree/b.txt"], ["/a/worktree/a.txt", "/a/worktree/b.txt"]],
    [["In /a/worktree"], ["/a/worktree/b.txt"], ["/etc/b", "/a/worktree/b.txt"]],
    [[], [`${WORKSPACE}/b.txt`], [`${WORKSPACE}/a.txt`, `${WORKSPACE}/b.txt`]],
    [[], [`${WORKSPACE}/b.txt`], ["/etc/b", `${WORKSPACE}/b.txt`]],
  ]);
});

test("A3: a prompt that is cancelled answers cancelled, and never an error: while it streams, and while it hangs in a permission that nobody answers", async () => {
  const { tool, did } = writer();
  const model = scriptedModel([[text("It"), stall()], [call("note", { path: "a" })], "On."]);
  const withdrawn: boolean[] = [];
  const at = await editor(
    { model, tools: [tool], ...asking },
    {
      permit: (_asked, signal) =>
        new Promise((_resolve, reject) => {
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
  await eventually(() => expect(at.of("tool_call")).toHaveLength(1));
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

test("A10: permissions: the call is known before it is asked about; once, in this conversation, for good, no and never are what is answered", async () => {
  const { tool, did } = writer();
  const note = (path: string) => [call("note", { path })];
  const model = scriptedModel([note("a"), "A.", note("b"), "B.", note("c"), "C.", note("d"), "D."]);
  const asked: unknown[] = [];
  const answers = ["no", "once", "never", "never"];
  const at = await editor(
    { model, tools: [tool], permission: () => ({ decision: "ask", pattern: "note(a)" }) },
    {
      async permit(question) {
        asked.push(at.of("tool_call").at(-1)?.toolCallId === question.toolCall.toolCallId);
        asked.push(question.options.map(({ kind }) => kind));
        return { outcome: { outcome: "selected", optionId: answers.shift() ?? "" } };
      },
    },
  );
  const sessionId = await at.begin();
  await at.say(sessionId, "a");
  expect(did).toEqual([]);
  expect(at.of("tool_call_update").at(-1)).toMatchObject({ status: "failed" });
  await at.say(sessionId, "b");
  expect(did).toEqual(["b"]);
  await at.say(sessionId, "c");
  expect([did, at.remembered]).toEqual([["b"], ["never note(a)"]]);
  // From now on, no rule can be stored.
  Object.freeze(at.remembered);
  await at.say(sessionId, "d");
  expect(did).toEqual(["b"]);
  expect(at.told("agent_message_chunk")).toContain("The rule was not saved for good.");
  const kinds = ["allow_once", "allow_always", "allow_always", "reject_once", "reject_always"];
  expect(asked).toEqual(Array(4).fill([true, kinds]).flat());
});

test("A10: two editors that are asked the same: the first answer counts, the other's question is taken back, and both see the turn", async () => {
  const { tool, did } = writer();
  const model = scriptedModel([[call("note", { path: "a" })], "Done."]);
  const withdrawn = Promise.withResolvers<void>();
  const at = await editor(
    { model, tools: [tool], ...asking },
    {
      permit: (_asked, signal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => {
            withdrawn.resolve();
            reject(signal.reason);
          }),
        ),
    },
  );
  const sessionId = await at.begin();
  const other = await at.another({ permit: choose("once") });
  await other.agent.request(session.resume, { sessionId, cwd: WORKSPACE });
  await eventually(() => expect(other.of("available_commands_update")).toHaveLength(1));
  expect(await at.say(sessionId, "note a")).toEqual({ stopReason: "end_turn" });
  await withdrawn.promise;
  expect(did).toEqual(["a"]);
  await eventually(() => expect(other.told("agent_message_chunk")).toBe("Done."));
  expect(other.told("user_message_chunk")).toBe("note a");
});

test("A10: an editor that cannot ask has said no, and one that chooses what was not offered too", async () => {
  const { tool, did } = writer();
  const model = scriptedModel([[call("note", { path: "a" })], "A.", [call("note", { path: "b" })], "B."]);
  let answers = 0;
  const at = await editor(
    { model, tools: [tool], ...asking },
    {
      async permit() {
        answers += 1;
        if (answers === 1) throw new Error("no dialogs here");
        return { outcome: { outcome: "selected", optionId: "surely" } };
      },
    },
  );
  const sessionId = await at.begin();
  expect(await at.say(sessionId, "a")).toEqual({ stopReason: "end_turn" });
  expect(await at.say(sessionId, "b")).toEqual({ stopReason: "end_turn" });
  expect([answers, did]).toEqual([2, []]);
});

test("questions in words: a form where the editor has forms, options where there are choices, else a message whose answer is what is said next", async () => {
  const script = () => scriptedModel([[call("wonder")], "Thanks."]);
  const forms = await editor(
    { model: script(), tools: [asker(["red", "blue"])] },
    {
      capabilities: { elicitation: { form: {} } },
      fillIn: async () => ({ action: "accept", content: { answer: "blue" } }),
    },
  );
  const first = await forms.begin();
  await forms.say(first, "ask me");
  expect(forms.of("tool_call_update").at(-1)).toMatchObject({
    status: "completed",
    content: [{ content: { text: "blue" } }],
  });

  const options = await editor({ model: script(), tools: [asker(["red", "blue"])] }, { permit: choose("0") });
  await options.say(await options.begin(), "ask me");
  expect(options.of("tool_call_update").at(-1)).toMatchObject({ content: [{ content: { text: "red" } }] });

  const words = await editor({ model: script(), tools: [asker()] });
  const third = await words.begin();
  expect(await words.say(third, "ask me")).toEqual({ stopReason: "end_turn" });
  expect(words.told("agent_message_chunk")).toContain("Which colour?");
  expect(await words.say(third, "green")).toEqual({ stopReason: "end_turn" });
  expect(words.of("tool_call_update").at(-1)).toMatchObject({ content: [{ content: { text: "green" } }] });
  expect(words.told("agent_message_chunk")).toContain("Thanks.");
});

/** A chat whose model asks these questions with choices. */
const wondering = (questions: Json[]) => ({
  model: scriptedModel([[call("ask_client", { question: "How shall it look?", questions })], "Thanks."]),
  tools: [askClient()],
});
const colour: Json = {
  heading: "Colour",
  question: "Which one?",
  choices: [{ label: "red", description: "as a brick" }, { label: "blue" }],
};
const sizes: Json = {
  heading: "Sizes",
  question: "Which of them?",
  several: true,
  choices: [{ label: "small" }, { label: "large" }, { label: "huge" }],
};

test("C12: questions with choices are one form where the editor has forms, each with its own words beside the choices", async () => {
  const forms: CreateElicitationRequest[] = [];
  const at = await editor(wondering([colour, sizes]), {
    capabilities: { elicitation: { form: {} } },
    fillIn: async (form) => {
      forms.push(form);
      const content = { answer_1: "red", words_1: "but dark", answer_2: ["huge", "small", "none of ours"] };
      return { action: "accept", content };
    },
  });
  await at.say(await at.begin(), "ask me");
  expect(forms).toMatchObject([
    {
      message: "How shall it look?",
      requestedSchema: {
        required: [],
        properties: {
          answer_1: {
            type: "string",
            title: "Colour",
            description: "Which one?",
            oneOf: [
              { const: "red", title: "red", description: "as a brick" },
              { const: "blue", title: "blue" },
            ],
          },
          words_1: { type: "string", title: "Colour: in your own words" },
          answer_2: { type: "array", title: "Sizes", items: { anyOf: [{ const: "small" }, {}, { const: "huge" }] } },
        },
      },
    },
  ]);
  expect(at.of("tool_call_update").at(-1)).toMatchObject({
    status: "completed",
    content: [{ content: { text: "Colour: red. In their own words: but dark\nSizes: small, huge" } }],
  });
});

test("C12: without forms one of a few is chosen as a permission is given, or said in words; several are a message", async () => {
  const names: unknown[] = [];
  const one = await editor(wondering([colour]), {
    async permit({ options }) {
      names.push(options.map(({ name }) => name));
      return { outcome: { outcome: "selected", optionId: "1" } };
    },
  });
  await one.say(await one.begin(), "ask me");
  expect(names).toEqual([["red: as a brick", "blue", "Answer in words", "Do not answer"]]);
  expect(one.of("tool_call_update").at(-1)).toMatchObject({ content: [{ content: { text: "blue" } }] });

  for (const at of [
    await editor(wondering([colour]), { permit: choose("words") }),
    await editor(wondering([colour, sizes])),
  ]) {
    const id = await at.begin();
    expect(await at.say(id, "ask me")).toEqual({ stopReason: "end_turn" });
    expect(at.told("agent_message_chunk")).toContain("Colour: Which one?\n- red: as a brick\n- blue");
    await at.say(id, "a green one");
    expect(at.of("tool_call_update").at(-1)).toMatchObject({ content: [{ content: { text: "a green one" } }] });
  }
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

test("F72: cancelling a session that is loaded ends what waits there since before", async () => {
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

test("A11: a limit is asked about, and what ends a turn is told: at a limit, failed, without a key", async () => {
  const { tool } = writer();
  const model = scriptedModel([[call("note", { path: "a" })], [call("note", { path: "b" })], "Done."]);
  const titles: unknown[] = [];
  const at = await editor(
    { model, tools: [tool], limits: { steps: 1, policy: "ask" } },
    {
      async permit({ toolCall, options }) {
        titles.push(toolCall.title);
        return { outcome: { outcome: "selected", optionId: options[0]?.optionId ?? "" } };
      },
    },
  );
  expect(await at.say(await at.begin(), "go")).toEqual({ stopReason: "end_turn" });
  expect(titles).toHaveLength(2);

  const limited = await editor({
    model: scriptedModel([[call("note", { path: "a" })], "So far."]),
    tools: [tool],
    limits: { steps: 1 },
  });
  expect(await limited.say(await limited.begin(), "go")).toEqual({ stopReason: "max_turn_requests" });
  const failing = await editor({ model: scriptedModel([[fail("authentication")], [fail("invalid-request")]]) });
  const failed = await failing.begin();
  await expect(failing.say(failed, "a")).rejects.toMatchObject({ code: -32_000 });
  await expect(failing.say(failed, "b")).rejects.toMatchObject({ code: -32_603 });
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

test("a fork is a branch of the same tree: neither sees what is said in the other, and each is found again by its id", async () => {
  const at = await editor({ model: scriptedModel(["one", "left", "right", "left again", "right again"]) });
  const sessionId = await at.begin();
  await at.say(sessionId, "begin");
  const fork = await at.agent.request(session.fork, { sessionId, cwd: WORKSPACE });
  expect(fork.sessionId).not.toBe(sessionId);
  await at.say(sessionId, "L");
  await at.say(fork.sessionId, "R");
  expect([at.told("agent_message_chunk", sessionId), at.told("agent_message_chunk", fork.sessionId)]).toEqual([
    "oneleft",
    "right",
  ]);

  const other = await at.another();
  for (const id of [sessionId, fork.sessionId])
    await other.agent.request(session.load, { sessionId: id, cwd: WORKSPACE, mcpServers: [] });
  expect(other.told("agent_message_chunk", sessionId)).toBe("oneleft");
  expect(other.told("agent_message_chunk", fork.sessionId)).toBe("oneright");
  expect(other.told("user_message_chunk", fork.sessionId)).toBe("beginR");
  await other.say(sessionId, "L2");
  await other.say(fork.sessionId, "R2");
  expect(other.told("agent_message_chunk", sessionId)).toBe("oneleftleft again");
  expect(other.told("agent_message_chunk", fork.sessionId)).toBe("onerightright again");
  await eventually(() => expect(at.told("agent_message_chunk", fork.sessionId)).toBe("rightright again"));
});

test("A9: what is said elsewhere comes outside a turn, with its options: approval, model, effort, and modes for old editors", async () => {
  const other = scriptedModel(["From the other."]);
  const at = await editor(
    { model: scriptedModel(["Hello there."]) },
    { models: { "scripted/other": other, "scripted/other:low": other } },
  );
  const { sessionId, modes, configOptions } = await at.agent.request(session.new, { cwd: WORKSPACE, mcpServers: [] });
  expect(modes?.currentModeId).toBe("ask");
  expect(configOptions?.map(({ category }) => category)).toEqual(["mode", "model", "thought_level"]);
  await at.page.connected();
  await at.page.ask("turn.say", { conversation: sessionId, parts: [{ type: "text", text: "from the page" }] });
  await eventually(() => expect(at.told("agent_message_chunk")).toBe("Hello there."));
  expect(at.told("user_message_chunk")).toBe("from the page");

  const set = (configId: string, value: string) =>
    at.agent.request(session.setConfigOption, { sessionId, configId, value });
  const valueAt = async (configId: string, value: string) =>
    (await set(configId, value)).configOptions.find(({ id }) => id === configId)?.currentValue;
  expect(await valueAt("model", "scripted/other")).toBe("scripted/other");
  expect(await valueAt("effort", "low")).toBe("low");
  await at.say(sessionId, "who is there?");
  expect(at.told("agent_message_chunk")).toContain("From the other.");
  expect(await valueAt("mode", "edits")).toBe("edits");
  await eventually(() => expect(at.of("current_mode_update").at(-1)).toMatchObject({ currentModeId: "edits" }));
  await at.agent.request(session.setMode, { sessionId, modeId: "ask" });
  await expect(set("model", "no/such")).rejects.toMatchObject({ code: -32_602 });
  await expect(set("mode", "none")).rejects.toMatchObject({ code: -32_602 });
  await expect(set("colour", "red")).rejects.toMatchObject({ code: -32_602 });
});

test("S27: nothing is asked any more only after a person said yes to it in the editor", async () => {
  const answers = ["no", "yes"];
  const at = await editor(
    { model: scriptedModel([]) },
    { permit: async () => ({ outcome: { outcome: "selected", optionId: answers.shift() ?? "" } }) },
  );
  const sessionId = await at.begin();
  await expect(at.agent.request(session.setMode, { sessionId, modeId: "all" })).rejects.toMatchObject({
    code: -32_602,
  });
  const { configOptions } = await at.agent.request(session.setConfigOption, {
    sessionId,
    configId: "mode",
    value: "all",
  });
  expect([configOptions[0]?.currentValue, answers]).toEqual(["all", []]);
});

test("pictures, links and embedded files of a prompt reach the model; a file is read as the editor has it", async () => {
  const model = scriptedModel(["Seen."]);
  const at = await editor(
    { model },
    { capabilities: { fs: { readTextFile: true } }, read: async (path) => `unsaved ${path}` },
  );
  const sessionId = await at.begin();
  await at.agent.request(session.prompt, {
    sessionId,
    prompt: [
      { type: "text", text: "look at " },
      { type: "resource_link", name: "a.ts", uri: "file:///a/workspace/a.ts" },
      { type: "resource_link", name: "site", uri: "https://example.org/" },
      { type: "image", mimeType: "image/png", data: "aGVsbG8=" },
      { type: "resource", resource: { uri: "file:///a/workspace/b.ts", text: "embedded @c.ts" } },
    ],
  });
  const sent = JSON.stringify(model.requests[0]);
  for (const part of [
    "look at ",
    "unsaved /a/workspace/a.ts",
    "[site](https://example.org/)",
    "aGVsbG8=",
    "embedded @c.ts",
  ])
    expect(sent).toContain(part);
});

test("A13: sub-agents: at the call that launched one, or as a session of its own for an editor that knows such", async () => {
  const script = () =>
    scriptedModel((_request, index) =>
      index === 0
        ? [call("launch_agent", { task: "count the leaves", expected_output: "a number" }, "launch")]
        : index === 1
          ? [text("Three", " leaves."), call("finish_task", { result: "3" })]
          : "There are 3.",
    );
  const plain = await editor({ model: script(), tools: [launchAgent()] });
  await plain.say(await plain.begin(), "count");
  expect(plain.told("agent_message_chunk")).toBe("There are 3.");
  expect(new Set(plain.of("tool_call").map(({ toolCallId }) => toolCallId))).toEqual(new Set(["launch"]));
  expect(plain.of("tool_call_update").at(-1)).toMatchObject({ toolCallId: "launch", status: "completed" });

  const knowing = await editor({ model: script(), tools: [launchAgent()] }, { capabilities: { subagents: {} } });
  const sessionId = await knowing.begin();
  await knowing.say(sessionId, "count");
  const [child] = knowing.of("subagent_update");
  expect(knowing.of("subagent_update").map(({ state }) => state?.state)).toEqual(["running", "idle"]);
  expect(knowing.told("agent_message_chunk", child?.sessionId)).toBe("Three leaves.");
  expect(knowing.told("agent_message_chunk", sessionId)).toBe("There are 3.");
});

test("words that are given up cannot be taken back: the editor is told, and what comes of a command is text", async () => {
  const at = await editor({
    model: scriptedModel([[text("Half"), pause(5), fail("overloaded")], "Whole."]),
    retry: { attempts: 2, delay: 1 },
  });
  const sessionId = await at.begin();
  await eventually(() => expect(at.of("available_commands_update")).toHaveLength(1));
  await at.say(sessionId, "go");
  expect(at.told("agent_message_chunk")).toContain("Whole.");
  expect(at.told("agent_thought_chunk")).toContain("The text above is discarded.");
  const before = at.told("agent_message_chunk");
  expect(await at.say(sessionId, "/here")).toEqual({ stopReason: "end_turn" });
  expect(at.told("agent_message_chunk").slice(before.length)).toMatch(/^leaf: \S+\n$/);
});

const entry = (content: string, status: string) => ({ content, priority: "medium", status });

test("a plan is told as it changes, and as it stands to who loads the conversation", async () => {
  const plan = (...steps: (readonly [string, string])[]) =>
    call("update_plan", { steps: steps.map(([title, status]) => ({ title, status })) });
  const model = scriptedModel([
    [plan(["look", "in_progress"], ["mend", "pending"])],
    [plan(["look", "soon"])],
    [plan(["look", "completed"], ["mend", "in_progress"])],
    "So far.",
  ]);
  const at = await editor({ model, tools: [updatePlan()] });
  const sessionId = await at.begin();
  await at.say(sessionId, "mend it");
  const now = [entry("look", "completed"), entry("mend", "in_progress")];
  expect(at.of("plan").map(({ entries }) => entries)).toEqual([
    [entry("look", "in_progress"), entry("mend", "pending")],
    now,
  ]);
  expect(at.of("tool_call").at(-1)).toMatchObject({ kind: "think" });
  const other = await at.another();
  await other.agent.request(session.load, { sessionId, cwd: WORKSPACE, mcpServers: [] });
  expect(other.of("plan").map(({ entries }) => entries)).toEqual([now]);
});

test.each([
  ["ask", "allow", "ask"],
  ["edits", "allow", "edits"],
  ["no", "deny", "plan"],
] as const)("a plan that is handed in is decided about in the editor: %s", async (option, decision, mode) => {
  const steps = [{ title: "mend", status: "pending" }];
  const model = scriptedModel([[call("update_plan", { steps, hand_in: true })], "Well."]);
  const permission = ({ tool }: { tool: { name: string } }) =>
    ({ decision: tool.name === "update_plan" ? "ask" : "allow" }) as const;
  const asked: unknown[] = [];
  const permit: Parameters<typeof editor>[1] = {
    permit(request) {
      asked.push(request);
      return choose(option)();
    },
  };
  const at = await editor({ model, tools: [updatePlan()], permission }, permit);
  const sessionId = await at.begin();
  await at.agent.request(session.setMode, { sessionId, modeId: "plan" });
  await at.say(sessionId, "plan it");
  expect(asked[0]).toMatchObject({
    toolCall: { kind: "switch_mode", content: [{ content: { text: "- [ ] mend" } }] },
    options: [{ optionId: "ask" }, { optionId: "edits" }, { optionId: "no" }],
  });
  expect(at.of("tool_call_update").at(-1)?.status).toBe(decision === "allow" ? "completed" : "failed");
  const { modes } = await at.agent.request(session.resume, { sessionId, cwd: WORKSPACE });
  expect(modes?.currentModeId).toBe(mode);
});
