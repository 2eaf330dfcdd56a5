import { ModelError, type Tool } from "@banyan/core";
import type { LoopDriver, TurnSink } from "@banyan/core/drivers";
import { redactedTools } from "./redacted-tools.ts";
import type { Redact } from "./redactor.ts";

/** Removes secrets from the output of another program's agent (S10). `brought` gets each tool that the agent adds. */
export function redactedLoop(loop: LoopDriver, redact: Redact, brought: (tool: Tool) => void): LoopDriver {
  return {
    ...loop,
    run: (turn, sink, signal) => loop.run(turn, new RedactedSink(sink, redact, brought), signal),
  };
}

class RedactedSink implements TurnSink {
  readonly #sink: TurnSink;
  readonly #redact: Redact;
  readonly #brought: (tool: Tool) => void;
  /** By call id. */
  readonly #shown = new Map<string, ReturnType<Redact["stream"]>>();

  constructor(sink: TurnSink, redact: Redact, brought: (tool: Tool) => void) {
    this.#sink = sink;
    this.#redact = redact;
    this.#brought = brought;
  }

  begin: TurnSink["begin"] = () => this.#sink.begin();
  complete: TurnSink["complete"] = () => this.#sink.complete();
  started: TurnSink["started"] = (call, about) => this.#sink.started(call, about);
  interjected: TurnSink["interjected"] = (text) => this.#sink.interjected(text);

  progress(call: string, text: string): void {
    const stream = this.#shown.get(call) ?? this.#redact.stream();
    this.#shown.set(call, stream);
    const shown = stream.push(text);
    if (shown !== "") this.#sink.progress(call, shown);
  }

  async ended(call: string, { output, failed }: { readonly output: string; readonly failed: boolean }): Promise<void> {
    const rest = this.#shown.get(call)?.end() ?? "";
    this.#shown.delete(call);
    if (rest !== "") this.#sink.progress(call, rest);
    await this.#sink.ended(call, { output: this.#redact(output), failed });
  }

  changed: TurnSink["changed"] = (call, change) =>
    this.#sink.changed(call, { ...change, diff: this.#redact(change.diff) });

  async unasked(...[call, theirs, input]: Parameters<TurnSink["unasked"]>): Promise<void> {
    this.#brought(theirs);
    try {
      await this.#sink.unasked(call, theirs, input);
    } catch (error) {
      throw error instanceof ModelError
        ? new ModelError(error.code, this.#redact(error.message), { retryable: error.retryable })
        : error;
    }
  }

  execute(...[call, theirs, signal]: Parameters<TurnSink["execute"]>): ReturnType<TurnSink["execute"]> {
    const [tool] = theirs ? redactedTools([theirs], this.#redact) : [];
    if (tool) this.#brought(tool);
    return this.#sink.execute(call, tool, signal);
  }
}
