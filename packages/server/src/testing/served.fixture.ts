import type { AgentOptions, Store } from "@banyan/core";
import type { ServedHost } from "@banyan/desk";
import { hostOf } from "@banyan/desk/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { type RunningServer, type ServeOptions, serve } from "../server.ts";

export { hostOf } from "@banyan/desk/testing";
export { lateServer, promptsOf } from "./mcp-servers.fixture.ts";

/** The token of every test server. */
export const TOKEN = "a-token-of-a-test-0123456789-0123456789";

/** The options of a served agent besides its own. */
export interface ServedOptions extends Partial<Omit<ServeOptions, "host" | "log">> {
  /** The directory of its store. */
  readonly directory: string;
  readonly models?: Parameters<typeof hostOf>[2];
  readonly workspace?: string;
  /** The server's loader of web images. Absent: the server loads none. */
  readonly picture?: ServedHost["picture"];
}

/** A server on its own port, with a real store. */
export interface Served extends AsyncDisposable {
  readonly server: RunningServer;
  readonly store: Store;
  readonly host: ServedHost;
  readonly remembered: readonly string[];
  /** Decides whether the host offers approval mode `sandbox`. */
  readonly modes: ReturnType<typeof hostOf>["modes"];
  readonly log: readonly string[];
  readonly directory: string;
}

/** Serves an agent until the result is disposed of. */
export async function served(options: AgentOptions, more: ServedOptions): Promise<Served> {
  const { directory, models, workspace, picture, ...rest } = more;
  const store = sqliteStore({ directory, program: "banyan serve" });
  const { host, remembered, modes } = hostOf(store, options, models, workspace, picture);
  const log: string[] = [];
  const server = await serve({ host, token: TOKEN, log: (line) => log.push(line), ...rest });
  return {
    server,
    store,
    host,
    remembered,
    modes,
    log,
    directory,
    async [Symbol.asyncDispose]() {
      await server.stop();
      await store.close();
    },
  };
}
