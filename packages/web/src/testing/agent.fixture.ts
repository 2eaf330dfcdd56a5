import { type AgentOptions, askClient, defineTool, type Json, launchAgent } from "@banyan/core";
import type { RecalledMemory } from "@banyan/core/conversation";
import type { ModelRequest } from "@banyan/core/drivers";
import { updatePlan } from "@banyan/core/hosts";
import {
  type Beat,
  call,
  fail,
  reasoning,
  type Scene,
  scriptedModel,
  spend,
  stall,
  text,
  until,
} from "@banyan/core/testing";
import { changingTool } from "./changing-tool.fixture.ts";

/** Milliseconds between two pieces of an answer, like a fast model. */
const PACE = 12;

/** Numbered words, so that a missing or repeated one shows. */
export function words(count: number, name = "word"): string[] {
  return Array.from({ length: count }, (_, index) => `${name}${index} `);
}

const step = (title: string, status: string) => ({ title, status });

/** An agent that acts on the last message, with tools that a test can hold. */
export interface TestAgent {
  readonly options: AgentOptions;
  /** Further models by name, with unknown prices. */
  readonly models: Readonly<Record<string, AgentOptions["model"]>>;
  /** Releases all waiting calls of `hold` and answers to `half` and `think`; later ones wait again. */
  release(): void;
  /** The memory entries for every message; empty at first. */
  readonly recalled: RecalledMemory[];
}

const NONE = { type: "object" } as const;

/** The suggested rule of a call, with its own form for `git log`. */
function patternFor(tool: string, input: unknown): string {
  const { command = "" } = input as { readonly command?: string };
  return command.startsWith("git log") ? "shell(git log [harmless])" : `${tool}(ls*)`;
}

/** An agent that answers by the first word of the message; see the scenes below. */
export function testAgent(): TestAgent {
  // Tests of another file may have run in this process before.
  broken.clear();
  let held = Promise.withResolvers<void>();
  const recalled: RecalledMemory[] = [];
  const hold = defineTool({
    name: "hold",
    description: "Waits.",
    input: NONE,
    effects: "none",
    async execute(_input: unknown, { signal, progress }) {
      progress("holding on\n");
      const stopped = new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
      await Promise.race([held.promise, stopped]);
      return "let go";
    },
  });
  const serve = defineTool({
    name: "serve",
    description: "Goes on.",
    input: NONE,
    effects: "external",
    execute(_input: unknown, { stay }) {
      const over = Promise.withResolvers<{ outcome: string }>();
      return stay({ title: "a server", over: over.promise, end: () => over.resolve({ outcome: "it was asked to" }) });
    },
  });
  const shell = defineTool({
    name: "shell",
    description: "Runs.",
    input: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
    effects: "external",
    about: ({ command }: { command: string }) => ({ command }),
    preview: ({ command }) => (command.startsWith("npm ") ? { confinement: "In the sandbox: no network" } : {}),
    folder: ({ path }) => (path.some(({ call }) => call) ? "/a/worktree/of/a/sub-agent" : "/a/worktree"),
    execute: (input: unknown) => `ran ${JSON.stringify(input)}`,
  });
  const read = defineTool({
    name: "read",
    description: "Reads.",
    input: NONE,
    effects: "none",
    execute: ({ path }: { path: string }) => {
      if (path === "missing") throw new Error("There is no such file.");
      return Array.from({ length: 60 }, (_, line) => `${line + 1}\t${path} line ${line + 1}`).join("\n");
    },
  });
  const edit = defineTool({
    name: "edit",
    description: "Changes a file.",
    input: NONE,
    effects: "external",
    about: ({ path }: Edit) => ({
      paths: [{ path, access: "write" as const }],
      change: { goes: "old_text", comes: "new_text" },
    }),
    preview: ({ path, old_text, new_text }: Edit) => {
      const diff = `@@ -2 +2 @@\n-${old_text}+${new_text}`;
      return { changes: [{ path, kind: "changed" as const, before: "0", after: "1", added: 1, removed: 1, diff }] };
    },
    execute: () => "changed",
  });
  const sceneOf = (request: ModelRequest) => sceneFor(request, held.promise);
  const model = scriptedModel(sceneOf, {
    pace: PACE,
    price: { input: 3, output: 15, cached: 0.3 },
  });
  return {
    options: {
      name: "banyan",
      model,
      limits: { steps: 7, policy: "ask" },
      tools: [
        hold,
        serve,
        shell,
        read,
        edit,
        { ...edit, name: "mcp_g_read_only", offeredBy: "g", offeredAs: "read.only" },
        changingTool(() => held.promise),
        launchAgent(),
        updatePlan(),
        askClient(),
      ],
      permission: ({ tool, input }) =>
        tool.name === "shell" || tool.about === edit.about || tool.about?.(input).handsIn
          ? { decision: "ask", pattern: patternFor(tool.name, input) }
          : { decision: "allow" },
      memory: { store: { recall: async (query) => memoryOf(query, recalled), remember: async () => {} } },
    },
    recalled,
    models: {
      "scripted/second": scriptedModel(
        (request) => (wordOf(request) === "refuse" ? [text("I can.")] : sceneOf(request)),
        {
          id: "scripted/second",
          pace: PACE,
        },
      ),
    },
    release() {
      held.resolve();
      held = Promise.withResolvers();
    },
  };
}

function memoryOf(query: string, recalled: readonly RecalledMemory[]): RecalledMemory[] {
  if (query.startsWith("amnesia")) throw new Error("The memory is locked.");
  return [...recalled];
}

function saidIn({ messages }: ModelRequest): string {
  const asked = messages.findLast((message) => message.role === "user");
  return asked?.parts.map((part) => (part.type === "text" ? part.text : "")).join("") ?? "";
}

