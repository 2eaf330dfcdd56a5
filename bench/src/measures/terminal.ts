import { join } from "node:path";
import { createId } from "@banyan/core";
import { sqliteStore } from "@banyan/store/sqlite";
import type { Measure } from "../measure.ts";
import { memoryOf } from "../memory.ts";
import { homeOfPrograms, programNamed } from "../programs.ts";
import { type Place, PseudoTerminal } from "../pseudo-terminal.ts";
import { conversationOf } from "../stores/conversation.ts";

/** The number of messages in the conversation, by subject. */
const MESSAGES: Readonly<Record<string, number>> = { "at the beginning": 2, "after 10,000 messages": 10_000 };
const QUESTIONS = 20;
const TIMES = 3;

export const terminal: Measure = {
  name: "terminal",
  what: "the program in a terminal, with a conversation of 2 and of 10,000 messages: the time from its start to a resumed conversation with its prompt, started before, the best of three times; its memory then, and after 20 questions more",
  subjects: Object.keys(MESSAGES),
  bounds: [],
  figures: [
    { name: "drawn", unit: "ms" },
    { name: "resumed", unit: "MB" },
    { name: "after 20 questions", unit: "MB" },
    { name: "peak", unit: "MB" },
  ],
  targets: [
    { figure: "drawn", subject: "after 10,000 messages", most: 500 },
    { figure: "peak", subject: "after 10,000 messages", most: 150 },
  ],
  rounds: 3,
  async run(subject, { places }) {
    const messages = MESSAGES[subject];
    if (messages === undefined) throw new Error(`There is no subject "${subject}".`);
    const home = homeOfPrograms();
    const conversation = await written(join(home.env.BANYAN_HOME ?? "", "data"), messages);
    const { chat = [], ready = "" } = programNamed("banyan", places);
    const resume = [...chat, "--resume", conversation];
    const drawn: number[] = [];
    // The first run is not counted: it fills the compile cache.
    for (let time = 0; time <= TIMES; time++) drawn.push(await timeTo(ready, resume, home));
    await using terminal = await PseudoTerminal.start(resume, home);
    await terminal.shows(ready);
    const resumed = memoryOf(terminal.process, "held");
    for (let question = 1; question <= QUESTIONS; question++) {
      terminal.press(`Question ${question}?`);
      await terminal.shows(`Question ${question}?`);
      terminal.press("\r");
      await terminal.shows(ready, question + 1);
    }
    return {
      drawn: Math.min(...drawn.slice(1)),
      resumed,
      "after 20 questions": memoryOf(terminal.process, "held"),
      peak: memoryOf(terminal.process, "peak"),
    };
  },
};

/** Returns milliseconds from the start of a program until it shows a text. Ends the program. */
async function timeTo(text: string, words: readonly string[], place: Place): Promise<number> {
  await using terminal = await PseudoTerminal.start(words, place);
  const began = performance.now();
  await terminal.shows(text);
  return performance.now() - began;
}

/** Writes a conversation of alternating questions and answers, three events per pair. */
async function written(directory: string, messages: number): Promise<string> {
  const store = sqliteStore({ directory, program: "banyan" });
  const id = createId();
  const log = await store.open(id, { create: true });
  await log.append(conversationOf((messages / 2) * 3, log.epoch));
  await store.close();
  return id;
}
