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
  | {
      readonly decision: "ask";
      readonly pattern?: string | undefined;
      /** A rule wants a person to decide: nothing else may. */
      readonly byRule?: boolean | undefined;
    }
  | {
      readonly decision: "deny";
      readonly reason: string;
      /** The call is denied only because no user can be asked: a hook that allows the call lets it run. */
      readonly unasked?: boolean | undefined;
    };

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
  /** The call was carried out without asking. Only a denial counts: a rule denies the call, or asks about it. */
  readonly done?: boolean | undefined;
  /** Aborts when the call is cancelled: nobody waits for the verdict any more. */
  readonly signal: AbortSignal;
}

/** What comes before and after each call of an agent, beside the rules, and before each summary. */
export interface CallHooks {
  /** Called once for each call, and once more for arguments that a person wrote. */
  readonly beforeCall?:
    | ((request: PermitRequest) => BeforeCall | undefined | Promise<BeforeCall | undefined>)
    | undefined;
  /** Called where a person is about to be asked, and may answer for them: where a rule wants a person, only with a denial. */
  readonly beforeQuestion?:
    | ((request: PermitRequest) => BeforeCall | undefined | Promise<BeforeCall | undefined>)
    | undefined;
  /** Called when a call has run; what it returns is told to the model below the result. */
  readonly afterCall?:
    | ((
        request: PermitRequest & { readonly status: "completed" | "failed"; readonly output: string },
      ) => string | undefined | Promise<string | undefined>)
    | undefined;
  /** Called before the model is asked for a summary; its words are added to the request. */
  readonly beforeSummary?:
    | ((request: SummaryRequest) => BeforeSummary | undefined | Promise<BeforeSummary | undefined>)
    | undefined;
}

/** A summary that is about to be asked for. */
export interface SummaryRequest {
  /** The run that asks for it. */
  readonly run: string;
  /** `manual`: a user asks for it. `auto`: the context is nearly full. */
  readonly trigger: "manual" | "auto";
  /** The user's words for the summary. */
  readonly wanted?: string | undefined;
  readonly conversation: ConversationState;
  /** Aborts when nobody waits for the summary any more. */
  readonly signal: AbortSignal;
}

/** Words that a hook adds to the request for a summary. A denial stops a summary that a user asks for. */
export type BeforeSummary =
  | { readonly decision: "deny"; readonly reason: string }
  | { readonly decision?: undefined; readonly instructions?: string | undefined };

/** What is to become of a call before the rules judge it. The reason of a denial goes to the model. */
export type BeforeCall =
  | { readonly decision: "deny"; readonly reason: string }
  | { readonly decision?: "allow" | "ask" | undefined; readonly input?: Json | undefined };

/**
 * Judges each call before it runs; whatever it returns but `allow` keeps the call from running by itself. Called again
 * with the new arguments when a person changed them.
 */
export type Permission = (request: PermitRequest) => Permit | Promise<Permit>;
