import type { Permission, Permit, PermitRequest, ToolContext } from "@banyan/core";
import { callIn } from "@banyan/core/conversation";
import type { CommandLimits, LostLimits } from "@banyan/tools/workspace";
import { COMMAND } from "./rule.ts";
import { repositoryChange } from "./shell/changes-repository.ts";
import { describeCallForRules } from "./subject.ts";

/** The decision about a call that runs only because its command has limits. Recognised by identity. */
export const LIMITED: Permit = Object.freeze({ decision: "allow" });

/**
 * Returns whether approval mode `sandbox` allows a call (S37): a command of our tool, unless the command shows that it
 * needs a repository's refs or objects.
 */
export function canBeLimited({ tool, input }: Pick<PermitRequest, "tool" | "input">): boolean {
  if (tool.name !== COMMAND || tool.offeredBy !== undefined) return false;
  const { command } = describeCallForRules(tool, input) ?? {};
  return command !== undefined && repositoryChange(command) === undefined;
}

/**
 * The calls that approval mode `sandbox` alone allowed, by conversation. Only these run with limits. After a loss of the
 * sandbox or the snapshots, they do not run.
 */
export class LimitedCalls implements CommandLimits {
  readonly #calls = new Set<string>();
  readonly #listeners = new Set<(loss: LostLimits) => void>();
  #loss: LostLimits | undefined;

  /** Calls the listener at the first loss since the start, or since `renew`. */
  watch(listener: (loss: LostLimits) => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Returns the same judge, which also remembers the calls with limits. The mode answers no open question: the log would
   * have the answer of a user, which allows the call without limits.
   */
  watching(judge: Permission): Permission {
    return async (request) => {
      const permit = await judge(request);
      const isOpen = callIn(request.conversation, { call: request.call })?.status === "approval-requested";
      if (permit === LIMITED && isOpen) return { decision: "ask" };
      const key = keyOf(request);
      if (permit === LIMITED) this.#calls.add(key);
      else if (!request.done) this.#calls.delete(key);
      return permit;
    };
  }

  /** A user's answer allows a call without limits. */
  isLimited({ conversation, call }: Pick<ToolContext, "conversation" | "call">): boolean {
    return this.#calls.has(keyOf({ conversation, call })) && !callIn(conversation, { call })?.approved;
  }

  refusal(): string | undefined {
    return this.#loss?.reason;
  }

  lost(_conversation: string | undefined, loss: LostLimits): void {
    if (this.#loss) return;
    this.#loss = loss;
    for (const listener of this.#listeners) listener(loss);
  }

  /** Called when the user chooses the mode again, and the mode is available. */
  renew(): void {
    this.#loss = undefined;
  }
}

function keyOf({ conversation, call }: Pick<PermitRequest, "conversation" | "call">): string {
  return `${conversation.id} ${call}`;
}
