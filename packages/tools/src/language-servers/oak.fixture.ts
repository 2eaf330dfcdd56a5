import { fileURLToPath } from "node:url";
import type { Tool } from "@banyan/core";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { openWorkspace, workspaceTools } from "../workspace/index.ts";
import type { TestFolder } from "../workspace/test-folder.fixture.ts";
import { LanguageServers, type LanguageServersOptions } from "./language-servers.ts";
import type { OakOptions } from "./oak-server.fixture.ts";
import type { ServerKind } from "./server-table.ts";

const SERVER = fileURLToPath(new URL("oak-server.fixture.ts", import.meta.url));

/** In place of a sandbox: starts programs as they are. */
export const NO_SANDBOX: Pick<Sandbox, "wrap"> = {
  wrap: async (program) => ({ ...program, ended: async () => [], directAttempts: () => 0, [Symbol.dispose]() {} }),
};

/** Returns the server for `.oak` files. */
export function oak(options: OakOptions = {}): ServerKind {
  const command = [process.execPath, SERVER, JSON.stringify(options)] as const;
  return { name: "oak", files: { ".oak": "oak" }, commands: [command] };
}

/** Language servers for a folder with the server for `.oak` files, and checked tools by name. */
export function oakServers(
  folder: TestFolder,
  options: OakOptions = {},
  { sandbox = NO_SANDBOX, ...more }: Partial<LanguageServersOptions> = {},
): Pick<LanguageServers, "checked"> & { readonly tools: readonly Tool[]; tool(name: string): Tool } & AsyncDisposable {
  const servers = new LanguageServers({
    workspace: openWorkspace(folder.root),
    sandbox,
    known: [oak(options)],
    ...more,
  });
  const tools = servers.checked(workspaceTools({ root: folder.root }));
  return {
    tools,
    checked: (others) => servers.checked(others),
    tool(name) {
      const found = tools.find((each) => each.name === name);
      if (!found) throw new Error(`There is no tool ${name}.`);
      return found;
    },
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  };
}
