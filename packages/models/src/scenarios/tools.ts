import { defineTool, textOf } from "@banyan/core";

const input = { type: "object", properties: { at: { type: "string" } }, required: ["at"] } as const;

/** Answers at once. */
export const look = defineTool({
  name: "look",
  description: "Looks at a thing.",
  input,
  effects: "none",
  execute: (asked) => `seen: ${(asked as { at: string }).at}`,
});

/** Fails always. */
export const open = defineTool({
  name: "open",
  description: "Opens a thing.",
  input,
  effects: "external",
  execute: () => {
    throw new Error("the lid is stuck");
  },
});

/** Listens to the next message, and says how long that was. */
export const listen = defineTool({
  name: "listen",
  description: "Listens to your next message.",
  input: { type: "object" },
  effects: "none",
  execute: (_: unknown, context) => {
    context.follow({ completed: (message) => ({ say: `Heard ${textOf(message).length} letters.` }) });
    return "Listening.";
  },
});

/** What a model writes to call a tool. */
export function calling(id: string, name: string, args: object | string) {
  return { id, name, arguments: typeof args === "string" ? args : JSON.stringify(args) };
}
