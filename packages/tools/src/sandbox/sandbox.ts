import { type ChildProcess, fork } from "node:child_process";
import { closeSync, readdirSync, realpathSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { expandHome } from "../workspace/files/named-path.ts";
import { childEnvironment, type Environment } from "./environment.ts";
import { findProgram, type Program, shellWords, WORDS } from "./find-program.ts";
import { commandsEnded, removeEnded } from "./held-places.ts";
import { Holder, holdersFolder } from "./holder.ts";
import { closeHome } from "./home.ts";
import type { FromProcess, SandboxPlan, ToProcess } from "./messages.ts";
import { SandboxError } from "./messages.ts";
import { isWithin } from "./protected-places.ts";
import { repositoryOf } from "./repository.ts";

/**
 * What commands in a sandbox may do. What is not named here, they may not.
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
  /** The folder that they work in; they may write there. */
  readonly root: string;
  /** More places that they may write to, relative to the root or absolute; they must exist. */
  readonly writable?: readonly string[];
  /** Places in those that stay as they are, besides what is always protected (S8). */
  readonly writeDenied?: readonly string[];
  /** Places that they cannot read, besides the home folder and what is always closed. A writable one inside stays readable. */
  readonly readDenied?: readonly string[];
  /** Places in the home folder that they can read, besides what builds need: `~/x`, or from the home folder. */
  readonly readable?: readonly string[];
  /** The program's own folders. Commands neither read nor write nor make them, wherever they lie. */
  readonly own?: readonly string[];
  readonly network?: {
    /** Domains that they may reach by HTTP, HTTPS or SOCKS: `example.org`, `*.example.org`, `example.org:443`. None when empty. */
    readonly allow: readonly string[];
  };
  /** The program's own environment: where bubblewrap is, and through which proxy the network. Not what commands get. */
  readonly env?: Environment;
  /** The user's home folder. */
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

/** A program as it has to be started to run in the sandbox. Dispose of it when it, and all that it started, has ended. */
export interface SandboxedProgram extends Program, Disposable {
  /**
   * The same as to dispose of it: resolves when what it left is looked through, with a sentence for each thing that was put
   * aside, for whoever is told of its output. It never rejects.
   */
  ended(): Promise<readonly string[]>;
}

/** A sandbox for the commands and servers of one workspace. Disposing of it waits until its own processes have ended. */
export interface Sandbox extends AsyncDisposable {
  /** A folder of its own that commands may write in, also named by their `TMPDIR`. It goes away with the sandbox. */
  readonly temporary: string;
  /** The domains that can be reached. */
  readonly domains: readonly string[];
  /**
   * How to start a program so that it runs in the sandbox, with the environment that it is given, its exit code, its
   * signals and its streams. The answer is for one start, from the thread that asks: when that thread ends, however it
   * ends, so does the program. Rejects with `SandboxError`; then nothing must be started.
   */
  wrap(program: Program): Promise<SandboxedProgram>;
}

/** A sandbox, or why there can be none here, as a sentence for a person. */
export type SandboxOpening =
  /** `notices`: what was asked for and is not so, in sentences. */
  | { readonly available: true; readonly sandbox: Sandbox; readonly notices: readonly string[] }
  | { readonly available: false; readonly reason: string };

/** Milliseconds until a sandbox that does not open is given up, and until one that does not close is ended. */
const LONGEST_OPENING = 20_000;
const LONGEST_CLOSING = 10_000;

/** They may bear a password, and would be taken for secrets. */
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"];

/**
 * Opens a sandbox (S9) and tries it out. Rejects with `SandboxError` when what is asked for is wrong: a place that is
 * not there, a domain that is none. That there can be no sandbox on this machine is an answer.
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
    if (own.some((folder) => isWithin(folder, place)))
      notices.push(`Commands in the sandbox cannot write to ${path} (sandbox.writable): it belongs to Banyan itself.`);
    else writable.push(place);
  }
  if (process.platform !== "linux" && process.platform !== "darwin")
    return unavailable(`there is none for this system (${process.platform})`);
  if (dirname(home) === home) return unavailable(`${home} is your home folder, which cannot be closed`);
  const exposed = writable.find((place) => isWithin(place, home));
  if (exposed !== undefined)
    return unavailable(`${exposed} holds your home folder, with all that shells and programs start from`);

  if (own.some((folder) => isWithin(folder, root)))
    return unavailable(`${root} lies among the files of Banyan itself, which stay closed`);

  const program = (name: string) => findProgram(name, env.PATH ?? "", writable);
  const [bwrap, socat, rg, mkfifo] = ["bwrap", "socat", "rg", "mkfifo"].map(program);
  const lacking = [
    ...(process.platform === "linux" && bwrap === undefined ? ["bubblewrap"] : []),
    ...(process.platform === "linux" && socat === undefined ? ["socat"] : []),
    ...(rg === undefined ? ["ripgrep"] : []),
    ...(mkfifo === undefined ? ["mkfifo"] : []),
  ];
  if (mkfifo === undefined || lacking.length > 0)
    return unavailable(`it needs ${new Intl.ListFormat("en-GB").format(lacking)}; install that`);
  const closed = closeHome({ home, env, named: options.readable ?? [], own });
  const repository = repositoryOf(root);
  const ours = [env.TMPDIR ?? tmpdir(), fileURLToPath(import.meta.resolve("@anthropic-ai/sandbox-runtime"))];
  const hidden = hiddenIn(home, [
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
      caches: closed.caches.filter((cache) => !writable.some((place) => isWithin(place, cache))),
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

/** Whether a repository elsewhere holds, or lies in, what commands must not write. */
function exposes(repository: string, home: string, own: readonly string[]): boolean {
  return isWithin(repository, home) || own.some((folder) => isWithin(folder, repository));
}

/** Something in the home that is there and meant to be hidden; undefined when there is nothing. */
function hiddenIn(home: string, seen: readonly string[]): string | undefined {
  try {
    const places = readdirSync(home).map((name) => join(home, name));
    return places.find((place) => !seen.some((path) => isWithin(place, path)));
  } catch {
    // A home that cannot be read has nothing to hide from commands.
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
    throw missing(given, cause);
  }
}

function missing(path: string, cause: unknown): SandboxError {
  return new SandboxError("policy", `There is no ${path} for a sandbox to write in. Name what exists.`, { cause });
}

function realOrGiven(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // A home that does not exist holds nothing.
    return resolve(path);
  }
}