const wordOf = (request: ModelRequest) => saidIn(request).split(/\s+/)[0];

function sceneFor(request: ModelRequest, gate: Promise<void>): Scene {
  const { messages, tools } = request;
  const said = saidIn(request);
  const [word = "", ...rest] = said.split(/\s+/);
  const step = messages.length - 1 - messages.findLastIndex((message) => message.role === "user");
  // One file per step, until none is left.
  if (word === "look" && rest[step] !== undefined) return [call("read", { path: rest[step] })];
  if (step === 0) return (SCENES[word] ?? plain)(rest, said, gate);
  const afterwards = text(AFTERWARDS[word] ?? "That is done.");
  // A sub-agent ends its task with a call.
  const isTask = tools.some(({ name }) => name === "finish_task");
  return isTask ? [afterwards, call("finish_task", { result: "done" })] : [afterwards];
}

function plain(_rest: readonly string[], said: string): readonly Beat[] {
  return [text(..."You said: ".split(/(?<= )/), ...said.split(/(?<= )/))];
}

/** The names of `anew` and `late` answers that already broke off. */
const broken = new Set<string>();

function isFirst(name: string): boolean {
  const { size } = broken;
  return broken.add(name).size > size;
}

/** The answers, by the first word of the message. */
const SCENES: Readonly<Record<string, (rest: readonly string[], said: string, gate: Promise<void>) => Scene>> = {
  count: ([many = "20"]) => [text(...words(Number(many)))],
  spend: ([input = "0", cached = "0"]) => {
    return [spend({ input: Number(input), cached: Number(cached), output: 10 }), text("Spent.")];
  },
  // The second half waits for the test.
  half: ([many = "20"], _said, gate) => {
    const all = words(Number(many));
    return [text(...all.slice(0, all.length / 2)), until(gate), text(...all.slice(all.length / 2))];
  },
  think: (_rest, _said, gate) => {
    const all = words(100, "thought");
    return [reasoning(...all.slice(0, 50)), until(gate), reasoning(...all.slice(50)), text("Thought through.")];
  },
  busy: () => [fail("overloaded", { message: "The provider is overloaded.", status: 529, retryAfter: 60_000 })],
  // Fails before its first word; the second model works.
  refuse: () => [fail("authentication", { message: "The key of scripted is wrong: set another one." })],
  // Breaks off once, and is retried.
  anew: ([name = ""]) => {
    return isFirst(name) ? [text("Half an oak "), fail("overloaded", { retryAfter: 1 })] : [text("A whole oak.")];
  },
  // Fails once before its first word; the answer to the retry waits for the test.
  late: ([name = ""], _said, gate) =>
    isFirst(name) ? [fail("overloaded", { retryAfter: 1_000 })] : [until(gate), text("At last.")],
  stall: () => [text(...words(5)), stall()],
  plan: () => [call("update_plan", { steps: [step("look", "completed"), step("mend it", "pending")], hand_in: true })],
  shell: () => [text("I look. "), call("shell", { command: "ls -la" })],
  hold: () => [text("I wait. "), call("hold", {})],
  serve: () => [call("serve", {})],
  read: (paths) => [text("I read. "), ...paths.map((path) => call("read", { path }))],
  agent: (rest) => [call("launch_agent", { task: rest.join(" "), expected_output: "words" })],
  edit: () => [call("edit", EDIT)],
  offered: () => [call("mcp_g_read_only", EDIT)],
  /** Calls of `shell` with any arguments, as JSON after the word. */
  calls: (_rest, said) => JSON.parse(said.slice("calls".length)).map((input: Json) => call("shell", input)),
  code: () => [text(...CODE.split(/(?<=\n)/)), stall()],
  change: ([path = "", how = ""]) => [text("I change it. "), call("change", { path, how })],
  break: () => [text("It begins "), fail("invalid-request", { message: "The provider is not available." })],
  Review: () => [text("- README.md:1: it is empty\n- src/sum.ts:9: it is never called\n\nNot ready.")],
  hostile: () => [text(HOSTILE)],
  wonder: () => [text("I wonder. "), call("ask_client", WONDER)],
  ask: () => [call("ask_client", { question: "Which colour?" })],
};

/** Two questions at once. */
const WONDER: Json = {
  question: "How shall the oak look?",
  questions: [
    {
      heading: "Leaves",
      question: "Which colour?",
      choices: [{ label: "green", description: "as in spring" }, { label: "red" }],
    },
    {
      heading: "Birds",
      question: "Which of them sit in it?",
      several: true,
      choices: [{ label: "owl" }, { label: "jay" }, { label: "crow\u202e" }],
    },
  ],
};

/** A file change that needs approval. */
type Edit = typeof EDIT;

const EDIT = { path: "src/sum.ts", old_text: "return a;\n", new_text: "return a + b;\n" };

/** An unfinished answer with code. */
const CODE = `It is so:

\`\`\`ts
// Adds two numbers.
export function sum(a: number, b: number): number {
  return a + b;
}
\`\`\`

and then

\`\`\`diff
- return a;
+ return a + b;
`;

const AFTERWARDS: Readonly<Record<string, string>> = {
  hold: "It was let go.",
  serve: "It goes on.",
  change: "A line.\nAnother line.",
};

/** An answer that would be harmful as anything but text. */
const HOSTILE = `<script>window.harmed = true</script>
<img src="http://127.0.0.1:9/beacon.png" onerror="window.harmed = true">

![a picture](http://127.0.0.1:9/markdown.png) [a link](javascript:window.harmed=true) <b>bold</b>

\u001b]0;title\u0007\u001b[31mred\u001b[0m <iframe src="http://127.0.0.1:9/"></iframe>`;
