import { type AssistantMessage, type BrokenTurn, describeUnreadable, type Message } from "@banyan/core/conversation";
import { inEnglish, type Say } from "@banyan/core/shown";

/** A way to continue: ask again, ask another model, or continue from here. See {@link describeBrokenTurn}. */
export type RecoveryOption = "again" | "another-model" | "go-on";

/** The report of a broken turn for users, the same in every client (W48). See {@link describeBrokenTurn}. */
export interface BrokenTurnReport {
  readonly head: string;
  /** The reason from the log, in one sentence. */
  readonly why: string;
  /** Ways to continue, the best first. Also the same ways as a sentence, for clients without buttons. */
  readonly ways: readonly RecoveryOption[];
  readonly advice: string;
  /** True if the turn failed; false if it ended as intended. */
  readonly isFailure: boolean;
}

/**
 * Describes a broken turn and the ways to continue. `isBegun`: a part of the response exists.
 * @example describeBrokenTurn({ reason: "interrupted" }).head // "Interrupted"
 */
export function describeBrokenTurn(
  { reason, code, message }: Omit<BrokenTurn, "run">,
  isBegun = false,
  say: Say = inEnglish,
): BrokenTurnReport {
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
      if (code === "goal")
        return {
          head: say("Goal not reached"),
          why: message ?? say("The checks of the goal did not pass."),
          ways: ["go-on"],
          advice: say("Continue from here, or write something else."),
          isFailure: true,
        };
      return {
        head: isBegun ? say("The answer broke off") : say("No answer"),
        why: message ?? say("The model could not answer."),
        ...(code !== undefined && ELSEWHERE.has(code)
          ? {
              ways: ["another-model", "again"],
              advice: say("Choose another model, or ask again once the problem is fixed."),
            }
          : { ways: ["again", "another-model"], advice: say("Ask again, or choose another model.") }),
        isFailure: true,
      };
  }
}

/**
 * A faulty response without an error: the response is empty, or the output limit or the provider's filter cut it off.
 * See {@link shortfallOf}.
 */
export type ResponseShortfall = "empty" | "length" | "filtered";

/**
 * Returns the fault of a complete response, if any.
 * @example const shortfall = shortfallOf(pathTo(session.state, session.state.leaf).at(-1));
 */
export function shortfallOf(message: Message | undefined): ResponseShortfall | undefined {
  if (message?.role !== "assistant" || message.unreadable !== undefined) return undefined;
  const { finish, parts } = message;
  if (finish === "length" || finish === "filtered") return finish;
  if (finish !== "stop") return undefined;
  const says = parts.some(
    (part) => part.type === "call" || part.type === "file" || (part.type === "text" && part.text.trim() !== ""),
  );
  return says ? undefined : "empty";
}

/**
 * Returns a sentence about the fault of a response, with a remedy. Returns nothing if there is no fault.
 * @example const sentence = describeShortfall(pathTo(session.state, session.state.leaf).at(-1));
 */
export function describeShortfall(message: Message | undefined, say: Say = inEnglish): string | undefined {
  if (message?.role === "assistant" && message.unreadable !== undefined) return describeUnreadable(message, say);
  switch (shortfallOf(message)) {
    case "empty":
      return say("The model gave no answer. Ask again, or choose another model.");
    case "length":
      return say("The answer was cut off at its length limit.");
    case "filtered": {
      const { error } = message as AssistantMessage;
      return error
        ? say("The provider refused the request or cut off the answer: {error}", { error })
        : say("The provider refused the request or cut off the answer.");
    }
    case undefined:
      return undefined;
  }
}

/** Codes of `ModelErrorCode` for which the same request to the same model will fail again. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  "authentication",
  "quota",
  "filtered",
  "context-overflow",
  "unknown-model",
  "invalid-request",
]);
