import { CLIENTS, connectTo } from "../clients/index.ts";
import { cpuTime, type Measure } from "../measure.ts";
import { AGENTS } from "../peers.ts";
import { textOf } from "../provider/answers.ts";
import { checkText } from "./check.ts";

const CONVERSATIONS = 50;
const CHUNKS = 150;

export const paced: Measure = {
  name: "paced",
  what: "CPU for a chunk in 50 conversations at once, each with a chunk every 20 ms; a first answer of each warms up",
  subjects: ["socket", ...CLIENTS],
  bounds: ["socket", "hand-written", "engine", "provider-package"],
  rivals: AGENTS,
  figures: [{ name: "CPU per chunk", unit: "µs" }],
  targets: [
    { figure: "CPU per chunk", subject: "engine", of: "best peer", most: 0.5 },
    { figure: "CPU per chunk", subject: "engine", of: "hand-written", most: 1.8 },
    { figure: "CPU per chunk", subject: "engine, SQLite", of: "engine", most: 1.25 },
    { figure: "CPU per chunk", subject: "engine, provider-package", of: "provider-package", most: 1.15 },
  ],
  rounds: 3,
  async run(subject, lab) {
    const client = await connectTo(lab, `paced/${CHUNKS}`, subject);
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
