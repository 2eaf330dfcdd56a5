import { Agent, type Callbacks, defineTool, Session, say } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { cpuTime, type Measure } from "../measure.ts";

const WARM_UP = 2000;
const TURNS = 20_000;

let told = 0;
const tell = () => void told++;
const ALL: Required<Omit<Callbacks, "awaited">> = {
  onMessage: tell,
  onCalls: tell,
  onCall: tell,
  onInterjection: tell,
  onModelError: tell,
  onAnswer: tell,
};

const listening: Readonly<Record<string, Callbacks>> = { none: {}, all: ALL };
/** A turn of two steps has two messages, the calls of one, their one result, and the answer. */
const TOLD: Readonly<Record<string, number>> = { none: 0, all: 5 };

export const callbacks: Measure = {
  name: "callbacks",
  what: "turns of one call and an answer with a scripted model, without callbacks and with all of them (B57)",
  subjects: Object.keys(listening),
  bounds: ["none"],
  figures: [{ name: "CPU per turn", unit: "µs" }],
  rounds: 5,
  async run(subject) {
    const callbacks = listening[subject];
    if (callbacks === undefined) throw new Error(`There is no subject "${subject}".`);
    const look = defineTool({
      name: "look",
      description: "Looks.",
      input: { type: "object" },
      effects: "none",
      execute: () => "seen",
    });
    const model = scriptedModel((_, step) => (step % 2 === 0 ? [call("look")] : "Done."));
    const agent = new Agent({ model, tools: [look], callbacks });
    const session = Session.inMemory({ window: 20 });
    const converse = async (turns: number) => {
      for (let turn = 0; turn < turns; turn++) for await (const _ of agent.chat(say("Look."), { session }));
    };
    await converse(WARM_UP);
    told = 0;
    const began = cpuTime();
    await converse(TURNS);
    const cpu = cpuTime() - began;
    if (told !== TURNS * (TOLD[subject] ?? 0)) throw new Error(`${told} callbacks were called.`);
    return { "CPU per turn": (cpu * 1000) / TURNS };
  },
};
