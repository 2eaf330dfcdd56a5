import { LOOK } from "../look.ts";
import type { WireFormat } from "./format.ts";

const TOOLS = [
  { type: "function", function: { name: LOOK.name, description: LOOK.description, parameters: LOOK.input } },
];

/** The chat completions format. */
export const chat: WireFormat = {
  path: "/chat/completions",
  list: "messages",
  question: (content) => ({ role: "user", content }),
  head: (tool) => ({ model: "mock", stream: true, ...(tool ? { tools: TOOLS } : {}) }),
  beforeText: '"delta":{"content":"',
  textOf: (chunk) => JSON.parse(chunk).choices[0].delta.content,
  takeCalls(chunk, calls) {
    if (!chunk.includes('"tool_calls":[')) return;
    for (const { index, id, function: piece } of JSON.parse(chunk).choices[0].delta.tool_calls) {
      calls[index] ??= { id, name: piece.name, input: "" };
      calls[index].input += piece.arguments;
    }
  },
  messages(text, calls, look) {
    const asked = calls.map(({ id, name, input }) => ({ id, type: "function", function: { name, arguments: input } }));
    return [
      { role: "assistant", content: text, ...(asked.length > 0 ? { tool_calls: asked } : {}) },
      ...calls.map(({ id, input }) => ({ role: "tool", tool_call_id: id, content: look?.(JSON.parse(input)) })),
    ];
  },
};
