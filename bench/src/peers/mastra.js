import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { LOOK } from "./look.js";

/** Mastra's agent, without memory or storage. */
export function connect(address) {
  const model = createOpenAICompatible({ name: "mock", baseURL: address, includeUsage: true }).chatModel("mock");
  const inputSchema = z.object({ path: z.string() });
  const agent = (look) =>
    new Agent({
      id: "mock",
      name: "mock",
      instructions: "",
      model,
      tools: look
        ? {
            look: createTool({
              id: LOOK.name,
              description: LOOK.description,
              inputSchema,
              execute: async (input) => look(input),
            }),
          }
        : {},
    });
  return {
    agent,
    async open(look) {
      const opened = agent(look);
      let messages = [];
      return {
        async ask(question) {
          messages.push({ role: "user", content: question });
          const result = await opened.stream(messages, { maxSteps: 1_000_000 });
          let characters = 0;
          for await (const part of result.fullStream) {
            if (part.type === "text-delta") characters += part.payload.text.length;
            if (part.type === "error") throw part.payload.error;
          }
          messages = [...messages, ...(await result.response).messages];
          return characters;
        },
      };
    },
  };
}
