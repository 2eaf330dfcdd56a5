// A server in a process of its own, on which conversations are played. Its arguments: the directory of its store, the token,
// and the other names that it answers to. Over the channel to its parent it says its address; and, when asked, what it is
// like after a garbage collection. To be run with --expose-gc.
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentOptions } from "@banyan/core";
import { agentPlaying, modelPlaying, SCENES, type SceneName, Starts } from "@banyan/core/testing/moments";
import { sqliteStore } from "@banyan/store/sqlite";
import { serve } from "../server.ts";
import { hostOf } from "./served-host.fixture.ts";

/** What the process is like. */
export interface Figures {
  /** Bytes of what is in use. */
  readonly heap: number;
  /** What was started more often than it may be. */
  readonly problems: readonly string[];
  /** Of the server: there should be no line. */
  readonly log: readonly string[];
}

/** Models at once; of more, the first ones are forgotten. */
const MODELS = 200;

const [directory = "", token = "", ...allowedHosts] = process.argv.slice(2);
const models = new Map<string, AgentOptions["model"]>();
const log: string[] = [];
const starts = new Starts();

/** The model of a name such as `play/1:look,ask`: a conversation's own, which does these things. */
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
// What nobody watches is closed soon, and opened anew by whoever comes.
const server = await serve({ host, token, allowedHosts, idle: 300, log: (line) => log.push(line) });

process.on("message", async () => {
  // Twice, with what finalizers do in between.
  for (let turn = 0; turn < 2; turn++) {
    globalThis.gc?.();
    await sleep(10);
  }
  const figures: Figures = { heap: process.memoryUsage().heapUsed, problems: starts.problems, log };
  process.send?.(figures);
});
process.send?.(server.address);
