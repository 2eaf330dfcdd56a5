import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";

/** A network address that a program tries to reach. `host` is a name or an IP address. See {@link ConnectionAsker}. */
export interface NetworkAddress {
  readonly host: string;
  readonly port: number;
}

/** An address that commands may reach: in one conversation, or `always`. See {@link NetworkAccess}. */
export interface AllowedAddress {
  /**
   * The address in the form of the setting `sandbox.network.allow`: `example.org`, `*.example.org` or
   * `example.org:443`.
   */
  readonly address: string;
  readonly lasts: "conversation" | "always";
}

/**
 * Decides about the connections of one program in a sandbox.
 * @example
 * const asker: ConnectionAsker = { canAsk: true, allows: () => false, connect: async ({ host }) => `${host} is not needed` };
 * const opening = await openSandbox({ root: "." });
 * if (!opening.available) throw new Error(opening.reason);
 * await opening.sandbox.wrap({ file: "/bin/sh", args: ["-c", "npm ci"], environment: {} }, { asker });
 */
export interface ConnectionAsker {
  /** False if no user can be asked, as for a command in the background. */
  readonly canAsk: boolean;
  /** Returns whether the program may reach the address without a question. */
  allows(address: NetworkAddress): boolean;
  /**
   * Resolves with undefined if the connection is allowed, or with the reason for the refusal. The connection waits.
   * `isOnly`: no other program runs in the sandbox, so this program connects.
   */
  connect(address: NetworkAddress, isOnly: boolean): Promise<string | undefined>;
}

/**
 * The user and network of one program in the sandbox.
 * @example
 * const opening = await openSandbox({ root: "." });
 * if (!opening.available) throw new Error(opening.reason);
 * await opening.sandbox.wrap({ file: "npm", args: ["start"], environment: {} }, { loopback: "conversation-1" });
 */
export interface WrapOptions {
  /**
   * Name of a network, such as a conversation's id. Programs with the same name reach each other's servers on 127.0.0.1
   * (S39), if this machine permits that. Absent: the program has a network of its own.
   */
  readonly loopback?: string | undefined;
  /**
   * Decides about addresses that are not allowed in all conversations. Absent: connections to such addresses are
   * refused.
   */
  readonly asker?: ConnectionAsker | undefined;
  /**
   * True if the program uses the network of this machine, with the machine's own servers. All other limits stay. Needs
   * the consent of a user. Default: false.
   */
  readonly isDirect?: boolean | undefined;
  /**
   * Additional read-only paths, as absolute paths. The program then writes only in the workspace without these paths,
   * in its temporary folder, and in caches; other writable folders of the options become read-only, too (S37). Absent:
   * the program writes wherever the options allow.
   */
  readonly readOnly?: readonly string[] | undefined;
}

/**
 * The network addresses that commands may reach.
 * @example
 * new NetworkAccess({
 *   domains: ["registry.example.org"],
 *   keep: (address, isAllowed) => console.log(address, isAllowed),
 *   registries: () => ["packages.example.org:443"],
 *   canAsk: true,
 *   advice: (address) => `Add ${address} to the settings.`,
 * });
 */
export interface NetworkAccessOptions {
  /** Addresses that are allowed in all conversations, in the form of {@link AllowedAddress}. */
  readonly domains: readonly string[];
  /** Stores an address that a user allowed in all conversations, or removes the address. Throws if that fails. */
  readonly keep?: (address: string, isAllowed: boolean) => void;
  /** Returns the addresses of package registries, as `host:port`. A question offers to allow all of them. */
  readonly registries?: () => readonly string[];
  /** False if no user can be asked about an address. Default: true. */
  readonly canAsk?: boolean;
  /** Returns a sentence that says how to allow an address where no user can be asked. */
  readonly advice?: (address: string) => string;
}

const OPTIONS: OptionNames<NetworkAccessOptions> = {
  domains: true,
  keep: "function",
  registries: "function",
  canAsk: "boolean",
  advice: "function",
};

/**
 * Returns an address as `host:port`, in the form of the setting `sandbox.network.allow`. Other spellings of an IP address
 * become the usual one, and other letters of a name become Punycode.
 */
export function addressText({ host, port }: NetworkAddress): string {
  const written = host.includes(":") ? `[${host}]` : host;
  return `${URL.parse(`http://${written}`)?.hostname ?? written}:${port}`;
}

/**
 * The network addresses that commands can reach. All sandboxes of a program share this object. Addresses that were
 * allowed in one conversation are forgotten when the program ends.
 * @example
 * const network = new NetworkAccess({ domains: ["registry.example.org"] });
 * const opening = await openSandbox({ root: ".", network });
 */
export class NetworkAccess {
  readonly canAsk: boolean;
  readonly #options: NetworkAccessOptions;
  #domains: readonly string[];
  readonly #here = new Map<string, Set<string>>();
  readonly #watchers = new Set<() => void>();

  constructor(options: NetworkAccessOptions) {
    refuseUnknown("NetworkAccess", options, OPTIONS);
    this.canAsk = options.canAsk ?? true;
    this.#options = options;
    this.#domains = [...new Set(options.domains)];
  }

  /** The addresses of all conversations. */
  get domains(): readonly string[] {
    return this.#domains;
  }

  /** The addresses of package registries, as `host:port`. */
  get registries(): readonly string[] {
    return this.#options.registries?.() ?? [];
  }

  /** Returns a sentence that says how to allow an address where no user can be asked. */
  advice(address: string): string {
    return this.#options.advice?.(address) ?? `Add ${address} to the sandbox's option network.`;
  }

  /** Lists the addresses of all conversations, and those of one conversation. */
  list(conversation?: string): readonly AllowedAddress[] {
    return [
      ...this.#domains.map((address) => ({ address, lasts: "always" as const })),
      ...[...this.#addressesIn(conversation)].map((address) => ({ address, lasts: "conversation" as const })),
    ];
  }

  /** Returns whether a user allowed the address `host:port` in the conversation. */
  allowsIn(conversation: string, address: string): boolean {
    return this.#addressesIn(conversation).has(address);
  }

  allowIn(conversation: string, addresses: readonly string[]): void {
    this.#here.set(conversation, new Set([...this.#addressesIn(conversation), ...addresses]));
  }

  /** Allows an address in all conversations. Throws if the address cannot be stored. */
  allowAlways(address: string): void {
    this.#options.keep?.(address, true);
    this.#use([...this.#domains.filter((each) => each !== address), address]);
  }

  /** Revokes an address for all conversations and for this one. Returns false for an unknown address. */
  revoke(address: string, conversation?: string): boolean {
    const isHere = this.#addressesIn(conversation).delete(address);
    if (!this.#domains.includes(address)) return isHere;
    this.#options.keep?.(address, false);
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
