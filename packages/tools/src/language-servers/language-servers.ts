import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Follower, FollowResult, Tool, ToolContext } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { errorMessage } from "@banyan/core/shown";
import { childEnvironment, type ProcessEnvironment } from "../sandbox/environment.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { RunningCommands, waitAtMostFor } from "../workspace/commands/process-family.ts";
import { steadyEnvironment } from "../workspace/commands/shell-environment.ts";
import { messageOfCall } from "../workspace/edit-mode/armed-file.ts";
import type { EditFollower, FileAhead } from "../workspace/edit-mode/edit-session.ts";
import { locate, type Workspace } from "../workspace/files/paths.ts";
import { readText } from "../workspace/files/text-content.ts";
import { answerInTime, type Check, type CheckedChange, Checker } from "./checker.ts";
import { findServers } from "./find-server.ts";
import { extensionOf, LanguageServer } from "./language-server.ts";
import { type FileProblem, problemsReport, shownProblems } from "./problems.ts";
import { KNOWN_SERVERS, type ServerKind } from "./server-table.ts";

const PATIENCE = 2_000;
/** Larger texts are not checked, in UTF-16 units. */
const LARGEST = 1024 * 1024;
/** Files and folders in which `areUseful` looks for a file of a server. */
const MOST_LOOKED_AT = 2_000;
/** Turns whose remaining patience is known. */
const MOST_TURNS = 200;

/**
 * The folder in which language servers work, and their sandbox. Without a sandbox, no server starts.
 * @example
 * const opening = await openSandbox({ root: "." });
 * if (!opening.available) throw new Error(opening.reason);
 * const { sandbox } = opening;
 * const known: ServerKind[] = [{ name: "oak", files: { ".oak": "oak" }, commands: [["oak-server", "--stdio"]] }];
 * const failed = (name: string, why: string) => console.error(`${name} cannot check files: ${why}.`);
 * await using servers = new LanguageServers({ workspace, sandbox, env: process.env, known, patience: 1_000, failed });
 * new Agent({ model, tools: servers.checked(workspaceTools({ root: "." })) });
 */
export interface LanguageServersOptions {
  readonly workspace: Workspace;
  readonly sandbox: Pick<Sandbox, "wrap">;
  /** The program's own environment. Servers get it without secrets, and are found along its `PATH`. */
  readonly env?: ProcessEnvironment;
  /** The servers to look for. Default: those of Banyan's table. */
  readonly known?: readonly ServerKind[];
  /** Maximum milliseconds for which all checks of one turn together delay the turn. Default: 2,000. */
  readonly patience?: number;
  /** Called once for a server that cannot start, or has failed too often. `why`: the end of a sentence. */
  readonly failed?: (name: string, why: string) => void;
}

const OPTIONS: OptionNames<LanguageServersOptions> = {
  workspace: true,
  sandbox: true,
  env: true,
  known: true,
  patience: "number",
  failed: "function",
};

/** The state of an installed language server. See {@link LanguageServers}. */
export interface LanguageServerState {
  readonly name: string;
  /** `waiting`: the server starts with the first file of its kind. `failed`: the server does not start again. */
  readonly status: "waiting" | "running" | "failed";
  /** The reason for the status `failed`, as the end of a sentence. */
  readonly reason?: string;
}

/** A turn with changed files. */
interface CheckedTurn {
  /** Milliseconds that remain. */
  patience: number;
  /** Changes for which no check has begun yet. */
  readonly changes: CheckedChange[];
  checks: Check[];
  isFollowing: boolean;
}

/**
 * The language servers of a workspace (E1, E2). They check files after the tools of an agent changed them, and report
 * new problems with the tools' results. Programs are found and never downloaded. They start with the first file of their
 * kind, only in the sandbox, and end when this object is disposed of.
 *
 * Start them only in a folder that the user trusts: a server obeys files of the project.
 * @example
 * const opening = await openSandbox({ root: "." });
 * if (!opening.available) throw new Error(opening.reason);
 * const { sandbox } = opening;
 * await using servers = new LanguageServers({ workspace: openWorkspace("."), sandbox });
 * const agent = new Agent({ model, tools: servers.checked(workspaceTools({ root: ".", sandbox })) });
 */
