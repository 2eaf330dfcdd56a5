import type { Sandbox } from "@banyan/tools/sandbox";
import { type Approval, NEEDS_SANDBOX } from "./approval.ts";
import { type ApprovalMode, approvalModes } from "./rule.ts";
import { type ModeEquipment, sandboxModeFacts, sandboxModeRefusal } from "./sandbox-mode.ts";

/** Options of `AvailableModes`. */
export interface AvailableModesOptions {
  readonly workspace: string;
  /** True if the user trusts the workspace. */
  readonly isTrusted: boolean;
  /** True if the settings permit mode `all` without a sandbox. */
  readonly isUnconfined: boolean;
}

/** `reason`: a sentence that says why mode `sandbox` ended during work. */
export type ModesListener = (reason?: string) => void;

/** The approval modes that a user can choose in a workspace now. Mode `sandbox` depends on the equipment (S37). */
export class AvailableModes {
  readonly #approval: Approval;
  readonly #options: AvailableModesOptions;
  readonly #listeners = new Set<ModesListener>();
  #hasSandbox = false;
  #watched: Pick<Sandbox, "watch"> | undefined;

  constructor(approval: Approval, options: AvailableModesOptions) {
    this.#approval = approval;
    this.#options = options;
    approval.limited.watch(({ reason }) => this.lost(reason));
  }

  /** The modes in the order of `approvalModes`. Until the equipment is open, `sandbox` is not among them. */
  get offered(): readonly ApprovalMode[] {
    return approvalModes.filter((mode) => mode !== "sandbox" || this.#hasSandbox);
  }

  /** Calls the listener after each change of `offered`, and after the end of a mode, until the returned function is called. */
  watch(listener: ModesListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns from `sandbox` or `all` to `ask`, because the mode is not available. */
  withdraw(): void {
    this.#approval.withdraw();
    this.#tell();
  }

  /** Returns from `sandbox` to `ask`, because the sandbox or the snapshots are lost. No effect in other modes. */
  lost(reason: string): void {
    if (this.#approval.mode !== "sandbox") return;
    this.#approval.withdraw();
    this.#tell(reason);
  }

  /**
   * Resolves with a sentence that says why a mode is not available; undefined if the mode is available. Tries the sandbox
   * if the mode needs one.
   */
  async refusal(mode: ApprovalMode, equipment: ModeEquipment): Promise<string | undefined> {
    const { isUnconfined, ...place } = this.#options;
    if (mode === "sandbox") await this.#watch(equipment);
    const reason = sandboxModeRefusal(await sandboxModeFacts(equipment, { ...place, isTried: mode === "sandbox" }));
    const had = this.#hasSandbox;
    this.#hasSandbox = reason === undefined;
    if (this.#hasSandbox !== had) this.#tell();
    if (mode === "sandbox") return reason && `Approval 'sandbox' is not available. ${reason}`;
    return mode !== "all" || isUnconfined || (await equipment.isConfined()) ? undefined : NEEDS_SANDBOX;
  }

  /** Notices when the sandbox of the workspace ends, also while no command runs. */
  async #watch(equipment: ModeEquipment): Promise<void> {
    const sandbox = await equipment.confinesIn(this.#options.workspace);
    if (sandbox === this.#watched) return;
    this.#watched = sandbox;
    sandbox?.watch((reason) => this.#approval.limited.lost(undefined, { type: "sandbox lost", reason }));
  }

  #tell(reason?: string): void {
    for (const listener of this.#listeners) listener(reason);
  }
}
