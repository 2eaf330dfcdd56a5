import { homedir } from "node:os";
import { TrustRecord } from "@banyan/host";

/**
 * Whether what a project brings (settings, servers, agents, instructions) is used by a command that nobody sits at: as the user
 * decided in a chat, or decides now with `trust`, which is kept for later (S5). What is left out is said.
 */
export function isProjectTrusted(
  { cwd, trust = false }: { readonly cwd: string; readonly trust: boolean | undefined },
  say: (sentence: string) => void,
): boolean {
  const record = new TrustRecord({ env: process.env, home: homedir() });
  if (trust) {
    record.trust(cwd);
    return true;
  }
  const { state } = record.trustOf(cwd);
  if (state === "unknown" || state === "changed")
    say("This project's settings and instructions are not used. --trust turns them on from now on.");
  return state === "trusted";
}