export class LanguageServers implements AsyncDisposable {
  readonly #workspace: Workspace;
  readonly #sandbox: Pick<Sandbox, "wrap">;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #known: readonly ServerKind[];
  readonly #patience: number;
  readonly #failed: LanguageServersOptions["failed"];
  readonly #running = new RunningCommands();
  readonly #checkers = new Map<ServerKind, Checker | undefined>();
  readonly #turns = new Map<string, CheckedTurn>();
  /** Checks that a turn did not wait for, by conversation. The next turn of the conversation gets their problems. */
  readonly #left = new Map<string, Check[]>();

  constructor(options: LanguageServersOptions) {
    refuseUnknown("LanguageServers", options, OPTIONS);
    const { workspace, sandbox, env = process.env, known = KNOWN_SERVERS, patience = PATIENCE, failed } = options;
    this.#workspace = workspace;
    this.#sandbox = sandbox;
    this.#environment = childEnvironment(steadyEnvironment(env, [workspace.root]), {});
    this.#known = known;
    this.#patience = patience;
    this.#failed = failed;
  }

  /**
   * Returns tools whose results report new problems in the files that their calls changed. Tools that write no files
   * stay the same.
   * @example
   * const withChecks = (servers: LanguageServers) => servers.checked(workspaceTools({ root: "." }));
   */
  checked(tools: readonly Tool[]): Tool[] {
    return tools.map((tool) =>
      tool.files === "write" ? { ...tool, execute: (input, context) => this.#execute(tool, input, context) } : tool,
    );
  }

  /** Returns whether a server for a file is found, and has not been given up. */
  canCheck(path: string): boolean {
    return this.#checkerOf(path) !== undefined;
  }

  /** The installed servers. */
  get states(): readonly LanguageServerState[] {
    return this.#known.flatMap((kind): LanguageServerState[] => {
      const server = this.#checkerFor(kind)?.server;
      if (!server) return [];
      const { name } = kind;
      if (server.isGivenUp) return [{ name, status: "failed", reason: server.problem ?? "it has ended" }];
      return [{ name, status: server.isRunning ? "running" : "waiting" }];
    });
  }

  /** Resolves with whether a server is installed for a file of the workspace. Looks at the first 2,000 files and folders. */
  async areUseful(): Promise<boolean> {
    const installed = this.#known.filter((kind) => this.#checkerFor(kind));
    const endings = new Set(installed.flatMap(({ files }) => Object.keys(files)));
    const folders = endings.size === 0 ? [] : [this.#workspace.root];
    let left = MOST_LOOKED_AT;
    for (const folder of folders) {
      // A folder that cannot be read has no files for servers either.
      const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
      if (entries.some((entry) => entry.isFile() && endings.has(extensionOf(entry.name)))) return true;
      left -= entries.length;
      if (left <= 0) return false;
      for (const entry of entries)
        if (entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name)) folders.push(join(folder, entry.name));
    }
    return false;
  }

  /**
   * Returns all problems of a file. Rejects if no server answers within `longest` milliseconds. `path` is relative to the
   * workspace.
   */
  async inspect(path: string, longest: number, signal: AbortSignal): Promise<readonly FileProblem[]> {
    const text = await this.#textOf(path);
    if (text === undefined) throw new Error("it is too large");
    const checker = this.#needed(path);
    return answerInTime(checker.inspect(path, text), checker, longest, signal);
  }

  /**
   * Asks the server of a file about a place. Rejects with a sentence for the model if no server answers within `longest`
   * milliseconds.
   */
  async ask(
    path: string,
    text: string,
    method: string,
    params: object,
    longest: number,
    signal: AbortSignal,
  ): Promise<unknown> {
    try {
      const checker = this.#needed(path);
      return await answerInTime(checker.ask(path, text, method, params, longest), checker, longest, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(`The language server cannot answer: ${errorMessage(error)}.`, { cause: error });
    }
  }

  #needed(path: string): Checker {
    const checker = this.#checkerOf(path);
    if (!checker) throw new Error(`no language server for ${path} is installed, or it has failed`);
    return checker;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#checkers.values()].map((checker) => checker?.server.close()));
    await this.#running.end();
  }

  async #execute(tool: Tool, input: unknown, context: ToolContext): Promise<unknown> {
    const { paths = [] } = tool.about?.(input) ?? {};
    if (!paths.some(({ path }) => this.#checkerOf(path))) return tool.execute(input, context);
    for (const { path } of paths) await this.#learn(path);
    const turn = this.#turnOf(context);
    const output = await tool.execute(input, {
      ...context,
      changed: async (change) => {
        await context.changed(change);
        turn.changes.push(await this.#changeOf(change.path, change.kind));
      },
      follow: (follower) => context.follow(this.#reporting(follower, turn, context)),
    });
    const report = await this.#report(turn, context, turn.patience);
    return report === undefined || typeof output !== "string" ? output : `${output}\n\n${report}`;
  }

  /** Returns a follower that also reports problems: of complete blocks while they stream, and of changed files after a message. */
  #reporting(follower: Follower & Partial<EditFollower>, turn: CheckedTurn, context: ToolContext): Follower {
    const ahead = new Set<string>();
    const end = (written: readonly string[] = []) => {
      for (const path of ahead) this.#checkerOf(path)?.endPreview(path, written.includes(path));
      ahead.clear();
    };
    return {
      text: (delta, kind) => {
        follower.text?.(delta, kind);
        for (const file of follower.takeAhead?.() ?? []) this.#preview(file, ahead);
      },
      restarted: () => {
        end();
        follower.restarted?.();
      },
      dropped: (reason) => {
        end();
        return follower.dropped?.(reason);
      },
      completed: async (message) => {
        const result = (await follower.completed?.(message)) ?? undefined;
        end(turn.changes.map(({ path }) => path));
        if (turn.changes.length === 0) return result;
        return withReport(result, await this.#report(turn, context, turn.patience));
      },
    };
  }

  /** Shows users the new problems of a file with its complete blocks, in the background. */
  #preview(file: FileAhead, ahead: Set<string>): void {
    const checker = this.#checkerOf(file.path);
    if (!checker) return;
    ahead.add(file.path);
    checker
      .preview(file)
      .then((problems) => problems && ahead.has(file.path) && file.show(shownProblems(problems)))
      // A server that fails explains itself, and the message's result does not depend on previews.
      .catch(() => {});
  }

  /** Begins checks of changed files, waits for them, and returns a report of the new problems, if any. */
  async #report(turn: CheckedTurn, context: ToolContext, longest: number): Promise<string | undefined> {
    if (turn.changes.length > 0) turn.checks.push(...this.#begin(turn.changes.splice(0)));
    if (turn.checks.length === 0) return undefined;
    const began = performance.now();
    if (longest > 0) await waitAtMostFor(longest, Promise.all(turn.checks.map(({ first }) => first)));
    turn.patience -= performance.now() - began;
    const running = await unfinished(turn.checks);
    const problems = turn.checks.flatMap(({ found }) => found.splice(0));
    turn.checks = running;
    if (turn.checks.length > 0) this.#follow(turn, context);
    return problems.length === 0 ? undefined : problemsReport(problems);
  }

  /** Reports later problems after the model's next messages. */
  #follow(turn: CheckedTurn, context: ToolContext): void {
    if (turn.isFollowing) return;
    const { id } = context.conversation;
    const leave = () => {
      turn.isFollowing = false;
      if (turn.checks.length > 0) this.#left.set(id, turn.checks);
    };
    try {
      context.follow({
        completed: async ({ calls, finish }) => {
          const isLast = calls.length === 0 && finish !== "paused";
          const report = await this.#report(turn, context, isLast ? turn.patience : 0);
          const again = turn.checks.length > 0;
          if (!again) turn.isFollowing = false;
          return { ...withReport(undefined, report), again };
        },
        dropped: leave,
      });
      turn.isFollowing = true;
    } catch {
      // An agent that runs its own turns cannot be followed.
      leave();
    }
  }

  #begin(changes: readonly CheckedChange[]): Check[] {
    const checkers = new Set(changes.flatMap(({ path }) => this.#checkerOf(path) ?? []));
    return [...checkers].map((checker) =>
      checker.check(changes.filter(({ path }) => this.#checkerOf(path) === checker)),
    );
  }

  #turnOf(context: ToolContext): CheckedTurn {
    const { conversation, call } = context;
    const run = messageOfCall(context)?.run ?? call;
    const known = this.#turns.get(run);
    if (known) return known;
    const checks = this.#left.get(conversation.id) ?? [];
    this.#left.delete(conversation.id);
    const turn: CheckedTurn = { patience: this.#patience, changes: [], checks, isFollowing: false };
    this.#turns.set(run, turn);
    for (const oldest of [...this.#turns.keys()].slice(0, -MOST_TURNS)) this.#turns.delete(oldest);
    return turn;
  }

  async #learn(named: string): Promise<void> {
    const checker = this.#checkerOf(named);
    if (!checker) return;
    try {
      const { path, kind } = await locate(this.#workspace, named);
      const text = kind === "file" ? await this.#textOf(path) : undefined;
      if (text !== undefined) checker.learn(path, text);
    } catch {
      // The tool explains why it cannot use the path.
    }
  }

  async #changeOf(path: string, kind: CheckedChange["kind"]): Promise<CheckedChange> {
    const text = kind === "deleted" ? undefined : await this.#textOf(path).catch(() => undefined);
    return text === undefined ? { path, kind } : { path, kind, text };
  }

  async #textOf(path: string): Promise<string | undefined> {
    const { text } = await readText(this.#workspace, path);
    return text.length > LARGEST ? undefined : text;
  }

  /** Returns the checker for a file; undefined without a server that can run. */
  #checkerOf(path: string): Checker | undefined {
    const extension = extensionOf(path);
    const kind = this.#known.find(({ files }) => Object.hasOwn(files, extension));
    const checker = kind && this.#checkerFor(kind);
    return checker?.server.isGivenUp ? undefined : checker;
  }

  /** Returns the checker of an installed server. */
  #checkerFor(kind: ServerKind): Checker | undefined {
    if (!this.#checkers.has(kind)) this.#checkers.set(kind, this.#found(kind));
    return this.#checkers.get(kind);
  }

  #found(kind: ServerKind): Checker | undefined {
    const { root } = this.#workspace;
    const commands = findServers(kind, root, this.#environment.PATH ?? "");
    if (commands.length === 0) return undefined;
    const [environment, running] = [this.#environment, this.#running];
    const around = { root, sandbox: this.#sandbox, environment, running };
    const gaveUp = this.#failed;
    return new Checker(new LanguageServer(kind, commands, { ...around, ...(gaveUp && { gaveUp }) }));
  }
}

/** Returns the checks that may find more problems. */
async function unfinished(checks: readonly Check[]): Promise<Check[]> {
  const running = Symbol();
  const states = await Promise.all(checks.map(({ done }) => Promise.race([done, Promise.resolve(running)])));
  return checks.filter((_, index) => states[index] === running);
}

function withReport(result: FollowResult | undefined, report: string | undefined): FollowResult | undefined {
  if (report === undefined) return result;
  return { ...result, say: result?.say === undefined ? report : `${result.say}\n\n${report}` };
}
