import { LOOK } from "./look.js";

/** Returns the model for agents of the AI SDK's ecosystem. Loads only the package of its format. */
export async function languageModel(address, format) {
  if (format === "anthropic") {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    // The AI SDK warns at each request to an unknown model.
    return createAnthropic({ baseURL: address, apiKey: "none" })("claude-haiku-4-5");
  }
  if (format === "gemini") {
    const { createGoogle } = await import("@ai-sdk/google");
    return createGoogle({ baseURL: address, apiKey: "none" })("mock");
  }
  if (format === "responses") {
    const { createOpenAI } = await import("@ai-sdk/openai");
    return createOpenAI({ baseURL: address, apiKey: "none" }).responses("mock");
  }
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  return createOpenAICompatible({ name: "mock", baseURL: address, includeUsage: true }).chatModel("mock");
}

/** The model alone with the shortest loop: no agent, no argument checks. */
export async function connect(address, format) {
  const model = await languageModel(address, format);
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
