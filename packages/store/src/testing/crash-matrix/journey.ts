import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, type Effects, type Permission, type Tool } from "@banyan/core";
import type { ModelRequest, PromptMessage } from "@banyan/core/drivers";
import { type Beat, call, pause, reasoning, type Scene, scriptedModel, text } from "@banyan/core/testing";

/** The messages of the killed conversation. */
export const GREETING = "Good morning.";
export const ORDER = "Prepare the journey.";
export const STEER = "Take the train.";
export const QUEUED = "And then a hotel.";
export const OTHER_BRANCH = "How is the weather?";

/** The call during whose batch a user steers and queues: all calls of the batch have started by then. */
export const LAST_OF_BATCH = "send-1";

/**
 * The model's replies to the last user message, step by step. The replies follow from the prompt alone, so that a model in
 * another process continues in the same way.
 */
const answers: Readonly<Record<string, readonly Scene[]>> = {
  [GREETING]: ["Good morning. Where to?"],
  [ORDER]: [
    [
      reasoning(..."First the map, then a note, then a letter to the host.".split(/(?<= )/)),
      text(..."I look at the map, keep a note of it, and write to the host at once.".split(/(?<= )/)),
      call("look", {}, "look-1"),
      call("save", {}, "save-1"),
      call("send", {}, LAST_OF_BATCH),
    ],
    "The journey is prepared.",
  ],
  [STEER]: [[text("By train, then."), call("pay", {}, "pay-1"), call("save", {}, "save-2")], "The train is booked."],
  [QUEUED]: [[text("A hotel."), call("look", {}, "look-2"), call("send", {}, "send-2")], "The hotel is booked."],
  [OTHER_BRANCH]: [
    [
      reasoning(..."The almanac knows that, I am sure.".split(/(?<= )/)),
      text(..."I look it up, write it down for you, and send word to your friends.".split(/(?<= )/)),
      call("look", {}, "look-3"),
      call("save", {}, "save-3"),
      call("send", {}, "send-3"),
    ],
    "It will be fine.",
  ],
};

/** The model's reply to any other message. */
export const ANYTHING = "I am here.";

function answerTo({ messages }: ModelRequest): Scene {
  const said = messages.findLastIndex((message) => message.role === "user" && textOf(message) in answers);
  const last = messages.findLastIndex((message) => message.role === "user");
  const words = said < 0 ? "" : textOf(messages[said] as PromptMessage);
  const steps = messages
    .slice(said + 1)
    .filter((message) => message.role === "assistant" && message.results.length > 0);
  // A user has sent another message since. A request to continue does not count.
  const continues =
    last === said ||
    (messages[last - 1]?.role === "assistant" && textOf(messages[last] as PromptMessage).startsWith("Go on"));
  return (continues ? answers[words]?.[steps.length] : undefined) ?? ANYTHING;
}

function textOf({ parts }: PromptMessage): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** Adds pauses between the words of a reply, like a model. */
export function slowly(scene: Scene, milliseconds: number): Scene {
  if (typeof scene === "string" || milliseconds === 0) return scene;
  return scene.flatMap((beat): Beat[] =>
    beat.type === "say" ? beat.parts.flatMap((part) => [{ ...beat, parts: [part] }, pause(milliseconds)]) : [beat],
  );
}

/** The effects of the tools: each start adds a line to a file, which is on the disk before the tool continues. */
export class World {
  readonly #file: string;
  readonly #onEffect: () => void;

  constructor(directory: string, onEffect: () => void = () => {}) {
    this.#file = join(directory, "effects");
    this.#onEffect = onEffect;
  }

  change(effect: Effect): void {
    const file = openSync(this.#file, "a");
    try {
      writeSync(file, `${JSON.stringify(effect)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    this.#onEffect();
  }

  /** Returns the effects of all processes. */
  effects(): Effect[] {
    const file = openSync(this.#file, "a+");
    try {
      const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
      return lines.map((line) => JSON.parse(line) as Effect);
    } finally {
      closeSync(file);
    }
  }
}

/** One start of a tool. */
export interface Effect {
  readonly tool: string;
  readonly effects: Effects;
  readonly key: string;
  readonly attempt: number;
}

function toolsOf(world: World, pace: number): Tool[] {
  const tool = (name: string, effects: Effects, parallel: boolean): Tool => ({
    name,
    description: name,
    input: { type: "object" },
    effects,
    parallel,
    execute: async (_, { key, attempt }) => {
      await sleep(pace);
      world.change({ tool: name, effects, key, attempt });
      await sleep(2 * pace);
      return `${name}: done`;
    },
  });
  return [
    tool("look", "none", true),
    tool("save", "idempotent", true),
    tool("send", "external", true),
    tool("pay", "external", false),
  ];
}

const permission: Permission = ({ tool }) => ({ decision: tool.name === "pay" ? "ask" : "allow" });

/** Returns the agent of the conversation, for any process. `pace` is milliseconds per word; tools take three times as long. */
export function traveller(world: World, pace = 0): Agent {
  const model = scriptedModel((request) => slowly(answerTo(request), pace));
  return new Agent({
    name: "traveller",
    model,
    instructions: "You plan journeys.",
    tools: toolsOf(world, pace),
    permission,
  });
}
