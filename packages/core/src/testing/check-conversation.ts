import type { Event } from "../conversation/event.ts";
import { type AssistantMessage, isEnded, type Message } from "../conversation/message.ts";
import { checkArguments } from "../conversation/option-names.ts";
import type { ConversationState, OpenQuestion } from "../conversation/state.ts";
import { checkState, parentKey } from "../conversation/tree/path.ts";
import { addUsage, noUsage, type Usage } from "../conversation/usage.ts";
import { promptFrom } from "../run/prompt.ts";
import { checkLog } from "./check-log.ts";

/**
 * Returns the faults of an idle conversation, one sentence each. Checks that nothing is busy, every message is
 * reachable and settled, every call has one result that a prompt contains, no delivered input waits, and no usage is
 * lost. Calls that a crash left open count as faults until a run has continued from them. With the log, also checks
 * that no call has two results or two starts by one process, no run began where another worked, and no input was
 * delivered twice. Only for whole conversations, not for sessions with a `window`.
 * @example if (checkConversation(session.state).length > 0) throw new Error("The conversation is damaged.");
 */
export function checkConversation(state: ConversationState, log: readonly Event[] = []): string[] {
  checkState("checkConversation", state);
  checkArguments("checkConversation", { log }, { log: "list" });
  return [
    ...checkLog(log),
    ...checkNothingBusy(state),
    ...checkTree(state),
    ...[...state.messages.values()].flatMap((message) =>
      message.role === "assistant" ? checkAssistant(state, message) : [],
    ),
    ...checkInbox(state),
    ...checkUsage(state),
  ];
}

function checkNothingBusy({ runs, questions, following }: ConversationState): string[] {
  return [
    ...[...following.values()].map(({ call }) => `Call ${call} still listens.`),
    ...[...runs.keys()].map((run) => `Run ${run} has not ended.`),
    ...[...questions.values()].map((question) => `Question ${question.id} about ${whatAsks(question)} is open.`),
  ];
}

function whatAsks(question: OpenQuestion): string {
  return question.type === "limit" ? `run ${question.run}` : `call ${question.call}`;
}

/** Each message is in the tree once, below an older message. */
function checkTree({ messages, children, calls, leaf }: ConversationState): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const [id, message] of messages) {
    const { parentId } = message;
    if (parentId !== null && !seen.has(parentId)) problems.push(`Message ${id} has no parent ${parentId} before it.`);
    const place = parentKey(message);
    const times = (children.get(place) ?? []).filter((child) => child === id).length;
    if (times !== 1) problems.push(`Message ${id} is ${times} times among the children of ${place}, not once.`);
    seen.add(id);
  }
  let hanging = 0;
  for (const [parent, ids] of children) {
    hanging += ids.length;
    if (parent !== null && !seen.has(parent) && !calls.has(parent))
      problems.push(`Messages hang on ${parent}, which is not there.`);
    if (ids.length === 0) problems.push(`Message ${parent} has a list of children without any.`);
  }
  if (hanging !== messages.size) problems.push(`${messages.size} messages are there, and ${hanging} hang on the tree.`);
  if (leaf !== null && !seen.has(leaf)) problems.push(`The conversation goes on from ${leaf}, which is not there.`);
  return problems;
}

/** A response is settled, contains each call once, and a prompt gives each call one result. */
function checkAssistant(state: ConversationState, message: AssistantMessage): string[] {
  const { id, parts, calls, finish } = message;
  const problems: string[] = [];
  if (finish === undefined) problems.push(`Answer ${id} has not ended.`);
  const asked = parts.flatMap((part) => (part.type === "call" ? [part.call] : []));
  const listed = calls.map((call) => call.id);
  if (!same(asked, listed)) problems.push(`Answer ${id} asks for calls ${asked} and lists ${listed}.`);
  for (const call of calls) {
    if (!isEnded(call.status)) problems.push(`Call ${call.id} of answer ${id} is ${call.status}.`);
    else if (call.output === undefined) problems.push(`Call ${call.id} of answer ${id} has ended without a result.`);
    const place = state.calls.get(call.id);
    if (place !== id) problems.push(`Call ${call.id} is looked for in ${place} and stands in answer ${id}.`);
  }
  return [...problems, ...checkPrompt(message, listed)];
}

function checkPrompt(message: Message, calls: readonly string[]): string[] {
  const shown = promptFrom([message]).flatMap((prompt) => (prompt.role === "assistant" ? [prompt] : []));
  const asked = shown.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "call" ? [part.id] : [])));
  const results = shown.flatMap((prompt) => prompt.results.map(({ call }) => call));
  if (same(asked, calls) && same(results, calls)) return [];
  return [`A prompt shows calls ${asked} with results of ${results} for answer ${message.id}, which made ${calls}.`];
}

function checkInbox({ inbox, messages }: ConversationState): string[] {
  const ids = inbox.map(({ id }) => id);
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
  const delivered = ids.filter((id) => messages.has(id));
  return [
    ...twice.map((id) => `Text ${id} waits twice.`),
    ...delivered.map((id) => `Text ${id} waits although it was delivered.`),
  ];
}

/** Usage of the responses is at most that of the conversation, which includes abandoned responses. */
function checkUsage({ messages, usage, cost }: ConversationState): string[] {
  let answers = noUsage;
  let price = 0;
  for (const message of messages.values()) {
    if (message.role === "user" || !message.usage) continue;
    answers = addUsage(answers, message.usage);
    price += message.cost ?? 0;
  }
  const problems = (Object.keys(answers) as (keyof Usage)[])
    .filter((kind) => answers[kind] > usage[kind])
    .map((kind) => `The answers used ${answers[kind]} tokens (${kind}), the conversation only ${usage[kind]}.`);
  // Sums of fractions vary slightly with their order.
  if (cost !== undefined && price > cost * (1 + 1e-9)) {
    problems.push(`The answers cost ${price} dollars, the conversation only ${cost}.`);
  }
  return problems;
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
