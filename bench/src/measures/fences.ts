import { FenceParser } from "@banyan/tools/fences";
import { parse, preprocess } from "micromark";
import { cpuTime, type Measure } from "../measure.ts";

const BLOCKS = 1500;
const CHUNK = 4;
const WARM_UP = 2;
const TIMES = 3;

/** A typical answer of a model: prose, and short code blocks. */
const ANSWER = Array.from(
  { length: BLOCKS },
  (_, block) => `The check in line ${block} comes too late, **after** the value was used. It has to stand first:

\`\`\`ts:${block}:${block + 3}
  if (value === undefined) throw new Error(\`There is no value in \${line}.\`);
    return value
      .map((each) => each.trim())
      .filter((each) => each !== "");
\`\`\`

`,
).join("");

/** Reads an answer piece by piece. Returns the number of blocks. */
type Reader = (pieces: readonly string[]) => number;

const readers: Readonly<Record<string, Reader>> = {
  // Only the part of micromark that finds blocks: no paragraph content, list or quote is parsed.
  micromark: (pieces) => {
    const { write } = parse().flow();
    const cut = preprocess();
    for (const piece of pieces) write(cut(piece));
    const events = write(cut("", undefined, true));
    return events.filter(([kind, { type }]) => kind === "enter" && type === "codeFenced").length;
  },
  "fence parser": (pieces) => {
    let blocks = 0;
    const parser = new FenceParser({ opened() {}, text() {}, closed: () => void blocks++, unclosed() {} });
    for (const piece of pieces) parser.push(piece);
    parser.end();
    return blocks;
  },
};

export const fences: Measure = {
  name: "fences",
  what: "how fast the fenced blocks of an answer are found: in one piece, and in chunks of 4 characters as they stream",
  subjects: Object.keys(readers),
  bounds: ["micromark"],
  figures: [
    { name: "in one piece", unit: "MB/s" },
    { name: "in chunks", unit: "MB/s" },
  ],
  rounds: 5,
  async run(subject) {
    const reader = readers[subject];
    if (!reader) throw new Error(`There is no subject "${subject}".`);
    const chunks = Array.from({ length: Math.ceil(ANSWER.length / CHUNK) }, (_, index) =>
      ANSWER.slice(index * CHUNK, (index + 1) * CHUNK),
    );
    return { "in one piece": throughput(reader, [ANSWER]), "in chunks": throughput(reader, chunks) };
  },
};

/** Returns megabytes per second of CPU time; the answer is ASCII. */
function throughput(reader: Reader, pieces: readonly string[]): number {
  let started = 0;
  for (let time = 0; time < WARM_UP + TIMES; time++) {
    if (time === WARM_UP) started = cpuTime();
    const blocks = reader(pieces);
    if (blocks !== BLOCKS) throw new Error(`${blocks} blocks were found; there are ${BLOCKS}.`);
  }
  return (TIMES * ANSWER.length) / 1000 / (cpuTime() - started);
}
