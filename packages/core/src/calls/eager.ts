import type { Json } from "../conversation/message.ts";
import type { TurnRun } from "../run/run.ts";
import { isSameInput } from "../toolbox/checked-input.ts";
import { execute, type Outcome } from "../toolbox/execute.ts";
import type { AskedCall } from "./asked-call.ts";
import { judge } from "./judge.ts";
import { toolContext } from "./tool-context.ts";

/** What a call found that began early, and with which arguments. */
interface Found {
  readonly input: Json;
  readonly outcome: Outcome;
}

/**
 * Calls that begin before their message has ended (B62): calls of tools that only look and say `eager`, as long as only such
 * calls stand before them. When the message ends cleanly and asks for just this call, its result is used; otherwise the
 * result is thrown away.
 */
export class EagerCalls {
  readonly #run: TurnRun;
  readonly #message: string;
  readonly #begun = new Map<string, Promise<Found | undefined>>();
  /** How many have no result yet. */
  #running = 0;
  readonly #discarded = new AbortController();

  constructor(run: TurnRun, message: string) {
    this.#run = run;
    this.#message = message;
  }

  /** The arguments of a call are complete, while its message goes on. */
  consider(asked: AskedCall, before: readonly AskedCall[]): void {
    const { toolbox } = this.#run.agent;
    if (!toolbox.find(asked.tool)?.eager) return;
    if (before.some(({ tool }) => toolbox.find(tool)?.effects !== "none")) return;
    if (this.#running >= this.#run.agent.callsAtOnce) return;
    this.#running++;
    const begun = this.#begin(asked).finally(() => this.#running--);
    this.#begun.set(asked.id, begun);
  }

  /**
   * What a call that began early has found, or is about to find; nothing for one that did not begin, or began with other
   * arguments than these: a schema may return something else each time.
   */
  async outcome(call: string, input: Json): Promise<Outcome | undefined> {
    const found = await this.#begun.get(call);
    return found && isSameInput(found.input, input) ? found.outcome : undefined;
  }

  /** Nobody wants what was found. */
  discard(reason: Error): void {
    this.#discarded.abort(reason);
  }

  async #begin(asked: AskedCall): Promise<Found | undefined> {
    const signal = AbortSignal.any([this.#run.signal, this.#discarded.signal]);
    const verdict = await judge(this.#run, asked);
    if ("ended" in verdict || verdict.permit.decision !== "allow" || signal.aborted) return undefined;
    const { tool, input, value } = verdict;
    const message = this.#message;
    const running = { message, call: asked.id, attempt: 1, key: `${message}.${asked.id}`, tool, input };
    // What it says meanwhile is shown with its result: nobody knows the call yet.
    const silent = { progress() {} };
    const contextFor = (own: AbortSignal) => ({ ...toolContext(this.#run, running, own), ...silent });
    const outcome = await execute(tool, value, signal, contextFor, this.#run.agent.model);
    return outcome.status === "cancelled" ? undefined : { input, outcome };
  }
}
