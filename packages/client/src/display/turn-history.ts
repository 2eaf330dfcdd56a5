import {
  type AssistantMessage,
  type Call,
  type ConversationState,
  describeUnreadable,
  latestRun,
  type Part,
  pathTo,
} from "@banyan/core/conversation";
import type { UnplacedItem } from "./display-item.ts";
import { isSameTurn, openRun, runsOfTurn } from "./turn-runs.ts";

const OUTCOMES: ReadonlySet<string> = new Set(["call.completed", "call.failed", "call.denied", "call.cancelled"]);

/** A display item, and whether the reader already has the message of this item. */
export type HistoryItem = readonly [item: UnplacedItem, isKnown: boolean];

/**
 * Returns the feed items of one turn, made from the state, with the items of the turn's sub-agents. `behind`: the
 * newest message of the turn that the client already has. The client then needs only the items after this message, and
 * the outcomes of the message's calls and of running sub-agents.
 */
export function turnHistory(state: ConversationState, run: string, behind?: string): HistoryItem[] {
  const byTurn = Map.groupBy(
    [...state.messages.values()].filter((message) => message.role === "assistant"),
    ({ run }) => latestRun(state, run),
  );
  const launched = Map.groupBy(
    [...byTurn.values()].flatMap(([first]) => (first?.call === undefined ? [] : [first])),
    ({ call }) => call,
  );
  const ofRun = (id: string, has: string | undefined): HistoryItem[] => {
    const messages = byTurn.get(latestRun(state, id)) ?? [];
    let isKnown = has !== undefined && messages.some((message) => message.id === has);
    const again = messages.flatMap((message, index) => {
      const items = [...steered(state, messages[index - 1], message.parentId), ...responseItems(message, state)];
      const said = items.map((item): HistoryItem => {
        return [item, isKnown && !(message.id === has && OUTCOMES.has(item.type))];
      });
      const agents = message.calls.flatMap((call) =>
        (launched.get(call.id) ?? []).flatMap((first) => ofSubAgent(first, call, isKnown)),
      );
      if (message.id === has) isKnown = false;
      // A sub-agent works before its call has a result.
      const outcome = said.findIndex(([{ type }]) => OUTCOMES.has(type));
      return said.toSpliced(outcome < 0 ? said.length : outcome, 0, ...agents);
    });
    const late = steered(state, messages.at(-1), openRun(state, id)?.leaf ?? null);
    return [...again, ...late.map((item): HistoryItem => [item, false])];
  };
  const ofSubAgent = (first: AssistantMessage, call: Call, isKnown: boolean): HistoryItem[] => {
    const live = openRun(state, first.run);
    const agent = live?.agent ?? call.about?.agent ?? call.tool;
    const runs = runsOfTurn(state, first.run);
    const begun = runs.map((run, index): UnplacedItem => {
      const continues = index === 0 ? {} : { continues: runs[index - 1] };
      return { type: "run.started", run, agent, call: call.id, leaf: first.parentId, ...continues } as UnplacedItem;
    });
    // A known sub-agent is part of the message that launched it; a working one is shown again from here.
    const said: HistoryItem[] = [
      ...begun.map((item): HistoryItem => [item, isKnown && !live]),
      ...ofRun(first.run, undefined).map(([item, known]): HistoryItem => [item, isKnown || known]),
    ];
    if (!live) said.push([{ type: "run.ended", run: first.run, reason: "answered", leaf: null }, isKnown]);
    return said;
  };
  const again = ofRun(run, behind === undefined ? undefined : ofTop(state, run, behind));
  for (const question of state.questions.values())
    if (question.type === "limit" && (isSameTurn(state, question.run, run) || isBelow(state, question.run, run))) {
      const { id, reason, offers } = question;
      const paused = { type: "run.paused", run: question.run, question: id, reason } as const;
      again.push([offers === undefined ? paused : { ...paused, offers }, false]);
    }
  return again;
}

/** Returns the message of a run that contains a message, directly or through a sub-agent. */
function ofTop(state: ConversationState, run: string, message: string): string {
  for (let at = state.messages.get(message); at; at = state.messages.get(state.calls.get(at.call ?? "") ?? ""))
    if (at.role === "assistant" && isSameTurn(state, at.run, run)) return at.id;
  return message;
}

function isBelow(state: ConversationState, run: string, top: string): boolean {
  for (let at = openRun(state, run); at?.call !== undefined; ) {
    const launcher = state.messages.get(state.calls.get(at.call) ?? "");
    if (launcher?.role !== "assistant") return false;
    if (isSameTurn(state, launcher.run, top)) return true;
    at = openRun(state, launcher.run);
  }
  return false;
}

function steered(state: ConversationState, behind: AssistantMessage | undefined, to: string | null): UnplacedItem[] {
  const path = behind ? pathTo(state, to) : [];
  const place = path.findIndex(({ id }) => id === behind?.id);
  return path.slice(place + 1).flatMap((message): UnplacedItem[] => {
    if (place < 0 || message.role !== "user" || message.author !== "user") return [];
    const { id, parentId, author, parts } = message;
    return [{ type: "message.added", message: id, parentId, role: "user", author, parts, run: behind?.run ?? "" }];
  });
}

function responseItems(message: AssistantMessage, state: ConversationState): UnplacedItem[] {
  const { id, parentId, run, model, finish, calls } = message;
  const unreadable = describeUnreadable(message);
  const parts: readonly Part[] = unreadable === undefined ? message.parts : [{ type: "text", text: unreadable }];
  const items: UnplacedItem[] = [{ type: "message.started", message: id, parentId, run, model }];
  if (finish === undefined) {
    const voice = { run, agent: "", depth: 0, message: id };
    for (const [part, { type, ...rest }] of parts.entries())
      if ((type === "text" || type === "reasoning") && "text" in rest)
        items.push({ ...voice, type: `${type}.delta`, part, text: rest.text } as UnplacedItem);
    return items;
  }
  const usage = message.usage ?? { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 };
  const cost = message.cost === undefined ? {} : { cost: message.cost };
  items.push({ type: "message.completed", message: id, parts, finish, usage, ...cost });
  for (const call of calls) {
    const input = call.input === undefined ? {} : { input: call.input };
    const about = call.about && { about: call.about };
    const { tool, inputText } = call;
    items.push({ type: "call.pending", message: id, call: call.id, tool, inputText, ...input, ...about });
  }
  for (const call of calls) items.push(...cameOf(call, id, state));
  return items;
}

function cameOf(call: Call, message: string, state: ConversationState): UnplacedItem[] {
  const of = { message, call: call.id };
  const items: UnplacedItem[] = [];
  for (const question of state.questions.values()) {
    if (question.type === "limit" || question.call !== call.id) continue;
    const { id, type } = question;
    if (type === "approval") items.push({ ...of, type: "call.approval-requested", tool: call.tool, question: id });
    else {
      const { text, choices, fields } = question;
      const offered = { ...(choices && { choices }), ...(fields && { fields }) };
      items.push({ ...of, type: "question.asked", question: id, text, ...offered });
    }
  }
  for (const change of call.changes ?? []) items.push({ ...of, type: "file.changed", ...change });
  if (OUTCOMES.has(`call.${call.status}`))
    items.push({ ...of, tool: call.tool, type: `call.${call.status}`, output: call.output ?? "" } as UnplacedItem);
  return items;
}
