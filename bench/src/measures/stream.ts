import { CLIENTS, connectTo } from "../clients/index.ts";
import { cpuTime, type Measure } from "../measure.ts";
import { AGENTS } from "../peers.ts";
import { textOf } from "../provider/answers.ts";
import { checkText } from "./check.ts";

const CHUNKS = 2000;
const WARM_UP = 20;
const ANSWERS = 300;

export const stream: Measure = {
  name: "stream",
  what: "CPU for a chunk of an answer of 2,000 chunks that comes at full speed, each answer in a new conversation",
  subjects: ["socket", ...CLIENTS],
  bounds: ["socket", "hand-written", "engine", "provider-package"],
  rivals: AGENTS,
  figures: [{ name: "CPU per chunk", unit: "µs" }],
  targets: [
    { figure: "CPU per chunk", subject: "engine", of: "best peer", most: 0.4 },
    { figure: "CPU per chunk", subject: "engine, SQLite", of: "engine", most: 1.25 },
    { figure: "CPU per chunk", subject: "engine, provider-package", of: "provider-package", most: 1.15 },
  ],
  rounds: 7,
  async run(subject, lab) {
    const client = await connectTo(lab, `stream/${CHUNKS}`, subject);
    const conversations = [];
    for (let i = 0; i < WARM_UP + ANSWERS; i++) conversations.push(await client.open());
    const expected = textOf(CHUNKS);
    let started = 0;
    for (const [index, conversation] of conversations.entries()) {
      if (index === WARM_UP) started = cpuTime();
      checkText(await conversation.ask("What is a banyan?"), expected);
    }
    return { "CPU per chunk": ((cpuTime() - started) * 1000) / (ANSWERS * CHUNKS) };
  },
};
