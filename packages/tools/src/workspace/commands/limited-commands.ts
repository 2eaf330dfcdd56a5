import type { ToolContext } from "@banyan/core";
import { NotExecutedError } from "@banyan/core/hosts";

/** Why commands with limits cannot run any more. See {@link CommandLimits}. */
export interface LostLimits {
  readonly type: "sandbox lost" | "snapshots lost";
  /** The reason, as a sentence. */
  readonly reason: string;
}

type LimitedCall = Pick<ToolContext, "conversation" | "call">;

/**
 * Decides which commands may change only what snapshots keep (S37). Such a command runs in the sandbox and with
 * snapshots, or not at all.
 * @example
 * const lost = new Map<string, string>();
 * const limits: CommandLimits = {
 *   isLimited: () => true,
 *   refusal: (conversation) => lost.get(conversation),
 *   lost: (conversation, { reason }) => lost.set(conversation, reason),
 * };
 */
export interface CommandLimits {
  /** Returns whether a call is allowed only with limits. Other calls run as without this option. */
  isLimited(call: LimitedCall): boolean;
  /** Returns the reason, as a sentence, if calls of the conversation must not run with limits any more. */
  refusal(conversation: string): string | undefined;
  /** Called when the sandbox or the snapshots failed at a call of the conversation. */
  lost(conversation: string, loss: LostLimits): void;
}

/** The running commands with limits. */
export class LimitedCommands {
  readonly #limits: CommandLimits;
  readonly #readOnly = new Map<string, readonly string[]>();

  constructor(limits: CommandLimits) {
    this.#limits = limits;
  }

  isLimited(call: LimitedCall): boolean {
    return this.#limits.isLimited(call);
  }

  /** Throws a `NotExecutedError` if the conversation has no commands with limits any more. */
  check({ conversation: { id } }: LimitedCall): void {
    const refusal = this.#limits.refusal(id);
    if (refusal !== undefined) throw new NotExecutedError(`${refusal} ${AGAIN}`);
  }

  /** Runs a call whose command cannot change the paths in `unkept`. */
  async run<Result>(call: LimitedCall, unkept: readonly string[], work: () => Promise<Result>): Promise<Result> {
    const key = keyOf(call);
    this.#readOnly.set(key, unkept);
    try {
      return await work();
    } finally {
      this.#readOnly.delete(key);
    }
  }

  /**
   * Returns the paths that a command must not change; undefined for a call without limits. Throws a `NotExecutedError` if
   * no snapshot precedes a call with limits.
   */
  readOnlyFor(call: LimitedCall): readonly string[] | undefined {
    if (!this.isLimited(call)) return undefined;
    this.check(call);
    const unkept = this.#readOnly.get(keyOf(call));
    if (unkept === undefined) throw new NotExecutedError(`No snapshot precedes the command. ${AGAIN}`);
    return unkept;
  }

  /** Reports a loss. Returns the error of the call, which did not run. */
  lose({ conversation: { id } }: LimitedCall, type: LostLimits["type"], reason: string): NotExecutedError {
    this.#limits.lost(id, { type, reason });
    return new NotExecutedError(`${reason} ${AGAIN}`);
  }
}

/** The next time, the user is asked. */
const AGAIN = "Make the call again, so that the user can decide.";

function keyOf({ conversation, call }: LimitedCall): string {
  return `${conversation.id} ${call}`;
}
