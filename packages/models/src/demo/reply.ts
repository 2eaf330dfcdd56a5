import type { ModelRequest, PromptMessage } from "@banyan/core/drivers";
import type { Round } from "./intents.ts";
import { intents } from "./intents.ts";
import { type CallReport, describeDemoCall, reportDemoCall } from "./report.ts";
import { type DemoRequest, understand } from "./understand.ts";

/** The demo's answer. Any part may be empty. */
export interface Reply {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: Round;
}

/** Returns the demo's next answer. In a task, the last text is the result. */
export function reply(request: ModelRequest): Reply {
  const next = nextIn(request);
  const isTask = request.toolChoice === "auto" && request.tools.some(({ name }) => name === FINISH);
  if (!isTask || next.calls.length > 0) return next;
  return { ...next, text: "", calls: [{ tool: FINISH, input: { result: next.text } }] };
}

/** The tool that ends a task. */
const FINISH = "finish_task";

/** Decides from the messages alone: the user's request, the work so far, and the next step. */
function nextIn(request: ModelRequest): Reply {
  const { wish, after } = lastWish(request);
  const rounds = roundsIn(after);
  const outcomes = rounds.flat();
  if (wish.type !== "work" && outcomes.length === 0) {
    return wish.type === "unknown"
      ? textReply("None of my rules matches, so I list them.", notUnderstoodReply(wish.words))
      : textReply("This is a question about myself.", guide(request.tools.map((tool) => tool.name)));
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

/** Why the next calls cannot be made; undefined if they can. */
function whyNot(next: Round, failed: boolean, request: ModelRequest): string | undefined {
  if (failed) return "the step before failed";
  const absent = next.find((call) => !request.tools.some((tool) => tool.name === call.tool));
  if (absent) return `the tool \`${absent.tool}\` is not offered to me here`;
  return request.toolChoice === "none" ? "no tools can be called any more" : undefined;
}

/**
 * The last request of the user, and the messages after it. A message to continue belongs to the request before. So
 * does an unknown message while no tools may be called, such as the notice of a limit.
 */
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
    ? "I cannot do this here, and explain why."
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
  "- start Ollama, which is found by itself",
].join("\n");

const UNDERSTOOD = `I understand requests like these, also several of them, joined by "and" or "then":\n\n${EXAMPLES}`;

/** The demo's description of itself. */
function guide(tools: readonly string[]): string {
  const offered =
    tools.length > 0 ? `The tools that I can call here: ${tools.join(", ")}.` : "No tools are offered to me here.";
  return [
    "I am `demo/offline`: a few rules, not a language model. I show how a conversation works here, without a key and without a network.",
    UNDERSTOOD,
    `${offered} What has an effect asks you first.`,
    REAL_MODEL,
  ].join("\n\n");
}

function notUnderstoodReply(words: string): string {
  const quoted = words.replace(/\s+/g, " ");
  const short = quoted.length > 80 ? `${quoted.slice(0, 79)}…` : quoted;
  return [
    `I do not understand "${short}". I am \`demo/offline\`: a few rules, not a language model, and did nothing.`,
    UNDERSTOOD,
    REAL_MODEL,
  ].join("\n\n");
}
