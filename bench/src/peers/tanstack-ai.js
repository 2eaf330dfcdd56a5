import { chat, maxIterations, toolDefinition } from "@tanstack/ai";
import { createOpenaiChatCompletions } from "@tanstack/ai-openai";
import { LOOK } from "./look.js";

/** TanStack AI without an agent: each call of `chat` acts as one. */
export function connect(address) {
  const adapter = createOpenaiChatCompletions("mock", "none", { baseURL: address });
  const agentLoopStrategy = maxIterations(1_000_000);
  const { name, description, schema: inputSchema } = LOOK;
  return {
    async open(look) {
      const tools = look ? [toolDefinition({ name, description, inputSchema }).server(look)] : [];
      const messages = [];
      return {
        async ask(question) {
          messages.push({ role: "user", content: question });
          let text = "";
          for await (const chunk of chat({ adapter, messages: [...messages], tools, agentLoopStrategy })) {
            if (chunk.type === "TEXT_MESSAGE_CONTENT") text += chunk.delta;
            if (chunk.type === "RUN_ERROR") throw new Error(chunk.message);
          }
          messages.push({ role: "assistant", content: text });
          return text.length;
        },
      };
    },
  };
}
