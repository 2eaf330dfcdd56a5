import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { LOOK } from "./look.js";

/** The model that agents of the AI SDK's ecosystem are given. */
export function languageModel(address) {
  return createOpenAICompatible({ name: "mock", baseURL: address, includeUsage: true }).chatModel("mock");
}

/** The model by itself, with the shortest loop around it: no agent, no checks of arguments. */
export function connect(address) {
  const model = languageModel(address);
  return {
    async open(look) {
      const tools = look && [
        { type: "function", name: LOOK.name, description: LOOK.description, inputSchema: LOOK.schema },
      ];
      const prompt = [];
      return {
        async ask(question) {
          let characters = 0;
          prompt.push({ role: "user", content: [{ type: "text", text: question }] });
          for (;;) {
            const { stream } = await model.doStream({ prompt, tools });
            let text = "";
            const calls = [];
            for await (const part of stream) {
              if (part.type === "text-delta") text += part.delta;
              if (part.type === "tool-call") calls.push(part);
              if (part.type === "error") throw part.error;
            }
            characters += text.length;
            const content = text === "" ? [] : [{ type: "text", text }];
            const inputs = calls.map((call) => ({ ...call, input: JSON.parse(call.input) }));
            prompt.push({ role: "assistant", content: [...content, ...inputs] });
            if (inputs.length === 0) return characters;
            const results = inputs.map(({ toolCallId, toolName, input }) => ({
              type: "tool-result",
              toolCallId,
              toolName,
              output: { type: "text", value: look(input) },
            }));
            prompt.push({ role: "tool", content: results });
          }
        },
      };
    },
  };
}
