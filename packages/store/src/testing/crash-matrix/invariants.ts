import { isDeepStrictEqual } from "node:util";
import {
  type ConversationState,
  type Event,
  emptyConversation,
  leaves,
  type Message,
  pathTo,
  reduce,
  textOf,
} from "@banyan/core";
import { addUsage, noUsage } from "@banyan/core/conversation";
import { promptFrom } from "@banyan/core/hosts";
import { checkConversation } from "@banyan/core/testing";
import { ANYTHING, type Effect } from "./journey.ts";
import type { Announcement } from "./witness.ts";

/** The facts about a conversation whose process was killed, after it was continued. */
export interface Aftermath {
  /** The announcements of the killed processes. */
  readonly seen: readonly Announcement[];
  /** The log that the killed processes left. */
  readonly kept: readonly Event[];
  /** The final log. */
  readonly log: readonly Event[];
  /** The conversation in the continuing session, and as the next session reads it. */
  readonly state: ConversationState;
  readonly reopened: ConversationState;
  /** All effects of all processes. */
  readonly effects: readonly Effect[];
}

type EventOf<Type extends Event["type"]> = Extract<Event, { readonly type: Type }>;

/** Checks the invariants after a crash. Returns one sentence for each problem; empty if all hold. */
export function problemsOf(aftermath: Aftermath): string[] {
  return [
    ...checkConversation(aftermath.state, aftermath.log),
    ...checkLog(aftermath),
    ...lossesIn(aftermath),
    ...checkTexts(aftermath),
    ...checkApprovals(aftermath),
    ...checkCalls(aftermath),
    ...doubleStartsIn(aftermath),
    ...checkStreams(aftermath),
    ...checkFollowers(aftermath),
    ...checkSubAgents(aftermath),
    ...checkUsage(aftermath),
    ...checkReload(aftermath),
    ...checkAnswered(aftermath),
  ];
}

/** F6: the log has no gap, and its earlier events are unchanged. */
function checkLog({ kept, log }: Aftermath): string[] {
  const gap = log.findIndex(({ seq }, index) => seq !== index + 1);
  return [
    ...(gap < 0 ? [] : [`The log has event ${log[gap]?.seq} in place ${gap + 1}.`]),
    ...(isDeepStrictEqual(log.slice(0, kept.length), kept) ? [] : ["What the log held was changed."]),
  ];
}

/** Invariant 5: acknowledged facts are in the log. */
export function lossesIn({ seen, kept }: Aftermath): string[] {
  const problems: string[] = [];
  for (const told of seen) {
    if (told.type === "event" && !isDeepStrictEqual(kept[told.event.seq - 1], told.event)) {
      problems.push(`Event ${told.event.seq} (${told.event.type}) was shown and is not in the log.`);
    }
    if (told.type === "said" && !ofType(kept, "input.queued").some(({ input }) => input === told.input)) {
      problems.push(`The text "${told.text}" was acknowledged and is not in the log.`);
    }
    const answers = [...ofType(kept, "call.approval-resolved"), ...ofType(kept, "question.answered")];
    if (told.type === "answered" && !answers.some(({ question }) => question === told.question)) {
      problems.push(`The answer to question ${told.question} was acknowledged and is not in the log.`);
    }
  }
  return problems;
}

/** Invariant 6: each input is exactly one message, word for word, or waits. An input is reported as delivered only afterwards. */
function checkTexts({ log, state }: Aftermath): string[] {
  return ofType(log, "input.queued").flatMap(({ input, parts }) => {
    const messages = ofType(log, "message.added").filter(({ message }) => message === input);
    const delivered = ofType(log, "input.delivered").filter((event) => event.input === input);
    const waiting = state.inbox.filter(({ id }) => id === input);
    const problems: string[] = [];
    if (messages.length + waiting.length !== 1) {
      problems.push(`Text ${input} was delivered ${messages.length} times and waits ${waiting.length} times.`);
    }
    if (messages.length !== delivered.length) {
      problems.push(`Text ${input} is ${messages.length} messages and was called delivered ${delivered.length} times.`);
    }
    const changed = [...messages, ...waiting].some((now) => !isDeepStrictEqual(now.parts, parts));
    return changed ? [...problems, `Text ${input} is not what was said.`] : problems;
  });
}

