import { mkdir, open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds after which a lease is over, whether it was given back or not: its holder may have been killed. */
const TERM = 10_000;
/** Milliseconds between two looks at a lease that somebody else has. */
const PAUSE = 20;

/**
 * Waits until nobody else has the lease of this file, in this process or another, and takes it. Disposing of it gives
 * it back.
 */
export async function takeLease(file: string): Promise<AsyncDisposable> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  for (;;) {
    try {
      await (await open(file, "wx", 0o600)).close();
      return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
    const taken = await stat(file).catch(() => undefined);
    if (taken !== undefined && Date.now() - taken.mtimeMs > TERM) await rm(file, { force: true });
    else await sleep(PAUSE);
  }
}
