import type { PermissionOption, RequestPermissionOutcome } from "@agentclientprotocol/sdk/unstable";
import type { ToolContext } from "@banyan/core";

/** How a person, or a rule, decided about a call. */
export type Verdict = "allowed" | "denied" | "cancelled";

/**
 * The option that says to the agent what was decided here. Only this once, wherever it offers that: what is allowed for longer,
 * our rules remember, so that each call is judged by them, and the agent's own memory of it cannot outlive them.
 */
export function outcomeOf(verdict: Verdict, options: readonly PermissionOption[]): RequestPermissionOutcome {
  const order = {
    allowed: ["allow_once", "allow_always"],
    denied: ["reject_once", "reject_always"],
    cancelled: [],
  } as const satisfies Record<Verdict, readonly PermissionOption["kind"][]>;
  for (const kind of order[verdict]) {
    const option = options.find((offered) => offered.kind === kind);
    if (option) return { outcome: "selected", optionId: option.optionId };
  }
  // An agent that offers no way to say no is told that nobody decided: then it must not go on either.
  return { outcome: "cancelled" };
}

/**
 * The outcome of a call that was allowed. Where the agent offers several ways of yes (to leave its plan, and to ask more or
 * less from then on), a person says which.
 */
export async function allowedOutcome(
  options: readonly PermissionOption[],
  { ask }: Pick<ToolContext, "ask">,
): Promise<RequestPermissionOutcome> {
  const once = options.filter(({ kind }) => kind === "allow_once");
  const always = options.filter(({ kind }) => kind === "allow_always");
  if (once.length === 1 || (once.length === 0 && always.length === 1)) return outcomeOf("allowed", options);
  const ways = [...once, ...always];
  if (ways.length === 0) return outcomeOf("denied", options);
  const [usual] = ways;
  const answer = await ask({
    text: "The agent knows several ways to go on. Which one?",
    choices: ways.map(({ name }) => name),
    ...(usual?.kind === "allow_once" && { default: usual.name }),
  });
  const way = ways.find(({ name }) => name.toLowerCase() === answer.trim().toLowerCase());
  if (!way) throw new Error(`"${answer}" is none of the ways that the agent knows, so it was told no.`);
  return { outcome: "selected", optionId: way.optionId };
}

/** What a person should know before they allow it; nothing when there is a way to allow it once. */
export function noteOn(options: readonly PermissionOption[]): readonly string[] {
  const kinds = new Set(options.map(({ kind }) => kind));
  if (kinds.has("allow_once") || !kinds.has("allow_always")) return [];
  return ["The agent offers no way to allow this once: it will not ask about its like again."];
}
