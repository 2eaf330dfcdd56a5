import type { Permission, Tool } from "@banyan/core";
import type { ApprovalMode } from "./permissions.ts";

/** A mode that cannot be taken. The message says in one sentence what it needs. */
export class ApprovalError extends Error {
  override readonly name = "ApprovalError";
  /** All that is missing is a person's yes. */
  readonly needsYes: boolean;

  constructor(message: string, needsYes = false) {
    super(message);
    this.needsYes = needsYes;
  }
}

/** Where nothing is to be asked, and whether a person was asked about that and said yes. */
export interface Unasked {
  readonly conversation: string;
  readonly confirmed?: boolean | undefined;
}

/** How a plan is carried out that a person allowed. */
export type PlanApproval = Exclude<ApprovalMode, "plan" | "all">;

/** A conversation whose plan is carried out. */
export interface CarriedOut {
  readonly conversation: string;
  readonly approval: PlanApproval;
}

/** Why nothing but `plan`, `ask` and `edits` can be had where commands run without a sandbox. */
export const NEEDS_SANDBOX =
  "Approval 'all' needs a sandbox, and there is none here. --unconfined, or the setting unconfined, allows it anyway.";

/**
 * What runs without asking (S27). `plan`, `ask` and `edits` hold everywhere; in a conversation whose plan was allowed, `plan` is
 * over until somebody takes it anew. `all` holds in all conversations only when whoever
 * started the program said so; else in those whose person said yes to it, once in each, for as long as the process lives:
 * no log and no other conversation brings it.
 */
export class Approval {
  #mode: ApprovalMode;
  readonly #agreed = new Set<string>();
  readonly #unasked = new Set<string>();
  /** Conversations whose plan a person allowed, and how it is carried out, while approval is `plan`. */
  readonly #carried = new Map<string, PlanApproval>();
  /** Runs in which files are changed without asking. */
  readonly #changing = new Set<string>();

  constructor(mode: ApprovalMode) {
    this.#mode = mode;
  }

  /** In conversations without a mode of their own. */
  get mode(): ApprovalMode {
    return this.#mode;
  }

  /** The conversations in which nothing is asked although it is elsewhere. */
  get unasked(): readonly string[] {
    return [...this.#unasked];
  }

  /** The conversations whose plan is carried out although approval is `plan`. */
  get carriedOut(): readonly CarriedOut[] {
    return [...this.#carried].map(([conversation, approval]) => ({ conversation, approval }));
  }

  /** A person allowed the plan of this conversation. Nothing happens where none had to be allowed. */
  carryOut(conversation: string, approval: PlanApproval): void {
    if (this.in(conversation) === "plan") this.#carried.set(conversation, approval);
  }

  /** In this conversation; in one that has not begun without an id. `run`: for its calls. */
  in(conversation: string | undefined, run?: string): ApprovalMode {
    if (conversation !== undefined && this.#unasked.has(conversation)) return "all";
    const carried = this.#mode === "plan" && conversation !== undefined && this.#carried.get(conversation);
    const mode = carried || this.#mode;
    return mode === "ask" && run !== undefined && this.#changing.has(run) ? "edits" : mode;
  }

  /** Whether a person said yes to `all` in this conversation. */
  #isAgreed(conversation: string): boolean {
    return this.#mode === "all" || this.#agreed.has(conversation);
  }

  /**
   * Takes another mode: `edits` with a run, for that run alone. Throws `ApprovalError` for `all` without a conversation, a yes
   * or a sandbox.
   */
  use(
    mode: ApprovalMode,
    {
      unasked,
      run,
      isConfined,
    }: { readonly unasked?: Unasked | undefined; run?: string | undefined; isConfined: boolean },
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

  /** There is no sandbox after all: `all` becomes `ask` again. */
  withdraw(): void {
    if (this.#mode === "all") this.#mode = "ask";
    this.#unasked.clear();
  }

  /**
   * Judges each call as its conversation's mode has it. Of a tool that `isOutside`, which another program runs in no
   * sandbox, `all` asks as `ask` does.
   */
  judge(inMode: (mode: ApprovalMode) => Permission, isOutside: (tool: Tool) => boolean): Permission {
    const modes = { plan: inMode("plan"), ask: inMode("ask"), edits: inMode("edits"), all: inMode("all") };
    return (request) => {
      const mode = this.in(request.conversation.id, request.run);
      return modes[mode === "all" && isOutside(request.tool) ? "ask" : mode](request);
    };
  }
}
