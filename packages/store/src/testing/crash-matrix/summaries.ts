import { setTimeout as sleep } from "node:timers/promises";
import { Agent, launchAgent, type Tool } from "@banyan/core";
import type { ModelRequest, PromptMessage } from "@banyan/core/drivers";
import { type Beat, call, pause, type Scene, scriptedModel, spend, text } from "@banyan/core/testing";
import { ANYTHING, type World } from "./journey.ts";

/** The first message of a conversation that is too long for its window. */
export const START = "Dig for the treasure.";

const WINDOW = 4_000;
const SCOUT = "Scout";
const SUMMARY = "The treasure lies under the old tree, and the digging goes on there with a spade. ".repeat(4).trim();

/** The sizes of a step's text and result, as shares of the window. */
interface Step {
  readonly says?: number;
  readonly brings?: number;
}

/** Contains a summary that blocks the turn, a background summary, and old results that are shortened without a summary. */
const STEPS: readonly Step[] = [
  { says: 0.5 },
  { says: 0.35 },
  ...Array.from({ length: 10 }, () => ({ says: 0.07 })),
  ...Array.from({ length: 9 }, () => ({ brings: 0.12 })),
  { says: 0.02 },
];
/** The sub-agent's steps: enough for a separate summary. */
const SCOUTING: readonly Step[] = Array.from({ length: 14 }, () => ({ says: 0.07 }));

/** The model's reply follows from the prompt, so that a model in another process continues in the same way. */
function answerTo(world: World, { messages }: ModelRequest): Scene {
  const asked = textOf(messages.at(-1));
  if (asked.startsWith("Sum up the conversation")) return SUMMARY;
  if (asked.startsWith("Are you there?")) return ANYTHING;
  const taken = (tool: string) => world.effects().filter((effect) => effect.tool === tool).length;
  const isScout = textOf(messages[0]).includes(`${SCOUT}\n`);
  if (isScout)
    return stepOf(SCOUTING[taken("scout")], "scout") ?? [call("finish_task", { result: "Clear." }, "scout-end")];
  const next = stepOf(STEPS[taken("dig")], "dig");
  if (next) return next;
  const isScouted = messages.some(
    (message) => message.role === "assistant" && message.results.some(({ tool }) => tool === "launch_agent"),
  );
  return isScouted
    ? "The treasure is found."
    : [call("launch_agent", { task: SCOUT, expected_output: "a word" }, "launch-1")];
}

function stepOf(step: Step | undefined, tool: string): Scene | undefined {
  if (!step) return undefined;
  const words = step.says ? [text("x".repeat(step.says * WINDOW * 4))] : [];
  return [...words, call(tool, { brings: step.brings ?? 0 })];
}

function textOf(message: PromptMessage | undefined): string {
  return message?.parts.map((part) => (part.type === "text" ? part.text : "")).join("") ?? "";
}

function tokensOf({ messages }: ModelRequest): number {
  return Math.ceil(JSON.stringify(messages).length / 4);
}

/**
 * Returns the agent of the conversation, for any process. `pace` is milliseconds per step; a summary takes several
 * steps. `onHook` is called when a hook waits for the text of a summary.
 */
export function digger(world: World, pace = 0, onHook: () => void = () => {}): Agent {
  const tool = (name: string): Tool => ({
    name,
    description: name,
    input: { type: "object" },
    effects: "external",
    async execute(input, { key, attempt }) {
      world.change({ tool: name, effects: "external", key, attempt });
      await sleep(pace);
      return `${name}: done`.padEnd(Number((input as { brings?: number }).brings ?? 0) * WINDOW * 4, " earth");
    },
  });
  const model = scriptedModel((request) => {
    const scene = answerTo(world, request);
    const beats: readonly Beat[] = typeof scene === "string" ? [text(scene)] : scene;
    const isSummary = scene === SUMMARY;
    return [spend({ input: tokensOf(request), output: 50 }), pause(isSummary ? 5 * pace : pace), ...beats];
  });
  return new Agent({
    name: "digger",
    model,
    instructions: "You dig.",
    tools: [tool("dig"), tool("scout"), launchAgent()],
    compaction: { contextSize: WINDOW },
    limits: { repeats: 1_000 },
    hooks: {
      async beforeSummary() {
        onHook();
        await sleep(2 * pace);
        onHook();
        return { instructions: "Name the tree." };
      },
    },
  });
}
