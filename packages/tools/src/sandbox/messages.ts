import type { NetworkAddress } from "./network-access.ts";

/** The access rules of a sandbox. All paths are absolute; `writable` and `programs` contain no links. */
export interface SandboxPlan {
  readonly writable: readonly string[];
  readonly writeDenied: readonly string[];
  readonly readDenied: readonly string[];
  /** Readable paths inside denied folders. */
  readonly readable: readonly string[];
  /** Writable folders inside denied folders. They contain only files that commands of this sandbox wrote. */
  readonly caches: readonly string[];
  /** Writable repositories of linked work trees, outside of these work trees. */
  readonly repositories: readonly string[];
  /** An existing file that commands must not see. The trial command checks this. */
  readonly hidden?: string;
  /** Reachable domains, with or without a port. Empty: no network. */
  readonly domains: readonly string[];
  /** True if programs reach a proxy even without domains. Banyan then decides about each new address. */
  readonly isProxied: boolean;
  readonly programs: {
    readonly bwrap?: string;
    readonly socat?: string;
    readonly rg?: string;
    readonly mkfifo: string;
    /** The path of `nsenter`. Absent: each program in the sandbox has its own network. */
    readonly nsenter?: string;
  };
}

/** The way in which programs outside of a shared network reach it. */
export interface NetworkEntrance {
  /**
   * The words to put before a program and its arguments, so that the program starts in the network. They set no other
   * limit.
   */
  readonly enter: readonly string[];
  /** The id of a process in the network. */
  readonly process: number;
  /** The ports of the relays to the proxies. These relays are no servers of commands. */
  readonly relays: readonly number[];
}

/**
 * Messages to the process of a sandbox. Each `wrapped` is answered by one `ended`. `loopback`: the name of a shared
 * network.
 */
export type ToProcess =
  | { readonly type: "open"; readonly plan: SandboxPlan }
  /** `hidden`: unreadable paths of this program, in addition to those of the plan. */
  | {
      readonly type: "wrap";
      readonly id: number;
      readonly loopback: string | undefined;
      readonly hidden: readonly string[];
      /** True if the program uses the network of this machine. */
      readonly isDirect: boolean;
      /**
       * Paths that the program must not write. It then writes only in the first writable folder. Absent: it writes in
       * all writable folders.
       */
      readonly readOnly: readonly string[] | undefined;
    }
  /** Replaces the reachable domains, also for programs that run. */
  | { readonly type: "domains"; readonly domains: readonly string[] }
  | { readonly type: "ended"; readonly id: number; readonly loopback: string | undefined }
  /** Answers `connect`. `refusal`: the reason why the connection is refused. */
  | { readonly type: "connection"; readonly id: number; readonly refusal?: string }
  | { readonly type: "close" };

/** Replies of a sandbox's process. `invalid`: the plan is wrong. `unavailable`: this machine cannot have a sandbox. */
export type FromProcess =
  | {
      readonly type: "opened";
      readonly temporary: string;
      readonly holder: string;
      /** False if each program has a network of its own, because this machine permits no shared one. */
      readonly isShared: boolean;
    }
  | { readonly type: "invalid"; readonly message: string }
  | { readonly type: "unavailable"; readonly reason: string }
  /** `text` is one simple command of a POSIX shell. Without `entrance`, the program has its own network. */
  | { readonly type: "wrapped"; readonly id: number; readonly text: string; readonly entrance?: NetworkEntrance }
  /** A program tries to reach an address outside the domains, and waits. */
  | ({ readonly type: "connect"; readonly id: number } & NetworkAddress)
  /** `notices` are sentences about files that were moved aside after a program ended. */
  | { readonly type: "settled"; readonly id: number; readonly notices: readonly string[] }
  | { readonly type: "failed"; readonly id: number; readonly message: string };

/**
 * A limit that a user may lift for one run of a command (S40). `network`: the command uses the network of this machine.
 * `outside`: the command runs outside the sandbox. See {@link openSandbox}.
 */
export type SandboxException = "network" | "outside";

/**
 * Why a sandbox failed. `policy`: the options are invalid. `closed`: the sandbox was closed or its process ended.
 * `system`: a command could not be started in the sandbox. See {@link SandboxError}.
 */
export type SandboxErrorCode = "policy" | "closed" | "system";

/**
 * A failure of a sandbox. Its command does not run, not even without a sandbox. The message contains the remedy.
 * @example
 * await openSandbox({ root: "/missing" }).catch((error) => {
 *   if (error instanceof SandboxError) console.error(error.code, error.message);
 * });
 */
export class SandboxError extends Error {
  override readonly name = "SandboxError";
  readonly code: SandboxErrorCode;

  constructor(code: SandboxErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
