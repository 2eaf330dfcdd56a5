import { execFileSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import type { Measure } from "../measure.ts";
import { AGENTS } from "../peers.ts";
import { median } from "../statistics.ts";

const TIMES = 7;

export const hello: Measure = {
  name: "hello",
  what: "the time of a program that imports a library, makes one agent over a model and ends; and how much of it is not bare node",
  subjects: ["engine", ...AGENTS],
  bounds: [],
  rivals: AGENTS,
  figures: [
    { name: "program", unit: "ms" },
    { name: "above bare node", unit: "ms" },
  ],
  targets: [{ figure: "above bare node", subject: "engine", most: 60 }],
  rounds: 5,
  async run(subject, { places }) {
    const client = places[subject];
    if (client === undefined) throw new Error(`${subject} is not built.`);
    const program = `
      import { connect } from ${JSON.stringify(pathToFileURL(client))};
      const client = await connect("http://127.0.0.1:9/v1", "chat");
      client.agent?.();
      process.exit();`;
    const programs: number[] = [];
    const above: number[] = [];
    for (let time = 0; time < TIMES; time++) {
      const bare = timeOf("process.exit()");
      const taken = timeOf(program);
      programs.push(taken);
      above.push(taken - bare);
    }
    return { program: median(programs), "above bare node": median(above) };
  },
};

function timeOf(program: string): number {
  const began = performance.now();
  execFileSync(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "ignore", "inherit"] });
  return performance.now() - began;
}
