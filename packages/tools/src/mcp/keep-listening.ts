import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/client";

/** Milliseconds before a stream that ended is opened again: first, and at most. */
const PAUSE = { first: 500, most: 60_000 };

/**
 * Keeps the stream open on which a server of the newer protocol tells what changed: the client package opens it once,
 * and servers end streams as they like. `onMissed` is called whenever something may have changed unheard. Ends with
 * `signal`.
 */
export async function keepListening(client: Client, onMissed: () => void, signal: AbortSignal): Promise<void> {
  const filter = client.autoOpenedSubscription?.honoredFilter;
  if (filter === undefined) return;
  let stream = client.autoOpenedSubscription;
  try {
    for (let pause = PAUSE.first; ; pause = Math.min(pause * 2, PAUSE.most)) {
      if ((await stream?.closed) === "local") return;
      await sleep(pause, undefined, { signal, ref: false });
      stream = await client.listen(filter, { signal }).catch(() => undefined);
      if (stream === undefined) continue;
      pause = PAUSE.first;
      onMissed();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
