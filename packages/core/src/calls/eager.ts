import type { Json } from "../conversation/part.ts";
import type { TurnRun } from "../run/run.ts";
import { isSameInput } from "../toolbox/checked-input.ts";
import { type ExecutionOutcome, execute } from "../toolbox/execute.ts";
import type { AskedCall } from "./asked-call.ts";
import { judge } from "./judge.ts";
import { toolContext } from "./tool-context.ts";

/** The outcome of a call that began early, and its arguments. */
interface EagerResult {
  readonly input: Json;
  readonly outcome: ExecutionOutcome;
}

/**
 * Calls that begin before their message has ended (B62): calls of `eager` tools without effects, preceded only by such
 * calls. The result is used if the message ends cleanly and contains this same call. If not, the result is discarded.
 */
export class EagerCalls {
  readonly #run: TurnRun;
  readonly #message: string;
  readonly #begun = new Map<string, Promise<EagerResult | undefined>>();
  /** Number of calls without a result. */
  #running = 0;
  readonly #discarded = new AbortController();

  constructor(run: TurnRun, message: string) {
    this.#run = run;
    this.#message = message;
  }

  /** Begins a call early if possible: its arguments are complete while the message continues. */
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
   * Returns the outcome of a call that began early. Returns nothing if the call did not begin or began with other
   * arguments: a schema may return another value each time.
   */
  async outcome(call: string, input: Json): Promise<ExecutionOutcome | undefined> {
    const found = await this.#begun.get(call);
    return found && isSameInput(found.input, input) ? found.outcome : undefined;
  }

  /** Ends all early calls, whose results are not needed. */
  discard(reason: Error): void {
    this.#discarded.abort(reason);
  }

  async #begin(asked: AskedCall): Promise<EagerResult | undefined> {
    const signal = AbortSignal.any([this.#run.signal, this.#discarded.signal]);
    const verdict = await judge(this.#run, asked);
    if ("ended" in verdict || verdict.permit.decision !== "allow" || signal.aborted) return undefined;
    const { tool, input, value } = verdict;
    const message = this.#message;
    const running = { message, call: asked.id, attempt: 1, key: `${message}.${asked.id}`, tool, input };
    // Progress is not published, because clients do not know the call yet.
    const silent = { progress() {} };
    const contextFor = (own: AbortSignal) => ({ ...toolContext(this.#run, running, own), ...silent });
    const outcome = await execute(tool, value, signal, contextFor, this.#run.agent.model);
    return outcome.status === "cancelled" ? undefined : { input, outcome };
  }
}
