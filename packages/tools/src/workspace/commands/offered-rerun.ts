import type { ToolContext } from "@banyan/core";
import { saysNoNetwork } from "../../sandbox/edge-notes.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

/**
 * How a command runs again after a yes of the user: unchanged, in the sandbox with the network of this machine, or
 * outside the sandbox.
 */
export type Rerun = "same" | "network" | "outside";

/** A command that failed in a sandbox. */
export interface FailedCommand {
  readonly command: string;
  readonly output: string;
  readonly sandbox: Sandbox;
  /** How often programs in its network tried to connect without the proxy. */
  readonly directAttempts: number;
}

const NETWORK = "Yes, run it once with the network of this machine";
const OUTSIDE = "Yes, run it once outside the sandbox";
const NO = "No";

/** The longest command that a question shows whole: UTF-16 units, and lines. */
const LONGEST = 1_500;
const MOST_LINES = 15;
/** Denied paths that the question names. */
const MOST_NAMED = 3;

/**
 * Asks the user whether a command that failed at a limit of the sandbox runs once more without the limit (S40). Asks
 * only if the kernel or the sandbox's table of places knows the limit. Resolves with undefined if nothing can be offered or
 * asked, and with `no` after any answer that is no listed yes. Never rejects.
 */
export async function offerRerun(
  { command, output, sandbox, directAttempts }: FailedCommand,
  ask: ToolContext["ask"],
): Promise<Exclude<Rerun, "same"> | "no" | undefined> {
  if (command.length > LONGEST || command.split("\n").length > MOST_LINES) return undefined;
  const isWithoutNetwork = directAttempts > 0 && saysNoNetwork(output);
  const limits = [...(isWithoutNetwork ? [DIRECT] : []), ...sandbox.metPlaces(command, output)];
  if (limits.length === 0) return undefined;
  // Nobody can decide about denied paths that are unknown.
  const denied = sandbox.exceptions.includes("outside")
    ? await sandbox.hiddenPaths().catch(() => undefined)
    : undefined;
  const offers = [
    ...(isWithoutNetwork && sandbox.exceptions.includes("network") ? [NETWORK] : []),
    ...(denied ? [OUTSIDE] : []),
  ];
  if (offers.length === 0) return undefined;
  const lines = [
    "The command failed at a limit of the sandbox. Run it again?",
    ...limits,
    command,
    ...(offers.includes(NETWORK) ? ["With the network of this machine, the command can also reach your servers."] : []),
    ...(denied ? [`Outside the sandbox, the command has all your rights.${deniedText(denied)}`] : []),
  ];
  // The call was cancelled, or no user can be asked.
  const answer = await ask({ text: lines.join("\n"), choices: [...offers, NO] }).catch(() => undefined);
  if (answer === undefined) return undefined;
  if (!offers.includes(answer)) return "no";
  return answer === NETWORK ? "network" : "outside";
}

const DIRECT = "A program tried to reach the network without the proxy of the sandbox.";

/** A sentence about the denied paths that only the sandbox hides. */
function deniedText(paths: readonly string[]): string {
  if (paths.length === 0) return "";
  const more = paths.length > MOST_NAMED ? [`${paths.length - MOST_NAMED} more`] : [];
  const list = new Intl.ListFormat("en-GB").format([...paths.slice(0, MOST_NAMED), ...more]);
  return ` It could read paths that your rules deny: ${list}.`;
}
