// A server in its own process, for long plays of conversations. Its arguments: the directory of its store, the token, and further
// accepted host names. It sends its address to the parent and, on request, its figures after a garbage collection. Run with
// --expose-gc.
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentOptions } from "@banyan/core";
import { agentPlaying, modelPlaying, SCENES, type SceneName, Starts } from "@banyan/core/testing/moments";
import { hostOf } from "@banyan/desk/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { serve } from "../server.ts";

/** The state of the process. */
export interface Figures {
  /** Bytes of the heap in use. */
  readonly heap: number;
  /** Calls that started more often than allowed. */
  readonly problems: readonly string[];
  /** Log lines of the server; there should be none. */
  readonly log: readonly string[];
}

/** Maximum number of models at once; above this number, the oldest are forgotten. */
const MODELS = 200;

const [directory = "", token = "", ...allowedHosts] = process.argv.slice(2);
const models = new Map<string, AgentOptions["model"]>();
const log: string[] = [];
const starts = new Starts();

/** The model for a name such as `play/1:look,ask`: one per conversation, which plays these scenes. */
function modelNamed(name: string): AgentOptions["model"] | undefined {
  const [, list] = /^play\/\w+:([\w,]+)$/.exec(name) ?? [];
  if (list === undefined) return undefined;
  const model = models.get(name) ?? modelPlaying(list.split(",").filter(isScene), { pace: 1 });
  models.set(name, model);
  if (models.size > MODELS) models.delete(models.keys().next().value as string);
  return model;
}

function isScene(name: string): name is SceneName {
  return name in SCENES;
}

const store = sqliteStore({ directory, program: "banyan serve" });
const { host } = hostOf(
  store,
  { ...agentPlaying(starts, () => sleep(1)), model: modelPlaying([]) },
  new Proxy({}, { get: (_, name) => modelNamed(String(name)) }),
);
// Unwatched conversations close soon and open again on demand.
const server = await serve({ host, token, allowedHosts, idle: 300, log: (line) => log.push(line) });

process.on("message", async () => {
  // Twice, with a pause for finalizers between.
  for (let turn = 0; turn < 2; turn++) {
    globalThis.gc?.();
    await sleep(10);
  }
  const figures: Figures = { heap: process.memoryUsage().heapUsed, problems: starts.problems, log };
  process.send?.(figures);
});
process.send?.(server.address);
