import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { killPostgres, makeFolder, startPostgres, whyNoPostgres } from "@banyan/store/testing";

/** A PostgreSQL server on this machine that flushes like a production server. */
export interface OwnDatabase extends AsyncDisposable {
  readonly url: string;
}

/** Starts a server. Dispose of it to stop the server. Rejects if no server can be started. */
export async function ownDatabase(): Promise<OwnDatabase> {
  if (whyNoPostgres !== undefined) throw new Error(whyNoPostgres);
  // Not in a folder of this process, which the server's user may not enter.
  const folder = join(tmpdir(), `banyan-bench-postgres-${process.pid}`);
  makeFolder(folder);
  const server = await startPostgres(folder);
  return {
    url: server.url,
    async [Symbol.asyncDispose]() {
      await killPostgres(server);
      rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}
