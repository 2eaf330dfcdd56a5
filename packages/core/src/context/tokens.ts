import type { Message } from "../conversation/message.ts";
import { textOf } from "../conversation/message.ts";
import { afterSummary, isShortening, isSummary } from "../conversation/tree/path.ts";
import { totalTokens } from "../conversation/usage.ts";
import { orAborted } from "../model/alarm.ts";
import type { CountTokens, TurnAgent } from "../run/run.ts";

/**
 * What a request takes of its model's context: what a provider has counted, and the texts that none has counted yet.
 */
export interface RoomTaken {
  readonly counted: number;
  readonly uncounted: readonly string[];
}

/** Tokens of a text, roughly: four characters each. */
export function estimate(text: string): number {
  return Math.ceil(text.length / 4);
}

/** Of the next request along a path: as its provider counted the last one, and what came since. */
export function takenBy(path: readonly Message[], { instructions, toolbox }: TurnAgent): RoomTaken {
  const uncounted: string[] = [];
  for (let i = path.length - 1; i >= 0; i--) {
    const message = path[i] as Message;
    if (isSummary(message) || isShortening(message)) {
      uncounted.push(...afterSummary(path.slice(0, i + 1)).flatMap(textsIn));
      break;
    }
    if (message.role === "assistant" && message.usage && message.usage.input > 0) {
      uncounted.push(...resultsIn(message));
      return { counted: totalTokens(message.usage), uncounted };
    }
    uncounted.push(...textsIn(message));
  }
  return { counted: 0, uncounted: [...uncounted, instructions.text, toolbox.text] };
}

/** As many tokens as all that can have at most, whatever counts them: no token is shorter than a byte. */
export function mostOf({ counted, uncounted }: RoomTaken): number {
  return uncounted.reduce((sum, text) => sum + Buffer.byteLength(text), counted);
}

/** The tokens of all that. Rejects with the signal's reason as soon as that aborts. */
export async function tokensOf(
  { counted, uncounted }: RoomTaken,
  count: CountTokens,
  signal: AbortSignal,
): Promise<number> {
  let tokens = counted;
  for (const text of uncounted) tokens += await orAborted(count(text), signal);
  return tokens;
}

/** What the model is shown of a message, as texts. */
export function textsIn(message: Message): string[] {
  if (message.role !== "assistant") return [textOf(message)];
  return [textOf(message), ...message.calls.map(({ inputText }) => inputText), ...resultsIn(message)];
}

function resultsIn(message: Message): string[] {
  return message.role === "assistant" ? message.calls.map(({ output = "" }) => output) : [];
}
