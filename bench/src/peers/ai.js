import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { isStepCount, jsonSchema, ToolLoopAgent, tool } from "ai";
import { LOOK } from "./look.js";

/** The agent of the AI SDK, over its package for services that speak the chat format. */
export function connect(address) {
  const model = createOpenAICompatible({ name: "mock", baseURL: address, includeUsage: true }).chatModel("mock");
  const stopWhen = isStepCount(1_000_000);
  const agent = (look) =>
    new ToolLoopAgent({
      model,
      stopWhen,
      tools: look && {
        look: tool({ description: LOOK.description, inputSchema: jsonSchema(LOOK.schema), execute: look }),
      },
    });
  return {
    agent,
    async open(look) {
      const opened = agent(look);
      const messages = [];
      return {
        async ask(question) {
          messages.push({ role: "user", content: question });
          const result = await opened.stream({ messages });
          let characters = 0;
          for await (const part of result.fullStream) {
            if (part.type === "text-delta") characters += part.text.length;
            if (part.type === "error") throw part.error;
          }
          messages.push(...(await result.response).messages);
          return characters;
        },
      };
    },
  };
}
