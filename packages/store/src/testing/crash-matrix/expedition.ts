import { setTimeout as sleep } from "node:timers/promises";
import {
  Agent,
  askClient,
  type Effects,
  launchAgent,
  type Tool,
  type ToolContext,
  textOf as textOfMessage,
} from "@banyan/core";
import type { ModelRequest, PromptMessage } from "@banyan/core/drivers";
import { type Beat, call, type Scene, scriptedModel, spend, text } from "@banyan/core/testing";
import { ANYTHING, slowly, type World } from "./journey.ts";

/** The messages of a conversation with following calls, sub-agents, a question and a summary. */
export const GREETINGS = ["Good morning.", "Did you sleep well?"] as const;
export const START = "Prepare the expedition.";

/** The answer to the question of the expedition. */
export const NORTH = "Go north.";

/** The start of the message about an applied call. */
const APPLIED = "Applied: ";

/** The start of the message about a call whose process is gone. */
const STOPPED = "The process stopped";

/** Longer than the recent part that a summary keeps word for word, so that there is something to summarize. */
const GOOD_MORNING = `Good morning to you. ${"What a fine day for an expedition. ".repeat(600)}`;

/** Long enough for the summarized part: the program would reject a shorter summary and write its own. */
const SUMMARY = "They slept well, and the expedition is being prepared. ".repeat(5).trim();

const CONTEXT = 10_000;
const words = (sentence: string) => text(...sentence.split(/(?<= )/));
const launch = (task: string, id: string) => call("launch_agent", { task, expected_output: "a word" }, id);

/** The model's reply follows from the prompt alone, so that a model in another process continues in the same way. */
function answerTo({ messages }: ModelRequest): Scene {
  const task = textOf(messages[0]);
  const asked = textOf(messages.at(-1));
  if (asked.startsWith("Sum up the conversation")) return SUMMARY;
  if (task.startsWith("Scout")) return [call("finish_task", { result: "The path is clear." }, "scout-end")];
  if (task.startsWith("Cook")) return cook(roundsIn(messages));
  const started = messages.findIndex((message) => textOf(message) === START);
  if (started >= 0) return expedition(messages.slice(started + 1)) ?? ANYTHING;
  return asked === GREETINGS[0] ? GOOD_MORNING : asked === GREETINGS[1] ? "I never sleep." : ANYTHING;
}

/** A sub-agent that needs a call with effects. */
function cook(rounds: number): Scene {
  if (rounds > 0) return [call("finish_task", { result: "Dinner is on its way." }, "cook-end")];
  return [words("I send for the best dinner that there is in the whole town."), call("send", {}, "cook-send")];
}

function expedition(since: readonly PromptMessage[]): Scene | undefined {
  const said = since.findLast((message) => message.role === "user");
  const known = said && [APPLIED, STOPPED, "Go on"].some((beginning) => textOf(said).startsWith(beginning));
  if (said && !known) return undefined;
  const told = since.some((message) => message.role === "user" && !textOf(message).startsWith("Go on"));
  switch (roundsIn(since)) {
    case 0:
      return [
        words("One writes down what I say, one scouts, one cooks."),
        call("listen", {}, "listen-1"),
        launch("Scout", "launch-1"),
        launch("Cook", "launch-2"),
      ];
    case 1:
      if (!told)
        return [words("Write this down: ropes, tents, lamps, bread, water, a map, and a book for the long nights.")];
      // From here on, the context is nearly full.
      return [
        words("One thing more."),
        call("ask_client", { question: "Where to?" }, "ask-1"),
        spend({ input: 9_000 }),
      ];
    default:
      return "The expedition is ready.";
  }
}

const roundsIn = (messages: readonly PromptMessage[]) =>
  messages.filter((message) => message.role === "assistant" && message.results.length > 0).length;

function textOf(message: PromptMessage | undefined): string {
  return message?.parts.map((part) => (part.type === "text" ? part.text : "")).join("") ?? "";
}

function toolsOf(world: World, pace: number): Tool[] {
  const tool = (name: string, effects: Effects, execute: (context: ToolContext) => unknown): Tool => ({
    name,
    description: name,
    input: { type: "object" },
    effects,
    parallel: true,
    execute: (_, context) => execute(context),
  });
  return [
    tool("listen", "none", ({ key, attempt, follow }) => {
      follow({
        async completed(message) {
          await sleep(pace);
          world.change({ tool: "listen", effects: "external", key, attempt });
          await sleep(pace);
          return { say: `${APPLIED}${textOfMessage(message).length} letters.` };
        },
      });
      return "Say it.";
    }),
    tool("send", "external", async ({ key, attempt }) => {
      await sleep(pace);
      world.change({ tool: "send", effects: "external", key, attempt });
      await sleep(2 * pace);
      return "send: done";
    }),
    askClient(),
    launchAgent(),
  ];
}

/** Returns the agent of the conversation, for any process. `pace` is milliseconds per word. */
export function leader(world: World, pace = 0): Agent {
  return new Agent({
    name: "leader",
    model: scriptedModel((request) => slowly(answerTo(request) as readonly Beat[] | string, pace)),
    instructions: "You lead expeditions.",
    tools: toolsOf(world, pace),
    compaction: { contextSize: CONTEXT },
  });
}
