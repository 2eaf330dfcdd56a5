import { setTimeout as sleep } from "node:timers/promises";
import { checkArguments, OptionError, type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import type { Json } from "../conversation/part.ts";
import { noUsage, type Price, type Usage } from "../conversation/usage.ts";
import {
  type ModelDriver,
  ModelError,
  type ModelErrorCode,
  type ModelPart,
  type ModelRequest,
} from "../ports/model.ts";
import { FINISH_TASK } from "../run/mode.ts";

/** One action of a scripted model. See {@link scriptedModel}. */
export type Beat =
  | { readonly type: "say"; readonly parts: readonly ModelPart[] }
  | { readonly type: "call"; readonly tool: string; readonly text: string; readonly id: string | undefined }
  | { readonly type: "pause"; readonly milliseconds: number }
  | { readonly type: "until"; readonly gate: Promise<unknown> }
  | { readonly type: "stall" }
  | { readonly type: "cut" }
  | { readonly type: "error"; readonly error: ModelError }
  | { readonly type: "end"; readonly reason: "stop" | "calls" | "length" | "filtered" | "paused" }
  | { readonly type: "spend"; readonly usage: Partial<Usage> };

/**
 * One response: a text, or actions in order. It ends with `calls` if it has calls, or else with `stop`.
 * See {@link scriptedModel}.
 */
export type Scene = string | readonly Beat[];

/**
 * Responses in order, or a function that returns each response. `undefined` or the end of the list is a fault of the
 * test. See {@link scriptedModel}.
 */
export type Script = readonly Scene[] | ((request: ModelRequest, index: number) => Scene | undefined);

const ENDS = ["stop", "calls", "length", "filtered", "paused"];
const USAGE: OptionNames<Usage> = {
  input: "number",
  output: "number",
  cached: "number",
  cacheWrite: "number",
  reasoning: "number",
};

const PRICE: OptionNames<Price> = { input: "number!", output: "number!", cached: "number", cacheWrite: "number" };

function checkPieces(owner: string, pieces: readonly string[]): void {
  for (const piece of pieces) checkArguments(owner, { pieces: piece }, { pieces: "string" });
}

/**
 * Writes a text, in several parts if given.
 * @example const model = scriptedModel([[text("It is ", "noon.")]]);
 */
export function text(...pieces: readonly string[]): Beat {
  checkPieces("text", pieces);
  return { type: "say", parts: pieces.map((piece) => ({ type: "text", text: piece })) };
}

/**
 * Writes reasoning.
 * @example const model = scriptedModel([[reasoning("The sun is high."), text("It is noon.")]]);
 */
export function reasoning(...pieces: readonly string[]): Beat {
  checkPieces("reasoning", pieces);
  return { type: "say", parts: pieces.map((piece) => ({ type: "reasoning", text: piece })) };
}

/**
 * Pushes parts unchanged.
 * @example const model = scriptedModel([[parts({ type: "text", text: "It is noon." })]]);
 */
export function parts(...given: readonly ModelPart[]): Beat {
  for (const part of given)
    if (typeof part?.type !== "string") throw new OptionError("parts takes parts of a response, each with a type.");
  return { type: "say", parts: given };
}

/**
 * Calls a tool. Default ids count up per model: `call_1`, `call_2`.
 * @example const model = scriptedModel([[call("clock", { zone: "UTC" })], "It is noon."]);
 */
export function call(tool: string, input: Json = {}, id?: string): Beat {
  checkArguments("call", { tool, id }, { tool: "string", id: "string or undefined" });
  const text = typeof input === "function" || input instanceof Promise ? undefined : JSON.stringify(input);
  if (text === undefined) throw new OptionError('input of call must be JSON, such as { city: "Rome" }.');
  return { type: "call", tool, text, id };
}

/**
 * Finishes a task with a result.
 * @example const model = scriptedModel([[finishTask({ trees: 3 })]]);
 */
export function finishTask(result: Json): Beat {
  if (result === undefined || typeof result === "function" || result instanceof Promise)
    throw new OptionError("result of finishTask must be JSON, such as { trees: 3 }.");
  return call(FINISH_TASK, { result });
}

/**
 * Calls a tool with raw arguments, JSON or not.
 * @example const model = scriptedModel([[rawCall("clock", "{ no JSON")], "I cannot say."]);
 */
export function rawCall(tool: string, text: string, id?: string): Beat {
  const optional = "string or undefined";
  checkArguments("rawCall", { tool, text, id }, { tool: "string", text: "string", id: optional });
  return { type: "call", tool, text, id };
}

/**
 * Waits this many milliseconds. An abort of the stream ends the wait early.
 * @example const model = scriptedModel([[text("It is"), pause(10), text(" noon.")]]);
 */
export function pause(milliseconds: number): Beat {
  checkArguments("pause", { milliseconds }, { milliseconds: "number" });
  return { type: "pause", milliseconds };
}

/**
 * Waits for a promise of the test. An abort of the stream ends the wait early.
 * @example
 * const { promise, resolve } = Promise.withResolvers<void>();
 * const model = scriptedModel([[text("It is"), until(promise), text(" noon.")]]);
 * resolve();
 */
export function until(gate: Promise<unknown>): Beat {
  checkArguments("until", { gate }, { gate: "promise" });
  return { type: "until", gate };
}

/**
 * Stays silent forever.
 * @example const model = scriptedModel([[text("It is"), stall()]]);
 */
export function stall(): Beat {
  return { type: "stall" };
}

/**
 * Breaks the stream off.
 * @example const model = scriptedModel([[text("It is"), cut()], "It is noon."]);
 */
export function cut(): Beat {
  return { type: "cut" };
}

/**
 * Fails with an error.
 * @example const model = scriptedModel([[fail("overloaded")], "It is noon."]);
 */
export function fail(
  code: ModelErrorCode,
  details: { message?: string; status?: number; retryAfter?: number } = {},
): Beat {
  checkArguments("fail", { code }, { code: "string" });
  refuseUnknown("fail", details, { message: "string", status: "number", retryAfter: "number" });
  const { message = `scripted: ${code}`, ...rest } = details;
  return { type: "error", error: new ModelError(code, message, rest) };
}

/**
 * Ends the response with this reason.
 * @example const model = scriptedModel([[text("It is"), end("length")]]);
 */
export function end(reason: "stop" | "calls" | "length" | "filtered" | "paused"): Beat {
  if (!ENDS.includes(reason)) throw new OptionError(`reason of end must be one of ${ENDS.join(", ")}.`);
  return { type: "end", reason };
}

/**
 * Sets the usage of the response. Default: 1 input and 1 output token.
 * @example const model = scriptedModel([[text("It is noon."), spend({ input: 1_000, output: 20 })]]);
 */
export function spend(usage: Partial<Usage>): Beat {
  checkArguments("spend", { usage }, { usage: "object" });
  refuseUnknown("spend", usage, USAGE);
  return { type: "spend", usage };
}

/** A scripted model, which records its requests. See {@link scriptedModel}. */
export interface ScriptedModel extends ModelDriver {
  /** Number of requests. */
  readonly asked: number;
  /** Copies of the last hundred requests. */
  readonly requests: readonly ModelRequest[];
}

const REQUESTS_KEPT = 100;

/**
 * Returns a model that follows a script, for tests without a network. It keeps the contract of `ModelDriver`. `pace`:
 * milliseconds before each batch.
 * @example const clerk = scriptedModel([[call("clock")], "It is noon.", [fail("authentication")]]);
 */
export function scriptedModel(
  script: Script,
  options: {
    readonly id?: string | undefined;
    readonly price?: Price | undefined;
    readonly pace?: number | undefined;
  } = {},
): ScriptedModel {
  if (!Array.isArray(script) && typeof script !== "function")
    throw new OptionError('A script must be a list of responses, such as ["Hello."], or a function.');
  refuseUnknown("scriptedModel", options, { id: "string", price: "object", pace: "number" });
  if (options.price !== undefined) refuseUnknown("scriptedModel", options.price, PRICE, "price.");
  const requests: ModelRequest[] = [];
  let asked = 0;
  let calls = 0;
  return {
    id: options.id ?? "scripted/model",
    family: "scripted",
    ...(options.price ? { price: options.price } : {}),
    get asked() {
      return asked;
    },
    requests,
    async stream(request, sink, signal) {
      const index = asked++;
      if (requests.length === REQUESTS_KEPT) requests.shift();
      requests.push({ ...request, messages: [...request.messages] });
      const scene = typeof script === "function" ? script(request, index) : script[index];
      if (scene === undefined) throw new Error(`The script has no answer number ${index + 1}.`);
      const beats = typeof scene === "string" ? [text(scene)] : scene;
      let usage: Usage = { ...noUsage, input: 1, output: 1 };
      let called = 0;
      const push = async (batch: readonly ModelPart[]) => {
        if (options.pace) await sleep(options.pace, undefined, { signal });
        signal.throwIfAborted();
        if (!sink.push(batch)) await sink.ready();
      };
      for (const beat of beats) {
        switch (beat.type) {
          case "say":
            if (options.pace) for (const part of beat.parts) await push([part]);
            else await push(beat.parts);
            break;
          case "call": {
            const index = called++;
            const id = beat.id ?? `call_${++calls}`;
            await push([
              { type: "call", index, id, tool: beat.tool },
              { type: "call-input", index, text: beat.text },
              { type: "call-end", index },
            ]);
            break;
          }
          case "pause":
            await sleep(beat.milliseconds, undefined, { signal });
            break;
          case "until":
            await Promise.race([beat.gate, aborted(signal)]);
            break;
          case "stall":
            await aborted(signal);
            break;
          case "cut":
            throw new ModelError("broken-stream", "The scripted stream broke off.");
          case "error":
            throw beat.error;
          case "spend":
            usage = { ...noUsage, ...beat.usage };
            break;
          case "end":
            await push([{ type: "finish", reason: beat.reason, usage }]);
            return;
        }
      }
      await push([{ type: "finish", reason: called > 0 ? "calls" : "stop", usage }]);
    },
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}
