import type { PermissionOption, RequestPermissionOutcome } from "@agentclientprotocol/sdk/unstable";
import type { ToolContext } from "@banyan/core";

/** The decision of a user or a rule about a call. */
export type PermissionVerdict = "allowed" | "denied" | "cancelled";

/** Message for an allowed call that is denied because the agent offers no permission for one call. */
const ONLY_ALWAYS =
  'The agent offers only "always" for this call. Banyan allows calls one at a time, so the call was denied.';

/**
 * Selects the option that denies a call this once. Neither a denial nor a permission outlives its call in the agent's
 * memory: our rules keep longer ones and judge each call (S43).
 */
export function permissionOutcome(
  verdict: Exclude<PermissionVerdict, "allowed">,
  options: readonly PermissionOption[],
): RequestPermissionOutcome {
  const once = verdict === "denied" ? options.find(({ kind }) => kind === "reject_once") : undefined;
  // Without an option to deny once, the agent gets `cancelled`, after which it must not go on either.
  return once ? { outcome: "selected", optionId: once.optionId } : { outcome: "cancelled" };
}

/**
 * Returns the outcome of an allowed call. If the agent offers several ways to allow the call once (such as leaving plan
 * mode with more or fewer questions), the user chooses. Rejects if the agent offers none, or the user names none of them.
 */
export async function allowedOutcome(
  options: readonly PermissionOption[],
  { ask }: Pick<ToolContext, "ask">,
): Promise<RequestPermissionOutcome> {
  const ways = options.filter(({ kind }) => kind === "allow_once");
  const [usual, ...others] = ways;
  if (!usual) {
    const always = options.some(({ kind }) => kind === "allow_always");
    throw new Error(always ? ONLY_ALWAYS : "The agent offers no way to allow this call, so the call was denied.");
  }
  if (others.length === 0) return { outcome: "selected", optionId: usual.optionId };
  const answer = await ask({
    text: "The agent can continue in several ways. Which one?",
    choices: ways.map(({ name }) => name),
    default: usual.name,
  });
  const way = ways.find(({ name }) => name.toLowerCase() === answer.trim().toLowerCase());
  if (!way) throw new Error(`"${answer}" is not among the agent's choices, so the call was denied.`);
  return { outcome: "selected", optionId: way.optionId };
}

/** Warnings for the user before they allow the call; empty if the agent can allow it once. */
export function allowAlwaysWarning(options: readonly PermissionOption[]): readonly string[] {
  const kinds = new Set(options.map(({ kind }) => kind));
  if (kinds.has("allow_once") || !kinds.has("allow_always")) return [];
  return ['The agent offers only "always" for this call: it is denied, whatever you answer.'];
}
