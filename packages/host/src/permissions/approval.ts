import type { Permission, Tool } from "@banyan/core";
import { LimitedCalls } from "./limited-calls.ts";
import type { ApprovalMode } from "./rule.ts";

/** The error of an approval mode that cannot be used. The message says what is missing. */
export class ApprovalError extends Error {
  override readonly name = "ApprovalError";
  /** True if only the user's consent is missing for the mode. */
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

/** The approval mode for calls that carry out an approved plan. */
export type PlanApproval = "ask" | "edits";

/** A conversation with an approved plan that the agent carries out. */
export interface ApprovedPlan {
  readonly conversation: string;
  readonly approval: PlanApproval;
}

/** The message for approval `all` without a sandbox. */
export const NEEDS_SANDBOX =
  "Approval 'all' needs a sandbox, and none is available. To allow 'all' without a sandbox, use --unconfined or the setting unconfined.";

/**
 * The approval modes of conversations (S27). `plan`, `ask`, `edits` and `sandbox` apply everywhere; an approved plan
 * ends `plan` in its conversation. `all` applies everywhere only if the program was started with it. In all other
 * cases, a user confirms `all` for one conversation, until the process ends. Neither a log nor another conversation can
 * enable `all`.
 */
export class Approval {
  /** The calls that mode `sandbox` alone allowed. */
  readonly limited = new LimitedCalls();
  #mode: ApprovalMode;
  readonly #agreed = new Set<string>();
  readonly #unasked = new Set<string>();
  /** Approved plans, while approval is `plan`. */
  readonly #carried = new Map<string, PlanApproval>();
  /** The runs in which files change without approval. */
  readonly #changing = new Set<string>();

  constructor(mode: ApprovalMode) {
    this.#mode = mode;
  }

  /** The mode of conversations without their own. */
  get mode(): ApprovalMode {
    return this.#mode;
  }

  /** Conversations with approval `all` of their own. */
  get unasked(): readonly string[] {
    return [...this.#unasked];
  }

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

  #isAgreed(conversation: string): boolean {
    return this.#mode === "all" || this.#agreed.has(conversation);
  }

  /**
   * Changes the mode, or `edits` for one run. `refusal`: the reason why the mode is not available. Throws
   * `ApprovalError` with this reason, or for `all` without consent.
   */
  use(
    mode: ApprovalMode,
    {
      unasked,
      run,
      refusal,
    }: {
      readonly unasked?: UnattendedApproval | undefined;
      readonly run?: string | undefined;
      readonly refusal?: string | undefined;
    } = {},
  ) {
    if (refusal !== undefined) throw new ApprovalError(refusal);
    if (mode === "edits" && run !== undefined) {
      this.#changing.add(run);
      return;
    }
    this.#changing.clear();
    if (mode !== "all") {
      this.#carried.clear();
      this.#mode = mode;
      this.#unasked.clear();
      if (mode === "sandbox") this.limited.renew();
      return;
    }
    if (!unasked) throw new ApprovalError("Approval 'all' applies to one conversation only. Name the conversation.");
    const { conversation, confirmed = false } = unasked;
    if (!confirmed && !this.#isAgreed(conversation))
      throw new ApprovalError(
        "Approval 'all' needs the user's confirmation for this conversation. Send `confirmed: true` after the user agrees.",
        true,
      );
    this.#agreed.add(conversation);
    this.#unasked.add(conversation);
  }

  /** Called if there is no sandbox: `sandbox` and `all` become `ask` again. */
  withdraw(): void {
    if (this.#mode === "sandbox" || this.#mode === "all") this.#mode = "ask";
  }

  /** Judges calls by their conversation's mode. For tools of other programs (`isOutside`), `all` asks. */
  judge(inMode: (mode: ApprovalMode) => Permission, isOutside: (tool: Tool) => boolean): Permission {
    const modes: Readonly<Record<ApprovalMode, Permission>> = {
      plan: inMode("plan"),
      ask: inMode("ask"),
      edits: inMode("edits"),
      sandbox: inMode("sandbox"),
      all: inMode("all"),
    };
    return this.limited.watching((request) => {
      const mode = this.in(request.conversation.id, request.run);
      return modes[mode === "all" && isOutside(request.tool) ? "ask" : mode](request);
    });
  }
}
