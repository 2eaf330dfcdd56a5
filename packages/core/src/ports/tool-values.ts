import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { QuestionField, RunEnd } from "../conversation/event.ts";
import type { AssistantMessage } from "../conversation/message.ts";
import type { Json } from "../conversation/part.ts";
import type { Cost, Usage } from "../conversation/usage.ts";

/**
 * Effects of a tool. `none`: it only reads; calls run in parallel, and again after a crash. `idempotent`: it changes
 * something, but a second run is harmless. `external`: a call runs alone, and starts automatically at most once.
 * See {@link Tool}.
 */
export type Effects = "none" | "idempotent" | "external";

/** Schema of arguments: a JSON Schema of an object, or a Standard Schema with a JSON Schema (zod, valibot, arktype). */
export type InputSchema<Input> = JsonSchema | StandardSchemaV1<unknown, Input>;

/** A JSON Schema for the arguments of a tool. The arguments are an object. See {@link defineTool}. */
export interface JsonSchema {
  readonly type: "object";
  readonly [keyword: string]: unknown;
}

/** A file in the result of a call. */
export interface BroughtBytes {
  /** Such as `image/png`. */
  readonly mediaType: string;
  /** File name for users. */
  readonly name?: string | undefined;
  /** Bytes in base 64. */
  readonly data: string;
}

/**
 * A background process that outlives its call.
 * @example
 * defineTool({
 *   name: "tick",
 *   description: "Ticks.",
 *   input: { type: "object" },
 *   effects: "external",
 *   execute(_, { stay }) {
 *     const { promise, resolve } = Promise.withResolvers<{ outcome: string }>();
 *     const timer = setInterval(() => console.log("tick"), 1_000);
 *     const end = () => {
 *       clearInterval(timer);
 *       resolve({ outcome: "it was stopped" });
 *     };
 *     return stay({ title: "ticks", over: promise, end });
 *   },
 * });
 */
export interface BackgroundWork {
  /** Description for users in one line. */
  readonly title: string;
  /** Resolves when the process and all its parts have ended. Must not reject. */
  readonly over: Promise<BackgroundWorkEnd>;
  /** Ends the process and all its parts: `over` resolves soon after. May be called more than once. */
  end(): void;
  /** Called when the log has the start. While the process runs, `renamed` writes a new `title` into the log. */
  stays?(renamed: () => Promise<void>): void;
}

/** The end of a background process. */
export interface BackgroundWorkEnd {
  /** The end of a sentence: `exit code 1`. */
  readonly outcome: string;
  /** Set if the model already knows of the end. Absent: the model is told the outcome in its next turn. */
  readonly known?: true | undefined;
}

/** The effect of a summary: the number of covered messages and of freed tokens. */
export interface ShortenedHistory {
  /** Number of messages that the model no longer sees. */
  readonly messages: number;
  /** Approximate number of freed tokens: those of the covered messages, minus those of the summary. */
  readonly tokens: number;
}

/**
 * Receives the text of messages that follow a call, in stream order, before the log and clients get the text. All
 * methods except `completed` are synchronous. A follower that throws receives no more text, and the turn continues. See
 * {@link Tool}.
 */
export interface Follower {
  /** Receives a fragment of the model's text, cut anywhere. Must be quick, because the stream waits. */
  text?(delta: string, kind: "text" | "reasoning"): void;
  /** The message ended cleanly and is in the log; its calls have not started. Following ends without `again`. */
  completed?(message: AssistantMessage): FollowResult | undefined | void | Promise<FollowResult | undefined | void>;
  /**
   * The text of the message does not count: it broke off, was cut or interrupted, or the turn ended. Called once. A
   * returned text goes to the model.
   */
  dropped?(reason: string): string | undefined | void;
  /** The text so far is withdrawn; the response begins again. */
  restarted?(): void;
}

/** A follower's result for a message: a text for the model, and the next step. See {@link Tool}. */
export interface FollowResult {
  /** A message of the tool to the model. The turn then continues with a model call. */
  readonly say?: string | undefined;
  /** Set if an action that the message requested has failed. Calls of this message can then not finish a task. */
  readonly failed?: boolean | undefined;
  /** True if the follower also listens to the next message. */
  readonly again?: boolean | undefined;
}

/**
 * A question to a user.
 * @example
 * defineTool({
 *   name: "deploy",
 *   description: "Deploys the program.",
 *   input: { type: "object" },
 *   effects: "external",
 *   execute: async (_, { ask }) => {
 *     const to = await ask({ text: "Where to?", choices: ["test", "live"], default: "test" });
 *     const choices = [{ label: "server" }, { label: "page", description: "what people see" }];
 *     const fields = [{ heading: "Parts", text: "What of it?", choices, several: true }];
 *     return ask({ text: `What is deployed to ${to}?`, fields });
 *   },
 * });
 */
export interface Question {
  readonly text: string;
  /** Suggested answers; any other answer is accepted too. */
  readonly choices?: readonly string[] | undefined;
  /**
   * 1 to 4 fields that are asked together. Each field has choices, and a user can also write own words. The answer is
   * one text with a line for each field, such as `Colour: red. In their own words: but dark`.
   */
  readonly fields?: readonly QuestionField[] | undefined;
  /** The answer if no user can be asked. */
  readonly default?: string | undefined;
}

/** The end of a sub-agent. */
export interface SubTaskEnd {
  /**
   * Reason for the end. With `finished`, `text` is the result of the task. With other reasons, `text` is the
   * sub-agent's last text.
   */
  readonly reason: RunEnd;
  readonly text: string;
  /** Result of a finished task, or the value of the agent's schema `output`. */
  readonly result: Json | undefined;
  /** The reason of a failure, or the limit that ended the sub-agent. */
  readonly problem: string | undefined;
  readonly steps: number;
  readonly usage: Usage;
  /** US dollars; `undefined` when unknown. */
  readonly cost: Cost;
}
