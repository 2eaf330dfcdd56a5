import { existsSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import type { Follower, FollowResult, Tool, ToolContext } from "@banyan/core";
import { type FileChange, type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { formatReport } from "@banyan/core/shown";
import { findServers } from "../language-servers/find-server.ts";
import { childEnvironment, type ProcessEnvironment } from "../sandbox/environment.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { fileChange } from "../workspace/changes/file-change.ts";
import { lineDiff } from "../workspace/changes/line-diff.ts";
import { replaceWorkspaceFile } from "../workspace/changes/replace-file.ts";
import { unifiedDiff } from "../workspace/changes/unified-diff.ts";
import { RunningCommands } from "../workspace/commands/process-family.ts";
import { steadyEnvironment } from "../workspace/commands/shell-environment.ts";
import { contentDigest, keepBackup } from "../workspace/files/backups.ts";
import { WorkspaceError } from "../workspace/files/error.ts";
import { locate, type Workspace } from "../workspace/files/paths.ts";
import { encodeText, readText } from "../workspace/files/text-content.ts";
import { type FormatterKind, KNOWN_FORMATTERS } from "./formatter-table.ts";
import { runFormatter } from "./run-formatter.ts";

/** Files of the project's root that may name a formatter, and the maximum bytes of one. */
const NAMING = [
  ...["package.json", "pyproject.toml", "setup.cfg", "tox.ini", "Makefile", "makefile", "justfile", "Justfile"],
  ...["Taskfile.yml", ".pre-commit-config.yaml", "lefthook.yml", ".husky/pre-commit"],
];
const LARGEST_NAMING = 1024 * 1024;
/** Larger texts are not formatted, in UTF-16 units. */
const LARGEST = 1024 * 1024;

/**
 * The folder whose files are formatted, and the sandbox of the formatters.
 * @example
 * const opening = await openSandbox({ root: "." });
 * if (!opening.available) throw new Error(opening.reason);
 * const { sandbox } = opening;
 * const known = KNOWN_FORMATTERS.filter(({ name }) => name !== "dprint");
 * const failed = ({ name, reason }: FormatterFailure) => console.error(`${name} cannot format: ${reason}.`);
 * const formatters = new Formatters({ workspace, sandbox, env: process.env, backups: "/home/me/backups", known, failed });
 * new Agent({ model, tools: formatters.formatting(workspaceTools({ root: "." })) });
 */
export interface FormattersOptions {
  readonly workspace: Workspace;
  readonly sandbox: Pick<Sandbox, "wrap">;
  /** The program's own environment. Formatters get it without secrets, and are found along its `PATH`. */
  readonly env?: ProcessEnvironment;
  /** The folder for previous contents, which allow undo. The same as for the tools. */
  readonly backups?: string;
  /** The formatters to look for. Default: those of Banyan's table. */
  readonly known?: readonly FormatterKind[];
  /** Called for the first failure of each formatter in a conversation. */
  readonly failed?: (failure: FormatterFailure) => void;
}

const OPTIONS: OptionNames<FormattersOptions> = {
  workspace: true,
  sandbox: true,
  env: true,
  backups: "string",
  known: true,
  failed: "function",
};

/** A formatter that failed or was too slow, and so left a file unchanged. See {@link Formatters}. */
export interface FormatterFailure {
  readonly name: string;
  /** The file, relative to the workspace. */
  readonly path: string;
  /** The reason, as the end of a sentence. */
  readonly reason: string;
}

/** Conversations and formatters whose failure was reported. */
const MOST_REPORTED = 1_000;

/**
 * Formats files after the tools of an agent wrote them, with the formatters that the project uses (E4). Finds
 * formatters in the project and along `PATH`. Use this only in a folder that the user trusts, because a formatter obeys
 * the files of the folder.
 * @example
 * const opening = await openSandbox({ root: "." });
 * if (!opening.available) throw new Error(opening.reason);
 * const { sandbox } = opening;
 * await using formatters = new Formatters({ workspace: openWorkspace("."), sandbox });
 * const agent = new Agent({ model, tools: formatters.formatting(workspaceTools({ root: ".", sandbox })) });
 */
export class Formatters implements AsyncDisposable {
  readonly #workspace: Workspace;
  readonly #sandbox: Pick<Sandbox, "wrap">;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #backups: string | undefined;
  readonly #known: readonly FormatterKind[];
  readonly #failed: FormattersOptions["failed"];
  /** Conversations, each with the formatters whose failure was reported there. */
  readonly #reported = new Set<string>();
  /** The last result of each formatter, if it is a failure. */
  readonly #failures = new Map<string, FormatterFailure>();
  #isClosed = false;
  readonly #running = new RunningCommands();

  constructor(options: FormattersOptions) {
    refuseUnknown("Formatters", options, OPTIONS);
    const { workspace, sandbox, env = process.env, backups, known = KNOWN_FORMATTERS, failed } = options;
    this.#workspace = workspace;
    this.#sandbox = sandbox;
    this.#environment = childEnvironment(steadyEnvironment(env, [workspace.root]), {});
    this.#backups = backups;
    this.#known = known;
    this.#failed = failed;
  }

  /** The formatters whose last run failed. */
  get failures(): readonly FormatterFailure[] {
    return [...this.#failures.values()];
  }

  /**
   * Returns tools that format the files that their calls changed. Tools that write no files stay the same.
   * @example
   * const withFormats = (formatters: Formatters) => formatters.formatting(workspaceTools({ root: "." }));
   */
  formatting(tools: readonly Tool[]): Tool[] {
    return tools.map((tool) =>
      tool.files === "write" ? { ...tool, execute: (input, context) => this.#execute(tool, input, context) } : tool,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#running.end();
  }

  async #execute(tool: Tool, input: unknown, context: ToolContext): Promise<unknown> {
    const reports: string[] = [];
    const output = await tool.execute(input, {
      ...context,
      changed: async (change) => {
        await context.changed(change);
        const report = await this.#format(change, context);
        if (report !== undefined) reports.push(report);
      },
      follow: (follower) => context.follow(reportingFollower(follower, reports)),
    });
    return typeof output === "string" ? [output, ...reports.splice(0)].join("\n\n") : output;
  }

  /** Formats a changed file. Returns a report with the difference; undefined if the file stays the same. */
  async #format({ path, after }: FileChange, context: ToolContext): Promise<string | undefined> {
    const kind = after === null ? undefined : this.#kindFor(path);
    const [command] = kind ? findServers({ commands: [kind.command] }, this.#workspace.root, this.#path) : [];
    if (!kind || !command) return undefined;
    try {
      const location = await locate(this.#workspace, path);
      const before = await readText(this.#workspace, path);
      if (contentDigest(before.bytes) !== after || before.text.length > LARGEST) return undefined;
      const launch = {
        file: command.file,
        args: command.args.map((arg) => arg.replace("{path}", path)),
        environment: this.#environment,
        directory: this.#workspace.root,
        sandbox: this.#sandbox,
      };
      const { text, why } = await runFormatter(launch, this.#running, before.text);
      this.#note(kind.name, context.conversation.id, why === undefined ? undefined : { path, reason: why });
      if (text === undefined || text === before.text) return undefined;
      const bytes = encodeText(path, text, before);
      await keepBackup(this.#backups, [before.bytes]);
      context.signal.throwIfAborted();
      await replaceWorkspaceFile(this.#workspace, location, bytes, before.stats);
      const diff = lineDiff(before.text, text);
      const old = { digest: after, text: before.text };
      const change = fileChange(path, old, { digest: contentDigest(bytes), text }, { diff });
      await context.changed({ ...change, formatter: kind.name });
      return formatReport(kind.name, path, unifiedDiff(path, diff));
    } catch (error) {
      // The file cannot be read as text, or another program changed it: it stays as the tool wrote it.
      if (error instanceof WorkspaceError) return undefined;
      throw error;
    }
  }

  /** Keeps the result of a formatter, and reports its first failure in a conversation. */
  #note(name: string, conversation: string, failure: Omit<FormatterFailure, "name"> | undefined): void {
    this.#failures.delete(name);
    // The end of the program also ends formatters.
    if (!failure || this.#isClosed) return;
    this.#failures.set(name, { name, ...failure });
    const key = `${conversation} ${name}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    for (const oldest of [...this.#reported].slice(0, -MOST_REPORTED)) this.#reported.delete(oldest);
    this.#failed?.({ name, ...failure });
  }

  get #path(): string {
    return this.#environment.PATH ?? "";
  }

  /** Returns the formatter that the project uses for a file: by the nearest settings file, else by the project's scripts. */
  #kindFor(path: string): FormatterKind | undefined {
    const kinds = this.#known.filter(({ files }) => files.some((end) => path.toLowerCase().endsWith(end)));
    if (kinds.length === 0) return undefined;
    for (let folder = posix.dirname(path); ; folder = posix.dirname(folder)) {
      const at = join(this.#workspace.root, folder);
      const found = kinds.find(({ configuration }) => configuration.some((name) => existsSync(join(at, name))));
      if (found) return found;
      if (folder === ".") break;
    }
    const texts = NAMING.map((name) => smallText(join(this.#workspace.root, name)));
    return kinds.find(({ named }) => texts.some((text) => named.test(text)));
  }
}

function smallText(file: string): string {
  try {
    const stats = statSync(file);
    return stats.isFile() && stats.size <= LARGEST_NAMING ? readFileSync(file, "utf8") : "";
  } catch {
    // The file is missing or cannot be read.
    return "";
  }
}

/** Returns a follower whose message also has the reports about files that were formatted after the message. */
function reportingFollower(follower: Follower, reports: string[]): Follower {
  return {
    ...follower,
    completed: async (message) => {
      const result: FollowResult | undefined = (await follower.completed?.(message)) ?? undefined;
      const all = [...(result?.say === undefined ? [] : [result.say]), ...reports.splice(0)];
      return all.length === 0 ? result : { ...result, say: all.join("\n\n") };
    },
  };
}
