import { LOOK } from "../look.ts";
import type { WireFormat } from "./format.ts";

const TOOLS = [{ name: LOOK.name, description: LOOK.description, input_schema: LOOK.input }];

/** Anthropic's messages format. */
export const anthropic: WireFormat = {
  path: "/messages",
  list: "messages",
  question: (content) => ({ role: "user", content }),
  head: (tool) => ({ model: "mock", max_tokens: 4096, stream: true, ...(tool ? { tools: TOOLS } : {}) }),
  beforeText: '"delta":{"type":"text_delta","text":"',
  textOf: (chunk) => JSON.parse(chunk).delta.text,
  takeCalls(chunk, calls) {
    const { content_block: block, delta } = JSON.parse(chunk);
    if (block?.type === "tool_use") calls.push({ id: block.id, name: block.name, input: "" });
    const last = calls.at(-1);
    if (last && delta?.type === "input_json_delta") last.input += delta.partial_json;
  },
  messages(text, calls, look) {
    const said = text === "" ? [] : [{ type: "text", text }];
    const asked = calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input: JSON.parse(input) }));
    const results = asked.map(({ id, input }) => ({ type: "tool_result", tool_use_id: id, content: look?.(input) }));
    return [
      { role: "assistant", content: [...said, ...asked] },
      ...(results.length > 0 ? [{ role: "user", content: results }] : []),
    ];
  },
};
