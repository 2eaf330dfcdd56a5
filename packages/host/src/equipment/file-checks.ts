import type { Tool } from "@banyan/core";
import type { EnvironmentVariables } from "@banyan/models";
import type { LanguageServers, ServerKind } from "@banyan/tools/language-servers";
import type { Sandbox } from "@banyan/tools/sandbox";
import type { Workspace } from "@banyan/tools/workspace";
import type { Settings } from "../settings/index.ts";

/** The surroundings of `FileChecks`. */
export interface FileChecksOptions {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  readonly settings: Pick<Settings, "languageServers">;
  readonly env: EnvironmentVariables;
}

/**
 * Checks the files of a trusted workspace with language servers after tools wrote them (E1, E2). The code is loaded with
 * the first write, and a server starts with the first file of its kind.
 */
export class FileChecks implements AsyncDisposable {
  readonly #options: FileChecksOptions;
  #servers: Promise<LanguageServers> | undefined;

  constructor(options: FileChecksOptions) {
    this.#options = options;
  }

  /** Returns tools whose results report new problems in the files that their calls changed. */
  checked(tools: readonly Tool[]): readonly Tool[] {
    if (this.#options.settings.languageServers?.enabled === false) return tools;
    return tools.map((tool) => {
      if (tool.files !== "write") return tool;
      return {
        ...tool,
        execute: async (input, context) => {
          this.#servers ??= loadServers(this.#options);
          const [checked = tool] = (await this.#servers).checked([tool]);
          return checked.execute(input, context);
        },
      };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#servers)?.[Symbol.asyncDispose]();
  }
}

async function loadServers({ workspace, sandbox, settings, env }: FileChecksOptions): Promise<LanguageServers> {
  const { KNOWN_SERVERS, LanguageServers } = await import("@banyan/tools/language-servers");
  return new LanguageServers({ workspace, sandbox, env, known: serversOf(settings, KNOWN_SERVERS) });
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
