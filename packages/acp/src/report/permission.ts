import type { PermissionOption, RequestPermissionOutcome } from "@agentclientprotocol/sdk/unstable";
import type { ToolContext } from "@banyan/core";

/** The decision of a user or a rule about a call. */
export type PermissionVerdict = "allowed" | "denied" | "cancelled";

const ONLY_ALWAYS =
  'The agent offers only "always allow" for this call. Banyan allows calls one at a time, so the call was denied.';

/**
 * Returns the answer to a permission request for a call that is not allowed. The answer denies only this one call. The
 * agent must not remember the denial, because Banyan's rules judge each call (S43).
 */
export function permissionOutcome(
  verdict: Exclude<PermissionVerdict, "allowed">,
  options: readonly PermissionOption[],
): RequestPermissionOutcome {
  const once = verdict === "denied" ? options.find(({ kind }) => kind === "reject_once") : undefined;
  // Without an option to deny once, answer `cancelled`, which also forbids the agent to go on.
  return once ? { outcome: "selected", optionId: once.optionId } : { outcome: "cancelled" };
}

/**
 * Returns the answer to a permission request for an allowed call. The user chooses if the agent offers several ways to
 * allow the call once, such as leaving plan mode with more or fewer questions. Rejects if the agent offers no such way,
 * or the user chooses none.
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
    text: "How should the agent continue?",
    choices: ways.map(({ name }) => name),
    default: usual.name,
  });
  const way = ways.find(({ name }) => name.toLowerCase() === answer.trim().toLowerCase());
  if (!way) throw new Error(`"${answer}" is not among the agent's choices, so the call was denied.`);
  return { outcome: "selected", optionId: way.optionId };
}

/** Returns a warning to show before the user decides, if the agent cannot allow the call just once. */
export function allowAlwaysWarning(options: readonly PermissionOption[]): readonly string[] {
  const kinds = new Set(options.map(({ kind }) => kind));
  if (kinds.has("allow_once") || !kinds.has("allow_always")) return [];
  return ['The agent offers only "always allow" for this call. Banyan denies the call, whatever you answer.'];
}
