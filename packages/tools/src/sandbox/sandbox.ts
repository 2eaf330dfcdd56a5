import { type ChildProcess, fork } from "node:child_process";
import { closeSync, readdirSync, realpathSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { expandHome } from "../workspace/files/named-path.ts";
import { childEnvironment, type ProcessEnvironment } from "./environment.ts";
import { findProgram, type ProgramLaunch, shellWords, WORDS } from "./find-program.ts";
import { removeEnded, waitForCommands } from "./held-places.ts";
import { holdersFolder, SandboxHolder } from "./holder.ts";
import { closeHome } from "./home.ts";
import type { FromProcess, SandboxPlan, ToProcess } from "./messages.ts";
import { SandboxError } from "./messages.ts";
import { isPathWithin } from "./protected-places.ts";
import { repositoryOf } from "./repository.ts";

/**
 * The access that commands in a sandbox get. All other access is denied.
 * @example
 * const opening = await openSandbox({
 *   root: "/home/me/project",
 *   writable: ["/home/me/cache"],
 *   writeDenied: ["migrations"],
 *   readDenied: ["/srv/private"],
 *   readable: ["~/.m2"],
 *   own: ["/home/me/.local/share/my-program"],
 *   network: { allow: ["registry.example.org", "*.example.com"] },
 *   env: process.env,
 *   home: "/home/me",
 * });
 * if (!opening.available) console.error(`Commands cannot run in a sandbox: ${opening.reason}.`);
 */
export interface SandboxOptions {
  readonly root: string;
  /** More writable folders, relative to the root or absolute. They must exist. */
  readonly writable?: readonly string[];
  /** Read-only paths inside the writable folders, in addition to the protected paths (S8). */
  readonly writeDenied?: readonly string[];
  /** Unreadable paths, in addition to the home folder and the usual secrets. A writable folder inside stays readable. */
  readonly readDenied?: readonly string[];
  /** Readable paths of the home folder, in addition to those that builds need: `~/x`, or relative to the home folder. */
  readonly readable?: readonly string[];
  /** The program's own folders. Commands can neither read, write nor create them. */
  readonly own?: readonly string[];
  readonly network?: {
    /** Domains reachable by HTTP, HTTPS or SOCKS: `example.org`, `*.example.org`, `example.org:443`. Empty: no network. */
    readonly allow: readonly string[];
  };
  /** The program's own environment, used to find bubblewrap and the network proxy. Commands do not get this environment. */
  readonly env?: ProcessEnvironment;
  readonly home?: string;
}

const OPTIONS: OptionNames<SandboxOptions> = {
  root: true,
  writable: true,
  writeDenied: true,
  readDenied: true,
  readable: true,
  own: true,
  network: true,
  env: true,
  home: true,
};

/** A program to start in the sandbox. Dispose of this object when the program and all its child processes have ended. */
export interface SandboxedProgram extends ProgramLaunch, Disposable {
  /**
   * Disposes of this object. Resolves when the files that the program wrote are checked, with a sentence for each file
   * that was moved aside. The caller shows these sentences with the program's output. Never rejects.
   */
  ended(): Promise<readonly string[]>;
}

/** A sandbox for the commands and servers of one workspace. Disposing waits until the sandbox's own processes have ended. */
export interface Sandbox extends AsyncDisposable {
  /** The sandbox's own writable folder, which is `TMPDIR` for commands. Removed with the sandbox. */
  readonly temporary: string;
  readonly domains: readonly string[];
  /**
   * Returns how to start a program in the sandbox with the given environment. Exit code, signals and streams are those
   * of the program. The result is for one start in the calling thread; the program ends with that thread. If this
   * rejects with a `SandboxError`, the program must not be started.
   */
  wrap(program: ProgramLaunch): Promise<SandboxedProgram>;
}

/** A sandbox, or a sentence for the user with the reason why no sandbox is possible. */
export type SandboxOpening =
  /** `notices`: requested access that was not granted, as sentences. */
  | { readonly available: true; readonly sandbox: Sandbox; readonly notices: readonly string[] }
  | { readonly available: false; readonly reason: string };

const LONGEST_OPENING = 20_000;
const LONGEST_CLOSING = 10_000;

/** These variables may contain a password, and would be removed as secrets. */
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"];

/**
 * Opens a sandbox (S9) and runs a trial command. If this machine cannot have a sandbox, the result has the reason.
 * Rejects with a `SandboxError` if an option is invalid, such as a missing folder or a malformed domain.
 */
export async function openSandbox(options: SandboxOptions): Promise<SandboxOpening> {
  refuseUnknown("openSandbox", options, OPTIONS);
  const env = options.env ?? process.env;
  const home = realOrGiven(options.home ?? homedir());
  const root = placeToWrite(options.root, options.root);
  const own = [...(options.own ?? []), holdersFolder()].map((folder) => realOrGiven(resolve(folder)));
  const notices: string[] = [];
  const writable = [root];
  for (const path of options.writable ?? []) {
    const place = placeToWrite(resolve(root, expandHome(path, home)), path);
    if (own.some((folder) => isPathWithin(folder, place)))
      notices.push(
        `Commands in the sandbox cannot write to ${path} (sandbox.writable): Banyan keeps its own files there.`,
      );
    else writable.push(place);
  }
  if (process.platform !== "linux" && process.platform !== "darwin")
    return unavailable(`this system does not support it (${process.platform})`);
  if (dirname(home) === home) return unavailable(`${home} is your home folder, which a sandbox cannot hide`);
  const exposed = writable.find((place) => isPathWithin(place, home));
  if (exposed !== undefined)
    return unavailable(
      `${exposed} contains your home folder, where commands could change what shells and programs run`,
    );

  if (own.some((folder) => isPathWithin(folder, root)))
    return unavailable(`${root} is inside Banyan's own files, which commands must not reach`);

  const program = (name: string) => findProgram(name, env.PATH ?? "", writable);
  const [bwrap, socat, rg, mkfifo] = ["bwrap", "socat", "rg", "mkfifo"].map(program);
  const lacking = [
    ...(process.platform === "linux" && bwrap === undefined ? ["bubblewrap"] : []),
    ...(process.platform === "linux" && socat === undefined ? ["socat"] : []),
    ...(rg === undefined ? ["ripgrep"] : []),
    ...(mkfifo === undefined ? ["mkfifo"] : []),
  ];
  if (mkfifo === undefined || lacking.length > 0)
    return unavailable(`install ${new Intl.ListFormat("en-GB").format(lacking)}, which the sandbox needs`);
  const closed = closeHome({ home, env, named: options.readable ?? [], own });
  const repository = repositoryOf(root);
  const ours = [
    env.TMPDIR ?? tmpdir(),
    fileURLToPath(import.meta.resolve("@anthropic-ai/sandbox-runtime/package.json")),
  ];
  const hidden = findUnhidden(home, [
    ...[...closed.readable, ...closed.caches, ...writable, ...ours.map(realOrGiven)],
    ...(repository === undefined ? [] : [repository]),
  ]);
  const opening = await start(
    {
      writable,
      repositories: repository === undefined || exposes(repository, home, own) ? [] : [repository],
      writeDenied: [...(options.writeDenied ?? []).map((path) => resolve(root, path)), ...own],
      readDenied: [...closed.denied, ...(options.readDenied ?? []).map((path) => resolve(root, path))],
      readable: closed.readable,
      caches: closed.caches.filter((cache) => !writable.some((place) => isPathWithin(place, cache))),
      ...(hidden !== undefined && { hidden }),
      domains: options.network?.allow ?? [],
      programs: { ...(bwrap && { bwrap }), ...(socat && { socat }), ...(rg && { rg }), mkfifo },
    },
    childEnvironment(env, {
      ...Object.fromEntries(PROXIES.map((name) => [name, env[name]])),
      HOME: home,
      NODE_OPTIONS: undefined,
    }),
  );
  return opening.available ? { ...opening, notices: [...notices, ...closed.refused] } : opening;
}

function exposes(repository: string, home: string, own: readonly string[]): boolean {
  return isPathWithin(repository, home) || own.some((folder) => isPathWithin(folder, repository));
}

function findUnhidden(home: string, seen: readonly string[]): string | undefined {
  try {
    const places = readdirSync(home).map((name) => join(home, name));
    return places.find((place) => !seen.some((path) => isPathWithin(place, path)));
  } catch {
    // Commands cannot read an unreadable home either.
    return undefined;
  }
}

function unavailable(why: string): SandboxOpening {
  return { available: false, reason: `Commands cannot run in a sandbox: ${why}.` };
}

function placeToWrite(path: string, given: string): string {
  try {
    return realpathSync(resolve(path));
  } catch (cause) {
    throw missingPathError(given, cause);
  }
}

function missingPathError(path: string, cause: unknown): SandboxError {
  return new SandboxError(
    "policy",
    `The sandbox cannot write to ${path}, which does not exist. Name an existing folder.`,
    {
      cause,
    },
  );
}

function realOrGiven(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // A missing home folder contains nothing.
    return resolve(path);
  }
}

