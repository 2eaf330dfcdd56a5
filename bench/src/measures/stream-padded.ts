import { connectTo } from "../clients/index.ts";
import { cpuTime, type Measure } from "../measure.ts";
import { textOf } from "../provider/answers.ts";
import { checkText } from "./check.ts";

const CHUNKS = 2000;
const WARM_UP = 20;
const ANSWERS = 300;

export const streamPadded: Measure = {
  name: "stream-padded",
  what: "CPU of the engine for a chunk of an answer as in `stream`, plain, and with random padding in each chunk",
  subjects: ["plain", "padded"],
  bounds: ["plain"],
  figures: [{ name: "CPU per chunk", unit: "µs" }],
  targets: [{ figure: "CPU per chunk", subject: "padded", of: "plain", most: 1.15 }],
  rounds: 7,
  async run(subject, lab) {
    const client = await connectTo(lab, `${subject === "padded" ? "padded" : "stream"}/${CHUNKS}`, "engine");
    const expected = textOf(CHUNKS);
    let started = 0;
    for (let index = 0; index < WARM_UP + ANSWERS; index++) {
      if (index === WARM_UP) started = cpuTime();
      const conversation = await client.open();
      checkText(await conversation.ask("What is a banyan?"), expected);
    }
    return { "CPU per chunk": ((cpuTime() - started) * 1000) / (ANSWERS * CHUNKS) };
  },
};
