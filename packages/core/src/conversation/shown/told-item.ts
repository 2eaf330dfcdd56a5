import type { EventBody } from "../event.ts";
import type { FeedItem, Notice } from "../feed-item.ts";
import { formatDuration } from "./amounts.ts";
import { inEnglish, type Say } from "./say.ts";
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
const SENTENCES: { readonly [Type in ToldType]: (item: Told<Type>, say: Say) => string | undefined } = {
  "model.retrying": ({ reason, delay, attempt, ...hitch }, say) =>
    say("{reason} Asked again in {wait} ({hitch}, attempt {attempt}).", {
      reason: sentenceOf(reason),
      wait: waitOf(delay),
      hitch: hitchName(hitch),
      attempt: String(attempt),
    }),
  "model.replaced": ({ from, to, reason }, say) =>
    say("{reason} {to} goes on with this turn in the place of {from}.", {
      reason: sentenceOf(reason),
      to: visibleLine(to),
      from: visibleLine(from),
    }),
  "model.waiting": ({ time: wait, alive }, say) => {
    const time = formatDuration(Math.round(wait / 1_000) * 1_000);
    return alive
      ? say("Thinking for {time}; the connection is alive.", { time })
      : say("Nothing from the model for {time}.", { time });
  },
  "turn.waiting": ({ reason }) => (reason === "" ? undefined : sentenceOf(reason)),
  "message.left-out": ({ reason }, say) =>
    say("The model is not shown a message that cannot be read: {reason}", { reason: sentenceOf(reason) }),
  "request.changed": ({ reason }) => sentenceOf(reason),
  "memory.skipped": ({ reason }, say) => say("Memory was not used: {reason}", { reason: sentenceOf(reason) }),
  "context.shortening": ({ reason }, say) =>
    say("The earlier conversation is being summed up, to make room: {reason}", { reason: sentenceOf(reason) }),
  "context.not-shortened": ({ reason }, say) =>
    say("It was not summed up, and stays as it was: {reason}", { reason: sentenceOf(reason) }),
  "callback.failed": ({ callback, reason, isHook }, say) =>
    isHook
      ? sentenceOf(reason)
      : say("The callback {callback} failed, and the turn goes on: {reason}", {
          callback: visibleLine(callback),
          reason: sentenceOf(reason),
        }),
  "process.started": ({ process, title }, say) =>
    say("{process} goes on in the background: {title}", { process: visibleLine(process), title: visibleLine(title) }),
  "process.ended": ({ process, outcome }, say) =>
    say("{process} has ended: {outcome}", { process: visibleLine(process), outcome: sentenceOf(outcome) }),
  "run.paused": ({ reason, offers }, say) =>
    offers === "file"
      ? sentenceOf(reason)
      : say("{reason} A person is asked whether it may go on.", { reason: sentenceOf(reason) }),
  "run.continued": ({ allowed, offers }, say) => {
    if (offers === "file") return allowed ? say("The message is stored as a file.") : say("The message is not sent.");
    return allowed
      ? say("It goes on, with as much again as its limits allow.")
      : say("It does not go on beyond its limit.");
  },
  // These two are about the reading of the feed, and not about the conversation.
  "feed.reset": () => undefined,
  "chat.ended": () => undefined,
};

/**
 * What a person is told of something that happens beside what is said and done: a call of the model that is tried again, a
 * limit, memory that was skipped. One sentence or two, plain (S12); nothing for what is shown otherwise. Reasons are as the
 * log has them, in English.
 */
export function toldItem(item: FeedItem, say: Say = inEnglish): string | undefined {
  const sentence = Object.hasOwn(SENTENCES, item.type) ? SENTENCES[item.type as ToldType] : undefined;
  return (sentence as ((item: FeedItem, say: Say) => string | undefined) | undefined)?.(item, say);
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

/** What went wrong with a model, beside the reason, which says it in full: the HTTP status, or a few words where there is none. */
export function hitchName({ status, code }: { readonly status?: number; readonly code: string }): string {
  return status === undefined ? (HITCHES.get(code) ?? "the model failed") : `HTTP ${status}`;
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
