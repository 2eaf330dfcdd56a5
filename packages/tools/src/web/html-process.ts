import { Worker } from "node:worker_threads";
import type { PageSource } from "./read-html.ts";

// Pages are parsed in a separate process, because a page that needs too much memory ends the whole process, even from a
// thread with a memory limit. A thread here parses the page: a parsing thread gets no events, and this process must
// notice the end of the program and exit.

const MOST_MEGABYTES = 512;

process.once("disconnect", () => process.exit());
process.once("message", (source: PageSource) => {
  const worker = new Worker(new URL("./html-worker.ts", import.meta.url), {
    workerData: source,
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES },
  });
  worker.once("message", (page) => process.send?.(page));
  // Out of memory, out of stack, or a page that the parser cannot handle.
  worker.once("error", () => process.exit(1));
});
