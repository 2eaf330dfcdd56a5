import { type EdgeSurroundings, edgeNotes, metPlaces } from "./edge-notes.ts";
import type { ProgramLaunch } from "./find-program.ts";
import type { SharedLoopback } from "./loopback.ts";
import { SandboxError, type SandboxException } from "./messages.ts";
import {
  addressText,
  type ConnectionAsker,
  type NetworkAccess,
  type NetworkAddress,
  type WrapOptions,
} from "./network-access.ts";
import {
  closedSandboxError,
  type RunningSandbox,
  type SandboxedProgram,
  type SandboxStart,
} from "./running-sandbox.ts";

type StartProcess = (connect: (address: NetworkAddress) => Promise<string | undefined>) => Promise<SandboxStart>;

/** A `Sandbox` whose process starts with the first command. After a failed start, the next command tries again. */
export class PlannedSandbox implements AsyncDisposable {
  readonly network: NetworkAccess;
  readonly writable: readonly string[];
  readonly exceptions: readonly SandboxException[];
  readonly #edges: EdgeSurroundings;
  readonly #start: StartProcess;
  readonly #programs = new Set<{ readonly asker: ConnectionAsker | undefined }>();
  readonly #failed: () => void;
  readonly #hidden: (() => Promise<readonly string[]>) | undefined;
  readonly #watching: Disposable;
  #starting: Promise<SandboxStart> | undefined;
  #running: RunningSandbox | undefined;
  /** Why no program can start any more. */
  #lost: string | undefined;
  readonly #watchers = new Set<(reason: string) => void>();
  #isClosed = false;

  constructor(
    network: NetworkAccess,
    writable: readonly string[],
    exceptions: readonly SandboxException[],
    edges: EdgeSurroundings,
    start: StartProcess,
    failed: () => void,
    hidden: (() => Promise<readonly string[]>) | undefined,
  ) {
    this.#hidden = hidden;
    this.network = network;
    this.writable = writable;
    this.exceptions = exceptions;
    this.#edges = edges;
    this.#start = start;
    this.#failed = failed;
    this.#watching = network.watch(() => this.#running?.useDomains(network.domains));
  }

  get isShared(): boolean | undefined {
    return this.#running?.isShared;
  }

  edgeNotes(output: string): readonly string[] {
    return edgeNotes(output, this.#edges);
  }

  metPlaces(command: string, output: string): readonly string[] {
    return metPlaces(command, output, this.#edges);
  }

  async hiddenPaths(): Promise<readonly string[]> {
    return (await this.#hidden?.()) ?? [];
  }

  /** Starts the process, unless it runs. */
  launched(): Promise<SandboxStart> {
    this.#starting ??= this.#launch();
    return this.#starting;
  }

  async #launch(): Promise<SandboxStart> {
    let started: SandboxStart | undefined;
    try {
      started = await this.#start((address) => this.#connect(address));
      this.#running = started.running;
      // The domains may have changed during the start.
      this.#running?.useDomains(this.network.domains);
      this.#running?.lost.then((reason) => this.#lose(reason)).catch(() => {});
      return started;
    } finally {
      if (started?.running === undefined) {
        this.#starting = undefined;
        this.#failed();
      }
    }
  }

  #lose(reason: string): void {
    this.#lost = reason;
    this.#running = undefined;
    for (const lost of this.#watchers) lost(reason);
  }

  watch(lost: (reason: string) => void): Disposable {
    this.#watchers.add(lost);
    if (this.#lost !== undefined) lost(this.#lost);
    return { [Symbol.dispose]: () => this.#watchers.delete(lost) };
  }

  async start(): Promise<void> {
    await this.#opened();
  }

  async wrap(
    program: ProgramLaunch,
    { asker, loopback, isDirect = false, readOnly }: WrapOptions = {},
  ): Promise<SandboxedProgram> {
    const hidden = await this.hiddenPaths().catch((cause: Error) => {
      throw new SandboxError("policy", `The command did not run: ${cause.message}`, { cause });
    });
    const wrapped = await (await this.#opened()).wrap(program, { loopback, hidden, isDirect, readOnly });
    const entry = { asker };
    this.#programs.add(entry);
    const ended = () => {
      this.#programs.delete(entry);
      return wrapped.ended();
    };
    return {
      ...wrapped,
      ended,
      [Symbol.dispose]: () => {
        ended().catch(() => {});
      },
    };
  }

  /** The sandbox's process does not know which program connects, so all running programs count. */
  async #connect(address: NetworkAddress): Promise<string | undefined> {
    const askers = [...this.#programs].flatMap(({ asker }) => asker ?? []);
    const asking = askers.filter(({ canAsk }) => canAsk);
    const deciding = asking.length > 0 ? asking : askers;
    const asker = deciding.find((each) => !each.allows(address)) ?? deciding[0];
    if (asker) return asker.connect(address, this.#programs.size === 1);
    return `No user can be asked for this program. ${this.network.advice(addressText(address))}`;
  }

  loopback(name: string): SharedLoopback | undefined {
    return this.#running?.loopback(name);
  }

  async #opened(): Promise<RunningSandbox> {
    if (this.#isClosed || this.#lost !== undefined) throw closedSandboxError();
    const started = await this.launched();
    if (started.running !== undefined) return started.running;
    throw new SandboxError(
      "system",
      `The command did not run, because its sandbox failed: ${started.reason}. Restart the program.`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#watching[Symbol.dispose]();
    const started = await this.#starting?.catch(() => undefined);
    await started?.running?.close();
  }
}
