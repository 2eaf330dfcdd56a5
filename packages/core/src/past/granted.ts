import { isEnded, type Json } from "../conversation/message.ts";
import type { ConversationState } from "../conversation/state.ts";
import { callIn } from "../conversation/tree/call-state.ts";
import { noRights, type Rights, type RightsPlace } from "../ports/rights.ts";

/** What runs when a call is allowed. */
interface AllowedCall {
  readonly id: string;
  readonly tool: string;
  readonly input: Json | undefined;
}

/** What a person allowed in a session's conversation; what its log says of that counts for nothing (S17). */
export class Granted {
  readonly #place: RightsPlace | undefined;
  readonly #state: ConversationState;
  #rights: Rights;

  /** Without a place it lasts as long as the session. */
  constructor(place: RightsPlace | undefined, state: ConversationState, rights: Rights = noRights) {
    this.#place = place;
    this.#state = state;
    this.#rights = rights;
  }

  /** Permission rules that hold. */
  get rules(): readonly string[] {
    return this.#rights.rules;
  }

  /** Whether a person allowed this call to run with just these arguments. */
  has(call: AllowedCall): boolean {
    const { calls } = this.#rights;
    return Object.hasOwn(calls, call.id) && calls[call.id] === digestOf(call);
  }

  /** A person allows a call, and with it all that a rule covers. To be done before the log says so. */
  allow(call: AllowedCall, rule?: string): void | Promise<void> {
    const { rules, calls } = this.#rights;
    const open = Object.entries(calls).filter(([id]) => this.#isOpen(id));
    return this.#write({
      rules: rule === undefined || rules.includes(rule) ? rules : [...rules, rule],
      calls: Object.fromEntries([...open, [call.id, digestOf(call)]]),
    });
  }

  /** A rule holds no more. */
  revoke(rule: string): void | Promise<void> {
    const { rules, calls } = this.#rights;
    return this.#write({ rules: rules.filter((other) => other !== rule), calls });
  }

  /** The log was brought in, and says so by now: from now on it is one of this store's. */
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

function digestOf({ id, tool, input }: AllowedCall): string {
  return process.getBuiltinModule("node:crypto").hash("sha256", JSON.stringify([id, tool, input ?? null]));
}
