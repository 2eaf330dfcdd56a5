import type { Json } from "../conversation/message.ts";
import type { ConversationState } from "../conversation/state.ts";
import type { Tool } from "./tool.ts";

/** What a person answers to a question of a session. Any client may answer; the first answer counts. */
export type Answer =
  | {
      readonly decision: "allow";
      /** The arguments as changed by the person. */
      readonly input?: Json | undefined;
      /** Allow from now on everything that this rule covers. */
      readonly remember?: { readonly pattern: string; readonly scope: "conversation" | "always" } | undefined;
    }
  | {
      readonly decision: "deny";
      /** Goes to the model. */
      readonly reason?: string | undefined;
    }
  /** What a tool asked for in words. */
  | { readonly decision: "answer"; readonly text: string };

/**
 * What the rules say of a call. `ask`: a person decides. The reason of a denial goes to the model; `pattern` is the rule
 * that an answer "always" would set.
 */
export type Permit =
  | { readonly decision: "allow" }
  | { readonly decision: "ask"; readonly pattern?: string | undefined }
  | { readonly decision: "deny"; readonly reason: string };

/** A call that waits for a verdict. */
export interface PermitRequest {
  readonly call: string;
  /** The run whose model asked for it. */
  readonly run: string;
  readonly tool: Tool;
  /** The arguments, checked against the tool's schema. */
  readonly input: Json;
  readonly conversation: ConversationState;
  /** Rules that a person answered with "always" in this conversation, here: `remember` of their answers (S17). */
  readonly allowed: readonly string[];
  /** Aborts when the call is cancelled: nobody waits for the verdict any more. */
  readonly signal: AbortSignal;
}

/**
 * Judges each call before it runs; whatever it returns but `allow` keeps the call from running by itself. Called again
 * with the new arguments when a person changed them.
 */
export type Permission = (request: PermitRequest) => Permit | Promise<Permit>;
