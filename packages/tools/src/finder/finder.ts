import { defineTool, type Tool } from "@banyan/core";
import { jsonSchemaOf } from "@banyan/core/hosts";
import { nearest } from "@banyan/core/shown";
import { z } from "zod";
import type { ToolIndex } from "./find.ts";

export { type InitialTools, initialTools, toolsForModel } from "./initial-tools.ts";

/** Maximum number of tools in a search result with their schemas. Weaker matches are listed by name only. */
const MOST = 10;
const MOST_NAMED = 12;
const MOST_BYTES = 32_000;

const wanted = z.object({
  query: z.string().min(1).max(400).describe("The task in a few words, or the name of a tool."),
});

const called = z.object({
  tool: z.string().describe("The name of the tool, as find_tools returned it."),
  input: z.record(z.string(), z.unknown()).optional().describe("Arguments that match the tool's input schema."),
});

/**
 * Returns two tools for finding and calling other tools, so that requests need not contain the schemas of all tools.
 * `find_tools {query}` returns matching tools with their schemas, at least one and as many as fit into `bytes`.
 * `call_tool {tool, input}` calls a tool. Pass both to the agent together with the other tools, and mark the other
 * tools `unlisted`. `tools` returns the tools to search: the same array as long as nothing changed.
 * @example
 * const rare = [{ ...tool, unlisted: true }];
 * const agent = new Agent({ model, tools: [...rare, ...toolFinder(() => rare)] });
 */
export function toolFinder(tools: () => readonly Tool[], bytes = MOST_BYTES): readonly Tool[] {
  let last: { readonly of: readonly Tool[]; readonly found: ToolIndex } | undefined;
  const index = async () => {
    const of = tools();
    const { ToolIndex } = await import("./find.ts");
    if (last?.of !== of) last = { of, found: new ToolIndex(of) };
    return last.found;
  };
  return [
    defineTool({
      name: "find_tools",
      description:
        "Finds unlisted tools of the connected MCP servers by their purpose. Returns names, descriptions and input schemas. Search here before you report that something is impossible. To run a tool that you found, use call_tool.",
      brief: "Finds unlisted tools by their purpose.",
      input: wanted,
      effects: "none",
      about: ({ query }) => ({ title: query, looksAt: { one: "search for tools", several: "searches for tools" } }),
      execute: async ({ query }) => foundToolsText((await index()).find(query), tools().length, bytes),
    }),
    defineTool({
      name: "call_tool",
      description: "Calls a tool that find_tools found.",
      brief: "Calls a tool that find_tools found.",
      input: called,
      effects: "none",
      forwards: true,
      execute({ tool }) {
        const near = nearest(
          tool,
          tools().map(({ name }) => name),
        );
        const meant = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
        throw new Error(`there is no tool "${tool}".${meant} find_tools finds the existing tools.`);
      },
    }),
  ];
}

function foundToolsText(found: readonly Tool[], all: number, bytes: number): string {
  if (found.length === 0) return `[none of ${all} tools fits: try other words]`;
  const sentences: string[] = [];
  let room = bytes;
  for (const { name, description, input } of found.slice(0, MOST)) {
    const text = JSON.stringify({ name, description, input: jsonSchemaOf(`tool "${name}"`, input) });
    room -= Buffer.byteLength(text);
    if (room < 0 && sentences.length > 0) break;
    sentences.push(text);
  }
  const others = found.slice(sentences.length, sentences.length + MOST_NAMED);
  const named = others.map(({ name, description }) => `- ${name}: ${description.replace(/\s+/g, " ").slice(0, 120)}`);
  return [
    ...sentences,
    ...(named.length > 0 ? ["Weaker matches; search for a name to get its schema:", ...named] : []),
  ].join("\n");
}
