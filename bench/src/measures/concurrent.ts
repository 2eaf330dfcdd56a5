import { CLIENTS, connectTo } from "../clients/index.ts";
import { cpuTime, type Measure } from "../measure.ts";
import { memoryOf } from "../memory.ts";
import { AGENTS } from "../peers.ts";

const CONVERSATIONS = 100;
const ROUNDS = 10;
const OUTPUT = "A banyan is a fig that begins its life in the crown of another tree. ".repeat(4);

export const concurrent: Measure = {
  name: "concurrent",
  what: "CPU for a step in 100 conversations at once of 10 rounds of one tool call, after as many that warm up; and the most memory that the process had",
  subjects: CLIENTS,
  bounds: ["hand-written"],
  rivals: AGENTS,
  figures: [
    { name: "CPU per step", unit: "ms" },
    { name: "peak, above a process without a client", unit: "MB" },
  ],
  targets: [
    { figure: "CPU per step", subject: "engine", of: "best peer", most: 0.3 },
    { figure: "peak, above a process without a client", subject: "engine", of: "best peer", most: 0.5 },
  ],
  rounds: 5,
  async run(subject, lab) {
    globalThis.gc?.();
    const before = memoryOf("self", "held");
    const client = await connectTo(lab, `loop/${ROUNDS}`, subject);
    const converse = async () => {
      let looked = 0;
      const look = () => {
        looked++;
        return OUTPUT;
      };
      const conversations = await Promise.all(Array.from({ length: CONVERSATIONS }, () => client.open(look)));
      const started = cpuTime();
      await Promise.all(conversations.map((conversation) => conversation.ask("Read all chapters.")));
      if (looked !== CONVERSATIONS * ROUNDS) throw new Error(`${looked} calls ran.`);
      return cpuTime() - started;
    };
    await converse();
    const cpu = await converse();
    return {
      "CPU per step": cpu / (CONVERSATIONS * (ROUNDS + 1)),
      "peak, above a process without a client": memoryOf("self", "peak") - before,
    };
  },
};
