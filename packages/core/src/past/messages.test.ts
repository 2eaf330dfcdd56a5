import fc from "fast-check";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { MessageForms } from "../conversation/forms/write-history.ts";
import type { Call } from "../conversation/message.ts";
import type { FilePart, ProviderData, UserPart } from "../conversation/part.ts";
import type { ConversationState } from "../conversation/state.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { defineTool } from "../ports/define-tool.ts";
import { SlowStore } from "../session/session.fixture.ts";
import { Session } from "../session/session.ts";
import { type Beat, call, cut, parts, scriptedModel, text } from "../testing/index.ts";

type Form = keyof MessageForms;
const FORMS: readonly Form[] = ["ai-sdk", "ai-sdk-ui", "openai-chat", "openai-responses", "anthropic"];

const base64 = (bytes: string) => Buffer.from(bytes, "latin1").toString("base64");
const PNG = base64("\x89PNG\r\n\x1a\n");
const FILES: readonly FilePart[] = [
  { type: "file", mediaType: "image/png", data: PNG },
  { type: "file", mediaType: "application/pdf", name: "a.pdf", data: base64("%PDF-1.7") },
  { type: "file", mediaType: "text/plain", name: "a.txt", data: Buffer.from("日 a\n").toString("base64") },
  { type: "file", mediaType: "image/jpeg", url: "https://example.com/a.jpg" },
];

const words = fc.string({ unit: fc.constantFrom("a", "é", "日", " ", "\n", '"', "{") }).map((said) => `x${said}.`);
const said = fc.array(
  fc.oneof(
    words.map((each): UserPart => ({ type: "text", text: each })),
    fc.constantFrom(...FILES),
  ),
  { minLength: 1, maxLength: 3 },
);
/** The data with which a form can keep reasoning: a signature of Anthropic, or an id of OpenAI. */
const keys = fc.constantFrom<ProviderData | undefined>(
  undefined,
  { anthropic: { signature: "s" } },
  { openai: { itemId: "rs_1", reasoningEncryptedContent: "e" } },
);
interface Thought {
  readonly text: string;
  readonly provider: ProviderData | undefined;
}
const thought = fc.option(fc.record({ text: words, provider: keys }), { nil: undefined });
const outcome = fc.record({
  input: fc.dictionary(fc.constantFrom("a", "b"), words),
  output: words,
  fails: fc.boolean(),
  file: fc.constantFrom(undefined, FILES[0], FILES[1]),
});
const step = fc.record({
  thought,
  text: fc.option(words, { nil: undefined }),
  calls: fc.array(outcome, { minLength: 1, maxLength: 3 }),
});
const turn = fc.record({ said, steps: fc.array(step, { maxLength: 2 }), thought, answer: words });
type Turn = typeof turn extends fc.Arbitrary<infer Value> ? Value : never;

const thinking = (each: Thought | undefined): Beat[] =>
  each
    ? [
        parts({ type: "reasoning", text: each.text }),
        ...(each.provider ? [parts({ type: "part-end", provider: each.provider })] : []),
      ]
    : [];

/** Holds the conversation with an agent whose tool does what the turns say. */
async function play(turns: readonly Turn[], session: Session): Promise<void> {
  const outcomes = turns.flatMap(({ steps }) => steps.flatMap(({ calls }) => calls));
  let calls = 0;
  const script = turns.flatMap(({ steps, thought: last, answer }) => [
    ...steps.map((each) => [
      ...thinking(each.thought),
      ...(each.text === undefined ? [] : [text(each.text)]),
      ...each.calls.map(({ input }) => call("look", { ...input, n: calls }, `call_${calls++}`)),
    ]),
    [...thinking(last), text(answer)],
  ]);
  const look = defineTool({
    name: "look",
    description: "",
    input: { type: "object" },
    effects: "none",
    execute: (input: unknown, { attach }) => {
      const { output, fails, file } = outcomes[(input as { n: number }).n] as (typeof outcomes)[number];
      if (fails) throw new Error(output);
      if (file?.data !== undefined) attach({ ...file, data: file.data });
      return output;
    },
  });
  const agent = new Agent({ model: scriptedModel(script), tools: [look] });
  for (const each of turns) await agent.send(each.said, { session });
}

/** The parts of a history that a form cannot hold. */
const LOSSES: { readonly [Each in Form]: (file: FilePart) => FilePart } = {
  "ai-sdk": (file) => file,
  "ai-sdk-ui": (file) => file,
  "openai-chat": (file) => untyped(file.mediaType.startsWith("image/") ? withoutName(file) : file),
  "openai-responses": (file) => untyped(file.mediaType.startsWith("image/") ? withoutName(file) : file),
  anthropic: (file) => untyped(file.mediaType.startsWith("image/") ? withoutName(file) : file),
};
const withoutName = ({ name: _, ...file }: FilePart): FilePart => file;
const untyped = (file: FilePart): FilePart => (file.url === undefined ? file : { ...file, mediaType: "image/*" });

