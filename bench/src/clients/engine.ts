import { Agent, defineTool, type ModelDriver, Session, type Store, say } from "@banyan/core";
import { anthropicMessages, openAIChat, openAIResponses } from "@banyan/models";
import { google } from "@banyan/models/google";
import type { Format } from "../measure.ts";
import type { Client, Look } from "./client.ts";
import { LOOK } from "./look.ts";

/** Our engine over our driver of the format, in memory, with one consumer of the feed. */
export function connect(address: string, format: Format): Client {
  return engineOver(driverOf(address, format));
}

/** Returns our driver of a format. */
export function driverOf(address: string, format: Format): ModelDriver {
  const options = { id: "mock/mock", model: "mock", baseURL: address };
  switch (format) {
    case "chat":
      return openAIChat(options);
    case "anthropic":
      return anthropicMessages(options);
    case "responses":
      return openAIResponses(options);
    case "gemini":
      return google("mock", { apiKey: "none", baseURL: address, env: {} });
  }
}

/** Returns the engine over a model, with conversations in a store, or in memory without a store. */
export function engineOver(model: ModelDriver, store?: Store): Client {
  const agentWith = (look?: Look) =>
    new Agent({ model, tools: look ? [toolOf(look)] : [], limits: { steps: 1_000_000 } });
  return {
    agent: agentWith,
    async open(look) {
      const agent = agentWith(look);
      const session = store ? await Session.open(store) : Session.inMemory();
      return {
        async ask(question) {
          let characters = 0;
          for await (const item of agent.chat(say(question), { session })) {
            if (item.type === "text.delta") characters += item.text.length;
            if (item.type === "run.ended" && item.error) throw new Error(item.error.message);
          }
          return characters;
        },
        close: () => session.close(),
      };
    },
  };
}

function toolOf(look: Look) {
  return defineTool({
    ...LOOK,
    effects: "none",
    execute: (input) => look(input as { path: string }),
  });
}
