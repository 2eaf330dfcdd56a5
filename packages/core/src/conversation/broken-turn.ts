import type { Event, RunEnd } from "./event.ts";
import type { AssistantMessage, Message, Part } from "./message.ts";
import { inEnglish, type Say } from "./shown/say.ts";

type RunEnded = Extract<Event, { readonly type: "run.ended" }>;

/** How a turn ended that did not come to its response. */
export interface BrokenTurn {
  readonly run: string;
  readonly reason: Exclude<RunEnd, "answered" | "finished" | "waiting">;
  /** The kind of failure: for a model's, the code of the `ModelError`. */
  readonly code?: string;
  /** One sentence. */
  readonly message?: string;
}

/** What a person can do about it: ask again, ask another model, or go on from where it stands. */
export type WayOn = "again" | "another-model" | "go-on";

/** What a person is told of a turn that broke off, the same in every client (W48). */
export interface ToldBreak {
  /** In a few words. */
  readonly head: string;
  /** One sentence: why, as the log has it. */
  readonly why: string;
  /** What can be done, the best first; and in words, for who has no buttons. */
  readonly ways: readonly WayOn[];
  readonly advice: string;
  /** Something is wrong; else it was meant to end. */
  readonly isFailure: boolean;
}

/** Says why a turn did not come to its response, and what can be done about it. `isBegun`: a part of the response is there. */
export function toldBreak(
  { reason, code, message }: Omit<BrokenTurn, "run">,
  isBegun = false,
  say: Say = inEnglish,
): ToldBreak {
  switch (reason) {
    case "interrupted":
      return {
        head: say("Interrupted"),
        why: message ?? say("The turn was stopped before the model answered."),
        ways: ["go-on", "again"],
        advice: say("Continue from here, ask again, or write something else."),
        isFailure: false,
      };
    case "limit":
      return {
        head: say("Stopped at a limit"),
        why: message ?? say("The turn stopped at its limit."),
        ways: ["again"],
        advice: say("Write something to continue, or ask again."),
        isFailure: false,
      };
    case "failed":
      return {
        head: isBegun ? say("The answer broke off") : say("No answer"),
        why: message ?? say("The model could not answer."),
        ...(code !== undefined && ELSEWHERE.has(code)
          ? { ways: ["another-model", "again"], advice: say("Choose another model, or ask again once this is fixed.") }
          : { ways: ["again", "another-model"], advice: say("Ask again, or choose another model.") }),
        isFailure: true,
      };
  }
}

/**
 * How a response falls short though nothing failed: the model said nothing, was cut off at the limit of its length, or by
 * the provider's filter. Such a turn counts as answered, and a person is told.
 */
export type Shortfall = "empty" | "length" | "filtered";

/** How a complete response falls short; nothing when it is an answer, or asks for calls. */
export function shortfallOf(message: Message | undefined): Shortfall | undefined {
  if (message?.role !== "assistant" || message.unreadable !== undefined) return undefined;
  const { finish, parts } = message;
  if (finish === "length" || finish === "filtered") return finish;
  if (finish !== "stop") return undefined;
  const says = parts.some((part) => part.type === "call" || part.type === "file" || isWords(part));
  return says ? undefined : "empty";
}

function isWords(part: Part): boolean {
  return part.type === "text" && part.text.trim() !== "";
}

/** Says that a message, or an input that waits, cannot be read, and why (F77); nothing when it can. */
export function toldUnreadable(
  message: Pick<Message, "unreadable"> | undefined,
  say: Say = inEnglish,
): string | undefined {
  const reason = message?.unreadable;
  return reason === undefined ? undefined : say("This message cannot be read: {reason}", { reason });
}

/** Says how a response falls short, and what a person can do; nothing when it does not. */
export function toldShortfall(message: Message | undefined, say: Say = inEnglish): string | undefined {
  if (message?.role === "assistant" && message.unreadable !== undefined) return toldUnreadable(message, say);
  switch (shortfallOf(message)) {
    case "empty":
      return say("The model gave no answer. Ask again, or choose another model.");
    case "length":
      return say("The answer was cut off at its length limit.");
    case "filtered": {
      const { error } = message as AssistantMessage;
      return error
        ? say("The provider refused this or cut it off: {error}", { error })
        : say("The provider refused this or cut it off.");
    }
    case undefined:
      return undefined;
  }
}

/** Why a run ended, in a sentence of the log; nothing where it says no more than the reason. */
export function whyEnded({ error, limit }: Pick<RunEnded, "error" | "limit">): string | undefined {
  return error?.message ?? (limit === undefined ? undefined : `The turn reached ${limit}.`);
}

/**
 * The error of a run that nobody stopped: its session was closed under it, or its process ended. Who reads how it ended
 * must not take it for their own doing.
 */
export const CUT_OFF = {
  code: "cut-off",
  message: "The program that worked on this stopped before the answer was complete.",
} as const;

/** Asking the same model the same again will fail the same way: these are of `ModelErrorCode`. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  "authentication",
  "quota",
  "filtered",
  "context-overflow",
  "unknown-model",
  "invalid-request",
]);