async function start(plan: SandboxPlan, environment: Record<string, string>): Promise<SandboxOpening> {
  const child = fork(new URL("./sandbox-process.ts", import.meta.url), {
    env: environment,
    execArgv: [],
    // Out of reach of the keys that interrupt the program: it has to clean up after it.
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
    send(child, { type: "open", plan });
  });
  if (typeof answer === "object" && answer.type === "opened") {
    try {
      return { available: true, sandbox: new SandboxInProcess(child, answer, plan.domains), notices: [] };
    } catch (error) {
      // The process was killed just now, and another program removed its holder.
      return unavailable((error as Error).message);
    }
  }
  await end(child);
  if (typeof answer === "string") return unavailable(answer);
  if (answer.type === "invalid")
    throw new SandboxError("policy", `A sandbox cannot be made so (${answer.message}). Correct its settings.`);
  return unavailable(answer.type === "unavailable" ? answer.reason : "its process is confused");
}

type Opened = Extract<FromProcess, { type: "opened" }>;

class SandboxInProcess implements Sandbox {
  readonly temporary: string;
  readonly domains: readonly string[];
  readonly #process: ChildProcess;
  readonly #holder: Holder;
  readonly #owned: number;
  readonly #waiting = new Map<number, PromiseWithResolvers<string>>();
  /** Programs that have ended, until what they left is looked through. */
  readonly #settling = new Map<number, (notices: readonly string[]) => void>();
  #last = 0;
  #isClosed = false;

  constructor(process: ChildProcess, { temporary, holder }: Opened, domains: readonly string[]) {
    this.#process = process;
    this.temporary = temporary;
    this.domains = domains;
    this.#holder = new Holder(holder, true);
    this.#owned = this.#holder.own();
    process.on("message", (message) => this.#take(message as FromProcess));
    process.once("exit", () => {
      this.#lose();
      // If this fails, the next sandbox removes the rest.
      this.#cleanUp().catch(() => {});
    });
    // It does not keep the program alive, but ends with it.
    process.unref();
    process.channel?.unref();
  }

  async wrap({ file, args, environment }: Program): Promise<SandboxedProgram> {
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
      send(this.#process, { type: "ended", id });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lose();
    await end(this.#process);
  }

  #wrapped(): Promise<string> {
    if (this.#isClosed) throw closed();
    this.#last += 1;
    const wrapped = Promise.withResolvers<string>();
    this.#waiting.set(this.#last, wrapped);
    this.#process.channel?.ref();
    send(this.#process, { type: "wrap", id: this.#last });
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
      waiting?.reject(new SandboxError("system", `The command was not run, as it has no sandbox: ${message.message}`));
  }

  /** Removes what the process of the sandbox left when it was killed, as soon as the last command has ended. */
  async #cleanUp(): Promise<void> {
    await commandsEnded(this.#holder);
    removeEnded(this.#holder);
    closeSync(this.#owned);
  }

  /** Whoever waits for an answer keeps the program alive, and nothing else here does. */
  #rest(): void {
    if (this.#waiting.size === 0 && this.#settling.size === 0) this.#process.channel?.unref();
  }

  #lose(): void {
    this.#isClosed = true;
    for (const waiting of this.#waiting.values()) waiting.reject(closed());
    this.#waiting.clear();
    for (const settle of this.#settling.values()) settle([]);
    this.#settling.clear();
  }
}

function closed(): SandboxError {
  return new SandboxError("closed", "The command was not run, as its sandbox has ended. Start the program again.");
}

function send(child: ChildProcess, message: ToProcess): void {
  // When it cannot be told any more it has ended, and that is noticed by itself.
  if (child.connected) child.send(message, () => {});
}

/** Lets it clean up and end. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.ref();
  send(child, { type: "close" });
  const timer = setTimeout(() => child.kill("SIGKILL"), LONGEST_CLOSING);
  await ended;
  clearTimeout(timer);
}
