import type { PermissionOption, RequestPermissionOutcome } from "@agentclientprotocol/sdk/unstable";
import type { ToolContext } from "@banyan/core";

/** The decision of a user or a rule about a call. */
export type Verdict = "allowed" | "denied" | "cancelled";

/** Why an agent was told no although the call was allowed. */
const ONLY_ALWAYS =
  'The agent offers only "always" for this, and a call is allowed once at a time, so the agent was told no.';

/**
 * The option that tells the agent what was decided here. Never an option for longer than this call: our rules remember what is
 * allowed for longer, so that they judge each call, and the agent's own memory cannot outlive them (S43).
 */
export function outcomeOf(
  verdict: Exclude<Verdict, "allowed">,
  options: readonly PermissionOption[],
): RequestPermissionOutcome {
  const kinds = verdict === "denied" ? (["reject_once", "reject_always"] as const) : [];
  for (const kind of kinds) {
    const option = options.find((offered) => offered.kind === kind);
    if (option) return { outcome: "selected", optionId: option.optionId };
  }
  // An agent that offers no way to say no is told that nobody decided: then it must not go on either.
  return { outcome: "cancelled" };
}

/**
 * The outcome of a call that was allowed. If the agent offers several ways to allow it once (to leave its plan, and to ask more
 * or less from then on), the user chooses one. Rejects where the agent offers none, or the user names none of them.
 */
export async function allowedOutcome(
  options: readonly PermissionOption[],
  { ask }: Pick<ToolContext, "ask">,
): Promise<RequestPermissionOutcome> {
  const ways = options.filter(({ kind }) => kind === "allow_once");
  const [usual, ...others] = ways;
  if (!usual) {
    const always = options.some(({ kind }) => kind === "allow_always");
    throw new Error(always ? ONLY_ALWAYS : "The agent offers no way to allow this, so the agent was told no.");
  }
  if (others.length === 0) return { outcome: "selected", optionId: usual.optionId };
  const answer = await ask({
    text: "The agent knows several ways to go on. Which one?",
    choices: ways.map(({ name }) => name),
    default: usual.name,
  });
  const way = ways.find(({ name }) => name.toLowerCase() === answer.trim().toLowerCase());
  if (!way) throw new Error(`"${answer}" is none of the ways that the agent knows, so it was told no.`);
  return { outcome: "selected", optionId: way.optionId };
}

/** A warning to the user before they allow the call; undefined if the agent can be told "once". */
export function noteOn(options: readonly PermissionOption[]): readonly string[] {
  const kinds = new Set(options.map(({ kind }) => kind));
  if (kinds.has("allow_once") || !kinds.has("allow_always")) return [];
  return ['The agent offers only "always" for this: it is told no, whatever you answer.'];
}
