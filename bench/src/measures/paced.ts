import { connectTo } from "../clients/index.ts";
import { cpuTime, type Measure } from "../measure.ts";
import { textOf } from "../provider/answers.ts";
import { checkText } from "./check.ts";

const CONVERSATIONS = 50;
const CHUNKS = 150;

export const paced: Measure = {
  name: "paced",
  what: "CPU for a chunk in 50 conversations at once, each with a chunk every 20 ms; a first answer of each warms up",
  subjects: ["socket", "hand-written", "engine", "engine, SQLite"],
  bounds: ["socket", "hand-written"],
  figures: [{ name: "CPU per chunk", unit: "µs" }],
  rounds: 3,
  async run(subject, { provider }) {
    const client = await connectTo(`${provider}/paced/${CHUNKS}/v1`, subject);
    const opening = Array.from({ length: CONVERSATIONS }, () => client.open());
    const conversations = await Promise.all(opening);
    const expected = textOf(CHUNKS);
    const answers = async () => {
      const answered = conversations.map((conversation) => conversation.ask("What is a banyan?"));
      for (const characters of await Promise.all(answered)) checkText(characters, expected);
    };
    await answers();
    const started = cpuTime();
    await answers();
    return { "CPU per chunk": ((cpuTime() - started) * 1000) / (CONVERSATIONS * CHUNKS) };
  },
};
