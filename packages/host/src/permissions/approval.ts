import type { Permission, Tool } from "@banyan/core";
import type { ApprovalMode } from "./rule.ts";

/** An approval mode that cannot be used. The message says what it needs. */
export class ApprovalError extends Error {
  override readonly name = "ApprovalError";
  /** Only the user's consent is missing. */
  readonly needsYes: boolean;

  constructor(message: string, needsYes = false) {
    super(message);
    this.needsYes = needsYes;
  }
}

/** The conversation for approval `all`, and whether the user confirmed it. */
export interface UnattendedApproval {
  readonly conversation: string;
  readonly confirmed?: boolean | undefined;
}

/** The approval mode for carrying out an approved plan. */
export type PlanApproval = Exclude<ApprovalMode, "plan" | "all">;

/** A conversation whose plan is being carried out. */
export interface ApprovedPlan {
  readonly conversation: string;
  readonly approval: PlanApproval;
}

/** Why approval `all` is unavailable if commands run without a sandbox. */
export const NEEDS_SANDBOX =
  "Approval 'all' needs a sandbox, and there is none here. --unconfined, or the setting unconfined, allows it anyway.";

/**
 * The approval modes (S27). `plan`, `ask` and `edits` apply everywhere; an approved plan ends `plan` in its conversation until a
 * user sets it again. `all` applies everywhere only if the program was started with it. If not, a user confirms it in each
 * conversation, for the life of the process; no log and no other conversation can enable it.
 */
export class Approval {
  #mode: ApprovalMode;
  readonly #agreed = new Set<string>();
  readonly #unasked = new Set<string>();
  /** Conversations with an approved plan and its approval mode, while approval is `plan`. */
  readonly #carried = new Map<string, PlanApproval>();
  /** Runs that change files without approval. */
  readonly #changing = new Set<string>();

  constructor(mode: ApprovalMode) {
    this.#mode = mode;
  }

  /** The mode of conversations without a mode of their own. */
  get mode(): ApprovalMode {
    return this.#mode;
  }

  /** Conversations with approval `all` of their own. */
  get unasked(): readonly string[] {
    return [...this.#unasked];
  }

  /** Conversations whose plan is carried out although approval is `plan`. */
  get carriedOut(): readonly ApprovedPlan[] {
    return [...this.#carried].map(([conversation, approval]) => ({ conversation, approval }));
  }

  /** Records that a user approved a conversation's plan. No effect if the conversation is not in `plan`. */
  carryOut(conversation: string, approval: PlanApproval): void {
    if (this.in(conversation) === "plan") this.#carried.set(conversation, approval);
  }

  /** The mode of a conversation (undefined: not begun yet), and of a run in it. */
  in(conversation: string | undefined, run?: string): ApprovalMode {
    if (conversation !== undefined && this.#unasked.has(conversation)) return "all";
    const carried = this.#mode === "plan" && conversation !== undefined && this.#carried.get(conversation);
    const mode = carried || this.#mode;
    return mode === "ask" && run !== undefined && this.#changing.has(run) ? "edits" : mode;
  }

  /** Returns whether a user confirmed `all` in this conversation. */
  #isAgreed(conversation: string): boolean {
    return this.#mode === "all" || this.#agreed.has(conversation);
  }

  /**
   * Changes the mode; `edits` with a run only for that run. Throws `ApprovalError` for `all` without a conversation, the user's
   * consent or a sandbox.
   */
  use(
    mode: ApprovalMode,
    {
      unasked,
      run,
      isConfined,
    }: { readonly unasked?: UnattendedApproval | undefined; run?: string | undefined; isConfined: boolean },
  ) {
    if (mode === "edits" && run !== undefined) {
      this.#changing.add(run);
      return;
    }
    this.#changing.clear();
    if (mode !== "all") {
      this.#carried.clear();
      this.#mode = mode;
      this.#unasked.clear();
      return;
    }
    if (!isConfined) throw new ApprovalError(NEEDS_SANDBOX);
    if (!unasked) throw new ApprovalError("Approval 'all' is for one conversation: name it.");
    const { conversation, confirmed = false } = unasked;
    if (!confirmed && !this.#isAgreed(conversation))
      throw new ApprovalError("Approval 'all' needs a user's yes for this conversation (confirmed).", true);
    this.#agreed.add(conversation);
    this.#unasked.add(conversation);
  }

  /** Called if there is no sandbox: `all` becomes `ask` again. */
  withdraw(): void {
    if (this.#mode === "all") this.#mode = "ask";
    this.#unasked.clear();
  }

  /**
   * Judges calls by their conversation's mode. For a tool that `isOutside` (another program runs it without a sandbox), `all`
   * asks as `ask` does.
   */
  judge(inMode: (mode: ApprovalMode) => Permission, isOutside: (tool: Tool) => boolean): Permission {
    const modes = { plan: inMode("plan"), ask: inMode("ask"), edits: inMode("edits"), all: inMode("all") };
    return (request) => {
      const mode = this.in(request.conversation.id, request.run);
      return modes[mode === "all" && isOutside(request.tool) ? "ask" : mode](request);
    };
  }
}
