import { defineTool } from "@banyan/core";

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

/** What a model writes to call a tool. */
export function calling(id: string, name: string, args: object | string) {
  return { id, name, arguments: typeof args === "string" ? args : JSON.stringify(args) };
}
