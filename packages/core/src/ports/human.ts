import type { Json } from "../conversation/part.ts";
import type { ConversationState } from "../conversation/state.ts";
import type { Tool } from "./tool.ts";
import type { BeforeCall, BeforeSummary, Permit } from "./verdict.ts";

/** A call about which a decision is needed. See {@link Permission}. */
export interface PermitRequest {
  readonly call: string;
  readonly run: string;
  readonly tool: Tool;
  /** The arguments, checked against the tool's schema. */
  readonly input: Json;
  readonly conversation: ConversationState;
  /** Rules that users added in this conversation on this machine by the answer "always" (S17). */
  readonly allowed: readonly string[];
  /** Set if the call has already run. Only a rule that denies the call or demands a question then has an effect. */
  readonly done?: boolean | undefined;
  /** A signal that aborts when the call is cancelled: the decision is then no longer needed. */
  readonly signal: AbortSignal;
}

/**
 * Hooks that run before and after each call of an agent, in addition to the rules, and before each summary.
 * @example
 * const hooks: CallHooks = {
 *   beforeCall: ({ tool }) => (tool.effects === "external" ? { decision: "ask" } : undefined),
 *   beforeSummary: () => ({ instructions: "Keep all names of trees." }),
 * };
 * new Agent({ model, tools, hooks });
 */
export interface CallHooks {
  /** Called once for each call, and once more for arguments that a user has changed. */
  readonly beforeCall?:
    | ((request: PermitRequest) => BeforeCall | undefined | Promise<BeforeCall | undefined>)
    | undefined;
  /**
   * Called before a user is asked. The hook can answer in place of the user. If a rule demands a user, the hook can
   * only deny.
   */
  readonly beforeQuestion?:
    | ((request: PermitRequest) => BeforeCall | undefined | Promise<BeforeCall | undefined>)
    | undefined;
  /** Called after a call has run. The returned text is added to the result for the model. */
  readonly afterCall?:
    | ((
        request: PermitRequest & { readonly status: "completed" | "failed"; readonly output: string },
      ) => string | undefined | Promise<string | undefined>)
    | undefined;
  /** Called before the model is asked for a summary. The returned instructions are added to the request. */
  readonly beforeSummary?:
    | ((request: SummaryRequest) => BeforeSummary | undefined | Promise<BeforeSummary | undefined>)
    | undefined;
}

/** A summary that is about to be requested. See {@link CallHooks}. */
export interface SummaryRequest {
  readonly run: string;
  /** The reason: `manual` if a user requested the summary, `auto` if the context is nearly full. */
  readonly trigger: "manual" | "auto";
  /** The user's instructions for the summary. */
  readonly wanted?: string | undefined;
  readonly conversation: ConversationState;
  /** A signal that aborts when the summary is no longer needed. */
  readonly signal: AbortSignal;
}

/**
 * Judges each call before it runs. Only `allow` lets the call run without a user. If a user changed the arguments, the
 * loop asks again. If the function returns no known decision, the call does not run, and the turn fails (`defect`).
 * @example const permission: Permission = ({ tool }) => ({ decision: tool.effects === "none" ? "allow" : "ask" });
 */
export type Permission = (request: PermitRequest) => Permit | Promise<Permit>;
