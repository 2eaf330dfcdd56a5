import { OptionError } from "../conversation/option-names.ts";
import type { Json } from "../conversation/part.ts";
import { isJsonRecord, shownKind } from "../conversation/shape-problem.ts";

/**
 * A user's answer to a question of a session. Any client may answer; only the first answer has an effect.
 * See {@link Session}.
 */
export type Answer =
  | {
      readonly decision: "allow";
      /** The arguments as changed by the user. */
      readonly input?: Json | undefined;
      /** A rule to add: all later calls that the rule covers are allowed too. */
      readonly remember?: { readonly pattern: string; readonly scope: "conversation" | "always" } | undefined;
    }
  | {
      readonly decision: "deny";
      /** The user's reason, as text for the model. */
      readonly reason?: string | undefined;
    }
  /** Answer to a tool's question in words. */
  | { readonly decision: "answer"; readonly text: string };

/**
 * The rules' decision about a call. `ask`: a user decides. The reason of a denial goes to the model. `pattern`: the
 * rule that the answer "always" would add. See {@link Permission}.
 */
export type Permit =
  | { readonly decision: "allow" }
  | {
      readonly decision: "ask";
      readonly pattern?: string | undefined;
      /** Set if a rule demands a decision by a user. No hook can replace that decision. */
      readonly byRule?: boolean | undefined;
    }
  | {
      readonly decision: "deny";
      readonly reason: string;
      /** Set if the call is denied only because no user can be asked. The call runs if a hook allows it. */
      readonly unasked?: boolean | undefined;
    };

/**
 * A hook's decision before a summary is written: additional instructions, or a denial. A denial stops only a summary
 * that a user requested. See {@link CallHooks}.
 */
export type BeforeSummary =
  | { readonly decision: "deny"; readonly reason: string }
  | { readonly decision?: undefined; readonly instructions?: string | undefined };

/** A hook's decision about a call before the rules judge it. The reason of a denial goes to the model. */
export type BeforeCall =
  | { readonly decision: "deny"; readonly reason: string }
  | { readonly decision?: "allow" | "ask" | undefined; readonly input?: Json | undefined };

/** Error if the rules or a hook of a program without types return no known decision. The call must then not run. */
export class DecisionError extends OptionError {
  constructor(of: string, returned: unknown) {
    const shown = isJsonRecord(returned) ? `the decision ${JSON.stringify(returned.decision)}` : shownKind(returned);
    super(`${of} must return { decision: "allow" }, "ask" or "deny"; it returned ${shown}.`);
  }
}

/** Returns the decision of a hook, or nothing if the hook decided nothing. Throws `DecisionError`. */
export function knownDecision(of: string, said: BeforeCall | undefined): BeforeCall | undefined {
  if (said === undefined || said === null) return undefined;
  const decision: unknown = isJsonRecord<BeforeCall>(said) ? said.decision : "none";
  if (decision === undefined || decision === "allow" || decision === "ask" || decision === "deny") return said;
  throw new DecisionError(of, said);
}

export const ALLOWED = { decision: "allow" } as const;

/** A hook can be stricter than the rules. It can answer in place of a user, unless a rule demands a user. */
export function withHook(permit: Permit, said: BeforeCall | undefined): Permit {
  if (said?.decision === "deny" && permit?.decision !== "deny") return { decision: "deny", reason: said.reason };
  const decision = said?.decision;
  if (decision === "ask" && permit?.decision === "allow") return { decision: "ask" };
  if (decision !== "allow") return permit;
  const isOpen = permit?.decision === "ask" ? !permit.byRule : permit?.decision === "deny" && permit.unasked;
  return isOpen ? ALLOWED : permit;
}
