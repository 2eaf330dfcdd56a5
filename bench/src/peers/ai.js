import { isStepCount, jsonSchema, ToolLoopAgent, tool } from "ai";
import { LOOK } from "./look.js";
import { languageModel } from "./provider-package.js";

/** The agent of the AI SDK, over its package for compatible services. */
export async function connect(address, format) {
  const model = await languageModel(address, format);
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
