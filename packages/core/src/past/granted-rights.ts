import { isEnded } from "../conversation/message.ts";
import { checkArguments } from "../conversation/option-names.ts";
import type { Json } from "../conversation/part.ts";
import type { ConversationState } from "../conversation/state.ts";
import { callIn } from "../conversation/tree/call-state.ts";
import { noRights, type Rights, type RightsPlace } from "../ports/rights.ts";
import { fullDigest } from "../ports/runtime.ts";

interface AllowedCall {
  readonly id: string;
  readonly tool: string;
  readonly input: Json | undefined;
}

/**
 * Permissions that a user gave in a session's conversation. Permissions that only the log contains are not valid (S17).
 */
export class GrantedRights {
  readonly #place: RightsPlace | undefined;
  readonly #state: ConversationState;
  #rights: Rights;

  /** Without `place`, permissions last as long as the session. */
  constructor(place: RightsPlace | undefined, state: ConversationState, rights: Rights = noRights) {
    this.#place = place;
    this.#state = state;
    this.#rights = rights;
  }

  get rules(): readonly string[] {
    return this.#rights.rules;
  }

  /** True if a user allowed this call with exactly these arguments. */
  has(call: AllowedCall): boolean {
    const { calls } = this.#rights;
    return Object.hasOwn(calls, call.id) && calls[call.id] === callDigest(call);
  }

  /** Allows a call, and a rule if given. Must be called before the log records the permission. */
  allow(call: AllowedCall, rule?: string): void | Promise<void> {
    const { rules, calls } = this.#rights;
    const open = Object.entries(calls).filter(([id]) => this.#isOpen(id));
    return this.#write({
      rules: rule === undefined || rules.includes(rule) ? rules : [...rules, rule],
      calls: Object.fromEntries([...open, [call.id, callDigest(call)]]),
    });
  }

  revoke(rule: string): void | Promise<void> {
    checkArguments("session.revoke", { pattern: rule }, { pattern: "string" });
    const { rules, calls } = this.#rights;
    return this.#write({ rules: rules.filter((other) => other !== rule), calls });
  }

  /** Marks an imported log as one of this store's, after its import event was written. */
  takeIn(): void | Promise<void> {
    return this.#write(noRights);
  }

  #isOpen(id: string): boolean {
    const call = callIn(this.#state, { call: id });
    return call !== undefined && !isEnded(call.status);
  }

  #write(rights: Rights): void | Promise<void> {
    this.#rights = rights;
    return this.#place?.write(rights);
  }
}

function callDigest({ id, tool, input }: AllowedCall): string {
  return fullDigest(JSON.stringify([id, tool, input ?? null]));
}
