import {
  type CreateElicitationRequest,
  methods,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from "@agentclientprotocol/sdk/unstable";
import { askClient } from "@banyan/core";
import type { Json } from "@banyan/core/conversation";
import { call, fail, scriptedModel } from "@banyan/core/testing";
import { expect, test, vi } from "vitest";
import { editor, WORKSPACE } from "../../testing/editor.fixture.ts";
import { asker, colour, writer } from "./door.fixture.ts";

const { session } = methods.agent;

const eventually = (look: () => unknown) => vi.waitFor(look, { timeout: 60_000 });

const asking = { permission: () => ({ decision: "ask" as const }) };

const choose = (optionId: string) => async (): Promise<RequestPermissionResponse> => ({
  outcome: { outcome: "selected", optionId },
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
  expect(at.told("agent_message_chunk")).toContain("The rule was not saved permanently.");
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

test("A10: the answer of an editor that cannot ask is a denial, and so is an unknown choice", async () => {
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

test("a question in words is a form, or options for choices, or a message that the user's next message answers", async () => {
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