function keepsReasoning(form: Form, provider: ProviderData | undefined): boolean {
  if (form === "openai-chat") return false;
  if (form === "openai-responses") return provider?.openai !== undefined;
  return form !== "anthropic" || provider?.anthropic !== undefined;
}

/** The conversation that a form can tell, from the words of the turns. */
function expected(turns: readonly Turn[], form: Form): unknown[] {
  let calls = 0;
  const files = LOSSES[form];
  const hasStatus = !form.startsWith("openai");
  const thoughts = (each: Thought | undefined) => (each && keepsReasoning(form, each.provider) ? [each.text] : []);
  return turns.flatMap(({ said: given, steps, thought: last, answer }): unknown[] => [
    { user: given.map((part) => (part.type === "text" ? part.text : files(part))) },
    ...steps.flatMap((each): unknown[] => {
      const made = each.calls.map(({ input, output, fails, file }) => ({
        input: { ...input, n: calls++ },
        status: fails && hasStatus ? "failed" : "completed",
        output: fails ? `The tool failed: ${output}` : output,
        files: file && !fails && form !== "openai-chat" ? [files(file)] : [],
      }));
      const behind = each.calls.flatMap(({ file, fails }, index) => {
        const id = `call_${calls - each.calls.length + index}`;
        return file && !fails ? [`Files from the result of look (call ${id}):`, files(file)] : [];
      });
      return [
        { reasoning: thoughts(each.thought), text: each.text ?? "", calls: made },
        ...(form === "openai-chat" && behind.length > 0 ? [{ user: behind }] : []),
      ];
    }),
    { reasoning: thoughts(last), text: answer, calls: [] },
  ]);
}

function told(state: ConversationState): unknown[] {
  return pathTo(state, state.leaf).map((message) => {
    const texts = message.parts.flatMap((part) => (part.type === "text" ? part.text : []));
    if (message.role !== "assistant")
      return { user: message.parts.map((part) => (part.type === "text" ? part.text : part)) };
    return {
      reasoning: message.parts.flatMap((part) => (part.type === "reasoning" ? part.text : [])),
      text: texts.join(""),
      calls: message.calls.map(toldCall),
    };
  });
}

function toldCall({ input, status, output, files = [] }: Call) {
  return { input, status, output, files: files.map(({ digest: _, ...file }) => file) };
}

test.each(FORMS)("L5: a conversation goes out as %s and comes back as it was", async (form) => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 3 }), async (turns) => {
      const session = Session.inMemory();
      await play(turns, session);
      const messages = await session.toMessages(form);
      expect(JSON.parse(JSON.stringify(messages))).toEqual(messages);
      const back = Session.inMemory();
      await back.addHistory(messages);
      expect(told(back.state)).toEqual(expected(turns, form));
      // A second round changes nothing, except for reasoning, whose keys a history does not keep.
      const again = Session.inMemory();
      await again.addHistory(await back.toMessages(form));
      const plain = (state: ConversationState) => told(state).map((each) => ({ ...(each as object), reasoning: [] }));
      expect(plain(again.state)).toEqual(plain(back.state));
    }),
    { numRuns: process.env.BANYAN_LONG ? 500 : 20 },
  );
});

test("L5: after a restart, a session with a window still gives all messages of a branch", async () => {
  const store = new SlowStore();
  const first = await Session.open(store);
  const agent = new Agent({ model: scriptedModel(["one", "two", "three", "four"]) });
  for (const said of ["a", "b", "c"]) await agent.send(said, { session: first });
  const all = ["a", "one", "b", "two", "c", "three", "d", "four"];
  const contents = async (session: Session, at = session.state.leaf) =>
    (await session.toMessages("openai-chat", { at })).map(({ content }) => content);
  const [, , question = null] = pathTo(first.state, first.state.leaf).map(({ id }) => id);
  expect(await contents(first, question)).toEqual(all.slice(0, 3));
  expect(await first.toMessages("anthropic", { at: null })).toEqual([]);
  await first.close();
  const second = await Session.open(store, first.id, { window: 1 });
  await agent.send("d", { session: second });
  expect(await contents(second)).toEqual(all);
  await second.close();
});

