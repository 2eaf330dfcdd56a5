import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Json, Message } from "../conversation/message.ts";
import type { ConversationState } from "../conversation/state.ts";

/**
 * What running a tool does to the world, which decides what may happen to it. `none`: it only looks; runs beside its
 * neighbours and again after a crash. `idempotent`: it changes something, and twice is as good as once. `external`:
 * it runs alone, and is started by itself at most once for an id.
 */
export type Effects = "none" | "idempotent" | "external";

/** The arguments of a tool: a JSON Schema of an object, or any Standard Schema that can tell its JSON Schema (zod, valibot, arktype). */
export type InputSchema<Input> = JsonSchema | StandardSchemaV1<unknown, Input>;

/** A JSON Schema that an object of arguments is held to. */
export interface JsonSchema {
  readonly type: "object";
  readonly [keyword: string]: unknown;
}

/**
 * Something that the model may call.
 *
 * `execute` gets arguments that fit `input`, once its call has been permitted and logged. What it answers is told to
 * the model: a string as it is, anything else as JSON. What it throws is told to the model as a failure; it never
 * harms the turn. It must end soon after `context.signal` aborts; 3 seconds later nobody waits for it any more.
 */
export interface Tool<Input = unknown> {
  /** Letters, digits, `_` and `-`; at most 64. */
  readonly name: string;
  /** For the model: what it does and when to use it. */
  readonly description: string;
  readonly input: InputSchema<Input>;
  readonly effects: Effects;
  /** May run beside its neighbours although it has effects. */
  readonly parallel?: boolean;
  /** Milliseconds; no limit when absent. */
  readonly timeout?: number;
  /** The bytes of output that the model is given (default 65,536); of more, head and tail are kept. */
  readonly maxOutput?: number;
  execute(input: Input, context: ToolContext): unknown;
}

/** What a running call knows and can do. */
export interface ToolContext {
  /** The id of the call. */
  readonly call: string;
  /** 1 the first time. */
  readonly attempt: number;
  /** The same for every attempt of one call: hand it to a service that can tell a repetition. */
  readonly key: string;
  /** Aborts when the call is cancelled or its time is up. */
  readonly signal: AbortSignal;
  /** The tree, read only. */
  readonly conversation: ConversationState;
  /** From the root to the message of this call. */
  readonly path: readonly Message[];
  /** 1 for the first step of the turn. */
  readonly step: number;
  /** The name of the agent. */
  readonly agent: string;
  /** Shows text to whoever watches while the call runs. Not told to the model. */
  progress(text: string): void;
  /** Brings in what a person said meanwhile: delivered like a message that steers. Resolves when it is in the log. */
  interject(text: string): Promise<void>;
}

/** A tool whose input type is inferred from its schema. */
export function defineTool<Schema extends StandardSchemaV1>(
  tool: Omit<Tool, "input" | "execute"> & {
    readonly input: Schema;
    execute(input: StandardSchemaV1.InferOutput<Schema>, context: ToolContext): unknown;
  },
): Tool;
export function defineTool(tool: Omit<Tool, "input"> & { readonly input: JsonSchema }): Tool;
export function defineTool(tool: unknown): Tool {
  return tool as Tool;
}

/** The arguments of a call as a tool gets them, or why they do not fit. */
export type Checked = { readonly ok: true; readonly input: Json } | { readonly ok: false; readonly problem: string };