/** A user is not asked again about an allowed call. */
function checkApprovals({ kept, log }: Aftermath): string[] {
  const allowed = ofType(kept, "call.approval-resolved").filter((event) => event.allowed);
  return allowed.flatMap(({ call, seq }) =>
    ofType(log, "call.approval-requested").some((asked) => asked.call === call && asked.seq > seq)
      ? [`Call ${call} was allowed, and asked about again.`]
      : [],
  );
}

/** Invariant 1: each call has one result. Its attempts count up and share a key. */
function checkCalls({ log }: Aftermath): string[] {
  return ofType(log, "call.pending").flatMap(({ call }) => {
    const mine = log.filter((event) => "call" in event && event.call === call);
    const results = mine.filter((event) => "output" in event);
    const starts = ofType(mine, "call.executing");
    const problems = results.length === 1 ? [] : [`Call ${call} has ${results.length} results.`];
    if (starts.some(({ attempt }, index) => attempt !== index + 1) || new Set(starts.map(({ key }) => key)).size > 1) {
      problems.push(
        `Call ${call} was started as ${starts.map(({ key, attempt }) => `${key} #${attempt}`).join(", ")}.`,
      );
    }
    return problems;
  });
}

/** Invariant 4: no effect without a logged intent, one effect for each intent, and one for each external call. */
export function doubleStartsIn({ log, effects }: Aftermath): string[] {
  const intents = new Set(ofType(log, "call.executing").map(({ key, attempt }) => `${key} #${attempt}`));
  const starts = effects.map(({ key, attempt }) => `${key} #${attempt}`);
  const external = effects.filter((effect) => effect.effects === "external").map(({ key }) => key);
  return [
    ...starts.filter((start) => !intents.has(start)).map((start) => `${start} was started without an intent.`),
    ...repeated(starts).map((start) => `${start} was started twice.`),
    ...repeated(external).map((key) => `${key} has external effects and was started twice.`),
  ];
}

/** B33: the work of a following call is done at most once, and the model gets a true report. */
function checkFollowers({ log, state, effects }: Aftermath): string[] {
  return ofType(log, "call.following").flatMap(({ call, message, seq }) => {
    const done = effects.filter(({ key }) => key === `${message}.${call}`).length;
    const ended = log.find((event) => event.type === "call.followed" && event.call === call && event.seq > seq);
    // The report to the model is written together with the end of the following call.
    const note = log.find((event) => event.type === "message.added" && event.author === "tool" && event.seq > seq);
    const told = note?.type === "message.added" ? wordsOf(state.messages.get(note.message) as Message) : "";
    if (done > 1) return [`What call ${call} listened for was done ${done} times.`];
    if (ended?.type !== "call.followed") return [`Call ${call} listens for ever.`];
    if (ended.outcome === "completed" && done === 0) return [`Call ${call} says that it is done, and it is not.`];
    if (done === 1 && /no part of the message was applied/.test(told))
      return [`It was done, and the model is told: ${told}`];
    return [];
  });
}

/** B41: each launching call has one sub-agent, and a finished sub-agent does not run again. */
function checkSubAgents({ kept, log, state }: Aftermath): string[] {
  const roots = ofType(log, "message.added").filter(({ call, parentId }) => call !== undefined && parentId === null);
  const launched = roots.map(({ call }) => call ?? "");
  const of = (message: string) => state.messages.get(message)?.call;
  const asked = ofType(kept, "call.completed").filter(({ call }) => call.endsWith("-end"));
  const again = asked.flatMap((end) =>
    ofType(log, "message.started").filter(({ message, seq }) => seq > kept.length && of(message) === of(end.message)),
  );
  return [
    ...repeated(launched).map((call) => `Call ${call} launched two sub-agents.`),
    ...again.map(({ message }) => `A sub-agent that had finished was asked again: ${message}.`),
  ];
}

