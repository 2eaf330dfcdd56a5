import type { Conversation } from "../clients/client.ts";
import { CLIENTS, connectTo } from "../clients/index.ts";
import { cpuTime, type Measure } from "../measure.ts";
import { AGENTS } from "../peers.ts";
import { textOf } from "../provider/answers.ts";
import { checkText } from "./check.ts";

const TURNS = 1000;
const CHUNKS = 20;
const QUESTION = "And what does the banyan do then? ".repeat(3);

export const growth: Measure = {
  name: "growth",
  what: "one conversation of 1,000 turns without tools, of which the model is sent all each time; and what of it stays in memory",
  subjects: CLIENTS,
  bounds: ["hand-written"],
  rivals: AGENTS,
  figures: [
    { name: "CPU", unit: "s" },
    { name: "heap that it holds", unit: "MB" },
  ],
  targets: [{ figure: "CPU", subject: "engine", of: "best peer", most: 0.4 }],
  rounds: 3,
  async run(subject, lab) {
    const client = await connectTo(lab, `turns/${CHUNKS}`, subject);
    const expected = textOf(CHUNKS);
    const converse = async (turns: number) => {
      const conversation = await client.open();
      for (let turn = 0; turn < turns; turn++) checkText(await conversation.ask(QUESTION), expected);
      return conversation;
    };
    await converse(50);
    const before = cpuTime();
    let conversation: Conversation | undefined = await converse(TURNS);
    const cpu = (cpuTime() - before) / 1000;
    const full = heap();
    // Use the conversation once more, so that it is not collected earlier.
    await conversation.ask(QUESTION);
    await conversation.close?.();
    conversation = undefined;
    await new Promise(setImmediate);
    return { CPU: cpu, "heap that it holds": full - heap() };
  },
};

function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
}
