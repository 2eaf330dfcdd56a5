/** A network address that a program tries to reach. `host` is a name or an IP address. */
export interface NetworkAddress {
  readonly host: string;
  readonly port: number;
}

/** An address that commands may reach: in one conversation, or `always`. See {@link NetworkAccess}. */
export interface AllowedAddress {
  /** In the form of the setting `sandbox.network.allow`: `example.org`, `*.example.org` or `example.org:443`. */
  readonly address: string;
  readonly lasts: "conversation" | "always";
}

/** Returns an address as users see it, in the form of the setting `sandbox.network.allow`. */
export function addressText({ host, port }: NetworkAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/**
 * The network addresses that commands may reach. All sandboxes of a program share this object. Addresses of one
 * conversation are forgotten at the end of the program.
 * @example
 * const network = new NetworkAccess(["registry.example.org"], (address, isAllowed) => console.log(address, isAllowed));
 * const opening = await openSandbox({ root: ".", network });
 */
export class NetworkAccess {
  #domains: readonly string[];
  readonly #keep: (address: string, isAllowed: boolean) => void;
  readonly #here = new Map<string, Set<string>>();
  readonly #watchers = new Set<() => void>();

  /** `keep` stores an address that a user always allowed, or removes the address. It may throw. */
  constructor(domains: readonly string[], keep: (address: string, isAllowed: boolean) => void = () => {}) {
    this.#domains = [...new Set(domains)];
    this.#keep = keep;
  }

  /** The domains of all conversations. */
  get domains(): readonly string[] {
    return this.#domains;
  }

  /** Lists the addresses of all conversations, and those of one conversation. */
  list(conversation?: string): readonly AllowedAddress[] {
    return [
      ...this.#domains.map((address) => ({ address, lasts: "always" as const })),
      ...[...this.#addressesIn(conversation)].map((address) => ({ address, lasts: "conversation" as const })),
    ];
  }

  /** Revokes an address for all conversations and for this one. Returns false for an unknown address. */
  revoke(address: string, conversation?: string): boolean {
    const isHere = this.#addressesIn(conversation).delete(address);
    if (!this.#domains.includes(address)) return isHere;
    this.#keep(address, false);
    this.#use(this.#domains.filter((each) => each !== address));
    return true;
  }

  /** Calls `changed` after each change of `domains`, until the result is disposed of. */
  watch(changed: () => void): Disposable {
    this.#watchers.add(changed);
    return { [Symbol.dispose]: () => this.#watchers.delete(changed) };
  }

  #addressesIn(conversation: string | undefined): Set<string> {
    return (conversation === undefined ? undefined : this.#here.get(conversation)) ?? new Set();
  }

  #use(domains: readonly string[]): void {
    this.#domains = domains;
    for (const changed of this.#watchers) changed();
  }
}
