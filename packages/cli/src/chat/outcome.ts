import type { ConversationState, Event, Turn } from "@banyan/core";
import type { ExitCode } from "../exit.ts";
import { verdictOf } from "../print/verdict.ts";
import { callIn } from "../show/call-of.ts";

/** What a task has come to so far, for whoever started the program. */
export class Outcome {
  #turn: Turn | undefined;
  readonly #denied: { readonly tool: string; readonly reason: string }[] = [];

  /** How the program is to exit now (T35). */
  get exit(): ExitCode {
    return verdictOf(this.#turn, this.#denied).exitCode;
  }

  denied(event: Extract<Event, { type: "call.denied" }>, state: ConversationState): void {
    this.#denied.push({ tool: callIn(state, event)?.tool ?? "", reason: event.output });
  }

  ended(turn: Turn): void {
    this.#turn = turn;
  }
}
