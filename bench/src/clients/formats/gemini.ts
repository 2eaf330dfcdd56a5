import { LOOK } from "../look.ts";
import type { WireFormat } from "./format.ts";

const TOOLS = [
  {
    functionDeclarations: [{ name: LOOK.name, description: LOOK.description, parametersJsonSchema: LOOK.input }],
  },
];

/** Gemini's contents. */
export const gemini: WireFormat = {
  path: "/models/mock:streamGenerateContent?alt=sse",
  list: "contents",
  question: (text) => ({ role: "user", parts: [{ text }] }),
  head: (tool) => ({ generationConfig: {}, ...(tool ? { tools: TOOLS } : {}) }),
  beforeText: '"parts":[{"text":"',
  textOf: (chunk) => JSON.parse(chunk).candidates[0].content.parts[0].text,
  takeCalls(chunk, calls) {
    for (const { functionCall } of JSON.parse(chunk).candidates[0].content.parts)
      if (functionCall)
        calls.push({ id: functionCall.id, name: functionCall.name, input: JSON.stringify(functionCall.args) });
  },
  messages(text, calls, look) {
    const said = text === "" ? [] : [{ text }];
    const asked = calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: JSON.parse(input) } }));
    const results = asked.map(({ functionCall: { id, name, args } }) => {
      return { functionResponse: { id, name, response: { content: look?.(args) } } };
    });
    return [
      { role: "model", parts: [...said, ...asked] },
      ...(results.length > 0 ? [{ role: "user", parts: results }] : []),
    ];
  },
};
