import { defineTool } from "@banyan/core";
import type { Json } from "@banyan/core/conversation";
import { z } from "zod";

/** A tool that acts, and the record of its effects. */
export function writer() {
  const did: string[] = [];
  const tool = defineTool({
    name: "note",
    description: "Writes a note.",
    input: z.object({ path: z.string() }),
    effects: "external",
    about: ({ path }) => ({ paths: [{ path, access: "write" }] }),
    execute({ path }) {
      did.push(path);
      return `noted ${path}`;
    },
  });
  return { tool, did };
}

/** A tool that asks the user in words. */
export function asker(choices?: readonly string[]) {
  return defineTool({
    name: "wonder",
    description: "Asks.",
    input: z.object({}),
    effects: "none",
    execute: (_input, context) => context.ask({ text: "Which colour?", ...(choices && { choices }) }),
  });
}

export const colour: Json = {
  heading: "Colour",
  question: "Which one?",
  choices: [{ label: "red", description: "as a brick" }, { label: "blue" }],
};
