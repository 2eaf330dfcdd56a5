import { readdirSync, realpathSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { expandHome } from "../workspace/files/named-path.ts";
import { childEnvironment, type ProcessEnvironment } from "./environment.ts";
import { findProgram, type ProgramLaunch } from "./find-program.ts";
import { holdersFolder } from "./holder.ts";
import { closeHome } from "./home.ts";
import type { SharedLoopback } from "./loopback.ts";
import { SandboxError, type SandboxException, type SandboxPlan } from "./messages.ts";
import { NetworkAccess, type WrapOptions } from "./network-access.ts";
import { placeLimit } from "./place-limits.ts";
import { PlannedSandbox } from "./planned-sandbox.ts";
import { isPathWithin } from "./protected-places.ts";
import { repositoryOf } from "./repository.ts";
import { SANDBOX_PROCESS, type SandboxedProgram, startSandboxProcess } from "./running-sandbox.ts";
import { SandboxTrial } from "./sandbox-trial.ts";

/**
 * The access that commands in a sandbox get. All other access is denied.
 * @example
 * const opening = await openSandbox({
 *   root: "/home/me/project",
 *   writable: ["/home/me/cache"],
 *   writeDenied: ["migrations"],
 *   readDenied: ["/srv/private"],
 *   hidden: async () => ["/home/me/project/.env"],
 *   readable: ["~/.m2"],
 *   own: ["/home/me/.local/share/my-program"],
 *   network: { allow: ["registry.example.org", "*.example.com"] },
 *   trials: "/home/me/.local/share/my-program/sandbox.json",
 *   again: false,
 *   exceptions: ["network", "outside"],
 *   env: process.env,
 *   home: "/home/me",
 * });
 * if (!opening.available) console.error(`Commands cannot run in a sandbox: ${opening.reason}.`);
 */
export interface SandboxOptions {
  readonly root: string;
  /** Additional writable folders, relative to the root or absolute. They must exist. */
  readonly writable?: readonly string[];
  /** Read-only paths inside the writable folders, in addition to the protected paths (S8). */
  readonly writeDenied?: readonly string[];
  /**
   * Unreadable paths, in addition to the home folder and the usual places of secrets. A writable folder inside an
   * unreadable path stays readable.
   */
  readonly readDenied?: readonly string[];
  /** Readable paths of the home folder, in addition to those that builds need: `~/x`, or relative to the home folder. */
  readonly readable?: readonly string[];
  /** The folders of Banyan itself. Commands can neither read, write nor create them. */
  readonly own?: readonly string[];
  /**
   * Returns additional unreadable paths, as absolute paths. Called before each program starts. If the function rejects,
   * the program does not start.
   */
  readonly hidden?: () => Promise<readonly string[]>;
  /** The addresses that programs may reach. With a `NetworkAccess`, users are asked about other addresses. */
  readonly network?:
    | {
        /** Domains reachable by HTTP, HTTPS or SOCKS: `example.org`, `*.example.org`, `example.org:443`. Empty: no network. */
        readonly allow: readonly string[];
      }
    | NetworkAccess;
  /**
   * A file with the results of earlier trials, in a folder of `own`. After an earlier success, no process starts before
   * the first command. After a failure in the last hour, no sandbox is available. If the programs or the system change,
   * earlier results are no longer valid. Default: each opening runs a trial.
   */
  readonly trials?: string;
  /** True to test the sandbox now, even if `trials` contains a result. Default: false. */
  readonly again?: boolean;
  /**
   * The choices that `shell` can offer after a command has failed at a limit of the sandbox: to run it once more
   * without this limit. Default: no choices.
   */
  readonly exceptions?: readonly SandboxException[];
  /** The program's own environment, used to find bubblewrap and the network proxy. Commands do not get this environment. */
  readonly env?: ProcessEnvironment;
  readonly home?: string;
}

const OPTIONS: OptionNames<SandboxOptions> = {
  root: true,
  writable: true,
  writeDenied: true,
  readDenied: true,
  hidden: true,
  readable: true,
  own: true,
  network: true,
  trials: true,
  again: true,
  exceptions: true,
  env: true,
  home: true,
};

/**
 * A sandbox for the commands and servers of one workspace. Disposing waits until the sandbox's own processes have ended.
 * See {@link openSandbox}.
 */
export interface Sandbox extends AsyncDisposable {
  /** The addresses that programs may reach. */
  readonly network: NetworkAccess;
  /** The writable folders in addition to the root, as in the options. */
  readonly writable: readonly string[];
  /** The choices that `shell` may offer after a failure at a limit of the sandbox, as in the options. */
  readonly exceptions: readonly SandboxException[];
  /** False if this machine permits no network that commands share. Undefined before the start, and without a process. */
  readonly isShared: boolean | undefined;
  /** Returns sentences about limits of the sandbox that a failed command probably met, by its output (S40). */
  edgeNotes(output: string): readonly string[];
  /**
   * Returns sentences about limited places at which a command failed. Both the command and its output name such a place
   * (S40).
   */
  metPlaces(command: string, output: string): readonly string[];
  /** Returns the paths of the option `hidden`. Rejects as that function does. */
  hiddenPaths(): Promise<readonly string[]>;
  /**
   * Starts the sandbox's process and tries a command, unless the process runs. Commands do so by themselves. Rejects
   * with a `SandboxError` if the trial fails, or if the process has ended.
   */
  start(): Promise<void>;
  /**
   * Returns how to start a program in the sandbox with the given environment. `TMPDIR` becomes the sandbox's own
   * writable folder, which is removed with the sandbox. Exit code, signals and streams are those of the program. The
   * result is for one start in the calling thread; the program ends with that thread. If this rejects with a
   * `SandboxError`, the program must not be started.
   */
  wrap(program: ProgramLaunch, how?: WrapOptions): Promise<SandboxedProgram>;
  /**
   * Calls `lost` with a sentence when the sandbox's process has ended, unless this object was disposed of. From then on,
   * no program starts. Ends when the result is disposed of.
   */
  watch(lost: (reason: string) => void): Disposable;
  /** Returns the loopback that running programs with this name share; undefined if no such program runs. */
  loopback(name: string): SharedLoopback | undefined;
}

/** A sandbox, or a sentence for the user with the reason why no sandbox is possible. See {@link openSandbox}. */
export type SandboxOpening =
  /** `notices`: requested access that was not granted, as sentences. */
  | { readonly available: true; readonly sandbox: Sandbox; readonly notices: readonly string[] }
  | { readonly available: false; readonly reason: string };

/** These variables may contain a password, and would be removed as secrets. */
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"];

/**
 * Opens a sandbox (S9). Runs a trial command, unless `trials` contains the result of an earlier trial. If this machine
 * cannot have a sandbox, the result contains the reason. Rejects with a `SandboxError` if an option is invalid, such as
 * a missing folder or a malformed domain.
 * @example
 * const opening = await openSandbox({ root: "." });
 * if (!opening.available) throw new Error(opening.reason);
 * await using sandbox = opening.sandbox;
 * new Agent({ model, tools: workspaceTools({ root: ".", sandbox }) });
 */
export async function openSandbox(options: SandboxOptions): Promise<SandboxOpening> {
  refuseUnknown("openSandbox", options, OPTIONS);
  const env = options.env ?? process.env;
  const home = realOrGiven(options.home ?? homedir());
  const root = placeToWrite(options.root, options.root);
  const own = [...(options.own ?? []), holdersFolder()].map((folder) => realOrGiven(resolve(folder)));
  const { network: asked = { allow: [] } } = options;
  const network = asked instanceof NetworkAccess ? asked : new NetworkAccess({ domains: asked.allow, canAsk: false });
  const notices: string[] = [];
  const named: string[] = [];
  const writable = [root];
  for (const path of options.writable ?? []) {
    const place = placeToWrite(resolve(root, expandHome(path, home)), path);
    if (own.some((folder) => isPathWithin(folder, place)))
      notices.push(
        `Commands in the sandbox cannot write to ${path} (sandbox.writable): Banyan keeps its own files there.`,
      );
    else {
      named.push(path);
      writable.push(place);
    }
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
  const [bwrap, socat, rg, mkfifo, nsenter] = ["bwrap", "socat", "rg", "mkfifo", "nsenter"].map(program);
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
  const plan: SandboxPlan = {
    writable,
    repositories: repository === undefined || exposes(repository, home, own) ? [] : [repository],
    writeDenied: [...(options.writeDenied ?? []).map((path) => resolve(root, path)), ...own],
    readDenied: [...closed.denied, ...(options.readDenied ?? []).map((path) => resolve(root, path))],
    readable: closed.readable,
    caches: closed.caches.filter((cache) => !writable.some((place) => isPathWithin(place, cache))),
    ...(hidden !== undefined && { hidden }),
    domains: network.domains,
    isProxied: network === asked,
    programs: {
      ...(bwrap && { bwrap }),
      ...(socat && { socat }),
      ...(rg && { rg }),
      ...(nsenter && { nsenter }),
      mkfifo,
    },
  };
  const environment = childEnvironment(env, {
    ...Object.fromEntries(PROXIES.map((name) => [name, env[name]])),
    HOME: home,
    NODE_OPTIONS: undefined,
  });
  const { trials, again = false, exceptions = [], ...access } = options;
  const programs = [process.execPath, SANDBOX_PROCESS, ...Object.values(plan.programs)];
  const place = [home, own, env.TMPDIR ?? tmpdir()];
  const trial =
    trials === undefined
      ? undefined
      : new SandboxTrial(trials, {
          programs,
          options: [{ ...access, network: { allow: network.domains }, env: undefined, root: undefined }, place],
          root,
        });
  const known = again ? undefined : trial?.find();
  if (known?.works === false) return { available: false, reason: known.reason };
  const sandbox = new PlannedSandbox(
    network,
    named,
    exceptions,
    { folder: root, home, placeLimit: (path) => placeLimit(path, plan) },
    (connect) => startSandboxProcess({ ...plan, domains: network.domains }, environment, connect),
    () => trial?.keep(undefined),
    options.hidden,
  );
  if (known === undefined) {
    const started = await sandbox.launched();
    if (started.running === undefined) {
      const opening = unavailable(started.reason);
      // A failure that may be over at the next start is not kept.
      if (started.isLasting) trial?.keep({ works: false, reason: opening.reason });
      return opening;
    }
    trial?.keep({ works: true });
  }
  return { available: true, sandbox, notices: [...notices, ...closed.refused] };
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

function unavailable(why: string): Extract<SandboxOpening, { readonly available: false }> {
  return { available: false, reason: `Commands cannot run in a sandbox: ${why}.` };
}

function placeToWrite(path: string, named: string): string {
  try {
    return realpathSync(resolve(path));
  } catch (cause) {
    throw missingPathError(named, cause);
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