test("L5: a denial, changed arguments, a running call and a message during the turn go out too", async () => {
  const session = Session.inMemory();
  const look = defineTool({
    name: "look",
    description: "",
    input: { type: "object" },
    effects: "none",
    execute: async (_, { call: id }) => {
      if (id !== "c") return "seen";
      await session.say("Quick!");
      running.push(...(await session.toMessages("ai-sdk-ui")), ...(await session.toMessages("anthropic")));
      return "seen";
    },
  });
  const running: object[] = [];
  const script = [[call("look", {}, "a"), call("look", {}, "b")], [call("look", {}, "c")], "Done."];
  const permission = ({ call: id }: { call: string }) => {
    return id === "c" ? ({ decision: "allow" } as const) : ({ decision: "ask" } as const);
  };
  const agent = new Agent({ model: scriptedModel(script), tools: [look], permission });
  session.listen({
    items: (items) => {
      for (const item of items) {
        if (item.type !== "call.approval-requested") continue;
        const answer =
          item.call === "a"
            ? ({ decision: "deny", reason: "No." } as const)
            : { decision: "allow" as const, input: { x: 1 } };
        session.answer(item.question, answer).catch(() => {});
      }
    },
    ended: () => {},
  });
  await agent.send("Look.", { session });
  expect(JSON.stringify(running)).toMatch(/"toolCallId":"c","input":{},"state":"input-available".*has no result yet/);
  const [user, response, ...others] = await session.toMessages("ai-sdk-ui");
  expect([user?.role, response?.role, others]).toEqual(["user", "assistant", []]);
  expect(response?.parts).toMatchObject([
    { type: "step-start" },
    { toolCallId: "a", state: "output-denied", approval: { approved: false, reason: expect.stringMatching("No.") } },
    { toolCallId: "b", output: expect.stringMatching(/changed the arguments to \{"x":1\}.*\nseen/) },
    { type: "step-start" },
    { toolCallId: "c", state: "output-available", output: "seen" },
    { type: "steering-message", parts: [{ type: "text", text: "Quick!" }] },
    { type: "step-start" },
    { type: "text", text: "Done." },
  ]);
  const back = Session.inMemory();
  await back.addHistory(await session.toMessages("ai-sdk-ui"));
  expect(pathTo(back.state, back.state.leaf).map(({ role }) => role)).toEqual(
    pathTo(session.state, session.state.leaf).map(({ role }) => role),
  );
});

test("L5: the keys of reasoning go out with a whole response, where the form has a place for them", async () => {
  const openai = { openai: { itemId: "rs_1", reasoningEncryptedContent: "e" } };
  const anthropic = { anthropic: { signature: "s" } };
  const keyed = (said: string, provider: ProviderData) =>
    parts({ type: "reasoning", text: said }, { type: "part-end", provider });
  const script = [
    [keyed("a", openai), keyed("b", openai), keyed("c", anthropic), text("Yes.")],
    [keyed("d", anthropic), text("Well"), cut()],
    [keyed("e", anthropic), cut()],
  ];
  const agent = new Agent({ model: scriptedModel(script), retry: { attempts: 1 } });
  const session = Session.inMemory();
  await agent.send("Sure?", { session });
  for (const said of ["Really?", "Well?"]) await agent.send(said, { session }).catch(() => {});
  expect(await session.toMessages("ai-sdk")).toEqual([
    { role: "user", content: "Sure?" },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "a", providerOptions: openai },
        { type: "reasoning", text: "b", providerOptions: openai },
        { type: "reasoning", text: "c", providerOptions: anthropic },
        { type: "text", text: "Yes." },
      ],
    },
    { role: "user", content: "Really?" },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "d" },
        { type: "text", text: "Well" },
      ],
    },
    { role: "user", content: "Well?" },
  ]);
  expect((await session.toMessages("ai-sdk-ui")).at(-1)?.parts).toEqual([
    { type: "step-start" },
    { type: "reasoning", text: "e", state: "done" },
  ]);
  expect(await session.toMessages("openai-responses")).toEqual([
    { role: "user", content: "Sure?" },
    {
      type: "reasoning",
      id: "rs_1",
      summary: [
        { type: "summary_text", text: "a" },
        { type: "summary_text", text: "b" },
      ],
      encrypted_content: "e",
    },
    { role: "assistant", content: "Yes." },
    { role: "user", content: "Really?" },
    { role: "assistant", content: "Well" },
    { role: "user", content: "Well?" },
  ]);
  expect(await session.toMessages("anthropic")).toEqual([
    { role: "user", content: "Sure?" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "c", signature: "s" },
        { type: "text", text: "Yes." },
      ],
    },
    { role: "user", content: "Really?" },
    { role: "assistant", content: [{ type: "text", text: "Well" }] },
    { role: "user", content: "Well?" },
  ]);
});

test.each<[string, unknown, object, string]>([
  ["OptionError", "openai-chats", {}, '"openai-chats" is no form of messages; did you mean openai-chat?'],
  ["OptionError", undefined, {}, "undefined is no form of messages; the forms are ai-sdk, ai-sdk-ui, openai-chat,"],
  ["OptionError", "anthropic", { leaf: "x" }, "leaf is no option of session.toMessages; the options are at."],
  ["SessionError", "anthropic", { at: "x" }, "x"],
])("L5: %s refuses the form %j with %j", async (name, form, options, sentence) => {
  const refused = Session.inMemory().toMessages(form as Form, options);
  await expect(refused).rejects.toMatchObject({ name, message: expect.stringContaining(sentence) });
});
