import type { AgentOptions, Store } from "@banyan/core";
import { sqliteStore } from "@banyan/store/sqlite";
import type { ServedHost } from "../desk/commands/workplace.ts";
import { type RunningServer, type ServeOptions, serve } from "../server.ts";
import { hostOf } from "./served-host.fixture.ts";

export { lateServer, promptsOf } from "./mcp-servers.fixture.ts";
export { hostOf } from "./served-host.fixture.ts";

/** Of every server that a test starts. */
export const TOKEN = "a-token-of-a-test-0123456789-0123456789";

/** What a served agent is made of beside itself. */
export interface ServedOptions extends Partial<Omit<ServeOptions, "host" | "log">> {
  /** Of its store. */
  readonly directory: string;
  readonly models?: Parameters<typeof hostOf>[2];
  readonly workspace?: string;
  /** How it gets pictures of the web; it has none when absent. */
  readonly picture?: ServedHost["picture"];
}

/** A server on a port of its own, with a real store. */
export interface Served extends AsyncDisposable {
  readonly server: RunningServer;
  readonly store: Store;
  readonly host: ServedHost;
  readonly remembered: readonly string[];
  readonly log: readonly string[];
  readonly directory: string;
}

/** Serves an agent until it is disposed of. */
export async function served(options: AgentOptions, more: ServedOptions): Promise<Served> {
  const { directory, models, workspace, picture, ...rest } = more;
  const store = sqliteStore({ directory, program: "banyan serve" });
  const { host, remembered } = hostOf(store, options, models, workspace, picture);
  const log: string[] = [];
  const server = await serve({ host, token: TOKEN, log: (line) => log.push(line), ...rest });
  return {
    server,
    store,
    host,
    remembered,
    log,
    directory,
    async [Symbol.asyncDispose]() {
      await server.stop();
      await store.close();
    },
  };
}
