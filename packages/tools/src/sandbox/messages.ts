/** What commands in a sandbox may do. All paths are absolute; those of `writable` and `programs` are free of links. */
export interface SandboxPlan {
  readonly writable: readonly string[];
  readonly writeDenied: readonly string[];
  readonly readDenied: readonly string[];
  /** What lies in a denied place and can be read. */
  readonly readable: readonly string[];
  /** Places in a denied folder that are writable, each with nothing in it but what commands of this sandbox wrote. */
  readonly caches: readonly string[];
  /** Repositories of linked work trees, outside of them; each is writable too. */
  readonly repositories: readonly string[];
  /** Something that is there and must not be seen: how the sandbox is tried out. */
  readonly hidden?: string;
  /** Domains, with a port or without. Nothing else can be reached, so with none there is no network. */
  readonly domains: readonly string[];
  /** Where the programs that make the sandbox are. */
  readonly programs: {
    readonly bwrap?: string;
    readonly socat?: string;
    readonly rg?: string;
    readonly mkfifo: string;
  };
}

/** What the process of a sandbox is told. `ended` comes once for each `wrapped`. */
export type ToProcess =
  | { readonly type: "open"; readonly plan: SandboxPlan }
  | { readonly type: "wrap"; readonly id: number }
  | { readonly type: "ended"; readonly id: number }
  | { readonly type: "close" };

/** What it answers. `invalid`: the plan cannot be meant so. `unavailable`: there can be no sandbox here. */
export type FromProcess =
  /** `holder` is the folder that says which placeholders it needs. */
  | { readonly type: "opened"; readonly temporary: string; readonly holder: string }
  | { readonly type: "invalid"; readonly message: string }
  | { readonly type: "unavailable"; readonly reason: string }
  /** `text` is one simple command of a POSIX shell. */
  | { readonly type: "wrapped"; readonly id: number; readonly text: string }
  /** What was put aside behind a program that ended, in sentences. */
  | { readonly type: "settled"; readonly id: number; readonly notices: readonly string[] }
  | { readonly type: "failed"; readonly id: number; readonly message: string };

/**
 * What a sandbox can refuse or run into. `policy`: it is not possible as asked for. `closed`: it was closed, or its
 * process ended. `system`: a command could not be put into it.
 */
export type SandboxErrorCode = "policy" | "closed" | "system";

/** A failure of a sandbox. Nothing runs outside of it instead. Its message says what to do. */
export class SandboxError extends Error {
  override readonly name = "SandboxError";
  readonly code: SandboxErrorCode;

  constructor(code: SandboxErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
