import type { AgentOptions } from "../agent/agent.ts";
import { shortenConversation } from "../agent/control/shorten-conversation.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ModelDriver } from "../ports/model.ts";
import type { Tool } from "../ports/tool.ts";
import { type Beat, call, cut, fail, type Scene, scriptedModel, text } from "./scripted-model.ts";

/** Responses of a model, by name. */
export const SCENES = {
  answer: ["Done."],
  look: [text("Looking."), call("look"), call("look")],
  twice: [text("Putting."), call("put"), call("send"), call("put")],
  ask: [call("ask"), call("look")],
  listen: [call("listen")],
  heard: [text("A block."), call("send"), call("put"), call("send"), call("look")],
  launch: [call("launch", { task: "Look around" }), call("launch", { task: "Look again" })],
  shorten: [call("shorten_conversation", { summary: "Short." }), call("send")],
  busy: [fail("overloaded")],
  quota: [fail("quota")],
  breaks: [text("Half "), call("send"), cut()],
} as const satisfies Record<string, readonly (Beat | string)[]>;

/** Name of a response. */
export type SceneName = keyof typeof SCENES;

/** A turn with everything: an edit whose outcome precedes the calls of its message, sub-agents, and a summary. */
export const WHOLE = [
  "look",
  "listen",
  "heard",
  "shorten",
  "launch",
  "look",
  "busy",
  "shorten",
  "ask",
  "listen",
  "answer",
] as const satisfies readonly SceneName[];

/** A model that plays these responses in order, for all agents, and then answers "Done.". */
export function modelPlaying(names: readonly SceneName[], options: { readonly pace?: number } = {}): ModelDriver {
  let next = 0;
  return scriptedModel(({ tools }): Scene => {
    const name = names[next++];
    const isSubAgent = tools.some((tool) => tool.name === "finish_task");
    if (isSubAgent && (name === undefined || name === "answer" || name === "launch")) {
      return [call("finish_task", { result: "Found.", summary: "Found it." })];
    }
    return name === undefined || tools.length === 0 ? "Done." : [...SCENES[name]].map(asBeat);
  }, options);
}

/** Number of remembered calls; the oldest are forgotten first. */
const REMEMBERED = 2_000;

/** Counts the starts of each call by a process: one per attempt, and only one with external effects. */
export class Starts {
  readonly #starts = new Map<string, number>();
  readonly problems: string[] = [];

  add(tool: Pick<Tool, "effects">, { key, attempt }: { readonly key: string; readonly attempt: number }): void {
    const start = tool.effects === "external" ? key : `${key} #${attempt}`;
    const starts = (this.#starts.get(start) ?? 0) + 1;
    this.#starts.set(start, starts);
    if (starts > 1) this.problems.push(`${start} ran ${starts} times.`);
    if (this.#starts.size > REMEMBERED) this.#starts.delete(this.#starts.keys().next().value as string);
  }
}

/** Options of the agent without its model. Each call takes until `moment` resolves. */
export function agentPlaying(starts: Starts, moment: () => Promise<unknown>): Omit<AgentOptions, "model"> {
  const tool = (name: string, effects: "none" | "idempotent" | "external") =>
    defineTool({
      name,
      description: name,
      input: { type: "object" },
      effects,
      execute: async (_, context) => {
        starts.add({ effects }, context);
        await moment();
        return "done";
      },
    });
  const listen = defineTool({
    name: "listen",
    description: "Listens, as an edit does, and tells what came of it.",
    input: { type: "object" },
    effects: "none",
    execute: (_, { follow }) => {
      follow({ completed: async () => ({ say: "Applied." }), dropped: (reason) => `Not applied: ${reason}` });
      return "Listening.";
    },
  });
  const launch = defineTool({
    name: "launch",
    description: "Launches.",
    input: { type: "object" },
    effects: "external",
    parallel: true,
    execute: async (input, context) => (await context.launch({ task: (input as { task: string }).task })).text,
  });
  return {
    tools: [
      tool("look", "none"),
      tool("put", "idempotent"),
      tool("send", "external"),
      tool("ask", "external"),
      listen,
      launch,
      shortenConversation(),
    ],
    permission: (request) => ({ decision: request.tool.name === "ask" ? "ask" : "allow" }),
    limits: { steps: 30 },
    retry: { attempts: 2, delay: 1 },
  };
}

function asBeat(beat: Beat | string): Beat {
  return typeof beat === "string" ? text(beat) : beat;
}
