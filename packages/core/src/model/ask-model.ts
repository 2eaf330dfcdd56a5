import { type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import { type Cost, cleanUsage, costOf, noUsage, type Usage } from "../conversation/usage.ts";
import { type ModelDriver, ModelError, type ModelPart, type ModelRequest } from "../ports/model.ts";
import { alarm, orAborted } from "./alarm.ts";
import { ResponseSize } from "./response-size.ts";

/** The response to `askModel`, with its usage and cost. See {@link askModel}. */
export interface ModelResponse {
  readonly text: string;
  /** All text that the model wrote, even if the response was cut. */
  readonly written: string;
  /** The finish reason. "calls": the model called a tool. The tool does not run. */
  readonly finish: Extract<ModelPart, { type: "finish" }>["reason"] | undefined;
  readonly usage: Usage;
  readonly cost: Cost;
}

/**
 * Options of `askModel`.
 * @example
 * const { text } = await askModel(model, { instructions: "Answer with a title.", messages }, { signal, idle: 30_000 });
 */
export interface AskOptions {
  readonly signal: AbortSignal;
  /** Milliseconds of silence after which the model counts as stalled. Default 120,000. */
  readonly idle?: number | undefined;
}

const OPTIONS: OptionNames<AskOptions> = { signal: true, idle: true };

/**
 * Asks a model for a text that belongs to no conversation, such as a summary or a title. If the response was cut, the
 * text is empty. Rejects with a `ModelError`, or with the signal's reason.
 * @example
 * const { text, cost } = await askModel(model, { instructions: "Name this conversation.", messages }, { signal });
 */
export async function askModel(
  model: ModelDriver,
  request: Pick<ModelRequest, "instructions" | "messages"> & Partial<ModelRequest>,
  options: AskOptions,
): Promise<ModelResponse> {
  refuseUnknown("askModel", options, OPTIONS);
  const { signal, idle = 120_000 } = options;
  let text = "";
  let finish: Extract<ModelPart, { type: "finish" }> | undefined;
  const stalled = new AbortController();
  const late = () => stalled.abort(new ModelError("stalled", `${model.id} has sent nothing for ${idle / 1000} s.`));
  let unwatch = alarm(idle, late);
  const size = new ResponseSize();
  const sink = {
    push(parts: readonly ModelPart[]): boolean {
      unwatch();
      unwatch = alarm(idle, late);
      size.add(parts);
      for (const part of parts) {
        if (part.type === "text") text += part.text;
        if (part.type === "finish") finish = part;
      }
      return true;
    },
    ready: () => Promise.resolve(),
  };
  const whole: ModelRequest = { tools: [], toolChoice: "none", settings: model.settings ?? {}, ...request };
  try {
    const ended = AbortSignal.any([signal, stalled.signal]);
    await orAborted(model.stream(whole, sink, ended), ended);
  } finally {
    unwatch();
  }
  const usage = finish ? cleanUsage(finish.usage) : noUsage;
  const { reason } = finish ?? {};
  return {
    text: reason === "stop" ? text : "",
    written: text,
    finish: reason,
    usage,
    cost: costOf(usage, model.price),
  };
}
