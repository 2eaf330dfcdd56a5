import { errorMessage } from "@banyan/core/shown";
import type { Sandbox } from "@banyan/tools/sandbox";

/** The parts of the equipment that decide which approval modes are available. */
export interface ModeEquipment {
  /** A sentence about the sandbox. */
  readonly sandbox: string;
  isConfined(): Promise<boolean>;
  confinesIn(folder: string): Promise<Pick<Sandbox, "isShared" | "start" | "watch"> | undefined>;
  snapshotsOf(folder: string): { moments(conversation: string): Promise<unknown> };
}

/** The facts that decide whether approval mode `sandbox` is available (S37). */
export interface SandboxModeFacts {
  /** True if the user trusts the folder. */
  readonly isTrusted: boolean;
  /** A sentence that says why commands have no sandbox. Undefined if they have one. */
  readonly sandboxProblem: string | undefined;
  /** False if commands in the sandbox share no network. Undefined before the sandbox has started. */
  readonly isShared: boolean | undefined;
  /** A sentence that says why there are no snapshots. Undefined if there are snapshots, or if nobody has tried. */
  readonly snapshotProblem: string | undefined;
}

/** Returns one sentence that says why approval mode `sandbox` is not available. Undefined if the mode is available. */
export function sandboxModeRefusal(facts: SandboxModeFacts): string | undefined {
  const { isTrusted, sandboxProblem, isShared, snapshotProblem } = facts;
  if (!isTrusted) return "You have not trusted this folder. Start with --trust to trust this folder.";
  if (sandboxProblem !== undefined) return sandboxProblem;
  if (isShared === false) return "On this machine, commands in the sandbox share no network.";
  return snapshotProblem;
}

/**
 * Gathers the facts about a workspace. If `isTried`, starts the sandbox and opens the snapshots first. Never rejects.
 */
export async function sandboxModeFacts(
  equipment: ModeEquipment,
  {
    workspace,
    isTrusted,
    isTried,
  }: { readonly workspace: string; readonly isTrusted: boolean; readonly isTried: boolean },
): Promise<SandboxModeFacts> {
  const sandbox = await equipment.confinesIn(workspace);
  const started = sandbox && isTried ? await problemOf(sandbox.start()) : undefined;
  return {
    isTrusted,
    sandboxProblem: sandbox ? started : equipment.sandbox,
    isShared: sandbox?.isShared,
    snapshotProblem: isTried ? await problemOf(equipment.snapshotsOf(workspace).moments("")) : undefined,
  };
}

function problemOf(trial: Promise<unknown>): Promise<string | undefined> {
  return trial.then(() => undefined, errorMessage);
}
