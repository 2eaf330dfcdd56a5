import { setTimeout as sleep } from "node:timers/promises";
import type { Json } from "../conversation/message.ts";
import { noUsage, type Price, type Usage } from "../conversation/usage.ts";
import {
  type ModelDriver,
  ModelError,
  type ModelErrorCode,
  type ModelPart,
  type ModelRequest,
} from "../ports/model.ts";
import { FINISH_TASK } from "../run/mode.ts";

/** One thing that a scripted model does. */
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

/** One response: a text, or beats in order. It ends by itself, as `calls` when it made some, else as `stop`. */
export type Scene = string | readonly Beat[];

/** The responses in order, or a function that is asked for each; `undefined`, or the end of the list, is a defect of the test. */
export type Script = readonly Scene[] | ((request: ModelRequest, index: number) => Scene | undefined);

/** Says a text, in pieces if several are given. */
export function text(...pieces: readonly string[]): Beat {
  return { type: "say", parts: pieces.map((piece) => ({ type: "text", text: piece })) };
}

/** Thinks aloud. */
export function reasoning(...pieces: readonly string[]): Beat {
  return { type: "say", parts: pieces.map((piece) => ({ type: "reasoning", text: piece })) };
}

/** Says parts as they are. */
export function parts(...given: readonly ModelPart[]): Beat {
  return { type: "say", parts: given };
}

/** Calls a tool; without an id, the provider's ids count up for each model: `call_1`, `call_2`. */
export function call(tool: string, input: Json = {}, id?: string): Beat {
  return { type: "call", tool, text: JSON.stringify(input), id };
}

/** Finishes a task with a result. */
export function finishTask(result: Json): Beat {
  return call(FINISH_TASK, { result });
}

/** Calls a tool with arguments as the model wrote them, JSON or not. */
export function rawCall(tool: string, text: string, id?: string): Beat {
  return { type: "call", tool, text, id };
}

/** Waits; ends early when the stream is aborted. */
export function pause(milliseconds: number): Beat {
  return { type: "pause", milliseconds };
}

/** Waits for something that the test brings about; ends early when the stream is aborted. */
export function until(gate: Promise<unknown>): Beat {
  return { type: "until", gate };
}

/** Says nothing more, for ever. */
export function stall(): Beat {
  return { type: "stall" };
}

/** Breaks the stream off here. */
export function cut(): Beat {
  return { type: "cut" };
}

/** Fails here. */
export function fail(
  code: ModelErrorCode,
  details: { message?: string; status?: number; retryAfter?: number } = {},
): Beat {
  const { message = `scripted: ${code}`, ...rest } = details;
  return { type: "error", error: new ModelError(code, message, rest) };
}

/** Ends the response with a reason of its own. */
export function end(reason: "stop" | "calls" | "length" | "filtered" | "paused"): Beat {
  return { type: "end", reason };
}

/** What the response costs; 1 token in and 1 out for each response that does not say. */
export function spend(usage: Partial<Usage>): Beat {
  return { type: "spend", usage };
}

/** A model that remembers what it was asked. */
export interface ScriptedModel extends ModelDriver {
  /** How often it was asked. */
  readonly asked: number;
  /** The last hundred requests, as they were. */
  readonly requests: readonly ModelRequest[];
}

const REQUESTS_KEPT = 100;

/**
 * A model that follows a script, behind the same port as a real one: for tests of agents without a network. It keeps
 * the port's contract; `pace` is the pause before each batch in milliseconds.
 */
export function scriptedModel(
  script: Script,
  options: {
    readonly id?: string | undefined;
    readonly price?: Price | undefined;
    readonly pace?: number | undefined;
  } = {},
): ScriptedModel {
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

/** Rejects when the stream is aborted. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}
