import { Worker } from "node:worker_threads";
import type { PageSource } from "./read-html.ts";

// The process of one page. A page that takes more memory than there is ends the whole process, even where a thread was to
// have little: so it is not that of the program. The page is read in a thread, since whoever reads hears nothing: when the
// program is gone, this goes too.

const MOST_MEGABYTES = 512;

process.once("disconnect", () => process.exit());
process.once("message", (source: PageSource) => {
  const worker = new Worker(new URL("./html-worker.ts", import.meta.url), {
    workerData: source,
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES },
  });
  worker.once("message", (page) => process.send?.(page));
  // Out of memory, out of stack, or a document that no parser was made for.
  worker.once("error", () => process.exit(1));
});
