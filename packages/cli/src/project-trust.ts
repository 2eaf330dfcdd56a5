import { homedir } from "node:os";
import { TrustRecord } from "@banyan/host";

/**
 * Returns whether a command without a user may use the project's settings, servers, agents and instructions (S5). The
 * user decides in a chat, or with `trust`, which is stored. `say` explains a refusal.
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
