import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { Agent, Session } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { workspaceTools } from "@banyan/tools/workspace";
import type { Measure } from "../measure.ts";

const FILES = 10_000;
const TURNS = 10;
const CHANGED = 20_000;
/** Milliseconds after which a file that did not change needs no second read. */
const SETTLED = 2500;

export const snapshots: Measure = {
  name: "snapshots",
  what: "turns with one change in a folder of 10,000 files, with and without snapshots of the folder (E9)",
  subjects: ["without", "with"],
  bounds: ["without"],
  figures: [
    { name: "first command", unit: "ms" },
    { name: "a turn that writes a file", unit: "ms" },
    { name: "a turn with a command", unit: "ms" },
    { name: "CPU of a turn with a command", unit: "ms" },
    { name: "stored ÷ changed bytes", unit: "" },
  ],
  rounds: 3,
  async run(subject) {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "banyan-bench-")));
    const workspace = join(root, "workspace");
    const stores = join(root, "snapshots");
    try {
      fill(workspace);
      await after(SETTLED);
      const tools = workspaceTools({ root: workspace, ...(subject === "with" && { snapshots: stores }) });
      const session = Session.inMemory();
      const turn = (tool: string, input: Readonly<Record<string, string>>) => {
        const agent = new Agent({ model: scriptedModel([[call(tool, input)], "Done."]), tools });
        return timed(() => agent.send("Go on.", { session }));
      };
      const first = await turn("shell", { command: "true" });
      await after(SETTLED);
      await turn("shell", { command: "true" });
      const before = bytesIn(stores);
      const times = { write: [] as number[], shell: [] as number[], cpu: [] as number[] };
      for (let count = 0; count < TURNS; count++) {
        const content = Array.from(crypto.getRandomValues(new Uint8Array(CHANGED / 2)), (byte) =>
          byte.toString(16).padStart(2, "0"),
        ).join("");
        times.write.push(await turn("write", { path: `src/${count}/new.txt`, content }));
        // A refused call would be quick.
        statSync(join(workspace, `src/${count}/new.txt`));
        const { user, system } = process.cpuUsage();
        times.shell.push(
          await turn("shell", { command: `head -c ${CHANGED} /dev/urandom > src/${count}/command.bin` }),
        );
        const end = process.cpuUsage();
        times.cpu.push((end.user - user + end.system - system) / 1000);
      }
      return {
        "first command": first,
        "a turn that writes a file": median(times.write),
        "a turn with a command": median(times.shell),
        "CPU of a turn with a command": median(times.cpu),
        "stored ÷ changed bytes": (bytesIn(stores) - before) / (2 * TURNS * CHANGED),
      };
    } finally {
      rmSync(root, { recursive: true });
    }
  },
};

function fill(workspace: string): void {
  for (let folder = 0; folder < FILES / 100; folder++) {
    mkdirSync(join(workspace, "src", String(folder)), { recursive: true });
    for (let file = 0; file < 100; file++)
      writeFileSync(
        join(workspace, "src", String(folder), `${file}.ts`),
        `export const number = ${folder * 100 + file};\n`.repeat(100),
      );
  }
}

function bytesIn(folder: string): number {
  try {
    return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  } catch {
    // Without snapshots there is no folder.
    return 0;
  }
}

function median(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0;
}

async function timed(work: () => unknown): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
