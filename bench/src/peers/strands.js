import { Agent, tool } from "@strands-agents/sdk";
import { OpenAIModel } from "@strands-agents/sdk/models/openai";
import { LOOK } from "./look.js";

/** The agent of Strands, which keeps the whole conversation. */
export function connect(address) {
  const model = new OpenAIModel({
    api: "chat",
    modelId: "mock",
    apiKey: "none",
    clientConfig: { baseURL: address },
  });
  const agent = (look) =>
    new Agent({
      model,
      printer: false,
      tools: look
        ? [tool({ name: LOOK.name, description: LOOK.description, inputSchema: LOOK.schema, callback: look })]
        : [],
    });
  return {
    agent,
    async open(look) {
      const opened = agent(look);
      return {
        async ask(question) {
          let characters = 0;
          for await (const event of opened.stream(question)) {
            const update = event.type === "modelStreamUpdateEvent" ? event.event : event;
            if (update.type === "modelContentBlockDeltaEvent" && update.delta.type === "textDelta")
              characters += update.delta.text.length;
          }
          return characters;
        },
      };
    },
  };
}