/** Invariant 9: the usage of each logged model call counts once. */
function checkUsage({ log, state }: Aftermath): string[] {
  const told = log.flatMap((event) => ("usage" in event && event.usage ? [event.usage] : []));
  const sum = told.reduce(addUsage, noUsage);
  return isDeepStrictEqual(sum, state.usage) ? [] : ["The usage is not that of all model calls."];
}

/** F16: an interrupted answer keeps exactly the text of its checkpoints, which users saw as the start of the answer. */
function checkStreams({ seen, kept, state }: Aftermath): string[] {
  const problems: string[] = [];
  for (const [id, shown] of shownIn(seen)) {
    const message = state.messages.get(id);
    const whole = ofType(kept, "message.completed").some((event) => event.message === id);
    const checkpoints = ofType(kept, "message.checkpoint").filter((event) => event.message === id);
    const saved = checkpoints.flatMap(({ parts }) => parts.map(({ text }) => text)).join("");
    const left = message ? wordsOf(message) : "";
    if (!whole && left !== saved) problems.push(`Of answer ${id} "${left}" is left, and "${saved}" was in the log.`);
    if (!left.startsWith(shown) && !shown.startsWith(left)) {
      problems.push(`Of answer ${id} "${left}" is left, and "${shown}" was shown.`);
    }
    if (whole && !left.startsWith(shown)) problems.push(`Answer ${id} was complete, and lost some of "${shown}".`);
  }
  return problems;
}

/** Returns the number of visible characters of interrupted answers that are lost: those after the last checkpoint. */
export function textLostIn({ seen, state }: Aftermath): number {
  let lost = 0;
  for (const [id, shown] of shownIn(seen)) {
    const message = state.messages.get(id);
    lost += Math.max(0, shown.length - (message ? wordsOf(message).length : 0));
  }
  return lost;
}

/** Returns the visible text of each answer. Reasoning comes before text in all answers. */
function shownIn(seen: readonly Announcement[]): Map<string, string> {
  const shown = new Map<string, string>();
  for (const told of seen) {
    if (told.type === "delta") shown.set(told.message, (shown.get(told.message) ?? "") + told.text);
  }
  return shown;
}

function wordsOf(message: Message): string {
  return message.parts.map((part) => (part.type === "text" || part.type === "reasoning" ? part.text : "")).join("");
}

/** Invariants 2 and 3: a reader of the log gets the same conversation and the same prompts. */
function checkReload({ log, state, reopened }: Aftermath): string[] {
  const problems: string[] = [];
  const replayed = emptyConversation(state.id);
  for (const event of log) reduce(replayed, event);
  // Each writer has its own epoch; a reader without writes has the epoch of the last event.
  if (!isDeepStrictEqual({ ...replayed, epoch: 0 }, { ...state, epoch: 0 })) {
    problems.push("The log gives another conversation than the session had.");
  }
  if (!isDeepStrictEqual(reopened, replayed)) problems.push("The conversation is another one when it is opened again.");
  if (!isDeepStrictEqual(leaves(reopened), leaves(state)))
    problems.push("It has other branches when it is opened again.");
  for (const leaf of leaves(state)) {
    const before = JSON.stringify(promptFrom(pathTo(state, leaf)));
    if (JSON.stringify(promptFrom(pathTo(reopened, leaf))) !== before) {
      problems.push(`The prompt of branch ${leaf} is another one when the conversation is opened again.`);
    }
  }
  return problems;
}

/** Invariant 7: a message after the crash is answered. */
function checkAnswered({ state }: Aftermath): string[] {
  const last = state.leaf === null ? undefined : state.messages.get(state.leaf);
  const said = last ? textOf(last) : "";
  return state.lastRunEnd === "answered" && said !== ""
    ? []
    : [`Nobody answered: the last run ended as ${state.lastRunEnd}, with "${said}" (${ANYTHING} was due).`];
}

function ofType<Type extends Event["type"]>(events: readonly Event[], type: Type): EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type);
}

function repeated(items: readonly string[]): string[] {
  return items.filter((item, index) => items.indexOf(item) !== index);
}
