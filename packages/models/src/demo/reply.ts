import type { ModelRequest, PromptMessage } from "@banyan/core/drivers";
import type { Round } from "./intents.ts";
import { intents } from "./intents.ts";
import { type CallReport, describeDemoCall, reportDemoCall } from "./report.ts";
import { type DemoRequest, understand } from "./understand.ts";

/** The demo model's answer. Each part may be empty. */
export interface Reply {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: Round;
}

/** Returns the demo model's next answer to a conversation. */
export function reply(request: ModelRequest): Reply {
  const next = nextIn(request);
  const isTask = request.toolChoice === "auto" && request.tools.some(({ name }) => name === FINISH);
  if (!isTask || next.calls.length > 0) return next;
  return { ...next, text: "", calls: [{ tool: FINISH, input: { result: next.text } }] };
}

/** The tool that ends a task. */
const FINISH = "finish_task";

function nextIn(request: ModelRequest): Reply {
  const { wish, after } = lastWish(request);
  const rounds = roundsIn(after);
  const outcomes = rounds.flat();
  if (wish.type !== "work" && outcomes.length === 0) {
    return wish.type === "unknown"
      ? textReply(
          "None of my rules matches this message, so I list the requests that I understand.",
          notUnderstoodReply(wish.words),
        )
      : textReply("The user asks about me.", guide(request.tools.map((tool) => tool.name)));
  }

  const failed = rounds.at(-1)?.some(({ result }) => result.failed) ?? false;
  const left = wish.type === "work" ? wish.rounds.slice(rounds.length) : [];
  const [next] = left;
  const obstacle = next && whyNot(next, failed, request);
  if (!next || obstacle) {
    const remaining = left.flat().map(describeDemoCall);
    const note = obstacle ? `Not done: ${joinWithAnd(remaining)}, because ${obstacle}.` : "";
    return textReply(
      thoughtOn(outcomes),
      [...outcomes.map((outcome) => reportDemoCall(outcome, outcomes)), note].filter(Boolean).join("\n\n"),
    );
  }
  const what = joinWithAnd(next.map(describeDemoCall));
  return { reasoning: thoughtBefore(next, rounds.length), text: `I ${what}.`, calls: next };
}

function textReply(reasoning: string, text: string): Reply {
  return { reasoning, text, calls: [] };
}

/** Returns the reason that the next calls are impossible, or undefined. */
function whyNot(next: Round, failed: boolean, request: ModelRequest): string | undefined {
  if (failed) return "the step before failed";
  const absent = next.find((call) => !request.tools.some((tool) => tool.name === call.tool));
  if (absent) return `the tool \`${absent.tool}\` is not offered to me here`;
  return request.toolChoice === "none" ? "no tools can be called any more" : undefined;
}

/** The user's last request, and the messages after it. Skips messages to continue, and notices of limits. */
function lastWish({ messages, toolChoice }: ModelRequest): { wish: DemoRequest; after: readonly PromptMessage[] } {
  let newest: { wish: DemoRequest; after: readonly PromptMessage[] } | undefined;
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index];
    if (message?.role !== "user") continue;
    const found = { wish: wishIn(message), after: messages.slice(index + 1) };
    newest ??= found;
    const { type } = found.wish;
    if (type !== "go-on" && (type !== "unknown" || toolChoice === "auto")) return found;
  }
  return newest ?? { wish: { type: "guide" }, after: [] };
}

/** A message may have more texts than the request, such as files and recalled memory. One understood text is enough. */
function wishIn(message: Extract<PromptMessage, { role: "user" }>): DemoRequest {
  const texts = message.parts.flatMap((part) => (part.type === "text" && part.text.trim() ? [part.text] : []));
  const wishes = texts.map(understand);
  return wishes.findLast((wish) => wish.type !== "unknown") ?? wishes.at(-1) ?? { type: "guide" };
}

function roundsIn(messages: readonly PromptMessage[]): readonly CallReport[][] {
  const rounds: CallReport[][] = [];
  for (const message of messages) {
    if (message.role !== "assistant" || message.results.length === 0) continue;
    const calls = message.parts.filter((part) => part.type === "call");
    rounds.push(
      message.results.flatMap((result) => {
        const call = calls.find(({ id }) => id === result.call);
        return call ? [{ call, result }] : [];
      }),
    );
  }
  return rounds;
}

function thoughtBefore(next: Round, done: number): string {
  const order = done === 0 ? "The user wants me to" : "That worked. The next step is to";
  const apart = next.length > 1 ? " These calls are independent, so I make all of them at once." : "";
  return `${order} ${joinWithAnd(next.map(describeDemoCall))}.${apart}`;
}

function thoughtOn(outcomes: readonly CallReport[]): string {
  const worked = outcomes.filter(({ result }) => !result.failed).length;
  return outcomes.length === 0
    ? "I cannot do this here. I explain why."
    : `${worked} of ${outcomes.length} calls worked. I report the results.`;
}

function joinWithAnd(items: readonly string[]): string {
  return new Intl.ListFormat("en", { type: "conjunction" }).format(items);
}

const EXAMPLES = intents.map((intent) => `- ${intent.example}`).join("\n");

const REAL_MODEL = [
  "For a real model, do one of these and start again:",
  "",
  "- set `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`",
  "- set `OPENAI_COMPATIBLE_BASE_URL` to the address of any server that speaks the OpenAI chat format",
  "- start Ollama: Banyan finds it automatically",
].join("\n");

const UNDERSTOOD = `I understand requests like these. You can join several with "and" or "then":\n\n${EXAMPLES}`;

function guide(tools: readonly string[]): string {
  const offered =
    tools.length > 0 ? `The tools that I can call here: ${tools.join(", ")}.` : "I can call no tools here.";
  return [
    "I am `demo/offline`: a few rules, not a language model. I show how a conversation works, without an API key and without a network.",
    UNDERSTOOD,
    `${offered} Banyan asks you before a tool changes anything.`,
    REAL_MODEL,
  ].join("\n\n");
}

function notUnderstoodReply(words: string): string {
  const quoted = words.replace(/\s+/g, " ");
  const short = quoted.length > 80 ? `${quoted.slice(0, 79)}…` : quoted;
  return [
    `I do not understand "${short}". I am \`demo/offline\`: a few rules, not a language model. I did nothing.`,
    UNDERSTOOD,
    REAL_MODEL,
  ].join("\n\n");
}
