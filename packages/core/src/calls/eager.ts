import type { Json } from "../conversation/part.ts";
import type { TurnRun } from "../run/run.ts";
import { isSameInput } from "../toolbox/checked-input.ts";
import { type ExecutionOutcome, execute } from "../toolbox/execute.ts";
import type { AskedCall } from "./asked-call.ts";
import { judge } from "./judge.ts";
import { toolContext } from "./tool-context.ts";

interface EagerResult {
  readonly input: Json;
  readonly outcome: ExecutionOutcome;
}

/**
 * Runs calls of `eager` tools while the model still writes the message that contains them (B62). All earlier calls of
 * the message must be without effects. The result is used if the message ends cleanly and contains the same call.
 */
export class EagerCalls {
  readonly #run: TurnRun;
  readonly #message: string;
  readonly #begun = new Map<string, Promise<EagerResult | undefined>>();
  #running = 0;
  readonly #discarded = new AbortController();

  constructor(run: TurnRun, message: string) {
    this.#run = run;
    this.#message = message;
  }

  /** Begins a call early if its arguments are complete while the message continues. */
  consider(asked: AskedCall, before: readonly AskedCall[]): void {
    const { toolbox } = this.#run.agent;
    if (!toolbox.find(asked.tool)?.eager) return;
    if (before.some(({ tool }) => toolbox.find(tool)?.effects !== "none")) return;
    if (this.#running >= this.#run.agent.callsAtOnce) return;
    this.#running++;
    const begun = this.#begin(asked).finally(() => this.#running--);
    this.#begun.set(asked.id, begun);
  }

  /** Returns nothing if the call did not begin early, or began with other arguments. */
  async outcome(call: string, input: Json): Promise<ExecutionOutcome | undefined> {
    const found = await this.#begun.get(call);
    return found && isSameInput(found.input, input) ? found.outcome : undefined;
  }

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
    // Clients do not know the call yet, so its progress is not published.
    const silent = { progress() {} };
    const contextFor = (own: AbortSignal) => ({ ...toolContext(this.#run, running, own), ...silent });
    const outcome = await execute(tool, value, signal, contextFor, this.#run.agent.model);
    return outcome.status === "cancelled" ? undefined : { input, outcome };
  }
}