async function start(plan: SandboxPlan, environment: Record<string, string>): Promise<SandboxOpening> {
  const child = fork(new URL("./sandbox-process.ts", import.meta.url), {
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
      return { available: true, sandbox: new SandboxInProcess(child, answer, plan.domains), notices: [] };
    } catch (error) {
      // The process was just killed, and another program removed its record.
      return unavailable((error as Error).message);
    }
  }
  await endChild(child);
  if (typeof answer === "string") return unavailable(answer);
  if (answer.type === "invalid")
    throw new SandboxError(
      "policy",
      `The settings of the sandbox are invalid (${answer.message}). Correct the settings.`,
    );
  return unavailable(answer.type === "unavailable" ? answer.reason : "its process sent an unexpected reply");
}

type OpenedReply = Extract<FromProcess, { type: "opened" }>;

class SandboxInProcess implements Sandbox {
  readonly temporary: string;
  readonly domains: readonly string[];
  readonly #process: ChildProcess;
  readonly #holder: SandboxHolder;
  readonly #owned: number;
  readonly #waiting = new Map<number, PromiseWithResolvers<string>>();
  readonly #settling = new Map<number, (notices: readonly string[]) => void>();
  #last = 0;
  #isClosed = false;

  constructor(process: ChildProcess, { temporary, holder }: OpenedReply, domains: readonly string[]) {
    this.#process = process;
    this.temporary = temporary;
    this.domains = domains;
    this.#holder = new SandboxHolder(holder, true);
    this.#owned = this.#holder.own();
    process.on("message", (message) => this.#take(message as FromProcess));
    process.once("exit", () => {
      this.#lose();
      // If the clean-up fails, the next sandbox removes the files.
      this.#cleanUp().catch(() => {});
    });
    // The process does not keep the program alive, but ends with the program.
    process.unref();
    process.channel?.unref();
  }

  async wrap({ file, args, environment }: ProgramLaunch): Promise<SandboxedProgram> {
    const text = await this.#wrapped();
    let settled: Promise<readonly string[]> | undefined;
    const ended = () => {
      settled ??= this.#isClosed ? Promise.resolve([]) : this.#settled();
      return settled;
    };
    return {
      file: "/bin/sh",
      args: ["-c", `exec ${text}`],
      environment: { ...environment, TMPDIR: this.temporary, [WORDS]: shellWords({ file, args }) },
      ended,
      [Symbol.dispose]: () => {
        ended().catch(() => {});
      },
    };
  }

  #settled(): Promise<readonly string[]> {
    const id = ++this.#last;
    return new Promise((resolve) => {
      this.#settling.set(id, resolve);
      this.#process.channel?.ref();
      sendToSandbox(this.#process, { type: "ended", id });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lose();
    await endChild(this.#process);
  }

  #wrapped(): Promise<string> {
    if (this.#isClosed) throw closedSandboxError();
    this.#last += 1;
    const wrapped = Promise.withResolvers<string>();
    this.#waiting.set(this.#last, wrapped);
    this.#process.channel?.ref();
    sendToSandbox(this.#process, { type: "wrap", id: this.#last });
    return wrapped.promise;
  }

  #take(message: FromProcess): void {
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
    if (message.type === "wrapped") waiting?.resolve(message.text);
    else
      waiting?.reject(
        new SandboxError("system", `The command did not run, because its sandbox failed: ${message.message}`),
      );
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
    for (const settle of this.#settling.values()) settle([]);
    this.#settling.clear();
  }
}

function closedSandboxError(): SandboxError {
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
