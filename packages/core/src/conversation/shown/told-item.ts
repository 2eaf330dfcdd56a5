import type { EventBody } from "../event.ts";
import type { FeedItem, Notice } from "../feed-item.ts";
import { formatDuration } from "./amounts.ts";
import { visibleLine, visibleProse } from "./visible-text.ts";

/** Said below a part of a response that broke off and is asked for anew: it counts no more. */
export const GIVEN_UP = "What was written of this answer is given up; it is asked for anew.";

/** The same of a further part of the same turn, where the sentence above stands already. */
export const GIVEN_UP_TOO = "This is given up, too.";

/** What happens beside the conversation and is told in a sentence, `toldItem`. */
export type ToldType = Notice["type"] | "process.ended" | "process.started" | "run.continued" | "run.paused";

/**
 * What nobody is told as it happens: whoever did it sees what came of it, in the state. A view that tells what happens says
 * with `satisfies` what it passes over, so that a type of item that is new does not compile before each of them has decided.
 */
export type UntoldType =
  | `conversation.${"created" | "brought-in"}`
  | `message.${"checkpoint" | "labelled" | "starred" | "removed" | "restored"}`
  | `call.${"following" | "followed"}`
  | `input.${"queued" | "edited" | "withdrawn"}`
  | "content.stored"
  | "memory.dismissed"
  | "model.changed"
  | "rule.revoked"
  | "title.changed"
  | "usage.counted";

/** An item as far as it is told. */
type Told<Type extends string> = Extract<EventBody | Notice, { readonly type: Type }>;

/** The sentence, the same in every client; `undefined` where an item of the type needs none. */
const SENTENCES: { readonly [Type in ToldType]: (item: Told<Type>) => string | undefined } = {
  "model.retrying": ({ reason, delay, attempt, status }) =>
    `${sentenceOf(reason)} Asked again in ${waitOf(delay)} (${status === undefined ? "" : `HTTP ${status}, `}attempt ${attempt}).`,
  "model.replaced": ({ from, to, reason }) =>
    `${sentenceOf(reason)} ${visibleLine(to)} goes on with this turn in the place of ${visibleLine(from)}.`,
  "model.waiting": ({ time, alive }) => {
    const seconds = formatDuration(Math.round(time / 1_000) * 1_000);
    return alive ? `Thinking for ${seconds}; the connection is alive.` : `Nothing from the model for ${seconds}.`;
  },
  "turn.waiting": ({ reason }) => (reason === "" ? undefined : sentenceOf(reason)),
  "memory.skipped": ({ reason }) => `Memory was not used: ${sentenceOf(reason)}`,
  "context.shortening": ({ reason }) =>
    `The earlier conversation is being summed up, to make room: ${sentenceOf(reason)}`,
  "context.not-shortened": ({ reason }) => `It was not summed up, and stays as it was: ${sentenceOf(reason)}`,
  "callback.failed": ({ callback, reason }) =>
    `The callback ${visibleLine(callback)} failed, and the turn goes on: ${sentenceOf(reason)}`,
  "process.started": ({ process, title }) => `${visibleLine(process)} goes on in the background: ${visibleLine(title)}`,
  "process.ended": ({ process, outcome }) => `${visibleLine(process)} has ended: ${sentenceOf(outcome)}`,
  "run.paused": ({ reason }) => `${sentenceOf(reason)} A person is asked whether it may go on.`,
  "run.continued": ({ allowed }) =>
    allowed ? "It goes on, with as much again as its limits allow." : "It does not go on beyond its limit.",
  // These two are about the reading of the feed, and not about the conversation.
  "feed.reset": () => undefined,
  "chat.ended": () => undefined,
};

/**
 * What a person is told of something that happens beside what is said and done: a call of the model that is tried again, a
 * limit, memory that was skipped. One sentence or two, plain (S12); nothing for what is shown otherwise.
 */
export function toldItem(item: FeedItem): string | undefined {
  const sentence = Object.hasOwn(SENTENCES, item.type) ? SENTENCES[item.type as ToldType] : undefined;
  return (sentence as ((item: FeedItem) => string | undefined) | undefined)?.(item);
}

/** By the code of a `ModelError`: those after which a model is asked again. */
const HITCHES: ReadonlyMap<string, string> = new Map([
  ["rate-limit", "the provider takes no more for now"],
  ["overloaded", "the provider is overloaded"],
  ["unreachable", "the provider cannot be reached"],
  ["broken-stream", "the answer broke off"],
  ["stalled", "the provider stopped answering"],
  ["provider", "the provider failed to answer"],
]);

/** What went wrong with a model, in a few words, with its HTTP status where there was one. */
export function hitchName({ status, code }: { readonly status?: number; readonly code: string }): string {
  const words = HITCHES.get(code) ?? "the model failed";
  return status === undefined ? words : `${words} (HTTP ${status})`;
}

/** A wait, in whole seconds when it is a long one. */
function waitOf(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1_000);
  return seconds < 10 || seconds >= 60 ? formatDuration(milliseconds) : `${seconds} s`;
}

/** A reason as it came, on one line, with an end. */
function sentenceOf(reason: string): string {
  const line = visibleProse(reason.replaceAll(/\s+/g, " ").trim());
  return /[.!?…]$/.test(line) ? line : `${line}.`;
}
