import { type EventBody, type FeedItem, failedCheckText, type Notice } from "@banyan/core/conversation";
import { inEnglish, type Say, visibleLine, visibleProse } from "@banyan/core/shown";
import { formatDuration } from "../words/amounts.ts";

/**
 * A sentence that clients show below a discarded text, because the model is asked again.
 * @example console.error(GIVEN_UP);
 */
export const GIVEN_UP = "Answer cut off, asking again. The text above is discarded.";

/**
 * A sentence that clients show below a second discarded text of the same turn.
 * @example console.error(GIVEN_UP_TOO);
 */
export const GIVEN_UP_TOO = "This text is discarded, too.";

/** Types of items that clients show as a sentence alone. */
export type NoticeType = Exclude<Notice["type"], "feed.reset" | "chat.ended">;

type SentenceType = NoticeType | "goal.checked" | "process.ended" | "process.started" | "run.continued" | "run.paused";

type ItemOf<Type extends string> = Extract<EventBody | Notice, { readonly type: Type }>;

/** `undefined`: the item needs no sentence. */
const SENTENCES: { readonly [Type in SentenceType]: (item: ItemOf<Type>, say: Say) => string | undefined } = {
  "model.retrying": ({ reason: why, delay, attempt: number, ...failure }, say) => {
    const reason = asSentence(why);
    const wait = waitOf(delay);
    // The first attempt waits for the rate limit of the agent.
    if (number === 1) return say("{reason} Continuing in {wait}.", { reason, wait });
    const attempt = String(number);
    const hitch = failureName(failure);
    return say("{reason} Trying again in {wait} ({hitch}, attempt {attempt}).", { reason, wait, hitch, attempt });
  },
  "model.replaced": ({ from, to, reason }, say) =>
    say("{reason} {to} continues this turn instead of {from}.", {
      reason: asSentence(reason),
      to: visibleLine(to),
      from: visibleLine(from),
    }),
  "model.waiting": ({ time: wait, alive }, say) => {
    const time = formatDuration(Math.round(wait / 1_000) * 1_000);
    return alive
      ? say("Thinking for {time}. The connection is alive.", { time })
      : say("The model has sent nothing for {time}.", { time });
  },
  "turn.waiting": ({ reason }) => (reason === "" ? undefined : asSentence(reason)),
  "message.left-out": ({ reason }, say) =>
    say("A message that cannot be read is not sent to the model: {reason}", { reason: asSentence(reason) }),
  "request.changed": ({ reason }) => asSentence(reason),
  "memory.skipped": ({ reason }, say) => say("Memory was not used: {reason}", { reason: asSentence(reason) }),
  "approval.withdrawn": ({ reason }, say) =>
    say("{reason} Banyan asks before changes and commands again.", { reason: asSentence(reason) }),
  "context.shortening": ({ reason }, say) =>
    say("Compacting the conversation: {reason}", { reason: asSentence(reason) }),
  "context.not-shortened": ({ reason }, say) =>
    say("The conversation was not compacted: {reason}", { reason: asSentence(reason) }),
  "callback.failed": ({ callback, reason, isHook }, say) =>
    isHook
      ? asSentence(reason)
      : say("The turn continues although the callback {callback} failed: {reason}", {
          callback: visibleLine(callback),
          reason: asSentence(reason),
        }),
  "goal.checked": ({ outcome, results }, say) => {
    const failed = results.filter(({ passed }) => !passed);
    const names = (some: readonly { readonly what: string }[]) => some.map(({ what }) => visibleLine(what)).join("; ");
    const changed = results.flatMap((result) => result.changed ?? []).map(visibleLine);
    const seen =
      changed.length === 0 ? "" : say("Changed since the goal began: {files}.", { files: changed.join(", ") });
    const notes = results.flatMap(({ passed, why }) => (passed && why !== undefined ? [asSentence(why)] : []));
    // The end of the turn has the reasons of the last failures.
    const said =
      outcome === "done"
        ? say("Goal reached: {checks}.", { checks: names(results) })
        : outcome === "open"
          ? say("Goal not reached yet. These checks failed: {checks}.", {
              checks: failed.map(failedCheckText).join("; "),
            })
          : say("Goal not reached. These checks failed: {checks}.", { checks: names(failed) });
    return [said, seen, ...notes].filter((sentence) => sentence !== "").join(" ");
  },
  "process.started": ({ process, title }, say) =>
    say("Running in the background ({process}): {title}", { process: visibleLine(process), title: visibleLine(title) }),
  "process.ended": ({ process, outcome }, say) =>
    say("{process} has ended: {outcome}", { process: visibleLine(process), outcome: asSentence(outcome) }),
  "run.paused": ({ reason, offers }, say) =>
    offers === "file"
      ? asSentence(reason)
      : say("{reason} Waiting for a user to decide whether it continues.", { reason: asSentence(reason) }),
  "run.continued": ({ allowed, offers }, say) => {
    if (offers === "file") return allowed ? say("The message is stored as a file.") : say("The message is not sent.");
    return allowed
      ? say("The turn continues until it reaches the same limits again.")
      : say("The turn ends at its limit.");
  },
};

/**
 * Returns one or two sentences about an item that is neither a message nor a call, such as a retry or a limit. Returns
 * `undefined` for other items. The text has no control characters (S12). `say` translates the sentences; reasons stay
 * in English, as in the log.
 * @example for await (const item of agent.chat(say("Hello"))) console.error(itemSentence(item) ?? "");
 */
export function itemSentence(item: FeedItem, say: Say = inEnglish): string | undefined {
  if (!hasSentence(item)) return undefined;
  return (SENTENCES[item.type] as (item: FeedItem, say: Say) => string | undefined)(item, say);
}

/** Returns true if an item has a sentence. */
export function hasSentence<Item extends { readonly type: string }>(
  item: Item,
): item is Extract<Item, { readonly type: SentenceType }> {
  return Object.hasOwn(SENTENCES, item.type);
}

/** Names of failures before a retry, by the code of the `ModelError`. */
const FAILURES: ReadonlyMap<string, string> = new Map([
  ["rate-limit", "rate limited"],
  ["overloaded", "the provider is overloaded"],
  ["unreachable", "the provider cannot be reached"],
  ["broken-stream", "the answer broke off"],
  ["stalled", "the provider stopped answering"],
  ["provider", "the provider failed to answer"],
]);

/**
 * Describes a failed model call in a few words: a rate limit, or else the HTTP status.
 * @example failureName({ status: 503, code: "overloaded" }) // "HTTP 503"
 */
export function failureName({ status, code }: { readonly status?: number; readonly code: string }): string {
  if (status === undefined || code === "rate-limit") return FAILURES.get(code) ?? "the model failed";
  return `HTTP ${status}`;
}

function waitOf(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1_000);
  return seconds < 10 || seconds >= 60 ? formatDuration(milliseconds) : `${seconds} s`;
}

function asSentence(reason: string): string {
  const line = visibleProse(reason.replaceAll(/\s+/g, " ").trim());
  return /[.!?…]$/.test(line) ? line : `${line}.`;
}
