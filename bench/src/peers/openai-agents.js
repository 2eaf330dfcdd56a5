import { Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, tool } from "@openai/agents";
import OpenAI from "openai";
import { LOOK } from "./look.js";

/** OpenAI's agents without tracing. */
export function connect(address, format) {
  const client = new OpenAI({ apiKey: "none", baseURL: address });
  const Model = format === "responses" ? OpenAIResponsesModel : OpenAIChatCompletionsModel;
  const model = new Model(client, "mock");
  const runner = new Runner({ tracingDisabled: true });
  const agent = (look) =>
    new Agent({
      name: "mock",
      model,
      tools: look
        ? [
            tool({
              name: LOOK.name,
              description: LOOK.description,
              parameters: { ...LOOK.schema, additionalProperties: true },
              strict: false,
              execute: look,
            }),
          ]
        : [],
    });
  return {
    agent,
    async open(look) {
      const opened = agent(look);
      let history = [];
      return {
        async ask(question) {
          const input = [...history, { role: "user", content: question }];
          const result = await runner.run(opened, input, { stream: true, maxTurns: 1_000_000 });
          let characters = 0;
          for await (const event of result) {
            if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta")
              characters += event.data.delta.length;
          }
          await result.completed;
          history = result.history;
          return characters;
        },
      };
    },
  };
}
