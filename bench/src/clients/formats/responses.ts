import { LOOK } from "../look.ts";
import type { WireFormat } from "./format.ts";

const TOOLS = [
  { type: "function", name: LOOK.name, description: LOOK.description, parameters: LOOK.input, strict: false },
];

/** OpenAI's responses format. */
export const responses: WireFormat = {
  path: "/responses",
  list: "input",
  question: (text) => ({ role: "user", content: text }),
  head: (tool) => ({ model: "mock", stream: true, store: false, ...(tool ? { tools: TOOLS } : {}) }),
  beforeText: '"content_index":0,"delta":"',
  afterText: '","logprobs":',
  textOf: (chunk) => JSON.parse(chunk).delta,
  takeCalls(chunk, calls) {
    if (!chunk.includes("function_call")) return;
    const { type, item, delta } = JSON.parse(chunk);
    if (type === "response.output_item.added" && item.type === "function_call")
      calls.push({ id: item.call_id, name: item.name, input: "" });
    const last = calls.at(-1);
    if (last && type === "response.function_call_arguments.delta") last.input += delta;
  },
  messages(text, calls, look) {
    const said = text === "" ? [] : [{ role: "assistant", content: text }];
    const asked = calls.map(({ id, name, input }) => ({ type: "function_call", call_id: id, name, arguments: input }));
    const results = calls.map(({ id, input }) => {
      return { type: "function_call_output", call_id: id, output: look?.(JSON.parse(input)) };
    });
    return [...said, ...asked, ...results];
  },
};
