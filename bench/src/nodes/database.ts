import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { killPostgres, makeFolder, startPostgres, whyNoPostgres } from "@banyan/store/testing";

/** A PostgreSQL on this machine that flushes as one in earnest does. */
export interface OwnDatabase extends AsyncDisposable {
  readonly url: string;
}

/** Starts one, until it is disposed of. Rejects where none can be started. */
export async function ownDatabase(): Promise<OwnDatabase> {
  if (whyNoPostgres !== undefined) throw new Error(whyNoPostgres);
  // Not in a folder of this process: who runs the server may not enter that.
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
