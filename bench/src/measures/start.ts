import { execFileSync, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Measure } from "../measure.ts";
import { temporaryDirectory } from "../stores/temporary.ts";

const MAIN = fileURLToPath(new URL("../../../packages/cli/src/main.ts", import.meta.url));

/** A program, by how it is asked for its version, for help, and for a chat. */
interface Starter {
  readonly version: readonly string[];
  readonly help: readonly string[];
  readonly chat: readonly string[];
  /** What is shown when the agent itself is ready. */
  readonly ready: string;
}

const NOTHING = ["-e", "0"];
const ECHO = [
  "-e",
  "process.stdin.setRawMode(true).on('data', (key) => process.stdout.write(key)); console.log('ready')",
];

const starters: Readonly<Record<string, Starter>> = {
  "bare node": { version: NOTHING, help: NOTHING, chat: ECHO, ready: "ready" },
  banyan: {
    version: [MAIN, "--version"],
    help: [MAIN, "--help"],
    chat: [MAIN, "--model", "demo/offline"],
    ready: "Reply to banyan:",
  },
};

const KEY = "§";
const TIMES = 5;

export const start: Measure = {
  name: "start",
  what: "the time to the version, to help, to a key that is shown at the prompt, and to an agent that can be asked; started before",
  subjects: Object.keys(starters),
  bounds: ["bare node"],
  figures: ["version", "help", "a key at the prompt", "the agent"].map((name) => ({ name, unit: "ms" })),
  rounds: 5,
  async run(subject) {
    const starter = starters[subject];
    if (!starter) throw new Error(`There is no subject "${subject}".`);
    const home = temporaryDirectory();
    const env = { ...process.env, HOME: home, BANYAN_HOME: home, BANYAN_NO_DISCOVERY: "1", COLORFGBG: "15;0" };
    // What is compiled at the first start is kept.
    await chatTimes(starter, env);
    const times = { version: 0, help: 0, key: 0, agent: 0 };
    for (let time = 0; time < TIMES; time++) {
      times.version += runTime(starter.version, env);
      times.help += runTime(starter.help, env);
      const chat = await chatTimes(starter, env);
      times.key += chat.key;
      times.agent += chat.agent;
    }
    return {
      version: times.version / TIMES,
      help: times.help / TIMES,
      "a key at the prompt": times.key / TIMES,
      "the agent": times.agent / TIMES,
    };
  },
};

function runTime(args: readonly string[], env: NodeJS.ProcessEnv): number {
  const began = performance.now();
  execFileSync(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  return performance.now() - began;
}

/** Starts a chat in a pseudo-terminal, and presses a key until it is shown. */
async function chatTimes({ chat, ready }: Starter, env: NodeJS.ProcessEnv): Promise<{ key: number; agent: number }> {
  const began = performance.now();
  const quoted = [process.execPath, ...chat].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  // `script` of util-linux gives a program a terminal of its own.
  const child = spawn("script", ["-qefc", quoted, "/dev/null"], { env, stdio: ["pipe", "pipe", "inherit"] });
  const { promise, resolve, reject } = Promise.withResolvers<{ key: number; agent: number }>();
  child.once("error", reject);
  let shown = "";
  let key = 0;
  let agent = 0;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    if (key === 0 && shown.includes(KEY)) key = performance.now() - began;
    if (agent === 0 && shown.includes(ready)) agent = performance.now() - began;
    if (key > 0 && agent > 0) resolve({ key, agent });
  });
  child.once("close", () => reject(new Error(`The chat ended before it was ready:\n${shown}`)));
  // Before the program reads keys itself, the terminal shows them: what counts is the first one after that.
  const presses = setInterval(() => {
    if (shown.includes("\x1b[?2004h") || shown.includes("ready")) child.stdin.write(KEY);
  }, 5);
  try {
    return await promise;
  } finally {
    clearInterval(presses);
    child.kill("SIGKILL");
  }
}
