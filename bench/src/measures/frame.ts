import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Measure } from "../measure.ts";

/** The command is no library: the measured part runs in a separate process. */
const COST = fileURLToPath(new URL("../../../packages/cli/src/terminal/full/testing/frame-cost.ts", import.meta.url));

/** Earlier transcript lines, by subject. */
const LINES: Readonly<Record<string, number>> = { "at the beginning": 0, "after 20,000 lines": 20_000 };

export const frame: Measure = {
  name: "frame",
  what: "what a frame of the full terminal costs while an answer streams, at the beginning and after 20,000 lines",
  subjects: Object.keys(LINES),
  bounds: ["at the beginning"],
  figures: [
    { name: "CPU for a frame", unit: "µs" },
    { name: "written in a frame", unit: "bytes" },
  ],
  rounds: 5,
  async run(subject) {
    const lines = LINES[subject];
    if (lines === undefined) throw new Error(`There is no subject "${subject}".`);
    const script = `
      const { frameCost } = await import(${JSON.stringify(COST)});
      frameCost(0);
      const { cpu, bytes } = frameCost(${lines});
      process.stdout.write(JSON.stringify({ cpu, bytes }));
    `;
    const said = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    const { cpu, bytes } = JSON.parse(said) as { cpu: number; bytes: number };
    return { "CPU for a frame": cpu, "written in a frame": bytes };
  },
};
