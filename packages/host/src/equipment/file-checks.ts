import type { Tool } from "@banyan/core";
import { worktreeAt } from "@banyan/core/conversation";
import type { PreviewContext } from "@banyan/core/hosts";
import type { EnvironmentVariables } from "@banyan/models";
import type { FormatterFailure, Formatters } from "@banyan/tools/formatters";
import type {
  LanguageServerState,
  LanguageServers,
  ServerKind,
  SymbolToolsOptions,
} from "@banyan/tools/language-servers";
import type { Sandbox } from "@banyan/tools/sandbox";
import type { Workspace } from "@banyan/tools/workspace";
import type { FreshServers } from "../checks/first-problems.ts";
import type { Settings } from "../settings/index.ts";

/** The surroundings of `FileChecks`. */
export interface FileChecksOptions {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  readonly settings: Pick<Settings, "languageServers" | "formatters">;
  readonly env: EnvironmentVariables;
  /** The folder for previous contents of formatted files. */
  readonly backups: string;
  /** Opens the workspace, or the worktree of a branch, with its rules for reading. */
  open(folder: string): Workspace;
  /** Called with a sentence for the user about a server that cannot run, or a formatter that failed. */
  notice(sentence: string): void;
}

/**
 * Formats and checks the files of a trusted workspace after tools wrote them, with formatters and language servers (E1,
 * E2, E4). A server starts with the first file of its kind.
 */
export class FileChecks implements AsyncDisposable {
  readonly #options: FileChecksOptions;
  readonly #isOn: boolean;
  #servers: Promise<LanguageServers> | undefined;
  #formatters: Promise<Formatters> | undefined;

  constructor(options: FileChecksOptions) {
    this.#options = options;
    this.#isOn = options.settings.languageServers?.enabled !== false;
  }

  /** Returns tools that format the files which their calls changed, and report new problems in these files. */
  checked(tools: readonly Tool[]): readonly Tool[] {
    const formats = this.#options.settings.formatters?.enabled !== false;
    if (!this.#isOn && !formats) return tools;
    return tools.map((tool) => {
      if (tool.files !== "write") return tool;
      return {
        ...tool,
        execute: async (input, context) => {
          const formatted = formats ? (await this.#loadFormatters()).formatting([tool]) : [tool];
          const [checked = tool] = this.#isOn ? (await this.#load()).checked(formatted) : formatted;
          return checked.execute(input, context);
        },
      };
    });
  }

  /** Resolves with the tools `diagnostics` and `symbol`; none if no server for a file of the workspace is installed. */
  async symbolTools(options: SymbolToolsOptions): Promise<readonly Tool[]> {
    if (!this.#isOn) return [];
    const servers = await this.#load();
    if (!(await servers.areUseful())) return [];
    const { symbolTools } = await import("@banyan/tools/language-servers");
    return symbolTools(this.#options.workspace, servers, options).map(inWorkspaceOnly);
  }

  /**
   * Opens language servers for the workspace or the worktree of a branch. They start anew, so that they see the present
   * files. `undefined` if the settings switch checks off.
   */
  async freshServers(folder: string, sandbox: Sandbox): Promise<FreshServers | undefined> {
    if (!this.#isOn) return undefined;
    const workspace = this.#options.open(folder);
    const servers = await loadServers({ ...this.#options, workspace, sandbox });
    return { workspace, servers, [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose]() };
  }

  /** Resolves with the installed servers; undefined if the settings switch checks off. */
  async states(): Promise<readonly LanguageServerState[] | undefined> {
    return this.#isOn ? (await this.#load()).states : undefined;
  }

  /** Resolves with the formatters whose last run failed. */
  async failedFormatters(): Promise<readonly FormatterFailure[]> {
    return (await this.#formatters)?.failures ?? [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#servers)?.[Symbol.asyncDispose]();
    await (await this.#formatters)?.[Symbol.asyncDispose]();
  }

  #load(): Promise<LanguageServers> {
    this.#servers ??= loadServers(this.#options);
    return this.#servers;
  }

  #loadFormatters(): Promise<Formatters> {
    const { workspace, sandbox, env, backups, notice } = this.#options;
    const failed = ({ name, path, reason }: FormatterFailure) =>
      notice(`${path} was not formatted, because ${name} failed: ${reason.replace(/\.$/, "")}.`);
    this.#formatters ??= import("@banyan/tools/formatters").then(
      ({ Formatters }) => new Formatters({ workspace, sandbox, env, backups, failed }),
    );
    return this.#formatters;
  }
}

/** Language servers see the files of the workspace, and not those of a worktree. */
function inWorkspaceOnly(tool: Tool): Tool {
  const refuse = ({ conversation, path }: PreviewContext) => {
    if (worktreeAt(conversation, path.at(-1)?.id) !== undefined)
      throw new Error("Language servers check the workspace, but not the worktree of this branch.");
  };
  return {
    ...tool,
    ...(tool.preview && {
      preview: async (input, context) => {
        refuse(context);
        return (await tool.preview?.(input, context)) ?? {};
      },
    }),
    execute: (input, context) => {
      refuse(context);
      return tool.execute(input, context);
    },
  };
}

async function loadServers({ workspace, sandbox, settings, env, notice }: FileChecksOptions): Promise<LanguageServers> {
  const { KNOWN_SERVERS, LanguageServers } = await import("@banyan/tools/language-servers");
  const failed = (name: string, why: string) =>
    notice(`The language server for ${name} does not check files: ${why.replace(/\.$/, "")}.`);
  return new LanguageServers({ workspace, sandbox, env, known: serversOf(settings, KNOWN_SERVERS), failed });
}

/** Servers of the settings come first, and replace known servers of the same name. */
function serversOf(
  { languageServers: { servers = {} } = {} }: Pick<Settings, "languageServers">,
  known: readonly ServerKind[],
): ServerKind[] {
  const set = Object.entries(servers).flatMap(([name, { enabled = true, command, files }]): ServerKind[] => {
    const same = known.find((each) => each.name === name);
    const [program, ...args] = command ?? [];
    const commands = program === undefined ? (same?.commands ?? []) : [[program, ...args] as const];
    return enabled ? [{ ...same, name, files: files ?? same?.files ?? {}, commands }] : [];
  });
  return [...set, ...known.filter(({ name }) => !Object.hasOwn(servers, name))];
}
