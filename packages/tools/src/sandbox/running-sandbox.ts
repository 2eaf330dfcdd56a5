import { type ChildProcess, fork } from "node:child_process";
import { closeSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { errorMessage } from "@banyan/core/shown";
import { directAttempts } from "./direct-attempts.ts";
import { type ProgramLaunch, pathWithout, shellWords, WORDS } from "./find-program.ts";
import { removeEnded, waitForCommands } from "./held-places.ts";
import { SandboxHolder } from "./holder.ts";
import { DownloadCaches } from "./home.ts";
import { type SharedLoopback, sharedLoopback } from "./loopback.ts";
import type { FromProcess, NetworkEntrance, SandboxPlan, ToProcess } from "./messages.ts";
import { SandboxError } from "./messages.ts";
import type { NetworkAddress } from "./network-access.ts";

/** The source of the sandbox's process. */
export const SANDBOX_PROCESS = fileURLToPath(new URL("./sandbox-process.ts", import.meta.url));

const LONGEST_OPENING = 20_000;
const LONGEST_CLOSING = 10_000;

/**
 * A program to start in the sandbox. Dispose of this object when the program and all its child processes have ended.
 * See {@link openSandbox}.
 */
export interface SandboxedProgram extends ProgramLaunch, Disposable {
  /**
   * Returns how often programs in the same network tried to reach an address without the proxy since the start, as the
   * kernel counted. 0 without a shared network.
   */
  directAttempts(): number;
  /**
   * Disposes of this object. Resolves when the files that the program wrote are checked, with a sentence for each file
   * that was moved aside. The caller shows these sentences with the program's output. Resolves with undefined if the
   * sandbox ended before the program. Never rejects.
   */
  ended(): Promise<readonly string[] | undefined>;
}

/**
 * The result of starting a sandbox's process: the process after a successful trial, or the reason why there is none.
 * `isLasting`: the trial failed, and will fail again on the same machine.
 */
export type SandboxStart =
  | { readonly running: RunningSandbox }
  | { readonly running?: undefined; readonly reason: string; readonly isLasting: boolean };

/** Starts the process of a sandbox, which runs a trial command. Rejects with a `SandboxError` if the plan is invalid. */
export async function startSandboxProcess(
  plan: SandboxPlan,
  environment: Record<string, string>,
  connect: DecideConnection,
): Promise<SandboxStart> {
  const child = fork(SANDBOX_PROCESS, {
    env: environment,
    execArgv: [],
    // Ctrl+C must not reach the process: it has to clean up after the program.
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const answer = await new Promise<FromProcess | string>((resolve) => {
    const timer = setTimeout(() => resolve("it did not open in time"), LONGEST_OPENING);
    const settle = (result: FromProcess | string) => {
      clearTimeout(timer);
      resolve(result);
    };
    child.once("message", (message) => settle(message as FromProcess));
    child.once("error", (error) => settle(error.message));
    child.once("exit", () => settle("its process ended at once"));
    sendToSandbox(child, { type: "open", plan });
  });
  if (typeof answer === "object" && answer.type === "opened") {
    try {
      return { running: new RunningSandbox(child, answer, connect, plan.programs.socat) };
    } catch (error) {
      // The process was just killed, and another program removed its record.
      return failed((error as Error).message);
    }
  }
  await endChild(child);
  if (typeof answer === "string") return failed(answer);
  if (answer.type === "invalid")
    throw new SandboxError(
      "policy",
      `The settings of the sandbox are invalid (${answer.message}). Correct the settings.`,
    );
  return answer.type === "unavailable" ? failed(answer.reason, true) : failed("its process sent an unexpected reply");
}

function failed(reason: string, isLasting = false): SandboxStart {
  return { reason, isLasting };
}

/** Resolves with undefined if a program may reach the address, or with the reason of the refusal. */
type DecideConnection = (address: NetworkAddress) => Promise<string | undefined>;

type OpenedReply = Extract<FromProcess, { type: "opened" }>;
type WrapRequest = Extract<ToProcess, { type: "wrap" }>;
type WrappedReply = Extract<FromProcess, { type: "wrapped" }>;

/** The process of a sandbox after a successful trial. It ends with this program. */
export class RunningSandbox {
  /** See `Sandbox.isShared`. */
  readonly isShared: boolean;
  /** Resolves with a sentence when the process ends before `close`. */
  readonly lost: Promise<string>;
  readonly #temporary: string;
  readonly #caches: DownloadCaches;
  readonly #process: ChildProcess;
  readonly #holder: SandboxHolder;
  readonly #connect: DecideConnection;
  readonly #owned: number;
  readonly #waiting = new Map<number, PromiseWithResolvers<WrappedReply>>();
  readonly #settling = new Map<number, (notices: readonly string[] | undefined) => void>();
  readonly #socat: string | undefined;
  readonly #loopbacks = new Map<string, { entrance: NetworkEntrance; programs: number }>();
  #last = 0;
  #isClosed = false;

  constructor(
    process: ChildProcess,
    { temporary, holder, isShared }: OpenedReply,
    connect: DecideConnection,
    socat: string | undefined,
  ) {
    this.isShared = isShared;
    this.#socat = socat;
    this.#process = process;
    this.#connect = connect;
    this.#temporary = temporary;
    this.#caches = new DownloadCaches(temporary);
    this.#holder = new SandboxHolder(holder, true);
    this.#owned = this.#holder.own();
    process.on("message", (message) => this.#take(message as FromProcess));
    const lost = Promise.withResolvers<string>();
    this.lost = lost.promise;
    process.once("exit", (code, signal) => {
      if (!this.#isClosed) lost.resolve(`The process of the sandbox has ended (${signal ?? `exit code ${code}`}).`);
      this.#lose();
      // If the clean-up fails, the next sandbox removes the files.
      this.#cleanUp().catch(() => {});
    });
    // The process does not keep the program alive, but ends with the program.
    process.unref();
    process.channel?.unref();
  }

  async wrap(
    { file, args, environment }: ProgramLaunch,
    how: Omit<WrapRequest, "type" | "id">,
  ): Promise<SandboxedProgram> {
    const { text, entrance } = await this.#wrapped(how);
    const shared = entrance && how.loopback;
    if (entrance && shared !== undefined) this.#join(shared, entrance);
    const attempts = () => (entrance ? directAttempts(entrance.process) : 0);
    const before = attempts();
    let settled: Promise<readonly string[] | undefined> | undefined;
    const ended = () => {
      settled ??= this.#isClosed ? Promise.resolve(undefined) : this.#settled(shared);
      return settled;
    };
    return {
      file: "/bin/sh",
      args: ["-c", `exec ${text}`],
      environment: {
        ...environment,
        // Commands can write into the temporary folder, so no program may come from there (S18).
        ...(environment.PATH !== undefined && { PATH: pathWithout([this.#temporary], environment.PATH) }),
        TMPDIR: this.#temporary,
        ...(how.readOnly && this.#caches.variables(environment)),
        [WORDS]: shellWords({ file, args }),
      },
      directAttempts: () => attempts() - before,
      ended,
      [Symbol.dispose]: () => {
        ended().catch(() => {});
      },
    };
  }

  /** See `Sandbox.loopback`. */
  loopback(name: string): SharedLoopback | undefined {
    const known = this.#loopbacks.get(name);
    return known && this.#socat !== undefined ? sharedLoopback(known.entrance, this.#socat) : undefined;
  }

  #join(name: string, entrance: NetworkEntrance): void {
    const programs = (this.#loopbacks.get(name)?.programs ?? 0) + 1;
    this.#loopbacks.set(name, { entrance, programs });
  }

  #leave(name: string): void {
    const known = this.#loopbacks.get(name);
    if (known && --known.programs === 0) this.#loopbacks.delete(name);
  }

  #settled(loopback: string | undefined): Promise<readonly string[] | undefined> {
    if (loopback !== undefined) this.#leave(loopback);
    const id = ++this.#last;
    return new Promise((resolve) => {
      this.#settling.set(id, resolve);
      this.#process.channel?.ref();
      sendToSandbox(this.#process, { type: "ended", id, loopback });
    });
  }

  /** Replaces the reachable domains. Open connections stay. */
  useDomains(domains: readonly string[]): void {
    sendToSandbox(this.#process, { type: "domains", domains });
  }

  async close(): Promise<void> {
    this.#lose();
    await endChild(this.#process);
  }

  #wrapped(how: Omit<WrapRequest, "type" | "id">): Promise<WrappedReply> {
    if (this.#isClosed) throw closedSandboxError();
    this.#last += 1;
    const wrapped = Promise.withResolvers<WrappedReply>();
    this.#waiting.set(this.#last, wrapped);
    this.#process.channel?.ref();
    sendToSandbox(this.#process, { type: "wrap", id: this.#last, ...how });
    return wrapped.promise;
  }

  #take(message: FromProcess): void {
    if (message.type === "connect") {
      this.#connect(message)
        .catch(errorMessage)
        .then((refusal) => this.#answer(message.id, refusal))
        // Sending to a process that has ended does nothing.
        .catch(() => {});
      return;
    }
    if (message.type === "settled") {
      this.#settling.get(message.id)?.(message.notices);
      this.#settling.delete(message.id);
      this.#rest();
      return;
    }
    if (message.type !== "wrapped" && message.type !== "failed") return;
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    this.#rest();
    if (message.type === "wrapped") waiting?.resolve(message);
    else
      waiting?.reject(
        new SandboxError("system", `The command did not run, because its sandbox failed: ${message.message}`),
      );
  }

  #answer(id: number, refusal: string | undefined): void {
    sendToSandbox(this.#process, { type: "connection", id, ...(refusal !== undefined && { refusal }) });
  }

  async #cleanUp(): Promise<void> {
    await waitForCommands(this.#holder);
    removeEnded(this.#holder);
    closeSync(this.#owned);
  }

  #rest(): void {
    if (this.#waiting.size === 0 && this.#settling.size === 0) this.#process.channel?.unref();
  }

  #lose(): void {
    this.#isClosed = true;
    for (const waiting of this.#waiting.values()) waiting.reject(closedSandboxError());
    this.#waiting.clear();
    for (const settle of this.#settling.values()) settle(undefined);
    this.#settling.clear();
  }
}

/** The error of a command whose sandbox was closed or killed. */
export function closedSandboxError(): SandboxError {
  return new SandboxError("closed", "The command did not run, because the sandbox has ended. Restart the program.");
}

function sendToSandbox(child: ChildProcess, message: ToProcess): void {
  if (child.connected) child.send(message, () => {});
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.ref();
  sendToSandbox(child, { type: "close" });
  const timer = setTimeout(() => child.kill("SIGKILL"), LONGEST_CLOSING);
  await ended;
  clearTimeout(timer);
}
